"""check=uninit: what nobody has written in memory of torch.empty and triton_spirv.empty is found where it is
used, and only there; whoever writes it, kernels, torch or numpy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import prepared
import pytest
import torch
import triton
import triton.language as tl
import triton_spirv
from checked import launches
from triton_spirv import CheckError, unwritten
from triton_spirv.errors import UsageError
from triton_spirv.tools.spirv_tools import validate

found = partial(launches.found, "uninit")


def empty(*shape: int, dtype: Any = torch.float32) -> torch.Tensor:
    """A tensor that nobody has written."""
    with triton_spirv.checked("uninit"):
        return torch.empty(*shape, dtype=dtype)


@triton.jit
def copy(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n, other=0), mask=i < n)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int8, torch.float64, torch.bfloat16])
@pytest.mark.parametrize("size, block", [(1000, 256), (7, 8), (1, 1), (64, 64), (3000, 2048)])
def test_who_writes(size: int, block: int, dtype: torch.dtype) -> None:
    x, o, grid = empty(size, dtype=dtype), empty(size, dtype=dtype), (triton.cdiv(size, block),)

    def launch(source: torch.Tensor, target: torch.Tensor) -> None:
        copy[grid](source, target, size, BLOCK=block)

    finding, = found(lambda: launch(x, o))
    assert finding.message.startswith("what this load reads of x, and nobody has written, reaches the store")
    assert finding.count == size and finding.source.startswith("tl.store(o + i, tl.load(x")
    x.copy_(torch.randint(0, 100, (size,)).to(dtype))  # no byte is one of the pattern
    other = empty(size, dtype=dtype)
    assert not found(lambda: launch(x, other))
    assert not found(lambda: launch(other, torch.zeros(size, dtype=dtype)))
    torch.testing.assert_close(other, x)


@pytest.mark.parametrize("written", [0, 4, 500, 996, 1000])
def test_a_part(written: int) -> None:
    x, y, o = torch.ones(1000), empty(1000), empty(1000)
    copy[(4,)](x, y, written, BLOCK=256)
    findings = found(lambda: copy[(4,)](y, o, 1000, BLOCK=256))
    assert sum(finding.count for finding in findings) == 1000 - written
    z, o = empty(1000), empty(1000)
    assert not found(lambda: copy[(4,)](x, z, written, BLOCK=256))
    findings = found(lambda: copy[(4,)](z, o, 1000, BLOCK=256))
    assert sum(finding.count for finding in findings) == 1000 - written
    if findings:
        assert written // 256 <= findings[0].program[0] < 4
    assert not found(lambda: copy[(4,)](z, torch.zeros(1000), written, BLOCK=256))


@triton.jit
def fill(o, value, begin, end, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, value, mask=(i >= begin) & (i < end))


@pytest.mark.parametrize("checks", ["uninit", "uninit,bounds", "all"])
@pytest.mark.parametrize("value", [7, unwritten.PATTERN - (1 << 32)])
def test_kernels_that_only_write(value: int, checks: str) -> None:
    """What they write is known, even if it is the pattern of what nobody has written."""
    x, o = empty(64, dtype=torch.int32), torch.zeros(64, dtype=torch.int32)
    assert not launches.found(checks, lambda: fill[(1,)](x, value, 4, 48, BLOCK=64))
    finding, = launches.found(checks, lambda: copy[(1,)](x, o, 64, BLOCK=64))
    assert finding.count == 4 + 16
    assert o[4:48].eq(value).all()
    assert not launches.found(checks, lambda: fill[(1,)](torch.ones(64), 7, 5, 50, BLOCK=64))


@pytest.mark.parametrize("dtype", [torch.int8, torch.float16, torch.int32, torch.float64])
@pytest.mark.parametrize("begin, end", [(0, 63), (1, 64), (5, 64), (1, 2), (14, 17), (0, 64)])
@pytest.mark.parametrize("first", [0, 1, 3])
def test_elements_beside_written_ones(first: int, begin: int, end: int, dtype: torch.dtype) -> None:
    """The same 16 bytes may hold what a kernel has written, and what nobody has."""
    with triton_spirv.checked("uninit"):
        x = torch.empty(64 + first, dtype=dtype)[first:]
    o = torch.zeros(64, dtype=dtype)
    assert not found(lambda: fill[(1,)](x, 7, begin, end, BLOCK=64))
    for _ in range(2):
        findings = found(lambda: copy[(1,)](x, o, 64, BLOCK=64))
        assert sum(finding.count for finding in findings) == 64 - (end - begin)
    x[:begin] = x[end:] = 1
    assert not found(lambda: copy[(1,)](x, o, 64, BLOCK=64))
    assert o[begin:end].eq(7).all()


def test_threads_that_write_parts_of_one_tensor() -> None:
    def write(part: torch.Tensor) -> None:
        with triton_spirv.checked("uninit"):
            fill[(1,)](part, 7, 0, 64, BLOCK=64)

    def read(x: torch.Tensor) -> None:
        copy[(32,)](x, torch.zeros(64 * 32), 64 * 32, BLOCK=64)

    for _ in range(5):
        x = empty(64 * 32)
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(write, x.split(64)))
        assert not found(partial(read, x))


def test_what_makes_memory() -> None:
    with triton_spirv.checked("uninit"):
        like = torch.ones(64)
        unwritten_ones = [torch.empty(8, 8).view(64), torch.empty_like(like), like.new_empty(64),
                          torch.empty_strided((64,), (1,)), triton_spirv.empty(64)]
        for made in unwritten_ones:
            with pytest.raises(CheckError, match="nobody has written"):
                copy[(1,)](made, like, 64, BLOCK=64)
        for made in (torch.zeros(64), torch.rand(64), torch.arange(64.0), triton_spirv.zeros(64),
                     triton_spirv.asarray(np.empty(64, np.float32)), torch.empty(64).fill_(2)):
            copy[(1,)](made, like, 64, BLOCK=64)
    outside = torch.empty(64)
    assert not found(lambda: copy[(1,)](outside, like, 64, BLOCK=64))


def test_numpy_writes_too() -> None:
    with triton_spirv.checked("uninit"):
        array, o = triton_spirv.empty((10, 10)), triton_spirv.empty(100)
    assert found(lambda: copy[(1,)](array, o, 100, BLOCK=128))
    array.numpy()[...] = 3
    assert not found(lambda: copy[(1,)](array, o, 100, BLOCK=128))


def test_marked_by_the_user() -> None:
    memory = np.ones(300, np.float32)
    triton_spirv.mark_uninitialised(memory[100:200])
    x, o = triton_spirv.asarray(memory), triton_spirv.asarray(np.zeros(300, np.float32))
    assert not found(lambda: copy[(1,)](x, o, 100, BLOCK=128))
    finding, = found(lambda: copy[(1,)](x, o, 300, BLOCK=512))
    assert finding.count == 100
    memory[100:200] = 1
    assert not found(lambda: copy[(1,)](x, o, 300, BLOCK=512))
    tensor = torch.ones(64)
    triton_spirv.mark_uninitialised(tensor)
    assert found(lambda: copy[(1,)](tensor, torch.zeros(64), 64, BLOCK=64))
    for wrong in (memory[::2], torch.ones(8, 8).T, 3):
        with pytest.raises(UsageError, match="contiguous"):
            triton_spirv.mark_uninitialised(wrong)


def test_memory_that_is_freed_is_forgotten() -> None:
    before = len(unwritten._known)
    for _ in range(50):
        empty(100_000)
    made = empty(10)
    assert len(unwritten._known) <= before + 3
    assert found(lambda: copy[(1,)](made, torch.ones(10), 10, BLOCK=16))


# ---- where it matters


@triton.jit
def dropped(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    tl.store(o + i, tl.where(i < n, v * 2, 0.0))


@triton.jit
def rows(x, o, width, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * width + c, mask=c < width, other=0.0)
    tl.store(o + tl.program_id(0), tl.sum(v, 0))


@triton.jit
def gathered(x, at, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + tl.load(at + i)))


@triton.jit
def branching(x, o):
    if tl.load(x) > 0:
        tl.store(o, 1.0)


@triton.jit
def summed(x, o, rounds, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(rounds):
        total += tl.load(x + k * BLOCK + i)
    tl.store(o + i, total)


@triton.jit
def product(x, y, o, SIZE: tl.constexpr):
    i, j = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    tl.store(o + i * SIZE + j, tl.dot(tl.load(x + i * SIZE + j), tl.load(y + i * SIZE + j)))


@triton.jit
def counted(x, o, BLOCK: tl.constexpr):
    tl.atomic_add(o + tl.load(x + tl.arange(0, BLOCK)), 1)


def test_elements_that_are_dropped() -> None:
    x = empty(64)
    x[:32] = 1
    assert not found(lambda: dropped[(1,)](x, torch.zeros(64), 32, BLOCK=64))
    finding, = found(lambda: dropped[(1,)](x, torch.zeros(64), 33, BLOCK=64))
    assert finding.count == 1 and finding.line == dropped.starting_line_number + 3


def test_sums_of_rows() -> None:
    x = empty(8, 100)
    x[:5] = 1
    finding, = found(lambda: rows[(8,)](x, torch.zeros(8), 100, BLOCK=128))
    assert finding.count == 3 and finding.program == (5, 0, 0)


def test_addresses_and_gathers() -> None:
    at, x = torch.arange(64, dtype=torch.int32), empty(64)
    x[:60] = 1
    finding, = found(lambda: gathered[(1,)](x, at, torch.zeros(64), BLOCK=64))
    assert finding.count == 4
    at[60:] = 3
    assert not found(lambda: gathered[(1,)](x, at, torch.zeros(64), BLOCK=64))
    unknown = empty(64, dtype=torch.int32)
    unknown[:] = 5
    assert not found(lambda: gathered[(1,)](x, unknown, torch.zeros(64), BLOCK=64))


def test_branches() -> None:
    finding, = found(lambda: branching[(1,)](empty(1), torch.zeros(1)))
    assert "reaches the branch" in finding.message
    assert not found(lambda: branching[(1,)](torch.ones(1), empty(1)))


def test_loops() -> None:
    x = empty(256)
    x[:192] = 1
    assert not found(lambda: summed[(1,)](x, empty(64), 3, BLOCK=64))
    finding, = found(lambda: summed[(1,)](x, empty(64), 4, BLOCK=64))
    assert finding.count == 64 and finding.source.startswith("total += tl.load")


def test_products() -> None:
    x, y, o = empty(16, 16), torch.ones(16, 16), empty(16, 16)
    x[3:] = 1
    finding, = found(lambda: product[(1,)](x, y, o, SIZE=16))
    assert finding.count == 3 * 16
    finding, = found(lambda: product[(1,)](torch.ones(16, 16), empty(16, 16), o, SIZE=16))
    assert finding.count == 256 and "of y" in finding.message


def test_atomic_operations() -> None:
    x, o = torch.zeros(64, dtype=torch.int32), empty(4, dtype=torch.int32)
    finding, = found(lambda: counted[(1,)](x, o, BLOCK=64))
    assert finding.message == "this atomic operation changes o, where nobody has written anything"
    o = empty(4, dtype=torch.int32).zero_()
    assert not found(lambda: counted[(1,)](x, o, BLOCK=64))
    assert o[0] == 64


def test_with_all_checks() -> None:
    x, o = torch.ones(1000), empty(1000)
    assert not launches.found("all", lambda: copy[(4,)](x, o, 1000, BLOCK=256))
    finding, = launches.found("all", lambda: copy[(4,)](empty(1000), o, 1000, BLOCK=256))
    assert finding.check == "uninit"


def test_modules_are_valid() -> None:
    x, count = torch.ones(99), torch.zeros(4, dtype=torch.int32)
    for kernel in (copy[(4,)](x, torch.ones(99), 99, BLOCK=32, check="uninit"),
                   counted[(1,)](count, torch.zeros(4, dtype=torch.int32), BLOCK=4, check="uninit"),
                   product[(1,)](*[torch.ones(16, 16) for _ in range(3)], SIZE=16, check="all")):
        validate(kernel.asm["spv"])


def test_the_command(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("""import torch, triton, triton.language as tl

@triton.jit
def copy(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i))

x, o = torch.empty(64), torch.empty(64)
copy[(1,)](torch.ones(64), x, BLOCK=64)
copy[(1,)](x, o, BLOCK=64)
copy[(1,)](torch.empty(64), o, BLOCK=64)
""")
    done = prepared.python(["-m", "triton_spirv", "check", "--checks", "uninit", str(program)])
    assert done.returncode == 1 and "\n1 finding" in done.stdout, done.stdout + done.stderr
    assert "program.py:6:21: uninit: what this load reads of x" in done.stdout
