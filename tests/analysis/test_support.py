"""Operations without a rule are named all at once."""

from __future__ import annotations

import pytest
from triton_spirv.analysis.support import missing, require_rules
from triton_spirv.errors import UnsupportedOperation
from triton_spirv.ir import parse

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
