"""Functions of libdevice that SPIR-V has no instruction for, written in Triton.

Formulas by their numbers in the Digital Library of Mathematical Functions (dlmf.nist.gov). They are evaluated
in fp64 and rounded to the argument's type once, which is exact enough where series cancel; none of them is a
hot spot of real kernels.
"""

from __future__ import annotations

import triton
import triton.language as tl
from triton.language.extra import libdevice

__all__ = [
    "abs", "add_rn", "brev", "cyl_bessel_i0", "cyl_bessel_i1", "div_rn", "double2hiint",
    "double2loint", "erfcinv", "erfcx", "erfinv", "fast_dividef", "ffs", "finitef",
    "hiloint2double", "isfinited", "isinf", "isnan", "j0", "j1", "llrint", "llround", "mul_rn",
    "norm3d", "norm4d", "normcdf", "normcdfinv", "rcbrt", "rcp_rn", "rhypot", "rnorm3d", "rnorm4d",
    "sad", "saturatef", "signbit", "sqrt_rn", "sub_rn", "y0", "y1",
]

PI = tl.constexpr(3.141592653589793)
EULER_GAMMA = tl.constexpr(0.5772156649015329)
SQRT_HALF = tl.constexpr(0.7071067811865476)
INVERSE_SQRT_PI = tl.constexpr(0.5641895835477563)
#: terms of a power series that are enough below BESSEL_FAR, terms of the expansions that are enough above it
SERIES_TERMS, EXPANSION_TERMS = tl.constexpr(64), tl.constexpr(12)
BESSEL_FAR = tl.constexpr(18.0)


# ---- arithmetic that Triton has, under libdevice's names


@triton.jit
def abs(x):
    return tl.abs(x)


@triton.jit
def add_rn(x, y):
    return x + y


@triton.jit
def sub_rn(x, y):
    return x - y


@triton.jit
def mul_rn(x, y):
    return x * y


@triton.jit
def div_rn(x, y):
    return tl.div_rn(x, y) if x.dtype == tl.float32 else x / y


@triton.jit
def fast_dividef(x, y):
    return x / y


@triton.jit
def rcp_rn(x):
    return tl.div_rn(1.0, x) if x.dtype == tl.float32 else 1.0 / x


@triton.jit
def sqrt_rn(x):
    return tl.sqrt_rn(x) if x.dtype == tl.float32 else tl.sqrt(x)


@triton.jit
def rcbrt(x):
    return 1.0 / libdevice.cbrt(x)


@triton.jit
def rhypot(x, y):
    return 1.0 / libdevice.hypot(x, y)


@triton.jit
def norm3d(x, y, z):
    return libdevice.hypot(libdevice.hypot(x, y), z)


@triton.jit
def rnorm3d(x, y, z):
    return 1.0 / libdevice.hypot(libdevice.hypot(x, y), z)


@triton.jit
def norm4d(x, y, z, w):
    return libdevice.hypot(libdevice.hypot(x, y), libdevice.hypot(z, w))


@triton.jit
def rnorm4d(x, y, z, w):
    return 1.0 / libdevice.hypot(libdevice.hypot(x, y), libdevice.hypot(z, w))


@triton.jit
def saturatef(x):
    return tl.where(x > 0.0, tl.minimum(x, 1.0), 0.0)


# ---- what kind of number; 32-bit integers as in C


@triton.jit
def isnan(x):
    return (x != x).to(tl.int32)


@triton.jit
def isinf(x):
    return (tl.abs(x) == float("inf")).to(tl.int32)


@triton.jit
def finitef(x):
    return (tl.abs(x) < float("inf")).to(tl.int32)


@triton.jit
def isfinited(x):
    return (tl.abs(x) < float("inf")).to(tl.int32)


@triton.jit
def signbit(x):
    if x.dtype == tl.float64:
        return (x.to(tl.int64, bitcast=True) < 0).to(tl.int32)
    return (x.to(tl.float32).to(tl.int32, bitcast=True) < 0).to(tl.int32)


# ---- integers and bits


@triton.jit
def llrint(x):
    return libdevice.rint(x).to(tl.int64)


@triton.jit
def llround(x):
    return libdevice.round(x).to(tl.int64)


@triton.jit
def sad(x, y, z):
    return tl.where(x > y, x - y, y - x) + z


@triton.jit
def ffs(x):
    """The position of the lowest set bit, counted from 1; 0 without one."""
    return tl.where(x == 0, 0, x.dtype.primitive_bitwidth - libdevice.clz(x & -x))


