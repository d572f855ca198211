"""lower/memory/load.py through tensor descriptors: blocks that hang over an edge read padding and write
nothing there."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.tools.tensor_descriptor import TensorDescriptor
from triton_spirv.tools import spirv_tools


@triton.jit
def copy2d(
    x_ptr, out_ptr, rows, columns, stride, ROWS: tl.constexpr, COLUMNS: tl.constexpr, PAD: tl.constexpr
):
    """One block of x at (program 0 * ROWS - 3, program 1 * COLUMNS), stored densely into its own place of
    out."""
    shape = [rows, columns]
    x = tl.make_tensor_descriptor(x_ptr, shape, [stride, 1], [ROWS, COLUMNS], padding_option=PAD)
    block = x.load([tl.program_id(0) * ROWS - 3, tl.program_id(1) * COLUMNS])
    r, c = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    place = (tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)) * ROWS * COLUMNS
    tl.store(out_ptr + place + r * COLUMNS + c, block)


def block_at(x: np.ndarray, start: tuple[int, ...], shape: tuple[int, ...], padding) -> np.ndarray:
    """x[start : start + shape] with `padding` where there is no x."""
    index = np.meshgrid(*(np.arange(s, s + n) for s, n in zip(start, shape, strict=True)), indexing="ij")
    inside = np.logical_and.reduce([(i >= 0) & (i < n) for i, n in zip(index, x.shape, strict=True)])
    return np.where(
        inside,
        x[tuple(np.clip(i, 0, n - 1) for i, n in zip(index, x.shape, strict=True))],
        x.dtype.type(padding),
    )


@pytest.mark.parametrize("dtype", ("u8", "i32", "f16", "bf16", "f32", "f64"))
@pytest.mark.parametrize("rows, columns, ROWS, COLUMNS", [(5, 7, 4, 16), (33, 40, 16, 32), (8, 300, 1, 128)])
def test_load_pads_with_zero(run, dtype, rows, columns, ROWS, COLUMNS):
    whole = numeric.tensor(numeric.random((rows, -(-columns // 16) * 16), dtype), dtype)
    x = numeric.array(whole)[:, :columns]
    grid = (triton.cdiv(rows, ROWS) + 1, triton.cdiv(columns, COLUMNS))
    out = numeric.poisoned((*grid, ROWS, COLUMNS), dtype)
    run(copy2d, grid, whole, out, rows, columns, whole.stride(0), ROWS, COLUMNS, "zero")
    for i, j in np.ndindex(grid):
        numeric.assert_same(out[i, j], block_at(x, (i * ROWS - 3, j * COLUMNS), (ROWS, COLUMNS), 0))


@pytest.mark.parametrize("dtype", ("f16", "f32"))
def test_load_pads_with_nan(run, dtype):
    x = numeric.random((5, 8), dtype)
    out = numeric.poisoned((2, 1, 8, 16), dtype)
    run(copy2d, (2, 1), numeric.tensor(x, dtype), out, 5, 8, 8, 8, 16, "nan")
    for i in range(2):
        numeric.assert_same(out[i, 0], block_at(x, (i * 8 - 3, 0), (8, 16), np.nan))


@triton.jit
def store2d(out_ptr, rows, columns, row, column, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    out.store([row, column], tl.arange(0, ROWS)[:, None] * 100 + tl.arange(0, COLUMNS)[None, :])


@pytest.mark.parametrize("row, column", [(0, 0), (4, 8), (-2, 0), (6, -4), (100, 0)])
def test_store_is_clipped(run, row, column):
    out = numeric.poisoned((7, 12), "i32")
    expected = out.numpy().copy()
    for r, c in np.ndindex(8, 16):
        if 0 <= r + row < 7 and 0 <= c + column < 12:
            expected[r + row, c + column] = r * 100 + c
    run(store2d, 1, out, 7, 12, row, column, 8, 16)
    numeric.assert_same(out, expected)


@triton.jit
def copy_rank1(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [n], [1], [BLOCK])
    out = tl.make_tensor_descriptor(out_ptr, [n], [1], [BLOCK])
    start = tl.program_id(0) * BLOCK
    out.store([start], x.load([start]))


@triton.jit
def copy_rank3(x_ptr, out_ptr, a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [a, b, c], [b * c, c, 1], [A, B, C])
    out = tl.make_tensor_descriptor(out_ptr, [a, b, c], [b * c, c, 1], [A, B, C])
    start = [tl.program_id(0) * A, tl.program_id(1) * B, tl.program_id(2) * C]
    out.store(start, x.load(start))


@pytest.mark.parametrize("count, block", [(5, 8), (100, 16), (1000, 1024)])
def test_rank_1(run, count, block):
    x, out = numeric.random(count, "f32"), numeric.poisoned(count, "f32")
    run(copy_rank1, triton.cdiv(count, block), numeric.tensor(x, "f32"), out, count, block)
    numeric.assert_same(out, x)


def test_rank_3(run):
    x, out = numeric.random((5, 6, 24), "f32"), numeric.poisoned((5, 6, 24), "f32")
    run(copy_rank3, (3, 2, 2), numeric.tensor(x, "f32"), out, *x.shape, 2, 4, 16)
    numeric.assert_same(out, x)


@triton.jit
def through_host_descriptors(x, out, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    row, column = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    out.store([column, row], x.load([row, column]).T)


@pytest.mark.parametrize("dtype", ("u8", "f16", "f32"))
def test_descriptors_made_on_the_host(run, dtype):
    values = numeric.random((40, 48), dtype)
    x, out = numeric.tensor(values, dtype), numeric.poisoned((48, 48), dtype)[:, :40]
    source = TensorDescriptor.from_tensor(x, [16, 32])
    target = TensorDescriptor(out, out.shape, out.stride(), [32, 16])
    run(through_host_descriptors, (3, 2), source, target, 16, 32)
    numeric.assert_same(out, values.T)


@triton.jit
def move_rows(x_ptr, index_ptr, out_ptr, rows, columns, column, SCATTER: tl.constexpr, COUNT: tl.constexpr,
              COLUMNS: tl.constexpr):
    index = tl.load(index_ptr + tl.arange(0, COUNT))
    dense = tl.arange(0, COUNT)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    if SCATTER:
        out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [1, COLUMNS])
        out.scatter(tl.load(x_ptr + dense), index, column)
    else:
        x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [1, COLUMNS])
        tl.store(out_ptr + dense, x.gather(index, column))


@pytest.mark.parametrize("column", (0, 8, 16))
def test_gather_rows(run, column):
    """Rows beyond the end and columns beyond the edge read as zero."""
    x, out = numeric.random((20, 24), "f32"), numeric.poisoned((8, 16), "f32")
    index = np.array([3, 0, 19, 7, 7, 20, 1, 100], np.int32)
    run(
        move_rows,
        1,
        numeric.tensor(x, "f32"),
        numeric.tensor(index, "i32"),
        out,
        20,
        24,
        column,
        False,
        8,
        16,
    )
    numeric.assert_same(out, np.concatenate([block_at(x, (i, column), (1, 16), 0) for i in index]))


@pytest.mark.parametrize("column", (0, 16))
def test_scatter_rows(run, column):
    x, out = numeric.random((8, 16), "f32"), numeric.poisoned((20, 24), "f32")
    index, expected = np.array([3, 0, 19, 7, 9, 20, 1, 100], np.int32), out.numpy().copy()
    for source, i in zip(x, index, strict=True):
        if i < 20:
            expected[i, column : column + 16] = source[: 24 - column]
    run(
        move_rows, 1, numeric.tensor(x, "f32"), numeric.tensor(index, "i32"), out, 20, 24, column, True, 8, 16
    )
    numeric.assert_same(out, expected)


@triton.jit
def combine(x_ptr, out_ptr, rows, columns, KIND: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Several programs combine the same block into out."""
    x = tl.load(x_ptr + (tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]))
    out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [ROWS, COLUMNS])
    if KIND == "add":
        out.atomic_add([0, 0], x)
    elif KIND == "min":
        out.atomic_min([0, 0], x)
    elif KIND == "max":
        out.atomic_max([0, 0], x)
    elif KIND == "and":
        out.atomic_and([0, 0], x)
    elif KIND == "or":
        out.atomic_or([0, 0], x)
    else:
        out.atomic_xor([0, 0], x)


