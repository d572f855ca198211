"""The cases of the selftest: numbers, a kernel, and what it should give. A case raises Wrong, or whatever a
device or its driver raises; it gives the compiled kernel, where somebody may ask about its code."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import triton.language as tl
from triton_spirv import asarray

from . import kernels

Case = Callable[[], Any]

#: name -> the case
CASES: dict[str, Case] = {}
#: those whose machine code is worth a look
LOOKED_AT = ("product f16", "product f32", "product i8", "attention f16", "softmax f32", "sum of rows",
             "add f32")
BLOCK = 256


class Wrong(Exception):
    """Results are not what they should be."""


def case(name: str, *arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function, with arguments, as the case of this name."""
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        assert name not in CASES
        CASES[name] = partial(function, *arguments)
        return function
    return register


def same(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], relative: float = 0,
         absolute: float = 0) -> None:
    """Wrong where they differ by more; NaN equals NaN."""
    if found.dtype.kind == expected.dtype.kind == "i":
        close = found == expected
    else:
        x, y = (values.astype(np.float64) for values in (found, expected))
        close = np.isclose(x, y, relative, absolute, equal_nan=True)
    if close.all():
        return
    at = tuple(int(i[0]) for i in np.nonzero(~close))
    raise Wrong(f"{np.count_nonzero(~close)} of {close.size} are wrong; at {at}: {found[at]}, not "
                f"{expected[at]}")


def numbers(shape: Any, dtype: Any, seed: int = 0) -> np.ndarray[Any, Any]:
    """Normal floats, or integers of up to 100."""
    generator = np.random.default_rng(seed)
    if np.issubdtype(dtype, np.floating):
        return generator.standard_normal(shape).astype(dtype)
    return generator.integers(-100, 100, shape).astype(dtype)


def empty(shape: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """What no kernel should leave there."""
    return np.full(shape, 77, dtype)


def launch(kernel: Any, grid: Any, *arguments: Any, **options: Any) -> Any:
    """With numpy's arrays as arguments."""
    grid = (grid,) if isinstance(grid, int) else grid
    return kernel[grid](*(asarray(x) if isinstance(x, np.ndarray) else x for x in arguments), **options)


ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "add": np.add, "mul": np.multiply, "div": np.divide, "min": np.minimum,
    "select": lambda x, y: np.where(x > y, x, -y),
    "quotient": lambda x, y: np.trunc(x.astype(np.float64) / y).astype(x.dtype),
    "remainder": lambda x, y: np.fmod(x, y),
    "shift": lambda x, y: (x << (y & 7)) ^ (x >> (y & 3)),
}


