"""Operations without a rule are named all at once."""

from __future__ import annotations

import pytest
from triton_spirv.errors import MissingCapability, UnsupportedOperation
from triton_spirv.ir import parse
from triton_spirv.lower.support import missing, require_float64, require_rules

TEXT = """
#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [4], order = [0]}>
#loc1 = loc("softmax.py":15:13)
module {
  tt.func public @k(%x: f32) {
    %a = math.tan %x : f32 loc("/home/user/softmax.py":14:9)
    %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #blocked> loc(#loc1)
    %s = tt.gather %r[%r] {axis = 0 : i32} :
      (tensor<64xi32, #blocked>, tensor<64xi32, #blocked>) -> tensor<64xi32, #blocked> loc(#loc1)
    tt.return
  }
}
"""


def test_missing_in_textual_order():
    found = missing(parse(TEXT), {"tt.func", "tt.return", "tt.make_range"})
    assert [op.name for op in found] == ["math.tan", "tt.gather"]


def test_all_are_listed_with_the_users_lines():
    with pytest.raises(UnsupportedOperation) as caught:
        require_rules(parse(TEXT), {"tt.func", "tt.return"}, "cpu")
    assert str(caught.value).splitlines() == [
        "no rule for target cpu:",
        "  softmax.py:14:9: math.tan on f32",
        "  softmax.py:15:13: tt.make_range on tensor<64xi32>",
        "  softmax.py:15:13: tt.gather on tensor<64xi32>, tensor<64xi32>",
        "'python -m triton_spirv --list-rules' shows what there is",
    ]


def test_nothing_missing_is_silent():
    require_rules(parse(TEXT), {op.name for op in parse(TEXT).walk()}, "cpu")


WIDE = """
module {
  tt.func public @k(%x: f64, %p: !tt.ptr<f64>, %n: f32) {
    %a = arith.mulf %n, %n : f32 loc("softmax.py":14:9)
    %b = arith.mulf %x, %x : f64 loc("softmax.py":15:9)
    %c = tt.splat %p : !tt.ptr<f64> -> tensor<64x!tt.ptr<f64>> loc("softmax.py":16:9)
    tt.return
  }
}
"""


def test_operations_on_float64_are_listed_where_the_target_has_none():
    require_float64(parse(TEXT), "narrow")
    with pytest.raises(MissingCapability) as caught:
        require_float64(parse(WIDE), "narrow")
    assert str(caught.value).splitlines() == [
        "target narrow has no 64-bit floats (Float64):",
        "  softmax.py:15:9: arith.mulf on f64, f64",
        "  softmax.py:16:9: tt.splat on !tt.ptr<f64>",
        "use float32 there, or another device",
    ]
