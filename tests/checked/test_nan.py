"""check=nan: NaNs made of infinities, reductions with several results, calls; test_values.py has the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
from checked.launches import arrays, found


def out() -> np.ndarray:
    return np.zeros(256, np.float32)


@triton.jit
def softmax_of_rows(x, o, width, DROPPED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + tl.program_id(0) * width + i, mask=i < width, other=float("-inf"))
    shifted = v - tl.max(v, 0)
    e = tl.exp(shifted)
    e = e / tl.sum(e, 0)
    if DROPPED:
        e = tl.where(e == e, e, 0.0)
    tl.store(o + tl.program_id(0) * width + i, e, mask=i < width)


@pytest.mark.parametrize("given", [-np.inf, np.inf])
def test_a_nan_of_infinities(given: float) -> None:
    """A row that is masked everywhere: -inf - -inf."""
    x = np.ones((3, 12), np.float32)
    x[:, 5] = -np.inf
    assert not found("nan", lambda: softmax_of_rows[(3,)](*arrays(x, out()), 12, DROPPED=False, BLOCK=16))
    x[1] = given
    finding, = found("nan", lambda: softmax_of_rows[(3,)](*arrays(x, out()), 12, DROPPED=False, BLOCK=16))
    assert finding.source.startswith("shifted = v - tl.max(v, 0)") and finding.program == (1, 0, 0)
    assert finding.count == 12 and "makes a NaN, though no operand is one" in finding.message
    assert not found("nan", lambda: softmax_of_rows[(3,)](*arrays(x, out()), 12, DROPPED=True, BLOCK=16))
    x[1] = np.nan
    assert not found("nan", lambda: softmax_of_rows[(3,)](*arrays(x, out()), 12, DROPPED=False, BLOCK=16))


@triton.jit
def of_infinities(x, y, o, WAY: tl.constexpr, SIZE: tl.constexpr):
    i, j = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    a, b = tl.load(x + i * SIZE + j), tl.load(y + i * SIZE + j)
    if WAY == "sum":
        r = tl.sum(a, 1)[:, None] + tl.zeros_like(b)
    elif WAY == "scan":
        r = tl.cumsum(a, 1)
    elif WAY == "product":
        r = tl.dot(a, b)
    elif WAY == "times":
        r = a * (b - b) + 1.0
    elif WAY == "greatest":
        r = tl.maximum(a * 2.0, b).to(tl.float16).to(tl.float32)
    tl.store(o + i * SIZE + j, r)


@pytest.mark.parametrize("way, line", [("sum", "r = tl.sum("), ("scan", "r = tl.cumsum("),
                                       ("product", "r = tl.dot("), ("times", "r = a * (b - b)")])
def test_what_makes_a_nan_of_infinities(way: str, line: str) -> None:
    def findings(*values: float) -> Any:
        x, y = np.ones((16, 16), np.float32), np.zeros((16, 16), np.float32)
        x[3, 3:3 + len(values)] = values
        return found("nan", lambda: of_infinities[(1,)](*arrays(x, y, out()), WAY=way, SIZE=16))

    finding, = findings(np.inf, -np.inf)
    assert finding.source.startswith(line)
    assert not findings(1, 2)
    assert not findings(np.nan, 1)
    assert not findings(np.inf, np.nan, -np.inf) or way == "times" or way == "scan"
    if way in ("sum", "scan"):
        assert not findings(np.inf, np.inf)


def test_infinities_that_stay_infinities() -> None:
    x, y = np.full((16, 16), np.inf, np.float32), np.full((16, 16), -np.inf, np.float32)
    x[3, 3] = np.nan
    assert not found("nan", lambda: of_infinities[(1,)](*arrays(x, y, out()), WAY="greatest", SIZE=16))


@triton.jit
def add_both(a, n, b, m):
    return a + b, n + m


@triton.jit
def divide_both(a, n, b, m):
    return a / (b - b), n + m


@triton.jit
def in_pairs(x, o, WAY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i)
    if WAY == "sum":
        s, _ = tl.reduce((v, v), 0, add_both)
    elif WAY == "scan":
        s, _ = tl.associative_scan((v, v), 0, add_both)
    elif WAY == "quotient":
        s, _ = tl.reduce((v, v * 0 + 1), 0, divide_both)
    elif WAY == "greatest":
        s, _ = tl.max(v, 0, return_indices=True)
    tl.store(o + i, s - 1.0 + tl.zeros_like(v))


@pytest.mark.parametrize("way", ["sum", "scan", "quotient", "greatest"])
def test_several_results(way: str) -> None:
    """The reduction is named, and not the operation behind it; what was given is no finding."""
    def findings(value: float) -> Any:
        return found("nan", lambda: in_pairs[(1,)](*arrays(np.full(16, value, np.float32), out()), WAY=way,
                                                   BLOCK=16))

    if way != "greatest":
        finding, = findings(1.0 if way == "quotient" else 3e38)
        assert finding.source.startswith("s, _ = tl.")
    for given in (np.nan, np.inf, -np.inf, 1.0):
        assert not findings(given) or way == "quotient"


@triton.jit(noinline=True)
def lowest(n):
    return float("-inf") + n * 0.0


@triton.jit
def either_way(n, x):
    if n > 2:
        return x
    return x * 2.0


@triton.jit
def uses_calls(x, o, WAY: tl.constexpr):
    v = tl.load(x)
    if WAY == "call":
        v = lowest(v)
    elif WAY == "blocks":
        v = either_way(v, tl.load(x + 1))
    tl.store(o, v - 1.0)


@pytest.mark.parametrize("way", ["call", "blocks"])
def test_results_of_calls_are_given(way: str) -> None:
    x = np.array([1, -np.inf], np.float32)
    o, = arrays(out())
    assert not found("nan", lambda: uses_calls[(1,)](*arrays(x), o, WAY=way))
    assert o.numpy()[0] == -np.inf


@triton.jit
def quotient(a, b):
    c = a - 1.0
    return c / b  # made here


@triton.jit
def quotient_or_less(a, b):
    r = a
    if b < 8.0:
        r = a / b  # made here
    return r


@triton.jit
def of_two(a, b, c, d):
    return a / c, b + d  # made here


@triton.jit
def early(a, b):
    if b > 8.0:
        return a
    return a / b


@triton.jit
def mapped(x, y, o, WAY: tl.constexpr, DROPPED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    if WAY == "quotient":
        r = tl.map_elementwise(quotient, a, b)
    elif WAY == "branch":
        r = tl.map_elementwise(quotient_or_less, a, b)
    elif WAY == "pack":
        r = tl.map_elementwise(of_two, a, b, pack=2)[0]
    elif WAY == "early":
        r = tl.map_elementwise(early, a, b)  # made here
    if DROPPED:
        r = tl.where(b == 0.0, 1.0, r)
    tl.store(o + i, r * 2.0)


@pytest.mark.parametrize("block", [16, 512])
@pytest.mark.parametrize("way, function", [("quotient", quotient), ("branch", quotient_or_less),
                                           ("pack", of_two), ("early", mapped)])
def test_in_functions_of_elements(way: str, function: Any, block: int) -> None:
    """The line is that of the function that is mapped; of one that returns early, that of the call."""
    def findings(a: float, b: float, dropped: bool = False) -> Any:
        x, y = np.full(block, 3, np.float32), np.full(block, 2, np.float32)
        x[6], y[6] = a, b
        o = np.zeros(block, np.float32)
        return found("nan", lambda: mapped[(1,)](*arrays(x, y, o), WAY=way, DROPPED=dropped, BLOCK=block))

    for divided in (5.0, 0.0, 1.0):
        finding, = findings(divided, 0.0)
        assert finding.source.endswith("# made here") and finding.count == 1
        first = function.starting_line_number
        assert first <= finding.line < first + len(function.raw_src)
    assert not findings(5, 0, dropped=True) and not findings(5, 2)
    for given in (np.nan, np.inf, -np.inf):
        assert not findings(given, 2) and not findings(3, given)
