"""lower/memory/atomic.py: every operation on every dtype Triton lets through, contended, masked, with the
old values returned.

Contended results are chosen so that any order gives the same bits: integers, or floats whose sums are exact.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from numeric import DTYPES
from triton_spirv.runtime.processor import cores

INTEGERS = ("i32", "u32", "i64", "u64")


@triton.jit
def rmw(p, value, mask, kind: tl.constexpr, sem: tl.constexpr):
    if kind == "add":
        return tl.atomic_add(p, value, mask=mask, sem=sem)
    elif kind == "max":
        return tl.atomic_max(p, value, mask=mask, sem=sem)
    elif kind == "min":
        return tl.atomic_min(p, value, mask=mask, sem=sem)
    elif kind == "and":
        return tl.atomic_and(p, value, mask=mask, sem=sem)
    elif kind == "or":
        return tl.atomic_or(p, value, mask=mask, sem=sem)
    elif kind == "xor":
        return tl.atomic_xor(p, value, mask=mask, sem=sem)
    else:
        return tl.atomic_xchg(p, value, mask=mask, sem=sem)


@triton.jit
def each(p, x_ptr, mask_ptr, old_ptr, KIND: tl.constexpr, SEM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = tl.load(mask_ptr + i)
    old = rmw(p + i, tl.load(x_ptr + i), mask, KIND, SEM)
    tl.store(old_ptr + i, old, mask=mask)


@triton.jit
def all_on_one(p, x_ptr, KIND: tl.constexpr, PLACES: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    rmw(p + i % PLACES, tl.load(x_ptr + i), i >= 0, KIND, "acq_rel")


@triton.jit
def scalars(p, x_ptr, KIND: tl.constexpr):
    i = tl.program_id(0)
    rmw(p, tl.load(x_ptr + i), i >= 0, KIND, "relaxed")


KINDS = {
    "add": np.add, "max": np.fmax, "min": np.fmin, "and": np.bitwise_and, "or": np.bitwise_or,
    "xor": np.bitwise_xor, "xchg": lambda a, b: b,
}
CASES = [
    *((kind, dtype) for kind in KINDS for dtype in INTEGERS),
    *((kind, dtype) for kind in ("add", "max", "min", "xchg") for dtype in ("f32", "f64")),
    ("add", "f16"), ("add", "bf16"),
]


def exact(shape, dtype: str, seed: int) -> np.ndarray:
    """Values whose sums are exact: any integers (they wrap), small whole floats."""
    if DTYPES[dtype].kind != "float":
        return numeric.random(shape, dtype, seed)
    return np.round(numeric.random(shape, dtype, seed, low=-3, high=3))


@pytest.mark.parametrize("block", (1, 4, 128))
@pytest.mark.parametrize("kind, dtype", CASES)
def test_each_element(run, kind, dtype, block):
    """Each lane has its place; where the mask is off nothing happens; the old value comes back."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    numeric.interpreter_is_wrong("it exchanges integers only", kind == "xchg" and dtype[0] == "f")
    start, x, mask = exact(block, dtype, 0), exact(block, dtype, 1), numeric.random(block, "i1", 2)
    p, old = numeric.tensor(start, dtype), numeric.poisoned(block, dtype)
    nothing = numeric.array(old.clone())
    sem = ("acquire", "release", "acq_rel", "relaxed")[len(kind) % 4]
    run(each, 1, p, numeric.tensor(x, dtype), numeric.tensor(mask, "i1"), old, kind, sem, block)
    with np.errstate(over="ignore"):
        numeric.assert_same(p, np.where(mask, KINDS[kind](start, x), start))
    numeric.assert_same(old, np.where(mask, start, nothing))


@pytest.mark.parametrize("block", (512, 1024))
@pytest.mark.parametrize("kind, dtype", [("add", "i32"), ("xchg", "i64"), ("add", "f32"), ("max", "u64")])
def test_many_elements_of_a_lane(run, kind, dtype, block):
    """In straight-line code, or in a loop of more than 32."""
    test_each_element(run, kind, dtype, block)


