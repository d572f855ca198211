"""By indices from memory: a paged cache, routing to experts, a histogram, rows added up, a sparse matrix."""

from __future__ import annotations

import triton
import triton.language as tl
from planting import floats, integers, zeros

BUGS = {}


@triton.jit
def paged(q, pages, table, lengths, o, per_sequence, PAGE: tl.constexpr, D: tl.constexpr):
    """One query for each sequence over keys that lie in pages; keys are values, too."""
    sequence = tl.program_id(0)
    tl.assume(per_sequence > 0)
    d = tl.multiple_of(tl.arange(0, D), D)
    slot = tl.arange(0, PAGE)
    length = tl.load(lengths + sequence)
    x = tl.load(q + sequence * D + d)
    total, out = 0.0, tl.zeros((D,), tl.float32)
    for block in range(0, tl.cdiv(length, PAGE)):
        page = tl.load(table + sequence * per_sequence + block)
        inside = block * PAGE + slot < length
        y = tl.load(pages + (page * PAGE + slot[:, None]) * D + d[None, :], mask=inside[:, None], other=0.0)
        score = tl.where(inside, tl.exp(tl.sum(x[None, :] * y, 1)), 0.0)
        total += tl.sum(score, 0)
        out += tl.sum(score[:, None] * y, 0)
    tl.store(o + sequence * D + d, out / total)


def launch_paged():
    table = integers([[4, 0, 9], [1, 9, 9], [2, 3, 9]])
    paged[(3,)](floats(3, 16), floats(5, 8, 16), table, integers([11, 8, 13]), zeros(3, 16), 3, PAGE=8, D=16)


BUGS["paged"] = """
other     y = tl.load(          , other=0.0 =>
index     y = tl.load(          (page * PAGE => ((page + 1) * PAGE
grid      paged[(3,)]           (3,) => (4,)                          length = tl.load(
stride    y = tl.load(          (page * PAGE => (page * D
before    page = tl.load(       + block => + block - 1
beyond    x = tl.load(          sequence * D => (sequence + 1) * D
far       y = tl.load(          page * PAGE => page * PAGE * 67108864
hint      d = tl.multiple       tl.arange(0, D) => tl.arange(0, D) + 3
assume    tl.assume(            per_sequence > 0 => per_sequence > 3
nan       tl.store(o            total => (total - total)
shift     sequence = tl         tl.program_id(0) => tl.program_id(0) << (per_sequence + 30)
divide    sequence = tl         tl.program_id(0) => tl.program_id(0) // (per_sequence - 3)
convert   tl.store(o            out / => (out * 1e30).to(tl.int32) /
race      sequence = tl         tl.program_id(0) => tl.program_id(0) // 2      tl.store(o
"""


@triton.jit
def route(logits, expert, weight, counts, experts, E: tl.constexpr):
    """The best expert for a token, its weight, and how many tokens each expert has."""
    token = tl.program_id(0)
    tl.assume(experts <= E)
    e = tl.max_contiguous(tl.arange(0, E), E)
    v = tl.load(logits + token * experts + e, mask=e < experts, other=float("-inf"))
    most = tl.max(v, 0)
    best = tl.argmax(v, 0)
    tl.store(expert + token, best)
    tl.store(weight + token, 1 / tl.sum(tl.exp(v - most), 0))
    tl.atomic_add(counts + best, 1)


def launch_route():
    route[(9,)](floats(9, 6), zeros(9, dtype="int32"), zeros(9), zeros(6, dtype="int32"), 6, E=8)


BUGS["route"] = """
other     v = tl.load(          , other=float("-inf") =>
mask      v = tl.load(          e < experts => e <= experts
unmasked  v = tl.load(          , mask=e < experts, other=float("-inf") =>
grid      route[(9,)]           (9,) => (10,)                         v = tl.load(
stride    v = tl.load(          token * experts => token * E
before    tl.store(expert       expert + token => expert + token - 1
index     tl.atomic_add(        counts + best => counts + best + 6
far       v = tl.load(          token * experts => token * experts * 134217728
hint      e = tl.max            tl.arange(0, E) => tl.arange(0, E) // 2
assume    tl.assume(            experts <= E => experts > E
nan       tl.store(weight       v - most => v * 1000
shift     token = tl.prog       tl.program_id(0) => tl.program_id(0) << (experts + 27)
divide    token = tl.prog       tl.program_id(0) => tl.program_id(0) // (experts - 6)
convert   tl.store(weight       1 / => (most * 1e30).to(tl.int32) /
race  tl.atomic_add(  tl.atomic_add(counts + best, 1) => tl.store(counts + best, tl.load(counts + best) + 1)
"""


@triton.jit
def histogram(x, counts, n, low, width, bins, BLOCK: tl.constexpr):
    i = tl.multiple_of(tl.program_id(0) * BLOCK, BLOCK) + tl.arange(0, BLOCK)
    tl.assume(bins > 1)
    inside = i < n
    v = tl.load(x + i, mask=inside, other=0.0)
    bin = ((v - low) / width).to(tl.int32)
    tl.atomic_add(counts + tl.minimum(tl.maximum(bin, 0), bins - 1), 1, mask=inside)


