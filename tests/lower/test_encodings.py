"""Operations under encodings that the stock passes seldom make: index bits dealt out at random, and mixed."""

from __future__ import annotations

import numpy as np
import pytest
from ttgir import launched, linear, module

SHAPE = (16, 32)
INDEX = """
    %range = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32, #one>
    %index = tt.reshape %range : tensor<512xi32, #one> -> tensor<16x32xi32, #own>"""
LOAD = INDEX + """
    %p = tt.splat %x : !tt.ptr<i32> -> tensor<16x32x!tt.ptr<i32>, #own>
    %ps = tt.addptr %p, %index : tensor<16x32x!tt.ptr<i32>, #own>, tensor<16x32xi32, #own>
    %v = tt.load %ps : tensor<16x32x!tt.ptr<i32>, #own>"""
STORE = """
    %q = tt.splat %o : !tt.ptr<i32> -> tensor<16x32x!tt.ptr<i32>, #own>
    %qs = tt.addptr %q, %index : tensor<16x32x!tt.ptr<i32>, #own>, tensor<16x32xi32, #own>
    tt.store %qs, %r : tensor<16x32x!tt.ptr<i32>, #own>"""
VALUES = np.random.default_rng(0).integers(0, 4, 512).astype(np.int32)

SIZES = [(8, 2), (16, 4), (32, 1), (16, 8)]  # lanes, warps
CASES = [(*sizes, seed, mixed) for seed, sizes in enumerate(SIZES) for mixed in (False, True)]


def run(body: str, out: np.ndarray, encoding: str, lanes: int, warps: int, aliases: str = "") -> str:
    """Run a body that reads %x and writes %o; the listing."""
    one = (f"#one = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [{lanes}], "
           f"warpsPerCTA = [{warps}], order = [0]}}>")
    aliases = f"{one}\n#own = {encoding}\n{aliases}"
    text = module(body, "%x: !tt.ptr<i32>, %o: !tt.ptr<i32>", aliases, warps, lanes)
    return launched(text, VALUES, out, lanes=lanes).listing


@pytest.mark.parametrize("lanes, warps, seed, mixed", CASES)
@pytest.mark.parametrize("axis", [0, 1])
def test_reduce(lanes: int, warps: int, seed: int, mixed: bool, axis: int) -> None:
    """Nothing is summed twice or left out, though a register may move along the axis and across it."""
    n = SHAPE[1 - axis]
    half = f"#ttg.slice<{{dim = {axis}, parent = #own}}>"
    out = np.zeros(n, np.int32)
    own = linear(SHAPE, lanes, warps, seed, mixed)
    run(LOAD + f"""
    %s = "tt.reduce"(%v) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.reduce.return %c : i32
    }}) : (tensor<16x32xi32, #own>) -> tensor<{n}xi32, {half}>
    %i = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32, {half}>
    %q = tt.splat %o : !tt.ptr<i32> -> tensor<{n}x!tt.ptr<i32>, {half}>
    %qs = tt.addptr %q, %i : tensor<{n}x!tt.ptr<i32>, {half}>, tensor<{n}xi32, {half}>
    tt.store %qs, %s : tensor<{n}x!tt.ptr<i32>, {half}>""", out, own, lanes, warps)
    np.testing.assert_array_equal(out, VALUES.reshape(SHAPE).sum(axis=axis))


def last_nonzero(values: np.ndarray, reverse: bool) -> np.ndarray:
    """Along the last axis: the last number up to here that is not 0."""
    found = values[..., ::-1].copy() if reverse else values.copy()
    for i in range(1, values.shape[-1]):
        found[..., i] = np.where(found[..., i] != 0, found[..., i], found[..., i - 1])
    return found[..., ::-1] if reverse else found


@pytest.mark.parametrize("lanes, warps, seed, mixed", CASES)
@pytest.mark.parametrize("axis, reverse", [(0, False), (1, False), (1, True)])
def test_scan(lanes: int, warps: int, seed: int, mixed: bool, axis: int, reverse: bool) -> None:
    """Through registers, lanes and warps in any order of bits; the combiner does not commute."""
    out = np.zeros(512, np.int32)
    run(LOAD + f"""
    %r = "tt.scan"(%v) <{{axis = {axis} : i32, reverse = {str(reverse).lower()}}}> ({{
    ^bb0(%a: i32, %b: i32):
      %zero = arith.constant 0 : i32
      %is = arith.cmpi ne, %b, %zero : i32
      %c = arith.select %is, %b, %a : i32
      tt.scan.return %c : i32
    }}) : (tensor<16x32xi32, #own>) -> tensor<16x32xi32, #own>""" + STORE,
        out, linear(SHAPE, lanes, warps, seed, mixed), lanes, warps)
    expected = np.swapaxes(last_nonzero(np.swapaxes(VALUES.reshape(SHAPE), axis, 1), reverse), axis, 1)
    np.testing.assert_array_equal(out.reshape(SHAPE), expected)


