"""Kernels given as TTGIR, for layouts and operations that the front end does not make by itself."""

from __future__ import annotations

import random
import re
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


def linear(shape: tuple[int, int], lanes: int, warps: int, seed: int, mixed: bool = False) -> str:
    """Index bits dealt out at random to registers, lanes and warps; `mixed`: and added to each other."""
    bits = [[1 << i, 0] for i in range(shape[0].bit_length() - 1)]
    bits += [[0, 1 << i] for i in range(shape[1].bit_length() - 1)]
    generator = random.Random(seed)
    generator.shuffle(bits)
    if mixed:
        for i in range(1, len(bits)):
            for other in bits[:i]:
                if generator.random() < 0.4:
                    bits[i] = [x ^ y for x, y in zip(bits[i], other, strict=True)]
        generator.shuffle(bits)
    lane, warp = (n.bit_length() - 1 for n in (lanes, warps))
    parts = bits[:lane], bits[lane:lane + warp], bits[lane + warp:]
    padded = [part + [[0, 0]] * (n - len(part)) for part, n in zip(parts, (lane, warp, 0), strict=True)]
    return f"#ttg.linear<{{register = {padded[2]}, lane = {padded[0]}, warp = {padded[1]}, block = []}}>"


def spread(text: str, lanes: int, warps: int) -> str:
    """A kernel in TTIR as TTGIR: tensors, of one dimension, are spread over lanes, two neighbours in each."""
    layout = (f"#spread = #ttg.blocked<{{sizePerThread = [2], threadsPerWarp = [{lanes}], "
              f"warpsPerCTA = [{warps}], order = [0]}}>")
    function = text[text.index("tt.func"):text.rindex("tt.return")].rpartition("\n")[0]
    head, _, body = function.partition("{\n")
    parameters = re.search(r"\((.*)\)", head)
    assert parameters, head
    body = re.sub(r"tensor<(\d+x(?:[^<>]|<[^<>]*>)*)>", r"tensor<\1, #spread>", body)
    return module(body, parameters[1], layout, warps, lanes)


def launched(text: str, *arguments: Any, lanes: int = 16, **target: Any) -> triton_spirv.Artifact:
    """Compile a module for the CPU device with lanes (`target` changes it), validate it, run one program."""
    device = TARGETS["cpu-simt" if lanes == 16 else f"cpu-simt{lanes}"]
    artifact = triton_spirv.compile(text, device.with_options(**target))
    spirv_tools.validate(artifact.words, "spv1.3")
    handmade.bind(artifact).launch(1, 1, 1, [
        x if isinstance(x, int) else triton_spirv.asarray(x) for x in arguments])
    return artifact
