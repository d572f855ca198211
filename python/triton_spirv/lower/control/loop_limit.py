"""Loops on a device whose driver ends them: no launch passes for whole that was cut short.

Mesa's software device, llvmpipe, gives all loops of a program together 65535 rounds. Then it leaves each
loop at the end of the round, and reports nothing. Such a loop has not met its own condition. So every round
notes whether the loop goes on, and the instructions behind the loop read the note. If it still says that the
loop goes on, the program fails as an assertion does (../assertions.py).

The notes lie in an array with an index that Mesa's compiler does not know. To that compiler a loop ends by
its condition alone: it would replace a note that it can follow by "has ended".
"""

from __future__ import annotations

from ...spirv.control import if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ..assertions import fail, record
from ..context import Context

PLACES = 8    # of the array; any power of two above 1


class LoopLimit:
    """What `spirv.control` asks of every loop: see `Module.watch`."""

    def __init__(self, ctx: Context) -> None:
        self.ctx = ctx

    def _place(self) -> Register:
        return self.ctx.b.iand(self.ctx.env.lane_id(), PLACES - 1)

    def goes_on(self, condition: Register) -> Register:
        """Note the condition of a round, scalar Bool -> the array of the loop's notes."""
        notes = self.ctx.env.private_array(Bool(), PLACES, 1)
        self.ctx.env.private_store(notes, 1, self._place(), condition)
        return notes

    def left(self, notes: Register) -> None:
        """Behind the loop: raise if it should have gone on."""
        ctx, b = self.ctx, self.ctx.b
        number = record(ctx, b.module.location, "loop",
                        f"{ctx.target.name} ends loops after {ctx.target.loop_rounds} rounds of all loops of "
                        "a program together: the results are wrong. Run the kernel on another device, or "
                        "give each program less to do")
        with if_(b.module, ctx.env.private_load(notes, 1, Bool(), self._place(), 1)):
            fail(ctx, number)