@pytest.mark.parametrize("places", (1, 8))
@pytest.mark.parametrize("kind, dtype", [c for c in CASES if c[0] != "xchg"])
def test_contended(run, kind, dtype, places):
    """40 programs of 64 lanes on one place (lanes of one program collide too), and on eight."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    count = 40 * 64
    x = exact(count, dtype, 1)
    if dtype in ("f16", "bf16"):  # keep every partial sum, in any order, within what is exact
        x = np.where(np.arange(count) % 40 == 0, x, 0).astype(x.dtype)
    start = exact(places, dtype, 3)
    p = numeric.tensor(start, dtype)
    run(all_on_one, 40, p, numeric.tensor(x, dtype), kind, places, 64)
    expected = start.copy()
    with np.errstate(over="ignore"):
        for value, place in zip(x, np.arange(count) % places, strict=True):
            expected[place] = KINDS[kind](expected[place], value)
    numeric.assert_same(p, expected)


SCALAR_CASES = [
    ("add", "i32"),
    ("add", "f32"),
    ("add", "f16"),
    ("max", "i64"),
    ("min", "f64"),
    ("xor", "u32"),
]


@pytest.mark.parametrize("kind, dtype", SCALAR_CASES)
def test_scalars(run, kind, dtype):
    x, start = exact(100, dtype, 1), exact(1, dtype, 2)
    p = numeric.tensor(start, dtype)
    run(scalars, 100, p, numeric.tensor(x, dtype), kind)
    expected = start.copy()
    with np.errstate(over="ignore"):
        for value in x:
            expected[0] = KINDS[kind](expected[0], value)
    numeric.assert_same(p, expected)


@triton.jit
def tickets(counter, taken, BLOCK: tl.constexpr):
    old = tl.atomic_add(counter + tl.zeros([BLOCK], tl.int32), 1)
    tl.store(taken + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), old)


@pytest.mark.parametrize("block", (1, 32))
def test_old_values_are_distinct(run, block):
    """Adding one to one place hands out each number once."""
    counter, taken = numeric.tensor([0], "i32"), numeric.poisoned(20 * block, "i32")
    run(tickets, 20, counter, taken, block)
    assert counter.item() == 20 * block
    assert torch.equal(taken.sort().values, torch.arange(20 * block, dtype=torch.int32))


@triton.jit
def exchange_chain(p, seen):
    i = tl.program_id(0)
    tl.store(seen + i, tl.atomic_xchg(p, i + 1))


def test_exchange_loses_nothing(run):
    """What every program got, and what is left, is every value that was put in."""
    p, seen = numeric.tensor([0], "i32"), numeric.poisoned(50, "i32")
    run(exchange_chain, 50, p, seen)
    assert sorted([*seen.tolist(), p.item()]) == list(range(51))


@pytest.mark.parametrize("dtype", ("f32", "f64"))
@pytest.mark.parametrize("kind", ("max", "min"))
def test_float_extremes(run, kind, dtype):
    """Triton orders floats by their bits, which is right for all but NaN; -0 is below 0."""
    kinds = KINDS[kind]
    values = [v for v in numeric.specials(dtype) if not np.isnan(v)]
    start, x = (
        np.array(side, DTYPES[dtype].values)
        for side in zip(*[(a, b) for a in values for b in values], strict=True)
    )
    count = 1 << (len(x) - 1).bit_length()
    start, x = np.resize(start, count), np.resize(x, count)
    p, old = numeric.tensor(start, dtype), numeric.poisoned(count, dtype)
    run(
        each,
        1,
        p,
        numeric.tensor(x, dtype),
        numeric.tensor(np.ones(count, bool), "i1"),
        old,
        kind,
        "acq_rel",
        count,
    )
    numeric.assert_same(p, kinds(start, x), signed_zeros=False)


# ---- compare and swap


@triton.jit
def compare_and_swap(p, expected_ptr, value_ptr, old_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(old_ptr + i, tl.atomic_cas(p + i, tl.load(expected_ptr + i), tl.load(value_ptr + i)))


@pytest.mark.parametrize("block", (1, 2, 64))
@pytest.mark.parametrize("dtype", ("i32", "u32", "i64", "u64", "i16", "u16", "f32", "f64", "f16"))
def test_compare_and_swap(run, dtype, block):
    """Half of them match. Neighbouring 16-bit places share a word and must not disturb each other."""
    numeric.interpreter_is_wrong("it compares and swaps 32 and 64 bits only", DTYPES[dtype].bits == 16)
    start, value = numeric.random(block, dtype, 0), numeric.random(block, dtype, 1)
    match = np.arange(block) % 2 == 0
    expected = np.where(match, start, start + start.dtype.type(1))
    p, old = numeric.tensor(start, dtype), numeric.poisoned(block, dtype)
    run(compare_and_swap, 1, p, numeric.tensor(expected, dtype), numeric.tensor(value, dtype), old, block)
    numeric.assert_same(p, np.where(match, value, start))
    numeric.assert_same(old, start)


@triton.jit
def locked_update(lock, x, BLOCK: tl.constexpr):
    """A plain read, change and write of a block, made safe by a spin lock."""
    i = tl.arange(0, BLOCK)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(x + i, tl.load(x + i) * 3 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0)


def test_spin_lock(run):
    """64 programs update one block in turn; the result counts them all, in whatever order."""
    lock, x = numeric.tensor([0], "i32"), numeric.tensor(np.zeros(128), "i32")
    run(locked_update, 64, lock, x, 128)
    expected = 0
    for _ in range(64):
        expected = (expected * 3 + 1) & 0xFFFFFFFF
    assert np.all(numeric.array(x).view(np.uint32) == expected)
    assert lock.item() == 0


# ---- atomic loads, stores, polls (Triton 3.9)


@triton.jit
def load_and_store(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_store(out_ptr + i, tl.atomic_load(x_ptr + i, mask=i < n, sem="relaxed"), mask=i < n)


@pytest.mark.skipif(not hasattr(tl, "atomic_load"), reason="newer than this Triton")
@pytest.mark.parametrize("dtype", ("i1", "i8", "i16", "f16", "i32", "f32", "i64", "f64"))
def test_atomic_load_and_store(run, dtype):
    x, out = numeric.random(50, dtype), numeric.poisoned(64, dtype)
    nothing = numeric.array(out.clone())
    run(load_and_store, 1, numeric.tensor(np.resize(x, 64), dtype), out, 50, 64)
    numeric.assert_same(out, np.concatenate([x, nothing[50:]]))


@triton.jit
def poll(flags, out, wanted, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.atomic_poll(flags + i, wanted, timeout_ns=1000))


@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="newer than this Triton")
@pytest.mark.parametrize("dtype", ("i32", "i64", "i16"))
def test_poll_times_out(run, dtype):
    flags = np.array([5, 0, 5, 7, 5, 5, 1, 5])
    out = numeric.poisoned(8, "i1")
    run(poll, 1, numeric.tensor(flags, dtype), out, 5, 8)
    numeric.assert_same(out, flags == 5)


@triton.jit
def relay(flags, out):
    """Each program waits for the one before it."""
    i = tl.program_id(0)
    if i > 0:
        tl.atomic_poll(flags + i - 1, 1)
    tl.store(out + i, tl.where(i > 0, tl.load(out + tl.maximum(i, 1) - 1, volatile=True), 0) + i)
    tl.atomic_xchg(flags + i, 1)


@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="newer than this Triton")
def test_poll_hands_over(run):
    flags, out = numeric.tensor(np.zeros(30), "i32"), numeric.poisoned(30, "i32")
    run(relay, 30, flags, out)
    numeric.assert_same(out, np.cumsum(np.arange(30)).astype(np.int32))


@triton.jit
def wait_for_the_next(flags, out):
    """Each program waits for the one behind it, five seconds at most, and says whether it came."""
    i, last = tl.program_id(0), tl.num_programs(0) - 1
    came = True
    if i < last:
        came = tl.atomic_poll(flags + i + 1, 1, timeout_ns=5_000_000_000)
    tl.store(out + i, came)
    tl.atomic_xchg(flags + i, 1)


@pytest.mark.skipif(not hasattr(tl, "atomic_poll"), reason="newer than this Triton")
def test_waiting_for_a_later_program(run):
    """Short launches go to one thread once they are known to be short; these must not."""
    numeric.interpreter_is_wrong("programs run one after another", True)
    if cores() < 2:
        pytest.skip("one worker runs one program at a time")
    flags, out = numeric.tensor([1, 1], "i32"), numeric.tensor([0, 0], "i1")
    for _ in range(5):
        run(wait_for_the_next, 2, flags, out)
    for _ in range(3):
        flags.zero_(), out.zero_()
        run(wait_for_the_next, 2, flags, out)
        numeric.assert_same(out, np.array([True, True]))


@triton.jit
def spin_for_the_next(flags, out):
    """The same with a loop of one's own, which gives up too."""
    i, last, turns = tl.program_id(0), tl.num_programs(0) - 1, 0
    while (i < last) & (turns < 1_000_000_000) & (tl.load(flags + i + 1, volatile=True) == 0):
        turns += 1
    tl.store(out + i, turns < 1_000_000_000)
    tl.atomic_xchg(flags + i, 1)


def test_spinning_for_a_later_program(run):
    numeric.interpreter_is_wrong("programs run one after another", True)
    if cores() < 2:
        pytest.skip("one worker runs one program at a time")
    flags, out = numeric.tensor([1, 1], "i32"), numeric.tensor([0, 0], "i1")
    for _ in range(5):
        run(spin_for_the_next, 2, flags, out)
    flags.zero_(), out.zero_()
    run(spin_for_the_next, 2, flags, out)
    numeric.assert_same(out, np.array([True, True]))
