"""addresses/transfers.py `starts`: of neighbours that lie in runs, only the first one's address is computed.
Rows and pixels whose places tables tell, read twice; and, for Intel's AVX-512, in a process of its own, which
this file is as a program, what the driver makes of the addresses of all of them.

A small U-Net of torch.compile found it, whose upsampling was wrong by a fourth."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import triton
import triton.language as tl


@triton.jit
def rows(places, shifts, x, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr):
    """Two rows of x for each place, added."""
    i, j = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    inside = i[:, None] < n
    place = tl.load(places + i, i < n, other=0)[:, None]
    shift = tl.load(shifts + i, i < n, other=0)[:, None]
    one = tl.load(x + (place * 40 + j[None, :] * STEP), inside)
    two = tl.load(x + (place * 40 + j[None, :] * STEP + 1000 * shift), inside)
    tl.store(out + i[:, None] * COLUMNS + j[None, :], one + two, inside)


@triton.jit
def pixels(down, across, lower, x, out, n, BLOCK: tl.constexpr, RUN: tl.constexpr):
    """Two pixels of RUN channels for each of 27x21, added."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside, channel = i < n, i & (RUN - 1)
    column = tl.load(across + i // RUN % 21, inside)
    row = tl.load(down + i // (RUN * 21) % 27, inside)
    below = tl.load(lower + i // (RUN * 21) % 27, inside)
    one = tl.load(x + (channel + RUN * column + 10 * RUN * row), inside)
    two = tl.load(x + (channel + RUN * column + 10 * RUN * below), inside)
    tl.store(out + i, one + two, inside)


@triton.jit
def scattered(places, shifts, x, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr, STEP: tl.constexpr):
    """A row of x to two places."""
    i, j = tl.program_id(0) * ROWS + tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    inside = i[:, None] < n
    place = tl.load(places + i, i < n, other=0)[:, None]
    shift = tl.load(shifts + i, i < n, other=0)[:, None]
    value = tl.load(x + i[:, None] * COLUMNS + j[None, :], inside)
    tl.store(out + (place * 40 + j[None, :] * STEP), value, inside)
    tl.store(out + (place * 40 + j[None, :] * STEP + 10000 * shift), value, inside)


@triton.jit
def shared(first, second, x, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Whole registers at places that two loads have in common."""
    i, j = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    inside = i < n
    one, two = tl.load(first + i, inside, other=0), tl.load(second + i, inside, other=0)
    at = 256 * (two * (two & 3)) + j + 11 * (i // 192) + one + 40 * (one * (two & 3))
    value = tl.load(x + at, inside, other=0)
    value += tl.load(x + (at + 256 * one), inside, other=0)
    tl.store(out + i * COLUMNS + j, value, inside)


@triton.jit
def through_pointers(offsets, places, out, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Rows behind a table of pointers."""
    i, j = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    inside = (i < n) & (j < COLUMNS)
    offset = tl.load(offsets + i % 7, i < n, other=0).to(tl.int8).to(tl.int32)
    rows = tl.load(places + i % 7, i < n, other=0).to(out.dtype)
    tl.store(out + i * COLUMNS + j, tl.load(rows + (j + 32 * offset), inside, other=1), inside)


def table(count: int, most: int, dtype: torch.dtype, seed: int) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).permutation(most)[:count]).to(dtype)


def numbers(count: int, dtype: torch.dtype) -> torch.Tensor:
    return (torch.arange(count) * 7 % 101 - 50).to(dtype)


def wrong_rows(columns: int, step: int, index: torch.dtype, dtype: torch.dtype, n: int = 250) -> int:
    """Elements that differ from torch's."""
    places, shifts = table(n, n, index, 0), table(n, n, index, 1) % 7
    x, out = numbers(20000, dtype), torch.zeros(n, columns, dtype=dtype)
    rows[(triton.cdiv(n, 64),)](places, shifts, x, out, n, 64, columns, step)
    at = places.long()[:, None] * 40 + torch.arange(columns) * step
    return int((out != x[at] + x[at + 1000 * shifts.long()[:, None]]).sum())


def wrong_pixels(run: int, block: int, index: torch.dtype, dtype: torch.dtype) -> int:
    """The same."""
    down, across, lower = table(27, 27, index, 0), table(21, 21, index, 1) % 10, table(27, 27, index, 2)
    n = 3 * 27 * 21 * run - 5
    x, out = numbers(28 * 10 * run, dtype), torch.zeros(n, dtype=dtype)
    pixels[(triton.cdiv(n, block),)](down, across, lower, x, out, n, block, run)
    i = torch.arange(n)
    at = i % run + run * across.long()[i // run % 21]
    made = [x[at + 10 * run * each.long()[i // (run * 21) % 27]] for each in (down, lower)]
    return int((out != made[0] + made[1]).sum())


def wrong_scattered(columns: int, step: int, index: torch.dtype, dtype: torch.dtype, n: int = 250) -> int:
    """The same."""
    places, shifts = table(n, n, index, 0), torch.ones(n, dtype=index)
    x, out = numbers(n * columns, dtype), torch.zeros(20000, dtype=dtype)
    scattered[(triton.cdiv(n, 64),)](places, shifts, x, out, n, 64, columns, step)
    expected = torch.zeros_like(out)
    at = places.long()[:, None] * 40 + torch.arange(columns) * step
    expected[at] = expected[at + 10000] = x.view(n, columns)
    return int((out != expected).sum())


def wrong_shared(rows: int, columns: int, index: torch.dtype) -> int:
    """The same."""
    n = 6 * rows - 1
    one, two = table(n, 60, index, 0), table(n, 50, index, 1) % 40
    x, out = numbers(400000, torch.float32), torch.zeros(n, columns)
    shared[(6,)](one, two, x, out, n, rows, columns)
    i, a, b = torch.arange(n)[:, None], one.long()[:, None], two.long()[:, None]
    at = 256 * (b * (b & 3)) + torch.arange(columns) + 11 * (i // 192) + a + 40 * (a * (b & 3))
    return int((out != x[at] + x[at + 256 * a]).sum())


TYPES = torch.float32, torch.float64, torch.float16, torch.int8, torch.int64


@pytest.mark.parametrize("index", (torch.int64, torch.int32), ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("columns, step", ((2, 1), (4, 1), (8, 1), (8, 3), (16, 1), (32, 1)))
def test_rows(columns: int, step: int, dtype: torch.dtype, index: torch.dtype) -> None:
    assert not wrong_rows(columns, step, index, dtype)
    assert not wrong_scattered(columns, step, index, dtype)


@pytest.mark.parametrize("index", (torch.int64, torch.int32), ids=str)
@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("run, block", ((2, 512), (4, 512), (8, 256), (8, 512), (8, 2048), (16, 512)))
def test_pixels(run: int, block: int, dtype: torch.dtype, index: torch.dtype) -> None:
    assert not wrong_pixels(run, block, index, dtype)


@pytest.mark.parametrize("index", (torch.int64, torch.int32), ids=str)
@pytest.mark.parametrize("rows, columns", ((4, 16), (8, 16), (2, 32), (4, 32), (8, 32), (4, 64)))
def test_places_in_common(rows: int, columns: int, index: torch.dtype) -> None:
    assert not wrong_shared(rows, columns, index)


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("rows, columns", ((16, 8), (2, 32), (8, 32)))
def test_tables_of_pointers(rows: int, columns: int, dtype: torch.dtype) -> None:
    n, x = 6 * rows - 1, numbers(4000, dtype)
    first = torch.tensor([100 * i for i in range(7)])
    offsets, places = table(7, 7, torch.int64, 0), x.data_ptr() + first * x.element_size()
    out = torch.zeros(n, columns, dtype=dtype)
    through_pointers[(6,)](offsets, places, out, n, rows, columns)
    i = torch.arange(n) % 7
    assert torch.equal(out, x[first[i][:, None] + torch.arange(columns) + 32 * offsets[i][:, None]])


@pytest.mark.parametrize("way", ("as it is", "all", "known"))
def test_for_intels_avx512(way: str, tmp_path: Path) -> None:
    """All addresses of runs, and registers of which the driver knows what they are made of. Once this fails
    for both, it has the right ones, and the quirk may go."""
    if "avx512f" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX-512")
    variables = {**os.environ, "CL_CONFIG_CPU_TARGET_ARCH": "skx", "TRITON_SPIRV_BACKEND": "1",
                 "TRITON_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, __file__, way], env=variables, capture_output=True, text=True,
                          check=True)
    by_runs, in_common = (int(line) > 0 for line in done.stdout.split())
    assert (by_runs, in_common) == (way == "all", way == "known"), done.stdout


if __name__ == "__main__":
    from triton_spirv.lower.addresses import access, transfers
    from triton_spirv.lower.values import fragment

    if sys.argv[1] == "all":
        access.starts = transfers.starts = lambda layout, run: layout
    if sys.argv[1] == "known":
        fragment.hidden = lambda b, source: source
    print(wrong_rows(8, 1, torch.int64, torch.float32), wrong_shared(4, 32, torch.int64))
