"""A pytest plugin: unsloth's kernels are imported without what it asks for beside Triton and torch.

Of transformers, unsloth_zoo and bitsandbytes its modules take classes that they replace and functions that
the kernels do not call; none of them is used here.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

NAMES = """unsloth_zoo unsloth_zoo.utils unsloth_zoo.loss_utils unsloth_zoo.patching_utils unsloth_zoo.log
unsloth_zoo.temporary_patches unsloth_zoo.temporary_patches.common transformers transformers.models
transformers.models.llama transformers.models.llama.modeling_llama transformers.models.mllama
transformers.models.mllama.modeling_mllama transformers.integrations transformers.integrations.finegrained_fp8
transformers.integrations.fbgemm_fp8 bitsandbytes bitsandbytes.functional""".split()


class Absent(ModuleType):
    """A module with any name in it."""

    __path__: list[str] = []
    __version__ = "0"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return MagicMock(name=name)


def pytest_configure() -> None:
    """Before the tests are loaded."""
    from packaging.version import Version

    for name in NAMES:
        sys.modules[name] = Absent(name)
    sys.modules["unsloth_zoo.utils"].Version = lambda text: Version(str(text))  # type: ignore[attr-defined]
