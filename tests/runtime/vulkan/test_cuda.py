"""CUDA tensors as arguments, device arrays as CUDA tensors: on a GPU that both drivers have, and played on
the software device (tests/simulated_cuda.py)."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from handmade_vulkan import vector_add
from real_cuda import HANDLE_BYTES, Mapped, Real
from simulated_cuda import Simulated, Tensor
from triton_spirv import asarray
from triton_spirv.errors import DeviceError, LaunchError
from triton_spirv.runtime.vulkan import arrays, cuda, dlpack, launch, memory, program, shared_memory
from triton_spirv.runtime.vulkan.bridge import Meeting
from triton_spirv.runtime.vulkan.context import Context, open_device
from triton_spirv.runtime.vulkan.structures import make

torch = pytest.importorskip("torch")

COUNT = 1000


def real(device: Any) -> Any:
    if not torch.cuda.is_available() or open_device(device).cuda is None:
        pytest.skip(f"no CUDA device is {device.name}")
    torch.zeros(1, device=f"cuda:{open_device(device).cuda.gpu.ordinal}")
    return Real(open_device(device), torch)


@pytest.fixture(scope="module")
def simulated(device: Any) -> Any:
    if device.kind != "cpu":
        pytest.skip(f"{device.name} is no software device, whose memory the processor can map")
    return Simulated()


@pytest.fixture
def on_cuda(device: Any) -> Iterator[Any]:
    """CUDA itself."""
    found = real(device)
    yield found
    torch.cuda.synchronize()


@pytest.fixture(params=["simulated", "cuda"])
def side(request: pytest.FixtureRequest, device: Any) -> Any:
    return request.getfixturevalue("simulated" if request.param == "simulated" else "on_cuda")


def kernel(context: Context, passing: str = "push") -> launch.Kernel:
    artifact = vector_add(passing)
    return launch.Kernel(program.build(context, artifact.words, artifact))


def random(count: int = COUNT, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


GRID = (-(-COUNT // 64), 1, 1)


# ---- tensors as arguments


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


def test_streams_keep_their_own(simulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("where", ["copy", "signal", "record", "wait"])
def test_launches_that_fail_half_way(simulated: Any, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of them is left running or for the next submission, which is not disturbed."""
    x, out = simulated.tensor(random()), simulated.tensor(np.zeros(COUNT, np.float32))
    launched, stream = kernel(simulated.context), simulated.context.stream
    launched.launch(*GRID, (x, x, out, COUNT))

    def fail(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(*(launched, "record") if where == "record" else (simulated.gpu, where), fail)
        with pytest.raises(KeyboardInterrupt):
            launched.launch(*GRID, (out, out, out, COUNT))
    assert stream.meeting is None and not stream.recording and stream.idle()
    for _ in range(3):
        launched.launch(*GRID, (x, x, out, COUNT))
        assert (simulated.values(out) == 2 * random()).all()


# ---- of CUDA itself


def test_streams(on_cuda: Any) -> None:
    """The launch is in the order of torch's current stream, which may be any."""
    x = random(1 << 22)
    launched, streams = kernel(on_cuda.context), [torch.cuda.Stream() for _ in range(3)]
    results = []
    for number, stream in enumerate(streams):
        with torch.cuda.stream(stream):
            values = torch.from_numpy(x).to(on_cuda.place)
            out = torch.zeros_like(values)
            for _ in range(10):
                values = torch.sin(values) + number
                launched.launch(1 << 16, 1, 1, (values, values, out, 1 << 22))
                values = out * 0.5
            results.append(out)
    torch.cuda.synchronize()
    for number, out in enumerate(results):
        expected = torch.from_numpy(x).to(on_cuda.place)
        for _ in range(10):
            expected = torch.sin(expected) + number
        assert torch.equal(out, expected + expected)


def test_memory_at_the_same_addresses(on_cuda: Any) -> None:
    """A program may map other memory where there was some: never the old one is meant."""
    launched, out = kernel(on_cuda.context), on_cuda.tensor(np.zeros(COUNT, np.float32))
    place = 0
    for number in range(6):
        mapped = Mapped(on_cuda.gpu, 1, place)
        place = mapped.pointer
        x = on_cuda.at(mapped, torch.full((COUNT,), float(number)))
        before = on_cuda.copies()
        launched.launch(*GRID, (x, x, out, COUNT))
        assert bool((out == 2 * number).all()) and on_cuda.copies() == before + 2  # of the result alone
        on_cuda.free(x)


EXPANDABLE = """
import os, sys
sys.path.insert(0, "tests")
import torch
from importlib import import_module
from handmade_vulkan import vector_add
from triton_spirv.runtime.vulkan import context, launch, program
opened = context.open_device(import_module("triton_spirv.runtime.vulkan.devices").choose("vulkan"))
artifact = vector_add()
kernel = launch.Kernel(program.build(opened, artifact.words, artifact))
bridge = opened.cuda
copies, original = [], bridge.gpu.copy
bridge.gpu.copy = lambda *arguments: (copies.append(arguments), original(*arguments))
place = f"cuda:{bridge.gpu.ordinal}"
def copied(tensor):  # no allocation has all of it
    storage = tensor.untyped_storage()
    base, size, fd = bridge.gpu.export_memory(storage.data_ptr())
    os.close(fd)
    return storage.data_ptr() + storage.nbytes() > base + size
for count in (1000, 1 << 20, 40_000_000):
    for again in range(3):
        x, y = (torch.randn(count, device=place) for _ in range(2))
        out = torch.zeros(count, device=place)
        expected = copied(x) + copied(y) + 2 * copied(out)
        assert not expected or count > 1 << 20, (count, expected)
        copies.clear()
        kernel.launch(-(-count // 64), 1, 1, (x, y, out, count))
        assert torch.equal(out, x + y), ("values", count, again)
        assert len(copies) == expected, ("copies", count, len(copies), expected)
        del x, y, out
        torch.cuda.empty_cache()
"""


def test_expandable_segments(on_cuda: Any) -> None:
    """torch's allocator with descriptors: tensors within one allocation are passed as they are, others, which
    here lie one right behind the other, copied; other memory comes to the same addresses."""
    variables = dict.fromkeys(("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF"), "expandable_segments:True")
    done = subprocess.run([sys.executable, "-c", EXPANDABLE], capture_output=True, text=True,
                          env={**os.environ, **variables})
    assert done.returncode == 0, done.stderr


def test_captures_are_refused(on_cuda: Any) -> None:
    x = on_cuda.tensor(random())
    launched = kernel(on_cuda.context)
    launched.launch(*GRID, (x, x, on_cuda.tensor(random()), COUNT))
    torch.cuda.synchronize()
    with pytest.raises(LaunchError, match="captured into a graph"), torch.cuda.graph(torch.cuda.CUDAGraph()):
        launched.launch(*GRID, (x, x, x, COUNT))
    torch.cuda.synchronize()
    launched.launch(*GRID, (x, x, x, COUNT))
    assert (on_cuda.values(x) == 2 * random()).all()


def test_torch_gives_types(on_cuda: Any) -> None:
    for name in ("bfloat16", "float16", "int8", "uint8", "int64", "bool", "float64", "float8_e5m2"):
        array = arrays.empty(on_cuda.context, (3, 5), name)
        array.context.stream.fill(array.allocation, 0, 16, 0x01010101)
        tensor = torch.from_dlpack(array.T)
        assert str(tensor.dtype) == f"torch.{name}" and tuple(tensor.shape) == (5, 3)
        assert tensor.stride() == (1, 5) and tensor.is_cuda and not tensor.is_contiguous()


def test_where_torch_wants_it(on_cuda: Any) -> None:
    """device='cpu' and copy=True are copies."""
    array = arrays.asarray(on_cuda.context, random())
    host, copy = torch.from_dlpack(array, device="cpu"), torch.from_dlpack(array, copy=True)
    assert (host.numpy() == random()).all() and bool((copy.cpu() == host).all()) and copy.is_cuda
    copy.zero_()
    assert (array.numpy() == random()).all()
    assert torch.from_dlpack(array).data_ptr() != copy.data_ptr()


# ---- device arrays elsewhere


def test_memory_stays_while_others_have_it(side: Any) -> None:
    """A part of a block is handed out again when the array and every tensor of it are gone, and CUDA's work
    is done."""
    array = arrays.asarray(side.context, random())
    place, size = array.address, array.nbytes
    held = array.__dlpack__(stream=1) if side.name == "simulated" else torch.from_dlpack(array)
    del array
    gc.collect()
    others = [arrays.empty(side.context, COUNT) for _ in range(20)]
    assert all(abs(other.address - place) >= size for other in others)
    del held
    gc.collect()
    others += [arrays.empty(side.context, COUNT) for _ in range(200)]
    assert place in [other.address for other in others]
    if side.name == "simulated":
        assert "synchronize" in side.gpu.asked


def test_blocks_go_back(simulated: Any) -> None:
    """CUDA's view of a block ends before the block."""
    array = arrays.empty(simulated.context, memory.BLOCK_BYTES // 4 + 64)
    tensor = simulated.of_array(array)
    span = tensor.data_ptr(), tensor.data_ptr() + 4
    assert simulated.bridge.address(*span) == array.address
    del array, tensor
    gc.collect()
    arrays.empty(simulated.context, 4)
    assert simulated.bridge.address(*span) is None and "forget_memory" in simulated.gpu.asked


def test_dlpack_options(side: Any) -> None:
    array = arrays.asarray(side.context, random())
    there = (2, side.gpu.ordinal)
    assert array.__dlpack_device__() == there
    assert (np.from_dlpack(Host(array)) == random()).all() and (np.asarray(array) == random()).all()
    with pytest.raises((RuntimeError, BufferError)):  # numpy has no memory of GPUs, and does not ask
        np.from_dlpack(array)
    if tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1):
        assert (np.from_dlpack(array, device="cpu") == random()).all()
    with pytest.raises(BufferError, match="on the host there can only be a copy"):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="does not reach"):
        array.__dlpack__(dl_device=(2, side.gpu.ordinal + 1))
    for options in ({}, {"stream": -1}, {"copy": False}, {"dl_device": there}, {"max_version": (1, 0)}):
        assert pointer_of(array.__dlpack__(**options)) == pointer_of(array.__dlpack__())
    assert pointer_of(array.__dlpack__(copy=True)) != pointer_of(array.__dlpack__())


