"""Kernels that shared memory has no room for: what is said, what tuning makes of them, what cannot be."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scarce
import triton
import triton.language as tl
from triton_spirv import asarray, zeros
from triton_spirv.errors import LaunchError
from triton_spirv.runtime import overflow as runtime_overflow
from triton_spirv.runtime.vulkan.memory import Pool
from triton_spirv.standalone import loader
from triton_spirv_backend import autotuning

VULKAN = os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan")


@triton.jit
def reversed_rows(x_ptr, out_ptr, COLUMNS: tl.constexpr, ROWS: tl.constexpr):
    """Rows of a block that a gather turns round."""
    place = tl.program_id(0) * ROWS * COLUMNS + tl.arange(0, ROWS)[:, None] * COLUMNS \
        + tl.arange(0, COLUMNS)[None, :]
    last = tl.broadcast_to(COLUMNS - 1 - tl.arange(0, COLUMNS)[None, :], (ROWS, COLUMNS))
    tl.store(out_ptr + place, tl.gather(tl.load(x_ptr + place), last, 1))


@pytest.fixture(params=[scarce.NAME, pytest.param(scarce.VULKAN, marks=pytest.mark.vulkan)])
def chosen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == scarce.VULKAN:
        monkeypatch.setenv("TRITON_SPIRV_DEVICE", VULKAN)
        scarce.add_vulkan(VULKAN)
    monkeypatch.setenv("TRITON_SPIRV_TARGET", request.param)
    reversed_rows.device_caches.clear()
    yield request.param
    reversed_rows.device_caches.clear()


def launched(programs: int, columns: int = 64, device: str | None = None, **options: Any) -> Any:
    x = np.arange(programs * 8 * columns, dtype=np.float32).reshape(-1, columns)
    out = zeros(x.shape, device=device)
    made = reversed_rows[(programs,)](asarray(x, device=device), out, columns, 8, **options)
    assert (out.numpy() == x[:, ::-1]).all()
    return made


def test_each_target_has_its_own_limit(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Triton remembers what shared memory a device has by the device's number."""
    with pytest.warns(UserWarning, match="has no room"):
        launched(1)
    if chosen == scarce.NAME:
        monkeypatch.setenv("TRITON_SPIRV_TARGET", "simt")
    else:
        monkeypatch.delenv("TRITON_SPIRV_TARGET")
    reversed_rows.device_caches.clear()
    made = launched(2)
    assert made.metadata.overflow == 0 and made.metadata.shared > scarce.BYTES


def test_it_is_said_once(chosen: str) -> None:
    with pytest.warns(UserWarning, match="reversed_rows: shared memory has no room for 2048 bytes") as told:
        for programs in (1, 5, 2):
            made = launched(programs)
    assert len(told) == 1 and made.metadata.overflow == 2048
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert launched(1, columns=16).metadata.overflow == 0


