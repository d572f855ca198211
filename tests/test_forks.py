"""forks.py: a fork waits for other threads' imports, and what is registered while it waits takes part."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from triton_spirv import forks

SLOW = """
import threading, time
begun.set()
time.sleep(0.3)
"""

SCRIPT = """
import builtins, os, sys, threading, time, traceback
from triton_spirv import forks
sys.path.insert(0, sys.argv[1])
builtins.begun = threading.Event()
said = []

def importing():
    import slow_module
    forks.register(lambda: said.append("before"), lambda: said.append("parent"), lambda: said.append("child"))

thread = threading.Thread(target=importing)
thread.start()
begun.wait()
child = os.fork()
if not child:
    import slow_module
    os.write(1, f"child {slow_module.__name__}\\n".encode())
    os._exit(0)
end = time.monotonic() + 20
while not os.waitpid(child, os.WNOHANG)[0]:
    if time.monotonic() > end:
        os.kill(child, 9)
        sys.exit("the child hangs")
    time.sleep(0.01)
thread.join()
said.clear()
child = os.fork()
if not child:
    os._exit(said != ["before", "child"])
print(said, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_child_can_import_what_another_thread_was_importing(tmp_path: Path) -> None:
    (tmp_path / "slow_module.py").write_text(SLOW)
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], text=True, capture_output=True,
                          timeout=60)
    assert done.stdout == "child slow_module\n['before', 'parent'] 0\n" and not done.stderr, done.stderr


def test_a_fork_waits_no_longer_than_it_shall(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forks, "SECONDS", 0.05)
    monkeypatch.setattr(forks, "imports_elsewhere", lambda: True)
    monkeypatch.setattr(forks, "_steps", [])
    start = time.monotonic()
    forks._before()
    assert 0.05 <= time.monotonic() - start < 5


def test_an_import_that_begins_while_steps_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps are undone, and done again when it has ended."""
    said: list[str] = []
    imports = iter((False, True, True, False, False))
    monkeypatch.setattr(forks, "imports_elsewhere", lambda: next(imports))
    monkeypatch.setattr(forks, "_steps", [])
    for name in ("a", "b"):
        forks.register(lambda name=name: said.append(f"{name} before"),
                       lambda name=name: said.append(f"{name} parent"))
    forks._before()
    assert said == ["b before", "a before", "a parent", "b parent", "b before", "a before"]
    assert not list(imports)
    forks._in_parent()
    assert said[6:] == ["a parent", "b parent"]


def test_what_was_not_done_before_is_not_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A module that is imported between the two; two threads that fork at once know their own."""
    said: list[str] = []
    monkeypatch.setattr(forks, "_steps", [])
    for name in ("a", "b"):
        forks.register(lambda name=name: said.append(f"{name} before"),
                       lambda name=name: said.append(f"{name} parent"))
    forks._before()
    forks.register(lambda: said.append("c before"), lambda: said.append("c parent"))
    other = threading.Thread(target=forks._in_parent)
    other.start()
    other.join()
    forks._in_parent()
    assert said == ["b before", "a before", "a parent", "b parent"]


LAUNCH = """
import faulthandler, os, sys, threading, time
import torch, triton, triton.language as tl

@triton.jit
def increment(o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(o + i) + 1)

first = torch.zeros(64, dtype=torch.int32)
thread = threading.Thread(target=lambda: increment[(1,)](first, N=64), daemon=True)
thread.start()
time.sleep(float(sys.argv[1]))
child = os.fork()
if not child:
    faulthandler.dump_traceback_later(60, exit=True)
    own = torch.zeros(64, dtype=torch.int32)
    increment[(1,)](own, N=64)
    os._exit(0 if own.tolist() == [1] * 64 else 5)
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
thread.join()
print(status, first.unique().tolist())
"""


@pytest.mark.cpu_device("no child of a fork has a GPU that its parent opened")
@pytest.mark.parametrize("seconds", [0.005, 0.05, 0.2])
def test_a_fork_amid_the_first_launch(seconds: float, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "first.py").write_text(LAUNCH)
    done = subprocess.run([sys.executable, str(tmp_path / "first.py"), str(seconds)], text=True, timeout=120,
                          env={**os.environ, "TRITON_SPIRV_BACKEND": "1"}, capture_output=True)
    assert done.stdout == "0 [1]\n", done.stderr
