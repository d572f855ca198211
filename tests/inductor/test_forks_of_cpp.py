"""Children of a process that launches by the C++ launcher launch, too."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from called_kernels import scaled_kernel

torch = pytest.importorskip("torch")
cpp_wrapper = pytest.importorskip("triton_spirv_inductor.cpp_wrapper")

from .test_called_from_cpp import text_of

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
