"""lower/products/waiting_rounds.py: rounds of a loop over K that are multiplied together."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from triton_spirv.facts.kept_panels import keeping_products, reads_apart
from triton_spirv.facts.running_sums import only_adds
from triton_spirv.ir import parse
from triton_spirv.lower.plan.records import Plan, Product
from triton_spirv.lower.plan.text import called
from triton_spirv.lower.plan.verify_arrays import wrong_arrays
from triton_spirv.runtime.processor import DRIVER_TARGET, processor
from triton_spirv.target import cpu_target, find_target

#: The device's processor: with how many steps along K it joins rounds.
HOST = cpu_target(processor().architecture, processor().features)

#: The machine, for a processor with tile registers, and the device where it joins rounds.
SPIRV_MODES = ("machine-vector-amx", *(("vector",) if HOST.joined_steps else ()))

#: What a plan says where no round waits: that they are multiplied from a shelf.
ALONE = "left in memory, right panels, kept for the next program, from"


def said(mode: str, depth: int) -> str:
    """Of rounds of so many steps, in a plan."""
    together = (HOST if mode == "vector" else find_target("cpu:sapphirerapids")).joined_steps // depth
    return f"up to {together} rounds together" if together > 1 else ALONE


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, left_end, hole, right_hole, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr, ADDS: tl.constexpr, MASKED: tl.constexpr):
    """c = a b, or c += a b with ADDS. With MASKED, the left operand is 0 in round `hole` and behind left_end,
    the right one in round right_hole."""
    rows, columns = tl.program_id(0), tl.program_id(1)
    m, n, k = rows * BM + tl.arange(0, BM), columns * BN + tl.arange(0, BN), tl.arange(0, BK)
    places = c_ptr + m[:, None] * N + n[None, :]
    inside = (m[:, None] < M) & (n[None, :] < N)
    total = tl.load(places, mask=inside, other=0) if ADDS else tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        d = done + k
        if MASKED:
            left = (m[:, None] < M) & (d[None, :] < left_end) & (done != hole * BK)
            right = (d[:, None] < K) & (n[None, :] < N) & (done != right_hole * BK)
            x = tl.load(a_ptr + m[:, None] * K + d[None, :], mask=left, other=0)
            y = tl.load(b_ptr + d[:, None] * N + n[None, :], mask=right, other=0)
        else:
            x = tl.load(a_ptr + m[:, None] * K + d[None, :])
            y = tl.load(b_ptr + d[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(places, total, mask=inside)


def expected(a: np.ndarray, b: np.ndarray, depth: int, end: int, hole: int, right_hole: int) -> np.ndarray:
    a, b = a.copy(), b.copy()
    a[:, end:] = 0
    for operand, number in ((a.T, hole), (b, right_hole)):
        if number >= 0:
            operand[number * depth:(number + 1) * depth] = 0
    return a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("adds", [False, True])
@pytest.mark.parametrize("m, n, k, depth, end, hole, right_hole", [
    (64, 64, 96, 32, 96, -1, -1),  # all of it together
    (128, 64, 32, 32, 32, -1, -1),  # one round
    (64, 128, 100, 32, 100, -1, -1),  # the last one is not whole
    (60, 50, 96, 32, 96, -1, -1),  # none is
    (64, 64, 160, 32, 160, 2, -1),  # one in the middle
    (64, 64, 160, 32, 160, -1, 1), (64, 64, 160, 32, 160, 1, 2),
    (64, 64, 160, 32, 70, -1, -1), (64, 64, 96, 32, 96, 0, -1), (64, 64, 96, 32, 96, -1, 0),
    (64, 64, 80, 16, 80, 3, 3)])
def test_product(run, mode, m, n, k, depth, end, hole, right_hole, adds) -> None:
    """Rounds that wait, alone and with others; programs behind the first find its panels."""
    a, b = numeric.whole((m, k), "f32", 0), numeric.whole((k, n), "f32", 1)
    out = numeric.poisoned((m, n), "f32")
    before = numeric.whole((m, n), "f32", 2) if adds else np.zeros((m, n), np.float32)
    if adds:
        out = numeric.tensor(before.copy(), "f32")
    whole = m % 64 == n % 64 == k % depth == 0 and hole == right_hole == -1 and end == k
    grid = -(-m // 64), -(-n // 64)
    kernel = run(product, grid, numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, m, n, k, end, hole,
                 right_hole, 64, 64, depth, adds, not whole)
    assert said(mode, depth) in kernel.asm["plan"]
    want = (expected(a, b, depth, end, hole, right_hole) + before).astype(np.float32)
    numeric.assert_same(numeric.array(out), want, signed_zeros=False)


@pytest.mark.parametrize("k, depth", [(768, 256), (600, 512)])
def test_long_rounds(run, mode: str, k: int, depth: int) -> None:
    """Some are multiplied before the last one, and those of 512 steps one by one."""
    test_product(run, mode, 64, 64, k, depth, k, -1, -1, False)


@triton.jit
def gated(a_ptr, other_ptr, b_ptr, c_ptr, left_ptr, right_ptr, M, N, K, hole, BM: tl.constexpr,
          BN: tl.constexpr, BK: tl.constexpr, SAME: tl.constexpr, WHOLE: tl.constexpr,
          TOGETHER: tl.constexpr):
    """Two products in a loop, of one left operand or two; round `hole` of the second right one is 0. Their
    sums, or TOGETHER what is computed of both."""
    rows, columns = tl.program_id(0), tl.program_id(1)
    m, n, k = rows * BM + tl.arange(0, BM), columns * BN + tl.arange(0, BN), tl.arange(0, BK)
    first = tl.zeros([BM, BN], tl.float32)
    second = tl.zeros([BM, BN], tl.float32)
    inside = (m[:, None] < M) & (n[None, :] < N)
    for done in range(0, K, BK):
        d = done + k
        left = True if WHOLE else (m[:, None] < M) & (d[None, :] < K)
        right = True if WHOLE else (d[:, None] < K) & (n[None, :] < N)
        x = tl.load(a_ptr + m[:, None] * K + d[None, :], mask=left, other=0)
        z = x if SAME else tl.load(other_ptr + m[:, None] * K + d[None, :], mask=left, other=0)
        first = tl.dot(x, tl.load(b_ptr + d[:, None] * N + n[None, :], mask=right, other=0), first)
        second = tl.dot(z, tl.load(c_ptr + d[:, None] * N + n[None, :], mask=right & (done != hole * BK),
                                   other=0), second)
    places = m[:, None] * N + n[None, :]
    if TOGETHER:
        tl.store(left_ptr + places, first * 3 + second, mask=inside)
    else:
        tl.store(right_ptr + places, second, mask=inside)
        tl.store(left_ptr + places, first, mask=inside)


@pytest.mark.parametrize("m, n, k, depth, hole, same, together", [
    (64, 64, 96, 32, -1, True, True), (128, 64, 80, 16, -1, False, False), (64, 128, 48, 16, 1, True, False),
    (60, 50, 50, 16, -1, True, True), (60, 50, 48, 16, -1, False, True), (64, 64, 80, 16, 2, False, False),
    (64, 64, 48, 16, 2, True, False), (64, 64, 768, 256, -1, True, False), (64, 64, 32, 32, 0, False, True)])
def test_two_products(run, mode, m, n, k, depth, hole, same, together) -> None:
    """Each waits for itself, and has panels of its own."""
    a, other = numeric.whole((m, k), "f32", 0), numeric.whole((m, k), "f32", 1)
    b, c = numeric.whole((k, n), "f32", 2), numeric.whole((k, n), "f32", 3)
    outs = [numeric.poisoned((m, n), "f32") for _ in range(2)]
    whole = m % 64 == n % 64 == k % depth == 0
    given = [numeric.tensor(x, "f32") for x in (a, other, b, c)]
    kernel = run(gated, (-(-m // 64), -(-n // 64)), *given, *outs, m, n, k, hole, 64, 64, depth, same, whole,
                 together)
    assert kernel.asm["plan"].count(said(mode, depth)) == 2
    first = expected(a, b, depth, k, -1, -1)
    second = expected(a if same else other, c, depth, k, -1, hole)
    if together:
        first = first * 3 + second
    else:
        numeric.assert_same(numeric.array(outs[1]), second.astype(np.float32), signed_zeros=False)
    numeric.assert_same(numeric.array(outs[0]), first.astype(np.float32), signed_zeros=False)


def test_a_left_operand_of_two_products_and_of_something_else(run) -> None:
    """It is computed once, and kept for all."""
    a, b = numeric.whole((64, 96), "f32", 0), numeric.whole((96, 64), "f32", 1)
    out, sums = numeric.poisoned((64, 64), "f32"), numeric.poisoned((64,), "f32")
    kernel = run(summed_too, (1,), numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, sums, 96,
                 64, 64, 32)
    assert "together" not in kernel.asm["plan"]
    numeric.assert_same(numeric.array(out), 3 * (a @ b), signed_zeros=False)
    numeric.assert_same(numeric.array(sums), a.sum(axis=1), signed_zeros=False)


@triton.jit
def summed_too(a_ptr, b_ptr, c_ptr, sums_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    first, second = tl.zeros([BM, BN], tl.float32), tl.zeros([BM, BN], tl.float32)
    sums = tl.zeros([BM], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(a_ptr + m[:, None] * K + (done + k)[None, :])
        y = b_ptr + (done + k)[:, None] * BN + n[None, :]
        first = tl.dot(x, tl.load(y), first)
        second = tl.dot(x, 2 * tl.load(y), second)
        sums += tl.sum(x, axis=1)
    tl.store(c_ptr + m[:, None] * BN + n[None, :], first + second)
    tl.store(sums_ptr + m, sums)


@triton.jit
def of_doubles(a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float64)
    for done in range(0, K, BK):
        x = tl.load(a_ptr + m[:, None] * K + (done + k)[None, :])
        total = tl.dot(x, tl.load(b_ptr + (done + k)[:, None] * BN + n[None, :]), total, out_dtype=tl.float64)
    tl.store(c_ptr + m[:, None] * BN + n[None, :], total)


def test_doubles(run) -> None:
    """Tiles of six rows would not fit into registers: their rounds do not wait."""
    a, b = numeric.whole((64, 96), "f64", 0), numeric.whole((96, 64), "f64", 1)
    out = numeric.poisoned((64, 64), "f64")
    kernel = run(of_doubles, (1,), numeric.tensor(a, "f64"), numeric.tensor(b, "f64"), out, 96, 64, 64, 32)
    assert "together" not in kernel.asm["plan"] and "kept for" not in kernel.asm["plan"]
    numeric.assert_same(numeric.array(out), a @ b, signed_zeros=False)


@triton.jit
def repeated(a_ptr, b_ptr, c_ptr, M, N, K, times, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Several blocks a program, one behind the other: none is left waiting."""
    m, k = tl.arange(0, BM), tl.arange(0, BK)
    for block in range(times):
        n = block * BN + tl.arange(0, BN)
        total = tl.zeros([BM, BN], tl.float32)
        for done in range(0, K, BK):
            x = tl.load(a_ptr + m[:, None] * K + (done + k)[None, :])
            y = tl.load(b_ptr + (done + k)[:, None] * N + n[None, :])
            total = tl.dot(x, y, total)
        tl.store(c_ptr + m[:, None] * N + n[None, :], total)


