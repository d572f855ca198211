"""Does every operation, and every tutorial's kernel, compile for Intel GPUs that are not here?

    python tools/sweep_ocloc.py [--devices pvc dg2 bmg lnl ptl] [--kernels PART ...] [--portable] [--markdown]

The kernels of tests/ir/corpus.py, which together print every operation of Triton's front end, and those of
the tutorials (benchmarks/isa_cases.py) are lowered for each target, shown to spirv-val and compiled by ocloc
(TRITON_OCLOC_PATH, or the one in PATH). A kernel is fine where the binary holds it, with nothing undefined,
in the size of sub-groups that was asked for, and nothing spilled. Printed are the others and sums;
--markdown: a table of all. A kernel that asks a device for what it does not have (f64) is refused by name
before ocloc sees it. --portable: without matrix unit and 2D blocks, for compilers that do not know their
extensions (22.43).
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections import Counter
from pathlib import Path

os.environ.setdefault("TRITON_SPIRV_BACKEND", "1")
ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "benchmarks")]

import triton_spirv  # noqa: E402
from triton_spirv.errors import MissingCapability, TritonSpirvError, UnsupportedOperation  # noqa: E402
from triton_spirv.native import build  # noqa: E402
from triton_spirv.target import OCLOC_DEVICES, find_target  # noqa: E402
from triton_spirv.tools import spirv_tools  # noqa: E402

REFUSALS = (UnsupportedOperation, MissingCapability)
OUTCOMES = ("fine", "spilled", "refused", "failed")


def target_for(device: str, portable: bool) -> triton_spirv.target.Target:
    """The target of that name; portable: what every version of ocloc compiles."""
    found = find_target(device)
    return found.with_options(matrix=None, block_2d=False) if portable else found


def outcome(text: str, device: str, portable: bool = False, stages: int = 1) -> tuple[str, str]:
    """(one of OUTCOMES, what there is to say) of one kernel's TTGIR on one device."""
    lanes = int(re.search(r'"ttg.threads-per-warp" = (\d+)', text)[1])  # type: ignore[index]
    target = target_for(device, portable).with_options(sub_group_size=lanes)
    try:
        made = triton_spirv.compile(text, target, num_stages=stages)
        spirv_tools.validate(made.words)
        binary = build.compile_spirv(made.words, OCLOC_DEVICES[device], made.entry, num_warps=made.num_warps,
                                     expected_grf=made.grf_mode, simd=made.sub_group_size, timeout=300)
    except REFUSALS as error:
        return "refused", str(error).splitlines()[0]
    except TritonSpirvError as error:
        return "failed", f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return ("spilled", f"{binary.spill_bytes} bytes") if binary.spill_bytes else ("fine", "")


def kernels(parts: list[str]) -> list[str]:
    """Names of kernels: those of the corpus, and "tutorial NAME"."""
    from ir.corpus import KERNELS, texts
    from isa_cases import CASES

    names = [name for name in KERNELS if not parts or any(part in name for part in parts)]
    tutorials = [f"tutorial {case.name}" for case in CASES]
    return [name for name in names if "ttgir" in texts(name)] + [
        name for name in tutorials if not parts or any(part in name for part in parts)]


def swept(name: str, device: str, portable: bool) -> tuple[str, str]:
    """The outcome of a kernel of that name."""
    from ir.corpus import texts
    from isa_cases import CASES, layouts

    if not name.startswith("tutorial "):
        return outcome(texts(name)["ttgir"], device, portable)
    case = next(case for case in CASES if name == f"tutorial {case.name}")
    return outcome(layouts(case, find_target(device)), device, portable, case.stages)


def main() -> int:
    """Print what there is to say; status 1 where a kernel failed."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--devices", nargs="+", default=["pvc", "dg2", "bmg", "lnl", "ptl"])
    parser.add_argument("--kernels", nargs="*", default=[])
    parser.add_argument("--portable", action="store_true")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    if options.markdown:
        print("|".join(["", " kernel ", *(f" {device} " for device in options.devices), ""]))
        print("|" + "---|" * (1 + len(options.devices)))
    for name in kernels(options.kernels):
        cells = []
        for device in options.devices:
            what, why = swept(name, device, options.portable)
            counts[device, what] += 1
            cells.append(f"{what} {why}" if what == "spilled" else what)
            if what != "fine" and not options.markdown:
                print(f"{name:28} {device:7} {what:8} {why[:150]}", flush=True)
        if options.markdown:
            print("|".join(["", f" {name} ", *(f" {cell} " for cell in cells), ""]), flush=True)
    for device in options.devices:
        print(device, *(f"{what} {counts[device, what]}" for what in OUTCOMES))
    return int(any(what == "failed" for _, what in counts))


if __name__ == "__main__":
    raise SystemExit(main())
