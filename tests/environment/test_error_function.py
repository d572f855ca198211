"""environment/opencl/error_function.py: the error function of f32, over all exponents."""

import math

import handmade
import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.runtime.processor import processor
from triton_spirv.target import find_target

#: units in the last place: 0.967 is the largest of four million, 1.036 without multiply-add instructions
ULPS = 1.0 if processor().architecture in ("x86_64-v3", "x86_64-v4") else 1.04

BLOCK = 1024


@triton.jit
def error_function(x, o, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.erf(tl.load(x + i)))


def arguments() -> np.ndarray:
    """Of both signs: all exponents alike, evenly up to where it is 1, and next to the boundary of the two
    polynomials; zeros, denormals, infinities and NaN."""
    sizes = np.linspace(0, 0x7F800000, 8 * BLOCK).astype(np.int32).view(np.float32)
    boundary = np.float32(0.927734375).view(np.int32) + np.arange(-BLOCK // 2, BLOCK // 2, dtype=np.int32)
    special = numeric.specials("f32")
    one_sign = np.concatenate([sizes, np.linspace(0, 4.2, 8 * BLOCK).astype(np.float32),
                               boundary.view(np.float32), special, np.zeros(BLOCK - special.size, "f4")])
    return np.concatenate([one_sign, -one_sign])


def exact(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x.astype(np.float64))


@pytest.mark.parametrize("block", (BLOCK, 16, 2))
def test_everywhere(run, block):
    x = arguments()[::BLOCK // block].copy()
    o = numeric.poisoned(x.size, "f32")
    run(error_function, x.size // block, numeric.tensor(x, "f32"), o, block)
    numeric.assert_ulps(o, exact(x), ULPS, "f32")
    zero = x == 0
    assert (np.signbit(numeric.array(o)[zero]) == np.signbit(x[zero])).all()


def test_driver_is_still_inexact(run):
    """Once this fails, Intel's CPU runtime has a better one, and the quirk may go."""
    x = arguments()
    o = numeric.poisoned(x.size, "f32")
    made = run(error_function, x.size // BLOCK, numeric.tensor(x, "f32"), o, BLOCK)
    left_alone = find_target("cpu").with_options(inexact_erf=False)
    kernel = handmade.bind(triton_spirv.compile(made.asm["ttir"], left_alone))
    kernel.launch(x.size // BLOCK, 1, 1, [numeric.tensor(x, "f32"), o])
    # with AVX-512 it has another function, off by 4.0 instead of 1.7
    worst = 4 if processor().architecture == "x86_64-v4" else 2
    with pytest.raises(pytest.fail.Exception):
        numeric.assert_ulps(o, exact(x), worst - 1, "f32")
    numeric.assert_ulps(o, exact(x), worst, "f32")
