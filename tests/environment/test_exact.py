"""environment/glsl/roots.py on a device that has the least that Vulkan asks for: division 2.5 ulp off, square
roots further, no fused multiply-add. The formulas run on numpy's f32, operator by operator; what the device
would give instead of the rounded quotient or root is drawn at random."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from triton_spirv.environment.glsl import roots
from triton_spirv.environment.glsl.number import F32

COUNT = 200_000
RANDOM = np.random.default_rng(0)


class Simulated:
    """`Number` on arrays of f32 or i32; `off(x)`: how many ulp the device is off at each element."""

    def __init__(self, tools: Any, v: np.ndarray) -> None:
        self.tools, self.v = tools, v
        self.format = F32
        self.value = self

    def like(self, other: Any) -> Simulated:
        if isinstance(other, Simulated):
            return other
        bits = other & 0xFFFFFFFF if self.v.dtype == np.int32 else 0
        filled = np.uint32(bits).view(np.int32) if self.v.dtype == np.int32 else np.float32(other)
        return Simulated(self.tools, np.broadcast_to(filled, self.v.shape))

    def _made(self, function: Callable[..., np.ndarray], other: Any) -> Simulated:
        return Simulated(self.tools, function(self.v, self.like(other).v))

    def __add__(self, other: Any) -> Simulated:
        return self._made(np.add, other)

    def __sub__(self, other: Any) -> Simulated:
        return self._made(np.subtract, other)

    def __rsub__(self, other: Any) -> Simulated:
        return self.like(other) - self

    def __mul__(self, other: Any) -> Simulated:
        return self._made(np.multiply, other)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Any) -> Simulated:
        return Simulated(self.tools, self.tools.inexact(self._made(np.divide, other).v, 2.5))

    def __neg__(self) -> Simulated:
        return Simulated(self.tools, -self.v)

    def __and__(self, other: Any) -> Simulated:
        return self._made(np.bitwise_and, other)

    def __or__(self, other: Any) -> Simulated:
        return self._made(np.bitwise_or, other)

    def __xor__(self, other: Any) -> Simulated:
        return self._made(np.bitwise_xor, other)

    def __lshift__(self, other: Any) -> Simulated:
        return self._made(np.left_shift, other)

    def shifted(self, other: int) -> Simulated:
        return Simulated(self.tools, (self.v.view(np.uint32) >> np.uint32(other)).view(np.int32))

    def __lt__(self, other: Any) -> np.ndarray:
        return self.v < self.like(other).v

    def __le__(self, other: Any) -> np.ndarray:
        return self.v <= self.like(other).v

    def __gt__(self, other: Any) -> np.ndarray:
        return self.v > self.like(other).v

    def __ge__(self, other: Any) -> np.ndarray:
        return self.v >= self.like(other).v

    def equals(self, other: Any) -> np.ndarray:
        return self.v == self.like(other).v

    def is_nan(self) -> np.ndarray:
        return np.isnan(self.v)

    def bits(self) -> Simulated:
        return Simulated(self.tools, np.ascontiguousarray(self.v).view(np.int32))

    def as_float(self) -> Simulated:
        return Simulated(self.tools, np.ascontiguousarray(self.v).view(np.float32))

    def abs(self) -> Simulated:
        return (self.bits() & 0x7FFFFFFF).as_float()

    def signed_by(self, bits: Simulated) -> Simulated:
        return (self.bits() ^ bits).as_float()

    def scaled(self, exponent: Simulated) -> Simulated:
        """Rounded once."""
        return Simulated(self.tools, np.ldexp(self.v.astype(np.float64), exponent.v).astype(np.float32))


class Device:
    """Tools of a device that is inexact wherever it may be."""

    def __init__(self) -> None:
        self.target = SimpleNamespace(rounded=frozenset())
        self.b = SimpleNamespace(logical_not=np.logical_not)

    def inexact(self, exact: np.ndarray, ulp: float) -> np.ndarray:
        """Neighbours up to `ulp` away, of results that are normal numbers; others as they are."""
        ordinary = np.isfinite(exact) & (np.abs(exact) > 2.0 ** -120) & (np.abs(exact) < 2.0 ** 126)
        steps = RANDOM.integers(-int(ulp), int(ulp) + 1, exact.shape).astype(np.int32)
        moved = (np.ascontiguousarray(exact).view(np.int32) + steps).view(np.float32)
        return np.where(ordinary, moved, exact)

    def call(self, name: str, x: Simulated) -> Simulated:
        assert name == "Sqrt"
        return Simulated(self, self.inexact(np.sqrt(x.v), 4))

    def select(self, condition: np.ndarray, x: Simulated, y: Any) -> Simulated:
        return Simulated(self, np.where(condition, x.v, x.like(y).v))

    def both(self, *conditions: np.ndarray) -> np.ndarray:
        return np.logical_and.reduce(conditions)

    def either(self, *conditions: np.ndarray) -> np.ndarray:
        return np.logical_or.reduce(conditions)

    def branch(self, condition: np.ndarray, then: Any, otherwise: Any) -> list[Simulated]:
        return [self.select(condition, x, y) for x, y in zip(then(), otherwise(), strict=True)]


def any_bits() -> np.ndarray:
    return RANDOM.integers(-2 ** 31, 2 ** 31, COUNT).astype(np.int32).view(np.float32)


def pairs(what: str) -> tuple[np.ndarray, np.ndarray]:
    """Operands of a kind of quotient."""
    y = any_bits()
    if what == "any":
        return any_bits(), y
    if what == "near one":
        return (1 + RANDOM.random(COUNT)).astype(np.float32), (1 + RANDOM.random(COUNT)).astype(np.float32)
    if what == "close to the middle of two":  # x = y (q + half a unit), as near as that can be
        y = (1 + RANDOM.random(COUNT)).astype(np.float32)
        q = (1 + RANDOM.random(COUNT)).astype(np.float32)
        return (y.astype(np.float64) * (q.astype(np.float64) + 2.0 ** -24)).astype(np.float32), y
    x = (1 + RANDOM.random(COUNT)).astype(np.float32) * np.float32(2.0 ** -100)  # denormal quotients
    y = np.exp2(RANDOM.integers(20, 52, COUNT)).astype(np.float32)
    if what == "few bits, denormal":  # middles of two denormals, and their neighbours
        return x, y
    return x, (1 + RANDOM.random(COUNT)).astype(np.float32) * y


@pytest.mark.parametrize("what", ["any", "near one", "close to the middle of two", "denormal",
                                  "few bits, denormal"])
def test_quotients_are_rounded_once(what: str) -> None:
    x, y = pairs(what)
    with np.errstate(all="ignore"):
        device = Device()
        made = roots.divide(Simulated(device, x), Simulated(device, y)).v  # type: ignore[arg-type]
        exact = x / y  # numpy's own division of f32 rounds once
    assert_same(made, exact, x, y)


@pytest.mark.parametrize("what", ["any", "largest", "squares", "powers of two"])
def test_roots_are_rounded_once(what: str) -> None:
    if what == "any":
        x = any_bits()
    elif what == "largest":
        x = (0x7F7FFFFF - np.arange(COUNT)).astype(np.int32).view(np.float32)
    elif what == "squares":
        x = (np.arange(1, COUNT) ** 2).astype(np.float32)
    else:  # and their neighbours, all the way to the denormals
        bits = np.exp2(np.arange(-149, 128)).astype(np.float32).view(np.int32)
        x = (bits[:, None] + np.arange(-9, 10)).astype(np.int32).ravel().view(np.float32)
    with np.errstate(all="ignore"):
        device = Device()
        made = roots.square_root(Simulated(device, x)).v  # type: ignore[arg-type]
        exact = np.sqrt(x)
    assert_same(made, exact, x)


def assert_same(made: np.ndarray, exact: np.ndarray, *operands: np.ndarray) -> None:
    wrong = ~((made.view(np.int32) == exact.view(np.int32)) | (np.isnan(made) & np.isnan(exact)))
    shown = [tuple(float(v[i]) for v in (*operands, made, exact)) for i in np.flatnonzero(wrong)[:5]]
    assert not wrong.any(), f"{wrong.sum()} of {wrong.size}: {shown}"
