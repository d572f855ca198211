"""facts/pieces.py, lower/addresses/access.py: where an index is divided, a test finds the vectors that lie in
one row; the others go element by element."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.facts.pieces import pieces_of
from triton_spirv.ir import parse
from triton_spirv.target import find_target


@triton.jit
def rows_of(table_ptr, row_ptr, out_ptr, n, start, width, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    w = WIDTH if WIDTH else width
    row = tl.load(row_ptr + (i + start) // w, inside, other=0)
    tl.store(out_ptr + i, tl.load(table_ptr + row * w + (i + start) % w, inside), inside)


@triton.jit
def rows_to(x_ptr, row_ptr, out_ptr, n, start, width, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = i < n
    w = WIDTH if WIDTH else width
    row = tl.load(row_ptr + (i + start) // w, inside, other=0)
    tl.store(out_ptr + row * w + (i + start) % w, tl.load(x_ptr + i, inside), inside)


WIDTHS = [(0, 24), (0, 33), (0, 64), (0, 1000), (0, 1), (0, 7), (33, 1), (49, 1), (197, 1), (1000, 1)]


@pytest.mark.parametrize("dtype", ("f32", "f16", "i64", "i8"))
@pytest.mark.parametrize(("constant", "width"), WIDTHS)
@pytest.mark.parametrize("start", (0, 5))
def test_rows(run, constant, width, start, dtype) -> None:
    w, n = constant or width, 1500
    count = -(-(n + start) // w)
    table, row = numeric.whole(40 * w, dtype, 1), numeric.whole(count, "i64", 2) % 40
    at = np.arange(n) + start
    out = numeric.poisoned(n, dtype)
    run(rows_of, 3, numeric.tensor(table, dtype), numeric.tensor(row, "i64"), out, n, start, width, constant,
        512)
    numeric.assert_same(out, table[row[at // w] * w + at % w])


@pytest.mark.parametrize(("constant", "width"), WIDTHS)
@pytest.mark.parametrize("start", (0, 5))
def test_rows_that_are_stored(run, constant, width, start) -> None:
    w, n = constant or width, 1500
    count = -(-(n + start) // w)
    x, order = numeric.whole(n, "f32", 1), np.random.default_rng(3).permutation(count + 2)
    row = order[:count].astype(np.int64)
    at = np.arange(n) + start
    expected = np.zeros((count + 2) * w, np.float32)
    expected[row[at // w] * w + at % w] = x
    out = numeric.tensor(np.zeros((count + 2) * w, np.float32), "f32")
    run(rows_to, 3, numeric.tensor(x, "f32"), numeric.tensor(row, "i64"), out, n, start, width, constant, 512)
    numeric.assert_same(out, expected)


@triton.jit
def by_channel(x_ptr, bias_ptr, out_ptr, n, start, size, channels, BLOCK: tl.constexpr):
    """Places below zero, too: quotients are cut towards zero."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    channel = (i - start) // size % channels
    bias = tl.load(bias_ptr + tl.where(channel < 0, -channel, channel), i < n)
    tl.store(out_ptr + i, tl.load(x_ptr + i, i < n) + bias, i < n)


@pytest.mark.parametrize("size", (49, 196, 10, 1))
@pytest.mark.parametrize("start", (0, 700))
def test_channels(run, size, start) -> None:
    n, channels = 2000, 5
    x, bias = numeric.whole(n, "f32", 1), numeric.whole(channels, "f32", 2)
    out = numeric.poisoned(n, "f32")
    run(by_channel, 4, numeric.tensor(x, "f32"), numeric.tensor(bias, "f32"), out, n, start, size, channels,
        512)
    at = np.arange(n) - start
    quotient = np.sign(at) * (np.abs(at) // size)
    numeric.assert_same(out, x + bias[np.abs(quotient) % channels])


@triton.jit
def narrow(x_ptr, out_ptr, BLOCK: tl.constexpr):
    """Indices of 8 bits wrap inside of a vector."""
    i = tl.arange(0, BLOCK).to(tl.int8) + 60
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + 200 + (i % 100).to(tl.int32)))


def test_indices_that_wrap(run) -> None:
    x, out = numeric.whole(500, "f32", 1), numeric.poisoned(256, "f32")
    run(narrow, 1, numeric.tensor(x, "f32"), out, 256)
    at = ((np.arange(256) + 60 + 128) % 256 - 128).astype(np.int64)
    numeric.assert_same(out, x[200 + np.sign(at) * (np.abs(at) % 100)])


