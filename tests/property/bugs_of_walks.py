"""Mistakes in what the emitter decides: what is kept and where, what a mask or a fact proves, when lanes
wait; and mends taken back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from property.bugs import LARGE
from property.planting import Bug, Set, entry, like, on, rule, within
from property.positions import WRAPPING

STORES = ("tl.store",)
#: an arm or a loop in which a tensor is used whole
WITHIN = (r"\n    (if|for|while)[^\n]*:\n(        [^\n]*\n)*        [^\n]*"
          r"tl\.(gather|reduce|sum|max|min|arg\w+|associative_scan|cumsum|flip|trans|permute|sort)")
WRAPS = "|".join(map(str, (*WRAPPING, 21474)))  # numbers of masks that wrap


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda right: lambda *arguments, **named: value


def _one_end(put: Set) -> None:
    """The mend of masks taken back: the first test of several, which one end of the window passes."""
    from triton_spirv.lower.addresses import masks

    right = masks._ordered

    def ordered(*arguments: Any, **named: Any) -> Any:
        kept = masks.reduce
        masks.reduce = lambda function, tests: tests[0]  # type: ignore[attr-defined]
        try:
            return right(*arguments, **named)
        finally:
            masks.reduce = kept  # type: ignore[attr-defined]

    put(masks, "_ordered", ordered)


def _kept_memo(put: Set) -> None:
    """What an arm has kept counts as kept behind it."""
    from triton_spirv.lower.walk.scopes import Scopes

    put(Scopes, "close", lambda self: self._open.pop())


def _fewer_barriers(keep: Callable[[int], bool]) -> Callable[[Set], None]:
    def plant(put: Set) -> None:
        from triton_spirv.lower.lanes import shared

        right = shared.needed_barriers

        def needed(*arguments: Any) -> Any:
            found = right(*arguments)
            return {place: width for i, (place, width) in enumerate(found.items()) if keep(i)}

        put(shared, "needed_barriers", needed)
    return plant


def _unseen_global(put: Set) -> None:
    """Accesses of global memory never meet."""
    from triton_spirv.lower.lanes.meeting import Global

    put(Global, "overlaps", lambda self, other: False)


def _no_order(put: Set) -> None:
    """An operation that releases does not wait for what was written before."""
    from triton_spirv.lower.lanes.shared import SharedMemory

    right = SharedMemory.touches
    put(SharedMemory, "touches",
        lambda self, op, ptr, writes, layout, releases=False, acquires=False, again=False: right(
            self, op, ptr, writes, layout, False, acquires, again))


def _one_axis(put: Set) -> None:
    from triton_spirv.lower.program import program_id as spmd

    put(spmd.AXES, "y", 0)


def _loads_beyond_atomics(put: Set) -> None:
    from triton_spirv.lower.memory import atomic

    right = atomic.each

    def each(ctx: Any, *arguments: Any, **named: Any) -> Any:
        settle = ctx.pending.settle
        ctx.pending.settle = lambda *a, **n: None
        try:
            return right(ctx, *arguments, **named)
        finally:
            ctx.pending.settle = settle

    put(atomic, "each", each)


def _less_tail(right: Any) -> Any:
    """A reduction over one lane bit less."""
    def reduce_lanes(ctx: Any, region: Any, layout: Any, rows: Any, mask: int) -> Any:
        lanes = tuple(0 if i == len(layout.lane) - 1 else basis for i, basis in enumerate(layout.lane))
        return right(ctx, region, replace(layout, lane=lanes), rows, mask)
    return reduce_lanes


def _instead(name: str, wrong: Any) -> Callable[[Any], Any]:
    """A function of (name, type) that is wrong for one name."""
    return lambda right: lambda other, type: wrong if other == name else right(other, type)


def _first_only(right: Any) -> Any:
    return lambda ctx, layout, bit, zeros, ones: zeros


def _apart(right: Any) -> Any:
    """Where it is to be tested when running, it counts as true."""
    def apart(ctx: Any, *arguments: Any) -> Any:
        from triton_spirv.spirv.types import Bool

        found = right(ctx, *arguments)
        return None if found is None else replace(found, safe=ctx.b.constant(Bool(), True))
    return apart


def _as_signed(right: Any) -> Any:
    """Integers become floats by the rule's way for signed ones."""
    def converted(ctx: Any, op: Any, value: Any) -> Any:
        signed = SimpleNamespace(name="arith.sitofp", operands=op.operands, results=op.results)
        return right(ctx, signed, value)
    return converted


def _untransposed(right: Any) -> Any:
    """Square ones stay as they are."""
    def source(op: Any, layout: Any) -> Any:
        return layout if op.src.type == op.results[0].type else right(op, layout)
    return source


WALKS = "walk.walks"
LATER = "walk.later_uses"
KEPT = "walk.open_walks"

