"""Block sizes of Inductor's kernels on a CPU, in place of those that Inductor lists for GPUs.

Inductor compiles each configuration of a kernel and times it, at the first call. On a CPU one work-item runs
a program: the number of warps changes nothing, and a few rules say what the best of the list would be. With
max_autotune the list stays as it is, but for what differs in warps alone.

A product and a sum stay two roundings, as in eager torch and Inductor's C++: a backward kernel computes again
what a forward one has computed, and may compare the two. As one operation here and two there, as the rest of
each kernel suggests, they differ in the last bit, and the gradient of a maximum was 0 / 0.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

#: elements of a program along the axis that memory is contiguous along, where rows are added to each other:
#: wide enough for whole cache lines and for as many sums as hide an addition's latency, and narrow enough for
#: sums to stay in the nearest cache
FEWEST_COLUMNS, MOST_COLUMNS = 64, 1024

#: sums of such a program that stay in registers: of less than MOST_COLUMNS columns, so many or none
SUMS = 128

#: rows that are added to each other one by one; sums of more terms lose more digits
LONGEST_COLUMN = 4096

#: programs for each core, so that none waits long for the last one
PROGRAMS = 4

#: elements of the rows that a program keeps, where there are several: enough to pay for its start
ROWS = 1024

#: short rows of a program, whose vectors are reduced together: as many as a vector has components
TOGETHER = 16

#: what a round that is mostly idle costs little with, where it is all that is done with a row
PLAIN = frozenset({"sum", "prod", "max", "min", "any", "xor_sum", "argmax", "argmin"})

#: elements of the longest row that one round of a loop reduces, where only the call knows how long rows are:
#: what stands in the round is computed for all of the block
ONE_ROUND = 4096

#: elements of a round of rows that would fill much less than one of theirs, at least
SHORTEST_ROUND = 256

#: elements of an elementwise program, which pay for its start and for what it computes once, such as the
#: indices of rows that it gathers; Inductor leaves out masks where a size is a multiple of this one
MOST_ELEMENTS = 4096

#: elements along either axis of a kernel that memory is contiguous along both of: a vector, which has to be
#: loaded along one axis and stored along the other
NARROWEST = 16

#: elements of a tile along the axis that most of its memory is contiguous along: the longer, the fewer pages
#: are gone through in turns along the other axis
LONGEST = 1024

#: elements of a piece of a row, at least, where rows are cut so that each core gets some
SHORTEST = 64

#: bytes read along one axis over bytes read along the other from which on the first decides
DECIDES = 4


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for each kernel of the CPU."""
    from torch._inductor.runtime import triton_heuristics
    from torch._inductor.runtime.hints import HeuristicType

    build = triton_heuristics.cached_autotune
    listed = HeuristicType.POINTWISE, HeuristicType.REDUCTION, HeuristicType.PERSISTENT_REDUCTION

    def for_a_cpu(size_hints: Any, configs: Any, triton_meta: Any, heuristic_type: Any, *arguments: Any,
                  **named: Any) -> Any:
        device: Any = (triton_meta or {}).get("device")
        if getattr(device, "type", "") == "cpu" and heuristic_type is not HeuristicType.USER_AUTOTUNE:
            triton_meta = {**triton_meta, "enable_fp_fusion": False}
            # the configurations of templates are theirs
            if heuristic_type in listed:
                configs = configurations(configs, size_hints, named.get("inductor_meta") or {},
                                         device.multi_processor_count)
        return build(size_hints, configs, triton_meta, heuristic_type, *arguments, **named)

    triton_heuristics.cached_autotune = for_a_cpu


@functools.cache
def note_lengths() -> None:
    """What kernels say of themselves has about how many elements they reduce: hints of sizes are powers of
    two."""
    from torch._inductor import config
    from torch._inductor.codegen.triton import TritonKernel
    from torch._inductor.virtualized import V

    written: Any = getattr(TritonKernel, "inductor_meta_per_kernel", None)
    if written is None:  # no public interface: blocks are those of powers of two then
        return

    @functools.wraps(written)
    def inductor_meta_per_kernel(self: Any) -> dict[str, Any]:
        facts: dict[str, Any] = written(self)
        if config.cpu_backend == "triton" and self.inside_reduction and "r0_" in self.numels:
            facts["reduced"] = int(V.graph.sizevars.optimization_hint(self.numels["r0_"]))
            facts["only_reduces"] = only_reduces(self.features)
        return facts

    TritonKernel.inductor_meta_per_kernel = inductor_meta_per_kernel


