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


#: A Vulkan device without 8- and 16-bit storage, and without f16: the tests' device, and these hidden.
NARROW = "narrow"
HIDDEN = frozenset({
    "Float16", "StorageBuffer8BitAccess", "StorageBuffer16BitAccess", "UniformAndStorageBuffer8BitAccess",
    "UniformAndStorageBuffer16BitAccess", "WorkgroupMemoryExplicitLayout8BitAccessKHR",
    "WorkgroupMemoryExplicitLayout16BitAccessKHR",
})


def add_narrow(device: str) -> None:
    """Make that target known, from the Vulkan device of such a choice."""
    if NARROW in TARGETS:
        return
    from triton_spirv.runtime.vulkan.devices import choose
    from triton_spirv.runtime.vulkan.target import target_of

    whole = target_of(choose(device))
    assert whole.capabilities is not None
    controls = frozenset((mode, bits) for mode, bits in whole.float_controls if bits > 16)
    TARGETS[NARROW] = whole.with_options(name=NARROW, capabilities=whole.capabilities - HIDDEN,
                                         float_controls=controls)


def refuses(error: Exception) -> bool:
    """Is this the refusal of a kernel that computes with 64-bit floats?"""
    return f"target {NAME} has no 64-bit floats" in str(error)
