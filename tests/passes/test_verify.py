"""passes/verify.py: what a pass may break is found behind it, by its name, without a device."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from triton_spirv.errors import InternalError
from triton_spirv.ir import IntegerType, Module, Operation, parse
from triton_spirv.passes.verify import read_back, verify

TEXT = """
module {
  tt.func public @kernel(%p: !tt.ptr<f32>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %at = tt.addptr %base, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %zero = arith.constant dense<0.0> : tensor<16xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%s = %zero) -> (tensor<16xf32>) : i32 {
      %x = tt.load %at : tensor<16x!tt.ptr<f32>>
      %t = arith.addf %s, %x : tensor<16xf32>
      scf.yield %t : tensor<16xf32>
    }
    %test = arith.cmpi slt, %n, %c1 : i32
    %y = scf.if %test -> (tensor<16xf32>) {
      scf.yield %sum : tensor<16xf32>
    } else {
      %d = arith.mulf %sum, %sum : tensor<16xf32>
      scf.yield %d : tensor<16xf32>
    }
    tt.store %at, %y : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
"""
Defect = Callable[[Module], object]
DEFECTS: dict[str, tuple[str, Defect]] = {}


def planted(says: str) -> Callable[[Defect], Defect]:
    def add(defect: Defect) -> Defect:
        DEFECTS[defect.__name__] = says, defect
        return defect
    return add


def the(module: Module, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


@planted("does not know of this use")
def a_use_is_forgotten(module: Module) -> None:
    add = the(module, "arith.addf")
    add.operands[1].uses.clear()


@planted("is said to be operand 1 of arith.addf, and is not")
def a_use_stays_behind(module: Module) -> None:
    add = the(module, "arith.addf")
    add.operands[1] = add.operands[0]
    add.operands[0].uses.append((add, 1))


@planted("stands in no block")
def a_user_is_taken_out(module: Module) -> None:
    add = the(module, "arith.addf")
    assert add.parent is not None
    add.parent.operations.remove(add)
    add.parent = None


@planted("is not computed on every way to here")
def an_operation_stands_too_late(module: Module) -> None:
    load = the(module, "tt.load")
    assert load.parent is not None
    load.parent.operations.remove(load)
    load.parent.operations.insert(1, load)


@planted("is not computed on every way to here")
def a_value_leaves_its_branch(module: Module) -> None:
    the(module, "tt.store").set_operand(1, the(module, "arith.mulf").result)


@planted("is used by arith.mulf, which stands in no block")
def an_operation_does_not_know_its_block(module: Module) -> None:
    the(module, "arith.mulf").parent = module.entry.regions[0].entry


@planted("a block ends with one terminator, and has no other")
def something_stands_behind_the_end(module: Module) -> None:
    add = the(module, "arith.addf")
    assert add.parent is not None
    add.parent.append(Operation("arith.constant", [], {"value": 1}, [IntegerType(32)], ["c"]))


@planted("before the first round: zero of type .* becomes s of type")
def a_loop_begins_with_another_type(module: Module) -> None:
    the(module, "scf.for").regions[0].entry.arguments[1].type = IntegerType(32)


@planted("behind the last round: t of type .* becomes sum of type")
def a_loop_ends_with_another_type(module: Module) -> None:
    the(module, "scf.for").results[0].type = IntegerType(32)


@planted("out of a branch: sum of type .* becomes y of type")
def a_branch_gives_another_type(module: Module) -> None:
    the(module, "scf.if").results[0].type = IntegerType(32)


@planted("from round to round: 0 values for 1")
def a_round_hands_nothing_on(module: Module) -> None:
    end = the(module, "scf.for").regions[0].entry.terminator
    end.operands[0].uses.remove((end, 0))
    end.operands.clear()
    end.segments = (0,)


@planted("and nothing says which is which")
def operands_without_segments(module: Module) -> None:
    the(module, "tt.store").segments = None


@planted("said to be")
def segments_that_do_not_add_up(module: Module) -> None:
    the(module, "tt.store").segments = (1, 1, 1)


@planted("result 0 belongs elsewhere")
def a_result_of_another_operation(module: Module) -> None:
    the(module, "arith.addf").results[0] = the(module, "arith.mulf").results[0]


@planted("argument .* of its block belongs elsewhere")
def an_argument_out_of_order(module: Module) -> None:
    the(module, "scf.for").regions[0].entry.arguments[1].index = 0


@planted("its region belongs elsewhere")
def a_region_of_another_operation(module: Module) -> None:
    the(module, "scf.for").regions[0].parent = the(module, "scf.if")


@planted("no line in the table of dialects")
def an_unknown_operation(module: Module) -> None:
    the(module, "arith.mulf").name = "ts.unheard_of"


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_found_and_named(name: str) -> None:
    says, plant = DEFECTS[name]
    module = parse(TEXT)
    verify(module, "reading")
    plant(module)
    with pytest.raises(InternalError, match=f"after pass X: .*{says}"):
        verify(module, "pass X")


def test_a_decision_as_an_object_cannot_be_read_back() -> None:
    module = parse(TEXT)
    read_back(module, "reading")
    the(module, "tt.load").set_attribute("ts.plan", object())
    with pytest.raises(AssertionError):
        read_back(module, "pass X")


def test_types_that_do_not_fit_are_found_by_the_reader() -> None:
    module = parse(TEXT)
    the(module, "arith.addf").results[0].type = IntegerType(32)
    with pytest.raises(InternalError, match="after pass X: the printed IR cannot be read"):
        read_back(module, "pass X")
