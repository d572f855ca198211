"""environment/opencl/environment.py: a function of a number is the same, whether other functions of that
number are computed beside it or not. A backward kernel of torch.compile compares what it computes with what a
forward kernel has."""

from __future__ import annotations

import handmade
import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.target import find_target
from triton_spirv_backend import libdevice

BLOCK = 1024
#: by Triton's own operations, and by CUDA's names
FUNCTIONS = (tl.sin, tl.cos, tl.exp, tl.exp2, tl.log, tl.log2, tl.erf, tl.sqrt, tl.rsqrt, libdevice.sin,
             libdevice.cos, libdevice.tan, libdevice.sinpi, libdevice.cospi, libdevice.sinh, libdevice.cosh,
             libdevice.tanh, libdevice.asin, libdevice.acos, libdevice.atan, libdevice.asinh, libdevice.acosh,
             libdevice.atanh, libdevice.exp10, libdevice.expm1, libdevice.log10, libdevice.log1p,
             libdevice.erfc, libdevice.cbrt)


@triton.jit
def functions(x, o, size, FUNCTIONS: tl.constexpr, BLOCK: tl.constexpr):
    """Of each number, one behind the other."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(x + i)
    for place in tl.static_range(len(FUNCTIONS)):
        tl.store(o + place * size + i, FUNCTIONS[place](y))


def angles(dtype: str) -> np.ndarray:
    x = np.random.default_rng(0).standard_normal(4 * BLOCK) * np.logspace(-2, 1, 4 * BLOCK)
    return x.astype({"f32": np.float32, "f64": np.float64}[dtype])


@pytest.mark.parametrize("block", (4, BLOCK))
@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_together_as_alone(run, dtype, block):
    x = angles(dtype)
    given, programs = numeric.tensor(x, dtype), x.size // block
    together = numeric.poisoned((len(FUNCTIONS), x.size), dtype)
    run(functions, programs, given, together, x.size, FUNCTIONS, block)
    for function, found in zip(FUNCTIONS, numeric.array(together), strict=True):
        alone = numeric.poisoned((1, x.size), dtype)
        run(functions, programs, given, alone, x.size, (function,), block)
        np.testing.assert_array_equal(found, numeric.array(alone)[0], err_msg=function.__name__)


@pytest.mark.parametrize("pair", (FUNCTIONS[:2], (libdevice.sin, libdevice.cos)))
def test_driver_still_joins_two(run, pair):
    """Once this fails, Intel's CPU runtime computes each as if alone, and the quirk may go."""
    x = angles("f32")
    given = numeric.tensor(x, "f32")
    together, left_alone = (numeric.poisoned((2, x.size), "f32") for _ in range(2))
    made = run(functions, x.size // BLOCK, given, together, x.size, pair, BLOCK)
    target = find_target("cpu").with_options(joins_sine_and_cosine=False)
    kernel = handmade.bind(triton_spirv.compile(made.asm["ttir"], target))
    kernel.launch(x.size // BLOCK, 1, 1, [given, left_alone, x.size])
    assert (numeric.array(together) != numeric.array(left_alone)).any()
