"""Programs that the C++ launcher calls as functions: what they compute, when the driver makes a launch
instead, and kernels of packages that know of no functions."""

from __future__ import annotations

import ctypes
import functools
import re
import shutil
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from called_kernels import places_kernel, scaled_kernel

torch = pytest.importorskip("torch")
cpp_wrapper = pytest.importorskip("triton_spirv_inductor.cpp_wrapper")

from triton_spirv.runtime import launch_code

from .cpp_launcher import Launcher

pytestmark = [pytest.mark.cpu_device("C++ calls its programs"),
              pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler"),
              pytest.mark.skipif(launch_code.maker() is None, reason="functions of x86-64 under Linux")]

#: launches of a kernel that is short: after so many it is known to be, beside other processes, too
MANY = 400


@triton.jit
def rounds_kernel(x, rounds):
    """Takes as long as it is told."""
    at = x + tl.program_id(0) * 16 + tl.arange(0, 16)
    value = tl.load(at)
    for _ in range(rounds):
        value = value * 1664525 + 1013904223
    tl.store(at, value)


@triton.jit
def asserting_kernel(x, out, n):
    i = tl.program_id(0) * 16 + tl.arange(0, 16)
    value = tl.load(x + i)
    tl.device_assert(value < n, "too large")
    tl.store(out + i, value + 1)


