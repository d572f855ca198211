"""The pieces of memory and order that are shared with CUDA: descriptors, semaphores, calls, intervals."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from triton_spirv.errors import DeviceError
from triton_spirv.runtime.vulkan import arrays, cuda, memory, shared_memory
from triton_spirv.runtime.vulkan.bridge import Meeting
from triton_spirv.runtime.vulkan.context import Context
from triton_spirv.runtime.vulkan.structures import make
from vulkan_launches import COUNT, GRID, kernel, random


def test_descriptors(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
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
    monkeypatch.setattr(context, "has_arrays", True)  # addresses are taken as numbers here
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
