"""A part of the selftest, in a process of its own: names; cases NAME ...; figures [small].

It writes a line of JSON before and behind each step, so that whoever reads knows in which one it ended.
"""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any


def say(**facts: Any) -> None:
    """One line."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def run_cases(names: list[str]) -> None:
    """Cases by name, in order."""
    from triton_spirv.errors import MissingCapability

    from .cases import CASES, LOOKED_AT, Wrong, synchronize

    for name in names:
        say(begins=name)
        begin, facts = time.perf_counter(), dict[str, Any]()
        try:
            made = CASES[name]()
            synchronize()
            facts = {"state": "passed"}
            if name in LOOKED_AT and made is not None:
                facts["code"] = machine_code(made)
        except Wrong as error:
            facts = {"state": "wrong", "reason": str(error)}
        except MissingCapability as error:
            facts = {"state": "refused", "reason": str(error).splitlines()[0]}
        except Exception as error:  # whatever a driver does is worth a line
            facts = {"state": "failed", "reason": f"{type(error).__name__}: {error}"[:2000],
                     "traceback": traceback.format_exc()[-3000:]}
        say(name=name, seconds=round(time.perf_counter() - begin, 2), **facts)


def machine_code(made: Any) -> dict[str, Any]:
    """What ocloc makes of the kernel for this device; why not, where it does not."""
    from triton_spirv.errors import TritonSpirvError
    from triton_spirv.isa import statistics
    from triton_spirv.runtime import devices

    from ..targets import chosen_vulkan

    if chosen_vulkan() is not None:
        return {"none": "statistics are of OpenCL devices"}
    device = devices.choose(devices.selection())
    if device.kind != "gpu":
        return {"none": "statistics are of GPUs"}
    try:
        found = statistics(made.asm["spv"], devices.native_name(device), made.metadata.name,
                           num_warps=made.metadata.num_warps)
    except TritonSpirvError as error:
        return {"none": f"{type(error).__name__}: {error}".splitlines()[0]}
    native = found.native
    return {"simd": native.simd_size, "registers": native.grf_count, "spilled_dwords": native.n_spills,
            "shared_bytes": native.slm_size, "code_bytes": found.code_bytes, "matrix_engine": native.has_dpas,
            "instructions": found.whole.instructions if found.whole else None, "ocloc": native.ocloc_version}


def run_figures(small: bool) -> None:
    """All of them."""
    from .figures import figures

    is_weak, place = power()
    for one in figures(small or is_weak, place):
        say(**one)


def power() -> tuple[bool, str]:
    """Is the device one without much power, and where are arrays to be made for it?"""
    from triton_spirv.runtime import devices, unified_memory

    from ..targets import chosen_vulkan

    chosen = chosen_vulkan()
    if chosen is not None:
        return chosen.kind == "cpu", devices.selection()
    device = devices.choose(devices.selection())
    own = device.kind == "gpu" and unified_memory.EXTENSION in device.extensions
    return device.kind == "cpu", devices.name_of(device) if own else ""


def main(arguments: list[str]) -> None:
    part, *names = arguments
    if part == "cases":
        run_cases(names)
    elif part == "figures":
        run_figures("small" in names)
    else:
        say(cases=list(_all_names()))


def _all_names() -> Iterator[str]:
    from .cases import CASES

    yield from CASES


if __name__ == "__main__":
    main(sys.argv[1:])