def only_reduces(features: Any) -> bool:
    """Does a kernel go over its rows once, and keep nothing of them but what it reduces them to? `features`
    are Inductor's; where they say other things, the answer is no."""
    from torch._inductor.codegen import simd_kernel_features as written

    try:
        schedule = features.node_schedule
        row = schedule[:schedule.index(written.DisableReduction)] \
            if written.DisableReduction in schedule else schedule
        return written.EnableReduction not in schedule and all(
            node.is_reduction() and node.node.get_reduction_type() in PLAIN for node in row)
    except AttributeError:
        return False


def configurations(configs: Sequence[Any], size_hints: dict[str, int] | None, facts: dict[str, Any],
                   cores: int) -> list[Any]:
    """Inductor's configurations of a kernel -> those that are worth compiling; they are changed in place.

    size_hints: axis -> number of elements, a power of 2. facts: Inductor's of the kernel.
    """
    distinct = [config for place, config in enumerate(configs)
                if all(config.kwargs != other.kwargs for other in configs[:place])]
    if distinct and facts.get("rows_in_turn") and size_hints:
        distinct[0].kwargs.update(XBLOCK=columns_in_turn(size_hints["x"], cores), YBLOCK=1)
        return distinct[:1]
    if not distinct or facts.get("max_autotune") or facts.get("max_autotune_pointwise"):
        return distinct
    names = set(distinct[0].kwargs)
    if names == {"XBLOCK"} and size_hints and "r0_" in size_hints and not adds_rows(facts):
        distinct[0].kwargs["XBLOCK"] = several_rows(size_hints)
        return distinct[:1]
    if names == {"XBLOCK"} and not facts.get("num_reduction"):
        if size_hints:
            distinct[0].kwargs["XBLOCK"] = elements(distinct[0].kwargs["XBLOCK"], size_hints["x"], cores)
        return distinct[:1]
    if names == {"XBLOCK", "YBLOCK", "R0_BLOCK"} and size_hints:
        distinct[0].kwargs.update(columns_of_planes(size_hints, facts.get("num_reduction", 1), cores))
        return distinct[:1]
    if names == {"XBLOCK", "R0_BLOCK", "R1_BLOCK"} and size_hints:
        distinct[0].kwargs.update(XBLOCK=1, R0_BLOCK=1, R1_BLOCK=rows_of_planes(size_hints))
        return distinct[:1]
    if names == {"XBLOCK", "YBLOCK"}:
        sizes, scores = size_hints or {}, facts.get("tiling_scores") or {}
        if sizes and scores.get("x") and not scores.get("y", 1):
            distinct[0].kwargs.update(rows(sizes, cores))
            return distinct[:1]
        squares = [config for config in distinct if min(config.kwargs.values()) >= NARROWEST]
        long = tile(sizes, scores, cores) if squares else None
        if long is None:
            return squares or distinct
        squares[0].kwargs.update(long)
        return squares[:1]
    if names == {"XBLOCK", "R0_BLOCK"} and size_hints and adds_rows(facts):
        distinct[0].kwargs.update(XBLOCK=columns(size_hints["x"], facts.get("num_reduction", 1), cores),
                                  R0_BLOCK=1)
        return distinct[:1]
    if names == {"XBLOCK", "R0_BLOCK"} and size_hints and len(distinct) == 1 \
            and size_hints["r0_"] <= ONE_ROUND:
        row = size_hints["r0_"]
        if facts.get("only_reduces"):
            distinct[0].kwargs.update(XBLOCK=several_rows(size_hints, 2), R0_BLOCK=row)
        else:
            distinct[0].kwargs.update(XBLOCK=several_rows(size_hints),
                                      R0_BLOCK=round_of(facts.get("reduced", row), row))
    return distinct


