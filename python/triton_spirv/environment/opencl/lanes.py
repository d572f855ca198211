"""OpenCL: lanes of a sub-group, what a work-group shares, barriers and atomics."""

from __future__ import annotations

from ...spirv.builder import I32, I64, scalar_type, width_of, with_width
from ...spirv.module import Value
from ...spirv.types import Array, Bool, Float, Int, Pointer, Type
from ..atomics import ATOMICS
from ..base import REDUCTIONS
from ..memory_types import type_bytes
from .memory import SHARED, OpenCLMemory

#: Scope and semantics numbers of the specification, 3.27 and 3.25.
SCOPES = {"cta": 2, "gpu": 1, "sys": 0}
SUBGROUP = 3
ORDERS = {"relaxed": 0x0, "acquire": 0x2, "release": 0x4, "acq_rel": 0x8}
GLOBAL_MEMORY, SHARED_MEMORY = 0x200, 0x100

SHARED_ALIGNMENT = 16  # bytes: the widest access of a lane


class OpenCLLanes(OpenCLMemory):
    """Exchange between lanes, shared memory, barriers, atomics."""

    _local_size: int
    _shared: Value | None
    _shared_bytes: int
    barrier_semantics = (ORDERS["acq_rel"] | SHARED_MEMORY | GLOBAL_MEMORY, ORDERS["acq_rel"] | SHARED_MEMORY)

    # --- lanes ----------------------------------------------------------------------------------------------

    def _sub_group(self, opcode: str, value: Value, operand: Value) -> Value:
        """Exchange a value between lanes as something that is not computed with: integers as floats, the rest
        as integers of 32 bits.

        IGC 2.40 looks for `x + shuffle_xor(x)` to make reductions of its own of them, and crashes where one
        such step takes its x from the last of another reduction, or of a shorter one with the same beginning.
        """
        b, element = self.b, scalar_type(value.type)
        if isinstance(element, Bool):
            byte = b.select(value, b.constant(I32, 1), 0)
            return b.compare("OpINotEqual", self._exchanged(opcode, byte, operand), 0)
        assert isinstance(element, (Int, Float))
        bits = b.bitcast(value, Int(element.width))
        if element.width == 64:
            halves = [self._exchanged(opcode, b.resize(b.lshr(bits, shift) if shift else bits, 32), operand)
                      for shift in (0, 32)]
            low, high = (b.resize(half, 64, signed=False) for half in halves)
            return b.bitcast(b.ior(low, b.shl(high, 32)), element)
        if element.width < 32:
            word = self._exchanged(opcode, b.resize(bits, 32, signed=False), operand)
            return b.bitcast(b.resize(word, element.width), element)
        carrier = I32 if isinstance(element, Float) else Float(32)
        return b.bitcast(self._exchanged(opcode, b.bitcast(value, carrier), operand), element)

    def _exchanged(self, opcode: str, word: Value, operand: Value) -> Value:
        self.b.module.require("GroupNonUniformShuffle")
        return self.b.emit(opcode, self.b.constant(I32, SUBGROUP), word, operand, type=word.type)

    def shuffle_xor(self, value: Value, mask: int) -> Value:
        return self._sub_group("OpGroupNonUniformShuffleXor", value, self.b.constant(I32, mask))

    def shuffle(self, value: Value, lane: Value) -> Value:
        return self._sub_group("OpGroupNonUniformShuffle", value, lane)

    def reduce_lanes(self, operation: str, value: Value, lanes: int) -> Value | None:
        b, m, element = self.b, self.b.module, scalar_type(value.type)
        if not self.target.reduces or operation not in REDUCTIONS or element not in (I32, Float(32)):
            return None
        opcode, scope = f"OpGroupNonUniform{REDUCTIONS[operation]}", b.constant(I32, SUBGROUP)
        whole = lanes == self.target.sub_group_size
        if not whole and self.target.optimised_size is not None:
            # where it does not optimise, Intel's CPU runtime (2026.22) gives all lanes the first part's
            return None
        m.require("GroupNonUniformArithmetic" if whole else "GroupNonUniformClustered")
        size = [] if whole else [b.constant(I32, lanes)]
        parts = [b.emit(opcode, scope, "Reduce" if whole else "ClusteredReduce", b.extract(value, c), *size,
                        type=element) for c in range(width_of(value.type))]
        return b.construct(parts)

    def barrier(self) -> None:
        if self._local_size == 1:
            return
        b = self.b
        scope = b.constant(I32, SCOPES["cta"])
        semantics = b.constant(I32, self.barrier_semantics[0])
        b.emit("OpControlBarrier", scope, scope, semantics)

    # --- shared memory --------------------------------------------------------------------------------------

    def shared_array(self, element: Type, size: int, offset: int = 0) -> Value:
        b, m = self.b, self.b.module
        if self._shared is None:
            self._shared = m.forward_variable(Array(Int(8), 1), SHARED)
            m.decorate(self._shared, "Alignment", SHARED_ALIGNMENT)
            m.name(self._shared, "shared")
        held = Int(8) if isinstance(element, Bool) else element
        self._shared_bytes = max(self._shared_bytes, offset + size * type_bytes(held))
        bytes = Pointer(SHARED, Int(8))
        place = b.once("OpInBoundsAccessChain", self._shared, b.constant(I32, offset), type=bytes)
        return place if held == Int(8) else b.once("OpBitcast", place, type=Pointer(SHARED, held))

    def overflow_array(self, element: Type, size: int, offset: int) -> Value:
        held = Int(8) if isinstance(element, Bool) else element
        return self.pointer(self._overflow_address(offset), held)

    def _watched(self, place: Value, count: int, kind: str) -> None:
        """Tell who watches of an access to elements from `place` on, if they lie in shared memory."""
        type = place.type
        assert isinstance(type, Pointer)
        if self.watch is None or type.storage_class != SHARED or self._shared is None:
            return
        b, size = self.b, type_bytes(scalar_type(type.pointee))
        at, start = (b.emit("OpConvertPtrToU", each, type=I64) for each in (place, self._shared))
        self.watch(b.resize(b.isub(at, start), 32), count * size, size, kind)

    def _shared_place(self, array: Value, index: Value, count: int) -> tuple[Value, Type, tuple[str, int]]:
        place = array
        if index.constant != 0:
            place = self.b.once("OpInBoundsPtrAccessChain", array, index, type=array.type)
        return self._as_vector(place, count)

    def shared_load(self, array: Value, index: Value, count: int = 1) -> Value:
        place, type, aligned = self._shared_place(array, index, count)
        self._watched(place, count, "read")
        return self.b.emit("OpLoad", place, [aligned], type=type)

    def shared_store(self, array: Value, index: Value, value: Value) -> None:
        b, count = self.b, width_of(value.type)
        if isinstance(scalar_type(value.type), Bool):
            value = b.select(value, b.constant(with_width(Int(8), count), 1), 0)
        place, _, aligned = self._shared_place(array, index, count)
        self._watched(place, count, "write")
        b.emit("OpStore", place, value, [aligned])

    def shared_add(self, array: Value, index: Value, value: Value) -> None:
        place, type, _ = self._shared_place(array, index, 1)
        self._watched(place, 1, "add")
        scope, relaxed = self.b.constant(I32, SCOPES["cta"]), self.b.constant(I32, 0)
        self.b.emit("OpAtomicIAdd", place, scope, relaxed, value, type=type)

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

    def atomic(self, name: str, pointer: Value, value: Value, scope: str, order: str) -> Value:
        b, m = self.b, self.b.module
        width = scalar_type(value.type).width  # type: ignore[attr-defined]
        if name == "fadd":
            m.require(f"AtomicFloat{width}AddEXT", extension="SPV_EXT_shader_atomic_float_add")
        elif name in ("fmax", "fmin"):
            m.require(f"AtomicFloat{width}MinMaxEXT", extension="SPV_EXT_shader_atomic_float_min_max")
        elif width == 64:
            m.require("Int64Atomics")
        self._met(pointer, 1, "add")
        return b.emit(
            ATOMICS[name],
            pointer,
            b.constant(I32, SCOPES[scope]),
            self._order(order),
            value,
            type=value.type,
        )

    def fence(self, scope: str, order: str) -> None:
        if order != "relaxed":
            self.b.emit("OpMemoryBarrier", self.b.constant(I32, SCOPES[scope]), self._order(order))

    def compare_exchange(self, pointer: Value, compare: Value, value: Value, scope: str, order: str) -> Value:
        b = self.b
        if value.type == Int(64):
            b.module.require("Int64Atomics")
        self._met(pointer, 1, "add")
        # The order of a failed exchange may not be release (specification, OpAtomicCompareExchange).
        unequal = {"acq_rel": "acquire", "release": "relaxed"}.get(order, order)
        return b.emit("OpAtomicCompareExchange", pointer, b.constant(I32, SCOPES[scope]), self._order(order),
                      self._order(unequal), value, compare, type=value.type)
