"""runtime/copies.py: memory for copies of the host's stays for the next launch, on a simulated GPU."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import simulated_gpu
import triton_spirv
from triton_spirv.errors import DeviceError
from triton_spirv.runtime import copies, device_memory, devices

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from simulated_kernels import doubled


@pytest.fixture(params=["unified", "virtual"])
def memory(request: pytest.FixtureRequest, gpu: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The copies of the GPU that launches go to, by Intel's extension and without it."""
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", gpu)
    if request.param == "virtual":
        monkeypatch.setattr(device_memory, "EXTENSION", "none")
    monkeypatch.setattr(copies, "_all", {})
    made = copies.copies_of(devices.open_device(devices.choose(gpu)))
    yield made
    made.trim()


def test_launches_leave_their_memory_to_the_next(memory: Any) -> None:
    """It waits for the kernel, and once for what comes back."""
    x, y = torch.arange(1000.0), torch.zeros(1000)
    doubled[(4,)](x, y, 1000, BLOCK=256)
    for turn in range(3):
        with simulated_gpu.costs() as spent:
            doubled[(4,)](x[turn:], y[turn:], 1000 - turn, BLOCK=256)
        assert spent["allocations_made"] == spent["allocations_freed"] == 0 and spent["waits"] == 2
        assert spent["copies_to_device"] == 2 and spent["copies_from_device"] == 1
    assert (y.numpy() == np.arange(1000) * 2).all()


def test_nothing_much_too_large_is_given(memory: Any) -> None:
    large, small = memory.take(1 << 20), memory.take(100)
    memory.give(large)
    memory.give(small)
    assert memory.take(4096) == small and memory.take(600_000) == large
    memory.give(small)
    memory.give(large)
    other = memory.take(300_000)
    assert other not in (small, large)
    memory.give(other)


def test_no_more_is_kept(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "KEPT", 3 << 20)
    parts = [memory.take(1 << 20) for _ in range(5)]
    before = simulated_gpu.count("live_bytes")
    for part in parts:
        memory.give(part)
    assert simulated_gpu.count("live_bytes") == before - (2 << 20)
    assert [memory.take(1 << 20) for _ in range(3)] == parts[2:]
    for part in parts[2:]:
        memory.give(part)


def test_it_makes_room(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """For other copies, and for arrays on the device."""
    monkeypatch.setattr(copies, "KEPT", 1 << 40)
    kept = memory.take(1 << 20)
    memory.give(kept)
    with pytest.raises(DeviceError, match="has no room for a copy of 1099511627776 bytes"):
        memory.take(1 << 40)
    assert not memory._kept and not memory._sizes
    memory.give(memory.take(1 << 20))
    if memory._unified is not None:
        with pytest.raises(DeviceError, match="has no room for"):
            triton_spirv.empty(1 << 40, device="gpu:1")
        assert not memory._kept


def test_a_launch_that_fails_half_way_leaves_nothing_under_way(memory: Any,
                                                               monkeypatch: pytest.MonkeyPatch) -> None:
    """Its copies are done before their memory, or the host's, is anybody else's."""
    from triton_spirv.runtime import launch

    x, y = torch.ones(100), torch.zeros(100)
    with monkeypatch.context() as patched:
        patched.setattr(launch.Kernel, "_set_arguments", lambda *_: 1 // 0)
        with simulated_gpu.costs() as spent, pytest.raises(ZeroDivisionError):
            doubled[(1,)](x, y, 100, BLOCK=128)
    assert spent["waits"] == 1 and spent["copies_to_device"] == 2
    memory.trim()  # the simulator says so where a command uses it
    doubled[(1,)](x, y, 100, BLOCK=128)
    assert (y == 2).all()


def test_threads(memory: Any) -> None:
    """Nobody is given what another one has."""
    taken: list[int] = []

    def work() -> None:
        for size in range(100, 20_000, 900):
            address = memory.take(size)
            assert address not in taken
            taken.append(address)
            taken.remove(address)
            memory.give(address)

    failed: list[BaseException] = []

    def watched() -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=watched) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
