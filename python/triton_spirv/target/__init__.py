"""Targets: what a device (or a family of devices) offers, as data that the emitter asks.

capabilities.py has the fields, group by group, device.py the type that has them all, known.py the devices.
"""

from .capabilities import LARGE_WARPS, Matrix
from .device import MOST, Requirement, Target
from .known import (
    ACCUMULATORS,
    CHOOSING,
    CPU,
    CPU_MATRIX,
    CPU_SIMT,
    INTEL,
    INTEL_GPUS,
    LAVAPIPE,
    OCLOC_DEVICES,
    PRODUCTS,
    PVC,
    REPORTED,
    SIXTEEN_COLUMNS,
    TARGETS,
    VULKAN,
    VULKAN_CAPABILITIES,
    VULKAN_LEAST,
    cpu_target,
    family_of,
    find_target,
    is_other_cpu,
    ocloc_device,
    reported_cpu_target,
    reported_target,
)
from .optimisations import OPTIMISATIONS, REORDERING, left_out

__all__ = [
    "ACCUMULATORS",
    "CHOOSING",
    "CPU",
    "CPU_MATRIX",
    "CPU_SIMT",
    "INTEL",
    "INTEL_GPUS",
    "LARGE_WARPS",
    "LAVAPIPE",
    "MOST",
    "OCLOC_DEVICES",
    "OPTIMISATIONS",
    "PRODUCTS",
    "PVC",
    "REORDERING",
    "REPORTED",
    "SIXTEEN_COLUMNS",
    "TARGETS",
    "VULKAN",
    "VULKAN_CAPABILITIES",
    "VULKAN_LEAST",
    "Matrix",
    "Requirement",
    "Target",
    "cpu_target",
    "family_of",
    "find_target",
    "is_other_cpu",
    "left_out",
    "ocloc_device",
    "reported_cpu_target",
    "reported_target",
]
