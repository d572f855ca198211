"""How far the device's elementary functions are from the exact values, in units in the last place.

    python benchmarks/accuracy.py [--samples N] [--only exp,sin] [--fast-math] [--markdown]

N numbers of f32 and of f64, two thirds of them spread evenly over the encodings of the domain (every exponent
alike), the others over its values near 0, where functions are used most. The reference has 64 bits of
fraction. An infinity or NaN where there should be none, or none where there should be one, ends the program;
with --fast-math, a launch option that gives accuracy away in f32, such arguments are left out.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass

os.environ["TRITON_SPIRV_BACKEND"] = "1"  # before triton is imported

import numpy as np
import scipy.special
import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice

DTYPES = {"f32": (torch.float32, np.float32), "f64": (torch.float64, np.float64)}
BLOCK = 1024


@dataclass(frozen=True)
class Function:
    """One function: how a kernel calls it (or its name in libdevice), the reference, the domain sampled.

    `widest` is the widest type that the reference is exact enough for: what only scipy has is f64.
    """

    name: str
    call: object
    reference: Callable[..., np.ndarray]
    low: float
    high: float
    widest: str = "f64"


@triton.jit
def unary_kernel(x_ptr, out_ptr, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + index, FUNCTION(tl.load(x_ptr + index)))


@triton.jit
def libdevice_kernel(x_ptr, out_ptr, NAME: tl.constexpr, BLOCK: tl.constexpr):
    """One of libdevice's functions, which Triton finds by where they stand in a kernel's text."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index)
    if NAME == "tanh":
        y = libdevice.tanh(x)
    elif NAME == "sinh":
        y = libdevice.sinh(x)
    elif NAME == "cosh":
        y = libdevice.cosh(x)
    elif NAME == "tan":
        y = libdevice.tan(x)
    elif NAME == "asin":
        y = libdevice.asin(x)
    elif NAME == "acos":
        y = libdevice.acos(x)
    elif NAME == "atan":
        y = libdevice.atan(x)
    elif NAME == "asinh":
        y = libdevice.asinh(x)
    elif NAME == "acosh":
        y = libdevice.acosh(x)
    elif NAME == "atanh":
        y = libdevice.atanh(x)
    elif NAME == "expm1":
        y = libdevice.expm1(x)
    elif NAME == "log1p":
        y = libdevice.log1p(x)
    elif NAME == "log10":
        y = libdevice.log10(x)
    elif NAME == "cbrt":
        y = libdevice.cbrt(x)
    elif NAME == "erfc":
        y = libdevice.erfc(x)
    elif NAME == "lgamma":
        y = libdevice.lgamma(x)
    elif NAME == "tgamma":
        y = libdevice.tgamma(x)
    tl.store(out_ptr + index, y)


@triton.jit
def division(x):
    """1 / x: the division that kernels write."""
    return 1.0 / x


@triton.jit
def division_rn(x):
    return tl.div_rn(tl.full(x.shape, 1.0, x.dtype), x)


@triton.jit
def root_rn(x):
    return tl.sqrt_rn(x)


def functions() -> list[Function]:
    """What is measured."""
    inf = float("inf")
    every = (-inf, inf)
    return [
        Function("tl.exp", tl.exp, np.exp, -1000, 1000), Function("tl.exp2", tl.exp2, np.exp2, -1500, 1500),
        Function("tl.log", tl.log, np.log, 0, inf), Function("tl.log2", tl.log2, np.log2, 0, inf),
        Function("tl.sin", tl.sin, np.sin, -1e4, 1e4), Function("tl.cos", tl.cos, np.cos, -1e4, 1e4),
        Function("tl.sqrt", tl.sqrt, np.sqrt, 0, inf),
        Function("tl.sqrt_rn", root_rn, np.sqrt, 0, inf, "f32"),
        Function("tl.rsqrt", tl.rsqrt, lambda x: 1 / np.sqrt(x), 0, inf),
        Function("1 / x", division, lambda x: 1 / x, *every),
        Function("tl.div_rn", division_rn, lambda x: 1 / x, *every, "f32"),
        Function("tl.erf", tl.erf, scipy.special.erf, *every, "f32"),
        *(Function(f"libdevice.{name}", name, reference, low, high, widest)
          for name, reference, low, high, widest in (
              ("tanh", np.tanh, *every, "f64"), ("sinh", np.sinh, -1000, 1000, "f64"),
              ("cosh", np.cosh, -1000, 1000, "f64"), ("tan", np.tan, -1e4, 1e4, "f64"),
              ("asin", np.arcsin, -1, 1, "f64"), ("acos", np.arccos, -1, 1, "f64"),
              ("atan", np.arctan, *every, "f64"), ("asinh", np.arcsinh, *every, "f64"),
              ("acosh", np.arccosh, 1, inf, "f64"), ("atanh", np.arctanh, -1, 1, "f64"),
              ("expm1", np.expm1, -1000, 1000, "f64"), ("log1p", np.log1p, -1, inf, "f64"),
              ("log10", np.log10, 0, inf, "f64"), ("cbrt", np.cbrt, *every, "f64"),
              ("erfc", scipy.special.erfc, *every, "f32"), ("lgamma", scipy.special.gammaln, 0, inf, "f32"),
              ("tgamma", scipy.special.gamma, 0, 200, "f32"))),
    ]


