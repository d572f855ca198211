"""concurrency.py and installation_key.py: what threads and processes that launch for the first time share."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from triton import knobs
from triton.runtime import cache as triton_cache
from triton_spirv import asarray, zeros
from triton_spirv.runtime import cache_key
from triton_spirv_backend import installation_key

THREADS = 24


def in_threads(work: Callable[[], None], count: int = THREADS) -> None:
    """`work` in threads that start together; raises what the first of them raised."""
    barrier, errors = threading.Barrier(count), []

    def run() -> None:
        barrier.wait()
        try:
            work()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_threads_compile_and_load_a_kernel_once(monkeypatch: pytest.MonkeyPatch) -> None:
    @triton.jit
    def add_one(x, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)

    compiled: list[str] = []
    loaded: list[str] = []
    utils = triton.runtime.driver.active.utils
    original = utils.load_binary

    def load_binary(name: str, *rest: Any) -> Any:
        loaded.append(name)
        time.sleep(0.05)  # the others find a kernel that is being loaded
        return original(name, *rest)

    monkeypatch.setattr(utils, "load_binary", load_binary)
    monkeypatch.setattr(knobs.compilation, "listener", lambda src, **_: compiled.append(src.name))

    def launch() -> None:
        x, out = asarray(np.arange(100, dtype=np.float32)), zeros(100)
        add_one[(4,)](x, out, 100, BLOCK=32)
        np.testing.assert_array_equal(out.numpy(), x.numpy() + 1)

    in_threads(launch)
    assert compiled == ["add_one"] and loaded == ["add_one"]


def test_threads_compile_once_where_the_device_is_slow_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread asks for the target before it makes the kernel's caches of the device."""
    @triton.jit
    def twice(x, out, n, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)

    compiled: list[str] = []
    asked: list[int] = []
    driver = triton.runtime.driver.active
    original = driver.get_current_target

    def get_current_target() -> Any:
        asked.append(threading.get_ident())
        time.sleep(0.05 * len(set(asked)))  # each thread longer than the one before it
        return original()

    monkeypatch.setattr(driver, "get_current_target", get_current_target)
    monkeypatch.setattr(knobs.compilation, "listener", lambda src, **_: compiled.append(src.name))

    def launch() -> None:
        x, out = asarray(np.arange(100, dtype=np.float32)), zeros(100)
        twice[(4,)](x, out, 100, BLOCK=32)
        np.testing.assert_array_equal(out.numpy(), 2 * x.numpy())

    in_threads(launch, 6)
    assert compiled == ["twice"]
    assert len(twice.device_caches) == 1


def test_each_specialisation_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    @triton.jit
    def fill(out, BLOCK: tl.constexpr):
        tl.store(out + tl.arange(0, BLOCK), BLOCK)

    compiled: list[int] = []
    monkeypatch.setattr(knobs.compilation, "listener",
                        lambda src, **_: compiled.append(next(iter(src.constants.values()))))
    sizes = iter([8, 16, 32] * 4)

    def launch() -> None:
        size = next(sizes)
        out = zeros(size, "int32")
        fill[(1,)](out, BLOCK=size)
        assert (out.numpy() == size).all()

    in_threads(launch, 12)
    assert sorted(compiled) == [8, 16, 32]


def test_threads_that_fail_all_hear_why() -> None:
    @triton.jit
    def wrong(out, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK > 1, "too small")
        tl.store(out + tl.arange(0, BLOCK), 1)

    failures: list[str] = []

    def launch() -> None:
        with pytest.raises(triton.CompilationError) as caught:
            wrong[(1,)](zeros(1), BLOCK=1)
        failures.append(str(caught.value))

    in_threads(launch, 4)
    assert len(failures) == 4 and all("too small" in text for text in failures)
    out = zeros(2)
    wrong[(1,)](out, BLOCK=2)
    assert (out.numpy() == 1).all()


# ---- Triton's hash of its own files

