"""Vulkan: matrices that a sub-group holds together (SPV_KHR_cooperative_matrix). They come from shared memory
and go there; which lane holds which element is the device's own business."""

from __future__ import annotations

from math import gcd
from typing import Any

from ...spirv.builder import I32, scalar_type, width_of, with_width
from ...spirv.module import Value
from ...spirv.types import CooperativeMatrix, Float, Int, Pointer, Type
from ..memory_types import type_bytes
from .lanes import VulkanLanes
from .memory import SHARED
from .shared_memory import OverflowArray, SharedArray

USES = {"a": "MatrixAKHR", "b": "MatrixBKHR", "c": "MatrixAccumulatorKHR"}
ELEMENTS: dict[str, Type] = {
    "f16": Float(16), "bf16": Float(16, "BFloat16KHR"), "f32": Float(32), "f64": Float(64), "i8": Int(8),
    "i32": Int(32),
}
ROW_MAJOR, COLUMN_MAJOR = 0, 1
#: Elements move in words of so many bytes where all rows begin at multiples of it.
MOST_BYTES = 16


class VulkanMatrices(VulkanLanes):
    """Cooperative matrices."""

    def matrix_type(self, element: str, rows: int, columns: int, use: str) -> Type:
        m = self.b.module
        m.require("CooperativeMatrixKHR", extension="SPV_KHR_cooperative_matrix")
        if element == "bf16":
            m.require("BFloat16TypeKHR", extension="SPV_KHR_bfloat16")
            m.require("BFloat16CooperativeMatrixKHR", extension="SPV_KHR_bfloat16")
        return CooperativeMatrix(ELEMENTS[element], "Subgroup", rows, columns, USES[use])

    def matrix_fill(self, type: Type, scalar: Value) -> Value:
        return self.b.emit("OpCompositeConstruct", scalar, type=type)

    def _matrix_place(self, array: Value, index: Value, multiple: int,
                      pitch: int) -> tuple[Value, Value, list[Any]]:
        """A pointer to the first element, and the pitch in what it points to: as many elements as all of this
        is a multiple of, up to 16 bytes. And the memory operands."""
        b = self.b
        assert isinstance(array, SharedArray)
        bytes = type_bytes(array.element)
        unit = gcd(multiple, pitch, array.first, MOST_BYTES // bytes) * bytes
        held = array.element if unit < 4 else with_width(I32, unit // 4)
        per = type_bytes(held) // bytes
        if isinstance(array, OverflowArray):
            place = b.iadd(array.address, b.resize(b.shl(index, bytes.bit_length() - 1), 64))
            return self.pointer(place, held), b.constant(I32, pitch // per), self._access(type_bytes(held))
        variable = self._shared_variable(scalar_type(held), width_of(held), self._shared_bytes)
        place = b.lshr(b.iadd(index, array.first), per.bit_length() - 1)
        pointer = b.emit("OpAccessChain", variable, b.constant(I32, 0), place, type=Pointer(SHARED, held))
        return pointer, b.constant(I32, pitch // per), ["NonPrivatePointer"]

    def matrix_load(self, type: Type, array: Value, index: Value, multiple: int, pitch: int,
                    by_columns: bool) -> Value:
        pointer, stride, access = self._matrix_place(array, index, multiple, pitch)
        order = self.b.constant(I32, COLUMN_MAJOR if by_columns else ROW_MAJOR)
        return self.b.emit("OpCooperativeMatrixLoadKHR", pointer, order, stride, access, type=type)

    def matrix_store(self, array: Value, index: Value, multiple: int, matrix: Value, pitch: int) -> None:
        pointer, stride, access = self._matrix_place(array, index, multiple, pitch)
        order = self.b.constant(I32, ROW_MAJOR)
        self.b.emit("OpCooperativeMatrixStoreKHR", pointer, matrix, order, stride, access)

    def matrix_multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        signed = [f"Matrix{which}SignedComponentsKHR" for which in ("A", "B", "C", "Result")]
        is_integer = isinstance(z.type.element, Int)  # type: ignore[attr-defined]
        return self.b.emit("OpCooperativeMatrixMulAddKHR", x, y, z, *[signed] * is_integer, type=z.type)

    def matrix_scale(self, x: Value, y: Value) -> Value:
        return self.b.emit("OpFMul", x, y, type=x.type)
