"""OpenCL: the tile registers of x86 processors (AMX), by LLVM's intrinsics.

There are eight, each of up to 16 rows of up to 64 bytes. How large they are is configured when running, for
all at once; a work-item configures them before it uses them, and releases them afterwards. The intrinsics
name registers by constants: the emitter says what lies where.

Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18. Intel's OpenCL CPU runtime
takes the intrinsics in a kernel of one work-item.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...spirv.builder import I32, I64, scalar_type, width_of, with_width
from ...spirv.module import Value
from ...spirv.types import Int, Pointer, Void
from .matrices import OpenCLMatrix
from .memory import PRIVATE

I8 = Int(8)

#: Products by the operands' elements: bytes are signed.
PRODUCTS = {"bf16": "tdpbf16ps", "i8": "tdpbssd"}

#: Loads; the second one asks the nearest cache not to keep what it loads.
LOADS = "tileloadd64", "tileloaddt164"

#: What is configured is 64 bytes: the palette, then from these on two bytes a register for the bytes of its
#: rows, and one for their number.
ROW_BYTES_AT, ROWS_AT = 16, 48
PALETTE = 1

WORD = 4


class OpenCLTileRegisters(OpenCLMatrix):
    """Products on tile registers."""

    def configure_tiles(self, sizes: Sequence[tuple[int, int]]) -> None:
        b, m = self.b, self.b.module
        data = bytearray(64)
        data[0] = PALETTE
        for number, (rows, columns) in enumerate(sizes):
            data[ROW_BYTES_AT + 2 * number] = columns * WORD
            data[ROWS_AT + number] = rows
        type = with_width(I32, len(data) // WORD)
        words = [int.from_bytes(data[at:at + WORD], "little") for at in range(0, len(data), WORD)]
        place = m.variable(type)
        b.emit("OpStore", place, b.constant(type, words), [("Aligned", len(data))])
        self._on_tiles("ldtilecfg", b.emit("OpBitcast", place, type=Pointer(PRIVATE, I8)))

    def release_tiles(self) -> None:
        self._on_tiles("tilerelease")

    def clear_tile(self, number: int) -> None:
        self._on_tiles("tilezero", self._tile(number))

    def load_tile(self, number: int, array: Value, index: Value, pitch: int | Value, passing: bool = False
                  ) -> None:
        self._on_tiles(LOADS[passing], self._tile(number), *self._rows(array, index, pitch))

    def store_tile(self, number: int, array: Value, index: Value, pitch: int | Value) -> None:
        self._on_tiles("tilestored64", self._tile(number), *self._rows(array, index, pitch))

    def load_tile_at(self, number: int, pointer: Value, pitch: Value, passing: bool = False) -> None:
        self._on_tiles(LOADS[passing], self._tile(number), self._as_private(pointer), pitch)

    def store_tile_at(self, number: int, pointer: Value, pitch: Value) -> None:
        self._on_tiles("tilestored64", self._tile(number), self._as_private(pointer), pitch)

    def _as_private(self, pointer: Value) -> Value:
        """The intrinsics take pointers of one kind. On a processor the others are the same addresses."""
        return self.b.once("OpConvertUToPtr", self.address(pointer), type=Pointer(PRIVATE, I8))

    def multiply_tiles(self, form: str, sums: int, left: int, right: int) -> None:
        self._on_tiles(PRODUCTS[form], *map(self._tile, (sums, left, right)))

    def _tile(self, number: int) -> Value:
        return self.b.constant(I8, number)

    def _rows(self, array: Value, index: Value, pitch: int | Value) -> tuple[Value, Value]:
        """The first row's address, and the bytes to the next one."""
        b, vector = self.b, array.type.pointee.element  # type: ignore[attr-defined]
        place = self._first_place(array, width_of(vector), index, scalar_type(vector))
        bytes = b.constant(I64, pitch * WORD) if isinstance(pitch, int) else b.imul(pitch, WORD)
        return b.once("OpBitcast", place, type=Pointer(PRIVATE, I8)), bytes

    def _on_tiles(self, name: str, *operands: Value) -> None:
        b = self.b
        callee = b.module.import_function(f"llvm.x86.{name}", Void(), tuple(x.type for x in operands))
        b.emit("OpFunctionCall", callee, *operands, type=Void())
