"""scf and cf: loops, branches, blocks, calls.

Everything that an operation inside a region may need is computed before the region opens (`Pending.settle`);
what is computed inside is forgotten when it closes.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...errors import LoweringError
from ...facts.motion import added_each_round
from ...facts.rounds import may_be_long
from ...ir.model import Operation, TensorType, Value
from ...spirv.control import For, IfElse, While
from ...spirv.module import Value as Register
from ..context import Context
from ..intel.block_io import prepare_loads
from ..plan.records import Node
from ..products.carried_operands import StagedCarrier, staged_carriers
from ..products.cooperative import TilesCarrier, load_left_matrices, tiles_carrier, without_tiles
from ..products.tiles import Tiles
from ..products.zeroed_sums import ZeroedCarrier, zeroed_carrier
from ..registry import lowers
from ..stop_word import goes_on
from ..values.tensor import Bound
from .blocks import run_function
from .carry import Carrier, MovingCarrier, StoredCarrier, can_move, carrier_of, moved_on, write_stored
from .interchange import interchanged, plan_interchange

#: Of a tensor, or of one that a loop keeps in matrices or in two copies, or begins with zero.
EdgeCarrier = Carrier | TilesCarrier | StagedCarrier | ZeroedCarrier


def _split(registers: Sequence[Register], carriers: Sequence[EdgeCarrier],
           counts: Sequence[int]) -> list[Bound | Tiles]:
    """Bound values from the concatenated registers of all carriers."""
    bound, start = [], 0
    for carrier, count in zip(carriers, counts, strict=True):
        bound.append(carrier.bound(registers[start:start + count]))
        start += count
    return bound


def _pack(
    ctx: Context, carriers: Sequence[EdgeCarrier], values: Sequence[Bound | Tiles]
) -> tuple[list[Register], list[int]]:
    """All registers that cross an edge, and how many each carrier has; arrays are written last, when nothing
    reads them any more, and sums are those of the next round when all arrays are written.
    """
    pairs = list(zip(carriers, values, strict=True))
    parts = [carrier.registers(value) for carrier, value in pairs]  # type: ignore[arg-type]  # of its own form
    write_stored(ctx, [(carrier.array, value) for carrier, value in pairs  # type: ignore[misc]  # a tensor's
                       if isinstance(carrier, StoredCarrier)])
    for carrier, value in pairs:
        if isinstance(carrier, ZeroedCarrier):
            carrier.goes_on(value)
    return [x for part in parts for x in part], [len(part) for part in parts]


@lowers("scf.for")
def for_loop(
    ctx: Context, op: Operation, lower: Register, upper: Register, step: Register, init: tuple[Bound, ...]
) -> tuple[Bound, ...]:
    """A counted loop with carried values."""
    b = ctx.b
    ctx.pending.settle(memory_only=False)
    within = plan_interchange(ctx, op, init)
    if within is not None:
        return interchanged(ctx, op, within, lower, upper, step, init)
    body = op.regions[0].entry
    carriers: list[EdgeCarrier] = []
    chains: list[list[Value] | None] = []
    load_left_matrices(ctx, op)
    staged = staged_carriers(ctx, op)
    for i, (value, bound) in enumerate(zip(body.arguments[1:], init, strict=True)):
        if i in staged:
            chains.append(None)
            carriers.append(staged[i])
            continue
        carrier: EdgeCarrier | None = None
        chain = None
        if (isinstance(value.type, TensorType) and can_move(bound, ctx)
                and ctx.target.optimises("displacements")):
            chain = added_each_round(op, i)
            carrier = None if chain is None else MovingCarrier(ctx, bound)
        chains.append(chain)
        carriers.append(carrier or tiles_carrier(ctx, op, i, bound) or zeroed_carrier(ctx, op, i)
                        or carrier_of(ctx, value.type))
    starts = [carrier.start() if isinstance(carrier, (MovingCarrier, ZeroedCarrier)) else bound
              for carrier, bound in zip(carriers, init, strict=True)]
    prepare_loads(ctx, body, init, chains)
    registers, counts = _pack(ctx, carriers, starts)
    signed = not op.attributes.get("unsignedCmp", False)
    keeps = ctx.target.has("keeps_loops") and any(inner.has("product") for inner in op.walk())
    ends = ctx.kernel.stops_rounds and may_be_long(op)
    loop = For(b.module, lower, upper, step, carried=registers, signed=signed,
               control="DontUnroll" if keeps else "None",
               goes_on=lambda test: goes_on(ctx, test) if ends else test)
    for copies in staged.values():
        if copies.turn is not None:
            ctx.shared.headers[copies.turn.number] = b.module.block.id  # type: ignore[union-attr]
    with loop:
        ctx.scopes.open()
        ctx.recorder.open()
        ctx.bindings.bind(body.arguments[0], loop.index)
        for argument, now in zip(body.arguments[1:], _split(loop.carried, carriers, counts), strict=True):
            ctx.bindings.bind(argument, now)
        terminator = ctx.operations.block(body)
        values: list[Bound | Tiles] = []
        offset = 0
        for chain, count, operand in zip(chains, counts, terminator.operands, strict=True):
            if chain is None:
                values.append(ctx.bindings.value(operand))
            else:
                values.append(moved_on(ctx, loop.carried[offset], chain))
            offset += count
        following, _ = _pack(ctx, carriers, values)
        ctx.operations.leave(terminator)
        ctx.scopes.close()
        loop.yield_(following)
    ctx.recorder.region(op, ("body", ctx.recorder.close()), loops=True)
    results = _split(loop.results, carriers, counts)
    for copies in staged.values():
        copies.release()
    return tuple(without_tiles(ctx, x, value.type) for x, value in zip(results, op.results, strict=True))


@lowers("scf.if")
def if_(ctx: Context, op: Operation, condition: Register) -> tuple[Bound | Tiles, ...]:
    """A branch on a scalar, with results from either side."""
    ctx.pending.settle(memory_only=False)
    carriers = [carrier_of(ctx, value.type) for value in op.results]
    branch = IfElse(ctx.b.module, condition)
    counts: list[int] = []
    arms: list[tuple[str, tuple[Node, ...]]] = []
    for arm, region in (
        (branch.then, op.regions[0]),
        (branch.otherwise, op.regions[1] if len(op.regions) > 1 else None),
    ):
        with arm():
            ctx.recorder.open()
            if region is not None and region.blocks:
                ctx.scopes.open()
                terminator = ctx.operations.block(region.entry)
                registers, counts = _pack(ctx, carriers, [ctx.bindings.value(v) for v in terminator.operands])
                ctx.operations.leave(terminator)
                ctx.scopes.close()
                branch.yield_(registers)
            arms.append(("otherwise" if arms else "then", ctx.recorder.close()))
    ctx.recorder.region(op, *arms)
    return tuple(_split(branch.results, carriers, counts))


@lowers("scf.while")
def while_loop(ctx: Context, op: Operation, init: tuple[Bound, ...]) -> tuple[Bound | Tiles, ...]:
    """`before` computes the condition and what it forwards; `after` computes the next iteration's values."""
    ctx.pending.settle(memory_only=False)
    before, after = (region.entry for region in op.regions)
    carriers = [carrier_of(ctx, value.type) for value in op.init]
    registers, counts = _pack(ctx, carriers, init)
    loop = While(ctx.b.module, carried=registers)
    forward = [carrier_of(ctx, value.type) for value in op.results]
    ctx.scopes.open()
    ctx.recorder.open()
    with loop.before():
        for argument, bound in zip(before.arguments, _split(loop.carried, carriers, counts), strict=True):
            ctx.bindings.bind(argument, bound)
        condition = ctx.operations.block(before)
        go_on, *values = condition.operands
        forwarded, forward_counts = _pack(ctx, forward, [ctx.bindings.value(v) for v in values])
        loop.condition(goes_on(ctx, ctx.bindings.scalar(go_on)), forwarded)
    before_body = ctx.recorder.close()
    ctx.recorder.open()
    with loop.body():
        for argument, bound in zip(
            after.arguments, _split(loop.arguments, forward, forward_counts), strict=True
        ):
            ctx.bindings.bind(argument, bound)
        terminator = ctx.operations.block(after)
        following, _ = _pack(ctx, carriers, [ctx.bindings.value(v) for v in terminator.operands])
        ctx.operations.leave(condition)
        ctx.operations.leave(terminator)
        loop.yield_(following)
    ctx.recorder.region(op, ("before", before_body), ("after", ctx.recorder.close()), loops=True)
    ctx.scopes.close()
    return tuple(_split(loop.results, forward, forward_counts))


