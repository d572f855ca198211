"""Running a region of scalar operations (a combiner) on registers of any width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..ir.model import Region, Type
from ..spirv.builder import width_of
from ..spirv.module import Value as Register
from .blocks import run_function
from .context import Context
from .registry import RULES


def combine(ctx: Context, region: Region, arguments: Sequence[Register]) -> list[Register]:
    """The region's result registers for these arguments.

    Element by element operations run on whole vectors; a region with control flow or calls runs once per
    component.
    """
    width = max(width_of(x.type) for x in arguments)
    if width > 1 and not is_elementwise(region):
        columns = [combine(ctx, region, [ctx.b.extract(x, c) for x in arguments]) for c in range(width)]
        return [ctx.b.construct(list(row)) for row in zip(*columns, strict=True)]
    for value, bound in zip(region.entry.arguments, arguments, strict=True):
        ctx.frame.values[value] = ctx.as_scalar(bound, value.type) if width == 1 else bound
    results = run_function(ctx, region, _result_types(region))
    return [ctx.b.splat(_register(ctx, value), width) for value in results]


def _result_types(region: Region) -> list[Type]:
    """The types that the operation ending the region returns, in whichever block it stands."""
    return next([v.type for v in block.operations[-1].operands] for block in region.blocks
                if block.operations[-1].name.endswith(".return"))


def _register(ctx: Context, value: Any) -> Register:
    return ctx.env.address(value) if ctx.is_pointer(value) else value


def is_elementwise(region: Region) -> bool:
    """One block of operations that act register by register."""
    return len(region.blocks) == 1 and all(
        op.name == "arith.constant" or (op.name in RULES and RULES[op.name].kind == "elementwise")
        for op in region.entry.operations[:-1])


def operation_of(region: Region) -> str | None:
    """The name of a combiner that is one operation on its two arguments (in either order), else None."""
    operations = region.entry.operations
    if len(region.blocks) == 1 and len(operations) == 2 and len(region.entry.arguments) == 2:
        op = operations[0]
        if (
            set(op.operands) == set(region.entry.arguments)
            and len(op.operands) == 2
            and operations[1].operands == op.results
        ):
            return op.name
    return None
