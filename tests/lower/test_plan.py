"""Plans: that of a kernel says what was decided, and a wrong one is noticed without a device."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import FrameType

import pytest
from lower import plans
from lower.plans import changed, plan_of
from property.bugs import BUGS
from property.bugs_of_walks import BUGS as BUGS_OF_WALKS
from property.planting import planted
from triton_spirv import plugin
from triton_spirv.aot import signature
from triton_spirv.compiler import compile
from triton_spirv.errors import InternalError
from triton_spirv.lower.plan.accesses import Access, Fused
from triton_spirv.lower.plan.records import ArrayUse, Node, Plan, Region, Renamed, Turns, Walk
from triton_spirv.lower.plan.text import plan_text
from triton_spirv.lower.plan.verify import defects, verify_plan
from triton_spirv.target import CPU

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

KERNELS = {name: getattr(plans, name)
           for name in ("SOFTMAX", "IN_PLACE", "COPY", "TWO_STORES", "SMALL", "LOOP", "WHILE", "BRANCH")}


@pytest.mark.parametrize("name", KERNELS)
def test_right_plans(name: str) -> None:
    assert defects(plan_of(KERNELS[name])) == []


def test_text_of_softmax() -> None:
    """Three walks, one array, and a load that is made once on every way."""
    assert plan_text(plan_of(plans.SOFTMAX)) == """\
plan of kernel for cpu
walk for reduce %top, keeps %v in array 0
  64 turns
    versions: do all masks hold in this window?
      hot
        load %v: proven, 4 of 16 x f32, runs of 16, alignment 4
        write array 0 (%v)
      cold
        versions: is the mask false in all of this window?
          nothing
            write array 0 (%v)
          some
            load %v: masked, 4 of 16 x f32, runs of 16, alignment 4
            write array 0 (%v)
walk for reduce %sum, keeps %e in array 0, which held %v
  64 turns
    read array 0 (%v)
    write array 0 (%e)
walk for store
  64 turns
    versions: do all masks hold in this window?
      hot
        read array 0 (%e)
        store: proven, 4 of 16 x f32, runs of 16, alignment 4, past the caches in large streams
      cold
        versions: is anything stored?
          some
            read array 0 (%e)
            store: masked, 4 of 16 x f32, runs of 16, alignment 4
