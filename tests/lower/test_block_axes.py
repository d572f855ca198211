"""lower/intel/block_whole.py: which dimensions of a matrix a load reaches, by pointers and mask; in text."""

from __future__ import annotations

import pytest
from triton_spirv.ir import Operation, parse
from triton_spirv.lower.intel.block_whole import _axes

KERNEL = """
tt.func public @k(%p: !tt.ptr<f16>, %n: i32, %pitch: i32) {{
  %pid = tt.get_program_id x : i32
  %r = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
  %s = tt.splat %pid : i32 -> tensor<16xi32>
  %q = arith.addi %r, %s : tensor<16xi32>
  %rows = tt.expand_dims %r {{axis = 1 : i32}} : tensor<16xi32> -> tensor<16x1xi32>
  %columns = tt.expand_dims %q {{axis = 0 : i32}} : tensor<16xi32> -> tensor<1x16xi32>
  %swapped = tt.expand_dims %r {{axis = 0 : i32}} : tensor<16xi32> -> tensor<1x16xi32>
  %pitches = tt.splat %pitch : i32 -> tensor<16x1xi32>
  %down = arith.muli %rows, %pitches : tensor<16x1xi32>
  %d = tt.broadcast %down : tensor<16x1xi32> -> tensor<16x16xi32>
  %a = tt.broadcast %columns : tensor<1x16xi32> -> tensor<16x16xi32>
  %o = arith.addi %d, %a : tensor<16x16xi32>
  %base = tt.splat %p : !tt.ptr<f16> -> tensor<16x16x!tt.ptr<f16>>
  %at = tt.addptr %base, %o : tensor<16x16x!tt.ptr<f16>>, tensor<16x16xi32>
  %ends = tt.splat %n : i32 -> {type}
  %c = arith.cmpi slt, %{index}, %ends : {type}
  %mask = tt.broadcast %c : {mask} -> tensor<16x16xi1>
  %x = tt.load %at, %mask : tensor<16x16x!tt.ptr<f16>>
  tt.return
}}
"""


def load(index: str, shape: str) -> Operation:
    module = parse(KERNEL.format(index=index, type=f"tensor<{shape}xi32>", mask=f"tensor<{shape}xi1>"))
    return next(op for op in module.walk() if op.name == "tt.load")


@pytest.mark.parametrize(("index", "shape", "dim"), [("rows", "16x1", 0), ("columns", "1x16", 1)])
def test_a_mask_ends_a_dimension(index: str, shape: str, dim: int) -> None:
    axes = _axes(load(index, shape))
    assert axes is not None and axes[dim].end is not None and axes[1 - dim].end is None


def test_a_mask_of_the_other_dimension_ends_none() -> None:
    """The numbers of the rows, compared along the columns: the same numbers, at other places."""
    assert _axes(load("swapped", "1x16")) is None
