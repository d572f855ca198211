"""runtime/unified_memory.py, device_array.py: arrays in the memory of an OpenCL GPU, on a simulated one."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading

import handmade
import numpy as np
import pytest
import simulated_gpu
import triton_spirv
from triton_spirv.errors import DeviceError, LaunchError
from triton_spirv.runtime import devices, program

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

import triton
import triton.language as tl
from simulated_kernels import doubled


@pytest.fixture
def there(gpu: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of the GPU, which launches go to."""
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", gpu)
    return devices.name_of(devices.choose(gpu))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bfloat16", "bool", "uint8"])
def test_values(there: str, dtype: str) -> None:
    kind = triton_spirv.empty(1, dtype).dtype
    values = (np.arange(24) % 2 == 0).astype(kind.storage).reshape(4, 6)
    array = triton_spirv.asarray(values, dtype, device=there)
    assert array.device == there and str(array.dtype) == dtype and array.shape == (4, 6)
    np.testing.assert_array_equal(array.numpy(), values)
    np.testing.assert_array_equal(array[1:3, ::2].numpy(), values[1:3, ::2])
    np.testing.assert_array_equal(array.T.numpy(), values.T)
    array[2].copy_from(values[0])
    np.testing.assert_array_equal(array.numpy()[2], values[0])
    assert not triton_spirv.zeros((3, 5), dtype, device=there).numpy().any()
    count = triton_spirv.asarray(np.arange(3), device=there)
    np.testing.assert_array_equal(np.from_dlpack(count), np.arange(3))


def test_chains_copy_nothing(there: str) -> None:
    x = triton_spirv.asarray(np.arange(1000, dtype=np.float32), device=there)
    y = triton_spirv.empty(1000, device=there)
    doubled[(4,)](x, y, 1000, BLOCK=256)
    with simulated_gpu.costs() as spent:
        for _ in range(3):
            doubled[(4,)](y, y, 1000, BLOCK=256)
    assert spent["launches"] == 3
    assert not any(spent[name] for name in ("copies_to_device", "copies_from_device", "allocations_made"))
    np.testing.assert_array_equal(y.numpy(), np.arange(1000) * 16)


def test_with_arrays_of_the_host(there: str) -> None:
    """Only those are copied."""
    x, y = triton_spirv.asarray(np.ones(100, np.float32), device=there), torch.zeros(100)
    with simulated_gpu.costs() as spent:
        doubled[(1,)](x, y, 100, BLOCK=128)
    assert (y == 2).all() and spent["bytes_to_device"] == spent["bytes_from_device"] == 400
    doubled[(1,)](y, x[50:], 50, BLOCK=64)
    assert (x.numpy()[50:] == 4).all() and (x.numpy()[:50] == 1).all()


@triton.jit
def windows(x_ptr, out_ptr, first, rows, pitch, BLOCK: tl.constexpr):
    """Sums of rows that begin `first` elements from the pointer on."""
    i = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], tl.float32)
    for row in range(rows):
        total += tl.load(x_ptr + first + row * pitch + i)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + i, total)


def test_views_copy_what_a_launch_may_reach(there: str) -> None:
    storage = torch.arange(1 << 20, dtype=torch.float32)
    before, x = storage.clone(), storage[500_000:500_100]
    with simulated_gpu.costs() as spent:
        doubled[(1,)](x, storage[600_000:], 100, BLOCK=128)
    assert 800 <= spent["bytes_to_device"] <= 800 + 4 * 128
    assert 400 <= spent["bytes_from_device"] <= 400 + 2 * 128
    before[600_000:600_100] = before[500_000:500_100] * 2
    assert torch.equal(storage, before)


@pytest.mark.parametrize(("first", "rows", "pitch"), [(-4000, 3, 1000), (70, 2, 300_000), (0, 1, -7),
                                                      (-1, 4, -40_000)])