def launch_histogram():
    histogram[(2,)](floats(100), zeros(10, dtype="int32"), 100, -2.0, 0.4, 10, BLOCK=64)


BUGS["histogram"] = """
other     v = tl.load(          , other=0.0) => ) * 1.0 + tl.sum(tl.load(x + i, mask=i < 3), 0)
mask      inside = i < n        i < n => i <= n                       v = tl.load(
unmasked  v = tl.load(          , mask=inside, other=0.0 =>
before    tl.atomic_add(        tl.maximum(bin, 0) => bin - 3
index     tl.atomic_add(        bins - 1) => bins + 20) + 10
stride    v = tl.load(          x + i => x + i * 2
far       v = tl.load(          x + i => x + i * 1073741824
hint      i = tl.multiple       * BLOCK, => * (BLOCK // 2),
assume    tl.assume(            bins > 1 => bins > 16
shift     i = tl.multiple       + tl.arange => + (tl.program_id(0) << n) + tl.arange
divide    i = tl.multiple       * BLOCK, => * BLOCK // (n - 100),
convert   bin =                 / width => / (width * 1e-30)
race      tl.atomic_add(        tl.atomic_add( => tl.store(
"""


@triton.jit
def added_rows(x, rows, o, width, BLOCK: tl.constexpr):
    """Rows of x are added to the rows of o that an index names."""
    row = tl.program_id(0)
    tl.assume(width > 0)
    i = tl.max_contiguous(tl.arange(0, BLOCK), BLOCK)
    inside = i < width
    to = tl.load(rows + row)
    v = tl.load(x + row * width + i, mask=inside)
    tl.atomic_add(o + to * width + i, v, mask=inside)


def launch_added_rows():
    added_rows[(6,)](floats(6, 12), integers([0, 2, 2, 3, 0, 1]), zeros(4, 12), 12, BLOCK=16)


BUGS["added_rows"] = """
mask      inside = i < width    i < width => i <= width               v = tl.load(
unmasked  tl.atomic_add(        , mask=inside =>
other     tl.atomic_add(        v, => tl.sum(v, 0),                   v = tl.load(
grid      added_rows[(6         (6,) => (7,)                          to = tl.load(
index     tl.atomic_add(        to * width => (to + 1) * width
before    tl.atomic_add(        to * width => (to - 1) * width
stride    v = tl.load(          row * width => row * BLOCK
far       v = tl.load(          row * width => row * width * 67108864
hint      i = tl.max            tl.arange(0, BLOCK) => tl.arange(0, BLOCK) * 2
assume    tl.assume(            width > 0 => width > BLOCK
nan       tl.atomic_add(        v, => v / (v - v),
shift     row = tl.program      tl.program_id(0) => tl.program_id(0) << (width + 20)
divide    row = tl.program      tl.program_id(0) => tl.program_id(0) // (width - 12)
convert   tl.atomic_add(        v, => (v * 1e30).to(tl.int32).to(tl.float32),
race      tl.atomic_add(        tl.atomic_add( => tl.store(
"""


@triton.jit
def sparse(starts, columns, values, x, o, rows, BLOCK: tl.constexpr):
    """A sparse matrix, row by row, times a vector."""
    row = tl.program_id(0)
    tl.assume(rows > 0)
    first, last = tl.load(starts + row), tl.load(starts + row + 1)
    lane = tl.multiple_of(tl.arange(0, BLOCK), BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(first, last, BLOCK):
        i = start + lane
        inside = i < last
        column = tl.load(columns + i, mask=inside, other=0)
        total += tl.load(values + i, mask=inside, other=0.0) * tl.load(x + column)
    tl.store(o + row, tl.sum(total, 0))


def launch_sparse():
    columns = integers([0, 5, 9, *range(18), 1, 2, 3, 19])
    sparse[(4,)](integers([0, 3, 3, 21, 25]), columns, floats(25), floats(20), zeros(4), 4, BLOCK=16)


BUGS["sparse"] = """
other     column = tl.load(     , other=0 =>
mask      inside = i < last     i < last => i <= last                 column = tl.load(
unmasked  column = tl.load(     , mask=inside, other=0 =>
grid      sparse[(4,)]          (4,) => (5,)                          first, last
index     total +=              x + column => x + column + 1
before    first, last           starts + row), => starts + row - 1),
stride    tl.store(o            o + row => o + row * 2
far       column = tl.load(     columns + i => columns + i * 268435456
hint      lane = tl.mul         tl.arange(0, BLOCK) => tl.arange(0, BLOCK) + 1
assume    tl.assume(            rows > 0 => rows > 4
nan       tl.store(o            tl.sum(total, 0) => tl.sum(total, 0) / (tl.sum(total, 0) - tl.sum(total, 0))
shift     row = tl.program      tl.program_id(0) => tl.program_id(0) << (rows + 29)
divide    row = tl.program      tl.program_id(0) => tl.program_id(0) // (rows - 4)
convert   tl.store(o            tl.sum(total, 0) => (tl.sum(total, 0) * 1e30).to(tl.int32)
race      tl.store(o            o + row => o + row // 2
"""