def samples(function: Function, dtype: str, count: int) -> np.ndarray:
    """Arguments in the domain, of the type."""
    kind = DTYPES[dtype][1]
    generator = np.random.default_rng(0)
    bits = np.dtype(kind).itemsize * 8
    encodings = generator.integers(0, 1 << bits, count, dtype=np.uint64 if bits == 64 else np.uint32)
    near = generator.uniform(max(function.low, -20), min(function.high, 20), count // 2)
    x = np.concatenate([encodings.view(kind), near.astype(kind)])
    x = x[(x >= function.low) & (x <= function.high)]
    return np.resize(x, -(-len(x) // BLOCK) * BLOCK)


def worst(function: Function, dtype: str, count: int, fast: bool = False) -> tuple[float, float]:
    """The largest error in units in the last place, and where; SystemExit for a wrong infinity or NaN."""
    torch_type, kind = DTYPES[dtype]
    x = samples(function, dtype, count)
    out = torch.empty(len(x), dtype=torch_type)
    kernel = libdevice_kernel if isinstance(function.call, str) else unary_kernel
    kernel[(len(x) // BLOCK,)](torch.from_numpy(x), out, function.call, BLOCK, fast_math=fast)
    made = out.numpy()
    wide = np.float64 if function.widest != "f64" else np.longdouble
    with np.errstate(all="ignore"):
        exact = function.reference(x.astype(wide))
        rounded = exact.astype(kind)
        unit = np.maximum(np.spacing(np.abs(rounded)), np.finfo(kind).smallest_subnormal).astype(wide)
        error = np.abs(made.astype(wide) - exact) / unit
    finite = np.isfinite(rounded) & np.isfinite(made)
    wrong = ~finite & (made != rounded) & ~(np.isnan(made) & np.isnan(rounded))
    # at the edge of the range, an error of less than a unit may be the difference from infinity
    largest = np.finfo(kind).max
    wrong &= ~(np.isinf(made) & (np.abs(rounded) == largest) | np.isinf(rounded) & (np.abs(made) == largest))
    if wrong.any() and not fast:
        i = int(wrong.argmax())
        raise SystemExit(f"{function.name} in {dtype} of {x[i]!r} is {made[i]!r}; {rounded[i]!r} is right")
    error = np.where(finite, error, 0)
    i = int(error.argmax())
    return float(error[i]), float(x[i])


def main() -> None:
    parser = argparse.ArgumentParser(description="Errors of elementary functions in units in the last place.")
    parser.add_argument("--samples", type=int, default=1 << 22)
    parser.add_argument("--only", default="", help="parts of names, separated by commas")
    parser.add_argument("--fast-math", action="store_true", help="with the launch option fast_math")
    parser.add_argument("--markdown", action="store_true", help="a table for a page")
    options = parser.parse_args()
    parts = [part for part in options.only.split(",") if part]
    chosen = [each for each in functions() if not parts or any(part in each.name for part in parts)]
    if options.markdown:
        print("| function | " + " | ".join(DTYPES) + " |\n|---|" + "---|" * len(DTYPES))
    for function in chosen:
        cells = []
        for dtype in DTYPES:
            if dtype == "f64" and function.widest != "f64":
                cells.append("")
                continue
            error, place = worst(function, dtype, options.samples, options.fast_math)
            cells.append(f"{error:.2f}" if options.markdown else f"{dtype} {error:.2f} at {place:<12.6g}")
        print(f"| `{function.name}` | " + " | ".join(cells) + " |" if options.markdown
              else f"{function.name:18} " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
