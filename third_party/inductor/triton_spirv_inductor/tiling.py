"""Elementwise kernels of several loops: rows, where Inductor would count all elements along one axis.

On a GPU each thread divides its index by the length of a row, and that is cheap. Here neighbours are the
components of a vector, and where a row is no multiple of a vector long, each vector may lie in two rows. In
a block of whole rows none does, an index is divided once for a row, and only the last vector of a row has a
mask.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from .heuristics import NARROWEST
from .reduction_tiling import reduced_rows

#: loops around a row whose indices are dear to compute for each vector: two divisions and more
MANY = 3

#: is the code of a kernel being written? Before that Inductor asks for axes to decide which loops to fuse
_writing = ContextVar("writing", default=False)


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for the axes of each kernel that it writes."""
    from torch._inductor import config
    from torch._inductor.codegen.simd import SIMDScheduling

    written, chosen = SIMDScheduling.codegen_node_schedule, SIMDScheduling.get_tiling_and_scores

    @functools.wraps(written)
    def codegen_node_schedule(self: Any, kernel_features: Any) -> Any:
        with _written():
            return written(self, kernel_features)

    def get_tiling_and_scores(cls: Any, nodes: Any, numel: Any, reduction_numel: Any = 1,
                              coalesce_analysis: Any = None) -> tuple[Any, Any]:
        found: tuple[Any, Any] = chosen.__func__(cls, nodes, numel, reduction_numel, coalesce_analysis)
        if config.cpu_backend != "triton" or not _writing.get() or "y" in found[0]:
            return found
        if reduction_numel != 1:
            return reduced_rows(cls, nodes, numel, reduction_numel, coalesce_analysis) or found
        tiling = rows(cls, nodes, numel)
        return found if tiling is None else (tiling, {"y": 0, "x": 1})

    SIMDScheduling.codegen_node_schedule = codegen_node_schedule
    SIMDScheduling.get_tiling_and_scores = classmethod(get_tiling_and_scores)


@contextmanager
def _written() -> Iterator[None]:
    token = _writing.set(True)
    try:
        yield
    finally:
        _writing.reset(token)


def rows(scheduling: Any, schedule: Any, numel: Any) -> Any:
    """The axes of an elementwise kernel, rows and what is in a row; None where one axis is better: where all
    is one loop, where rows are shorter than a vector, and where they are whole vectors whose places are soon
    computed."""
    from torch._inductor.codegen.simd import get_max_tiles
    from torch._inductor.scheduler import SchedulerNode
    from torch._inductor.virtualized import V
    from torch.utils._sympy.functions import FloorDiv

    nodes = [node for node in schedule if isinstance(node, SchedulerNode)]
    if not nodes or nodes[0].get_device().type != "cpu" or get_max_tiles(default=2) < 2:
        return None
    sizes = V.graph.sizevars
    loops = [[size for size in node.get_ranges()[0] if not sizes.statically_known_equals(size, 1)]
             for node in nodes]
    for *outer, row in sorted((each for each in loops if len(each) > 1), key=len, reverse=True):
        whole = sizes.statically_known_multiple_of(row, NARROWEST)
        if sizes.optimization_hint(row) < NARROWEST \
                or (whole and len(outer) < MANY and not any(map(looks_up, nodes))):
            continue
        tiling = scheduling.create_tiling([FloorDiv(numel, row), row], [1])
        if scheduling.tiling_is_compatible(schedule, numel, 1, tiling):
            return tiling
    return None


def looks_up(node: Any) -> bool:
    """Does it load from or store to a place that it has looked up?"""
    from torch._inductor.dependencies import MemoryDep

    return any(isinstance(x, MemoryDep) and x.is_indirect() for x in node.read_writes.reads_and_writes())
