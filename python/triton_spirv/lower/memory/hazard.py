"""May a store overwrite what a load of the same loop still has to read?

A large tensor is walked in steps. Loading, computing and storing in one loop is right only if no step stores
to memory that a later step loads. Two pointers of one argument can be compared when compiling (`in_place`);
others are compared when running: if the spans of memory that the load and the store touch are disjoint, or
the very same, the fused loop is taken, else everything is loaded first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce

from ...dataclass import dataclass
from ...ir.model import Operation
from ...layout import Layout
from ...spirv.builder import I64
from ...spirv.control import IfElse
from ...spirv.module import Value as Register
from ...traversal import Asking, answer, every
from ..addresses.intervals import Intervals
from ..addresses.ownership import fixed_bits
from ..context import Context
from ..plan.accesses import Compared, Fused, FusedLoad, Overlap
from ..plan.accesses import Span as Reached
from ..registry import RULES, parts_of_load
from ..values.tensor import Affine, Bound, Deferred, Pointers, Tensor

#: What the two forms of a walk are for.
APART = "does the memory of the store lie apart from that of its loads?"


@dataclass(frozen=True)
class Store:
    """A store of a tensor, and what its operands are bound to."""

    op: Operation
    ptr: Tensor
    value: Tensor
    mask: Tensor | None

    @property
    def tensors(self) -> list[Tensor]:
        """What its walk asks for."""
        return [x for x in (self.ptr, self.value, self.mask) if x is not None]


@dataclass(frozen=True)
class Comparison:
    """`safe`, a scalar Bool: none of the loads can read what an earlier step of the store has written; and
    what is compared for that."""

    safe: Register
    compared: Overlap


def in_place(op: Operation, *tensors: Bound | None) -> bool:
    """Does everything that the stored tensors read come through the very pointers that are stored to?

    Then each element is read before it is written, in whatever pieces the tensor is walked, if no two pieces
    meet (`distinct`).
    """
    def is_safe(tensor: object) -> Asking[bool]:
        if isinstance(tensor, tuple):
            return (yield from every(tensor))
        if isinstance(tensor, Pointers):
            return (yield from every((tensor.affine, *tensor.terms)))
        if isinstance(tensor, Affine):
            return (yield (tensor.exact,))
        if not isinstance(tensor, Deferred) or tensor.evaluated is not None or not tensor.reads_memory:
            return True
        name = tensor.operation.name
        if tensor.operation.has("loads") and tensor.operation.ptr is op.ptr:
            return (yield from every(parts_of_load(tensor)[1:]))  # its mask, and `other`
        return RULES[name].kind == "elementwise" and (yield from every(tensor.operands))

    return answer(is_safe, tensors)


@dataclass(frozen=True)
class Span:
    """The bytes from `low` up to `high`. `ends`: dimensions along which it ends where the mask does."""

    low: Register
    high: Register
    ends: tuple[int, ...] = ()


def span(ctx: Context, pointers: Pointers, intervals: Intervals) -> Span | None:
    """The bytes that an access touches, or a few more; None where these are not known.

    Of an affine one it begins where the whole block does, which tells accesses of the same memory. A block of
    several dimensions ends where its mask ends along each: else all programs at the edge of a matrix would
    seem to reach into the array behind it.
    """
    b = ctx.b
    size = ctx.env.pointee_bytes(pointers.base)
    low = ctx.env.address(pointers.base)
    high = b.iadd(low, size)
    for term in pointers.terms:
        within = intervals.of(term)
        if within is None:
            return None
        low, high = b.iadd(low, b.imul(within.low, size)), b.iadd(high, b.imul(within.high, size))
    if pointers.affine is None:
        return Span(low, high)
    start = b.imul(b.resize(pointers.affine.base, 64), size)
    low, high = b.iadd(low, start), b.iadd(high, start)
    several = sum(extent > 1 for extent in pointers.affine.shape) > 1
    ends = []
    for dim, (stride, extent) in enumerate(zip(pointers.affine.strides, pointers.affine.shape, strict=True)):
        reach = (extent - 1) * size
        if not reach or (isinstance(stride, int) and stride == 0):
            continue
        if isinstance(stride, int) and stride < 0:
            low = b.iadd(low, stride * reach)
            continue
        last = intervals.last(dim, extent) if several else None
        ends += [dim] if last is not None else []
        reached = b.constant(I64, reach) if last is None else b.imul(last, size)
        if isinstance(stride, int):
            high = b.iadd(high, b.imul(reached, stride))
        else:
            wide, zero = b.resize(stride, 64), b.constant(I64, 0)
            low = b.iadd(low, ctx.env.math("s_min", b.imul(wide, reach), zero))
            high = b.iadd(high, ctx.env.math("s_max", b.imul(wide, reached), zero))
    return Span(low, high, tuple(ends))


def _same_walk(x: Pointers, y: Pointers) -> bool:
    """Do both accesses touch their elements in the same affine pattern?"""
    if x.terms or y.terms:
        return False
    strides = [p.affine.strides if p.affine is not None else (0,) * len(p.shape) for p in (x, y)]
    return x.shape == y.shape and str(x.element) == str(y.element) and all(
        s is t or (isinstance(s, int) and s == t) for s, t in zip(*strides, strict=True))


def distinct(ctx: Context, ptr: Tensor, layout: Layout) -> tuple[Register | bool, tuple[int, ...]]:
    """Have elements that are walked in different steps different addresses? A scalar Bool where strides that
    are known when running have to be larger than what the smaller ones reach, and their dimensions.
    """
    b = ctx.b
    if layout.steps == 1:
        return True, ()
    if not isinstance(ptr, Pointers) or ptr.terms or ptr.affine is None:
        return False, ()
    strides = [s.constant if isinstance(s, Register) and s.constant is not None else s
               for s in ptr.affine.strides]
    fixed = fixed_bits([0 if isinstance(s, Register) else s for s in strides], ptr.shape)
    if fixed is None:
        return False, ()
    unknown: dict[int, Register] = {}
    for dim, (stride, (low, bits)) in enumerate(zip(strides, layout.dim_bits, strict=True)):
        if isinstance(stride, Register):
            fixed &= ~(((1 << bits) - 1) << low)
            if bits:
                unknown[dim] = stride
    if any(basis & fixed for basis in layout.step):
        return False, ()
    reach = sum(abs(s) * (size - 1) for s, size in zip(strides, ptr.shape, strict=True) if isinstance(s, int))
    tests = []
    for order in (list(unknown)[::-1], list(unknown))[:len(unknown)]:  # row by row, column by column
        reached, larger = b.constant(I64, reach), []
        for dim in order:
            signed = b.resize(unknown[dim], 64)
            slope = ctx.env.math("s_max", signed, b.isub(b.constant(I64, 0), signed))
            larger.append(b.compare("OpSLessThan", reached, slope))
            reached = b.iadd(reached, b.imul(slope, ptr.shape[dim] - 1))
        tests.append(reduce(b.logical_and, larger))
    return reduce(b.logical_or, tests) if tests else True, tuple(unknown)


def loads_below(ctx: Context, inputs: Iterable[tuple[Tensor, Layout]]) -> list[tuple[Deferred, set[Layout]]]:
    """The loads that a walk over the inputs would make, with their layouts."""
    return [(node, layouts) for node, layouts in ctx.requests.of(inputs)
            if isinstance(node, Deferred) and node.operation.has("loads")]


def apart(ctx: Context, op: Operation, ptr: Tensor, mask: Tensor | None,
          loads: Sequence[tuple[Deferred, set[Layout]]], earlier: Sequence[Store] = (),
          in_step: bool = True) -> Comparison | None:
    """Can none of these loads read, and none of the earlier stores overwrite, what an earlier step of the
    store has written? None: no test tells, or there are none, of which nothing has to be told. in_step: all
    of them come to their elements in the order of the store's walk, where layouts say so; else their memory
    may not be the same either."""
    b = ctx.b
    intervals = Intervals(ctx, op, mask)
    if not isinstance(ptr, Pointers) or not (loads or earlier):
        return None
    written = span(ctx, ptr, intervals)
    if written is None:
        return None
    first, last = written.low, written.high
    walked = ctx.layouts.of(op.ptr.type)
    single, larger = distinct(ctx, ptr, walked) if in_step else (False, ())
    compared = []
    safe = reduce(b.logical_and, intervals.tests) if intervals.tests else None
    others = [(node.operation, *parts_of_load(node)[:2], layouts) for node, layouts in loads]
    for other, source, only, layouts in [*others, *((x.op, x.ptr, x.mask, {walked}) for x in earlier)]:
        if not isinstance(source, Pointers):
            return None
        loaded = Intervals(ctx, other, only)
        touched = span(ctx, source, loaded)
        if touched is None:
            return None
        low, high = touched.low, touched.high
        disjoint = b.logical_or(
            b.compare("OpULessThanEqual", high, first), b.compare("OpULessThanEqual", last, low)
        )
        same_memory = single is not False and _same_walk(source, ptr) and all(
            each.in_step_with(walked) for each in layouts)
        compared.append(Compared(_reached(other, source, touched), same_memory))
        if same_memory:
            same = b.compare("OpIEqual", low, first)
            if isinstance(single, Register):
                same = b.logical_and(same, single)
            disjoint = b.logical_or(disjoint, same)
        safe = reduce(b.logical_and, loaded.tests,
                      disjoint if safe is None else b.logical_and(safe, disjoint))
    if safe is None:
        return None
    return Comparison(safe, Overlap(_reached(op, ptr, written), tuple(compared), larger))


def _reached(op: Operation, pointers: Pointers, span: Span) -> Reached:
    """What the span of an access is computed from."""
    affine = pointers.affine
    strides = (0,) * len(pointers.shape) if affine is None else affine.strides
    return Reached(op, tuple(s.constant if isinstance(s, Register) else s for s in strides),
                   len(pointers.terms), span.ends)


def versioned(ctx: Context, op: Operation, ptr: Tensor, mask: Tensor | None, tensors: Sequence[Tensor],
              body: Callable[[], None]) -> None:
    """Run `body`, a loop that stores: fused with the loads below `tensors` where that is safe, behind them
    where it is not. Where that is known when running only, the second form is brief: few kernels ever take
    it, and each would pay for compiling it.
    """
    layout = ctx.layouts.of(op.ptr.type)
    inputs = [(tensor, layout) for tensor in tensors]
    if ctx.target.optimises("fusion") and in_place(op, *tensors) and distinct(ctx, ptr, layout)[0] is True:
        ctx.pending.settle(memory_only=True, op=op)
        loads = loads_below(ctx, inputs) if layout.steps > 1 else []
        if loads:
            ctx.recorder.add(Fused(op, tuple(FusedLoad(x.operation, "same pointers") for x, _ in loads)))
        body()
        return
    loads = loads_below(ctx, inputs) if layout.steps > 1 else []
    test = apart(ctx, op, ptr, mask, loads) if layout.steps > 1 and ctx.target.optimises("fusion") else None
    if test is None:
        ctx.pending.settle(memory_only=True)
        if layout.steps > 1:
            ctx.recorder.add(Fused(op))
        body()
        return
    ctx.pending.settle(memory_only=False, op=op)

    def fused() -> None:
        ctx.recorder.add(Fused(op, proofs(test)))
        body()

    def after_loads() -> None:
        ctx.pending.settle(memory_only=True)
        ctx.recorder.add(Fused(op))
        body()

    in_versions(ctx, test.safe, [test], fused, after_loads)


def proofs(test: Comparison) -> tuple[FusedLoad, ...]:
    """What the test shows of each access that it compares."""
    return tuple(FusedLoad(each.span.operation, "disjoint or same" if each.same else "disjoint")
                 for each in test.compared.loads)


def in_versions(ctx: Context, safe: Register, tests: Sequence[Comparison], fused: Callable[[], None],
                otherwise: Callable[[], None]) -> None:
    """The first form where the tests, together `safe`, say that memory lies apart; else the second one."""
    arms = []

    def arm(name: str, form: Callable[[], None]) -> None:
        ctx.scopes.open()
        ctx.recorder.open()
        form()
        arms.append((name, ctx.recorder.close()))
        ctx.scopes.close()

    branch = IfElse(ctx.b.module, safe)
    with branch.then():
        arm("apart", fused)
    with branch.otherwise():
        before, ctx.layouts.brief = ctx.layouts.brief, True
        arm("overlapping", otherwise)
        ctx.layouts.brief = before
    decided = safe.constant is not None
    ctx.recorder.versions(APART, arms, tests=[replace(each.compared, decided=decided) for each in tests])
