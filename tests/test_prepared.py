"""prepared.py: a script of a prepared process is one of an ordinary process, but that modules are there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import prepared
import pytest
from seed import SEED

SAID = """
import os, sys
print(os.environ["MINE"], os.getcwd(), sys.argv[1:], __name__, sys.path[0], os.environ.get("OTHER"))
sys.stderr.write("complaint")
sys.stdin.read()
"""


@pytest.mark.parametrize("end, status", [
    ("", 0), ("sys.exit(3)", 3), ("raise SystemExit('words')", 1), ("1 / 0", 1), ("os._exit(7)", 7),
    ("os.kill(os.getpid(), 9)", -9), ("import atexit; atexit.register(print, 'last')", 0),
    ("import threading, time; threading.Thread(target=lambda: (time.sleep(.1), print('late'))).start()", 0)])
def test_it_is_as_an_ordinary_process(end: str, status: int, tmp_path: Path,
                                      monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER", "of the tests")
    script = tmp_path / "script.py"
    script.write_text(SAID + end)
    environment = {name: value for name, value in os.environ.items() if name != "OTHER"} | {"MINE": end}
    done = prepared.run(script, ["one", "two"], imports=["json"], environment=environment)
    ordinary = subprocess.run([sys.executable, str(script), "one", "two"], env=environment, text=True,
                              capture_output=True, stdin=subprocess.DEVNULL, timeout=100)
    assert done.returncode == ordinary.returncode == status
    assert done.stdout == ordinary.stdout
    assert done.stderr.splitlines()[-1:] == ordinary.stderr.splitlines()[-1:]


def test_modules_are_there_and_nothing_remains(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint('colorsys' in sys.modules, hasattr(sys, 'mine'))\nsys.mine = 1\n")
    for _ in range(2):
        assert prepared.run(script, imports=["colorsys"]).stdout == "True False\n"


def test_settings_that_modules_read_have_a_process_of_their_own() -> None:
    plain = {"PATH": "", "TRITON_SPIRV_BACKEND": "1", "OMP_NUM_THREADS": "1"}
    processes = [prepared._server(("json",), {**plain, **variables}) for variables in
                 ({}, {"HOME": "x", "TRITON_CACHE_DIR": "y"}, {"TRITON_SPIRV_BACKEND": "0"})]
    assert processes[0] is processes[1] is not processes[2]


@pytest.mark.parametrize("imports", [prepared.KERNELS, prepared.INDUCTOR])
def test_random_numbers_are_of_the_tests_seed(imports: tuple[str, ...]) -> None:
    torch = pytest.importorskip("torch")
    drawn = torch.rand(3, generator=torch.Generator().manual_seed(SEED)).tolist()
    done = prepared.python(["-c", "import torch; print(torch.rand(3).tolist())"], imports=imports)
    assert done.stdout == f"{drawn}\n", done.stderr


def test_the_longest_unused_ends() -> None:
    settings = [{"OMP_NUM_THREADS": str(number)} for number in range(prepared.KEPT + 1)]
    first, *_, last = [prepared._server(("json",), variables) for variables in settings]
    assert first.poll() is not None and last.poll() is None


def test_torch_alone_reads_no_settings_of_triton(tmp_path: Path) -> None:
    """What `imports=TORCH` takes for granted."""
    pytest.importorskip("torch")
    script = tmp_path / "script.py"
    script.write_text("import sys\nprint('torch' in sys.modules, 'triton' in sys.modules)\n")
    assert prepared.run(script, imports=prepared.TORCH).stdout == "True False\n"
