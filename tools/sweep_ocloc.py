"""Does every operation compile for Intel GPUs that are not here?

    python tools/sweep_ocloc.py [--devices pvc bmg dg2] [--portable] [--kernels PART ...]

The kernels of tests/ir/corpus.py, which together print every operation of Triton's front end, are lowered
for each target and compiled by ocloc (TRITON_OCLOC_PATH, or the one in PATH). What is printed: kernels that
failed and why, and those that spilled. A kernel that asks a device for what it does not have (f64) is
refused by name before ocloc sees it, and counted apart. --portable: without matrix unit and 2D blocks, for
compilers that do not know their extensions.
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
sys.path[:0] = [str(ROOT / "tests")]

import triton_spirv  # noqa: E402
from triton_spirv.errors import MissingCapability, TritonSpirvError, UnsupportedOperation  # noqa: E402
from triton_spirv.native import build  # noqa: E402
from triton_spirv.target import OCLOC_DEVICES, find_target  # noqa: E402
from triton_spirv.tools import spirv_tools  # noqa: E402

REFUSALS = (UnsupportedOperation, MissingCapability)


def outcome(text: str, device: str, portable: bool) -> tuple[str, str]:
    """("fine", "spilled", "refused" or "failed", what there is to say) of one kernel on one device."""
    lanes = int(re.search(r'"ttg.threads-per-warp" = (\d+)', text)[1])  # type: ignore[index]
    target = find_target(device).with_options(sub_group_size=lanes)
    if portable:
        target = target.with_options(matrix=None, block_2d=False)
    try:
        made = triton_spirv.compile(text, target)
        spirv_tools.validate(made.words)
        binary = build.compile_spirv(made.words, OCLOC_DEVICES[device], made.entry, num_warps=made.num_warps,
                                     simd=made.sub_group_size, timeout=120)
    except REFUSALS as error:
        return "refused", str(error).splitlines()[0]
    except TritonSpirvError as error:
        return "failed", f"{type(error).__name__}: {str(error).splitlines()[0]}"
    return ("spilled", f"{binary.spill_bytes} bytes") if binary.spill_bytes else ("fine", "")


def main() -> int:
    """Print the table; status 1 where a kernel failed."""
    from ir.corpus import KERNELS, texts

    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("--devices", nargs="+", default=["pvc", "bmg", "dg2"])
    parser.add_argument("--portable", action="store_true")
    parser.add_argument("--kernels", nargs="*", default=[])
    options = parser.parse_args()
    counts: Counter[tuple[str, str]] = Counter()
    for name in KERNELS:
        if options.kernels and not any(part in name for part in options.kernels):
            continue
        text = texts(name).get("ttgir")
        if text is None:
            continue
        for device in options.devices:
            what, why = outcome(text, device, options.portable)
            counts[device, what] += 1
            if what != "fine":
                print(f"{name:28} {device:7} {what:8} {why[:150]}", flush=True)
    for device in options.devices:
        sums = (f"{what} {counts[device, what]}" for what in ("fine", "spilled", "refused", "failed"))
        print(device, *sums)
    return int(any(what == "failed" for _, what in counts))


if __name__ == "__main__":
    raise SystemExit(main())
