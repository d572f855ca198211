"""Kernels whose results hang on every single rounding, and what they must give: for the operation tests, and
for benchmarks/gpu/float_exactness.py, which runs them beside native Triton.

Triton keeps every operation as it is written: no sum is put in another order, nothing is simplified by the
rules of real numbers. A product and a sum behind it may become one operation with one rounding, unless
enable_fp_fusion is False. A case says what each element may be then.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from numeric import DTYPES, tensor

COUNT = 1024
#: of float types: 1.5 times the power of two from which on they hold whole numbers only; what splits a
#: significand in two halves (Veltkamp)
MAGIC = {"f16": 1536.0, "bf16": 192.0, "f32": 12582912.0, "f64": 6755399441055744.0}
SPLITTER = {"f16": 65.0, "bf16": 17.0, "f32": 4097.0, "f64": 134217729.0}
#: Rounds of the compensated sum: with COUNT lanes 2^20 numbers.
ROUNDS = 1024


class Numbers:
    """Floats of a type of Triton's, as numpy holds them; every operator rounds once, to nearest even."""

    def __init__(self, values: Any, dtype: str) -> None:
        self.dtype = dtype
        rounded = tensor(np.asarray(values, DTYPES[dtype].values), dtype)
        self.values = rounded.float().numpy() if dtype == "bf16" else rounded.numpy()

    def like(self, other: Numbers | float) -> np.ndarray:
        return other.values if isinstance(other, Numbers) else Numbers(other, self.dtype).values

    def __add__(self, other: Numbers | float) -> Numbers:
        return Numbers(self.values + self.like(other), self.dtype)

    __radd__ = __add__

    def __sub__(self, other: Numbers | float) -> Numbers:
        return Numbers(self.values - self.like(other), self.dtype)

    def __rsub__(self, other: float) -> Numbers:
        return Numbers(self.like(other) - self.values, self.dtype)

    def __mul__(self, other: Numbers | float) -> Numbers:
        return Numbers(self.values * self.like(other), self.dtype)

    __rmul__ = __mul__

    def __truediv__(self, other: Numbers | float) -> Numbers:
        return Numbers(self.values / self.like(other), self.dtype)

    def __rtruediv__(self, other: float) -> Numbers:
        return Numbers(self.like(other) / self.values, self.dtype)

    def __neg__(self) -> Numbers:
        return Numbers(-self.values, self.dtype)

    def root(self) -> Numbers:
        return Numbers(np.sqrt(self.values), self.dtype)

    def to(self, dtype: str) -> Numbers:
        return Numbers(self.values.astype(DTYPES[dtype].values), dtype)


def fma(x: Numbers | float, y: Numbers, z: Numbers) -> Numbers:
    """x y + z of finite numbers, rounded once."""
    factors = Numbers(np.broadcast_to(y.like(x), y.values.shape), y.dtype).values
    rows = zip(factors.astype(float).tolist(), y.values.astype(float).tolist(),
               z.values.astype(float).tolist(), strict=True)
    exact = [Fraction(a) * Fraction(b) + Fraction(c) for a, b, c in rows]
    return Numbers([nearest(total, z.dtype) if total else float(plain) for total, plain in
                    zip(exact, (y * x + z).values, strict=True)], z.dtype)


def nearest(total: Fraction, dtype: str) -> float:
    """The float of a type that is nearest to a fraction other than 0, ties to even; no overflow."""
    if dtype == "f64":
        return float(total)
    kind = DTYPES[dtype]
    exponent = max(math.frexp(float(total))[1] - 1, kind.lowest_exponent) - kind.mantissa
    return math.copysign(math.ldexp(round(total / Fraction(2) ** exponent), exponent), total)


# ---- kernels: three inputs, one output, a constant


@triton.jit
def difference_of_sum(x, y, z, C: tl.constexpr):
    return (x + y) - x


