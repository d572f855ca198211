"""lower/products/zeroed_sums.py: sums of a loop that tile registers begin with zero in its first round."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from lower.plans import changed, plan_of
from triton_spirv import compile as compile_text
from triton_spirv.lower.plan.records import Product, Zeroed
from triton_spirv.lower.plan.verify import defects
from triton_spirv.runtime.processor import TILES, processor

#: The machine, and the device where it has tile registers: then tests of devices run on them, too.
SPIRV_MODES = ("machine-vector-amx", *(("vector",) if TILES in processor().flags else ()))

TARGET = "cpu:sapphirerapids"
SUMS = {"bf16": ("f32", tl.float32), "i8": ("i32", tl.int32)}


@triton.jit
def rounds(a_ptr, b_ptr, out_ptr, start, end, step, width, times, M: tl.constexpr, N: tl.constexpr,
           K: tl.constexpr, SUM: tl.constexpr):
    """out[t] = the sum of a[:, k:k + K] x b[k:k + K] over k in range(start, end, step), each time anew."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    for t in range(times):
        acc = tl.zeros((M, N), SUM)
        for i in range(start, end, step):
            a = tl.load(a_ptr + m[:, None] * width + i + k[None, :])
            b = tl.load(b_ptr + (i + k[:, None]) * N + n[None, :])
            acc = tl.dot(a, b, acc, out_dtype=SUM)
        tl.store(out_ptr + t * M * N + m[:, None] * N + n[None, :], acc)


#: start, end, step in elements along K: no round, one, two, a last one that is not whole; not from zero on
BOUNDS = [(0, 0, 64), (64, 0, 64), (0, 64, 64), (0, 128, 64), (0, 65, 64), (64, 256, 64), (128, 192, 64),
          (0, 256, 128)]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("dtype", SUMS)
def test_any_number_of_rounds(run, dtype: str, bounds: tuple[int, int, int]) -> None:
    """The array of the sums is read by nobody before it was written (the machine would see that)."""
    m, n, k, width, times = 32, 64, 64, 320, 2
    a, b = numeric.whole((m, width), dtype, 0), numeric.whole((width, n), dtype, 1)
    name, kind = SUMS[dtype]
    out = numeric.poisoned((times, m, n), name)
    kernel = run(rounds, 1, numeric.tensor(a, dtype), numeric.tensor(b, dtype), out, *bounds, width, times, m,
                 n, k, kind)
    assert "from zero in the first round" in kernel.asm["plan"]
    taken = np.zeros(width, np.float64)
    for i in range(*bounds):
        taken[i:i + k] += 1
    expected = a.astype(np.float64) * taken @ b.astype(np.float64)
    numeric.assert_same(numeric.array(out).astype(np.float64), np.stack([expected] * times),
                        signed_zeros=False)


@pytest.mark.parametrize("small", range(3))
def test_a_round_that_is_computed_exactly(run, small: int) -> None:
    """Where tile registers would clear something the general way is gone, and that begins with zero, too."""
    m, n, k, width, times = 32, 32, 32, 96, 2
    a, b = numeric.whole((m, width), "bf16", 0), numeric.whole((width, n), "bf16", 1)
    a[:, small * k] = 2.0 ** -100
    b[small * k] = 2.0 ** -30
    out = numeric.poisoned((times, m, n), "f32")
    run(rounds, 1, numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out, 0, width, k, width, times, m, n,
        k, tl.float32)
    expected = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)
    numeric.assert_same(numeric.array(out), np.stack([expected] * times), signed_zeros=False)


@triton.jit
def begun(a_ptr, b_ptr, out_ptr, first, count, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
          SEEN: tl.constexpr):
    """Sums from `first`; or a sum that the loop looks at besides, from zero."""
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    if not SEEN:
        acc += first
    seen = 0.0
    for _ in range(count):
        a = tl.load(a_ptr + m[:, None] * K + k[None, :])
        b = tl.load(b_ptr + k[:, None] * N + n[None, :])
        if SEEN:
            seen += tl.sum(tl.sum(acc, 1), 0)
        acc = tl.dot(a, b, acc)
    tl.store(out_ptr + m[:, None] * N + n[None, :], acc + seen)


