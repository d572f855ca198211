"""Vulkan: pointers and memory. Global memory is reached by 64-bit addresses (PhysicalStorageBuffer); private
arrays are logical, and so are shared ones (shared_memory.py): a variable and an index, no pointer arithmetic,
no casts.

Where a device has no accesses of 8 or 16 bits (8BitAccess, 16BitAccess), narrow elements are cut out of their
32-bit words, and put into them by atomic operations, so that lanes may store to one word at a time.

Vectors have 4 components at most (capability Vector16 is OpenCL's), and a vector in memory must be aligned as
the access says, or be moved in smaller parts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from ...spirv.builder import I32, I64, scalar_type, width_of, with_width
from ...spirv.control import if_
from ...spirv.module import Value
from ...spirv.types import Array, Bool, Float, Int, Pointer, Type
from ..base import Environment
from ..memory_types import type_bytes

GLOBAL, SHARED, PRIVATE = "PhysicalStorageBuffer", "Workgroup", "Function"
COMPONENTS = 4  # of a vector, at most
ACCESS_BYTES = 16  # of one access, at most


class VulkanMemory(Environment):
    """Pointers, global and private memory of a Vulkan module."""

    _addresses: dict[int, Value]  # the address of a pointer made here, by its id
    _stores_to_words = False  # are narrow elements put into words by atomic operations?

    # --- pointers -------------------------------------------------------------------------------------------

    def pointer_type(self, pointee: Type) -> Type:
        if self._in_words(pointee):
            return I64
        self._storable(pointee)
        return Pointer(GLOBAL, pointee)

    def _in_words(self, element: Type) -> bool:
        """Is an element of this type reached through the 32-bit word around it?"""
        bits, available = 8 * type_bytes(element), self.target.capabilities
        return bits < 32 and available is not None and f"StorageBuffer{bits}BitAccess" not in available

    def _storable(self, type: Type) -> None:
        """Declare what memory accesses of a narrow type need."""
        element = scalar_type(type)
        bits = element.width if isinstance(element, (Int, Float)) else 32
        if bits < 32:
            # The storage capability alone allows the type for loads and stores, and nothing else.
            self.b.module.require(f"Int{bits}")
            if isinstance(element, Float):
                self.b.module.require(f"Float{bits}")
            self.b.module.require(f"StorageBuffer{bits}BitAccess")

    def pointer(self, address: Value, pointee: Type) -> Value:
        if self._in_words(pointee):  # no pointer of the module: the address, and what it points to
            self._addresses[address.id] = address
            return Value(address.id, Pointer(GLOBAL, pointee), address.op)
        made = self.b.emit("OpConvertUToPtr", address, type=self.pointer_type(pointee))
        self._addresses[made.id] = address
        return made

    def address(self, pointer: Value) -> Value:
        known = self._addresses.get(pointer.id)
        return self.b.emit("OpConvertPtrToU", pointer, type=I64) if known is None else known

    def offset(self, pointer: Value, elements: Value) -> Value:
        if elements.constant == 0:
            return pointer
        b, pointee = self.b, pointer.type.pointee  # type: ignore[attr-defined]
        bytes = b.shl(b.resize(elements, 64), type_bytes(pointee).bit_length() - 1)
        return self.pointer(b.iadd(self.address(pointer), bytes), pointee)

    def pointee_bytes(self, pointer: Value) -> int:
        assert isinstance(pointer.type, Pointer)
        return type_bytes(pointer.type.pointee)

    # --- global memory --------------------------------------------------------------------------------------

    def _parts(
        self, pointer: Value, count: int, alignment: int | None
    ) -> tuple[list[Value], Type, Type, int]:
        """How neighbouring elements are moved: a pointer for each part, the type of a part in memory and in
        registers, its alignment. Narrow elements move as words where they fill some.
        """
        b, element = self.b, pointer.type.pointee  # type: ignore[attr-defined]
        size = type_bytes(element)
        aligned = max(size, alignment or size)
        most = min(count, COMPONENTS, max(1, min(ACCESS_BYTES, aligned) // size))
        held = with_width(element, most)
        bytes = most * size
        moved = with_width(I32, bytes // 4) if size < 4 and bytes % 4 == 0 else held
        first = self.address(pointer)
        places = [self.pointer(b.iadd(first, start * size), moved) for start in range(0, count, most)]
        return places, moved, held, bytes

    def _alone(self, pointer: Value, count: int, alignment: int | None) -> bool:
        """Must these elements be cut out of words, each for itself?"""
        element = pointer.type.pointee  # type: ignore[attr-defined]
        return self._in_words(element) and (count * type_bytes(element) % 4 != 0 or (alignment or 0) < 4)

    @abstractmethod
    def _scope(self, scope: str) -> Value:
        """The number of a scope by Triton's name, as a device has it."""

    def _access(self, alignment: int, *more: str) -> list[Any]:
        return [*more, ("Aligned", alignment), "NonPrivatePointer"]

    def _cut(self, pointer: Value) -> tuple[Value, Value]:
        """A pointer to the word around a narrow element, and the element's lowest bit there."""
        b, address = self.b, self.address(pointer)
        return self.pointer(b.iand(address, -4), I32), b.shl(b.iand(b.resize(address, 32), 3), 3)

    def _load_from_word(self, pointer: Value, volatile: bool) -> Value:
        b, element = self.b, pointer.type.pointee  # type: ignore[attr-defined]
        word, low = self._cut(pointer)
        part = b.resize(b.lshr(self.load(word, 1, volatile), low), 8 * type_bytes(element))
        return b.bitcast(part, element)

    def _store_to_word(self, pointer: Value, value: Value) -> None:
        """Other lanes may write the rest of the word meanwhile, and the element: one of its values stays."""
        b, element = self.b, pointer.type.pointee  # type: ignore[attr-defined]
        bits = 8 * type_bytes(element)
        self._stores_to_words = True
        word, low = self._cut(pointer)
        ones = b.shl(b.constant(I32, (1 << bits) - 1), low)
        part = b.shl(b.resize(b.bitcast(value, Int(bits)), 32, signed=False), low)
        rest = b.ixor(ones, -1)
        self.update_word(word, "gpu", lambda old: b.ior(b.iand(old, rest), part))

    def load(self, pointer: Value, count: int, volatile: bool = False, alignment: int | None = None) -> Value:
        b = self.b
        if self._alone(pointer, count, alignment):
            return b.construct([self._load_from_word(place, volatile)
                                for place in self._neighbours(pointer, count)])
        places, moved, held, bytes = self._parts(pointer, count, alignment)
        access = self._access(bytes, *["Volatile"] * volatile)
        if volatile:  # what other lanes have written since, too: else caches may give the old value for ever
            access.insert(2, ("MakePointerVisible", self._scope("gpu")))
        values = [b.emit("OpLoad", place, access, type=moved) for place in places]
        if moved is not held:
            values = [b.emit("OpBitcast", value, type=held) for value in values]
        return values[0] if len(values) == 1 else b.join(values)

    def store(self, pointer: Value, value: Value, stream: bool = False, alignment: int | None = None,
              volatile: bool = False) -> None:
        b, count = self.b, width_of(value.type)
        if self._alone(pointer, count, alignment):
            for c, place in enumerate(self._neighbours(pointer, count)):
                self._store_to_word(place, b.extract(value, c))
            return
        places, moved, held, bytes = self._parts(pointer, count, alignment)
        most = width_of(held)
        access = self._access(bytes, *["Volatile"] * volatile, *["Nontemporal"] * stream)
        for i, place in enumerate(places):
            which = range(i * most, (i + 1) * most)
            part = value if most == count else b.shuffle(value, value, list(which)) if most > 1 \
                else b.extract(value, i)
            if moved is not held:
                part = b.emit("OpBitcast", part, type=moved)
            b.emit("OpStore", place, part, access)

    def load_pieces(self, pointer: Value, count: int, pieces: int) -> list[Value]:
        b, element = self.b, pointer.type.pointee  # type: ignore[attr-defined]
        bytes = count * pieces * type_bytes(element)
        words = with_width(I32, bytes // 4)
        loaded = b.emit("OpLoad", self.pointer(self.address(pointer), words), self._access(bytes), type=words)
        return self._cut_up(loaded, with_width(element, count), pieces)

    def store_pieces(self, pointer: Value, values: Sequence[Value]) -> None:
        whole = self._joined(values)
        place = self.pointer(self.address(pointer), whole.type)
        self.b.emit("OpStore", place, whole, self._access(type_bytes(whole.type)))

    def _cut_up(self, words: Value, held: Type, pieces: int) -> list[Value]:
        """Words as vectors of narrow elements."""
        b, each = self.b, width_of(words.type) // pieces
        parts = [range(i * each, (i + 1) * each) for i in range(pieces)]
        cut = [b.extract(words, part[0]) if each == 1 else b.shuffle(words, words, part) for part in parts]
        return [b.emit("OpBitcast", one, type=held) for one in cut]

    def _joined(self, values: Sequence[Value]) -> Value:
        """Vectors of narrow elements as words."""
        b, each = self.b, type_bytes(values[0].type) // 4
        words = [b.emit("OpBitcast", value, type=with_width(I32, each)) for value in values]
        return b.construct([b.extract(word, i) for word in words for i in range(each)])

    def fence_stream(self) -> None:
        """Nothing: streaming stores are a hint only."""

    def _neighbours(self, pointer: Value, count: int) -> list[Value]:
        return [self.offset(pointer, self.b.constant(I64, c)) for c in range(count)]

    def masked_load(self, pointer: Value, mask: Value, other: Value) -> Value:
        return self.gather(self._neighbours(pointer, width_of(other.type)), mask, other)

    def masked_store(self, pointer: Value, value: Value, mask: Value) -> None:
        self.scatter(self._neighbours(pointer, width_of(value.type)), value, mask)

    def gather(self, pointers: Sequence[Value], mask: Value | None, other: Value | None) -> Value:
        b = self.b
        if mask is None:
            return b.construct([self.load(pointer, 1) for pointer in pointers])
        assert other is not None
        return self.gather_one_by_one(pointers, mask, other)

    def scatter(self, pointers: Sequence[Value], value: Value, mask: Value | None) -> None:
        b = self.b
        for c, pointer in enumerate(pointers):
            if mask is None:
                self.store(pointer, b.extract(value, c))
                continue
            with if_(b.module, b.extract(mask, c)):
                self.store(pointer, b.extract(value, c))

    # --- private arrays: of scalars -------------------------------------------------------------------------

    def private_array(self, element: Type, size: int, width: int) -> Value:
        return self.b.module.variable(Array(I32 if isinstance(element, Bool) else element, size))

    def _private_place(self, array: Value, index: Value, offset: int) -> Value:
        b = self.b
        element = array.type.pointee.element  # type: ignore[attr-defined]
        return b.emit("OpAccessChain", array, b.iadd(index, offset), type=Pointer(PRIVATE, element))

    def private_load(
        self, array: Value, width: int, element: Type, index: Value, count: int, offset: int = 0
    ) -> Value:
        b = self.b
        held = array.type.pointee.element  # type: ignore[attr-defined]
        value = b.construct([b.emit("OpLoad", self._private_place(array, index, offset + c), type=held)
                             for c in range(count)])
        return b.compare("OpINotEqual", value, 0) if isinstance(element, Bool) else value

    def private_store(self, array: Value, width: int, index: Value, value: Value, offset: int = 0) -> None:
        b = self.b
        if isinstance(scalar_type(value.type), Bool):
            value = b.select(value, b.constant(with_width(I32, width_of(value.type)), 1), 0)
        for c in range(width_of(value.type)):
            b.emit("OpStore", self._private_place(array, index, offset + c), b.extract(value, c))
