"""A second family of devices, as a target of the tests' own making: no rule knows it.

Sub-groups of 32 lanes, 64 kB of shared memory, no 64-bit floats, no atomic additions of floats, one kernel
argument for each parameter. The CPU device runs it, so the operation tests do (`--spirv-modes family`).
"""

from __future__ import annotations

from triton_spirv.target import TARGETS, Target

NAME = "family"

TARGET = Target(
    NAME,
    spirv_version=(1, 3),
    capabilities=frozenset({
        "Kernel", "Addresses", "Linkage", "Vector16", "Int8", "Int16", "Int64", "Float16", "Float16Buffer",
        "SubgroupDispatch", "GroupNonUniformShuffle", "Int64Atomics", "FPFastMathModeINTEL", "ShaderClockKHR",
        "OptNoneEXT",
    }),
    vector_width=1,
    max_registers=1 << 30,
    sub_group_size=32,
    sub_group_sizes=(32,),
    shared_bytes=64 * 1024,
    float64=False,
    optimised_size=200,
)

TARGETS[NAME] = TARGET


def refuses(error: Exception) -> bool:
    """Is this the refusal of a kernel that computes with 64-bit floats?"""
    return f"target {NAME} has no 64-bit floats" in str(error)
