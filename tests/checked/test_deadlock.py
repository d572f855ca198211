"""check=deadlock: a launch that does not end is ended, and says what its programs wait for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv import CheckError
from triton_spirv.errors import UsageError


@triton.jit
def locked(lock, o, unlock):
    while tl.atomic_cas(lock + 3, 0, 1) != 0:
        pass
    tl.store(o, tl.load(o) + 1)
    if unlock:
        tl.atomic_xchg(lock + 3, 0)


@triton.jit
def waiting(flags, o, which):
    flag = tl.load(flags + which, volatile=True)
    while flag == 0:
        flag = tl.load(flags + which, volatile=True)
    tl.store(o, flag)


@triton.jit
def polling(flags, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_poll(flags + i, 1)
    tl.store(o + i, 1)


@triton.jit
def rounds(o, n):
    x = n
    while x != 1:
        x = tl.where(x % 2 == 0, x // 2, 3 * x - 1)
    tl.store(o, x)


@triton.jit
def counted(x, o, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        total += tl.load(x + k * BLOCK + tl.arange(0, BLOCK))
    tl.store(o + tl.arange(0, BLOCK), total)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_CHECK_TIMEOUT", "0.5")


def ends(kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> bool:
    """Without a finding, in a time that a busy machine has, too."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TRITON_SPIRV_CHECK_TIMEOUT", "60")
        return not found(kernel, grid, *arguments, **options)


def found(kernel: Any, grid: tuple[int, ...], *arguments: Any, **options: Any) -> list[Any]:
    arguments = tuple(triton_spirv.asarray(x) if isinstance(x, np.ndarray) else x for x in arguments)
    start = time.monotonic()
    try:
        kernel[grid](*arguments, **{"check": "deadlock", **options})
    except CheckError as error:
        assert 0.5 <= time.monotonic() - start
        assert {finding.check for finding in error.findings} == {"deadlock"}
        assert "has not ended in 0.5 s" in error.findings[0].message
        return list(error.findings)
    return []


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def test_a_lock_that_nobody_opens() -> None:
    o = ints(0)
    assert ends(locked, (4,), ints(0, 0, 0, 0), o, 1) and o[0] == 4
    findings = found(locked, (4,), ints(0, 0, 0, 0), ints(0), 0)
    assert all(finding.argument == "lock" and finding.index == (3,) for finding in findings)
    assert findings[0].source.startswith("while tl.atomic_cas") and "atomic of lock[3]" in findings[0].message
    assert ends(locked, (4,), ints(0, 0, 0, 0), ints(0), 1)


def test_each_program_that_waits_is_named() -> None:
    """However often it goes round until the loops end: up to eight of them."""
    for programs, named in ((5, 5), (12, 8)):
        findings = found(locked, (programs,), ints(0, 0, 0, 1), ints(0), 1)
        assert len({finding.program for finding in findings}) == len(findings) == named


def test_a_flag_that_nobody_writes() -> None:
    assert ends(waiting, (2,), ints(0, 5), ints(0), 1)
    finding = found(waiting, (1,), ints(0, 5), ints(0), 0)[0]
    assert "load of flags[0]" in finding.message and finding.program == (0, 0, 0)
    assert finding.source.startswith("flag = tl.load(flags + which, volatile=True)")


def test_a_poll() -> None:
    if not hasattr(tl, "atomic_poll"):
        pytest.skip("newer than this Triton")
    flags, o = np.ones(16, np.int32), np.zeros(16, np.int32)
    assert ends(polling, (1,), flags, o, BLOCK=16) and o.all()
    flags[11] = 0
    finding, = found(polling, (1,), flags, o, BLOCK=16)
    assert finding.index == (11,) and "atomic poll of flags[11]" in finding.message
    assert finding.source == "tl.atomic_poll(flags + i, 1)"


def test_a_loop_that_reads_nothing() -> None:
    o = ints(0)
    assert ends(rounds, (1,), o, 8) and o[0] == 1
    finding, = found(rounds, (1,), o, 5)
    assert "the program goes round here, on the loop" in finding.message and not finding.argument
    assert finding.source == "while x != 1:"