BUGS: tuple[Bug, ...] = (
    # mends taken back
    Bug("a mask is proven by one end of a window", _one_end, ("mask=", WRAPS, *LARGE)),
    Bug("a by-product that a path does not ask for is not written there",
        within(WALKS, "Walks.complete", _always(None)), LARGE),
    Bug("a by-product is written on one path only", within(KEPT, "OpenWalks.in_every_turn", _always(True)),
        LARGE),
    Bug("what an arm has kept counts as kept behind it", _kept_memo, (WITHIN,)),
    # what is kept, and where
    Bug("a by-product is never written", within(KEPT, "OpenWalks.write", lambda right: (
        lambda self, walk, node, made: self._scopes.innermost.written.add((walk, node)))), LARGE),
    Bug("an array is taken over while something reads it", within(
        LATER, "LaterUses.feeds_only", _always(True)), LARGE),
    Bug("an array that is needed later is taken over", within(LATER, "LaterUses.needs", _always(False)),
        LARGE),
    Bug("a value dies with its first reader", within(LATER, "LaterUses.is_done", _always(True)), LARGE),
    Bug("carried arrays are replaced one by one", within("control.carry", "_reads_elsewhere", _always(False)),
        ("for |while ", *LARGE)),
    Bug("values are computed in the order of another's walk",
        within("walk.requests", "Requests.is_astray", _always(False)), LARGE),
    # what a mask, a span or a fact proves
    Bug("a mask counts as proven where another is", within("known_masks", "KnownMasks.holds",
        lambda right: lambda masks, mask, layout: any(masks.holding)), ("mask=", *LARGE)),
    Bug("loads and a store are apart", within("memory.hazard", "apart", _apart), (*STORES, *LARGE)),
    Bug("accesses walk alike whatever their strides", within("memory.hazard", "_same_walk", _always(True)),
        (*STORES, *LARGE)),
    Bug("a run is two elements long at least", within("addresses.transfers", "run_length", lambda right: (
        lambda pointers, layout: max(2, right(pointers, layout)))), ("tl.load|tl.store",)),
    # indices and views
    Bug("a product of an index keeps its stride", within("arithmetic.symbolic", "_scaled", lambda right: (
        lambda ctx, stride, factor: stride)), (r"\* (\d|n)",)),
    Bug("a square transposition is none", within("tensors.view", "_trans_source", _untransposed),
        ("permute|trans|[.]T",)),
    Bug("a join takes its first half twice", within("tensors.view", "_choose", _first_only),
        ("join|interleave|cat",)),
    # conversions and comparisons
    Bug("unsigned integers widen with their sign", like("arith.extui", "arith.extsi"), ("uint|int1",)),
    Bug("unsigned integers become floats as if signed", rule("arith.uitofp", _as_signed),
        (on(r"\.to\(tl\.b?float", "u"),)),
    Bug("signed >= is >", entry("COMPARE_INTEGERS", "sge", "OpSGreaterThan"), (on(">=", "i"),)),
    Bug("signed <= is unsigned", entry("COMPARE_INTEGERS", "sle", "OpULessThanEqual"),
        (on(r"^\w+ <= \w+$", "i"),)),
    Bug("the smaller integer is the unsigned one", entry("INTEGER_FUNCTION", "arith.minsi", "u_min"),
        ("minimum|smallest|clamp",)),
    Bug("the smaller float is the larger", entry("FLOAT_FUNCTION", "arith.minnumf", "fmax"),
        ("minimum|smallest|clamp",)),
    Bug("a xor of flags is an or", entry("BITWISE", "arith.xori", ("OpBitwiseXor", "OpLogicalOr")),
        (r"\^|xor",)),
    Bug("a left shift goes right", entry("INTEGER", "arith.shli", "OpShiftRightLogical"), ("<<",)),
    Bug("|x| of floats is x", entry("FLOAT_FUNCTION", "math.absf", "trunc"), ("tl.abs",)),
    Bug("floor rounds toward zero", entry("FLOAT_FUNCTION", "math.floor", "trunc"), ("floor",)),
    # axes, products, atomics
    Bug("the identity of the maximum is 0", within("tensors.reduce", "identity", _instead("arith.maxsi", 0)),
        ("largest|tl.max", *LARGE)),
    Bug("the identity of a product is 0", within("tensors.reduce", "identity", _instead("arith.muli", 0)),
        ("mul", *LARGE)),
    Bug("block scales are one power off", within("products.dot_scaled", "scale_to_f32", lambda right: (
        lambda ctx, scale, type: right(ctx, ctx.b.iadd(scale, 1), type))), ("dot_scaled",)),
    Bug("an atomic forgets its mask", within("memory.atomic", "_both", lambda right: lambda ctx, x, y: x),
        ("tl.atomic.*mask",)),
    Bug("loads wait beyond an atomic", _loads_beyond_atomics, ("tl.atomic",)),
    Bug("programs along y have the number along x", _one_axis, (r"program_id\(1",)),
    # lanes and warps
    Bug("the first barrier is missing", _fewer_barriers(lambda i: i != 0), (), "simt8"),
    Bug("every second barrier is missing", _fewer_barriers(lambda i: i % 2 == 0), (), "simt8"),
    Bug("accesses of global memory never meet", _unseen_global, STORES, "simt8"),
    Bug("what is published need not be written", _no_order, ("atomic_xchg",), "machine-simt32"),
    Bug("a reduction forgets the last lanes", within("tensors.reduce", "_reduce_lanes", _less_tail),
        ("reduce|tl.sum|tl.max|tl.min|argm",), "simt8"),
    Bug("a scalar atomic is made by every lane", within("memory.atomic", "acting", _always(None)),
        ("tl.atomic",), "simt8"),
    Bug("what one lane knows is not handed on", within("memory.atomic", "from_owner", lambda right: (
        lambda ctx, value, *bits: value)), ("tl.atomic",), "simt8"),
    Bug("the lanes of a gather read the even one", within("tensors.gather", "_places", lambda right: (
        lambda ctx, *rest: [ctx.b.iand(x, -2) for x in right(ctx, *rest)])), ("tl.gather",), "simt32"),
)