@pytest.mark.vulkan
@pytest.mark.filterwarnings("ignore:reversed_rows")
def test_launches_on_the_device_follow_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of growing grids, without waiting: memory is larger each time."""
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", VULKAN)
    scarce.add_vulkan(VULKAN)
    monkeypatch.setenv("TRITON_SPIRV_TARGET", scarce.VULKAN)
    reversed_rows.device_caches.clear()
    held = []
    for programs in (1, 64, 7, 300):
        x = np.random.default_rng(programs).standard_normal((programs * 8, 64)).astype(np.float32)
        out = zeros(x.shape, device=VULKAN)
        reversed_rows[(programs,)](asarray(x, device=VULKAN), out, 64, 8)
        held.append((x, out))
    assert all((out.numpy() == x[:, ::-1]).all() for x, out in held)
    reversed_rows.device_caches.clear()


@pytest.mark.filterwarnings("ignore:reversed_rows")
def test_more_than_there_is_is_refused(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = zeros(8 * 64)
    if chosen == scarce.VULKAN:
        monkeypatch.setattr(Pool, "allocate", _no_room)
    with pytest.raises(LaunchError, match=r"reversed_rows: .* global memory has none for [0-9]+ programs"):
        reversed_rows[(65535, 1 << 15, 60000) if chosen == scarce.NAME else (65535,)](x, x, 64, 8)


@pytest.mark.cpu_device("buffers in memory of the host")
@pytest.mark.filterwarnings("ignore:reversed_rows")
def test_memory_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """A launch takes no more than is free, and large buffers go with their launch."""
    monkeypatch.setenv("TRITON_SPIRV_TARGET", scarce.NAME)
    reversed_rows.device_caches.clear()
    buffers: list[runtime_overflow.Overflow] = []
    made = runtime_overflow.Overflow.__init__
    monkeypatch.setattr(runtime_overflow.Overflow, "__init__",
                        lambda self, artifact: (made(self, artifact), buffers.append(self))[0])
    monkeypatch.setattr(runtime_overflow, "KEPT", 5 * 2048)
    for programs, kept in ((1, 2048), (5, 5 * 2048), (1, 5 * 2048), (6, 0), (1, 2048)):
        launched(programs)
        assert sum(len(one._memory or ()) for one in buffers) == kept
    monkeypatch.setattr(runtime_overflow, "_free_bytes", lambda: 6 * 2048)
    launched(6)
    with pytest.raises(LaunchError, match=r"has none for 7 programs \(of 14336 bytes 12288 are free\); use "):
        launched(7)
    reversed_rows.device_caches.clear()


def test_what_is_free() -> None:
    assert 1 << 20 < runtime_overflow._free_bytes() < os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _no_room(pool: Pool, size: int) -> Any:
    from triton_spirv.errors import DeviceError

    raise DeviceError(f"no room for {size} bytes")


def test_bundles_and_recordings_provide_it() -> None:
    """Of any contents, a part for each program; an assertion has five words."""
    hidden = ["assert_buffer", "overflow_buffer"]
    words = loader.hidden_words({"hidden": hidden, "overflow_bytes": 384}, (3, 2, 1))
    assert list(words) == hidden and [array.nbytes for array in words.values()] == [20, 6 * 384]


def tuned(*rows: int) -> Any:
    return triton.autotune([triton.Config({"ROWS": count}) for count in rows], key=[])(reversed_rows)


@pytest.mark.parametrize("rows, best, milliseconds", [
    ((8, 1, 2), 2, {8: math.inf, 1: 20.0, 2: 10.0}),
    ((8, 16), 16, {8: 20.0, 16: 10.0}),
])
def test_tuning_prefers_what_fits(chosen: str, monkeypatch: pytest.MonkeyPatch, rows: tuple[int, ...],
                                  best: int, milliseconds: dict[int, float]) -> None:
    """Rows of 8 and more overflow, and race if there are no others; nothing is said of one that loses."""
    def race(samples: list[Any], **_: Any) -> list[list[float]]:
        for sample in samples:
            sample(1)
        return [[10.0 * place] for place in range(len(samples), 0, -1)]

    monkeypatch.setattr(autotuning, "race", race)
    kernel, x = tuned(*rows), asarray(np.arange(1024, dtype=np.float32))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kernel[lambda meta: (16 // meta["ROWS"],)](x, zeros(1024), COLUMNS=64)
    assert kernel.best_config.kwargs["ROWS"] == best
    assert [str(one.message).partition(":")[0] for one in told] == ["reversed_rows"] * (best >= 8)
    times = {config.kwargs["ROWS"]: values[0] for config, values in kernel.configs_timings.items()}
    assert times == milliseconds


def test_tuning_takes_what_there_is(chosen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raced: list[int] = []
    original = autotuning.race
    monkeypatch.setattr(autotuning, "race",
                        lambda samples, **how: raced.append(len(samples)) or original(samples, **how))
    kernel, x, out = tuned(8, 16), np.arange(1024, dtype=np.float32), zeros(1024)
    with pytest.warns(UserWarning, match="reversed_rows"):
        kernel[lambda meta: (16 // meta["ROWS"],)](asarray(x), out, COLUMNS=64)
    assert raced == [2] and (out.numpy() == x.reshape(16, 64)[:, ::-1].ravel()).all()
