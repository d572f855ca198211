"""check=uninit, nan, overflow: values that nobody gave, infinities made of numbers, results without a
meaning, offsets that wrap; each is followed to where it matters, and silent where it does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from checked.launches import arrays, found
from triton.language.extra import libdevice
from triton_spirv import CheckError


def out(size: int = 256, dtype: str = "float32") -> np.ndarray:
    return np.zeros(size, dtype)


# ---- uninit


@triton.jit
def greatest(x, o, n, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK), mask=tl.arange(0, BLOCK) < n)
    tl.store(o, tl.max(v, 0))


@triton.jit
def greatest_given(x, o, n, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK), mask=tl.arange(0, BLOCK) < n)
    v = tl.where(tl.arange(0, BLOCK) < n, v, float("-inf"))
    tl.store(o, tl.max(v, 0))


@pytest.mark.parametrize("n, block", [(100, 128), (1, 16), (3000, 4096)])
def test_reduction_that_forgot_other(n: int, block: int) -> None:
    x = -np.arange(1, n + 1, dtype=np.float32)
    finding, = found("uninit", lambda: greatest[(1,)](*arrays(x, out()), n, BLOCK=block))
    assert finding.check == "uninit" and finding.source.startswith("v = tl.load(x") and finding.count == 1
    assert "reaches the store" in finding.message
    assert not found("uninit", lambda: greatest_given[(1,)](*arrays(x, out()), n, BLOCK=block))


def test_nothing_is_left_out() -> None:
    """A mask that is true everywhere leaves nothing out, with or without `other`."""
    x = np.ones(128, np.float32)
    assert not found("uninit", lambda: greatest[(1,)](*arrays(x, out()), 128, BLOCK=128))


@triton.jit
def dropped(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, 1 / tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def travelling(x, o, n, rounds, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    s = tl.zeros((BLOCK,), tl.float32)
    t = tl.zeros((BLOCK,), tl.float32)
    for k in range(rounds):
        v = tl.load(x + i + k * BLOCK, mask=i + k * BLOCK < n)
        if k > 0:
            t = s + v
        s, t = t, s
    tl.store(o + i, s)


def test_elements_that_are_dropped() -> None:
    x = np.ones(100, np.float32)
    assert not found("uninit,nan", lambda: dropped[(1,)](*arrays(x, out()), 100, BLOCK=128))


def test_through_loops_and_branches() -> None:
    x = np.ones(200, np.float32)
    assert not found("uninit", lambda: travelling[(1,)](*arrays(x, out()), 128, 1, BLOCK=64))
    assert not found("uninit", lambda: travelling[(1,)](*arrays(x, out()), 128, 2, BLOCK=64))
    finding, = found("uninit", lambda: travelling[(1,)](*arrays(x, out()), 100, 2, BLOCK=64))
    assert finding.source.startswith("v = tl.load") and finding.count == 28


@triton.jit
def branching(x, o, n):
    v = tl.load(x, mask=n > 0)
    if v > 0:
        tl.store(o, 1.0)


@triton.jit
def indexing(at, x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    at_i = tl.load(at + i, mask=i < n)
    tl.store(o + i, tl.load(x + at_i), mask=i < n)


def test_branches_and_addresses() -> None:
    x = np.ones(64, np.float32)
    finding, = found("uninit", lambda: branching[(1,)](*arrays(x, out()), 0))
    assert "reaches the branch" in finding.message
    assert not found("uninit", lambda: branching[(1,)](*arrays(x, out()), 1))
    at = np.zeros(64, np.int32)
    finding, = found("uninit", lambda: indexing[(1,)](*arrays(at, x, out()), 60, BLOCK=64))
    assert "reaches the address of the load" in finding.message and finding.count == 4


@triton.jit
def doubled_or_not(x):
    if x > 0:
        return x * 2
    else:
        return x


@triton.jit
def moved(x, o, n, WAY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    if WAY == "flip":
        v = tl.flip(v)
    elif WAY == "histogram":
        v = tl.histogram(v.to(tl.int32), BLOCK).to(tl.float32)
    elif WAY == "masked histogram":
        v = tl.histogram(v.to(tl.int32), BLOCK, mask=i < 12).to(tl.float32)
    elif WAY == "map":
        v = tl.map_elementwise(doubled_or_not, v)
    tl.store(o + i, v, mask=(i >= BLOCK - n) if WAY == "flip" else (i < 12))


@pytest.mark.parametrize("way, left", [("flip", 0), ("histogram", 12), ("masked histogram", 12), ("map", 2)])
def test_where_elements_go(way: str, left: int) -> None:
    x = np.ones(16, np.float32)
    assert not found("uninit", lambda: moved[(1,)](*arrays(x, out()), 16, WAY=way, BLOCK=16))
    findings = found("uninit", lambda: moved[(1,)](*arrays(x, out()), 10, WAY=way, BLOCK=16))
    assert sum(finding.count for finding in findings) == left
    if "masked" in way:
        assert not found("uninit", lambda: moved[(1,)](*arrays(x, out()), 12, WAY=way, BLOCK=16))


@triton.jit
def scaled_product(a, a_scale, b, b_scale, o, rows, scales, BLOCK: tl.constexpr, DEPTH: tl.constexpr):
    i, j, k = tl.arange(0, BLOCK), tl.arange(0, BLOCK), tl.arange(0, DEPTH)
    s = tl.arange(0, DEPTH // 32)
    left = tl.load(a + i[:, None] * DEPTH + k[None, :], mask=i[:, None] < rows)
    right = tl.load(b + k[:, None] * BLOCK + j[None, :])
    left_scale = tl.load(a_scale + i[:, None] * (DEPTH // 32) + s[None, :])
    right_scale = tl.load(b_scale + j[:, None] * (DEPTH // 32) + s[None, :], mask=j[:, None] < scales)
    c = tl.dot_scaled(left, left_scale, "e4m3", right, right_scale, "e4m3")
    tl.store(o + i[:, None] * BLOCK + j[None, :], c)


def test_scaled_products() -> None:
    def findings(rows: int, scales: int) -> int:
        a, b, scale = (np.full(shape, 0x38, np.uint8) for shape in ((16, 64), (64, 16), (16, 2)))
        return sum(finding.count for finding in found("uninit", lambda: scaled_product[(1,)](
            *arrays(a, scale, b, scale, out()), rows, scales, BLOCK=16, DEPTH=64)))

    assert findings(16, 16) == 0
    assert findings(13, 16) == 3 * 16
    assert findings(16, 12) == 4 * 16


@triton.jit
def product(x, y, o, n, SIZE: tl.constexpr):
    i, j = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    a = tl.load(x + i * SIZE + j, mask=j < n)
    b = tl.load(y + i * SIZE + j, mask=i < n, other=0)
    tl.store(o + i * SIZE + j, tl.dot(a, b))


def test_products() -> None:
    x = np.ones((16, 16), np.float32)
    finding, = found("uninit", lambda: product[(1,)](*arrays(x, x, out()), 12, SIZE=16))
    assert finding.source.startswith("a = tl.load") and finding.count == 256
    assert not found("uninit", lambda: product[(1,)](*arrays(x, x, out()), 16, SIZE=16))


@triton.jit
def both_masks(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    inside = i < n
    v = tl.load(x + i, mask=inside)
    tl.store(o + i, v, mask=inside & (v > 0))


def test_masks_of_masked_values() -> None:
    """False & anything is false, whatever the other side would have been."""
    x = np.ones(60, np.float32)
    assert not found("uninit", lambda: both_masks[(1,)](*arrays(x, out()), 60, BLOCK=64))


# ---- nan


@triton.jit
def softmax(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def softmax_unshifted(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v)
    s = tl.sum(e, 0)
    tl.store(o + i, e / s, mask=i < n)


def test_first_infinity() -> None:
    x = np.array([100, 1, 2], np.float32)
    assert not found("nan", lambda: softmax[(1,)](*arrays(x, out()), 3, BLOCK=16))
    finding, = found("nan", lambda: softmax_unshifted[(1,)](*arrays(x, out()), 3, BLOCK=16))
    assert finding.check == "nan" and finding.source.startswith("e = tl.exp(v)")
    assert "math.exp" in finding.message


@pytest.mark.parametrize("given", [np.inf, -np.inf, np.nan])
def test_what_was_given_is_no_finding(given: float) -> None:
    """Only what inf - inf makes is one."""
    x = np.array([1, given, 2], np.float32)
    findings = found("nan", lambda: softmax[(1,)](*arrays(x, out()), 3, BLOCK=4))
    assert [finding.source for finding in findings] == ["e = tl.exp(v - tl.max(v, 0))"] * (given == np.inf)


@triton.jit
def scaled(x, o, factor, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i) * factor
    tl.store(o + i, (tl.sum(v, 0) + v).to(o.dtype.element_ty))


@pytest.mark.parametrize("dtype, word", [("float32", "reduce"), ("float16", "trunc")])
def test_sums_and_narrowing_that_overflow(dtype: str, word: str) -> None:
    x = np.full(64, 3e38 if dtype == "float32" else 1e5, np.float32)
    finding, = found("nan", lambda: scaled[(1,)](*arrays(x, out(64, dtype)), 1.0, BLOCK=64))
    assert word in finding.message
    assert not found("nan", lambda: scaled[(1,)](*arrays(x, out(64, dtype)), float("inf"), BLOCK=64))
    assert not found("nan", lambda: scaled[(1,)](*arrays(x * 0 + 1, out(64, dtype)), 1.0, BLOCK=64))


@triton.jit
def summed(x, o, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    total = tl.sum(v, 0)
    tl.store(o, total)


@triton.jit
def scanned(x, o, BLOCK: tl.constexpr):
    sums = tl.cumsum(tl.load(x + tl.arange(0, BLOCK)), 0)
    tl.store(o + tl.arange(0, BLOCK), sums)


@triton.jit
def through_a_helper(x, o, BLOCK: tl.constexpr):
    tl.store(o, helped(x, BLOCK))


@triton.jit
def helped(x, BLOCK: tl.constexpr):
    return tl.sum(tl.load(x + tl.arange(0, BLOCK)), 0)


@triton.jit
def special(x, o, BLOCK: tl.constexpr):
    v = libdevice.rcbrt(tl.load(x + tl.arange(0, BLOCK)) - 1e38)
    tl.store(o + tl.arange(0, BLOCK), v)


@pytest.mark.parametrize("kernel, line", [
    (summed, "total = tl.sum(v, 0)"), (scanned, "sums = tl.cumsum(tl.load(x"),
    (through_a_helper, "return tl.sum(tl.load(x"), (special, "v = libdevice.rcbrt(tl.load(x")])
def test_functions_of_the_library_are_named_where_they_are_called(kernel: Any, line: str) -> None:
    x = np.full(64, 1e38, np.float32)
    finding, = found("nan", lambda: kernel[(1,)](*arrays(x, out()), BLOCK=64))
    assert finding.file == __file__ and finding.source.startswith(line)


# ---- overflow


@triton.jit
def far(x, o, stride, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x + tl.program_id(0) * stride + i
    tl.store(o + i, tl.load(p, mask=i < n, other=0))


def test_offsets_that_wrap() -> None:
    x = np.ones(64, np.float32)
    # nothing is accessed there
    assert not found("overflow", lambda: far[(3,)](*arrays(x, out()), 1 << 30, 0, BLOCK=64))
    with triton_spirv.checked("bounds,overflow"), pytest.raises(CheckError) as error:
        far[(3,)](*arrays(x, out()), 1 << 30, 64, BLOCK=64)
    offsets = [finding for finding in error.value.findings if finding.check == "overflow"]
    assert len(offsets) == 1 and "the offset is 21474836" in offsets[0].message
    assert offsets[0].source.startswith("p = x + tl.program_id(0)")


@triton.jit
def widened_late(x, o, stride, times, BLOCK: tl.constexpr, WAY: tl.constexpr):
    i = tl.arange(0, BLOCK)
    offset = i * stride
    if WAY == "cast":
        offset = offset.to(tl.int64) * times
    elif WAY == "where":
        offset = tl.where(i < 3, i, offset)
    elif WAY == "greatest":
        offset = tl.maximum(offset, i)
    elif WAY == "cut":
        offset = offset.to(tl.int64) % 64
    p = x + offset
    for _ in range(times):
        tl.store(o + i, tl.load(p, mask=i < 6, other=0), mask=i < 6)
        p += 1


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("way", ["none", "cast", "where", "greatest"])
def test_offsets_that_wrap_on_the_way(way: str, times: int) -> None:
    def launch(stride: int) -> None:
        widened_late[(1,)](*arrays(np.ones(64, np.float32), out()), stride, times, BLOCK=16, WAY=way)

    assert not found("overflow", lambda: launch(3))
    findings = found("bounds,overflow", lambda: launch(1 << 29))
    offset, = (finding for finding in findings if finding.check == "overflow")
    assert offset.source == "p = x + offset" and offset.count == 2 * times
    assert f"the offset is {times * 2 ** 31 if way == 'cast' else 2 ** 31}" in offset.message


def test_numbers_that_may_wrap() -> None:
    """Of a remainder nobody knows what it should be: hashes wrap on purpose."""
    x, o = arrays(np.ones(64, np.float32), out())
    assert not found("overflow", lambda: widened_late[(1,)](x, o, 1 << 29, 1, BLOCK=16, WAY="cut"))


@triton.jit
def read_and_written(x, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    p = x + i * stride
    tl.store(p, tl.load(p, mask=i < 6) + 1, mask=i < 6)


def test_one_finding_for_an_offset() -> None:
    findings = found("bounds,overflow",
                     lambda: read_and_written[(1,)](*arrays(out(64)), 1 << 29, BLOCK=16))
    assert [finding.check for finding in findings].count("overflow") == 1


@triton.jit
def divided(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    q = tl.load(x + i, mask=i < n, other=0) // tl.load(y + i, mask=i < n, other=0)
    tl.store(o + i, q, mask=i < n)


@triton.jit
def shifted(x, y, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i) << tl.load(y + i))


@triton.jit
def cut(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i).to(tl.int32))


def test_divisions() -> None:
    x, y = np.arange(100, dtype=np.int32), np.ones(100, np.int32)
    o = out(128, "int32")
    assert not found("overflow", lambda: divided[(1,)](*arrays(x, y, o), 100, BLOCK=128))
    y[7] = 0
    finding, = found("overflow", lambda: divided[(1,)](*arrays(x, y, o), 100, BLOCK=128))
    assert "division by zero" in finding.message and finding.count == 1
    x[8], y[7], y[8] = -2 ** 31, 1, -1
    finding, = found("overflow", lambda: divided[(1,)](*arrays(x, y, o), 100, BLOCK=128))
    assert "least number by -1" in finding.message


@pytest.mark.parametrize("amount", [32, 40, -1])
def test_shifts(amount: int) -> None:
    x, y = np.ones(64, np.int32), np.full(64, 31, np.int32)
    assert not found("overflow", lambda: shifted[(1,)](*arrays(x, y, out(64, "int32")), BLOCK=64))
    y[5] = amount
    finding, = found("overflow", lambda: shifted[(1,)](*arrays(x, y, out(64, "int32")), BLOCK=64))
    assert "shift" in finding.message and finding.count == 1


@pytest.mark.parametrize("value, wrong", [(2.0 ** 31, True), (-2.0 ** 31, False), (2147483520.0, False),
                                          (np.nan, True), (np.inf, True), (-3e9, True)])
def test_floats_beyond_integers(value: float, wrong: bool) -> None:
    x = np.zeros(64, np.float32)
    x[9] = value
    findings = found("overflow", lambda: cut[(1,)](*arrays(x, out(64, "int32")), BLOCK=64))
    assert len(findings) == wrong


@triton.jit
def assumed(x, o, n, BLOCK: tl.constexpr):
    tl.assume(n > 10)
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i))


def test_assumptions() -> None:
    x = np.ones(64, np.float32)
    assert not found("overflow", lambda: assumed[(1,)](*arrays(x, out()), 11, BLOCK=64))
    finding, = found("overflow", lambda: assumed[(1,)](*arrays(x, out()), 10, BLOCK=64))
    assert "tl.assume says does not hold" in finding.message and finding.source == "tl.assume(n > 10)"


# ---- and none of it


@triton.jit
def masked_by_memory(x, m, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i), mask=tl.load(m + i))


@pytest.mark.parametrize("size", [100, 300, 512])
def test_reports_change_nothing_else(size: int) -> None:
    """What a report evaluates is needed again behind it, by the accesses themselves."""
    x, m = np.arange(512, dtype=np.int8), np.arange(512) % 3 == 0
    o = np.zeros(size, np.int8)
    findings = found("bounds,uninit", lambda: masked_by_memory[(1,)](*arrays(x, m, o), BLOCK=512))
    assert sum(finding.count for finding in findings) == m[size:].sum()
    np.testing.assert_array_equal(o, np.where(m, x, 0)[:size])


def test_results_are_the_same() -> None:
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    plain, checked = out(1024), out(1024)
    softmax[(1,)](*arrays(x, plain), 1000, BLOCK=1024)
    assert not found("all", lambda: softmax[(1,)](*arrays(x, checked), 1000, BLOCK=1024))
    np.testing.assert_array_equal(plain, checked)


def test_lanes_have_bounds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_TARGET", "simt")
    with pytest.raises(triton_spirv.errors.UnsupportedOperation, match="one work-item runs a program"):
        found("nan", lambda: softmax[(1,)](*arrays(np.ones(16, np.float32), out()), 16, BLOCK=16))


# ---- overflow: what is said of values


@triton.jit
def hinted(x, o, start, SAYS: tl.constexpr, BLOCK: tl.constexpr, SIZE: tl.constexpr):
    i = start + tl.arange(0, BLOCK)
    if SAYS == 0:
        i = tl.multiple_of(i, SIZE)
    if SAYS == 1:
        i = tl.max_contiguous(i % 24, SIZE)
    if SAYS == 2:
        i = tl.max_constancy(i // 4, SIZE)
    if SAYS == 3:
        i = tl.max_contiguous(tl.multiple_of(i % 32, SIZE), SIZE)
    if SAYS == 4:
        i = tl.multiple_of(start + tl.program_id(0), SIZE) + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i))


@pytest.mark.parametrize("says, start, size, wrong", [
    (0, 32, 16, 0), (0, 24, 16, 1), (0, 24, 8, 0), (1, 0, 8, 0), (1, 0, 16, 8), (1, 8, 16, 8), (2, 0, 4, 0),
    (2, 0, 8, 32), (2, 2, 4, 32), (3, 32, 16, 0), (3, 32, 32, 0), (3, 8, 32, 18),
    (4, 48, 16, 0), (4, 47, 16, 1)])
def test_what_is_said_of_values(says: int, start: int, size: int, wrong: int) -> None:
    """The first of a group of neighbours is a multiple; groups are neighbours, or equal."""
    x = np.ones(128, np.float32)
    findings = found("overflow", lambda: hinted[(1,)](*arrays(x, out(128)), start, SAYS=says, BLOCK=64,
                                                      SIZE=size))
    assert sum(finding.count for finding in findings) == wrong
    name = ("multiple_of", "max_contiguous", "max_constancy", "", "multiple_of")[says]
    assert all(f"tl.{name}" in finding.message for finding in findings)


@triton.jit
def hinted_rows(x, o, rows, columns, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    at = tl.max_contiguous((i % rows) * columns + j % columns, [1, N])
    tl.store(o + i * N + j, tl.load(x + tl.multiple_of(at, [1, 4])))


def test_what_is_said_along_dimensions() -> None:
    x, o = np.ones(256, np.float32), np.ones((8, 16), np.float32)
    assert not found("overflow", lambda: hinted_rows[(1,)](*arrays(x, o), 4, 16, M=8, N=16))
    contiguous, = found("overflow", lambda: hinted_rows[(1,)](*arrays(x, o), 4, 12, M=8, N=16))
    assert contiguous.count == 8 * 4 and "max_contiguous(16)" in contiguous.message
    multiple, = found("overflow", lambda: hinted_rows[(1,)](*arrays(x, o), 4, 18, M=8, N=16))
    assert multiple.count == 4 and "multiple_of(4)" in multiple.message


def test_what_is_said_of_arguments() -> None:
    """Compiled ahead for aligned arrays, launched with others."""
    source = triton.compiler.ASTSource(copied, {"x": "*fp32", "o": "*fp32"}, {},
                                       {(0,): [["tt.divisibility", 16]]})
    kernel = triton.compile(source, options={"check": "overflow"})
    x, o = np.ones(80, np.float32), out(64)
    apart = x[(-x.ctypes.data // 4) % 4:]
    assert not found("overflow", lambda: kernel[(1, 1, 1)](*arrays(apart, o)))
    finding, = found("overflow", lambda: kernel[(1, 1, 1)](triton_spirv.asarray(apart[1:]), *arrays(o)))
    assert "argument x was compiled as tl.multiple_of(16)" in finding.message


@triton.jit
def copied(x, o):
    tl.store(o + tl.arange(0, 64), tl.load(x + tl.arange(0, 64)))


# ---- values are those of the kernel without checks


@triton.jit
def rotated(x, y, o, n, BLOCK: tl.constexpr):
    """Sums that the driver contracts: of two products, of one behind a view, of one that is negated, of a
    reduction's."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b = tl.load(x + i, mask=i < n, other=0), tl.load(y + i, mask=i < n, other=0)
    c = tl.load(x + n - 1 - i, mask=i < n, other=0)
    turned = a * b - c * a
    scale = (a * c)[None, :] + turned[None, :]
    moved = tl.sum(tl.reshape(scale, (BLOCK,)) * b, 0) - (-(b * c))
    tl.store(o + i, moved * a + turned, mask=i < n)


