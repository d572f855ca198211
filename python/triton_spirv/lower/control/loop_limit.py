"""Loops on a device whose driver ends them: no launch passes for whole that was cut short.

Mesa's software device, llvmpipe, gives all loops of a program together 65535 rounds. Then each loop is left
at the end of its round, without a word. Who leaves a loop so has not met the loop's own condition: every loop
notes at each round whether it goes on, and behind the loop the note is read. Where it still says so, the
the program fails as by an assertion (../failing.py).

The notes lie in an array with an index that the compiler does not know: for it, a loop is left by its
condition alone, and it would answer the question itself.
"""

from __future__ import annotations

from ...spirv.control import if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from ..context import Context
from ..failing import fail, record

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
