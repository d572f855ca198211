"""OpenCL: Intel's matrix unit and 2D block messages, or functions of the same meaning where those are
emulated."""

from __future__ import annotations

from ...spirv.builder import I32, width_of, with_width
from ...spirv.module import Value
from ...spirv.types import Array, Int, Pointer, Type, Void
from ..memory_types import type_bytes
from .lanes import OpenCLLanes
from .memory import PRIVATE

#: A form of operands as the specification spells it behind MatrixA and MatrixB.
MATRIX_OPERANDS = {"f16": "PackedFloat16INTEL", "bf16": "PackedBFloat16INTEL", "i8": "PackedInt8INTEL",
                   "tf32": "TF32INTEL"}

#: By lanes, the same forms in the names of the driver's builtins, which compilers know that lack the
#: instruction.
BUILTINS = {
    8: {"f16": "sub_group_fdpas_hf_hf_8_8", "bf16": "sub_group_fdpas_bf_bf_8_8",
        "i8": "sub_group_idpas_s8_s8_8_8"},
    16: {"f16": "sub_group16_fdpas_f_f_hf_hf_8_8", "bf16": "sub_group16_fdpas_f_f_bf_bf_8_8",
         "i8": "sub_group16_idpas_s8_s8_8_8"},
}

#: Kinds of 2D block loads: instruction, capability, and bytes of an element where the instruction has its
#: own.
BLOCK_LOADS = {
    "plain": ("OpSubgroup2DBlockLoadINTEL", "Subgroup2DBlockIOINTEL", 0, 0),
    "transform": ("OpSubgroup2DBlockLoadTransformINTEL", "Subgroup2DBlockTransformINTEL", 0, 0),
    "transpose": ("OpSubgroup2DBlockLoadTransposeINTEL", "Subgroup2DBlockTransposeINTEL", 4, 0),
}


class OpenCLMatrix(OpenCLLanes):
    """Products of matrices by a sub-group, and blocks of memory."""

    def multiply_matrices(self, form: str, depth: int, a: Value, b: Value, c: Value) -> Value:
        if self.target.emulated:
            return self._emulated(f"matrix_{form}", c.type, a, b, c)
        m = self.b.module
        if self.target.matrix_builtins:
            name = BUILTINS[self.target.sub_group_size][form]
            callee = m.import_function(f"__builtin_IB_{name}", c.type, (c.type, a.type, b.type))
            return self.b.emit("OpFunctionCall", callee, c, a, b, type=c.type)
        m.require("SubgroupMatrixMultiplyAccumulateINTEL",
                  extension="SPV_INTEL_subgroup_matrix_multiply_accumulate")
        operands = [f"Matrix{side}{MATRIX_OPERANDS[form]}" for side in "AB"]
        signs = [f"Matrix{side}SignedComponentsINTEL" for side in "AB"] if form == "i8" else []
        return self.b.emit("OpSubgroupMatrixMultiplyAccumulateINTEL", self.b.constant(I32, depth), a, b, c,
                           [*signs, *operands], type=c.type)

    def has_shared_blocks(self, bytes: int) -> bool:
        return self.target.shared_blocks and bytes in (2, 4)

    def shared_block(self, array: Value, index: Value, word: Int, rows: int) -> Value:
        b, m, lanes = self.b, self.b.module, self.target.sub_group_size
        place = b.emit("OpInBoundsPtrAccessChain", array, index, type=array.type)
        words = Pointer(array.type.storage_class, word)  # type: ignore[attr-defined]
        if place.type != words:
            place = b.emit("OpBitcast", place, type=words)
        if self.target.emulated:
            return b.construct([self.shared_load(place, b.iadd(self.lane_id(), row * lanes))
                                for row in range(rows)])
        m.require("SubgroupBufferBlockIOINTEL", extension="SPV_INTEL_subgroups")
        return b.emit("OpSubgroupBlockReadINTEL", place, type=with_width(word, rows))

    def load_block(self, kind: str, bytes: int, block: tuple[int, int, int], surface: tuple[Value, ...],
                   part: Type) -> list[Value]:
        b, m = self.b, self.b.module
        width, height, count = block
        words = with_width(part.element, 1)  # type: ignore[attr-defined]
        lanes = self.target.sub_group_size
        total = width * height * count * bytes // type_bytes(words) // lanes
        parts = total // width_of(part)
        place = m.variable(Array(part, parts))
        opcode, capability, size, wide = BLOCK_LOADS[kind]
        if size:
            wide = width * bytes // size
        base, *extent, x, y = surface
        numbers = [b.constant(I32, n) for n in (size or bytes, wide or width, height, count)]
        at = b.construct([x, y])
        source = self.pointer(base, Int(8))
        if self.target.emulated:
            name = f"ts_load_{kind}_{self.target.sub_group_size}"
            first = b.emit("OpBitcast", place, type=Pointer(PRIVATE, Int(8)))
            types = (*[I32] * 4, source.type, *[I32] * 3, at.type, first.type)
            callee = m.import_function(name, Void(), types)
            b.emit("OpFunctionCall", callee, *numbers, source, *extent, at, first, type=Void())
        else:
            m.require(capability, extension="SPV_INTEL_2d_block_io")
            b.emit(opcode, *numbers, source, *extent, at, place)
        loaded = []
        for i in range(parts):
            one = b.emit("OpInBoundsAccessChain", place, b.constant(I32, i), type=Pointer(PRIVATE, part))
            loaded.append(b.emit("OpLoad", one, [("Aligned", type_bytes(part))], type=part))
        return loaded

    def store_block(self, bytes: int, block: tuple[int, int, int], surface: tuple[Value, ...],
                    value: Value) -> None:
        b, m = self.b, self.b.module
        base, *extent, x, y = surface
        place = m.variable(value.type)
        b.emit("OpStore", place, value, [("Aligned", type_bytes(value.type))])
        numbers = [b.constant(I32, n) for n in (bytes, *block)]
        to, at = self.pointer(base, Int(8)), b.construct([x, y])
        if self.target.emulated:
            source = b.emit("OpBitcast", place, type=Pointer(PRIVATE, Int(8)))
            types = (*[I32] * 4, to.type, *[I32] * 3, at.type, source.type)
            callee = m.import_function(f"ts_store_{self.target.sub_group_size}", Void(), types)
            b.emit("OpFunctionCall", callee, *numbers, to, *extent, at, source, type=Void())
            return
        m.require("Subgroup2DBlockIOINTEL", extension="SPV_INTEL_2d_block_io")
        b.emit("OpSubgroup2DBlockStoreINTEL", *numbers, place, to, *extent, at)

    def prefetch_block(self, bytes: int, block: tuple[int, int, int], surface: tuple[Value, ...]) -> None:
        if self.target.emulated:
            return
        b, m = self.b, self.b.module
        m.require("Subgroup2DBlockIOINTEL", extension="SPV_INTEL_2d_block_io")
        base, *extent, x, y = surface
        b.emit("OpSubgroup2DBlockPrefetchINTEL", *(b.constant(I32, n) for n in (bytes, *block)),
               self.pointer(base, Int(8)), *extent, b.construct([x, y]))

    def _emulated(self, name: str, result: Type, *operands: Value) -> Value:
        """A call of a function that is linked in where the device has no such instruction."""
        name = f"ts_{name}_{self.target.sub_group_size}"
        callee = self.b.module.import_function(name, result, tuple(x.type for x in operands))
        return self.b.emit("OpFunctionCall", callee, *operands, type=result)
