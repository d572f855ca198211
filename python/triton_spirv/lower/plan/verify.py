"""verify_plan(plan): does the code that the plan describes do what the kernel says, in its order?

It asks of the kernel's operations and of the plan's records alone, so that it needs no device, no words, and
nothing that decided:

    verify_accesses.py   each store and atomic operation is made once on every way, and each load that it
                         needs before it; no access passes another one that may meet it
    verify_arrays.py     each tensor that an array holds is written before it is read, and is not overwritten
                         while something still reads it; what a walk promises to keep it keeps
    verify_blocks.py     2D block messages move what their accesses ask for, up to the edges of the mask
    verify_interchange.py
                         loops that run inside walks may do so
    verify_fetches.py    what is fetched ahead is what the access will touch, and is found by no load that
                         the kernel might not make
"""

from __future__ import annotations

from ...errors import InternalError
from .records import Plan
from .verify_accesses import wrong_accesses
from .verify_arrays import wrong_arrays
from .verify_blocks import wrong_blocks
from .verify_fetches import wrong_fetches
from .verify_interchange import wrong_interchanges


def verify_plan(plan: Plan) -> None:
    """InternalError says what does not hold, and where."""
    found = defects(plan)
    if found:
        kernel = plan.kernel.attributes["sym_name"]
        raise InternalError(f"the plan of {kernel} is wrong: {'; '.join(found[:4])}\n"
                            "Without optimisations it may be right: launch the kernel with optimise=\"none\"")


def defects(plan: Plan) -> list[str]:
    """What does not hold; empty: it is right."""
    return [*wrong_accesses(plan), *wrong_arrays(plan), *wrong_fetches(plan), *wrong_blocks(plan),
            *wrong_interchanges(plan)]
