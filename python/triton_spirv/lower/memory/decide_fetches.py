"""What is fetched ahead, decided before a word of it: from how pointers move, how elements lie in memory, and
what walks and stores go through memory besides. prefetch.py does as it says.
"""

from __future__ import annotations

from dataclasses import replace

from ...facts.slopes import Multiple
from ...ir.model import Operation, TensorType
from ...layout import Layout
from ...spirv.module import Value as Register
from ..addresses.element_motion import pitch_of, pointer_growth
from ..addresses.pointer_motion import constant_of, distance, to_next_program
from ..context import Context
from ..plan.accesses import ROUND_AFTER_NEXT, Distance, Fetch, Vectors
from ..values.tensor import Pointers
from ..values.types import pointee_of, storage_bytes

PAGE = 4096  # bytes of a page of memory, at least
TURNS_AHEAD = 4  # of a walk by squares, each of which takes some 40 ns


def plan_fetch(ctx: Context, load: Operation, pointers: object, layout: Layout, soon: bool,
               near: bool) -> Fetch | None:
    """In a walk that loads under this layout: what the load will read next; `soon`: whatever it is. Where it
    does not move, or goes on where this one ends, as processors foresee, a page further on."""
    moved = distance(ctx, load)
    if not soon and (moved is None or _is_next(ctx, moved, layout)):
        return _plan_page(ctx, load, pointers, layout)
    fetch = None if moved is None else _plan_lines(ctx, load, pointers, layout, moved, near=soon and near)
    return replace(fetch, way=ROUND_AFTER_NEXT) if fetch is not None and _is_short(fetch) else fetch


def _is_short(fetch: Fetch) -> bool:
    """Is a round over before memory answers? One that reads a page takes about as long."""
    result = fetch.operation.results[0].type
    assert isinstance(result, TensorType) and fetch.distance is not None
    return fetch.distance.mover == "round" and result.numel * storage_bytes(result.element) <= PAGE


def plan_kept(ctx: Context, load: Operation, pointers: object, layout: Layout) -> Fetch | None:
    """In a walk that reads the array of what was made of a load: what the load will read in the next round,
    or by the next program."""
    last = to_next_program(ctx, load)
    moved = distance(ctx, load) or last
    return None if moved is None else _plan_lines(ctx, load, pointers, layout, moved, last)


def plan_touch(ctx: Context, store: Operation, pointers: object, layout: Layout) -> Fetch | None:
    """Before a walk of a store: what the next round will store to, where the processor does not foresee it
    and registers and steps go through memory in order."""
    if not isinstance(pointers, Pointers) or not ctx.target.optimises("prefetch") or any(
            pointer_growth(pointers, basis, layout) != basis for basis in (*layout.register, *layout.step)):
        return None
    moved = distance(ctx, store)
    if moved is None or _is_next(ctx, moved, layout):
        return None
    return _plan_lines(ctx, store, pointers, replace(layout, register=(), step=()), moved)


def _plan_lines(ctx: Context, op: Operation, pointers: object, layout: Layout, moved: Distance,
                last: Distance | None = None, near: bool = False) -> Fetch | None:
    """What an access reaches next time, if its components are neighbours in memory."""
    if not isinstance(pointers, Pointers):
        return None
    vectors = ctx.transfers.vectors(pointers, layout, op.ptr)
    if not vectors.run == layout.width > 1:
        return None
    return Fetch(op, f"next {moved.mover}", layout, vectors, moved, last, near)


def _plan_page(ctx: Context, load: Operation, pointers: object, layout: Layout) -> Fetch | None:
    """In a walk through memory, page after page: the first line of a page some way ahead.

    Processors foresee the next lines within a page, but wait at the beginning of each for its address to be
    translated. One line is enough, and more take places that the walk's own lines wait for. Only for what
    moves from program to program, and where no store walks as far: a layer norm lost a fifth by it.
    """
    if not isinstance(pointers, Pointers) or to_next_program(ctx, load) is None:
        return None
    if stores_as_much(load, layout.numel):
        return None
    element = pointee_of(load.ptr.type)  # rows that go through all rounds of a loop are long
    walked = {basis for basis in (*layout.component, *layout.register, *layout.step)
              if pointer_growth(pointers, basis, layout) == basis}
    along = 1
    while along in walked:
        along *= 2
    if along * storage_bytes(element) < PAGE and not ctx.layouts.through_rounds(layout):
        return None
    return Fetch(load, "page ahead", layout, ctx.transfers.vectors(pointers, layout, load.ptr), near=True)


def plan_turns(ctx: Context, access: Operation, pointers: object, layout: Layout,
               vectors: Vectors) -> Fetch | None:
    """In a walk by squares: what an access reaches some turns ahead.

    Each turn touches as many pages as a square has rows, of each array, and of the one that is read across
    its rows it touches other pages in each turn. No processor foresees that. In arrays that the caches hold a
    turn takes a few hundredths longer by it.
    """
    if not isinstance(pointers, Pointers) or not ctx.target.optimises("prefetch"):
        return None
    if not ctx.layouts.is_by_squares(layout) or vectors.run < vectors.layout.width:
        return None
    if turns_ahead(pointers, layout) is None:
        return None
    return Fetch(access, "turns ahead", vectors.layout, vectors, near=True)


def turns_ahead(pointers: Pointers, layout: Layout) -> Multiple[Register] | None:
    """The elements from what a turn accesses to what one some turns later does, where all turns move along
    one dimension; None where that is unknown."""
    if layout.step[:3] != tuple(layout.step[0] << bit for bit in range(3)):
        return None
    ahead = layout.unravel(TURNS_AHEAD * layout.step[0])
    dims = [dim for dim, index in enumerate(ahead) if index]
    pitch = pitch_of(pointers, dims[0], 2 * ahead[dims[0]]) if len(dims) == 1 else None
    return None if pitch is None else Multiple(pitch.factor * ahead[dims[0]], pitch.scalar)


def stores_as_much(load: Operation, elements: int) -> bool:
    """Does the function of a load store so many elements at once?"""
    function = load
    while not function.has("function") and function.parent is not None and function.parent.parent.parent:
        function = function.parent.parent.parent
    return any((op.has("writes") or op.has("atomic"))
               and any(isinstance(x.type, TensorType) and x.type.numel >= elements for x in op.operands)
               for op in function.walk())


def _is_next(ctx: Context, moved: Distance, layout: Layout) -> bool:
    """Does the next iteration go on where this one ends, as processors foresee?"""
    number = constant_of(ctx, moved)
    if number is None or not layout.component:
        return False
    along = layout.unravel(layout.component[0])
    return abs(number) <= max(size for size, index in zip(layout.shape, along, strict=True) if index)
