"""OpenCL: physical 64-bit pointers, vectors of up to 16, the OpenCL.std math library, by-value structs as
arguments.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..spirv.builder import I32, I64, Builder, scalar_type, width_of, with_width
from ..spirv.control import if_
from ..spirv.module import Function, Label, Module, Value
from ..spirv.types import Array, Bool, Float, Int, Pointer, Struct, Type, Vector, Void
from ..target import Target
from .base import ATOMICS, Environment, Parameter
from .memory_types import PARAMETER_TYPES, type_bytes

GLOBAL, SHARED, PRIVATE = "CrossWorkgroup", "Workgroup", "Function"

#: Scope and semantics numbers of the specification, 3.27 and 3.25.
SCOPES = {"cta": 2, "gpu": 1, "sys": 0}
ORDERS = {"relaxed": 0x0, "acquire": 0x2, "release": 0x4, "acq_rel": 0x8}
GLOBAL_MEMORY, SHARED_MEMORY = 0x200, 0x100

#: A form of operands as the specification spells it behind MatrixA and MatrixB.
MATRIX_OPERANDS = {"f16": "PackedFloat16INTEL", "bf16": "PackedBFloat16INTEL", "i8": "PackedInt8INTEL",
                   "tf32": "TF32INTEL"}

#: Kinds of 2D block loads: instruction, capability, and bytes of an element where the instruction has its
#: own.
BLOCK_LOADS = {
    "plain": ("OpSubgroup2DBlockLoadINTEL", "Subgroup2DBlockIOINTEL", 0, 0),
    "transform": ("OpSubgroup2DBlockLoadTransformINTEL", "Subgroup2DBlockTransformINTEL", 0, 0),
    "transpose": ("OpSubgroup2DBlockLoadTransposeINTEL", "Subgroup2DBlockTransposeINTEL", 4, 0),
}

SHARED_ALIGNMENT = 16  # bytes: the widest access of a lane


class OpenCL(Environment):
    """SPIR-V for OpenCL devices, physical addressing: 64-bit, or 32-bit where the target has no more."""

    barrier_semantics = (ORDERS["acq_rel"] | SHARED_MEMORY | GLOBAL_MEMORY, ORDERS["acq_rel"] | SHARED_MEMORY)

    def __init__(self, b: Builder, target: Target) -> None:
        super().__init__(b, target)
        self._kernel: Function | None = None
        self._name = ""
        self._builtins: dict[str, Value] = {}
        self._coordinates: dict[tuple[str, int], Value] = {}
        self._local_size = 1
        self._places: dict[tuple[int, int, int], tuple[Label | None, Value]] = {}
        self._lane = self._warp = b.constant(I32, 0)
        self._shared: Value | None = None
        self._shared_bytes = 0

    @classmethod
    def module(cls, target: Target) -> Module:
        addressing = f"Physical{target.address_bits}"
        return Module(target.spirv_version, addressing, capabilities=target.capabilities)

    @property
    def _size_type(self) -> Int:
        """C's size_t, in which OpenCL counts work-groups."""
        return Int(self.target.address_bits)

    # --- entry ----------------------------------------------------------------------------------------------

    def begin_kernel(self, name: str, parameters: Sequence[Parameter], local_size: int) -> list[Value]:
        b, m = self.b, self.b.module
        self._name, self._local_size = name, local_size
        m.require("Kernel")
        m.require("Addresses")
        m.require("Linkage")
        types = [PARAMETER_TYPES[p.type] for p in parameters]
        packed = self.target.passing == "struct" and bool(parameters)
        self.passing = "struct" if packed else "arguments"
        if packed:
            struct = Pointer(PRIVATE, Struct(tuple(types)))
            kernel = m.function(name, Void(), (struct,))
            m.decorate(kernel.parameters[0], "FuncParamAttr", "ByVal")
            m.name(kernel.parameters[0], "arguments")
        else:
            kernel = m.function(
                name,
                Void(),
                tuple(
                    Pointer(GLOBAL, p.pointee) if p.pointee is not None else type
                    for p, type in zip(parameters, types, strict=True)
                ),
            )
        self._kernel = kernel
        m.begin(m.label())
        values = []
        for i, (parameter, type) in enumerate(zip(parameters, types, strict=True)):
            if packed:
                place = b.emit(
                    "OpInBoundsAccessChain",
                    kernel.parameters[0],
                    b.constant(I32, i),
                    type=Pointer(PRIVATE, type),
                )
                value = b.emit("OpLoad", place, [("Aligned", type_bytes(type))], type=type)
                if parameter.pointee is not None:
                    value = self.pointer(value, parameter.pointee)
            else:
                value = kernel.parameters[i]
            if parameter.type == "i1":
                value = b.compare("OpINotEqual", value, 0)
            m.name(value, parameter.name)
            values.append(value)
        for builtin in ("WorkgroupId", "NumWorkgroups"):
            for axis in range(3):
                self._coordinates.pop((builtin, axis), None)
        if self.target.lanes:  # here, so that every block may use them
            self._lane = self._builtin("SubgroupLocalInvocationId", I32)
            alone = local_size <= self.target.sub_group_size
            self._warp = b.constant(I32, 0) if alone else self._builtin("SubgroupId", I32)
        return values

    def end_kernel(self) -> None:
        m, kernel = self.b.module, self._kernel
        assert kernel is not None
        m.end_function()
        if self._shared is not None:
            m.define_variable(self._shared, Array(Int(8), self._shared_bytes))
        m.entry_point("Kernel", kernel, self._name, interface=list(self._builtins.values()))
        m.execution_mode(kernel, "LocalSize", self._local_size, 1, 1)
        if self.target.lanes:
            m.require("SubgroupDispatch")
            m.execution_mode(kernel, "SubgroupSize", self.target.sub_group_size)

    def _builtin(self, name: str, type: Type) -> Value:
        """Load an input variable decorated with a BuiltIn (in the current block)."""
        m = self.b.module
        if name not in self._builtins:
            variable = m.global_variable(type, "Input", name=name)
            m.decorate(variable, "BuiltIn", name)
            m.decorate(variable, "Constant")
            self._builtins[name] = variable
        return self.b.emit("OpLoad", self._builtins[name], type=type)

    def _coordinate(self, builtin: str, axis: int) -> Value:
        b = self.b
        return b.resize(b.extract(self._builtin(builtin, Vector(self._size_type, 3)), axis), 32)

    def program_id(self, axis: int) -> Value:
        return self._coordinate("WorkgroupId", axis)

    def num_programs(self, axis: int) -> Value:
        return self._coordinate("NumWorkgroups", axis)

    def lane_id(self) -> Value:
        return self._lane

    def warp_id(self) -> Value:
        return self._warp

    # --- pointers -------------------------------------------------------------------------------------------

    def pointer_type(self, pointee: Type) -> Type:
        return Pointer(GLOBAL, pointee)

    def pointer(self, address: Value, pointee: Type) -> Value:
        return self.b.emit("OpConvertUToPtr", address, type=Pointer(GLOBAL, pointee))

    def address(self, pointer: Value) -> Value:
        return self.b.emit("OpConvertPtrToU", pointer, type=I64)

    def offset(self, pointer: Value, elements: Value) -> Value:
        if elements.constant == 0:
            return pointer
        return self.b.emit("OpPtrAccessChain", pointer, self.b.resize(elements, 64), type=pointer.type)

    def pointee_bytes(self, pointer: Value) -> int:
        assert isinstance(pointer.type, Pointer)
        return type_bytes(pointer.type.pointee)

    def _as_vector(self, pointer: Value, count: int,
                   alignment: int | None = None) -> tuple[Value, Type, tuple[str, int]]:
        """The pointer seen as one to `count` elements; their type; the memory operand with the alignment,
        that of one element where no other is known.
        """
        element = scalar_type(pointer.type.pointee)  # type: ignore[attr-defined]
        type = with_width(element, count)
        if count > 1:
            pointer = self.b.emit("OpBitcast", pointer, type=Pointer(pointer.type.storage_class, type))  # type: ignore[attr-defined]
        return pointer, type, ("Aligned", self._alignment(alignment, type_bytes(element)))

    def _alignment(self, known: int | None, size: int) -> int:
        """Bytes. Intel's GPU compiler splits vectors of narrow elements that it takes to be badly aligned."""
        return min(16, max(known or size, size)) if self.target.register_bytes else size

    # --- global memory --------------------------------------------------------------------------------------

    def load(self, pointer: Value, count: int, volatile: bool = False, alignment: int | None = None) -> Value:
        place, type, aligned = self._as_vector(pointer, count, alignment)
        return self.b.emit("OpLoad", place, ["Volatile", aligned] if volatile else [aligned], type=type)

    def store(self, pointer: Value, value: Value, stream: bool = False, alignment: int | None = None) -> None:
        place, type, aligned = self._as_vector(pointer, width_of(value.type), alignment)
        self.b.emit(
            "OpStore", place, value, ["Nontemporal", ("Aligned", type_bytes(type))] if stream else [aligned]
        )

    def fence_stream(self) -> None:
        if self.target.masked_access:
            # LLVM would merge the streaming stores with the plain ones of the other path, and keep the plain
            # form.
            callee = self.b.module.import_function("llvm.sideeffect", Void(), ())
            self.b.emit("OpFunctionCall", callee, type=Void())

    def _intrinsic_name(self, operation: str, type: Type, suffix: str) -> str:
        element = scalar_type(type)
        letter = "f" if isinstance(element, Float) else "i"
        return f"llvm.masked.{operation}.v{width_of(type)}{letter}{element.width}.{suffix}"  # type: ignore[attr-defined]

    def masked_load(self, pointer: Value, mask: Value, other: Value) -> Value:
        b, m, count = self.b, self.b.module, width_of(other.type)
        if count > 1 and self.target.masked_access:
            place, type, aligned = self._as_vector(pointer, count)
            callee = m.import_function(
                self._intrinsic_name("load", type, "p1"), type, (place.type, I32, mask.type, type)
            )
            return b.emit(
                "OpFunctionCall", callee, place, b.constant(I32, aligned[1]), mask, other, type=type
            )
        places = [self.offset(pointer, b.constant(I64, c)) for c in range(count)]
        return self.gather_by_branches(places, mask, other)

    def masked_store(self, pointer: Value, value: Value, mask: Value) -> None:
        b, m, count = self.b, self.b.module, width_of(value.type)
        if count > 1 and self.target.masked_access:
            place, type, aligned = self._as_vector(pointer, count)
            callee = m.import_function(
                self._intrinsic_name("store", type, "p1"), Void(), (type, place.type, I32, mask.type)
            )
            b.emit("OpFunctionCall", callee, value, place, b.constant(I32, aligned[1]), mask, type=Void())
            return
        self.scatter([self.offset(pointer, b.constant(I64, c)) for c in range(count)], value, mask)

    def prefetch(self, pointer: Value) -> None:
        b, m = self.b, self.b.module
        if self.target.masked_access:
            place = b.emit("OpBitcast", pointer, type=Pointer(GLOBAL, Int(8)))
            callee = m.import_function("llvm.prefetch.p1", Void(), (place.type, I32, I32, I32))
            b.emit(
                "OpFunctionCall",
                callee,
                place,
                b.constant(I32, 0),
                b.constant(I32, 3),
                b.constant(I32, 1),
                type=Void(),
            )

    def gather(self, pointers: Sequence[Value], mask: Value | None, other: Value | None) -> Value:
        b, m = self.b, self.b.module
        if mask is None:
            return b.construct([self.load(pointer, 1) for pointer in pointers])
        assert other is not None
        if len(pointers) > 1 and self.target.masked_access:
            m.require("MaskedGatherScatterINTEL", extension="SPV_INTEL_masked_gather_scatter")
            alignment = self.pointee_bytes(pointers[0])
            return b.emit(
                "OpMaskedGatherINTEL", b.construct(pointers), alignment, mask, other, type=other.type
            )
        return self.gather_by_branches(pointers, mask, other)

    def scatter(self, pointers: Sequence[Value], value: Value, mask: Value | None) -> None:
        b, m = self.b, self.b.module
        if mask is not None and len(pointers) > 1 and self.target.masked_access:
            m.require("MaskedGatherScatterINTEL", extension="SPV_INTEL_masked_gather_scatter")
            b.emit(
                "OpMaskedScatterINTEL", value, b.construct(pointers), self.pointee_bytes(pointers[0]), mask
            )
            return
        for c, pointer in enumerate(pointers):
            if mask is None:
                self.store(pointer, b.extract(value, c))
                continue
            with if_(m, b.extract(mask, c)):
                self.store(pointer, b.extract(value, c))

    # --- private arrays -------------------------------------------------------------------------------------

    def private_array(self, element: Type, size: int, width: int) -> Value:
        held = Int(8) if isinstance(element, Bool) else element
        vector = with_width(held, width)
        return self.b.module.variable(Array(vector, size // width))

    def _place(self, array: Value, width: int, index: Value, count: int, offset: int) -> tuple[Value, Type]:
        """A pointer to `count` elements; the constant offset stays apart, where addressing modes take it."""
        b = self.b
        element = scalar_type(array.type.pointee.element)  # type: ignore[attr-defined]
        part = with_width(element, count)
        if isinstance(index.constant, int):
            index, offset = b.constant(index.type, index.constant + offset), 0
        first = self._first_place(array, width, index, part)
        if not offset:
            return first, part
        parts = b.constant(I32, offset // count)
        return b.emit("OpInBoundsPtrAccessChain", first, parts, type=Pointer(PRIVATE, part)), part

    def _first_place(self, array: Value, width: int, index: Value, part: Type) -> Value:
        """The same within one block is computed once."""
        b, count = self.b, width_of(part)
        name = (array.id, index.id, count)
        block, place = self._places.get(name, (None, None))
        if place is not None and block is b.module.block:
            return place
        pointer = Pointer(PRIVATE, part)
        position = b.lshr(index, count.bit_length() - 1)
        if count == width:
            place = b.emit("OpInBoundsAccessChain", array, position, type=pointer)
        else:
            whole = b.emit("OpBitcast", array, type=pointer)
            place = b.emit("OpInBoundsPtrAccessChain", whole, position, type=pointer)
        self._places[name] = (b.module.block, place)
        return place

    def private_load(
        self, array: Value, width: int, element: Type, index: Value, count: int, offset: int = 0
    ) -> Value:
        b = self.b
        place, type = self._place(array, width, index, count, offset)
        value = b.emit("OpLoad", place, [("Aligned", type_bytes(type))], type=type)
        return b.compare("OpINotEqual", value, 0) if isinstance(element, Bool) else value

    def private_store(self, array: Value, width: int, index: Value, value: Value, offset: int = 0) -> None:
        b = self.b
        if isinstance(scalar_type(value.type), Bool):
            held = with_width(Int(8), width_of(value.type))
            value = b.select(value, b.constant(held, 1), b.constant(held, 0))
        place, type = self._place(array, width, index, width_of(value.type), offset)
        b.emit("OpStore", place, value, [("Aligned", type_bytes(type))])

    # --- lanes ----------------------------------------------------------------------------------------------

    def _sub_group(self, opcode: str, value: Value, operand: Value) -> Value:
        b, m = self.b, self.b.module
        element = scalar_type(value.type)
        if isinstance(element, Bool):
            byte = b.select(value, b.constant(I32, 1), 0)
            return b.compare("OpINotEqual", self._sub_group(opcode, byte, operand), 0)
        m.require("GroupNonUniformShuffle")
        return b.emit(opcode, b.constant(I32, 3), value, operand, type=value.type)

    def shuffle_xor(self, value: Value, mask: int) -> Value:
        return self._sub_group("OpGroupNonUniformShuffleXor", value, self.b.constant(I32, mask))

    def shuffle(self, value: Value, lane: Value) -> Value:
        return self._sub_group("OpGroupNonUniformShuffle", value, lane)

    def barrier(self) -> None:
        if self._local_size == 1:
            return
        b = self.b
        scope = b.constant(I32, SCOPES["cta"])
        semantics = b.constant(I32, self.barrier_semantics[0])
        b.emit("OpControlBarrier", scope, scope, semantics)

    def shared_array(self, element: Type, size: int, offset: int = 0) -> Value:
        b, m = self.b, self.b.module
        if self._shared is None:
            self._shared = m.forward_variable(Array(Int(8), 1), SHARED)
            m.decorate(self._shared, "Alignment", SHARED_ALIGNMENT)
            m.name(self._shared, "shared")
        held = Int(8) if isinstance(element, Bool) else element
        self._shared_bytes = max(self._shared_bytes, offset + size * type_bytes(held))
        bytes = Pointer(SHARED, Int(8))
        place = b.emit("OpInBoundsAccessChain", self._shared, b.constant(I32, offset), type=bytes)
        return place if held == Int(8) else b.emit("OpBitcast", place, type=Pointer(SHARED, held))

    def _shared_place(self, array: Value, index: Value, count: int) -> tuple[Value, Type, tuple[str, int]]:
        place = array
        if index.constant != 0:
            place = self.b.emit("OpInBoundsPtrAccessChain", array, index, type=array.type)
        return self._as_vector(place, count)

    def shared_load(self, array: Value, index: Value, count: int = 1) -> Value:
        place, type, aligned = self._shared_place(array, index, count)
        return self.b.emit("OpLoad", place, [aligned], type=type)

    def shared_store(self, array: Value, index: Value, value: Value) -> None:
        b, count = self.b, width_of(value.type)
        if isinstance(scalar_type(value.type), Bool):
            value = b.select(value, b.constant(with_width(Int(8), count), 1), 0)
        place, _, aligned = self._shared_place(array, index, count)
        b.emit("OpStore", place, value, [aligned])

    def shared_add(self, array: Value, index: Value, value: Value) -> None:
        place, type, _ = self._shared_place(array, index, 1)
        scope, relaxed = self.b.constant(I32, SCOPES["cta"]), self.b.constant(I32, 0)
        self.b.emit("OpAtomicIAdd", place, scope, relaxed, value, type=type)

    # --- arithmetic -----------------------------------------------------------------------------------------

    def math(self, name: str, *operands: Value) -> Value:
        return self.b.ext(name, *operands)

    def function(self, name: str, operands: Sequence[Value], type: Type) -> Value:
        return self.b.module.ext("OpenCL.std", name, *operands, type=type)

    def contract(self, value: Value) -> Value:
        m = self.b.module
        m.require("FPFastMathModeINTEL", extension="SPV_INTEL_fp_fast_math_mode")
        m.decorate(value, "FPFastMathMode", "AllowContractFastINTEL")
        return value

    def narrow(self, value: Value, element: Float, rounding: str = "RTE") -> Value:
        made = self.b.convert("OpFConvert", value, element)
        if rounding != "RTE":
            self.b.module.decorate(made, "FPRoundingMode", rounding)
        return made

    def sum_products(self, form: str, x: Value, y: Value, z: Value) -> Value:
        instruction = {"bf16": "avx512bf16.dpbf16ps", "i8": "avx512.vpdpbusd"}[form]
        name = f"llvm.x86.{instruction}.512"
        callee = self.b.module.import_function(name, z.type, (z.type, x.type, y.type))
        return self.b.emit("OpFunctionCall", callee, z, x, y, type=z.type)

    # --- matrix unit ----------------------------------------------------------------------------------------

    def multiply_matrices(self, form: str, depth: int, a: Value, b: Value, c: Value) -> Value:
        if self.target.emulated:
            return self._emulated(f"matrix_{form}", c.type, a, b, c)
        m = self.b.module
        m.require("SubgroupMatrixMultiplyAccumulateINTEL",
                  extension="SPV_INTEL_subgroup_matrix_multiply_accumulate")
        operands = [f"Matrix{side}{MATRIX_OPERANDS[form]}" for side in "AB"]
        signs = [f"Matrix{side}SignedComponentsINTEL" for side in "AB"] if form == "i8" else []
        return self.b.emit("OpSubgroupMatrixMultiplyAccumulateINTEL", self.b.constant(I32, depth), a, b, c,
                           [*signs, *operands], type=c.type)

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

    # --- atomics --------------------------------------------------------------------------------------------

    def _order(self, order: str) -> Value:
        bits = ORDERS[order]
        self.orders_memory |= bool(bits)
        return self.b.constant(I32, bits | (GLOBAL_MEMORY if bits else 0))

    def has_atomic(self, name: str, type: Type) -> bool:
        available = self.target.capabilities
        if isinstance(type, Float):
            return name == "fadd" and type.width in (32, 64) and (
                available is None or f"AtomicFloat{type.width}AddEXT" in available)
        return isinstance(type, Int) and type.width in (32, 64)

    def atomic_load(self, pointer: Value, scope: str, order: str) -> Value:
        type = self._integer_atomics(pointer)
        return self.b.emit(
            "OpAtomicLoad", pointer, self.b.constant(I32, SCOPES[scope]), self._order(order), type=type
        )

    def atomic_store(self, pointer: Value, value: Value, scope: str, order: str) -> None:
        self._integer_atomics(pointer)
        self.b.emit("OpAtomicStore", pointer, self.b.constant(I32, SCOPES[scope]), self._order(order), value)

    def _integer_atomics(self, pointer: Value) -> Type:
        """The pointee, with the capability that atomics on it need."""
        type = pointer.type.pointee  # type: ignore[attr-defined]
        if type == Int(64):
            self.b.module.require("Int64Atomics")
        return type

    def ticks(self) -> Value:
        b = self.b
        b.module.require("ShaderClockKHR", extension="SPV_KHR_shader_clock")
        return b.emit("OpReadClockKHR", b.constant(I32, SCOPES["gpu"]), type=I64)

    def atomic(self, name: str, pointer: Value, value: Value, scope: str, order: str) -> Value:
        b, m = self.b, self.b.module
        width = scalar_type(value.type).width  # type: ignore[attr-defined]
        if name == "fadd":
            m.require(f"AtomicFloat{width}AddEXT", extension="SPV_EXT_shader_atomic_float_add")
        elif name in ("fmax", "fmin"):
            m.require(f"AtomicFloat{width}MinMaxEXT", extension="SPV_EXT_shader_atomic_float_min_max")
        elif width == 64:
            m.require("Int64Atomics")
        return b.emit(
            ATOMICS[name],
            pointer,
            b.constant(I32, SCOPES[scope]),
            self._order(order),
            value,
            type=value.type,
        )

    def compare_exchange(self, pointer: Value, compare: Value, value: Value, scope: str, order: str) -> Value:
        b = self.b
        if value.type == Int(64):
            b.module.require("Int64Atomics")
        # The order of a failed exchange may not be release (specification, OpAtomicCompareExchange).
        unequal = {"acq_rel": "acquire", "release": "relaxed"}.get(order, order)
        return b.emit("OpAtomicCompareExchange", pointer, b.constant(I32, SCOPES[scope]), self._order(order),
                      self._order(unequal), value, compare, type=value.type)

    # --- printing -------------------------------------------------------------------------------------------

    def printf(self, format: str, *values: Value) -> None:
        b, m = self.b, self.b.module
        text = m.text(format)
        first = b.emit(
            "OpInBoundsAccessChain", text, b.constant(I32, 0), type=Pointer("UniformConstant", Int(8))
        )
        m.ext("OpenCL.std", "printf", first, *values, type=I32)
