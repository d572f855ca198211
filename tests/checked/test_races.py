"""check=race: accesses of two programs that nothing orders are found, whatever order the programs run in;
what locks, flags and counters order is silent."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from checked import launches
from checked.launches import arrays
from triton_spirv.errors import LaunchError
from triton_spirv.tools.spirv_tools import validate

found = partial(launches.found, "race")


def zeros(size: int, dtype: str = "float32") -> Any:
    return triton_spirv.asarray(np.zeros(size, dtype))


# ---- plain accesses


@triton.jit
def copy(x, o, n, step, BLOCK: tl.constexpr):
    i = tl.program_id(0) * step + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n, other=-1), mask=i < n)


@pytest.mark.parametrize("size, block", [(1000, 256), (5, 4), (64, 16), (4096, 1024), (33, 32)])
@pytest.mark.parametrize("dtype", ["float32", "int8", "float16", "float64"])
def test_blocks_that_overlap(size: int, block: int, dtype: str) -> None:
    x, o = arrays(np.arange(size).astype(dtype), np.zeros(size, dtype))
    grid = triton.cdiv(size, block)
    assert not found(lambda: copy[(grid,)](x, o, size, block, BLOCK=block))
    finding, = found(lambda: copy[(grid,)](x, o, size, block - 1, BLOCK=block))
    assert finding.check == "race" and finding.argument == "o" and finding.index == (block - 1,)
    assert finding.program == (0, 0, 0) and finding.other.program == (1, 0, 0)
    assert finding.line == finding.other.line and finding.source.startswith("tl.store(o + i")
    assert finding.message == (f"store at o[{block - 1}] by program (0, 0, 0), and store there by program "
                               "(1, 0, 0): nothing orders them")


def test_many_launches_of_one_kernel() -> None:
    """What an earlier launch left in shadow memory is nothing."""
    x, o, other = arrays(np.arange(1000.0, dtype=np.float32), np.zeros(1000, np.float32),
                         np.zeros(5000, np.float32))
    for _ in range(3):
        assert not found(lambda: copy[(4,)](x, o, 1000, 256, BLOCK=256))
        assert not found(lambda: copy[(500,)](x, o, 1000, 256, BLOCK=256))
        assert not found(lambda: copy[(4,)](x, other, 1000, 256, BLOCK=256))
        assert found(lambda: copy[(4,)](x, o, 1000, 200, BLOCK=256))


@triton.jit
def shifted(x, o, n, by, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i + by >= 0) & (i + by < n)
    value = tl.load(x + i + by, mask=inside, other=0)
    tl.store(o + i, value, mask=i < n)


@pytest.mark.parametrize("by", [1, -1, 64])
def test_in_place(by: int) -> None:
    """One program reads what its neighbour writes; which one runs first does not matter."""
    x, o = arrays(np.arange(256.0, dtype=np.float32), np.zeros(256, np.float32))
    assert not found(lambda: shifted[(4,)](x, o, 256, by, BLOCK=64))
    assert not found(lambda: shifted[(4,)](x, x, 256, 0, BLOCK=64))
    finding, = found(lambda: shifted[(4,)](x, x, 256, by, BLOCK=64))
    assert {finding.line, finding.other.line} == {line_of(shifted, "value ="), line_of(shifted, "tl.store")}
    assert abs(finding.program[0] - finding.other.program[0]) == 1


def line_of(kernel: Any, start: str) -> int:
    """The line of the file that begins so."""
    lines, first = kernel.raw_src, kernel.starting_line_number
    return first + next(i for i, line in enumerate(lines) if line.strip().startswith(start))


def test_views_of_one_array() -> None:
    whole = np.zeros(300, np.float32)
    x, o = (triton_spirv.asarray(part) for part in (whole[:256], whole[44:]))
    finding, = found(lambda: shifted[(4,)](x, o, 256, 0, BLOCK=64))
    assert finding.other is not None
    apart = triton_spirv.asarray(np.zeros(256, np.float32))
    assert not found(lambda: shifted[(4,)](x, apart, 256, 0, BLOCK=64))


@triton.jit
def tiles(o, height, width, row, H: tl.constexpr, W: tl.constexpr):
    r = tl.program_id(1) * H + tl.arange(0, H)[:, None]
    c = tl.program_id(0) * W + tl.arange(0, W)[None, :]
    tl.store(o + r * row + c, tl.program_id(0) * 100 + tl.program_id(1), mask=(r < height) & (c < width))


def test_tiles() -> None:
    o = triton_spirv.asarray(np.zeros((60, 70), np.int32))
    assert not found(lambda: tiles[(3, 4)](o, 60, 70, 70, H=16, W=32))
    finding, = found(lambda: tiles[(3, 4)](o, 59, 75, 70, H=16, W=32))  # rows run into the next
    assert len(finding.index) == 2 and finding.program != finding.other.program


@triton.jit
def one_number(o, n, program):
    if tl.program_id(0) == program or tl.program_id(0) == n:
        tl.store(o, tl.program_id(0))


def test_numbers() -> None:
    o = zeros(1, "int32")
    assert not found(lambda: one_number[(8,)](o, 9, 3))
    finding, = found(lambda: one_number[(8,)](o, 5, 3))
    assert (finding.program, finding.other.program) == ((3, 0, 0), (5, 0, 0))


@triton.jit
def readers_and_writer(x, o, writer):
    p = tl.program_id(0)
    if p == writer:
        tl.store(x, 1.0)
    else:
        tl.store(o + p, tl.load(x))


@pytest.mark.parametrize("writer", [0, 3, 7])
def test_many_readers(writer: int) -> None:
    assert not found(lambda: readers_and_writer[(8,)](zeros(1), zeros(8), -1))
    finding, = found(lambda: readers_and_writer[(8,)](zeros(1), zeros(8), writer))
    assert (finding.program == (writer, 0, 0)) != (finding.other.program == (writer, 0, 0))


@triton.jit
def read_then_write(x, o):
    p = tl.program_id(0)
    tl.store(o + p, tl.load(x))
    if p == 0:
        tl.store(x, 1.0)


def test_the_writer_has_read_too() -> None:
    finding, = found(lambda: read_then_write[(2,)](zeros(1), zeros(2)))
    assert {finding.program, finding.other.program} == {(0, 0, 0), (1, 0, 0)}


@triton.jit
def wide_and_narrow(wide, narrow, shift):
    p = tl.program_id(0)
    if p == 0:
        tl.store(wide, 1.0)
    else:
        tl.store(narrow + shift, tl.cast(p, tl.int8))


@pytest.mark.parametrize("shift, races", [(-1, False), (0, True), (3, True), (4, False)])
def test_bytes_of_a_word(shift: int, races: bool) -> None:
    memory = np.zeros(16, np.int8)
    wide, narrow = triton_spirv.asarray(memory[4:8].view(np.float32)), triton_spirv.asarray(memory[4:])
    assert bool(found(lambda: wide_and_narrow[(2,)](wide, narrow, shift))) == races


@triton.jit
def chosen(x, y, o, which):
    p = tl.program_id(0)
    tl.store((x if p < which else y) + 0, p)
    tl.store(o + p, p)


def test_one_of_two_arguments() -> None:
    x, y = zeros(1, "int32"), zeros(1, "int32")
    assert not found(lambda: chosen[(2,)](x, y, zeros(2, "int32"), 1))
    finding, = found(lambda: chosen[(2,)](x, y, zeros(2, "int32"), 2))
    assert finding.argument == "x"
    finding, = found(lambda: chosen[(2,)](x, y, zeros(2, "int32"), 0))
    assert finding.argument == "y"
    assert found(lambda: chosen[(2,)](x, x, zeros(2, "int32"), 1))


@triton.jit(noinline=True)
def put(o, value):
    tl.store(o, value)


@triton.jit
def calling(o, step):
    put(o + tl.program_id(0) * step, tl.program_id(0))


def test_calls() -> None:
    assert not found(lambda: calling[(4,)](zeros(4, "int32"), 1))
    finding, = found(lambda: calling[(4,)](zeros(4, "int32"), 0))
    assert finding.source == "tl.store(o, value)"


@triton.jit
def scattered(at, o, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + tl.load(at + i), i)


def test_scatter() -> None:
    at = np.random.default_rng(0).permutation(256).astype(np.int32)
    assert not found(lambda: scattered[(4,)](*arrays(at, np.zeros(256, np.int32)), BLOCK=64))
    at[200] = at[17]
    finding, = found(lambda: scattered[(4,)](*arrays(at, np.zeros(256, np.int32)), BLOCK=64))
    assert (finding.program, finding.other.program) == ((0, 0, 0), (3, 0, 0))
    assert finding.index == (at[17],) and finding.count == 1


# ---- atomic operations, locks, flags


@triton.jit
def counting(x, o, SEM: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(o + tl.load(x + i), 1, sem=SEM)


@triton.jit
def counting_and_reading(x, o, r, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(o + tl.load(x + i), 1)
    tl.store(r + tl.program_id(0), tl.load(o + 3))


@pytest.mark.parametrize("sem", ["relaxed", "acq_rel"])
def test_histogram(sem: str) -> None:
    x = np.random.default_rng(0).integers(0, 10, 1024).astype(np.int32)
    o = np.zeros(10, np.int32)
    assert not found(lambda: counting[(8,)](*arrays(x, o), SEM=sem, BLOCK=128))
    np.testing.assert_array_equal(o, np.bincount(x, minlength=10))


def test_atomic_and_plain() -> None:
    x = np.full(1024, 3, np.int32)
    finding, = found(lambda: counting_and_reading[(8,)](*arrays(x, np.zeros(10, np.int32)), zeros(8, "int32"),
                                                        BLOCK=128))
    assert finding.index == (3,) and {"load", "atomic"} == {
        word for word in ("load", "atomic") if f"{word} at" in finding.message or
        f"{word} there" in finding.message}


@triton.jit
def locked_sum(x, total, lock, SEM: tl.constexpr, SCOPE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(lock, 0, 1, sem=SEM, scope=SCOPE) == 1:
        pass
    tl.store(total + i, tl.load(total + i) + value)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, sem=SEM, scope=SCOPE)


@pytest.mark.parametrize("programs", [2, 7, 64])
def test_lock(programs: int) -> None:
    x, total = np.ones((programs, 64), np.float32), np.zeros(64, np.float32)
    assert not found(lambda: locked_sum[(programs,)](*arrays(x, total), zeros(1, "int32"), SEM="acq_rel",
                                                     SCOPE="gpu", BLOCK=64))
    np.testing.assert_array_equal(total, programs)


@pytest.mark.parametrize("sem, scope", [("relaxed", "gpu"), ("acquire", "gpu"), ("release", "gpu"),
                                        ("acq_rel", "cta")])
def test_lock_that_orders_nothing(sem: str, scope: str) -> None:
    x = np.ones((8, 64), np.float32)
    findings = found(lambda: locked_sum[(8,)](*arrays(x), zeros(64), zeros(1, "int32"), SEM=sem, SCOPE=scope,
                                              BLOCK=64))
    places = {(finding.line, finding.other.line) for finding in findings if finding.argument == "total"}
    line = line_of(locked_sum, "tl.store(total")
    assert (line, line) in places


@triton.jit
def norm_backward(x, partial, lock, columns, GROUP: tl.constexpr, BLOCK: tl.constexpr, LOCKS: tl.constexpr):
    row, c = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + c, mask=c < columns, other=0)
    group = row % GROUP
    lock += group
    count = lock + GROUP
    partial += group * columns + c
    if LOCKS:
        while tl.atomic_cas(lock, 0, 1) == 1:
            pass
    if tl.load(count) == 0:
        tl.atomic_xchg(count, 1)
    else:
        value += tl.load(partial, mask=c < columns)
    tl.store(partial, value, mask=c < columns)
    tl.debug_barrier()
    if LOCKS:
        tl.atomic_xchg(lock, 0)


def test_partial_sums_under_locks() -> None:
    """Sums of rows in groups, as the backward pass of layer norm makes them."""
    x = np.random.default_rng(0).normal(size=(50, 100)).astype(np.float32)
    partial = np.full((4, 100), np.nan, np.float32)
    assert not found(lambda: norm_backward[(50,)](*arrays(x, partial), zeros(8, "int32"), 100, GROUP=4,
                                                  BLOCK=128, LOCKS=True))
    np.testing.assert_allclose(partial.sum(0), x.sum(0), rtol=1e-4, atol=1e-4)
    assert found(lambda: norm_backward[(50,)](*arrays(x, partial), zeros(8, "int32"), 100, GROUP=4, BLOCK=128,
                                              LOCKS=False))


@triton.jit
def last_one_adds(x, partial, count, o, SEM: tl.constexpr, BLOCK: tl.constexpr):
    p, programs = tl.program_id(0), tl.num_programs(0)
    tl.store(partial + p, tl.sum(tl.load(x + p * BLOCK + tl.arange(0, BLOCK))))
    if tl.atomic_add(count, 1, sem=SEM) == programs - 1:
        i = tl.arange(0, BLOCK)
        tl.store(o, tl.sum(tl.load(partial + i, mask=i < programs, other=0)))


def test_the_last_one_adds() -> None:
    def launch(sem: str) -> None:
        last_one_adds[(20,)](*arrays(x), zeros(20), zeros(1, "int32"), *arrays(o), SEM=sem, BLOCK=32)

    x, o = np.ones((20, 32), np.float32), np.zeros(1, np.float32)
    assert not found(lambda: launch("acq_rel"))
    assert o[0] == 640
    finding, = found(lambda: launch("relaxed"))
    assert finding.argument == "partial"


@triton.jit
def chained(x, o, flags, SEM: tl.constexpr, BLOCK: tl.constexpr):
    p, i = tl.program_id(0), tl.arange(0, BLOCK)
    value = tl.load(x + p * BLOCK + i)
    if p > 0:
        while tl.atomic_cas(flags + p - 1, 1, 1, sem=SEM) != 1:
            pass
        value += tl.load(o + (p - 1) * BLOCK + i)
    tl.store(o + p * BLOCK + i, value)
    tl.atomic_xchg(flags + p, 1, sem=SEM)


def test_each_waits_for_the_one_before() -> None:
    x, o = np.ones((30, 16), np.float32), np.zeros((30, 16), np.float32)
    assert not found(lambda: chained[(30,)](*arrays(x, o), zeros(30, "int32"), SEM="acq_rel", BLOCK=16))
    np.testing.assert_array_equal(o[-1], 30)
    finding, = found(lambda: chained[(30,)](*arrays(x, o), zeros(30, "int32"), SEM="relaxed", BLOCK=16))
    assert {finding.line, finding.other.line} == {line_of(chained, "value += "),
                                                  line_of(chained, "tl.store")}
    assert abs(finding.program[0] - finding.other.program[0]) == 1


@triton.jit
def looking(x, o, flag, RELEASES: tl.constexpr, WIDE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if tl.program_id(0) == 0:
        tl.store(x + i, i)
        tl.atomic_xchg(flag, 1, sem="release" if RELEASES else "relaxed")
    else:
        if WIDE:
            while tl.sum(tl.load(flag + i * 0, volatile=True)) < BLOCK:
                pass
        else:
            while tl.load(flag, volatile=True) == 0:
                pass
        tl.store(o + i, tl.load(x + i))


@pytest.mark.parametrize("wide", [False, True])
def test_flags_that_are_looked_at(wide: bool) -> None:
    def launch(releases: bool) -> None:
        x, o, flag = zeros(64, "int32"), np.zeros(64, np.int32), zeros(1, "int32")
        looking[(2,)](x, *arrays(o), flag, RELEASES=releases, WIDE=wide, BLOCK=64)
        np.testing.assert_array_equal(o, np.arange(64))

    for _ in range(5):
        assert not found(lambda: launch(True))
    finding, = found(lambda: launch(False))
    assert finding.argument == "x"


@triton.jit
def by_ticket(o, counter, n, overlap, BLOCK: tl.constexpr):
    tile = tl.atomic_add(counter, 1)
    while tile < n:
        tl.store(o + tile * (BLOCK - overlap) + tl.arange(0, BLOCK), tile)
        tile = tl.atomic_add(counter, 1)


def test_tickets() -> None:
    o = zeros(64 * 16, "int32")
    assert not found(lambda: by_ticket[(4,)](o, zeros(1, "int32"), 64, 0, BLOCK=16))


@triton.jit
def waiting(x, o, flag, idle, rounds, WAIT: tl.constexpr, SEM: tl.constexpr, BLOCK: tl.constexpr):
    """The first program counts long before it gives the others something."""
    p, i = tl.program_id(0), tl.arange(0, BLOCK)
    if p == 0:
        for _ in range(rounds):
            tl.atomic_add(idle, 1, sem="acq_rel")
        tl.store(x + i, i)
        tl.atomic_add(flag, 1, sem=SEM)
    else:
        if WAIT == "add":
            while tl.atomic_add(flag, 0, sem=SEM) == 0:
                pass
        elif WAIT == "cas":
            while tl.atomic_cas(flag, 1, 1, sem=SEM) == 0:
                pass
        elif WAIT == "max":
            while tl.atomic_max(flag, 0, sem=SEM) == 0:
                tl.atomic_add(idle, 0, sem=SEM)
        else:
            tl.atomic_poll(flag, 1, sem="acquire" if SEM == "acq_rel" else SEM)
        tl.store(o + p * BLOCK + i, tl.load(x + i))


@pytest.mark.parametrize("wait", ["add", "cas", "max", *["poll"] * hasattr(tl, "atomic_poll")])
@pytest.mark.parametrize("rounds", [10_000, 100_000])
def test_long_waits(wait: str, rounds: int) -> None:
    """Of rounds in which a program does nothing else its clock takes no notice, and what it does behind them
    is ordered as ever."""
    def launch(sem: str) -> np.ndarray:
        o = np.zeros((3, 16), np.int32)
        waiting[(3,)](zeros(16, "int32"), *arrays(o), zeros(1, "int32"), zeros(1, "int32"), rounds, WAIT=wait,
                      SEM=sem, BLOCK=16)
        return o

    made = []
    assert not found(lambda: made.append(launch("acq_rel")))
    np.testing.assert_array_equal(made[0][1:], [np.arange(16)] * 2)
    findings = found(lambda: launch("relaxed"))
    assert findings and {finding.argument for finding in findings} == {"x"}


@triton.jit
def counted(count, o, rounds, BLOCK: tl.constexpr):
    """Each round of each program counts; what they do afterwards is theirs."""
    while tl.atomic_add(count, 1) < rounds:
        pass
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(o + i) + 1)


def test_a_counter_that_ends_a_wait() -> None:
    assert not found(lambda: counted[(4,)](zeros(1, "int32"), zeros(64), 300_000, BLOCK=16))


@triton.jit
def exchanged(lock, x, rounds, LOCKS: tl.constexpr):
    """A lock that is taken by exchanges: each of them releases."""
    for _ in range(rounds):
        if LOCKS:
            while tl.atomic_xchg(lock, 1) == 1:
                pass
        tl.store(x, tl.load(x) + 1)
        if LOCKS:
            tl.atomic_xchg(lock, 0)


def test_a_lock_of_exchanges() -> None:
    x = np.zeros(1, np.int32)
    assert not found(lambda: exchanged[(4,)](zeros(1, "int32"), *arrays(x), 500, LOCKS=True))
    assert x[0] == 2000
    assert found(lambda: exchanged[(4,)](zeros(1, "int32"), zeros(1, "int32"), 500, LOCKS=False))


def test_more_releases_than_can_be_followed() -> None:
    """What it did before each is new: it is said that nobody knows."""
    with pytest.raises(LaunchError, match="releases what it did too often"):
        found(lambda: exchanged[(2,)](zeros(1, "int32"), zeros(1, "int32"), 70_000, LOCKS=True))


@triton.jit
def split_sum(x, o, BLOCK: tl.constexpr):
    p, i = tl.program_id(0), tl.arange(0, BLOCK)
    tl.atomic_add(o + i, tl.load(x + p * BLOCK + i))


def test_split_sum() -> None:
    x, o = np.ones((40, 64), np.float32), np.zeros(64, np.float32)
    assert not found(lambda: split_sum[(40,)](*arrays(x, o), BLOCK=64))
    np.testing.assert_array_equal(o, 40)


def test_more_programs_than_can_be_followed() -> None:
    with pytest.raises(LaunchError, match="check=race takes fewer programs"):
        found(lambda: norm_backward[(1 << 27,)](zeros(1), zeros(1), zeros(8, "int32"), 0, GROUP=4, BLOCK=16,
                                                LOCKS=True))


@triton.jit
def table(x, at, o, count, late, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """All read elements of a table, which the last one writes; one program may read it again too late."""
    p, i = tl.program_id(0), tl.arange(0, BLOCK)
    index = tl.load(at + p * BLOCK + i)
    v = tl.load(x + index)
    last = tl.atomic_add(count, 1) == tl.num_programs(0) - 1
    if p == late:
        v += tl.load(x + index)
    tl.store(o + p, tl.sum(v, 0))
    if last:
        tl.store(x + tl.arange(0, SIZE), 0)


@pytest.mark.parametrize("programs", [8, 100])
def test_many_readers_of_random_elements(programs: int) -> None:
    """Few, whose elements have lists of them, and so many that these become rows."""
    at = np.random.default_rng(0).integers(0, 64, (programs, 32)).astype(np.int32)
    for late in (-1, 5):
        findings = found(lambda late=late: table[(programs,)](
            zeros(64), *arrays(at), zeros(programs), zeros(1, "int32"), late, SIZE=64, BLOCK=32))
        assert len(findings) == (late >= 0)
        for finding in findings:
            assert late in (finding.program[0], finding.other.program[0])
            assert finding.index[0] in at[late]


# ---- one store, one element, two values


def test_a_store_that_writes_twice() -> None:
    at = np.arange(64, dtype=np.int32)
    at[40] = 3
    finding, = found(lambda: scattered[(1,)](*arrays(at, np.zeros(64, np.int32)), BLOCK=64))
    assert finding.message == "this store writes o[3] more than once, and not the same value"
    assert finding.other is None and finding.index == (3,)


@triton.jit
def repeated(o, step, H: tl.constexpr, W: tl.constexpr):
    r, c = tl.arange(0, H)[:, None], tl.arange(0, W)[None, :]
    tl.store(o + r + tl.zeros((H, W), tl.int32), r + c * step)


def test_a_store_of_repeated_places() -> None:
    assert not found(lambda: repeated[(1,)](zeros(8, "int32"), 0, H=8, W=4))
    finding, = found(lambda: repeated[(1,)](zeros(8, "int32"), 1, H=8, W=4))
    assert "more than once" in finding.message and finding.source.startswith("tl.store(o + r")


@triton.jit
def strided(o, heights, widths, rows, columns, SAME: tl.constexpr, H: tl.constexpr, W: tl.constexpr):
    r, c = tl.arange(0, H)[:, None], tl.arange(0, W)[None, :]
    v = (r + c) * 0 if SAME else r * W + c
    tl.store(o + 64 + r * heights + c * widths, v, mask=(r < rows) & (c < columns))


@pytest.mark.parametrize("heights, widths, rows, columns, count", [
    (16, 1, 8, 16, 0), (10, 1, 8, 10, 0), (1, 8, 8, 16, 0), (-16, 1, 4, 16, 0), (16, -1, 8, 16, 0),
    (3, 5, 5, 3, 0), (10, 1, 8, 11, 7), (16, 0, 8, 2, 8), (0, 1, 2, 16, 16), (0, 1, 1, 16, 0),
    (5, 1, 8, 10, 35)])
def test_strides_that_give_two_elements_one_place(heights: int, widths: int, rows: int, columns: int,
                                                  count: int) -> None:
    def launch(same: bool = False) -> None:
        strided[(1,)](zeros(320, "int32"), heights, widths, rows, columns, SAME=same, H=8, W=16)

    strided.device_caches.clear()
    findings = found(launch)
    assert [finding.count for finding in findings] == [count] * (count > 0)
    if findings:
        assert "more than once" in findings[0].message and findings[0].source.startswith("tl.store(o + 64")
        assert not found(lambda: launch(True))


@triton.jit
def of_one_axis(o, step, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i * step, i)


@triton.jit
def of_three_axes(o, x, y, z, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c = i[:, None, None], i[None, :, None], i[None, None, :]
    tl.store(o + a * x + b * y + c * z, a * N * N + b * N + c)


def test_strides_of_other_ranks() -> None:
    for step, count in ((2, 0), (1, 0), (-1, 0), (0, 1)):
        o = zeros(256, "int32")[128:]
        assert len(found(lambda step=step, o=o: of_one_axis[(1,)](o, step, BLOCK=64))) == count
    for strides, count in (((64, 8, 1), 0), ((1, 64, 8), 0), ((8, 64, 1), 0), ((64, 4, 1), 1),
                           ((60, 8, 1), 1)):
        assert len(found(lambda s=strides: of_three_axes[(1,)](zeros(512, "int32"), *s, N=8))) == count


# ---- with the other checks


@pytest.mark.parametrize("checks", ["race", "all"])
def test_modules_are_valid(checks: str) -> None:
    x, o, count = zeros(256), zeros(256), zeros(8, "int32")
    kernels = [copy[(2,)](x, o, 256, 128, BLOCK=128, check=checks),
               scattered[(1,)](*arrays(np.arange(64, dtype=np.int32), np.zeros(64, np.int32)), BLOCK=64,
                               check=checks),
               norm_backward[(2,)](x, o, count, 100, GROUP=2, BLOCK=128, LOCKS=True, check=checks)]
    for kernel in kernels:
        validate(kernel.asm["spv"])


def test_all_checks_together() -> None:
    x, o = arrays(np.arange(1000.0, dtype=np.float32), np.zeros(1000, np.float32))
    assert not launches.found("all", lambda: copy[(4,)](x, o, 1000, 256, BLOCK=256))
    findings = launches.found("all", lambda: copy[(5,)](x, o, 1020, 255, BLOCK=256))
    assert {finding.check for finding in findings} == {"bounds", "race"}
    x, total = np.ones((9, 64), np.float32), np.zeros(64, np.float32)
    assert not launches.found("all", lambda: locked_sum[(9,)](*arrays(x, total), zeros(1, "int32"),
                                                              SEM="acq_rel", SCOPE="gpu", BLOCK=64))
    np.testing.assert_array_equal(total, 9)
