"""Kernels that several operation tests share: they load vectors, apply a @triton.jit function given as a
constexpr, store; and functions that more than one file gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numeric
import numpy as np
import torch
import triton
import triton.language as tl


@triton.jit
def exp(x):
    return tl.exp(x)


@triton.jit
def exp2(x):
    return tl.exp2(x)


@triton.jit
def log(x):
    return tl.log(x)


@triton.jit
def log2(x):
    return tl.log2(x)


@triton.jit
def sin(x):
    return tl.sin(x)


@triton.jit
def cos(x):
    return tl.cos(x)


@triton.jit
def rsqrt(x):
    return tl.rsqrt(x)


@triton.jit
def map1(x_ptr, out_ptr, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < n
    x = tl.load(x_ptr + i, mask=keep)
    tl.store(out_ptr + i, FUNCTION(x), mask=keep)


@triton.jit
def map2(x_ptr, y_ptr, out_ptr, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < n
    x = tl.load(x_ptr + i, mask=keep)
    y = tl.load(y_ptr + i, mask=keep)
    tl.store(out_ptr + i, FUNCTION(x, y), mask=keep)


@triton.jit
def map3(x_ptr, y_ptr, z_ptr, out_ptr, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < n
    x = tl.load(x_ptr + i, mask=keep)
    y = tl.load(y_ptr + i, mask=keep)
    z = tl.load(z_ptr + i, mask=keep)
    tl.store(out_ptr + i, FUNCTION(x, y, z), mask=keep)


@triton.jit
def scalar2(x_ptr, y_ptr, out_ptr, FUNCTION: tl.constexpr):
    """The same on one scalar per program: no tensor anywhere."""
    i = tl.program_id(0)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def map_block2d(
    x_ptr,
    out_ptr,
    stride_row,
    stride_column,
    FUNCTION: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    """One [ROWS, COLUMNS] block, read through strides; FUNCTION's result (any shape with as many elements) is
    stored densely."""
    rows, columns = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + rows[:, None] * stride_row + columns[None, :] * stride_column)
    y = FUNCTION(x)
    tl.store(out_ptr + tl.arange(0, ROWS * COLUMNS), tl.reshape(y, [ROWS * COLUMNS]))


def apply(
    run: Callable[..., Any],
    function: Any,
    values: Sequence[np.ndarray],
    dtypes: str | Sequence[str],
    out_dtype: str,
    block: int = 256,
) -> torch.Tensor:
    """function over one to three vectors, in programs of `block` elements; the last program is masked."""
    count = len(values[0])
    dtypes = [dtypes] * len(values) if isinstance(dtypes, str) else dtypes
    out = numeric.poisoned(count, out_dtype)
    inputs = [numeric.tensor(v, d) for v, d in zip(values, dtypes, strict=True)]
    run((map1, map2, map3)[len(values) - 1], triton.cdiv(count, block), *inputs, out, count, function, block)
    return out