@triton.jit
def brev(x):
    """The bits in reverse order: neighbours change places, then neighbouring pairs, nibbles, ..."""
    if x.dtype.primitive_bitwidth == 64:
        low = _reversed32(x.to(tl.uint64).to(tl.uint32)).to(tl.uint64)
        high = _reversed32((x.to(tl.uint64) >> 32).to(tl.uint32)).to(tl.uint64)
        return ((low << 32) | high).to(x.dtype)
    return _reversed32(x.to(tl.uint32)).to(x.dtype)


@triton.jit
def _reversed32(x):
    x = ((x >> 1) & 0x55555555) | ((x & 0x55555555) << 1)
    x = ((x >> 2) & 0x33333333) | ((x & 0x33333333) << 2)
    x = ((x >> 4) & 0x0F0F0F0F) | ((x & 0x0F0F0F0F) << 4)
    x = ((x >> 8) & 0x00FF00FF) | ((x & 0x00FF00FF) << 8)
    return (x >> 16) | (x << 16)


@triton.jit
def hiloint2double(high, low):
    bits = (high.to(tl.int64) << 32) | low.to(tl.uint32, bitcast=True).to(tl.int64)
    return bits.to(tl.float64, bitcast=True)


@triton.jit
def double2hiint(x):
    return (x.to(tl.int64, bitcast=True) >> 32).to(tl.int32)


@triton.jit
def double2loint(x):
    return x.to(tl.int64, bitcast=True).to(tl.int32)


# ---- error functions (DLMF 7)


@triton.jit
def normcdf(x):
    return (0.5 * libdevice.erfc(-x.to(tl.float64) * SQRT_HALF)).to(x.dtype)


@triton.jit
def normcdfinv(x):
    return (-erfcinv(2.0 * x.to(tl.float64)) / SQRT_HALF).to(x.dtype)


@triton.jit
def erfcx(x):
    """exp(x^2) erfc(x); 7.12.1 where the factors leave the range of fp64."""
    wide = x.to(tl.float64)
    near = tl.exp(wide * wide) * libdevice.erfc(wide)
    t = 1.0 / (2.0 * wide * wide)
    far = 2.0 * wide * t * INVERSE_SQRT_PI * (1.0 - t * (1.0 - t * (3.0 - t * 15.0)))
    return tl.where(wide > 20.0, far, near).to(x.dtype)


@triton.jit
def erfinv(x):
    wide = x.to(tl.float64)
    magnitude = _erfcinv_below_one(1.0 - tl.abs(wide), tl.abs(wide))
    return tl.where(wide < 0.0, -magnitude, magnitude).to(x.dtype)


@triton.jit
def erfcinv(x):
    wide = x.to(tl.float64)
    above = wide > 1.0
    magnitude = _erfcinv_below_one(tl.where(above, 2.0 - wide, wide), tl.abs(1.0 - wide))
    return tl.where(above, -magnitude, magnitude).to(x.dtype)


@triton.jit
def _erfcinv_below_one(q, p):
    """The x >= 0 with erfc(x) = q and erf(x) = p = 1 - q, from whichever is exact.

    The start inverts erf(x)^2 ~ 1 - exp(-x^2 (4/pi + a x^2) / (1 + a x^2)), good to 0.2 %; each of Halley's
    steps triples the digits.
    """
    a = 0.147
    logarithm = tl.log(tl.maximum(q * (2.0 - q), 1e-320))
    half = 2.0 / (PI * a) + 0.5 * logarithm
    x = tl.sqrt(tl.maximum(tl.sqrt(tl.maximum(half * half - logarithm / a, 0.0)) - half, 0.0))
    for _ in tl.static_range(3):
        error = tl.where(p < 0.5, libdevice.erf(x) - p, q - libdevice.erfc(x))
        step = error * tl.exp(x * x) * (0.5 / INVERSE_SQRT_PI)
        x -= step / (1.0 + x * step)
    x = tl.where(q == 0.0, float("inf"), x)
    return tl.where((q >= 0.0) & (q <= 1.0), x, float("nan"))


# ---- Bessel functions (DLMF 10): power series near 0, Hankel's expansions far from it


@triton.jit
def cyl_bessel_i0(x):
    wide = tl.abs(x.to(tl.float64))
    return tl.where(wide < BESSEL_FAR, _power_series(wide, 0, 1.0), _exponential(wide, 0)).to(x.dtype)


@triton.jit
def cyl_bessel_i1(x):
    wide = tl.abs(x.to(tl.float64))
    value = tl.where(wide < BESSEL_FAR, _power_series(wide, 1, 1.0), _exponential(wide, 1))
    return tl.where(x < 0, -value, value).to(x.dtype)


