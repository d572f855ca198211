"""Damaged files in Triton's cache: a kernel whose metadata or texts cannot be read is compiled again.

Triton reads them without a check, and a kernel with a damaged one could not be launched until somebody
deleted its folder. No hook stands between the two, so the function by which Triton's cache managers give a
kernel's files is wrapped: kernels of other backends pass it untouched.
"""

from __future__ import annotations

import functools
import os
import warnings
from typing import Any

from triton import knobs
from triton.runtime.cache import FileCacheManager
from triton_spirv.artifact import metadata_of


def notice() -> None:
    """From now on, with the cache manager that is in use; once is enough for each."""
    manager: Any = knobs.cache.manager_class or FileCacheManager
    if hasattr(getattr(manager, "get_group", None), "notices_damage") or not hasattr(manager, "get_group"):
        return
    original = manager.get_group

    @functools.wraps(original)
    def get_group(self: Any, filename: str) -> dict[str, str] | None:
        try:
            group = original(self, filename)
        except (AttributeError, ValueError):  # no list, or (3.6) no JSON: as if it were none
            return None
        damaged = _damaged(group, filename) if group else ""
        if not damaged:
            return group
        warnings.warn(f"{damaged} in Triton's cache is damaged; the kernel is compiled again",
                      RuntimeWarning, stacklevel=2)
        return None

    get_group.notices_damage = True  # type: ignore[attr-defined]
    manager.get_group = get_group


def _damaged(group: dict[str, str], filename: str) -> str:
    """The first file of a kernel of this backend that Triton could not read; empty where it can."""
    kinds = {os.path.splitext(name)[1] for name in group}
    if ".spvasm" not in kinds or filename not in group:
        return ""
    for name, path in group.items():
        if name.endswith((".spv", ".spirv")):
            continue  # have a digest, see recovery.py
        try:
            with open(path, encoding="utf-8") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError):
            return path
        if name == filename and metadata_of(text) is None:
            return path
    return ""