@lowers("scf.execute_region")
def execute_region(ctx: Context, op: Operation) -> tuple[Bound, ...]:
    """A region run once, in place."""
    ctx.recorder.open()
    terminator = ctx.operations.block(op.regions[0].entry)
    ctx.recorder.region(op, ("body", ctx.recorder.close()))
    return tuple(ctx.bindings.value(v) for v in terminator.operands)


# --- calls --------------------------------------------------------------------------------------------------


#: Operations of called functions, each as often as it is lowered: a driver takes minutes to build so many.
MOST_CALLED = 100_000


@lowers("tt.call")
def call(ctx: Context, op: Operation, arguments: tuple[Bound, ...]) -> tuple[Bound, ...]:
    """A function is lowered in place, so two calls of one that calls another twice are four of that; a
    recursive one is refused, and too many."""
    name = op.attributes["callee"]
    if name in ctx.bindings.names:
        raise LoweringError(f"{name} calls itself; recursion has no rule: write a loop",
                            f"{op.location}: tt.call")
    function = ctx.kernel.functions[name]
    if not function.regions:
        raise LoweringError(f"{name} has no body in this module")
    ctx.bindings.operations += sum(len(block.operations) for block in function.regions[0].blocks)
    if ctx.bindings.operations > MOST_CALLED:
        raise LoweringError(f"calls are inlined, which gives more than {MOST_CALLED} operations here: call "
                            f"{name} less often, or in a loop; or do so with the function that calls it")
    ctx.pending.settle(memory_only=False)
    with ctx.bindings.entered(name):
        ctx.recorder.open()
        for parameter, bound in zip(function.regions[0].entry.arguments, arguments, strict=True):
            ctx.bindings.bind(parameter, bound)
        results = run_function(ctx, function.regions[0], [value.type for value in op.results])
        ctx.pending.settle(memory_only=True)  # the caller's writes wait for its own loads only, not for these
        ctx.recorder.region(op, (name, ctx.recorder.close()))
    return tuple(results)
