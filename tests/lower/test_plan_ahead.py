"""What plans say of memory that is fetched ahead, and of 2D block messages; a wrong record is noticed without
a device."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from lower.plans import changed, plan_of
from triton_spirv import plugin
from triton_spirv.aot import signature
from triton_spirv.facts import lookup
from triton_spirv.facts.slopes import Product
from triton_spirv.lower.intel import block_store
from triton_spirv.lower.plan.accesses import Access, Blocks, Distance, Fetch
from triton_spirv.lower.plan.records import Node, Plan, Region
from triton_spirv.lower.plan.text import plan_text
from triton_spirv.lower.plan.verify import defects
from triton_spirv.target import find_target

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

#: a row by a number that the program looks up
LOOKED_UP = """module {
  tt.func public @kernel(%x: !tt.ptr<f32>, %rows: !tt.ptr<i32>, %y: !tt.ptr<f32>, %n: i32) {
    %id = tt.get_program_id x : i32
    %place = tt.addptr %rows, %id : !tt.ptr<i32>, i32
    %row = tt.load %place : !tt.ptr<i32>
    %start = arith.muli %row, %n : i32
    %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %from = tt.addptr %x, %start : !tt.ptr<f32>, i32
    %froms = tt.splat %from : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
    %p = tt.addptr %froms, %i : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
    %v = tt.load %p : tensor<4096x!tt.ptr<f32>>
    %first = arith.muli %id, %n : i32
    %to = tt.addptr %y, %first : !tt.ptr<f32>, i32
    %tos = tt.splat %to : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
    %q = tt.addptr %tos, %i : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
    %e = math.exp %v : tensor<4096xf32>
    tt.store %q, %e : tensor<4096x!tt.ptr<f32>>
    tt.return
  }
}
"""


@cache
def tutorial_plan(name: str, device: str) -> Plan:
    """The plan of a tutorial's kernel."""
    from isa_cases import CASES, tutorial

    case = next(case for case in CASES if case.name == name)
    function, front = getattr(tutorial(case.file), case.kernel), plugin.front_end()
    types = signature.read(case.arguments, front.parameters(function)[0], {})
    made = front.lower(function, types, find_target(device),
                       {"num_warps": case.warps, "num_stages": case.stages})
    return plan_of(made.ttgir or made.ttir, made.target, **made.options)


@cache
def of(name: str) -> Plan:
    """A plan by the name of a test."""
    return plan_of(LOOKED_UP) if name == "looked up" else tutorial_plan(*name.split("."))


@pytest.mark.parametrize(("name", "lines"), [
    ("softmax.cpu", ["fetch round after next of load", "elements on"]),
    ("looked up", ["fetch next program of load %v, %row * %n elements on"]),
    ("matmul.pvc", ["block, 2 of 32x16 x 2 on a surface that rests, 32 further along 1 in each round, edges "
                    "along 0 and 1, fetched 1 round ahead", "block, 16 of 8x16 on a surface each"]),
    ("attention.pvc", ["transpose on a surface that rests", "block, 2 of 16x16 x 2 on a surface each"]),
])
def test_text(name: str, lines: list[str]) -> None:
    plan = of(name)
    assert defects(plan) == []
    assert all(line in plan_text(plan) for line in lines), plan_text(plan)


def fetches(change: Callable[[Fetch], list[Node]]) -> Callable[[Plan], Plan]:
    return lambda plan: changed(plan, lambda node: change(node) if isinstance(node, Fetch) else [node])


def moved(change: Callable[[Distance], Distance]) -> Callable[[Plan], Plan]:
    return fetches(lambda node: [replace(node, distance=change(node.distance))] if node.distance else [node])


def blocks(change: Callable[[Blocks], Blocks]) -> Callable[[Plan], Plan]:
    def changed_access(node: Node) -> list[Node]:
        if isinstance(node, Access) and node.blocks is not None:
            return [replace(node, blocks=change(node.blocks))]
        return [node]
    return lambda plan: changed(plan, changed_access)


def before_all(plan: Plan) -> Plan:
    """What is fetched is fetched first of all."""
    found: list[Node] = []
    inside = changed(plan, lambda node: found.append(node) or [] if isinstance(node, Fetch) else [node])
    return replace(plan, body=(*found, *inside.body))


def behind_the_loop(plan: Plan) -> Plan:
    """The accesses of a loop's body stand behind it."""
    return changed(plan, lambda node: [*node.arms[0].body] if isinstance(node, Region) else [node])


def no_edge(each: Blocks) -> Blocks:
    return replace(each, edges=each.edges[:1])


def shorter_move(each: Blocks) -> Blocks:
    return replace(each, moves=each.moves and (each.moves[0], 16))


def other_move(each: Blocks) -> Blocks:
    return replace(each, moves=each.moves and (1 - each.moves[0], each.moves[1]))


def without_a_block(each: Blocks) -> Blocks:
    return replace(each, starts=replace(each.starts, register=each.starts.register[1:]))


