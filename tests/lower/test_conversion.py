"""Conversions inside sub-groups, carried out in Python: every lane must end with the elements that the target
says."""

from __future__ import annotations

from math import prod
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from triton_spirv.layout import Layout, log2, span
from triton_spirv.lower.lanes.conversion import Shuffles, find_shuffles


def carried_out(plan: Shuffles, source: Layout, target: Layout, warp: int) -> list[list[int]]:
    """The elements in [lane][register] of one warp after the plan, for a tensor whose elements are their
    indices."""
    lanes = range(1 << len(source.lane))
    held = [[source.origin ^ span(source.register, r) ^ span(source.lane, lane) ^ span(source.warp, warp)
             for r in range(source.registers)] for lane in lanes]
    picked = [[row[r ^ span(plan.pick, lane) ^ span(plan.pick_warp, warp)] for r in range(source.registers)]
              for lane, row in enumerate(held)]
    rounds = []
    for q in range(target.registers):
        sent = span(plan.register, q) ^ plan.register_origin
        shift = span(plan.lane_round, q) ^ plan.lane_origin ^ span(plan.lane_warp, warp)
        rounds.append([picked[span(plan.lane, lane) ^ shift][sent] for lane in lanes])
    return [[rounds[r ^ span(plan.turn, lane)][lane] for r in range(target.registers)] for lane in lanes]


def wanted(target: Layout, warp: int) -> list[list[int]]:
    return [[target.origin ^ span(target.register, r) ^ span(target.lane, lane) ^ span(target.warp, warp)
             for r in range(target.registers)] for lane in range(1 << len(target.lane))]


def check(source: Layout, target: Layout) -> Shuffles:
    plan = find_shuffles(source, target)
    assert plan is not None
    for warp in range(1 << len(source.warp)):
        assert carried_out(plan, source, target, warp) == wanted(target, warp)
    return plan


@st.composite
def bases(draw: st.DrawFn, size: int, mixed: bool) -> list[int]:
    """A basis of `size` bits of index: units in some order, or with other units added to them."""
    units = draw(st.permutations([1 << i for i in range(size)]))
    if mixed:
        for i in range(1, size):
            units[i] ^= span(tuple(units[:i]), draw(st.integers(0, (1 << i) - 1)))
    return units


@st.composite
def pair(draw: st.DrawFn) -> tuple[Layout, Layout]:
    """Two layouts of one tensor with the same warps, elements held more than once included."""
    size, lanes, warps = draw(st.integers(0, 7)), draw(st.integers(0, 4)), draw(st.integers(0, 2))
    shape = (1 << size,)
    mixed = draw(st.booleans())
    first = draw(bases(size, mixed))
    by_warp = [first.pop() if first and draw(st.booleans()) else 0 for _ in range(warps)]
    inside = len(first)
    second = [span(tuple(first), index) for index in draw(bases(inside, mixed))]
    layouts = []
    for units in (first, second):
        in_lanes = draw(st.integers(0, min(lanes, inside)))
        lane = units[:in_lanes] + [0] * (lanes - in_lanes)
        lane = draw(st.permutations(lane))
        layouts.append(Layout(shape, register=tuple(units[in_lanes:]), lane=tuple(lane), warp=tuple(by_warp)))
    return layouts[0], layouts[1]


@settings(deadline=None, max_examples=1000)
@given(drawn=pair())
def test_any_two_layouts_with_the_same_warps(drawn: tuple[Layout, Layout]) -> None:
    check(*drawn)


@settings(deadline=None, max_examples=200)
@given(drawn=pair(), data=st.data())
def test_origins(drawn: tuple[Layout, Layout], data: Any) -> None:
    source, target = drawn
    within = Layout(target.shape, register=(*target.register, *target.lane))
    origin = data.draw(st.sampled_from(within.register_indices))
    check(source, Layout(target.shape, (), target.register, (), target.lane, target.warp, origin))


def test_registers_alone() -> None:
    plan = check(Layout((64,), register=(1, 32), lane=(2, 4, 8, 16)),
                 Layout((64,), register=(32, 1), lane=(2, 4, 8, 16)))
    assert plan.is_static and plan.register == (2, 1)
    apart = check(Layout((64,), register=(1, 32), lane=(2, 4, 8, 0), warp=(16,)),
                  Layout((64,), register=(1,), lane=(2, 4, 8, 32), warp=(16,)))
    assert apart.stays and not apart.is_static, "a lane that holds both halves picks one of them"


def test_transposition_is_the_worked_example() -> None:
    plan = check(Layout((2, 2), register=(1,), lane=(2,)), Layout((2, 2), register=(2,), lane=(1,)))
    assert (plan.turn, plan.lane, plan.lane_round, plan.pick, plan.register) == ((1,), (1,), (1,), (1,), (1,))


def test_lanes_alone_need_no_selects() -> None:
    plan = check(Layout((16,), lane=(1, 2, 4, 8)), Layout((16,), lane=(8, 4, 2, 1)))
    assert not any((*plan.pick, *plan.turn)) and not plan.stays


def test_a_broadcast_over_warps_is_read_where_it_is() -> None:
    plan = check(Layout((8,), register=(4,), lane=(1, 2), warp=(0,)), Layout((8,), lane=(1, 2), warp=(4,)))
    assert plan.stays and plan.pick_warp == (1,)


@pytest.mark.parametrize("target", [Layout((64,), register=(32,), lane=(1, 2, 4, 8), warp=(16,)),
                                    Layout((64,), register=(16, 32), lane=(1, 2, 4, 8), warp=(0,))])
def test_warps_that_exchange_have_no_plan(target: Layout) -> None:
    source = Layout((64,), register=(16,), lane=(1, 2, 4, 8), warp=(32,))
    assert prod(source.shape) == 1 << log2(64)
    assert find_shuffles(source, target) is None
