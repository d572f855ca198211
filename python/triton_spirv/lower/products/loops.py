"""The loops of products."""

from __future__ import annotations

from collections.abc import Sequence

from ...spirv.builder import I32
from ...spirv.control import For
from ...spirv.module import Value as Register
from ..context import Context


def counted(ctx: Context, count: Register | int, step: int = 1, carried: Sequence[Register] = ()) -> For:
    """for index in range(0, count, step), not unrolled."""
    bounds = [x if isinstance(x, Register) else ctx.b.constant(I32, x) for x in (0, count, step)]
    return For(ctx.b.module, bounds[0], bounds[1], bounds[2], carried=carried, control="DontUnroll")
