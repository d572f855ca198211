"""Loops that end when the launcher says so: check=deadlock (passes/checked/deadlock.py)."""

from __future__ import annotations

from collections.abc import Iterable

from ..check_layout import Site, stop_word
from ..spirv.builder import I64
from ..spirv.module import Value as Register
from .context import Context
from .lanes.elements import EVERYONE
from .lanes.exchange import from_owner

#: what the launcher writes: programs report where they are; and they leave their loops
REPORTS, LEAVES = 1, 2


def stop_word_of(sites: Iterable[Site], arguments: int) -> int | None:
    """The word that ends the loops of a kernel, if that is checked."""
    return stop_word(arguments) if any(site.check == "deadlock" for site in sites) else None


def stage(ctx: Context, word: int, together: bool = True) -> Register:
    """The word that the launcher writes, as it is now; of lanes that are all here they all get the same."""
    b, array = ctx.b, ctx.launch.hidden["check_buffer"]
    seen = ctx.env.load(ctx.env.offset(array, b.constant(I64, word)), 1, volatile=True)
    if ctx.layouts.lanes == 1 or not together:
        return seen
    if ctx.shared.races is not None:
        return ctx.shared.races.stop(seen)
    same = from_owner(ctx, seen, *EVERYONE)
    ctx.convergence.bound(same)
    return same


def goes_on(ctx: Context, condition: Register, together: bool = True) -> Register:
    """The condition of a loop that may never end: false, too, when loops are to end. `together`: are all
    lanes here?"""
    word = ctx.kernel.stop_word
    if word is None:
        return condition
    return ctx.b.logical_and(condition, ctx.b.compare("OpSLessThan", stage(ctx, word, together), LEAVES))
