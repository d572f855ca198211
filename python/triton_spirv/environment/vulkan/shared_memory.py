"""Vulkan: arrays in memory that the lanes share, and those that it has no room for, in global memory.

With WorkgroupMemoryExplicitLayout all variables lie over each other, one for each type that memory is seen
as. Without, the elements of each width have a variable of their own: arrays of different widths that share
bytes elsewhere lie side by side, which costs memory and is as right: nobody reads an array as another type
than it was written.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...spirv.builder import I32, scalar_type, width_of, with_width
from ...spirv.module import Value
from ...spirv.types import Array, Bool, Int, Pointer, Struct, Type
from ..memory_types import type_bytes
from .memory import ACCESS_BYTES, COMPONENTS, SHARED, VulkanMemory

EXPLICIT = "WorkgroupMemoryExplicitLayout"


class SharedArray(Value):
    """A part of shared memory: what it holds, and how many such elements lie before it."""

    __slots__ = ("element", "first")

    def __init__(self, element: Type, first: int) -> None:
        super().__init__(0, element, "shared")
        self.element, self.first = element, first


class OverflowArray(SharedArray):
    """An array of the program's own in global memory, from an address on."""

    __slots__ = ("address",)

    def __init__(self, element: Type, address: Value) -> None:
        super().__init__(element, 0)
        self.address = address


