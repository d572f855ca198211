"""Driver binaries on disk, so that a second process does not compile again.

A file holds a checksum and the binary; a damaged file counts as absent and is replaced. The key covers
everything that a binary depends on: the SPIR-V words, the build options, the device, its driver, the
processor's features and the driver's own settings.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

from .devices import Device
from .processor import processor

_MAGIC = b"triton-spirv binary 1\n"
_DIGEST_SIZE = hashlib.sha256().digest_size


def folder() -> Path:
    """Where the binaries are: `spirv-binaries` in Triton's cache folder, found by the same variables."""
    cache = os.environ.get("TRITON_CACHE_DIR")
    home = os.environ.get("TRITON_HOME") or os.path.expanduser("~")
    return Path(cache or os.path.join(home, ".triton", "cache")) / "spirv-binaries"


def key(words: bytes, device: Device, options: str) -> str:
    """The name of the file for these words on this device."""
    settings = sorted((name, value) for name, value in os.environ.items() if name.startswith("CL_CONFIG_"))
    host = processor().key if device.kind == "cpu" else ""
    facts = (device.platform, device.name, device.driver_version, host, options, settings)
    return hashlib.sha256(hashlib.sha256(words).digest() + repr(facts).encode()).hexdigest()


def load(name: str) -> bytes | None:
    """The binary of that key; None where there is none or the file is damaged."""
    try:
        data = (folder() / name).read_bytes()
    except OSError:
        return None
    start = len(_MAGIC) + _DIGEST_SIZE
    binary = data[start:]
    if data[:start] != _MAGIC + hashlib.sha256(binary).digest():
        remove(name)
        return None
    return binary


def store(name: str, binary: bytes) -> None:
    """Keep a binary; a folder that cannot be written costs speed, not the launch."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=folder(), prefix=f"{name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(_MAGIC + hashlib.sha256(binary).digest() + binary)
        os.replace(temporary, folder() / name)  # other processes see all of it or nothing
    except OSError:
        pass


def remove(name: str) -> None:
    """Forget a binary that turned out to be useless."""
    try:
        (folder() / name).unlink()
    except OSError:
        pass
