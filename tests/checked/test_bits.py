"""What is checked is what runs: results with any check are those without, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from checked.launches import arrays
from triton_spirv.checking import NAMES

CHECKS = (*NAMES, "bounds=view", "all")


@triton.jit
def add_both(a, b, c, d):
    return a + c, b + d


@triton.jit
def larger(a, i, b, j):
    is_first = (a > b) | ((a == b) & (i < j))
    return tl.where(is_first, a, b), tl.where(is_first, i, j)


@triton.jit
def next_of_line(a, b, c, d):
    return a * c, b * c + d


@triton.jit
def computed(x, y, o, n, WAY: tl.constexpr, IS_MASKED: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Products beside sums: whether both are one operation shows in the last bit."""
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    at = i * N + j
    if IS_MASKED:
        v = tl.load(x + at, mask=at < n, other=0.5)
        w = tl.load(y + at, mask=at < n, other=0.25)
    else:
        v, w = tl.load(x + at), tl.load(y + at)
    if WAY == "pairs":
        a, b = tl.reduce((v * w + 0.1, j * tl.full((M, 1), 1.0, tl.float32)), 1, larger)
        r = v * a[:, None] + b[:, None]
    elif WAY == "two sums":
        a, b = tl.reduce((v * w, v * v), 1, add_both)
        r = (v - (a * b)[:, None]) * w - 1.0
    elif WAY == "sum of rows":
        r = v * tl.sum(v * w, 0)[None, :] - 1.5
    elif WAY == "greatest":
        a, _ = tl.max(v * w - 1.0, 1, return_indices=True)
        r = v * a[:, None] + w
    elif WAY == "scan":
        r = tl.cumsum(v * w - 0.5, 1) * v + w
    elif WAY == "scan of pairs":
        a, b = tl.associative_scan((v, w), 1, next_of_line)
        r = a * v + b
    elif WAY == "product":
        r = tl.dot(v * w - 1.0, tl.trans(w), input_precision="ieee")
        r = tl.dot(r, v, input_precision="ieee") * v + w
    elif WAY == "chain":
        r = tl.sin(v) * w + tl.exp(v * w - 1.0) * v - w * w
        r = r * v - tl.sqrt(tl.abs(r)) / (w * w + 1.0)
    tl.store(o + at, r, mask=at < n)


@triton.jit
def stored_in_two_parts(x, y, o, p, n, N: tl.constexpr):
    """The store's two versions, of a whole block and of a masked one, each have the sum."""
    i = tl.arange(0, N)
    v, w = tl.load(x + i, mask=i < n, other=0.0), tl.load(y + i, mask=i < n, other=0.0)
    s, t = tl.load(x + N + i, mask=i < n, other=0.0), tl.load(y + N + i, mask=i < n, other=0.0)
    d = s - t
    c = d + t
    tl.store(o + i, c, mask=i < n)
    tl.store(p + i, (c + v) - c * (c * tl.maximum(d, w)), mask=i < n)


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("is_masked", [False, True], ids=["whole", "masked"])
@pytest.mark.parametrize("way", ["pairs", "two sums", "sum of rows", "greatest", "scan", "scan of pairs",
                                 "product", "chain"])
def test_bits_are_those_without(way: str, is_masked: bool) -> None:
    rng, shape = np.random.default_rng(0), (32, 64)
    x, y = (rng.standard_normal(shape).astype(np.float32) for _ in range(2))

    def results(checks: str) -> Any:
        o = np.zeros(shape, np.float32)
        with triton_spirv.checked(checks):
            computed[(1,)](*arrays(x, y, o), x.size - 3 * is_masked, WAY=way, IS_MASKED=is_masked, M=32, N=64)
        return o.view(np.int32)

    expected = results("")
    differ = {checks: int((results(checks) != expected).sum()) for checks in CHECKS}
    assert not any(differ.values()), differ


@triton.jit
def stored_and_added(x, y, o, p, n, N: tl.constexpr):
    """Whether the second store makes the product again depends on what is around it."""
    i = tl.arange(0, N)
    v, w = tl.load(x + i, mask=i < n, other=0.0), tl.load(y + i, mask=i < n, other=0.0)
    z = tl.load(x + N + i, mask=i < n, other=0.0)
    tl.store(o + i, v * w, mask=i < n)
    tl.store(p + i, v * w + z, mask=i < n)


@pytest.mark.parametrize("kernel", [stored_in_two_parts, stored_and_added])
def test_bits_of_both_versions_of_a_store(kernel: Any) -> None:
    x, y = (np.random.default_rng(seed).standard_normal(128).astype(np.float32) for seed in range(2))

    def results(checks: str) -> Any:
        o, p = np.zeros(64, np.float32), np.zeros(64, np.float32)
        with triton_spirv.checked(checks):
            kernel[(1,)](*arrays(x, y, o, p), 61, N=64)
        return p.view(np.int32)

    expected = results("")
    assert expected.any()
    differ = {checks: int((results(checks) != expected).sum()) for checks in CHECKS}
    assert not any(differ.values()), differ
