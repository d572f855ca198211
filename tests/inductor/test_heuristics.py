"""Which of Inductor's configurations are kept for a CPU, and that kernels with them are right."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from triton_spirv_inductor.choices import pieces, replace
from triton_spirv_inductor.heuristics import configurations, round_of

Script = Callable[..., "subprocess.CompletedProcess[str]"]


def blocks(configs: list[dict[str, int]], hints: dict[str, int], cores: int = 2,
           **facts: Any) -> list[dict[str, int]]:
    made = [SimpleNamespace(kwargs=dict(config), num_warps=warps) for warps, config in enumerate(configs, 1)]
    return [config.kwargs for config in configurations(made, hints, facts, cores)]


ROWS = {"tiling_scores": {"x": 8192, "r0_": 1024}, "num_reduction": 1}
OUTER = [{"XBLOCK": 2, "R0_BLOCK": 2048}, {"XBLOCK": 64, "R0_BLOCK": 64}]


def test_choices_of_torch_are_methods_or_functions() -> None:
    """They were functions until 2.13, and are methods in 2.14."""
    class Functions:

        @staticmethod
        def rows(device: str, numel: int) -> int:
            return numel

    class Methods:

        factor = 3

        def rows(self, device: str, numel: int) -> int:
            return self.factor * numel

    def rows(right: Callable[..., int], device: str, numel: int) -> int:
        return 1 if device == "cpu" else right(device, numel)

    for owner, other in (Functions, 7), (Methods, 21):
        replace(owner, rows)
        assert owner().rows("cpu", 7) == 1 and owner().rows("cuda", numel=7) == other


def test_warps_make_no_difference() -> None:
    assert blocks([{"XBLOCK": 1}, {"XBLOCK": 1}, {"XBLOCK": 8}], {"x": 8, "r0_": 64}, num_reduction=1,
                  max_autotune=True) == [{"XBLOCK": 1}, {"XBLOCK": 8}]


def test_elementwise_kernels_have_one() -> None:
    assert blocks([{"XBLOCK": 1024}, {"XBLOCK": 512}], {"x": 1 << 13}) == [{"XBLOCK": 1024}]


def test_elementwise_programs_are_long_where_there_are_enough() -> None:
    """No longer than Inductor takes blocks to be where it leaves out masks: it would write behind the end."""
    from torch._inductor.runtime.hints import TRITON_MAX_BLOCK

    def found(numel: int, cores: int) -> int:
        return blocks([{"XBLOCK": 1024}], {"x": numel}, cores)[0]["XBLOCK"]

    assert [found(1 << bits, 2) for bits in (8, 13, 14, 15, 20)] == [1024, 1024, 2048, 4096, 4096]
    assert [found(1 << 16, cores) for cores in (1, 4, 6, 8, 64)] == [4096, 4096, 2048, 2048, 1024]
    assert found(1 << 30, 1) <= TRITON_MAX_BLOCK["X"]
    assert blocks([{"XBLOCK": 64}], {"x": 64}) == [{"XBLOCK": 64}]


def test_tiles_are_a_vector_wide_along_both_axes() -> None:
    """Others were 40 times slower, and were compiled and timed; where an axis is shorter the list stays."""
    tiles = [{"XBLOCK": 32, "YBLOCK": 32}, {"XBLOCK": 16, "YBLOCK": 256}]
    assert blocks([*tiles, {"XBLOCK": 1024, "YBLOCK": 1}, {"XBLOCK": 1, "YBLOCK": 1024}],
                  {"x": 2048, "y": 2048}) == tiles
    short = [{"XBLOCK": 4, "YBLOCK": 256}, {"XBLOCK": 1, "YBLOCK": 1024}]
    assert blocks(short, {"x": 4, "y": 2048}) == short


def test_tiles_are_long_along_the_axis_of_most_bytes() -> None:
    tiles = [{"XBLOCK": 32, "YBLOCK": 32}, {"XBLOCK": 16, "YBLOCK": 256}]

    def found(x: int, y: int, along: str = "x", cores: int = 2) -> tuple[int, int]:
        scores = {"x": 1, "y": 1, along: 3}
        (config,) = blocks(tiles, {"x": x, "y": y}, cores, tiling_scores=scores)
        return config["XBLOCK"], config["YBLOCK"]

    assert found(2048, 2048) == (1024, 16) and found(2048, 2048, "y") == (16, 1024)
    assert found(32, 1 << 20) == (32, 128) and found(1 << 20, 16) == (1024, 16)
    assert found(256, 256) == (256, 16) and found(256, 256, cores=16) == (64, 16)
    assert found(64, 64, cores=64) == (16, 16)
    assert blocks(tiles, {"x": 2048, "y": 2048}, tiling_scores={"x": 7, "y": 7}) == tiles
    assert blocks(tiles, {"x": 8, "y": 2048}, tiling_scores={"x": 9, "y": 7}) == tiles


def test_rows_are_added_to_each_other() -> None:
    """As many columns as a program may have where each core has such a one, else few."""
    assert blocks(OUTER, {"x": 2048, "r0_": 2048}, **ROWS) == [{"XBLOCK": 1024, "R0_BLOCK": 1}]
    assert blocks(OUTER, {"x": 1024, "r0_": 2048}, **ROWS) == [{"XBLOCK": 128, "R0_BLOCK": 1}]
    assert blocks(OUTER, {"x": 1024, "r0_": 2048}, 16, **ROWS) == [{"XBLOCK": 64, "R0_BLOCK": 1}]
    assert blocks(OUTER, {"x": 1024, "r0_": 2048}, **{**ROWS, "num_reduction": 2}) == [
        {"XBLOCK": 64, "R0_BLOCK": 1}]
    assert blocks(OUTER, {"x": 65536, "r0_": 64}, **ROWS) == [{"XBLOCK": 1024, "R0_BLOCK": 1}]
    assert blocks(OUTER, {"x": 128, "r0_": 4096}, **ROWS) == [{"XBLOCK": 64, "R0_BLOCK": 1}]
    assert blocks(OUTER, {"x": 16, "r0_": 4096}, **ROWS) == [{"XBLOCK": 16, "R0_BLOCK": 1}]


def test_rows_have_an_axis_of_their_own() -> None:
    """Columns of planes that are kept, for several cores, and several planes where they are small; rows of
    planes that are reduced."""
    kept = [{"XBLOCK": 8, "YBLOCK": 8, "R0_BLOCK": 64}]

    def found(y: int, x: int, reduced: int, cores: int = 2) -> tuple[int, int, int]:
        (config,) = blocks(kept * 2, {"y": y, "x": x, "r0_": reduced}, cores, num_reduction=1)
        return config["YBLOCK"], config["XBLOCK"], config["R0_BLOCK"]

    assert found(32, 512, 128) == (1, 128, 1) and found(4, 4096, 512) == (1, 1024, 1)
    assert found(4, 512, 128, cores=1) == (1, 128, 1) and found(4, 512, 128, cores=16) == (1, 64, 1)
    assert found(2048, 32, 4) == (8, 32, 1)
    scan = blocks(kept, {"y": 8, "x": 4, "r0_": 8}, num_reduction=0)
    assert scan == blocks(kept, {"y": 8, "x": 4, "r0_": 8}, num_reduction=1)
    # 8192 rows of 32 cannot have more sums side by side
    for planes, row, block in (64, 64, 64), (64, 32, 32), (64, 2048, 64), (64, 65536, 1024), (8192, 32, 32):
        sizes = {"x": 512, "r0_": planes, "r1_": row}
        assert blocks([{"XBLOCK": 8, "R0_BLOCK": 8, "R1_BLOCK": 8}], sizes
                      ) == [{"XBLOCK": 1, "R0_BLOCK": 1, "R1_BLOCK": block}]


def test_rounds_of_rows_that_are_just_longer_than_a_power_of_two() -> None:
    assert [round_of(length, 2048) for length in (1025, 1030, 1300, 1536, 1800, 2048)] == [
        256, 256, 512, 2048, 2048, 2048]
    assert [round_of(length, 128) for length in (65, 100)] == [128, 128]
    assert blocks([{"XBLOCK": 2, "R0_BLOCK": 2048}], {"x": 1024, "r0_": 2048}, num_reduction=1, reduced=1030
                  ) == [{"XBLOCK": 1, "R0_BLOCK": 256}]
    assert blocks([{"XBLOCK": 2, "R0_BLOCK": 2048}], {"x": 1024, "r0_": 2048}, num_reduction=1, reduced=1030,
                  only_reduces=True) == [{"XBLOCK": 2, "R0_BLOCK": 2048}]


def test_rows_of_unknown_length_take_one_round_where_they_are_short() -> None:
    """Several short ones in a program; Inductor's loop where a row is long."""
    along = {"tiling_scores": {"x": 64, "r0_": 8192}, "num_reduction": 1}
    for hints, expected in (({"x": 4096, "r0_": 128}, {"XBLOCK": 16, "R0_BLOCK": 128}),
                            ({"x": 4096, "r0_": 256}, {"XBLOCK": 4, "R0_BLOCK": 256}),
                            ({"x": 2, "r0_": 128}, {"XBLOCK": 2, "R0_BLOCK": 128}),
                            ({"x": 4096, "r0_": 1024}, {"XBLOCK": 1, "R0_BLOCK": 1024}),
                            ({"x": 256, "r0_": 4096}, {"XBLOCK": 1, "R0_BLOCK": 4096}),
                            ({"x": 64, "r0_": 32768}, {"XBLOCK": 2, "R0_BLOCK": 2048})):
        assert blocks([{"XBLOCK": 2, "R0_BLOCK": 2048}], hints, **along) == [expected], hints


