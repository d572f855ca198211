"""Fetching what the next iteration of a loop, or the next program, will load, while this one computes.

The operands of a product in a loop are short runs of many rows, a loop over rows may take each hundredth, and
a program may look its row up: nothing that processors foresee. decide_fetches.py decides what is fetched, and
what is not worth it; here it is fetched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace

from ...dataclass import dataclass
from ...ir.model import Operation
from ...layout import Layout, log2
from ...spirv.builder import I64
from ...spirv.module import Value as Register
from ...traversal import Asking, answer, some
from ..addresses.access import AccessPointers
from ..addresses.pointer_motion import distance, emitted, in_reach
from ..context import Context, StepLoop
from ..plan.accesses import ROUND_AFTER_NEXT, Fetch, Vectors
from ..registry import SOURCE_LAYOUTS
from ..values.tensor import Affine, Deferred, Fragment, Pointers, Stored, Tensor
from ..values.types import element_of, pointee_of, shape_of, storage_bytes
from .decide_fetches import PAGE, plan_fetch, plan_kept, plan_touch, plan_turns, turns_ahead

LINE = 64  # bytes that a processor fetches at a time, at least
PAGES_AHEAD = 4  # a walk through memory comes there after some hundred nanoseconds


@dataclass
class SpreadFetches:
    """What walks would fetch for the next iteration while they read, fetched in equal shares by a computation
    that follows them: it leaves memory idle, and the walks wait for it. `shares`: how many, a power of two;
    walks: inputs, and bits of the number of a step."""

    shares: int
    walks: list[tuple[Sequence[tuple[Tensor, Layout]], int]] = field(default_factory=list)

    def takes(self, ctx: Context, inputs: Sequence[tuple[Tensor, Layout]], steps: int) -> bool:
        """Take over from a walk, if there is something to fetch, and a step for every share."""
        moves = any(distance(ctx, load.operation) is not None for load, _ in _loads(ctx, inputs))
        if self.shares > 1 << steps or not moves:
            return False
        self.walks.append((inputs, steps))
        return True

    def finer(self, parts: int) -> SpreadFetches | None:
        """Each share in so many, a power of two, line by line; None where there is nothing, or too little."""
        walks: list[tuple[Sequence[tuple[Tensor, Layout]], int]] = []
        for inputs, _ in self.walks:
            by_lines = [(tensor, _by_lines(tensor, layout)) for tensor, layout in inputs]
            steps = {len(layout.step) for _, layout in by_lines}
            if len(steps) != 1 or self.shares * parts > 1 << min(steps):
                return None
            walks.append((by_lines, min(steps)))
        return SpreadFetches(self.shares * parts, walks) if walks else None

    def fetch(self, ctx: Context, number: Register) -> None:
        """One share, by its number."""
        bits = log2(self.shares)
        for inputs, steps in self.walks:
            ctx.indices.pieces.insert(0, (number, bits))
            ctx.scopes.open(walks=True)
            with StepLoop(ctx.walks, steps - bits):
                prefetch_next(ctx, inputs, nearest=False)
            ctx.scopes.close()
            ctx.indices.pieces.pop(0)


def next_round(ctx: Context, load: Operation, pointers: Pointers, layout: Layout) -> Register | None:
    """How many elements on a load will read in the next round of its loop, for who fetches that himself; None
    where it is not known, or nothing is fetched."""
    if not ctx.target.optimises("prefetch") or distance(ctx, load) is None:
        return None
    fetch = plan_fetch(ctx, load, pointers, layout, soon=True, near=False)
    if fetch is None or fetch.distance is None:
        return None
    ctx.recorder.add(fetch)
    return ctx.b.resize(_moved(ctx, fetch), I64.width)


def _by_lines(tensor: Tensor, layout: Layout) -> Layout:
    """A layout with one line in registers, at most."""
    line = LINE // storage_bytes(tensor.element)
    within = tuple(basis for basis in layout.register if basis < line)
    others = tuple(basis for basis in layout.register if basis >= line)
    return replace(layout, register=within, step=others + layout.step)


def prefetch_next(ctx: Context, inputs: Sequence[tuple[Tensor, Layout]], nearest: bool = True) -> None:
    """Inside a walk of `inputs`: fetch what the loads below them will read here in the next iteration."""
    for load, layouts in _loads(ctx, inputs):
        for layout in layouts:
            fetch_ahead(ctx, load.operation, load.operands[0], layout, soon=True, nearest=nearest)


def _loads(ctx: Context, inputs: Sequence[tuple[Tensor, Layout]]) -> Iterator[
        tuple[Deferred, Iterable[Layout]]]:
    """The loads below the inputs of a walk, and the layouts that they are asked for."""
    for node, layouts in ctx.requests.of(inputs) if ctx.target.optimises("prefetch") else ():
        if isinstance(node, Deferred) and node.operation.has("loads") and node.evaluated is None:
            yield node, layouts


def fetch_ahead(ctx: Context, load: Operation, pointers: object, layout: Layout, soon: bool = False,
                nearest: bool = True) -> None:
    """Fetch what a load under this layout will read next; `soon`: whatever it is, and into the nearest cache.

    Where the walk keeps in an array what it makes of the elements, a later one reads and computes: it
    fetches, while memory has nothing else to do. That pays for more than a page: so far do processors foresee
    what follows.
    """
    if not ctx.target.optimises("prefetch") or (ctx.open_walks.fetches_elsewhere and not soon):
        return
    large = layout.numel * storage_bytes(element_of(load.results[0].type)) > PAGE
    kept = _kept(ctx, load) if large and not soon else None
    if kept is not None:
        if all(load is not other for other, _ in kept.ahead):
            kept.ahead.append((load, pointers))
        return
    fetch = plan_fetch(ctx, load, pointers, layout, soon, nearest)
    if fetch is None:
        return
    ctx.recorder.add(fetch)
    if fetch.distance is None:
        _fetch_page(ctx, fetch, pointers)
    else:
        _fetch_lines(ctx, fetch, pointers)


def _fetch_page(ctx: Context, fetch: Fetch, pointers: object) -> None:
    """The first line of a page some way ahead of what is at hand."""
    assert isinstance(pointers, Pointers)
    access = AccessPointers(ctx, pointers, fetch.vectors, pointee_of(fetch.operation.ptr.type))
    env = ctx.env
    ahead = ctx.b.iadd(env.address(access.pointer(0)), PAGES_AHEAD * PAGE)
    env.prefetch(env.pointer(ctx.b.iand(ahead, -PAGE), access.pointee), fetch.near)


def fetch_turns_ahead(ctx: Context, access: Operation, pointers: object, layout: Layout,
                      vectors: Vectors) -> None:
    """In a walk by squares: fetch what a load or a store of these vectors will reach some turns later.

    One line of each vector is enough, its last: what lies before that the walk has touched in the turn
    before, or in the row of squares before.
    """
    fetch = plan_turns(ctx, access, pointers, layout, vectors)
    if fetch is None:
        return
    assert isinstance(pointers, Pointers)
    ctx.recorder.add(fetch)
    b, env, ahead = ctx.b, ctx.env, turns_ahead(pointers, layout)
    assert ahead is not None  # plan_turns has asked
    moved = b.constant(I64, ahead.factor)
    if ahead.scalar is not None:
        moved = b.imul(b.resize(ahead.scalar, 64), moved)
    later = replace(pointers, base=env.offset(pointers.base, moved))
    access_pointers = AccessPointers(ctx, later, vectors, pointee_of(access.ptr.type))
    for register in range(vectors.layout.registers):
        env.prefetch(access_pointers.pointer(register, vectors.layout.width - 1), writes=access.has("writes"))


def _kept(ctx: Context, load: Operation) -> Deferred | None:
    """What a walk that loads keeps of it in an array of the same shape."""
    return next((node for walk in ctx.open_walks.around for node in walk.by_products
                 if node.shape == shape_of(load.results[0].type) and _is_below(load, node)), None)


def _is_below(load: Operation, tensor: object) -> bool:
    """Is a tensor computed from what is loaded, element by element?"""

    def is_below(tensor: object) -> Asking[bool]:
        if not isinstance(tensor, Deferred) or tensor.evaluated is not None:
            return False
        if tensor.operation is load:
            return True
        return tensor.operation.name not in SOURCE_LAYOUTS and (yield from some(tensor.operands))

    return answer(is_below, tensor)


def fetch_kept(ctx: Context, node: Deferred, layout: Layout) -> None:
    """In a walk that reads the array of a value: fetch what the loads that it was made of will read next, in
    the next iteration or by the next program. Only the first such walk does."""
    if not ctx.open_walks.around or not layout.step or not ctx.layouts.holds_windows(layout):
        return
    if node.fetched is None:
        node.fetched = ctx.open_walks.around[-1]
    if node.fetched is not ctx.open_walks.around[-1]:
        return
    for load, pointers in node.ahead:
        if not isinstance(pointers, Pointers) or not _is_at_hand(ctx, pointers, layout):
            continue
        fetch = plan_kept(ctx, load, pointers, layout)
        if fetch is not None:
            ctx.recorder.add(fetch)
            _fetch_lines(ctx, fetch, pointers)


def _is_at_hand(ctx: Context, pointers: Pointers, layout: Layout) -> bool:
    """Are addresses computed without loading indices again, and without arrays? The kernel has accessed them
    already, so that an array may hold the next tensor."""
    return all(isinstance(node, Fragment) or not node.operation.has("loads")
               for node, _ in ctx.requests.of([(pointers, layout)])) and not answer(_reads_array, pointers)


def _reads_array(tensor: object) -> Asking[bool]:
    """Is anything that a tensor is computed from in an array?"""
    if isinstance(tensor, Deferred):
        return isinstance(tensor.evaluated, Stored) or (tensor.evaluated is None
                                                     and (yield from some(tensor.operands)))
    if isinstance(tensor, Pointers):
        return (yield from some(tensor.terms)) or (yield (tensor.affine,))
    if isinstance(tensor, Affine):
        return (yield (tensor.exact,))
    return isinstance(tensor, Stored)


def touch_ahead(ctx: Context, store: Operation, pointers: object, layout: Layout) -> None:
    """Before a walk of a store: fetch a line of each page that the next iteration will store to.

    Rows that lie far apart, as in a loop over every tenth row, each begin a page whose address is to be
    translated first, and a store that waits for that holds up all others.
    """
    fetch = plan_touch(ctx, store, pointers, layout)
    if fetch is not None:
        ctx.recorder.add(fetch)
        access = _following(ctx, fetch, pointers)
        for place in (*range(0, layout.numel, PAGE // access.size), layout.numel - 1):
            ctx.env.prefetch(access.pointer(0, place), soon=False)


def _moved(ctx: Context, fetch: Fetch) -> Register:
    """How many elements on an access is next time."""
    assert fetch.distance is not None
    last = None if fetch.last is None else emitted(ctx, fetch.last)
    moved = last if last is not None and fetch.distance is fetch.last else emitted(ctx, fetch.distance)
    rounds = 2 if fetch.way == ROUND_AFTER_NEXT else 1
    return in_reach(ctx, fetch.operation, moved, 0 if last is None else last, rounds)


def _following(ctx: Context, fetch: Fetch, pointers: object) -> AccessPointers:
    """The access of a load or store next time."""
    assert isinstance(pointers, Pointers)
    base = ctx.env.offset(pointers.base, _moved(ctx, fetch))
    following = replace(pointers, base=base)
    return AccessPointers(ctx, following, fetch.vectors, pointee_of(fetch.operation.ptr.type))


def _fetch_lines(ctx: Context, fetch: Fetch, pointers: object) -> None:
    """Every line that the registers touch, once for registers side by side."""
    access, layout = _following(ctx, fetch, pointers), fetch.layout
    per_line = max(1, LINE // access.size)
    along = next(d for d, i in enumerate(layout.unravel(layout.component[0])) if i)
    lines = set()
    for r, index in enumerate(layout.register_indices):
        place = list(layout.unravel(index))
        place[along] //= per_line
        if tuple(place) not in lines:
            lines.add(tuple(place))
            for c in range(0, layout.width, per_line):
                ctx.env.prefetch(access.pointer(r, c), fetch.near)