@triton.jit
def sum_of_difference(x, y, z, C: tl.constexpr):
    return (x - y) + y


@triton.jit
def error_of_sum(x, y, z, C: tl.constexpr):
    total = x + y
    back = total - x
    return (x - (total - back)) + (y - back)


@triton.jit
def rounded_by_magic(x, y, z, C: tl.constexpr):
    return (x + C) - C


@triton.jit
def product_of_constants(x, y, z, C: tl.constexpr):
    return x * 3.0 * 0.3333333432674408


@triton.jit
def sum_of_constants(x, y, z, C: tl.constexpr):
    return x + 1.1 + 2.3


@triton.jit
def in_stated_order(x, y, z, C: tl.constexpr):
    return ((x + y) + z) + (y + (z + x))


@triton.jit
def products_in_stated_order(x, y, z, C: tl.constexpr):
    return ((x * y) * z) - (x * (y * z))


@triton.jit
def overflow_and_back(x, y, z, C: tl.constexpr):
    huge = x * 1e30 * 1e30 * 1e30 * 1e30 * 1e30 * 1e30 * 1e30 * 1e30 * 1e30 * 1e30 * 1e30
    return huge * 1e-30


@triton.jit
def thrice_minus_twice(x, y, z, C: tl.constexpr):
    return (x + x + x) - (x + x)


@triton.jit
def itself_away(x, y, z, C: tl.constexpr):
    return x - x


@triton.jit
def nothing_of_it(x, y, z, C: tl.constexpr):
    return x * (y - y)


@triton.jit
def sign_of_zero(x, y, z, C: tl.constexpr):
    return 1.0 / ((x - x) * -1.0 + 0.0)


@triton.jit
def difference_turned(x, y, z, C: tl.constexpr):
    return (x - y) * -1.0


@triton.jit
def comparison_of_sum(x, y, z, C: tl.constexpr):
    return tl.where(x + C > y + C, x, y)


@triton.jit
def equal_after_sum(x, y, z, C: tl.constexpr):
    return tl.where(x + C == C, y, z)


@triton.jit
def larger_of_two(x, y, z, C: tl.constexpr):
    return tl.where(x > y, x, y)


@triton.jit
def divided(x, y):
    """Rounded to nearest, which Triton promises of f64 anyway."""
    return tl.div_rn(x, y) if x.dtype == tl.float32 else x / y


@triton.jit
def quotient_times(x, y, z, C: tl.constexpr):
    return divided(x, y) * y


@triton.jit
def product_over(x, y, z, C: tl.constexpr):
    return divided(x * y, y)


@triton.jit
def reciprocal_twice(x, y, z, C: tl.constexpr):
    one = x * 0.0 + 1.0
    return divided(one, divided(one, x))


@triton.jit
def quotients_by_one(x, y, z, C: tl.constexpr):
    return divided(x, z) - divided(y, z)


@triton.jit
def root_squared(x, y, z, C: tl.constexpr):
    root = tl.sqrt_rn(tl.abs(x)) if x.dtype == tl.float32 else tl.sqrt(tl.abs(x))
    return root * root


@triton.jit
def narrow_and_back(x, y, z, C: tl.constexpr):
    return x.to(tl.float16).to(x.dtype)


@triton.jit
def narrow_sum(x, y, z, C: tl.constexpr):
    return (x.to(tl.float16) + y.to(tl.float16)).to(x.dtype) - x


@triton.jit
def error_of_product(x, y, z, C: tl.constexpr):
    return tl.fma(x, y, -(x * y))


@triton.jit
def product_and_sum(x, y, z, C: tl.constexpr):
    return x * y + z


@triton.jit
def product_and_difference(x, y, z, C: tl.constexpr):
    return z - x * y


@triton.jit
def product_less(x, y, z, C: tl.constexpr):
    return x * y - z


@triton.jit
def sum_of_products(x, y, z, C: tl.constexpr):
    return x * y + x * z


