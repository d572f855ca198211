"""Reductions over several loops, or of several loops: rows of memory as an axis of their own.

Inductor counts all that is kept along one axis, and all that is reduced along another. `x.sum(1)` of
20 x 99 x 501 then divides each column's place in each of 99 rounds, and `x.sum((0, 2))` of 40 x 512 x 49 the
place of each vector of a plane. With the rows of memory along an axis of their own nothing is divided, a
vector never lies in two rows, and only the last one of a row has a mask.
"""

from __future__ import annotations

import functools
from typing import Any

from .heuristics import LONGEST_COLUMN, MOST_COLUMNS, NARROWEST


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, whether a kernel keeps all that it reduces."""
    from torch._inductor import config
    from torch._inductor.codegen.triton import TritonKernel

    chosen = TritonKernel.should_use_persistent_reduction

    @functools.wraps(chosen)
    def should_use_persistent_reduction(self: Any) -> bool:
        return not (config.cpu_backend == "triton" and in_rows(self.numels)) and chosen(self)

    TritonKernel.should_use_persistent_reduction = should_use_persistent_reduction


def in_rows(axes: Any) -> bool:
    """Do these axes of a reduction have rows of memory as one of them? Such kernels go through what they
    reduce in a loop: blocks of a power of two for each of two axes would be idle for the greater part."""
    return "r1_" in axes or ("y" in axes and "r0_" in axes)


def reduced_rows(scheduling: Any, schedule: Any, numel: Any, reduction_numel: Any, analysis: Any) -> Any:
    """The axes of a reduction, and their scores; None where two axes are better: where what is kept is one
    loop and what is reduced another, where rows are shorter than a vector, or whole vectors, and where sums
    would have too many terms: what lies below each other in the rows of all planes is added one by one."""
    from torch._inductor.codegen.simd import get_max_tiles
    from torch._inductor.scheduler import SchedulerNode
    from torch._inductor.virtualized import V
    from torch.utils._sympy.functions import FloorDiv

    nodes = [node for node in schedule if isinstance(node, SchedulerNode)]
    if not nodes or nodes[0].get_device().type != "cpu" or get_max_tiles(default=2) < 2 \
            or analysis is None or not all(map(is_plain, nodes)):
        return None
    scores, loops = analysis.coalesced_by_var, analysis.norm_read_writes
    if not scores:
        return None
    along = max(scores, key=lambda var: scores[var])
    kept, reduced = list(loops.index_vars), list(loops.reduce_vars)
    row, hint = loops.var_ranges[along], V.graph.sizevars.optimization_hint
    if V.graph.sizevars.statically_known_multiple_of(row, NARROWEST) or hint(row) < NARROWEST:
        return None
    if len(kept) > 1 and along == kept[-1]:
        axes, scored = ([FloorDiv(numel, row), row], [reduction_numel]), ([0, 1], [0])
    elif len(reduced) > 1 and along == reduced[-1] \
            and hint(reduction_numel) <= LONGEST_COLUMN * min(hint(row), MOST_COLUMNS):
        axes, scored = ([numel], [FloorDiv(reduction_numel, row), row]), ([0], [0, 1])
    else:
        return None
    tiling = scheduling.create_tiling(*axes)
    if not scheduling.tiling_is_compatible(schedule, numel, reduction_numel, tiling):
        return None
    return tiling, dict(scheduling.create_tiling(*scored))


def is_plain(node: Any) -> bool:
    """Is it elementwise, or a reduction to something else than a place? A place is counted along one axis,
    and so are scans and sorts."""
    from torch._inductor import ir

    data = node.node.data
    return isinstance(data, (ir.Pointwise, ir.Scatter)) or (
        isinstance(data, ir.Reduction) and not data.reduction_type.startswith("arg"))
