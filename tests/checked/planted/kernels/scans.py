"""Along rows: cumulative sums, sorting, quantisation by rows, transposition in tiles."""

from __future__ import annotations

import triton
import triton.language as tl
from planting import floats, zeros

BUGS = {}


@triton.jit
def cumulative(x, o, columns, BLOCK: tl.constexpr):
    """A row in blocks; each block begins with the sum of those before."""
    row = tl.program_id(0)
    tl.assume(columns > 0)
    before = 0.0
    for start in range(0, columns, BLOCK):
        i = tl.multiple_of(start, BLOCK) + tl.arange(0, BLOCK)
        inside = i < columns
        v = tl.load(x + row * columns + i, mask=inside, other=0.0)
        tl.store(o + row * columns + i, before + tl.cumsum(v, 0), mask=inside)
        before += tl.sum(v, 0)


def launch_cumulative():
    cumulative[(3,)](floats(3, 40), zeros(3, 40), 40, BLOCK=16)


BUGS["cumulative"] = """
other  v = tl.load(  x + row * columns + i, mask=inside, other=0.0) => x + row * columns + i, mask=i > 0)
mask      inside = i < col      i < columns => i <= columns           v = tl.load(
unmasked  tl.store(o            , mask=inside =>
grid      cumulative[(3         (3,) => (4,)                          v = tl.load(
stride    v = tl.load(          row * columns => row * (columns + 8)
before    tl.store(o            row * columns => (row - 1) * columns
far       v = tl.load(          row * columns => row * columns * 33554432
hint      i = tl.mul            (start, => (start + 4,
assume    tl.assume(            columns > 0 => columns > 40
nan       tl.store(o            before + => (before - before) / (before - before) +
shift     row = tl.program      tl.program_id(0) => tl.program_id(0) << columns
divide    row = tl.program      tl.program_id(0) => tl.program_id(0) // (columns - 40)
convert   tl.store(o            before + => (before * 1e30 + 1e10).to(tl.int32) +
race      tl.store(o            row * columns => row // 2 * columns
"""


@triton.jit
def ordered(x, o, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tl.assume(columns <= BLOCK)
    i = tl.max_contiguous(tl.arange(0, BLOCK), BLOCK)
    inside = i < columns
    v = tl.load(x + row * columns + i, mask=inside, other=float("inf"))
    tl.store(o + row * columns + i, tl.sort(v), mask=inside)


def launch_ordered():
    ordered[(2,)](floats(2, 12), zeros(2, 12), 12, BLOCK=16)


BUGS["ordered"] = """
other     v = tl.load(          , other=float("inf") =>
mask      inside = i < col      i < columns => i <= columns           v = tl.load(
unmasked  tl.store(o            , mask=inside =>
grid      ordered[(2            (2,) => (3,)                          v = tl.load(
stride    v = tl.load(          row * columns => row * BLOCK
before    tl.store(o            row * columns => (row - 1) * columns
far       v = tl.load(          row * columns => row * columns * 268435456
hint      i = tl.max            tl.arange(0, BLOCK) => tl.arange(0, BLOCK) // 2 * 3
assume    tl.assume(            columns <= BLOCK => columns > BLOCK
nan       tl.store(o            tl.sort(v) => tl.sort(v) / (tl.min(v, 0) - tl.min(v, 0))
shift     row = tl.program      tl.program_id(0) => tl.program_id(0) << (columns + 20)
divide    row = tl.program      tl.program_id(0) => tl.program_id(0) // (columns - 12)
convert   tl.store(o            tl.sort(v) => (tl.sort(v) * 1e30).to(tl.int32)
race      tl.store(o            row * columns => row * (columns - 1)
"""


@triton.jit
def by_rows(x, o, scales, columns, BLOCK: tl.constexpr):
    """A row of int8 with the scale that makes its largest number 127."""
    row = tl.program_id(0)
    tl.assume(columns > 0)
    i = tl.multiple_of(tl.arange(0, BLOCK), BLOCK)
    inside = i < columns
    v = tl.load(x + row * columns + i, mask=inside, other=0.0)
    scale = tl.max(tl.abs(v), 0) / 127
    tl.store(scales + row, scale)
    tl.store(o + row * columns + i, (v / scale).to(tl.int8), mask=inside)


def launch_by_rows():
    by_rows[(3,)](floats(3, 24), zeros(3, 24, dtype="int8"), zeros(3), 24, BLOCK=32)


BUGS["by_rows"] = """
other     v = tl.load(          , other=0.0 =>
mask      inside = i < col      i < columns => i <= columns           v = tl.load(
unmasked  v = tl.load(          , mask=inside, other=0.0 =>
grid      by_rows[(3            (3,) => (4,)                          v = tl.load(
stride    tl.store(o            row * columns => row * BLOCK
before    tl.store(scales       scales + row => scales + row - 1
far       v = tl.load(          row * columns => row * columns * 67108864
hint      i = tl.multiple       tl.arange(0, BLOCK) => tl.arange(0, BLOCK) + 1
assume    tl.assume(            columns > 0 => columns > BLOCK
nan       scale = tl.max(       / 127 => / (columns - 24)
shift     row = tl.program      tl.program_id(0) => tl.program_id(0) << (columns + 8)
divide    row = tl.program      tl.program_id(0) => tl.program_id(0) // (columns - 24)
convert   tl.store(o            v / scale => v / scale * 2
race      tl.store(scales       scales + row => scales + row // 2
"""


@triton.jit
def transposed(x, o, rows, columns, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    j = tl.max_contiguous(tl.multiple_of(tl.program_id(1) * SIZE + tl.arange(0, SIZE), SIZE), SIZE)
    tl.assume(rows > 0)
    inside = (i[:, None] < rows) & (j[None, :] < columns)
    v = tl.load(x + i[:, None] * columns + j[None, :], mask=inside)
    tl.store(o + j[:, None] * rows + i[None, :], tl.trans(v), mask=tl.trans(inside))


def launch_transposed():
    transposed[(2, 2)](floats(20, 24), zeros(24, 20), 20, 24, SIZE=16)


BUGS["transposed"] = """
mask      inside =              i[:, None] < rows => i[:, None] <= rows    v = tl.load(
unmasked  tl.store(o            , mask=tl.trans(inside) =>
other     tl.store(o            tl.trans(inside) => tl.trans(i[:, None] < rows)   v = tl.load(
stride    v = tl.load(          i[:, None] * columns => i[:, None] * columns * 2
before    v = tl.load(          j[None, :], => j[None, :] - 1,
swapped   tl.store(o            j[:, None] * rows => j[:, None] * columns
far       tl.store(o            j[:, None] * rows => j[:, None] * rows * 33554432
hint      j = tl.max            tl.program_id(1) * SIZE + => tl.program_id(1) * SIZE + 2 +
assume    tl.assume(            rows > 0 => rows > columns
nan       tl.store(o            tl.trans(v) => tl.trans(v / (v - v))
shift     i = tl.prog           tl.program_id(0) * SIZE => (tl.program_id(0) << (rows + 16))
divide    i = tl.prog           tl.program_id(0) * SIZE => tl.program_id(0) // (rows - 20)
convert   tl.store(o            tl.trans(v) => (tl.trans(v) * 1e30).to(tl.int32)
race      i = tl.prog           tl.program_id(0) * SIZE => tl.program_id(0) // 2 * SIZE     tl.store(o
"""
