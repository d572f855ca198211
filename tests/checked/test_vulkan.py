"""Checked mode on a Vulkan device: arrays that live there, copies of others, and what is refused."""

from __future__ import annotations

import os
import threading
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from checked.launches import found
from triton_spirv.errors import UnsupportedOperation

pytestmark = pytest.mark.vulkan
CHOICE = os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan")


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", CHOICE)


def there(values: np.ndarray) -> Any:
    return triton_spirv.asarray(values, device=CHOICE)


@triton.jit
def copy(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n, other=-1), mask=i < n)


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_arrays_of_the_device(size: int, dtype: str) -> None:
    """The device gives memory in larger pieces than were asked for: the rest of one is beyond the array."""
    x, o, behind = (there(np.full(size, k, dtype)) for k in (1, 2, 3))
    load, store = found("bounds", lambda: copy[(4,)](x, o, size + 5, BLOCK=256))
    assert load.count == store.count == 5 and load.argument == "x" and store.argument == "o"
    assert size <= store.index[0] < size + 5
    assert store.address == o.data_ptr() + store.index[0] * np.dtype(dtype).itemsize
    np.testing.assert_array_equal(o.numpy(), x.numpy())
    assert (behind.numpy() == 3).all()
    assert not found("bounds", lambda: copy[(4,)](x, o, size, BLOCK=256))


def test_views_of_the_device() -> None:
    whole = there(np.arange(100, dtype=np.float32))
    part, o = whole[20:30], there(np.zeros(80, np.float32))
    assert not found("bounds", lambda: copy[(1,)](part, o, 80, BLOCK=128))
    np.testing.assert_array_equal(o.numpy(), np.arange(20, 100))
    view, = found("bounds=view", lambda: copy[(1,)](part, o, 15, BLOCK=128))
    assert view.check == "view" and view.count == 5 and 10 <= view.index[0] < 15
    beyond, = found("bounds", lambda: copy[(1,)](part, there(np.zeros(81, np.float32)), 81, BLOCK=128))
    assert beyond.index == (80,) and "1 element beyond its end" in beyond.message


def test_views_of_one_array_of_the_host() -> None:
    """Both are copied once, and the memory of both is the whole array."""
    whole = np.arange(200, dtype=np.float32)
    low, high = whole[:100], whole[100:]
    assert not found("bounds", lambda: copy[(1,)](*map(triton_spirv.asarray, (low, high)), 100, BLOCK=128))
    np.testing.assert_array_equal(high, np.arange(100))
    load, = found("bounds", lambda: copy[(1,)](*map(triton_spirv.asarray, (high, low)), 101, BLOCK=128))
    assert load.argument == "x" and load.index == (100,) and load.address == high.ctypes.data + 400
    assert whole[100] == -1


@triton.jit
def counted(at, o):
    i = tl.arange(0, 64)
    tl.atomic_add(o + tl.load(at + i), 1)


@pytest.mark.parametrize("target", ["", "vulkan"])
def test_arrays_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """What a check makes of addresses does not write through all arguments."""
    if not target:
        monkeypatch.delenv("TRITON_SPIRV_DEVICE")
    at, o = (np.arange(64) % 9).astype(np.int32), np.zeros(8, np.int32)
    at.flags.writeable = False
    atomic, = found("bounds", lambda: counted[(1,)](triton_spirv.asarray(at), triton_spirv.asarray(o)))
    assert atomic.index == (8,) and atomic.count == 7
    np.testing.assert_array_equal(o, np.bincount(at)[:8])


@triton.jit
def summed(x, y, o, a, b, c, d, e, f, g, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i + a + b + c + d + e + f + g) + tl.load(y + i, mask=i < n, other=0)
    tl.store(o + tl.program_id(1), tl.sum(v, 0))


def test_more_arguments_than_are_pushed_at_once() -> None:
    x, y, o = np.ones(128, np.float32), np.ones(100, np.float32), np.zeros(2, np.float32)
    zeros = [0] * 7
    load, store = found("bounds", lambda: summed[(1, 3)](*map(triton_spirv.asarray, (x, y, o)), *zeros, 101,
                        BLOCK=128))
    assert load.index == (100,) and load.count == 3 and store.index == (2,) and store.program == (0, 2, 0)
    np.testing.assert_array_equal(o, 228)


@triton.jit
def asserted(x, n):
    i = tl.arange(0, 16)
    tl.device_assert(tl.load(x + i, mask=i < n, other=1) > 0, "positive")


def test_assertions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A finding comes before an assertion, and without one the assertion is raised."""
    x = triton_spirv.asarray(np.ones(10, np.float32))
    load, = found("bounds", lambda: asserted[(1,)](x, 11, debug=True))
    assert load.index == (10,)
    with pytest.raises(RuntimeError, match="positive"):
        asserted[(1,)](triton_spirv.asarray(-np.ones(10, np.float32)), 10, debug=True, check="bounds")


def test_launches_of_several_threads() -> None:
    """Each is told of its own launch."""
    counts: dict[int, list[int]] = {k: [] for k in range(1, 5)}

    def launch(beyond: int) -> None:
        x, o = there(np.ones(100, np.float32)), there(np.zeros(128, np.float32))
        for _ in range(5):
            counts[beyond] += [load.count for load in found("bounds", lambda: copy[(1,)](x, o, 100 + beyond,
                                                            BLOCK=128))]

    threads = [threading.Thread(target=launch, args=(beyond,)) for beyond in counts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts == {beyond: [beyond] * 5 for beyond in counts}


def test_named_arrays_of_the_host_are_not_there() -> None:
    """A kernel does not follow their addresses; an array of the device may begin at one of them."""
    x, o = there(np.ones(16, np.float32)), np.zeros(16, np.float32)
    with triton_spirv.checked("bounds", arrays=[np.ones(16, np.float32), triton_spirv.asarray(o)]):
        copy[(1,)](x, there(o), 16, BLOCK=16)


@pytest.mark.parametrize("check", ["uninit", "race", "deadlock"])
def test_what_cannot_be_checked_is_refused(check: str) -> None:
    x = triton_spirv.asarray(np.ones(16, np.float32))
    with pytest.raises(UnsupportedOperation, match=f"check={check} .*TRITON_SPIRV_DEVICE=cpu"):
        copy[(1,)](x, x, 16, BLOCK=16, check=check)
    copy[(1,)](x, x, 16, BLOCK=16, check="all")
