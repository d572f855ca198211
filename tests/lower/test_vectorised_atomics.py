"""Atomic operations whose results are in addresses, beside loops: Intel's CPU runtime makes vectors of
work-items of such kernels, where it is not told otherwise, and fails at some (quirk
"vectorises_single_items")."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

SPIRV_MODES = ("vector", "simt")


def zeros(count):
    return numeric.tensor(np.zeros(count, np.int32), "i32")


@triton.jit
def summed_behind_a_lock(a, b, lock, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    x = tl.load(a + i)
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(b, tl.load(b) + tl.sum(x))
    tl.atomic_xchg(lock, 0)


@triton.jit
def summed_by_ticket(a, b, tickets, rounds, SIZE: tl.constexpr):
    at = tl.atomic_add(tickets, 1)
    while at < rounds:
        x = tl.load(a + at * SIZE + tl.arange(0, SIZE))
        tl.store(b + at, tl.sum(x))
        at = tl.atomic_add(tickets, 1)


@pytest.mark.parametrize("size", (64, 1024, 2048, 4096, 8192))
def test_sums_behind_a_lock(run, size):
    numeric.interpreter_is_wrong("programs run one after another")
    x, total = numeric.random(3 * size, "i32"), zeros(1)
    run(summed_behind_a_lock, 3, numeric.tensor(x, "i32"), total, zeros(1), size)
    numeric.assert_same(total, x.sum(keepdims=True, dtype=np.int32))


@pytest.mark.parametrize("size", (64, 2048, 8192))
def test_sums_by_ticket(run, size):
    x, sums = numeric.random(5 * size, "i32"), numeric.poisoned(5, "i32")
    run(summed_by_ticket, 3, numeric.tensor(x, "i32"), sums, zeros(1), 5, size)
    numeric.assert_same(sums, x.reshape(5, size).sum(axis=1, dtype=np.int32))


def test_kernels_say_a_size(run, mode):
    if mode != "vector":
        pytest.skip("all kernels have a size of sub-groups")
    x, total, lock = (zeros(n) for n in (64, 1, 1))
    made = run(summed_behind_a_lock, 1, x, total, lock, 64)
    assert made is None or "SubgroupSize 1" in made.asm["spvasm"]


BUILD = """import sys
from pathlib import Path
import handmade, triton_spirv
from triton_spirv.target import find_target
target = find_target("cpu").with_options(vectorises_single_items=False)
handmade.bind(triton_spirv.compile(Path("kernel.ttir").read_text(), target))
print("built")
"""


def test_driver_still_crashes(run, mode, tmp_path):
    """Once this fails, Intel's CPU runtime is right, and the quirk may go."""
    if mode != "vector":
        pytest.skip("one work-item runs the program")
    x, total, lock = (zeros(n) for n in (4096, 1, 1))
    made = run(summed_behind_a_lock, 1, x, total, lock, 4096)
    (tmp_path / "kernel.ttir").write_text(made.asm["ttir"])
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", BUILD], capture_output=True, text=True, cwd=tmp_path,
                          env=environment, timeout=120)
    assert "built" not in done.stdout and "vplan-vec" in done.stderr, done.stdout + done.stderr[-2000:]

