"""lower/products/dot.py: matrix products of every dtype and block shape, batched, accumulated in loops,
of transposed operands.

Whole numbers small enough are exact in any order of summation; other floats stay within K roundings of the
accumulator, K * eps * (|A| |B|), Higham's bound, for any order and with or without fused multiply-adds.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from numeric import DTYPES


@triton.jit
def load_block(p, stride_row, stride_column, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    return tl.load(
        p + tl.arange(0, ROWS)[:, None] * stride_row + tl.arange(0, COLUMNS)[None, :] * stride_column
    )


@triton.jit
def dot2d(a_ptr, b_ptr, out_ptr, a0, a1, b0, b1, PRECISION: tl.constexpr, OUT: tl.constexpr, M: tl.constexpr,
          N: tl.constexpr, K: tl.constexpr):
    a, b = load_block(a_ptr, a0, a1, M, K), load_block(b_ptr, b0, b1, K, N)
    if OUT is None:
        c = tl.dot(a, b, input_precision=PRECISION)
    else:
        c = tl.dot(a, b, input_precision=PRECISION, out_dtype=OUT)
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


ACCUMULATORS = {
    "f16": "f32",
    "bf16": "f32",
    "f32": "f32",
    "f64": "f64",
    "i8": "i32",
    "fp8e4nv": "f32",
    "fp8e5": "f32",
}
SHAPES = [
    (16, 16, 16),
    (16, 32, 64),
    (32, 16, 16),
    (64, 64, 64),
    (128, 16, 32),
    (16, 128, 32),
    (32, 32, 128),
    (128, 128, 32),
    (128, 128, 128),
    (1, 1, 1),
    (1, 16, 32),
    (16, 1, 32),
    (2, 4, 8),
    (8, 2, 1),
]


def dot(run, a, b, dtype, precision="ieee", out=None, out_dtype=None):
    (m, k), n = a.shape, b.shape[1]
    x, y = (v if not isinstance(v, np.ndarray) else numeric.tensor(v, dtype) for v in (a, b))
    c = numeric.poisoned((m, n), out_dtype or ACCUMULATORS[dtype])
    run(dot2d, 1, x, y, c, *x.stride(), *y.stride(), precision, out, m, n, k)
    return c


@pytest.mark.parametrize("m, n, k", SHAPES)
@pytest.mark.parametrize("dtype", ACCUMULATORS)
def test_shapes_and_dtypes(run, dtype, m, n, k):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    kind = DTYPES[ACCUMULATORS[dtype]].values
    numeric.assert_same(dot(run, a, b, dtype), a.astype(kind) @ b.astype(kind), signed_zeros=False)


def assert_within_roundings(c, a, b, mantissa):
    """|C - AB| <= K eps |A||B|, with eps half a step of a float of so many stored bits."""
    a, b = a.astype(np.longdouble), b.astype(np.longdouble)
    limit = a.shape[-1] * 2.0 ** -(mantissa + 1) * (np.abs(a) @ np.abs(b))
    error = np.abs(numeric.array(c).astype(np.longdouble) - a @ b)
    assert np.all(error <= limit), f"{np.max(error / limit)} times the bound"


@pytest.mark.parametrize("m, n, k", [(16, 16, 16), (64, 32, 128), (128, 128, 64)])
@pytest.mark.parametrize("dtype", ("f16", "bf16", "f32", "f64"))
def test_random_values(run, dtype, m, n, k):
    """Products of 16-bit floats are summed in f32, so the bound is f32's."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    a, b = numeric.random((m, k), dtype, 0), numeric.random((k, n), dtype, 1)
    mantissa = DTYPES[ACCUMULATORS[dtype]].mantissa
    assert_within_roundings(dot(run, a, b, dtype), a, b, mantissa)


def test_f16_accumulator(run):
    """The sum may be rounded to f16 after each product, or once at the end."""
    a, b = numeric.random((32, 64), "f16", 0), numeric.random((64, 32), "f16", 1)
    assert_within_roundings(
        dot(run, a, b, "f16", out=tl.float16, out_dtype="f16"), a, b, DTYPES["f16"].mantissa
    )


@pytest.mark.parametrize(
    "precision, mantissa", [("ieee", 23), ("tf32", 8), ("tf32x3", 19), ("bf16x3", 14), ("bf16x6", 19)]
)
def test_input_precisions(run, precision, mantissa):
    """Each names the least precision; computing in full f32 is allowed."""
    numeric.interpreter_is_wrong("it does not know the bf16 splits", precision.startswith("bf16"))
    a, b = numeric.random((32, 64), "f32", 0), numeric.random((64, 32), "f32", 1)
    assert_within_roundings(dot(run, a, b, "f32", precision), a, b, mantissa)


