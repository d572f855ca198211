"""Element by element: addition, dropout, a gated activation, rotary embeddings, rows of an embedding."""

from __future__ import annotations

import triton
import triton.language as tl
from planting import floats, integers, zeros

BUGS = {}


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    tl.assume(n > 0)
    start = tl.program_id(0) * BLOCK
    i = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, BLOCK), BLOCK), BLOCK)
    inside = i < n
    a = tl.load(x + i, mask=inside)
    b = tl.load(y + i, mask=inside)
    tl.store(o + i, a + b, mask=inside)


def launch_add():
    add[(4,)](floats(200), floats(200), zeros(200), 200, BLOCK=64)


BUGS["add"] = """
mask      inside = i < n        i < n => i <= n                       a = tl.load(
unmasked  tl.store(o + i        , mask=inside =>
before    b = tl.load(          y + i => y + i - 1
stride    a = tl.load(          x + i => x + i * 2
far       b = tl.load(          y + i => y + i * 1073741824
hint      i = tl.max_cont       start + => start + 8 +
assume    tl.assume(            n > 0 => n > 200
nan       tl.store(o + i        a + b => a / (b - b)
shift     start =               * BLOCK => * BLOCK >> n
divide    start =               * BLOCK => * BLOCK // (n - 200)
convert   tl.store(o + i        a + b => (a * 1e30).to(tl.int32) + b
table     a = tl.load(          x + i => x + n + i
"""


@triton.jit
def dropout(x, o, n, p, seed, BLOCK: tl.constexpr):
    tl.assume(p < 1)
    start = tl.program_id(0) * BLOCK
    i = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, BLOCK), BLOCK), BLOCK)
    inside = i < n
    keep = tl.rand(seed, i) > p
    v = tl.load(x + i, mask=inside, other=0.0)
    tl.store(o + i, tl.where(keep, v / (1 - p), 0.0), mask=inside)


def launch_dropout():
    dropout[(2,)](floats(100), zeros(100), 100, 0.25, 7, BLOCK=64)


BUGS["dropout"] = """
mask      inside = i < n        i < n => i <= n                       v = tl.load(
unmasked  v = tl.load(          , mask=inside, other=0.0 =>
before    tl.store(o + i        o + i => o + i - 2
stride    v = tl.load(          x + i => x + i * BLOCK
far       v = tl.load(          x + i => x + i * 1073741824
hint      i = tl.max_cont       start + => start + 4 +
assume    tl.assume(            p < 1 => p > 1
nan       tl.store(o + i        (1 - p) => (p - p)
shift     start =               * BLOCK => << (n + BLOCK)
divide    start =               * BLOCK => * (6400 // (n - 100))
convert   tl.store(o + i        v / (1 - p) => (v * 1e20).to(tl.int32)
"""


@triton.jit
def gated(x, o, columns, x_row, o_row, BLOCK: tl.constexpr):
    """silu of the first half of a row, times the second half."""
    row = tl.program_id(0)
    tl.assume(columns > 0)
    i = tl.multiple_of(tl.program_id(1) * BLOCK, BLOCK) + tl.arange(0, BLOCK)
    inside = i < columns
    gate = tl.load(x + row * x_row + i, mask=inside).to(tl.float32)
    value = tl.load(x + row * x_row + columns + i, mask=inside)
    tl.store(o + row * o_row + i, gate * tl.sigmoid(gate) * value, mask=inside)


def launch_gated():
    gated[(3, 2)](floats(3, 100), zeros(3, 50), 50, 100, 50, BLOCK=32)


