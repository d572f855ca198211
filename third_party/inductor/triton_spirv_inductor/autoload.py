"""TRITON_SPIRV_INDUCTOR=1: torch.compile uses triton-spirv in a program that does not say so.

torch calls `follow_the_variable` when it is imported. Importing Inductor then would cost each program a
second, so the switch is turned when the program has imported Inductor's compiler itself.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

VARIABLE, OFF = "TRITON_SPIRV_INDUCTOR", ("", "0", "off", "false", "no")

#: the module that every way into Inductor imports
COMPILER = "torch._inductor.compile_fx"


def follow_the_variable() -> None:
    """Turn Inductor to Triton kernels when it is imported, if the variable says so."""
    if os.environ.get(VARIABLE, "").strip().lower() not in OFF:
        sys.meta_path.insert(0, _Finder())


class _Finder(MetaPathFinder):
    """Finds one module, once: what the others find, with another loader."""

    def find_spec(self, name: str, path: Sequence[str] | None,
                  target: ModuleType | None = None) -> ModuleSpec | None:
        if name != COMPILER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            spec.loader = _Enabling(spec.loader)
        return spec


class _Enabling(Loader):
    """Loads as another loader does; then the switch is turned."""

    def __init__(self, loader: Any) -> None:
        self.loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self.loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        from triton_spirv.settings import flag

        from . import switching

        self.loader.exec_module(module)
        if flag(VARIABLE, False):  # UsageError for a word that is none
            switching.enable()