@case("add f32", "add", np.float32)
@case("multiply f16", "mul", np.float16)
@case("divide f32", "div", np.float32)
@case("minimum f32", "min", np.float32)
@case("select f16", "select", np.float16)
@case("multiply i32", "mul", np.int32)
@case("add i64", "add", np.int64)
@case("quotient i32", "quotient", np.int32)
@case("remainder i64", "remainder", np.int64)
@case("shift i32", "shift", np.int32)
@case("add i8", "add", np.int8)
def arithmetic(operation: str, dtype: Any, size: int = 3001) -> Any:
    x, y, out = numbers(size, dtype), numbers(size, dtype, 1), empty(size + 10, dtype)
    y[y == 0] = 3
    made = launch(kernels.arithmetic, -(-size // BLOCK), x, y, out, size, operation, BLOCK)
    with np.errstate(over="ignore"):
        same(out[:size], ARITHMETIC[operation](x, y), 2.0**-22 if operation == "div" else 0)
    same(out[size:], empty(10, dtype))
    return made


@case("views of memory")
def views() -> Any:
    """Pointers that are aligned to an element only."""
    x, y, out = numbers(4000, np.float32), numbers(4000, np.float32, 1), empty(4000, np.float32)
    made = launch(kernels.arithmetic, 4, x[3:1003], y[1001:2001], out[7:1007], 1000, "add", BLOCK)
    same(out[7:1007], x[3:1003] + y[1001:2001])
    same(np.append(out[:7], out[1007:]), empty(3000, np.float32))
    return made


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp, "log": lambda x: np.log(np.abs(x) + np.float32(0.5)), "sin": np.sin,
    "sqrt": lambda x: np.sqrt(np.abs(x)),
}


@case("exp f32", "exp")
@case("log f32", "log")
@case("sin f32", "sin")
@case("sqrt f32", "sqrt")
def function(name: str, size: int = 2000) -> Any:
    x, out = numbers(size, np.float32) * np.float32(4), empty(size, np.float32)
    made = launch(kernels.function, -(-size // BLOCK), x, out, size, name, BLOCK)
    same(out, FUNCTIONS[name](x.astype(np.float64)), 1e-6, 3e-7)  # a few units in the last place
    return made


@case("through bf16", "bfloat16")
@case("through f16", "float16")
@case("through i8", "int8")
@case("through fp8e5", "float8e5")
def converted(name: str, size: int = 1000) -> Any:
    x, out = numbers(size, np.float32) * np.float32(9), empty(size, np.float32)
    made = launch(kernels.converted, 4, x, out, size, getattr(tl, name), BLOCK)
    bits = x.view(np.uint32)
    if name == "bfloat16":
        expected = ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32)
    elif name == "float8e5":  # of f16 the upper byte, rounded to nearest even; exact in f32 first
        expected = _rounded(x, 2)
    else:
        expected = x.astype(np.float16 if name == "float16" else np.int8).astype(np.float32)
    same(out, expected)
    return made


def _rounded(x: np.ndarray[Any, Any], bits: int) -> np.ndarray[Any, Any]:
    """Floats with so many bits of mantissa, for exponents that are not the smallest."""
    exponent = np.maximum(np.frexp(x.astype(np.float64))[1], -13)
    return np.ldexp(np.rint(np.ldexp(x.astype(np.float64), bits + 1 - exponent)), exponent - bits - 1)


@case("transpose f32", np.float32, (100, 70))
@case("transpose i8", np.int8, (33, 64))
def transposed(dtype: Any, shape: tuple[int, int]) -> Any:
    x, out = numbers(shape, dtype), empty(shape[::-1], dtype)
    made = launch(kernels.transposed, (-(-shape[0] // 32), -(-shape[1] // 32)), x, out, *shape, 32)
    same(out, x.T)
    return made


@case("sum of rows", "sum", 1, np.float32)
@case("sum of columns", "sum", 0, np.float32)
@case("maximum of columns", "max", 0, np.float16)
@case("argmax of rows", "argmax", 1, np.float32)
@case("sum of rows i32", "sum", 1, np.int32)
def reduced(operation: str, axis: int, dtype: Any, shape: tuple[int, int] = (32, 128)) -> Any:
    x = numbers(shape, dtype)
    expected = getattr(np, operation)(x.astype(np.float64), axis)
    out = empty(expected.shape, np.int32 if operation == "argmax" else dtype)
    made = launch(kernels.reduced, 1, x, out, operation, axis, *shape)
    same(out, expected, 0, 1e-4 if operation == "sum" else 0)  # sums of 128 numbers of about 1
    return made


@case("scan i32", False, np.int32)
@case("scan backwards i64", True, np.int64)
def scanned(reverse: bool, dtype: Any, shape: tuple[int, int] = (8, 256)) -> Any:
    x, out = numbers(shape, dtype), empty(shape, dtype)
    made = launch(kernels.scanned, 1, x, out, reverse, *shape)
    same(out, np.cumsum(x[:, ::-1], 1)[:, ::-1] if reverse else np.cumsum(x, 1))
    return made


@case("sort f32")
def ordered(shape: tuple[int, int] = (4, 128)) -> Any:
    x, out = numbers(shape, np.float32), empty(shape, np.float32)
    made = launch(kernels.ordered, 1, x, out, *shape)
    same(out, np.sort(x, 1)[:, ::-1])
    return made


@case("gather and histogram")
def looked_up(size: int = 512, bins: int = 64) -> Any:
    x, index = numbers(size, np.float32), np.abs(numbers(size, np.int32)) % bins
    out, counts = empty(size, np.float32), empty(bins, np.int32)
    made = launch(kernels.looked_up, 1, x, index, out, counts, size, bins)
    same(out, x[index])
    same(counts, np.bincount(index, minlength=bins))
    return made


@case("interleave and split")
def paired(size: int = 256) -> Any:
    x, y, out = numbers(size, np.int32), numbers(size, np.int32, 1), empty(2 * size, np.int32)
    made = launch(kernels.paired, 1, x, y, out, size)
    same(out, np.append(y[::-1], x[::-1]))
    return made


@case("product f32", np.float32, "float32", 1e-5, 4)
@case("product f16", np.float16, "float16", 1e-2, 4)
@case("product bf16", np.float32, "bfloat16", 1e-4, 4)
@case("product i8", np.int8, "int8", 0, 4)
@case("product f16, 8 warps", np.float16, "float16", 1e-2, 8)
def product(dtype: Any, through: str, absolute: float, warps: int) -> Any:
    rows, columns, depth = shape = 100, 130, 90
    a, b = numbers((rows, depth), dtype), numbers((depth, columns), dtype, 1)
    if through == "bfloat16":
        a, b = ((x.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32) for x in (a, b))
    out = empty((rows, columns), np.int32 if through == "int8" else np.float32)
    made = launch(kernels.product, (2, 3), a, b, out, *shape[:2], depth, 64, 64, 32, getattr(tl, through),
                  num_warps=warps)
    same(out, a.astype(np.float64) @ b.astype(np.float64), absolute / 10, absolute)
    return made


@case("softmax f32")
def softmax(rows: int = 20, columns: int = 700) -> Any:
    x, out = numbers((rows, columns), np.float32), empty((rows, columns), np.float32)
    made = launch(kernels.softmax, rows, x, out, columns, 1024)
    weights = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    same(out, weights / weights.sum(1, keepdims=True), 1e-5)
    return made


@case("attention f16")
def attention(length: int = 256, width: int = 64) -> Any:
    q, k, v = (numbers((length, width), np.float16, seed) for seed in range(3))
    out = empty((length, width), np.float16)
    made = launch(kernels.attention, length // 64, q, k, v, out, width**-0.5, length, width, 64, 32)
    scores = np.exp(q.astype(np.float64) @ k.T.astype(np.float64) * width**-0.5)
    same(out, scores @ v.astype(np.float64) / scores.sum(1, keepdims=True), 0, 4e-3)  # weights are f16
    return made


@case("atomic i32", np.int32)
@case("atomic f32", np.float32)
def counted(dtype: Any, size: int = 5000, bins: int = 32) -> Any:
    x, sums, out = np.round(numbers(size, dtype)), np.zeros(bins, dtype), np.zeros(1, np.int32)
    made = launch(kernels.counted, -(-size // BLOCK), x, sums, out, size, bins, BLOCK)
    same(sums, np.bincount(np.arange(size) % bins, x, bins))  # whole numbers, exactly
    same(out, np.array([size - 1]))
    return made


@case("a lock")
def locked(programs: int = 16) -> Any:
    lock, out = np.zeros(1, np.int32), np.zeros(1, np.int32)
    made = launch(kernels.locked, programs, lock, out)
    same(out, np.array([programs * (programs - 1) // 2]))
    return made


@case("loops of unequal length")
def loops() -> Any:
    x, out = np.arange(1, 65, dtype=np.int32), empty(64, np.int32)
    made = launch(kernels.steps_of_collatz, 64, x, out)
    expected = []
    for start in range(1, 65):
        steps = 0
        while start > 1:
            start, steps = start // 2 if start % 2 == 0 else 3 * start + 1, steps + 1
        expected.append(steps)
    same(out, np.array(expected))
    return made


@case("tensor descriptors")
def described(shape: tuple[int, int] = (60, 80)) -> Any:
    x, out = numbers(shape, np.float32), empty(shape, np.float32)
    made = launch(kernels.described, (2, 3), x, out, *shape, 32)
    same(out, x + 1)
    return made


@case("random numbers")
def drawn(size: int = 512) -> Any:
    """Philox 4x32 of ten rounds (Salmon and others, Parallel Random Numbers: As Easy as 1, 2, 3, 2011)."""
    out, low = empty(size, np.int32), np.uint64(0xFFFFFFFF)
    made = launch(kernels.drawn, size // BLOCK, out, 5, BLOCK)
    c0, c1 = np.arange(size, dtype=np.uint64), np.zeros(size, np.uint64)
    c2, c3 = c1, c1
    for turn in range(10):
        key0, key1 = (5 + turn * 0x9E3779B9) & 0xFFFFFFFF, (turn * 0xBB67AE85) & 0xFFFFFFFF
        p, q = c0 * np.uint64(0xD2511F53), c2 * np.uint64(0xCD9E8D57)
        c0, c2 = q >> np.uint64(32) ^ c1 ^ np.uint64(key0), p >> np.uint64(32) ^ c3 ^ np.uint64(key1)
        c1, c3 = q & low, p & low
    same(out, c0.astype(np.uint32).view(np.int32))
    return made


@case("a large grid")
def large_grid(size: int = 1 << 20) -> Any:
    x, out = np.ones(size, np.float32), empty(size, np.float32)
    made = launch(kernels.arithmetic, size // 32, x, x, out, size, "add", 32, num_warps=1)
    same(out, 2 * x)
    return made


@case("an assertion that fails")
def guarded() -> Any:
    from triton_spirv.runtime.launch import DeviceAssertion

    x = np.arange(16, dtype=np.int32)
    try:
        made = launch(kernels.guarded, 1, x, 16, debug=True)
        synchronize()
    except DeviceAssertion as error:
        if "below five" not in str(error):
            raise Wrong(f"it says {error}") from None
        return None
    raise Wrong(f"no error says that the assertion failed: {made.name if hasattr(made, 'name') else made}")


def synchronize() -> None:
    """Wait for the device."""
    from triton.runtime.driver import driver

    driver.active.get_device_interface().synchronize()
