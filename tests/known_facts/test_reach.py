"""facts/reach.py and runtime/reach.py: how far kernels reach, against the elements that their text names."""

from __future__ import annotations

from typing import Any

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.facts.reach import reach
from triton_spirv.ir import parse
from triton_spirv.runtime.reach import Reach

#: where launches copy memory
SPIRV_MODES = ("gpu-bmg", "vulkan")

HEAD = """
tt.func public @kernel(%x: !tt.ptr<f32>, %o: !tt.ptr<f16>, %n: i32, %m: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c64 = arith.constant 64 : i32
    %pid = tt.get_program_id x : i32
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %from = arith.muli %pid, %c64 : i32
    %fromt = tt.splat %from : i32 -> tensor<64xi32>
    %at = arith.addi %fromt, %i : tensor<64xi32>
    %nt = tt.splat %n : i32 -> tensor<64xi32>
    %xt = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %v = arith.constant dense<1.0> : tensor<64xf32>
"""
POINTERS = "tensor<64x!tt.ptr<f32>>"


def found(body: str, n: int = 100, m: int = 7, grid: tuple[int, int, int] = (2, 1, 1)) -> Any:
    """Elements of %x that the kernel reaches: first, behind the last; None: not known."""
    nodes, accesses = reach(parse(f"{HEAD}{body}    tt.return\n}}\n"))
    bytes = Reach(nodes, accesses, [None, None, n, m], grid).bytes(0)
    return None if bytes is None else (bytes[0] // 4, bytes[1] // 4)


def load(offsets: str, mask: str = "", name: str = "p") -> str:
    mask = f", {mask}" if mask else ""
    return (f"    %{name} = tt.addptr %xt, {offsets} : {POINTERS}, tensor<64xi32>\n"
            f"    %{name}v = tt.load %{name}{mask} : {POINTERS}\n")


def compare(predicate: str, left: str, right: str, name: str = "mask") -> str:
    return f"    %{name} = arith.cmpi {predicate}, {left}, {right} : tensor<64xi32>\n"


def test_nothing_is_reached() -> None:
    assert found("") == (0, 0)


@pytest.mark.parametrize(("body", "elements"), [
    (load("%at"), (0, 128)),
    (compare("slt", "%at", "%nt") + load("%at", "%mask"), (0, 100)),
    (compare("sle", "%at", "%nt") + load("%at", "%mask"), (0, 101)),
    (compare("sgt", "%nt", "%at") + load("%at", "%mask"), (0, 100)),
    (compare("sge", "%at", "%nt") + load("%at", "%mask"), (100, 128)),
    (compare("ult", "%at", "%nt") + load("%at", "%mask"), (0, 128)),
    # of another value
    (compare("slt", "%i", "%nt") + load("%at", "%mask"), (0, 128)),
    # two that both hold
    (compare("slt", "%at", "%nt", "a") + compare("sge", "%at", "%fromt", "b")
     + "    %mask = arith.andi %a, %b : tensor<64xi1>\n" + load("%at", "%mask"), (0, 100)),
    # one of two: says nothing
    (compare("slt", "%at", "%nt", "a") + compare("sge", "%at", "%fromt", "b")
     + "    %mask = arith.ori %a, %b : tensor<64xi1>\n" + load("%at", "%mask"), (0, 128)),
    ("    %r = arith.remsi %at, %nt : tensor<64xi32>\n" + load("%r"), (0, 100)),
    ("    %s = arith.subi %i, %nt : tensor<64xi32>\n" + load("%s"), (-100, -36)),
    ("    %s = arith.muli %at, %nt : tensor<64xi32>\n" + load("%s"), (0, 12701)),
    # loaded offsets
    (load("%at", name="q") + "    %w = arith.fptosi %qv : tensor<64xf32> to tensor<64xi32>\n" + load("%w"),
     None),
    # its product does not fit 32 bits
    ("    %big = arith.constant dense<2000000000> : tensor<64xi32>\n"
     "    %s = arith.muli %at, %big : tensor<64xi32>\n" + load("%s"), None),
    # what else may be done with a pointer
    ("    %number = tt.ptr_to_int %x : !tt.ptr<f32> -> i64\n" + load("%i"), None),
])
def test_offsets_and_masks(body: str, elements: Any) -> None:
    assert found(body) == elements


def loop(body: str, carried: str, first: str, type: str, result: str, after: str = "") -> str:
    return ("    %end = scf.for %k = %c0 to %m step %c1 "
            f"iter_args({carried} = {first}) -> ({type}) : i32 {{\n{body}"
            f"      scf.yield {result} : {type}\n    }}\n{after}")


STEP = "      %step = tt.splat %c64 : i32 -> tensor<64xi32>\n"
MOVED = f"      %next = tt.addptr %q, %step : {POINTERS}, tensor<64xi32>\n"
LOADED = f"      %w = tt.load %q : {POINTERS}\n"


def test_loops() -> None:
    """Seven rounds, each 64 further on; behind the loop once more."""
    moving = STEP + LOADED + MOVED
    assert found(loop(moving, "%q", "%xt", POINTERS, "%next")) == (0, 6 * 64 + 1)
    after = f"    %last = tt.load %end : {POINTERS}\n"
    assert found(loop(moving, "%q", "%xt", POINTERS, "%next", after)) == (0, 7 * 64 + 1)
    assert found(loop(moving, "%q", "%xt", POINTERS, "%next"), m=0) == (0, 0)
    counted = "      %kt = tt.splat %k : i32 -> tensor<64xi32>\n" + load("%kt") \
        + "      %next = arith.addi %s, %c1 : i32\n"
    assert found(loop(counted, "%s", "%c0", "i32", "%next")) == (0, 7)


def test_what_a_round_does_otherwise_is_unknown() -> None:
    doubled = "      %st = tt.splat %s : i32 -> tensor<64xi32>\n" + load("%st") \
        + "      %next = arith.muli %s, %c64 : i32\n"
    assert found(loop(doubled, "%s", "%c1", "i32", "%next")) is None


def test_sums_that_depend_on_each_other_are_unknown() -> None:
    both = "i32, i32"
    first = ("      %p = tt.splat %a : i32 -> tensor<64xi32>\n" + load("%p", name="q")
             + "      %next = arith.addi %a, %b : i32\n      %more = arith.addi %b, %next : i32\n")
    body = ("    %end:2 = scf.for %k = %c0 to %m step %c1 "
            f"iter_args(%a = %c0, %b = %c1) -> ({both}) : i32 {{\n"
            f"{first}      scf.yield %next, %more : {both}\n    }}\n")
    assert found(body) is None
    doubled = "      %st = tt.splat %s : i32 -> tensor<64xi32>\n" + load("%st") \
        + "      %next = arith.addi %s, %s : i32\n"
    assert found(loop(doubled, "%s", "%c1", "i32", "%next")) is None


def test_sums_that_wrap_are_unknown() -> None:
    """Seven rounds of a quarter of 32 bits."""
    body = ("      %high = arith.divsi %s, %part : i32\n      %st = tt.splat %high : i32 -> tensor<64xi32>\n"
            + load("%st") + "      %next = arith.addi %s, %step : i32\n")
    constants = ("    %part = arith.constant 16777216 : i32\n"
                 "    %step = arith.constant 1073741824 : i32\n")
    assert found(constants + loop(body, "%s", "%c0", "i32", "%next")) is None
    assert found(constants + loop(body, "%s", "%c0", "i32", "%next"), m=2) == (0, 65)


def test_a_mask_says_nothing_of_earlier_rounds() -> None:
    """What was added then was not what this round's mask compares."""
    body = ("      %kt = tt.splat %k : i32 -> tensor<64xi32>\n" + compare("slt", "%kt", "%one")
            + f"      %w = tt.load %q, %mask : {POINTERS}\n"
            + f"      %next = tt.addptr %q, %kt : {POINTERS}, tensor<64xi32>\n")
    one = "    %one = arith.constant dense<1> : tensor<64xi32>\n"
    assert found(one + loop(body, "%q", "%xt", POINTERS, "%next")) == (0, 6 * 6 + 1)


def test_rows_and_columns() -> None:
    """A mask of rows says nothing of the same numbers as columns."""
    body = """
    %r = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %c = tt.expand_dims %i {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %rb = tt.broadcast %r : tensor<64x1xi32> -> tensor<64x64xi32>
    %cb = tt.broadcast %c : tensor<1x64xi32> -> tensor<64x64xi32>
    %few = arith.constant dense<3> : tensor<64xi32>
    %m1 = arith.cmpi slt, %i, %few : tensor<64xi32>
    %m2 = tt.expand_dims %m1 {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>
    %mb = tt.broadcast %m2 : tensor<64x1xi1> -> tensor<64x64xi1>
    %all = arith.addi %OFFSET, %zero : tensor<64x64xi32>
    %x2 = tt.splat %x : !tt.ptr<f32> -> tensor<64x64x!tt.ptr<f32>>
    %p2 = tt.addptr %x2, %all : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    %w2 = tt.load %p2, %mb : tensor<64x64x!tt.ptr<f32>>
"""
    zero = "    %zero = arith.constant dense<0> : tensor<64x64xi32>\n"
    assert found(zero + body.replace("%OFFSET", "%rb")) == (0, 3)
    assert found(zero + body.replace("%OFFSET", "%cb")) == (0, 64)


def test_parts_of_allocations() -> None:
    body = compare("slt", "%at", "%nt") + load("%at", "%mask")
    nodes, accesses = reach(parse(f"{HEAD}{body}    tt.return\n}}\n"))
    one, start, size = Reach(nodes, accesses, [None, None, 100, 0], (2, 1, 1)), 1 << 20, 1 << 28
    assert one.part(0, start + 4096, (start, size), 128) == (start + 4096, 512)
    assert one.part(0, start + 4092, (start, size), 128) == (start + 3968, 640)
    assert one.part(0, start + size - 8, (start, size), 128) == (start + size - 128, 128)
    assert one.part(0, start, (start, 1000), 128) == (start, 1000)  # not worth it
    assert one.part(1, start + 512, (start, size), 128) == (start + 512, 128)
    assert Reach((), (), [None, 1], (1, 1, 1)).part(0, start, (start, size), 128) == (start, size)


def test_artifacts_say_it() -> None:
    made = triton_spirv.compile(_spread(), "opencl-gpu", num_warps=1)
    assert made.reach[1][0] and not made.reach[1][1] and made.reach[1][2] is None
    assert type(made).from_json(made.to_json()).reach == made.reach


@triton.jit
def growing(x_ptr, out_ptr, n, step, BLOCK: tl.constexpr, DOUBLED: tl.constexpr):
    """Sums of blocks whose places double with each round, or wrap around in 32 bits."""
    i = tl.arange(0, BLOCK)
    at = step
    total = tl.zeros([BLOCK], tl.float32)
    for _ in range(n):
        total += tl.load(x_ptr + (at if DOUBLED else at // 16777216) + i)
        at += at if DOUBLED else step
    tl.store(out_ptr + i, total)


@pytest.mark.parametrize(("doubled", "step"), ((True, 4), (False, 1 << 30)))
def test_copies_hold_what_loops_reach(run, doubled, step):
    x, out, at = numeric.whole(1000, "f32", 1), numeric.poisoned(32, "f32"), np.int32(step)
    run(growing, 1, numeric.tensor(x, "f32")[400:], out, 4, step, 32, doubled)
    expected = np.zeros(32, np.float32)
    for _ in range(4):
        first = 400 + int(at if doubled else np.trunc(at / 16777216))
        expected += x[first : first + 32]
        at = np.int64(at + at if doubled else int(at) + step).astype(np.int32)
    numeric.assert_same(out, expected)


def _spread() -> str:
    from ttgir import spread

    body = f"{load('%at')}    tt.store %p, %pv : {POINTERS}\n"
    return spread(f"module {{ {HEAD}{body}    tt.return\n}} }}", 16, 1)
