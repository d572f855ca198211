"""environment/opencl/environment.py: a sine is the same number, whether its cosine is computed beside it or
not."""

import handmade
import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.target import find_target

BLOCK = 1024


@triton.jit
def sines(x, o, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.sin(tl.load(x + i)))


@triton.jit
def cosines(x, o, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.cos(tl.load(x + i)))


@triton.jit
def both(x, sine, cosine, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    y = tl.load(x + i)
    first, second = tl.sin(y), tl.cos(y)
    tl.store(sine + i, first)
    tl.store(cosine + i, second)


def angles(dtype: str) -> np.ndarray:
    x = np.random.default_rng(0).standard_normal(8 * BLOCK) * np.logspace(-2, 4, 8 * BLOCK)
    return x.astype({"f32": np.float32, "f64": np.float64}[dtype])


@pytest.mark.parametrize("block", (4, 64, BLOCK))
@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_together_as_alone(run, dtype, block):
    x = angles(dtype)
    given, programs = numeric.tensor(x, dtype), x.size // block
    alone = [numeric.poisoned(x.size, dtype) for _ in range(2)]
    together = [numeric.poisoned(x.size, dtype) for _ in range(2)]
    for kernel, o in zip((sines, cosines), alone, strict=True):
        run(kernel, programs, given, o, block)
    run(both, programs, given, *together, block)
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(numeric.array(one), numeric.array(other))


def test_driver_still_joins_them(run, mode):
    """Once this fails, Intel's CPU runtime computes each as if alone, and the quirk may go."""
    x = angles("f32")
    given = numeric.tensor(x, "f32")
    alone, sine, cosine = (numeric.poisoned(x.size, "f32") for _ in range(3))
    run(sines, x.size // BLOCK, given, alone, BLOCK)
    made = run(both, x.size // BLOCK, given, sine, cosine, BLOCK)
    left_alone = find_target("cpu").with_options(joins_sine_and_cosine=False)
    kernel = handmade.bind(triton_spirv.compile(made.asm["ttir"], left_alone))
    kernel.launch(x.size // BLOCK, 1, 1, [given, sine, cosine])
    assert (numeric.array(alone) != numeric.array(sine)).any()