BUGS["gated"] = """
mask      inside = i < col      i < columns => i <= columns           value = tl.load(
unmasked  tl.store(o +          , mask=inside =>
before    gate = tl.load(       + i, => + i - 1,
stride    gate = tl.load(       row * x_row => row * x_row * 2
far       gate = tl.load(       row * x_row => row * x_row * 33554432
grid      gated[(3, 2)]         (3, 2) => (4, 2)                      gate = tl.load(
hint      i = tl.multiple       (tl.program_id(1) => (2 + tl.program_id(1)
assume    tl.assume(            columns > 0 => columns > 64
nan       tl.store(o +          tl.sigmoid(gate) => tl.log(gate - gate)
shift     i = tl.multiple       * BLOCK, => * BLOCK >> columns,
divide    row = tl.prog         tl.program_id(0) => tl.program_id(0) // (columns - 50)
convert   tl.store(o +          * value => * (value * 1e30).to(tl.int32)
"""


@triton.jit
def rotary(q, cos, sin, heads, length, half: tl.constexpr):
    """Both halves of each head's vector are rotated, in place."""
    position, head = tl.program_id(0), tl.program_id(1)
    tl.assume(heads >= 1)
    i = tl.max_contiguous(tl.arange(0, half), half)
    c = tl.load(cos + position * half + i)
    s = tl.load(sin + position * half + i)
    first = q + (position * heads + head) * 2 * half + i
    x = tl.load(first)
    y = tl.load(first + half)
    tl.store(first, x * c - y * s)
    tl.store(first + half, x * s + y * c)


def launch_rotary():
    rotary[(5, 2)](floats(5, 2, 32), floats(5, 16), floats(5, 16), 2, 5, half=16)


BUGS["rotary"] = """
grid      rotary[(5, 2)]        (5, 2) => (6, 2)                      c = tl.load(
stride    first = q +           * 2 * half => * 3 * half              x = tl.load(
before    c = tl.load(          + i => + i - 1
far       s = tl.load(          position * half => position * half * 134217728
hint      i = tl.max_cont       tl.arange(0, half) => tl.arange(0, half) // length
assume    tl.assume(            heads >= 1 => heads >= 3
nan       tl.store(first, x     x * c => tl.sqrt(x * c - 1e9)
shift     first = q +           * 2 * half => * (2 * half << (length * 8))
divide    first = q +           * heads => // (heads - 2)
convert   tl.store(first +      x * s => (x * 1e30 * s).to(tl.int32)
beyond    y = tl.load(          first + half => first + 2 * half + length * half
table     s = tl.load(          sin + position => sin + (position + 4)
"""


@triton.jit
def embedding(ids, table, o, width, BLOCK: tl.constexpr):
    token = tl.program_id(0)
    tl.assume(width <= BLOCK)
    i = tl.multiple_of(tl.arange(0, BLOCK), 16)
    inside = i < width
    row = tl.load(ids + token)
    v = tl.load(table + row * width + i, mask=inside, other=0.0)
    tl.store(o + token * width + i, v, mask=inside)


def launch_embedding():
    embedding[(6,)](integers([0, 3, 9, 9, 1, 5]), floats(10, 20), zeros(6, 20), 20, BLOCK=32)


BUGS["embedding"] = """
mask      inside = i < width    i < width => i <= width               v = tl.load(
unmasked  tl.store(o +          , mask=inside =>
grid      embedding[(6,)]       (6,) => (7,)                          row = tl.load(
index     v = tl.load(          row * width => (row + 1) * width
before    tl.store(o +          token * width => (token - 1) * width
stride    v = tl.load(          row * width => row * BLOCK
far       v = tl.load(          row * width => row * width * 33554432
hint      i = tl.multiple       tl.arange(0, BLOCK) => 8 + tl.arange(0, BLOCK)
assume    tl.assume(            width <= BLOCK => width > BLOCK
nan       tl.store(o +          v, => v / (v - v),
shift     v = tl.load(          row * width => (row * width >> (width + 12))
divide    v = tl.load(          row * width => row // (width - 20) * width
convert   tl.store(o +          v, => (v * 1e30).to(tl.int32),
other     tl.store(o +          , mask=inside => + tl.sum(tl.load(table + i, mask=i < 3), 0), mask=inside
"""