@pytest.mark.parametrize("seen", (False, True))
def test_other_sums_are_written_before(run, seen: bool) -> None:
    m, n, k, count = 32, 32, 64, 3
    a, b = numeric.whole((m, k), "bf16", 0), numeric.whole((k, n), "bf16", 1)
    out = numeric.poisoned((m, n), "f32")
    kernel = run(begun, 1, numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out, 2.0, count, m, n, k,
                 seen)
    assert "tile registers" in kernel.asm["plan"] and "from zero" not in kernel.asm["plan"]
    each = a.astype(np.float64) @ b.astype(np.float64)
    expected = count * each + (each.sum() * sum(range(count)) if seen else 2.0)
    numeric.assert_same(numeric.array(out).astype(np.float64), expected, signed_zeros=False)


# --- the plan -----------------------------------------------------------------------------------------------

TEXT = """module {{
  tt.func public @kernel(%x: !tt.ptr<i8>, %out: !tt.ptr<i32>, %n: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<{zero}> : tensor<64x64xi32>
    %i = tt.make_range {{end = 4096 : i32, start = 0 : i32}} : tensor<4096xi32>
    %p0 = tt.splat %x : !tt.ptr<i8> -> tensor<4096x!tt.ptr<i8>>
    %p = tt.addptr %p0, %i : tensor<4096x!tt.ptr<i8>>, tensor<4096xi32>
    %sums = scf.for %k = {bounds} step %c1 iter_args(%s = %zero) -> (tensor<64x64xi32>) : i32 {{
      %v = tt.load %p : tensor<4096x!tt.ptr<i8>>
      %a = tt.reshape %v : tensor<4096xi8> -> tensor<64x64xi8>
      %one = tt.dot %a, %a, %s : tensor<64x64xi8> * tensor<64x64xi8> -> tensor<64x64xi32>
      scf.yield %one : tensor<64x64xi32>
    }}
    %flat = tt.reshape %sums : tensor<64x64xi32> -> tensor<4096xi32>
    %q0 = tt.splat %out : !tt.ptr<i32> -> tensor<4096x!tt.ptr<i32>>
    %q = tt.addptr %q0, %i : tensor<4096x!tt.ptr<i32>>, tensor<4096xi32>
    tt.store %q, %flat : tensor<4096x!tt.ptr<i32>>
    tt.return
  }}
}}
"""


def text(bounds: str = "%c0 to %n", zero: str = "0") -> str:
    return TEXT.format(bounds=bounds, zero=zero)


@pytest.mark.parametrize(("bounds", "zero", "begins"), [
    ("%c0 to %n", "0", True), ("%c0 to %c1", "0", True), ("%c0 to %n", "1", False)])
def test_zeros_are_not_written(bounds: str, zero: str, begins: bool) -> None:
    """But where there may be no round."""
    compiled = compile_text(text(bounds, zero), TARGET)
    assert ("from zero in the first round" in compiled.plan) is begins
    assert ("without being written" in compiled.plan) is begins
    assert compiled.listing.count("OpFunctionCall void %llvm.x86.tilezero") == (4 if begins else 0)


def test_mistakes_are_noticed() -> None:
    """An array that stands for zero, and no product that knows; and the other way round."""
    plan = plan_of(text(), TARGET)
    assert not defects(plan)

    def unaware(node: Any) -> list[Any]:
        return [replace(node, begins=False)] if isinstance(node, Product) else [node]

    def written(node: Any) -> list[Any]:
        return [] if isinstance(node, Zeroed) else [node]
    assert any("begins its sums with zero where" in each for each in defects(changed(plan, unaware)))
    assert any("begins its sums with zero where" in each for each in defects(changed(plan, written)))
    other = plan_of(text(zero="1"), TARGET)
    wrong = changed(other, lambda node: [replace(node, begins=True)] if isinstance(node, Product) else [node])
    assert any("begins its sums with zero where" in each for each in defects(wrong))
