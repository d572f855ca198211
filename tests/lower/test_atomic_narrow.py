"""lower/memory/atomic.py on 8 and 16 bits, which Triton's language mostly refuses: these kernels are
written in IR.

Neighbours share a word of memory: they must not disturb each other, whoever writes them.
"""

from __future__ import annotations

from typing import Any

import numeric
import numpy as np
import pytest
import torch

KERNEL = """
tt.func public @kernel(%p: !tt.ptr<T>, %v: !tt.ptr<T>, %old: !tt.ptr<T>) {
  %size = arith.constant BLOCK : i32
  %places = arith.constant dense<PLACES> : tensor<BLOCKxi32>
  %pid = tt.get_program_id x : i32
  %first = arith.muli %pid, %size : i32
  %range = tt.make_range {end = BLOCK : i32, start = 0 : i32} : tensor<BLOCKxi32>
  %start = tt.splat %first : i32 -> tensor<BLOCKxi32>
  %i = arith.addi %start, %range : tensor<BLOCKxi32>
  %place = arith.remui %i, %places : tensor<BLOCKxi32>
  %ps = tt.splat %p : !tt.ptr<T> -> tensor<BLOCKx!tt.ptr<T>>
  %q = tt.addptr %ps, %place : tensor<BLOCKx!tt.ptr<T>>, tensor<BLOCKxi32>
  %vs = tt.splat %v : !tt.ptr<T> -> tensor<BLOCKx!tt.ptr<T>>
  %w = tt.addptr %vs, %i : tensor<BLOCKx!tt.ptr<T>>, tensor<BLOCKxi32>
  %x = tt.load %w : tensor<BLOCKx!tt.ptr<T>>
  %os = tt.splat %old : !tt.ptr<T> -> tensor<BLOCKx!tt.ptr<T>>
  %o = tt.addptr %os, %i : tensor<BLOCKx!tt.ptr<T>>, tensor<BLOCKxi32>
  %all = arith.constant dense<true> : tensor<BLOCKxi1>
  %r = ATOMIC
  tt.store %o, %r : tensor<BLOCKx!tt.ptr<T>>
  tt.return
}
"""
RMW = "tt.atomic_rmw KIND, acq_rel, gpu, %q, %x, %all : " \
      "(tensor<BLOCKx!tt.ptr<T>>, tensor<BLOCKxT>, tensor<BLOCKxi1>) -> tensor<BLOCKxT>"
CAS = "tt.atomic_cas acq_rel, gpu, %q, %x, %x : " \
      "(tensor<BLOCKx!tt.ptr<T>>, tensor<BLOCKxT>, tensor<BLOCKxT>) -> tensor<BLOCKxT>"

KINDS = {"add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "max": np.maximum,
         "min": np.minimum, "umax": np.maximum, "umin": np.minimum, "exch": lambda a, b: b}


def launch(run_text: Any, atomic: str, dtype: str, x: np.ndarray, p: np.ndarray,
           block: int) -> tuple[np.ndarray, np.ndarray]:
    """Memory afterwards, and the old values."""
    text = KERNEL.replace("ATOMIC", atomic).replace("BLOCK", str(block)).replace("PLACES", str(len(p)))
    text = text.replace("T>", f"{dtype}>").replace("xT", f"x{dtype}")
    memory, values, old = (torch.from_numpy(data.copy()) for data in (p, x, np.zeros_like(x)))
    run_text(text, len(x) // block, memory, values, old)
    return memory.numpy(), old.numpy()


@pytest.mark.parametrize("block", (2, 64, 1024))
@pytest.mark.parametrize("dtype", ("i8", "i16"))
@pytest.mark.parametrize("kind", KINDS)
def test_each_place(run_text: Any, kind: str, dtype: str, block: int) -> None:
    seen = ("u" if kind[0] == "u" else "i") + dtype[1:]
    p, x = numeric.random(1024, seen, 0), numeric.random(1024, seen, 1)
    memory, old = launch(run_text, RMW.replace("KIND", kind), dtype, x, p, block)
    numeric.assert_same(old, p)
    with np.errstate(over="ignore"):
        numeric.assert_same(memory, KINDS[kind](p, x))


@pytest.mark.parametrize("dtype", ("i8", "i16"))
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "exch"])
def test_contended(run_text: Any, kind: str, dtype: str) -> None:
    """3 places in one word (or two), from 40 programs; values that do not belong to it stay."""
    seen = ("u" if kind[0] == "u" else "i") + dtype[1:]
    x, p = numeric.random(40 * 64, seen, 1), numeric.random(3, seen, 0)
    memory, _ = launch(run_text, RMW.replace("KIND", kind), dtype, x, p, 64)
    expected = p.copy()
    with np.errstate(over="ignore"):
        for i, value in enumerate(x):
            expected[i % 3] = KINDS[kind](expected[i % 3], value)
    numeric.assert_same(memory, expected)


@pytest.mark.parametrize("dtype", ("i8", "i16"))
def test_exchange_loses_nothing(run_text: Any, dtype: str) -> None:
    """What came out, and what is left, is what was there and what went in."""
    kind = numeric.DTYPES[dtype].values
    x, p = np.arange(1, 65, dtype=kind), np.zeros(1, kind)
    memory, old = launch(run_text, RMW.replace("KIND", "exch"), dtype, x, p, 2)
    assert sorted([*old.tolist(), *memory.tolist()]) == list(range(65))


@pytest.mark.parametrize("dtype", ("i8", "i16", "i32", "i64"))
def test_compare_and_swap_gives_the_old_value(run_text: Any, dtype: str) -> None:
    p, x = numeric.random(256, dtype, 0), numeric.random(256, dtype, 1)
    x[::2] = p[::2]
    memory, old = launch(run_text, CAS, dtype, x, p, 64)
    numeric.assert_same(old, p)
    numeric.assert_same(memory, p)