@triton.jit
def quotients(numbers_ptr, out_ptr, rest_ptr, nested_ptr, BLOCK: tl.constexpr):
    start, divisor, modulus = tl.load(numbers_ptr), tl.load(numbers_ptr + 1), tl.load(numbers_ptr + 2)
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = start + place.to(start.dtype)
    tl.store(out_ptr + place, i // divisor)
    tl.store(rest_ptr + place, i % divisor)
    tl.store(nested_ptr + place, i // divisor % modulus)


def c_division(x: list[int], y: int) -> tuple[list[int], list[int]]:
    """Quotients cut towards zero, and what is left."""
    found = [abs(each) // abs(y) * (1 if (each < 0) == (y < 0) else -1) for each in x]
    return found, [each - quotient * y for each, quotient in zip(x, found, strict=True)]


DIVISORS = (1, 2, 7, 15, 16, 17, 33, 1000, -2, -33)
STARTS = (0, 5, 990, -7, -300)


@pytest.mark.parametrize("dtype", ("i32", "i64", "u32", "u64"))
def test_quotients_by_what_the_launch_knows(run, dtype) -> None:
    """Exact whatever the numbers are: below zero, around multiples, where they wrap inside of a vector."""
    bits, values = int(dtype[1:]), numeric.DTYPES[dtype].values
    least, largest = (0, (1 << bits) - 1) if dtype[0] == "u" else (-1 << bits - 1, (1 << bits - 1) - 1)
    for first in (*STARTS, least, largest - 300):
        for by in (*DIVISORS, largest, largest - 100, largest // 2, least):
            if by == 0 or not least <= min(first, by):
                continue
            x = [(first + at - least) % (1 << bits) + least for at in range(512)]
            quotient, rest = c_division(x, by)
            outs = [numeric.poisoned(512, dtype) for _ in range(3)]
            numbers = np.array([first, by, 5], dtype=values)
            run(quotients, 2, numeric.tensor(numbers, dtype), *outs, 256)
            for out, expected in zip(outs, (quotient, rest, c_division(quotient, 5)[1]), strict=True):
                numeric.assert_same(out, np.array(expected, dtype=values))


def test_vectors_are_divided_by_their_ends() -> None:
    text = """module { tt.func public @k(%x: !tt.ptr<i64>, %n: i64) {
        %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        %w = arith.extsi %i : tensor<64xi32> to tensor<64xi64>
        %d = tt.splat %n : i64 -> tensor<64xi64>
        %q = arith.divsi %w, %d : tensor<64xi64>
        %b = tt.splat %x : !tt.ptr<i64> -> tensor<64x!tt.ptr<i64>>
        %p = tt.addptr %b, %i : tensor<64x!tt.ptr<i64>>, tensor<64xi32>
        tt.store %p, %q : tensor<64x!tt.ptr<i64>>
        tt.return
    } }"""
    cpu = find_target("cpu")
    assert triton_spirv.compile(text, cpu).listing.count("OpSDiv i64") == 2 * 64 // 16
    plain = cpu.with_options(leaves_out=frozenset({"pieces"}))
    assert "OpSDiv i64" not in triton_spirv.compile(text, plain).listing


def addresses(lines: str) -> str:
    """Of what pieces `%p` consists, where `%i` is 0, 1, ... and `%d` the tensor of a scalar."""
    function = parse(f"""tt.func public @k(%x: !tt.ptr<i32>, %n: i32) {{
        %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
        %d = tt.splat %n : i32 -> tensor<64xi32>
        %c = arith.constant dense<33> : tensor<64xi32>
        %s = arith.constant dense<9> : tensor<64xi32>
        %b = tt.splat %x : !tt.ptr<i32> -> tensor<64x!tt.ptr<i32>>
        {lines}
        %p = tt.addptr %b, %o : tensor<64x!tt.ptr<i32>>, tensor<64xi32>
        tt.return
    }}""").functions["k"]
    (pointer,) = [op.result for op in function.walk() if op.results and op.result.name == "p"]
    return pieces_of(pointer, {})


T = " : tensor<64xi32>"


@pytest.mark.parametrize(("lines", "pieces"), [
    (f"%o = arith.divsi %i, %d{T}", "one"), (f"%o = arith.divui %i, %c{T}", "one"),
    (f"%o = arith.remsi %i, %d{T}", "neighbours"), (f"%o = arith.remsi %i, %s{T}", ""),
    (f"%o = arith.addi %i, %d{T}", ""), (f"%o = arith.divsi %d, %i{T}", ""),
    (f"%q = arith.divsi %i, %d{T}\n%r = arith.remsi %i, %d{T}\n%o = arith.addi %q, %r{T}", "neighbours"),
    (f"%r = arith.remsi %i, %d{T}\n%o = arith.addi %r, %i{T}", ""),
    (f"%r = arith.remsi %i, %d{T}\n%o = arith.subi %r, %c{T}", "neighbours"),
    (f"%r = arith.remsi %i, %d{T}\n%o = arith.subi %c, %r{T}", ""),
    (f"%r = arith.remsi %i, %d{T}\n%o = arith.muli %c, %r{T}", ""),
    (f"%r = arith.divsi %i, %d{T}\n%o = arith.muli %c, %r{T}", "one"),
    (f"%r = arith.remsi %i, %d{T}\n%o = arith.divsi %r, %c{T}", "one"),
    (f"%q = arith.divsi %i, %d{T}\n%a = tt.addptr %b, %q : tensor<64x!tt.ptr<i32>>, tensor<64xi32>\n"
     f"%o = tt.load %a : tensor<64x!tt.ptr<i32>>", "one"),
    ("%a = tt.addptr %b, %i : tensor<64x!tt.ptr<i32>>, tensor<64xi32>\n"
     "%o = tt.load %a : tensor<64x!tt.ptr<i32>>", ""),
])
def test_what_addresses_consist_of(lines, pieces) -> None:
    assert addresses(lines) == pieces


def test_chains_are_followed_once() -> None:
    """x + x of what is such a sum already, 200 times."""
    lines = [f"%q0 = arith.divsi %i, %d{T}"]
    lines += [f"%q{at + 1} = arith.addi %q{at}, %q{at}{T}" for at in range(200)]
    assert addresses("\n".join([*lines, f"%o = arith.addi %q200, %d{T}"])) == "one"
