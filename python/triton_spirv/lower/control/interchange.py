"""A loop inside a walk, in place of a walk inside a loop.

    for k: total += load(rows, k + columns)         with `total` too large for registers

Carried in an array, `total` is walked in each round, row after row of the tile, and memory is read in pieces
as long as such a row. Where each element of what a loop carries is made of the same element of the round
before (facts/rounds_apart.py), the walk may be the outer loop. Each turn takes one row of the tile through
all rounds, and so reads a row of memory from its beginning to its end. Sums stay in registers where these
hold the row, else in the row's part of the array, which is walked in each round.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from math import prod

from ...facts.motion import Round, added_each_round, motion
from ...facts.rounds import may_be_long
from ...facts.rounds_apart import has_rounds_apart
from ...facts.slopes import number
from ...ir.model import Operation, TensorType, Value
from ...layout import Layout, row_major
from ...spirv.control import For
from ...spirv.module import Value as Register
from ..addresses.masks import guarded
from ..context import CHEAP, Context, StepLoop
from ..operations import LOAD_DEPTH
from ..plan.records import Interchange
from ..registry import RULES
from ..stop_word import goes_on
from ..values.tensor import DEEP, Bound, Deferred, Fragment, Stored, Tensor, Window, depth_of
from ..values.types import pointee_of, storage_bytes
from .carry import Carrier, MovingCarrier, ScalarCarrier, StoredCarrier, can_move, moved_on

#: Of all registers those that a row may have: the others are for what a round computes. Two tensors in 32 of
#: 32 took 1.4 times as long as in arrays, three in 24 six tenths.
FOR_A_ROW = 3 / 4

#: So many rows are better read one after the other. Of 8 in pieces of 256 bytes, or beside a tensor that they
#: share, all at once took two thirds to nine tenths of the time where data lay in memory, of 2 in pieces of
#: 1 kB as long; in the caches 1.3 to 2 times as long.
MANY_ROWS, LONG_PIECE = 16, 1024


def plan_interchange(ctx: Context, op: Operation, init: Sequence[Bound]) -> Interchange | None:
    """Decide whether a loop runs inside the walk over what it carries."""
    arguments = op.regions[0].entry.arguments[1:]
    if not all(map(ctx.target.optimises, ("interchange", "chains"))) or ctx.layouts.brief:
        return None
    tensors = {i: value.type for i, value in enumerate(arguments)
               if isinstance(value.type, TensorType) and _chain(ctx, op, i, init[i]) is None}
    if not tensors or not has_rounds_apart(op, tensors) or not _is_light(ctx, op):
        return None
    shape = next(iter(tensors.values())).shape
    layout = ctx.layouts.default(shape)
    row = shape[-1]
    if not layout.step or layout.lane or shape in ctx.kernel.across or row == layout.numel:
        return None
    if not _reads_rows(op, shape):
        return None
    window = max(row // layout.width, ctx.target.window)
    if window <= ctx.target.max_registers and _held(window, layout, tensors.values()) <= (
            FOR_A_ROW * ctx.target.registers):
        layout = row_major(shape, ctx.target.vector_width, ctx.target.max_registers, window)
    return Interchange(op, tuple(tensors), layout, sum(basis < row for basis in layout.step))


def _chain(ctx: Context, op: Operation, place: int, bound: Bound) -> list[Value] | None:
    """The scalars that each round adds to a carried tensor, if that is all that becomes of it."""
    moves = can_move(bound, ctx) and ctx.target.optimises("displacements")
    return added_each_round(op, place) if moves else None


def _held(window: int, layout: Layout, types: Collection[TensorType]) -> float:
    """The vectors of 16 f32 that registers of these tensors are."""
    return sum(window * layout.width * max(4, storage_bytes(type.element)) / 64 for type in types)


def _reads_rows(op: Operation, shape: tuple[int, ...]) -> bool:
    """Is it rows that the loop reads, each round on where the one before ended, and are they better read one
    after the other?

    A processor foresees what comes next of few rows at once, but not of many. A tensor that all rows of the
    tile share is read again for each of them.
    """
    body = op.regions[0].entry
    types = {inner: inner.ptr.type for inner in body.operations if inner.has("loads")
             and isinstance(inner.ptr.type, TensorType)}
    own = {load: type for load, type in types.items() if type.shape == shape}
    moved = [number(motion(load.ptr, Round(body), hint=True).slope) for load in own]
    if not own or not all(each is not None and 0 < each <= shape[-1] for each in moved):
        return False
    if prod(shape[:-1]) >= MANY_ROWS:
        return True
    return len(own) == len(types) and all(
        shape[-1] * storage_bytes(pointee_of(type)) >= LONG_PIECE for type in own.values())


def _is_light(ctx: Context, op: Operation) -> bool:
    """Is a round's work on smaller tensors, which each row does again, next to nothing? And may all that it
    computes wait for the end of the round?"""
    body = op.regions[0].entry
    most = max(value.type.numel for value in body.arguments if isinstance(value.type, TensorType))
    above = own = 0
    weights: dict[Value, int] = {}
    for inner in body.operations[:-1]:
        own += LOAD_DEPTH if inner.has("loads") else 1
        outside = [ctx.bindings.value(operand) for operand in inner.operands if operand.block is not body]
        above = max([above, *map(depth_of, outside)])
        for result in inner.results:
            small = isinstance(result.type, TensorType) and 1 < result.type.numel < most
            weights[result] = 0 if inner.has("loads") else RULES[inner.name].weight * small + sum(
                weights.get(operand, 0) for operand in inner.operands)
            if small and weights[result] > CHEAP:
                return False
    return above + own <= DEEP


def interchanged(ctx: Context, op: Operation, plan: Interchange, lower: Register, upper: Register,
                 step: Register, init: Sequence[Bound]) -> tuple[Bound, ...]:
    """The loop as planned -> its results."""
    return _Interchanged(ctx, op, plan, init).lower(lower, upper, step)


class _Interchanged:
    """carriers: of what the loop carries, in order. starts: the registers in which scalars, and
    displacements, come to the first round of each row; of tensors there are none."""

    def __init__(self, ctx: Context, op: Operation, plan: Interchange, init: Sequence[Bound]) -> None:
        self.ctx, self.op, self.plan, self.layout = ctx, op, plan, plan.layout
        self.body = op.regions[0].entry
        self.carriers: list[Carrier] = []
        self.starts: list[list[Register]] = []
        self.arrays: list[Stored] = []
        self.initial: list[Tensor] = []
        for i, (value, bound) in enumerate(zip(self.body.arguments[1:], init, strict=True)):
            self._add(i, value, bound)

    def _add(self, place: int, value: Value, bound: Bound) -> None:
        ctx = self.ctx
        start: list[Register] = []
        carrier: Carrier
        if place in self.plan.carried:
            assert isinstance(value.type, TensorType) and not isinstance(bound, Register)
            self.arrays.append(ctx.arrays.allocate(value.type.shape, value.type.element))
            self.initial.append(bound)
            carrier = StoredCarrier(self.arrays[-1], ctx.recorder)
        elif isinstance(value.type, TensorType):
            assert can_move(bound, ctx)
            carrier = MovingCarrier(ctx, bound)
            start = [carrier.start()]
        else:
            carrier = ScalarCarrier(ctx, value.type)
            start = carrier.registers(bound)
        self.carriers.append(carrier)
        self.starts.append(start)

    def lower(self, lower: Register, upper: Register, step: Register) -> tuple[Bound, ...]:
        """The walk -> the results of the loop."""
        ctx, layout, inner = self.ctx, self.layout, self.plan.inner
        self._spill()
        ctx.recorder.add(self.plan)
        with ctx.layouts.walked(layout):
            walk = ctx.walks.plan(self.op, [(tensor, layout) for tensor in self.initial])
            walk.keep_nothing()
            with StepLoop(ctx.walks, len(layout.step) - inner,
                          [x for start in self.starts for x in start]) as turns:
                with StepLoop(ctx.walks, inner):
                    entering = [ctx.evaluation.fragment(tensor, layout) for tensor in self.initial]
                    if inner:
                        self._write(entering)
                left, row = self._rounds(lower, upper, step, [] if inner else entering)
                self._write(row)
                turns.yield_(left)
            ctx.walks.finish(walk)
        rest = iter(turns.results)
        return tuple(carrier.array if isinstance(carrier, StoredCarrier)
                     else carrier.bound([next(rest) for _ in start])
                     for carrier, start in zip(self.carriers, self.starts, strict=True))

    def _rounds(self, lower: Register, upper: Register, step: Register, entering: Sequence[Fragment]
                ) -> tuple[list[Register], list[Fragment]]:
        """All rounds of a row, which comes in registers or in arrays -> what is left of scalars, and the
        registers of the row."""
        ctx, op = self.ctx, self.op
        scalars = [x for start in self.starts for x in start]
        ends = ctx.kernel.stops_rounds and may_be_long(op)
        loop = For(ctx.b.module, lower, upper, step,
                   carried=[*scalars, *(x for fragment in entering for x in fragment.registers)],
                   signed=not op.attributes.get("unsignedCmp", False),
                   goes_on=lambda test: goes_on(ctx, test) if ends else test)
        with loop:
            ctx.scopes.open()
            ctx.recorder.open()
            windows = [Window(self.layout, array.element) for array in self.arrays]
            self._bind(loop, windows)
            with ctx.operations.waiting(), ctx.walks.none():
                terminator = ctx.operations.block(self.body)
                following = [ctx.bindings.value(value) for value in terminator.operands]
                with StepLoop(ctx.walks, self.plan.inner):
                    here = self._fragments(loop.carried[len(scalars):]) if entering else [
                        ctx.arrays.read(array, self.layout) for array in self.arrays]
                    for window, fragment in zip(windows, here, strict=True):
                        window.fragment, window.turn = fragment, tuple(ctx.indices.pieces)
                    made = self._round(following)
                    if not entering:
                        self._write(self._fragments(made))
            left = self._scalars(loop, following)
            ctx.operations.leave(terminator)
            ctx.scopes.close()
            loop.yield_([*left, *(made if entering else [])])
        ctx.recorder.region(op, ("body", ctx.recorder.close()), loops=True)
        row = self._fragments(loop.results[len(scalars):]) if entering else []
        return list(loop.results[:len(scalars)]), row

    def _bind(self, loop: For, windows: Sequence[Window]) -> None:
        """The arguments of the body, in one round."""
        count, *arguments = self.body.arguments
        self.ctx.bindings.bind(count, loop.index)
        carried, rest = iter(loop.carried), iter(windows)
        for carrier, argument, start in zip(self.carriers, arguments, self.starts, strict=True):
            self.ctx.bindings.bind(argument, next(rest) if isinstance(carrier, StoredCarrier) else
                                   carrier.bound([next(carried) for _ in start]))

    def _round(self, following: Sequence[Bound]) -> list[Register]:
        """The registers of all tensors for the next round."""
        ctx, layout = self.ctx, self.layout
        wanted = [(value, layout) for value, carrier in zip(following, self.carriers, strict=True)
                  if isinstance(carrier, StoredCarrier) and not isinstance(value, Register)]

        def evaluate() -> list[Register]:
            return [x for value, _ in wanted for x in ctx.evaluation.fragment(value, layout).registers]
        return guarded(ctx, wanted, [], evaluate)

    def _scalars(self, loop: For, following: Sequence[Bound]) -> list[Register]:
        """Those of the next round, and displacements."""
        carried = iter(loop.carried)
        left: list[Register] = []
        for carrier, value, operand in zip(self.carriers, following, range(len(following)), strict=True):
            if isinstance(carrier, MovingCarrier):
                chain = added_each_round(self.op, operand)
                assert chain is not None
                left.append(moved_on(self.ctx, next(carried), chain))
            elif not isinstance(carrier, StoredCarrier):
                next(carried)
                left += carrier.registers(value)
        return left

    def _fragments(self, registers: Sequence[Register]) -> list[Fragment]:
        """One of each tensor."""
        rest: Iterator[Register] = iter(registers)
        return [Fragment(self.layout, array.element, tuple(next(rest) for _ in range(self.layout.registers)))
                for array in self.arrays]

    def _write(self, fragments: Sequence[Fragment]) -> None:
        for array, fragment in zip(self.arrays, fragments, strict=bool(fragments)):
            self.ctx.arrays.write(array, fragment)

    def _spill(self) -> None:
        """Put small tensors that the rounds take parts of into arrays, once."""
        left: list[object] = [self.ctx.bindings.value(operand) for inner in self.body.operations
                              for operand in inner.operands if operand.block is not self.body]
        seen: set[int] = set()
        while left:
            tensor = left.pop()
            if id(tensor) in seen:
                continue
            seen.add(id(tensor))
            if isinstance(tensor, Deferred):
                left += tensor.operands if tensor.evaluated is None else [tensor.evaluated]
            elif isinstance(tensor, Fragment) and tensor.layout.numel > 1:
                self.ctx.arrays.spill(tensor)
