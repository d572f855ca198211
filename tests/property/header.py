"""The functions that every generated module begins with: combiners of reductions and scans."""

from __future__ import annotations

HEADER = """import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def mul(a, b):
    return a * b


@triton.jit
def bit_xor(a, b):
    return a ^ b


@triton.jit
def bit_and(a, b):
    return a & b


@triton.jit
def bit_or(a, b):
    return a | b


@triton.jit
def largest(a, b):
    return tl.maximum(a, b).to(a.dtype)


@triton.jit
def smallest(a, b):
    return tl.minimum(a, b).to(a.dtype)


@triton.jit
def last_nonzero(a, b):
    return tl.where(b != 0, b, a)


@triton.jit
def recur(a, b, c, d):
    return a * c, b * c + d


"""
