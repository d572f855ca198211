"""runtime/stacks.py: kernels with large private arrays run in threads of all sizes, and beside threads with
small stacks that wait for others. Each in a process of its own, which a stack without room would end."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from triton_spirv import thread_stack
from triton_spirv.runtime import openmp, stacks, waiting

pytestmark = pytest.mark.cpu_device("programs run on threads' stacks")

TESTS = Path(__file__).parent.parent
MEGABYTE = 1 << 20

LARGE = """
import sys, threading
import torch, triton, triton.language as tl, triton_spirv

@triton.jit
def large_kernel(x, out, really, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    if really:
        at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
        down = tl.cumsum(tl.load(x + at), 0)
        tl.store(out + at, tl.cumsum(down, 1) + down)

rows, megabytes = int(sys.argv[1]), float(sys.argv[2])
x, out = torch.ones(rows, 1024), torch.zeros(rows, 1024)
expected = torch.arange(1, rows + 1).float()[:, None] * torch.arange(2, 1026).float()

def work():
    for really in 30 * (0,) + 3 * (1,):  # short ones are the calling thread's
        large_kernel[(2,)](x, out, really, ROWS=rows, COLUMNS=1024)
        assert torch.equal(out, expected) if really else not out.any()
    for _ in range(3):
        out.zero_()
        bound(x, out, 1)
        assert torch.equal(out, expected)

for _ in range(5):
    large_kernel[(2,)](x, out, 0, ROWS=rows, COLUMNS=1024)
bound = triton_spirv.bind(large_kernel, (2,), x, out, 1, ROWS=rows, COLUMNS=1024)
if megabytes:
    threading.stack_size(int(megabytes * (1 << 20)))
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
else:
    work()
print("right", out[-1, -1].item())
"""


def limited(kilobytes: int) -> None:
    """In a child: the limit of its main thread's stack, after which others are sized, too; 0 for none."""
    limit = kilobytes << 10 if kilobytes else resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_STACK, (limit, resource.getrlimit(resource.RLIMIT_STACK)[1]))


def skip_beyond(kilobytes: int) -> None:
    most = resource.getrlimit(resource.RLIMIT_STACK)[1]
    if most != resource.RLIM_INFINITY and not 0 < kilobytes << 10 <= most:
        pytest.skip("this process may not have such a stack")


@pytest.mark.parametrize("rows, megabytes, kilobytes", [
    (64, 0, 8192), (64, 4, 8192), (1024, 0, 8192), (1024, 32, 8192),  # as they are where nobody says anything
    (256, 1, 8192), (1024, 2.5, 8192), (1024, 0, 4096), (256, 0, 0), (1024, 2.5, 0)])
def test_large_private_arrays(rows: int, megabytes: float, kilobytes: int, tmp_path: Path) -> None:
    """The driver has them where a parameter of its own says, or on the stack: in the main thread with such a
    limit, or in one of so many megabytes."""
    skip_beyond(kilobytes)
    pytest.importorskip("torch")
    (tmp_path / "large.py").write_text(LARGE)
    done = subprocess.run([sys.executable, str(tmp_path / "large.py"), str(rows), str(megabytes)], text=True,
                          env={**os.environ, "TRITON_SPIRV_BACKEND": "1"}, capture_output=True, timeout=120,
                          preexec_fn=lambda: limited(kilobytes))
    assert done.stdout.startswith(f"right {rows * 1025.0}"), done.stdout + done.stderr


BESIDE = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import handmade, numpy as np
from triton_spirv.arrays import asarray, zeros
from triton_spirv.runtime import launch

launch.SHORT_LAUNCH = 0  # all of them by the driver's threads
PROGRAMS = 2000

def work(kernel, count):
    x, out = asarray(np.arange(PROGRAMS, dtype=np.float32)), zeros(PROGRAMS)
    for _ in range(count):
        out.numpy()[:] = 0
        kernel.launch(PROGRAMS, 1, 1, (x, x, out, 1.0))
        assert (out.numpy() == 2 * x.numpy()).all()

small, large = (handmade.bind(handmade.scaled_add_by_array(size)) for size in (1, 4096))
threading.stack_size(1 << 20)
threads = [threading.Thread(target=work, args=(small, 400)) for _ in range(2)]
for thread in threads:
    thread.start()
work(large, 100)
for thread in threads:
    thread.join()