"""


def test_documented() -> None:
    """docs/lowering.md shows the plan of tutorial 02 as it is. (What values are called, Triton says.)"""
    from isa_cases import CASES, tutorial

    case = next(case for case in CASES if case.name == "softmax")
    function, front = getattr(tutorial(case.file), case.kernel), plugin.front_end()
    types = signature.read(case.arguments, front.parameters(function)[0], {})
    made = front.lower(function, types, CPU, {"num_warps": case.warps})
    text = compile(made.ttir, CPU, **made.options).plan
    documented = (Path(__file__).parents[2] / "docs/lowering.md").read_text(encoding="utf-8")
    assert re.sub(r"%\w+", "%", text) in re.sub(r"%\w+", "%", documented)


# --- plans with one decision changed ------------------------------------------------------------------------


def is_access(node: Node, kind: str) -> bool:
    return isinstance(node, Access) and node.operation.name == f"tt.{kind}"


def without_store(plan: Plan) -> Plan:
    return changed(plan, lambda node: [] if is_access(node, "store") else [node])


def cold_arm_without_store(plan: Plan) -> Plan:
    return changed(plan, lambda node: [] if is_access(node, "store") and node.way != "proven" else [node])


def stored_twice(plan: Plan) -> Plan:
    return changed(plan, lambda node: [node, node] if is_access(node, "store") else [node])


def volatile_twice(plan: Plan) -> Plan:
    return changed(plan, lambda node: [node, node] if is_access(node, "load")
                   and node.operation.attributes.get("isVolatile") else [node])


def first_store_last(plan: Plan) -> Plan:
    """The first store, with its walk, behind everything."""
    first = next(node for node in plan.body if isinstance(node, Walk) and node.operation is not None
                 and node.operation.name == "tt.store")
    return replace(plan, body=(*(node for node in plan.body if node is not first), first))


def load_behind_store(plan: Plan) -> Plan:
    load, *rest = plan.body
    return replace(plan, body=(*rest, load))


def store_before_its_load(plan: Plan) -> Plan:
    body = [node for node in plan.body if not is_access(node, "load")]
    return replace(plan, body=tuple(body))


def taken_over_too_early(plan: Plan) -> Plan:
    """In each turn that writes a value over another one the old one is read behind the write."""
    def swap(node: Node) -> list[Node]:
        if isinstance(node, Turns) and [type(x) for x in node.body] == [ArrayUse, ArrayUse]:
            return [replace(node, body=node.body[::-1])]
        return [node]

    return changed(plan, swap)


def read_before_it_is_made(plan: Plan) -> Plan:
    """The walk that makes a by-product behind the one that reads it."""
    first, second, *rest = plan.body
    return replace(plan, body=(second, first, *rest))


def by_product_of_one_arm(plan: Plan) -> Plan:
    """The cold arm does not write it."""
    seen: list[Node] = []

    def change(node: Node) -> list[Node]:
        if isinstance(node, ArrayUse) and node.writes:
            seen.append(node)
            return [] if len(seen) == 2 else [node]
        return [node]

    return changed(plan, change)


def reader_after_take_over(plan: Plan) -> Plan:
    """The last walk reads what the second one has overwritten."""
    walks = [node for node in plan.body if isinstance(node, Walk)]
    old = walks[0].keeps[0].content

    def change(node: Node) -> list[Node]:
        return [replace(node, content=old)] if isinstance(node, ArrayUse) and not node.writes else [node]

    last = changed(replace(plan, body=(walks[-1],)), change).body[0]
    return replace(plan, body=tuple(last if node is walks[-1] else node for node in plan.body))


def other_order(plan: Plan) -> Plan:
    """A turn reads other elements of the old value than those that it overwrites."""
    def change(node: Node) -> list[Node]:
        if isinstance(node, ArrayUse) and not node.writes and node.layout is not None and node.layout.step:
            return [replace(node, layout=replace(node.layout, step=node.layout.step[::-1]))]
        return [node]

    return changed(plan, change)


def written_in_other_order(plan: Plan) -> Plan:
    """A turn writes other elements of a by-product than those that it was decided to come to."""
    def change(node: Node) -> list[Node]:
        if isinstance(node, ArrayUse) and node.writes and node.layout is not None:
            return [replace(node, layout=replace(node.layout, step=node.layout.step[::-1]))]
        return [node]

    return changed(plan, change)


def unjustified(plan: Plan) -> Plan:
    return changed(plan, lambda node: [] if isinstance(node, Fused) else [node])


def in_place_elsewhere(plan: Plan) -> Plan:
    return changed(plan, lambda node: [replace(node, loads=tuple(
        replace(each, proof="same pointers") for each in node.loads))] if isinstance(node, Fused) else [node])


def apart_from_nothing(plan: Plan) -> Plan:
    return changed(plan, lambda node: [replace(node, loads=())] if isinstance(node, Fused) else [node])


def load_in_the_loop(plan: Plan) -> Plan:
    """A load that stands before a loop of the kernel is made in it, too."""
    loads: list[Node] = []

    def change(node: Node) -> list[Node]:
        if is_access(node, "load"):
            loads.append(node)
        if isinstance(node, Region) and node.loops:
            (arm,) = node.arms
            return [replace(node, arms=(replace(arm, body=(loads[0], *arm.body)),))]
        return [node]

    return changed(plan, change)


def last_round_lost(plan: Plan) -> Plan:
    """A loop goes on with the array of its first round."""
    return changed(plan, lambda node: [] if isinstance(node, Renamed) else [node])


def arm_without_store(plan: Plan) -> Plan:
    def change(node: Node) -> list[Node]:
        if isinstance(node, Region):
            then, other = node.arms
            return [replace(node, arms=(then, replace(other, body=())))]
        return [node]

    return changed(plan, change)


@pytest.mark.parametrize(("kernel", "mistake", "says"), [
    ("COPY", without_store, "is not made on every way"),
    ("SOFTMAX", cold_arm_without_store, "is not made on every way"),
    ("COPY", stored_twice, "is made twice"),
    ("SMALL", volatile_twice, "is made twice"),
    ("TWO_STORES", first_store_last, "is made behind"),
    ("SMALL", load_behind_store, "is made behind"),
    ("SMALL", store_before_its_load, "which it needs"),
    ("SOFTMAX", taken_over_too_early, "where it holds"),
    ("SOFTMAX", read_before_it_is_made, "where it holds nothing"),
    ("SOFTMAX", by_product_of_one_arm, "does not on every way"),
    ("SOFTMAX", reader_after_take_over, "is read for %v where it holds %e"),
    ("SOFTMAX", other_order, "another order"),
    ("SOFTMAX", written_in_other_order, "in another order than it was to"),
    ("IN_PLACE", unjustified, "share a walk"),
    ("COPY", in_place_elsewhere, "share a walk"),
    ("COPY", apart_from_nothing, "share a walk"),
    ("LOOP", load_in_the_loop, "outside its block"),
    ("LOOP", last_round_lost, "where it holds"),
    ("BRANCH", arm_without_store, "is not made on every way"),
])
def test_wrong_plans(kernel: str, mistake: Callable[[Plan], Plan], says: str) -> None:
    right = plan_of(KERNELS[kernel])
    wrong = mistake(right)
    assert wrong != right
    assert any(says in found for found in defects(wrong)), defects(wrong)
    with pytest.raises(InternalError, match="the plan of kernel is wrong"):
        verify_plan(wrong)


def lines(action: Callable[[], object]) -> int:
    """How many lines of Python run meanwhile."""
    count = 0

    def trace(frame: FrameType, event: str, argument: object) -> Callable[..., object]:
        nonlocal count
        count += event == "line"
        return trace

    sys.settrace(trace)
    try:
        action()
    finally:
        sys.settrace(None)
    return count


def rows(count: int) -> str:
    """So many rows are divided by their sums, one after the other."""
    return plans.kernel("".join(f"""
    %v{i} = tt.load %px, %m : PTRS
    %e{i} = math.exp %v{i} : TENSOR
{plans.reduce(f"r{i}", f"e{i}", "addf")}
    %s{i} = tt.splat %r{i} : f32 -> TENSOR
    %q{i} = arith.divf %e{i}, %s{i} : TENSOR
    tt.store %py, %q{i}, %m : PTRS
""" for i in range(count)))


def test_verification_of_long_plans() -> None:
    """Four times the plan takes four times as long."""
    short, long = plan_of(rows(8)), plan_of(rows(32))
    assert defects(long) == []
    assert lines(lambda: defects(long)) < 4.4 * lines(lambda: defects(short))


# --- plans of an emitter with a mistake in it ---------------------------------------------------------------


@pytest.mark.parametrize(("mistake", "kernel", "says"), [
    ("loads wait beyond a store to the same place", "TWO_STORES", "share a walk"),
    ("every load of a loop counts as in place", "COPY", "share a walk"),
    ("an array that is needed later is taken over", "TWO_STORES", "share a walk"),
])
def test_wrong_decisions(mistake: str, kernel: str, says: str) -> None:
    (bug,) = [bug for bug in (*BUGS, *BUGS_OF_WALKS) if bug.name == mistake]
    with planted(bug):
        found = defects(plan_of(KERNELS[kernel]))
    assert any(says in each for each in found), found