def test_rows_in_turn() -> None:
    """Columns of a program that goes through all rows: fewer where cores are many; one row at a time."""
    listed = [{"XBLOCK": 32, "YBLOCK": 32}, {"XBLOCK": 64, "YBLOCK": 16}]
    for columns, cores, block in (128, 1, 128), (128, 2, 128), (128, 16, 16), (4096, 2, 1024), (16, 64, 16):
        for searched in False, True:
            assert blocks(listed, {"x": columns, "y": 16384}, cores, rows_in_turn=True, max_autotune=searched
                          ) == [{"XBLOCK": block, "YBLOCK": 1}]


def test_blocks_are_powers_of_2_whatever_the_number_of_cores() -> None:
    found = [blocks(OUTER, {"x": 4096, "r0_": 1024}, cores, **ROWS)[0]["XBLOCK"] for cores in range(1, 17)]
    assert found == [1024] * 4 + [128] * 12


def test_columns_are_cut_for_cores_and_for_accuracy() -> None:
    assert [pieces(3136, 32, cores) for cores in (1, 2, 16)] == [1, 1, 1]
    assert [pieces(8000, 64, cores) for cores in (1, 2, 16)] == [2, 4, 7]
    assert [pieces(4000, 2048, cores) for cores in (1, 2, 16)] == [1, 1, 1]
    assert [pieces(100000, 2, cores) for cores in (1, 2, 16)] == [25, 25, 25]


