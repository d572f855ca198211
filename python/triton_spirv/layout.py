"""Layouts: which tensor elements each work-item holds, and where.

Every tensor dimension in Triton is a power of two, so the row-major linear index of an element is a string of
bits. A *layout* says which bit of that index each bit of the hardware coordinates contributes. The
coordinates are

    component   position inside one SPIR-V vector                       (known when compiling)
    register    which of the values that a work-item holds              (known when compiling)
    step        iteration of a loop that walks a large tensor           (known when running)
    lane        work-item inside its sub-group                          (known when running)
    warp        sub-group inside its work-group                         (known when running)

and the map is linear over xor: bit `i` of a coordinate toggles the index bits of its *basis* `bases[i]`; the
index of an element is the xor of the bases of all set bits. A basis of 0 means that the bit does not matter:
the element is held twice (a broadcast). This is Triton's linear layout (include/triton/Tools/LinearLayout.h)
with the row-major linear index as the only output dimension, which turns most view operations into nothing:
`reshape` and `expand_dims` leave all bases as they are, `trans` permutes bits.

Worked example. `tensor<4x32xf32>` on a CPU device with 16-wide vectors, at most two registers at a time:

    index bits        row1 row0 | col4 col3 col2 col1 col0           (128 elements = 7 bits)
    component         1, 2, 4, 8          one vector is 16 neighbouring columns
    register          16                  two vectors make a row
    step              32, 64              a loop of four iterations walks the rows

Element (2, 17) has linear index 81 = 64 ^ 16 ^ 1: step 2, register 1, component 1.

The same under `#ttg.blocked` with sizePerThread = [1, 2], threadsPerWarp = [2, 8], warpsPerCTA = [2, 1]:

    register          1, 16               two neighbouring columns; then what 8 lanes of 2 columns leave
    lane              2, 4, 8, 32         eight lanes along the columns, two along the rows
    warp              64

No rule asks which of the two it works on: it walks the bits that there are, and a step over a coordinate
without bits is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cached_property, lru_cache
from math import prod

from .dataclass import dataclass

STATIC = ("component", "register")
DYNAMIC = ("step", "lane", "warp")


def log2(n: int) -> int:
    """The exponent of a power of two; ValueError for anything else."""
    if n < 1 or n & (n - 1):
        raise ValueError(f"{n} is not a power of two")
    return n.bit_length() - 1


def span(bases: tuple[int, ...], value: int) -> int:
    """The xor of the bases whose bit is set in `value`."""
    index = 0
    for bit, basis in enumerate(bases):
        if value >> bit & 1:
            index ^= basis
    return index


class Elimination:
    """Vectors of bits under xor: which of them, taken together, make a given one.

    Gaussian elimination over GF(2).
    """

    def __init__(self, vectors: Iterable[int] = ()) -> None:
        self.count = 0
        # (a vector, the set of given ones that make it); leading bits distinct, highest first
        self._rows: list[tuple[int, int]] = []
        for vector in vectors:
            self.add(vector)

    def _reduce(self, vector: int) -> tuple[int, int]:
        made = 0
        for row, which in self._rows:
            if vector ^ row < vector:
                vector ^= row
                made ^= which
        return vector, made

    def add(self, vector: int) -> bool:
        """One vector more; False when those before make it already."""
        rest, made = vector, 0
        for row, which in self._rows:  # `_reduce`, of which there are very many
            if rest ^ row < rest:
                rest ^= row
                made ^= which
        if rest:
            self._rows.append((rest, made | 1 << self.count))
            self._rows.sort(reverse=True)
        self.count += 1
        return rest != 0

    def solve(self, vector: int) -> int | None:
        """Which of the added vectors, as a set of bits by their order, make `vector`; None: none do."""
        rest, made = self._reduce(vector)
        return None if rest else made


@lru_cache(maxsize=4096)
def _expand(bases: tuple[int, ...]) -> tuple[int, ...]:
    indices = [0]
    for basis in bases:
        indices += [index ^ basis for index in indices]
    return tuple(indices)


@dataclass(frozen=True)
class Layout:
    """Bases per coordinate for a tensor of `shape`; each basis is a row-major linear index below prod(shape).

    `origin` is the index of component 0 of register 0 at step, lane and warp 0; it has no bits that steps
    toggle, since a walk adds to it.
    """

    shape: tuple[int, ...]
    component: tuple[int, ...] = ()
    register: tuple[int, ...] = ()
    step: tuple[int, ...] = ()
    lane: tuple[int, ...] = ()
    warp: tuple[int, ...] = ()
    origin: int = 0

    def __post_init__(self) -> None:
        size = prod(self.shape)
        log2(size)
        for basis in (self.origin, *self.all_bases):
            if not 0 <= basis < size:
                raise ValueError(f"basis {basis} lies outside a tensor of shape {self.shape}")
        if self.origin and any(self.origin & basis for basis in self.step):
            raise ValueError(f"origin {self.origin} has bits of the steps {self.step}")

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Layouts are keys of most tables."""
        return hash((self.shape, self.component, self.register, self.step, self.lane, self.warp, self.origin))

    @property
    def is_whole(self) -> bool:
        """Does the layout reach every element? (`tt.split` asks for half of a tensor.)"""
        covered = 0
        for basis in self.all_bases:
            covered |= basis
        return covered == self.numel - 1

    @property
    def all_bases(self) -> tuple[int, ...]:
        return self.component + self.register + self.step + self.lane + self.warp

    @cached_property
    def numel(self) -> int:
        return prod(self.shape)

    @cached_property
    def holds_once(self) -> bool:
        """Does every element have one place, lanes and warps that hold the same left aside?"""
        space = Elimination()
        return all(space.add(basis) for basis in self.all_bases if basis)

    def has_one_lane_each(self, ignored: int = 0) -> bool:
        """Does one lane of one warp hold every element, however often, and no other? Elements that differ in
        the `ignored` index bits only count as one."""
        if ignored not in self._one_lane_each:
            space = Elimination(basis & ~ignored for basis in self.component + self.register + self.step)
            self._one_lane_each[ignored] = all(space.add(basis & ~ignored) for basis in self.lane + self.warp)
        return self._one_lane_each[ignored]

    @cached_property
    def _one_lane_each(self) -> dict[int, bool]:
        """What `has_one_lane_each` has answered."""
        return {}

    @cached_property
    def moving(self) -> int:
        """The index bits that step, lane and warp toggle."""
        bits = 0
        for basis in self.step + self.lane + self.warp:
            bits |= basis
        return bits

    @property
    def width(self) -> int:
        """Components of one register."""
        return 1 << len(self.component)

    @property
    def registers(self) -> int:
        """Values that a work-item holds at a time."""
        return 1 << len(self.register)

    @property
    def steps(self) -> int:
        """Iterations of the loop that walks the tensor; 1 where there is none."""
        return 1 << len(self.step)

    @cached_property
    def component_indices(self) -> tuple[int, ...]:
        """Linear index of each component of register 0."""
        return _expand(self.component)

    @cached_property
    def register_indices(self) -> tuple[int, ...]:
        """Linear index of component 0 of each register."""
        return tuple(index ^ self.origin for index in _expand(self.register))

    @cached_property
    def dim_bits(self) -> tuple[tuple[int, int], ...]:
        """Per dimension: (position of its lowest bit in the linear index, number of bits)."""
        result, low = [], 0
        for size in reversed(self.shape):
            result.append((low, log2(size)))
            low += log2(size)
        return tuple(reversed(result))

    def unravel(self, index: int) -> tuple[int, ...]:
        """Row-major linear index -> one index per dimension."""
        return tuple([index >> low & ((1 << bits) - 1) for low, bits in self.dim_bits])

    def axis_mask(self, axis: int) -> int:
        """The linear index bits that belong to dimension `axis`."""
        low, bits = self.dim_bits[axis]
        return ((1 << bits) - 1) << low

    def in_step_with(self, other: Layout) -> bool:
        """Does each turn of a walk hold the same elements in the same places under both? Shapes may differ.
        What one turn reads and writes may then share memory, in whatever order the turns come."""
        return ((self.origin, self.component, self.register, self.step, self.lane, self.warp)
                == (other.origin, other.component, other.register, other.step, other.lane, other.warp))

    def map(self, shape: tuple[int, ...], change: Callable[[int], int]) -> Layout:
        """The layout of shape `shape` whose bases are `change(basis)`; `change` is linear over xor."""
        def each(bases: tuple[int, ...]) -> tuple[int, ...]:
            return tuple([change(basis) for basis in bases])
        return Layout(shape, each(self.component), each(self.register), each(self.step), each(self.lane),
                      each(self.warp), change(self.origin))

    def reshaped(self, shape: tuple[int, ...]) -> Layout:
        """The same elements under another shape; linear indices do not change."""
        return replace(self, shape=shape)

    def without_steps(self) -> Layout:
        """The whole tensor at once: step bits become the outermost register bits."""
        return replace(self, register=self.register + self.step, step=())

    @cached_property
    def positions(self) -> dict[int, tuple[int, int]]:
        """Linear index -> (register, component) that holds it, at step, lane and warp 0."""
        found: dict[int, tuple[int, int]] = {}
        for r, base in enumerate(self.register_indices):
            for c, offset in enumerate(self.component_indices):
                found.setdefault(base ^ offset, (r, c))
        return found


