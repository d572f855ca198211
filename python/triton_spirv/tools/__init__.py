"""External programs: finding them, running them, and saying how to repeat what failed."""

from .process import find, run
from .spirv_tools import disassemble, optimize, validate

__all__ = ["disassemble", "find", "optimize", "run", "validate"]
