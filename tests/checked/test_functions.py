"""What checks follow into functions, behind early returns, and into tl.gather."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from checked.launches import arrays, found


def out(size: int) -> np.ndarray:
    return np.zeros(size, np.float32)


@triton.jit(noinline=True)
def largest(x, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    return tl.max(v, 0), n


@triton.jit(noinline=True)
def divided(v, by, o):
    w = v / by
    tl.store(o, w)
    return w


@triton.jit
def by_functions(x, o, n, by, BLOCK: tl.constexpr):
    top, size = largest(x, n, BLOCK)
    w = divided(top, by, o)
    w += divided(by, by + 1, o)
    tl.store(o + 1, w)
    tl.store(o + 2, size)


@triton.jit(noinline=True)
def quotient(a, b):
    return a // b


@triton.jit
def by_quotients(o, a, b):
    q = quotient(a, 2)
    tl.store(o, q)
    tl.store(o + 1, quotient(a, b))


def sources(findings: Any) -> set[str]:
    return {finding.source for finding in findings}


def test_functions() -> None:
    x, o = np.ones(20, np.float32), out(3)
    launch = lambda n, by: by_functions[(1,)](*arrays(x, o), n, by, BLOCK=32)  # noqa: E731
    assert not found("nan", lambda: launch(20, 2.0)) and o[1] == 0.5 + np.float32(2 / 3)
    by_functions.device_caches.clear()
    findings = found("uninit", lambda: launch(20, 2.0))
    assert sources(findings) == {"v = tl.load(x + i, mask=i < n)"}
    assert all("has no other= for" in finding.message for finding in findings)
    by_functions.device_caches.clear()
    assert sources(found("nan", lambda: launch(20, 0.0))) == {"w = v / by"}
    numbers = np.zeros(2, np.int32)
    assert not found("overflow", lambda: by_quotients[(1,)](*arrays(numbers), 7, 3))
    assert numbers.tolist() == [3, 2]
    finding, = found("overflow", lambda: by_quotients[(1,)](*arrays(numbers), 7, 0))
    assert finding.source == "return a // b"


@triton.jit
def returning_early(x, o, n, by, BLOCK: tl.constexpr):
    i, row = tl.arange(0, BLOCK), tl.program_id(0)
    v = tl.max(tl.load(x + i, mask=i < n), 0)
    s = by
    if row == 0:
        if by > 5:
            return
        s = v / by
    else:
        s = v
    tl.store(o + row, s)


def test_early_returns() -> None:
    x, o = np.ones(32, np.float32), out(2)
    for check, n, by, source in (("uninit", 20, 1.0, "v = tl.max(tl.load(x + i, mask=i < n), 0)"),
                                 ("nan", 32, 0.0, "s = v / by")):
        returning_early.device_caches.clear()
        assert not found(check, lambda: returning_early[(2,)](*arrays(x, o), 32, 2.0, BLOCK=32))
        assert o.tolist() == [0.5, 1.0]
        findings = found(check, lambda n=n, by=by: returning_early[(2,)](*arrays(x, o), n, by, BLOCK=32))
        assert sources(findings) == {source}


@triton.jit
def picked(x, at, o, N: tl.constexpr, M: tl.constexpr):
    i = tl.arange(0, N)
    v = tl.gather(tl.load(x + tl.arange(0, M)), tl.load(at + i), 0)
    tl.store(o + i, v, mask=i < N - 1)


@pytest.mark.parametrize("dtype, size, wrong", [
    ("int32", 32, [32, -1, 1 << 30]), ("int8", 32, [32, -1, 127]), ("int8", 128, [-1, -128]),
    ("int8", 256, []), ("uint8", 256, []), ("int64", 64, [64, 1 << 40])])
def test_gathers_beside_the_axis(dtype: str, size: int, wrong: list[int]) -> None:
    x, o = np.arange(size, dtype=np.float32), out(32)
    for value in (0, 5, *wrong):
        at = np.arange(32).astype(dtype)
        at[3] = value
        findings = found("overflow", lambda at=at: picked[(1,)](*arrays(x, at, o), N=32, M=size))
        assert len(findings) == (value in wrong)
        if findings:
            assert findings[0].source.startswith("v = tl.gather(") and findings[0].count == 1
            assert f"an index that is not below {size}, or is below 0" in findings[0].message
    at = np.arange(32).astype("int32")
    at[31] = 1000  # is not stored
    assert not found("overflow", lambda: picked[(1,)](*arrays(x, at, o), N=32, M=32))


@triton.jit
def nearer(a, b):
    """Two ways back: a function that is called, by a reduction and by the kernel."""
    if a < 0:
        return b
    return tl.sqrt(tl.minimum(a, b))


@triton.jit
def reduced_by_calls(x, o, n, by, other, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(o + 1, nearer(by, by))
    tl.store(o + 2, nearer(tl.load(x, mask=n > 0), by), mask=other > 0)
    v = tl.where(i < other, v, 1.0)
    tl.store(o, tl.reduce(v, 0, nearer))


def test_a_function_that_a_reduction_calls_too() -> None:
    x, o = np.ones(32, np.float32), out(3)

    def launch(n: int, by: float, other: int) -> Any:
        return lambda: reduced_by_calls[(1,)](*arrays(x, o), n, by, other, BLOCK=32)

    for checks in ("uninit", "nan", "uninit,nan", "all"):
        reduced_by_calls.device_caches.clear()
        assert not found(checks, launch(20, 4.0, 20)) and o.tolist() == [1, 2, 1]
    reduced_by_calls.device_caches.clear()
    assert sources(found("uninit", launch(20, 4.0, 21))) == {"v = tl.load(x + i, mask=i < n)"}
    assert sources(found("uninit", launch(0, 4.0, 1))) == {
        "v = tl.load(x + i, mask=i < n)",
        "tl.store(o + 2, nearer(tl.load(x, mask=n > 0), by), mask=other > 0)"}
    reduced_by_calls.device_caches.clear()
    x[16:] = -1
    assert "tl.store(o, tl.reduce(v, 0, nearer))" in sources(found("nan", launch(32, 4.0, 32)))