class Host:
    """Asks for the copy on the host, as DLPack's consumers on the host do."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(dl_device=(1, 0))

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def pointer_of(capsule: Any) -> int:
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return dlpack.DLTensor.from_address(find(capsule, b"dltensor")).data


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "float8_e5m2", "bool", "uint8",
                                  "int64", "float16"])
def test_capsules(simulated: Any, name: str) -> None:
    """What torch makes of them, on the host: type, shape, strides, the same bytes; the owner is kept."""
    class Owner:
        pass

    whole = arrays.empty(simulated.context, (4, 6), name)
    simulated.context.stream.fill(whole.allocation, 0, 24 * whole.dtype.itemsize, 0x01010101)
    simulated.context.stream.drain()
    array, owner = whole.T[1:], Owner()
    kept, place = weakref.ref(owner), whole.allocation.host + whole.dtype.itemsize
    tensor = torch.from_dlpack(Capsule(dlpack.capsule(array, place, (1, 0), owner)))
    assert str(tensor.dtype) == f"torch.{name}" and tensor.shape == (5, 4) and tensor.stride() == (1, 6)
    assert tensor.data_ptr() == place
    tensor.zero_()
    bits = whole.numpy().view(f"u{whole.dtype.itemsize}")
    assert not bits[:, 1:].any() and bits[:, 0].all()
    del owner
    gc.collect()
    assert kept() is not None
    del tensor
    gc.collect()
    assert kept() is None


class Capsule:
    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def test_tensors_may_outlive_python() -> None:
    """Whoever holds a capsule's memory may let it go when Python ends, in any order."""
    script = """
import builtins, torch
from types import SimpleNamespace
from triton_spirv.arrays import find_dtype
from triton_spirv.runtime.vulkan import dlpack
memory = (1 << 12) * b"a"
array = SimpleNamespace(dtype=find_dtype("uint8"), shape=(8,), strides=(1,))
class Source:
    def __dlpack__(self, **options): return dlpack.capsule(array, id(memory) + 64, (1, 0), memory)
    def __dlpack_device__(self): return 1, 0
builtins.kept = torch.from_dlpack(Source())
kept_too = torch.from_dlpack(Source())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


# ---- the pieces


def test_descriptors(context: Context) -> None:
    """Memory that is exported and imported again is the same memory at two addresses."""
    device = context.device
    if not device.shares_memory:
        pytest.skip(f"{device.name} has no file descriptors of memory")
    types = tuple(kind for kind in context.pools.device.types)
    pool = memory.Pool(context.api, context.handle, "device", types, (0,), context.pools.device.mapped,
                       device.max_allocation, exportable=True)
    pool.drain = context.stream.drain
    exported = memory.Block(pool, 1 << 20)
    imported = memory.Block(pool, 1 << 20, exported.descriptor())
    first, second = memory.Allocation(exported, 0, 1 << 20), memory.Allocation(imported, 0, 1 << 20)
    assert first.address != second.address
    values, seen = random(), np.zeros(COUNT, np.float32)
    context.stream.write(first, 256, values.ctypes.data, values.nbytes)
    context.stream.read(second, 256, seen.ctypes.data, seen.nbytes)
    assert (seen == values).all()
    kernel(context).launch(*GRID, (first.address + 256, second.address + 256, second.address + 8192, COUNT))
    context.stream.read(first, 8192, seen.ctypes.data, seen.nbytes)
    assert (seen == 2 * values).all()
    exported.release()
    imported.release()


def test_descriptors_that_nobody_takes_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    monkeypatch.setattr(shared_memory.os, "close", closed.append)
    with pytest.raises(ZeroDivisionError), shared_memory.handed(77):
        raise ZeroDivisionError
    with shared_memory.handed(78):
        pass
    assert closed == [77]


def test_descriptors_are_taken_once(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails before the import closes them; behind it they are the driver's, and numbers that others may
    have by then."""
    pool, closed, freed = context.pools.device, list[int](), list[int]()
    monkeypatch.setattr(shared_memory.os, "close", closed.append)
    with pytest.raises(DeviceError, match="more than a buffer may have"):
        memory.Block(pool, pool.largest + 256, 77)
    assert closed == [77]
    monkeypatch.setattr(memory.Block, "_allocate", lambda self, fd: self.__dict__.update(buffer=1, memory=2))
    monkeypatch.setattr(memory.Block, "_bind", lambda self, kind: (_ for _ in ()).throw(DeviceError("no")))
    monkeypatch.setattr(memory.Block, "release", lambda self: freed.append(self.memory))
    with pytest.raises(DeviceError, match="no"):
        memory.Block(pool, 256, 78)
    assert closed == [77] and freed == [2]