def test_several_loops_one_behind_the_other(run) -> None:
    a, b = numeric.whole((64, 96), "f32", 0), numeric.whole((96, 192), "f32", 1)
    out = numeric.poisoned((64, 192), "f32")
    run(repeated, (1,), numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, 64, 192, 96, 3, 64, 64, 32)
    numeric.assert_same(numeric.array(out), a @ b, signed_zeros=False)


@triton.jit
def moving(a_ptr, b_ptr, c_ptr, K, down, across, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Pointers that are carried, over rows in any order."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    a_ptrs = a_ptr + m[:, None] * down + k[None, :]
    b_ptrs = b_ptr + k[:, None] * BN + n[None, :]
    total = tl.zeros([BM, BN], tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(a_ptrs), tl.load(b_ptrs), total)
        a_ptrs += across
        b_ptrs += BK * BN
    tl.store(c_ptr + m[:, None] * BN + n[None, :], total)


@pytest.mark.parametrize("across", [32, 64, 0])
@pytest.mark.parametrize("up", [False, True])
def test_where_the_left_operand_lies(run, across: int, up: bool) -> None:
    """As each round says: rows upwards, rounds with gaps between them, or the same again."""
    stored = numeric.whole((64, 256), "f32", 0)
    b = numeric.whole((96, 64), "f32", 1)
    out = numeric.poisoned((64, 64), "f32")
    held = numeric.tensor(stored, "f32")
    first = 63 * 256 if up else 0
    a = np.concatenate([stored[:, r * across:r * across + 32] for r in range(3)], axis=1)
    run(shifted if up else moving, (1,), held, numeric.tensor(b, "f32"), out, 96, -256 if up else 256, across,
        *((first,) if up else ()), 64, 64, 32)
    want = (a[::-1] if up else a).astype(np.float64) @ b
    numeric.assert_same(numeric.array(out), want.astype(np.float32), signed_zeros=False)


@triton.jit
def shifted(a_ptr, b_ptr, c_ptr, K, down, across, first, BM: tl.constexpr, BN: tl.constexpr,
            BK: tl.constexpr):
    moving(a_ptr + first, b_ptr, c_ptr, K, down, across, BM, BN, BK)


@triton.jit
def in_its_place(x_ptr, b_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """x = x b."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(x_ptr + m[:, None] * K + (done + k)[None, :])
        total = tl.dot(x, tl.load(b_ptr + (done + k)[:, None] * N + n[None, :]), total)
    tl.store(x_ptr + m[:, None] * K + n[None, :], total)


def test_what_is_read_and_written_through_one_argument(run) -> None:
    """Its rounds do not wait: tiles that are stored would be read again."""
    x, b = numeric.whole((128, 64), "f32", 0), numeric.whole((64, 64), "f32", 1)
    held = numeric.tensor(x.copy(), "f32")
    kernel = run(in_its_place, (1,), held, numeric.tensor(b, "f32"), 64, 64, 128, 64, 32)
    assert "together" not in kernel.asm["plan"] and "kept for" not in kernel.asm["plan"]
    numeric.assert_same(numeric.array(held), x @ b, signed_zeros=False)


class Address:
    """A pointer of which nobody knows what else is there."""

    def __init__(self, array: Any, offset: int = 0) -> None:
        self.array, self.dtype, self.offset = array, array.dtype, offset

    def data_ptr(self) -> int:
        return int(self.array.data_ptr()) + self.offset


@pytest.mark.parametrize("moved", [0, 1024, 4096, 6144])
def test_memory_that_two_arguments_name(moved: int) -> None:
    """The launcher cannot know: the kernel asks whether what it stores lies apart from what waits. What the
    last round reads does."""
    torch = pytest.importorskip("torch")
    held = torch.randint(-3, 4, (20480,)).float()
    a, b = held[:6144].clone().view(3, 64, 32), torch.randint(-3, 4, (96, 64)).float()
    moving[(1,)](Address(held), Address(b), Address(held, 4 * moved), 96, 32, 2048, 64, 64, 32)
    want = torch.einsum("rmk,rkn->mn", a, b.view(3, 32, 64))
    assert torch.equal(held[moved:moved + 4096].view(64, 64), want)


@triton.jit
def limited(a_ptr, b_ptr, c_ptr, N, K, limit, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0), tl.program_id(1)
    m, n, k = rows * BM + tl.arange(0, BM), columns * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(a_ptr + m[:, None] * K + (done + k)[None, :])
        total = tl.dot(x, tl.load(b_ptr + (done + k)[:, None] * N + n[None, :]), total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], tl.minimum(total, limit), mask=m[:, None] < BM * 2)


@pytest.mark.parametrize("limit", [1e300, 3.0])
def test_a_number_that_is_no_float32(run, mode, limit: float) -> None:
    """It counts as an infinity. The launch has its panels all the same, and its programs are where they say
    they are."""
    a, b = numeric.whole((128, 64), "f32", 0), numeric.whole((64, 192), "f32", 1)
    out = numeric.poisoned((128, 192), "f32")
    kernel = run(limited, (2, 3), numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, 192, 64, limit,
                 64, 64, 32)
    assert said(mode, 32) in kernel.asm["plan"]
    want = np.minimum(a @ b, np.float32(min(limit, 1e30)))
    numeric.assert_same(numeric.array(out), want, signed_zeros=False)


@triton.jit
def looked_at(a_ptr, b_ptr, c_ptr, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """The sums of each round make a difference."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        x = tl.load(a_ptr + m[:, None] * K + (done + k)[None, :])
        total = tl.maximum(tl.dot(x, tl.load(b_ptr + (done + k)[:, None] * N + n[None, :]), total), 0)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


def test_sums_that_are_looked_at(run) -> None:
    a, b = numeric.whole((64, 96), "f32", 0), numeric.whole((96, 64), "f32", 1)
    out = numeric.poisoned((64, 64), "f32")
    kernel = run(looked_at, (1,), numeric.tensor(a, "f32"), numeric.tensor(b, "f32"), out, 64, 96, 64, 64, 32)
    assert "together" not in kernel.asm["plan"]
    want = np.zeros((64, 64), np.float32)
    for done in range(0, 96, 32):
        want = np.maximum(want + a[:, done:done + 32] @ b[done:done + 32], 0)
    numeric.assert_same(numeric.array(out), want, signed_zeros=False)


TEXT = """
module attributes {"ttg.num-warps" = 4 : i32} {
  tt.func public @k(%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %c: !tt.ptr<f32>, %n: i32) {
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<64x64xf32>
    %r = tt.splat %a : !tt.ptr<f32> -> tensor<64x32x!tt.ptr<f32>>
    %s = tt.splat %b : !tt.ptr<f32> -> tensor<32x64x!tt.ptr<f32>>
    %sum = scf.for %i = %i0 to %n step %i1 iter_args(%total = %zero) -> (tensor<64x64xf32>) : i32 {
      %x = tt.load %r : tensor<64x32x!tt.ptr<f32>>
      %y = tt.load %s : tensor<32x64x!tt.ptr<f32>>
      %t = tt.dot %x, %y, %total : tensor<64x32xf32> * tensor<32x64xf32> -> tensor<64x64xf32>
      scf.yield %t : tensor<64x64xf32>
    }
    %o = tt.splat OUT : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    tt.store %o, %sum : tensor<64x64x!tt.ptr<f32>>
    tt.return
  }
}
"""


@pytest.mark.parametrize(("text", "apart", "adds"), [
    (TEXT.replace("OUT", "%c"), True, True), (TEXT.replace("OUT", "%b"), True, True),
    (TEXT.replace("OUT", "%a"), False, True),
    (TEXT.replace("OUT", "%c").replace("yield %t", "yield %zero"), True, False)])
def test_facts(text: str, apart: bool, adds: bool) -> None:
    module = parse(text)
    (found,) = keeping_products(module.entry)
    assert (reads_apart(module, found), only_adds(found)) == (apart, adds)


def test_who_joins_rounds() -> None:
    """Processors with tile registers, and Intel's: the others have not been measured."""
    target = find_target("cpu:sapphirerapids")
    assert target.joined_steps == 512 and not find_target("cpu:x86_64-v4").joined_steps
    intel = frozenset({"GenuineIntel"})
    assert [cpu_target(f"x86_64-v{level}", intel).joined_steps for level in (2, 3, 4)] == [0, 256, 512]
    assert cpu_target("x86_64-v4", frozenset({"AuthenticAMD"})) == cpu_target("x86_64-v4")
    assert not target.optimised("-joined-rounds").joined_steps and not target.optimised("none").joined_steps


#: These tests again, for one of Intel's processors.
AGAIN = """
import dataclasses, sys, pytest
from triton_spirv.runtime import processor
found = dataclasses.replace(processor._found(), vendor="GenuineIntel")
processor._found = lambda: found
sys.exit(pytest.main(sys.argv[1:]))
"""


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("setting", ["core-avx2", "skx"])
def test_without_tile_registers(setting: str, tmp_path: Path) -> None:
    """In a process of its own: the driver reads its settings once."""
    variables = {**os.environ, DRIVER_TARGET: setting, "TRITON_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", AGAIN, "-q", "-n", "0", "-p", "no:cacheprovider", "-k",
               "vector and not amx", __file__]
    done = subprocess.run(command, env=variables, cwd=Path(__file__).parents[1], capture_output=True,
                          text=True, timeout=900, check=False)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-3000:] + done.stderr[-1000:]


def test_the_verifier_asks_again() -> None:
    """A plan that joins rounds whose sums something else asks for is refused."""
    wrong_sums = "joins rounds, for whose sums something else asks"
    for said, wrong in (("yield %t", []), ("yield %zero", [wrong_sums])):
        kernel = parse(TEXT.replace("OUT", "%c").replace("yield %t", said)).entry
        product = next(op for op in kernel.walk() if op.name == "tt.dot")
        plan = Plan(kernel, "cpu", (Product(product, "arrays", (6, 64, 2), joins=8),), ("",))
        assert wrong_arrays(plan) == [f"{called(product)} {each}" for each in wrong]
