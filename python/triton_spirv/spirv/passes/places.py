"""Places in private arrays as definite_assignment.py knows them: linear in the bits of the turns' numbers."""

from __future__ import annotations

from functools import lru_cache

from ...dataclass import dataclass
from ..types import Array, Float, Int, Type, Vector

Bit = tuple[int, int]  # of the number of a loop's turn: the number's id, which bit; (id, WHOLE): of any value
Bases = frozenset[tuple[Bit, int]]  # what each bit toggles in the number of an element

WHOLE = -1
NOTHING: Bases = frozenset()


class Linear:
    """A number: `constant`, xored with the bases of the bits that are set. `reach`: the bits that may be set
    in it; -1 where it is any number."""

    __slots__ = ("bases", "constant", "reach")

    def __init__(self, constant: int, bases: Bases = NOTHING) -> None:
        self.constant, self.bases = constant, bases
        self.reach = constant
        for (_, which), basis in bases:
            self.reach = -1 if which == WHOLE else self.reach | basis

    def shifted(self, left: int, mask: int = -1) -> Linear:
        """Its bits in the mask, shifted left, or right where negative."""
        constant = self.constant & mask
        return Linear(constant << left if left >= 0 else constant >> -left, _shifted(self.bases, left, mask))

    def xor(self, other: Linear) -> Linear:
        return Linear(self.constant ^ other.constant, _xor(self.bases, other.bases))


@lru_cache(1024)
def _shifted(bases: Bases, left: int, mask: int) -> Bases:
    moved = [(bit, (x & mask) << left if left >= 0 else (x & mask) >> -left) for bit, x in bases]
    return frozenset(x for x in moved if x[1])


@lru_cache(1024)
def _xor(x: Bases, y: Bases) -> Bases:
    bases = dict(x)
    for bit, basis in y:
        bases[bit] = bases.get(bit, 0) ^ basis
    return frozenset(x for x in bases.items() if x[1])


@dataclass(frozen=True)
class Place:
    """What a pointer into an array points to: `first` in bytes from its beginning."""

    array: int
    first: Linear
    type: Type


@dataclass(frozen=True)
class Elements:
    """Elements of an array: those of `mask`, moved by the bases of this turn's bits. `whole`: not parts of
    them. `anywhere`: at a place that is known when running only, which the bases tell from others."""

    array: int
    mask: int
    bases: Bases
    whole: bool
    anywhere: bool


def elements_of(place: Place, unit: int) -> Elements:
    """The elements of so many bytes that a place is made of, or a part of."""
    size = bytes_of(place.type)
    count, first = max(1, size // unit), place.first
    if first.reach < 0:
        bases = first.bases
        if first.constant % unit:
            bases |= {((place.array, WHOLE), 0)}
        return Elements(place.array, (1 << count) - 1 << first.constant // unit, bases, size >= unit, True)
    first = first.shifted(-(unit.bit_length() - 1))
    if first.reach & (count - 1):  # not aligned to its size: elsewhere for each turn
        return Elements(place.array, -1, first.bases | {((place.array, WHOLE), 0)}, False, True)
    return Elements(place.array, (1 << count) - 1 << first.constant, first.bases, size >= unit, False)


def further(first: Linear, index: Linear, bytes: int, id: int) -> Linear:
    """A place some elements further on; one that is known by the pointer's id where that is not linear."""
    constant = not index.bases
    if constant and (first.reach < 0 or not first.bases):
        return Linear(first.constant + index.constant * bytes, first.bases)
    if index.reach < 0 and not first.bases:
        return Linear(first.constant + index.constant * bytes,
                      frozenset((bit, basis * bytes) for bit, basis in index.bases))
    scaled = index.shifted(bytes.bit_length() - 1) if index.reach >= 0 else index
    if first.reach < 0 or scaled.reach < 0 or first.reach & scaled.reach:
        return Linear(0, frozenset({((id, WHOLE), 1)}))
    return first.xor(scaled)


def closed(elements: int, bases: Bases) -> int:
    """The elements, moved by every combination of the bases."""
    for basis in sorted([basis for _, basis in bases]) if bases else ():
        if not basis & (basis - 1) and elements.bit_length() <= basis:
            elements |= elements << basis
        else:
            elements |= _xored(elements, basis)
    return elements


def _xored(elements: int, basis: int) -> int:
    """The elements whose numbers are xored with a number."""
    while basis:
        bit = basis & -basis
        basis ^= bit
        size = -(-elements.bit_length() // (2 * bit)) * 2 * bit
        low = ((1 << size) - 1) // ((1 << bit) + 1)  # the numbers without the bit
        elements = (elements & low) << bit | (elements >> bit) & low
    return elements


def scalar_bytes(type: Type) -> int:
    """Bytes of the numbers that a type is made of; 0 where it is made of anything else."""
    while isinstance(type, Array | Vector):
        type = type.element
    return type.width // 8 if isinstance(type, Int | Float) else 0


def bytes_of(type: Type) -> int:
    if isinstance(type, Array | Vector):
        return type.count * bytes_of(type.element)
    return scalar_bytes(type)
