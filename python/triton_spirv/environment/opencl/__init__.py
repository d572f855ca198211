"""SPIR-V for OpenCL."""

from .environment import OpenCL

__all__ = ["OpenCL"]
