"""CUDA tensors as arguments: on a GPU that both drivers have, and played on the software device
(tests/simulated_cuda.py)."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from real_cuda import HANDLE_BYTES
from simulated_cuda import Tensor
from triton_spirv import asarray
from triton_spirv.errors import DeviceError, LaunchError
from triton_spirv.runtime.vulkan import arrays, bridge, cuda, launch, memory
from triton_spirv.runtime.vulkan.context import Context
from triton_spirv.runtime.vulkan.library import VulkanError
from vulkan_launches import COUNT, GRID, kernel, random

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("passing", ["push", "buffer"])
@pytest.mark.parametrize("with_descriptor", [False, True])
def test_tensors(side: Any, with_descriptor: bool, passing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is copied through the host; on the device only what Vulkan cannot see: three there, one
    back."""
    x, y = random(), random(seed=1)
    on_gpu = [side.tensor(values, with_descriptor) for values in (x, y, np.full(COUNT, -1, np.float32))]
    for name in ("write", "read"):
        monkeypatch.setattr(type(side.context.stream), name, None)
    before = side.copies()
    kernel(side.context, passing).launch(*GRID, (*on_gpu, 960))
    assert side.copies() - before == (0 if with_descriptor else 4)
    assert (side.values(on_gpu[2])[:960] == (x + y)[:960]).all()
    assert (side.values(on_gpu[2])[960:] == -1).all()
    assert (side.values(on_gpu[0]) == x).all()


def test_arrays_as_tensors_and_back(side: Any) -> None:
    """The tensor is the array's memory: no copy, and the launch has the array's own address."""
    x = random()
    array, out = arrays.asarray(side.context, x), arrays.empty(side.context, COUNT).fill_(-1.0)
    tensor, results = side.of_array(array), side.of_array(out)
    before = side.copies()
    span = tensor.data_ptr(), tensor.data_ptr() + 4 * COUNT
    assert side.bridge.address(*span) == array.address
    side.add(tensor, 1)
    kernel(side.context).launch(*GRID, (tensor, tensor, results, COUNT))
    assert side.copies() == before
    assert (side.values(results) == (x + 1) + (x + 1)).all()
    assert (out.numpy() == (x + 1) + (x + 1)).all() and (array.numpy() == x + 1).all()


def test_arrays_that_cuda_works_on(side: Any) -> None:
    """Launches with the array itself, and its own methods, stand in the order of CUDA's work as well."""
    x = random()
    array, out = arrays.asarray(side.context, x), arrays.empty(side.context, COUNT)
    tensor, results = side.of_array(array), side.of_array(out)
    launched = kernel(side.context)
    for step in range(1, 20):
        side.add(tensor, 1)
        launched.launch(*GRID, (array, array, out, COUNT))
        side.add(results, step)
    expected = x.copy()
    for _ in range(19):
        expected += 1
    assert (out.numpy() == (expected + expected) + 19).all()
    array.fill_(2.0)
    assert (side.values(tensor) == 2).all()
    side.add(tensor, 1)
    out.copy_from(array)
    assert (side.values(results) == 3).all()


def test_views_are_one_memory(side: Any) -> None:
    """Overlapping views of one storage keep their distance, and travel once."""
    values = random()
    for with_descriptor in (False, True):
        whole = side.tensor(values, with_descriptor)
        before = side.copies()
        x, y = side.part(whole, 0, 64), side.part(whole, 32, 96)
        kernel(side.context).launch(1, 1, 1, (x, y, side.part(whole, 100, 164), 64))
        assert side.copies() - before == (0 if with_descriptor else 2)
        expected = values.copy()
        expected[100:164] = values[:64] + values[32:96]
        assert (side.values(whole) == expected).all()


