"""runtime/launch.py, arguments.py, memory.py: arguments to results on every path, what cannot be launched."""

from __future__ import annotations

import gc
import struct
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any

import handmade
import numpy as np
import pytest
from counting import calls
from triton_spirv.arrays import Array, asarray, empty, zeros
from triton_spirv.errors import DeviceError, LaunchError
from triton_spirv.runtime import launch, loader, running_kernels, waiting
from triton_spirv.runtime.arguments import bfloat16_bits

ON_THE_CPU = pytest.mark.cpu_device("one of its paths")
PATHS = [
    *(pytest.param(path, marks=ON_THE_CPU) for path in ("short", "arguments", "staged", "staged arguments")),
    "simulated GPU", "simulated GPU, arguments"]


@pytest.fixture(params=PATHS)
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> launch.Kernel:
    """out[i] = x[i] + y[i] * scale, launched on each of the runtime's paths."""
    if "staged" in request.param:
        monkeypatch.setenv("TRITON_SPIRV_SHARED_MEMORY", "0")
    device = request.getfixturevalue("gpu") if "GPU" in request.param else "cpu"
    made = handmade.scaled_add("arguments" if "arguments" in request.param else "struct")
    kernel = handmade.bind(made, device)
    assert kernel.shared == (device == "cpu" and "staged" not in request.param)
    return kernel


