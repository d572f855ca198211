"""ttg.convert_layout on the device: every pair of layouts moves every element to where it belongs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from triton_spirv.layout import Layout, SharedLayout, span
from triton_spirv.lower.lanes.conversion import find_shuffles
from triton_spirv.lower.lanes.decide import exchange_layout
from ttgir import launched, linear, module

BODY = """
    %range = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32, {one}>
    %from = tt.reshape %range : tensor<{size}xi32, {one}> -> tensor<{shape}xi32, #from>
    %to = tt.reshape %range : tensor<{size}xi32, {one}> -> tensor<{shape}xi32, #to>
    %x = tt.splat %xp : !tt.ptr<{type}> -> tensor<{shape}x!tt.ptr<{type}>, #from>
    %xs = tt.addptr %x, %from : tensor<{shape}x!tt.ptr<{type}>, #from>, tensor<{shape}xi32, #from>
    %value = tt.load %xs : tensor<{shape}x!tt.ptr<{type}>, #from>
    %moved = ttg.convert_layout %value : tensor<{shape}x{type}, #from> -> tensor<{shape}x{type}, #to>
    %o = tt.splat %op : !tt.ptr<{type}> -> tensor<{shape}x!tt.ptr<{type}>, #to>
    %os = tt.addptr %o, %to : tensor<{shape}x!tt.ptr<{type}>, #to>, tensor<{shape}xi32, #to>
    tt.store %os, %moved : tensor<{shape}x!tt.ptr<{type}>, #to>"""

DTYPES = {"f32": np.float32, "i8": np.int8, "i64": np.int64, "f16": np.float16, "i1": np.bool_}


def converted(source: str, target: str, shape: tuple[int, int], type: str = "f32", warps: int = 4,
              lanes: int = 16, **options: int) -> str:
    """Run a conversion of a whole tensor; the listing."""
    size = shape[0] * shape[1]
    whole = (f"#ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [{lanes}], "
             f"warpsPerCTA = [{warps}], order = [0]}}>")
    body = BODY.format(size=size, shape=f"{shape[0]}x{shape[1]}", type=type, one="#one")
    aliases = f"#one = {whole}\n#from = {source}\n#to = {target}"
    text = module(body, f"%xp: !tt.ptr<{type}>, %op: !tt.ptr<{type}>", aliases, warps, lanes)
    values = np.random.default_rng(0).integers(0, 255, size).astype(DTYPES[type])
    out = np.zeros_like(values)
    artifact = launched(text, values, out, lanes=lanes, **options)
    np.testing.assert_array_equal(out, values)
    return artifact.listing


def blocked(per_thread: tuple[int, int], threads: tuple[int, int], warps: tuple[int, int],
            order: tuple[int, int] = (1, 0)) -> str:
    return (f"#ttg.blocked<{{sizePerThread = {list(per_thread)}, threadsPerWarp = {list(threads)}, "
            f"warpsPerCTA = {list(warps)}, order = {list(order)}}}>")


ROWS = blocked((1, 4), (2, 8), (4, 1))


@pytest.mark.parametrize("shape", [(32, 32), (4, 8), (1, 64), (64, 64)])
@pytest.mark.parametrize("target", [
    blocked((4, 1), (8, 2), (1, 4), (0, 1)),
    blocked((1, 1), (1, 16), (4, 1)),
    blocked((2, 2), (4, 4), (2, 2)),
])
def test_blocked(shape: tuple[int, int], target: str) -> None:
    converted(ROWS, target, shape)


