"""runtime/builder.py: one thread builds for all, before there is a program, and in children of a fork."""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import handmade
import numpy as np
import pytest
from triton_spirv.arrays import asarray, zeros
from triton_spirv.runtime import builder, devices, opencl, program

pytestmark = pytest.mark.cpu_device("its driver keeps a state for each thread that builds")

SCRIPT = """
import os, sys, threading, time
os.environ["TRITON_SPIRV_BACKEND"] = "1"
sys.path.insert(0, sys.argv[1])
import numpy as np
import triton_spirv
from launched_first import kernel
from triton_spirv.runtime import builder, called_programs

jobs = []
submit = builder._Builder.submit
def noted(self, job):
    jobs.append(triton_spirv.__name__ + ".compiler" in sys.modules)
    return submit(self, job)
builder._Builder.submit = noted
x = triton_spirv.asarray(np.ones(64, np.float32))
"""

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def kernel(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)
"""


def context() -> devices.Context:
    return devices.open_device(devices.choose("cpu"))


def scaled_add(name: str) -> bytes:
    """Words that no other test builds."""
    return handmade.assemble(handmade.SCALED_ADD.replace("scaled_add", name))


def test_one_thread_builds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever asks, and with how small a stack."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    opened, threads = context(), set()
    build = opencl.Library.build

    def noted(*arguments: object) -> None:
        threads.add(threading.current_thread().name)
        build(*arguments)

    monkeypatch.setattr(opencl.Library, "build", noted)
    names = [f"of_a_thread_{number}" for number in range(6)]
    before = threading.stack_size(128 << 10)
    try:
        with ThreadPoolExecutor(3) as pool:
            built = list(pool.map(lambda name: program.build(opened, scaled_add(name), name), names))
    finally:
        threading.stack_size(before)
    built.append(program.build(opened, scaled_add("of_the_main_thread"), "of_the_main_thread"))
    assert all(each.kernel for each in built) and threads == {"triton-spirv-build"}


def test_errors_arrive(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    with pytest.raises(program.BuildError, match="CL_INVALID_KERNEL_NAME"):
        program.build(context(), scaled_add("of_this_name"), "of_another_name")

    def interrupted() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        builder.run(interrupted)
    assert builder.run(lambda: builder.run(lambda: 7)) == 7


def test_children_build(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    assert program.build(context(), scaled_add("parents"), "parents").kernel
    child = os.fork()
    if not child:
        try:
            x, out = asarray(np.arange(3, dtype=np.float32)), zeros(3)
            handmade.bind(handmade.scaled_add("arguments")).launch(3, 1, 1, (x, x, out, 1.0))
            os._exit(0 if out.numpy().tolist() == [0, 2, 4] else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert program.build(context(), scaled_add("parents_next"), "parents_next").kernel


def said(script: str, folder: Path) -> str:
    (folder / "launched_first.py").write_text(KERNEL)
    variables = {**os.environ, "TRITON_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, "-c", SCRIPT + script, str(folder)], capture_output=True,
                          text=True, env=variables, timeout=120)
    assert not done.returncode, done.stderr
    return done.stdout


def test_a_first_launch_starts_the_driver_before_it_compiles(tmp_path: Path) -> None:
    """With the kernel in the cache there is nothing to be done meanwhile, and without a launch no driver."""
    launch = "kernel[(1,)](x, 64, BLOCK=64); assert x.numpy().tolist() == 64 * [2]; print(jobs[0])"
    assert said("kernel.warmup(x, 64, BLOCK=32, grid=(1,)); print(jobs)", tmp_path) == "[]\n"
    assert said(launch, tmp_path) == "False\n"
    assert said(launch.replace("jobs[0]", "len(jobs)"), tmp_path) == "2\n"  # the probe, and the kernel


def test_a_process_ends_while_the_driver_starts(tmp_path: Path) -> None:
    """In a kernel's error, as often as not."""
    said("called_programs.prepare('cpu')", tmp_path)
    said("called_programs.prepare('cpu'); time.sleep(0.05)", tmp_path)


@pytest.mark.parametrize("milliseconds", [0, 5, 20, 50, 100])
def test_a_fork_while_the_driver_starts(tmp_path: Path, milliseconds: int) -> None:
    """Its locks, and the loader's, are not taken over by the child."""
    said(f"""
called_programs.prepare('cpu')
time.sleep({milliseconds} / 1000)
child = os.fork()
kernel[(1,)](x, 64, BLOCK=64)
assert x.numpy().tolist() == 64 * [2]
if not child:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
""", tmp_path)


def test_a_handler_forks_while_a_build_is_waited_for(tmp_path: Path) -> None:
    """Behind another job, too: the child does not wait for a thread that it lacks."""
    said("""
import signal
children = []
signal.signal(signal.SIGALRM, lambda *_: children.append(os.fork()))
for before in (0, 1):
    for _ in range(before):
        threading.Thread(target=lambda: builder.run(lambda: time.sleep(0.2))).start()
    time.sleep(0.05)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    assert builder.run(lambda: time.sleep(0.2) or 7) == 7
    if not children[-1]:
        assert builder.run(lambda: 8) == 8
        os._exit(0)
    assert os.waitpid(children[-1], 0)[1] == 0
""", tmp_path)


def test_a_handler_builds_while_the_thread_begins(tmp_path: Path) -> None:
    said("""
import signal
start, found = builder.thread_stack.start, []
def interrupted(*arguments):
    if not found:
        signal.raise_signal(signal.SIGALRM)
    start(*arguments)
builder.thread_stack.start = interrupted
signal.signal(signal.SIGALRM, lambda *_: found.append(1) or found.append(builder.run(lambda: 7)))
assert builder.run(lambda: 8) == 8 and found == [1, 7]
""", tmp_path)


def test_an_error_keeps_nothing() -> None:
    class Large:
        pass

    def refused() -> weakref.ref[Large]:
        large = Large()

        def job() -> None:
            raise ValueError(large)

        with contextlib.suppress(ValueError):
            builder.run(job)
        return weakref.ref(large)

    gc.collect()
    gc.disable()
    try:
        assert refused()() is None
    finally:
        gc.enable()
