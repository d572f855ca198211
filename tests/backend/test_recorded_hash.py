"""recorded_hash.py: the hash of Triton's library comes from its installer where that is safe."""

from __future__ import annotations

import base64
import builtins
import hashlib
import os
from pathlib import Path
from typing import Any

import pytest
import triton
from triton.runtime import cache as triton_cache
from triton_spirv_backend import installation_key, recorded_hash

WORDS = b"the library"


def digest_of(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that looks like Triton's, with the installer's record beside it."""
    path = tmp_path / "triton/_C/libtriton.so"
    path.parent.mkdir(parents=True)
    path.write_bytes(WORDS)
    path.with_suffix(".pyi").write_text("")
    record(tmp_path / "triton")
    return tmp_path / "triton"


def record(folder: Path, digest: str = digest_of(WORDS), size: int = len(WORDS),
           name: str = "triton-3.9.0") -> None:
    path = folder.parent / f"{name}.dist-info/RECORD"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"triton/_C/__init__.py,,\ntriton/_C/libtriton.so,sha256={digest},{size}\n")


def test_the_recorded_hash(folder: Path) -> None:
    assert recorded_hash.recorded(folder) == (folder / "_C/libtriton.so", hashlib.sha256(WORDS).hexdigest())


def changed_size(folder: Path) -> None:
    record(folder, size=5)


def written_since(folder: Path) -> None:
    path = folder.parent / "triton-3.9.0.dist-info/RECORD"
    os.utime(folder / "_C/libtriton.so", ns=(0, path.stat().st_mtime_ns + 1))


def another_record(folder: Path) -> None:
    record(folder, digest_of(b"another"), name="pytorch_triton-3.9.0")


def no_hash(folder: Path) -> None:
    (folder.parent / "triton-3.9.0.dist-info/RECORD").write_text("triton/_C/libtriton.so,,\n")


def other_hash(folder: Path) -> None:
    (folder.parent / "triton-3.9.0.dist-info/RECORD").write_text(
        f"triton/_C/libtriton.so,md5=AAAA,{len(WORDS)}\n")


def no_record(folder: Path) -> None:
    (folder.parent / "triton-3.9.0.dist-info/RECORD").unlink()


def two_libraries(folder: Path) -> None:
    (folder / "_C/libtriton.cpython-311.so").write_bytes(WORDS)


@pytest.mark.parametrize("change", [changed_size, written_since, another_record, no_hash, other_hash,
                                    no_record, two_libraries], ids=lambda change: change.__name__)
def test_what_may_not_be_the_hash(folder: Path, change: Any) -> None:
    change(folder)
    assert recorded_hash.recorded(folder) is None
    assert recorded_hash.computed(lambda: "Triton's", folder) == "Triton's"


def test_functions_that_read_in_another_way(folder: Path) -> None:
    path = str(folder / "_C/libtriton.so")

    def more() -> str:
        made = hashlib.sha256(b"before")
        with open(path, "rb") as file:
            made.update(file.read())
        made.update(b"behind")
        return made.hexdigest()

    def other() -> str:
        with open(path, "rb") as file:
            return hashlib.md5(file.read()).hexdigest()

    def whole() -> str:
        with open(path, "rb") as file:
            return "-" + hashlib.sha256(file.read()).hexdigest()

    for compute in (more, other, whole):
        assert recorded_hash.computed(compute, folder) == compute()


def test_it_is_tritons_own_hash_without_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    folder, opened, real = Path(triton.__file__).parent, [], builtins.open
    if recorded_hash.recorded(folder) is None:
        pytest.skip("this Triton's installer has recorded nothing, or it was built here")
    assert triton.runtime.driver.active
    original = triton_cache.triton_key.__wrapped__
    own = original()
    monkeypatch.setattr(builtins, "open", lambda path, *how, **named: (opened.append(Path(path).name),
                                                                       real(path, *how, **named))[1])
    assert recorded_hash.computed(original, folder) == own
    assert opened and not any(name.startswith("libtriton.") for name in opened)


def test_only_in_a_new_cache_folder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a key was kept for other files, kernels may lie that were made by them."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    path = folder / "_C/libtriton.so"
    monkeypatch.setattr(installation_key, "state", lambda _: str(path.stat().st_ctime_ns))

    def key() -> str:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()

    def asked() -> str:
        installation_key.kept_key.forget()  # type: ignore[attr-defined]
        return installation_key.kept_key(key, folder)

    try:
        assert asked() == hashlib.sha256(WORDS).hexdigest()
        times = path.stat()
        path.write_bytes(WORDS.swapcase())  # as long as before, and with its times
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert asked() == hashlib.sha256(WORDS.swapcase()).hexdigest()
    finally:
        installation_key.kept_key.forget()  # type: ignore[attr-defined]
