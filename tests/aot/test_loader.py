"""standalone/loader.py: numbers and grids that a kernel of a bundle cannot have are refused by name."""

from __future__ import annotations

from pathlib import Path

from triton_spirv import aot

from .conftest import run_python

#: the start of a script: what calls of `launch` come to, one a line
TRIED = """
def tried(*arguments):
    try:
        launch(*arguments)
    except loader.LoaderError as error:
        print(error)
    else:
        print("accepted")
"""


def assert_lines(text: str, expected: list[str]) -> None:
    lines = text.splitlines()
    assert len(lines) == len(expected), text
    for line, part in zip(lines, expected, strict=True):
        assert part in line


def test_numbers_the_loader_refuses(kernels, bare_python: str, tmp_path: Path) -> None:
    """The struct has an integer, and floats of two widths."""
    aot.compile(kernels.scaled, "*fp32, fp32, i32, bf16, i1", out=tmp_path, progress=False)
    script = TRIED + """
import numpy, loader
kernel, x = loader.load(), numpy.ones(100, numpy.float32)
def launch(factor, n, half, flag):
    x[:] = 1
    kernel((2,), x, factor, n, half, flag)
tried(2.0, 10.9, 0.0, True)
tried(2.0, "7", 0.0, True)
tried(2.0, None, 0.0, True)
tried("2", 7, 0.0, True)
tried(None, 7, 0.0, True)
tried(2.0, 7, [0.5], True)
tried(numpy.ones(2), 7, 0.5, True)
tried(2.0, 7, 0.5, 1.0)
tried(1 + 2j, 7, 0.5, True)
assert (x == 1).all()
tried(numpy.float32(2), numpy.int64(7), numpy.float64(0.5), numpy.bool_(True))
assert (x[:7] == 3.5).all() and (x[7:] == 1).all(), x
tried(2, True, 1, 0)
assert x[0] == 3 and (x[1:] == 1).all(), x
for large, limit in ((1e300, numpy.inf), (-1e300, -numpy.inf), (10**400, numpy.inf), (-10**400, -numpy.inf)):
    tried(large, 7, 0.5, True)
    assert (x[:7] == limit).all(), x
    tried(1.0, 7, large, True)
    assert (x[:7] == limit).all(), x
tried(1.0, 7, numpy.array(0xFFFFFFFF, numpy.uint32).view(numpy.float32), True)
assert numpy.isnan(x[:7]).all(), x
"""
    done = run_python(bare_python, script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert_lines(done.stdout, [
        "argument 2 (n): 10.9 is a float, the kernel was compiled for i32, an integer",
        "argument 2 (n): '7' is a str, the kernel was compiled for i32, an integer",
        "argument 2 (n): None is a NoneType, the kernel was compiled for i32, an integer",
        "argument 1 (factor): '2' is a str, the kernel was compiled for fp32, a number",
        "argument 1 (factor): None is a NoneType, the kernel was compiled for fp32, a number",
        "argument 3 (half): [0.5] is a list, the kernel was compiled for bf16, a number",
        "argument 1 (factor): array([1., 1.]) is a ndarray, the kernel was compiled for fp32, a number",
        "argument 4 (flag): 1.0 is a float, the kernel was compiled for i1, an integer",
        "argument 1 (factor): (1+2j) is a complex, the kernel was compiled for fp32, a number",
        *["accepted"] * 11])


def test_grids_the_loader_refuses(kernels, bare_python: str, tmp_path: Path) -> None:
    aot.compile(kernels.add, "*fp32:16, *fp32, *fp32, i32, 128", out=tmp_path, progress=False)
    script = TRIED + """
import numpy, loader
add, x = loader.load(), numpy.ones(1024, numpy.float32)
out = numpy.zeros_like(x)
def launch(grid):
    add(grid, x, x, out, 1024)
for grid in ((-1,), (0, -1), (1, 1, 1 << 31), (1.5,), ("1",), "1", (None,), (), (1, 1, 1, 1), None, 1.5,
             numpy.ones(3), (numpy.arange(2),)):
    tried(grid)
tried((0,))
tried((1, 0, 5))
assert not out.any()
for grid in (8, (8,), [8, 1], (8, 1, 1), numpy.int8(8), (numpy.int8(8), True), numpy.array([8, 1])):
    out[:] = 0
    tried(grid)
    assert (out == 2).all()
"""
    done = run_python(bare_python, script, tmp_path)
    assert done.returncode == 0, done.stderr
    assert_lines(done.stdout, [
        "grid (-1, 1, 1): x must lie between 0 and 2147483647",
        "grid (0, -1, 1): y must lie between 0 and 2147483647",
        "grid (1, 1, 2147483648): z must lie between 0 and 2147483647; split the launch",
        "grid x: 1.5 is a float; a grid holds integers", "grid x: '1' is a str; a grid holds integers",
        "grid x: '1' is a str; a grid holds integers", "grid x: None is a NoneType; a grid holds integers",
        "grid (): a grid is an integer, or a tuple of one to three integers",
        "grid (1, 1, 1, 1): a grid is", "grid None: a grid is", "grid 1.5: a grid is",
        "grid x: np.float64(1.0) is a float64; a grid", "grid x: array([0, 1]) is a ndarray; a grid",
        *["accepted"] * 9])
