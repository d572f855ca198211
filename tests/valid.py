"""spirv-val's verdict without its process, which takes ten times as long as what it finds out: the library
that it is made of, in this process."""

from __future__ import annotations

import ctypes
import functools

from triton_spirv.tools import process, spirv_tools

LIBRARY = "libSPIRV-Tools-shared.so"


class Binary(ctypes.Structure):
    """`spv_const_binary_t`: words, and how many."""

    _fields_ = [("code", ctypes.c_char_p), ("words", ctypes.c_size_t)]


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library beside spirv-val; None where a package has the program alone."""
    path = process.find("spirv-val", spirv_tools.HINT).parent.parent / "lib" / LIBRARY
    try:
        found = ctypes.CDLL(str(path))
    except OSError:
        return None
    found.spvContextCreate.restype = ctypes.c_void_p
    found.spvValidate.argtypes = [ctypes.c_void_p, ctypes.POINTER(Binary), ctypes.c_void_p]
    return found


@functools.cache
def context(environment: str) -> int:
    """What the library wants to know of an environment, by spirv-val's name of it."""
    tools, number = library(), ctypes.c_int()
    assert tools is not None and tools.spvParseTargetEnv(environment.encode(), ctypes.byref(number))
    return tools.spvContextCreate(number)


def validate(words: bytes, environment: str | None) -> None:
    """`spirv_tools.validate`: that says what is wrong where the library says that something is."""
    if library() is not None:
        name = environment or f"spv{words[6]}.{words[5]}"
        if library().spvValidate(context(name), Binary(words, len(words) // 4), None) == 0:
            return
    spirv_tools.validate(words, environment)
