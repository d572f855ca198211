"""The targets that the machine stands for, and the modes of the tests that run kernels on it."""

from __future__ import annotations

from typing import Any

from triton_spirv.target import LAVAPIPE, TARGETS, VULKAN_LEAST, Target

PREFIX = "machine-"

#: a Vulkan device like today's GPUs: narrow types everywhere, shared memory as one space
RICH = LAVAPIPE.with_options(
    rounded=frozenset(), unrolled=1024, knows_extensions=True, joins_conversions=True,
    float_controls=frozenset(("SignedZeroInfNanPreserve", bits) for bits in (16, 32, 64)),
    push_bytes=256, paired=(4, 24576),
    capabilities=(LAVAPIPE.capabilities or frozenset()) | {
        "UniformAndStorageBuffer8BitAccess", "UniformAndStorageBuffer16BitAccess", "AtomicFloat64AddEXT",
        "WorkgroupMemoryExplicitLayoutKHR", "WorkgroupMemoryExplicitLayout8BitAccessKHR",
        "WorkgroupMemoryExplicitLayout16BitAccessKHR", "CooperativeMatrixKHR",
    },
    matrices=((16, 16, 16, "f16", "f16", "f32", "f32"), (16, 16, 16, "f16", "f16", "f16", "f16"),
              (16, 16, 32, "i8", "i8", "i32", "i32")),
)
#: and one with the least that kernels ask for
POOR = LAVAPIPE.with_options(
    capabilities=VULKAN_LEAST | {"Float64", "SignedZeroInfNanPreserve"}, rounded=frozenset(), push_bytes=128,
    float_controls=frozenset(("SignedZeroInfNanPreserve", bits) for bits in (32, 64)))


def _vulkan(like: Target, name: str, lanes: int, kilobytes: int) -> Target:
    target = like.with_options(name=f"{PREFIX}{name}", sub_group_size=lanes, sub_group_sizes=(lanes,),
                               shared_bytes=kilobytes * 1024)
    if lanes != 32:
        target = target.with_options(matrices=())
    TARGETS[target.name] = target
    return target


VULKANS = tuple(
    _vulkan(like, f"{name}{lanes}{'' if kilobytes == 48 else f'-{kilobytes}k'}", lanes, kilobytes)
    for name, like in (("vulkan", RICH), ("poor", POOR)) for lanes in (32, 64) for kilobytes in (48, 16, 8))

#: mode -> the environment that selects its target
MODES: dict[str, dict[str, str]] = {
    f"{PREFIX}vector": {},
    f"{PREFIX}vector-amx": {"TRITON_SPIRV_TARGET": "cpu:sapphirerapids"},
    f"{PREFIX}vector-pairs": {"TRITON_SPIRV_TARGET": "cpu:znver4"},
    f"{PREFIX}vector-avx512": {"TRITON_SPIRV_TARGET": "cpu:x86_64-v4"},
    **{f"{PREFIX}{name}": {"TRITON_SPIRV_TARGET": name}
       for name in ("pvc", "bmg", "lnl", "ptl", "dg2", "tgl", "pvc-2022", "dg2-2022", "opencl-gpu", "simt",
                    "simt8", "simt32", "family", "crowded", "lavapipe")},
    **{name: {"TRITON_SPIRV_TARGET": name}
       for name in (*(target.name for target in VULKANS), f"{PREFIX}scarce")},  # the last: tests/scarce.py
}


def is_machine(mode: Any) -> bool:
    """Is it a mode whose kernels the machine executes?"""
    return str(mode) in MODES
