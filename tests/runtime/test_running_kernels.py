"""runtime/running_kernels.py, fault_code.py, waiting.py: faults name the kernel, Ctrl-C ends a wait, and a
child of a fork amid launches can launch. Each in a process of its own."""

from __future__ import annotations

import os
import platform
import re
import signal
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import prepared
import pytest
from triton_spirv.runtime import machine_code, running_kernels

pytest.importorskip("triton")
pytest.importorskip("torch")
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the handlers are code for x86-64")

#: kernels, and Ctrl-C: `press(seconds)` sends SIGINT to the process that long after a kernel has begun
HEAD = """
import ctypes, faulthandler, os, signal, sys, threading, time
os.environ["TRITON_SPIRV_BACKEND"] = "1"
import torch, triton
import triton.language as tl
from triton_spirv.runtime import running_kernels

@triton.jit
def wild(o, far, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + far + i, tl.load(o + i))

@triton.jit
def waiting(flag, o):
    value = tl.load(flag, volatile=True)
    while value == 0:
        value = tl.load(flag, volatile=True)
    tl.store(o + tl.program_id(0), value)

@triton.jit
def increment(o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.load(o + i) + 1)

def press(seconds):
    def then():
        while not running_kernels.table[0]:
            time.sleep(0.01)
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGINT)
    threading.Thread(target=then, daemon=True).start()

flag, o = torch.zeros(1, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
"""


