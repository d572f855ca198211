"""How a kernel finds races while it runs (passes/checked/races.py); race_cells.py has what the rules are made
of.

`ts.touch` holds an access against the last ones to its cells, and notes it there. Neighbouring elements of a
vector do that together as long as nobody else was there; else each for itself. `ts.order` does it for an
atomic operation, and lets the program acquire and release what that orders. All of it is done by one program
at a time: `ts.lock`, `ts.unlock`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import permutations

from ... import race_layout as words
from ...ir.model import Operation, TensorType
from ...spirv.builder import I32, I64
from ...spirv.control import IfElse, While
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Float, Int
from ..context import Context, StepLoop
from ..lanes.elements import guarded, visit_elements, visited_layout
from ..memory.load import to_memory
from ..registry import lowers
from ..values.tensor import Bound, Pointers, Tensor
from ..values.types import element_of, storage_type
from .checks import record
from .race_cells import Accesses, State
from .vectors import briefly, visit_accesses


@lowers("ts.lock")
def lock(ctx: Context, op: Operation) -> None:
    """Wait until no other program looks at the shadow memory."""
    b, place = ctx.b, State(ctx, op).place(words.MUTEX, I32)
    loop = While(b.module)
    with loop.before():
        taken = ctx.env.atomic("exchange", place, b.constant(I32, 1), "gpu", "acq_rel")
        loop.condition(b.compare("OpINotEqual", taken, 0), [])
    with loop.body():
        loop.yield_([])


@lowers("ts.unlock")
def unlock(ctx: Context, op: Operation) -> None:
    ctx.env.atomic_store(State(ctx, op).place(words.MUTEX, I32), ctx.b.constant(I32, 0), "gpu", "release")


@lowers("ts.touch")
def touch(ctx: Context, op: Operation, ptr: Tensor | Register, mask: Tensor | Register | None) -> None:
    """Hold plain accesses against those of other programs, and note them."""
    accesses = Accesses(ctx, op)

    def look() -> None:
        lock(ctx, op)
        accesses.begin()
        accesses.has_news()
        together = accesses.together if accesses.may_be_together() else None
        visit_accesses(ctx, op, accesses.size, ptr, mask, accesses.access, together)
        unlock(ctx, op)

    briefly(ctx, accesses.watched(), look)


@lowers("ts.order")
def order(ctx: Context, op: Operation, ptr: Bound, mask: Bound | None,
          releases: Bound | None) -> None:
    """Atomic accesses: what they acquire, the access itself, what they release. `releases`: where; None:
    everywhere."""
    ctx.pending.settle(memory_only=True)
    b, accesses = ctx.b, Accesses(ctx, op)
    clocks = accesses.clocks
    sem, replaces = op.attributes["sem"], op.attributes["replaces"]
    acquiring, releasing = sem in ("acquire", "acq_rel"), sem in ("release", "acq_rel")
    tracks = b.compare("OpINotEqual", accesses.word(words.TRACKS), 0)

    def one(address: Register, does: Register | None) -> None:
        def known(action: Callable[[Register], None], where: Register) -> None:
            guarded(ctx, where, lambda: action(clocks.row_of(address)))

        more = None
        if replaces:
            clocks.refresh()  # another one of them may have changed it
        if acquiring:
            branch = IfElse(b.module, tracks)
            with branch.then():
                branch.yield_([clocks.acquire(clocks.row_of(address))])
            with branch.otherwise():
                branch.yield_([b.constant(Bool(), False)])
            more = branch.results[0]
            clocks.refresh()
        if releasing:
            again = accesses.access_before_release(address, tracks)
            where = tracks if does is None else b.logical_and(tracks, does)
            known(lambda row: clocks.release(row, again, more, replaces), where)
            return
        accesses.access(address)
        accesses.has_news()
        if replaces:
            known(clocks.forget, tracks)

    def look() -> None:
        accesses.begin()
        if not isinstance(op.ptr.type, TensorType):
            assert isinstance(ptr, Register) and (mask is None or isinstance(mask, Register))
            assert releases is None or isinstance(releases, Register)
            pointer, where = ptr, releases
            guarded(ctx, mask, lambda: one(ctx.env.address(pointer), where))
            return
        layout = visited_layout(ctx, op.ptr.type)
        given = ptr, mask, releases
        walk = ctx.walks.plan(None, [(x, layout) for x in given
                                    if x is not None and not isinstance(x, Register)])
        with StepLoop(ctx.walks, len(layout.step)):
            visit_elements(ctx, layout, given,
                           lambda row: guarded(ctx, row[1], lambda: one(row[0], row[2])))
        ctx.walks.finish(walk)

    briefly(ctx, b.logical_or(tracks, accesses.watched()), look)


@lowers("ts.twice")
def twice(ctx: Context, op: Operation, ptr: Tensor, value: Tensor, mask: Tensor | None) -> None:
    """Behind a store to places that are not known to be different: does each hold what was stored there, and
    not another element's value?"""
    b, env, accesses = ctx.b, ctx.env, Accesses(ctx, op)
    held = storage_type(element_of(op.value.type))
    assert isinstance(held, (Int, Float))
    bits = Int(held.width)

    def compare(address: Register, put: Register) -> None:
        there = b.bitcast(env.load(env.pointer(address, held), 1), bits)
        other = b.compare("OpINotEqual", there, b.bitcast(to_memory(ctx, put), bits))
        guarded(ctx, other, lambda: record(ctx, op.attributes["word"], b.constant(I64, 0), address))

    def one(row: Sequence[Register | None]) -> None:
        address, put, acts = row
        assert address is not None and put is not None
        here = accesses.region(address)[0]
        guarded(ctx, here if acts is None else b.logical_and(here, acts),
                lambda: compare(address, put))

    def look() -> None:
        layout = visited_layout(ctx, op.ptr.type)
        given = (ptr, value, mask)
        walk = ctx.walks.plan(None, [(x, layout) for x in given if x is not None])
        with StepLoop(ctx.walks, len(layout.step)):
            visit_elements(ctx, layout, given, one)
        ctx.walks.finish(walk)

    apart = _are_apart(ctx, ptr)
    if apart is not True:
        watched = accesses.watched()
        briefly(ctx, watched if apart is False else b.logical_and(watched, b.logical_not(apart)), look)


def _are_apart(ctx: Context, ptr: Tensor) -> Register | bool:
    """Do the strides alone say that elements have places of their own? So it is where, in some order of the
    axes, each stride goes beyond all that those before it reach."""
    if not isinstance(ptr, Pointers) or ptr.terms or ptr.affine is None:
        return False
    b = ctx.b
    strides = [abs(stride) if isinstance(stride, int) else ctx.env.math("s_abs", b.resize(stride, 64))
               for stride in ptr.affine.strides]
    wide = [(stride, extent) for stride, extent in zip(strides, ptr.affine.shape, strict=True) if extent > 1]
    orders = list(permutations(wide)) if len(wide) <= 3 else [tuple(wide), tuple(wide[::-1])]
    found: list[Register] = []
    for order in orders:
        reach: Register | int = 0
        tests: list[Register] = []
        for stride, extent in order:
            if isinstance(stride, int) and isinstance(reach, int):
                if stride <= reach:
                    break
                reach += stride * (extent - 1)
                continue
            big, small = (b.constant(I64, x) if isinstance(x, int) else x for x in (stride, reach))
            tests.append(b.compare("OpSGreaterThan", big, small))
            reach = b.iadd(small, b.imul(big, extent - 1))
        else:
            if not tests:
                return True
            found.append(reduce(b.logical_and, tests))
    return reduce(b.logical_or, found) if found else False
