"""Driver binaries on disk, so that a second process does not compile again; and, where one is configured, in
a cache that machines share, so that a second machine does not either.

A file holds a checksum, a few facts about the build, and the binary; a damaged file counts as absent and is
replaced, and so does one without a valid tag where a key is demanded (cache_key.py). The name covers
everything that a binary depends on: the SPIR-V words, the build options, the device, its driver, the
processor's features and the driver's own settings.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Protocol, TypedDict

from . import cache_key
from .devices import Device, revision
from .processor import processor

#: how a file begins
MAGIC = b"triton-spirv binary 2\n"
_DIGEST_SIZE = hashlib.sha256().digest_size
_START = len(MAGIC) + _DIGEST_SIZE
_FACTS_SIZE = 4


class Facts(TypedDict, total=False):
    """What is known of a build. attempts: all that were made, where there was a choice."""

    build_flags: str
    attempts: list[dict[str, object]]


class Remote(Protocol):
    """A cache that several machines share. Neither function raises."""

    def get(self, name: str) -> bytes | None: ...
    def put(self, name: str, data: bytes) -> None: ...


#: asked for what is not on disk, and given what is made; the plugin connects Triton's remote cache here
remote: Remote | None = None


def folder() -> Path:
    """Where the binaries are: `spirv-binaries` in Triton's cache folder, found by the same variables."""
    cache = os.environ.get("TRITON_CACHE_DIR")
    home = os.environ.get("TRITON_HOME") or os.path.expanduser("~")
    return Path(cache or os.path.join(home, ".triton", "cache")) / "spirv-binaries"


def compiler_of(device: Device) -> str:
    """What a binary depends on besides the words and the options: device and its revision, driver, the
    processor of a CPU device, the driver's settings."""
    settings = sorted((name, value) for name, value in os.environ.items()
                      if name.startswith(("CL_CONFIG_", "IGC_", "VISA_", "NEO", "POCL_")))
    host = processor().key if device.kind == "cpu" else revision(device)
    return repr((device.platform, device.name, device.driver_version, host, settings))


def key(words: bytes, device: Device, options: str) -> str:
    """The name of the file for these words on this device."""
    facts = repr((compiler_of(device), options))
    return hashlib.sha256(hashlib.sha256(words).digest() + facts.encode()).hexdigest()


def pack(binary: bytes, facts: Facts | None = None) -> bytes:
    """The contents of a file."""
    text = json.dumps(facts or {}, sort_keys=True).encode()
    body = len(text).to_bytes(_FACTS_SIZE, "little") + text + binary
    return MAGIC + hashlib.sha256(body).digest() + body


def unpack(data: bytes) -> tuple[bytes, Facts] | None:
    """(binary, facts) of a file's contents; None where they are damaged."""
    body = data[_START:]
    if data[:_START] != MAGIC + hashlib.sha256(body).digest():
        return None
    end = _FACTS_SIZE + int.from_bytes(body[:_FACTS_SIZE], "little")
    return body[end:], json.loads(body[_FACTS_SIZE:end])


def read(name: str, contents: bytes) -> tuple[bytes, Facts] | None:
    """(binary, facts) of an entry; None where it is damaged, or lacks the tag of the key that is demanded."""
    data = cache_key.opened(name, contents)
    return None if data is None else unpack(data)


def load(name: str) -> bytes | None:
    """The binary of that key; None where there is none or the file is damaged."""
    found = load_with_facts(name)
    return found[0] if found else None


def load_with_facts(name: str) -> tuple[bytes, Facts] | None:
    """The binary of that key and the facts that it was stored with; from disk, else from the shared cache."""
    try:
        found = read(name, (folder() / name).read_bytes())
        if found is not None:
            return found
        remove(name)
    except OSError:
        pass
    data = remote.get(name) if remote is not None else None
    found = read(name, data) if data is not None else None
    if found is not None:
        assert data is not None
        write_whole(folder() / name, data)
    return found


def store(name: str, binary: bytes, facts: Facts | None = None) -> None:
    """Keep a binary; a folder that cannot be written costs speed, not the launch."""
    data = cache_key.sealed(name, pack(binary, facts))
    write_whole(folder() / name, data)
    if remote is not None:
        remote.put(name, data)


def write_whole(path: Path, data: bytes) -> None:
    """Other processes see all of the file or nothing; nothing happens in a folder that cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        pass


def remove(name: str) -> None:
    """Forget a binary that turned out to be useless."""
    try:
        (folder() / name).unlink()
    except OSError:
        pass
