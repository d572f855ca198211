"""lower/control/control_flow.py: calls of functions, inlined or not, that return early, or tensors;
recursion."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.errors import LoweringError
from triton_spirv.lower.control import control_flow
from versions import needs_triton


@triton.jit(noinline=True)
def scaled_distance(x, y, scale):
    if scale > 2:
        return tl.abs(x - y) * scale
    return x - y


@triton.jit(noinline=True)
def row_statistics(p, n, BLOCK: tl.constexpr):
    """Scalars in, scalars out (Triton passes nothing else), tensors inside."""
    i = tl.arange(0, BLOCK)
    x = tl.load(p + i, mask=i < n, other=0.0)
    return tl.sum(x, 0), tl.max(x, 0)


@triton.jit(noinline=True)
def double_row(p, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(p + i, tl.load(p + i, mask=i < n) * 2, mask=i < n)


@triton.jit
def calls(x_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    row = x_ptr + tl.program_id(0) * n
    total, top = row_statistics(row, n, BLOCK)
    d = scaled_distance(total, top, scale)
    for _ in range(2):
        d = scaled_distance(d, total, scale + 1)
        double_row(row, n, BLOCK)
    tl.store(out_ptr + 2 * tl.program_id(0), d)
    total, top = row_statistics(row, n, BLOCK)
    tl.store(out_ptr + 2 * tl.program_id(0) + 1, total - top)


@pytest.mark.parametrize("scale", (1, 2, 4))
@pytest.mark.parametrize("count, block", [(1, 1), (5, 8), (60, 64), (1000, 1024)])
def test_functions_that_are_not_inlined(run, count, block, scale):
    """Called several times: with an early return, with two results, with none."""
    x, out = np.round(numeric.random((3, count), "f32", low=-9, high=9)), numeric.poisoned((3, 2), "f32")
    data = numeric.tensor(x, "f32")
    run(calls, 3, data, out, count, scale, block)

    def distance(a: np.ndarray, b: np.ndarray, s: int) -> np.ndarray:
        return np.abs(a - b) * s if s > 2 else a - b

    padded = np.concatenate([x, np.zeros((3, block - count), np.float32)], 1)
    total, top = padded.sum(1), padded.max(1)
    d = distance(total, top, scale)
    for _ in range(2):
        d = distance(d, total, scale + 1)
    numeric.assert_same(data, x * 4, signed_zeros=False)
    numeric.assert_same(out, np.stack([d, 4 * total - 4 * top], 1).astype(np.float32), signed_zeros=False)


@triton.jit
def first_or_doubled(x, y, scale):
    if scale > 2:
        return x
    return y * scale


@triton.jit
def early_return_of_tensors(x_ptr, y_ptr, out_ptr, scale, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    z = first_or_doubled(x, y, scale)
    tl.store(out_ptr + i, z + tl.flip(first_or_doubled(y, z, scale + 1), 0))


@pytest.mark.parametrize("scale", (1, 2, 3))
@pytest.mark.parametrize("block", (4, 64, 4096))
def test_early_return_of_tensors(run, block, scale):
    """Large tensors cross the edges of a conditional branch in memory."""
    x, y = (numeric.random(block, "i32", seed) for seed in range(2))
    out = numeric.poisoned(block, "i32")
    run(
        early_return_of_tensors, 1, numeric.tensor(x, "i32"), numeric.tensor(y, "i32"), out, scale, block
    )
    z = x if scale > 2 else y * np.int32(scale)
    numeric.assert_same(out, z + (y if scale > 1 else z * np.int32(scale + 1))[::-1])


@triton.jit(noinline=True)
def ramp(n):
    return tl.arange(0, 16)[:, None] * n, tl.arange(0, 8)[None, :] + n


@triton.jit
def calls_for_tensors(out_ptr, n):
    rows, columns = ramp(n)
    place = tl.arange(0, 16)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out_ptr + place, rows * columns)


def test_a_function_that_is_not_inlined_returns_tensors(run, mode):
    if mode != "vector":
        needs_triton((3, 8), "layouts of what a function returns")
    out = numeric.poisoned((16, 8), "i32")
    run(calls_for_tensors, 1, out, 3)
    numeric.assert_same(out, (np.arange(16)[:, None] * 3 * (np.arange(8) + 3)).astype(np.int32))


RECURSIVE = """
module {{
  tt.func public @kernel(%out: !tt.ptr<i32>, %n: i32) {{
    %v = tt.call @first(%n) : (i32) -> i32
    tt.store %out, %v : !tt.ptr<i32>
    tt.return
  }}
  tt.func private @first(%n: i32) -> i32 {{
    %v = tt.call @{0}(%n) : (i32) -> i32
    tt.return %v : i32
  }}
  tt.func private @second(%n: i32) -> i32 {{
    %v = tt.call @first(%n) : (i32) -> i32
    tt.return %v : i32
  }}
}}
"""


@pytest.mark.parametrize("callee", ("first", "second"))
def test_recursion_is_refused(callee):
    """Of itself, and by way of another function. Triton's front end writes none; IR files may have it."""
    with pytest.raises(LoweringError, match="first calls itself; recursion has no rule"):
        triton_spirv.compile(RECURSIVE.format(callee))


def test_calls_of_calls_have_a_limit(monkeypatch):
    """Each function calls the next one twice: the last is lowered 2^20 times."""
    inner = "".join(f"tt.func private @f{i + 1}(%x: i32) -> i32 {{\n%a = tt.call @f{i}(%x) : (i32) -> i32\n"
                    f"%b = tt.call @f{i}(%a) : (i32) -> i32\ntt.return %b : i32\n}}\n" for i in range(20))
    text = ("module {\ntt.func private @f0(%x: i32) -> i32 {\n%y = arith.muli %x, %x : i32\n"
            "tt.return %y : i32\n}\n" + inner + "tt.func public @k(%p: !tt.ptr<i32>) {\n"
            "%x = tt.load %p : !tt.ptr<i32>\n%r = tt.call @DEEP(%x) : (i32) -> i32\n"
            "tt.store %p, %r : !tt.ptr<i32>\ntt.return\n}\n}")
    monkeypatch.setattr(control_flow, "MOST_CALLED", 2000)
    triton_spirv.compile(text.replace("DEEP", "f8"))
    with pytest.raises(LoweringError, match=r"more than 2000 operations here: call f\d+ less often"):
        triton_spirv.compile(text.replace("DEEP", "f20"))
