"""runtime/memory.py, extents.py: launches on a device that does not share the host's memory. Arguments that
overlap stay one memory there, and what has no memory of its own is refused."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import handmade
import numpy as np
import pytest
import triton_spirv
import ttgir
from numpy.lib.stride_tricks import as_strided
from staged_kernels import TWO_RESULTS, UNUSED
from triton_spirv.arrays import asarray, zeros
from triton_spirv.errors import LaunchError
from triton_spirv.runtime import copies, device_memory, launch, launch_code, memory
from triton_spirv.runtime.extents import merged

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import triton
import triton.language as tl

SPIRV_MODES = ("vector",)

#: elements that the kernel works on
COUNT = 16


#: lanes of the simulated GPU, and warps of its kernels
LANES, WARPS = 16, 1


@pytest.fixture(params=["CPU device", "simulated GPU"])
def bind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], launch.Kernel]:
    """The kernel of a text, launched on copies."""
    monkeypatch.setenv("TRITON_SPIRV_SHARED_MEMORY", "0")
    if request.param == "CPU device":
        return lambda text: handmade.bind(triton_spirv.compile(text), "cpu")
    gpu = request.getfixturevalue("gpu")
    return lambda text: handmade.bind(
        triton_spirv.compile(ttgir.spread(text, LANES, WARPS), "opencl-gpu", num_warps=WARPS), gpu)


@pytest.fixture
def two_results(bind: Callable[[str], launch.Kernel]) -> launch.Kernel:
    """The kernel of two results."""
    kernel = bind(TWO_RESULTS)
    assert not kernel.shared
    return kernel


def expected(block: np.ndarray, x: int, a: int, b: int) -> np.ndarray:
    """What is in the memory afterwards; the arguments are the places of their first elements."""
    result = block.copy()
    result[a:a + COUNT] = block[x:x + COUNT] + 1
    result[b:b + COUNT] = block[x:x + COUNT] * 2
    return result


def buffers(block: np.ndarray, start: int) -> Any:
    """16 elements of the memory from one on, in an array that knows of no more than 20."""
    return asarray(np.frombuffer(memoryview(block).cast("B"), np.float32, 20, start * 4)[:COUNT])


def storages(block: np.ndarray, start: int) -> Any:
    """The same as a tensor, of a storage of its own that begins before it."""
    begin = max(start - 3, 0)
    return torch.from_numpy(block[begin:start + 20])[start - begin:][:COUNT]


def windows(block: np.ndarray, start: int) -> Any:
    """The same as a view with two overlapping rows, or none."""
    return asarray(as_strided(block[start:], (2, COUNT), (8, 4))[0])


VIEWS = [buffers, storages, windows]


@pytest.mark.parametrize("places", [
    (0, 40, 48),  # both written
    (0, 48, 40),
    (0, 40, 40),  # the same
    (30, 40, 70),  # read and written
    (45, 40, 80),
    (40, 30, 50),  # a chain: the outer ones do not overlap
    (24, 36, 48),
    (40, 56, 24),  # side by side
], ids=str)
@pytest.mark.parametrize("kind", VIEWS)
def test_arguments_that_overlap(two_results: launch.Kernel, places: tuple[int, int, int], kind: Any) -> None:
    """Their allocations are not the same, and each begins and ends elsewhere: nothing written is lost."""
    block = np.arange(120, dtype=np.float32)
    right = expected(block, *places)
    two_results.launch(1, 1, 1, [kind(block, start) for start in places])
    np.testing.assert_array_equal(block, right)


@pytest.mark.parametrize("kinds", list(itertools.product(VIEWS, repeat=2)))
def test_arrays_and_tensors_of_one_memory(two_results: launch.Kernel, kinds: tuple[Any, Any]) -> None:
    block = np.arange(120, dtype=np.float32)
    right = expected(block, 0, 40, 48)
    two_results.launch(1, 1, 1, [asarray(block)[:COUNT], kinds[0](block, 40), kinds[1](block, 48)])
    np.testing.assert_array_equal(block, right)


def test_views_of_strides_below_one(two_results: launch.Kernel) -> None:
    """Backwards, and with a stride of 0: the memory of such views begins before their first element, or is
    one element. The kernel goes forwards from the first element all the same."""
    block = np.arange(64, dtype=np.float32)
    right = expected(block, 0, 40, 24)
    backwards = asarray(as_strided(block[40:], (41,), (-4,)))
    repeated = asarray(as_strided(block[24:], (COUNT, 5), (4, 0)))
    two_results.launch(1, 1, 1, (asarray(block), backwards, repeated))
    np.testing.assert_array_equal(block, right)


def test_what_is_only_read_is_not_copied_back(two_results: launch.Kernel,
                                              monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may write there meanwhile, and the pages may be read-only."""
    block, made = np.arange(120, dtype=np.float32), []
    copy = memory.Staging._copy
    monkeypatch.setattr(memory.Staging, "_copy",
                        lambda self, *what, waits: made.append(what) or copy(self, *what, waits))
    arguments = [buffers(block, start) for start in (30, 40, 80)]
    two_results.launch(1, 1, 1, arguments)
    begin = block.ctypes.data
    assert [(source - begin, size) for _, source, size in made[:2]] == [(120, 120), (320, 80)]
    assert [(target - begin, size) for target, _, size in made[2:]] == [(160, 80), (320, 80)]


