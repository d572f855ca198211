"""Fit the polynomials of environment/glsl: python tools/fit_polynomials.py > .../glsl/coefficients.py

Chebyshev interpolation in 60 digits, which is within a small factor of the best polynomial; needs mpmath. The
second number of a line is the largest error of the fitted function, as a power of two.
"""

from __future__ import annotations

import mpmath as mp

mp.mp.dps = 60


def root(z):
    return mp.sqrt(z)


#: name -> (function of the polynomial's variable, interval, number of coefficients for f32 and f64)
FITS = {
    "EXP": (lambda r: (mp.exp(r) - 1 - r) / r ** 2, (-0.3501, 0.35), (5, 11)),
    "LOG": (lambda z: (2 * mp.atanh(root(z)) - 2 * root(z)) / root(z) ** 3, (0, 0.0295), (4, 8)),
    "SIN": (lambda z: (mp.sin(root(z)) - root(z)) / root(z) ** 3, (0, 0.618), (3, 6)),
    "COS": (lambda z: (mp.cos(root(z)) - 1 + z / 2) / z ** 2, (0, 0.618), (3, 6)),
    "ATAN": (lambda z: (mp.atan(root(z)) - root(z)) / root(z) ** 3, (0, 0.1717), (5, 11)),
    "ASIN": (lambda z: (mp.asin(root(z)) - root(z)) / root(z) ** 3, (0, 0.25), (6, 13)),
    "ERF": (lambda z: mp.erf(root(z)) / root(z), (0, 1), (7, 13)),
    "GAMMA": (lambda y: mp.gamma(y + 1.5), (-0.5, 0.5), (11, 23)),
    "ERFC": (lambda y: _erfc(y), (-0.6, 0.87), (11, 25)),
}


def _erfc(y):
    x = 2 * (1 + y) / (1 - y)
    return mp.erfc(x) * mp.exp(x * x) * (1 + 2 * x)


def main() -> None:
    print('"""Coefficients of polynomials, lowest power first, for f32 and f64. Made by '
          'tools/fit_polynomials.py."""\n')
    for name, (function, interval, sizes) in FITS.items():
        print(f"{name} = {{")
        for bits, count in zip((32, 64), sizes, strict=True):
            found, error = mp.chebyfit(function, [mp.mpf(x) for x in interval], count, error=True)
            numbers = [repr(float(c)) for c in reversed(found)]
            print(f"    {bits}: (  # 2^{int(mp.floor(mp.log(error, 2)))}")
            for i in range(0, count, 4):
                print("        " + ", ".join(numbers[i:i + 4]) + ",")
            print("    ),")
        print("}")


if __name__ == "__main__":
    main()