@pytest.mark.parametrize("lanes, warps, seed, mixed", CASES)
@pytest.mark.parametrize("vec, phases", [(1, 8), (2, 4), (4, 8)])
def test_swizzled_buffers(lanes: int, warps: int, seed: int, mixed: bool, vec: int, phases: int) -> None:
    """Neighbours that a swizzle turns round in some rows are not moved as one vector."""
    swizzle = f"vec = {vec}, perPhase = 1, maxPhase = {phases}, order = [1, 0]"
    shared = f"#shared = #ttg.swizzled_shared<{{{swizzle}}}>\n#smem = #ttg.shared_memory"
    memory = "!ttg.memdesc<16x32xi32, #shared, #smem>"
    rows = (f"#rows = #ttg.blocked<{{sizePerThread = [1, 4], threadsPerWarp = [{lanes // 8}, 8], "
            f"warpsPerCTA = [{warps}, 1], order = [1, 0]}}>")
    out = np.zeros(512, np.int32)
    run(LOAD.replace("#own", "#rows") + f"""
    %m = ttg.local_alloc %v : (tensor<16x32xi32, #rows>) -> {memory}
    %r = ttg.local_load %m : {memory} -> tensor<16x32xi32, #own>
    %s = ttg.local_load %m : {memory} -> tensor<16x32xi32, #rows>
    %d = ttg.convert_layout %s : tensor<16x32xi32, #rows> -> tensor<16x32xi32, #own>
    %e = arith.addi %r, %d : tensor<16x32xi32, #own>
    """ + INDEX.replace("%range", "%all").replace("%index", "%to")
        + STORE.replace("%index", "%to").replace("%r ", "%e "),
        out, linear(SHAPE, lanes, warps, seed, mixed), lanes, warps, f"{rows}\n{shared}")
    np.testing.assert_array_equal(out, 2 * VALUES)


TWICE = "#ttg.linear<{{register = [[4], [3]], lane = {lane}, warp = [[4], [0]], block = []}}>"


def test_elements_that_several_places_hold_are_counted_once() -> None:
    """Registers, lanes and warps overlap here: an atomic acts once for each element, a histogram counts it
    once."""
    encoding = TWICE.format(lane="[[1], [2], [3], [0]]")
    out = np.zeros(8, np.int32)
    body = """
    %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #own>
    %q = tt.splat %o : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>, #own>
    %qs = tt.addptr %q, %i : tensor<8x!tt.ptr<i32>, #own>, tensor<8xi32, #own>
    %h = tt.histogram %i : tensor<8xi32, #own> -> tensor<8xi32, #own>
    %old = tt.atomic_rmw add, acq_rel, gpu, %qs, %h : (tensor<8x!tt.ptr<i32>, #own>, tensor<8xi32, #own>)
      -> tensor<8xi32, #own>"""
    run(body, out, encoding, 16, 4)
    np.testing.assert_array_equal(out, np.ones(8, np.int32))


def test_in_place_where_warps_hold_the_same() -> None:
    """Every warp holds every element, in registers of another order: one of them may not store what another
    has not loaded yet."""
    own = ("#ttg.linear<{register = [[0, 16], [1, 0], [2, 0], [4, 0], [8, 0]], "
           "lane = [[0, 1], [0, 2], [0, 4], [0, 8]], warp = [[1, 0], [2, 16]], block = []}>")
    out = VALUES.copy()
    listing = run(LOAD.replace("%x", "%o") + """
    %one = arith.constant dense<1> : tensor<16x32xi32, #own>
    %r = arith.addi %v, %one : tensor<16x32xi32, #own>
    tt.store %ps, %r : tensor<16x32x!tt.ptr<i32>, #own>""", out, own, 16, 4)
    np.testing.assert_array_equal(out, VALUES + 1)
    assert listing.count("OpControlBarrier") == 1