@pytest.mark.parametrize("with_descriptor", [False, True])
def test_storages_that_touch(side: Any, with_descriptor: bool) -> None:
    """Where one ends the next one begins, as an allocator of large tensors has them: each is its own."""
    x, y = random(), random(seed=1)
    whole = side.tensor(np.concatenate([x, y, np.zeros(COUNT, np.float32)]), with_descriptor)
    before = side.copies()
    parts = [side.apart(whole, start, start + COUNT) for start in (0, COUNT, 2 * COUNT)]
    kernel(side.context).launch(*GRID, (*parts, COUNT))
    assert side.copies() - before == (0 if with_descriptor else 4)
    assert (side.values(whole) == np.concatenate([x, y, x + y])).all()


def test_arrays_that_are_still_worked_on(side: Any) -> None:
    """What was launched before CUDA came to see the array is done when it does, submitted or not."""
    total, one = (arrays.asarray(side.context, np.full(64, value, np.float32)) for value in (0, 1))
    launched = kernel(side.context)
    for _ in range(100):
        launched.launch(1, 1, 1, (total, one, total, 64))
    assert (side.values(side.of_array(total)) == 100).all()


def test_several_allocations(side: Any) -> None:
    """A tensor that no single descriptor has all of is copied on the device."""
    count = HANDLE_BYTES // 4 * 2 if side.name == "cuda" else 20_000
    x = random(1000)
    large = side.tensor(np.zeros(count, np.float32), with_descriptor=True, pieces=2)
    before = side.copies()
    last = side.part(large, count - 1000, count)
    kernel(side.context).launch(16, 1, 1, (side.tensor(x), side.tensor(x), last, 1000))
    assert side.copies() - before == 4
    assert (side.values(large)[-1000:] == x + x).all() and not side.values(large)[:-1000].any()


def test_with_host_memory_and_device_arrays(side: Any) -> None:
    """All kinds in one launch; what the host sees is there when it returns."""
    x, out = random(), np.zeros(COUNT, np.float32)
    array = arrays.asarray(side.context, x)
    kernel(side.context).launch(*GRID, (side.tensor(x), array, asarray(out), COUNT))
    assert (out == x + x).all()


def test_empty_and_wrapped(side: Any) -> None:
    """Empty tensors are null; triton.reinterpret's wrapper is what is behind it."""
    class Wrapper:
        def __init__(self, base: Any) -> None:
            self.base, self.dtype = base, base.dtype

        def data_ptr(self) -> int:
            return self.base.data_ptr()

    x, out = side.tensor(random()), side.tensor(np.zeros(COUNT, np.float32))
    kernel(side.context).launch(*GRID, (Wrapper(x), x, Wrapper(out), COUNT))
    assert (side.values(out) == 2 * random()).all()
    if side.name == "cuda":
        nothing = torch.zeros(0, device=side.place)
        kernel(side.context).launch(1, 1, 1, (nothing, nothing, nothing, 0))


def test_many_launches_keep_their_order(side: Any) -> None:
    """More than there are command buffers, CUDA's work in between; without waiting on the host."""
    for with_descriptor in (False, True):
        total = side.tensor(np.zeros(64, np.float32), with_descriptor)
        one = side.tensor(np.ones(64, np.float32), with_descriptor)
        launched = kernel(side.context)
        for _ in range(100):
            launched.launch(1, 1, 1, (total, one, total, 64))
            side.add(total, 1)
        assert (side.values(total) == 200).all()


def test_copies_in_memory_of_earlier_work(side: Any) -> None:
    """A copy may lie where an array was whose launches still run: CUDA writes there when they are done."""
    count = 65535 * 64
    launched, grid = kernel(side.context), (65535, 1, 1)
    one = arrays.asarray(side.context, np.ones(count, np.float32))
    x = side.tensor(np.full(count, 100, np.float32))
    out = side.tensor(np.zeros(count, np.float32))
    side.bridge.trim()  # the launch has to find new memory
    earlier = [arrays.empty(side.context, count) for _ in range(2)]
    last, places = arrays.empty(side.context, count), {array.address for array in earlier}
    for _ in range(15):
        for array in earlier:
            launched.launch(*grid, (one, one, array, count))
    launched.launch(*grid, (earlier[0], one, last, count))
    side.context.stream.flush()
    del array, earlier
    launched.launch(*grid, (x, x, out, count))
    assert places & {copy.address for copy in side.bridge.channel(0).kept}
    assert (side.values(out) == 200).all() and (last.numpy() == 3).all()


