"""Triton's own calls on a Vulkan device: launches, device arrays, timing, resources, two devices in one
process."""

from __future__ import annotations

import os
import re
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("TRITON_SPIRV_BACKEND", "1")

import triton
import triton.language as tl
from triton.runtime.errors import OutOfResources
from triton_spirv import asarray, empty, zeros
from triton_spirv.errors import DeviceError, LaunchError
from triton_spirv.runtime.launch import DeviceAssertion

pytestmark = pytest.mark.vulkan

DEVICE = os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan")


@pytest.fixture(autouse=True)
def on_vulkan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", DEVICE)


@triton.jit
def scaled(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n
    tl.store(out_ptr + index, tl.load(x_ptr + index, mask=inside) * factor, mask=inside)


@triton.jit
def guarded(x_ptr, n, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index, mask=index < n, other=0.0)
    tl.device_assert(x < 5, "too large")
    tl.store(x_ptr + index, x + 1, mask=index < n)


@triton.jit
def shouted(x_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    tl.device_print("x", tl.load(x_ptr + index))


def values(count: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal(count).astype(np.float32)


@pytest.mark.parametrize("place", ["host", "device"])
def test_launch(place: str) -> None:
    x = values(300)
    argument = asarray(x, device=None if place == "host" else DEVICE)
    out = zeros(300, device=argument)
    compiled = scaled[(3,)](argument, out, 290, 2.0, BLOCK=128)
    assert (out.numpy()[:290] == 2 * x[:290]).all() and (out.numpy()[290:] == 0).all()
    assert compiled.metadata.target.arch.startswith("vulkan-")


def test_torch_tensors_are_staged() -> None:
    torch = pytest.importorskip("torch")
    x = torch.randn(16, 16)
    out = torch.zeros(32, 16)
    scaled[(2,)](x.T, out[16:], 256, 3.0, BLOCK=128)
    assert torch.equal(out[16:].reshape(-1), 3 * x.reshape(-1)) and not out[:16].any()


@triton.jit
def shifted(x_ptr, out_ptr, n, BLOCK: tl.constexpr, VOLATILE: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = index < n // 16 * 16
    x = tl.load(x_ptr + index, mask=inside, other=7, volatile=VOLATILE)
    tl.store(out_ptr + index, x + (index % 5).to(x.dtype), mask=inside)


@pytest.mark.parametrize("dtype", ["float16", "int16", "int8", "uint8"])
@pytest.mark.parametrize("start, volatile", [(0, False), (8, False), (1, False), (0, True)])
def test_sixteen_bytes_at_once(dtype: str, start: int, volatile: bool) -> None:
    """Where pointers are aligned to them, also of elements that no vector holds so many of; volatile loads by
    vectors."""
    count = 1000
    x = np.random.default_rng(5).integers(0, 100, count + start).astype(dtype)
    given, out = asarray(x, device=DEVICE), zeros(count + start, dtype, device=DEVICE)
    compiled = shifted[(1,)](given[start:], out[start:], count, BLOCK=1024, VOLATILE=volatile,
                             num_warps=1)
    expected = np.where(np.arange(count) < 992, x[start:] + np.arange(count) % 5, 0).astype(dtype)
    np.testing.assert_array_equal(out.numpy()[start:], expected)
    listing = compiled.asm["spvasm"]
    at_once = (start * x.itemsize) % 16 == 0
    assert ("OpLoad <4 x i32>" in listing) == (at_once and not volatile)
    assert bool(re.search(r"Aligned(\|NonPrivatePointer)? 16", listing)) == at_once


def test_two_devices_in_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same kernel, by turns on the OpenCL CPU device and on Vulkan's."""
    pytest.importorskip("pyopencl")
    targets = []
    for device in ("cpu", DEVICE, "cpu", DEVICE):
        monkeypatch.setenv("TRITON_SPIRV_DEVICE", device)
        x, out = values(64), np.zeros(64, np.float32)
        compiled = scaled[(1,)](asarray(x), asarray(out), 64, 0.5, BLOCK=64)
        assert (out == 0.5 * x).all()
        targets.append(compiled.metadata.target.backend)
    assert targets == ["cpu", "spirv", "cpu", "spirv"]


def test_a_device_array_is_not_for_the_cpu_device(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyopencl")
    array = zeros(64, device=DEVICE)
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", "cpu")
    with pytest.raises(LaunchError, match=r"argument 0 \(x_ptr\).*vulkan:0"):
        scaled[(1,)](array, array, 64, 0.5, BLOCK=64)


def test_timing_is_the_devices() -> None:
    array = zeros(1 << 14, device=DEVICE)
    interface = triton.runtime.driver.active.get_device_interface()
    start, end = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    start.record()
    scaled[(16,)](array, array, 1 << 14, 1.0, BLOCK=1024)
    end.record()
    interface.synchronize()
    assert 0 < start.elapsed_time(end) < 60_000 and end.query()
    cache = triton.runtime.driver.active.get_empty_cache_for_benchmark()
    triton.runtime.driver.active.clear_cache(cache)
    assert cache.device == interface.current_device()


def test_the_device_is_looked_up_once_for_each_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits for a launch asks for the interface each time."""
    pytest.importorskip("pyopencl")
    driver = triton.runtime.driver.active
    interface = driver.get_device_interface()

    def again(choice: str) -> None:
        raise AssertionError(choice)

    monkeypatch.setattr("triton_spirv.runtime.vulkan.devices.choose", again)
    assert driver.get_device_interface() is interface
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", "cpu")
    assert driver.get_device_interface().current_device() == "cpu"
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", DEVICE)
    assert driver.get_device_interface() is interface


def test_too_large_a_work_group_is_out_of_resources() -> None:
    """By name, so that the autotuner goes on to the next configuration."""
    with pytest.raises(OutOfResources):
        scaled[(1,)](empty(4096, device=DEVICE), empty(4096, device=DEVICE), 4096, 1.0, BLOCK=4096,
                     num_warps=1024)


def test_assertions_are_raised_by_the_next_wait() -> None:
    array = asarray(np.full(16, 9.0, np.float32), device=DEVICE)
    guarded[(1,)](array, 16, BLOCK=16, debug=True)
    with pytest.raises(DeviceAssertion, match=r"test_vulkan.py:\d+.*guarded.*too large"):
        array.numpy()
    assert (array.numpy() == 9).all()
    with pytest.raises(DeviceAssertion):  # host memory: by the launch itself
        guarded[(1,)](asarray(np.full(16, 9.0, np.float32)), 16, BLOCK=16, debug=True)
    fine = asarray(np.zeros(16, np.float32), device=DEVICE)
    guarded[(1,)](fine, 16, BLOCK=16, debug=True)
    assert (fine.numpy() == 1).all()


def test_prints_are_shown_by_the_next_wait(capsys: Any) -> None:
    array = asarray(np.arange(4, dtype=np.float32), device=DEVICE)
    shouted[(1,)](array, BLOCK=4, num_warps=1)
    array.numpy()
    assert "pid (0, 0, 0) idx (3) x: 3.000000" in capsys.readouterr().out


def test_unknown_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", "vulkan:no such thing")
    with pytest.raises(DeviceError, match="names no Vulkan device"):
        scaled[(1,)](zeros(64), zeros(64), 64, 1.0, BLOCK=64)


@pytest.mark.parametrize("target", ["cpu", "host"])
def test_a_target_of_a_cpu_is_not_launched(monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    monkeypatch.setenv("TRITON_SPIRV_TARGET", target)
    with pytest.raises(DeviceError, match=f"TARGET={target} compiles kernels for a CPU, .*be launched"):
        scaled[(1,)](zeros(8), zeros(8), 8, 2.0, BLOCK=8)