def transposed(index: int, shape: tuple[int, ...], order: tuple[int, ...]) -> int:
    """Linear index in `shape` of the element that `tt.trans` with `order` puts at `index` of its result.

    The result has dimension `d` of size `shape[order[d]]`; both indices are row-major.
    """
    sizes = [shape[d] for d in order]
    source = 0
    strides = {}
    stride = 1
    for d in range(len(shape) - 1, -1, -1):
        strides[d] = stride
        stride *= shape[d]
    for d in range(len(order) - 1, -1, -1):
        index, coordinate = divmod(index, sizes[d])
        source += coordinate * strides[order[d]]
    return source


@lru_cache(maxsize=1024)
def row_major(shape: tuple[int, ...], vector_width: int, max_registers: int = 1 << 30,
              window: int = 1 << 30) -> Layout:
    """The layout of vector mode: neighbouring elements in components, then registers, then steps.

    A tensor of at most `max_registers` vectors is held whole; a larger one is walked `window` registers at a
    time.
    """
    bits = [1 << i for i in range(log2(prod(shape)))]
    width = min(log2(vector_width), len(bits))
    registers = len(bits) - width
    if 1 << registers > max_registers:
        registers = min(registers, log2(window))
    end = width + registers
    return Layout(shape, tuple(bits[:width]), tuple(bits[width:end]), tuple(bits[end:]))


