"""Tiles of a product that go straight to memory, in the last round of its loop, or without a loop at once.

The sums of a block lie in an array, which is in the second cache at best, and a walk behind the loop carries
them to memory: a tenth of the time of a product of few rounds, or a third. In the last round a tile is ready
when it leaves its registers. If the mask of the store holds everywhere, and the store's memory lies apart
from that of what is still read while tiles are multiplied, each is stored at once, and the walk does
nothing. All of that is found out when the kernel runs; tiles go to the array in all other rounds.

facts/destinations.py says of which loops that may be asked; passes/early_addresses.py brings what is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from ...dataclass import dataclass
from ...facts.destinations import LastRound, last_round
from ...ir.model import Operation
from ...layout import Layout
from ...spirv.builder import I32, I64, width_of
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ..addresses.access import STREAMED_VECTOR, is_large_stream
from ..addresses.masks import all_true, is_proven
from ..context import CHEAP, Context
from ..memory.hazard import apart
from ..memory.load import to_memory
from ..plan.accesses import Overlap, StoredEarly
from ..registry import RULES, applied
from ..values.tensor import Affine, Deferred, Pointers, Stored, Tensor
from ..values.types import element_of, shape_of
from ..walk.requests import walk
from .places import Place, element_at


@dataclass(frozen=True)
class Straight:
    """Element (..., row, column) is stored so many elements behind `pointer` as the indices times their
    strides add up to, if `now`, a scalar Bool, holds. done: a variable, 1 from the round on that did so.
    whole: a scalar Bool, does the store's mask hold everywhere? So it was in earlier rounds, too. compares:
    does `now` ask for more than that, in the last round? late: is a tile stored while the next one is
    multiplied?"""

    found: LastRound
    pointer: Register
    strides: Sequence[Register | int]
    now: Register
    done: Register
    whole: Register
    compares: bool
    late: bool = False

    def store(self, ctx: Context, place: Place, values: Sequence[Register],
              rows: int, width: int, stream: bool = False) -> None:
        """A tile from one element on: `values` are vectors of so many components, row by row. stream: past
        the caches."""
        b, env = ctx.b, ctx.env
        first = self.first(ctx, place)
        across = len(values) // rows
        for number, value in enumerate(self._converted(ctx, values)):
            row, vector = divmod(number, across)
            moved = b.iadd(b.imul(b.constant(I64, row), self.strides[-2]), vector * width)
            env.store(env.offset(first, moved), value, stream)

    def store_row(self, ctx: Context, place: Place, values: Sequence[Register],
                  stream: bool, normal: bool) -> None:
        """Part of a row of a tile, from one element on: `values` are vectors of sums, stored two at a time
        where `row_width` says so. stream: past the caches. normal: no value is a denormal number."""
        env, first, width = ctx.env, self.first(ctx, place), width_of(values[0].type)
        made = self._converted(ctx, values, normal)
        step = self.row_width(ctx, len(values) * width, width) // width
        for number in range(0, len(made), step):
            there = env.offset(first, ctx.b.constant(I64, number * width))
            if step == 1:
                env.store(there, made[number], stream)
            else:
                env.store_pair(there, made[number], made[number + 1], stream)

    def row_width(self, ctx: Context, columns: int, width: int) -> int:
        """Elements of a row of a tile that are stored at once, of vectors of so many: two vectors where they
        are half as large as those of the sums."""
        return 2 * width if columns % (2 * width) == 0 and ctx.env.pointee_bytes(self.pointer) == 2 else width

    def _converted(self, ctx: Context, values: Sequence[Register], normal: bool = False) -> list[Register]:
        """What is stored of vectors of sums."""
        if normal and self._is_narrowed_to_bf16 and ctx.env.narrows_normal(values[0].type):
            return [ctx.env.normal_to_bf16(value) for value in values]
        for op in self.found.steps:
            values = applied(ctx, op, [values])
        return [to_memory(ctx, value) for value in values]

    @property
    def _is_narrowed_to_bf16(self) -> bool:
        """From f32, and nothing else?"""
        return [(op.name, str(element_of(op.operands[0].type)), str(element_of(op.results[0].type)))
                for op in self.found.steps] == [("arith.truncf", "f32", "bf16")]

    def first(self, ctx: Context, place: Place) -> Register:
        """A pointer to one element."""
        return element_at(ctx, self.pointer, self.strides, place)

    @property
    def is_as_summed(self) -> bool:
        """Are the sums stored as they are?"""
        return not self.found.steps

    def streams(self, ctx: Context, block: int, width: int) -> Register | None:
        """A scalar Bool: do blocks of so many elements go past the caches, in vectors of so many? None for
        never."""
        b, env, size = ctx.b, ctx.env, ctx.env.pointee_bytes(self.pointer)
        if not ctx.target.stream_bytes or ctx.kernel.has_atomics or width * size < STREAMED_VECTOR:
            return None
        starts = [env.address(self.pointer), *(
            b.imul(b.constant(I64, stride) if isinstance(stride, int) else stride, size)
            for stride in self.strides[:-1])]
        aligned = b.compare("OpIEqual", b.iand(reduce(b.ior, starts), width * size - 1), 0)
        return b.logical_and(aligned, is_large_stream(ctx, self.found.store, block * size))

    def end(self, ctx: Context) -> None:
        """The round has multiplied all tiles."""
        ctx.b.emit("OpStore", self.done, ctx.b.select(self.now, ctx.b.constant(I32, 1), 0))


def straight_to_memory(ctx: Context, op: Operation, sums: Stored, inputs: Sequence[tuple[Tensor, Layout]],
                       needs_loop: bool = False, may_wait: bool = False) -> Straight | None:
    """How tiles of a product that are summed in an array go to memory, if they may; inputs: what is read
    while they are multiplied. needs_loop: not those of a product without a loop. may_wait: tiles that are
    converted are stored while the next ones are multiplied."""
    found = last_round(op)
    if found is None or (needs_loop and found.loop is None):
        return None
    if not ctx.target.optimises("fusion") or not _are_cheap(found.steps):
        return None
    store, values = found.store, ctx.bindings.frame.values
    carried, pointers, mask = values.get(op.c), values.get(store.ptr), values.get(store.mask)
    if found.loop is not None and (not isinstance(carried, Stored) or carried.array is not sums.array):
        return None
    assert not isinstance(mask, Register)
    if not isinstance(pointers, Pointers) or pointers.terms or not isinstance(pointers.affine, Affine):
        return None
    strides, shape = pointers.affine.strides, pointers.shape
    if shape != shape_of(op.results[0].type) or strides[-1] != 1:
        return None
    tests = _tests(ctx, op, found, pointers, mask, inputs)
    if tests is None:
        return None
    now, whole, compared = tests
    late = may_wait and bool(found.steps)
    ctx.recorder.add(StoredEarly(store, op, compared, late))
    if found.loop is None:
        ctx.b.module.functions[-1].begun.add(sums.array.id)
    done = ctx.prepared.stored_early.get(store)
    if done is None:
        done = ctx.prepared.stored_early[store] = ctx.b.module.variable(I32)
        with ctx.b.module.at_entry():
            ctx.b.emit("OpStore", done, ctx.b.constant(I32, 0))
    wide = [x if isinstance(x, int) else ctx.b.resize(x, I64.width) for x in strides]
    return Straight(found, ctx.env.offset(pointers.base, pointers.affine.base), wide, now, done,
                    whole, compared is not None, late)


def _are_cheap(steps: Sequence[Operation]) -> bool:
    entries = [RULES[op.name] for op in steps]
    return all(x.kind == "elementwise" for x in entries) and sum(x.weight for x in entries) <= CHEAP


def _tests(ctx: Context, op: Operation, found: LastRound, pointers: Pointers, mask: Tensor | None,
           inputs: Sequence[tuple[Tensor, Layout]]) -> tuple[Register, Register, Overlap | None] | None:
    """Scalar Bools: is this the last round, does the mask hold everywhere, and does what is stored overwrite
    nothing that is still to be read? And the second of these alone, and what was compared for the third one.
    None where that cannot be told."""
    store, b = found.store, ctx.b
    layout = ctx.layouts.default(pointers.shape)
    holds = b.constant(Bool(), True)
    if store.mask is not None and not is_proven(ctx, mask, layout):
        whole = all_true(ctx, mask, layout.without_steps())
        if whole is None:
            return None
        holds = whole
    now = holds if found.loop is None else b.logical_and(is_last_round(ctx, found.loop), holds)
    ctx.pending.settle(memory_only=True, op=op)
    below = _below(inputs)
    if any(node.operation.has("reads") and not node.operation.has("loads") for node in below):
        return None
    loads = [(node, layouts) for node, layouts in below.items() if node.operation.has("loads")]
    if not loads:
        return now, holds, None
    comparison = apart(ctx, store, pointers, mask, loads, in_step=False)
    if comparison is None:
        return None
    safe = comparison.safe
    return (b.logical_and(now, safe), holds,
            replace(comparison.compared, decided=safe.constant is not None))


def _below(inputs: Sequence[tuple[Tensor, Layout]]) -> dict[Deferred, set[Layout]]:
    """What is not computed yet, with its layouts: also what a walk computes before its turns, since it
    begins when tiles are stored."""
    found: dict[Deferred, set[Layout]] = {}
    seen: set[tuple[Tensor, Layout]] = set()
    for tensor, layout in inputs:
        for node, asked in walk(tensor, layout, seen):
            if node.evaluated is None:
                found.setdefault(node, set()).add(asked)
    return found


def is_last_round(ctx: Context, loop: Operation) -> Register:
    """Will the loop end behind this round? By its own test, of numbers of its own width."""
    b, body = ctx.b, loop.regions[0].entry
    index, upper, step = map(ctx.bindings.scalar, (body.arguments[0], *loop.operands[1:3]))
    signed = not loop.attributes.get("unsignedCmp", False)
    return b.compare("OpSGreaterThanEqual" if signed else "OpUGreaterThanEqual", b.iadd(index, step), upper)
