"""cache_key.py and binary_cache.py: entries without a valid tag of the key count as absent."""

from __future__ import annotations

from pathlib import Path

import pytest
from triton_spirv.errors import UsageError
from triton_spirv.runtime import binary_cache, cache_key

NAME, OTHER = "ab" * 32, "cd" * 32


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.delenv(cache_key.VARIABLE, raising=False)
    return tmp_path / "spirv-binaries"


def demand(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str = "k" * 64) -> None:
    path = tmp_path / f"key-{text[:1]}"
    path.write_text(text)
    monkeypatch.setenv(cache_key.VARIABLE, str(path))


def test_with_the_key(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demand(monkeypatch, tmp_path)
    binary_cache.store(NAME, b"native code", {"spills": 1})
    assert binary_cache.load_with_facts(NAME) == (b"native code", {"spills": 1})
    assert (folder / NAME).read_bytes().startswith(cache_key.MAGIC)


@pytest.mark.parametrize("place", [0, 5, len(cache_key.MAGIC), len(cache_key.MAGIC) + 31,
                                   len(cache_key.MAGIC) + 32, -1])
def test_a_bit_is_noticed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    demand(monkeypatch, tmp_path)
    binary_cache.store(NAME, b"native code")
    data = bytearray((folder / NAME).read_bytes())
    data[place] ^= 1
    (folder / NAME).write_bytes(data)
    assert binary_cache.load(NAME) is None
    assert not (folder / NAME).exists()  # and is made again


def test_a_checksum_is_no_tag(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who can write the cache can make a whole entry: it is loaded without a key, and not with one."""
    folder.mkdir(parents=True)
    (folder / NAME).write_bytes(binary_cache.pack(b"hostile code"))
    assert binary_cache.load(NAME) == b"hostile code"
    demand(monkeypatch, tmp_path)
    assert binary_cache.load(NAME) is None


def test_a_sealed_entry_under_another_name(folder: Path, tmp_path: Path,
                                           monkeypatch: pytest.MonkeyPatch) -> None:
    demand(monkeypatch, tmp_path)
    binary_cache.store(NAME, b"native code")
    (folder / OTHER).write_bytes((folder / NAME).read_bytes())
    assert binary_cache.load(OTHER) is None


def test_another_key(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demand(monkeypatch, tmp_path)
    binary_cache.store(NAME, b"native code")
    demand(monkeypatch, tmp_path, "x" * 64)
    assert binary_cache.load(NAME) is None


def test_sealed_entries_without_a_key(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demand(monkeypatch, tmp_path)
    binary_cache.store(NAME, b"native code")
    monkeypatch.delenv(cache_key.VARIABLE)
    assert binary_cache.load(NAME) == b"native code"


def test_the_shared_cache(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it gives is checked before it is used, or kept on disk."""
    class Shared:
        def __init__(self) -> None:
            self.entries: dict[str, bytes] = {}

        def get(self, name: str) -> bytes | None:
            return self.entries.get(name)

        def put(self, name: str, data: bytes) -> None:
            self.entries[name] = data

    shared = Shared()
    monkeypatch.setattr(binary_cache, "remote", shared)
    demand(monkeypatch, tmp_path)
    binary_cache.store(NAME, b"native code")
    binary_cache.remove(NAME)
    assert binary_cache.load(NAME) == b"native code"
    binary_cache.remove(NAME)
    shared.entries[NAME] = binary_cache.pack(b"hostile code")
    assert binary_cache.load(NAME) is None and not (folder / NAME).exists()


def test_keys_that_are_none(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache_key.VARIABLE, str(tmp_path / "absent"))
    with pytest.raises(UsageError, match="cannot be read"):
        cache_key.key()
    demand(monkeypatch, tmp_path, "short")
    with pytest.raises(UsageError, match="5 bytes; a key has 32 at least"):
        cache_key.key()


def test_the_command_sees_them(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                               capsys: pytest.CaptureFixture[str]) -> None:
    from triton_spirv.cli.main import main

    folder.mkdir(parents=True)
    (folder / NAME).write_bytes(binary_cache.pack(b"hostile code"))
    demand(monkeypatch, tmp_path)
    main(["cache", "verify"])
    assert f"without a valid tag of {cache_key.VARIABLE}" in capsys.readouterr().out
