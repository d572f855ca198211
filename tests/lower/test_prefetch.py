"""lower/memory/prefetch.py: which walk fetches what is loaded next; and what loops store past the caches."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

SPIRV_MODES = ("vector",)  # elsewhere tensors are not walked


@triton.jit
def weights(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    """Three walks over a row: its maximum, the sum of its exponentials, the quotient."""
    index = tl.arange(0, BLOCK)
    inside = index < columns
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * columns + index, mask=inside, other=-float("inf"))
        weight = tl.exp(x - tl.max(x, axis=0))
        tl.store(out_ptr + row * columns + index, weight / tl.sum(weight, axis=0), mask=inside)


@triton.jit
def centred(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    """Two walks over the row of a program."""
    index = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    inside = tl.arange(0, BLOCK) < columns
    x = tl.load(x_ptr + index, mask=inside, other=0.0)
    tl.store(out_ptr + index, x - tl.sum(x, axis=0) / columns, mask=inside)


@triton.jit
def totals(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """One walk."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0), tl.sum(tl.load(x_ptr + index), axis=0))


def expected(x: np.ndarray) -> np.ndarray:
    weight = np.exp(x - x.max(1, keepdims=True))
    return weight / weight.sum(1, keepdims=True)


@pytest.mark.parametrize("programs", (1, 2, 5))
@pytest.mark.parametrize("columns", (1500, 2048))
def test_rows_are_computed_while_the_next_ones_are_fetched(run, programs, columns):
    x = np.random.default_rng(columns).standard_normal((5, columns)).astype(np.float32)
    out = numeric.poisoned(x.shape, "f32")
    compiled = run(weights, programs, numeric.tensor(x, "f32"), out, 5, columns, 2048)
    np.testing.assert_allclose(np.asarray(out), expected(x), rtol=1e-5)  # sums of 2048 terms in f32
    # lines are fetched in the walk of exponentials, where memory waits, and in none that loads
    loops = compiled.asm["spvasm"].split("OpLoopMerge")[1:]
    with_exp = [loop for loop in loops if "OpenCL.std exp " in loop]
    assert with_exp and all(loop.count("llvm.prefetch") >= 4 for loop in with_exp)


@pytest.mark.parametrize("programs", (1, 4))
def test_a_program_fetches_the_row_of_the_next(run, programs):
    x = np.random.default_rng(3).integers(-9, 9, (programs, 2048)).astype(np.float32)
    out = numeric.poisoned(x.shape, "f32")
    compiled = run(centred, programs, numeric.tensor(x, "f32"), out, 2048, 2048)
    numeric.assert_same(out, x - x.sum(1, keepdims=True) / 2048)
    assert compiled.asm["spvasm"].count("llvm.prefetch") > 1


def fetches(compiled) -> bool:
    """Does a kernel fetch anything ahead?"""
    return "llvm.prefetch" in compiled.asm["spvasm"]


@pytest.mark.parametrize("block, pages", ((1024, 1), (4096, 1), (512, 0)))
def test_a_walk_that_only_reads_fetches_a_line_of_a_page_ahead(run, block, pages):
    x = np.random.default_rng(4).integers(-9, 9, 4 * block).astype(np.float32)
    out = numeric.poisoned(4, "f32")
    compiled = run(totals, 4, numeric.tensor(x, "f32"), out, block)
    numeric.assert_same(out, x.reshape(4, block).sum(1))
    assert compiled.asm["spvasm"].count("OpFunctionCall void %llvm.prefetch") == pages


def test_what_processors_foresee_is_not_fetched(run):
    # a page follows the page before, and as much is stored
    rows, out = np.ones((4, 1024), np.float32), numeric.poisoned((4, 1024), "f32")
    assert not fetches(run(centred, 4, numeric.tensor(rows, "f32"), out, 1024, 1024))
    numeric.assert_same(out, rows * 0)


@triton.jit
def rows_plus_one(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    inside = index < columns
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * columns + index, mask=inside)
        tl.store(out_ptr + row * columns + index, x + 1, mask=inside)


@pytest.mark.parametrize("columns, start", [(1024, 0), (1024, 1), (1000, 0), (1008, 16)])
def test_stores_of_a_loop_that_bypass_the_caches(run, columns, start):
    """Few programs, but so many rows that they write more than caches hold; at aligned places and others."""
    rows = 4500
    x = np.random.default_rng(columns).random((rows, columns), np.float32)
    out = numeric.poisoned(start + rows * columns, "f32")
    compiled = run(rows_plus_one, 3, numeric.tensor(x, "f32"), out[start:], rows, columns, 1024)
    numeric.assert_same(out[start:], (x + 1).ravel())
    assert "Nontemporal" in compiled.asm["spvasm"]


