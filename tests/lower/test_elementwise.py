"""lower/arithmetic/elementwise.py: arithmetic, comparison, bits, selection on every dtype; most results
are exact and compared by bits."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from kernels import apply, scalar2
from machine.targets import is_machine
from numeric import DTYPES, FLOATS, INTEGERS, SIGNED, UNSIGNED
from versions import TRITON, negated

COUNT = 1024


@triton.jit
def add(x, y):
    return x + y


@triton.jit
def subtract(x, y):
    return x - y


@triton.jit
def multiply(x, y):
    return x * y


@triton.jit
def divide(x, y):
    return x / y


@triton.jit
def floor_divide(x, y):
    return x // y


@triton.jit
def remainder(x, y):
    return x % y


@triton.jit
def bit_and(x, y):
    return x & y


@triton.jit
def bit_or(x, y):
    return x | y


@triton.jit
def bit_xor(x, y):
    return x ^ y


@triton.jit
def shift_left(x, y):
    return x << y


@triton.jit
def shift_right(x, y):
    return x >> y


@triton.jit
def less(x, y):
    return x < y


@triton.jit
def less_equal(x, y):
    return x <= y


@triton.jit
def greater(x, y):
    return x > y


@triton.jit
def greater_equal(x, y):
    return x >= y


@triton.jit
def equal(x, y):
    return x == y


@triton.jit
def not_equal(x, y):
    return x != y


@triton.jit
def minimum(x, y):
    return tl.minimum(x, y)


@triton.jit
def maximum(x, y):
    return tl.maximum(x, y)


@triton.jit
def minimum_nan(x, y):
    return tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def maximum_nan(x, y):
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def negate(x):
    return -x


@triton.jit
def invert(x):
    return ~x


@triton.jit
def absolute(x):
    return tl.abs(x)


@triton.jit
def select(c, x, y):
    return tl.where(c, x, y)


@triton.jit
def clamp(x, low, high):
    return tl.clamp(x, low, high)


@triton.jit
def clamp_nan(x, low, high):
    return tl.clamp(x, low, high, propagate_nan=tl.PropagateNan.ALL)


ARITHMETIC = {"add": (add, np.add), "sub": (subtract, np.subtract), "mul": (multiply, np.multiply)}
COMPARISONS = {
    "lt": (less, np.less),
    "le": (less_equal, np.less_equal),
    "gt": (greater, np.greater),
    "ge": (greater_equal, np.greater_equal),
    "eq": (equal, np.equal),
    "ne": (not_equal, np.not_equal),
}
BITWISE = {"and": (bit_and, np.bitwise_and), "or": (bit_or, np.bitwise_or), "xor": (bit_xor, np.bitwise_xor)}
MIN_MAX = {
    "min": (minimum, np.fmin),
    "max": (maximum, np.fmax),
    "min_nan": (minimum_nan, np.minimum),
    "max_nan": (maximum_nan, np.maximum),
}


def apply2(run, function, x, y, dtype, out_dtype=None, block=256):
    return apply(run, function, [x, y], dtype, out_dtype or dtype, block)


def apply1(run, function, x, dtype):
    return apply(run, function, [x], dtype, dtype)


def rounded(reference, dtype):
    """numpy computed in float32; bfloat16 then rounds once more, as every implementation does that lacks the
    type."""
    return numeric.round_to(reference, dtype) if dtype == "bf16" else reference


@pytest.mark.parametrize("dtype", numeric.NUMBERS)
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic(run, name, dtype):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    function, reference = ARITHMETIC[name]
    x, y = numeric.pairs(dtype, COUNT)
    with np.errstate(all="ignore"):  # integers wrap
        numeric.assert_same(apply2(run, function, x, y, dtype), rounded(reference(x, y), dtype))


@pytest.mark.parametrize(
    "name, reference", [("add", np.bitwise_xor), ("sub", np.bitwise_xor), ("mul", np.bitwise_and)]
)
def test_arithmetic_modulo_two(run, name, reference):
    x, y = numeric.random(100, "i1", 0), numeric.random(100, "i1", 1)
    numeric.assert_same(apply2(run, ARITHMETIC[name][0], x, y, "i1"), reference(x, y))


@pytest.mark.parametrize("dtype", FLOATS)
def test_divide_floats(run, dtype):
    """f16 and bf16 divide in f32. Plain division may be 2.5 ulp off (OpenCL); on f64 it is exact."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x, y = numeric.pairs(dtype, COUNT)
    wide = "f64" if dtype == "f64" else "f32"
    with np.errstate(all="ignore"):
        expected = x.astype(np.float64) / y.astype(np.float64)
    numeric.assert_ulps(apply2(run, divide, x, y, dtype, wide), expected, 0 if dtype == "f64" else 2.5, wide)