@triton.jit
def ceiling(x, o, d):
    parts = tl.cdiv(tl.load(x), d)
    tl.store(o, parts)


@triton.jit
def swizzled(x, o, d):
    i, j = tl.swizzle2d(tl.load(x), 0, d, 4, d)
    tl.store(o, i + j)


@pytest.mark.parametrize("kernel, line", [(ceiling, "parts = tl.cdiv("), (swizzled, "i, j = tl.swizzle2d(")])
def test_quotients_of_the_library_are_named_where_they_are_called(kernel: Any, line: str) -> None:
    x, o = np.full(1, 5, np.int32), np.zeros(1, np.int32)
    findings = found("overflow", lambda: kernel[(1,)](*arrays(x, o), 0))
    assert findings and all("division by zero" in finding.message for finding in findings)
    assert all(finding.file == __file__ and finding.source.startswith(line) for finding in findings)


@pytest.mark.parametrize("n, block", [(13, 16), (1000, 256), (5000, 4096)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bit_for_bit(n: int, block: int, dtype: Any) -> None:
    random = np.random.default_rng(n)
    x, y = random.standard_normal((2, n)).astype(dtype)
    plain, *others = np.zeros((6, n), dtype)

    def launch(o: np.ndarray, checks: str) -> None:
        rotated[(triton.cdiv(n, block),)](*arrays(x, y, o), n, BLOCK=block, check=checks)

    launch(plain, "")
    for checks, o in zip(("nan", "overflow", "uninit", "race", "bounds"), others, strict=True):
        launch(o, checks)
        np.testing.assert_array_equal(o, plain, err_msg=checks)


@triton.jit
def two_products(x, y, o, p, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a, b = tl.load(x + i), tl.load(y + i)
    tl.store(o + i, a * a - b * b)
    tl.store(p + i, tl.fma(a, a, -(b * b)))


@pytest.mark.parametrize("checks", ["", "nan", "all"])
def test_the_left_one_of_two_products_is_contracted(checks: str) -> None:
    x, y = np.random.default_rng(0).standard_normal((2, 256)).astype(np.float32)
    o, p = out(), out()
    two_products[(1,)](*arrays(x, y, o, p), BLOCK=256, check=checks)
    np.testing.assert_array_equal(o, p)


@triton.jit
def product_too_large(x, o, BLOCK: tl.constexpr):
    v = tl.load(x + tl.arange(0, BLOCK))
    large = v * 1e30
    tl.store(o + tl.arange(0, BLOCK), -large + 1.0)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64"])
def test_a_product_that_is_contracted_is_named(dtype: str) -> None:
    import torch

    x, o = torch.full((64,), 3e20, dtype=torch.float64).to(getattr(torch, dtype)), torch.zeros(64)

    def launch() -> None:
        product_too_large[(1,)](x, o, BLOCK=64)

    if dtype == "float64":
        assert not found("nan", lambda: product_too_large[(1,)](x, o.double(), BLOCK=64))
    elif dtype == "float16":
        assert not found("nan", launch)  # it was infinite before
    else:
        finding, = found("nan", launch)
        assert finding.source == "large = v * 1e30"


@triton.jit
def bits_as_floats(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i).to(tl.float32, bitcast=True))


def test_bits_are_no_numbers() -> None:
    x = np.full(64, 0x7F800000, np.int32)
    assert not found("nan", lambda: bits_as_floats[(1,)](*arrays(x, out(64)), BLOCK=64))


@triton.jit
def packed_rows(a, scale, b, o, n, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    """Rows of a lie two in a byte."""
    m, k, j = tl.arange(0, M // 2)[:, None], tl.arange(0, K)[None, :], tl.arange(0, N)[None, :]
    left = tl.load(a + m * K + k, mask=m < n)
    scales = tl.load(scale + tl.arange(0, M)[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    right = tl.load(b + tl.arange(0, K)[:, None] * N + j)
    sums = tl.dot_scaled(left, scales, "e2m1", right, None, "bf16", lhs_k_pack=False)
    rows = tl.arange(0, M)[:, None]
    tl.store(o + rows * N + j, sums, mask=rows < 20)


@pytest.mark.parametrize("n, count", [(16, 0), (10, 0), (9, 2 * 16)])
def test_rows_that_lie_two_in_a_byte(n: int, count: int) -> None:
    """Of 32 rows 20 are stored: those of 10 bytes."""
    import torch

    a, scale = torch.zeros(16, 64, dtype=torch.uint8), torch.full((32, 2), 127, dtype=torch.uint8)
    b, o = torch.zeros(64, 16, dtype=torch.bfloat16), torch.zeros(32, 16)
    findings = found("uninit", lambda: packed_rows[(1,)](a, scale, b, o, n, M=32, N=16, K=64))
    assert sum(finding.count for finding in findings) == count