def driver(**results: int) -> cuda.Gpu:
    """CUDA whose functions have these results, the others succeed."""
    def function(result: int) -> Any:
        return ctypes.CFUNCTYPE(ctypes.c_int)(lambda: result)

    library = SimpleNamespace(**{name: function(results.get(name, 0)) for name in cuda.FUNCTIONS})
    return cuda.Gpu(cuda.Cuda(library), 0)


def test_imports_that_fail_in_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[int] = []
    monkeypatch.setattr(shared_memory.os, "close", closed.append)
    for name, expected in (("cuImportExternalMemory", [77]), ("cuExternalMemoryGetMappedBuffer", []),
                           ("cuImportExternalSemaphore", [77])):
        closed.clear()
        gpu = driver(**{name: 1})
        with pytest.raises(cuda.CudaError, match=name):
            gpu.import_semaphore(77) if "Semaphore" in name else gpu.import_memory(77, 256)
        assert closed == expected


def test_cuda_is_not_given_up_for_a_capture() -> None:
    """A wait looks every second whether CUDA has failed; while something is captured it cannot say."""
    for code in (0, cuda.NOT_READY, 900, 906):
        driver(cuStreamQuery=code).check()
    with pytest.raises(cuda.CudaError, match="cuStreamQuery: 700"):
        driver(cuStreamQuery=700).check()