@pytest.mark.parametrize("type", DTYPES)
def test_types(type: str) -> None:
    converted(ROWS, blocked((4, 1), (8, 2), (1, 4), (0, 1)), (32, 32), type)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("lanes, warps", [(8, 1), (16, 1), (16, 8), (32, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_any_bits(lanes: int, warps: int, seed: int, mixed: bool) -> None:
    shape = (16, 32) if seed % 2 else (8, 4)
    layouts = linear(shape, lanes, warps, seed, mixed), linear(shape, lanes, warps, seed + 100, mixed)
    converted(*layouts, shape, "f32", warps, lanes)


def test_registers_change_places_without_a_shuffle() -> None:
    rest = "lane = [[0, 4], [0, 8], [0, 16], [1, 0]], warp = [[2, 0], [4, 0]], block = []"
    layouts = [f"#ttg.linear<{{register = {bits}, {rest}}}>"
               for bits in ("[[0, 1], [0, 2], [8, 0]]", "[[8, 0], [0, 2], [0, 1]]")]
    listing = converted(layouts[0], layouts[1], (16, 32))
    assert "Select" not in listing and listing.count("OpGroupNonUniformShuffle") == 0


def test_lanes_of_a_warp_shuffle() -> None:
    listing = converted(ROWS, blocked((2, 1), (1, 16), (4, 1)), (8, 32))
    assert "OpGroupNonUniformShuffle" in listing and "OpControlBarrier" not in listing


def test_warps_exchange_through_shared_memory_with_one_barrier() -> None:
    listing = converted(ROWS, blocked((1, 4), (2, 8), (1, 4)), (32, 128))
    assert listing.count("OpControlBarrier") == 1


def test_a_tensor_larger_than_shared_memory_goes_in_rounds() -> None:
    listing = converted(ROWS, blocked((1, 4), (2, 8), (1, 4)), (32, 128), shared_bytes=5000)
    assert listing.count("OpControlBarrier") == 7, "four rounds of writing and reading"


# --- where elements wait ------------------------------------------------------------------------------------


def rounds(memory: SharedLayout, layout: Layout, bytes: int, lane_bytes: int = 16) -> list[int]:
    """Per access of a sub-group how often the banks must be asked, over how often they must be at best.

    There are 32 banks of 4 bytes; as many lanes as ask for 128 bytes are served at a time.
    """
    places = [span(memory.places, basis) for basis in layout.all_bases]
    low = 0
    while (bytes << low < lane_bytes and 1 << low in places[:len(layout.register)]
           and sum(1 for place in places if place >> low & 1) == 1):
        low += 1
    width = bytes << low
    lanes, at_once = 1 << len(layout.lane), max(1, 128 // width)
    found = []
    for index in layout.register_indices:
        if memory.offset(index) & (1 << low) - 1:
            continue  # a component of a vector
        places = [memory.offset(index ^ span(layout.lane, lane)) * bytes for lane in range(lanes)]
        asked = 0
        for start in range(0, lanes, at_once):
            words = {(place + part) // 4 for place in places[start:start + at_once]
                     for part in range(0, max(4, width), 4)}
            asked += max(sum(1 for word in words if word % 32 == bank) for bank in range(32))
        found.append(asked / -(-lanes // at_once))
    return found


@st.composite
def two_layouts(draw: st.DrawFn) -> tuple[Layout, Layout]:
    """Two layouts of one tensor with the same lanes and warps, index bits dealt out at random."""
    size, lanes, warps = draw(st.integers(4, 12)), draw(st.integers(3, 5)), draw(st.integers(0, 3))
    made = []
    for _ in range(2):
        bits = draw(st.permutations([1 << i for i in range(size)])) + [0] * (lanes + warps)
        made.append(Layout((1 << size,), register=tuple(b for b in bits[lanes + warps:] if b),
                           lane=tuple(bits[:lanes]), warp=tuple(bits[lanes:lanes + warps])))
    return made[0], made[1]


@settings(deadline=None, max_examples=300)
@given(drawn=two_layouts(), bytes=st.sampled_from([1, 2, 4, 8]), most=st.sampled_from([1, 4, 16]))
def test_lanes_do_not_meet_in_banks(drawn: tuple[Layout, Layout], bytes: int, most: int) -> None:
    """Neither while they write nor while they read; without a byte of padding."""
    most = max(1, min(most, 16 // bytes))
    memory = exchange_layout(*drawn, 0, bytes, most)
    size = drawn[0].numel
    assert sorted(memory.offset(i) for i in range(size)) == list(range(size))
    for layout in drawn:
        assert set(rounds(memory, layout, bytes, most * bytes)) == {1}


def test_row_major_memory_would_meet() -> None:
    """What the one above is for: lanes beside each other in a column of 64 floats meet in one bank."""
    column = Layout((64, 64), register=(1, 2, 4, 8, 16, 32), lane=(64, 128, 256, 512), warp=(1024, 2048))
    assert set(rounds(SharedLayout.row_major((64, 64)), column, 4, 4)) == {16}
    assert set(rounds(exchange_layout(column, column, 0, 4, 1), column, 4, 4)) == {1}


TIERS = [
    (Layout((64,), register=(1, 32), lane=(2, 4, 8, 16)), "registers"),
    (Layout((64,), register=(1, 2), lane=(4, 8, 16, 32)), "shuffles"),
    (Layout((64,), register=(1,), lane=(2, 4, 8, 16), warp=(32,)), "memory"),
]


def test_the_cheapest_way_is_taken() -> None:
    """Registers where every lane has its own already, shuffles inside a sub-group, shared memory between
    them."""
    within = Layout((64,), register=(32, 1), lane=(2, 4, 8, 16))
    for source, tier in TIERS[:2]:
        plan = find_shuffles(source, within)
        assert plan is not None and plan.is_static == (tier == "registers")
    across = Layout((64,), register=(32,), lane=(2, 4, 8, 16), warp=(1,))
    assert find_shuffles(TIERS[2][0], across) is None