@pytest.mark.parametrize("shift", range(0, 32, 4))
def test_copies_keep_their_place_modulo_alignment(two_results: launch.Kernel, shift: int,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels are compiled for the alignment of the address on the host."""
    places: list[tuple[int, int]] = []
    copy = memory.Staging._copy
    monkeypatch.setattr(memory.Staging, "_copy",
                        lambda self, *what, waits: places.append(what[:2]) or copy(self, *what, waits))
    block = np.arange(64, dtype=np.float32)
    memories = memoryview(block).cast("B")[shift:]
    view = asarray(np.frombuffer(memories, np.float32, 50))
    two_results.launch(1, 1, 1, (view, view, view))
    assert places and all(target % memory.ALIGNMENT == source % memory.ALIGNMENT for target, source in places)


def test_merged() -> None:
    assert merged([]) == []
    assert merged([(5, 9, False), (0, 5, True)]) == [(0, 5, True), (5, 9, False)]
    assert merged([(0, 5, False), (8, 12, True), (4, 9, False)]) == [(0, 12, True)]
    assert merged([(0, 20, False), (3, 4, True), (20, 21, False)]) == [(0, 20, True), (20, 21, False)]


class Foreign:
    """Something with an address and nothing else: what triton.reinterpret makes, or a library of the
    user's."""

    def __init__(self, address: int) -> None:
        self.address = address

    def data_ptr(self) -> int:
        return self.address


@pytest.mark.parametrize("bare", [int, Foreign])
def test_bare_addresses_are_refused(two_results: launch.Kernel, bare: Any) -> None:
    x = zeros(COUNT)
    with pytest.raises(LaunchError, match=r"argument 1 \(a\): 0x\w+ is a bare address.* pass the array"):
        two_results.launch(1, 1, 1, (x, bare(x.data_ptr()), x))


def test_null_and_empty_arguments(bind: Callable[[str], launch.Kernel]) -> None:
    """They have no memory, and need none where nothing is accessed."""
    kernel, x = bind(UNUSED), zeros(4)
    for nothing in (None, 0, zeros(0), torch.zeros(0), torch.zeros(8)[8:]):
        x.numpy()[:] = 0
        kernel.launch(1, 1, 1, (nothing, nothing, x))
        assert (x.numpy() == 1).all()


class Announcements:
    """The calls of clSetKernelExecInfo, what is freed, and what each launch's kernel object was told."""

    def __init__(self, library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told: dict[int, list[int]] = {}
        self.count = 0
        self.freed: set[int] = set()
        self.stale: list[int] = []

        monkeypatch.setattr(launch_code, "maker", lambda: None)  # machine code calls the library's own

        def watch(name: str, before: Any) -> None:
            function = getattr(library, name)

            def watched(*arguments: Any) -> Any:
                before(*arguments)
                return function(*arguments)

            monkeypatch.setitem(library.__dict__, name, watched)

        watch("clSetKernelExecInfo", self._announced)
        watch("clSVMFree", lambda context, address: self.freed.add(address))
        free = device_memory.DeviceMemory.free
        monkeypatch.setattr(device_memory.DeviceMemory, "free",
                            lambda memory, address: (self.freed.add(address), free(memory, address)))
        monkeypatch.setattr(copies, "KEPT", 0)  # nothing stays for the next launch
        watch("clReleaseKernel", lambda kernel: self.told.pop(kernel, None))
        watch("clEnqueueNDRangeKernel", self._launched)

    def _announced(self, kernel: int, what: int, size: int, pointers: int) -> None:
        self.told[kernel] = list((ctypes.c_uint64 * (size // 8)).from_address(pointers))
        self.freed -= set(self.told[kernel])
        self.count += 1

    def _launched(self, queue: int, kernel: int, *_: Any) -> None:
        self.stale += [address for address in self.told.get(kernel, ()) if address in self.freed]


@pytest.fixture
def announcements(two_results: launch.Kernel, monkeypatch: pytest.MonkeyPatch) -> Iterator[Announcements]:
    yield Announcements(two_results.context.device.library, monkeypatch)


def test_freed_allocations_are_not_announced(announcements: Announcements,
                                             bind: Callable[[str], launch.Kernel]) -> None:
    """A launch without memory follows one with memory: the driver is not left with allocations that are
    gone. It would make them resident, and touch what was freed."""
    without = bind(UNUSED.replace("tt.store %p, %one", "// tt.store %p, %one"))
    x = zeros(4)
    without.launch(1, 1, 1, (x, x, x))
    without.launch(1, 1, 1, (None, None, None))
    without.launch(1, 1, 1, (x, None, None))
    without.launch(1, 1, 1, (None, None, None))
    without.context.settle()  # nobody waits for a launch that copies nothing
    assert announcements.count == 2 and announcements.freed and not announcements.stale


@triton.jit
def through_table(table, out, N: tl.constexpr):
    source = tl.load(table).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, N)
    tl.store(out + i, tl.load(source + i))


@triton.jit
def through_own_address(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    second = (x.to(tl.int64) + 4).to(tl.pointer_type(tl.float32))
    tl.store(out + i, tl.load(second + i))


def test_addresses_found_in_memory(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the host's: followed where memory is shared, refused by name elsewhere."""
    x, out = torch.arange(16.0), torch.zeros(16)
    table = torch.tensor([x.data_ptr()])
    run(through_table, 1, table, out, N=16)
    assert torch.equal(out, x)
    monkeypatch.setenv("TRITON_SPIRV_SHARED_MEMORY", "0")
    through_table.device_caches.clear()
    with pytest.raises(LaunchError, match=r"through_table on .*: test_staging.py:\d+:\d+ follows an "
                                          r"address .* pass the arrays themselves"):
        run(through_table, 1, table, out, N=16)


def test_addresses_of_arguments_are_followed(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_SHARED_MEMORY", "0")
    x, out = torch.arange(20.0), torch.zeros(16)
    through_own_address.device_caches.clear()
    run(through_own_address, 1, x, out, N=16)
    assert torch.equal(out, x[1:17])
