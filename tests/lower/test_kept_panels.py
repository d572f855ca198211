"""lower/products/kept_panels.py: programs of the same columns multiply what one of them has packed."""

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
from lower.test_dot_tile_registers import BUILD
from machine import launch
from triton_spirv import compile as compile_text
from triton_spirv import panel_layout as layout
from triton_spirv.facts.kept_panels import MOST, keeping_products
from triton_spirv.ir import parse
from triton_spirv.layout import row_major
from triton_spirv.lower.plan.records import FoundPanel, Plan
from triton_spirv.lower.plan.text import called
from triton_spirv.lower.plan.verify_arrays import wrong_arrays
from triton_spirv.lower.products.operand import rows_first
from triton_spirv.runtime import panels
from triton_spirv.runtime.processor import TILES, processor
from triton_spirv.target import CPU, find_target
from triton_spirv.tools import spirv_tools

#: The machine, for a processor with tile registers, and the device where it has them.
SPIRV_MODES = ("machine-vector-amx", *(("vector",) if TILES in processor().flags else ()))


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
            BY_ROWS: tl.constexpr, SUM: tl.constexpr):
    """c = a b; neighbours have the same columns, or with BY_ROWS the same rows."""
    rows, columns = tl.program_id(0), tl.program_id(1)
    if BY_ROWS:
        columns, rows = rows, columns
    m, n, k = rows * BM + tl.arange(0, BM), columns * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros([BM, BN], SUM)
    for done in range(0, K, BK):
        d = done + k
        x = tl.load(a_ptr + m[:, None] * K + d[None, :], mask=(m[:, None] < M) & (d[None, :] < K), other=0)
        y = tl.load(b_ptr + d[:, None] * N + n[None, :], mask=(d[:, None] < K) & (n[None, :] < N), other=0)
        total = tl.dot(x, y, total, out_dtype=SUM)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total, mask=(m[:, None] < M) & (n[None, :] < N))


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("by_rows", [False, True])
@pytest.mark.parametrize("m, n, k", [(64, 64, 128), (60, 50, 100), (32, 64, 256)])
@pytest.mark.parametrize("dtype", ["bf16", "i8"])
def test_product(run, dtype, m, n, k, by_rows, together, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whole blocks and others, more rounds than a shelf has, both orders; of programs one behind the other,
    and of those that the machine runs at the same time: it would see if two had one shelf."""
    monkeypatch.setattr(launch, "_synchronises", lambda *_: together)
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    sums = "f32" if dtype == "bf16" else "i32"
    out = numeric.poisoned((m, n), sums)
    grid = (-(-m // 16), -(-n // 32))
    kernel = run(product, grid[::-1] if by_rows else grid, numeric.tensor(a, dtype),
                 numeric.tensor(b, dtype), out, m, n, k, 16, 32, 32, by_rows,
                 tl.float32 if dtype == "bf16" else tl.int32)
    assert "kept for the next program" in kernel.asm["plan"]
    kind = np.float64 if dtype == "bf16" else np.int64
    numeric.assert_same(numeric.array(out), (a.astype(kind) @ b.astype(kind)).astype(
        np.float32 if dtype == "bf16" else np.int32), signed_zeros=False)


@triton.jit
def batches(a_ptr, b_ptr, c_ptr, places_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Products of whole blocks, and of each program where it is and how many there are."""
    rows, columns, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    m, n, k = rows * BM + tl.arange(0, BM), columns * BN + tl.arange(0, BN), tl.arange(0, BK)
    a, b = a_ptr + batch * M * K + m[:, None] * K, b_ptr + batch * K * N + n[None, :]
    total = tl.zeros([BM, BN], tl.float32)
    for done in range(0, K, BK):
        total = tl.dot(tl.load(a + (done + k)[None, :]), tl.load(b + (done + k)[:, None] * N), total)
    tl.store(c_ptr + batch * M * N + m[:, None] * N + n[None, :], total)
    across, down = tl.num_programs(0), tl.num_programs(1)
    place = places_ptr + 6 * ((batch * down + columns) * across + rows)
    tl.store(place, rows)
    tl.store(place + 1, columns)
    tl.store(place + 2, batch)
    tl.store(place + 3, across)
    tl.store(place + 4, down)
    tl.store(place + 5, tl.num_programs(2))


@pytest.mark.parametrize("along_x", [False, True])
def test_programs_along_x(run, along_x, monkeypatch: pytest.MonkeyPatch) -> None:
    """The launcher may put all of a grid there; on the device it does in the first launch."""
    monkeypatch.setattr(launch, "ALONG_X", along_x)
    (x, y, z), k = (4, 3, 2), 64
    m, n = 16 * x, 32 * y
    a, b = numeric.whole((z, m, k), "bf16", 0), numeric.whole((z, k, n), "bf16", 1)
    out, places = numeric.poisoned((z, m, n), "f32"), numeric.poisoned((z, y, x, 6), "i32")
    kernel = run(batches, (x, y, z), numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out, places,
                 m, n, k, 16, 32, 32)
    assert "kept for the next program" in kernel.asm["plan"]
    numeric.assert_same(numeric.array(out), (a @ b).astype(np.float32), signed_zeros=False)
    found = numeric.array(places)
    assert np.array_equal(found[..., :3], np.stack(np.indices((z, y, x))[::-1], axis=-1))
    assert (found[..., 3:] == (x, y, z)).all()


@pytest.mark.parametrize("grid", [(4, 3, 2), (4, 1, 1), (1, 5, 1), (1, 1, 3), (0, 2, 2)], ids=str)
def test_sizes_of_programs_along_x(grid: tuple[int, int, int]) -> None:
    memory = panels.taken(2, lambda arguments: False, (), grid)
    assert memory is not None
    said = layout.GRID.unpack_from(memory._memory, layout.GRID_AT)
    assert said == (grid if grid[1] * grid[2] > 1 and grid[0] else (0, 0, 0))
    assert panels.along_x(grid) == (np.prod(grid), 1, 1)
    panels.given_back(memory)
    again = panels.taken(2, lambda arguments: False, (), (7, 1, 1))
    assert again is memory and layout.GRID.unpack_from(again._memory, layout.GRID_AT) == (0, 0, 0)
    panels.given_back(again)


def test_more_programs_than_fit_along_x_keep_nothing() -> None:
    assert panels.taken(2, lambda arguments: False, (), (1 << 16, 1 << 15, 1)) is None


@triton.jit
def summed_later(a_ptr, b_ptr, c_ptr, M, N, K, scale, BM: tl.constexpr, BN: tl.constexpr,
                 BK: tl.constexpr):
    """The same for sums that begin with something else than zero."""
    m, n, k = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros([BM, BN], tl.float32) + scale
    for done in range(0, K, BK):
        x = tl.load(a_ptr + m[:, None] * K + (done + k)[None, :])
        y = tl.load(b_ptr + (done + k)[:, None] * N + n[None, :])
        total = tl.dot(x, y, total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


def test_denormal_numbers(run) -> None:
    """Registers would clear them. The program that finds a panel knows what is in it."""
    m, n, k = 64, 32, 96
    a, b = np.zeros((m, k)), np.zeros((k, n))
    a[:, 72] = 1.0 + np.arange(m) % 7
    b[72] = 2.0 ** -130
    out = numeric.poisoned((m, n), "f32")
    kernel = run(summed_later, (m // 16,), numeric.tensor(a, "bf16"), numeric.tensor(b, "bf16"), out,
                 m, n, k, 0.0, 16, 32, 32)
    assert "kept for the next program" in kernel.asm["plan"]
    numeric.assert_same(numeric.array(out), (a @ b).astype(np.float32))


@pytest.mark.parametrize("shape", ((64, 128), (2, 32, 64), (8, 16)), ids=str)
def test_a_walk_down_the_rows_first(shape) -> None:
    """The same elements, in windows; each column of windows is walked down to its end."""
    by_rows = row_major(shape, 8, 2, 2)
    down = rows_first(by_rows, shape)
    assert (down.component, down.register) == (by_rows.component, by_rows.register)
    assert sorted(down.step) == sorted(by_rows.step)
    rows, columns = shape[-2:]
    first = [sum(basis for bit, basis in enumerate(down.step) if step >> bit & 1)
             for step in range(1 << len(down.step))]
    assert first == sorted(first, key=lambda at: (at // (rows * columns), at % columns, at))
    assert first != sorted(first) or columns <= 16


def test_one_program_finds_what_another_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's shelf says so, of programs with the same columns."""
    ends: list[Any] = []
    take_back = launch._take_back
    monkeypatch.setattr(launch, "_take_back",
                        lambda space, *rest: (ends.append(space), take_back(space, *rest)))
    artifact = compile_text(TEXT, TARGET)
    assert artifact.hidden == ("panel_buffer",)
    a, b = numeric.whole((64, 64), "i8", 0), numeric.whole((64, 32), "i8", 1)
    out = np.full((64, 32), 77, np.int32)
    assert not launch.run(artifact, 4, [a, b, out])
    assert np.array_equal(out, a.astype(np.int32) @ b)
    (space,) = ends
    (one,) = [one for one in space.table if one.name == "panel_buffer"]
    first = one.flat + layout.LABELS + layout.POLICY_BYTES
    labels = space.bytes[first:first + 2 * layout.LABEL_BYTES].view(np.int64).reshape(2, -1)
    assert labels[:, layout.LAUNCH].tolist() == [7, 7] and labels[:, layout.FOUND].tolist() == [1, 1]
    assert labels[:, layout.ADDRESS].tolist() == [b.ctypes.data, b.ctypes.data + 32 * 32]


TARGET = "cpu:sapphirerapids"

LOOP = """
    %sums = scf.for %at = %zero to %rounds step %one iter_args(%old = %none) -> (tensor<16x32xi32>) : i32 {{
      %down = arith.muli %at, %bk : i32
      %k = tt.splat %down : i32 -> tensor<32xi32>
      %k_ = arith.addi %k, %d : tensor<32xi32>
      %ak = tt.expand_dims %k_ {{axis = 0 : i32}} : tensor<32xi32> -> tensor<1x32xi32>
      %ak_ = tt.broadcast %ak : tensor<1x32xi32> -> tensor<16x32xi32>
      %ai = arith.addi %am_, %ak_ : tensor<16x32xi32>
      %ap = tt.splat %a : !tt.ptr<i8> -> tensor<16x32x!tt.ptr<i8>>
      %ap_ = tt.addptr %ap, %ai : tensor<16x32x!tt.ptr<i8>>, tensor<16x32xi32>
      %x = tt.load %ap_ : tensor<16x32x!tt.ptr<i8>>
      %bk_ = tt.expand_dims %k_ {{axis = 1 : i32}} : tensor<32xi32> -> tensor<32x1xi32>
      %bw = arith.muli %bk_, %widths : tensor<32x1xi32>
      %br = tt.broadcast %bw : tensor<32x1xi32> -> tensor<32x32xi32>
      %bi = arith.addi %br, %bn : tensor<32x32xi32>
      %bp = tt.splat %b : !tt.ptr<i8> -> tensor<32x32x!tt.ptr<i8>>
      %bp_ = tt.addptr %bp, %bi : tensor<32x32x!tt.ptr<i8>>, tensor<32x32xi32>
      {inside}
      %y = tt.load %bp_{how} : tensor<32x32x!tt.ptr<i8>>
      %new = tt.dot %x, %y, %old : tensor<16x32xi8> * tensor<32x32xi8> -> tensor<16x32xi32>
      {again}
      scf.yield %new : tensor<16x32xi32>
    }}"""

KERNEL = """
module {{
  tt.func public @kernel(%a: !tt.ptr<i8>, %b: !tt.ptr<i8>, %c: !tt.ptr<i32>) {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %rounds = arith.constant 2 : i32
    %bk = arith.constant 32 : i32
    %bm = arith.constant 16 : i32
    %byte = arith.constant 1 : i8
    %none = arith.constant dense<0> : tensor<16x32xi32>
    %widths = arith.constant dense<32> : tensor<32x1xi32>
    %depths = arith.constant dense<64> : tensor<16x1xi32>
    %wide = arith.constant dense<32> : tensor<16x1xi32>
    %pid = tt.get_program_id x : i32
    %first = arith.muli %pid, %bm : i32
    %d = tt.make_range {{end = 32 : i32, start = 0 : i32}} : tensor<32xi32>
    %m = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
    %ms = tt.splat %first : i32 -> tensor<16xi32>
    %m_ = arith.addi %ms, %m : tensor<16xi32>
    %m1 = tt.expand_dims %m_ {{axis = 1 : i32}} : tensor<16xi32> -> tensor<16x1xi32>
    %am = arith.muli %m1, %depths : tensor<16x1xi32>
    %am_ = tt.broadcast %am : tensor<16x1xi32> -> tensor<16x32xi32>
    %n = tt.expand_dims %d {{axis = 0 : i32}} : tensor<32xi32> -> tensor<1x32xi32>
    %bn = tt.broadcast %n : tensor<1x32xi32> -> tensor<32x32xi32>
    {before}{loop}
    %cm = arith.muli %m1, %wide : tensor<16x1xi32>
    %cm_ = tt.broadcast %cm : tensor<16x1xi32> -> tensor<16x32xi32>
    %cn = tt.broadcast %n : tensor<1x32xi32> -> tensor<16x32xi32>
    %ci = arith.addi %cm_, %cn : tensor<16x32xi32>
    %cp = tt.splat %c : !tt.ptr<i32> -> tensor<16x32x!tt.ptr<i32>>
    %cp_ = tt.addptr %cp, %ci : tensor<16x32x!tt.ptr<i32>>, tensor<16x32xi32>
    tt.store %cp_, %sums : tensor<16x32x!tt.ptr<i32>>
    {behind}
    tt.return
  }}
}}
"""


def text(before: str = "", inside: str = "", how: str = "", again: str = "", behind: str = "") -> str:
    loop = LOOP.format(inside=inside, how=how, again=again)
    return KERNEL.format(before=before, behind=behind, loop=loop)


TEXT = text()
STORE = "tt.store %b, %byte : !tt.ptr<i8>"
ATOMIC = "%old_ = tt.atomic_rmw add, relaxed, gpu, %c, %one : (!tt.ptr<i32>, i32) -> i32"

TWICE = "%other = tt.dot %x, %y, %new : tensor<16x32xi8> * tensor<32x32xi8> -> tensor<16x32xi32>"


BESIDE = """%more = tt.load %bp_ : tensor<32x32x!tt.ptr<i8>>
      %other = tt.dot %x, %more, %old : tensor<16x32xi8> * tensor<32x32xi8> -> tensor<16x32xi32>"""

THIRD = BESIDE.replace("more", "third").replace("other", "last")


@pytest.mark.parametrize(("changes", "keeps"), [
    ({}, True), ({"behind": STORE}, True),
    ({"before": STORE}, False), ({"inside": STORE}, False), ({"again": STORE}, False),
    ({"behind": ATOMIC}, False), ({"how": " {isVolatile = true}"}, False),
    ({"again": TWICE}, False), ({"again": BESIDE}, True), ({"again": BESIDE + THIRD}, False),
], ids=str)
def test_who_keeps(changes: dict[str, str], keeps: bool) -> None:
    """Nobody who writes before the loop ends, tells others something, or multiplies the operand twice."""
    kernel = parse(text(**changes)).entry
    assert bool(keeping_products(kernel)) == keeps
    artifact = compile_text(text(**changes), TARGET)
    assert artifact.hidden == (("panel_buffer",) if keeps else ())
    assert ("kept for the next program" in artifact.plan) == keeps
    spirv_tools.validate(artifact.words)


def test_switched_off() -> None:
    """By its name, and with all others; targets without tile registers have nothing to keep."""
    for target in (find_target(TARGET).optimised("-kept-panels"), find_target(TARGET).optimised("none"), CPU):
        artifact = compile_text(TEXT, target)
        assert artifact.hidden == () and "kept" not in artifact.plan


def test_the_verifier_asks_again() -> None:
    """A plan that finds panels where something may have changed them is refused."""
    kernel = parse(text(inside=STORE)).entry
    product = next(op for op in kernel.walk() if op.name == "tt.dot")
    plan = Plan(kernel, "cpu", (FoundPanel(product, 0, 0),), ("",))
    assert wrong_arrays(plan) == [f"{called(product)} multiplies what an earlier program has packed, which "
                                  "may be something else"]


def test_the_drivers_code(tmp_path: Path) -> None:
    """It takes arrays that lie on a shelf or in the program's own memory."""
    (tmp_path / "kernel.spv").write_bytes(compile_text(TEXT, TARGET).words)
    variables = {**os.environ, "CL_CONFIG_CPU_TARGET_ARCH": "sapphirerapids", "CL_CONFIG_DUMP_ASM": "1"}
    subprocess.run([sys.executable, "-c", BUILD, "kernel.spv"], cwd=tmp_path, env=variables, check=True,
                   timeout=120, capture_output=True)
    code = "".join(path.read_text() for path in tmp_path.glob("*.s"))
    assert "tdpbssd" in code and "cmpxchg" in code and "xchg" in code


def test_each_launch_has_memory_and_a_number_of_its_own() -> None:
    def apart(arguments: object) -> bool:
        return False
    first, second = panels.taken(2, apart, (), (1, 1, 1)), panels.taken(2, apart, (), (1, 1, 1))
    assert first is not None and second is not None and first is not second
    heads = [layout.HEADER.unpack_from(each._memory) for each in (first, second)]
    # others in this process may have taken larger ones
    assert heads[0][0] >= (2 + panels.OTHERS) * layout.PRODUCTS and heads[0][2] != heads[1][2]
    for shelf in range(heads[0][0]):  # inside of the memory, behind the labels, apart from each other
        start = heads[0][4] + shelf * heads[0][3]
        assert layout.shelves_at(heads[0][0], heads[0][1]) <= start <= len(first._memory) - heads[0][3]
    for place in (layout.OWNERS, layout.LOCKS):
        first._memory[place:place + 8] = bytes([1] * 8)
    panels.given_back(first)
    again = panels.taken(2, apart, (), (1, 1, 1))
    assert again is first and layout.HEADER.unpack_from(again._memory)[2] > heads[1][2]
    for place in (layout.OWNERS, layout.LOCKS):
        assert again._memory[place:place + 8] == bytes(8)
    assert panels.taken(2, lambda arguments: True, (), (1, 1, 1)) is None and layout.PRODUCTS == MOST
    panels.given_back(first)
    panels.given_back(second)


FORK = """
import os
from triton_spirv import panel_layout
from triton_spirv.runtime import panels
for _ in range(2):
    ours = panels.taken(2, lambda arguments: False, (), (1, 1, 1))
    panels.given_back(ours)
label = panel_layout.LABELS
child = os.fork()
if not child:
    theirs = panels.taken(2, lambda arguments: False, (), (1, 1, 1))
    theirs._memory[label:label + 3] = b"abc"
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
print(ours._memory[label:label + 3], panel_layout.HEADER.unpack_from(ours._memory)[2])
"""


def test_a_forked_child_has_memory_of_its_own() -> None:
    """Its launches have the numbers of the parent's next ones, its arrays their addresses: each would take
    the other's panels for its own."""
    done = subprocess.run([sys.executable, "-c", FORK], check=True, timeout=60, capture_output=True,
                          text=True)
    assert done.stdout == "b'\\x00\\x00\\x00' 2\n"
