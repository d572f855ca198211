"""triton-spirv: Triton kernels through SPIR-V, without a compiler toolchain.

Importing this package imports neither triton, pyopencl nor numpy: names are fetched from their modules when
they are used.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

#: public name -> the module that has it
_HOMES = {
    "compile": "compiler", "Artifact": "artifact", "Parameter": "artifact",
    "Target": "target", "TARGETS": "target",
    "enable": "switch", "disable": "switch", "backend": "switch",
    "asarray": "placement", "empty": "placement", "zeros": "placement", "Array": "arrays",
    "devices": "runtime.devices",
    "precompile": "precompilation", "bind": "bound",
    "graph": "graphs", "Graph": "graphs",
    "torch_cpu_as_cuda": "torch_as_cuda",
    "mark_uninitialised": "unwritten", "checked": "checking", "CheckError": "checking", "Finding": "checking",
}

#: public modules that are imported when they are used
_MODULES = ("inductor",)

__all__ = [*_HOMES, *_MODULES, "__version__"]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted(__all__)
