"""Native binaries for Intel GPUs: SPIR-V compiled ahead of time by ocloc, and honestly described.

    binary = compile_spirv(words, "pvc", "add_kernel", num_warps=4)
    binary.binary, binary.grf_count, binary.n_spills, binary.attempts

No device is needed. What is promised line by line, and the test of each line, stands in
docs/notes/native-promises.md.
"""

from .build import NativeBinary, compile_spirv, spilled_bytes
from .failures import (
    BadRequest,
    BuildFailed,
    NativeError,
    OclocNotFound,
    OclocUnusable,
    ScratchExceeded,
    Timeout,
    UnknownDevice,
)
from .ocloc import Ocloc, find
from .policy import Attempt
from .zebin import KernelFacts, describe, kind

__all__ = [
    "Attempt", "BadRequest", "BuildFailed", "KernelFacts", "NativeBinary", "NativeError", "Ocloc",
    "OclocNotFound", "OclocUnusable", "ScratchExceeded", "Timeout", "UnknownDevice", "compile_spirv",
    "describe", "find", "kind", "spilled_bytes",
]
