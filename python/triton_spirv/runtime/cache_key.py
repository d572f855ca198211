"""A key that caches can demand: entries carry a tag that only who has the key can make.

    TRITON_SPIRV_CACHE_KEY_FILE=FILE      a file of 32 bytes or more that is not in the cache

With a key, what is written to the folder of driver binaries and to a cache that machines share is sealed:
HMAC-SHA256 over the entry's name and contents stands before the contents. What has no valid tag counts as
absent and is made again; it never reaches a driver. Without a key, sealed entries are read like others.
"""

from __future__ import annotations

import functools
import hashlib
import hmac
import os
from pathlib import Path

from ..errors import UsageError

VARIABLE = "TRITON_SPIRV_CACHE_KEY_FILE"
LEAST_BYTES = 32

#: how a sealed entry begins; the tag follows, then the contents
MAGIC = b"triton-spirv sealed 1\n"
_START = len(MAGIC) + hashlib.sha256().digest_size


def key() -> bytes | None:
    """The key; None where none is demanded. UsageError for a file that cannot be read or is too short."""
    path = os.environ.get(VARIABLE, "").strip()
    return _read(path) if path else None


@functools.cache
def _read(path: str) -> bytes:
    try:
        data = Path(path).read_bytes().strip()
    except OSError as error:
        raise UsageError(f"{VARIABLE}={path} cannot be read: {error.strerror}") from None
    if len(data) < LEAST_BYTES:
        raise UsageError(f"{VARIABLE}={path} has {len(data)} bytes; a key has {LEAST_BYTES} at least: "
                         f"'openssl rand -hex 32 > {path}' makes one")
    return data


def sealed(name: str, data: bytes) -> bytes:
    """The entry as it is stored: with a tag where there is a key."""
    secret = key()
    return data if secret is None else MAGIC + _tag(secret, name, data) + data


def opened(name: str, contents: bytes) -> bytes | None:
    """The contents of an entry; None where a key is demanded and the tag is not its."""
    secret, is_sealed = key(), contents.startswith(MAGIC)
    data = contents[_START:] if is_sealed else contents
    if secret is None:
        return data
    right = is_sealed and hmac.compare_digest(contents[len(MAGIC):_START], _tag(secret, name, data))
    return data if right else None


def _tag(secret: bytes, name: str, data: bytes) -> bytes:
    text = name.encode()
    return hmac.new(secret, len(text).to_bytes(8, "little") + text + data, hashlib.sha256).digest()