def tile(sizes: dict[str, int], scores: dict[str, int], cores: int) -> dict[str, int] | None:
    """Of a kernel with memory along both axes: long along the one that has more bytes, while all cores get
    programs enough; None where both have as many, or where that is not known."""
    x, y = scores.get("x", 0), scores.get("y", 0)
    if x == y or min(sizes.get("x", 0), sizes.get("y", 0)) < NARROWEST:
        return None
    along, other = "xy" if x > y else "yx"
    length = min(LONGEST, sizes[along])
    width = min(max(NARROWEST, MOST_ELEMENTS // length), sizes[other])
    while length > NARROWEST and sizes["x"] * sizes["y"] < PROGRAMS * cores * length * width:
        width, length = (width // 2, length) if width > NARROWEST else (width, length // 2)
    return {f"{along.upper()}BLOCK": length, f"{other.upper()}BLOCK": width}


def rows(sizes: dict[str, int], cores: int) -> dict[str, int]:
    """Of a kernel with memory along x alone: several rows, or long pieces of them (tiling.py)."""
    length = min(LONGEST, sizes["x"])
    width = min(max(NARROWEST, MOST_ELEMENTS // length), sizes["y"])
    while sizes["x"] * sizes["y"] < PROGRAMS * cores * length * width and (width > 1 or length > SHORTEST):
        width, length = (width // 2, length) if width > 1 else (width, length // 2)
    return {"XBLOCK": length, "YBLOCK": width}


def columns(numel: int, reductions: int, cores: int) -> int:
    """Of a kernel that adds rows to each other: as many as a program may have where there is such a one for
    each core, else few, whose sums stay in registers. What lies between is slower than either."""
    few = SUMS
    while few > FEWEST_COLUMNS and (few * reductions > SUMS or few * cores > numel):
        few //= 2
    return min(MOST_COLUMNS if numel >= MOST_COLUMNS * cores else few, numel)


def several_rows(sizes: dict[str, int], least: int = 1) -> int:
    """Of a kernel that reduces rows, each in one round or few: the rows of a program."""
    row = sizes["r0_"]
    together = TOGETHER if TOGETHER * row <= 2 * ROWS else 1
    return min(max(ROWS // row, together, least), sizes["x"])


def columns_of_planes(sizes: dict[str, int], reductions: int, cores: int) -> dict[str, int]:
    """Of a kernel that adds rows of x to each other, in each of several planes (reduction_tiling.py): columns
    of one, with sums that stay in registers if there are few of them, or of several where they are small. A
    scan, which may have such axes, too, counts as no reduction."""
    few = max(FEWEST_COLUMNS, SUMS // max(1, reductions))
    columns = min(MOST_COLUMNS if sizes["x"] > MOST_COLUMNS else few, sizes["x"])
    while columns > FEWEST_COLUMNS and sizes["x"] * sizes["y"] < PROGRAMS * cores * columns:
        columns //= 2
    planes = max(1, min(ROWS // (columns * sizes["r0_"]), sizes["y"]))
    return {"XBLOCK": columns, "YBLOCK": planes, "R0_BLOCK": 1}


def rows_of_planes(sizes: dict[str, int]) -> int:
    """Of a kernel that reduces several planes: elements of a row that are reduced side by side, as many sums
    as hide an addition's latency, or as many as are exact enough."""
    block = SHORTEST
    while block < MOST_COLUMNS and sizes["r0_"] * sizes["r1_"] > LONGEST_COLUMN * block:
        block *= 2
    return min(block, sizes["r1_"])


def columns_in_turn(columns: int, cores: int) -> int:
    """Of a program that goes through all rows (rows_in_turn.py). A second program costs half as much again as
    the first one, so there are half as many as cores, or as many."""
    block = min(columns, MOST_COLUMNS)
    while block > NARROWEST and 2 * columns < cores * block:
        block //= 2
    return block


def elements(block: int, numel: int, cores: int) -> int:
    """Of an elementwise program: more than Inductor's `block` where all cores still get programs enough."""
    while 2 * block <= MOST_ELEMENTS and PROGRAMS * cores * 2 * block <= numel:
        block *= 2
    return block


def round_of(length: int, block: int) -> int:
    """The elements of a round, for rows of about that length, which one round of `block` would hold: fewer
    where more than a quarter of a block would be idle, as with rows just longer than a power of two."""
    shorter = block
    while 3 * block > 4 * length and shorter > SHORTEST_ROUND:
        shorter //= 2
        if 4 * -(-length // shorter) * shorter <= 5 * length:
            return shorter
    return block


def adds_rows(facts: dict[str, Any]) -> bool:
    """Is a reduction's memory contiguous along what is kept? By the bytes that Inductor has counted."""
    scores = facts.get("tiling_scores") or {}
    along_rows = sum(score for axis, score in scores.items() if axis.startswith("r"))
    return scores.get("x", 0) > DECIDES * along_rows
