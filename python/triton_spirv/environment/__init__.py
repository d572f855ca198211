"""Environments: OpenCL SPIR-V (and, by the same interface, others)."""

from .base import Environment, Parameter
from .opencl import OpenCL
from .vulkan import Vulkan

__all__ = ["Environment", "OpenCL", "Parameter", "Vulkan"]