@triton.jit
def counted_up(x, o, n, least, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in range(least, n):
        for k in range(4):
            total += tl.load(x + k * BLOCK + i)
    tl.store(o + i, total)


def test_a_counted_loop_that_is_too_long() -> None:
    x, o = np.ones(64, np.float32), np.zeros(16, np.float32)
    assert ends(counted_up, (1,), x, o, 3, 0, BLOCK=16) and (o == 12).all()
    finding, = found(counted_up, (1,), x, o, 2 ** 62, -2 ** 62, BLOCK=16)
    assert "the program goes round here, on the loop" in finding.message and not finding.argument
    assert finding.source == "for _ in range(least, n):"


@triton.jit
def counted_few(x, o, n: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for k in range(n):
        total += tl.load(x + k * BLOCK + tl.arange(0, BLOCK))
    tl.store(o + tl.arange(0, BLOCK), total)


@triton.jit
def nested(x, o, n: tl.constexpr):
    total = 0.0
    for _ in range(60000):
        for _ in range(60000):
            for k in range(n):
                total = tl.maximum(total, tl.load(x + k, volatile=True))
    tl.store(o, total)


def test_short_loops_in_each_other_are_a_long_one() -> None:
    finding, *_ = found(nested, (1,), np.ones(16, np.float32), np.zeros(1, np.float32), 4)
    assert finding.source == "for _ in range(60000):"


@triton.jit
def later(flags, o):
    """Each program waits for the next one."""
    p = tl.program_id(0)
    if p < tl.num_programs(0) - 1:
        while tl.atomic_add(flags + p + 1, 0, sem="acquire") == 0:
            pass
    tl.store(o + p, p)
    tl.atomic_xchg(flags + p, 1, sem="release")


@triton.jit
def settling(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    while tl.sum(v, 0) != 0:
        v = tl.where(v % 2 == 0, v // 2, 3 * v - 1)
    tl.store(o + i, v)


@pytest.fixture(params=["simt", "simt8"])
def lanes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_TARGET", request.param)


@pytest.mark.usefixtures("lanes")
@pytest.mark.parametrize("check", ["deadlock", "lanes", "all"])
def test_a_program_that_waits_for_a_later_one_in_lanes(check: str) -> None:
    """With "lanes" programs run one after the other."""
    flags, o = np.ones(65, np.int32), np.zeros(64, np.int32)
    assert ends(later, (64,), flags, o, check=check) and (o == np.arange(64)).all()
    finding, *_ = found(later, (64,), np.zeros(65, np.int32), o, check=check)
    assert finding.argument == "flags" and finding.source.startswith("while tl.atomic_add")


@pytest.mark.takes_turns(2)
@pytest.mark.usefixtures("lanes")
@pytest.mark.parametrize("check", ["deadlock", "lanes", "deadlock,lanes"])
def test_loops_in_lanes(check: str) -> None:
    """With barriers in them, and without."""
    o = ints(0)
    assert ends(locked, (4,), ints(0, 0, 0, 0), o, 1, check=check) and o[0] == 4
    findings = found(locked, (4,), ints(0, 0, 0, 1), ints(0), 0, check=check)
    assert len(findings) == 4 and "atomic of lock[3]" in findings[0].message
    assert ends(settling, (1,), np.zeros(64, np.int32), np.zeros(64, np.int32), BLOCK=64, check=check)
    for warps in (1, 4):
        finding, = found(settling, (1,), np.full(64, 5, np.int32), np.zeros(64, np.int32), BLOCK=64,
                         num_warps=warps, check=check)
        assert finding.source == "while tl.sum(v, 0) != 0:"
    x, o = np.ones(64, np.float32), np.zeros(16, np.float32)
    assert ends(counted_up, (1,), x, o, 3, 0, BLOCK=16, check=check) and (o == 12).all()
    finding, = found(counted_up, (1,), x, o, 2 ** 62, -2 ** 62, BLOCK=16, check=check)
    assert finding.source == "for _ in range(least, n):"
    if hasattr(tl, "atomic_poll"):
        flags, o = np.ones(16, np.int32), np.zeros(16, np.int32)
        assert ends(polling, (1,), flags, o, BLOCK=16, check=check) and o.all()
        flags[11] = 0
        finding, = found(polling, (1,), flags, o, BLOCK=16, check=check)
        assert finding.index == (11,)


@pytest.mark.parametrize("kernel", ["rounds[(1,)](o, 5, check='lanes')",
                                    "settling[(1,)](x, x, BLOCK=64, check='lanes')",
                                    "locked[(4,)](x, o, 0, check='lanes')",
                                    "counted_up[(1,)](f, f, 2 ** 62, -2 ** 62, BLOCK=16, check='lanes')"])
def test_endless_loops_in_lanes_end_their_process(kernel: str, tmp_path: Path) -> None:
    """By "lanes" alone, with an error that says where its programs stand."""
    script = tmp_path / "endless.py"
    script.write_text(f"""
import numpy as np, sys, triton_spirv
sys.path.append({str(Path(__file__).parent)!r})
from test_deadlock import *
x, o = triton_spirv.asarray(np.full(64, 5, np.int32)), triton_spirv.asarray(np.zeros(64, np.int32))
f = triton_spirv.asarray(np.ones(64, np.float32))
{kernel}
""")
    environment = os.environ | {"TRITON_SPIRV_TARGET": "simt", "TRITON_SPIRV_CHECK_TIMEOUT": "0.5"}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 1 and "deadlock: the launch has not ended in 0.5 s" in done.stderr, done.stderr


def test_loops_that_end_are_as_they_were() -> None:
    x, o = triton_spirv.asarray(np.ones(64, np.float32)), triton_spirv.asarray(np.zeros(16, np.float32))
    plain = counted_few[(1,)](x, o, 4, BLOCK=16)
    watched = counted_few[(1,)](x, o, 4, BLOCK=16, check="deadlock")
    assert plain.asm["spv"] == watched.asm["spv"]


def test_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("soon", "0", "-1", "inf", "nan"):
        monkeypatch.setenv("TRITON_SPIRV_CHECK_TIMEOUT", text)
        with pytest.raises(UsageError, match=f"CHECK_TIMEOUT is '{text}'; it is a number of seconds"):
            found(rounds, (1,), ints(0), 8)
