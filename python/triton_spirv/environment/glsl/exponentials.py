"""exp and log and what is made of them. Arguments are reduced to a power of two and a number near 0 or 1, and
a polynomial does the rest."""

from __future__ import annotations

from . import double_word as dw
from .coefficients import EXP, LOG
from .constants import constant, pair, parts, two_thirds
from .number import Number

#: Beyond these, results are 0 or infinite in either format: (f32, f64)
LIMIT = {"exp": (106.0, 747.0), "exp2": (153.0, 1078.0), "exp10": (47.0, 325.0)}


def clamped(x: Number, limit: float) -> Number:
    """x within +-limit; NaN stays."""
    x = x.tools.select(x > limit, x.like(limit), x)
    return x.tools.select(x < -limit, x.like(-limit), x)


def nearest(x: Number, factor: float = 1.0) -> tuple[Number, Number]:
    """The whole number nearest to x * factor, as a float and as an integer; far below 2^stored.

    Added to a number so large that its last place is 1, x loses its fraction and leaves the rest in the low
    bits: a sum, where conversions and roundings take GPUs several times as long.
    """
    large = x.like(1.5 * 2.0 ** x.format.stored)
    moved = x + large if factor == 1.0 else x.mad(factor, large)
    return moved - large, moved.bits() - large.bits()


def _reduced(x: Number, name: str) -> tuple[Number, Number, Number]:
    """(k, k as an integer, r): the function is 2^k e^r, |r| <= 0.35."""
    form = x.format
    if name == "exp2":
        k, n = nearest(x)
        return k, n, (x - k) * constant("ln2", form)
    inverse, unit = ("log2e", "ln2") if name == "exp" else ("log2_10", "log10_2")
    k, n = nearest(x, constant(inverse, form))
    high, low = parts(unit, form, form.stored - 10, 2)
    r = k.mad(-low, k.mad(-high, x))
    return k, n, r if name == "exp" else r * constant("ln10", form)


def small_expm1(r: Number) -> Number:
    """e^r - 1 for |r| <= 0.35."""
    return (r * r).mad(r.polynomial(EXP[r.format.bits]), r)


def exponential(name: str, x: Number) -> Number:
    """exp, exp2, exp10: 1 ulp, or as near as a device's own power of two."""
    form = x.format
    if form.bits == 32 and "Exp2" in x.tools.target.accurate:
        return by_instruction(name, x)
    bounded = clamped(x, LIMIT[name][form.bits == 64])
    _, n, r = _reduced(bounded, name)
    return (1.0 + small_expm1(r)).scaled_near(n)


def by_instruction(name: str, x: Number) -> Number:
    """The same in f32 by GLSL's Exp2, and half a unit more.

    e^x is 2^a e^t: a is the product of the upper halves of x and of log2 e, which is exact, t what is
    missing. Halves are cut off, not rounded: 2^a does not overflow before the result does.
    """
    if name == "exp2":
        return _power_of_two(x)
    tools, form, kept = x.tools, x.format, 12
    high, low = parts("log2e" if name == "exp" else "log2_10", form, kept, 2)
    upper = (x.bits() & -1 << (form.stored + 1 - kept)).as_float()
    lower = x - upper if name == "exp" else (x - upper) * constant("ln10", form)
    t = upper.mad(low * constant("ln2", form), lower)
    t = tools.select(x.abs() < 256.0, t, 0.0)  # infinities and NaN leave nothing
    return _power_of_two(upper * high, t * t.polynomial((1.0, 1 / 2, 1 / 6, 1 / 24)))


def _power_of_two(x: Number, more: Number | None = None) -> Number:
    """2^x (1 + more) in f32; the instruction may take denormal results for 0."""
    tools = x.tools
    small = x < -100.0
    power = tools.call("Exp2", tools.select(small, x + 64.0, x))
    if more is not None:
        power = tools.select(power.equals(float("inf")), power, power.mad(more, power))
    return tools.select(small, power * 2.0 ** -64, power)


def expm1(x: Number) -> Number:
    tools, form = x.tools, x.format
    bounded = clamped(x, LIMIT["exp"][form.bits == 64])
    k, n, r = _reduced(bounded, "exp")
    small = small_expm1(r)
    lowest = -form.stored - 3
    n = tools.select(n < lowest, n.like(lowest), n)
    below = 1.0 - ((n.like(form.bias) - n) << form.stored).as_float()
    top = n > form.bias - 1  # 2^-n would be denormal: the one does not matter
    below = tools.select(top, below.like(1.0), below)
    made = (small + below).scaled_near(n)
    return tools.select(tools.b.compare("OpFOrdEqual", k.value, k.like(0.0).value),
                        tools.select(x.equals(0.0), x, small), made)


# --- logarithms ---------------------------------------------------------------------------------------------


def decomposed(x: Number) -> tuple[Number, Number]:
    """(k, m) with x = 2^k m, sqrt(1/2) <= m < sqrt(2), of a positive number, denormals included."""
    tools, form = x.tools, x.format
    small = x < 2.0 ** (1 - form.bias)
    x = tools.select(small, x * 2.0 ** (form.stored + 1), x)
    bits = x.bits()
    half = x.like(0.5 ** 0.5).bits()  # where the significand starts anew
    moved = bits - half
    k = moved >> form.stored
    m = (bits - (k << form.stored)).as_float()
    return k - tools.select(small, k.like(form.stored + 1), k.like(0)), m


