"""Fetching what the next iteration of a loop, or the next program, will load, while this one computes.

The operands of a product in a loop are short runs of many rows, a loop over rows may take each hundredth, and
a program may look its row up: nothing that processors foresee. pointer_motion.py knows how far pointers move.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from ...ir.model import Operation, TensorType
from ...layout import Layout, log2
from ...spirv.module import Value as Register
from ...traversal import Asking, answer, some
from ..addresses.access import AccessPointers, vectors_of
from ..addresses.element_motion import pointer_growth
from ..addresses.pointer_motion import distance, in_reach, to_next_program
from ..context import Context, StepLoop
from ..plan.records import Fetch
from ..registry import SOURCE_LAYOUTS
from ..values.tensor import Affine, Deferred, Fragment, Pointers, Stored, Tensor
from ..values.types import element_of, shape_of, storage_bytes

LINE = 64  # bytes that a processor fetches at a time, at least
PAGE = 4096  # bytes of a page of memory, at least
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

    def fetch(self, ctx: Context, number: Register) -> None:
        """One share, by its number."""
        bits = log2(self.shares)
        for inputs, steps in self.walks:
            ctx.indices.pieces.insert(0, (number, bits))
            ctx.scopes.open(walks=True)
            with StepLoop(ctx, steps - bits):
                prefetch_next(ctx, inputs, nearest=False)
            ctx.scopes.close()
            ctx.indices.pieces.pop(0)


def prefetch_next(ctx: Context, inputs: Sequence[tuple[Tensor, Layout]], nearest: bool = True) -> None:
    """Inside a walk of `inputs`: fetch what the loads below them will read here in the next iteration."""
    for load, layouts in _loads(ctx, inputs):
        for layout in layouts:
            fetch_ahead(ctx, load.operation, load.operands[0], layout, soon=True, nearest=nearest)


def _loads(ctx: Context, inputs: Sequence[tuple[Tensor, Layout]]) -> Iterator[
        tuple[Deferred, Iterable[Layout]]]:
    """The loads below the inputs of a walk, and the layouts that they are asked for."""
    for node, layouts in ctx.requests(inputs) if ctx.target.optimises("prefetch") else ():
        if isinstance(node, Deferred) and node.operation.name == "tt.load" and node.stored is None:
            yield node, layouts


def fetch_ahead(ctx: Context, load: Operation, pointers: object, layout: Layout, soon: bool = False,
                nearest: bool = True) -> None:
    """Fetch what a load under this layout will read next; `soon`: whatever it is, and into the nearest cache.

    Where the walk keeps in an array what it makes of the elements, a later one reads and computes: it
    fetches, while memory has nothing else to do. That pays for more than a page: so far do processors foresee
    what follows.
    """
    if not ctx.target.optimises("prefetch") or (ctx.fetches_later and not soon):
        return
    large = layout.numel * storage_bytes(element_of(load.results[0].type)) > PAGE
    kept = _kept(ctx, load) if large and not soon else None
    if kept is not None:
        if all(load is not other for other, _ in kept.ahead):
            kept.ahead.append((load, pointers))
        return
    moved = distance(ctx, load)
    if not soon and (moved is None or _is_next(moved, layout)):
        _fetch_page(ctx, load, pointers, layout)
        return
    access = None if moved is None else _following(ctx, load, pointers, layout, moved)
    if access is not None:
        ctx.recorder.add(Fetch(load, "next round"))
        _fetch(ctx, access, layout, soon and nearest)


def _fetch_page(ctx: Context, load: Operation, pointers: object, layout: Layout) -> None:
    """In a walk through memory, page after page: fetch the first line of a page some way ahead.

    Processors foresee the next lines within a page, but wait at the beginning of each for its address to be
    translated. One line is enough, and more take places that the walk's own lines wait for. Only for what
    moves from program to program, and where no store walks as far: a layer norm lost a fifth by it.
    """
    if not isinstance(pointers, Pointers) or to_next_program(ctx, load) is None:
        return
    if _stores_as_much(load, layout.numel):
        return
    element = element_of(load.ptr.type).pointee  # type: ignore[attr-defined]
    walked = {basis for basis in (*layout.component, *layout.register, *layout.step)
              if pointer_growth(pointers, basis, layout) == basis}
    along = 1
    while along in walked:
        along *= 2
    if along * storage_bytes(element) < PAGE:
        return
    access = AccessPointers(ctx, pointers, vectors_of(ctx, pointers, layout, element, load.ptr), element)
    ctx.recorder.add(Fetch(load, "page ahead"))
    env = ctx.env
    ahead = ctx.b.iadd(env.address(access.pointer(0)), PAGES_AHEAD * PAGE)
    env.prefetch(env.pointer(ctx.b.iand(ahead, -PAGE), access.pointee), soon=True)


def _stores_as_much(load: Operation, elements: int) -> bool:
    """Does the function of a load store so many elements at once?"""
    function = load
    while function.name != "tt.func" and function.parent is not None and function.parent.parent.parent:
        function = function.parent.parent.parent
    return any((op.has("writes") or op.has("atomic"))
               and any(isinstance(x.type, TensorType) and x.type.numel >= elements for x in op.operands)
               for op in function.walk())


def _kept(ctx: Context, load: Operation) -> Deferred | None:
    """What a walk that loads keeps of it in an array of the same shape."""
    return next((node for walk in ctx.walks for node in walk.by_products
                 if node.shape == shape_of(load.results[0].type) and _is_below(load, node)), None)


def _is_below(load: Operation, tensor: object) -> bool:
    """Is a tensor computed from what is loaded, element by element?"""

    def is_below(tensor: object) -> Asking[bool]:
        if not isinstance(tensor, Deferred) or tensor.stored is not None:
            return False
        if tensor.operation is load:
            return True
        return tensor.operation.name not in SOURCE_LAYOUTS and (yield from some(tensor.operands))

    return answer(is_below, tensor)


def fetch_kept(ctx: Context, node: Deferred, layout: Layout) -> None:
    """In a walk that reads the array of a value: fetch what the loads that it was made of will read next, in
    the next iteration or by the next program. Only the first such walk does."""
    if not ctx.walks or not layout.step or not ctx.holds_windows(layout):
        return
    if node.fetched is None:
        node.fetched = ctx.walks[-1]
    if node.fetched is not ctx.walks[-1]:
        return
    for load, pointers in node.ahead:
        if not isinstance(pointers, Pointers) or not _is_at_hand(ctx, pointers, layout):
            continue
        last = to_next_program(ctx, load)
        moved = distance(ctx, load) or last
        if moved is None:
            continue
        access = _following(ctx, load, pointers, layout, moved, last or 0)
        if access is not None:
            ctx.recorder.add(Fetch(load, "next program" if moved is last else "next round"))
            _fetch(ctx, access, layout, soon=False)


def _is_at_hand(ctx: Context, pointers: Pointers, layout: Layout) -> bool:
    """Are addresses computed without loading indices again, and without arrays? The kernel has accessed them
    already, so that an array may hold the next tensor."""
    return all(isinstance(node, Fragment) or node.operation.name != "tt.load"
               for node, _ in ctx.requests([(pointers, layout)])) and not answer(_reads_array, pointers)


def _reads_array(tensor: object) -> Asking[bool]:
    """Is anything that a tensor is computed from in an array?"""
    if isinstance(tensor, Deferred):
        return isinstance(tensor.stored, Stored) or (tensor.stored is None
                                                     and (yield from some(tensor.operands)))
    if isinstance(tensor, Pointers):
        return (yield from some(tensor.terms)) or (yield (tensor.affine,))
    if isinstance(tensor, Affine):
        return (yield (tensor.exact,))
    return isinstance(tensor, Stored)


def _is_next(moved: Register, layout: Layout) -> bool:
    """Does the next iteration go on where this one ends, as processors foresee?"""
    if not isinstance(moved.constant, int) or not layout.component:
        return False
    along = layout.unravel(layout.component[0])
    return abs(moved.constant) <= max(size for size, index in zip(layout.shape, along, strict=True) if index)


def touch_ahead(ctx: Context, store: Operation, pointers: object, layout: Layout) -> None:
    """Before a walk of a store: fetch a line of each page that the next iteration will store to.

    Rows that lie far apart, as in a loop over every tenth row, each begin a page whose address is to be
    translated first, and a store that waits for that holds up all others.
    """
    if not isinstance(pointers, Pointers) or not ctx.target.optimises("prefetch") or any(
            pointer_growth(pointers, basis, layout) != basis for basis in (*layout.register, *layout.step)):
        return
    moved = distance(ctx, store)
    if moved is None or _is_next(moved, layout):
        return
    access = _following(ctx, store, pointers, replace(layout, register=(), step=()), moved)
    if access is not None:
        ctx.recorder.add(Fetch(store, "next round"))
        for place in (*range(0, layout.numel, PAGE // access.size), layout.numel - 1):
            ctx.env.prefetch(access.pointer(0, place), soon=False)


def _following(ctx: Context, op: Operation, pointers: object, layout: Layout, moved: Register,
               last: Register | int = 0) -> AccessPointers | None:
    """The access of a load or store next time, if its components are neighbours in memory; `last`: how far it
    moves after the last iteration."""
    if not isinstance(pointers, Pointers):
        return None
    pointee = element_of(op.ptr.type).pointee  # type: ignore[attr-defined]
    vectors = vectors_of(ctx, pointers, layout, pointee, op.ptr)
    if not vectors.run == layout.width > 1:
        return None
    following = replace(pointers, base=ctx.env.offset(pointers.base, in_reach(ctx, op, moved, last)))
    return AccessPointers(ctx, following, vectors, pointee)


def _fetch(ctx: Context, access: AccessPointers, layout: Layout, soon: bool) -> None:
    """Every line that the registers touch, once for registers side by side."""
    per_line = max(1, LINE // access.size)
    along = next(d for d, i in enumerate(layout.unravel(layout.component[0])) if i)
    lines = set()
    for r, index in enumerate(layout.register_indices):
        place = list(layout.unravel(index))
        place[along] //= per_line
        if tuple(place) not in lines:
            lines.add(tuple(place))
            for c in range(0, layout.width, per_line):
                ctx.env.prefetch(access.pointer(r, c), soon)
