"""Checked mode: passes that let a kernel test itself.

Each adds operations in front of those that it watches, in the IR that every target is made from, so that what
is checked is what runs. Without a check none of them runs, and the words are those of ever.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...check_layout import LANES, Site
from ...errors import UnsupportedOperation
from ...ir.module import Module
from ..simplify import simplify
from .bounds import check_bounds
from .deadlock import check_deadlock
from .overflow import check_overflow
from .races import check_races
from .sites import Sites
from .sources import check_nan, check_uninit
from .view import check_view

__all__ = ["CHECKS", "Site", "instrument"]

#: what lanes can do, too; what they can where the host and a kernel see each other's memory meanwhile
ON_LANES, ON_HEARING_LANES = frozenset({"bounds", "view"}), frozenset({"bounds", "deadlock", "view"})

#: what is no part of "all"
ASKED = "view"

#: a check's name -> its pass, in order: bounds gives loads masks of its own, and pointers
CHECKS = {"uninit": check_uninit, "overflow": check_overflow, "nan": check_nan, "race": check_races,
          "deadlock": check_deadlock, "view": check_view, "bounds": check_bounds}


def instrument(module: Module, checks: Sequence[str], lanes: bool, hears: bool) -> tuple[Site, ...]:
    """Let the kernel test itself, in place; the places that may report, in the order of their numbers.
    "all": the checks that there are for the target. UnsupportedOperation for one that is not. `lanes`: do
    several share a program? `hears`: does a kernel that runs see what the host writes? What lanes do is
    looked at program by program ("lanes"), so one that waits for another may never end."""
    if checks:
        simplify(module)  # what it makes views of mixes no elements
    sites = Sites(module)
    there = ON_HEARING_LANES if hears else ON_LANES
    for name, check in CHECKS.items():
        if name in checks and lanes and name not in there:
            raise UnsupportedOperation(f"check={name} is for devices where one work-item runs a program: "
                                       "TRITON_SPIRV_DEVICE=cpu, without TRITON_SPIRV_TARGET; on lanes "
                                       f"there is {', '.join(sorted(there))}")
        if name in checks or ("all" in checks and name != ASKED and (not lanes or name in there)):
            check(module, sites)
        elif name == "deadlock" and LANES in checks and hears:
            check_deadlock(module, sites)  # programs run one after the other, and may wait for later ones
    return tuple(sites.known)
