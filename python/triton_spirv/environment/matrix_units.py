"""What environments say of matrices: of those that a sub-group holds together, and of units with layouts of
their own and the messages that feed them. Targets say which there are; the default is none."""

from __future__ import annotations

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
