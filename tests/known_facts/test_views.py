"""facts/views.py, facts/divisors.py: dimensions of views, and divisors of blocks."""

from __future__ import annotations

import pytest
from triton_spirv.facts.axis_info import LARGEST
from triton_spirv.facts.divisors import divisor, pointer_divisor
from triton_spirv.facts.views import source_dims
from triton_spirv.ir import Operation, parse

TEXT = """
tt.func public @k(%p: !tt.ptr<f32>, %n: i32 {tt.divisibility = 16 : i32}, %m: i32, %t: tensor<8x1x4xi32>) {
  %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
  %splat = tt.splat %n : i32 -> tensor<64xi32>
  %column = tt.expand_dims %r {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %matrix = tt.broadcast %column : tensor<64x1xi32> -> tensor<64x8xi32>
  %same = tt.broadcast %column : tensor<64x1xi32> -> tensor<64x1xi32>
  %turned = tt.trans %t {order = array<i32: 2, 0, 1>} : tensor<8x1x4xi32> -> tensor<4x8x1xi32>
  %less = tt.reshape %t : tensor<8x1x4xi32> -> tensor<8x4xi32>
  %other = tt.reshape %t : tensor<8x1x4xi32> -> tensor<4x8xi32>
  %sum = arith.addi %r, %splat : tensor<64xi32>
  %rows = arith.muli %r, %splat : tensor<64xi32>
  %down = tt.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
  %downs = tt.broadcast %down : tensor<64x1xi32> -> tensor<64x8xi32>
  %q = tt.addptr %p, %m : !tt.ptr<f32>, i32
  %base = tt.splat %q : !tt.ptr<f32> -> tensor<64x8x!tt.ptr<f32>>
  %pointers = tt.addptr %base, %downs : tensor<64x8x!tt.ptr<f32>>, tensor<64x8xi32>
  tt.return
}
"""


@pytest.fixture(scope="module")
def ops() -> dict[str, Operation]:
    return {op.result.name: op for op in parse(TEXT).walk() if len(op.results) == 1}


@pytest.mark.parametrize(("name", "dims"), [
    ("splat", [None]), ("column", [0, None]), ("matrix", [0, None]), ("same", [0, 1]),
    ("turned", [2, 0, 1]), ("less", [0, 2]), ("other", None), ("sum", None)])
def test_dims(ops: dict[str, Operation], name: str, dims: list[int | None] | None) -> None:
    assert source_dims(ops[name]) == dims


def test_divisors_of_blocks(ops: dict[str, Operation]) -> None:
    assert [divisor(ops["r"].result, (n,)) for n in (1, 4, 64)] == [1, 4, LARGEST]
    assert [divisor(ops["rows"].result, (n,)) for n in (1, 4)] == [16, 64]
    assert [divisor(ops["sum"].result, (n,)) for n in (1, 4, 32)] == [1, 4, 16]
    assert [divisor(ops["downs"].result, (n, 8)) for n in (1, 4)] == [16, 64]
    apart, base = pointer_divisor(ops["pointers"].result, (4, 8), 4)
    assert (apart, base) == (1 * 4, ops["q"].operands[0])  # the scalar m, in bytes
