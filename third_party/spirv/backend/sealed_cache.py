"""Triton's remote cache where a key is demanded (triton_spirv.runtime.cache_key): what Triton puts there,
kernels and their metadata included, is sealed; what comes from there without a valid tag counts as absent.
"""

from __future__ import annotations

import warnings
from typing import Any

from triton import knobs
from triton.runtime.cache import FileCacheManager, RemoteCacheBackend, RemoteCacheManager
from triton_spirv.runtime import cache_key


class SealedBackend(RemoteCacheBackend):
    """The backend that the user has configured, behind seals."""

    inner: Any = None

    def __init__(self, key: str) -> None:
        self.key, self.backend = key, type(self).inner(key)

    def get(self, filenames: list[str]) -> dict[str, bytes]:
        """Those files that are there and have a valid tag."""
        found: dict[str, bytes] = {}
        for filename, stored in self.backend.get(filenames).items():
            data = cache_key.opened(f"{self.key}/{filename}", stored)
            if data is None:
                warnings.warn(f"the shared cache's {filename} is not signed with the key in "
                              f"{cache_key.VARIABLE}, so it is not used; it is made again",
                              RuntimeWarning, stacklevel=2)
            else:
                found[filename] = data
        return found

    def put(self, filename: str, data: bytes) -> Any:
        return self.backend.put(filename, cache_key.sealed(f"{self.key}/{filename}", data))


def demand_key() -> None:
    """From now on Triton's remote cache is sealed, if a key is demanded. A cache manager of another kind
    cannot be sealed: Triton keeps to its folder then."""
    manager = knobs.cache.manager_class
    if cache_key.key() is None or manager is None or manager is FileCacheManager:
        return
    backend = knobs.cache.remote_manager_class
    if not (isinstance(manager, type) and issubclass(manager, RemoteCacheManager)):
        warnings.warn(f"{cache_key.VARIABLE} is set, and {manager.__qualname__} is no RemoteCacheManager, "
                      "whose entries could be sealed: kernels are kept in the local folder only",
                      RuntimeWarning, stacklevel=2)
        knobs.cache.manager_class = FileCacheManager
    elif backend is not None and not issubclass(backend, SealedBackend):
        knobs.cache.remote_manager_class = type("SealedBackend", (SealedBackend,), {"inner": backend})
