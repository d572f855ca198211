"""Divisions of integers that have no result, on drivers that end the process for one."""

from __future__ import annotations

from ...spirv.builder import Builder, scalar_type
from ...spirv.module import Value

#: instruction -> are its operands signed?
DIVISIONS = {"OpSDiv": True, "OpUDiv": False, "OpSRem": True, "OpUMod": False}


def harmless_divisor(b: Builder, x: Value, y: Value, signed: bool) -> Value:
    """y, but 1 where x / y has no result: y is 0, or x the least number and y -1."""
    bits = scalar_type(y.type).width  # type: ignore[attr-defined]
    ones = (1 << bits) - 1
    known = y.constant if isinstance(y.constant, tuple) else (y.constant,)
    if all(isinstance(number, int) and number & ones not in (0, ones) for number in known):
        return y
    without = b.compare("OpIEqual", y, 0)
    if signed:
        overflows = b.logical_and(b.compare("OpIEqual", x, -(1 << (bits - 1))), b.compare("OpIEqual", y, -1))
        without = b.logical_or(without, overflows)
    return b.select(without, 1, y)
