"""Compute shaders of one sub-group that a test writes instruction by instruction."""

from __future__ import annotations

from typing import Any

from triton_spirv.artifact import Artifact
from triton_spirv.artifact import Parameter as ArtifactParameter
from triton_spirv.environment import Parameter, Vulkan
from triton_spirv.spirv import Float
from triton_spirv.spirv.builder import Builder
from triton_spirv.spirv.passes.pipeline import run_passes
from triton_spirv.target import LAVAPIPE, Target


def module(parameters: list[Parameter], body: Any, target: Target = LAVAPIPE) -> Artifact:
    """A kernel of one sub-group; `body(b, env, values)` writes it."""
    b = Builder(Vulkan.module(target))
    env = Vulkan(b, target)
    body(b, env, env.begin_kernel("kernel", parameters, target.sub_group_size))
    b.emit("OpReturn")
    run_passes(b.module, b.module.functions[-1], env.passes(), verified=True)
    env.end_kernel()
    lanes = target.sub_group_size
    return Artifact(b.module.words(), "kernel",
                    tuple(ArtifactParameter(p.name, p.type) for p in parameters), passing=env.passing,
                    written=(True,) * len(parameters), local_size=(lanes, 1, 1), sub_group_size=lanes,
                    num_warps=1, target=target)


def pointer(name: str, bits: int, kind: Any = Float) -> Parameter:
    return Parameter(name, "ptr", kind(bits))
