"""Where a program stands in the grid."""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.model import Operation
from ...spirv.module import Value as Register
from ..context import Context
from ..registry import lowers

AXES = {"x": 0, "y": 1, "z": 2}


def axes_asked_for(operations: Iterable[Operation]) -> tuple[int, ...]:
    """The axes along which a kernel of these operations asks which program it is."""
    return tuple(sorted({AXES[op.attributes["axis"]] for op in operations if op.name == "tt.get_program_id"}))


@lowers("tt.get_program_id")
def program_id(ctx: Context, op: Operation) -> Register:
    """i32 along axis x, y or z."""
    return ctx.env.program_id(AXES[op.attributes["axis"]])


@lowers("tt.get_num_programs")
def num_programs(ctx: Context, op: Operation) -> Register:
    """i32 along axis x, y or z."""
    return ctx.env.num_programs(AXES[op.attributes["axis"]])


@lowers("ttg.barrier", "gpu.barrier")
def barrier(ctx: Context, op: Operation) -> None:
    """All lanes and warps of the program arrive; nothing where one work-item runs it."""
    ctx.pending.settle(memory_only=True)
    ctx.shared.barrier()
