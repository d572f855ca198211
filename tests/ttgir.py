"""Kernels given as TTGIR, for layouts and operations that the front end does not make by itself."""

from __future__ import annotations

from typing import Any

import handmade
import triton_spirv
from triton_spirv.target import TARGETS
from triton_spirv.tools import spirv_tools

MODULE = """{aliases}
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = {warps} : i32, ttg.target = "spirv:test",
                    "ttg.threads-per-warp" = {lanes} : i32}} {{
  tt.func public @kernel({parameters}) attributes {{noinline = false}} {{
{body}
    tt.return
  }}
}}
"""


def module(body: str, parameters: str, aliases: str = "", warps: int = 4, lanes: int = 16) -> str:
    """A module whose kernel has these parameters and this body."""
    return MODULE.format(body=body, parameters=parameters, aliases=aliases, warps=warps, lanes=lanes)


def launched(text: str, *arguments: Any, lanes: int = 16, **target: Any) -> triton_spirv.Artifact:
    """Compile a module for the CPU device with lanes (`target` changes it), validate it, run one program."""
    device = TARGETS["cpu-simt" if lanes == 16 else f"cpu-simt{lanes}"]
    artifact = triton_spirv.compile(text, device.with_options(**target))
    spirv_tools.validate(artifact.words, "spv1.3")
    handmade.bind(artifact).launch(1, 1, 1, [
        x if isinstance(x, int) else triton_spirv.asarray(x) for x in arguments])
    return artifact
