"""Running SPIR-V through Vulkan: devices and what they offer, memory, pipelines, launches, device arrays.

Everything goes through ctypes on the Vulkan loader (`libvulkan.so.1`): a launch is a handful of calls with
plain integers, and what drivers report today (bfloat16, float controls 2) is newer than the headers that
Python bindings carry. `structures.py` holds the few structures this takes, checked by a test against such a
binding. Nothing of it is imported before a device of Vulkan's is meant: here is what tells.
"""

from __future__ import annotations

PREFIX = "vulkan"


def is_vulkan(choice: str) -> bool:
    """Does the choice ask for a Vulkan device?"""
    return choice.lower().partition(":")[0] == PREFIX


def is_target_name(name: str) -> bool:
    """Is it the name of a Vulkan device's target?"""
    return name.startswith(f"{PREFIX}-")
