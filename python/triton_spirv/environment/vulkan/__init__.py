"""SPIR-V for Vulkan."""

from .environment import Vulkan

__all__ = ["Vulkan"]
