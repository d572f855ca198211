"""Sums by index, of rows: `x.index_add(0, i, rows)`, the gradient of an embedding.

Inductor adds each element atomically, since rows with one index may be added by several programs. An atomic
sum takes 5 ns for each element. Here a program has some of the columns of all rows, and adds them one row
after the other: a load, an addition and a store of vectors, in the order of the rows.
"""

from __future__ import annotations

import functools
import math
import re
from typing import Any

from .heuristics import NARROWEST

#: the place of a program's rows, as Inductor writes it, along one axis of the grid or two
PLACE = re.compile(r"^    yoffset = .*tl\.program_id\(1\).*\* YBLOCK$", re.MULTILINE)

#: a sum: pointers, values and mask; what Inductor writes otherwise is left as it is
SUM = re.compile(r"^( *)tl\.atomic_add\((.*), (\w+), ([\w &]+), sem='relaxed'\)$", re.MULTILINE)


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for each store and for the text of each kernel."""
    from torch._inductor import config
    from torch._inductor.codegen.triton import TritonKernel

    stored, written = TritonKernel.store, TritonKernel.codegen_kernel

    @functools.wraps(stored)
    def store(self: Any, name: str, index: Any, value: Any, mode: Any = None) -> Any:
        if mode == "atomic_add" and config.cpu_backend == "triton":
            self.adds_rows = getattr(self, "adds_rows", True) and is_of_rows(self, name, index)
        return stored(self, name, index, value, mode)

    @functools.wraps(written)
    def codegen_kernel(self: Any, name: Any = None) -> Any:
        text = written(self, name)
        return in_turn(text) if getattr(self, "adds_rows", False) else text

    TritonKernel.store = store
    TritonKernel.codegen_kernel = codegen_kernel


def is_of_rows(kernel: Any, name: str, index: Any) -> bool:
    """Is it a sum into a row for each y, along x, and do no two x of any rows meet, of other sums into this
    buffer either? Rows are at least as long as there are cores, which share columns then instead of rows."""
    from torch._inductor.runtime.hints import DeviceProperties
    from torch._inductor.virtualized import V

    if set(kernel.numels) - {"r0_"} != {"x", "y"} or kernel.inside_reduction:
        return False
    index, columns = kernel.prepare_indexing(index), kernel.numels["x"]
    cores = DeviceProperties.create(V.graph.get_current_device_or_throw()).multi_processor_count
    if not getattr(columns, "is_Integer", False) or columns < max(NARROWEST, cores):
        return False
    parts = index.expand().as_coefficients_dict()
    along = [part for part in parts if kernel.range_tree_nodes.get(part) is not None
             and kernel.range_tree_nodes[part].root.prefix == "x"]
    if len(along) != 1 or parts[along[0]] != 1 or kernel.range_tree_nodes[along[0]].length != columns:
        return False
    others = {part: factor for part, factor in parts.items() if part.free_symbols and part != along[0]}
    start = [factor for part, factor in parts.items() if not part.free_symbols]
    if not all(symbol != along[0] and is_of_a_row(kernel, symbol)
               for part in others for symbol in part.free_symbols) \
            or not all(getattr(factor, "is_Integer", False) for factor in (*others.values(), *start)):
        return False
    if not hasattr(kernel, "rows_of_sums"):
        kernel.rows_of_sums = {}
    return are_apart(kernel.rows_of_sums.setdefault(name, []), [int(factor) for factor in others.values()],
                     sum(map(int, start)), int(columns))


def are_apart(sums: list[tuple[list[int], int]], steps: list[int], start: int, columns: int) -> bool:
    """Do rows of one more sum into a buffer, which begin at `start` and a multiple of each of `steps`, meet
    those of `sums` and each other in equal columns only? What is between two places of one column is then a
    multiple of some number that no difference of columns is one of."""
    sums.append((steps, start))
    between = math.gcd(*(step for one, _ in sums for step in one), *(other - start for _, other in sums))
    return between == 0 or between >= columns


def is_of_a_row(kernel: Any, symbol: Any) -> bool:
    """Is it one number for all columns of a row?"""
    node = kernel.range_tree_nodes.get(symbol)
    if node is not None:
        return bool(node.root.prefix == "y")
    found = kernel.cse.varname_map.get(str(symbol))
    return found is not None and found.shape is not None and tuple(map(str, found.shape)) == ("YBLOCK", "1")


def in_turn(text: str) -> str:
    """The kernel with a loop over its rows, one by one, and with sums that are not atomic."""
    place = PLACE.search(text)
    sums = text.count("tl.atomic_add(")
    if place is None or text.count("YBLOCK : tl.constexpr") != 1 or len(SUM.findall(text)) != sums:
        return text
    before, rows = text[:place.start()], text[place.end():]
    before, count = re.subn(r"'grid_type': '\w+'", "'grid_type': 'Grid1D', 'rows_in_turn': True", before)
    if count != 1:
        return text
    rows = SUM.sub(r"\1tl.store(\2, tl.load(\2, \4) + \3, \4)", rows)
    loop = "    tl.static_assert(YBLOCK == 1)\n    for yoffset in tl.range(0, ynumel, YBLOCK):"
    return before + loop + re.sub(r"\n(?=    )", "\n    ", rows)
