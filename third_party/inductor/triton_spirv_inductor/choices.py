"""Which kinds of kernels Inductor writes for a CPU, where it would choose as for a GPU.

A GPU keeps a row in registers while it is reduced, so rows of more than 1024 elements are read again in each
of several loops, and a variance is gathered step by step in one. Here a program has a private array for its
row, in a cache: any row that fits there is read once. And it has few cores, so that columns which are summed
need not be cut into many pieces.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .heuristics import FEWEST_COLUMNS, LONGEST_COLUMN

#: elements of the longest row that a program keeps: an array or two of it fit into a core's second cache
LONGEST_ROW = 32768


#: pieces for each core that columns are cut into, if there are fewer than a cache line's for each core, and
#: elements of a piece that pay for adding up the pieces
PIECES, SMALLEST_PIECE = 2, 1 << 16


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for each kernel of the CPU."""
    from torch._inductor import config
    from torch._inductor.choices import InductorChoices
    from torch._inductor.runtime.hints import DeviceProperties

    def reduction_split_factor(cut: Any, device: Any, reduction_numel_hint: int, numel_hint: int,
                               inner_reduction: bool) -> int:
        if device.type == "cpu" and config.cpu_backend == "triton" and not inner_reduction:
            cores = DeviceProperties.create(device).multi_processor_count
            return pieces(reduction_numel_hint, numel_hint, cores)
        return cut(device, reduction_numel_hint, numel_hint, inner_reduction)

    def should_use_persistent_reduction(chosen: Any, features: Any, cooperative_reduction: bool) -> bool:
        if chosen(features, cooperative_reduction):
            return True
        return not cooperative_reduction and _for_a_cpu(features) and keeps_rows(features)

    for choice in reduction_split_factor, should_use_persistent_reduction:
        replace(InductorChoices, choice)


def replace(owner: type, choice: Callable[..., Any]) -> None:
    """`choice` in place of the function of its name, which it is given first. Until torch 2.13 Inductor's are
    static."""
    right = getattr(owner, choice.__name__)
    if isinstance(inspect.getattr_static(owner, choice.__name__), staticmethod):
        setattr(owner, choice.__name__, staticmethod(functools.partial(choice, right)))
    else:
        setattr(owner, choice.__name__, lambda self, *asked, **named: choice(
            functools.partial(right, self), *asked, **named))


def pieces(rows: int, columns: int, cores: int) -> int:
    """Into how many pieces columns are cut that are summed over rows, so that each core gets some, and that
    sums are exact enough."""
    least = -(-rows // LONGEST_COLUMN)
    if cores == 1 or columns >= FEWEST_COLUMNS * cores:
        return least
    return max(least, min(PIECES * cores, rows * columns // SMALLEST_PIECE))


def _for_a_cpu(features: Any) -> bool:
    from torch._inductor import config

    nodes = features.scheduler_nodes()
    return bool(config.cpu_backend == "triton" and config.triton.persistent_reductions and nodes
                and nodes[0].get_device().type == "cpu")


def keeps_rows(features: Any) -> bool:
    """Does a kernel reduce rows along memory, none of them too long, to something else than a place? Finding
    a place compares pairs, which a loop does faster than a row that is kept. Scans and sorts are Inductor's
    choice."""
    from torch._inductor import ir
    from torch._inductor.virtualized import V

    if not V.graph.sizevars.statically_known_leq(features.reduction_numel, LONGEST_ROW):
        return False
    reductions = [node.node.data for node in features.reduction_nodes()]
    if any(not isinstance(x, ir.Reduction) or x.reduction_type.startswith("arg") for x in reductions):
        return False
    hint = features.get_reduction_hint().name
    return hint == "INNER" or (hint == "DEFAULT" and _lies_along_rows(features.coalesce_analysis))


def _lies_along_rows(analysis: Any) -> bool:
    """By the bytes that Inductor has counted: is memory contiguous along what is reduced?"""
    if analysis is None:
        return False
    along, scores = analysis.norm_read_writes.reduce_vars, analysis.coalesced_by_var
    return sum(scores.get(var, 0) for var in along) > sum(
        score for var, score in scores.items() if var not in along)
