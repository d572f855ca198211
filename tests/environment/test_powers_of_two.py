"""environment/opencl/exponentials.py: powers of two of f32 where the driver reads a table."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import handmade
import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.runtime.processor import DRIVER_TARGET, processor
from triton_spirv.target import Target, cpu_target, find_target

SPIRV_MODES = ("vector",)

#: units in the last place: of normal results 0.790 is the largest of six million, of others 0.86
ULPS = 0.9

BLOCK = 1024

HOST = cpu_target(processor().architecture, processor().features)


@triton.jit
def power(x, o, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.exp2(tl.load(x + i)))


def arguments() -> np.ndarray:
    """All exponents, evenly between the first and the last finite result, near halves and whole numbers,
    where results begin to be denormal, zero, infinity; zeros, denormals, infinities and NaN."""
    sizes = np.linspace(0, 0x7F800000, 8 * BLOCK).astype(np.int32).view(np.float32)
    places = np.arange(-BLOCK // 8, BLOCK // 8, dtype=np.int32)
    near = np.concatenate([np.float32(start).view(np.int32) + places
                           for start in (0.5, 1.0, 126.0, 127.5, 128.0, 149.0, 150.0, 151.5)])
    special = numeric.specials("f32")
    one_sign = np.concatenate([sizes, np.linspace(0, 153, 24 * BLOCK).astype(np.float32),
                               near.view(np.float32), special, np.zeros(BLOCK - special.size, "f4")])
    return np.concatenate([one_sign, -one_sign])


def check(made: object, target: Target, ulps: float, block: int = BLOCK) -> None:
    x = arguments()[::BLOCK // block].copy()
    o = numeric.poisoned(x.size, "f32")
    kernel = handmade.bind(triton_spirv.compile(made.asm["ttir"], target))
    kernel.launch(x.size // block, 1, 1, [numeric.tensor(x, "f32"), o])
    with np.errstate(over="ignore"):
        numeric.assert_ulps(o, np.exp2(x.astype(np.longdouble)).astype(np.float64), ulps, "f32")


def made(run, block: int) -> object:
    x, o = numeric.tensor(np.zeros(block, "f4"), "f32"), numeric.poisoned(block, "f32")
    return run(power, 1, x, o, block)


@pytest.mark.parametrize("block", (BLOCK, 8, 2))
def test_everywhere(run, block: int) -> None:
    check(made(run, block), find_target("cpu").with_options(tabulates_exp2=True), ULPS, block)


def test_whole_numbers_are_exact(run) -> None:
    x, o = np.arange(-160, 160, dtype="f4"), numeric.poisoned(320, "f32")
    kernel = triton_spirv.compile(made(run, 64).asm["ttir"],
                                  find_target("cpu").with_options(tabulates_exp2=True))
    handmade.bind(kernel).launch(5, 1, 1, [numeric.tensor(x, "f32"), o])
    with np.errstate(over="ignore", under="ignore"):
        assert (numeric.array(o) == np.exp2(x.astype(np.float64)).astype(np.float32)).all()


def test_who_reads_a_table() -> None:
    known = {"x86_64-v2": False, "x86_64-v3": True, "x86_64-v4": False}
    assert {name: cpu_target(name).has("tabulates_exp2") for name in known} == known


def test_driver_still_reads_a_table(run) -> None:
    """Once this fails, Intel's CPU runtime has another function, and the quirk may go: the table's result is
    nearer than that of any polynomial of f32 alone."""
    if HOST.has("tabulates_exp2"):
        check(made(run, BLOCK), HOST.with_options(tabulates_exp2=False), 0.7)
        kernel = made(run, BLOCK)
        assert "exp2" not in kernel.asm["spvasm"]
        with pytest.raises(pytest.fail.Exception):
            check(kernel, HOST, 0.7)
    elif HOST.has("parts_contractions"):
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", __file__]
        done = subprocess.run(command, env={**os.environ, DRIVER_TARGET: "core-avx2"}, capture_output=True,
                              cwd=Path(__file__).parent.parent.parent, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
