"""Constants in the precision of a format, and as sums of parts with few bits, from their decimals."""

from __future__ import annotations

import struct
from fractions import Fraction
from functools import cache

from .number import Format

DECIMALS = {
    "ln2": "0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586",
    "log2e": "1.44269504088896340735992468100189213742664595415298593413544940693110921918118507988552",
    "log10_2": "0.30102999566398119521373889472449302676818988146210854131042746112710818927442450948693",
    "log2_10": "3.32192809488736234787031942948939017586483139302458061205475639581593477660862521585014",
    "ln10": "2.30258509299404568401799145468436420760110148862877297603332790096757260967735248023600",
    "log10e": "0.43429448190325182765112891891660508229439700580366656611445378316586464920887077472922",
    "pi/2": "1.57079632679489661923132169163975144209858469968755291048747229615390820314310449931402",
    "pi": "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803",
    "pi/4": "0.78539816339744830961566084581987572104929234984377645524373614807695410157155224965701",
    "2/pi": "0.63661977236758134307553505349005744813783858296182579499066937623558719053690614036046",
}


def rounded(value: Fraction, form: Format) -> float:
    """To nearest in the format."""
    if form.bits == 64:
        return float(value)
    near = struct.unpack("<f", struct.pack("<f", float(value)))[0]
    return float(near)


@cache
def parts(name: str, form: Format, bits: int, count: int) -> tuple[float, ...]:
    """The constant as a sum of `count` floats: all but the last have `bits` significant bits at most."""
    rest = Fraction(DECIMALS[name])
    found = []
    for _ in range(count - 1):
        exponent = rest.numerator.bit_length() - rest.denominator.bit_length() - bits
        step = Fraction(2) ** exponent
        part = Fraction(int(rest / step)) * step
        found.append(float(part))
        rest -= part
    return (*found, rounded(rest, form))


def constant(name: str, form: Format) -> float:
    """The constant, rounded to the format."""
    return rounded(Fraction(DECIMALS[name]), form)


def pair(name: str, form: Format) -> tuple[float, float]:
    """The constant rounded, and the rest."""
    high = constant(name, form)
    return high, rounded(Fraction(DECIMALS[name]) - Fraction(high), form)


def two_thirds(form: Format) -> tuple[float, float]:
    """2/3 rounded, and the rest."""
    high = rounded(Fraction(2, 3), form)
    return high, rounded(Fraction(2, 3) - Fraction(high), form)


@cache
def two_over_pi(bits: int) -> int:
    """The first bits of 2/pi behind the point, as an integer; pi by Machin's formula."""
    one = 1 << (bits + 32)

    def arctangent(inverse: int) -> int:
        term = one // inverse
        total, divisor = term, 1
        while term:
            term //= -inverse * inverse
            divisor += 2
            total += term // divisor
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))
    return ((2 * one << bits) // pi) & ((1 << bits) - 1)
