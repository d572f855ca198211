"""Stores that follow each other share one walk.

    tl.store(m + x, d)
    tl.store(p + x, e)

Each would walk the block by itself, and the first walk would keep in an array what the second one stores. One
walk computes a piece of both and stores it. That is right if no turn of it loads, or overwrites, what an
earlier turn has stored: hazard.py compares the memory of all of them when the kernel runs. Where it overlaps,
each store has its own walk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from ...ir.model import Operation, TensorType
from ..context import Context, named
from ..plan.accesses import Fused, FusedLoad
from ..registry import RULES
from ..values.tensor import Deferred, Pointers
from .hazard import Comparison, Store, apart, distinct, in_versions, loads_below, proofs


def followers(ctx: Context, first: Store) -> list[Store]:
    """The stores behind one, of the same shape and under the same mask, between which nothing is accessed.
    What stands between is lowered."""
    layout = ctx.layouts.of(first.op.ptr.type)
    if layout.steps == 1 or ctx.target.lanes or not ctx.target.optimises("fusion") or not _is_plain(first):
        return []
    most = ctx.target.max_registers // layout.registers
    found: list[Store] = []
    for op, between in _stores_behind(first.op, most - 1):
        if op.ptr.type.shape != first.op.ptr.type.shape or op.mask is not first.op.mask:
            break
        for each in between:
            ctx.operations.lower(each)
            ctx.operations.done_ahead(each)
        store = Store(op, *named(op, [ctx.bindings.value(value) for value in op.operands])[:3])
        if not _is_plain(store) or ctx.layouts.of(op.ptr.type) != layout or any(
                store.op.ptr is other.op.ptr for other in (first, *found)):
            break
        found.append(store)
    return found


def _stores_behind(op: Operation, most: int) -> list[tuple[Operation, list[Operation]]]:
    """The stores of tensors that follow in its block, each with what is only computed before it."""
    assert op.parent is not None  # it is a block's
    operations = op.parent.operations
    found: list[tuple[Operation, list[Operation]]] = []
    between: list[Operation] = []
    for each in operations[operations.index(op) + 1:]:
        if each.name == "tt.store" and isinstance(each.ptr.type, TensorType) and len(found) < most:
            found.append((each, between))
            between = []
        elif each.is_pure and RULES[each.name].kind != "lowers" and not each.regions:
            between.append(each)
        else:
            break
    return found


def _is_plain(store: Store) -> bool:
    """Is its address a formula of the index, and does its mask load nothing?"""
    return (isinstance(store.ptr, Pointers) and not store.ptr.terms
            and not (isinstance(store.mask, Deferred) and store.mask.reads_memory))


def stored_together(ctx: Context, stores: Sequence[Store], together: Callable[[], None],
                    alone: Callable[[Store], None]) -> bool:
    """Run `together`, a walk that makes all stores, where that is safe when the kernel runs, else `alone` for
    each. False, and nothing is done: no test tells."""
    frame = ctx.bindings.frame
    operations = [store.op for store in stores]
    frame.lowered.update(operations)  # nobody else needs what only they need
    tests = _tests(ctx, stores)
    safe = None if tests is None else reduce(ctx.b.logical_and, [test.safe for _, _, test in tests if test])
    if tests is None or safe is None or safe.constant is not None:
        frame.lowered.difference_update(operations)
        return False
    pending = list(frame.pending)
    ctx.pending.settle(memory_only=False)

    def fused() -> None:
        for store, own, test in tests:
            ctx.recorder.add(Fused(store.op, (*own, *(proofs(test) if test else ()))))
        together()

    def one_by_one() -> None:
        frame.lowered.difference_update(operations)
        left, frame.pending = frame.pending, pending
        ctx.pending.settle(memory_only=True)
        for store in stores:
            ctx.recorder.add(Fused(store.op))
            alone(store)
            frame.lowered.add(store.op)
        frame.pending = left

    in_versions(ctx, safe, [test for _, _, test in tests if test], fused, one_by_one)
    for op in operations[1:]:
        ctx.operations.done_ahead(op)
    return True


def _tests(ctx: Context, stores: Sequence[Store]
           ) -> list[tuple[Store, list[FusedLoad], Comparison | None]] | None:
    """Of each store: the loads that need no test, and the test for the others and the stores before it. None
    where no test tells."""
    walked = ctx.layouts.of(stores[0].op.ptr.type)
    loads = loads_below(ctx, [(tensor, walked) for store in stores for tensor in store.tensors])
    found: list[tuple[Store, list[FusedLoad], Comparison | None]] = []
    for at, store in enumerate(stores):
        own = [(node, layouts) for node, layouts in loads if node.operation.ptr is store.op.ptr]
        others = [each for each in loads if each not in own]
        if own and (distinct(ctx, store.ptr, walked)[0] is not True
                    or not all(each.in_step_with(walked) for _, layouts in own for each in layouts)):
            return None
        test = apart(ctx, store.op, store.ptr, store.mask, others, stores[:at])
        if test is None and (others or at):
            return None
        found.append((store, [FusedLoad(node.operation, "same pointers") for node, _ in own], test))
    return found
