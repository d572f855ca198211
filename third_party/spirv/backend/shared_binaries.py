"""The driver's binaries in the cache that machines share: Triton's own, where one is configured.

Triton's remote cache (`TRITON_CACHE_MANAGER`, `TRITON_REMOTE_CACHE_BACKEND`) holds what Triton compiles. What
the driver makes of it goes there too, under keys of its own, so that a second machine with the same processor
or GPU and the same driver compiles nothing at all.
"""

from __future__ import annotations

import warnings

from triton import knobs
from triton.runtime.cache import FileCacheManager, get_cache_manager
from triton_spirv.runtime import binary_cache

_FILE = "driver.bin"


class TritonCache:
    """Triton's cache manager as `binary_cache.Remote`; a file cache alone shares nothing and is left out."""

    def get(self, name: str) -> bytes | None:
        if not self._shares():
            return None
        try:
            path = get_cache_manager(name).get_file(_FILE)
            if path is None:
                return None
            with open(path, "rb") as file:
                return file.read()
        except Exception as error:  # of whatever backend the user has configured
            self._complain(error)
            return None

    def put(self, name: str, data: bytes) -> None:
        if not self._shares():
            return
        try:
            get_cache_manager(name).put(data, _FILE)
        except Exception as error:
            self._complain(error)

    def _shares(self) -> bool:
        manager = knobs.cache.manager_class
        return manager is not None and manager is not FileCacheManager

    def _complain(self, error: Exception) -> None:
        warnings.warn(f"the shared cache is out of reach, so the driver compiles: {error}", RuntimeWarning,
                      stacklevel=3)


def mend_redis_settings() -> None:
    """Triton's Redis cache reads its settings where no version up to 3.9 has them, `knobs.cache.redis`; they
    are `knobs.redis`. Called before Triton asks for its cache."""
    if not hasattr(knobs.cache, "redis") and hasattr(knobs, "redis"):
        knobs.cache.redis = knobs.redis


def connect() -> None:
    """From now on the runtime's binaries go to the shared cache too."""
    binary_cache.remote = TritonCache()