@triton.jit
def looked_up(x_ptr, index_ptr, out_ptr, HOW: tl.constexpr, BLOCK: tl.constexpr):
    """A row by a number that the program looks up: in order, or in another one."""
    place = index_ptr + tl.program_id(0)
    if HOW == "branch":
        if tl.num_programs(0) > 1:
            place = index_ptr + (tl.num_programs(0) - 1 - 2 * tl.program_id(0)) + tl.program_id(0)
    elif HOW == "counter":
        place = index_ptr + tl.atomic_add(out_ptr - 1, 0).to(tl.int32) + tl.program_id(0)
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.program_id(0) * BLOCK + i, tl.load(x_ptr + tl.load(place) * BLOCK + i) + 1)


@pytest.mark.parametrize("how", ("plain", "branch", "counter"))
def test_the_next_program_is_looked_up_only_where_it_is_sure_to_look(run, how):
    """A number behind the last one may lie in memory that is not there."""
    rows, block = 5, 4096
    x, index = numeric.random((rows, block), "f32"), np.array([3, 0, 4, 1, 2], np.int32)
    out = numeric.poisoned(1 + rows * block, "f32")
    out[0] = 0
    table = numeric.tensor(index, "i32")
    compiled = run(looked_up, rows, numeric.tensor(x, "f32"), table, out[1:], how, block)
    asked = index[::-1] if how == "branch" else index
    numeric.assert_same(out[1:], (x[asked] + 1).ravel())
    assert fetches(compiled) == (how == "plain")


@triton.jit
def overwritten_indices(x_ptr, indices_ptr, roots_ptr, copy_ptr, N: tl.constexpr):
    """The second store is given addresses, in the array of a part of them that the first load needed."""
    i = tl.arange(0, N)
    back = N - 1 - i
    at = back // 3 * 6 + back % 3 + 12
    x = tl.load(x_ptr + tl.program_id(0) * 3 * N + at, mask=i <= N, other=5)
    tl.store(indices_ptr + tl.program_id(0) * N + (i * 7 + 1) % N, at, mask=i <= N)
    tl.store(roots_ptr + tl.program_id(0) * N + i, tl.sqrt(x))
    tl.store(copy_ptr + tl.program_id(0) * 3 * N + at, x)


@pytest.mark.parametrize("n", (1024, 4096))
def test_nothing_is_fetched_by_what_an_array_held(run, n):
    """Number 12056189 of the random kernels was refused: a hint read the array again."""
    x = np.random.default_rng(n).integers(0, 99, 6 * n).astype(np.float64)
    indices, roots = numeric.poisoned(2 * n, "i32"), numeric.poisoned(2 * n, "f64")
    copy = numeric.tensor(np.zeros(6 * n), "f64")
    run(overwritten_indices, 2, numeric.tensor(x, "f64"), indices, roots, copy, n)
    back = n - 1 - np.arange(n)
    at = back // 3 * 6 + back % 3 + 12
    for program in range(2):
        part = slice(program * n, (program + 1) * n)
        taken = x[program * 3 * n + at]
        numeric.assert_same(np.asarray(indices)[part][(np.arange(n) * 7 + 1) % n], at.astype(np.int32))
        numeric.assert_same(np.asarray(roots)[part], np.sqrt(taken))
        numeric.assert_same(np.asarray(copy)[program * 3 * n + at], taken)


@triton.jit
def transposing(x_ptr, y_ptr, out_ptr, rows, columns, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
                ACROSS: tl.constexpr):
    """out = x + y.T or, if y lies as x does, x + y."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, COLUMNS)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * columns + column, inside)
    y = tl.load(y_ptr + (column * rows + row if ACROSS else row * columns + column), inside)
    tl.store(out_ptr + row * columns + column, x + y, inside)


@pytest.mark.parametrize("rows, columns", ((100, 300), (96, 512), (37, 131)))
@pytest.mark.parametrize("across", (False, True))
def test_squares_fetch_what_they_reach_some_turns_later(run, rows, columns, across):
    """Of each array, while no square is cut; rows need none of it."""
    x = numeric.whole((rows, columns), "f32", 1)
    y = numeric.whole((columns, rows) if across else (rows, columns), "f32", 2)
    out = numeric.poisoned(x.shape, "f32")
    compiled = run(transposing, -(-rows // 16), numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), out, rows,
                   columns, 16, 512, across)
    numeric.assert_same(out, x + (y.T if across else y))
    assert compiled.asm["plan"].count("fetch turns ahead of") == (3 if across else 0)
    # the last element of each of 16 vectors of three arrays
    fetches = [line for line in compiled.asm["spvasm"].splitlines()
               if "OpFunctionCall" in line and "llvm.prefetch" in line]
    assert len(fetches) == (48 if across else 0)
