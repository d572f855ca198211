"""`triton-spirv targets`: the names that --target and TRITON_SPIRV_TARGET take."""

from __future__ import annotations

import argparse

from .output import Output

EXAMPLES = ("targets", "targets --json")

#: target, or the part of its name before `-` or `:` -> what it is
MEANING = {
    "cpu": "a CPU, through Intel's OpenCL CPU runtime", "host": "this machine's CPU, with all its features",
    "cpu-simt": "GPU-style code on a CPU, to try it without a GPU", "opencl-gpu": "any OpenCL GPU",
    "pvc": "Intel Data Center GPU Max", "dg2": "Intel Arc A series", "bmg": "Intel Arc B series",
    "arl": "Intel Core Ultra 200 (Arrow Lake H)", "mtl": "Intel Core Ultra 100 (Meteor Lake)",
    "lnl": "Intel Core Ultra 200V", "ptl": "Intel Panther Lake", "nvl-p": "Intel Nova Lake P",
    "cri": "Intel Crescent Island", "tgl": "Intel Core of 2020 (Tiger Lake)",
    "vulkan": "any Vulkan 1.2 device", "lavapipe": "Mesa's software Vulkan device",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, out: Output) -> int:
    """A row for each target."""
    from ..aot.targets import named, names

    found = [(name, named(name)) for name in names()]
    if options.json:
        out.json([{"target": name, "environment": target.environment, "vector_width": target.vector_width,
                   "lanes": target.sub_group_size if target.lanes else 1} for name, target in found])
        return 0
    out.table(("target", "for", "environment", "lanes", "vectors"),
              [(name, meaning(name), target.environment, target.sub_group_size if target.lanes else "",
                "" if target.lanes else target.vector_width) for name, target in found])
    return 0


def meaning(name: str) -> str:
    """What the target is, with what the rest of its name adds."""
    if name in MEANING:
        return MEANING[name]
    _, colon, architecture = name.partition(":")
    if colon:
        return f"a CPU with {architecture}"
    family = max((known for known in MEANING if name.startswith(known)), key=len, default="")
    rest = name.removeprefix(family).lstrip("-")
    if not family:
        return ""
    if rest == "2022":
        return f"{MEANING[family]}, as ocloc of 2022 can compile for it"
    return f"{MEANING[family]}, {rest} lanes"