KINDS = {"add": lambda a, b: a + 3 * b, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
         "or": np.bitwise_or, "xor": np.bitwise_xor}


@pytest.mark.parametrize("dtype", ("i32", "u32", "i64", "u64", "f32", "f16"))
@pytest.mark.parametrize("kind", KINDS)
def test_reduce_into(run, kind, dtype):
    numeric.interpreter_is_wrong("it has no descriptor reductions")
    if (dtype[0] == "f" and kind != "add") or (dtype == "i64" and kind == "add"):
        pytest.skip("Triton's front end refuses it")
    floats = dtype[0] == "f"
    x = np.round(numeric.random((8, 16), dtype, 0, *((-50, 50) if floats else ())))  # exact sums of floats
    start = np.round(numeric.random((6, 12), dtype, 1, *((-50, 50) if floats else ())))
    out = numeric.tensor(start, dtype)
    run(combine, 3, numeric.tensor(x, dtype), out, 6, 12, kind, 8, 16)
    with np.errstate(over="ignore"):
        numeric.assert_same(out, KINDS[kind](start, x[:6, :12]).astype(start.dtype))


@triton.jit
def multiplied(a_ptr, b_ptr, c_ptr, rows, columns, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    a = tl.make_tensor_descriptor(a_ptr, [rows, depth], [depth, 1], [M, K])
    b = tl.make_tensor_descriptor(b_ptr, [depth, columns], [columns, 1], [K, N])
    c = tl.make_tensor_descriptor(c_ptr, [rows, columns], [columns, 1], [M, N])
    for number in tl.range(tl.program_id(0), tl.cdiv(columns, N), tl.num_programs(0)):
        total = tl.zeros([M, N], tl.float32)
        for start in range(0, depth, K):
            total = tl.dot(a.load([0, start]), b.load([start, number * N]), total)
        c.store([0, number * N], total.to(c.dtype))


@pytest.mark.parametrize("target", ["dg2", "arl", "mtl"])
def test_masks_are_exchanged_once(target):
    """That of b is made for other lanes than those that load. Its parts, one for each branch, come from what
    lanes have exchanged already: behind the first branch they have parted, and cannot exchange it again. As
    many lanes as asked for share a program, in warps of 8."""
    names = ("a_ptr", "b_ptr", "c_ptr", "rows", "columns", "depth")
    source = ASTSource(multiplied, {**dict.fromkeys(names[:3], "*fp16"), **dict.fromkeys(names[3:], "i32"),
                                    **dict.fromkeys("MNK", "constexpr")}, {"M": 128, "N": 128, "K": 32},
                       {(i,): [["tt.divisibility", 16]] for i in range(6)})
    made = triton.compile(source, target=GPUTarget("spirv", target, 16), options={"num_warps": 8})
    spirv_tools.validate(made.asm["spv"])
    assert made.metadata.num_warps == 16 and made.asm["spvasm"].count("SubgroupSize 8") == 1
    assert made.asm["plan"].count("exchange 32x128xi1") == (target != "mtl")


@pytest.mark.parametrize("columns", [128, 136])
def test_products_of_descriptors(run, mode, columns):
    """Blocks as large as dg2's tutorial has, with edges."""
    if mode not in ("xe8", "gpu-dg2", "gpu-arl"):
        pytest.skip("the block is as large as a unit of 8 columns takes it")
    a = numeric.random((120, 48), "i8").clip(-3, 3).astype(np.float16)
    b = numeric.random((48, columns), "i8", 1).clip(-3, 3).astype(np.float16)
    c = numeric.poisoned((120, columns), "f16")
    left, right = numeric.tensor(a, "f16"), numeric.tensor(b, "f16")
    run(multiplied, 1, left, right, c, 120, columns, 48, 128, 128, 32, num_warps=16 if mode == "xe8" else 8)
    numeric.assert_same(c, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))