class VulkanSharedMemory(VulkanMemory):
    """Shared memory of a Vulkan module."""

    _shared_bytes: int
    _shared: dict[tuple[Type, int], tuple[Value, int]]  # (element, components) -> variable, bytes so far

    def shared_array(self, element: Type, size: int, offset: int = 0) -> Value:
        held = Int(8) if isinstance(element, Bool) else element
        bytes = type_bytes(held)
        assert offset % bytes == 0
        self._shared_bytes = max(self._shared_bytes, offset + size * bytes)
        if not self._explicit:
            self._shared_variable(Int(8 * bytes), 1, offset + size * bytes)
        return SharedArray(held, offset // bytes)

    def overflow_array(self, element: Type, size: int, offset: int) -> Value:
        held = Int(8) if isinstance(element, Bool) else element
        return OverflowArray(held, self._overflow_address(offset))

    def _overflow_place(self, array: OverflowArray, index: Value) -> Value:
        """A pointer to element `index`."""
        b, shift = self.b, type_bytes(array.element).bit_length() - 1
        return self.pointer(b.iadd(array.address, b.resize(b.shl(index, shift), 64)), array.element)

    @property
    def _explicit(self) -> bool:
        available = self.target.capabilities
        every = (f"{EXPLICIT}{bits}KHR" for bits in ("", "8BitAccess", "16BitAccess"))
        return available is None or available.issuperset(every)

    def _shared_variable(self, element: Type, components: int, end: int) -> Value:
        known = self._shared.get((element, components))
        bits = element.width  # type: ignore[attr-defined]
        if bits < 32 and not self._explicit:  # the type as such, not for storage buffers only
            self.b.module.require(f"Int{bits}")
        variable = known[0] if known is not None else \
            self.b.module.forward_variable(with_width(element, components), SHARED)
        self._shared[element, components] = variable, max(end, known[1] if known is not None else 0)
        return variable

    def _shared_place(self, array: Value, index: Value, count: int) -> tuple[Value, Type]:
        """A pointer to `count` elements from `index` on, a multiple of count; what memory holds there."""
        b = self.b
        assert isinstance(array, SharedArray)
        element = array.element
        if not self._explicit:
            assert count == 1
            held: Type = Int(8 * type_bytes(element))
            variable = self._shared_variable(held, 1, 0)
            return b.emit("OpAccessChain", variable, b.iadd(index, array.first),
                          type=Pointer(SHARED, held)), held
        bytes = count * type_bytes(element)
        held, parts = with_width(element, count), count
        if type_bytes(element) < 4 and bytes % 4 == 0:  # as words, which every device has
            held, parts = with_width(I32, bytes // 4), bytes // 4
        variable = self._shared_variable(scalar_type(held), parts, self._shared_bytes)
        place = b.lshr(b.iadd(index, array.first), count.bit_length() - 1)
        return b.emit("OpAccessChain", variable, b.constant(I32, 0), place, type=Pointer(SHARED, held)), held

    def _shared_pieces(self, count: int, element: Type) -> int:
        """Elements that one access moves."""
        return min(count, COMPONENTS, ACCESS_BYTES // type_bytes(element)) if self._explicit else 1

    def shared_load(self, array: Value, index: Value, count: int = 1) -> Value:
        b = self.b
        assert isinstance(array, SharedArray)
        if isinstance(array, OverflowArray):
            return self.load(self._overflow_place(array, index), count,
                             alignment=count * type_bytes(array.element))
        most = self._shared_pieces(count, array.element)
        wanted = with_width(array.element, most)
        values = []
        for start in range(0, count, most):
            place, held = self._shared_place(array, b.iadd(index, start), most)
            value = b.emit("OpLoad", place, "NonPrivatePointer", type=held)
            values.append(value if held is wanted else b.emit("OpBitcast", value, type=wanted))
        return values[0] if len(values) == 1 else b.join(values)

    def shared_store(self, array: Value, index: Value, value: Value) -> None:
        b, count = self.b, width_of(value.type)
        assert isinstance(array, SharedArray)
        value = self._as_stored(value)
        if isinstance(array, OverflowArray):
            self.store(self._overflow_place(array, index), value, alignment=count * type_bytes(array.element))
            return
        most = self._shared_pieces(count, array.element)
        for start in range(0, count, most):
            place, held = self._shared_place(array, b.iadd(index, start), most)
            part = value if most == count else b.extract(value, start) if most == 1 else \
                b.shuffle(value, value, list(range(start, start + most)))
            b.emit("OpStore", place, part if part.type is held else b.emit("OpBitcast", part, type=held),
                   "NonPrivatePointer")

    def shared_load_pieces(self, array: Value, index: Value, count: int, pieces: int) -> list[Value]:
        if isinstance(array, OverflowArray) and pieces > 1:
            return self.load_pieces(self._overflow_place(array, index), count, pieces)
        if not self._explicit or pieces == 1:
            return super().shared_load_pieces(array, index, count, pieces)
        assert isinstance(array, SharedArray)
        place, held = self._shared_place(array, index, count * pieces)
        words = self.b.emit("OpLoad", place, "NonPrivatePointer", type=held)
        return self._cut_up(words, with_width(array.element, count), pieces)

    def shared_store_pieces(self, array: Value, index: Value, values: Sequence[Value]) -> None:
        if isinstance(array, OverflowArray) and len(values) > 1:
            return self.store_pieces(self._overflow_place(array, index),
                                     [self._as_stored(value) for value in values])
        if not self._explicit or len(values) == 1:
            return super().shared_store_pieces(array, index, values)
        place, _ = self._shared_place(array, index, len(values) * width_of(values[0].type))
        self.b.emit("OpStore", place, self._joined([self._as_stored(value) for value in values]),
                    "NonPrivatePointer")

    def _as_stored(self, value: Value) -> Value:
        """Bool is held as a byte."""
        if not isinstance(scalar_type(value.type), Bool):
            return value
        return self.b.select(value, self.b.constant(with_width(Int(8), width_of(value.type)), 1), 0)

    def shared_add(self, array: Value, index: Value, value: Value) -> None:
        if isinstance(array, OverflowArray):
            place, type = self._overflow_place(array, index), array.element
        else:
            place, type = self._shared_place(array, index, 1)
        relaxed = self.b.constant(I32, 0)
        self.b.emit("OpAtomicIAdd", place, self.b.constant(I32, 2), relaxed, value, type=type)

    def _define_shared(self) -> None:
        """Declare the variables of shared memory, when their sizes are known."""
        m = self.b.module
        for (element, components), (variable, bytes) in self._shared.items():
            held = with_width(element, components)
            size = type_bytes(held)
            if not self._explicit:
                m.define_variable(variable, Array(element, max(1, -(-bytes // size))))
                continue
            bits = element.width  # type: ignore[attr-defined]
            m.require(f"{EXPLICIT}{f'{bits}BitAccess' if bits < 32 else ''}KHR",
                      extension="SPV_KHR_workgroup_memory_explicit_layout")
            m.require(f"{EXPLICIT}KHR")
            count = max(1, -(-self._shared_bytes // size))
            block = Struct((Array(held, count, stride=size),), offsets=(0,), block=True)
            m.define_variable(variable, block)
            if len(self._shared) > 1:
                m.decorate(variable, "Aliased")
