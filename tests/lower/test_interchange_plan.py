"""Plans of loops inside walks: what they say, and that mistakes are noticed without a device."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from dataclasses import replace

import pytest
from lower.plans import changed, plan_of
from triton_spirv.errors import InternalError
from triton_spirv.lower.control import interchange
from triton_spirv.lower.plan.records import Interchange, Plan
from triton_spirv.lower.plan.text import plan_text
from triton_spirv.lower.plan.verify import defects
from triton_spirv.target.known import cpu_target

TILE = "tensor<16x256xf32>"


def kernel(body: str, columns: int = 256) -> str:
    """Rows of `n` elements in a loop over tiles; `body` makes %t of the sums %s and the tile %v."""
    text = """
module {
  tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {
    %zero = arith.constant 0 : i32
    %width = arith.constant 256 : i32
    %nothing = arith.constant dense<0.0> : TILE
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %rows = tt.expand_dims %i {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
    %ns = tt.splat %n : i32 -> tensor<16x1xi32>
    %begins = arith.muli %rows, %ns : tensor<16x1xi32>
    %j = tt.make_range {end = 256 : i32, start = 0 : i32} : tensor<256xi32>
    %columns = tt.expand_dims %j {axis = 0 : i32} : tensor<256xi32> -> tensor<1x256xi32>
    %b = tt.broadcast %begins : tensor<16x1xi32> -> tensor<16x256xi32>
    %c = tt.broadcast %columns : tensor<1x256xi32> -> tensor<16x256xi32>
    %places = arith.addi %b, %c : tensor<16x256xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<16x256x!tt.ptr<f32>>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<16x256x!tt.ptr<f32>>
    %r = scf.for %k = %zero to %n step %width iter_args(%s = %nothing) -> (TILE) : i32 {
      %ks = tt.splat %k : i32 -> tensor<16x256xi32>
      %here = arith.addi %places, %ks : tensor<16x256xi32>
      %p = tt.addptr %xs, %here : tensor<16x256x!tt.ptr<f32>>, tensor<16x256xi32>
      %v = tt.load %p : tensor<16x256x!tt.ptr<f32>>
BODY
      scf.yield %t : TILE
    }
    %q = tt.addptr %ys, %places : tensor<16x256x!tt.ptr<f32>>, tensor<16x256xi32>
    tt.store %q, %r : tensor<16x256x!tt.ptr<f32>>
    tt.return
  }
}
"""
    return text.replace("TILE", TILE).replace("BODY", body).replace("256", str(columns))


SUM = "      %t = arith.addf %s, %v : tensor<16x256xf32>"

#: Of each row its sum so far is added to what a round makes.
WITH_SUM = """
      %a = "tt.reduce"(%s) <{axis = 1 : i32}> ({
      ^bb0(%u: f32, %w: f32):
        %z = arith.addf %u, %w : f32
        tt.reduce.return %z : f32
      }) : (tensor<16x256xf32>) -> tensor<16xf32>
      %d = tt.expand_dims %a {axis = 1 : i32} : tensor<16xf32> -> tensor<16x1xf32>
      %e = tt.broadcast %d : tensor<16x1xf32> -> tensor<16x256xf32>
      %t = arith.addf %e, %v : tensor<16x256xf32>"""

#: Elements of other rows become those of this one.
TURNED = """
      %a = tt.reshape %s : tensor<16x256xf32> -> tensor<256x16xf32>
      %d = tt.trans %a {order = array<i32: 1, 0>} : tensor<256x16xf32> -> tensor<16x256xf32>
      %t = arith.addf %d, %v : tensor<16x256xf32>"""

STORING = """
      %o = tt.addptr %ys, %here : tensor<16x256x!tt.ptr<f32>>, tensor<16x256xi32>
      tt.store %o, %v : tensor<16x256x!tt.ptr<f32>>
      %t = arith.addf %s, %v : tensor<16x256xf32>"""


def rounds(plan: Plan) -> str:
    """The text of the form with a loop; the other one is for a single round."""
    text = plan_text(plan)
    found = text[text.index("    scf.for"):text.index("    store: everything", text.index("    scf.for"))]
    return textwrap.dedent(found)


def test_in_registers() -> None:
    """Those of AVX-512 hold a row of 256 numbers."""
    assert rounds(plan_of(kernel(SUM), cpu_target("x86_64-v4"))) == """\
scf.for: each row of %r goes through all rounds, in registers
walk for scf.for %r
  16 turns
    scf.for <unknown>
      load %v: plain, 16 of 16 x f32, runs of 16, alignment 4
    write array 1 (%r)
"""


@pytest.mark.parametrize(("columns", "turns", "architecture"),
                         ((256, 4, "x86_64-v3"), (512, 8, "x86_64-v4")))
def test_in_arrays(columns: int, turns: int, architecture: str) -> None:
    """Registers do not hold the row."""
    assert rounds(plan_of(kernel(SUM, columns), cpu_target(architecture))) == f"""\
scf.for: each row of %r goes through all rounds, in an array
walk for scf.for %r
  16 turns
    {turns} turns
      write array 1 (%r)
    scf.for <unknown>
      {turns} turns
        read array 1 (%r)
        load %v: plain, 4 of 16 x f32, runs of 16, alignment 4
        write array 1 (%r)
"""


@pytest.mark.parametrize(("carried", "place"), ((1, "registers"), (2, "registers"), (3, "registers"),
                                                (4, "an array")))
def test_several_tensors(carried: int, place: str) -> None:
    """Three quarters of 32 registers are theirs."""
    names, tile = [f"s{i}" for i in range(1, carried)], "tensor<16x128xf32>"
    types, more = ", ".join([tile] * carried), "".join(f", %{x} = %nothing" for x in names)
    sums = "".join(f"\n      %t{x} = arith.addf %{x}, %v : {tile}" for x in names)
    text = kernel(SUM + sums, 128)
    yielded = ", ".join(["%t", *(f"%t{x}" for x in names)])
    text = text.replace("%s = %nothing)", f"%s = %nothing{more})").replace(f"-> ({tile})", f"-> ({types})")
    text = text.replace(f"yield %t : {tile}", f"yield {yielded} : {types}")
    text = text.replace("%r = scf", f"%r:{carried} = scf").replace("store %q, %r :", "store %q, %r#0 :")
    plan = rounds(plan_of(text, cpu_target("x86_64-v4")))
    assert plan.splitlines()[0].endswith(f"goes through all rounds, in {place}")


@pytest.mark.parametrize("body", (WITH_SUM, TURNED, STORING), ids=("sum", "turned", "storing"))
def test_rounds_that_are_not_apart(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop stays as it is. If it were taken for one that has its rounds apart, it is refused."""
    assert "goes through all rounds" not in plan_text(plan_of(kernel(body)))
    monkeypatch.setattr(interchange, "has_rounds_apart", lambda loop, carried: True)
    try:
        plan = plan_of(kernel(body))
    except InternalError:
        return
    assert any("have effects" in found for found in defects(plan)), defects(plan)


def as_one(change: Callable[[Interchange], list[Interchange]]) -> Callable[[Plan], Plan]:
    return lambda plan: changed(plan, lambda node: list(change(node)) if isinstance(node, Interchange)
                                else [node])


@pytest.mark.parametrize(("mistake", "says"), [
    (lambda node: [], "runs in each turn of a walk"),
    (lambda node: [replace(node, carried=())], "its rounds need more"),
    (lambda node: [replace(node, layout=replace(node.layout, step=node.layout.step[::-1]))], "part of a row"),
    (lambda node: [replace(node, layout=node.layout.reshaped((32, 128)))], "other tensors"),
], ids=("none", "nothing carried", "other order", "other shape"))
def test_wrong_plans(mistake: Callable[[Interchange], list[Interchange]], says: str) -> None:
    right = plan_of(kernel(SUM))
    assert defects(right) == []
    found = defects(as_one(mistake)(right))
    assert any(says in each for each in found), found
