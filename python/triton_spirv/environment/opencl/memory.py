"""OpenCL: pointers, global memory, private arrays."""

from __future__ import annotations

from collections.abc import Sequence

from ...spirv.builder import I32, I64, scalar_type, width_of, with_width
from ...spirv.module import Value
from ...spirv.types import Array, Bool, Float, Int, Pointer, Type, Void
from ..base import Environment
from ..memory_types import type_bytes

GLOBAL, SHARED, PRIVATE = "CrossWorkgroup", "Workgroup", "Function"

#: Addresses that differ by a multiple of so many bytes share a few places in the nearest cache: arrays of
#: such sizes, one behind the other and walked together, drive each other out. So many vectors more keep them
#: apart.
SAME_SETS, APART = 4096, 5


#: Bytes of the words that messages to global memory move.
WORD = 4


def _loses_its_end(type: Type) -> bool:
    """Would the driver widen a masked access of such vectors to 16 bytes by a copy of its mask, and lose that
    copy where masks are spilled (the quirk spilled_masks)?"""
    return width_of(type) == 8 and type_bytes(scalar_type(type)) == 1


#: Bytes of the vectors that processors without registers of masks access under one.
MASKED = 32


class OpenCLMemory(Environment):
    """Physical pointers, of 64 bits, or of 32 where the target has no more."""

    def _is_halved(self, type: Type) -> bool:
        """Is a masked access of such vectors made as two? Where the driver would lose part of the mask: if it
        widens it, or takes the vector apart and finds that half of the mask is false (the quirk
        halved_masks)."""
        if not self.target.masked_access:
            return False
        wide = not self.target.mask_registers and type_bytes(type) > MASKED
        return width_of(type) > 1 and (wide or _loses_its_end(type))

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
        return self.b.once("OpPtrAccessChain", pointer, self.b.resize(elements, 64), type=pointer.type)

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
            pointer = self.b.once("OpBitcast", pointer, type=Pointer(pointer.type.storage_class, type))  # type: ignore[attr-defined]
        return pointer, type, ("Aligned", self._alignment(alignment, type_bytes(element)))

    def _alignment(self, known: int | None, size: int) -> int:
        """Bytes. Intel's GPU compiler splits vectors of narrow elements that it takes to be badly aligned."""
        return min(16, max(known or size, size)) if self.target.register_bytes else size

    # --- global memory --------------------------------------------------------------------------------------

    def load(self, pointer: Value, count: int, volatile: bool = False, alignment: int | None = None) -> Value:
        place, type, aligned = self._as_vector(pointer, count, alignment)
        self._met(pointer, count, "read")
        return self.b.emit("OpLoad", place, ["Volatile", aligned] if volatile else [aligned], type=type)

    def store(self, pointer: Value, value: Value, stream: bool = False, alignment: int | None = None,
              volatile: bool = False) -> None:
        place, type, aligned = self._as_vector(pointer, width_of(value.type), alignment)
        self._met(pointer, width_of(value.type), "write", value)
        access = ["Nontemporal", ("Aligned", type_bytes(type))] if stream else [aligned]
        self.b.emit("OpStore", place, value, ["Volatile", *access] if volatile else access)

    def store_pair(self, pointer: Value, low: Value, high: Value, stream: bool = False) -> None:
        """As one vector of words: SPIR-V has none of more than 16 components."""
        b, count, size = self.b, width_of(low.type), self.pointee_bytes(pointer)
        if self.watch_global is not None or count * size % WORD or 2 * count * size > 16 * WORD:
            return super().store_pair(pointer, low, high, stream)
        words = count * size // WORD
        first, second = (b.once("OpBitcast", x, type=with_width(I32, words)) for x in (low, high))
        whole = b.shuffle(first, second, list(range(2 * words)))
        place = b.once("OpBitcast", pointer, type=Pointer(GLOBAL, whole.type))
        access = ["Nontemporal", ("Aligned", 2 * count * size)] if stream else [("Aligned", size)]
        b.emit("OpStore", place, whole, access)
        return None

    def _met(self, pointer: Value, count: int, kind: str, value: Value | None = None) -> None:
        """Tell who watches of an access to elements from a pointer on, if they lie in global memory."""
        assert isinstance(pointer.type, Pointer)
        if self.watch_global is not None and pointer.type.storage_class == GLOBAL:
            size = type_bytes(scalar_type(pointer.type.pointee))
            self.watch_global(pointer, count * size, size, kind, value)

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

    def _halves(self, pointer: Value, *vectors: Value) -> list[tuple[Value, ...]]:
        """The two halves of a masked access: the pointer and the vectors of each."""
        half = width_of(vectors[0].type) // 2
        pointers = pointer, self.offset(pointer, self.b.constant(I64, half))
        return [
            (start, *(self.b.shuffle(x, x, range(h * half, (h + 1) * half)) for x in vectors))
            for h, start in enumerate(pointers)
        ]

    def masked_load(self, pointer: Value, mask: Value, other: Value) -> Value:
        b, m, count = self.b, self.b.module, width_of(other.type)
        if self._is_halved(other.type):
            low, high = (self.masked_load(*half) for half in self._halves(pointer, mask, other))
            return b.shuffle(low, high, range(count))
        if count > 1 and self.target.masked_access:
            place, type, aligned = self._as_vector(pointer, count)
            callee = m.import_function(
                self._intrinsic_name("load", type, "p1"), type, (place.type, I32, mask.type, type)
            )
            return b.emit(
                "OpFunctionCall", callee, place, b.constant(I32, aligned[1]), mask, other, type=type
            )
        places = [self.offset(pointer, b.constant(I64, c)) for c in range(count)]
        return self.gather_one_by_one(places, mask, other)

    def masked_store(self, pointer: Value, value: Value, mask: Value) -> None:
        b, m, count = self.b, self.b.module, width_of(value.type)
        if self._is_halved(value.type):
            for start, part, where in self._halves(pointer, value, mask):
                self.masked_store(start, part, where)
            return
        if count > 1 and self.target.masked_access:
            place, type, aligned = self._as_vector(pointer, count)
            callee = m.import_function(
                self._intrinsic_name("store", type, "p1"), Void(), (type, place.type, I32, mask.type)
            )
            b.emit("OpFunctionCall", callee, value, place, b.constant(I32, aligned[1]), mask, type=Void())
            return
        self.scatter([self.offset(pointer, b.constant(I64, c)) for c in range(count)], value, mask)

    def prefetch(self, pointer: Value, soon: bool = True, writes: bool = False) -> None:
        if self.target.masked_access:
            place = self.b.emit("OpBitcast", pointer, type=Pointer(GLOBAL, Int(8)))
            self._prefetch(place, "p1", soon, writes)

    def _prefetch(self, place: Value, space: str, soon: bool, writes: bool) -> None:
        """LLVM's llvm.prefetch, by its name; space: what it calls the type of the pointer."""
        b = self.b
        callee = b.module.import_function(f"llvm.prefetch.{space}", Void(), (place.type, I32, I32, I32))
        numbers = (b.constant(I32, number) for number in (int(writes), 3 if soon else 2, 1))
        b.emit("OpFunctionCall", callee, place, *numbers, type=Void())

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
        return self.gather_one_by_one(pointers, mask, other)

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
            self.store_where(pointer, b.extract(value, c), b.extract(mask, c))

    # --- predicates -----------------------------------------------------------------------------------------

    def predicates(self, element: Type, count: int, alignment: int) -> bool:
        """Messages move words of 4 bytes at multiples of 4; the instruction cannot say less."""
        size = type_bytes(element)
        return self.target.predicated and max(alignment, size) >= min(WORD, size * count)

    def load_where(self, pointer: Value, here: Value, other: Value, alignment: int | None = None) -> Value:
        element, count = scalar_type(other.type), width_of(other.type)
        if not self.predicates(element, count, alignment or 1):
            return super().load_where(pointer, here, other, alignment)
        place, type, _ = self._as_vector(pointer, count)
        if self.target.emulated:
            return self._where("load", (place, other, here), type)
        self.b.module.require("PredicatedIOINTEL", extension="SPV_INTEL_predicated_io")
        return self.b.emit("OpPredicatedLoadINTEL", place, here, other, type=type)

    def store_where(self, pointer: Value, value: Value, here: Value, alignment: int | None = None) -> None:
        element, count = scalar_type(value.type), width_of(value.type)
        if not self.predicates(element, count, alignment or 1):
            return super().store_where(pointer, value, here, alignment)
        place, _, _ = self._as_vector(pointer, count)
        if self.target.emulated:
            self._where("store", (place, value, here), Void())
            return
        self.b.module.require("PredicatedIOINTEL", extension="SPV_INTEL_predicated_io")
        self.b.emit("OpPredicatedStoreINTEL", place, value, here)

    def _where(self, kind: str, operands: tuple[Value, Value, Value], type: Type) -> Value:
        """A call of the function of the same meaning that is linked in; it takes all elements as integers."""
        b = self.b
        place, value, here = operands
        element, count = scalar_type(value.type), width_of(value.type)
        whole = with_width(Int(type_bytes(element) * 8), count)
        place = b.emit("OpBitcast", place, type=Pointer(GLOBAL, whole)) if value.type != whole else place
        value = b.bitcast(value, Int(type_bytes(element) * 8))
        flag = b.select(here, b.constant(I32, 1), b.constant(I32, 0))
        result = type if isinstance(type, Void) else whole
        name = f"ts_where_{kind}_{type_bytes(element) * 8}_{count}"
        callee = b.module.import_function(name, result, (place.type, whole, I32))
        made = b.emit("OpFunctionCall", callee, place, value, flag, type=result)
        return made if isinstance(type, Void) else b.bitcast(made, element)

    # --- private arrays -------------------------------------------------------------------------------------

    def private_array(self, element: Type, size: int, width: int) -> Value:
        held = Int(8) if isinstance(element, Bool) else element
        vector, count = with_width(held, width), size // width
        if count * type_bytes(vector) % SAME_SETS == 0:
            count += APART
        return self.b.module.variable(Array(vector, count))

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
        return b.once("OpInBoundsPtrAccessChain", first, parts, type=Pointer(PRIVATE, part)), part

    def _first_place(self, array: Value, width: int, index: Value, part: Type) -> Value:
        b, count = self.b, width_of(part)
        pointer = Pointer(PRIVATE, part)
        position = b.lshr(index, count.bit_length() - 1)
        if count == width:
            return b.once("OpInBoundsAccessChain", array, position, type=pointer)
        whole = b.once("OpBitcast", array, type=pointer)
        return b.once("OpInBoundsPtrAccessChain", whole, position, type=pointer)

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

    def private_prefetch(self, array: Value, width: int, index: Value, count: int, offset: int = 0,
                         nearest: bool = True) -> None:
        if self.target.masked_access:
            first, _ = self._place(array, width, index, count, offset)
            place = self.b.emit("OpBitcast", first, type=Pointer(PRIVATE, Int(8)))
            self._prefetch(place, "p0", nearest, writes=False)
