"""The C++ launcher in threads with small stacks: kernels with large private arrays get a large one, and so
does the driver's compiler. Each in a process of its own, which a stack without room would end."""

from __future__ import annotations

import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
cpp_wrapper = pytest.importorskip("triton_spirv_inductor.cpp_wrapper")

from .cpp_launcher import text_of
from .test_called_from_cpp import as_old, sums_kernel

pytestmark = [pytest.mark.cpu_device("C++ launches by its driver"),
              pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")]

FOLDER = Path(__file__).parent

#: host(rows, programs, threads, kilobytes): what such a host says
Host = Callable[..., str]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Host:
    folder = tmp_path_factory.mktemp("host")
    program, launcher = folder / "host", folder / "launcher.so"
    subprocess.run([cpp_wrapper.compiler(), "-std=c++17", "-O2", "-pthread", str(FOLDER / "stack_host.cpp"),
                    "-o", str(program), "-ldl"], check=True)
    launcher.write_bytes(cpp_wrapper.launcher_library())

    def run(rows: int, programs: int, threads: int, kilobytes: int, is_old: bool = False) -> str:
        kernel = folder / f"kernel{rows}{is_old}.so"
        if not kernel.exists():
            x, changes = torch.ones(rows, 1024), {"exports": "", "private_bytes": None} if is_old else {}
            text, _ = text_of(sums_kernel, (x, x, 2), changes, ROWS=rows, COLUMNS=1024)
            kernel.write_bytes(cpp_wrapper.library(as_old(text) if is_old else text))

        def limit() -> None:
            if not threads:
                most = resource.getrlimit(resource.RLIMIT_STACK)[1]
                resource.setrlimit(resource.RLIMIT_STACK, (kilobytes << 10, most))

        done = subprocess.run([str(program), str(launcher), str(kernel),
                               *map(str, (rows, programs, threads, kilobytes))],
                              capture_output=True, text=True, timeout=120, preexec_fn=limit)
        return done.stdout + done.stderr[-500:]

    return run


@pytest.mark.parametrize("rows, programs, threads, kilobytes", [
    (64, 1, 0, 512), (64, 2, 0, 512), (512, 2, 0, 2048), (512, 1, 0, 8192), (1024, 2, 0, 8192),
    (64, 2, 1, 128), (64, 1, 1, 256), (64, 2, 1, 1024), (512, 1, 1, 2048), (512, 2, 1, 4096),
    (512, 2, 1, 32768), (256, 3, 4, 1024), (512, 2, 3, 4096)])
def test_large_private_arrays(host: Host, rows: int, programs: int, threads: int, kilobytes: int) -> None:
    """8 kilobytes a row: in the main thread under such a limit, and in threads at once."""
    assert host(rows, programs, threads, kilobytes) == "right\n"


@pytest.mark.parametrize("threads", (0, 1))
def test_kernels_of_older_packages(host: Host, threads: int) -> None:
    """Of which nobody knows how large their arrays are."""
    assert host(256, 1, threads, 1024, is_old=True) == "right\n"


def test_the_compiler_has_a_stack(host: Host) -> None:
    """The driver's, which a thread of this size ended the process with."""
    assert host(8, 1, 1, 64) == "right\n"