def run(tmp_path: Path, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "script.py"
    file.write_text(HEAD + textwrap.dedent(script))
    return prepared.run(file, imports=prepared.KERNELS, environment={**os.environ, **environment})


MESSAGE = "triton-spirv: the process crashes"


@pytest.mark.cpu_device("kernels fault in this process")
@pytest.mark.parametrize("programs", [1, 300])
def test_wild_access(tmp_path: Path, programs: int) -> None:
    """The kernel, its file and line, the way out; the process ends by the signal as it would have."""
    done = run(tmp_path, f"""
        increment[(4,)](o, N=16)
        wild[({programs},)](o, 1 << 40, N=16)
    """)
    line = HEAD.split("\n").index("def wild(o, far, N: tl.constexpr):") + 1
    assert done.returncode == -signal.SIGSEGV
    assert MESSAGE in done.stderr
    assert re.search(rf"^    wild, /.*/script\.py:{line}$", done.stderr, re.MULTILINE)  # cached: of any test
    assert "TRITON_SPIRV_CHECK=bounds" in done.stderr and "increment" not in done.stderr
    assert done.stderr.count(MESSAGE) == done.stderr.count("    wild, ") == 1


def test_no_handler_is_reset_when_it_is_entered(tmp_path: Path) -> None:
    """The driver's is, LLVM's: before it has put back what it found the next thread that faults would end the
    process without a word (3 of 120 runs)."""
    done = run(tmp_path, """
        def flags(signal):
            action = (ctypes.c_uint64 * 4)()
            assert not ctypes.CDLL(None).syscall(13, signal, None, action, 8)
            return action[1]

        increment[(4,)](o, N=16)
        print([bool(flags(signal) & running_kernels.RESET) for signal in running_kernels.FAULTS])
    """)
    assert done.stdout == "[False, False, False, False]\n", done.stderr


@pytest.mark.cpu_device("kernels fault in this process")
def test_other_threads_kernels_are_named_too(tmp_path: Path) -> None:
    done = run(tmp_path, """
        threading.Thread(target=lambda: waiting[(1,)](flag, o), daemon=True).start()
        while not running_kernels.elsewhere():
            time.sleep(0.01)
        time.sleep(0.1)
        wild[(1,)](torch.zeros(16), 1 << 40, N=16)
    """)
    assert "    wild, " in done.stderr and "    waiting, " in done.stderr


def test_without_a_kernel_nothing_is_said(tmp_path: Path) -> None:
    done = run(tmp_path, "increment[(1,)](o, N=16); ctypes.string_at(16)")
    assert done.returncode == -signal.SIGSEGV and MESSAGE not in done.stderr


@pytest.mark.cpu_device("kernels fault in this process")
def test_opt_out(tmp_path: Path) -> None:
    done = run(tmp_path, "wild[(1,)](o, 1 << 40, N=16)", TRITON_SPIRV_FAULT_MESSAGE="0")
    assert done.returncode == -signal.SIGSEGV and MESSAGE not in done.stderr


@pytest.mark.cpu_device("kernels fault in this process")
@pytest.mark.parametrize("order", ["before", "after"])
def test_handlers_of_others_run_too(tmp_path: Path, order: str) -> None:
    """Python's faulthandler, put in force before the first launch or after it, shows its traceback."""
    first, second = ("faulthandler.enable()", "") if order == "before" else ("", "faulthandler.enable()")
    done = run(tmp_path, f"{first}\nincrement[(1,)](o, N=16)\n{second}\nwild[(1,)](o, 1 << 40, N=16)")
    assert MESSAGE in done.stderr and "Fatal Python error: Segmentation fault" in done.stderr
    assert done.returncode == -signal.SIGSEGV


def test_a_signal_that_was_sent(tmp_path: Path) -> None:
    """It is no fault of an instruction, which would come again: it is sent again."""
    done = run(tmp_path, """
        increment[(1,)](o, N=16)
        text = running_kernels.text("kernel", "a.py:3")
        running_kernels.table[running_kernels.place()] = ctypes.addressof(text)
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(60)
    """)
    assert done.returncode == -signal.SIGSEGV and "    kernel, a.py:3\n" in done.stderr


@pytest.mark.cpu_device("a kernel waits for what the host writes")
def test_interrupted(tmp_path: Path) -> None:
    """The wait ends, the kernel does not: what it works on is kept, later launches are right, and it ends
    when it can. The process ends while it runs. (One program: where a kernel keeps every processor, the
    driver has none for later launches.)"""
    done = run(tmp_path, """
        def launch():
            own = torch.full((64,), 7, dtype=torch.int32)
            waiting[(1,)](flag, own)

        for _ in range(2):
            press(0.2)
            try:
                launch()
                raise SystemExit("it ended")
            except KeyboardInterrupt:
                print("interrupted")
            for count in (1, 2):
                increment[(1,)](o, N=64)
                others = [torch.zeros(64, dtype=torch.int32) for _ in range(50)]
            print(o.unique().tolist(), all((other == 0).all() for other in others))
    """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["interrupted", "[2] True", "interrupted", "[4] True"]


@pytest.mark.cpu_device("a kernel waits for what the host writes")
def test_other_kernels_go_on_after_an_interruption(tmp_path: Path) -> None:
    """Their queue is the thread's, and must not end with the kernel that nobody waits for."""
    done = run(tmp_path, """
        import gc, triton_spirv
        bound = triton_spirv.bind(increment, (1,), o, N=64)
        for _ in range(3):
            increment[(1,)](o, N=64)
            bound(o)
        press(0.2)
        try:
            waiting[(1,)](flag, o)
        except KeyboardInterrupt:
            pass
        flag[0] = 1
        time.sleep(0.5)
        gc.collect()
        o.zero_()
        for _ in range(3):
            increment[(1,)](o, N=64)
            bound(o)
        print(o.unique().tolist())
    """)
    assert done.stdout == "[6]\n" and done.returncode == 0, done.stderr


@pytest.mark.cpu_device("a kernel waits for what the host writes")
def test_a_fork_while_a_kernel_runs_on_that_nobody_waits_for(tmp_path: Path) -> None:
    """The driver's scheduler counts on the thread that runs it, which the child does not have."""
    done = run(tmp_path, """
        for _ in range(3):
            increment[(1,)](o, N=64)
        press(0.2)
        try:
            waiting[(1,)](flag, o)
        except KeyboardInterrupt:
            pass
        increment[(8,)](o, N=64)
        child = os.fork()
        if not child:
            signal.alarm(60)
            code = 1
            try:
                increment[(512,)](o, N=64)  # more programs than are known to be a short launch
                code = 0 if o.min() >= 2 else 2
            finally:
                os._exit(code)
        print(os.waitpid(child, 0)[1])
        flag[0] = 1
    """)
    assert done.stdout == "0\n" and done.returncode == 0, done.stderr


@pytest.mark.cpu_device("a kernel waits for what the host writes")
def test_copies_are_kept_for_a_kernel_that_runs_on(tmp_path: Path) -> None:
    """Where memory is copied for a launch no other launch has the copies before the kernel has ended."""
    done = run(tmp_path, """
        from triton_spirv.runtime.copies import Copies
        increment[(1,)](o, N=64)
        taken, given, take, give = [], [], Copies.take, Copies.give
        Copies.take = lambda self, size: (taken.append(take(self, size)), taken[-1])[1]
        Copies.give = lambda self, address: given.append(address) or give(self, address)
        press(0.2)
        try:
            waiting[(1,)](flag, o)
        except KeyboardInterrupt:
            print("interrupted", len(given))
        running_on = set(taken)
        increment[(1,)](o, N=64)
        print(len(running_on) > 1, len(given), running_on.isdisjoint(given), o.unique().tolist())
        raise SystemExit(7)
    """, TRITON_SPIRV_SHARED_MEMORY="0")
    assert (done.stdout, done.returncode) == ("interrupted 0\nTrue 1 True [2]\n", 7), done.stderr


@pytest.mark.cpu_device("a kernel waits for what the host writes")
@pytest.mark.parametrize("cache", [None, "empty"], ids=("cached", "compiled"))
def test_second_interruption_ends_the_process(tmp_path: Path, cache: str | None) -> None:
    """A kernel that is known to be short runs where nothing can be interrupted; if it does not end after all,
    the second Ctrl-C ends the process, in which the driver's compiler may have put a handler of its own in
    force, too."""
    done = run(tmp_path, """
        flag[0] = 1
        for _ in range(100):
            waiting[(1,)](flag, o)

        def press_twice():
            for marked in (False, True):
                while not running_kernels.table[0] or (running_kernels.table[0] >> 63 == 1) != marked:
                    time.sleep(0.1)
                os.kill(os.getpid(), signal.SIGINT)

        flag[0] = 0
        threading.Thread(target=press_twice, daemon=True).start()
        waiting[(1,)](flag, o)
    """, **({"TRITON_CACHE_DIR": str(tmp_path / cache)} if cache else {}))
    assert done.returncode == -signal.SIGINT
    assert "triton-spirv: interrupted twice while a kernel ran; the process ends." in done.stderr


def test_interruptions_between_launches_do_not_add_up(tmp_path: Path) -> None:
    done = run(tmp_path, """
        for count in range(5):
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(5)
            except KeyboardInterrupt:
                increment[(1,)](o, N=64)
        print(o.unique().tolist())
    """)
    assert done.stdout == "[5]\n" and done.returncode == 0, done.stderr


@pytest.mark.skipif(not machine_code.has_code(), reason="it is for another processor")
def test_code_outlives_the_interpreter() -> None:
    """Threads and signals may still run it."""
    script = """
import ctypes
from triton_spirv.runtime import machine_code
start = machine_code.executable(bytes.fromhex("c3"))  # ret
ctypes.pythonapi.Py_AtExit(ctypes.c_void_p(start))
"""
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0



def test_more_threads_than_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads come to the last word at once."""
    class LastOne(list):
        def __bool__(self) -> bool:
            return True

    monkeypatch.setattr(running_kernels, "_free", LastOne())
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(running_kernels.place).result() == running_kernels.THREADS - 1


FORK = """
import os, sys, threading, time
sys.path.insert(0, sys.argv[1])
import handmade, numpy as np
from triton_spirv.arrays import asarray, zeros
from triton_spirv.runtime import running_kernels
kernel = handmade.bind(handmade.scaled_add())

def check(kernel, count):
    x, out = asarray(np.arange(count, dtype=np.float32)), zeros(count)
    kernel.launch(count, 1, 1, (x, x, out, 1.0))
    assert (out.numpy() == 2 * x.numpy()).all()

def work():
    while True:
        check(kernel, 4), check(kernel, 20_000)

check(kernel, 4), check(kernel, 100_000)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
children, amid = [], 0
for number in range(40):
    child = os.fork()
    if not child:
        try:
            check(kernel, 4), check(kernel, 100_000)
            if number % 4 == 0:
                check(handmade.bind(handmade.scaled_add("arguments")), 10)
            os._exit(2 if running_kernels.lost_driver_threads else 0)
        finally:
            os._exit(1)
    end = time.monotonic() + 60
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.kill(child, 9)
            sys.exit(f"child {number} hangs")
        time.sleep(0.005)
    status = os.waitstatus_to_exitcode(ended[1])
    assert status in (0, 2), status
    amid += status == 2
check(kernel, 4), check(kernel, 100_000)
print(amid, flush=True)
os._exit(0)
"""


@pytest.mark.cpu_device("no child of a fork has a GPU that its parent opened")
def test_forks_while_other_threads_launch() -> None:
    done = subprocess.run([sys.executable, "-c", FORK, str(Path(__file__).parent.parent)], text=True,
                          capture_output=True, timeout=500)
    assert done.returncode == 0, done.stderr + done.stdout
    assert int(done.stdout) == 40, "children that count on threads which are not there"


def test_no_launch_begins_while_a_process_forks(tmp_path: Path) -> None:
    """Whichever way it goes; other threads' launches of all ways go on behind it."""
    done = run(tmp_path, """
        import functools, triton_spirv
        from triton_spirv.runtime import devices
        counts = [0, 0, 0]

        def repeat(which, launch):
            while True:
                launch()
                counts[which] += 1

        x = [torch.zeros(100_000, dtype=torch.int32) for _ in counts]
        devices.choose("cpu")
        ways = (lambda: increment[(1,)](x[0], N=64), triton_spirv.bind(increment, (1,), x[1], N=64),
                lambda: increment[(1000,)](x[2], N=64))
        for which, way in enumerate(ways):
            launch = functools.partial(way, x[1]) if which == 1 else way
            threading.Thread(target=repeat, args=(which, launch), daemon=True).start()
        while not all(count > 10 for count in counts):
            time.sleep(0.01)
        running_kernels._look_around()
        while running_kernels.elsewhere():  # it gives up on a machine that is busy enough
            time.sleep(0.01)
        before = list(counts)
        for _ in range(5):  # the thread that forks waits for nobody
            increment[(1,)](o, N=64), ways[1](o), increment[(1000,)](o, N=64)
        time.sleep(0.3)
        assert not running_kernels.elsewhere() and all(now - then <= 1 for now, then in zip(counts, before))
        running_kernels._go_on()
        before = list(counts)
        while not all(now - then > 10 for now, then in zip(counts, before)):
            time.sleep(0.01)
        print("all")
        sys.stdout.flush()
        os._exit(0)
    """)
    assert done.stdout == "all\n", done.stderr


AFTER_A_LAUNCH = """
import os, sys, traceback
sys.path.insert(0, sys.argv[1])
import handmade, numpy as np
from triton_spirv.arrays import asarray, zeros
from triton_spirv.errors import LaunchError
from triton_spirv.runtime import opencl, profile, running_kernels, timed_launches
kernel = handmade.bind(handmade.scaled_add())
made = kernel.context.device.library.create_queue

def in_child(lost):
    child = os.fork()
    if child:
        assert os.waitpid(child, 0)[1] == 0
        return
    code, asked = 1, []
    try:
        kernel.context.device.library.create_queue = lambda *values: asked.append(values[2]) or made(*values)
        x, out = asarray(np.arange(100_000, dtype=np.float32)), zeros(100_000)
        for launch in (kernel.launch, timed_launches.timed(kernel)):
            out.numpy()[:] = 0
            launch(100_000, 1, 1, (x, x, out, 1.0))
            assert (out.numpy() == 2 * x.numpy()).all()
        threaded = [properties for properties in asked if not properties & LOCAL]
        expected = lost, [] if lost else [0, PROFILING]
        assert (running_kernels.lost_driver_threads, threaded) == expected, threaded
        type(kernel.context.device).runs_in_calling_thread = False
        try:
            kernel.context.queue
            assert not lost
        except LaunchError as error:
            assert lost and "forked after kernels had been launched" in str(error)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)

PROFILING, LOCAL = opencl.QUEUE_PROFILING_ENABLE, opencl.QUEUE_THREAD_LOCAL_EXEC_ENABLE_INTEL
in_child(lost=False)  # its driver starts threads of its own
x = zeros(100_000)
kernel.launch(100_000, 1, 1, (x, x, x, 1.0))
in_child(lost=True)
"""


@pytest.mark.cpu_device("no child of a fork has a GPU that its parent opened")
def test_a_fork_after_a_launch() -> None:
    """The driver's threads look for work for a while after a launch, and may hold one of its locks just then:
    5 children of 1,500 hung. The child of such a fork never counts on them."""
    done = subprocess.run([sys.executable, "-c", AFTER_A_LAUNCH, str(Path(__file__).parent.parent)],
                          text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr + done.stdout


@pytest.mark.cpu_device("a kernel waits for what the host writes")
def test_programs_that_wait_for_each_other_are_refused_after_such_a_fork(tmp_path: Path) -> None:
    done = run(tmp_path, """
        threading.Thread(target=lambda: waiting[(1,)](flag, o), daemon=True).start()
        while not running_kernels.elsewhere():
            time.sleep(0.01)
        own = torch.ones(1, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
        child = os.fork()
        if not child:
            waiting[(1,)](*own)
            try:
                waiting[(8,)](*own)
            except Exception as error:
                print(own[1][:2].tolist(), type(error).__name__, error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        os._exit(0)
    """)
    assert "[1, 0] LaunchError waiting: its programs wait for each other" in done.stdout, done.stderr
    assert 'multiprocessing\'s "spawn"' in done.stdout


def test_a_fork_while_another_thread_holds_a_lock(tmp_path: Path) -> None:
    """The child tunes, compiles on a deep stack and makes unwritten memory: its own locks are free."""
    done = run(tmp_path, """
        from triton_spirv import deep_stack, unwritten
        from triton_spirv_backend import aot, autotuning
        locks = (autotuning, "_tuning"), (deep_stack, "_lock"), (unwritten, "_lock"), (aot, "_lock")
        held, end = threading.Event(), threading.Event()

        def work():
            for module, name in locks:
                getattr(module, name).acquire()
            held.set()
            end.wait()

        threading.Thread(target=work, daemon=True).start()
        held.wait()
        child = os.fork()
        if not child:
            print([getattr(module, name).acquire(timeout=0.1) for module, name in locks], flush=True)
            os._exit(0)
        os.waitpid(child, 0)
    """)
    assert done.stdout == "[True, True, True, True]\n", done.stderr


def test_no_tool_is_needed() -> None:
    """The handlers are there without a compiler or an assembler."""
    code = ("import shutil; shutil.which = lambda *_: None\n"
            "from triton_spirv.runtime import running_kernels; assert running_kernels.install()")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={"PATH": ""})
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("made, address", [
    ("races.Zeros(64)", "held.address"), ("panels.Panels(1)", "held.address"),
    ("overflow.Overflow(types.SimpleNamespace(overflow_bytes=64))", "held.for_launch(1, None)")])
def test_a_forked_child_has_memory_of_its_own(made: str, address: str) -> None:
    """What programs are lent, which the child's runtime lends to its own."""
    done = subprocess.run([sys.executable, "-c", f"""
import ctypes, os, types
from triton_spirv.runtime import overflow, panels, races
held = {made}
word = ctypes.c_int64.from_address({address})
child = os.fork()
if not child:
    word.value = 7
    os._exit(0)
os.waitpid(child, 0)
print(word.value)
"""], capture_output=True, text=True, timeout=60)
    assert done.stdout == "0\n", done.stderr


def test_threads_that_run_do_not_sleep() -> None:
    """What a fork waits for: the driver's threads hold its locks while they look for work."""
    script = """
import hashlib, threading, time
from triton_spirv.runtime import running_kernels
assert running_kernels._others_sleep()
thread = threading.Thread(target=hashlib.pbkdf2_hmac, args=("sha256", b"", b"", 3_000_000))  # no GIL
thread.start()
time.sleep(0.1)
assert not running_kernels._others_sleep()
thread.join()
end = time.monotonic() + 10  # the system's thread ends some time behind Python's
while not running_kernels._others_sleep():
    assert time.monotonic() < end
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