print("right")
"""


def test_a_thread_that_waits_is_given_no_kernel_for_which_it_has_no_room() -> None:
    """Who waits in the driver runs programs, of other threads' launches, too: with 1 MB, of this kernel with
    4 MB of arrays (a process in five lived)."""
    done = subprocess.run([sys.executable, "-c", BESIDE, str(TESTS)], text=True, capture_output=True,
                          timeout=300)
    assert done.stdout == "right\n", done.stderr


INTERRUPTED = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import handmade, numpy as np
from triton_spirv.arrays import asarray, zeros
from triton_spirv.runtime import running_kernels, stacks
kernel = handmade.bind(handmade.scaled_add_by_array(4096))
count = 2_000_000
x, out = asarray(np.arange(count, dtype=np.float32)), zeros(count)

def press():
    while not running_kernels.table[0]:
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGINT)

assert not stacks.may_run(4 << 20)
threading.Thread(target=press, daemon=True).start()
try:
    for _ in range(100):
        kernel.launch(count, 1, 1, (x, x, out, 1.0))
    print("it ended")
except KeyboardInterrupt:
    print("interrupted")
other = zeros(count)
kernel.launch(count, 1, 1, (x, x, other, 1.0))
print((other.numpy() == 2 * x.numpy()).all())

child = os.fork()
if not child:
    other.numpy()[:] = 0
    kernel.launch(1000, 1, 1, (x, x, other, 1.0))
    right = (other.numpy()[:1000] == 2 * x.numpy()[:1000]).all()
    print(right, running_kernels.lost_driver_threads, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_main_thread_with_a_small_stack() -> None:
    """Its launches can be interrupted, those of a forked child are right."""
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, str(TESTS)], text=True, capture_output=True,
                          timeout=300, preexec_fn=lambda: limited(4096))
    assert done.stdout == "interrupted\nTrue\nTrue True\n", done.stderr


@pytest.mark.parametrize("megabytes, expected", [
    (0.75, "00000 0"), (1.25, "10000 0"), (2.5, "11000 0"), (6, "11100 0"), (8, "11100 1"), (16, "11111 1")])
def test_what_a_thread_may(megabytes: float, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run 512 kB of arrays, 1, 3, 7, 100 MB, which are not on a stack wherever the driver runs them; wait."""
    monkeypatch.setattr(stacks, "_own", lambda: int(megabytes * MEGABYTE))
    sizes = MEGABYTE >> 1, *(count * MEGABYTE for count in (1, 3, 7, 100))
    found = [*map(stacks.may_run, sizes), stacks.may_wait()]
    assert found == [letter == "1" for letter in expected.replace(" ", "")]
    assert stacks.may_run(0) and stacks.may_call(0) and not stacks.may_call(100 * MEGABYTE)


def test_the_size_of_a_stack() -> None:
    """The C library may give a thread that of another which has ended, and was larger."""
    found: list[int | None] = []
    for size in (1 * MEGABYTE, 3 * MEGABYTE):
        thread = threading.Thread(target=lambda: found.append(stacks._own()))
        thread_stack.start(thread, size)
        thread.join()
        assert (found.pop() or 0) >= size - stacks.FOR_THE_LIBRARY
    assert threading.stack_size() == 0


def test_helping_threads_may_everything() -> None:
    assert waiting.begun(lambda: stacks.may_run(100 * MEGABYTE) and stacks.may_wait())()


def test_what_a_team_may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its threads have what any thread has, or at least what LLVM's OpenMP gives them."""
    library = openmp.OpenMP(1, 1, lambda: 2, lambda: None, lambda: None, is_gnu=True)
    monkeypatch.setattr(stacks, "openmp", lambda: library)
    monkeypatch.setattr(stacks, "_default", lambda: 8 * MEGABYTE)
    assert stacks.team_may_run(5 * MEGABYTE) and stacks.team_may_call(5 * MEGABYTE)
    assert not stacks.team_may_run(7 * MEGABYTE) and not stacks.team_may_call(7 * MEGABYTE)
    library = openmp.OpenMP(1, 1, lambda: 2, lambda: None, lambda: None, is_gnu=False)
    assert stacks.team_may_call(2 * MEGABYTE) and not stacks.team_may_run(3 * MEGABYTE)
    monkeypatch.setattr(stacks, "_default", lambda: None)
    assert stacks.team_may_run(0) and not stacks.team_may_call(0) and not stacks.team_may_run(1)
