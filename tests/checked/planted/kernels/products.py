"""Matrix products: plain, in groups, of 4-bit weights; attention; a batch of matrices and vectors."""

from __future__ import annotations

import triton
import triton.language as tl
from planting import floats, integers, zeros

BUGS = {}


@triton.jit
def matmul(a, b, c, M, N, K, a_row, b_row, c_row, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    tl.assume(K > 0)
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.max_contiguous(tl.multiple_of(tl.program_id(1) * BN + tl.arange(0, BN), BN), BN)
    k = tl.arange(0, BK)
    left = a + m[:, None] * a_row + k[None, :]
    right = b + k[:, None] * b_row + n[None, :]
    sums = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(left, mask=(m[:, None] < M) & (k[None, :] < K - start), other=0.0)
        y = tl.load(right, mask=(k[:, None] < K - start) & (n[None, :] < N), other=0.0)
        sums = tl.dot(x, y, sums)
        left += BK
        right += BK * b_row
    tl.store(c + m[:, None] * c_row + n[None, :], sums, mask=(m[:, None] < M) & (n[None, :] < N))


def launch_matmul():
    matmul[(2, 2)](floats(20, 24), floats(24, 18), zeros(20, 18), 20, 18, 24, 24, 18, 18, BM=16, BN=16, BK=16)


BUGS["matmul"] = """
other     x = tl.load(          , other=0.0 =>
mask      y = tl.load(          k[:, None] < K - start => k[:, None] <= K - start
unmasked  x = tl.load(          (m[:, None] < M) & (k[None, :] < K - start) => k[None, :] < K - start
wide      tl.store(c            & (n[None, :] < N) =>
stride    right += BK           BK * b_row => BN * BK * b_row         y = tl.load(
before    left = a +            + k[None, :] => + k[None, :] - 1      x = tl.load(
far       tl.store(c            m[:, None] * c_row => m[:, None] * c_row * 33554432
hint      n = tl.max            tl.program_id(1) * BN + => tl.program_id(1) * BN + 8 +
assume    tl.assume(            K > 0 => K > 100
nan       tl.store(c            sums, => sums / (sums - sums),
shift     m = tl.prog           tl.program_id(0) * BM => (tl.program_id(0) << (K + 16))
divide    m = tl.prog           tl.program_id(0) * BM => tl.program_id(0) // (K - 24)
convert   tl.store(c            sums, => (sums * 1e30).to(tl.int32),
"""


@triton.jit
def grouped(a, b, c, starts, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Rows from starts[g] on are multiplied by matrix g."""
    group = tl.program_id(0)
    tl.assume(N <= BN)
    first, last = tl.load(starts + group), tl.load(starts + group + 1)
    k = tl.max_contiguous(tl.arange(0, BK), BK)
    n = tl.arange(0, BN)
    for top in range(first, last, BM):
        m = top + tl.arange(0, BM)
        sums = tl.zeros((BM, BN), tl.float32)
        for start in range(0, K, BK):
            x = tl.load(a + m[:, None] * K + start + k[None, :], mask=m[:, None] < last, other=0.0)
            y = tl.load(b + (group * K + start + k[:, None]) * N + n[None, :], mask=n[None, :] < N, other=0.0)
            sums = tl.dot(x, y, sums)
        tl.store(c + m[:, None] * N + n[None, :], sums, mask=(m[:, None] < last) & (n[None, :] < N))


def launch_grouped():
    grouped[(3,)](floats(23, 32), floats(3, 32, 12), zeros(23, 12), integers([0, 5, 5, 23]), 12, 32,
                  BM=16, BN=16, BK=16)


BUGS["grouped"] = """
index     first, last           group + 1) => group + 2)
mask      x = tl.load(          m[:, None] < last => m[:, None] <= last
unmasked  x = tl.load(          , mask=m[:, None] < last, other=0.0 =>
grid      grouped[(3,)]         (3,) => (4,)                          first, last
stride    y = tl.load(          * N + => * K +
before    x = tl.load(          * K + start => * K - 1 + start
far       y = tl.load(          (group * K + => (group * K * 33554432 +
hint      k = tl.max            tl.arange(0, BK) => tl.arange(0, BK) * 2
assume    tl.assume(            N <= BN => N > BN
nan       tl.store(c            sums, => sums / (sums - sums),
shift     m = top               top + => (top << (K + N)) +
divide    first, last           starts + group), => starts + group // (N - 12)),
convert   tl.store(c            sums, => (sums * 1e30).to(tl.int32),
"""


@triton.jit
def quantised(x, packed, scales, o, N, K, groups, BN: tl.constexpr, BK: tl.constexpr):
    """A vector times 4-bit weights, two in a byte, with a scale for each group of 16."""
    n = tl.program_id(0) * BN + tl.arange(0, BN)
    tl.assume(groups > 0)
    k = tl.max_contiguous(tl.arange(0, BK), BK)
    sums = tl.zeros((BN,), tl.float32)
    for start in range(0, K, BK):
        at = start + k
        v = tl.load(x + at, mask=at < K, other=0.0)
        byte = tl.load(packed + n[:, None] * (K // 2) + at[None, :] // 2, mask=n[:, None] < N, other=0)
        nibble = byte.to(tl.int32) >> ((at[None, :] & 1) * 4)
        weight = ((nibble & 15) - 8).to(tl.float32)
        group = at // (K // groups)
        scale = tl.load(scales + n[:, None] * groups + group[None, :], mask=n[:, None] < N, other=0.0)
        sums += tl.sum(weight * scale * v[None, :], 1)
    tl.store(o + n, sums, mask=n < N)


def launch_quantised():
    quantised[(2,)](floats(64), integers(range(24 * 32), "uint8"), floats(24, 4), zeros(24), 24, 64, 4, BN=16,
                    BK=32)


BUGS["quantised"] = """
other     scale = tl.load(      mask=n[:, None] < N, other=0.0 => mask=group[None, :] < 2
mask      byte = tl.load(       n[:, None] < N => n[:, None] <= N
unmasked  tl.store(o            , mask=n < N =>
beyond    tl.store(o            o + n => o + N + n
stride    byte = tl.load(       (K // 2) => K
before    v = tl.load(          x + at => x + at - 1
far       scale = tl.load(      n[:, None] * groups => n[:, None] * groups * 134217728
hint      k = tl.max            tl.arange(0, BK) => tl.arange(0, BK) // 2
assume    tl.assume(            groups > 0 => groups > 16
nan       tl.store(o            sums, => sums / (sums - sums),
shift     nibble = byte         * 4) => * 64)
divide    group = at            (K // groups) => (K // groups - 16)
convert   weight =              .to(tl.float32) => .to(tl.float32) + (v * 1e30).to(tl.int32)
index     scale = tl.load(      group[None, :], => group[None, :] + 1,
"""


@triton.jit
def attention(q, k, v, o, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    head = tl.program_id(1)
    tl.assume(length > 0)
    d = tl.multiple_of(tl.arange(0, D), D)
    q += head * length * D
    k += head * length * D
    v += head * length * D
    x = tl.load(q + m[:, None] * D + d[None, :], mask=m[:, None] < length, other=0.0)
    most = tl.full((BM,), float("-inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        n = start + tl.arange(0, BN)
        y = tl.load(k + n[:, None] * D + d[None, :], mask=n[:, None] < length, other=0.0)
        z = tl.load(v + n[:, None] * D + d[None, :], mask=n[:, None] < length, other=0.0)
        score = tl.where(n[None, :] < length, tl.dot(x, tl.trans(y)) * scale, float("-inf"))
        higher = tl.maximum(most, tl.max(score, 1))
        p = tl.exp(score - higher[:, None])
        old = tl.exp(most - higher)
        total = total * old + tl.sum(p, 1)
        out = tl.dot(p, z, out * old[:, None])
        most = higher
    place = o + (head * length + m[:, None]) * D + d[None, :]
    tl.store(place, out / total[:, None], mask=m[:, None] < length)


def launch_attention():
    q, k, v = floats(2, 20, 16), floats(2, 20, 16), floats(2, 20, 16)
    attention[(2, 2)](q, k, v, zeros(2, 20, 16), 20, 0.25, BM=16, BN=16, D=16)


BUGS["attention"] = """
other     z = tl.load(          , other=0.0 =>
mask      y = tl.load(          n[:, None] < length => n[:, None] <= length
unmasked  x = tl.load(          , mask=m[:, None] < length, other=0.0 =>
grid      attention[(2          (2, 2) => (2, 3)                      x = tl.load(
stride    place = o             head * length => head * length * 2    tl.store(place
before    z = tl.load(          d[None, :], => d[None, :] - 320 * tl.program_id(1) - 1,
far       y = tl.load(          n[:, None] * D => n[:, None] * D * 33554432
hint      d = tl.multiple       tl.arange(0, D) => tl.arange(0, D) + length
assume    tl.assume(            length > 0 => length > 64
nan       p = tl.exp(           higher[:, None] => higher[:, None] + 200
shift     head = tl.prog        tl.program_id(1) => tl.program_id(1) << (length + 12)
divide    head = tl.prog        tl.program_id(1) => tl.program_id(1) // (length - 20)
convert   tl.store(place        out / => (out * 1e30).to(tl.int32) /
"""
