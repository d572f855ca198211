"""What an acquiring or releasing operation of one lane has to order: the accesses of all lanes."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from triton_spirv.runtime.processor import cores

SPIRV_MODES = ("vector", "simt8", "simt", "simt32", "vulkan")
WARPS = (1, 2, 4, 8)
ROUNDS = 5  # launches of a test: who comes first is chance


@triton.jit
def say_one_by_one(data, flags, N: tl.constexpr, DELAY: tl.constexpr):
    """data[k] = k + 1, then flags[k] = 1, one after the other."""
    for k in range(N):
        for turn in range(DELAY):
            tl.store(data + k, -turn)
        tl.store(data + k, k + 1)
        tl.atomic_xchg(flags + k, 1, sem="release")


@triton.jit
def poll_all(data, flags, out, first, N: tl.constexpr, KIND: tl.constexpr):
    """Program 1 waits for every flag, and then reads data in the other order: what a lane reads belongs to a
    flag that another lane waited for."""
    i = tl.arange(0, N)
    if tl.program_id(0) + first == 0:
        say_one_by_one(data, flags, N, 20)
    else:
        if KIND == "acquire":
            tl.atomic_poll(flags + i, 1)
        elif KIND == "result":
            tl.device_assert(tl.atomic_poll(flags + i, 1))
        elif KIND == "relaxed":
            tl.atomic_poll(flags + i, 1, sem="relaxed")
        elif KIND == "scalar":
            tl.atomic_poll(flags + N - 1, 1)
        elif KIND == "timeout":
            tl.atomic_poll(flags + i, 1, timeout_ns=10_000_000_000)
        elif KIND == "cas":
            while tl.atomic_cas(flags + N - 1, 1, 1, sem="acquire") == 0:
                pass
        elif KIND == "load":
            while tl.atomic_load(flags + N - 1) == 0:
                pass
        elif KIND == "volatile":
            while tl.load(flags + N - 1, volatile=True) == 0:
                pass
        elif KIND == "volatiles":
            while tl.sum(tl.load(flags + i, volatile=True)) < N:
                pass
        tl.store(out + i, tl.load(data + (N - 1 - i)))


KINDS = ("acquire", "relaxed", "scalar", "timeout", "cas", "load", "volatile", "volatiles")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("warps", WARPS)
def test_lanes_wait_for_each_others_flags(run, mode, warps, kind):
    numeric.interpreter_is_wrong("programs run one after another")
    if not hasattr(tl, "atomic_poll"):
        pytest.skip("newer than this Triton")
    size = 64
    for _ in range(ROUNDS):
        data, flags = numeric.tensor(np.zeros(size), "i32"), numeric.tensor(np.zeros(size), "i32")
        out = numeric.poisoned(size, "i32")
        if mode == "vulkan":  # its software device gives up waiting: one after the other
            run(poll_all, 1, data, flags, out, 0, size, kind, num_warps=warps)
            made = run(poll_all, 1, data, flags, out, 1, size, kind, num_warps=warps)
        else:
            made = run(poll_all, 2, data, flags, out, 0, size, kind, num_warps=warps)
        numeric.assert_same(out, np.arange(size, 0, -1, dtype=np.int32))
    if mode != "vector":
        assert has_barrier_behind_wait(made.asm["spvasm"])


def has_barrier_behind_wait(listing: str) -> bool:
    """Is there a barrier between the last access that waits and the last load?"""
    # not the word that says that a loop was cut short
    lines = [line for line in listing.splitlines() if "%assert_buffer" not in line]
    load = max(k for k, line in enumerate(lines) if "= OpLoad" in line and "Aligned" in line)
    wait = max(k for k, line in enumerate(lines[:load]) if "OpAtomic" in line or "Volatile" in line)
    return any("OpControlBarrier" in line for line in lines[wait:load])


@triton.jit
def turn_under_a_lock(lock, data, N: tl.constexpr):
    i = tl.arange(0, N)
    while tl.atomic_cas(lock, 0, 1, sem="acquire") == 1:
        pass
    x = tl.load(data + (i + 1) % N)
    tl.store(data + i, x + 1)
    tl.atomic_xchg(lock, 0, sem="release")


@pytest.mark.parametrize("warps", WARPS)
def test_turned_under_a_lock(run, mode, warps):
    """Loads inside the lock come before the unlocking store too, and after the lock is taken."""
    size, programs = 128, 24
    for _ in range(ROUNDS):
        lock, data = numeric.tensor([0], "i32"), numeric.tensor(np.arange(size), "i32")
        for _ in range(programs if mode == "vulkan" else 1):  # its software device gives up waiting
            run(turn_under_a_lock, 1 if mode == "vulkan" else programs, lock, data, size, num_warps=warps)
        numeric.assert_same(data, np.roll(np.arange(size, dtype=np.int32), -programs) + programs)


@triton.jit
def copy_then_free(busy, data, out, rounds, N: tl.constexpr):
    """Program 0 fills a buffer and says so; program 1 copies it, and says that it may be filled again. The
    reads of all its lanes must be over by then."""
    i = tl.arange(0, N)
    if tl.program_id(0) == 0:
        for k in range(rounds):
            while tl.atomic_add(busy, 0, sem="acquire") == 1:
                pass
            tl.store(data + i, i + k * N)
            tl.atomic_xchg(busy, 1, sem="release")
    else:
        for k in range(rounds):
            while tl.atomic_add(busy, 0, sem="acquire") == 0:
                pass
            x = tl.load(data + (N - 1 - i))
            tl.atomic_xchg(busy, 0, sem="release")
            tl.store(out + k * N + i, x)


@pytest.mark.parametrize("warps", WARPS)
def test_reads_are_over_before_a_release(run, mode, warps):
    numeric.interpreter_is_wrong("programs run one after another")
    if mode == "vulkan" or cores() < 2:
        pytest.skip("the two programs wait for each other: that takes a worker for each")
    size, rounds = 128, 8
    busy, data = numeric.tensor([0], "i32"), numeric.tensor(np.zeros(size), "i32")
    out = numeric.poisoned((rounds, size), "i32")
    run(copy_then_free, 2, busy, data, out, rounds, size, num_warps=warps)
    numeric.assert_same(out, np.arange(size * rounds, dtype=np.int32).reshape(rounds, size)[:, ::-1])


@triton.jit
def read_then_release(busy, data, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(data + (N - 1 - i))
    tl.atomic_xchg(busy, 0, sem="release")
    tl.store(data + i, x)


@pytest.mark.parametrize("warps", WARPS)
def test_release_waits_for_reads_of_all_lanes(run, mode, warps):
    """With the xchg, another program may write what a slower lane has yet to read."""
    data = numeric.tensor(np.arange(128), "i32")
    made = run(read_then_release, 1, numeric.tensor([1], "i32"), data, 128, num_warps=warps)
    numeric.assert_same(data, np.arange(127, -1, -1, dtype=np.int32))
    if made is not None and mode != "vector":
        lines = made.asm["spvasm"].splitlines()
        load = next(k for k, line in enumerate(lines) if "= OpLoad i32" in line and "Aligned" in line)
        release = next(k for k, line in enumerate(lines) if "OpAtomicExchange" in line)
        assert any("OpControlBarrier" in line for line in lines[load:release])


@triton.jit
def add_only(x_ptr, out_ptr, N: tl.constexpr):
    tl.atomic_add(out_ptr + tl.arange(0, N), tl.load(x_ptr + tl.arange(0, N)))


@triton.jit
def count_block(x_ptr, out_ptr, N: tl.constexpr):
    for k in range(4):
        tl.atomic_add(out_ptr + tl.load(x_ptr + k * N + tl.arange(0, N)), 1, sem="relaxed")


@pytest.mark.parametrize("kernel", (add_only, count_block), ids=lambda kernel: kernel.__name__)
def test_reads_of_what_nobody_writes_need_no_barrier(run, mode, kernel):
    """Memory that the kernel does not write through its argument is read in any order."""
    x, out = numeric.tensor(np.zeros(256), "i32"), numeric.tensor(np.zeros(64), "i32")
    made = run(kernel, 1, x, out, 64, num_warps=1)
    if made is not None and kernel is add_only:
        assert "OpControlBarrier" not in made.asm["spvasm"]


@triton.jit
def after_the_program_before(flags, out):
    here = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    tl.atomic_poll(flags + tl.maximum(here - 1, 0), (here > 0).to(tl.int32))
    tl.store(out + here + 1, tl.load(out + here, volatile=True) + 1)
    tl.atomic_xchg(flags + here, 1)


@pytest.mark.parametrize("grid", [(12,), (3, 4), (4, 3), (1, 9), (2, 3, 4), (17, 2)], ids=str)
def test_programs_of_any_grid_start_in_order(run, mode, grid):
    """Whoever waits for the program before it waits for one that has started."""
    numeric.interpreter_is_wrong("programs run one after another")
    if not hasattr(tl, "atomic_poll"):
        pytest.skip("newer than this Triton")
    if mode != "vector" and len(grid) > 1:
        pytest.skip("lanes that share a program start as the device starts them")
    count = int(np.prod(grid))
    left, cut = ROUNDS, 0
    while left:
        flags, out = numeric.tensor(np.zeros(count), "i32"), numeric.tensor(np.zeros(count + 1), "i32")
        try:
            run(after_the_program_before, grid, flags, out)
        except RuntimeError as error:  # a program waited for one that a busy machine did not let run
            cut += 1
            assert mode == "vulkan" and "ends loops after" in str(error) and cut < 20
            continue
        numeric.assert_same(out, np.arange(count + 1, dtype=np.int32))
        left -= 1
