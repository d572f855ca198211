"""lower/products/tile_fetches.py: what a tile of a product fetches between the parts of its loop over K, as
the machine of tests/machine sees it; and that no result depends on it."""

from __future__ import annotations

import pytest
from lower.plans import plan_of
from lower.test_dot_in_memory import multiplied
from triton_spirv.lower.plan.text import plan_text
from triton_spirv.runtime.processor import processor
from triton_spirv.target import cpu_target, find_target

#: The device's processor.
HOST = cpu_target(processor().architecture, processor().features)

#: The machine, also for a processor with AVX-512 where the device's has none, and the device.
AVX512 = "machine-vector-avx512"
SPIRV_MODES = ("machine-vector", *(() if HOST.fetches_in_parts else (AVX512,)), "vector")

#: M, N, K of a product, and of its blocks: three rounds of one program, tiles of 4 rows and 64 columns.
SIZES, BLOCK, ROUNDS, TILES = (64, 128, 192), (64, 128, 64), 3, 16 * 2
LINE, WORD = 64, 4


@pytest.fixture(autouse=True)
def _one_by_one(monkeypatch):
    """Rounds that are multiplied together are another test's."""
    monkeypatch.setenv("TRITON_SPIRV_OPTIMISE", "-joined-rounds")


def in_parts(mode: str) -> bool:
    """Does the processor of a mode fetch between the parts of a tile? With AVX2 it fetches at once."""
    return mode == AVX512 or HOST.fetches_in_parts


def test_each_line_once(run, mode, fetched):
    """Of what the next round reads, into a further cache, by all tiles together."""
    kernel = multiplied(run, "f32", SIZES, BLOCK)
    assert ("fetches between 4 parts" in kernel.asm["plan"]) == in_parts(mode)
    if mode == "vector":
        return
    lines = fetched["p1", 2]
    of_round = (BLOCK[0] + BLOCK[1]) * BLOCK[2] * WORD // LINE
    assert sum(lines.values()) == ROUNDS * of_round
    # in the last round nothing follows: that is fetched again, or what lies there in the round before
    assert len(lines) == (ROUNDS - 1) * of_round and all(count <= 2 for count in lines.values())


def test_the_tile_below(run, mode, fetched):
    """Its sums and its rows of the left operand, into the nearest cache, where there are parts."""
    multiplied(run, "f32", SIZES, BLOCK)
    if mode == "vector":
        return
    sums, rows = fetched["p0", 3], fetched["p1", 3]
    if not in_parts(mode):
        assert not sums and not rows
        return
    assert sum(sums.values()) == ROUNDS * TILES * 4 * 4  # 4 lines of 4 rows
    assert len({address // LINE for address in sums}) == TILES * 4 * 4
    # rows from the second tile on, and four behind the block, once for each panel of a round
    assert set(rows.values()) == {2} and len(rows) == ROUNDS * SIZES[0] * BLOCK[2] * WORD // LINE


def test_tiles_that_are_left_out_fetch_their_share(run, mode, fetched):
    """Whole panels apart: rows of the other operand are theirs to fetch, too. Processors with tile registers
    fetch nothing beside a left operand that is not all in memory."""
    multiplied(run, "f32", (20, 128, 192), BLOCK)
    if mode == "vector" or (mode != AVX512 and HOST.tile_registers):
        return
    lines = fetched["p1", 2]
    of_right = BLOCK[1] * BLOCK[2] * WORD // LINE
    assert sum(lines.values()) >= ROUNDS * of_right


@pytest.mark.parametrize("sizes", ((20, 128, 192), (61, 130, 190), (70, 90, 65)), ids=str)
@pytest.mark.parametrize("dtype", ("f32", "bf16", "i8"))
def test_results(run, mode, dtype, sizes):
    """Whatever is left out: rows, columns, terms."""
    multiplied(run, dtype, sizes, BLOCK)


def test_processors_with_few_registers_fetch_at_once(run, mode):
    """AVX2: the numbers of parts and places would displace addresses of rows."""
    kernel = multiplied(run, "f32", SIZES, BLOCK)
    plans = [plan_text(plan_of(kernel.asm["ttir"], find_target(f"cpu:x86_64-v{n}"))) for n in (3, 4)]
    assert ["between" in plan for plan in plans] == [False, True]


def test_bytes_that_are_summed_as_floats_fetch_at_once(run, mode):
    """Without an instruction for them there are no parts: nothing would fetch between them."""
    kernel = multiplied(run, "i8", SIZES, BLOCK)
    plan = plan_text(plan_of(kernel.asm["ttir"], find_target("cpu:x86_64-v4")))
    assert "arrays, tiles" in plan and "between" not in plan and "fetch next round" in plan
