"""Buffers in shared memory that a program names, their views, and the barriers between their accesses."""

from __future__ import annotations

import numpy as np
import pytest
from ttgir import launched, module

ALIASES = """
#one = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [4], order = [0]}>
#row = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#col = #ttg.blocked<{sizePerThread = [4, 1], threadsPerWarp = [8, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#smem = #ttg.shared_memory
"""
LAYOUTS = {
    "swizzled": "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [1, 0]}>",
    "columns": "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0, 1]}>",
    "padded": "#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [16, 32]}>",
}


def offsets(name: str, shape: str, layout: str) -> str:
    """%name: the row-major index of each element."""
    rows, columns = map(int, shape.split("x"))
    size = rows * columns
    return f"""
    %{name}_all = tt.make_range {{end = {size} : i32, start = 0 : i32}} : tensor<{size}xi32, #one>
    %{name} = tt.reshape %{name}_all : tensor<{size}xi32, #one> -> tensor<{shape}xi32, {layout}>"""


def load(result: str, pointer: str, index: str, shape: str, layout: str) -> str:
    pointers = f"tensor<{shape}x!tt.ptr<f32>, {layout}>"
    return f"""
    {result}_p = tt.splat {pointer} : !tt.ptr<f32> -> {pointers}
    {result}_i = tt.addptr {result}_p, {index} : {pointers}, tensor<{shape}xi32, {layout}>
    {result} = tt.load {result}_i : {pointers}"""


def store(value: str, pointer: str, index: str, shape: str, layout: str) -> str:
    pointers = f"tensor<{shape}x!tt.ptr<f32>, {layout}>"
    return f"""
    {value}_p = tt.splat {pointer} : !tt.ptr<f32> -> {pointers}
    {value}_i = tt.addptr {value}_p, {index} : {pointers}, tensor<{shape}xi32, {layout}>
    tt.store {value}_i, {value} : {pointers}"""


VALUES = np.arange(512, dtype=np.float32)
MEM = "!ttg.memdesc<16x32xf32, #shared, #smem"


def run(body: str, out_shape: tuple[int, ...], shared: str = "swizzled", extra: tuple[str, ...] = (),
        **options: int) -> tuple[np.ndarray, str]:
    """Run a body that reads %x and writes %o; what it wrote, and the listing."""
    parameters = ", ".join(["%x: !tt.ptr<f32>", "%o: !tt.ptr<f32>", *extra])
    out = np.full(out_shape, -1, dtype=np.float32)
    artifact = launched(module(body, parameters, f"{ALIASES}#shared = {LAYOUTS[shared]}"), VALUES, out,
                        *(3 for _ in extra), **options)
    return out, artifact.listing


COPY = (offsets("from", "16x32", "#row") + load("%v", "%x", "%from", "16x32", "#row"))


@pytest.mark.parametrize("shared", LAYOUTS)
def test_alloc_and_load(shared: str) -> None:
    out, listing = run(COPY + f"""
    %m = ttg.local_alloc %v : (tensor<16x32xf32, #row>) -> {MEM}>
    %w = ttg.local_load %m : {MEM}> -> tensor<16x32xf32, #col>
    """ + offsets("to", "16x32", "#col") + store("%w", "%o", "%to", "16x32", "#col"), (512,), shared)
    np.testing.assert_array_equal(out, VALUES)
    assert listing.count("OpControlBarrier") == 1


@pytest.mark.parametrize("shared", LAYOUTS)
def test_trans(shared: str) -> None:
    turned = "#ttg.swizzled_shared<{vec = 4, perPhase = 1, maxPhase = 4, order = [0, 1]}>"
    view = f"!ttg.memdesc<32x16xf32, {turned}, #smem>"
    out, _ = run(COPY + f"""
    %m = ttg.local_alloc %v : (tensor<16x32xf32, #row>) -> {MEM}>
    %t = ttg.memdesc_trans %m {{order = array<i32: 1, 0>}} : {MEM}> -> {view}
    %w = ttg.local_load %t : {view} -> tensor<32x16xf32, #row>
    """ + offsets("to", "32x16", "#row") + store("%w", "%o", "%to", "32x16", "#row"), (32, 16), shared)
    np.testing.assert_array_equal(out, VALUES.reshape(16, 32).T)


