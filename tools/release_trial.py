"""What a fresh installation must do: two kernels and a bundle. `tools/release.py` runs this there."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import triton
import triton.language as tl
import triton_spirv
import triton_spirv.aot


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    tl.store(out + i, tl.load(x + i, mask=inside) + tl.load(y + i, mask=inside), mask=inside)


@triton.jit
def product(a, b, c, N: tl.constexpr):
    i = tl.arange(0, N)
    place = i[:, None] * N + i[None, :]
    tl.store(c + place, tl.dot(tl.load(a + place), tl.load(b + place), input_precision="ieee"))


LOAD = """
import numpy, loader
x, y = numpy.arange(1000, dtype=numpy.float32), numpy.ones(1000, numpy.float32)
out = numpy.zeros(1024, numpy.float32)
loader.load("add")((1,), x, y, out, 1000)
assert (out[:1000] == x + 1).all() and not out[1000:].any()
"""


def main() -> None:
    x, y, out = np.arange(1000, dtype=np.float32), np.full(1000, 0.5, np.float32), np.zeros(1024, np.float32)
    add[(1,)](*map(triton_spirv.asarray, (x, y, out)), 1000, BLOCK=1024)
    assert (out[:1000] == x + y).all() and not out[1000:].any()
    print(f"triton {triton.__version__}, Python {sys.version.split()[0]}: a sum is right")

    generator = np.random.default_rng(1)
    a, b = (generator.integers(-8, 8, (64, 64)).astype(np.float32) for _ in range(2))  # sums are exact
    c = np.full((64, 64), np.nan, np.float32)
    product[(1,)](*map(triton_spirv.asarray, (a, b, c)), N=64)
    assert (c == a @ b).all()
    print("a product is right")

    triton_spirv.aot.compile(add, "*fp32,*fp32,*fp32,i32,1024", targets=["cpu"], out="add.bundle")
    subprocess.run([sys.executable, "-c", LOAD], cwd=Path("add.bundle"), check=True)
    print("a bundle is right")


if __name__ == "__main__":
    main()