def operands(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    x, y = generator.standard_normal((2, count)).astype(np.float32)
    return x, y


def expected(x: np.ndarray, y: np.ndarray, scale: float) -> np.ndarray:
    return x + y * np.float32(scale)


@pytest.mark.parametrize("grid", [(1, 1, 1), (7, 1, 1), (1000, 1, 1), (70_000, 1, 1)])
def test_results_are_there_on_return(kernel: launch.Kernel, grid: tuple[int, int, int]) -> None:
    count = grid[0]
    x, y = operands(count)
    out = zeros(count + 1)
    for scale in (0.5, 3.0):
        kernel.launch(*grid, (asarray(x), asarray(y), out, scale))
        np.testing.assert_array_equal(out.numpy()[:count], expected(x, y, scale))
    assert out.numpy()[count] == 0


def test_torch_tensors(kernel: launch.Kernel) -> None:
    torch = pytest.importorskip("torch")
    x, y, out = torch.randn(100), torch.randn(100, requires_grad=True), torch.zeros(100)
    kernel.launch(100, 1, 1, (x, torch.nn.Parameter(y), out, 2.0))
    torch.testing.assert_close(out, x + y.detach() * 2.0, rtol=0, atol=0)


def test_views_of_one_allocation(kernel: launch.Kernel) -> None:
    """Staged launches copy an allocation once, whatever points into it, and all of it."""
    block = np.arange(40, dtype=np.float32)
    x, y, out = asarray(block[0:10]), asarray(block[10:20]), asarray(block[30:])
    kernel.launch(10, 1, 1, (x, y, out, 1.0))
    np.testing.assert_array_equal(block[30:], np.arange(10) + np.arange(10, 20))
    np.testing.assert_array_equal(block[:30], np.arange(30))
    backwards = asarray(block[9::-1])
    assert backwards.extent() == (block.ctypes.data, block.nbytes)


def test_in_place(kernel: launch.Kernel) -> None:
    x, y = operands(64)
    out = asarray(x.copy())
    kernel.launch(64, 1, 1, (out, asarray(y), out, 1.0))
    np.testing.assert_array_equal(out.numpy(), expected(x, y, 1.0))


def test_empty_grid_launches_nothing(kernel: launch.Kernel) -> None:
    out = zeros(4)
    for grid in ((0, 1, 1), (1, 0, 5), (3, 3, 0)):
        kernel.launch(*grid, (out, out, out, 1.0))
    assert not out.numpy().any()


@pytest.mark.parametrize(("grid", "message"), [
    ((-1, 1, 1), "x must lie between 0 and"),
    ((-1, -1, 1), "x must lie between 0 and"),
    ((1, 1, 1 << 31), "z must lie between 0 and 2147483647; split the launch"),
    ((1 << 40, 1, 1), "x must lie between"),
    ((1.5, 1, 1), "grid x: 1.5 is a float"),
    ((1, "2", 1), "grid y: '2' is a str"),
    ((1, None, 1), "grid y: None is a NoneType"),
])
def test_grids_that_cannot_be(kernel: launch.Kernel, grid: tuple[Any, Any, Any], message: str) -> None:
    x = zeros(4)
    with pytest.raises((LaunchError, TypeError)) as caught:
        kernel.launch(*grid, (x, x, x, 1.0))
    if isinstance(caught.value, LaunchError):
        assert message in str(caught.value)


class _CudaTensor:
    """As much of torch's tensor as the launch asks for."""

    is_cpu = False
    device = "cuda:0"

    def data_ptr(self) -> int:
        raise AssertionError("the address is of no use")


@pytest.mark.parametrize(("argument", "message"), [
    ([1.0, 2.0], "a list is not memory that a kernel can work on; make it an array first"),
    (np.zeros(4, np.float32), r"a numpy.ndarray is not memory .* pass triton_spirv.asarray\(x\)"),
    (_CudaTensor(), r"the tensor is on cuda:0, kernels here work on host memory: pass tensor.cpu\(\)"),
    (1.5, "a float is not memory"),
    ("text", "a str is not memory"),
])
def test_arguments_that_are_not_memory(kernel: launch.Kernel, argument: Any, message: str) -> None:
    x = zeros(4)
    with pytest.raises(LaunchError, match=rf"scaled_add, argument 1 \(y\): {message}"):
        kernel.launch(1, 1, 1, (x, argument, x, 1.0))


@pytest.mark.parametrize("argument", ["one", [1], None, b"1"])
def test_scalars_that_are_no_numbers(kernel: launch.Kernel, argument: Any) -> None:
    x = zeros(4)
    with pytest.raises(LaunchError, match=r"argument 3 \(scale\): .* is a \w+, .* compiled for a number"):
        kernel.launch(1, 1, 1, (x, x, x, argument))


def test_number_of_arguments(kernel: launch.Kernel) -> None:
    x = zeros(4)
    for arguments in ((x, x, x), (x, x, x, 1.0, 2.0), ()):
        with pytest.raises(LaunchError, match=f"takes 4 arguments, got {len(arguments)}"):
            kernel.launch(1, 1, 1, arguments)


def test_read_only_arrays(kernel: launch.Kernel) -> None:
    """May be read, may not be written."""
    memory = np.ones(4, np.float32)
    memory.flags.writeable = False
    constant, out = asarray(memory), zeros(4)
    kernel.launch(4, 1, 1, (constant, constant, out, 1.0))
    assert (out.numpy() == 2).all()
    with pytest.raises(LaunchError, match=r"argument 2 \(out\): the kernel writes to it, .* read-only"):
        kernel.launch(4, 1, 1, (constant, constant, constant, 1.0))
    assert (memory == 1).all()


def test_addresses_and_wrappers(kernel: launch.Kernel) -> None:
    """An integer is an address; a wrapper (triton.reinterpret) stands for its base."""

    class Wrapper:
        def __init__(self, base: Array) -> None:
            self.base = base

        def data_ptr(self) -> int:
            return self.base.data_ptr()

    x, y = operands(8)
    out = zeros(8)
    if kernel.shared:
        kernel.launch(8, 1, 1, (x.ctypes.data, asarray(y), out, 1.0))
        np.testing.assert_array_equal(out.numpy(), expected(x, y, 1.0))
    kernel.launch(8, 1, 1, (asarray(x), Wrapper(asarray(y)), Wrapper(out), 2.0))
    np.testing.assert_array_equal(out.numpy(), expected(x, y, 2.0))


def test_pyopencl_arrays(kernel: launch.Kernel) -> None:
    cl = loader.pyopencl()
    import pyopencl.array

    device = next(device for platform in cl.get_platforms() for device in platform.get_devices())
    context = cl.Context([device])  # a queue does not keep its context alive with every driver
    queue = cl.CommandQueue(context)
    x, y = operands(50)
    there, out = pyopencl.array.to_device(queue, x), pyopencl.array.zeros(queue, 60, np.float32)
    kernel.launch(50, 1, 1, (asarray(there), asarray(y), asarray(out[10:]), 2.0))
    np.testing.assert_array_equal(out.get()[10:], expected(x, y, 2.0))
    np.testing.assert_array_equal(out.get()[:10], 0)
    kernel.launch(50, 1, 1, (asarray(x), asarray(y), asarray(out), 1.0))  # the short path again
    np.testing.assert_array_equal(out.get()[:50], expected(x, y, 1.0))


@pytest.fixture(params=[*(pytest.param(path, marks=ON_THE_CPU) for path in ("shared", "staged")),
                        "simulated GPU"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What chooses a device, whose memory is the host's or is not."""
    monkeypatch.setenv("TRITON_SPIRV_SHARED_MEMORY", str(int(request.param == "shared")))
    return request.getfixturevalue("gpu") if request.param == "simulated GPU" else "cpu"


@pytest.mark.parametrize(("kind", "value", "layout", "stored"), [
    ("i1", True, "B", 1), ("i1", False, "B", 0),
    ("i8", -3, "b", -3), ("i8", 200, "b", -56), ("i16", 70_000, "h", 4464),
    ("i32", -7, "i", -7), ("i32", 1 << 31, "i", -1 << 31), ("i32", (1 << 32) - 1, "i", -1),
    ("i32", np.int64(5), "i", 5), ("i64", -1 << 63, "q", -1 << 63), ("i64", (1 << 64) - 1, "q", -1),
    ("f16", 1.5, "e", 1.5), ("f16", 1e9, "e", float("inf")),
    ("f32", 0.1, "f", float(np.float32(0.1))), ("f32", -1e300, "f", float("-inf")), ("f32", 3, "f", 3.0),
    ("f32", np.float64(2.5), "f", 2.5), ("f64", 1e300, "d", 1e300),
    ("bf16", 1.0, "H", 0x3F80), ("bf16", float("inf"), "H", 0x7F80), ("bf16", -1e39, "H", 0xFF80),
    ("bf16", 2, "H", 0x4000),
])
def test_scalars(kind: str, value: Any, layout: str, stored: Any, device: str) -> None:
    """Integers wrap to the parameter's width, floats round to it and overflow to infinity."""
    out = zeros(8, "uint8")
    handmade.bind(handmade.store(kind), device).launch(1, 1, 1, (out, value))
    assert struct.unpack_from(layout, out.numpy().tobytes())[0] == stored


@pytest.mark.parametrize("bits", [0x3F80_8000, 0x3F81_8000, 0x3F80_8001, 0x3F80_7FFF, 0x0000_8001,
                                  0x7F7F_FFFF, 0x8000_0000])
def test_bfloat16_rounds_to_nearest_even(bits: int) -> None:
    torch = pytest.importorskip("torch")
    value = struct.unpack("<f", struct.pack("<I", bits))[0]
    reference = torch.tensor(value).to(torch.bfloat16).view(torch.int16).item() & 0xFFFF
    assert bfloat16_bits(value) == reference
    assert bfloat16_bits(float("nan")) & 0x7FFF > 0x7F80


def test_device_assertion(device: str, capfd: pytest.CaptureFixture[str]) -> None:
    """An exception, the user's line, also on the file descriptor of stderr; the next launch starts afresh."""
    kernel, out = handmade.bind(handmade.asserting(), device), zeros(8, "uint8")
    text = "kernel.py:12: checked: device-side assert: x must be positive in program (0, 0, 0)"
    for _ in range(2):
        with pytest.raises(RuntimeError) as caught:
            kernel.launch(1, 1, 1, (out,))
        assert str(caught.value) == text
        assert text in capfd.readouterr().err


def test_unknown_hidden_argument() -> None:
    words = handmade.assemble(handmade.ASSERTING)
    made = handmade.artifact(words, "store", [("pointer", "ptr")], hidden=("mystery",))
    with pytest.raises(DeviceError, match="hidden argument 'mystery'"):
        handmade.bind(made).launch(1, 1, 1, (zeros(8),))


def test_threads(kernel: launch.Kernel) -> None:
    """Threads launch the same kernel at the same time, each with arguments of its own."""
    failures: list[str] = []

    def work(number: int) -> None:
        x, y = operands(200, number)
        out = empty(200)
        for turn in range(100):
            count = 1 + (turn * 37) % 200
            out.numpy()[:] = 0
            kernel.launch(count, 1, 1, (asarray(x), asarray(y), out, float(number + turn)))
            right = expected(x, y, number + turn)
            right[count:] = 0
            if not np.array_equal(out.numpy(), right):
                failures.append(f"thread {number}, turn {turn}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.cpu_device("no child of a fork has a GPU that its parent opened")
def test_after_fork() -> None:
    """A child of a process that has launched can launch too, small and large grids, and build programs."""
    script = """
import os, sys
sys.path.insert(0, sys.argv[1])
import handmade, numpy as np
from triton_spirv.arrays import asarray, zeros
def check(kernel, count):
    x = asarray(np.arange(count, dtype=np.float32))
    out = zeros(count)
    kernel.launch(count, 1, 1, (x, x, out, 1.0))
    assert (out.numpy() == 2 * x.numpy()).all()
kernel = handmade.bind(handmade.scaled_add())
check(kernel, 4), check(kernel, 100_000)
child = os.fork()
if not child:
    try:
        check(kernel, 4), check(kernel, 100_000)
        check(handmade.bind(handmade.scaled_add("arguments")), 10)
        os._exit(0)
    finally:
        os._exit(1)
_, status = os.waitpid(child, 0)
check(kernel, 100_000)
sys.exit(os.waitstatus_to_exitcode(status))
"""
    command = [sys.executable, "-c", script, str(Path(__file__).parent.parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.cpu_device("its launches copy no memory")
def test_launch_overhead() -> None:
    """A launch costs microseconds: a handful of calls, once the types of its arguments are known."""
    kernel, x = handmade.bind(handmade.scaled_add()), zeros(1)
    arguments = (x, x, x, 1.0)
    for _ in range(10):
        kernel.launch(1, 1, 1, arguments)
    assert calls(lambda: kernel.launch(1, 1, 1, arguments)) <= 8


@pytest.mark.cpu_device("how its driver uses threads")
def test_a_process_of_one_processor_runs_all_programs_in_the_calling_thread() -> None:
    """Its other threads would only take turns with it. In a process of its own: the driver counts once."""
    script = """
import os, sys
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
sys.path.insert(0, sys.argv[1])
import handmade
import numpy as np
kernel = handmade.bind(handmade.scaled_add())
library, queues = kernel.context.device.library, []
finish = library.clFinish
library.clFinish = lambda queue: queues.append(queue) or finish(queue)
from triton_spirv.arrays import asarray, zeros
x, out = asarray(np.arange(200_000, dtype=np.float32)), zeros(200_000)
launch = kernel._short()
for _ in range(3):
    launch(200_000, 1, 1, (x, x, out, 2.0))
assert (np.asarray(out) == 3 * np.asarray(x)).all() and not queues, queues
"""
    command = [sys.executable, "-c", script, str(Path(__file__).parent.parent)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("way", ["launch", "launch_prepared"])
def test_a_signal_handler_launches_the_same_kernel_amid_a_launch(monkeypatch: pytest.MonkeyPatch,
                                                                way: str) -> None:
    """Between the arguments and the launch, as Python runs handlers between any two of its instructions: the
    first launch was made with the arguments and the grid of the second."""
    kernel = handmade.bind(handmade.scaled_add())
    outer, inner = (asarray(np.full(count, value, np.float32)) for count, value in ((20_000, 1), (4, 5)))
    enter = running_kernels.enter
    interruptions = [lambda: kernel.launch_prepared(4, 1, 1, (inner, inner, inner, 1.0))]

    def interrupted(index: int, text: int) -> None:
        enter(index, text)
        if interruptions:
            interruptions.pop()()

    monkeypatch.setattr(running_kernels, "enter", interrupted)
    getattr(kernel, way)(20_000, 1, 1, (outer, outer, outer, 1.0))
    monkeypatch.undo()
    assert (inner.numpy() == 10).all() and (outer.numpy() == 2).all()
    kernel.launch(20_000, 1, 1, (outer, outer, outer, 1.0))
    assert (outer.numpy() == 4).all()


@pytest.mark.parametrize("way", ["launch", "launch_prepared"])
def test_an_interrupted_launch_keeps_its_arguments(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    """The kernel runs on: only the addresses were kept, and it wrote to memory that was freed."""
    kernel, kept = handmade.bind(handmade.scaled_add()), []

    def interrupted(finish: Any) -> int:
        finish()
        raise KeyboardInterrupt

    monkeypatch.setattr(running_kernels, "abandoned", False)
    monkeypatch.setattr(waiting, "wait", interrupted)
    monkeypatch.setattr(waiting, "keep", lambda finish, afterwards: kept.append(afterwards))
    array = asarray(np.ones(20_000, np.float32))
    there = weakref.ref(array)
    try:
        getattr(kernel, way)(20_000, 1, 1, (array, array, array, 1.0))
    except KeyboardInterrupt:
        del array
    gc.collect()
    assert len(kept) == 1 and there() is not None
    kept.clear()
    gc.collect()
    assert there() is None