def _log_near_one(f: Number) -> tuple[Number, Number]:
    """log(1 + f) as f and what is to be added, -0.3 < f < 0.42."""
    s = f / (2.0 + f)
    z = s * s
    series = z * z.polynomial(LOG[f.format.bits])
    half = 0.5 * f * f
    return f, s * (half + series) - half


def with_special_logs(x: Number, made: Number) -> Number:
    """0 gives -infinity, a negative number NaN, infinity and NaN themselves."""
    tools, inf = x.tools, float("inf")
    made = tools.select(x.equals(inf), x, made)
    made = tools.select(x.equals(0.0), x.like(-inf), made)
    return tools.select(tools.either(x < 0.0, x.is_nan()), x.like(float("nan")), made)


def logarithm(name: str, x: Number) -> Number:
    """log, log2, log10: 1 to 2 ulp."""
    form = x.format
    k, m = decomposed(x)
    f, rest = _log_near_one(m - 1.0)
    n = k.to_float()
    if name == "log":
        high, low = parts("ln2", form, form.stored - 10, 2)
        made = n * high + (f + (n * low + rest))
    else:
        base = "log2e" if name == "log2" else "log10e"
        high, low = pair(base, form)
        product, error = dw.two_product(f, f.like(high))
        tail = error + (rest * high + f * low)
        if name == "log2":
            made = n + (product + tail)
        else:
            up, down = parts("log10_2", form, form.stored - 10, 2)
            made = n * up + (product + (tail + n * down))
    return with_special_logs(x, made)


def log1p(x: Number) -> Number:
    """log(1 + x): what the sum loses is put back."""
    tools, form = x.tools, x.format
    u = 1.0 + x
    lost = tools.select(x > 1.0, 1.0 - (u - x), x - (u - 1.0)) / u
    k, m = decomposed(u)
    near = k.equals(0)
    f = tools.select(near, x, m - 1.0)
    first, rest = _log_near_one(f)
    n = k.to_float()
    high, low = parts("ln2", form, form.stored - 10, 2)
    made = n * high + (first + (n * low + (rest + tools.select(near, lost.like(0.0), lost))))
    made = tools.select(x.abs() < 2.0 ** (-form.stored - 2), x, made)
    inf, nan = float("inf"), x.like(float("nan"))
    elsewhere = tools.select(x.equals(-1.0), x.like(-inf), tools.select(x.equals(inf), x, nan))
    return tools.select(tools.both(x > -1.0, x < inf), made, elsewhere)


def log_pair(x: Number) -> dw.Pair:
    """log2 of a positive number, with about twice the precision (pow multiplies its error)."""
    form = x.format
    k, m = decomposed(x)
    one = x.like(1.0)
    s = dw.divide((m - 1.0, x.like(0.0)), dw.two_sum(m, one))
    z = dw.multiply(s, s)
    first, *more = LOG[form.bits]
    series = z[0] * z[0].polynomial(more) + (first - 2.0 / 3.0)
    third = dw.constant(x, *two_thirds(form))
    cube = dw.multiply(dw.multiply(s, z), dw.add(third, (series, x.like(0.0))))
    natural = dw.add((2.0 * s[0], 2.0 * s[1]), cube)
    return dw.add((k.to_float(), x.like(0.0)), dw.multiply(natural, dw.constant(x, *pair("log2e", form))))


def power(x: Number, y: Number) -> Number:
    """x^y: 1 ulp. The exponent y log2(x) is needed with seven bits (f64: ten) beyond the result's."""
    tools, form = x.tools, x.format
    size = x.abs()
    inside = tools.both(size > 0.0, size < float("inf"))
    exponent = clamped(y, 2.0 ** 30 if form.bits == 32 else 2.0 ** 60)
    high, low = log_pair(tools.select(inside, size, size.like(1.0)))
    product, error = dw.two_product(exponent, high)
    product, error = dw.quick_sum(product, error + exponent * low)
    limit = LIMIT["exp2"][form.bits == 64]
    far = product.abs() > limit
    product = clamped(product, limit)
    k, n = nearest(product)
    r = (product - k) + tools.select(far, error.like(0.0), error)
    made = (1.0 + small_expm1(r * constant("ln2", form))).scaled_near(n)
    # 0, infinity, and infinite powers
    grows = tools.b.emit("OpLogicalEqual", size > 1.0, y > 0.0, type=inside.type)
    extreme = tools.select(grows, size.like(float("inf")), 0.0)
    is_inside = tools.both(inside, y.abs() < float("inf"))
    made = tools.select(is_inside, made, extreme)
    # the sign of negative numbers
    half = 0.5 * y
    integral, even = y.equals(tools.call("Floor", y)), half.equals(tools.call("Floor", half))
    odd = tools.both(integral, tools.b.logical_not(even), y.abs() < float("inf"))
    made = tools.select(odd, made.with_sign_of(x), made)
    nan = x.like(float("nan"))
    undefined = tools.both(x < 0.0, size < float("inf"), tools.b.logical_not(integral))
    made = tools.select(undefined, nan, made)
    made = tools.select(tools.either(x.is_nan(), y.is_nan()), nan, made)
    one = tools.either(x.equals(1.0), y.equals(0.0), tools.both(x.equals(-1.0), y.abs().equals(float("inf"))))
    return tools.select(one, x.like(1.0), made)
