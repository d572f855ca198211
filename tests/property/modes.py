"""What selects a mode in a new process, and how many lanes it has.

The long run, which starts processes, imports this, without Triton and torch."""

from __future__ import annotations

import family
from conftest import MODES
from triton_spirv.target import find_target

INTERPRETER = "interpreter"
#: in front of a mode: each launch is compared with the kernel compiled without optimisations
COMPILER = "compiler-"


def environment(mode: str) -> dict[str, str]:
    """The variables that select a mode, for a new process."""
    if mode == INTERPRETER:
        return {"TRITON_INTERPRET": "1"}
    if mode.startswith(COMPILER):
        return {"TRITON_SPIRV_CHECK": "compiler", **environment(without_check(mode))}
    return {"TRITON_SPIRV_BACKEND": "1", **MODES.get(mode, {"TRITON_SPIRV_TARGET": mode})}


def without_check(mode: str) -> str:
    """The mode whose launches are compared; any other is itself."""
    return mode.removeprefix(COMPILER)


def lanes_of(mode: str) -> int:
    """The work-items of a warp, in modes that spread a tensor over them; else 0."""
    mode = without_check(mode)
    if mode in ("vulkan", family.NARROW):
        return 8
    name = environment(mode).get("TRITON_SPIRV_TARGET", "")
    name = f"cpu-{name}" if name.startswith("simt") else name  # short for it in the variable
    target = find_target(name) if name else None
    return target.sub_group_size if target and target.lanes else 0