def test_programs_keep_a_row_or_several_short_ones() -> None:
    """One configuration whatever Inductor lists; never more rows than there are."""
    for columns, rows in (16, 64), (256, 4), (1024, 1), (32768, 1):
        for listed in [{"XBLOCK": 8}], [{"XBLOCK": 1}, {"XBLOCK": 8}]:
            assert blocks(listed, {"x": 4096, "r0_": columns}, num_reduction=1) == [{"XBLOCK": rows}]
    assert blocks([{"XBLOCK": 8}], {"x": 2, "r0_": 16}, num_reduction=1) == [{"XBLOCK": 2}]


def test_other_lists_stay() -> None:
    """Reductions along memory, or of which nothing is known; and what a user wants to be searched."""
    for facts in ({"tiling_scores": {"x": 0, "r0_": 64}}, {"tiling_scores": {"x": 2, "r0_": 1}}, {}):
        assert blocks(OUTER, {"x": 64, "r0_": 4096}, num_reduction=1, **facts) == OUTER
    assert blocks(OUTER, {"x": 64, "r0_": 4096}, max_autotune=True, **ROWS) == OUTER


def test_values(script: Script) -> None:
    """Reductions over rows with other numbers of rows and columns than powers of 2, and NaN among them."""
    done = script("""
import torch, triton_spirv
triton_spirv.inductor.enable()
from counting import blocks as used, count
count()
torch.manual_seed(0)

@torch.compile(dynamic=False)
def over_rows(x):
    return x.sum(0), x.var(0), x.argmax(0), torch.softmax(x, 0).amax(0)

for rows, columns in ((1500, 70), (1100, 2049), (2000, 3), (50001, 20)):
    x = torch.randn(rows, columns)
    x[rows // 2, 1] = float("nan")
    expected = x.sum(0), x.var(0), x.argmax(0), torch.softmax(x, 0).amax(0)
    # sums of 2000 terms in another order: a few units of the last place of their largest partial sum
    torch.testing.assert_close(over_rows(x), expected, equal_nan=True, rtol=1e-4, atol=1e-4)
assert any(config.get("R0_BLOCK") == 1 and config["XBLOCK"] >= 64 for config in used), used

# the rounding of one long sum would add up to 2e-4
long = torch.full((40000, 3), 0.1)
total = torch.compile(lambda x: x.sum(0), dynamic=False)(long)
torch.testing.assert_close(total, long.double().sum(0).float(), rtol=5e-5, atol=0)
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.takes_turns(2, 0)
def test_long_rows(script: Script) -> None:
    """Rows longer than a GPU keeps are kept, but for those whose places are asked for, and rows that are too
    long; NaN among them."""
    done = script("""
import torch, triton_spirv
from counting import count, launched as used
count()
torch.manual_seed(0)

def norms(x):
    return torch.softmax(x, -1), x.var(-1), torch.logsumexp(x, -1), x.sum(-1)

def places(x):
    return x.argmax(-1)

def down(x):
    return torch.softmax(x, 0)

def running(x):
    return x.cumsum(-1)

def sorted_rows(x):
    return x.sort(-1).values + x.sum(-1, keepdim=True)

def is_kept(function, *shape):
    used.clear()
    torch._dynamo.reset()
    x = torch.randn(shape)
    x[1, shape[1] // 2] = float("nan")
    compiled = torch.compile(function, backend="triton-spirv", dynamic=False)
    # sums of some thousand terms in another order
    torch.testing.assert_close(compiled(x), function(x), equal_nan=True, rtol=1e-4, atol=1e-4)
    assert used
    return any(name.startswith("triton_per") for name in used)

assert is_kept(norms, 5, 1030)
assert is_kept(norms, 3, 20000)
assert not is_kept(norms, 6, 40000)
assert not is_kept(places, 5, 4000)
is_kept(down, 2000, 70)  # in parts, each of them kept
assert not is_kept(running, 6, 4000)
is_kept(sorted_rows, 6, 300), is_kept(sorted_rows, 6, 3000)  # whatever Inductor chooses
""")
    assert done.returncode == 0, done.stderr
