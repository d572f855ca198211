"""Masks that one scalar comparison proves true for a whole window.

`offsets < n` with affine offsets holds everywhere in a window if it holds for the largest offset. The test
costs two scalar instructions, and the path behind it loads and stores plain vectors without computing any
mask; the other path computes the masks component by component. Comparisons are made in 64 bits, where index
arithmetic of 32 bits cannot wrap, and say of both ends of a window that they are numbers of the index's own
width: a window that wraps fails the test and takes the exact path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from functools import reduce

from ...dataclass import dataclass
from ...facts.bounds import Part, conjunction, folded
from ...ir.model import Operation
from ...layout import Layout
from ...spirv.builder import I64
from ...spirv.control import IfElse, if_
from ...spirv.module import Value as Register
from ...spirv.types import Int
from ..arithmetic.symbolic import as_affine
from ..context import Context
from ..known_masks import Asked
from ..registry import SOURCE_LAYOUTS, parts_of_load
from ..values.tensor import Affine, Bound, Deferred, Tensor, Uniform
from .transfers import is_true

#: predicate -> (instruction that compares the extremes, whether the left side must be the smaller one)
ORDERED = {"slt": ("OpSLessThan", True), "sle": ("OpSLessThanEqual", True),
           "sgt": ("OpSGreaterThan", False), "sge": ("OpSGreaterThanEqual", False)}

#: The predicate that holds where another does not.
OPPOSITE = {"slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle"}


def maker_of(mask: Tensor | None) -> tuple[Operation, Sequence[Bound | None]] | None:
    """How a mask that is not evaluated yet is made."""
    if not isinstance(mask, Deferred) or mask.evaluated is not None:
        return None
    return mask.operation, mask.operands


def all_true(ctx: Context, mask: Tensor | None, layout: Layout) -> Register | None:
    """A scalar Bool that implies that every element of the window is true; None where none is known. Emits
    scalar code.
    """
    def both(x: Register | None, y: Register | None) -> Register | None:
        return None if x is None or y is None else ctx.b.logical_and(x, y)
    if mask is None or not ctx.target.optimises("masks"):
        return None
    return folded(mask, lambda part: _test(ctx, part, layout), both, maker_of)


def all_false(ctx: Context, mask: Tensor | None, layout: Layout) -> Register | None:
    """A scalar Bool that implies that every element of the window is false; None where none is known. Emits
    scalar code.
    """
    def both(x: Register | None, y: Register | None) -> Register | None:
        return ctx.b.logical_or(x, y) if x is not None and y is not None else x if y is None else y
    if mask is None or not ctx.target.optimises("masks"):
        return None
    return folded(mask, lambda part: _test(ctx, part, layout, True), both, maker_of)


def _test(ctx: Context, part: Part, layout: Layout, opposite: bool = False) -> Register | None:
    """The same for one part of a mask, under the layout of the whole; `opposite`: that it is false
    everywhere."""
    below = _below(part, layout)
    if below is None:
        return None
    if isinstance(part.mask, Uniform):
        return ctx.b.logical_not(part.mask.scalar) if opposite else part.mask.scalar
    whole = _whole(part)
    if whole is not None:
        return None if opposite else whole.scalar
    return _ordered(ctx, part.predicate, part.operands, below, opposite)


def _whole(part: Part) -> Uniform | None:
    """The scalar that makes a part true everywhere: s of `s | x`."""
    made = maker_of(part.mask)
    if made is None or made[0].name != "arith.ori":
        return None
    return next((operand for operand in made[1] if isinstance(operand, Uniform)), None)


def _below(part: Part, layout: Layout) -> Layout | None:
    """The layout of a part where the whole mask has this one; None behind a view that is not known here."""
    for view in part.views:
        if view.name not in SOURCE_LAYOUTS or view.name == "ts.swap":
            return None
        layout = SOURCE_LAYOUTS[view.name](view, layout)
    return layout


def _ordered(ctx: Context, predicate: str, operands: Sequence[Bound | None], layout: Layout,
             opposite: bool = False) -> Register | None:
    """A comparison of the extremes that implies that all elements compare so; `opposite`: that none does.

    Elements wrap in their own width, so the least element is origin + low, and the greatest origin + high,
    only where both are numbers of that width. Of the side that must be the smaller one, the comparison shows
    it for the greatest, and of the other side for the least, if that side is no wider; the ends that are left
    over get a comparison of their own, unless they are on the safe side of the origin, which is one already:
    in `offsets < n` they are.
    """
    b = ctx.b
    if predicate not in ORDERED:
        return None
    opcode, left_is_small = ORDERED[OPPOSITE[predicate] if opposite else predicate]
    first, second = (_extremes(operand, layout) for operand in operands)
    if first is None or second is None:
        return None
    origins = [b.resize(ctx.indices.affine_scalar(side.affine, layout), I64.width)
               for side in (first, second)]
    sides = list(zip((first, second), origins, strict=True))
    (small, below), (large, above) = sides if left_is_small else sides[::-1]
    ends = [b.iadd(below, small.high), b.iadd(above, large.low)]
    tests = [b.compare(opcode, *(ends if left_is_small else ends[::-1]))]
    if small.low < 0:
        tests.append(b.compare("OpSGreaterThanEqual", b.iadd(below, small.low), small.least))
    if large.high > 0:
        tests.append(b.compare("OpSLessThanEqual", b.iadd(above, large.high), large.greatest))
    if small.high > 0 and large.width > small.width:
        tests.append(b.compare("OpSLessThanEqual", ends[0], small.greatest))
    if large.low < 0 and small.width > large.width:
        tests.append(b.compare("OpSGreaterThanEqual", ends[1], large.least))
    return reduce(b.logical_and, tests)


def is_provable(mask: Tensor | None, layout: Layout) -> bool:
    """Is there a scalar that `all_true` makes of this mask? A path where it holds asks for no element."""

    def is_known(part: Part) -> bool:
        below = _below(part, layout)
        if below is None or isinstance(part.mask, Uniform) or _whole(part) is not None:
            return below is not None
        return part.predicate in ORDERED and None not in (_extremes(x, below) for x in part.operands)
    return mask is not None and all(map(is_known, conjunction(mask, maker_of)))


@dataclass(frozen=True)
class _Extremes:
    """The elements of a window: that of `affine` at its beginning + an integer from low to high, wrapped to
    `width` bits, as a signed number."""

    affine: Affine
    low: int
    high: int
    width: int

    @property
    def least(self) -> int:
        return -1 << (self.width - 1)

    @property
    def greatest(self) -> int:
        return ~self.least


def _extremes(tensor: Bound | None, layout: Layout) -> _Extremes | None:
    affine = as_affine(tensor)
    if affine is not None and affine.exact is not None:
        inner = affine.exact
        narrow = inner.operands[0] if inner.operation.has("widens") else None
        affine = narrow if isinstance(narrow, Affine) else None
    if not isinstance(affine, Affine) or affine.exact is not None:
        return None
    kind = affine.base.type
    if not isinstance(kind, Int) or (kind.width == 64 and any(affine.strides)):
        return None
    reach = 0
    for index in (*layout.component, *layout.register):
        reach |= index
    if reach & layout.moving:  # then a register may lie below register 0
        return None
    low = high = 0
    for stride, size, start in zip(
        affine.strides, layout.unravel(reach), layout.unravel(layout.origin), strict=True
    ):
        if not size and not start:
            continue
        if not isinstance(stride, int):
            return None
        stride = _wrapped(stride, kind.width)
        moved = (stride * start, stride * (start | size))
        low, high = low + min(moved), high + max(moved)
    return _Extremes(affine, low, high, kind.width)


def _wrapped(number: int, width: int) -> int:
    """The signed number of so many bits that a number wraps to."""
    half = 1 << (width - 1)
    return (number + half) % (2 * half) - half


def is_proven(ctx: Context, mask: Tensor | None, layout: Layout) -> bool:
    """Is the mask absent, true, or known true on the path being emitted?"""
    return is_true(mask) or ctx.masks.holds(mask, layout)


def is_refuted(ctx: Context, mask: Tensor | None, layout: Layout) -> bool:
    """Is it of no use to ask whether the mask is true everywhere: because it is not, or the code hardly ever
    runs?"""
    return (ctx.masks.fails(mask, layout) or (ctx.layouts.brief and ctx.target.masked_access)
            or not ctx.target.optimises("masks"))


@dataclass(frozen=True)
class Idle:
    """Where `mask` is false everywhere a step of a walk has nothing to do, or next to nothing: `body`, which
    makes the results and by-products of such a step."""

    mask: Tensor
    layout: Layout
    body: Callable[[], Sequence[Register]] | None = None


def guarded(ctx: Context, inputs: Iterable[tuple[Tensor, Layout]], masks: Sequence[tuple[Tensor, Layout]],
            body: Callable[[], Sequence[Register]], idle: Idle | None = None) -> list[Register]:
    """Run `body` (one step of a walk) twice: where a scalar test proves all masks, and where it does not.

    The masks are those given and those of the deferred loads below `inputs`. Without such masks the body is
    emitted once, and in code that hardly ever runs.
    """
    if ctx.layouts.brief:
        return list(body())
    proven: set[Asked] = set()
    test = None
    for asked in dict.fromkeys([*masks, *_load_masks(ctx, inputs)]):
        part = None if is_proven(ctx, *asked) else all_true(ctx, *asked)
        if part is not None:
            proven.add(asked)
            test = part if test is None else ctx.b.logical_and(test, part)
    if test is None:
        return list(body())

    def hot() -> Sequence[Register]:
        with ctx.masks.where_all_hold(proven):
            return _turn(ctx, body)

    def cold() -> Sequence[Register]:
        with ctx.masks.where_one_fails(proven):
            nothing = None if idle is None else all_false(ctx, idle.mask, idle.layout)
            if idle is None or nothing is None:
                return _turn(ctx, body)
            if idle.body is not None:
                return one_of(ctx, nothing, "is the mask false in all of this window?",
                               ("nothing", idle.body), ("some", lambda: _turn(ctx, body)), may_skip=True)
            with if_(ctx.b.module, ctx.b.logical_not(nothing)):
                ctx.scopes.open()
                ctx.recorder.open()
                body()
                some = ctx.recorder.close()
                ctx.scopes.close()
            ctx.recorder.versions("is anything stored?", [("some", some), ("nothing", ())], may_skip=True)
            return []

    return one_of(ctx, test, "do all masks hold in this window?", ("hot", hot), ("cold", cold))


def _turn(ctx: Context, body: Callable[[], Sequence[Register]]) -> Sequence[Register]:
    """All that a step has to do, on the way that is being emitted."""
    registers = body()
    ctx.walks.complete()
    return registers


def one_of(ctx: Context, test: Register, question: str, first: tuple[str, Callable[[], Sequence[Register]]],
            second: tuple[str, Callable[[], Sequence[Register]]], may_skip: bool = False) -> list[Register]:
    """The first way where the test holds, else the second, of every turn of the walk around it."""
    branch = IfElse(ctx.b.module, test)
    arms, scopes = [], []
    for (name, body), arm in ((first, branch.then), (second, branch.otherwise)):
        with arm():
            ctx.scopes.open(walks=True)
            ctx.recorder.open()
            branch.yield_(body())
            arms.append((name, ctx.recorder.close()))
            scopes.append(ctx.scopes.close())
    ctx.recorder.versions(question, arms, may_skip)
    ctx.scopes.innermost.written |= scopes[0].written & scopes[1].written
    return branch.results


def _load_masks(ctx: Context, inputs: Iterable[tuple[Tensor, Layout]]) -> list[tuple[Tensor, Layout]]:
    found: list[tuple[Tensor, Layout]] = []
    for node, layouts in ctx.requests.of(inputs):
        if isinstance(node, Deferred) and node.operation.has("loads"):
            ptr, mask, _ = parts_of_load(node)
            found += [(mask, layout) for layout in layouts if mask is not None
                      and ctx.transfers.of(node.operation, ptr, mask, layout).governed is None]
    return found


def known_whole(ctx: Context, inputs: Iterable[tuple[Tensor, Layout]]) -> AbstractContextManager[None]:
    """Within it every mask of the loads below `inputs` is known to hold for all steps."""
    return ctx.masks.where_all_hold(set(_load_masks(ctx, inputs)))


def proven_whole(ctx: Context, inputs: Iterable[tuple[Tensor, Layout]], walk: Callable[[], None]) -> None:
    """Run `walk`, a loop over the steps of the layouts, twice: where one test proves every mask of the loads
    below `inputs` for all steps, and where it does not."""
    tests: list[Register] = []
    proven: set[Asked] = set()
    for mask, layout in dict.fromkeys(_load_masks(ctx, inputs)):
        if not is_proven(ctx, mask, layout):
            test = all_true(ctx, mask, layout.without_steps())
            if test is not None:
                tests.append(test)
                proven.add((mask, layout))
    if not tests:
        return walk()
    together = tests[0]
    for test in tests[1:]:
        together = ctx.b.logical_and(together, test)
    branch = IfElse(ctx.b.module, together)
    arms = []
    for name, arm, known in (("hot", branch.then, proven), ("cold", branch.otherwise, set())):
        with arm():
            ctx.scopes.open()
            ctx.recorder.open()
            with ctx.masks.where_all_hold(known):
                walk()
            arms.append((name, ctx.recorder.close()))
            ctx.scopes.close()
    ctx.recorder.versions("do all masks hold in all of it?", arms)