def test_idle_copies_make_room(simulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a stream keeps for its next launch goes before there is no room for an array."""
    x, out = (simulated.tensor(np.ones(1 << 16, np.float32)) for _ in range(2))
    launched, pool = kernel(simulated.context), simulated.context.pools.device
    launched.launch(1 << 10, 1, 1, (x, x, out, 1 << 16))
    size, place = max((copy.size, copy.address) for copy in simulated.bridge.channel(0).kept)

    def full(*arguments: Any) -> None:
        raise VulkanError("vkAllocateMemory", -2)

    monkeypatch.setattr(memory.Block, "__init__", full)
    fillers = []
    with pytest.raises(DeviceError, match="no room for"):
        while True:
            fillers.append(pool.allocate(size))
    assert not simulated.bridge.channel(0).kept
    assert any(part.address < place + size and place < part.address + part.size for part in fillers)
    fillers.clear()
    monkeypatch.undo()
    launched.launch(1 << 10, 1, 1, (x, x, out, 1 << 16))
    assert (simulated.values(out) == 2).all()


def test_memory_without_bounds_is_refused(side: Any) -> None:
    """Not a null pointer: the kernel would write there."""
    class Bare(Tensor):
        untyped_storage = property()  # hasattr is False

    x = random()
    out = arrays.empty(side.context, COUNT)
    bare = Bare(x.ctypes.data, COUNT, ordinal=side.gpu.ordinal)
    with pytest.raises(LaunchError, match=r"argument 0 \(x\): the Bare on cuda:\d+ does not say where"):
        kernel(side.context).launch(*GRID, (bare, out, out, COUNT))


def test_imports_end_with_the_memory(side: Any) -> None:
    """Memory that CUDA has freed does not stay in use because Vulkan has seen it."""
    side.bridge.trim()
    before = len(side.bridge.imports)
    x = side.tensor(random(), with_descriptor=True)
    out = side.tensor(random(), with_descriptor=True)
    kernel(side.context).launch(*GRID, (x, x, out, COUNT))
    assert len(side.bridge.imports) > before
    side.free(x)
    side.free(out)
    side.bridge.trim()
    assert len(side.bridge.imports) == before


def test_other_gpus_are_refused(side: Any) -> None:
    x, out = random(), arrays.empty(side.context, COUNT)
    there = Tensor(x.ctypes.data, COUNT, ordinal=side.gpu.ordinal + 1)
    with pytest.raises(LaunchError, match=rf"argument 0 \(x\): the tensor is on cuda:\d+, which "
                                          rf".*tensor.to\('cuda:{side.gpu.ordinal}'\) or tensor.cpu"):
        kernel(side.context).launch(*GRID, (there, out, out, COUNT))


def test_without_cuda_tensors_are_refused(context: Context) -> None:
    if context.cuda is not None:
        pytest.skip("this device's memory is CUDA's as well")
    out = arrays.empty(context, COUNT)
    with pytest.raises(LaunchError, match=r"does not share; pass tensor\.cpu"):
        kernel(context).launch(*GRID, (Tensor(random().ctypes.data, 1), out, out, COUNT))


def test_graphs_are_refused(simulated: Any) -> None:
    x = simulated.tensor(random())
    simulated.gpu.capturing = True
    try:
        with pytest.raises(LaunchError, match="captured into a graph"):
            kernel(simulated.context).launch(*GRID, (x, x, x, COUNT))
    finally:
        simulated.gpu.capturing = False


def test_other_memory_at_the_same_address(simulated: Any) -> None:
    """CUDA has freed an allocation that Vulkan knows, and mapped another one there."""
    x, out = simulated.tensor(random(), True), simulated.tensor(np.zeros(COUNT, np.float32), True)
    launched = kernel(simulated.context)
    for seed in range(5):
        x.numbers[...] = random(seed=seed)
        launched.launch(*GRID, (x, x, out, COUNT))
        assert (simulated.values(out) == 2 * random(seed=seed)).all()
        simulated.gpu.map_other(x.data_ptr())
        assert not simulated.values(x).any()


def test_imports_beyond_the_limit_end_between_launches(simulated: Any,
                                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch may have more allocations than are kept: their addresses hold until it is submitted."""
    monkeypatch.setattr(bridge, "IMPORTS", 1)
    launched = kernel(simulated.context)
    for seed in range(3):
        x, y, out = (simulated.tensor(random(seed=seed + number), True) for number in range(3))
        launched.launch(*GRID, (x, y, out, COUNT))
        assert (simulated.values(out) == random(seed=seed) + random(seed=seed + 1)).all()
        assert len(simulated.bridge.imports) == 1


def test_streams_keep_their_own(simulated: Any, by_semaphores: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each launch is in the order of the stream that is torch's on this GPU: signals of a stream's own
    semaphore, numbers that only grow, copies that no other stream is given meanwhile."""
    current = [0]

    def current_stream(ordinal: int) -> Any:
        assert ordinal == simulated.gpu.ordinal
        return SimpleNamespace(cuda_stream=current[0])

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=SimpleNamespace(
        is_initialized=lambda: True, current_stream=current_stream)))
    simulated.gpu.order.clear()
    launched, x = kernel(simulated.context), simulated.tensor(random())
    out = {stream: simulated.tensor(np.zeros(COUNT, np.float32)) for stream in (101, 102, 103)}
    for stream in (101, 102, 103, 101, 103, 102):
        current[0] = stream
        launched.launch(*GRID, (x, x, out[stream], COUNT))
        assert (simulated.values(out[stream]) == 2 * random()).all()
    order = simulated.gpu.order
    assert [stream for what, stream, _, _ in order if what == "signal"] == [101, 102, 103, 101, 103, 102]
    assert [entry[:2] for entry in order[1::2]] == [("wait", entry[1]) for entry in order[::2]]
    numbers = [value for _, _, _, value in order[::2]]
    assert numbers == [value for _, _, _, value in order[1::2]] == sorted(set(numbers))
    own = {stream: {semaphore for what, on, semaphore, _ in order if (what, on) == ("signal", stream)}
           for stream in out}
    assert all(len(semaphores) == 1 for semaphores in own.values()) and len(set.union(*own.values())) == 3
    kept = [copy.address for stream in out for copy in simulated.bridge.channel(stream).kept]
    assert len(kept) == len(set(kept)) == 6


def test_needless_semaphores(simulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the stream has nothing to do and the kernel ends soon, none is touched; else both sides, or the
    one that has to, wait for what the other does."""
    x, out = simulated.tensor(random(), True), simulated.tensor(np.zeros(COUNT, np.float32), True)
    launched, stream, gpu = kernel(simulated.context), simulated.context.stream, simulated.gpu
    launched.launch(*GRID, (x, x, out, COUNT))
    monkeypatch.setattr(bridge, "PATIENCE", 10**10)  # however busy this machine is
    monkeypatch.setattr(bridge, "CHANGE", 10**10)
    channel = simulated.bridge.channel(0)

    def order(busy: bool, done: bool) -> list[str]:
        channel._in_vain = channel._blind = 0
        monkeypatch.setattr(gpu, "busy", busy)
        out.numbers[...] = 0
        gpu.order.clear()
        with monkeypatch.context() as patched:
            if not done:
                patched.setattr(stream, "is_done", lambda submission, within: False)
            launched.launch(*GRID, (x, x, out, COUNT))
        assert (simulated.values(out) == 2 * random()).all()
        return [what for what, *_ in gpu.order]

    assert order(busy=False, done=True) == []
    assert order(busy=False, done=False) == ["wait"]
    assert order(busy=True, done=True) == ["signal", "wait"]
    assert order(busy=False, done=True) == []


def test_looks_in_vain_become_rare(simulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long kernels do not cost the host a look in each launch; short ones are found to be so again."""
    x, out = simulated.tensor(random(), True), simulated.tensor(np.zeros(COUNT, np.float32), True)
    launched, gpu, stream = kernel(simulated.context), simulated.gpu, simulated.context.stream
    simulated.bridge.channel(0)._blind = 0
    monkeypatch.setattr(bridge, "PATIENCE", 10**10)
    monkeypatch.setattr(bridge, "CHANGE", 10**10)
    monkeypatch.setattr(bridge, "IMPATIENT", 4)

    def looks() -> bool:
        before = gpu.asked.count("is_idle")
        launched.launch(*GRID, (x, x, out, COUNT))
        return gpu.asked.count("is_idle") > before

    with monkeypatch.context() as patched:
        patched.setattr(stream, "is_done", lambda submission, within: False)
        patched.setattr(stream, "wait_for", stream.sleep_for)
        assert [number for number in range(20) if looks()] == [0, 2, 5, 10, 15]
    assert [number for number in range(4) if looks()] == [0, 1, 2, 3]
    monkeypatch.setattr(gpu, "busy", True)
    assert [number for number in range(4) if looks()] == [0, 1, 2, 3]  # nothing was waited for


def test_launches_in_turns_with_other_work(simulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first look may take a change from CUDA's work to ours. If the next one does as well, CUDA had other
    work in between; else there is no change in a row of launches."""
    channel = simulated.bridge.channel(0)

    def looks(launches: int, took: Callable[[bool], int]) -> list[int]:
        """took: nanoseconds of a look, by whether the launch before was looked at."""
        found, row = list[int](), False
        for number in range(launches):
            if channel.patience():
                found.append(number)
                channel.looked(in_vain=False, took=took(row))
                row = True
            else:
                channel.met()
                row = False
        return found

    change, short = 3 * bridge.CHANGE // 2, bridge.CHANGE // 4
    monkeypatch.setattr(bridge, "PATIENCE", 1)
    monkeypatch.setattr(bridge, "IMPATIENT", 4)
    assert looks(20, lambda row: short if row else change) == list(range(20))
    assert looks(20, lambda row: change) == [0, 2, 3, 6, 7, 12, 13, 18, 19]
    assert looks(8, lambda row: short if row else change) == [4, 5, 6, 7]


@pytest.mark.parametrize("shared", [True, False], ids=["memory with descriptors", "torch's own memory"])
def test_what_cuda_copies_is_not_looked_at(simulated: Any, monkeypatch: pytest.MonkeyPatch,
                                           shared: bool) -> None:
    x, out = simulated.tensor(random(), shared), simulated.tensor(np.zeros(COUNT, np.float32), shared)
    launched, gpu = kernel(simulated.context), simulated.gpu
    launched.launch(*GRID, (x, x, out, COUNT))
    simulated.bridge.channel(0)._blind = 0
    monkeypatch.setattr(bridge, "PATIENCE", 10**10)  # however busy this machine is
    monkeypatch.setattr(bridge, "CHANGE", 10**10)
    before = gpu.asked.count("is_idle")
    for _ in range(3):
        launched.launch(*GRID, (x, x, out, COUNT))
    assert gpu.asked.count("is_idle") - before == (3 if shared else 0)
    assert (simulated.values(out) == 2 * random()).all()


def test_questions_stand_beside_captures() -> None:
    """Of other streams; what CUDA cannot answer is not idle."""
    asked: list[Any] = []
    answers: list[int] = []
    library = SimpleNamespace(call=lambda name, *_: asked.append(name),
                              cuStreamQuery=lambda stream: (asked.append(stream), answers.pop())[1])
    gpu = cuda.Gpu(library, 0)  # type: ignore[arg-type]
    beside = "cuThreadExchangeStreamCaptureMode"
    for answer, idle in ((0, True), (600, False), (700, False), (906, False)):
        answers.append(answer)
        asked.clear()
        assert gpu.is_idle(7) == idle and asked == [beside, 7, beside]


@pytest.mark.parametrize("where", ["copy", "is_idle", "signal", "record", "is_done", "wait"])
def test_launches_that_fail_half_way(simulated: Any, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of them is left running or for the next submission, which is not disturbed."""
    shared = where in ("is_idle", "is_done")  # what is copied is not looked at
    x, out = simulated.tensor(random(), shared), simulated.tensor(np.zeros(COUNT, np.float32), shared)
    launched, stream = kernel(simulated.context), simulated.context.stream
    launched.launch(*GRID, (x, x, out, COUNT))
    monkeypatch.setattr(bridge, "PATIENCE", 0 if where in ("signal", "wait") else 10**9)
    simulated.bridge.channel(0)._blind = 0

    def fail(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        owner: Any = {"record": launched, "is_done": stream}.get(where, simulated.gpu)
        original = stream.is_done
        patched.setattr(owner, where, fail)
        if where == "is_done":  # the first call: what comes of it waits as well
            calls = iter([fail])
            patched.setattr(stream, "is_done", lambda *given: next(calls, original)(*given))
        with pytest.raises(KeyboardInterrupt):
            launched.launch(*GRID, (out, out, out, COUNT))
    assert stream.meeting is None and not stream.recording and stream.idle()
    for _ in range(3):
        launched.launch(*GRID, (x, x, out, COUNT))
        assert (simulated.values(out) == 2 * random()).all()


def test_one_bridge_for_all_threads(device: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """First users that come at once have the same one."""
    made, opened, found = [], Context(device), []

    def slow(self: Context) -> object:
        made.append(object())
        time.sleep(0.1)
        return made[-1]

    monkeypatch.setattr(Context, "_open_cuda", slow)
    threads = [threading.Thread(target=lambda: found.append(opened.cuda)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == made * 4 and opened.cuda is made[0]


def test_its_context_is_made_current_once() -> None:
    """By the outermost block of a thread; another GPU's block within has its own."""
    asked: list[str] = []
    library = SimpleNamespace(call=lambda name, *_: asked.append(name))
    one, other = cuda.Gpu(library, 0), cuda.Gpu(library, 1)
    one.__dict__["_context"], other.__dict__["_context"] = 1, 2
    push, pop = "cuCtxPushCurrent_v2", "cuCtxPopCurrent_v2"
    with one.current():
        with one.current():
            one.copy(1, 2, 3, 4)
        with pytest.raises(ZeroDivisionError), one.current():
            raise ZeroDivisionError
        assert asked == [push, "cuMemcpyDtoDAsync_v2"]
        with other.current(), one.current():
            assert asked[2:] == [push, push]
        thread = threading.Thread(target=lambda: one.forget_memory(1, 2))
        thread.start()
        thread.join()
        assert asked[4:] == [pop, pop, push, "cuMemFree_v2", "cuDestroyExternalMemory", pop]
    assert asked[10:] == [pop]
    one.forget_memory(1, 2)
    assert asked[11:] == [push, "cuMemFree_v2", "cuDestroyExternalMemory", pop]


def test_what_a_launch_does_for_each_tensor(simulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The context is entered once, and nobody asks how far the kernel reaches: that is for host memory."""
    entered: list[int] = []
    current = type(simulated.gpu).current

    def counted(gpu: Any) -> Any:
        entered.append(1)
        return current(gpu)

    tensors = [simulated.tensor(random(seed=seed), True) for seed in range(3)]
    launched = kernel(simulated.context)
    monkeypatch.setattr(type(simulated.gpu), "current", counted)
    monkeypatch.setattr(launch, "reach_of", None)
    launched.launch(*GRID, (*tensors, COUNT))
    assert len(entered) == 1
    assert (simulated.values(tensors[2]) == random() + random(seed=1)).all()
