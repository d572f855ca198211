"""Vulkan: lanes of a sub-group, barriers and atomics, by the Vulkan memory model.

A barrier orders what lanes write to global and shared memory for all lanes of the program, an atomic by its
scope: writes are made available, reads visible (the appendix of Vulkan's specification on its memory model).
Accesses say NonPrivatePointer, or barriers would not concern them.
"""

from __future__ import annotations

from ...spirv.builder import I32, I64, scalar_type, width_of, with_width
from ...spirv.module import Value
from ...spirv.passes.graph import Graph
from ...spirv.passes.private_memory import keep_private
from ...spirv.types import Bool, Float, Int, Type
from ..atomics import ATOMICS
from .shared_memory import VulkanSharedMemory

WORKGROUP = 2
#: The widest scope is the device: Vulkan has no atomics across devices.
SCOPES = {"cta": WORKGROUP, "gpu": 1, "sys": 1}
QUEUE_FAMILY = 5
ORDERS = {"relaxed": 0x0, "acquire": 0x2 | 0x4000, "release": 0x4 | 0x2000, "acq_rel": 0x8 | 0x4000 | 0x2000}
#: UniformMemory covers PhysicalStorageBuffer.
GLOBAL_MEMORY, SHARED_MEMORY = 0x40, 0x100
SUBGROUP = 3


class VulkanLanes(VulkanSharedMemory):
    """Exchange between lanes, barriers, atomics."""

    _local_size: int
    barrier_semantics = (ORDERS["acq_rel"] | SHARED_MEMORY | GLOBAL_MEMORY, ORDERS["acq_rel"] | SHARED_MEMORY)

    # --- lanes ----------------------------------------------------------------------------------------------

    def _words(self, value: Value) -> Value:
        """A value as 32-bit words, which all devices exchange (others want shaderSubgroupExtendedTypes)."""
        b, element, count = self.b, scalar_type(value.type), width_of(value.type)
        if isinstance(element, Bool):
            return b.select(value, b.constant(with_width(I32, count), 1), 0)
        assert isinstance(element, (Int, Float))
        if element.width < 32:
            return b.resize(b.bitcast(value, Int(element.width)), 32, signed=False)
        if element.width == 64:
            assert count <= 2
            return b.emit("OpBitcast", value, type=with_width(I32, 2 * count))
        return b.bitcast(value, I32)

    def _from_words(self, words: Value, type: Type) -> Value:
        b, element = self.b, scalar_type(type)
        if isinstance(element, Bool):
            return b.compare("OpINotEqual", words, 0)
        assert isinstance(element, (Int, Float))
        if element.width < 32:
            return b.bitcast(b.resize(words, element.width), element)
        return words if words.type is type else b.emit("OpBitcast", words, type=type)

    def _sub_group(self, opcode: str, value: Value, operand: Value) -> Value:
        b = self.b
        b.module.require("GroupNonUniformShuffle")
        words = self._words(value)
        moved = b.emit(opcode, b.constant(I32, SUBGROUP), words, operand, type=words.type)
        return self._from_words(moved, value.type)

    def shuffle_xor(self, value: Value, mask: int) -> Value:
        return self._sub_group("OpGroupNonUniformShuffleXor", value, self.b.constant(I32, mask))

    def shuffle(self, value: Value, lane: Value) -> Value:
        return self._sub_group("OpGroupNonUniformShuffle", value, lane)

    def barrier(self) -> None:
        if self._local_size == 1:
            return
        b = self.b
        scope = b.constant(I32, WORKGROUP)
        semantics = b.constant(I32, self.barrier_semantics[0])
        b.emit("OpControlBarrier", scope, scope, semantics)

    def narrow_barrier(self, words: list[int]) -> None:
        words[1] = words[2] = self.b.constant(I32, SUBGROUP).id

    def keep_global_private(self, graph: Graph) -> None:
        """Accesses that no other lane meets need not be made available or visible: they are plain then, which
        devices cache and combine. Those of global memory are the ones that state an alignment. (Not beside
        atomic operations on the words of narrow elements: what is plain may miss what they have written.)"""
        super().keep_global_private(graph)
        if not self.orders_memory and not self._stores_to_words:
            keep_private(graph)

    # --- atomics --------------------------------------------------------------------------------------------

    def _order(self, order: str) -> Value:
        bits = ORDERS[order]
        self.orders_memory |= bool(bits)
        return self.b.constant(I32, bits | (GLOBAL_MEMORY if bits else 0))

    def _scope(self, scope: str) -> Value:
        """Declares what the scope needs; without device scope, a queue family's is the widest."""
        number = SCOPES[scope]
        available = self.target.capabilities
        if number == SCOPES["gpu"]:
            if available is None or "VulkanMemoryModelDeviceScope" in available:
                self.b.module.require("VulkanMemoryModelDeviceScope")
            else:
                number = QUEUE_FAMILY
        return self.b.constant(I32, number)

    def _has(self, capability: str) -> bool:
        return self.target.capabilities is None or capability in self.target.capabilities

    def has_atomic(self, name: str, type: Type) -> bool:
        if isinstance(type, Float):
            return name == "fadd" and type.width in (32, 64) and self._has(f"AtomicFloat{type.width}AddEXT")
        if type is Int(64):
            return self._has("Int64Atomics")
        return type is Int(32)

    def _integer_atomics(self, type: Type) -> None:
        if type is Int(64):
            self.b.module.require("Int64Atomics")

    def atomic_load(self, pointer: Value, scope: str, order: str) -> Value:
        type = pointer.type.pointee  # type: ignore[attr-defined]
        self._integer_atomics(type)
        return self.b.emit("OpAtomicLoad", pointer, self._scope(scope), self._order(order), type=type)

    def atomic_store(self, pointer: Value, value: Value, scope: str, order: str) -> None:
        self._integer_atomics(value.type)
        self.b.emit("OpAtomicStore", pointer, self._scope(scope), self._order(order), value)

    def ticks(self) -> Value:
        b = self.b
        b.module.require("ShaderClockKHR", extension="SPV_KHR_shader_clock")
        return b.emit("OpReadClockKHR", b.constant(I32, SCOPES["gpu"]), type=I64)

    def atomic(self, name: str, pointer: Value, value: Value, scope: str, order: str) -> Value:
        m = self.b.module
        width = scalar_type(value.type).width  # type: ignore[attr-defined]
        if name == "fadd":
            m.require(f"AtomicFloat{width}AddEXT", extension="SPV_EXT_shader_atomic_float_add")
        elif name in ("fmax", "fmin"):
            m.require(f"AtomicFloat{width}MinMaxEXT", extension="SPV_EXT_shader_atomic_float_min_max")
        else:
            self._integer_atomics(value.type)
        return self.b.emit(ATOMICS[name], pointer, self._scope(scope), self._order(order), value,
                           type=value.type)

    def fence(self, scope: str, order: str) -> None:
        if order != "relaxed":
            self.b.emit("OpMemoryBarrier", self._scope(scope), self._order(order))

    def compare_exchange(self, pointer: Value, compare: Value, value: Value, scope: str, order: str) -> Value:
        self._integer_atomics(value.type)
        # The order of a failed exchange may not be release (specification, OpAtomicCompareExchange).
        unequal = {"acq_rel": "acquire", "release": "relaxed"}.get(order, order)
        return self.b.emit("OpAtomicCompareExchange", pointer, self._scope(scope), self._order(order),
                           self._order(unequal), value, compare, type=value.type)