@pytest.mark.parametrize("k", (16, 64, 256))
def test_i8_extremes(run, k):
    a = numeric.random((16, k), "i8", 0)
    b = np.full((k, 16), -128, np.int8)
    a[0] = -128
    numeric.assert_same(dot(run, a, b, "i8"), a.astype(np.int32) @ b.astype(np.int32))


def test_infinities_and_nan(run):
    a, b = numeric.whole((16, 32), "f32", 0), numeric.whole((32, 16), "f32", 1)
    a[0, 3], a[1, 4], a[2, 5] = np.inf, np.nan, -np.inf
    b[3, :4], b[5] = 0, 1
    with np.errstate(invalid="ignore"):
        numeric.assert_same(dot(run, a, b, "f32"), a @ b, signed_zeros=False)


@pytest.mark.parametrize("dtype", ("f16", "f32", "i8"))
@pytest.mark.parametrize("which", ("a", "b", "both"))
def test_operands_stored_transposed(run, dtype, which):
    """Column-major operands, through the strides of their loads."""
    a = numeric.tensor(numeric.whole((64, 32), dtype, 0), dtype)
    b = numeric.tensor(numeric.whole((32, 16), dtype, 1), dtype)
    expected = a.numpy().astype(np.float64) @ b.numpy().astype(np.float64)
    a = a.T.contiguous().T if which in ("a", "both") else a
    b = b.T.contiguous().T if which in ("b", "both") else b
    kind = DTYPES[ACCUMULATORS[dtype]].values
    numeric.assert_same(dot(run, a, b, dtype), expected.astype(kind), signed_zeros=False)


@triton.jit
def gram(x_ptr, out_ptr, M: tl.constexpr, K: tl.constexpr):
    """An operand that is the other's transpose, an epilogue, and an accumulator that is not zero."""
    x = load_block(x_ptr, K, 1, M, K)
    start = (tl.arange(0, M)[:, None] - tl.arange(0, M)[None, :]).to(tl.float32)
    c = tl.dot(x, tl.trans(x), acc=start, input_precision="ieee")
    tl.store(out_ptr + tl.arange(0, M)[:, None] * M + tl.arange(0, M)[None, :], tl.maximum(c * 2, -5))


@pytest.mark.parametrize("dtype", ("f16", "f32"))
@pytest.mark.parametrize("m, k", [(16, 16), (64, 32), (32, 128)])
def test_transposed_operand_and_accumulator(run, dtype, m, k):
    x, out = numeric.whole((m, k), dtype, 0), numeric.poisoned((m, m), "f32")
    run(gram, 1, numeric.tensor(x, dtype), out, m, k)
    wide, i = x.astype(np.float32), np.arange(m, dtype=np.float32)
    numeric.assert_same(
        out, np.maximum((wide @ wide.T + i[:, None] - i[None, :]) * 2, -5), signed_zeros=False
    )


@triton.jit
def chained(x_ptr, y_ptr, z_ptr, out_ptr, SIZE: tl.constexpr):
    """A product of products, as in attention: the first result, rescaled and rounded, is an operand of the
    second."""
    x, y, z = (load_block(x_ptr, SIZE, 1, SIZE, SIZE), load_block(y_ptr, SIZE, 1, SIZE, SIZE),
               load_block(z_ptr, SIZE, 1, SIZE, SIZE))
    p = tl.dot(x, y)
    p = p - tl.max(p, 1)[:, None]
    out = tl.dot(p.to(z.dtype), z)
    tl.store(out_ptr + tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :], out)


@pytest.mark.parametrize("size", (16, 64))
def test_chained_products(run, size):
    x, y, z = (numeric.whole((size, size), "f16", seed) % 2 for seed in range(3))
    out = numeric.poisoned((size, size), "f32")
    run(chained, 1, *(numeric.tensor(v, "f16") for v in (x, y, z)), out, size)
    p = x.astype(np.float32) @ y.astype(np.float32)
    numeric.assert_same(out, (p - p.max(1, keepdims=True)) @ z.astype(np.float32), signed_zeros=False)