def squares(shape: tuple[int, ...], dim: int, vector_width: int, max_registers: int = 1 << 30) -> Layout:
    """The same, walked by squares: as many vectors along `dim` as a vector has components."""
    whole = row_major(shape, vector_width, max_registers, 1)
    first, side = log2(prod(shape[dim + 1:])), len(whole.component)
    rows = tuple(1 << bit for bit in range(first, first + side))
    if not whole.step or first < side or shape[dim] < 1 << side:
        return whole if not whole.step else row_major(shape, vector_width, max_registers, 1 << side)
    return Layout(shape, whole.component, rows, tuple(bit for bit in whole.step if bit not in rows))


def bit_by_bit(layout: Layout) -> Layout:
    """A layout of the same lanes and warps in which every index bit is one bit of one coordinate."""
    bits = [1 << i for i in range(log2(layout.numel))]
    lanes, warps = len(layout.lane), len(layout.warp)
    padded = bits + [0] * max(0, lanes + warps - len(bits))
    return Layout(layout.shape, (), tuple(bits[lanes + warps:]), (), tuple(padded[:lanes]),
                  tuple(padded[lanes:lanes + warps]))


@dataclass(frozen=True)
class SharedLayout:
    """Where a buffer of `shape` lies in shared memory.

    Bit `i` of an element's linear index toggles `places[i]` of its offset, counted in elements; a view of
    part of a buffer starts at `origin`. `padding` holds (interval, pad): `pad` elements stay free behind
    every `interval`, so that lanes which are a power of two apart do not meet in one bank.
    """

    shape: tuple[int, ...]
    places: tuple[int, ...]
    padding: tuple[tuple[int, int], ...] = ()
    origin: int = 0

    @staticmethod
    def row_major(shape: tuple[int, ...], padding: tuple[tuple[int, int], ...] = ()) -> SharedLayout:
        """Neighbours in the last dimension are neighbours in memory."""
        return SharedLayout(shape, tuple(1 << i for i in range(log2(prod(shape)))), padding)

    @staticmethod
    def of_offsets(shape: tuple[int, ...], bases: tuple[int, ...],
                   padding: tuple[tuple[int, int], ...] = ()) -> SharedLayout:
        """From the inverse map: the linear index of the element at each power of two of the offset."""
        inverse = Elimination(bases)
        places = [inverse.solve(1 << i) for i in range(log2(prod(shape)))]
        if len(bases) != len(places) or None in places:
            raise ValueError(f"offsets {bases} do not reach every element of shape {shape} once")
        return SharedLayout(shape, tuple(place for place in places if place is not None), padding)

    @property
    def size(self) -> int:
        """Elements, the padding between them included."""
        return self.padded(self.extent - 1) + 1

    @property
    def extent(self) -> int:
        """A power of two above all offsets before padding."""
        return 1 << max((place.bit_length() for place in (*self.places, self.origin)), default=0)

    def padded(self, offset: int) -> int:
        """The offset without padding -> the one in memory."""
        return offset + sum(offset // interval * pad for interval, pad in self.padding)

    def offset(self, index: int) -> int:
        """Where the element of a linear index lies."""
        return self.padded(self.origin ^ span(self.places, index))