@pytest.mark.parametrize(("place", "ordinal", "compression", "shared"), [
    (1, 0, 0, True), (1, 1, 0, False), (2, 0, 0, False), (1, 0, 1, False)])
def test_memory_that_is_no_plain_memory_of_the_gpu(place: int, ordinal: int, compression: int, shared: bool,
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory of another GPU or of the host, or compressed, has descriptors too: it is copied."""
    gpu = driver()

    def properties(found: Any, handle: Any) -> int:
        made = cuda.AllocationProperties(1, 1, place, ordinal, None, compression)
        ctypes.memmove(found, ctypes.byref(made), ctypes.sizeof(made))
        return 0

    monkeypatch.setattr(gpu.cuda, "cuMemGetAllocationPropertiesFromHandle", properties)
    assert (gpu.export_memory(4096) is not None) == shared


def test_a_submission_waits_for_others(context: Context) -> None:
    """It runs when the other semaphore has the value, and not before; then the second one has it, too."""
    def semaphore() -> int:
        info = make("SemaphoreCreateInfo", next=make("SemaphoreTypeCreateInfo", semaphoreType=1))
        return context.api.create("vkCreateSemaphore", context.handle, ctypes.byref(info))

    def counter(which: int) -> int:
        value = ctypes.c_uint64()
        context.api.call("vkGetSemaphoreCounterValue", context.handle, which, ctypes.addressof(value))
        return value.value

    stream, ours, theirs = context.stream, semaphore(), semaphore()
    out = arrays.empty(context, 64).fill_(0)
    stream.synchronize()
    with stream.lock:
        stream.meeting = Meeting(stream, theirs, ours).at(5)
        out.fill_(1.0)
        stream.flush()
        assert stream.meeting is None
    assert not stream.idle() and counter(ours) == 0
    info = make("SemaphoreSignalInfo", semaphore=theirs, value=5)
    context.api.call("vkSignalSemaphore", context.handle, ctypes.byref(info))
    assert (out.numpy() == 1).all() and counter(ours) == 5


def test_intervals() -> None:
    found = shared_memory.Intervals()
    assert found.find(0, 1) is None
    found.add(1000, 100, "a")
    found.add(3000, 10, "c")
    found.add(2000, 50, "b")
    assert found.find(1000, 1100) == (1000, "a") and found.find(1099, 1100) == (1000, "a")
    assert found.find(999, 1001) is None and found.find(1050, 1101) is None and found.find(1100, 1101) is None
    assert found.find(2010, 2020) == (2000, "b") and found.find(3009, 3011) is None
    found.remove(2000)
    assert found.find(2010, 2020) is None and found.find(3000, 3001) == (3000, "c") and len(found) == 2


@pytest.mark.parametrize(("structure", "size"), [
    (cuda.AllocationProperties, 32),
    (cuda.MemoryHandle, 104), (cuda.MappedBuffer, 88), (cuda.SemaphoreHandle, 96), (cuda.FenceValue, 144)])
def test_structures_of_cuda(structure: Any, size: int) -> None:
    """As cuda.h has them on 64-bit machines."""
    assert ctypes.sizeof(structure) == size


def test_cuda_is_loaded_late() -> None:
    """Launches with device arrays and host memory do not touch it."""
    script = """
import sys
import numpy as np
sys.path.insert(0, "tests")
from handmade_vulkan import vector_add
from importlib import import_module
from triton_spirv.runtime.vulkan import arrays, context, launch, program
import triton_spirv
opened = context.open_device(import_module("triton_spirv.runtime.vulkan.devices").choose("vulkan"))
artifact = vector_add()
kernel = launch.Kernel(program.build(opened, artifact.words, artifact))
x = np.ones(64, np.float32)
for pair in (arrays.asarray(opened, x), triton_spirv.asarray(x)):
    kernel.launch(1, 1, 1, (pair, pair, pair, 64))
loaded = [name for name in sys.modules if name.endswith((".cuda", ".bridge", ".cuda_memory", "torch"))]
assert not loaded, loaded
assert "libcuda" not in open("/proc/self/maps").read() or opened.device.vendor == 0x10DE
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