def test_what_lies_beyond_a_view_is_there(there: str, first: int, rows: int, pitch: int) -> None:
    """In front of it, far behind it; and with what a launch may reach, what the pointer itself points to."""
    storage, out = torch.arange(1 << 20, dtype=torch.float32), torch.empty(64)
    at = 500_000
    with simulated_gpu.costs() as spent:
        windows[(1,)](storage[at:at + 1], out, first, rows, pitch, BLOCK=64)
    starts = [at + first + row * pitch for row in range(rows)]
    assert torch.equal(out, sum(storage[start:start + 64] for start in starts))
    reached = max(*starts, at) - min(*starts, at) + 64
    assert spent["bytes_to_device"] <= 4 * reached + 4 * 128 + 256


def test_kernels_that_take_a_struct(there: str) -> None:
    """Its addresses are announced, and what was freed is not."""
    kernel = handmade.bind(handmade.scaled_add("struct"), "b580")
    for _ in range(2):
        x, y, out = (triton_spirv.asarray(np.full(8, n, np.float32), device=there) for n in (1, 2, 0))
        kernel.launch(8, 1, 1, (x, y, out, 3.0))
        assert (out.numpy() == 7).all()
        del x, y, out


def test_memory_goes_with_the_last_view(there: str) -> None:
    gc.collect()
    before = simulated_gpu.count("live_bytes")
    part = triton_spirv.empty(1000, device=there)[10:20]
    assert simulated_gpu.count("live_bytes") == before + 4000
    del part
    gc.collect()
    assert simulated_gpu.count("live_bytes") == before


def test_arrays_of_another_device(there: str) -> None:
    other = triton_spirv.zeros(10, device="gpu:2")
    assert other.device == "gpu:2" != there
    with pytest.raises(LaunchError, match=r"argument 0 \(x\): the array is on gpu:2"):
        doubled[(1,)](other, other, 10, BLOCK=16)
    moved = triton_spirv.asarray(other, device=there)
    doubled[(1,)](moved, moved, 10, BLOCK=16)