@triton.jit
def product_used_twice(x, y, z, C: tl.constexpr):
    product = x * y
    return (product + z) - product


@triton.jit
def veltkamp_split(x, y, z, C: tl.constexpr):
    turned = C * x
    return turned - (turned - x)


@triton.jit
def dekker_product(x, y, z, C: tl.constexpr):
    product = x * y
    a = C * x
    x_high = a - (a - x)
    x_low = x - x_high
    b = C * y
    y_high = b - (b - y)
    y_low = y - y_high
    return x_low * y_low - (((product - x_high * y_high) - x_low * y_high) - x_high * y_low)


@triton.jit
def elementwise_kernel(x_ptr, y_ptr, z_ptr, out_ptr, FUNCTION: tl.constexpr, C: tl.constexpr,
                       BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y, z = tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(z_ptr + i)
    tl.store(out_ptr + i, FUNCTION(x, y, z, C).to(x.dtype))


@triton.jit
def kahan_kernel(x_ptr, out_ptr, rounds, COUNT: tl.constexpr, BLOCK: tl.constexpr):
    """Each lane sums its numbers, COUNT apart."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], x_ptr.dtype.element_ty)
    lost = tl.zeros([BLOCK], x_ptr.dtype.element_ty)
    for step in range(rounds):
        term = tl.load(x_ptr + step * COUNT + i) - lost
        new = total + term
        lost = (new - total) - term
        total = new
    tl.store(out_ptr + i, total)


# ---- what they must give


Reference = Callable[[Numbers, Numbers, Numbers, float], Numbers]


def _error_of_sum(x: Numbers, y: Numbers, z: Numbers, c: float) -> Numbers:
    total = x + y
    back = total - x
    return (x - (total - back)) + (y - back)


def _overflow_and_back(x: Numbers, y: Numbers, z: Numbers, c: float) -> Numbers:
    for _ in range(11):
        x = x * 1e30
    return x * 1e-30


def _split(x: Numbers, c: float) -> tuple[Numbers, Numbers]:
    turned = c * x
    high = turned - (turned - x)
    return high, x - high


def _dekker_product(x: Numbers, y: Numbers, z: Numbers, c: float) -> Numbers:
    product, (xh, xl), (yh, yl) = x * y, _split(x, c), _split(y, c)
    return xl * yl - (((product - xh * yh) - xl * yh) - xh * yl)


def _chosen(condition: np.ndarray, x: Numbers, y: Numbers) -> Numbers:
    return Numbers(np.where(condition, x.values, y.values), x.dtype)


@dataclass(frozen=True)
class Case:
    """A kernel on three inputs, what it gives with each operation rounded, and, where fusion may change that,
    everything that an element may be then (`fused`; None: not said, so only tried without fusion).

    `special`: infinities, NaN and zeros of both signs are among the inputs. `scales`: what the inputs are
    multiplied by. `constant`: what C is, for each type."""

    function: Any
    exact: Reference
    fused: Sequence[Reference] | None = ()
    special: bool = False
    constant: dict[str, float] = field(default_factory=dict)
    dtypes: tuple[str, ...] = ("f16", "bf16", "f32", "f64")
    scales: tuple[float, float, float] = (1.0, 1.0, 1.0)


NARROWED = ("f32", "f64")  # f64 through f32's range is none: its conversions to f16 are rounded once
ROUNDED = ("f32", "f64")  # whose divisions and roots are rounded to nearest

CASES: dict[str, Case] = {
    "(x + y) - x": Case(difference_of_sum, lambda x, y, z, c: (x + y) - x),
    "(x - y) + y": Case(sum_of_difference, lambda x, y, z, c: (x - y) + y),
    "error of a sum": Case(error_of_sum, _error_of_sum),
    "(x + C) - C": Case(rounded_by_magic, lambda x, y, z, c: (x + c) - c, constant=MAGIC),
    "x * 3 * (1/3)": Case(product_of_constants, lambda x, y, z, c: x * 3.0 * 0.3333333432674408),
    "x + 1.1 + 2.3": Case(sum_of_constants, lambda x, y, z, c: x + 1.1 + 2.3),
    "sums in stated order": Case(in_stated_order, lambda x, y, z, c: ((x + y) + z) + (y + (z + x))),
    "products in stated order": Case(
        products_in_stated_order, lambda x, y, z, c: ((x * y) * z) - (x * (y * z)),
        (lambda x, y, z, c: fma(x * y, z, -(x * (y * z))), lambda x, y, z, c: fma(-x, y * z, (x * y) * z))),
    "x * 1e30 eleven times * 1e-30": Case(overflow_and_back, _overflow_and_back, special=True,
                                          dtypes=ROUNDED),
    "(x + x + x) - (x + x)": Case(thrice_minus_twice, lambda x, y, z, c: (x + x + x) - (x + x), special=True),
    "x - x": Case(itself_away, lambda x, y, z, c: x - x, special=True),
    "x * (y - y)": Case(nothing_of_it, lambda x, y, z, c: x * (y - y), special=True),
    "1 / ((x - x) * -1 + 0)": Case(sign_of_zero, lambda x, y, z, c: 1.0 / ((x - x) * -1.0 + 0.0),
                                   special=True, dtypes=ROUNDED),
    "(x - y) * -1": Case(difference_turned, lambda x, y, z, c: (x - y) * -1.0, special=True),
    "x + C > y + C": Case(comparison_of_sum,
                          lambda x, y, z, c: _chosen((x + c).values > (y + c).values, x, y), constant=MAGIC),
    "x + C == C": Case(equal_after_sum, lambda x, y, z, c: _chosen((x + c).values == c, y, z),
                       constant=MAGIC),
    "x if x > y else y": Case(larger_of_two, lambda x, y, z, c: _chosen(x.values > y.values, x, y),
                              special=True),
    "x / y * y": Case(quotient_times, lambda x, y, z, c: x / y * y, dtypes=ROUNDED),
    "x * y / y": Case(product_over, lambda x, y, z, c: x * y / y, dtypes=ROUNDED),
    "1 / (1 / x)": Case(reciprocal_twice, lambda x, y, z, c: 1.0 / (1.0 / x), dtypes=ROUNDED),
    "x / z - y / z": Case(quotients_by_one, lambda x, y, z, c: x / z - y / z, dtypes=ROUNDED),
    "root of x squared": Case(root_squared, lambda x, y, z, c: (lambda r: r * r)(
        Numbers(abs(x.values), x.dtype).root()), dtypes=ROUNDED),
    "to f16 and back": Case(narrow_and_back, lambda x, y, z, c: x.to("f16").to(x.dtype), dtypes=NARROWED),
    "sum in f16, back, - x": Case(narrow_sum, lambda x, y, z, c: (x.to("f16") + y.to("f16")).to(x.dtype) - x,
                                  dtypes=NARROWED),
    "fma(x, y, -(x * y))": Case(error_of_product, lambda x, y, z, c: fma(x, y, -(x * y)),
                                dtypes=("f16", "f32", "f64")),
    "x * y + z": Case(product_and_sum, lambda x, y, z, c: x * y + z, (lambda x, y, z, c: fma(x, y, z),)),
    "z - x * y": Case(product_and_difference, lambda x, y, z, c: z - x * y,
                      (lambda x, y, z, c: fma(-x, y, z),)),
    "x * y - z": Case(product_less, lambda x, y, z, c: x * y - z, (lambda x, y, z, c: fma(x, y, -z),)),
    "x * y + x * z": Case(sum_of_products, lambda x, y, z, c: x * y + x * z,
                          (lambda x, y, z, c: fma(x, y, x * z), lambda x, y, z, c: fma(x, z, x * y))),
    "(x * y + z) - x * y": Case(
        product_used_twice, lambda x, y, z, c: (x * y + z) - x * y,
        (lambda x, y, z, c: fma(x, y, z) - x * y, lambda x, y, z, c: fma(-x, y, x * y + z),
         lambda x, y, z, c: fma(-x, y, fma(x, y, z)))),
    "denormal x + y": Case(in_stated_order, lambda x, y, z, c: ((x + y) + z) + (y + (z + x)), dtypes=("f32",),
                           scales=(2.0**-135, 2.0**-135, 2.0**-140)),
    "denormal x * y + z": Case(product_and_sum, lambda x, y, z, c: x * y + z,
                               (lambda x, y, z, c: fma(x, y, z),), dtypes=("f32",),
                               scales=(2.0**-70, 2.0**-70, 2.0**-135)),
    "Veltkamp split": Case(veltkamp_split, lambda x, y, z, c: _split(x, c)[0], None, constant=SPLITTER),
    "Dekker product": Case(dekker_product, _dekker_product, None, constant=SPLITTER),
}


# ---- running them


def inputs(case: Case, dtype: str, seed: int = 3) -> list[Numbers]:
    """x, y, z: of both signs, of sizes that make sums and products round, without overflow."""
    random = np.random.default_rng(seed)
    sizes = 3 if dtype == "f16" else 8
    made = []
    for scale in case.scales:
        values = random.normal(size=COUNT) * 2.0 ** random.integers(-sizes, sizes, COUNT)
        if case.special:
            known = [0.0, -0.0, np.inf, -np.inf, np.nan, DTYPES[dtype].top, -DTYPES[dtype].top]
            values[random.permutation(COUNT)[:COUNT // 4]] = random.choice(known, COUNT // 4)
        with np.errstate(over="ignore"):
            made.append(Numbers((values * scale).astype(DTYPES[dtype].values), dtype))
    return made


def expected(case: Case, dtype: str, fusion: bool) -> list[Numbers]:
    """Each element is of one of these."""
    given, constant = inputs(case, dtype), case.constant.get(dtype, 0.0)
    with np.errstate(all="ignore"):
        made = [case.exact(*given, constant)]
        if fusion:
            made += [reference(*given, constant) for reference in case.fused or ()]
    return made


def launch(case: Case, dtype: str, fusion: bool, run: Callable[..., Any],
           place: Callable[[torch.Tensor], torch.Tensor] = lambda t: t) -> torch.Tensor:
    """What the kernel stores; `run(kernel, grid, *arguments, **options)` launches, `place` puts a tensor
    where the device has it."""
    given = [place(tensor(values.values, dtype)) for values in inputs(case, dtype)]
    out = place(torch.full((COUNT,), float("nan"), dtype=DTYPES[dtype].torch))
    run(elementwise_kernel, COUNT // 256, *given, out, case.function, case.constant.get(dtype, 0.0), 256,
        enable_fp_fusion=fusion)
    return out.cpu()


def wrong(out: torch.Tensor, allowed: Sequence[Numbers]) -> int:
    """How many elements are none of those allowed, by their bits; NaN is NaN."""
    made = out.float().numpy() if out.dtype == torch.bfloat16 else out.numpy()
    right = np.zeros(made.shape, bool)
    for numbers in allowed:
        same = (made == numbers.values) & (np.signbit(made) == np.signbit(numbers.values))
        right |= same | np.isnan(made) & np.isnan(numbers.values)
    return int((~right).sum())


def kahan_inputs(dtype: str) -> np.ndarray:
    return np.random.default_rng(5).random((ROUNDS, COUNT)).astype(DTYPES[dtype].values)


def kahan_expected(x: np.ndarray) -> np.ndarray:
    """[rounds, lanes] -> [lanes], by compensated summation."""
    total = lost = np.zeros_like(x[0])
    for row in x:
        term = row - lost
        new = total + term
        total, lost = new, (new - total) - term
    return total
