"""Kernels that together print every operation of the front end, and their text after each group of passes.

`texts(name)` gives {stage: text}: "front" as the front end makes it, "ttir" after the TTIR passes
(descriptors kept), "rewritten" with descriptors as pointers, "ttgir" with layouts for a SIMT target,
"pipelined" where the software pipeliner accepts the kernel. Needs the stock triton wheel; no device.
"""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass, field

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

import triton
import triton.language as tl
from triton._C.libtriton import ir, passes
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, make_backend
from triton.language.extra import libdevice


@dataclass
class Entry:
    function: object
    signature: dict[str, str]
    constants: dict[str, object] = field(default_factory=dict)
    by_pointers: bool = True
    options: dict[str, object] = field(default_factory=dict)


KERNELS: dict[str, Entry] = {}


def kernel(signature: str, by_pointers=True, options=None, **constants):
    """Register a @triton.jit function; `signature`: "a=*fp32 n=i32", constexprs by keyword."""

    def register(function):
        types = dict(part.split("=") for part in signature.split())
        types.update(dict.fromkeys(constants, "constexpr"))
        KERNELS[function.__name__] = Entry(triton.jit(function), types, constants, by_pointers, options or {})
        return function

    return register


@triton.jit
def double_add(a, b):
    return a * 2 + b


