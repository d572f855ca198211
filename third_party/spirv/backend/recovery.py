"""What remains of a kernel in Triton's cache when its binary is damaged, or the driver refuses it: the module
that was kept beside a native binary, or the Triton IR that the module was made of.

Nothing is believed that does not have the digest which was written down when the kernel was compiled.
"""

from __future__ import annotations

import base64
import hashlib
import os
import warnings
from typing import Any

import triton_spirv
from triton import knobs
from triton.runtime.cache import CacheManager, get_cache_manager
from triton_spirv.errors import LaunchError, TritonSpirvError

from .native_stage import kept_name


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def is_whole(metadata: Any, binary: bytes) -> bool:
    """Is this what the kernel's compilation made?"""
    return digest(binary) == (metadata.native_digest or metadata.spirv_digest)


def spirv_words(metadata: Any) -> bytes:
    """The SPIR-V module of the kernel; LaunchError where all of it is lost."""
    manager = get_cache_manager(metadata.hash)
    path = manager.get_file(kept_name(metadata.name))
    if path is not None:
        with open(path, "rb") as file:
            words = file.read()
        if digest(words) == metadata.spirv_digest:
            return words
    again = _emitted_again(manager, metadata)
    if again is None:
        folder = base64.b32encode(bytes.fromhex(metadata.hash)).decode().rstrip("=")  # as Triton names it
        raise LaunchError(f"the cached SPIR-V of {metadata.name} is damaged; delete the folder "
                          f"{os.path.join(knobs.cache.dir, folder)}, or set TRITON_ALWAYS_COMPILE=1")
    return again


def replace_damaged(metadata: Any, words: bytes) -> None:
    """Make the cache good again, so that the next process finds no damage: SPIR-V is written anew; of a
    kernel with a native binary the metadata go, and Triton compiles it again. (Triton 3.6 takes a kernel for
    whole if it has its metadata.)"""
    manager = get_cache_manager(metadata.hash)
    name = metadata.name[:150]
    warnings.warn(f"the cached binary of {metadata.name} is damaged; it is built again from what is left",
                  RuntimeWarning, stacklevel=2)
    if not metadata.native_digest:
        manager.put(words, f"{name}.spv")
        return
    path = manager.get_file(f"{name}.json")
    if path is not None:
        os.unlink(path)


def _emitted_again(manager: CacheManager, metadata: Any) -> bytes | None:
    """The module made once more of the stored IR, if it is the very same."""
    from .stages import emitter_options
    from .targets import emitter_target

    target = emitter_target(metadata.target)
    path = manager.get_file(f"{metadata.name[:150]}.{'ttgir' if target.lanes else 'ttir'}")
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            made = triton_spirv.compile(file.read(), target, **emitter_options(metadata))
    except (TritonSpirvError, UnicodeDecodeError):
        return None
    return made.words if digest(made.words) == metadata.spirv_digest else None
