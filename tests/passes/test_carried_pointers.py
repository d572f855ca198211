"""Pointers computed from a loop's counter that come to travel."""

from __future__ import annotations

import pytest
from triton_spirv.ir import parse
from triton_spirv.ir.model import Operation
from triton_spirv.ir.module import Module
from triton_spirv.passes.carried_pointers import carry_pointer

LOOP = """
module {{
  tt.func public @kernel(%p: !tt.ptr<f32>, %n: i32, %s: i32, %q: !tt.ptr<i32>, %out: !tt.ptr<f32>) {{
    %zero = arith.constant 0 : i32
    %step = arith.constant 32 : i32
    %three = arith.constant dense<3> : tensor<64xi32>
    %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %row = tt.splat %s : i32 -> tensor<64xi32>
    %to = tt.splat %out : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    scf.for %k = %zero to %n step %step : i32 {{
      %k1 = tt.splat %k : i32 -> tensor<64xi32>
      {body}
      %at = tt.addptr %base, %o : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
      %x = tt.load %at : tensor<64x!tt.ptr<f32>>
      tt.store %to, %x : tensor<64x!tt.ptr<f32>>
    }}
    tt.return
  }}
}}
"""

LOADED = """%d = {made}
      %d1 = tt.splat %d : i32 -> tensor<64xi32>
      %t = arith.addi %d1, %i : tensor<64xi32>
      %o = arith.addi %t, %k1 : tensor<64xi32>"""


def carried(body: str) -> tuple[Module, Operation, Operation]:
    module = parse(LOOP.format(body=body))
    *_, load = [op for op in module.walk() if op.name == "tt.load"]
    (loop,) = [op for op in module.walk() if op.name == "scf.for"]
    carry_pointer(load)
    return module, loop, load


@pytest.mark.parametrize(("body", "factor", "scalar"), [
    ("%o = arith.addi %k1, %i : tensor<64xi32>", 32, None),
    ("%o = arith.subi %i, %k1 : tensor<64xi32>", -32, None),
    ("%t = arith.addi %i, %k1 : tensor<64xi32>\n      %o = arith.muli %t, %three : tensor<64xi32>", 96, None),
    ("%t = arith.addi %i, %k1 : tensor<64xi32>\n      %o = arith.muli %row, %t : tensor<64xi32>", 32, "%s"),
])
def test_what_a_round_adds(body: str, factor: int, scalar: str | None) -> None:
    module, loop, load = carried(body)
    block = loop.regions[0].entry
    assert load.ptr is block.arguments[1] and len(loop.results) == 1 and len(loop.init) == 1
    moved = block.terminator.operands[0].defining_op
    assert moved is not None and moved.name == "tt.addptr" and moved.ptr is load.ptr
    step = moved.offset.defining_op.src.defining_op
    if scalar is None:
        assert step.attributes["value"] == factor
    else:
        assert step.rhs.defining_op.attributes["value"] == factor
        assert step.lhs.defining_op.src is module.entry.regions[0].entry.arguments[2]
    first = loop.init[0].defining_op
    assert first is not None and first.parent is loop.parent  # as in the first round


@pytest.mark.parametrize("body", [
    "%o = arith.muli %k1, %k1 : tensor<64xi32>",
    "%o = arith.remsi %k1, %row : tensor<64xi32>",
    "%o = arith.muli %k1, %i : tensor<64xi32>",   # other lanes move by other numbers
    "%o = arith.addi %i, %row : tensor<64xi32>",  # they do not move
    "%t = arith.muli %k1, %row : tensor<64xi32>\n      %o = arith.addi %t, %k1 : tensor<64xi32>",
    LOADED.format(made="tt.load %q : !tt.ptr<i32>"),  # another number in each round, or none before the first
    LOADED.format(made="tt.atomic_rmw add, acq_rel, gpu, %q, %s : (!tt.ptr<i32>, i32) -> i32"),
    LOADED.format(made="arith.divsi %n, %s : i32"),
])
def test_pointers_that_move_otherwise_are_left(body: str) -> None:
    _, loop, load = carried(body)
    assert load.ptr.defining_op is not None and not loop.init and not loop.results