@pytest.mark.parametrize("dtype", ("i8", "i32", "u16", "u64"))
def test_divide_integers_gives_f32(run, dtype):
    x = numeric.random(COUNT, dtype, 0)
    y = numeric.random(COUNT, dtype, 1, low=1, high=100)
    expected = x.astype(np.float32) / y.astype(np.float32)
    numeric.assert_ulps(apply2(run, divide, x, y, dtype, "f32"), expected, 3, "f32")


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainder_floats(run, dtype):
    """fmod is exact and has the dividend's sign."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x, y = numeric.pairs(dtype, COUNT)
    wide = "f64" if dtype == "f64" else "f32"
    with np.errstate(all="ignore"):
        expected = np.fmod(x.astype(DTYPES[wide].values), y.astype(DTYPES[wide].values))
    numeric.assert_same(apply2(run, remainder, x, y, dtype, wide), expected)


@pytest.mark.parametrize("exponent", (0, 1, 20))
@pytest.mark.parametrize("times", (1, 4))
@pytest.mark.parametrize("dtype", ("f32", "f64"))
def test_remainder_of_multiples_is_zero(run, dtype, times, exponent):
    """With the dividend's sign, of denormals and the smallest normal numbers too: a driver gave fmod(x, x) =
    x for some of them."""
    bits, mantissa = (np.uint32, 23) if dtype == "f32" else (np.uint64, 52)
    fraction = numeric.random(COUNT, "u64", 0).astype(bits) >> bits(12)
    y = (fraction | bits(1) | bits(exponent) << bits(mantissa)).view(DTYPES[dtype].values)
    x = np.where(np.arange(COUNT) % 2, -y, y) * times
    found = apply2(run, remainder, x, y, dtype, dtype)
    numeric.assert_same(found, np.fmod(x, y))
    numeric.assert_same(found, np.copysign(0, x))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("small_divisors", (True, False))
def test_divide_and_remainder_truncate(run, dtype, small_divisors):
    """C's semantics, not Python's: towards zero, the remainder has the dividend's sign."""
    x, y = numeric.pairs(dtype, COUNT)
    if small_divisors:
        y = (y % 11).astype(y.dtype) - np.array(5 if dtype[0] == "i" else 0, y.dtype)
    y[y == 0] = 3  # undefined
    overflows = (
        (x == np.iinfo(x.dtype).min) & (y == y.dtype.type(-1)) if dtype in SIGNED else np.zeros(len(x), bool)
    )
    y[overflows] = 5  # undefined
    exact_x, exact_y = x.astype(object), y.astype(object)
    sign = np.where((x < 0) != (y < 0), -1, 1).astype(object)
    quotient = sign * (abs(exact_x) // abs(exact_y))
    numeric.assert_same(apply2(run, floor_divide, x, y, dtype), quotient.astype(x.dtype))
    numeric.assert_same(apply2(run, remainder, x, y, dtype), (exact_x - quotient * exact_y).astype(x.dtype))


@triton.jit
def divide_and_shift(x, y):
    return (x // y) ^ (x % y) ^ (x << y) ^ (x >> y)


@pytest.mark.parametrize("block", (1, 16, 256))
@pytest.mark.parametrize("dtype", INTEGERS)
def test_undefined_results_harm_nobody(run, mode, dtype, block):
    """Division by zero, the one that overflows, shifts beyond the width: any value, no trap."""
    numeric.interpreter_is_wrong("numpy raises or warns")
    if is_machine(mode):
        pytest.skip("the machine reports results that are undefined")
    x, y = (side.copy() for side in numeric.pairs(dtype, COUNT))
    x[::4], y[::4] = 97, 3
    x[1::4], y[1::4] = np.iinfo(x.dtype).min, np.array(-1).astype(y.dtype)
    y[2::4] = 0
    out = numeric.array(apply2(run, divide_and_shift, x, y, dtype, block=block))[::4]
    exact = (97 // 3) ^ (97 % 3) ^ (97 << 3) ^ (97 >> 3)
    numeric.assert_same(out, np.full(len(out), np.array(exact).astype(x.dtype)))


@pytest.mark.parametrize("dtype", ("i1",) + INTEGERS)
@pytest.mark.parametrize("name", BITWISE)
def test_bitwise(run, name, dtype):
    function, reference = BITWISE[name]
    x, y = numeric.pairs(dtype, COUNT)
    numeric.assert_same(apply2(run, function, x, y, dtype), reference(x, y))


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(
    "function, reference", [(shift_left, np.left_shift), (shift_right, np.right_shift)], ids=("left", "right")
)
def test_shift(run, function, reference, dtype):
    """Right shifts fill with the sign of a signed left operand. Counts of the width and above are
    undefined."""
    x = np.concatenate([numeric.specials(dtype), numeric.random(COUNT, dtype)])[:COUNT]
    counts = numeric.random(COUNT, dtype, 3, low=0, high=DTYPES[dtype].bits)
    numeric.assert_same(apply2(run, function, x, counts, dtype), reference(x, counts))


@pytest.mark.parametrize("dtype", numeric.NUMBERS)
@pytest.mark.parametrize("name", COMPARISONS)
def test_compare(run, name, dtype):
    """Ordered comparisons are false for NaN, != is true; -0 equals 0; denormals are not zero."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    function, reference = COMPARISONS[name]
    x, y = numeric.pairs(dtype, COUNT)
    y[::5] = x[::5]
    numeric.assert_same(apply2(run, function, x, y, dtype, "i1"), reference(x, y))


@pytest.mark.parametrize("dtype", numeric.NUMBERS)
@pytest.mark.parametrize("name", MIN_MAX)
def test_minimum_and_maximum(run, name, dtype):
    """Without propagation the number wins over NaN. The zeros of min(-0, 0) may be either."""
    numeric.interpreter_is_wrong_on_bf16(dtype)
    if dtype not in FLOATS and "nan" in name:
        pytest.skip("integers have no NaN")
    function, reference = MIN_MAX[name]
    x, y = numeric.pairs(dtype, COUNT)
    numeric.assert_same(apply2(run, function, x, y, dtype), reference(x, y), signed_zeros=False)


@triton.jit
def extremes(x_ptr, y_ptr, low_ptr, high_ptr, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + index), tl.load(y_ptr + index)
    tl.store(low_ptr + index, tl.minimum(x, y))
    tl.store(high_ptr + index, tl.maximum(x, y))


@pytest.mark.parametrize("block", (1, 2, 4, 8, 16, 64))
def test_extremes_in_vectors_of_any_width(run, block):
    """Some processors have an instruction for vectors of four, eight and sixteen f32."""
    special = np.array([0.0, 1.5, -2.0, 1e-40, -1e-45, np.inf, -np.inf, np.nan], np.float32)
    x, y = (each.ravel() for each in np.meshgrid(special, special))
    low, high = numeric.poisoned(64, "f32"), numeric.poisoned(64, "f32")
    run(extremes, 64 // block, numeric.tensor(x, "f32"), numeric.tensor(y, "f32"), low, high, block)
    numeric.assert_same(low, np.fmin(x, y), signed_zeros=False)
    numeric.assert_same(high, np.fmax(x, y), signed_zeros=False)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", [name for name in MIN_MAX if "nan" in name])
def test_zeros_are_ordered(run, name, dtype):
    """Where NaN is passed on, -0 is below 0 (IEEE 754-2019 maximum and minimum)."""
    numeric.interpreter_is_wrong("it takes either zero")
    kind = DTYPES[dtype].values
    x = np.tile(np.array([0.0, 0.0, -0.0, -0.0], kind), 64)
    y = np.tile(np.array([0.0, -0.0, 0.0, -0.0], kind), 64)
    negative = np.signbit(x) & np.signbit(y) if "max" in name else np.signbit(x) | np.signbit(y)
    expected = np.where(negative, kind(-0.0), kind(0.0))
    numeric.assert_same(apply2(run, MIN_MAX[name][0], x, y, dtype), expected)


@pytest.mark.parametrize("dtype", SIGNED + FLOATS)
def test_negate(run, dtype):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    x, _ = numeric.pairs(dtype, COUNT)
    numeric.assert_same(apply1(run, negate, x, dtype), negated(x))


@pytest.mark.parametrize("dtype", ("i1",) + INTEGERS)
def test_invert(run, dtype):
    x, _ = numeric.pairs(dtype, COUNT)
    numeric.assert_same(apply1(run, invert, x, dtype), np.invert(x))


@pytest.mark.parametrize("dtype", numeric.NUMBERS)
def test_absolute(run, dtype):
    """abs of the lowest integer wraps to itself."""
    x, _ = numeric.pairs(dtype, COUNT)
    with np.errstate(all="ignore"):
        numeric.assert_same(apply1(run, absolute, x, dtype), np.abs(x))


@pytest.mark.parametrize("dtype", numeric.ALL)
def test_select(run, dtype):
    """The bits of the chosen side, NaN included."""
    x, y = numeric.pairs(dtype, COUNT)
    choice = numeric.random(COUNT, "i1")
    numeric.assert_same(
        apply(run, select, [choice, x, y], ["i1", dtype, dtype], dtype), np.where(choice, x, y)
    )


@pytest.mark.parametrize("dtype", ("i8", "i32", "u64", "f16", "f32", "f64"))
@pytest.mark.parametrize("function", (clamp, clamp_nan), ids=("number", "nan"))
def test_clamp(run, function, dtype):
    """Limits are in order and numbers (else undefined); NaN gives the lower limit, or NaN when asked for."""
    x, _ = numeric.pairs(dtype, COUNT)
    low, high = numeric.random(COUNT, dtype, 5), numeric.random(COUNT, dtype, 6)
    low, high = np.minimum(low, high), np.maximum(low, high)
    expected = (
        np.minimum(np.maximum(x, low), high) if function is clamp_nan else np.fmin(np.fmax(x, low), high)
    )
    if DTYPES[dtype].kind != "float" and TRITON < (3, 9):
        with pytest.raises(triton.CompilationError) as refused:
            apply(run, function, [x, low, high], dtype, dtype)
        assert "Only floating point clamp is supported" in str(refused.getrepr(chain=True))
        return
    numeric.assert_same(apply(run, function, [x, low, high], dtype, dtype), expected, signed_zeros=False)


# ---- shapes: below, at and far above the width of a vector; sizes that no block divides


@pytest.mark.parametrize("dtype", ("i1", "i8", "f16", "f32", "i64"))
@pytest.mark.parametrize("block", (1, 2, 4, 8, 16, 32, 128, 4096))
def test_block_sizes(run, block, dtype):
    count = 3 * block - block // 3
    x, y = numeric.random(count, dtype, 0), numeric.random(count, dtype, 1)
    function, reference = BITWISE["xor"] if dtype == "i1" else ARITHMETIC["add"]
    with np.errstate(all="ignore"):
        numeric.assert_same(apply2(run, function, x, y, dtype, block=block), reference(x, y))


@pytest.mark.parametrize("count", (1, 2, 3, 5, 15, 17, 100, 1000, 4097))
def test_odd_sizes(run, count):
    x, y = numeric.random(count, "f32", 0), numeric.random(count, "f32", 1)
    numeric.assert_same(apply2(run, multiply, x, y, "f32", block=64), x * y)


@pytest.mark.parametrize("dtype", ("i8", "u16", "i32", "i64", "f16", "bf16", "f32", "f64"))
@pytest.mark.parametrize("name", ARITHMETIC)
def test_scalars(run, name, dtype):
    numeric.interpreter_is_wrong_on_bf16(dtype)
    function, reference = ARITHMETIC[name]
    x, y = numeric.random(40, dtype, 0), numeric.random(40, dtype, 1)
    out = numeric.poisoned(40, dtype)
    run(scalar2, 40, numeric.tensor(x, dtype), numeric.tensor(y, dtype), out, function)
    with np.errstate(all="ignore"):
        numeric.assert_same(out, rounded(reference(x, y), dtype))


@triton.jit
def mixed(x_ptr, y_ptr, out_ptr, n, scale, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    keep = i < n
    x, y = tl.load(x_ptr + i, mask=keep), tl.load(y_ptr + i, mask=keep)
    tl.store(out_ptr + i, (x + y) * scale - 3, mask=keep)


PROMOTIONS = [
    ("i8", "i32", "i32"),
    ("u8", "i16", "i16"),
    ("i32", "u32", "u32"),
    ("i16", "i64", "i64"),
    ("i64", "f16", "f16"),
    ("i32", "f32", "f32"),
    ("f16", "f32", "f32"),
    ("f32", "f64", "f64"),
    ("i1", "i32", "i32"),
    ("i1", "f32", "f32"),
]


@pytest.mark.parametrize("left, right, common", PROMOTIONS, ids=lambda d: d)
def test_mixed_dtypes(run, left, right, common):
    """Operands are promoted as Triton states; the Python number adapts to the tensor. Small values: all
    results are exact."""
    x = numeric.random(100, left, 0, low=0, high=10) if left != "i1" else numeric.random(100, "i1")
    y = np.floor(numeric.random(100, right, 1, low=0, high=10)).astype(DTYPES[right].values)
    out = numeric.poisoned(100, common)
    run(mixed, 1, numeric.tensor(x, left), numeric.tensor(y, right), out, 100, 4, 128)
    kind = DTYPES[common].values
    with np.errstate(all="ignore"):
        numeric.assert_same(out, (x.astype(kind) + y.astype(kind)) * kind(4) - kind(3))


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_unsigned_is_not_signed(run, dtype):
    """Division, remainder, comparison, shifts and conversion above half of the range: where signedness
    shows."""
    top = np.iinfo(DTYPES[dtype].values).max
    x = np.array([top, top - 1, top // 2 + 1, top // 2 + 2] * 8, dtype=DTYPES[dtype].values)
    three = np.full_like(x, 3)
    numeric.assert_same(apply2(run, floor_divide, x, three, dtype), x // three)
    numeric.assert_same(apply2(run, remainder, x, three, dtype), x % three)
    numeric.assert_same(apply2(run, greater, x, three, dtype, "i1"), x > three)
    numeric.assert_same(apply2(run, shift_right, x, three, dtype), x >> three)
    numeric.assert_same(apply2(run, maximum, x, three, dtype), x)
