"""Combiners that branch, on whole vectors: both sides are computed, and selected by component.

That is right where neither side has an effect, and cheap where they are short; other combiners run once per
component, with real branches.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.model import Block, Operation, Region, Value
from ...spirv.module import Value as Register
from ..context import Context
from ..registry import RULES

#: operations, both sides of every branch counted: about what calling a branch per component of a vector costs
MOST = 48


def is_branchless(region: Region, functions: Mapping[str, Operation]) -> bool:
    """Can `run_branchless` run it, and is it short?"""
    return _cost(region.entry, functions, (region.entry,)) <= MOST


def _cost(block: Block, functions: Mapping[str, Operation], around: tuple[Block, ...]) -> int:
    """Operations on every way from here to a return; MOST + 1 where there are more, or one that is none."""
    cost = len(block.operations)
    for op in block.operations:
        inner: list[Block] = []
        if op.name == "scf.if":
            inner = [region.entry for region in op.regions if region.blocks]
        elif op.has("calls"):
            inner = [functions[op.attributes["callee"]].regions[0].entry]
        elif op.successors and op.name != "cf.switch":
            inner = op.successors
        elif not ((op.has("terminator") and not op.successors) or op.has("constant")
                  or (op.name in RULES and RULES[op.name].kind == "elementwise")):
            return MOST + 1
        for next_block in inner:
            if cost > MOST or next_block in around:  # a function that calls itself, a block that jumps back
                return MOST + 1
            cost += _cost(next_block, functions, (*around, next_block))
    return min(cost, MOST + 1)


def run_branchless(ctx: Context, block: Block, arguments: Sequence[Register]) -> list[Register]:
    """What the region, or the function, returns from this block on; arguments of any width."""
    ctx.bindings.frame.values.update(zip(block.arguments, arguments, strict=True))
    for op in block.operations[:-1]:
        if op.name == "scf.if":
            _bind(ctx, op.results, _if(ctx, op))
        elif op.has("calls"):
            _bind(ctx, op.results, _call(ctx, op))
        else:
            ctx.operations.lower(op)
    end = block.operations[-1]
    if end.name == "cf.br":
        return run_branchless(ctx, end.successors[0], _values(ctx, end.operands))
    if end.name != "cf.cond_br":
        return _values(ctx, end.operands)
    ways = [_values(ctx, given) for given in (end.true_dest_operands, end.false_dest_operands)]
    condition = ctx.bindings.scalar(end.operands[0])
    return _selected(ctx, condition, *(run_branchless(ctx, successor, given)
                                       for successor, given in zip(end.successors, ways, strict=True)))


def _if(ctx: Context, op: Operation) -> list[Register]:
    condition = ctx.bindings.scalar(op.operands[0])
    return _selected(ctx, condition, *(run_branchless(ctx, region.entry, []) if region.blocks else []
                                       for region in op.regions))


def _call(ctx: Context, op: Operation) -> list[Register]:
    arguments = _values(ctx, op.operands)
    name = op.attributes["callee"]
    with ctx.bindings.entered(name):
        return run_branchless(ctx, ctx.kernel.functions[name].regions[0].entry, arguments)


def _selected(ctx: Context, condition: Register, then: list[Register],
              otherwise: list[Register]) -> list[Register]:
    return [ctx.b.select(condition, x, y) for x, y in zip(then, otherwise, strict=True)]


def _values(ctx: Context, operands: Sequence[Value]) -> list[Register]:
    return [ctx.bindings.scalar(value) for value in operands]


def _bind(ctx: Context, results: Sequence[Value], registers: Sequence[Register]) -> None:
    ctx.bindings.frame.values.update(zip(results, registers, strict=True))