def one_block_twice(each: Blocks) -> Blocks:
    return replace(each, message=replace(each.message, height=2 * each.message.height))


@pytest.mark.parametrize(("name", "mistake", "says"), [
    ("softmax.cpu", before_all, "its address is not known"),
    ("softmax.cpu", moved(lambda far: replace(far, slope=Product(far.slope, 2))), "pointers move otherwise"),
    ("softmax.cpu", moved(lambda far: replace(far, mover="program")), "its pointers move otherwise"),
    ("softmax.cpu", fetches(lambda node: [replace(node, vectors=replace(node.vectors, run=1))]),
     "in no lines of memory"),
    ("looked up", moved(lambda far: replace(far, mover="round")), "for the next round of no loop"),
    ("looked up", moved(lambda far: replace(far, looked_up=frozenset())), "its pointers move otherwise"),
    ("looked up", before_all, "that is not looked up yet"),
    ("matmul.pvc", blocks(without_a_block), "are not the elements that it asks for"),
    ("matmul.pvc", blocks(one_block_twice), "are not the elements that it asks for"),
    ("matmul.pvc", blocks(no_edge), "have no edge along dimension 1"),
    ("matmul.pvc", blocks(lambda each: replace(each, requires=())), "whose distance nobody is asked for"),
    ("matmul.pvc", blocks(shorter_move), "do not move by 16"),
    ("matmul.pvc", blocks(other_move), "do not move by 32"),
    ("matmul.pvc", behind_the_loop, "are moved by no loop"),
])
def test_wrong_plans(name: str, mistake: Callable[[Plan], Plan], says: str) -> None:
    wrong = mistake(of(name))
    assert any(says in found for found in defects(wrong)), defects(wrong)


def test_a_number_that_the_next_program_may_not_look_up() -> None:
    """A load that a mask guards is not made for the next program."""
    text = LOOKED_UP.replace("%row = tt.load %place :", "%yes = arith.cmpi slt, %id, %n : i32\n"
                             "    %row = tt.load %place, %yes :")
    plan = plan_of(text)
    assert not any(isinstance(node, Fetch) and node.way == "next program" for node in plan.body)
    (row,) = [op.results[0] for op in plan.kernel.walk() if op.results and op.results[0].name == "row"]
    n = plan.kernel.regions[0].entry.arguments[3]
    sure = of("looked up")
    (fetch,) = [node for node in everything(sure) if isinstance(node, Fetch)]
    (load,) = [op for op in plan.kernel.walk() if op.results and op.results[0].name == "v"]
    wrong = replace(fetch, operation=load, distance=Distance(Product(row, n), "program", frozenset({row})))
    assert "its pointers move otherwise" in defects(replace(plan, body=(*plan.body, wrong)))[-1]


def test_a_decision_that_looks_up_what_a_mask_guards(monkeypatch: pytest.MonkeyPatch) -> None:
    text = LOOKED_UP.replace("%row = tt.load %place :", "%yes = arith.cmpi slt, %id, %n : i32\n"
                             "    %row = tt.load %place, %yes :")
    with monkeypatch.context() as wrong:
        wrong.setattr(lookup, "_is_sure", lambda load: True)
        plan = plan_of(text)
    assert any("its pointers move otherwise" in found for found in defects(plan)), defects(plan)


def test_a_decision_that_forgets_a_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as wrong:
        wrong.setattr(block_store, "limits_of", lambda mask, starts, message: ())
        plan = tutorial_plan.__wrapped__("matmul", "pvc")
    assert any("have no edge along dimension" in found for found in defects(plan)), defects(plan)


def everything(plan: Plan) -> list[Node]:
    found: list[Node] = []
    changed(plan, lambda node: found.append(node) or [node])  # type: ignore[func-returns-value]
    return found


def test_records_that_say_nothing() -> None:
    plan = of("looked up")
    fetch = next(node for node in everything(plan) if isinstance(node, Fetch))
    with pytest.raises(ValueError, match="no mover"):
        Distance(1, "wind")
    with pytest.raises(ValueError, match="nothing is fetched"):
        replace(fetch, way="page ahead")
    access = next(node for node in everything(of("matmul.pvc")) if isinstance(node, Access))
    with pytest.raises(ValueError, match="no way"):
        replace(access, blocks=None)
    assert access.blocks is not None
    with pytest.raises(ValueError, match="no surface"):
        replace(access.blocks, surface="round")


def test_where_a_product_is_stored() -> None:
    """Its lines are fetched in the loop, where the address is known there; a wrong record is noticed."""
    source = (Path(__file__).parents[1] / "passes" / "cases" / "early-addresses.mlir").read_text("utf-8")
    plan = plan_of(source.partition("// ---- becomes")[0])
    assert not defects(plan) and plan_text(plan).count("fetch result of store") == 1
    assert "is no result of a product that is computed there" in " ".join(defects(before_all(plan)))
