"""Layouts: the worked examples of the module's docstring, and what each method promises."""

from __future__ import annotations

import itertools
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st
from triton_spirv.layout import (
    Elimination,
    Layout,
    SharedLayout,
    bit_by_bit,
    log2,
    row_major,
    span,
    transposed,
)

VECTOR = Layout((4, 32), (1, 2, 4, 8), (16,), (32, 64))
SIMT = Layout((4, 32), (), (1, 16), (), (2, 4, 8, 32), (64,))


def test_worked_example_of_vector_mode() -> None:
    assert row_major((4, 32), 16, 2, 2) == VECTOR
    assert (VECTOR.width, VECTOR.registers, VECTOR.steps) == (16, 2, 4)
    assert VECTOR.unravel(81) == (2, 17)
    register, component = VECTOR.positions[81 ^ 64]
    assert (register, component) == (1, 1)


def test_worked_example_of_simt_mode() -> None:
    assert (SIMT.width, SIMT.registers, SIMT.steps) == (1, 4, 1)
    assert SIMT.is_whole
    everything = {span(SIMT.lane, lane) ^ span(SIMT.warp, warp) ^ index
                  for lane in range(16) for warp in range(2) for index in SIMT.register_indices}
    assert everything == set(range(128))


def test_log2_refuses_what_is_no_power() -> None:
    assert [log2(1), log2(1024)] == [0, 10]
    for n in (0, 3, -2):
        with pytest.raises(ValueError, match="not a power of two"):
            log2(n)


def test_bases_stay_inside() -> None:
    for wrong in ({"register": (128,)}, {"lane": (-1,)}, {"origin": 128}):
        with pytest.raises(ValueError, match="outside"):
            Layout((4, 32), **wrong)
    with pytest.raises(ValueError, match="not a power"):
        Layout((3,))
    with pytest.raises(ValueError, match="origin 3 has bits of the steps"):
        Layout((16,), step=(8, 2), origin=3)


def test_what_holds_elements_once() -> None:
    assert SIMT.holds_once and Layout((2,), lane=(1, 0)).holds_once
    assert not Layout((4,), register=(3,), lane=(1, 2)).holds_once
    assert SIMT.moving == 64 | 32 | 8 | 4 | 2


def test_what_one_lane_holds_alone() -> None:
    assert SIMT.has_one_lane_each() and Layout((4,), register=(3, 3), lane=(1,)).has_one_lane_each()
    assert not Layout((2,), lane=(1, 0)).has_one_lane_each()
    assert not Layout((4,), register=(3,), lane=(1, 2)).has_one_lane_each()
    assert Layout((2, 4), register=(2,), lane=(1, 4)).has_one_lane_each(2)
    assert not Layout((2, 4), register=(2,), lane=(1, 4)).has_one_lane_each(4)


def test_bit_by_bit() -> None:
    """Lanes first, then warps, then registers; coordinates keep their sizes."""
    mixed = Layout((4, 8), register=(3, 5), lane=(1, 9), warp=(17,))
    assert bit_by_bit(mixed) == Layout((4, 8), register=(8, 16), lane=(1, 2), warp=(4,))
    small = Layout((2,), lane=(1, 1), warp=(1,))
    assert bit_by_bit(small) == Layout((2,), lane=(1, 0), warp=(0,))


@pytest.mark.parametrize("shape", [(1,), (2,), (64,), (4, 32), (2, 4, 8), ()])
@pytest.mark.parametrize("limits", [(1 << 30, 1 << 30), (4, 2)])
def test_row_major(shape: tuple[int, ...], limits: tuple[int, int]) -> None:
    layout = row_major(shape, 16, *limits)
    assert layout.width == min(16, prod(shape)) and layout.is_whole and layout.origin == 0
    assert layout.width * layout.registers * layout.steps == prod(shape)
    assert layout.all_bases == tuple(1 << i for i in range(log2(prod(shape))))
    assert layout.registers <= limits[0]
    assert layout.steps == 1 or layout.registers == limits[1]
    assert layout.without_steps().registers == layout.registers * layout.steps


def test_indices_and_positions() -> None:
    layout = Layout((2, 8), (1,), (8, 2), origin=4)
    assert layout.component_indices == (0, 1)
    assert layout.register_indices == (4, 12, 6, 14)
    assert layout.positions[15] == (3, 1) and 0 not in layout.positions
    assert not layout.is_whole
    twice = Layout((2,), (0,), (1,))
    assert twice.positions == {0: (0, 0), 1: (1, 0)}


def test_dimensions() -> None:
    layout = Layout((2, 8, 1, 4))
    assert layout.dim_bits == ((5, 1), (2, 3), (2, 0), (0, 2))
    assert layout.unravel(0b1_101_11) == (1, 5, 0, 3)
    assert [layout.axis_mask(d) for d in range(4)] == [0b100000, 0b11100, 0, 0b11]


@pytest.mark.parametrize("shape", [(4, 8), (2, 4, 8), (8, 1, 2)])
def test_transposed(shape: tuple[int, ...]) -> None:
    for order in itertools.permutations(range(len(shape))):
        result = Layout(tuple(shape[d] for d in order))
        source = Layout(shape)
        for index in range(prod(shape)):
            coordinates = result.unravel(index)
            where = source.unravel(transposed(index, shape, order))
            assert tuple(where[d] for d in order) == coordinates


def test_map_moves_every_coordinate() -> None:
    layout = Layout((4, 4), (1,), (2,), (8,), (4,), (0,), origin=3)
    moved = layout.map((16,), lambda basis: basis ^ basis << 1 & 15)
    assert moved == Layout((16,), (3,), (6,), (8,), (12,), (0,), origin=5)
    assert SIMT.reshaped((128,)) == Layout((128,), (), SIMT.register, (), SIMT.lane, SIMT.warp)


@given(st.lists(st.integers(0, 255), max_size=10), st.integers(0, 255))
def test_elimination(vectors: list[int], wanted: int) -> None:
    space = Elimination(vectors)
    reachable = {span(tuple(vectors), chosen) for chosen in range(1 << len(vectors))}
    found = space.solve(wanted)
    assert (found is not None) == (wanted in reachable)
    if found is not None:
        assert span(tuple(vectors), found) == wanted


def test_shared_layouts_are_bijections() -> None:
    shared = SharedLayout.of_offsets((4, 8), (1, 2, 4, 8 ^ 2, 16 ^ 4), ((8, 1),))
    offsets = [shared.offset(index) for index in range(32)]
    assert len(set(offsets)) == 32 and max(offsets) + 1 == shared.size == 35
    for wrong in ((1, 2), (1, 2, 3, 4, 8)):
        with pytest.raises(ValueError, match="every element"):
            SharedLayout.of_offsets((4, 8), wrong)


def test_in_step_is_more_than_the_same_windows() -> None:
    """Rows that change places come in the same windows, in another order; a shape does not matter."""
    rows = row_major((4, 4, 64), 16, 4, 4)
    turned = rows.map((4, 4, 64), lambda basis: transposed(basis, (4, 4, 64), (1, 0, 2)))
    assert sorted(turned.step) == sorted(rows.step)
    assert (turned.component, turned.register) == (rows.component, rows.register)
    assert not turned.in_step_with(rows)
    assert rows.reshaped((16, 64)).in_step_with(rows)
    assert not rows.without_steps().in_step_with(rows)
