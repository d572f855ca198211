"""The passes that rewrite a kernel's IR before it is lowered, and which of them run for a target, in order.

A pass has a name, a function that rewrites a module in place, and a condition on the target. What a pass
decides is IR too: operations, types and attributes that print and can be read back. inspection.py says how
that is looked at, and checked, behind each pass.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..dataclass import dataclass
from ..facts.listing import described
from ..inspection import Inspection
from ..ir.module import Module
from ..ir.printer import print_module
from ..target import Target
from .early_addresses import early_addresses
from .fetch_ahead import fetch_ahead
from .float16_bits import hold_float16_as_bits
from .join_reductions import join_reductions
from .matrix_placement import place_products
from .once_per_run import once_per_run
from .order_axes import order_axes
from .simplify import simplify
from .single_rounds import without_single_rounds
from .tile_placement import place_tiles
from .verify import read_back, verify


@dataclass(frozen=True)
class Pass:
    """`run(module, target, warps)` rewrites in place; it runs on targets of which `applies` holds.
    `mixes_layouts`: operands of one operation may have layouts of their own behind it."""

    name: str
    run: Callable[[Module, Target, int], None]
    applies: Callable[[Target], bool] = lambda target: True
    mixes_layouts: bool = False


PASSES = (
    Pass("simplify", lambda module, target, warps: simplify(module, extremes=not target.lanes)),
    Pass("order-axes", lambda module, target, warps: order_axes(module),
         lambda target: not target.lanes and target.optimises("axes")),
    Pass("single-rounds", lambda module, target, warps: without_single_rounds(
        module, target.max_registers * target.vector_width),
         lambda target: target.optimises("single-rounds")),
    Pass("join-reductions", lambda module, target, warps: join_reductions(
        module, target.max_registers * target.vector_width),
         lambda target: not target.lanes and target.optimises("joint-reductions")),
    Pass("early-addresses", lambda module, target, warps: early_addresses(module),
         lambda target: not target.lanes and target.optimises("prefetch")),
    Pass("once-per-run", lambda module, target, warps: once_per_run(module),
         lambda target: not target.lanes and target.optimises("runs")),
    Pass("place-products", place_products, lambda target: target.matrix is not None, mixes_layouts=True),
    Pass("place-tiles", place_tiles, lambda target: target.places_tiles or target.places_rows,
         mixes_layouts=True),
    Pass("fetch-ahead", lambda module, target, warps: fetch_ahead(module),
         lambda target: target.fetches_ahead),
    Pass("float16-bits", lambda module, target, warps: hold_float16_as_bits(module),
         lambda target: not target.float16),
)


#: stands among the names of passes where it is asked what to print: what is known of values behind the last
FACTS = "facts"


def pipeline_of(target: Target) -> tuple[Pass, ...]:
    """The passes for a target."""
    return tuple(each for each in PASSES if each.applies(target))


def run_passes(module: Module, target: Target, warps: int, inspection: Inspection | None = None) -> None:
    """Rewrite the module in place; InternalError where a pass leaves what is no IR, if that is checked.
    inspection: what is looked at, where that is not for the environment's variable to say."""
    inspection = inspection or Inspection.asked([*(each.name for each in PASSES), FACTS])
    layouts = True
    _check(module, inspection, "reading", layouts)
    for each in pipeline_of(target):
        each.run(module, target, warps)
        layouts &= not each.mixes_layouts
        _check(module, inspection, f"pass {each.name}", layouts)
        if each.name in inspection.printed:
            print(f"// after {each.name}\n{print_module(module, locations=False)}", file=sys.stderr)
    if FACTS in inspection.printed:
        print(f"// facts\n{described(module)}", file=sys.stderr)


def _check(module: Module, inspection: Inspection, stage: str, layouts: bool) -> None:
    if inspection.verify:
        verify(module, stage)
    if inspection.read_back:
        read_back(module, stage, layouts)