@triton.jit
def j0(x):
    wide = tl.abs(x.to(tl.float64))
    cosine, _ = _oscillation(wide, 0)
    return tl.where(wide < BESSEL_FAR, _power_series(wide, 0, -1.0), cosine).to(x.dtype)


@triton.jit
def j1(x):
    wide = tl.abs(x.to(tl.float64))
    cosine, _ = _oscillation(wide, 1)
    value = tl.where(wide < BESSEL_FAR, _power_series(wide, 1, -1.0), cosine)
    return tl.where(x < 0, -value, value).to(x.dtype)


@triton.jit
def y0(x):
    """10.8.2; minus infinity at 0, NaN below."""
    wide = x.to(tl.float64)
    logarithm = (tl.log(0.5 * wide) + EULER_GAMMA) * _power_series(wide, 0, -1.0)
    near = 2.0 / PI * (logarithm - _harmonic_series(wide, 0))
    _, sine = _oscillation(wide, 0)
    return tl.where(wide < BESSEL_FAR, near, sine).to(x.dtype)


@triton.jit
def y1(x):
    """10.8.1 for order 1."""
    wide = x.to(tl.float64)
    logarithm = (tl.log(0.5 * wide) + EULER_GAMMA) * _power_series(wide, 1, -1.0)
    near = 2.0 / PI * (logarithm - 1.0 / wide) - _harmonic_series(wide, 1) / PI
    _, sine = _oscillation(wide, 1)
    value = tl.where(wide < BESSEL_FAR, near, sine)
    return tl.where(wide == 0.0, float("-inf"), value).to(x.dtype)


@triton.jit
def _power_series(x, order: tl.constexpr, sign: tl.constexpr):
    """10.2.2 (sign -1: J) and 10.25.2 (sign 1: I) for order 0 or 1: sum of (sign x^2/4)^k / (k! (k +
    order)!), times (x/2)^order."""
    square = 0.25 * x * x * sign
    term = x * 0.0 + 1.0
    if order == 1:
        term = 0.5 * x
    total = term
    for k in range(1, SERIES_TERMS):
        term = term * square / (k * (k + order)).to(tl.float64)
        total += term
    return total


@triton.jit
def _harmonic_series(x, order: tl.constexpr):
    """The series of 10.8.2 beside the logarithm; order 0: sum of H_k t_k, order 1: sum of (H_k + H_(k+1))
    t_k, t_k the terms of J."""
    square = -0.25 * x * x
    term = x * 0.0 + 1.0
    total = x * 0.0
    if order == 1:
        term = 0.5 * x
        total = term
    harmonic = total * 0.0
    for k in range(1, SERIES_TERMS):
        number = k.to(tl.float64)  # type: ignore[attr-defined]
        term = term * square / (k * (k + order)).to(tl.float64)
        harmonic += 1.0 / number
        if order == 0:
            total += harmonic * term
        else:
            total += (2.0 * harmonic + 1.0 / (number + 1.0)) * term
    return total


@triton.jit
def _oscillation(x, order: tl.constexpr):
    """J and Y of order 0 or 1 by 10.17.3 and 10.17.4, for large x."""
    x = tl.maximum(x, BESSEL_FAR)
    term = x * 0.0 + 1.0
    even = term
    odd = term * 0.0
    for k in tl.static_range(1, EXPANSION_TERMS * 2):
        term = term * ((4 * order * order - (2 * k - 1) * (2 * k - 1)) / (8.0 * k)) / x
        if k % 4 == 0:
            even += term
        elif k % 4 == 1:
            odd += term
        elif k % 4 == 2:
            even -= term
        else:
            odd -= term
    angle = x - (0.5 * order + 0.25) * PI
    scale = tl.sqrt(2.0 / (PI * x))
    cosine, sine = tl.cos(angle), tl.sin(angle)
    return scale * (even * cosine - odd * sine), scale * (even * sine + odd * cosine)


@triton.jit
def _exponential(x, order: tl.constexpr):
    """I of order 0 or 1 by 10.40.1, for large x."""
    x = tl.maximum(x, BESSEL_FAR)
    term = x * 0.0 + 1.0
    total = term
    for k in tl.static_range(1, EXPANSION_TERMS * 2):
        term = -term * ((4 * order * order - (2 * k - 1) * (2 * k - 1)) / (8.0 * k)) / x
        total += term
    return tl.exp(x) / tl.sqrt(2.0 * PI * x) * total
