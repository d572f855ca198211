"""lower/control/control_flow.py: loops, branches, while, early return; with scalars, tensors and pointers
carried through."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def collatz(x_ptr, out_ptr):
    """A while loop around a branch, on one scalar per program."""
    x = tl.load(x_ptr + tl.program_id(0))
    steps = 0
    while x != 1:
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    tl.store(out_ptr + tl.program_id(0), steps)


def test_while_with_branch(run):
    def steps(x: int) -> int:
        count = 0
        while x != 1:
            x, count = (x // 2 if x % 2 == 0 else 3 * x + 1), count + 1
        return count

    x, out = np.arange(1, 41, dtype=np.int32), numeric.poisoned(40, "i32")
    run(collatz, 40, numeric.tensor(x, "i32"), out)
    numeric.assert_same(out, np.array([steps(int(v)) for v in x], np.int32))


@triton.jit
def ranges(out_ptr, start, stop, step):
    """The index itself, the number of turns and a carried sum, for bounds known at run time only."""
    total, turns = 0, 0
    for i in range(start, stop, step):
        total += i * i
        turns += 1
    tl.store(out_ptr, total)
    tl.store(out_ptr + 1, turns)


@pytest.mark.parametrize(
    "start, stop, step", [(0, 10, 1), (3, 17, 4), (5, 5, 1), (7, 3, 1), (-6, 7, 3), (0, 1, 100)]
)
def test_for_bounds(run, start, stop, step):
    out = numeric.poisoned(2, "i32")
    run(ranges, 1, out, start, stop, step)
    turns = list(range(start, stop, step))
    numeric.assert_same(out, np.array([sum(i * i for i in turns), len(turns)], np.int32))


@triton.jit
def negative_step(out_ptr, n):
    place = 0
    for i in range(n - 1, -1, -1):
        tl.store(out_ptr + place, i)
        place += 1


def test_for_backwards(run):
    out = numeric.poisoned(9, "i32")
    run(negative_step, 1, out, 9)
    numeric.assert_same(out, np.arange(8, -1, -1, dtype=np.int32))


@triton.jit
def wide_index(out_ptr, start, turns):
    total = start * 0
    for i in range(start, start + turns * 3, 3):
        total += i
    tl.store(out_ptr, total)


def test_for_with_64_bit_bounds(run):
    out, start = numeric.poisoned(1, "i64"), 2**40 + 7
    run(wide_index, 1, out, start, 5)
    numeric.assert_same(out, np.array([sum(range(start, start + 15, 3))]))


@triton.jit
def carried_tensors(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """A tensor of pointers, two tensors that swap places every turn, a scalar, and a mask: all carried."""
    i = tl.arange(0, BLOCK)
    p = x_ptr + i
    a, b = tl.zeros([BLOCK], tl.float32), tl.full([BLOCK], 1.0, tl.float32)
    scale = 1.0
    seen = i < 0
    for _ in range(n):
        x = tl.load(p)
        a, b = b, a + x * scale
        seen = seen | (x > 3)
        scale = scale * -0.5
        p += BLOCK
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + BLOCK + i, b)
    tl.store(out_ptr + 2 * BLOCK + i, tl.where(seen, scale, 0.0))


@pytest.mark.parametrize("turns", (0, 1, 2, 7))
@pytest.mark.parametrize("block", (1, 8, 64, 2048))
def test_carried_tensors(run, block, turns):
    x = np.round(numeric.random((7, block), "f32", low=-8, high=8))
    out = numeric.poisoned((3, block), "f32")
    run(carried_tensors, 1, numeric.tensor(x, "f32"), out, turns, block)
    a, b, scale = np.zeros(block, np.float32), np.ones(block, np.float32), np.float32(1)
    for row in x[:turns]:
        a, b, scale = b, a + row * scale, scale * np.float32(-0.5)
    seen = (x[:turns] > 3).any(0)
    numeric.assert_same(out, np.stack([a, b, np.where(seen, scale, np.float32(0))]), signed_zeros=False)


@triton.jit
def nested(out_ptr, rows, columns, BLOCK: tl.constexpr):
    """Loops in loops with a branch in the middle, carrying one tensor all the way."""
    i = tl.arange(0, BLOCK)
    acc = i * 0
    for row in range(rows):
        if row % 3 == 1:
            for column in range(row, columns):
                acc += row * column + i
                if column == 4:
                    acc = acc ^ 5
        else:
            k = 0
            while k < row:
                acc = acc * 3 + k
                k += 2
    tl.store(out_ptr + i, acc)


@pytest.mark.parametrize("rows, columns", [(0, 3), (1, 8), (5, 7), (8, 3)])
def test_nested(run, rows, columns):
    out, i = numeric.poisoned(32, "i32"), np.arange(32, dtype=np.int32)
    run(nested, 1, out, rows, columns, 32)
    acc = i * 0
    for row in range(rows):
        if row % 3 == 1:
            for column in range(row, columns):
                acc = acc + np.int32(row * column) + i
                acc = acc ^ 5 if column == 4 else acc
        else:
            for k in range(0, row, 2):
                acc = acc * np.int32(3) + np.int32(k)
    numeric.assert_same(out, acc)


@triton.jit
def branches(x_ptr, out_ptr, limit, BLOCK: tl.constexpr):
    """Branches yield tensors, scalars and pointers; one side stores; conditions are combined."""
    pid, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + pid * BLOCK + i)
    p = out_ptr + pid * BLOCK
    if pid == 0:
        y, factor = x + 1, 2
    elif pid < limit and pid % 2 == 0:
        y, factor = x * x, 3
    elif not (pid < limit) or pid == 3:
        y, factor = -x, 4
        p = out_ptr + (pid + 10) * BLOCK
    else:
        y, factor = x, 5
        tl.store(out_ptr + 9 * BLOCK + i, x)
    tl.store(p + i, y * factor)


@pytest.mark.parametrize("block", (1, 16, 256))
def test_branches(run, block):
    x = numeric.random((8, block), "i32", low=-100, high=100)
    out = numeric.poisoned((20, block), "i32")
    expected = out.numpy().copy()
    for pid in range(8):
        if pid == 0:
            expected[pid] = (x[pid] + 1) * 2
        elif pid < 6 and pid % 2 == 0:
            expected[pid] = x[pid] * x[pid] * 3
        elif pid >= 6 or pid == 3:
            expected[pid + 10] = -x[pid] * 4
        else:
            expected[pid] = x[pid] * 5
            expected[9] = x[pid]
    x[5] = x[1]  # programs 1 and 5 write the same place: let them write the same
    expected[5], expected[9] = x[5] * 5, x[5]
    run(branches, 8, numeric.tensor(x, "i32"), out, 6, block)
    numeric.assert_same(out, expected)


@triton.jit
def early_return(x_ptr, out_ptr, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    x = tl.load(x_ptr + pid)
    if x < 0:
        tl.store(out_ptr + pid, -1)
        return
    tl.store(out_ptr + pid, x * 2)


def test_early_return(run):
    x, out = numeric.random(12, "i32", low=-50, high=50), numeric.poisoned(12, "i32")
    expected = out.numpy().copy()
    expected[:9] = np.where(x < 0, -1, x * 2)[:9]
    run(early_return, 12, numeric.tensor(x, "i32"), out, 9)
    numeric.assert_same(out, expected)


@triton.jit
def return_amid_branches(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Ways meet with a tensor each, and some have returned before; two end by the same store, which Triton
    then writes once, above blocks that lead to it."""
    pid, i = tl.program_id(0), tl.arange(0, BLOCK)
    x = tl.load(x_ptr + pid * BLOCK + i)
    out = out_ptr + pid * BLOCK + i
    if pid == 1:
        tl.store(out, x + 1)
        return
    y = x * x
    if tl.sum(x) > n:
        tl.store(out, y)
        if pid % 4 == 2:
            tl.store(out, y + x)
            return
    else:
        if pid % 4 == 3:
            return
        y = y ^ x
    tl.store(out_ptr + pid * BLOCK + (BLOCK - 1 - i), y - 5)


