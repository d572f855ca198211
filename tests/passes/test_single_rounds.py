"""passes/single_rounds.py: which kernels get a copy without loops that run once, and when."""

from __future__ import annotations

import pytest
from triton_spirv.ir import Module, Operation, parse
from triton_spirv.passes.single_rounds import without_single_rounds

ROW = "tensor<1024xf32>"


def kernel(elements: str = ROW, upper: str = "%n", step: str = "%c1024", order: str = "", inside: str = "",
           behind: str = "") -> Module:
    """A sum over blocks of a row; `inside` stands in its loop, `behind` after it."""
    return parse(f"""
module {{
  tt.func public @kernel(%x: !tt.ptr<i32>, %n: i32, %m: i32) {{
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c1024 = arith.constant 1024 : i32
    %more = arith.addi %n, %c1 : i32
    %loaded = tt.load %x : !tt.ptr<i32>
    %zero = arith.constant dense<0.0> : {elements}
    %one = arith.constant dense<1.0> : {elements}
    %square = arith.constant dense<0.0> : tensor<16x16xf32>
    %sum = scf.for {order} %k = %c0 to {upper} step {step} iter_args(%s = %zero) -> ({elements}) : i32 {{
      {inside}
      %t = arith.addf %s, %one : {elements}
      scf.yield %t : {elements}
    }}
    {behind}
    %all = arith.mulf %sum, %sum : {elements}
    tt.return
  }}
}}
""")


def rewritten(module: Module) -> list[Operation]:
    """The operations of the kernel after the rewriting."""
    without_single_rounds(module, 256)
    return module.entry.regions[0].entry.operations


def names(op: Operation, arm: int) -> list[str]:
    return [inner.name for inner in op.regions[arm].entry.operations]


def test_one_arm_has_a_loop_and_the_other_one_round_of_it() -> None:
    operations = rewritten(kernel())
    *before, choice, end = operations
    assert (choice.name, end.name) == ("scf.if", "tt.return")
    assert {op.name for op in before} == {"arith.constant", "arith.cmpi", "arith.subi", "arith.andi"}
    assert [op.attributes["predicate"] for op in before if op.name == "arith.cmpi"] == ["slt", "ule"]
    once, general = names(choice, 0), names(choice, 1)
    assert "scf.for" not in once and general.count("scf.for") == 1
    assert once[-3:] == ["arith.addf", "arith.mulf", "scf.yield"]
    assert general[-3:] == ["scf.for", "arith.mulf", "scf.yield"]
    addition, product = choice.regions[0].entry.operations[-3:-1]
    assert product.operands == [addition.result] * 2
    assert addition.operands[0].defining_op.attributes["value"].splat  # type: ignore[union-attr]


def test_every_value_is_defined_before_it_is_used_and_knows_its_place() -> None:
    module = kernel(inside="""%big = arith.cmpi sgt, %k, %m : i32
      scf.if %big { tt.store %x, %k : !tt.ptr<i32> }""",
                    behind=f"""
    %sum2 = scf.for %k = %c0 to %m step %c1 iter_args(%s = %sum) -> ({ROW}) : i32 {{
      %t = arith.addf %s, %sum : {ROW}
      scf.yield %t : {ROW}
    }}""")
    rewritten(module)
    known = set(module.entry.regions[0].entry.arguments)
    for op in module.entry.walk():
        if op.name == "tt.func":
            continue
        assert op.parent is not None and op in op.parent.operations
        assert known.issuperset(op.operands)
        for index, operand in enumerate(op.operands):
            assert (op, index) in operand.uses
        known.update(op.results)
        for region in op.regions:
            assert region.parent is op
            for block in region.blocks:
                assert block.parent is region
                known.update(block.arguments)


def test_loops_of_the_same_bounds_share_a_test_and_others_add_theirs() -> None:
    def second(upper: str) -> str:
        return f"""%sum2 = scf.for %k = %c0 to {upper} step %c1024 iter_args(%s = %sum) -> ({ROW}) : i32 {{
      scf.yield %s : {ROW}
    }}"""
    for upper, tests in (("%n", 2), ("%m", 4)):
        operations = rewritten(kernel(behind=second(upper)))
        assert [op.name for op in operations].count("arith.cmpi") == tests
        assert "scf.for" not in names(operations[-2], 0)
        assert names(operations[-2], 1).count("scf.for") == 2


def test_bounds_may_be_computed_from_arguments() -> None:
    operations = rewritten(kernel(upper="%more"))
    assert operations[-2].name == "scf.if" and "arith.addi" in [op.name for op in operations]


def test_unsigned_bounds_are_compared_so() -> None:
    operations = rewritten(kernel(order="unsigned"))
    predicates = [op.attributes["predicate"] for op in operations if op.name == "arith.cmpi"]
    assert predicates == ["ult", "ule"]


@pytest.mark.parametrize("changes", (
    {"elements": "tensor<256xf32>"},  # fits into registers
    {"upper": "%loaded"},  # known later
    {"step": "%m"},  # may be anything
    {"inside": "%d = tt.dot %square, %square, %square : tensor<16x16xf32> * tensor<16x16xf32> "
               "-> tensor<16x16xf32>"},
    {"behind": "\n".join(f"%t{i} = arith.addi %n, %n : i32" for i in range(400))},  # would take long
))
def test_left_alone(changes: dict[str, str]) -> None:
    assert all(op.name != "scf.if" for op in rewritten(kernel(**changes)))


SUM = """%total = "tt.reduce"(%sum) <{axis = 0 : i32}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.reduce.return %c : f32
    }) : (tensor<1024xf32>) -> f32
    %square_of_total = arith.mulf %total, %total : f32"""


@pytest.mark.parametrize("start, added, ends", [
    ("%zero", "%one", ["tt.reduce", "arith.constant", "arith.addf", "arith.mulf"]),
    ("%zero", "%product", ["arith.addf", "tt.reduce", "arith.mulf"]),  # one instruction with its neighbour
    ("%nothing", "%one", ["arith.addf", "tt.reduce", "arith.mulf"]),  # -0 + x is x, and a sum may be -0
    ("%one", "%one", ["arith.addf", "tt.reduce", "arith.mulf"]),
])
def test_zeros_are_added_to_sums_and_not_to_elements(start: str, added: str, ends: list[str]) -> None:
    module = parse(f"""
module {{
  tt.func public @kernel(%n: i32) {{
    %c0 = arith.constant 0 : i32
    %c1024 = arith.constant 1024 : i32
    %zero = arith.constant dense<0.000000e+00> : {ROW}
    %nothing = arith.constant dense<-0.000000e+00> : {ROW}
    %one = arith.constant dense<1.0> : {ROW}
    %product = arith.mulf %one, %one : {ROW}
    %sum = scf.for %k = %c0 to %n step %c1024 iter_args(%s = {start}) -> ({ROW}) : i32 {{
      %t = arith.addf %s, {added} : {ROW}
      scf.yield %t : {ROW}
    }}
    {SUM}
    tt.return
  }}
}}
""")
    choice = rewritten(module)[-2]
    assert names(choice, 0)[-len(ends) - 1:-1] == ends
    reduction = next(op for op in choice.regions[0].entry.operations if op.name == "tt.reduce")
    product = choice.regions[0].entry.operations[-2]
    if ends[0] == "tt.reduce":
        assert product.operands[0].defining_op.operands[0] is reduction.results[0]
        assert [user for user, _ in reduction.results[0].uses] == [product.operands[0].defining_op]
    assert (reduction, 0) in reduction.operands[0].uses