@pytest.fixture
def installation(tmp_path: Path) -> Path:
    """A folder that looks like Triton's."""
    folder = tmp_path / "triton"
    for name in ("__init__.py", "runtime/cache.py", "compiler/__init__.py", "backends/__init__.py",
                 "backends/amd/__init__.py", "language/__init__.py", "language/core.py", "_C/libtriton.so"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return folder


class Counted:
    """A hash that takes a moment, and how often it was asked for."""

    def __init__(self, value: str) -> None:
        self.value, self.count = value, 0

    def __call__(self) -> str:
        self.count += 1
        time.sleep(0.02)
        return self.value


def ask(compute: Counted, folder: Path) -> str:
    """As the first launch of a process does."""
    installation_key.kept_key.forget()  # type: ignore[attr-defined]
    return installation_key.kept_key(compute, folder)


@pytest.fixture(autouse=True)
def forget() -> Any:
    yield
    installation_key.kept_key.forget()  # type: ignore[attr-defined]


def test_hashed_once_by_all_threads(installation: Path) -> None:
    compute = Counted("the hash")
    installation_key.kept_key.forget()  # type: ignore[attr-defined]
    in_threads(lambda: installation_key.kept_key(compute, installation) == "the hash" or pytest.fail())
    assert compute.count == 1


def test_a_second_process_hashes_nothing(installation: Path) -> None:
    assert ask(Counted("the hash"), installation) == "the hash"
    second = Counted("another")
    assert ask(second, installation) == "the hash" and second.count == 0


@pytest.mark.parametrize("name", ["__init__.py", "runtime/cache.py", "backends/amd/__init__.py",
                                  "language/core.py", "_C/libtriton.so"])
@pytest.mark.parametrize("keep_times", [False, True])
def test_changed_files_are_hashed_again(installation: Path, name: str, keep_times: bool) -> None:
    ask(Counted("before"), installation)
    path = installation / name
    times = path.stat()
    path.write_text(path.read_text().swapcase())  # as long as before
    if keep_times:
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert ask(Counted("after"), installation) == "after"


def test_new_files_are_hashed(installation: Path) -> None:
    ask(Counted("before"), installation)
    (installation / "language/more.py").write_text("")
    assert ask(Counted("after"), installation) == "after"


def test_damage_is_noticed(installation: Path) -> None:
    ask(Counted("right"), installation)
    path = installation_key.place(installation)
    path.write_bytes(path.read_bytes().replace(b"right", b"wrong"))
    assert ask(Counted("right"), installation) == "right"
    path.write_bytes(b"\xff")
    assert ask(Counted("right"), installation) == "right"


def test_no_key_is_believed_without_its_tag(installation: Path, tmp_path: Path,
                                            monkeypatch: pytest.MonkeyPatch) -> None:
    ask(Counted("somebody else's"), installation)
    secret = tmp_path / "secret"
    secret.write_bytes(b"k" * 40)
    monkeypatch.setenv(cache_key.VARIABLE, str(secret))
    assert ask(Counted("ours"), installation) == "ours"
    assert ask(Counted("again"), installation) == "ours"


def test_a_folder_that_cannot_be_written(installation: Path, monkeypatch: pytest.MonkeyPatch,
                                         tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "file" / "below"))
    assert ask(Counted("one"), installation) == "one"
    assert ask(Counted("two"), installation) == "two"


def test_it_is_tritons_own_hash() -> None:
    assert triton.runtime.driver.active  # which makes Triton ask for the kept key
    own = triton_cache.triton_key.__wrapped__()
    for _ in range(2):
        installation_key.kept_key.forget()  # type: ignore[attr-defined]
        assert triton_cache.triton_key() == own
    assert installation_key.place(Path(triton.__file__).parent).is_file()


def test_every_hashed_file_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Triton's function opens is among the files whose times are kept."""
    import builtins

    folder, opened = Path(triton.__file__).parent, set()
    real = builtins.open

    def watching(path: Any, *rest: Any, **keywords: Any) -> Any:
        opened.add(Path(path))
        return real(path, *rest, **keywords)

    assert triton.runtime.driver.active
    compute = triton_cache.triton_key.__wrapped__.__wrapped__
    monkeypatch.setattr(builtins, "open", watching)
    compute()
    monkeypatch.undo()
    watched = installation_key.state(folder)
    assert len(opened) > 20
    for path in opened:
        assert repr(str(path.relative_to(folder))) in watched


#: Threads that all come to make the code of launches. What a thread has made then is not to be freed while
#: the functions that it made of it live: the process would crash in a launch, or in Python's collector.
FIRST_LAUNCHES = """
import gc, sys, threading, time
sys.path.insert(0, sys.argv[1])
import handmade
from triton_spirv.arrays import zeros
from triton_spirv.runtime import launch_code, machine_code
listed = []
assembled = machine_code.assembled
def slowly(listing):
    listed.append(listing)
    time.sleep(0.05)
    return assembled(listing)
kernel = handmade.bind(handmade.scaled_add())
machine_code.assembled = slowly
barrier = threading.Barrier(6)
def launch():
    x, out = zeros(64), zeros(64)
    barrier.wait()
    for _ in range(20):
        kernel.launch(64, 1, 1, (x, x, out, 1.0))
        gc.collect()
        kept.append([bytes(size) for size in range(1, 200)])
kept = []
threads = [threading.Thread(target=launch) for _ in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert listed == [launch_code.LISTING], len(listed)
"""


@pytest.mark.cpu_device("how it launches in the calling thread")
def test_threads_that_launch_for_the_first_time_at_once() -> None:
    command = [sys.executable, "-c", FIRST_LAUNCHES, str(Path(__file__).parent.parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
