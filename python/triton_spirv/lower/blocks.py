"""Functions as graphs of basic blocks: cf.br, cf.cond_br, early returns.

Most functions have one block and are lowered in line. Otherwise every block becomes a SPIR-V block; block
arguments become phis, and all returns meet in one block behind the function's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import LoweringError
from ..ir.model import Block, Operation, Region, Type, Value
from ..spirv.module import Label
from ..spirv.module import Value as Register
from .carry import Carrier, StoredCarrier, carrier_of, write_stored
from .context import Context


class Join:
    """A place that several blocks branch to with values: a block and its arguments, or the end of the
    function and its results.
    """

    def __init__(self, ctx: Context, types: Sequence[Type]) -> None:
        self.ctx = ctx
        self.label = ctx.b.module.label()
        self.carriers: list[Carrier] = [carrier_of(ctx, type) for type in types]
        self.phis: list[list[Register]] | None = None
        self.edges: list[tuple[Label, list[list[Register]]]] = []

    def branch(self, values: Sequence[Any]) -> None:
        """Record an edge from the current block; the caller emits the branch itself."""
        parts = self._parts(values)
        write_stored(
            self.ctx,
            [
                (carrier.array, value)
                for carrier, value in zip(self.carriers, values, strict=True)
                if isinstance(carrier, StoredCarrier)
            ],
        )
        self._edge(parts)

    def select(self, condition: Register, values: Sequence[Any], otherwise: Sequence[Any]) -> None:
        """Record one edge for both ways of a conditional branch to the same block."""
        b = self.ctx.b
        self._edge([[b.select(condition, x, y) for x, y in zip(*ways, strict=True)]
                    for ways in zip(self._parts(values), self._parts(otherwise), strict=True)])

    def _parts(self, values: Sequence[Any]) -> list[list[Register]]:
        return [carrier.registers(value) for carrier, value in zip(self.carriers, values, strict=True)]

    def _edge(self, parts: list[list[Register]]) -> None:
        m = self.ctx.b.module
        assert m.block is not None
        self.edges.append((m.block, parts))
        if self.phis is not None:
            self._add(self.edges[-1])

    def begin(self) -> list[Any]:
        """Start the block; the values on this side of the edges."""
        m = self.ctx.b.module
        m.begin(self.label)
        self.phis = [[m.phi(type) for type in carrier.types] for carrier in self.carriers]
        for edge in self.edges:
            self._add(edge)
        return [carrier.bound(phis) for carrier, phis in zip(self.carriers, self.phis, strict=True)]

    def _add(self, edge: tuple[Label, list[list[Register]]]) -> None:
        label, parts = edge
        assert self.phis is not None
        for phis, part in zip(self.phis, parts, strict=True):
            for phi, register in zip(phis, part, strict=True):
                self.ctx.b.module.add_incoming(phi, register, label)


def run_function(ctx: Context, region: Region, result_types: Sequence[Type]) -> list[Any]:
    """Lower the body of a function, or of a combiner, where the module stands now; what it returns.

    Its parameters are bound already.
    """
    if len(region.blocks) == 1:
        terminator = ctx.lower_block(region.entry)
        return [ctx.value(v) for v in terminator.operands]
    m = ctx.b.module
    joins = {block: Join(ctx, [argument.type for argument in block.arguments]) for block in region.blocks[1:]}
    end = Join(ctx, result_types)
    for block in region.blocks:
        if block in joins:
            for argument, bound in zip(block.arguments, joins[block].begin(), strict=True):
                ctx.bind(argument, bound)
        ctx.push_memo()
        terminator = ctx.lower_block(block)
        ctx.settle(memory_only=False)
        _leave(ctx, terminator, joins, end)
        ctx.frame.lowered.add(terminator)
        ctx.pop_memo()
    results = end.begin()
    assert m.block is not None
    return results


def _leave(ctx: Context, op: Operation, joins: dict[Block, Join], end: Join) -> None:
    m = ctx.b.module

    def values(operands: Sequence[Value]) -> list[Any]:
        return [ctx.value(v) for v in operands]

    if op.name.endswith(".return"):
        end.branch(values(op.operands))
        m.emit("OpBranch", end.label)
    elif op.name == "cf.br":
        target = joins[op.successors[0]]
        target.branch(values(op.operands))
        m.emit("OpBranch", target.label)
    elif op.name == "cf.cond_br":
        ways = [joins[block] for block in op.successors]
        arguments = [values(op.true_dest_operands), values(op.false_dest_operands)]
        if any(isinstance(c, StoredCarrier) for way in ways for c in way.carriers):
            raise LoweringError(
                f"{op.location}: cf.cond_br with large tensors as block arguments has no rule; return once, at the end"  # noqa: E501
            )
        if ways[0] is ways[1]:
            ways[0].select(ctx.value(op.operands[0]), *arguments)
            m.emit("OpBranch", ways[0].label)
            return
        for way, given in zip(ways, arguments, strict=True):
            way.branch(given)
        m.emit("OpBranchConditional", ctx.value(op.operands[0]), ways[0].label, ways[1].label)
    else:
        raise LoweringError(f"{op.location}: {op.name} ends a block and has no rule")
