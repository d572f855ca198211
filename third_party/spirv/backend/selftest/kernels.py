"""The kernels of the selftest: each tries one thing that devices do in ways of their own."""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def arithmetic(x_ptr, y_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i, mask=i < n, other=1), tl.load(y_ptr + i, mask=i < n, other=1)
    if OP == "add":
        z = x + y
    elif OP == "mul":
        z = x * y
    elif OP == "div":
        z = x / y
    elif OP == "quotient":
        z = x // y
    elif OP == "remainder":
        z = x % y
    elif OP == "shift":
        z = (x << (y & 7)) ^ (x >> (y & 3))
    elif OP == "min":
        z = tl.minimum(x, y)
    else:
        z = tl.where(x > y, x, -y)
    tl.store(out_ptr + i, z, mask=i < n)


@triton.jit
def function(x_ptr, out_ptr, n, OP: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    if OP == "exp":
        z = tl.exp(x)
    elif OP == "log":
        z = tl.log(tl.abs(x) + 0.5)
    elif OP == "sin":
        z = tl.sin(x)
    elif OP == "sqrt":
        z = tl.sqrt(tl.abs(x))
    else:
        z = tl.erf(x)
    tl.store(out_ptr + i, z, mask=i < n)


@triton.jit
def converted(x_ptr, out_ptr, n, THROUGH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, x.to(THROUGH).to(x.dtype), mask=i < n)


@triton.jit
def transposed(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    j = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)[None, :]
    x = tl.load(x_ptr + i * columns + j, mask=(i < rows) & (j < columns))
    tl.store(out_ptr + j.trans() * rows + i.trans(), x.trans(),
             mask=(j.trans() < columns) & (i.trans() < rows))


@triton.jit
def reduced(x_ptr, out_ptr, OP: tl.constexpr, AXIS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + i * COLUMNS + j)
    if OP == "sum":
        z = tl.sum(x, AXIS)
    elif OP == "max":
        z = tl.max(x, AXIS)
    else:
        z = tl.argmax(x, AXIS)
    tl.store(out_ptr + tl.arange(0, ROWS if AXIS == 1 else COLUMNS), z)


@triton.jit
def scanned(x_ptr, out_ptr, REVERSE: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    place = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr + place, tl.cumsum(tl.load(x_ptr + place), 1, reverse=REVERSE))


@triton.jit
def ordered(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    place = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr + place, tl.sort(tl.load(x_ptr + place), descending=True))


@triton.jit
def looked_up(x_ptr, index_ptr, out_ptr, counts_ptr, SIZE: tl.constexpr, BINS: tl.constexpr):
    i = tl.arange(0, SIZE)
    index = tl.load(index_ptr + i)
    tl.store(out_ptr + i, tl.gather(tl.load(x_ptr + i), index, 0))
    tl.store(counts_ptr + tl.arange(0, BINS), tl.histogram(index, BINS))


@triton.jit
def paired(x_ptr, y_ptr, out_ptr, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    both = tl.interleave(tl.load(x_ptr + i), tl.load(y_ptr + i))
    left, right = tl.split(tl.flip(both, 0).reshape(SIZE, 2))
    tl.store(out_ptr + i, left)
    tl.store(out_ptr + SIZE + i, right)


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
            THROUGH: tl.constexpr, ROUNDED: tl.constexpr = "ieee"):
    """c [M, N] = a [M, K] b [K, N], both as THROUGH."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a, b = a_ptr + m[:, None] * K + k[None, :], b_ptr + k[:, None] * N + n[None, :]
    total = tl.zeros([BM, BN], tl.int32 if THROUGH == tl.int8 else tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a, mask=(m[:, None] < M) & (k[None, :] < K - start), other=0).to(THROUGH)
        y = tl.load(b, mask=(k[:, None] < K - start) & (n[None, :] < N), other=0).to(THROUGH)
        total = tl.dot(x, y, total, input_precision=ROUNDED, out_dtype=total.dtype)
        a += BK
        b += BK * N
    c = c_ptr + m[:, None] * N + n[None, :]
    tl.store(c, total.to(c_ptr.dtype.element_ty), mask=(m[:, None] < M) & (n[None, :] < N))


@triton.jit
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + j, mask=j < columns, other=-float("inf"))
    weight = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * columns + j, weight / tl.sum(weight, 0), mask=j < columns)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, scale, length, D: tl.constexpr, BM: tl.constexpr,
              BN: tl.constexpr):
    """One head: q, k, v, out [length, D]; length a multiple of both blocks."""
    m, n, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    highest = tl.full([BM], float("-inf"), tl.float32)
    weights, total = tl.zeros([BM], tl.float32), tl.zeros([BM, D], tl.float32)
    for start in range(0, length, BN):
        scores = tl.dot(q, tl.load(k_ptr + (start + n)[None, :] * D + d[:, None])) * scale
        new = tl.maximum(highest, tl.max(scores, 1))
        weight, fade = tl.exp(scores - new[:, None]), tl.exp(highest - new)
        weights = weights * fade + tl.sum(weight, 1)
        v = tl.load(v_ptr + (start + n)[:, None] * D + d[None, :])
        total = tl.dot(weight.to(v.dtype), v, total * fade[:, None])
        highest = new
    tl.store(out_ptr + m[:, None] * D + d[None, :], (total / weights[:, None]).to(out_ptr.dtype.element_ty))


@triton.jit
def counted(x_ptr, sums_ptr, out_ptr, n, BINS: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.atomic_add(sums_ptr + i % BINS, x, mask=i < n)
    tl.atomic_max(out_ptr, tl.max(tl.where(i < n, i, 0), 0))


@triton.jit
def locked(lock_ptr, out_ptr):
    """Programs take turns."""
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    tl.store(out_ptr, tl.load(out_ptr, volatile=True) + tl.program_id(0))
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@triton.jit
def steps_of_collatz(x_ptr, out_ptr):
    """Programs leave their loops at different times."""
    x, steps = tl.load(x_ptr + tl.program_id(0)), 0
    while x > 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    tl.store(out_ptr + tl.program_id(0), steps)


@triton.jit
def described(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    out = tl.make_tensor_descriptor(out_ptr, [rows, columns], [columns, 1], [BLOCK, BLOCK])
    i, j = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    out.store([i, j], x.load([i, j]) + 1)


@triton.jit
def drawn(out_ptr, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.randint(seed, i))


@triton.jit
def guarded(x_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.device_assert(x < 5, "below five")


@triton.jit
def nothing(x_ptr):
    pass
