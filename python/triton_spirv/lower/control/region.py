"""Running a region of scalar operations (a combiner) on registers of any width."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.model import FloatType, Region, Type
from ...spirv.builder import scalar_type, width_of
from ...spirv.module import Value as Register
from ...spirv.types import Float
from ..context import Context
from ..registry import RULES
from ..values.float16 import is_bits16
from ..values.numbers import from_arithmetic, is_bf16, to_arithmetic
from ..values.tensor import Bound
from ..values.types import as_scalar, is_pointer
from .blocks import run_function
from .branchless import is_branchless, run_branchless


def combine(ctx: Context, region: Region, arguments: Sequence[Register]) -> list[Register]:
    """The region's result registers for these arguments.

    Element by element operations run on whole vectors, short branches too; a region with other control flow
    runs once per component.
    """
    width = max(width_of(x.type) for x in arguments)
    branchless = width > 1 and not is_elementwise(region) and ctx.target.optimises("branchless")
    if branchless and is_branchless(region, ctx.kernel.functions):
        return [ctx.b.splat(x, width) for x in run_branchless(ctx, region.entry, arguments)]
    if width > 1 and not is_elementwise(region):
        columns = [combine(ctx, region, [ctx.b.extract(x, c) for x in arguments]) for c in range(width)]
        return [ctx.b.construct(list(row)) for row in zip(*columns, strict=True)]
    for value, bound in zip(region.entry.arguments, arguments, strict=True):
        ctx.bindings.frame.values[value] = as_scalar(ctx.env, bound, value.type) if width == 1 else bound
    types = _result_types(region)
    with ctx.convergence.apart():
        results = [_register(ctx, value) for value in run_function(ctx, region, types)]
    if any(is_wide(v.type) and isinstance(scalar_type(x.type), Float)
           for v, x in zip(region.entry.arguments, arguments, strict=True)):
        results = [to_arithmetic(ctx.b, x, type) for x, type in zip(results, types, strict=True)]
    return [ctx.b.splat(x, width) for x in results]


def is_wide(type: Type) -> bool:
    """Is it kept as f32 between combinations?"""
    return is_bf16(type) or is_bits16(type)


def accumulator_types(region: Region, elements: Sequence[Type]) -> list[Type]:
    """The types in which values are kept between combinations: f32 for bf16, and for f16 that is bits.

    bf16 has 8 bits of precision: a sum of a few dozen numbers that is rounded after each addition is off in
    the second digit. Rounded once, at the end, it is right. (Only for regions whose operations take a value
    wider than its type: arithmetic, comparisons, selections.)
    """
    wide = is_elementwise(region) and not any("bitcast" in op.name for op in region.entry.operations)
    return [FloatType("f32") if wide and is_wide(element) else element for element in elements]


def to_accumulator(ctx: Context, register: Register, element: Type, type: Type) -> Register:
    """A register of an element type as `accumulator_types` has it."""
    return register if element == type else to_arithmetic(ctx.b, register, element)


def from_accumulator(ctx: Context, register: Register, element: Type, type: Type) -> Register:
    """The way back, rounded to nearest even."""
    return register if element == type else from_arithmetic(ctx.b, register, element)


def _result_types(region: Region) -> list[Type]:
    """The types that the operation ending the region returns, in whichever block it stands."""
    return next([v.type for v in block.operations[-1].operands] for block in region.blocks
                if block.operations[-1].has("returns"))


def _register(ctx: Context, value: Bound) -> Register:
    assert isinstance(value, Register)
    return ctx.env.address(value) if is_pointer(value) else value


def is_elementwise(region: Region) -> bool:
    """One block of operations that act register by register."""
    return len(region.blocks) == 1 and all(
        op.has("constant") or (op.name in RULES and RULES[op.name].kind == "elementwise")
        for op in region.entry.operations[:-1])


def operations_of(region: Region) -> list[str | None]:
    """For each of the tensors that a combiner takes elements of, the name of the one operation that makes its
    result of its two arguments (in either order) and of nothing else; None where there is no such."""
    arguments, end = region.entry.arguments, region.entry.operations[-1]
    count = len(arguments) // 2
    names: list[str | None] = []
    for index in range(count):
        made = end.operands[index].defining_op if len(region.blocks) == 1 else None
        its_own = made is not None and len(made.operands) == 2 and len(made.results) == 1 \
            and set(made.operands) == {arguments[index], arguments[index + count]}
        names.append(made.name if made is not None and its_own else None)
    return names


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
