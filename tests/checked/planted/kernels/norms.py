"""Rows: softmax, layer norm forwards and backwards, the norm of a residual, cross entropy."""

from __future__ import annotations

import triton
import triton.language as tl
from planting import floats, integers, zeros

BUGS = {}


@triton.jit
def softmax(x, o, x_row, o_row, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tl.assume(columns > 0)
    i = tl.max_contiguous(tl.arange(0, BLOCK), BLOCK)
    inside = i < columns
    v = tl.load(x + row * x_row + i, mask=inside, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * o_row + i, e / tl.sum(e, 0), mask=inside)


def launch_softmax():
    softmax[(3,)](floats(3, 50), zeros(3, 50), 50, 50, 50, BLOCK=64)


BUGS["softmax"] = """
other     v = tl.load(          , other=float("-inf") =>
mask      inside = i < col      i < columns => i <= columns           v = tl.load(
unmasked  tl.store(o +          , mask=inside =>
grid      softmax[(3,)]         (3,) => (4,)                          v = tl.load(
stride    v = tl.load(          row * x_row => row * BLOCK
before    tl.store(o +          + i, => + i - 1,
far       v = tl.load(          row * x_row => row * x_row * 33554432
hint      i = tl.max_cont       tl.arange(0, BLOCK) => tl.arange(0, BLOCK) // x_row
assume    tl.assume(            columns > 0 => columns > BLOCK
nan       e = tl.exp(           v - tl.max(v, 0) => v * 1000
shift     row = tl.program      tl.program_id(0) => tl.program_id(0) << columns
divide    row = tl.program      tl.program_id(0) => tl.program_id(0) // (columns - 50)
convert   tl.store(o +          e / => (e * 1e30).to(tl.int32) /
"""


@triton.jit
def layer_norm(x, o, w, b, mean, rstd, columns, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    tl.assume(eps > 0)
    total = tl.zeros((BLOCK,), tl.float32)
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        i = tl.multiple_of(start, BLOCK) + tl.arange(0, BLOCK)
        v = tl.load(x + row * columns + i, mask=i < columns, other=0.0)
        total += v
        squares += v * v
    m = tl.sum(total, 0) / columns
    r = tl.rsqrt(tl.sum(squares, 0) / columns - m * m + eps)
    tl.store(mean + row, m)
    tl.store(rstd + row, r)
    for start in range(0, columns, BLOCK):
        i = start + tl.arange(0, BLOCK)
        inside = i < columns
        scale = tl.load(w + i, mask=inside)
        shift = tl.load(b + i, mask=inside)
        v = tl.load(x + row * columns + i, mask=inside, other=0.0) - m
        tl.store(o + row * columns + i, v * r * scale + shift, mask=inside)


def launch_layer_norm():
    x, o, weight, bias = floats(3, 50), zeros(3, 50), floats(50), floats(50)
    layer_norm[(3,)](x, o, weight, bias, zeros(3), zeros(3), 50, 1e-5, BLOCK=16)


BUGS["layer_norm"] = """
other     v = tl.load(x + row * columns + i, mask=i     , other=0.0 =>
mask      inside = i < col      i < columns => i <= columns           scale = tl.load(
unmasked  shift = tl.load(      , mask=inside =>
grid  layer_norm[(3,)]  (3,) => (4,)  v = tl.load(x + row * columns + i, mask=i
stride    tl.store(o +          row * columns => row * (columns + 14)
before    tl.store(mean         mean + row => mean + row - 1
far       tl.store(o +          row * columns => row * columns * 33554432
hint      i = tl.multiple       (start, => (start + 8,
assume    tl.assume(            eps > 0 => eps > 1
nan       r = tl.rsqrt(         + eps => + eps - 1000
shift     row = tl.program      tl.program_id(0) => tl.program_id(0) << columns
divide    row = tl.program      tl.program_id(0) => tl.program_id(0) // (columns - 50)
convert   tl.store(rstd         r) => (r * 1e30).to(tl.int32))
"""


@triton.jit
def layer_norm_backward(dx, dy, dw, x, w, mean, rstd, rows, columns,
                        GROUP: tl.constexpr, BLOCK: tl.constexpr):
    """A group of rows adds up its share of the weights' gradient."""
    group = tl.program_id(0)
    tl.assume(columns <= BLOCK)
    i = tl.max_contiguous(tl.arange(0, BLOCK), BLOCK)
    inside = i < columns
    scale = tl.load(w + i, mask=inside, other=0.0)
    share = tl.zeros((BLOCK,), tl.float32)
    for row in range(group * GROUP, min(group * GROUP + GROUP, rows)):
        v = tl.load(x + row * columns + i, mask=inside, other=0.0)
        g = tl.load(dy + row * columns + i, mask=inside, other=0.0)
        r = tl.load(rstd + row)
        n = tl.where(inside, (v - tl.load(mean + row)) * r, 0.0)
        wg = scale * g
        c = tl.sum(n * wg, 0) / columns
        d = tl.sum(wg, 0) / columns
        tl.store(dx + row * columns + i, (wg - n * c - d) * r, mask=inside)
        share += g * n
    tl.store(dw + group * columns + i, share, mask=inside)


def launch_layer_norm_backward():
    layer_norm_backward[(3,)](zeros(5, 20), floats(5, 20), zeros(3, 20), floats(5, 20), floats(20), floats(5),
                              floats(5), 5, 20, GROUP=2, BLOCK=32)


BUGS["layer_norm_backward"] = """
other     g = tl.load(dy        , other=0.0 =>
mask      inside = i < col      i < columns => i <= columns           scale = tl.load(
unmasked  v = tl.load(x         , mask=inside, other=0.0 =>
grid      layer_norm_backward[  [(3,)] => [(4,)]                      tl.store(dw
bound     for row in range      min(group * GROUP + GROUP, rows) => group * GROUP + GROUP   v = tl.load(x
stride    tl.store(dx           row * columns => row * BLOCK
before    r = tl.load(          rstd + row => rstd + row - 1
far       g = tl.load(dy        row * columns => row * columns * 33554432
hint      i = tl.max_cont       tl.arange(0, BLOCK) => tl.arange(0, BLOCK) // rows
assume    tl.assume(            columns <= BLOCK => columns > BLOCK
nan       c = tl.sum(           / columns => / (r - r)
shift     group = tl.prog       tl.program_id(0) => tl.program_id(0) << (columns + 12)
divide    group = tl.prog       tl.program_id(0) => tl.program_id(0) // (columns - 20)
convert   tl.store(dw           share, => (share * 1e30).to(tl.int32),
"""


@triton.jit
def residual_norm(x, residual, o, w, columns, eps, BLOCK: tl.constexpr):
    """The residual takes x up, and its root mean square norm goes out."""
    row = tl.program_id(0)
    tl.assume(columns > 0)
    i = tl.multiple_of(tl.arange(0, BLOCK), BLOCK)
    inside = i < columns
    at = row * columns + i
    v = tl.load(x + at, mask=inside, other=0.0) + tl.load(residual + at, mask=inside, other=0.0)
    tl.store(residual + at, v, mask=inside)
    mean = tl.sum(v * v, 0) / columns
    scale = tl.load(w + i, mask=inside)
    tl.store(o + at, v * tl.rsqrt(mean + eps) * scale, mask=inside)


def launch_residual_norm():
    residual_norm[(4,)](floats(4, 24), floats(4, 24), zeros(4, 24), floats(24), 24, 1e-6, BLOCK=32)


BUGS["residual_norm"] = """
other     v = tl.load(x         + at, mask=inside, other=0.0) + => + at, mask=inside) +
mask      inside = i < col      i < columns => i <= columns           scale = tl.load(
unmasked  tl.store(residual     , mask=inside =>
grid      residual_norm[(4      (4,) => (5,)                          v = tl.load(x
stride    at = row              row * columns => row * BLOCK          v = tl.load(x
before    at = row              + i => + i - 1                        v = tl.load(x
far       tl.store(o + at       o + at => o + at * 268435456
hint      i = tl.multiple       tl.arange(0, BLOCK) => 16 + tl.arange(0, BLOCK)
assume    tl.assume(            columns > 0 => columns < 0
nan       tl.store(o + at       mean + eps => eps - mean
shift     at = row              row * columns => row * columns >> (columns + 40)
divide    at = row              row * columns => row * columns // (columns - 24)
convert   tl.store(o + at       v * tl => (v * 1e30).to(tl.int32) * tl
"""


@triton.jit
def cross_entropy(logits, targets, loss, row_stride, classes, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    tl.assume(classes > 1)
    i = tl.max_contiguous(tl.arange(0, BLOCK), BLOCK)
    v = tl.load(logits + row * row_stride + i, mask=i < classes, other=float("-inf"))
    target = tl.load(targets + row)
    most = tl.max(v, 0)
    total = tl.log(tl.sum(tl.exp(v - most), 0))
    tl.store(loss + row, total + most - tl.load(logits + row * row_stride + target))


def launch_cross_entropy():
    cross_entropy[(4,)](floats(4, 40), integers([0, 39, 7, 39]), zeros(4), 40, 40, BLOCK=64)


BUGS["cross_entropy"] = """
other     v = tl.load(          , other=float("-inf") =>
mask      v = tl.load(          i < classes => i <= classes
unmasked  v = tl.load(          , mask=i < classes, other=float("-inf") =>
grid      cross_entropy[(4      (4,) => (5,)                          v = tl.load(
index     tl.store(loss         + target) => + target + 1)
stride    v = tl.load(          row * row_stride => row * BLOCK
before    target = tl.load(     targets + row => targets + row - 1
far       v = tl.load(          row * row_stride => row.to(tl.int32) * row_stride * 53687091
hint      i = tl.max_cont       tl.arange(0, BLOCK) => tl.arange(0, BLOCK) // row_stride
assume    tl.assume(            classes > 1 => classes > BLOCK
nan       total = tl.log        tl.exp(v - most) => tl.exp(v - most) * 0
shift     target = tl.load      targets + row => targets + (row >> (classes + 24))
divide    target = tl.load      targets + row => targets + row // (classes - 40)
convert   tl.store(loss         total + most => (total * 1e30).to(tl.int32) + most
"""
