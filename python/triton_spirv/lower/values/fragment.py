"""Rearranging the registers of one work-item: views, broadcasts and permutations that need no other lane.

All functions are static: they emit shuffles, extracts and constructs whose components are known when
compiling, and as few as the bits allow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from ...layout import Layout
from ...spirv.builder import Builder, width_of
from ...spirv.module import Value as Register
from .tensor import Fragment

#: Beyond this many source vectors one OpCompositeConstruct of extracted components is shorter than a chain of
#: shuffles.
SHUFFLE_CHAIN = 6


@lru_cache(maxsize=1024)
def without_broadcast(layout: Layout) -> Layout:
    """The layout without the component and register bits that hold elements twice."""
    if 0 not in layout.component and 0 not in layout.register:
        return layout
    return replace(
        layout,
        component=tuple(x for x in layout.component if x),
        register=tuple(x for x in layout.register if x),
    )


def contiguous(layout: Layout) -> int:
    """Neighbouring components that are neighbours in row-major order: a power of two."""
    bits = 0
    while bits < len(layout.component) and layout.component[bits] == 1 << bits:
        bits += 1
    return 1 << bits


def flat(layout: Layout) -> Layout:
    """The layout with every component in a register of its own."""
    return replace(layout, component=(), register=layout.component + layout.register)


def grouped(layout: Layout, distance: Callable[[int], int | None], most: int) -> Layout:
    """The layout with registers that are neighbours in memory as components of vectors, `most` at most.

    `distance(basis)`: how far apart in memory the elements are that differ in a bit of the layout. Components
    that there are already stay; bits of the index that anything else toggles too are none.
    """
    return layout if layout.component else lengthened(layout, distance, most)


def lengthened(layout: Layout, distance: Callable[[int], int | None], most: int) -> Layout:
    """The same where components that there are already are neighbours in memory."""
    def is_alone(basis: int) -> bool:
        return len([1 for other in (*layout.all_bases, layout.origin) if other & basis]) == 1
    component, left = list(layout.component), list(layout.register)
    while 2 << len(component) <= most:
        neighbours = (basis for basis in left if distance(basis) == 1 << len(component) and is_alone(basis))
        basis = next(neighbours, None)
        if basis is None:
            break
        left.remove(basis)
        component.append(basis)
    return replace(layout, component=tuple(component), register=tuple(left))


def turned(layout: Layout, distance: Callable[[int], int | None]) -> Layout:
    """The layout with components exchanged for registers that are neighbours in memory, where there are four
    or more; `distance` as above."""
    rows: list[int] = []
    while len(rows) < len(layout.component):
        basis = next((x for x in layout.register if distance(x) == 1 << len(rows)), None)
        if basis is None:
            break
        rows.append(basis)
    if len(rows) < 2 or any(len([1 for other in (*layout.all_bases, layout.origin) if other & x]) != 1
                            for x in (*rows, *layout.component)):
        return layout
    columns = layout.component[:len(rows)]
    register = tuple(columns[rows.index(x)] if x in rows else x for x in layout.register)
    return replace(layout, component=(*rows, *layout.component[len(rows):]), register=register)


def runs(layout: Layout, longer: Layout) -> list[tuple[int, ...]]:
    """Which registers of `layout` lie one behind the other, in this order, in one vector of `longer`: the
    same layout with more of the registers as components."""
    bits = [layout.register.index(basis) for basis in longer.component[len(layout.component):]]
    within = [sum(1 << bit for i, bit in enumerate(bits) if part >> i & 1) for part in range(1 << len(bits))]
    every = within[-1]
    return [tuple(first | more for more in within) for first in range(layout.registers) if not first & every]


def components(b: Builder, register: Register, which: Sequence[int]) -> Register:
    """Some components of a register, as a vector (or a scalar where there is one)."""
    if list(which) == list(range(width_of(register.type))):
        return register
    if len(which) == 1:
        return b.extract(register, which[0])
    return b.shuffle(register, register, which)


def concatenate(b: Builder, parts: Sequence[Register]) -> Register:
    """Vectors of equal width, one behind the other, as one vector.

    Shuffled in pairs: Intel's CPU runtime mistranslates OpCompositeConstruct of vectors.
    """
    parts = list(parts)
    if width_of(parts[0].type) == 1:
        return b.construct(parts)
    while len(parts) > 1:
        parts = [
            b.shuffle(x, y, range(2 * width_of(x.type))) for x, y in zip(parts[::2], parts[1::2], strict=True)
        ]
    return parts[0]


def assemble(b: Builder, sources: Sequence[tuple[Register, int]]) -> Register:
    """A vector whose component i is component sources[i][1] of register sources[i][0]."""
    registers: list[Register] = []
    for register, _ in sources:
        if register not in registers:
            registers.append(register)
    if len(sources) == 1:
        return b.extract(*sources[0])
    if all(source == sources[0] for source in sources):
        return b.splat(b.extract(*sources[0]), len(sources))
    widths = {width_of(register.type) for register in registers}
    if len(registers) == 1:
        return components(b, registers[0], [c for _, c in sources])
    if widths == {1} or len(registers) > SHUFFLE_CHAIN:
        return b.construct([b.extract(register, c) for register, c in sources])
    made, placed = registers[0], [c if register is registers[0] else None for register, c in sources]
    for register in registers[1:]:
        width = width_of(made.type)
        mine = [c if r is register else None for r, c in sources]
        which = [old if old is not None else width + new if new is not None else 0
                 for old, new in zip(placed, mine, strict=True)]
        made = b.shuffle(made, register, which)
        placed = [i if old is not None or new is not None else None
                  for i, (old, new) in enumerate(zip(placed, mine, strict=True))]
    return made


def rearrange(b: Builder, source: Fragment, layout: Layout) -> Fragment:
    """The same elements under another layout of the same lanes and warps."""
    if source.layout == layout:
        return source
    swaps = _exchanges(source.layout, layout)
    if len(swaps) > 1:  # a transposition: one shuffle a bit and register, instead of one a source register
        for component, register in swaps:
            source = exchange(b, source, component, register)
    positions = source.layout.positions
    registers = []
    for base in layout.register_indices:
        places = [positions[base ^ offset] for offset in layout.component_indices]
        registers.append(assemble(b, [(source.registers[r], c) for r, c in places]))
    return Fragment(layout, source.element, tuple(registers))


def hidden(b: Builder, source: Fragment) -> Fragment:
    """The same registers, of which a driver no longer knows what they are made of: by way of memory."""
    made = []
    for register in source.registers:
        place = b.module.variable(register.type)
        b.emit("OpStore", place, register, ["Volatile"])
        made.append(b.emit("OpLoad", place, ["Volatile"], type=register.type))
    return replace(source, registers=tuple(made))


def _exchanges(have: Layout, want: Layout) -> list[tuple[int, int]]:
    """The component bits of `have` to exchange for register bits, so that components hold what they do in
    `want`.

    Empty where that is not all there is to do: other widths, or elements held twice.
    """
    if len(have.component) != len(want.component) or 0 in (*have.component, *have.register):
        return []
    if sorted(have.component + have.register) != sorted(want.component + want.register):
        return []
    swaps = []
    leaving = [bit for bit, basis in enumerate(have.component) if basis not in want.component]
    for bit, basis in enumerate(want.component):
        if basis not in have.component:
            place = bit if bit in leaving else leaving[-1]
            leaving.remove(place)
            swaps.append((place, have.register.index(basis)))
    return swaps


def exchange(b: Builder, source: Fragment, component: int, register: int) -> Fragment:
    """The same elements with a component bit and a register bit in each other's place: one shuffle a
    register.
    """
    layout = source.layout
    high, other = 1 << component, 1 << register
    lower = [c if not c & high else layout.width + c - high for c in range(layout.width)]
    upper = [c | high if not c & high else layout.width + c for c in range(layout.width)]
    registers = list(source.registers)
    for r in range(layout.registers):
        if not r & other:
            x, y = source.registers[r], source.registers[r | other]
            registers[r], registers[r | other] = b.shuffle(x, y, lower), b.shuffle(x, y, upper)
    components, held = list(layout.component), list(layout.register)
    components[component], held[register] = held[register], components[component]
    swapped = replace(layout, component=tuple(components), register=tuple(held))
    return Fragment(swapped, source.element, tuple(registers))


def broadcast(b: Builder, source: Fragment, layout: Layout) -> Fragment:
    """Undo `without_broadcast`: repeat registers and components where the bases of `layout` are 0."""
    component_bits = [i for i, basis in enumerate(layout.component) if basis]
    register_bits = [i for i, basis in enumerate(layout.register) if basis]

    def packed(value: int, bits: Sequence[int]) -> int:
        return sum((value >> bit & 1) << i for i, bit in enumerate(bits))

    which = [packed(c, component_bits) for c in range(layout.width)]
    wide = [
        register
        if len(which) == len(source.layout.component_indices) and which == list(range(len(which)))
        else b.splat(register, layout.width)
        if width_of(register.type) == 1
        else components(b, register, which)
        for register in source.registers
    ]
    return Fragment(
        layout, source.element, tuple(wide[packed(r, register_bits)] for r in range(layout.registers))
    )
