"""spirv/passes/permuted_phis.py: loops that hand one carried value to another, in kernels left as they are.
"""

from __future__ import annotations

import handmade
import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.environment.opencl import environment as opencl
from triton_spirv_backend.targets import current_target, emitter_target

SPIRV_MODES = ("simt8", "simt32")  # those of the CPU's driver in which functions are left as they are


@triton.jit
def permuted(x, out, rounds, N: tl.constexpr, KIND: tl.constexpr, SCALAR: tl.constexpr, LONG: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x) if SCALAR else tl.load(x + i)
    b, c, total = a + 1, a + 2, a * 0
    for k in range(rounds):
        if KIND == "swap":
            a, b = b, a
        elif KIND == "difference":
            a, b = a - b, a
        elif KIND == "last first":
            b, a = a, a - b
        elif KIND == "three":
            a, b, c = b, c, a
        elif KIND == "in an arm":
            if k % 3 == 0:
                a, b = b, a
        elif KIND == "nested":
            for _ in range(k):
                a, b = b, a
                total += tl.sum(a + 0 * i)
            b, c = c, b
        elif KIND == "while":
            while c > a:
                a, b, c = c, a, c - 1
                total += tl.max(a + 0 * i)
        total += tl.sum(a + 0 * i)
    for k in tl.static_range(LONG):
        total = total * 3 + (total ^ k)
    tl.store(out + i, a + 0 * i)
    tl.store(out + N + i, b + 0 * i)
    tl.store(out + 2 * N + i, c + 0 * i)
    tl.store(out + 3 * N + i, total + 0 * i)


def meaning(x, rounds, kind, scalar, long):
    """The same in numpy, wrapping."""
    size = len(x)
    i = np.zeros(size, np.int32)
    a = x[:1] if scalar else x.copy()
    b, c, total = a + 1, a + 2, a * 0

    def summed(v):
        return np.sum(v + i, dtype=np.int32)

    for k in range(rounds):
        if kind == "swap" or (kind == "in an arm" and k % 3 == 0):
            a, b = b, a
        elif kind in ("difference", "last first"):
            a, b = a - b, a
        elif kind == "three":
            a, b, c = b, c, a
        elif kind == "nested":
            for _ in range(k):
                a, b = b, a
                total = total + summed(a)
            b, c = c, b
        elif kind == "while":
            while c > a:
                a, b, c = c, a, c - 1
                total = total + np.max(a + i)
        total = total + summed(a)
    for k in range(long):
        total = total * 3 + (total ^ k)
    return np.concatenate([v + i for v in (a, b, c, total)]).astype(np.int32)


KINDS = ("swap", "difference", "last first", "three", "in an arm", "nested")
LONG = 60  # operations behind the loop: too long for the driver to optimise


CASES = [(kind, *how) for kind in KINDS for how in ((False, 1), (False, 4), (True, 4))] + [("while", True, 4)]


@pytest.mark.parametrize("kind, scalar, warps", CASES)
def test_values_change_places(run, kind, scalar, warps):
    x = numeric.random(64, "i32", low=-100, high=100)
    for rounds in (0, 1, 2, 5):
        out = numeric.poisoned(4 * 64, "i32")
        data = numeric.tensor(x, "i32")
        made = run(permuted, 1, data, out, rounds, 64, kind, scalar, LONG, num_warps=warps)
        numeric.assert_same(out, meaning(x, rounds, kind, scalar, LONG))
    assert made is None or "OptNone" in made.asm["spvasm"]


@triton.jit
def swapped(x, out, rounds, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x + i)
    b = a + 1
    for _ in range(rounds):
        a, b = b, a
        tl.debug_barrier()
    tl.store(out + i, a)
    tl.store(out + N + i, b)


def test_driver_still_mixes_them_up(run, monkeypatch):
    """Once this fails, Intel's CPU runtime is right, and spirv/passes/permuted_phis.py may go."""
    x, out = numeric.random(64, "i32"), numeric.poisoned(128, "i32")
    made = run(swapped, 1, numeric.tensor(x, "i32"), out, 3, 64)
    expected = np.concatenate([x + 1, x])
    numeric.assert_same(out, expected)
    for separates in (True, False):
        if not separates:
            monkeypatch.setattr(opencl, "separate_phis", lambda module, graph: None)
        target = emitter_target(current_target()).with_options(optimised_size=0)
        again = triton_spirv.compile(made.asm["ttgir"], target)
        handmade.bind(again).launch(1, 1, 1, [numeric.tensor(x, "i32"), out, 3])
        assert np.array_equal(numeric.array(out), expected) == separates
