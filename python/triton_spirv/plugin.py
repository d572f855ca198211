"""The way from this package to the one part that imports Triton.

Nothing below the plugin imports Triton, so what needs its front end (compiling ahead of time from Python
source, the configurations of an autotuner) asks here. The plugin is found as Triton finds it: by the entry
point `spirv` of the group `triton.backends`, whose value is a package.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from types import ModuleType

from .errors import UsageError

GROUP, NAME = "triton.backends", "spirv"


def front_end(module: str = "aot") -> ModuleType:
    """A module of third_party/spirv/backend; UsageError where it or Triton is not installed."""
    for point in importlib.metadata.entry_points(group=GROUP, name=NAME):
        try:
            return importlib.import_module(f"{point.value}.{module}")
        except ModuleNotFoundError as error:
            if error.name != "triton":
                raise
            raise UsageError("compiling from Python source needs Triton: pip install 'triton>=3.6,<3.10'; "
                             "IR files (.ttir, .ttgir) compile without it") from None
    raise UsageError("triton-spirv is not installed in this environment, so Triton cannot find it: "
                     "run 'pip install -e .' in its folder")
