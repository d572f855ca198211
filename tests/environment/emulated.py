"""Cooperative matrices on a device that has none: every lane holds each matrix whole and computes all of it.

What is tested with it is all of lower/products/cooperative.py; what is not is the five instructions of
environment/vulkan/matrices.py, which only spirv-val and a device that has them can check.
"""

from __future__ import annotations

from triton_spirv.environment import Vulkan
from triton_spirv.spirv.module import Value
from triton_spirv.spirv.types import Array, Float, Int, Type
from triton_spirv.target import LAVAPIPE

HELD: dict[str, Type] = {"f16": Float(16), "bf16": Int(16), "f32": Float(32), "i8": Int(8), "i32": Int(32)}

TARGET = LAVAPIPE.with_options(
    name="emulated-matrices",
    environment="emulated-matrices",
    matrices=tuple((4, 4, 4, operand, operand, result, result)
                   for operand, result in (("f16", "f32"), ("bf16", "f32"), ("i8", "i32"))),
)


class Emulated(Vulkan):
    """Matrices as arrays of arrays."""

    def matrix_type(self, element: str, rows: int, columns: int, use: str) -> Type:
        return Array(Array(HELD[element], columns), rows)

    def _rows(self, type: Type, elements: list[list[Value]]) -> Value:
        rows = [self.b.emit("OpCompositeConstruct", *row, type=type.element)  # type: ignore[attr-defined]
                for row in elements]
        return self.b.emit("OpCompositeConstruct", *rows, type=type)

    def _element(self, matrix: Value, row: int, column: int) -> Value:
        return self.b.emit("OpCompositeExtract", matrix, row, column,
                           type=matrix.type.element.element)  # type: ignore[attr-defined]

    def matrix_fill(self, type: Type, scalar: Value) -> Value:
        return self._rows(type, [[scalar] * type.element.count] * type.count)  # type: ignore[attr-defined]

    def matrix_load(self, type: Type, array: Value, index: Value, multiple: int, pitch: int,
                    by_columns: bool) -> Value:
        def at(row: int, column: int) -> Value:
            place = column * pitch + row if by_columns else row * pitch + column
            return self.shared_load(array, self.b.iadd(index, place))
        rows, columns = type.count, type.element.count  # type: ignore[attr-defined]
        return self._rows(type, [[at(i, j) for j in range(columns)] for i in range(rows)])

    def matrix_store(self, array: Value, index: Value, multiple: int, matrix: Value, pitch: int) -> None:
        for i in range(matrix.type.count):  # type: ignore[attr-defined]
            for j in range(matrix.type.element.count):  # type: ignore[attr-defined]
                self.shared_store(array, self.b.iadd(index, i * pitch + j), self._element(matrix, i, j))

    def _number(self, x: Value, like: Type) -> Value:
        """An operand's element in the type of the sums; i16 are the bits of bf16."""
        b = self.b
        if x.type is like:
            return x
        if isinstance(like, Int):
            return b.resize(x, 32)
        if isinstance(x.type, Int):
            return b.bitcast(b.shl(b.resize(x, 32), 16), like)
        return b.emit("OpFConvert", x, type=like)

    def matrix_multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        b = self.b
        like = z.type.element.element  # type: ignore[attr-defined]
        rows, columns, depth = z.type.count, z.type.element.count, y.type.count  # type: ignore[attr-defined]
        times, plus = ("OpIMul", "OpIAdd") if isinstance(like, Int) else ("OpFMul", "OpFAdd")

        def total(i: int, j: int) -> Value:
            made = self._element(z, i, j)
            for k in range(depth):
                left, right = (self._number(element, like) for element in (
                    self._element(x, i, k), self._element(y, k, j)))
                made = b.binary(plus, made, b.binary(times, left, right))
            return made
        return self._rows(z.type, [[total(i, j) for j in range(columns)] for i in range(rows)])


    def matrix_scale(self, x: Value, y: Value) -> Value:
        rows, columns = x.type.count, x.type.element.count  # type: ignore[attr-defined]
        return self._rows(x.type, [[self.b.binary("OpFMul", self._element(x, i, j), self._element(y, i, j))
                                    for j in range(columns)] for i in range(rows)])
