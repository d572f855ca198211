"""A pytest plugin: packages whose modules are imported without what the package itself imports.

BARE_PACKAGES names them, with commas. A package's `__init__.py` may ask for an extension compiled for CUDA or
for all that the library can use, where its kernels ask for Triton and torch.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType


def pytest_configure() -> None:
    """Before the tests are loaded."""
    for name in os.environ.get("BARE_PACKAGES", "").split(","):
        folders = [Path(entry, *name.split(".")) for entry in sys.path]
        package = ModuleType(name)
        package.__path__ = [str(folder) for folder in folders if folder.is_dir()]
        sys.modules[name] = package