@pytest.mark.parametrize("shared", LAYOUTS)
def test_subslice(shared: str) -> None:
    view = "!ttg.memdesc<16x16xf32, #shared, #smem, 16x32>"
    out, _ = run(COPY + f"""
    %m = ttg.local_alloc %v : (tensor<16x32xf32, #row>) -> {MEM}>
    %t = ttg.memdesc_subslice %m [0, 16] : {MEM}> -> {view}
    %w = ttg.local_load %t : {view} -> tensor<16x16xf32, #row>
    """ + offsets("to", "16x16", "#row") + store("%w", "%o", "%to", "16x16", "#row"), (16, 16), shared)
    np.testing.assert_array_equal(out, VALUES.reshape(16, 32)[:, 16:])


def test_several_copies_indexed_at_run_time() -> None:
    many, one = "!ttg.memdesc<4x16x32xf32, #shared, #smem, mutable>", f"{MEM}, mutable>"
    out, _ = run(COPY + f"""
    %m = ttg.local_alloc : () -> {many}
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    scf.for %i = %c0 to %c4 step %c1 : i32 {{
      %b = ttg.memdesc_index %m[%i] : {many} -> {one}
      %f = arith.sitofp %i : i32 to f32
      %s = tt.splat %f : f32 -> tensor<16x32xf32, #row>
      %sum = arith.addf %v, %s : tensor<16x32xf32, #row>
      ttg.local_store %sum, %b : tensor<16x32xf32, #row> -> {one}
    }}
    %b = ttg.memdesc_index %m[%which] : {many} -> {one}
    %w = ttg.local_load %b : {one} -> tensor<16x32xf32, #col>
    ttg.local_dealloc %m : {many}
    """ + offsets("to", "16x32", "#col") + store("%w", "%o", "%to", "16x32", "#col"), (512,),
                 extra=("%which: i32",))
    np.testing.assert_array_equal(out, VALUES + 3)


def rotated(times: int) -> str:
    """The buffer is read and overwritten `times` times; each time lanes read what others wrote."""
    one = f"{MEM}, mutable>"
    return COPY + f"""
    %m = ttg.local_alloc %v : (tensor<16x32xf32, #row>) -> {one}
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %n = arith.constant {times} : i32
    scf.for %i = %c0 to %n step %c1 : i32 {{
      %a = ttg.local_load %m : {one} -> tensor<16x32xf32, #col>
      %two = arith.constant dense<2.0> : tensor<16x32xf32, #col>
      %b = arith.addf %a, %two : tensor<16x32xf32, #col>
      ttg.local_store %b, %m : tensor<16x32xf32, #col> -> {one}
      %c = ttg.local_load %m : {one} -> tensor<16x32xf32, #row>
      ttg.local_store %c, %m : tensor<16x32xf32, #row> -> {one}
    }}
    %w = ttg.local_load %m : {one} -> tensor<16x32xf32, #row>
    """ + store("%w", "%o", "%from", "16x32", "#row")


def test_barriers_of_a_loop() -> None:
    """Each of the four accesses in the loop meets the one before it, the first one the last of the round
    before."""
    out, listing = run(rotated(5), (512,))
    np.testing.assert_array_equal(out, VALUES + 10)
    body = listing[listing.index("OpLoopMerge"):]
    assert listing.count("OpControlBarrier") == body.count("OpControlBarrier") == 5, "one is after the loop"


def test_buffers_that_do_not_live_at_once_share_memory() -> None:
    def through(name: str, before: str) -> str:
        return f"""
    %{name}_m = ttg.local_alloc {before} : (tensor<16x32xf32, #row>) -> {MEM}>
    %{name} = ttg.local_load %{name}_m : {MEM}> -> tensor<16x32xf32, #row>"""
    out, _ = run(COPY + through("a", "%v") + through("b", "%a") + through("c", "%b")
                 + store("%c", "%o", "%from", "16x32", "#row"), (512,), shared_bytes=2048)
    np.testing.assert_array_equal(out, VALUES)


def test_too_much_lies_in_global_memory() -> None:
    """With as many barriers, which order that too."""
    out, listing = run(rotated(5), (512,), shared_bytes=1024)
    np.testing.assert_array_equal(out, VALUES + 10)
    barriers = [line for line in listing.splitlines() if "OpControlBarrier" in line]
    assert len(barriers) == 5 and all("CrossWorkgroupMemory" in line for line in barriers)
    assert "Workgroup, i8" not in listing.replace("CrossWorkgroup", "")