@pytest.mark.parametrize("block", (1, 16, 512, 2048))
def test_return_amid_branches(run, block):
    x, out = numeric.random((12, block), "i32", low=-9, high=9), numeric.poisoned((12, block), "i32")
    expected = out.numpy().copy()
    for pid, row in enumerate(x):
        more, y = row.sum() > 0, row * row
        if pid == 1:
            expected[pid] = row + 1
        elif more and pid % 4 == 2:
            expected[pid] = y + row
        elif more or pid % 4 != 3:
            expected[pid] = ((y if more else y ^ row) - 5)[::-1]
    run(return_amid_branches, 12, numeric.tensor(x, "i32"), out, 0, block)
    numeric.assert_same(out, expected)


@triton.jit
def copies(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Variables that are, before the loop and behind its first round, what others were before it."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    before = x
    oldest = before
    older = before
    for k in range(n):
        older = before
        if k == 1:
            before = x + 0
        before = x
        x = x * 2 + 1
    turns = n + 3
    last = turns
    while turns > 2:
        last = turns
        for _ in range(2):
            turns -= 1
    tl.store(out_ptr + i, x)
    tl.store(out_ptr + BLOCK + i, before)
    tl.store(out_ptr + 2 * BLOCK + i, older)
    tl.store(out_ptr + 3 * BLOCK + i, oldest)
    tl.store(out_ptr + 4 * BLOCK, turns)
    tl.store(out_ptr + 4 * BLOCK + 1, last)


@pytest.mark.parametrize("block", (16, 1024))
@pytest.mark.parametrize("n", (0, 1, 2, 5))
def test_copies_are_carried(run, n, block):
    x, out = numeric.random(block, "i32", low=0, high=9), numeric.poisoned(4 * block + 2, "i32")
    rounds = [x]
    for _ in range(n):
        rounds.append(rounds[-1] * 2 + 1)
    turns = last = n + 3
    while turns > 2:
        turns, last = turns - 2, turns
    run(copies, 1, numeric.tensor(x, "i32"), out, n, block)
    numeric.assert_same(out, np.concatenate(
        [rounds[n], rounds[max(n - 1, 0)], rounds[max(n - 2, 0)], x, [turns, last]]).astype(np.int32))


@triton.jit
def until_full(x_ptr, out_ptr, limit, BLOCK: tl.constexpr):
    """A while loop whose condition is computed from a tensor that it carries."""
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    turns = 0
    while tl.sum(x, 0) < limit:
        x = x * 2 + 1
        turns += 1
    tl.store(out_ptr + tl.arange(0, BLOCK), x)
    tl.store(out_ptr + BLOCK, turns)


@pytest.mark.parametrize("block", (1, 16, 512))
def test_while_on_a_tensor(run, block):
    x, out = numeric.random(block, "i32", low=0, high=5), numeric.poisoned(block + 1, "i32")
    run(until_full, 1, numeric.tensor(x, "i32"), out, 100000, block)
    turns = 0
    while x.sum() < 100000:
        x, turns = x * 2 + 1, turns + 1
    numeric.assert_same(out, np.append(x, turns).astype(np.int32))


@triton.jit
def power(x, EXPONENT: tl.constexpr):
    """Recursion over a constexpr is unrolled by the front end."""
    if EXPONENT == 0:
        return x * 0 + 1
    else:
        return x * power(x, EXPONENT - 1)


@triton.jit
def unrolled(x_ptr, out_ptr, DEGREE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    total = x * 0
    for k in tl.static_range(DEGREE):
        total += power(x, k)
    for k in tl.range(0, DEGREE, num_stages=2, loop_unroll_factor=2):
        total += k
    tl.store(out_ptr + i, total)


@pytest.mark.parametrize("degree", (0, 1, 5))
def test_static_loops_and_hints(run, degree):
    x, out = numeric.random(32, "i32", low=-9, high=9), numeric.poisoned(32, "i32")
    run(unrolled, 1, numeric.tensor(x, "i32"), out, degree, 32)
    expected = sum((x**k for k in range(degree)), x * 0) + sum(range(degree))
    numeric.assert_same(out, expected.astype(np.int32))


@triton.jit
def rounds_of_hinted_loops(out_ptr, lower, upper, STEP: tl.constexpr, FACTOR: tl.constexpr,
                           KNOWN: tl.constexpr):
    last = lower + KNOWN if KNOWN else upper
    rounds, total = 0, 0
    for i in tl.range(lower, last, STEP, loop_unroll_factor=FACTOR):
        rounds += 1
        total = total * 3 + i
    tl.store(out_ptr, rounds)
    tl.store(out_ptr + 1, total)


@pytest.mark.parametrize("factor", (1, 2, 4))
@pytest.mark.parametrize("step", (1, 2, 3))
def test_loops_that_are_unrolled_have_the_same_rounds(run, step, factor):
    """Also those without any: MLIR's pass makes some of them where the step is not 1."""
    for lower, upper in ((0, 0), (1, -1), (1, 0), (5, -5), (2, -1), (0, 3), (-7, 4), (3, 14), (0, 16)):
        for known in (0, 7):
            out = numeric.poisoned(2, "i32")
            run(rounds_of_hinted_loops, 1, out, lower, upper, step, factor, known)
            rounds, total = range(lower, lower + known if known else upper, step), 0
            for i in rounds:
                total = total * 3 + i
            numeric.assert_same(out, np.array([len(rounds), total], np.int32))


@triton.jit
def sign_or_root(x):
    """Control flow on single elements: only what is taken is computed."""
    if x < 0:
        y = -1.0
    else:
        if x > 100:
            y = tl.sqrt(x)
        else:
            y = x * 0.5
    return y


@triton.jit
def sum_and_order(x, y):
    if x < y:
        low, high = x, y
    else:
        low, high = y, x
    return low + high, high - low


@triton.jit
def element_by_element(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.map_elementwise(sign_or_root, x))
    total, difference = tl.map_elementwise(sum_and_order, x, y)
    tl.store(out_ptr + BLOCK + i, total)
    tl.store(out_ptr + 2 * BLOCK + i, difference)


@pytest.mark.parametrize("block", (1, 8, 64, 1024))
def test_map_elementwise(run, block):
    numeric.interpreter_is_wrong("it has no map_elementwise")
    x, y = np.round(numeric.random(block, "f32", 0, low=-300, high=300)), numeric.random(block, "f32", 1)
    out = numeric.poisoned((3, block), "f32")
    run(element_by_element, 1, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), out, block)
    mapped = np.where(x < 0, -1, np.where(x > 100, np.sqrt(np.maximum(x, 0)), x / 2)).astype(np.float32)
    numeric.assert_ulps(out, np.stack([mapped, x + y, np.maximum(x, y) - np.minimum(x, y)]), 3, "f32")


@triton.jit
def sums_of_blocks(x_ptr, sum_ptr, most_ptr, columns, blocks, BLOCK: tl.constexpr):
    """Large tensors that travel through two loops, each of which may run never, once or often."""
    index = tl.arange(0, BLOCK)
    total = tl.full([BLOCK], 1.0, tl.float32)
    count = 0
    for start in range(0, columns, BLOCK):
        x = tl.load(x_ptr + start + index, mask=start + index < columns, other=0.0)
        total = total * 2 + x
        count += start + 1
    most = total
    for turn in range(1, blocks, 2):
        for part in range(0, columns, BLOCK):
            most = tl.maximum(most, total * turn - part)
    tl.store(sum_ptr + index, total)
    tl.store(most_ptr, tl.max(most, 0) + tl.sum(total, 0))
    tl.store(most_ptr + 1, count)


@pytest.mark.parametrize("columns", (-3, 0, 1, 511, 512, 513, 1600))
@pytest.mark.parametrize("blocks", (0, 1, 2, 3, 6))
def test_large_tensors_through_loops_of_any_number_of_rounds(run, columns, blocks):
    """Whole numbers in f32: any order of additions gives the same."""
    block = 512
    x = np.random.default_rng(columns + 5).integers(-50, 50, max(columns, 1)).astype(np.float32)
    sums, most = numeric.poisoned(block, "f32"), numeric.poisoned(2, "f32")
    run(sums_of_blocks, 1, numeric.tensor(x, "f32"), sums, most, columns, blocks, block)
    total, count = np.ones(block, np.float32), 0
    starts = range(0, columns, block)
    for start in starts:
        part = np.zeros(block, np.float32)
        part[:columns - start] = x[start:start + block]
        total, count = total * 2 + part, count + start + 1
    most_of = total
    for turn in range(1, blocks, 2):
        for start in starts:
            most_of = np.maximum(most_of, total * turn - start)
    numeric.assert_same(sums, total)
    numeric.assert_same(most, np.array([most_of.max() + total.sum(), count], np.float32))
