"""Programs that threads call as functions: which these are, that they compute what the driver's launches do,
and what else of the thread they leave alone."""

from __future__ import annotations

import ctypes
import os
import threading
import traceback

import numpy as np
import pytest
import triton
import triton.language as tl
from called_kernels import places_kernel, scaled_kernel
from triton_spirv.environment.base import Parameter
from triton_spirv.environment.opencl.environment import OpenCL
from triton_spirv.runtime import called_programs, devices, launch_code, running_kernels
from triton_spirv.spirv.builder import I32, I64, Builder
from triton_spirv.target.known import CPU

torch = pytest.importorskip("torch")

pytestmark = [pytest.mark.cpu_device("threads call its programs"),
              pytest.mark.skipif(launch_code.maker() is None, reason="machine code of x86-64 under Linux")]


@triton.jit
def printing_kernel(x):
    tl.device_print("x", tl.load(x))


@triton.jit
def waiting_kernel(word, out):
    while tl.atomic_add(word, 0) == 0:
        pass
    tl.store(out + tl.program_id(0), tl.program_id(0))


def probe() -> bytes:
    """The module of called_programs.py."""
    b = Builder(OpenCL.module(CPU))
    env = OpenCL(b, CPU)
    out, number = env.begin_kernel("probe", [Parameter("out", "ptr", I32), Parameter("number", "i32")], 1)
    places = [of(axis) for of in (env.program_id, env.num_programs) for axis in range(3)]
    for at, value in enumerate([*places, number]):
        env.store(env.offset(out, b.constant(I64, at)), value)
    b.emit("OpReturn")
    env.end_kernel()
    return b.module.words()


def address(kernel: triton.JITFunction, *arguments, grid=(1,), **named) -> int:
    """Of a launched kernel's function."""
    launched = kernel[grid](*arguments, **named).function._kernel
    return called_programs.address_of(launched.context, launched.program, launched.artifact)


@pytest.fixture(params=("1", "0"), ids=("called", "launched"))
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv(called_programs.VARIABLE, request.param)
    for kernel in (places_kernel, scaled_kernel, printing_kernel, waiting_kernel):
        kernel.device_caches.clear()
    return request.param


def test_the_probe_is_what_kernels_are() -> None:
    assert probe() == called_programs.PROBE, "compress the words of probe() anew"


@pytest.mark.parametrize("grid", [(1, 1, 1), (7, 1, 1), (1, 5, 1), (1, 1, 3), (3, 4, 2), (2, 1, 6)], ids=str)
def test_places(way: str, grid: tuple[int, int, int]) -> None:
    programs = grid[0] * grid[1] * grid[2]
    out = torch.full((programs + 1,), -1, dtype=torch.int32)
    assert bool(address(places_kernel, out, programs, grid=grid)) == (way == "1")
    z, y, x = np.meshgrid(*map(np.arange, reversed(grid)), indexing="ij")
    expected = ((x * 100 + y) * 100 + z) * 1000 + grid[0] * 100 + grid[1] * 10 + grid[2]
    for _ in range(4):  # the driver makes the first one
        out[:programs] = -1
        places_kernel[grid](out, programs)
        assert out.tolist() == [*expected.ravel().tolist(), -1]


@pytest.mark.parametrize("n", (1, 15, 64, 1000))
def test_types_of_arguments(way: str, n: int) -> None:
    x = torch.randn(n)
    for factor in (0.5, 3, -(1 << 30), 1 << 40):
        out = torch.zeros(n + 3)
        for _ in range(3):
            scaled_kernel[(triton.cdiv(n, 64),)](x, out, factor, n, BLOCK=64)
        assert torch.equal(out[:n], x * factor) and not out[n:].any()


def test_denormal_numbers_are_kept_and_the_thread_is_left_as_it_was(way: str) -> None:
    """Whoever launches may have asked torch to clear them."""
    x, out = torch.full((64,), 2e-38), torch.zeros(64)
    expected = torch.full((64,), np.float32(2e-38) * np.float32(0.25))
    for _ in range(3):
        scaled_kernel[(1,)](x, out, 0.25, 64, BLOCK=64)
    assert torch.equal(out, expected) and out[0] != 0
    if way == "1" and torch.set_flush_denormal(True):
        try:
            out.zero_()
            scaled_kernel[(1,)](x, out, 0.25, 64, BLOCK=64)
            assert not (x * 0.25).any()
        finally:
            torch.set_flush_denormal(False)
        assert torch.equal(out, expected)


def test_which_programs_are_called() -> None:
    x = torch.ones(1, dtype=torch.int32)
    assert not address(printing_kernel, x)
    assert address(waiting_kernel, x, torch.zeros(1, dtype=torch.int32))


def test_a_driver_that_passes_arguments_otherwise_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    device = devices.choose("cpu")
    assert called_programs._passes_arguments(device)
    asked = called_programs._passes_arguments._function

    @called_programs._PROGRAM
    def reversed_places(arguments, x, y, z, nx, ny, nz):
        noted = ctypes.cast(arguments, ctypes.POINTER(ctypes.POINTER(ctypes.c_uint32))).contents
        for at, value in enumerate((nz, ny, nx, z, y, x, 13)):
            noted[at] = value

    at = ctypes.cast(reversed_places, ctypes.c_void_p).value
    for found in (0, at):
        monkeypatch.setattr(called_programs, "_found", lambda *_, found=found: found)
        assert not asked(device)


def test_a_forked_child_calls_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """In all of its threads, launches, too, that its parent left to the driver. There a new thread takes
    a lock that the driver's own threads hold at times: children hung."""
    x, out = torch.randn(64 * 20000), torch.zeros(64 * 20000)
    results, expected = out.numpy(), x.numpy() * 2  # torch's threads are not in the child, either

    def launch(programs: int) -> bool:
        n = programs * 64
        results[:] = 0
        scaled_kernel[(programs,)](x, out, 2.0, n, BLOCK=64)
        return bool((results[:n] == expected[:n]).all())

    for _ in range(3):
        assert launch(1) and launch(20000)
    monkeypatch.setattr(running_kernels, "driver_has_threads", True)  # torch's may have run them
    child = os.fork()
    if child == 0:
        try:
            library = devices.choose("cpu").library
            library.clEnqueueNDRangeKernel = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: -5)
            found = [launch(1), launch(20000)]
            other = threading.Thread(target=lambda: found.extend((launch(1), launch(20000))))
            other.start()
            other.join()
            os._exit(0 if found == 4 * [True] else 3)
        except BaseException:
            traceback.print_exc()
            os._exit(4)
    assert os.waitpid(child, 0)[1] == 0
