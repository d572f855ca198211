"""Bundles on a GPU, which has no memory of the host: the loader copies arrays there and back. On a simulated
GPU, in an environment that has pyopencl and numpy only."""

from __future__ import annotations

from pathlib import Path

import pytest
import simulated_gpu
from triton_spirv import aot

from .conftest import run_python


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its driver is among those that pyopencl finds."""
    if not simulated_gpu.available():
        pytest.skip(simulated_gpu.NEEDED)
    for name, value in simulated_gpu.for_children().items():
        monkeypatch.setenv(name, value)


SCRIPT = """
import numpy, loader
from numpy.testing import assert_array_equal
device = next(one for one in loader.devices() if "B580" in one.name)
"""


def run(python: str, script: str, folder: Path) -> str:
    """What a script prints, in which nothing may have been wrong."""
    done = run_python(python, SCRIPT + script, folder)
    assert done.returncode == 0 and simulated_gpu.SPOKEN not in done.stderr, done.stderr
    return done.stdout


def test_arrays_are_copied_there_and_back(kernels, bare_python: str, tmp_path: Path) -> None:
    """What the kernel writes comes back, and nothing else does."""
    aot.compile(kernels.add, "*fp32:16, *fp32, *fp32, i32, 128", targets=["bmg"], out=tmp_path,
                progress=False, native=False)
    run(bare_python, """
x, y = numpy.arange(1000, dtype=numpy.float32), numpy.full(1000, 3, numpy.float32)
out = numpy.full(1024, -1, numpy.float32)
add = loader.load("add", target="bmg", device=device)
y.flags.writeable = False
for n in (1000, 37, 0):
    out[:] = -1
    add((8,), x, y, out, n)
    assert_array_equal(out[:n], x[:n] + 3)
    assert (out[n:] == -1).all()
add((0,), x, y, out, 1000)
assert (out == -1).all() and add.nanoseconds >= 0
try:
    add((8,), x, y, out[::2], 100)
except loader.LoaderError as error:
    assert "must be contiguous" in str(error), error
else:
    raise AssertionError
try:
    loader.load("add", device=device)
except loader.LoaderError as error:
    assert "say target='bmg'" in str(error), error
else:
    raise AssertionError
""", tmp_path)


def test_numbers_of_all_kinds(kernels, bare_python: str, tmp_path: Path) -> None:
    aot.compile(kernels.scaled, "*fp32, fp32, i32, bf16, i1", targets=["bmg"], out=tmp_path,
                progress=False, native=False)
    run(bare_python, """
kernel, x = loader.load(target="bmg", device=device), numpy.ones(100, numpy.float32)
kernel((2,), x, 2.0, numpy.int64(7), 0.5, True)
assert (x[:7] == 3.5).all() and (x[7:] == 1).all(), x
x[:] = 1
kernel((2,), x, 2, True, 1, 0)
assert x[0] == 3 and (x[1:] == 1).all(), x
""", tmp_path)


def test_assertions(kernels, bare_python: str, tmp_path: Path) -> None:
    """What the kernel writes into hidden memory comes back, too."""
    aot.compile(kernels.checked, "*i32, i32, 64", targets=["bmg"], out=tmp_path, progress=False, native=False,
                debug=True)
    said = run(bare_python, """
kernel, x = loader.load(target="bmg", device=device), numpy.arange(64, dtype=numpy.int32)
kernel((1,), x, 64)
assert_array_equal(x, numpy.arange(1, 65))
x[3] = -5
try:
    kernel((1,), x, 64)
except AssertionError as error:
    print(error)
kernel((1,), None, 0)
""", tmp_path)
    assert "device-side assert: negative in program (0, 0, 0), element (3,)\n" in said
