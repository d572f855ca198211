"""passes/order_axes.py: tiles [X, R] whose memory is contiguous along X, which a CPU device holds as [R, X].

Each kernel is written for the user's order; numpy computes the same. Sums are of whole numbers, and exact.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

SIZES = [(128, 64, 32, 64), (77, 29, 32, 32), (131, 7, 64, 8), (5, 300, 8, 512), (67, 33, 128, 64)]


@triton.jit
def tile(x_ptr, X, R, other, XB: tl.constexpr, RB: tl.constexpr):
    x = (tl.program_id(0) * XB + tl.arange(0, XB))[:, None]
    r = tl.arange(0, RB)[None, :]
    inside = (x < X) & (r < R)
    return x, r, inside, tl.load(x_ptr + x + X * r, inside, other=other)


def columns(R: int, X: int, dtype: str, seed: int = 1) -> np.ndarray:
    """Whole numbers, so that all sums are exact."""
    return numeric.whole((R, X), dtype, seed)


@triton.jit
def softmax(x_ptr, y_ptr, X, R, XB: tl.constexpr, RB: tl.constexpr):
    x, r, inside, value = tile(x_ptr, X, R, -float("inf"), XB, RB)
    power = tl.exp(value - tl.max(value, 1, keep_dims=True))
    tl.store(y_ptr + x + X * r, power / tl.sum(power, 1, keep_dims=True), inside)


@pytest.mark.parametrize("X, R, XB, RB", SIZES)
def test_softmax_over_the_first_dimension(run, X, R, XB, RB):
    x = numeric.random((R, X), "f32", low=-5, high=5)
    x[R // 2, 3], x[1, 2] = -np.inf, np.nan
    y = numeric.poisoned((R, X), "f32")
    run(softmax, -(-X // XB), numeric.tensor(x, "f32"), y, X, R, XB, RB)
    wide = x.astype(np.float64)
    power = np.exp(wide - wide.max(0))
    numeric.assert_close(y, power / power.sum(0), 2e-6, 1e-7)


@triton.jit
def reduced(x_ptr, sum_ptr, top_ptr, at_ptr, X, R, XB: tl.constexpr, RB: tl.constexpr, AXIS: tl.constexpr):
    """Sum, maximum with its first place, along either axis; what is masked is the least."""
    _x, _r, inside, value = tile(x_ptr, X, R, -120, XB, RB)
    i = tl.program_id(0) * XB + tl.arange(0, XB) if AXIS else tl.program_id(0) * RB + tl.arange(0, RB)
    top, at = tl.max(value, AXIS, return_indices=True)
    ok = i < (X if AXIS else tl.num_programs(0) * RB)
    tl.store(sum_ptr + i, tl.sum(tl.where(inside, value, 0), AXIS).to(sum_ptr.dtype.element_ty), ok)
    tl.store(top_ptr + i, top.to(top_ptr.dtype.element_ty), ok)
    tl.store(at_ptr + i, at, ok)


@pytest.mark.parametrize("dtype", ("f32", "f16", "bf16", "f64", "i8", "i32", "i64"))
@pytest.mark.parametrize("X, R, XB, RB", SIZES)
@pytest.mark.parametrize("axis", (0, 1))
def test_sums_and_places_of_ties(run, dtype, X, R, XB, RB, axis):
    """Small whole numbers: there are many ties, and the first place wins."""
    x = numeric.random((R, X), "i32", low=-4, high=5)
    programs = -(-X // XB)
    padded = np.full((programs, RB, XB), -120)
    for program in range(programs):
        part = x[:, program * XB:(program + 1) * XB]
        padded[program, :R, :part.shape[1]] = part
    zeros = np.where(padded == -120, 0, padded)
    size = X if axis else programs * RB
    along = 1 if axis else 2
    sums = numeric.poisoned(size, "i64" if dtype.startswith("i") else "f32")
    top, at = numeric.poisoned(size, "i32"), numeric.poisoned(size, "i32")
    run(reduced, programs, numeric.tensor(x.astype(numeric.DTYPES[dtype].values), dtype), sums, top, at, X, R,
        XB, RB, axis)
    expected = zeros.astype(numeric.DTYPES[dtype].values if dtype == "i8" else np.int64)
    numeric.assert_same(sums, expected.sum(along).ravel()[:size].astype(numeric.array(sums).dtype))
    numeric.assert_same(top, padded.max(along).ravel()[:size].astype(np.int32))
    numeric.assert_same(at, padded.argmax(along).ravel()[:size].astype(np.int32))


@triton.jit
def scanned(x_ptr, y_ptr, X, R, XB: tl.constexpr, RB: tl.constexpr, AXIS: tl.constexpr,
            REVERSE: tl.constexpr):
    x, r, inside, value = tile(x_ptr, X, R, 0, XB, RB)
    tl.store(y_ptr + x + X * r, tl.cumsum(value, AXIS, reverse=REVERSE), inside)


@pytest.mark.parametrize("reverse", (False, True))
@pytest.mark.parametrize("axis", (0, 1))
@pytest.mark.parametrize("X, R, XB, RB", SIZES)
def test_scans_along_either_axis(run, X, R, XB, RB, axis, reverse):
    x = columns(R, X, "i32")
    y = numeric.poisoned((R, X), "i32")
    run(scanned, -(-X // XB), numeric.tensor(x, "i32"), y, X, R, XB, RB, axis, reverse)
    expected = np.empty_like(x)
    turn = slice(None, None, -1 if reverse else 1)
    for start in range(0, X, XB):
        part = x[:, start:start + XB]
        along = 0 if axis else 1
        made = np.cumsum(part[turn] if axis else part[:, turn], along, dtype=np.int32)
        expected[:, start:start + XB] = made[turn] if axis else made[:, turn]
    numeric.assert_same(y, expected)


@triton.jit
def in_rounds(x_ptr, y_ptr, X, R, XB: tl.constexpr, RB: tl.constexpr):
    """Two tensors go round a loop, in one of whose branches they are exchanged; a while loop goes on."""
    x = (tl.program_id(0) * XB + tl.arange(0, XB))[:, None]
    total = tl.zeros([XB, RB], tl.float32)
    top = tl.full([XB, RB], -1.0e9, tl.float32)
    for start in range(0, R, RB):
        r = start + tl.arange(0, RB)[None, :]
        value = tl.load(x_ptr + x + X * r, (x < X) & (r < R), other=0.0)
        if start % (2 * RB) == 0:
            total += value
            top = tl.maximum(top, value)
        else:
            total -= value
    rounds = 0
    while rounds < 3:
        total = total * 2
        rounds += 1
    column = tl.program_id(0) * XB + tl.arange(0, XB)
    tl.store(y_ptr + column, tl.sum(total, 1) + tl.max(top, 1), column < X)


@pytest.mark.parametrize("X, R, XB, RB", [(128, 64, 32, 16), (77, 50, 64, 4), (300, 33, 256, 2),
                                          (33, 9, 16, 32)])
def test_what_goes_round_loops(run, X, R, XB, RB):
    x = columns(R, X, "f32")
    y = numeric.poisoned(X, "f32")
    run(in_rounds, -(-X // XB), numeric.tensor(x, "f32"), y, X, R, XB, RB)
    padded = np.zeros((-(-R // RB) * RB, X))
    padded[:R] = x
    parts = padded.reshape(-1, RB, X)
    expected = 8 * (parts[::2].sum((0, 1)) - parts[1::2].sum((0, 1))) + parts[::2].max(0).max(0)
    numeric.assert_same(y, expected.astype(np.float32))


@triton.jit
def three(x_ptr, y_ptr, z_ptr, X, XB: tl.constexpr, R: tl.constexpr, S: tl.constexpr):
    """[X, R, S], contiguous along X: the sums over R, then the differences along S, in turn."""
    x = (tl.program_id(0) * XB + tl.arange(0, XB))[:, None, None]
    r, s = tl.arange(0, R)[None, :, None], tl.arange(0, S)[None, None, :]
    value = tl.load(x_ptr + x + X * (s + S * r), x < X, other=0)
    sums = tl.sum(value, 1)
    place = tl.program_id(0) * XB + tl.arange(0, XB)
    i, j = place[:, None], tl.arange(0, S)[None, :]
    tl.store(y_ptr + i + X * j, sums, i < X)
    tl.store(z_ptr + place, tl.max(tl.sum(tl.trans(value, 2, 0, 1), 2), 0), place < X)


@pytest.mark.parametrize("X", (64, 77))
@pytest.mark.parametrize("XB, R, S", [(32, 4, 8), (64, 2, 2), (16, 16, 4)])
def test_three_axes(run, X, XB, R, S):
    x = columns(R * S, X, "i32").reshape(R, S, X)
    y, z = numeric.poisoned((S, X), "i32"), numeric.poisoned(X, "i32")
    run(three, -(-X // XB), numeric.tensor(x, "i32"), y, z, X, XB, R, S)
    sums = x.sum(0, dtype=np.int32)
    numeric.assert_same(y, sums)
    numeric.assert_same(z, sums.max(0))


@triton.jit
def looked_up(x_ptr, row_ptr, y_ptr, n, X, R, XB: tl.constexpr, RB: tl.constexpr):
    """Rows by index, and their transposed sum; indices are asserted; neighbours lie along the first axis."""
    x = (tl.program_id(0) * XB + tl.arange(0, XB))[:, None]
    r = tl.arange(0, RB)[None, :]
    row = tl.load(row_ptr + r, r < R, other=0)
    row = tl.where(row < 0, row + n, row)
    tl.device_assert((row >= 0) & (row < n), "no such row")
    value = tl.load(x_ptr + x + X * row, (x < X) & (r < R), other=0)
    tl.atomic_add(y_ptr + x + X * (row % 2), value, (x < X) & (r < R))


@pytest.mark.parametrize("X, R, XB, RB", [(128, 32, 64, 32), (77, 9, 32, 16)])
def test_rows_by_index_and_atomics(run, X, R, XB, RB):
    rows = 40
    x, row = columns(rows, X, "i32"), numeric.random(R, "i32", low=-rows, high=rows)
    y = numeric.tensor(np.zeros((2, X), np.int32), "i32")
    run(looked_up, -(-X // XB), numeric.tensor(x, "i32"), numeric.tensor(row, "i32"), y, rows, X, R, XB, RB)
    expected = np.zeros((2, X), np.int32)
    np.add.at(expected, (row % rows) % 2, x[row % rows])
    numeric.assert_same(y, expected)


@triton.jit
def backwards(x_ptr, y_ptr, X, R, XB: tl.constexpr, RB: tl.constexpr):
    """Rows from the last to the first, by a negative stride; columns from the first."""
    x = (tl.program_id(0) * XB + tl.arange(0, XB))[:, None]
    r = tl.arange(0, RB)[None, :]
    value = tl.load(x_ptr + (R - 1) * X + x - X * r, (x < X) & (r < R), other=0)
    tl.store(y_ptr + x + X * r, tl.cumsum(value, 1), (x < X) & (r < R))


@pytest.mark.parametrize("X, R, XB, RB", SIZES)
def test_negative_strides(run, X, R, XB, RB):
    x = columns(R, X, "i32")
    y = numeric.poisoned((R, X), "i32")
    run(backwards, -(-X // XB), numeric.tensor(x, "i32"), y, X, R, XB, RB)
    numeric.assert_same(y, x[::-1].cumsum(0, dtype=np.int32))


@triton.jit
def mixed(x_ptr, w_ptr, y_ptr, z_ptr, p_ptr, X: tl.constexpr, R: tl.constexpr):
    """A tile against the grain that a product, a reshape, a gather and a join use."""
    x, r = tl.arange(0, X)[:, None], tl.arange(0, R)[None, :]
    value = tl.load(x_ptr + x + X * r)
    again = tl.load(x_ptr + x + X * (R - 1 - r))
    third = tl.load(x_ptr + x + X * (r ^ 1))
    value += 2 * again + 3 * third
    w = tl.load(w_ptr + tl.arange(0, R)[:, None] * 16 + tl.arange(0, 16)[None, :])
    tl.store(p_ptr + x * 16 + tl.arange(0, 16)[None, :], tl.dot(value, w, input_precision="ieee"))
    tl.store(y_ptr + tl.arange(0, X * R), tl.reshape(value, [X * R]))
    picked = tl.gather(value, tl.broadcast_to((x + r) % R, [X, R]), 1)
    joined = tl.sum(tl.join(picked, value), 2)
    tl.store(z_ptr + tl.arange(0, X), tl.sum(joined, 1))


@pytest.mark.parametrize("X, R", [(32, 16), (64, 32), (16, 128)])
def test_what_wants_the_order_of_the_user(run, X, R):
    x, w = columns(R, X, "f32"), columns(R, 16, "f32", 2)
    y, z, p = (numeric.poisoned(size, "f32") for size in (X * R, X, (X, 16)))
    run(mixed, 1, numeric.tensor(x, "f32"), numeric.tensor(w, "f32"), y, z, p, X, R)
    value = x.T + 2 * x[::-1].T + 3 * x[np.arange(R) ^ 1].T
    numeric.assert_same(y, value.ravel())
    numeric.assert_same(p, value @ w)
    numeric.assert_same(z, 2 * value.sum(1))


def test_the_plan_of_columns(run, cell):
    """No element is loaded by itself where neighbours lie along the first axis."""
    if cell.mode != "vector":
        pytest.skip("blocks of lanes have layouts of their own")
    x, y = numeric.tensor(columns(64, 128, "f32"), "f32"), numeric.poisoned((64, 128), "f32")
    kernel = run(softmax, 4, x, y, 128, 64, 32, 64)
    loads = [line for line in kernel.asm["plan"].splitlines() if " x f32" in line]
    assert loads and all("runs of 16" in line for line in loads)