@triton.jit
def batched(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    batch = tl.arange(0, B)[:, None, None]
    m, k = tl.arange(0, M), tl.arange(0, K)
    n = tl.arange(0, N)[None, None, :]
    a = tl.load(a_ptr + (batch * M + m[None, :, None]) * K + k[None, None, :])
    b = tl.load(b_ptr + (batch * K + k[None, :, None]) * N + n)
    c = tl.dot(a, b, input_precision="ieee")
    tl.store(out_ptr + (batch * M + m[None, :, None]) * N + n, c)


@pytest.mark.parametrize(
    "shape", [(1, 16, 16, 16), (2, 16, 32, 16), (4, 32, 16, 64), (8, 16, 16, 32), (2, 2, 4, 8)], ids=str
)
@pytest.mark.parametrize("dtype", ("f16", "f32", "i8"))
def test_batched(run, dtype, shape):
    batch, m, n, k = shape
    a, b = numeric.whole((batch, m, k), dtype, 0), numeric.whole((batch, k, n), dtype, 1)
    kind = DTYPES[ACCUMULATORS[dtype]].values
    out = numeric.poisoned((batch, m, n), ACCUMULATORS[dtype])
    run(batched, 1, numeric.tensor(a, dtype), numeric.tensor(b, dtype), out, *shape)
    numeric.assert_same(out, a.astype(kind) @ b.astype(kind), signed_zeros=False)


@triton.jit
def matmul(
    a_ptr, b_ptr, out_ptr, M, N, K, a0, a1, b0, b1, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr
):
    """Whole matrices of any size: pointer tensors and an accumulator carried by a loop, masks on every
    edge."""
    m, n, k = (
        tl.program_id(0) * BM + tl.arange(0, BM),
        tl.program_id(1) * BN + tl.arange(0, BN),
        tl.arange(0, BK),
    )
    a, b = a_ptr + m[:, None] * a0 + k[None, :] * a1, b_ptr + k[:, None] * b0 + n[None, :] * b1
    acc = tl.zeros([BM, BN], out_ptr.dtype.element_ty)
    for start in range(0, K, BK):
        x = tl.load(a, mask=(m[:, None] < M) & (k[None, :] < K - start), other=0)
        y = tl.load(b, mask=(k[:, None] < K - start) & (n[None, :] < N), other=0)
        acc = tl.dot(x, y, acc, input_precision="ieee", out_dtype=acc.dtype)
        a += BK * a1
        b += BK * b0
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc, mask=(m[:, None] < M) & (n[None, :] < N))


@pytest.mark.parametrize("dtype", ("f16", "bf16", "f32", "f64", "i8"))
@pytest.mark.parametrize(
    "size, block",
    [
        ((100, 70, 130), (32, 32, 32)),
        ((33, 17, 5), (16, 16, 16)),
        ((130, 200, 64), (64, 128, 32)),
        ((1, 300, 65), (16, 64, 64)),
    ],
    ids=str,
)
def test_matrices_of_odd_sizes(run, dtype, size, block):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    (m, n, k), (bm, bn, _) = size, block
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    kind = ACCUMULATORS[dtype]
    out, x, y = numeric.poisoned((m, n), kind), numeric.tensor(a, dtype), numeric.tensor(b, dtype)
    run(
        matmul, (triton.cdiv(m, bm), triton.cdiv(n, bn)), x, y, out, m, n, k, *x.stride(), *y.stride(), *block
    )
    numeric.assert_same(
        out, a.astype(DTYPES[kind].values) @ b.astype(DTYPES[kind].values), signed_zeros=False
    )


# ---- instructions for sums of products


@pytest.fixture
def uncached(monkeypatch, tmp_path):
    """Compile again, and for no longer than the test: what it changes is no part of a kernel's key."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    dot2d.device_caches.clear()
    yield
    dot2d.device_caches.clear()


@pytest.fixture(params=("instructions", "multiply-add", "pairs of 16 bits"))
def products(request, monkeypatch, uncached):
    """With the processor's instructions for sums of products, where it has some, and without."""
    from triton_spirv.target import known

    if request.param == "multiply-add":
        monkeypatch.setattr(known, "PRODUCTS", {})
        monkeypatch.setattr(known, "TILE_PRODUCTS", {})
    elif request.param == "pairs of 16 bits":  # what processors with AVX2 alone have, and others have as well
        monkeypatch.setattr(known, "PRODUCTS", {"avx2": "i16", "avx512f": "i16"})
        monkeypatch.setattr(known, "TILE_PRODUCTS", {})


@pytest.mark.parametrize(
    "m, n, k", [(16, 16, 16), (64, 64, 64), (1, 16, 16), (2, 128, 8), (128, 16, 4), (16, 32, 128)]
)
@pytest.mark.parametrize("dtype", ("bf16", "i8"))
def test_products(run, mode, products, dtype, m, n, k):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    kind = DTYPES[ACCUMULATORS[dtype]].values
    numeric.assert_same(dot(run, a, b, dtype), a.astype(kind) @ b.astype(kind), signed_zeros=False)


@pytest.mark.parametrize("which", ("a", "b", "both"))
@pytest.mark.parametrize("dtype", ("bf16", "i8"))
def test_products_of_transposed_operands(run, mode, products, dtype, which):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    a = numeric.tensor(numeric.whole((64, 128), dtype, 0), dtype)
    b = numeric.tensor(numeric.whole((128, 32), dtype, 1), dtype)
    expected = numeric.array(a).astype(np.float64) @ numeric.array(b).astype(np.float64)
    a = a.T.contiguous().T if which in ("a", "both") else a
    b = b.T.contiguous().T if which in ("b", "both") else b
    kind = DTYPES[ACCUMULATORS[dtype]].values
    numeric.assert_same(dot(run, a, b, dtype), expected.astype(kind), signed_zeros=False)


