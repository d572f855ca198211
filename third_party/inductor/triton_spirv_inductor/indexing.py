"""Quotients and remainders of indices by powers of two, written as shifts and masks.

Inductor writes `//` and `%`, which Triton makes signed divisions of: what they do with negative numbers takes
half a dozen instructions for each vector. Indices of Inductor's are never negative, but nothing in the kernel
says so.
"""

from __future__ import annotations

import functools
from typing import Any


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for the text of a quotient or a remainder in a Triton kernel."""
    from torch._inductor import config
    from torch._inductor.codegen.triton import TritonPrinter

    quotient, remainder = TritonPrinter._print_FloorDiv, TritonPrinter._print_ModularIndexing

    def print_quotient(self: Any, expr: Any) -> str:
        x, divisor = expr.args
        shift = exponent(divisor)
        if config.cpu_backend != "triton" or not shift or not x.is_nonnegative:
            return quotient(self, expr)
        return f"(({self._print(x)}) >> {shift})"

    def print_remainder(self: Any, expr: Any) -> str:
        x, divisor, modulus = expr.args
        shift, bits = exponent(divisor), exponent(modulus)
        if config.cpu_backend != "triton" or shift is None or not bits or not x.is_nonnegative:
            return remainder(self, expr)
        shifted = f"(({self._print(x)}) >> {shift})" if shift else f"({self._print(x)})"
        return f"({shifted} & {(1 << bits) - 1})"

    TritonPrinter._print_FloorDiv = print_quotient
    TritonPrinter._print_ModularIndexing = print_remainder


def exponent(number: Any) -> int | None:
    """Of a power of two that is a constant; None for other expressions."""
    if not getattr(number, "is_Integer", False) or number <= 0 or int(number) & int(number) - 1:
        return None
    return int(number).bit_length() - 1
