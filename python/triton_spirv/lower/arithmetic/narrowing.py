"""f32 becoming bf16, several vectors at a time, where a processor has an instruction for that.

VCVTNEPS2BF16 rounds as `arith.truncf` does, NaN included, but takes denormal numbers as zero. One test says
whether a few vectors hold any; then integers round these vectors, eight instructions for each. Denormal
numbers are rare: the test says no nearly always, and costs two instructions for a vector.

What becomes f32 again at once is rounded by integers: of the way to 16 bits and back the driver leaves an
instruction, and all of that is no slower.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...ir.model import Operation
from ...spirv.builder import width_of, with_width
from ...spirv.control import IfElse
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ...spirv.types import Type as RegisterType
from ..context import Context
from ..registry import RULES, together
from ..values.numbers import F32, f32_to_bf16, is_bf16, to_arithmetic
from ..values.types import element_of
from .elementwise import ELEMENTARY, EXTREMES, FLOAT, FLOAT_FUNCTION

#: Vectors that share a test: all are in registers until it is made.
VECTORS = 8


@together("arith.truncf", "tt.fp_to_fp")
def to_bf16(ctx: Context, op: Operation, row: Sequence[Register]) -> list[Register] | None:
    """f32 -> bf16, rounded to nearest even."""
    types = str(element_of(op.operands[0].type)), str(element_of(op.result.type))
    if types != ("f32", "bf16") or op.attributes.get("rounding", "rtne") != "rtne":
        return None
    return _narrowed(ctx, row) if _narrows(ctx, op, row[0].type) else None


@together(*FLOAT, *FLOAT_FUNCTION, *ELEMENTARY, *EXTREMES)
def in_bf16(ctx: Context, op: Operation, *rows: Sequence[Register]) -> list[Register] | None:
    """bf16 -> bf16 in f32: what is made of all registers is rounded together."""
    if not all(is_bf16(element_of(value.type)) for value in (*op.operands, op.result)):
        return None
    if not _narrows(ctx, op, with_width(F32, max(width_of(row[0].type) for row in rows))):
        return None
    wide = [[to_arithmetic(ctx.b, x, element_of(value.type)) for x in row]
            for value, row in zip(op.operands, rows, strict=True)]
    made = [RULES[op.name].function(ctx, op, *column) for column in zip(*wide, strict=True)]
    return _narrowed(ctx, made)


def _narrows(ctx: Context, op: Operation, type: RegisterType) -> bool:
    """Is there an instruction for f32 of this type, and does the result stay bf16?"""
    return (ctx.target.optimises("conversions") and ctx.env.narrows_normal(type)
            and not any(user.has("elementwise") and not user.has("picks") for user, _ in op.result.uses))


def _narrowed(ctx: Context, row: Sequence[Register]) -> list[Register]:
    """The bits of the nearest bf16 of f32."""
    b, env = ctx.b, ctx.env
    made: list[Register] = []
    for start in range(0, len(row), VECTORS):
        some = row[start:start + VECTORS]
        denormal = b.emit("OpAny", reduce(b.logical_or, map(env.denormal, some)), type=Bool())
        branch = IfElse(b.module, denormal)
        with branch.then():
            branch.yield_([f32_to_bf16(b, x) for x in some])
        with branch.otherwise():
            branch.yield_([env.normal_to_bf16(x) for x in some])
        made += branch.results
    return made