@pytest.mark.parametrize("k", (2048, 4096))
def test_i8_sums_beyond_f32(run, products, k):
    """Products of extremes along a K so long that f32 could not count them."""
    a, b = numeric.random((16, k), "i8", 0), numeric.random((k, 16), "i8", 1)
    a[0], b[:, 0], a[1], b[:, 1] = -128, -128, 127, 127
    numeric.assert_same(dot(run, a, b, "i8"), a.astype(np.int32) @ b.astype(np.int32))


# ---- operands


@triton.jit
def transposed_right(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr,
                     K: tl.constexpr, VIEW: tl.constexpr):  # fmt: skip
    """b is stored [batch, N, K]: read through strides, or as it is and then transposed."""
    batch, m, n, k = tl.arange(0, B)[:, None, None], tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + (batch * M + m[None, :, None]) * K + k[None, None, :])
    if VIEW:
        b = tl.permute(tl.load(b_ptr + (batch * N + n[None, :, None]) * K + k[None, None, :]), (0, 2, 1))
    else:
        b = tl.load(b_ptr + (batch * N + n[None, None, :]) * K + k[None, :, None])
    c = tl.dot(a, b, input_precision="ieee")
    tl.store(out_ptr + (batch * M + m[None, :, None]) * N + n[None, None, :], c)


@pytest.mark.parametrize("view", (False, True))
@pytest.mark.parametrize(
    "shape", [(1, 16, 64, 32), (2, 32, 16, 64), (2, 16, 8, 32), (1, 64, 128, 64)], ids=str
)
@pytest.mark.parametrize("dtype", ("f16", "f32", "i8", "fp8e5"))
def test_right_operand_contiguous_along_k(run, dtype, shape, view):
    batch, m, n, k = shape
    a, b = numeric.whole((batch, m, k), dtype, 0), numeric.whole((batch, n, k), dtype, 1)
    kind = ACCUMULATORS[dtype]
    out = numeric.poisoned((batch, m, n), kind)
    run(transposed_right, 1, numeric.tensor(a, dtype), numeric.tensor(b, dtype), out, *shape, view)
    expected = a.astype(DTYPES[kind].values) @ b.transpose(0, 2, 1).astype(DTYPES[kind].values)
    numeric.assert_same(out, expected, signed_zeros=False)


@triton.jit
def computed(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Operands that are views and arithmetic of what was loaded, used once more beside the product."""
    a = tl.load(a_ptr + tl.arange(0, M * K)).reshape(M, K) * 2
    b = tl.load(b_ptr + tl.arange(0, N * K)).reshape(N, K)
    positive = tl.where(b > 0, b, 0)
    c = tl.dot(a, positive.trans(), input_precision="ieee") + tl.dot(a, tl.full([K, N], 1, a.dtype))
    c += tl.sum(a, 1)[:, None] + tl.max(positive, 1)[None, :]
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


@pytest.mark.parametrize("m, n, k", [(64, 64, 64), (16, 16, 16), (32, 8, 128), (8, 64, 4)])
def test_computed_operands(run, m, n, k):
    a, b = numeric.whole((m, k), "f32", 0), numeric.whole((n, k), "f32", 1)
    out = numeric.poisoned((m, n), "f32")
    run(computed, 1, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, m, n, k)
    twice, positive = 2 * a, np.where(b > 0, b, 0)
    expected = twice @ positive.T + 2 * twice.sum(1)[:, None] + positive.max(1)[None, :]
    numeric.assert_same(out, expected, signed_zeros=False)


# ---- tiles of the micro kernel


@pytest.mark.parametrize("tile", [(4, 1), (1, 1), (2, 4), (8, 2), (16, 1)], ids=str)
@pytest.mark.parametrize("dtype", ("f32", "f64", "i8"))
def test_tiles(run, mode, uncached, monkeypatch, dtype, tile):
    """Whatever the registers of a processor hold, the numbers are the same."""
    if mode != "vector":
        pytest.skip("the micro kernel is vector mode's")
    numeric.interpreter_is_wrong("it has no micro kernel")
    from triton_spirv import target
    from triton_spirv.runtime.processor import processor

    monkeypatch.setitem(target.ACCUMULATORS, processor().architecture, tile)
    a, b = numeric.whole((32, 64), dtype, 0), numeric.whole((64, 64), dtype, 1)
    kind = DTYPES[ACCUMULATORS[dtype]].values
    numeric.assert_same(dot(run, a, b, dtype), a.astype(kind) @ b.astype(kind), signed_zeros=False)
