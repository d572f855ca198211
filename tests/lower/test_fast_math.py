"""The launch option fast_math: functions of f32 and products of bf16 that give accuracy away, where asked."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from kernels import cos, exp, exp2, log, log2, rsqrt, sin
from triton_spirv.runtime.processor import processor

COUNT = 4096


@triton.jit
def unary(x_ptr, out_ptr, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i)))


@triton.jit
def reciprocal(x):
    return 1.0 / x


@triton.jit
def reciprocal_rn(x):
    return tl.div_rn(1.0, x)


@triton.jit
def sqrt_rn(x):
    return tl.sqrt_rn(x)


ONCE = 2.0 ** -24  # half a unit in the last place
#: what RCPPS and RSQRTPS promise: registers of eight and fewer numbers are made by them, wider ones by
#: instructions of AVX-512 that are four times as near
ESTIMATE = 1.5 * 2.0 ** -12
#: exponentials and logarithms of processors without AVX-512, measured; those with it are nearer
OLDER = 0.0 if processor().architecture == "x86_64-v4" else 2.0 ** -13
#: function, reference, domain, largest error relative to the result, and next to it
FAST = [
    (exp, np.exp, (-87, 88), 200 * ONCE, 0.0), (exp2, np.exp2, (-126, 127), 60 * ONCE, 0.0),
    (log, np.log, (1e-30, 1e30), 200 * ONCE, 1e-6), (log2, np.log2, (1e-30, 1e30), 200 * ONCE, 1e-6),
    (sin, np.sin, (-100, 100), 0.0, 2e-4), (cos, np.cos, (-100, 100), 0.0, 2e-4),
    (rsqrt, lambda x: 1 / np.sqrt(x), (1e-30, 1e30), ESTIMATE, 0.0),
    (reciprocal, lambda x: 1 / x, (1e-30, 1e30), ESTIMATE, 0.0),
]


def spread(low: float, high: float) -> np.ndarray:
    generator = np.random.default_rng(0)
    if low > 0:
        return np.exp(generator.uniform(np.log(low), np.log(high), COUNT)).astype(np.float32)
    return generator.uniform(low, high, COUNT).astype(np.float32)


def applied(run, function, x: np.ndarray, dtype: str = "f32", **options) -> np.ndarray:
    out = numeric.poisoned(len(x), dtype)
    given = {} if numeric.INTERPRETED else options  # the interpreter knows no options
    run(unary, 1, numeric.tensor(x, dtype), out, function, len(x), **given)
    return numeric.array(out)


@pytest.mark.parametrize("function, reference, domain, relative, absolute", FAST,
                         ids=lambda x: getattr(x, "__name__", ""))
def test_error(run, function, reference, domain, relative, absolute):
    x = spread(*domain)
    made = applied(run, function, x, fast_math=True)
    numeric.assert_close(made, reference(x.astype(np.float64)), relative and max(relative, OLDER), absolute)


@pytest.mark.parametrize("function, reference", [(each[0], each[1]) for each in FAST],
                         ids=lambda x: getattr(x, "__name__", ""))
def test_edges(run, function, reference):
    """Infinities, NaN, zeros of either sign."""
    x = np.resize(np.float32([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e30]), 16)
    with np.errstate(all="ignore"):
        expected = reference(x.astype(np.float64)).astype(np.float32)
    kept = ~np.isfinite(expected) | (expected == 0)
    numeric.assert_same(applied(run, function, x, fast_math=True)[kept], expected[kept], signed_zeros=False)


@pytest.mark.parametrize("function, reference", [(reciprocal_rn, lambda x: 1 / x), (sqrt_rn, np.sqrt)],
                         ids=lambda x: getattr(x, "__name__", ""))
def test_what_names_its_rounding_keeps_it(run, function, reference):
    x = spread(1e-30, 1e30)
    numeric.assert_same(applied(run, function, x, fast_math=True), reference(x).astype(np.float32))


def test_f64_keeps_its_accuracy(run):
    x = spread(-5, 5)
    numeric.assert_same(applied(run, exp, x, "f64", fast_math=True), applied(run, exp, x, "f64"))


def test_nothing_changes_without_the_option(run):
    x, out = numeric.tensor(spread(0.5, 2), "f32"), numeric.poisoned(COUNT, "f32")
    if numeric.INTERPRETED:
        pytest.skip("the interpreter compiles nothing")
    for function, *_ in FAST:
        listing = run(unary, 1, x, out, function, COUNT).asm["spvasm"]
        assert "native_" not in listing
        assert listing == run(unary, 1, x, out, function, COUNT, fast_math=False).asm["spvasm"]
        if "OpenCL" in listing:  # elsewhere there is no faster form
            assert "native_" in run(unary, 1, x, out, function, COUNT, fast_math=True).asm["spvasm"]


# ---- products of bf16


@triton.jit
def product(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(out_ptr + m[:, None] * N + n[None, :], tl.dot(a, b))


@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (64, 32, 128), (128, 64, 64), (1, 16, 32)])
def test_products_of_bf16(run, m, n, k):
    """Each product is exact; sums are rounded once a pair, in an order of the processor's."""
    numeric.interpreter_is_wrong_on_bf16("bf16")
    a = numeric.tensor(numeric.random((m, k), "bf16", 0), "bf16")
    b = numeric.tensor(numeric.random((k, n), "bf16", 1), "bf16")
    out = numeric.poisoned((m, n), "f32")
    run(product, 1, a, b, out, m, n, k, fast_math=True)
    x, y = (numeric.array(v).astype(np.float64) for v in (a, b))
    bound = k * ONCE * (np.abs(x) @ np.abs(y))
    assert (np.abs(numeric.array(out) - x @ y) <= bound).all()


def test_denormal_bf16_keep_their_value_without_the_option(run):
    numeric.interpreter_is_wrong_on_bf16("bf16")
    a = numeric.tensor(np.full((16, 16), 2.0 ** -130), "bf16")
    b = numeric.tensor(np.full((16, 16), 2.0 ** 100), "bf16")
    out = numeric.poisoned((16, 16), "f32")
    run(product, 1, a, b, out, 16, 16, 16)
    numeric.assert_same(out, np.full((16, 16), 2.0 ** -26, np.float32))
