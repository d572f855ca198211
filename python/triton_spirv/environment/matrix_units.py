"""What environments say of matrices: of those that a sub-group holds together, of a processor's tile
registers, and of units with layouts of their own and the messages that feed them. Targets say which there
are; the default is none."""

from __future__ import annotations

from collections.abc import Sequence

from ..spirv.module import Value
from ..spirv.types import Int, Type


class MatrixUnits:
    """Instructions of matrix units; NotImplementedError where an environment has none."""

    # --- matrices that a sub-group holds together: for targets with `matrices` ------------------------------

    def matrix_type(self, element: str, rows: int, columns: int, use: str) -> Type:
        """rows x columns elements (named as Triton does); use: "a", "b", or "c" for sums."""
        raise NotImplementedError(f"{type(self).__name__} has no matrices of a sub-group")

    def matrix_fill(self, type: Type, scalar: Value) -> Value:
        """A matrix with `scalar` everywhere."""
        raise NotImplementedError

    def matrix_load(self, type: Type, array: Value, index: Value, multiple: int, pitch: int,
                    by_columns: bool) -> Value:
        """From a shared array: element (0, 0) at `index` (i32, a multiple of `multiple`), rows (or columns)
        `pitch` elements apart."""
        raise NotImplementedError

    def matrix_store(self, array: Value, index: Value, multiple: int, matrix: Value, pitch: int) -> None:
        """The same way back, row by row."""
        raise NotImplementedError

    def matrix_multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        """x y + z; integers are signed."""
        raise NotImplementedError

    def matrix_scale(self, x: Value, y: Value) -> Value:
        """x times y, element by element; floats."""
        raise NotImplementedError

    # --- tile registers of a work-item: for targets with `tile_registers` -----------------------------------

    def configure_tiles(self, sizes: Sequence[tuple[int, int]]) -> None:
        """Rows, and 32-bit words of a row, of tile registers 0, 1, ...: at most eight of 16 x 16. What they
        held is lost."""
        raise NotImplementedError(f"{type(self).__name__} has no tile registers")

    def release_tiles(self) -> None:
        """They are not used until they are configured again."""
        raise NotImplementedError

    def clear_tile(self, number: int) -> None:
        """Zeros in a tile register."""
        raise NotImplementedError

    def load_tile(self, number: int, array: Value, index: Value, pitch: int | Value, passing: bool = False
                  ) -> None:
        """A tile register from a private array of 32-bit elements: the first row begins at element `index`,
        the others `pitch` elements (a number, or I64) further each. passing: the nearest cache need not keep
        it."""
        raise NotImplementedError

    def store_tile(self, number: int, array: Value, index: Value, pitch: int | Value) -> None:
        """The other way."""
        raise NotImplementedError

    def load_tile_at(self, number: int, pointer: Value, pitch: Value, passing: bool = False) -> None:
        """A tile register from global memory: the first row begins at the pointer, the others `pitch` bytes
        (I64) further each. Who watches accesses is not told."""
        raise NotImplementedError

    def store_tile_at(self, number: int, pointer: Value, pitch: Value) -> None:
        """The other way."""
        raise NotImplementedError

    def multiply_tiles(self, form: str, sums: int, left: int, right: int) -> None:
        """Add left x right to the sums, by the numbers of tile registers. A word holds neighbours along K of
        the left and of the right operand: two bf16 ("bf16") or four signed bytes ("i8"). Sums are f32 or
        i32; operands and sums that are denormal are taken as zero, and so are rounded sums."""
        raise NotImplementedError

    # --- matrix unit and 2D blocks: for targets with `matrix`, `block_2d` -----------------------------------

    def multiply_matrices(self, form: str, depth: int, a: Value, b: Value, c: Value) -> Value:
        """c + a x b for one block, by the whole sub-group; form: "f16", "bf16", "i8" or "tf32", depth:
        elements along K. For a target with a `matrix` unit; matrices/layout.py says what a lane holds.
        """
        raise NotImplementedError(f"{type(self).__name__} has no matrix unit")

    def has_shared_blocks(self, bytes: int) -> bool:
        """Is there `shared_block` for words of so many bytes?"""
        return False

    def shared_block(self, array: Value, index: Value, word: Int, rows: int) -> Value:
        """From an array of shared memory, 8 or fewer rows of as many words as a sub-group has lanes, one
        behind the other: a column for each lane. The index, in elements, is the same for all lanes.
        """
        raise NotImplementedError(f"{type(self).__name__} has no block messages")

    def load_block(self, kind: str, bytes: int, block: tuple[int, int, int], surface: tuple[Value, ...],
                   part: Type) -> list[Value]:
        """A block of a surface, by the whole sub-group, as registers of type `part`.

        kind     "plain", "transform" (words of 32 bits that hold neighbouring rows), "transpose" (of words)
        block    width in elements of so many bytes, height, blocks side by side
        surface  base (an address), width in bytes, height, pitch in bytes, x and y of the block's first
                 element (in words where it is transposed)
        """
        raise NotImplementedError(f"{type(self).__name__} has no 2D block messages")

    def store_block(self, bytes: int, block: tuple[int, int, int], surface: tuple[Value, ...],
                    value: Value) -> None:
        """A block in the order of "plain" loads, written by the whole sub-group; nothing outside of the
        surface."""
        raise NotImplementedError(f"{type(self).__name__} has no 2D block messages")

    def prefetch_block(self, bytes: int, block: tuple[int, int, int], surface: tuple[Value, ...]) -> None:
        """The block will be loaded soon."""
        raise NotImplementedError(f"{type(self).__name__} has no 2D block messages")
