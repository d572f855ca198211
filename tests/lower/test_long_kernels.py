"""Kernels of thousands of operations: what compiling one calls grows as the kernel does, and no chain is too
long for Python's stack."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest
import torch
import triton_spirv
from counting import calls
from triton_spirv import compiler
from triton_spirv.slow import SlowCompilation
from triton_spirv.target import find_target

SPIRV_MODES = ("vector",)  # the layouts of lanes are of tensors of one dimension

HEAD = """module {{
  tt.func public @kernel(%x: !tt.ptr<i32> {{tt.divisibility = 16 : i32}}, %y: !tt.ptr<i32>, %n: i32) {{
    %i = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32>
    %xs = tt.splat %x : !tt.ptr<i32> -> tensor<{size}x!tt.ptr<i32>>
    %ys = tt.splat %y : !tt.ptr<i32> -> tensor<{size}x!tt.ptr<i32>>
    %px = tt.addptr %xs, %i : tensor<{size}x!tt.ptr<i32>>, tensor<{size}xi32>
    %py = tt.addptr %ys, %i : tensor<{size}x!tt.ptr<i32>>, tensor<{size}xi32>
    %ns = tt.splat %n : i32 -> tensor<{size}xi32>
    %true = arith.constant dense<true> : tensor<{size}xi1>
    %square = tt.reshape %i : tensor<{size}xi32> -> tensor<8x8x{rest}xi32>
    %wide0 = arith.extsi %i : tensor<{size}xi32> to tensor<{size}xi64>
    %wns = arith.extsi %ns : tensor<{size}xi32> to tensor<{size}xi64>
    %v0 = tt.load %px : tensor<{size}x!tt.ptr<i32>>
    %s0 = arith.addi %n, %n : i32
    %t0 = tt.reshape %v0 : tensor<{size}xi32> -> tensor<8x8x{rest}xi32>
    %q0 = arith.cmpi slt, %i, %ns : tensor<{size}xi32>
    %a0 = arith.addi %i, %ns : tensor<{size}xi32>
    %p0 = tt.addptr %px, %ns : tensor<{size}x!tt.ptr<i32>>, tensor<{size}xi32>
"""

TAIL = """    tt.store %py, %{result} : tensor<{size}x!tt.ptr<i32>>
    tt.return
  }}
}}
"""

T = "tensor<{size}xi32>"
P = "tensor<{size}x!tt.ptr<i32>>"

#: what each link is, from number {k} to number {m}; the last line makes %v of what else a chain is of
LINKS = {
    "scalars": ("%s{m} = arith.xori %s{k}, %n : i32", f"%sp = tt.splat %s{{k}} : i32 -> {T}"),
    "values": (f"%v{{m}} = arith.muli %v{{k}}, %ns : {T}", ""),
    "shared": (f"%r{{m}} = arith.xori %v{{k}}, %i : {T}\n%v{{m}} = arith.muli %v{{k}}, %r{{m}} : {T}", ""),
    "views": ("%t{m} = tt.trans %t{k} {order = array<i32: 1, 0, 2>} :"
              " tensor<8x8x{rest}xi32> -> tensor<8x8x{rest}xi32>",
              f"%sp = tt.reshape %t{{k}} : tensor<8x8x{{rest}}xi32> -> {T}"),
    "indices": ("%wide{m} = arith.addi %wide{k}, %wns : tensor<{size}xi64>",
                f"%sp = arith.trunci %wide{{k}} : tensor<{{size}}xi64> to {T}"),
    "gathers": (f"%g{{m}} = tt.addptr %xs, %v{{k}} : {P}, {T}\n%v{{m}} = tt.load %g{{m}} : {P}", ""),
    "defaults": (f"%v{{m}} = tt.load %px, %q0, %v{{k}} : {P}", ""),
    "masks": ("%u{m} = arith.andi %q{k}, %true : tensor<{size}xi1>\n"
              "%d{m} = arith.xori %u{m}, %q{k} : tensor<{size}xi1>\n"
              "%q{m} = arith.andi %u{m}, %d{m} : tensor<{size}xi1>",
              f"%sp = tt.load %px, %q{{k}} : {P}"),
    "pointers": (f"%p{{m}} = tt.addptr %p{{k}}, %ns : {P}, {T}", f"%sp = tt.load %p{{k}} : {P}"),
    "loads": (f"%p{{m}} = tt.addptr %p{{k}}, %ns : {P}, {T}\n%l{{m}} = tt.load %p{{m}} : {P}\n"
              f"%v{{m}} = arith.addi %v{{k}}, %l{{m}} : {T}", ""),
    "stores": (f"%p{{m}} = tt.addptr %p{{k}}, %ns : {P}, {T}\ntt.store %p{{m}}, %v{{k}} : {P}\n"
               f"%v{{m}} = arith.addi %v{{k}}, %i : {T}", ""),
    "copies": (f"%p{{m}} = tt.addptr %p{{k}}, %ns : {P}, {T}\n%l{{m}} = tt.load %p{{m}} : {P}\n"
               f"tt.store %p{{m}}, %l{{m}} : {P}\n%v{{m}} = arith.addi %v{{k}}, %i : {T}", ""),
    "reductions": ('%e{m} = "tt.reduce"(%v{k}) <{axis = 0 : i32}> ({\n^bb0(%f: i32, %h: i32):\n'
                   "%z = arith.addi %f, %h : i32\ntt.reduce.return %z : i32\n"
                   "}) : (" + T + ") -> i32\n%es{m} = tt.splat %e{m} : i32 -> " + T + "\n"
                   "%v{m} = arith.addi %v{k}, %es{m} : " + T, ""),
    "branches": ("%c{m} = arith.cmpi sgt, %n, %s0 : i32\n"
                 f"%v{{m}} = scf.if %c{{m}} -> ({T}) {{\n"
                 f"%b = arith.addi %v{{k}}, %ns : {T}\nscf.yield %b : {T}\n"
                 f"}} else {{\nscf.yield %v{{k}} : {T}\n}}", ""),
    "loops": ("%v{m} = scf.for %j = %n to %s0 step %n iter_args(%o = %v{k}) -> (" + T + ") : i32 {\n"
              "%b = arith.addi %o, %ns : " + T + "\nscf.yield %b : " + T + "\n}", ""),
}


def kernel(kind: str, links: int, size: int) -> str:
    """A kernel of so many links of a kind in a row, on tensors of `size` elements."""
    link, end = LINKS[kind]

    def filled(line: str, k: int) -> str:
        for name, value in (("k", k), ("m", k + 1), ("size", size), ("rest", size // 64)):
            line = line.replace("{" + name + "}", str(value))
        return line

    lines = [filled(link, k) for k in range(links)]
    result = f"v{links}"
    if end:
        result = "result"
        lines += [filled(end, links), f"%result = arith.addi %v0, %sp : tensor<{size}xi32>"]
    return (HEAD + "{body}\n" + TAIL).format(size=size, rest=size // 64, result=result, body="\n".join(lines))


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("kind", LINKS)
def test_steps_grow_as_the_kernel_does(kind: str) -> None:
    """Twice as many links are compiled in about twice as many calls."""
    few, many = (kernel(kind, links, 1024) for links in (130, 260))
    triton_spirv.compile(kernel(kind, 3, 1024), "cpu")  # what Python keeps from call to call is there then
    first, second = (calls(lambda text=text: triton_spirv.compile(text, "cpu")) for text in (few, many))
    assert second <= 2.4 * first, (first, second)


def in_lanes(text: str, lanes: int) -> str:
    """The same kernel with layouts; without the views, which are of three dimensions."""
    lines = [line for line in text.splitlines() if "8x8" not in line]
    text = re.sub(r"(tensor<\d+x(?:i\d+|!tt\.ptr<i32>))>", r"\1, #lanes>", "\n".join(lines))
    return (f"#lanes = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [{lanes}], warpsPerCTA = [4], "
            "order = [0]}>\n" + text.replace("module {", 'module attributes {"ttg.num-warps" = 4 : i32, '
                                             f'"ttg.threads-per-warp" = {lanes} : i32}} {{', 1))


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("target", ("cpu", "cpu-simt", "lavapipe", "pvc"))
@pytest.mark.parametrize("kind", ("scalars", "values", "shared", "gathers", "loads", "copies", "reductions",
                                  "branches", "loops"))
def test_steps_of_10_to_3000_operations(kind: str, target: str) -> None:
    """What one operation more costs is the same in a kernel of thousands and in one of a hundred."""
    found = find_target(target)
    in_link = sum(1 for line in LINKS[kind][0].splitlines() if "=" in line or line.startswith("tt."))
    texts = [kernel(kind, operations // in_link, 64) for operations in (10, 100, 3000)]
    if found.lanes:
        texts = [in_lanes(text, found.sub_group_size) for text in texts]
    triton_spirv.compile(texts[0], found)  # what Python keeps from call to call is there then
    ten, hundred, most = counted = [
        calls(lambda text=text: triton_spirv.compile(text, found), 20_000_000) for text in texts]
    # what grows with the square of the operations shows where it is 1 in 15000 of what one operation costs
    assert (most - hundred) / 2900 <= 1.19 * (hundred - ten) / 90, counted


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("size", (64, 1024))
@pytest.mark.parametrize(("kind", "links"), [
    ("scalars", 5000), ("values", 5000), ("shared", 2000), ("views", 2000), ("indices", 5000),
    ("pointers", 5000), ("masks", 1000), ("defaults", 300), ("gathers", 300)])
def test_long_chains_need_no_deeper_stack(kind: str, links: int, size: int, monkeypatch) -> None:
    monkeypatch.setattr(compiler, "deepened", lambda function, *arguments: function(*arguments))
    assert triton_spirv.compile(kernel(kind, links, size), "cpu").words


def test_a_slow_compilation_says_where_it_is(monkeypatch) -> None:
    """Once, with the kernel, the operation and its place."""
    monkeypatch.setenv("TRITON_SPIRV_COMPILE_SECONDS", "1e-9")
    with pytest.warns(SlowCompilation) as told:
        triton_spirv.compile(kernel("values", 3, 1024), "cpu")
    (warning,) = told
    assert "tt.make_range: compiling kernel (" in str(warning.message)
    assert "more than 1e-09 s" in str(warning.message)


@pytest.mark.parametrize("seconds", ("0", "", "60"))
def test_a_quick_compilation_says_nothing(monkeypatch, seconds: str) -> None:
    monkeypatch.setenv("TRITON_SPIRV_COMPILE_SECONDS", seconds)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        triton_spirv.compile(kernel("values", 3, 64), "cpu")


@pytest.mark.parametrize("size", (64, 1024))
@pytest.mark.parametrize("kind", ("indices", "views", "gathers", "defaults", "stores"))
def test_long_chains_compute_the_same(run_text, kind: str, size: int) -> None:
    """What is evaluated from below, and loads that stores come between."""
    links, n = 128, 3
    x = np.random.default_rng(0).permutation(size).astype(np.int32)
    if kind == "stores":
        x = np.resize(x, size + (links + 1) * n)
    y = torch.zeros(size, dtype=torch.int32)
    given = torch.from_numpy(x.copy())
    run_text(kernel(kind, links, size), 1, given, y, n)
    expected = x[:size]
    if kind == "indices":
        expected = x + np.arange(size) + links * n
    elif kind == "views":
        expected = x + x
    elif kind == "stores":
        expected = x[:size] + links * np.arange(size)
    for _ in range(links if kind == "gathers" else 0):
        expected = x[expected]
    np.testing.assert_array_equal(y.numpy(), expected.astype(np.int32))
