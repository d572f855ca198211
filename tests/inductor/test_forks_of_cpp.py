"""Children of a process that launches by the C++ launcher launch, too."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from called_kernels import scaled_kernel

torch = pytest.importorskip("torch")
cpp_wrapper = pytest.importorskip("triton_spirv_inductor.cpp_wrapper")

from .cpp_launcher import Launcher, text_of

pytestmark = [pytest.mark.cpu_device("C++ launches by its driver"),
              pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """host(programs, threads, waits): what it says of launches of a kernel, which may wait or not."""
    folder = tmp_path_factory.mktemp("host")
    program, launcher = folder / "host", folder / "launcher.so"
    subprocess.run([cpp_wrapper.compiler(), "-std=c++17", "-O2", "-pthread",
                    str(Path(__file__).parent / "fork_host.cpp"), "-o", str(program), "-ldl"], check=True)
    launcher.write_bytes(cpp_wrapper.launcher_library())

    def run(programs: int, threads: int, children: int, waits: bool = False) -> str:
        kernel = folder / f"kernel{waits}.so"
        if not kernel.exists():
            x = torch.randn(64)
            text, _ = text_of(scaled_kernel, (x, x, 0.5, 999), {"waits": waits}, BLOCK=64)
            kernel.write_bytes(cpp_wrapper.library(text))
        done = subprocess.run([str(program), str(launcher), str(kernel),
                               *map(str, (programs, threads, children))],
                              capture_output=True, text=True, timeout=300)
        return done.stdout + done.stderr

    return run


@pytest.mark.parametrize("programs, threads, children, calls", [
    (16, 2, 40, "0"), (16, 2, 10, "1"), (20000, 0, 10, "1"), (20000, 2, 10, "1"), (20000, 2, 10, "0")])
def test_children_launch(host: Callable[..., str], monkeypatch: pytest.MonkeyPatch, programs: int,
                         threads: int, children: int, calls: str) -> None:
    """While other threads launch: their locks of the driver's hung one child in ten, and each where launches
    are long."""
    monkeypatch.setenv("TRITON_SPIRV_CALLS", calls)
    assert host(programs, threads, children) == "right\n"


def test_what_needs_all_threads_is_refused(host: Callable[..., str]) -> None:
    said = host(3, 0, 1, waits=True)
    assert "scaled_kernel: this process was forked after kernels had been launched" in said
    assert said.endswith("a child failed\n")


def test_a_child_calls_programs(launcher: Launcher, loaded: Callable[..., int],
                                monkeypatch: pytest.MonkeyPatch) -> None:
    """Of launches, too, that its parent left to the driver. There a new thread takes a lock that the driver's
    own threads hold at times: children hung."""
    monkeypatch.setenv("TRITON_SPIRV_CALLS", "1")
    n = 20000 * 64
    x, out = torch.full((n,), 1.5), torch.zeros(n)
    results = out.numpy()  # torch's threads are not in the child, either
    kernel = loaded(scaled_kernel, x, out, 2.0, 999, BLOCK=64)

    def launch() -> bool:
        results[:] = 0
        said = launcher.launch(kernel, (20000, 1, 1), [x, out, ctypes.c_float(2.0), ctypes.c_int32(n), None])
        return not said and bool((results == 3).all())

    before = launcher.launches
    assert launch() and launch() and launcher.launches == before + 2
    child = os.fork()
    if not child:
        found = [launch()]
        other = threading.Thread(target=lambda: found.append(launch()))
        other.start()
        other.join()
        os._exit(0 if found == [True, True] and launcher.launches == before + 2 else 1)
    assert os.waitpid(child, 0)[1] == 0
