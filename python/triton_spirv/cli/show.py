"""`triton-spirv show`: a cached kernel's source, IR and listing side by side."""

from __future__ import annotations

import argparse
import re
import shutil
from itertools import zip_longest
from pathlib import Path

from ..errors import TritonSpirvError, UsageError
from .cached import Cached
from .linked import Linked, linked
from .output import Output

EXAMPLES = ("show softmax_rows", "show softmax_rows --html softmax.html", "show matmul --ir ttgir --lines 0",
            "show 2XB3HXSC --only spvasm")


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kernel",
                        help="the name of a kernel in Triton's cache (the newest is taken), or the "
                        "beginning of its folder's name: see 'triton-spirv cache ls'")
    parser.add_argument("--html", type=Path, metavar="FILE",
                        help="write an HTML page; the lines of its columns are linked")
    parser.add_argument("--ir", choices=("ttir", "ttgir", "plan"), default=None,
                        help="the IR to show, or the plan; default: the one that "
                        "was compiled")
    parser.add_argument("--only", choices=("source", "ttir", "ttgir", "plan", "spvasm"),
                        help="print one column alone")
    parser.add_argument("--lines", type=int, default=12,
                        help="the most lines of IR and listing for a line of the source; 0: all")


def run(options: argparse.Namespace, out: Output) -> int:
    """Print, or write the page."""
    from .cached import find

    kernel = find(options.kernel)
    if options.only in ("ttir", "ttgir", "plan", "spvasm"):
        print(kernel.text(options.only), end="", file=out.stream)
        return 0
    stage = options.ir or ("ttgir" if kernel.metadata["artifact"].get("sub_group_size", 1) > 1 else "ttir")
    made = linked(kernel, stage)
    for path in made.changed:
        out.line(f"{path} has changed since the kernel was compiled: lines may not fit", "warning")
    if options.only == "source":
        for line in made.source:
            print(line.text, file=out.stream)
        return 0
    if options.html is not None:
        from .page import page

        title = f"{kernel.name} for {kernel.target}"
        code = code_of(kernel, out)
        try:
            options.html.write_text(page(title, facts_of(kernel), made, stage, code), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"{options.html} cannot be written: {error.strerror}") from None
        out.line(f"{options.html}: {kernel.name}, {len(made.source)} lines of source, {len(made.ir)} of "
                 f"{stage}, "
                 f"{len(made.listing)} of the listing")
        return 0
    side_by_side(made, stage, options.lines, out)
    return 0


#: launch options that stand in the page's head, with the value that goes without saying
OPTIONS = {"num_warps": None, "num_stages": None, "enable_fp_fusion": True, "fast_math": False,
           "overlapping": False, "block_io": True, "grf_mode": "default", "debug": False}
_PARAMETER = re.compile(r"%(\w+): (!?[\w.]+(?:<[^>]*>)?)")


def facts_of(kernel: Cached) -> str:
    """The types of the parameters, and the launch options."""
    head = next((line for line in kernel.text("ttir").splitlines() if "tt.func public" in line), "")
    types = [f"{name}: {kind.removeprefix('!')}" for name, kind in _PARAMETER.findall(head)]
    known = kernel.metadata
    options = [f"{name}={known[name]}" for name, usual in OPTIONS.items()
               if name in known and (usual is None or known[name] != usual)]
    return f"({', '.join(types)}) {' '.join(options)}"


def code_of(kernel: Cached, out: Output) -> str:
    """What the CPU device's driver makes of it; empty for another target, and where it cannot be had."""
    if not kernel.emitted_for.startswith("cpu") or kernel.metadata["artifact"].get("sub_group_size", 1) > 1:
        return ""
    from ..isa.machine_code import machine_code

    try:
        return machine_code(kernel.words(), kernel.metadata["artifact"]["entry"]).text
    except TritonSpirvError as error:
        out.line(f"without machine code: {error}", "warning")
        return ""


def side_by_side(made: Linked, stage: str, most: int, out: Output) -> None:
    """A row for each line of the source: beside it the lines of the IR and of the listing that it became."""
    width = max(shutil.get_terminal_size((150, 40)).columns, 80)
    number, source = 5, (width - 9) * 3 // 10
    ir = (width - 9 - source) // 2
    listing = width - 9 - source - ir - 6

    def row(head: str, *cells: str, style: str = "") -> None:
        texts = [cell[:size].ljust(size) for cell, size in zip(cells, (source, ir, listing), strict=True)]
        out.line(f"{head:>{number}} {' | '.join(texts)}".rstrip(" |"), style)

    row("", "source", stage, "spvasm", style="head")
    for line in made.source:
        if not line.keys:
            out.line(line.text, "head")
            continue
        (key,) = line.keys
        cells = [shortened([each.text for each in lines if key in each.keys and not _is_comment(each.text)],
                           most)
                 for lines in (made.ir, made.listing)]
        for place, (left, middle, right) in enumerate(zip_longest([line.text], *cells, fillvalue="")):
            row("" if place else str(line.number), left, middle.strip(), right.strip())


def shortened(texts: list[str], most: int) -> list[str]:
    """The first lines, and how many more there are."""
    if not most or len(texts) <= most:
        return texts
    return [*texts[:most - 1], f"... {len(texts) - most + 1} more"]


def _is_comment(text: str) -> bool:
    return text.lstrip().startswith((";", "//"))
