"""f32 becoming bf16, several vectors at a time, where a processor has an instruction for that.

VCVTNEPS2BF16 rounds as `arith.truncf` does, NaN included, but takes denormal numbers as zero. One test says
whether a few vectors hold any; then integers round these vectors, eight instructions for each. Denormal
numbers are rare: a test is right nearly always, and costs two instructions for a vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...ir.model import Operation
from ...spirv.control import IfElse
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ..context import Context
from ..registry import together
from ..values.numbers import f32_to_bf16
from ..values.types import element_of

#: Vectors that share a test: all are in registers until it is made.
VECTORS = 8


@together("arith.truncf", "tt.fp_to_fp")
def to_bf16(ctx: Context, op: Operation, row: Sequence[Register]) -> list[Register] | None:
    """f32 -> bf16, rounded to nearest even."""
    types = str(element_of(op.operands[0].type)), str(element_of(op.results[0].type))
    if types != ("f32", "bf16") or op.attributes.get("rounding", "rtne") != "rtne":
        return None
    return narrowed(ctx, row)


def narrowed(ctx: Context, row: Sequence[Register]) -> list[Register] | None:
    """The bits of the nearest bf16 of vectors of f32; None without an instruction for that."""
    if not ctx.target.optimises("conversions"):
        return None
    made: list[Register] = []
    for start in range(0, len(row), VECTORS):
        some = row[start:start + VECTORS]
        denormal = _any_denormal(ctx, some)
        if denormal is None:
            return None
        branch = IfElse(ctx.b.module, denormal)
        with branch.then():
            branch.yield_([f32_to_bf16(ctx.b, x) for x in some])
        with branch.otherwise():
            branch.yield_([ctx.env.normal_to_bf16(x) for x in some])
        made += branch.results
    return made


def _any_denormal(ctx: Context, row: Sequence[Register]) -> Register | None:
    """A scalar Bool: is any of these numbers denormal? None without an instruction for such vectors."""
    found = [ctx.env.denormal(x) for x in row]
    known = [x for x in found if x is not None]
    if len(known) < len(found):
        return None
    return ctx.b.emit("OpAny", reduce(ctx.b.logical_or, known), type=Bool())