@triton.jit
def affine_scan(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit(noinline=True)
def early_return(x, y):
    if x > 3:
        return x
    return x * y


@triton.jit(noinline=True)
def pair(x, y):
    return x + y, x * 1.5


@triton.jit
def clip(a, b):
    if a > b:
        return a
    else:
        return b * 2


@triton.jit
def both(a, b):
    return a + b, a - b


@kernel("x=*fp32 y=*fp32 z=*fp32 n=i32", B=128)
def vector_add(x, y, z, n, B: tl.constexpr):
    offsets = tl.program_id(0) * B + tl.arange(0, B)
    mask = offsets < n
    tl.store(z + offsets, tl.load(x + offsets, mask) + tl.load(y + offsets, mask, other=1.5), mask)


@kernel("x=*fp32 y=*fp32 stride=i32 n=i32", B=256)
def softmax(x, y, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, B)
    v = tl.load(x + row * stride + columns, mask=columns < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(y + row * stride + columns, e / tl.sum(e, 0), mask=columns < n)


@kernel("a=*fp16 b=*fp16 c=*fp32 M=i32 N=i32 K=i32 stride=i32", BM=64, BN=64, BK=32)
def matmul(a, b, c, M, N, K, stride, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pid = tl.program_id(0)
    grid_n = tl.cdiv(N, BN)
    rows = ((pid // grid_n) * BM + tl.arange(0, BM)) % M
    columns = ((pid % grid_n) * BN + tl.arange(0, BN)) % N
    ks = tl.arange(0, BK)
    pa = a + rows[:, None] * stride + ks[None, :]
    pb = b + ks[:, None] * stride + columns[None, :]
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        u = tl.load(pa, mask=ks[None, :] < K - k * BK, other=0.0)
        v = tl.load(pb, mask=ks[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(u, v, acc)
        pa += BK
        pb += BK * stride
    tl.store(c + rows[:, None] * N + columns[None, :], acc, mask=(rows[:, None] < M) & (columns[None, :] < N))


@kernel("x=*fp32 y=*i32 z=*fp32", B=64)
def reductions(x, y, z, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i[:, None] * B + i[None, :])
    tl.store(z + i, tl.sum(v, 1))
    tl.store(z + i, tl.reduce(v, 0, double_add))
    m, at = tl.max(v, 1, return_indices=True)
    tl.store(z + i, m)
    tl.store(y + i, at)
    tl.store(y + i, tl.argmin(v, 0, tie_break_left=False))
    tl.store(z, tl.max(v))
    tl.store(y + i, tl.xor_sum(tl.load(y + i[:, None] * B + i[None, :]), 0))
    tl.store(z + i[:, None], tl.sum(v, 1, keep_dims=True))


@kernel("x=*fp32 y=*i32", B=64)
def scans(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    a, b = tl.associative_scan((v, v), 0, affine_scan)
    tl.store(x + i, a + b)
    tl.store(x + i, tl.cumsum(v, 0, reverse=True))
    tl.store(x + i, tl.cumprod(v, 0))
    tl.store(y + i, tl.cumsum(tl.load(y + i)))


@kernel("x=*i32 y=*fp32", B=64)
def sorting(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.sort(tl.load(x + i), descending=True))
    t = tl.topk(tl.load(y + i), 8)
    tl.store(y + tl.arange(0, 8), t)
    tl.store(y + i, tl.flip(tl.load(y + i)))
    tl.store(x + i, tl.histogram(tl.load(x + i), B))
    tl.store(x + i, tl.histogram(tl.load(x + i), B, mask=i < 50))
    tl.store(y + i, tl.gather(tl.load(y + i), tl.load(x + i), 0))


@kernel("x=*i32 f=*fp32 h=*fp16 w=*i64", B=64)
def atomics(x, f, h, w, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_add(x + i, 1)
    tl.atomic_add(f + i, 1.0, mask=i < 20, sem="relaxed")
    tl.atomic_add(h + i, 1.0, scope="cta")
    tl.atomic_max(x + i, i, sem="acquire", scope="sys")
    tl.atomic_min(x + i, i, sem="release")
    tl.atomic_max(x.to(tl.pointer_type(tl.uint32)) + i, i.to(tl.uint32))
    tl.atomic_min(x.to(tl.pointer_type(tl.uint32)) + i, i.to(tl.uint32))
    tl.atomic_max(f + i, 2.0)
    tl.atomic_min(f, -1.0)
    tl.atomic_and(x + i, 3)
    tl.atomic_or(x + i, 3)
    tl.atomic_xor(x + i, 3)
    tl.atomic_xchg(w + i, 5)
    tl.store(x + i, tl.atomic_cas(x + i, i, i + 1))
    while tl.atomic_cas(x, 0, 1, sem="acquire", scope="gpu") == 1:
        pass
    tl.atomic_xchg(x, 0)


@kernel("x=*i32 y=*i64", B=64)
def atomic_accesses(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.atomic_load(x + i)
    w = tl.atomic_load(x + i, mask=i < 10, sem="relaxed", scope="sys")
    tl.atomic_store(x + i, v + w)
    tl.atomic_store(x, 1, sem="release")
    tl.atomic_store(x + i, v, mask=i < 3)
    tl.atomic_poll(x, 1)
    tl.atomic_poll(y, 1, sem="relaxed", scope="sys", timeout_ns=1000)


@kernel("a=*u8 sa=*u8 b=*u8 sb=*u8 h=*bf16 c=*fp32", B=128)
def scaled_dots(a, sa, b, sb, h, c, B: tl.constexpr):
    i = tl.arange(0, B)
    k = tl.arange(0, B)
    s = tl.arange(0, B // 32)
    x = tl.load(a + i[:, None] * B + k[None, :])
    y = tl.load(b + k[:, None] * B + i[None, :])
    scale_x = tl.load(sa + i[:, None] * 4 + s[None, :])
    scale_y = tl.load(sb + i[:, None] * 4 + s[None, :])
    acc = tl.dot_scaled(x, scale_x, "e4m3", y, scale_y, "e5m2")
    acc = tl.dot_scaled(x, scale_x, "e5m2", y, None, "e5m2", acc=acc, fast_math=True)
    half = tl.load(a + i[:, None] * (B // 2) + tl.arange(0, B // 2)[None, :])
    z = tl.load(h + k[:, None] * B + i[None, :])
    acc = tl.dot_scaled(half, scale_x, "e2m1", z, None, "bf16", acc=acc)
    acc = (
        tl.dot_scaled(
            half,
            scale_x,
            "e2m1",
            tl.load(b + i[:, None] * (B // 2) + tl.arange(0, B // 2)[None, :]),
            scale_y,
            "e2m1",
            acc=acc,
            rhs_k_pack=False,
        )
        if B < 128
        else acc
    )
    tl.store(c + i[:, None] * B + i[None, :], acc)


@kernel("a=*fp32 b=*i8 c=*fp32 d=*i32 e=*fp64 h=*fp16", B=32)
def dots(a, b, c, d, e, h, B: tl.constexpr):
    i = tl.arange(0, B)
    at = i[:, None] * B + i[None, :]
    x = tl.load(a + at)
    tl.store(c + at, tl.dot(x, tl.trans(x), input_precision="ieee"))
    tl.store(c + at, tl.dot(x, x, input_precision="tf32x3"))
    tl.store(c + at, tl.dot(x, x, allow_tf32=False))
    y = tl.load(b + at)
    tl.store(d + at, tl.dot(y, y))
    z = tl.load(h + at)
    tl.store(h + at, tl.dot(z, z, out_dtype=tl.float16))
    f = z.to(tl.float8e5)
    tl.store(c + at, tl.dot(f, f, max_num_imprecise_acc=32))
    batch = tl.arange(0, 4)[:, None, None] * B * B + i[None, :, None] * B + i[None, None, :]
    tl.store(c + batch, tl.dot(tl.load(h + batch), tl.load(h + batch)))


@kernel("x=*fp32 y=*i32 n=i32", B=64)
def debugging(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.device_print("plain")
    tl.device_print("hex: ", tl.load(y + i), hex=True)
    tl.device_print('quote " and \\ two', tl.load(x + i), n)
    tl.device_assert(n > 0, 'n must be positive: "quoted"')
    tl.device_assert(i < n, "lane")
    tl.assume(n > 16)
    tl.debug_barrier()
    tl.store(x + i, tl.load(x + i))


@kernel("x=*fp32 y=*i32 n=i32 f=fp32", B=64)
def calls(x, y, n, f, B: tl.constexpr):
    i = tl.arange(0, B)
    a = early_return(n, 3)
    p, q = pair(tl.load(x), f)
    tl.store(y + i, a)
    tl.store(x + i, p + q)


@kernel("x=*fp32 y=*i32 n=i32", B=64)
def loops(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B,), tl.float32)
    count = 0
    for k in range(n, 0, -2):
        acc += k
        if k % 3 == 0:
            acc *= 2
            count += 1
        elif k % 5 == 0:
            acc -= 1.0
    for k in tl.range(0, n, num_stages=3, loop_unroll_factor=2):
        acc += tl.load(x + i + k)
    for k in tl.static_range(3):
        acc += k
    while count < n:
        count = count * 2 + 1
        if count > 100:
            tl.store(y + i, count)
    for k in range(tl.load(y).to(tl.int64)):
        tl.store(x + k, acc.sum())
    for k in tl.range(0, n.to(tl.uint32), warp_specialize=False, flatten=True):
        tl.store(y + k, k)
    tl.store(x + i, acc)


@kernel("x=*fp32 y=*i32 n=i32", B=64)
def branches(x, y, n, B: tl.constexpr):
    i = tl.arange(0, B)
    if n < 0:
        return
    if n > 100:
        tl.store(y, 1)
        if n > 1000:
            return
        v = tl.load(x + i)
    else:
        v = tl.zeros((B,), tl.float32)
    tl.store(x + i, v)


@kernel("x=*fp32 y=*fp32", B=64)
def maths(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = tl.load(y + i)
    v = tl.exp(v) + tl.exp2(v) + tl.log(v) + tl.log2(v) + tl.sin(v) + tl.cos(v) + tl.sqrt(v) + tl.rsqrt(v)
    v = (
        v
        + tl.erf(w)
        + tl.floor(w)
        + tl.ceil(w)
        + tl.abs(w)
        + tl.fma(v, w, v)
        + tl.sqrt_rn(v)
        + tl.div_rn(v, w)
        + tl.fdiv(v, w)
    )
    v = v + tl.maximum(v, w) + tl.minimum(v, w, propagate_nan=tl.PropagateNan.ALL) + tl.clamp(v, -1.0, 1.0)
    v = (
        v
        + tl.clamp(v, w, w + 1, propagate_nan=tl.PropagateNan.ALL)
        + v % w
        + tl.sigmoid(v)
        + tl.softmax(v)
        - (-w)
    )
    v = tl.where(v > w, v, w)
    v = tl.where(v != w, v, 1.0)
    v = tl.where(v == w, float("nan"), v)
    v = tl.where((v <= w) & (v >= 0), float("inf"), v)
    tl.store(x + i, v)
    tl.store(x, tl.exp(tl.load(y)))


@kernel("x=*i32 y=*i64 z=*u8 b=*i1", B=64)
def integers(x, y, z, b, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = v.to(tl.uint32)
    v = (
        v // 3
        + v % 5
        + (v << 2)
        + (v >> 1)
        - (v & 7)
        + (v | 8)
        + (v ^ 9)
        + ~v
        + tl.abs(v)
        + tl.maximum(v, 3)
        + tl.minimum(v, 4)
    )
    w = w // 3 + w % 5 + (w >> 1) + tl.maximum(w, 3) + tl.minimum(w, 4) + tl.umulhi(w, w) + tl.cdiv(w, 3)
    tl.store(x + i, tl.where((v < 3) | (v >= 5), v, w.to(tl.int32)))
    tl.store(y + i, v.to(tl.int64) * w.to(tl.int64))
    tl.store(z + i, v.to(tl.uint8))
    tl.store(b + i, v.to(tl.int1))
    tl.store(b + i, (w < 5) & (w >= 2) & (w != 3) | (w > 7) | (w <= 1) | (v == 9))
    tl.store(x + i, tl.load(b + i).to(tl.int32))
    tl.store(x + i, tl.swizzle2d(v, v, 4, 4, 2)[0])
    tl.store(y, 0x123456789ABCDEF)
    tl.store(y, -0x7FFFFFFFFFFFFFFF)


@kernel("f=*fp32 h=*fp16 b=*bf16 d=*fp64 i8=*i8 e5=*fp8e5 e4=*fp8e4nv", B=64)
def casts(f, h, b, d, i8, e5, e4, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(f + i)
    tl.store(h + i, v.to(tl.float16))
    tl.store(h + i, v.to(tl.float16, fp_downcast_rounding="rtz"))
    tl.store(b + i, v.to(tl.bfloat16))
    tl.store(d + i, v.to(tl.float64))
    tl.store(e5 + i, v.to(tl.float8e5))
    tl.store(e4 + i, v.to(tl.float8e4nv, fp_downcast_rounding="rtne"))
    tl.store(
        f + i,
        tl.load(e5 + i).to(tl.float32) + tl.load(e4 + i).to(tl.float32) + tl.load(b + i) + tl.load(h + i),
    )
    tl.store(i8 + i, v.to(tl.int8))
    tl.store(f + i, tl.load(i8 + i).to(tl.uint8).to(tl.float32) + tl.load(i8 + i).to(tl.float32))
    tl.store(i8 + i, v.to(tl.uint8).to(tl.int8))
    tl.store(f + i, v.to(tl.int32, bitcast=True).to(tl.float32, bitcast=True))
    p = (f + i).to(tl.int64).to(tl.pointer_type(tl.float32))
    tl.store(p, tl.load(d + i).to(tl.float32))
    tl.store(h + i, tl.load(d + i).to(tl.float16))


@kernel("x=*fp32 y=*fp32", B=64)
def views(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = tl.load(y + i)
    j = tl.join(v, w)
    a, b = tl.split(j)
    tl.store(x + tl.arange(0, 2 * B), tl.cat(a, b, can_reorder=True))
    tl.store(x + tl.arange(0, 2 * B), tl.interleave(a, b))
    r = tl.reshape(v, (8, 8))
    t = tl.trans(r)
    tl.store(x + tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :], t + tl.permute(r, 1, 0))
    tl.store(x + i, tl.reshape(t, (B,), can_reorder=True))
    cube = tl.permute(tl.reshape(v, (4, 2, 8)), (2, 0, 1))
    tl.store(x + i, cube.ravel())
    tl.store(
        x + tl.arange(0, 8)[:, None] * 8 + tl.arange(0, 8)[None, :],
        tl.broadcast_to(tl.sum(r, 1)[:, None], (8, 8)),
    )
    tl.store(x, tl.reshape(tl.sum(v, 0, keep_dims=True), (1,)).item())
    tl.store(y + i, tl.full((B,), 3, tl.float32) + tl.view(v, (B,)))


@kernel("x=*fp32 y=*fp32", B=64)
def hints(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    o = tl.multiple_of(tl.max_contiguous(i * tl.load(y).to(tl.int32), 8), 16)
    o = tl.max_constancy(o, 4)
    v = tl.load(x + o, cache_modifier=".cg", eviction_policy="evict_last", volatile=True)
    v += tl.load(x + o, mask=i < 3, other=0.0, eviction_policy="evict_first")
    v += tl.load(x + i, cache_modifier=".ca")
    tl.store(y + o, v, cache_modifier=".wb", eviction_policy="evict_first")
    tl.store(y + o, v, mask=i < 5, cache_modifier=".cs")


@kernel("x=*fp32 y=*i32", B=64)
def outside(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(
        x + i,
        tl.inline_asm_elementwise(
            'add.f32 $0, $1, $2; // <{}> "x"', "=f,f,f", [v, v], dtype=tl.float32, is_pure=True, pack=1
        ),
    )
    a, b = tl.inline_asm_elementwise(
        "{ mov $0, $2; }", "=r,=r,r", [tl.load(y + i)], dtype=(tl.int32, tl.int32), is_pure=False, pack=2
    )
    tl.store(y + i, a + b)
    tl.store(x + i, libdevice.asin(v) + libdevice.pow(v, v) + libdevice.tanh(v))


@kernel("x=*fp32 y=*fp32", B=64)
def mapped(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    w = tl.load(y + i)
    tl.store(x + i, tl.map_elementwise(clip, v, w))
    a, b = tl.map_elementwise(both, v, w)
    tl.store(y + i, a + b)


@kernel("x=*fp32 y=*fp16 M=i32 N=i32", BM=32, BN=64)
def descriptors(x, y, M, N, BM: tl.constexpr, BN: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [BM, BN])
    e = tl.make_tensor_descriptor(y, shape=[M, N], strides=[N, 1], block_shape=[BM, BN], padding_option="nan")
    for k in range(0, 4):
        v = d.load([k * BM, 0])
        d.store([k * BM, BN], v + 1)
        d.atomic_add([0, 0], v)
        d.atomic_max([0, 0], v) if BM == 1 else None
        e.store([0, k], e.load([0, k]) * 2)
    b = tl.make_tensor_descriptor(x, [4, M, N], [M * N, N, 1], [1, BM, BN])
    tl.store(
        x + tl.arange(0, BM)[:, None] * BN + tl.arange(0, BN)[None, :], b.load([0, 0, 0]).reshape(BM, BN)
    )


@kernel("x=*fp16 rows=*i32 M=i32 N=i32", B=32)
def descriptor_rows(x, rows, M, N, B: tl.constexpr):
    d = tl.make_tensor_descriptor(x, [M, N], [N, 1], [1, 64])
    at = tl.load(rows + tl.arange(0, B))
    d.scatter(d.gather(at, 8), at, 16)


@kernel("d=tensordesc<fp16[32,64]> x=*fp16", by_pointers=False)
def descriptor_arguments(d, x):
    v = d.load([0, 0])
    tl.store(x + tl.arange(0, 32)[:, None] * 64 + tl.arange(0, 64)[None, :], v)


@kernel("s=u64 x=*fp32", B=64)
def randoms(s, x, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(x + i, tl.rand(s, i) + tl.randn(s, i))


@kernel("x=*fp32 n=i64 s=fp32 t=fp64 b=i1 u=u32", B=64)
def scalars(x, n, s, t, b, u, B: tl.constexpr):
    p = x + n * tl.num_programs(1) + tl.program_id(2)
    tl.store(p, s * 0.1 + t)
    if b:
        tl.store(p + 1, s)
    tl.store(p + 2, tl.load(p) * 1e-30)
    tl.store(p + 3, (n % 7).to(tl.float32) / 3)
    tl.store(p + u, 2.5e38)


@kernel("x=*i64 y=*fp32", B=64)
def pointers(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i).to(tl.pointer_type(tl.float32))
    tl.store(a, tl.load(y + i))
    b = tl.load(x).to(tl.pointer_type(tl.float32))
    tl.store(b + i, tl.load(y + i))


@kernel("x=*i32", options={"sanitize_overflow": True, "debug": True}, B=64)
def sanitised(x, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.store(x + i, v * v + v - i)


TARGET = GPUTarget("cuda", 90, 32)  # stands for any: nothing of it is in the text
CLEAN = (
    passes.common.add_canonicalizer,
    passes.ttir.add_combine,
    passes.ttir.add_reorder_broadcast,
    passes.common.add_cse,
    passes.ttir.add_triton_licm,
    passes.common.add_symbol_dce,
    passes.ttir.add_loop_unroll,
)
LAYOUTS = (
    passes.ttgpuir.add_coalesce,
    passes.ttgpuir.add_remove_layout_conversions,
    passes.ttgpuir.add_optimize_thread_locality,
    passes.ttgpuir.add_reduce_data_duplication,
    passes.ttgpuir.add_reorder_instructions,
)


def context_for(backend):
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    return context


def front_end(entry: Entry, backend, options, context):
    pointers = [(k,) for k, type in enumerate(entry.signature.values()) if type[0] == "*"]
    divisible = {place: [["tt.divisibility", 16]] for place in pointers}
    source = ASTSource(entry.function, entry.signature, entry.constants, divisible)
    implementations = backend.get_codegen_implementation(options)
    module = source.make_ir(backend.target, options, implementations, backend.get_module_map(), context)
    module.context = context  # it must live as long as the module
    return source, module


@functools.cache
def texts(name: str) -> dict[str, str]:
    """stage -> text of the module"""
    return stages(KERNELS[name])


def stages(entry: Entry, warps: int = 4, lanes: int = 16) -> dict[str, str]:
    """The same of any kernel; TTGIR for so many warps of so many lanes."""
    backend = make_backend(TARGET)
    context = context_for(backend)
    _, module = front_end(entry, backend, backend.parse_options(entry.options), context)
    found = {"front": str(module)}

    def run(stage, *steps):
        manager = ir.pass_manager(context)
        for step in steps:
            step(manager)
        manager.run(module, stage)
        found[stage] = str(module)

    def convert(manager):
        passes.ttir.add_convert_to_ttgpuir(manager, "spirv:any", warps, lanes, 1)

    run("inlined", passes.common.add_inliner)
    if not entry.by_pointers:
        run("ttir", *CLEAN)
        return found
    run("ttir", passes.ttir.add_rewrite_tensor_descriptor_to_pointer, *CLEAN)
    run("converted", convert)
    run("ttgir", *LAYOUTS)
    return found


@functools.cache
def pipelined(name: str, arch: int = 80) -> str:
    """TTGIR of a CUDA target with matrix units and a software pipeline."""
    entry = KERNELS[name]
    backend = make_backend(GPUTarget("cuda", arch, 32))
    options = backend.parse_options({**entry.options, "num_stages": 3})
    source, module = front_end(entry, backend, options, context_for(backend))
    stages: dict = {}
    backend.add_stages(stages, options, source.language)
    metadata = {"target": backend.target, **options.__dict__}
    for stage in ("ttir", "ttgir"):
        module = stages[stage](module, metadata)
    return str(module)