@triton.jit
def sums_kernel(x, out, really, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Holds tiles in private arrays."""
    if really:
        at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
        down = tl.cumsum(tl.load(x + at), 0)
        tl.store(out + at, tl.cumsum(down, 1) + down)


@pytest.fixture(params=("1", "0"), ids=("called", "launched"))
def is_called(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setenv("TRITON_SPIRV_CALLS", request.param)
    return bool(request.param == "1")


def scaled_numbers(n: int, factor: float) -> list[Any]:
    return [ctypes.c_float(factor), ctypes.c_int32(n), None]


@pytest.mark.parametrize("grid", [(1, 1, 1), (7, 1, 1), (1, 5, 1), (1, 1, 3), (3, 4, 2)], ids=str)
def test_places(launcher: Launcher, loaded: Callable[..., int], is_called: bool,
                grid: tuple[int, int, int]) -> None:
    programs = grid[0] * grid[1] * grid[2]
    out = torch.full((programs + 2,), -1, dtype=torch.int32)
    kernel, before = loaded(places_kernel, out, 1000), launcher.launches
    z, y, x = np.meshgrid(*map(np.arange, reversed(grid)), indexing="ij")
    expected = ((x * 100 + y) * 100 + z) * 1000 + grid[0] * 100 + grid[1] * 10 + grid[2]
    for _ in range(MANY):
        out[:programs] = -1
        assert not launcher.launch(kernel, grid, [out, ctypes.c_int32(programs)])
        assert out.tolist() == [*expected.ravel().tolist(), -1, -1]
    launches = launcher.launches - before
    if not is_called:
        assert launches == MANY
    elif programs == 1:
        assert not launches
    else:  # the driver makes some, until one was short
        assert 0 < launches < MANY


def test_without_programs_nothing_is_launched(launcher: Launcher, loaded: Callable[..., int],
                                              is_called: bool) -> None:
    out = torch.full((4,), -1, dtype=torch.int32)
    kernel, before = loaded(places_kernel, out, 1000), launcher.launches
    for grid in ((0, 1, 1), (1, 0, 1), (3, 4, 0)):
        assert not launcher.launch(kernel, grid, [out, ctypes.c_int32(4)])
    assert out.tolist() == 4 * [-1] and launcher.launches == before
    assert "at most 2147483647" in launcher.launch(kernel, (1 << 31, 1, 1), [out, ctypes.c_int32(4)])


@pytest.mark.parametrize("n", (1, 15, 64, 1000))
def test_numbers_and_edges(launcher: Launcher, loaded: Callable[..., int], is_called: bool,
                           n: int) -> None:
    x = torch.randn(n)
    kernel = loaded(scaled_kernel, x, x, 0.5, 999, BLOCK=64)
    for factor in (0.5, -3.0, 1e30):
        out = torch.zeros(n + 3)
        for _ in range(5):
            given = [x, out, *scaled_numbers(n, factor)]
            assert not launcher.launch(kernel, (triton.cdiv(n, 64), 1, 1), given)
        assert torch.equal(out[:n], x * factor) and not out[n:].any()


def test_denormal_numbers_are_kept_and_the_thread_is_left_as_it_was(
        launcher: Launcher, loaded: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_CALLS", "1")
    x, out = torch.full((64,), 2e-38), torch.zeros(64)
    expected = torch.full((64,), float(np.float32(2e-38) * np.float32(0.25)))
    kernel = loaded(scaled_kernel, x, out, 0.25, 999, BLOCK=64)
    for flushes in (False, True):
        if flushes and not torch.set_flush_denormal(True):
            pytest.skip("the processor cannot")
        try:
            assert not launcher.launch(kernel, (1, 1, 1), [x, out, *scaled_numbers(64, 0.25)])
            assert bool((x * 0.25).any()) != flushes
        finally:
            torch.set_flush_denormal(False)
        assert torch.equal(out.view(torch.int32), expected.view(torch.int32)) and out[0] != 0
        out.zero_()


def test_what_takes_long_is_the_drivers(launcher: Launcher, loaded: Callable[..., int],
                                        monkeypatch: pytest.MonkeyPatch) -> None:
    """Again, if it was short at first."""
    monkeypatch.setenv("TRITON_SPIRV_CALLS", "1")
    x = torch.zeros(64, dtype=torch.int32)
    kernel = loaded(rounds_kernel, x, 999)

    def launch(rounds: int) -> int:
        before = launcher.launches
        assert not launcher.launch(kernel, (4, 1, 1), [x, ctypes.c_int32(rounds)])
        return launcher.launches - before

    assert 0 in [launch(1) for _ in range(MANY)]
    assert [launch(1_000_000) for _ in range(4)] == [0, 0, 1, 1]  # one may have been interrupted
    assert launch(1) == 1


@pytest.mark.parametrize("functions", (1, 2))
def test_a_driver_that_is_not_trusted(new_launcher: Callable[[], Launcher], loaded: Callable[..., int],
                                      functions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no functions, or passes arguments otherwise."""
    monkeypatch.setenv("TRITON_SPIRV_CALLS", "1")
    launcher = new_launcher()
    launcher.functions(functions)
    x, out = torch.randn(64), torch.zeros(64)
    kernel = loaded(scaled_kernel, x, out, 2.0, 999, BLOCK=64, on=launcher)
    for count in range(1, 6):
        assert not launcher.launch(kernel, (1, 1, 1), [x, out, *scaled_numbers(64, 2.0)])
        assert launcher.launches == count
    assert torch.equal(out, x * 2)


def test_what_does_not_fit_on_a_stack_is_the_drivers(launcher: Launcher, loaded: Callable[..., int],
                                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_CALLS", "1")
    x, out = torch.randn(64), torch.zeros(64)
    said: list[str] = []

    def work(kernel: int) -> None:
        said.append(launcher.launch(kernel, (1, 1, 1), [x, out, *scaled_numbers(64, 2.0)]))

    for arrays, megabytes, launches in ((0, 8, 0), (5 << 20, 8, 0), (7 << 20, 8, 1), (7 << 20, 16, 0),
                                        (0, 1, 0), (1 << 20, 1, 1), (63 << 20, 256, 1)):
        kernel = loaded(scaled_kernel, x, out, 2.0, 999, BLOCK=64, changes={"private_bytes": arrays})
        before, size = launcher.launches, threading.stack_size(megabytes << 20)
        try:
            thread = threading.Thread(target=work, args=(kernel,))
            thread.start()
            thread.join()
        finally:
            threading.stack_size(size)
        assert said.pop() == "" and launcher.launches - before == launches, (arrays, megabytes)
        assert torch.equal(out, x * 2)
        out.zero_()


@pytest.mark.parametrize("rows", (64, 1024))
def test_large_private_arrays(launcher: Launcher, loaded: Callable[..., int], is_called: bool,
                              rows: int) -> None:
    """A quarter of a megabyte each is on the caller's stack, 4 megabytes are not where it has 8."""
    x, out = torch.ones(rows, 1024), torch.zeros(rows, 1024)
    expected = torch.arange(1, rows + 1).float()[:, None] * torch.arange(2, 1026).float()
    kernel, before = loaded(sums_kernel, x, out, 2, ROWS=rows, COLUMNS=1024), launcher.launches
    for really in (0, 1, 1, 0, 1):
        out.zero_()
        assert not launcher.launch(kernel, (1, 1, 1), [x, out, ctypes.c_int32(really), None, None])
        assert torch.equal(out, expected) if really else not out.any()
    assert launcher.launches - before == (0 if is_called and rows == 64 else 5)


#: kernel.h, as it was when kernels had no functions
OLD_HEADER = """
#include <cstdint>
namespace triton_spirv {
struct Field { uint32_t argument, offset, size; bool is_pointer; };
struct Message { const char *text; bool of_a_tensor; };
struct Kernel {
    const char *entry;
    const uint32_t *words;
    uint64_t bytes;
    const Field *fields;
    uint32_t count, struct_size;
    uint32_t local[3];
    int32_t assertion, ticket;
    const Message *messages;
    uint32_t message_count;
    uint32_t needs;
    bool waits;
};
}
"""


def as_old(text: str) -> str:
    return text.replace('#include "kernel.h"', OLD_HEADER)


def test_kernels_of_older_packages_are_the_drivers(launcher: Launcher, loaded: Callable[..., int],
                                                   monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_CALLS", "1")
    x, out = torch.randn(64), torch.zeros(64)
    kernel = loaded(scaled_kernel, x, out, 2.0, 999, BLOCK=64, edit=as_old,
                    changes={"exports": "", "private_bytes": None})
    before = launcher.launches
    for _ in range(5):
        assert not launcher.launch(kernel, (1, 1, 1), [x, out, *scaled_numbers(64, 2.0)])
    assert torch.equal(out, x * 2) and launcher.launches - before == 5


def test_an_assertion_is_reported_and_forgotten(launcher: Launcher, loaded: Callable[..., int],
                                                is_called: bool) -> None:
    for programs in (1, 2):
        n = 16 * programs
        x, out = torch.arange(n, dtype=torch.int32), torch.zeros(n, dtype=torch.int32)
        kernel = loaded(asserting_kernel, x, out, 99, debug=True)
        for _ in range(20):
            assert not launcher.launch(kernel, (programs, 1, 1), [x, out, ctypes.c_int32(n)])
            said = launcher.launch(kernel, (programs, 1, 1), [x, out, ctypes.c_int32(n - 1)])
            assert f"device-side assert: too large in program ({programs - 1}, 0, 0), element 15" in said
        assert torch.equal(out, x + 1)


def test_threads_at_once(launcher: Launcher, loaded: Callable[..., int], is_called: bool) -> None:
    kernel = loaded(scaled_kernel, torch.randn(1000), torch.zeros(1000), 2.0, 999, BLOCK=64)
    wrong: list[int] = []

    def work(seed: int) -> None:
        x, out = torch.randn(1000, generator=torch.Generator().manual_seed(seed)), torch.zeros(1000)
        for number in range(MANY):
            factor = float(seed + number % 7)
            said = launcher.launch(kernel, (16, 1, 1), [x, out, *scaled_numbers(1000, factor)])
            if said or not torch.equal(out, x * factor):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_what_the_driver_may_not_use_is_refused(launcher: Launcher, loaded: Callable[..., int],
                                                monkeypatch: pytest.MonkeyPatch) -> None:
    """By name: it would end the process."""
    x, out = torch.randn(64), torch.zeros(64)
    for older, feature in (("corei7", "avx"), ("corei7-avx", "avx2"), ("core-avx2", "avx512dq"),
                           ("skx", "avx512_vnni"), ("icelake-server", "avx512_bf16"),
                           ("icelake-server", "amx_tile")):
        monkeypatch.setenv("CL_CONFIG_CPU_TARGET_ARCH", older)
        needs = cpp_wrapper.HAS_STACK | cpp_wrapper.NEEDS[feature]
        edit = functools.partial(re.sub, "messages, 0, 16,", f"messages, 0, {needs},")
        kernel = loaded(scaled_kernel, x, out, 2.0, 999, BLOCK=64, edit=edit)
        said = launcher.launch(kernel, (1, 1, 1), [x, out, *scaled_numbers(64, 2.0)])
        assert f"scaled_kernel was compiled for a processor with {feature}, which" in said
    kernel = loaded(scaled_kernel, x, out, 2.0, 999, BLOCK=64)
    assert not launcher.launch(kernel, (1, 1, 1), [x, out, *scaled_numbers(64, 2.0)])


def test_another_word_than_a_switch_is_refused(launcher: Launcher, loaded: Callable[..., int],
                                               monkeypatch: pytest.MonkeyPatch) -> None:
    x, out = torch.randn(64), torch.zeros(64)
    for word, said in (("2", "TRITON_SPIRV_CALLS='2': use 1 or 0"), (" Off ", ""), ("", "")):
        monkeypatch.setenv("TRITON_SPIRV_CALLS", word)
        kernel = loaded(scaled_kernel, x, out, 2.0, 999, BLOCK=64)
        assert launcher.launch(kernel, (1, 1, 1), [x, out, *scaled_numbers(64, 2.0)]).endswith(said)
        assert torch.equal(out, x * 2) == (not said)
