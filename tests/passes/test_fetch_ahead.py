"""passes/fetch_ahead.py: which loops are rewritten, and to what."""

from __future__ import annotations

import pytest
from triton_spirv.ir import Module, Operation, parse
from triton_spirv.passes.fetch_ahead import fetch_ahead

LAYOUT = ("#ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], "
          "order = [1, 0]}>")
HELD = "tensor<16x16xf32, #b>"
LEFT, RIGHT = (f"tensor<16x16xf32, #ttg.dot_op<{{opIdx = {i}, parent = #b}}>>" for i in (0, 1))


def loop(extra: str = "", pointers: str = "%p", early: str = "") -> Module:
    """A loop of products whose left operand is loaded; `early` stands before that, `extra` at the end."""
    return parse(f"""
#b = {LAYOUT}
module attributes {{"ttg.num-warps" = 1 : i32, "ttg.threads-per-warp" = 32 : i32}} {{
  tt.func public @kernel(%x: !tt.ptr<f32>, %n: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<16x16xf32, #b>
    %steps = arith.constant dense<16> : tensor<16x16xi32, #b>
    %start = tt.splat %x : !tt.ptr<f32> -> tensor<16x16x!tt.ptr<f32>, #b>
    %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%sum = %zero, %p = %start)
        -> (tensor<16x16xf32, #b>, tensor<16x16x!tt.ptr<f32>, #b>) : i32 {{
      {early}
      %a = tt.load {pointers} : tensor<16x16x!tt.ptr<f32>, #b>
      %left = ttg.convert_layout %a : {HELD} -> {LEFT}
      %right = ttg.convert_layout %zero : {HELD} -> {RIGHT}
      %d = tt.dot %left, %right, %sum : {LEFT} * {RIGHT} -> {HELD}
      {extra}
      %q = tt.addptr %p, %steps : tensor<16x16x!tt.ptr<f32>, #b>, tensor<16x16xi32, #b>
      scf.yield %d, %q : tensor<16x16xf32, #b>, tensor<16x16x!tt.ptr<f32>, #b>
    }}
    tt.return
  }}
}}
""")


def the_loop(module: Module) -> Operation:
    return next(op for op in module.walk() if op.name == "scf.for")


def names(module: Module) -> list[str]:
    return [op.name for op in the_loop(module).regions[0].entry.operations]


def test_the_next_round_is_loaded_first() -> None:
    module = loop()
    fetch_ahead(module)
    inside = names(module)
    assert inside.count("tt.load") == 1 and inside.index("tt.load") < inside.index("tt.dot")
    found = the_loop(module)
    end = found.regions[0].entry.operations[-1]
    assert len(found.init) == len(end.operands) == len(found.results) == 3
    load = found.init[-1].defining_op
    assert load is not None and load.name == "tt.load" and load.mask is not None
    assert load.parent is found.parent
    # what the product multiplies is what travelled
    converted = next(op for op in found.regions[0].entry.operations if op.name == "ttg.convert_layout")
    assert converted.operands[0] is found.regions[0].entry.arguments[-1]


def test_the_last_round_loads_nothing() -> None:
    module = loop()
    fetch_ahead(module)
    body = the_loop(module).regions[0].entry
    compare = next(op for op in body.operations if op.name == "arith.cmpi")
    assert compare.attributes["predicate"] == "slt" and compare.operands[1] is the_loop(module).upper
    assert compare.operands[0].defining_op.operands == [body.arguments[0], the_loop(module).step]  # type: ignore[union-attr]


def test_a_loop_that_writes_stays() -> None:
    module = loop("tt.store %p, %d : tensor<16x16x!tt.ptr<f32>, #b>")
    before = names(module)
    fetch_ahead(module)
    assert names(module) == before


@pytest.mark.parametrize("divisor, is_fetched", [("%n", False), ("%k", False), ("%c0", False), ("%c8", True)])
def test_what_the_loop_divides_by_may_be_zero_where_it_does_not_run(divisor: str, is_fetched: bool) -> None:
    module = loop(pointers="%far", early=f"""%c8 = arith.constant 8 : i32
      %part = arith.remsi %k, {divisor} : i32
      %parts = tt.splat %part : i32 -> tensor<16x16xi32, #b>
      %far = tt.addptr %p, %parts : tensor<16x16x!tt.ptr<f32>, #b>, tensor<16x16xi32, #b>""")
    fetch_ahead(module)
    assert (len(the_loop(module).results) == 3) == is_fetched


def test_a_load_that_is_used_otherwise_stays() -> None:
    module = loop("%s = arith.addf %a, %a : tensor<16x16xf32, #b>\n"
                  "%m = \"tt.reduce\"(%s) <{axis = 1 : i32}> ({\n^bb0(%u: f32, %v: f32):\n"
                  "%w = arith.addf %u, %v : f32\ntt.reduce.return %w : f32\n})"
                  " : (tensor<16x16xf32, #b>) -> tensor<16xf32, #ttg.slice<{dim = 1, parent = #b}>>")
    before = names(module)
    fetch_ahead(module)
    assert names(module) == before


@pytest.mark.parametrize("function", [
    "%y = math.rsqrt %d : {held}",
    '%y = tt.extern_elementwise %d {{libname = "", libpath = "", pure = true, symbol = "__nv_tanhf"}} '
    ": ({held}) -> {held}",
])
def test_arithmetic_of_any_kind_is_no_hindrance(function: str) -> None:
    module = loop(function.format(held=HELD))
    fetch_ahead(module)
    assert len(the_loop(module).results) == 3


@pytest.mark.parametrize("hindrance", [
    '%y = tt.extern_elementwise %d {{libname = "", libpath = "", pure = false, symbol = "__nv_tanhf"}} '
    ": ({held}) -> {held}",
    "%y = tt.load %p {{isVolatile = true}} : tensor<16x16x!tt.ptr<f32>, #b>",
])
def test_what_may_have_an_effect_is_one(hindrance: str) -> None:
    module = loop(hindrance.format(held=HELD))
    fetch_ahead(module)
    assert len(the_loop(module).results) == 2
