"""How elements come to other lanes: decided from the layouts of both sides, before a word is emitted.

What is returned is part of the plan, and tensors/convert_layout.py does as it says. Where no element leaves
its sub-group, shuffles do (conversion.py). Otherwise elements wait in shared memory: in the blocks that a
message each reads (block_exchange.py), or in an order in which no two lanes meet in one bank.
"""

from __future__ import annotations

from ...ir.model import Type
from ...layout import Layout, SharedLayout, log2, span
from ..context import Context
from ..plan.records import Exchange
from ..values.tensor import Fragment
from ..values.types import storage_bytes
from .block_exchange import memory_of_blocks
from .conversion import find_shuffles
from .shared_tensors import BANK_BYTES, WORD_BYTES


def plan_exchange(ctx: Context, source: Fragment, target: Layout, layout: Layout) -> Exchange:
    """The elements of `source` for lanes that want them under `layout`; `target` is the same, and source has
    its layout, with registers of one component."""
    have, element = source.layout, source.element
    found = find_shuffles(have, target)
    if found is not None:
        shuffles = target.registers if found.crosses else sum(
            span(found.lane_round, q) ^ found.lane_origin != 0 for q in range(target.registers))
        return Exchange("shuffles" if shuffles else "registers", source.shape, str(element), shuffles,
                        shuffles=found)
    memory = memory_of_blocks(ctx, have, layout, element)
    if memory is not None:
        return Exchange("blocks", source.shape, str(element), memory=memory)
    memory, apart = memory_of_rounds(ctx, have, target, element)
    return Exchange("shared memory", source.shape, str(element), 1 << len(apart),
                    memory.size * storage_bytes(element), memory=memory, apart=apart)


def memory_of_rounds(ctx: Context, source: Layout, target: Layout,
                     element: Type) -> tuple[SharedLayout, tuple[int, ...]]:
    """Where elements wait, and the index bits of which each round has one value: registers on both sides, as
    many as shared memory is short of."""
    bytes = storage_bytes(element)
    most = min(ctx.target.lane_bytes // bytes, ctx.target.components)
    common = [basis for basis in source.register if _is_apart(basis, source) and _is_apart(basis, target)]
    apart: tuple[int, ...] = ()
    while True:
        memory = exchange_layout(source, target, sum(apart), bytes, most)
        if memory.size * bytes <= ctx.shared.spare or not common:
            return memory, apart
        apart += common.pop(),


def _is_apart(basis: int, layout: Layout) -> bool:
    """Is this one index bit that a register has to itself?"""
    return basis & (basis - 1) == 0 and basis in layout.register and sum(
        1 for other in layout.all_bases if other & basis) == 1


def exchange_layout(source: Layout, target: Layout, apart: int, bytes: int, most: int) -> SharedLayout:
    """Where elements wait between two layouts, so that no two lanes of either side meet in one bank; index
    bits `apart` have no place.

    Bits that are registers on both sides lie lowest: a lane moves up to `most` neighbours at once. Above them
    lies a row of banks. Lanes of the source fill it; a lane bit of the target that finds its place in the row
    taken goes further up, and toggles that place too (a swizzle).
    """
    bits = [1 << i for i in range(source.numel.bit_length() - 1) if not apart >> i & 1]
    both = [bit for bit in bits if bit in target.register and bit in source.register]
    places = {bit: 1 << i for i, bit in enumerate(both[:log2(most)])}
    low = len(places)
    vector = bytes << low
    row = range(low, low + log2(max(1, BANK_BYTES // vector)))
    word = low + log2(max(1, WORD_BYTES // vector))  # the first bit that tells one bank from another
    writing, reading = ([basis for basis in layout.lane[:len(row)] if basis in bits]
                        for layout in (source, target))
    free = list(row)
    for bit in [bit for bit in writing if bit in reading] + [bit for bit in writing if bit not in reading]:
        places[bit] = 1 << free.pop(0)
    shared = [1 << i for i in row if i >= word and 1 << i not in [places.get(bit) for bit in reading]]
    turned = {}
    for bit in [bit for bit in reading if bit not in places]:
        own = next((i for i in free if i >= word and 1 << i in shared), None)
        if own is not None:
            free.remove(own)
            places[bit] = 1 << own
            shared.remove(1 << own)
        elif shared:
            turned[bit] = shared.pop(0)
    above = iter([*free, *range(row.stop, row.stop + len(bits))])
    for bit in bits:
        if bit not in places and bit not in turned:
            places[bit] = 1 << next(above)
    above = iter(i for i in range(low, low + 2 * len(bits)) if 1 << i not in places.values())
    for bit, toggled in turned.items():
        places[bit] = 1 << next(above) | toggled
    every = tuple(places.get(1 << i, 0) for i in range(source.numel.bit_length() - 1))
    return SharedLayout(source.shape, every)
