"""check=lanes: lanes of a program that meet in shared memory have a barrier in between; where one is taken
away, it is missed, in the line that needs it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from checked.launches import arrays, found
from triton_spirv import inspection
from triton_spirv.errors import LoweringError, UnsupportedOperation
from triton_spirv.lower.lanes import shared
from triton_spirv.lower.lanes.meeting import Global
from triton_spirv.lower.values.allocation import Range


@pytest.fixture(params=["simt", "simt8"])
def lanes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A cache of its own, too: nobody else must find the kernels without barriers."""
    monkeypatch.setenv("TRITON_SPIRV_TARGET", request.param)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")  # with and without mistakes


@triton.jit
def summed(x, o, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    s = tl.sum(v, 0)  # found here
    tl.store(o + tl.arange(0, BLOCK), v - s)


@triton.jit
def scanned(x, o, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    s = tl.cumsum(v, 0)  # found here
    tl.store(o + tl.arange(0, BLOCK), s)


@triton.jit
def turned(x, o, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    v = tl.trans(tl.load(x + i * N + j))
    tl.store(o + i * N + j, v)  # found here


@triton.jit
def product(x, y, o, depth, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    sums = tl.zeros((N, N), tl.float32)
    for start in range(0, depth, K):
        a = tl.load(x + i * depth + start + k[None, :])  # found here
        b = tl.load(y + (start + k[:, None]) * N + j)  # found here
        sums = tl.dot(a, b, sums)  # found here
    tl.store(o + i * N + j, sums)  # found here


@triton.jit
def counted(x, o, BLOCK: tl.constexpr, BINS: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    h = tl.histogram(v, BINS)  # found here
    tl.store(o + tl.arange(0, BINS), h)  # found here


RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def launch_of(kernel: Any) -> Callable[[], Any]:
    """A launch of one of the kernels, and a look at its results."""
    x, wide = normal(1024), normal(32, 32)
    if kernel is summed:
        return lambda: kernel[(3,)](*arrays(x, np.zeros_like(x)), BLOCK=1024)
    if kernel is scanned:
        return lambda: kernel[(3,)](*arrays(x, np.zeros_like(x)), BLOCK=1024)
    if kernel is turned:
        return lambda: kernel[(3,)](*arrays(wide, np.zeros_like(wide)), N=32)
    if kernel is counted:
        numbers = RNG.integers(0, 64, 1024).astype(np.int32)
        return lambda: kernel[(3,)](*arrays(numbers, np.zeros(64, np.int32)), BLOCK=1024, BINS=64)
    return lambda: kernel[(3,)](*arrays(normal(32, 64), normal(64, 32), wide), 64, N=32, K=16)


KERNELS = [summed, scanned, turned, product, counted]


def lines_of(kernel: Any) -> set[int]:
    """The lines that are marked: those whose elements travel between lanes."""
    first = kernel.starting_line_number
    return {first + k for k, line in enumerate(kernel.raw_src) if "# found here" in line}


def without_barrier(monkeypatch: pytest.MonkeyPatch, number: int, memory: type) -> list[int]:
    """Compile without one of the barriers that a memory needs; how many there are, when that is done. The
    verifier, which would refuse such a kernel, is off."""
    monkeypatch.setenv(inspection.VARIABLE, "")
    original, counts, graphs = shared.needed_barriers, list[int](), list[Any]()

    def needed(graph: Any, places: Any, *more: Any) -> dict[int, int]:
        found = dict(original(graph, places, *more))
        if graph in graphs:  # what would be needed if something else were so
            return found
        graphs.append(graph)
        own = [place for place in places if id(place) in found and isinstance(place.memory, memory)]
        counts.append(len(own))
        if number < len(own):
            del found[id(own[number])]
        return found

    monkeypatch.setattr(shared, "needed_barriers", needed)
    return counts


@triton.jit
def stored_and_loaded(x, o, N: tl.constexpr):
    i, j = tl.arange(0, N)[:, None], tl.arange(0, N)[None, :]
    v = tl.load(x + i * N + j)
    tl.store(o + i * N + j, v + 1.0)  # found here
    tl.store(x + i * N + j, tl.load(o + (i + 1) % N * N + j))  # found here


@triton.jit
def by_two_arguments(x, o, N: tl.constexpr):
    """The launch passes memory of `x` as `o`."""
    i = tl.arange(0, N)
    tl.store(x + i, i * 2.0)  # found here
    tl.store(o + i, tl.load(o + (i + 7) % N))  # found here


@triton.jit
def loaded_and_stored(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + (i + 7) % N)  # found here
    tl.store(x + i, v * 2.0)  # found here


@triton.jit
def of_all(x, o, N: tl.constexpr):
    """Every lane loads what one of them stores."""
    s = tl.load(x)  # found here
    tl.store(x, s + 1.0)  # found here
    tl.store(o + tl.arange(0, N), s + tl.arange(0, N))


@triton.jit
def in_rounds(x, o, rounds, N: tl.constexpr):
    i = tl.arange(0, N)
    for _ in range(rounds):
        v = tl.load(x + (i + 7) % N)  # found here
        tl.store(x + i, v + 1.0)  # found here


@triton.jit
def counted_and_loaded(x, o, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.atomic_add(x + i // 2, 1.0, sem="relaxed")  # found here
    tl.store(o + i, tl.load(x + (i + 40) % N))  # found here


def global_launch_of(kernel: Any) -> Callable[[], Any]:
    if kernel is by_two_arguments:
        x, = arrays(np.zeros(2048, np.float32))
        return lambda: kernel[(2,)](x, x, N=512)
    if kernel is in_rounds:
        return lambda: kernel[(1,)](*arrays(np.zeros(512, np.float32), np.zeros(1, np.float32)), 3, N=512)
    width = 32 if kernel is stored_and_loaded else 512
    x, o = np.ones(1024, np.float32), np.zeros(1024, np.float32)
    return lambda: kernel[(2,)](*arrays(x, o), N=width)


GLOBAL = [stored_and_loaded, by_two_arguments, loaded_and_stored, of_all, in_rounds, counted_and_loaded]


#: kernels, how one is launched, the memory that its barriers are for, and what a finding says
CASES = [*((kernel, launch_of, Range, "no barrier is between them") for kernel in KERNELS),
         *((kernel, global_launch_of, Global, "of global memory") for kernel in GLOBAL)]


@pytest.mark.usefixtures("lanes")
@pytest.mark.parametrize("kernel, launch, memory, says", CASES)
def test_nothing_where_barriers_are(kernel: Any, launch: Any, memory: type, says: str) -> None:
    assert not found("lanes", launch(kernel))


@pytest.mark.usefixtures("lanes")
@pytest.mark.parametrize("kernel, launch, memory, says", CASES)
def test_each_barrier_is_missed(kernel: Any, launch: Any, memory: type, says: str,
                                monkeypatch: pytest.MonkeyPatch) -> None:
    number, most = 0, 1
    while number < most:
        kernel.device_caches.clear()
        with monkeypatch.context() as patch:
            counts = without_barrier(patch, number, memory)
            findings = found("lanes", launch(kernel))
        most = max(counts)
        assert findings, f"barrier {number} of {most}"
        for finding in findings:
            assert finding.check == "lanes" and finding.file == __file__ and finding.other is not None
            assert {finding.line, finding.other.line} <= lines_of(kernel)
            assert says in finding.message
        number += 1
    assert most


@pytest.mark.usefixtures("lanes")
def test_results_are_as_without() -> None:
    x, o = normal(1024), np.zeros(1024, np.float32)
    with triton_spirv.checked("lanes,bounds"):
        scanned[(1,)](*arrays(x, o), BLOCK=1024)
    np.testing.assert_allclose(o, np.cumsum(x), rtol=1e-3, atol=1e-3)
    assert not found("lanes", lambda: summed[(0,)](*arrays(x, o), BLOCK=1024))


@triton.jit
def added_up(x, o, rounds, BLOCK: tl.constexpr):
    """Each round's reduction uses the memory of the one before."""
    s = 0.0
    for _ in range(rounds):
        s += tl.sum(tl.load(x + tl.arange(0, BLOCK)) + s, 0)
    tl.store(o, s)


@triton.jit
def copied(x, o):
    tl.store(o, tl.load(x))


@pytest.mark.usefixtures("lanes")
def test_nothing_to_watch() -> None:
    x, o = np.ones(1, np.float32), np.zeros(1, np.float32)
    assert not found("lanes", lambda: copied[(1,)](*arrays(x, o))) and o[0] == 1


@pytest.mark.usefixtures("lanes")
def test_many_rounds() -> None:
    x, o = np.zeros(256, np.float32), np.zeros(1, np.float32)
    assert not found("lanes", lambda: added_up[(2,)](*arrays(x, o), 1000, BLOCK=256))


@pytest.mark.usefixtures("lanes")
def test_no_room() -> None:
    wide = np.zeros((128, 128), np.float32)
    with pytest.raises(LoweringError, match=r"check=lanes needs .* bytes of shared memory"):
        turned[(1,)](*arrays(wide, np.zeros_like(wide)), N=128, check="lanes")


@pytest.mark.parametrize("device", ["cpu", pytest.param("vulkan", marks=pytest.mark.vulkan)])
def test_where_it_is_refused(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if device == "vulkan":
        monkeypatch.setenv("TRITON_SPIRV_DEVICE", os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan"))
    x = np.zeros(1024, np.float32)
    with pytest.raises(UnsupportedOperation, match=r"check=lanes is for .*TRITON_SPIRV_TARGET=simt"):
        summed[(1,)](*arrays(x, x), BLOCK=1024, check="lanes")


@triton.jit
def scattered(x, o, N: tl.constexpr, NEIGHBOURS: tl.constexpr, STEP: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.load(x + i // STEP * STEP)
    tl.store(o + i // NEIGHBOURS, v)  # found here
    tl.store(o + N + i, v)


@triton.jit
def stored_in_turn(x, o, N: tl.constexpr):
    """Other elements of a place come behind a barrier, or from the same lane."""
    i = tl.arange(0, N)
    v = tl.load(x + i)
    tl.store(o + i, v)
    tl.store(o + i, v + 1)
    tl.store(o + N - 1 - i, v + 2)
    for _ in range(2):
        tl.store(o + i * 0, tl.sum(v, 0))
        v += 1
    tl.store(o + N + i, v)


@pytest.mark.usefixtures("lanes")
@pytest.mark.parametrize("dtype", ["int8", "float16", "int32", "float64"])
@pytest.mark.parametrize("offset", [0, 1])
def test_two_values_of_one_store(dtype: str, offset: int) -> None:
    x, memory = (np.arange(64) + 1).astype(dtype), np.zeros(129, dtype)
    scattered.device_caches.clear()

    def of(neighbours: int, step: int) -> Any:
        o = memory[offset:128 + offset]
        return found("lanes", lambda: scattered[(2,)](*arrays(x, o), N=64, NEIGHBOURS=neighbours, STEP=step))

    assert not of(1, 1) and not of(2, 2) and not of(4, 8)
    for finding in (*of(2, 1), *of(64, 8)):
        assert finding.other is not None and {finding.line, finding.other.line} == lines_of(scattered)
        assert "store of global memory by lane" in finding.message and "of another value" in finding.message
    assert len(of(2, 1)) == len(of(64, 8)) == 1


@pytest.mark.usefixtures("lanes")
@pytest.mark.parametrize("size", [256, 1024])
def test_stores_in_turn(size: int) -> None:
    x, o = np.arange(size).astype(np.int32), np.zeros(2 * size, np.int32)
    assert not found("lanes", lambda: stored_in_turn[(2,)](*arrays(x, o), N=size))


@triton.jit
def packed(x, o, N: tl.constexpr, PLACES: tl.constexpr, ROUNDS: tl.constexpr):
    """Elements that one lane has: several registers, or neighbours."""
    i = tl.arange(0, N)
    for k in range(ROUNDS):
        tl.store(o + i % PLACES, tl.load(x + i) + k)  # found here


@pytest.mark.usefixtures("lanes")
@pytest.mark.parametrize("dtype", ["int8", "float16", "int32", "float64"])
@pytest.mark.parametrize("size, places", [(4096, 2048), (4096, 1024), (8192, 2048)])
def test_two_values_of_one_lane(dtype: str, size: int, places: int) -> None:
    x, o = np.arange(size).astype(dtype), np.zeros(size, dtype)
    for values in (x, x[:places], np.zeros_like(x)):
        wide = np.resize(values, size)
        packed.device_caches.clear()
        given = arrays(wide, o)
        findings = found("lanes", lambda given=given: packed[(2,)](*given, N=size, PLACES=places, ROUNDS=2))
        differ = (wide != np.resize(wide[:places], size)).any()
        assert bool(findings) == differ
        for finding in findings:
            assert {finding.line} == lines_of(packed) and "of another value there" in finding.message
        if differ:
            assert "by it for another element" in findings[0].message
        assert not found("lanes", lambda: packed[(2,)](*arrays(x, o), N=size, PLACES=size, ROUNDS=2))