@triton.jit
def sum_of_rows(table, out, rows, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros((N,), tl.float32)
    for row in range(rows):
        total += tl.load(tl.load(table + row).to(tl.pointer_type(tl.float32)) + i)
    tl.store(out + i, total)


def test_addresses_in_memory(there: str) -> None:
    """Those of arrays on the device are followed, which the launch announces. The host's are refused."""
    rows = [triton_spirv.asarray(np.full(16, n, np.float32), device=there) for n in range(1, 5)]
    table = np.array([row.data_ptr() for row in rows], np.int64)
    out = triton_spirv.empty(16, device=there)
    sum_of_rows[(1,)](triton_spirv.asarray(table, device=there), out, 4, N=16)
    assert (out.numpy() == 10).all()
    with pytest.raises(LaunchError, match=r"follows an address .* make all arrays on the device"):
        sum_of_rows[(1,)](triton_spirv.asarray(table), out, 4, N=16)


def test_more_than_4_gigabytes(there: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The allocation says so, and so does the kernel, which is built once more for that."""
    flags: list[str] = []
    build = program.compiled
    monkeypatch.setattr(program, "compiled", lambda context, words, entry, options: (
        flags.append(options), build(context, words, entry, options))[1])
    monkeypatch.setattr(program, "_from_cache", lambda *_: None)
    size = (1 << 30) + 4096  # elements: the last ones lie beyond 4 GB
    x = triton_spirv.empty(size, device=there)
    end = x[-64:]
    end.copy_from(np.arange(64, dtype=np.float32))
    doubled.device_caches.clear()
    doubled[(1,)](end, end, 64, BLOCK=64)
    np.testing.assert_array_equal(end.numpy(), np.arange(64) * 2)
    assert flags[-1] == program.LARGE_BUFFERS and flags[0] == ""
    with pytest.raises(DeviceError, match="has no room for"):
        triton_spirv.empty(1 << 40, device=there)


def test_names() -> None:
    with pytest.raises(DeviceError, match="use 'cpu', 'gpu', 'gpu:<number>', 'vulkan'"):
        triton_spirv.empty(3, device="tpu")
    with pytest.raises(DeviceError, match="names no device"):
        triton_spirv.empty(3, device="gpu:77")


# ---- launches that nobody has waited for

def test_launches_return_at_once(there: str) -> None:
    """What reads waits; launches from the host's memory, and for one, too."""
    x = triton_spirv.asarray(np.arange(1000, dtype=np.float32), device=there)
    y, host = triton_spirv.empty(1000, device=there), torch.ones(1000)
    with simulated_gpu.costs() as spent:
        doubled[(4,)](x, y, 1000, BLOCK=256)
        for _ in range(9):
            doubled[(4,)](y, y, 1000, BLOCK=256)
    assert spent["launches"] == 10 and not spent["waits"]
    doubled[(4,)](y, host, 1000, BLOCK=256)
    assert (host.numpy() == np.arange(1000) * 2048.0).all()
    doubled[(4,)](host, y, 1000, BLOCK=256)
    doubled[(4,)](y, x, 1000, BLOCK=256)
    np.testing.assert_array_equal(x.numpy(), np.arange(1000) * 8192.0)


def test_all_that_looks_at_memory_waits(there: str) -> None:
    x, y, z = (triton_spirv.asarray(np.full(100, n, np.float32), device=there) for n in (1, 0, 0))
    doubled[(1,)](x, y, 100, BLOCK=128)
    z.copy_from(y)
    doubled[(1,)](x, x, 100, BLOCK=128)
    y.copy_from(np.full(100, 5, np.float32))
    doubled[(1,)](y, y, 100, BLOCK=128)
    assert (z.numpy() == 2).all() and (x.numpy() == 2).all() and (np.from_dlpack(y) == 10).all()
    doubled[(1,)](x, z, 100, BLOCK=128)
    z.fill_(7)
    assert (z.numpy() == 7).all()


def test_threads_see_what_others_launched(there: str) -> None:
    """A thread that ended without waiting, too."""
    x = triton_spirv.asarray(np.ones(1000, np.float32), device=there)
    for turn in range(6):
        thread = threading.Thread(target=lambda: doubled[(4,)](x, x, 1000, BLOCK=256))
        thread.start()
        thread.join()
        if turn % 2:
            doubled[(4,)](x, x, 1000, BLOCK=256)
    assert (x.numpy() == 2.0**9).all()


def test_times_are_of_launches_that_are_done(there: str) -> None:
    x = triton_spirv.asarray(np.ones(1000, np.float32), device=there)
    interface = triton.runtime.driver.active.get_device_interface()
    begin, end = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    with simulated_gpu.costs() as spent:
        begin.record()
        doubled[(4,)](x, x, 1000, BLOCK=256)
        end.record()
    assert spent["waits"] == 1 and begin.elapsed_time(end) > 0
    doubled[(4,)](x, x, 1000, BLOCK=256)
    with simulated_gpu.costs() as spent:
        interface.synchronize()
        interface.synchronize()
    assert spent["waits"] == 1


def test_arrays_that_are_dropped_before_the_end(there: str) -> None:
    for _ in range(3):
        x = triton_spirv.asarray(np.ones(1000, np.float32), device=there)
        y = triton_spirv.empty(1000, device=there)
        doubled[(4,)](x, y, 1000, BLOCK=256)
        del x
    assert (y.numpy() == 2).all()


FAILS = """
import sys
sys.path.insert(0, {tests!r})
import numpy, simulated_gpu, triton_spirv
from simulated_kernels import doubled
x = triton_spirv.asarray(numpy.ones(1000, numpy.float32), device="gpu:1")
doubled[(100000,)](x, x, 1 << 30, BLOCK=256)
print("launched", flush=True)
try:
    x.numpy()
except triton_spirv.errors.LaunchError as error:
    print(error)
"""


def test_a_kernel_that_fails_is_named_by_who_waits() -> None:
    if not simulated_gpu.available():
        pytest.skip(simulated_gpu.NEEDED)
    text = FAILS.format(tests=str(simulated_gpu.SOURCES.parent))
    environment = {**os.environ, **simulated_gpu.for_children(), "TRITON_SPIRV_DEVICE": "b580",
                   "TRITON_SPIRV_BACKEND": "1"}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=120,
                          env=environment)
    assert done.stdout.startswith("launched\ndoubled on Intel(R) Arc(TM) B580 Graphics: "), done.stderr
