"""Indices whose sums wrap: of 8 and 16 bits, and of 32 where constants show it. Neighbours are neighbours in
memory up to there, and what is divided behind it may be negative."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton_spirv.facts.axis import axis_info
from triton_spirv.ir import parse


@triton.jit
def shifted(x_ptr, out_ptr, TYPE: tl.constexpr, BY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + (i.to(TYPE) + BY).to(tl.int32)))


@triton.jit
def lowered(x_ptr, out_ptr, TYPE: tl.constexpr, BY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + (i.to(TYPE) - BY).to(tl.int32)))


@triton.jit
def halved(x_ptr, out_ptr, TYPE: tl.constexpr, BY: tl.constexpr, BLOCK: tl.constexpr):
    """A quotient of numbers that are said to be none below zero before they wrap."""
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + ((i.to(tl.uint8).to(TYPE) + BY) // 8).to(tl.int32)))


@pytest.mark.parametrize("block", (64, 128, 256, 1024))
@pytest.mark.parametrize("function, name, by", [
    (shifted, "int8", 8), (shifted, "int8", 1), (shifted, "int8", 100), (shifted, "uint8", 8),
    (shifted, "int16", 32760), (lowered, "int8", 4), (lowered, "uint8", 4), (lowered, "int16", 32767),
    (halved, "int16", 32760), (halved, "int16", 32767),
])
def test_sums_wrap(run, function, name, by, block):
    x = torch.arange(2 * 40000, dtype=torch.int32)
    out = torch.zeros(block, dtype=torch.int32)
    run(function, 1, x[40000:], out, getattr(tl, name), by, block)
    index = np.arange(block).astype(np.uint8 if function is halved else name).astype(name)
    index = index - np.array(by, name) if function is lowered else index + np.array(by, name)
    wanted = np.trunc(index / 8).astype(np.int32) if function is halved else index.astype(np.int32)
    assert (out.numpy() - 40000 == wanted).all()


@triton.jit
def behind(x_ptr, out_ptr, WAY: tl.constexpr, BY: tl.constexpr, OVER: tl.constexpr, BLOCK: tl.constexpr):
    """A remainder or a quotient of a sum or product that may pass the largest number."""
    i = tl.arange(0, BLOCK)
    if WAY == "remainder":
        index = (i + BY) % OVER
    elif WAY == "quotient":
        index = (i + BY) // OVER % 512
    elif WAY == "hash":
        index = (i // 16 * BY + i % 16) % OVER
    elif WAY == "shift":
        index = ((i // 16 << 28) + i % 16) % OVER
    elif WAY == "program":
        index = ((tl.program_id(0) + 5) * BY + i) % OVER
    tl.store(out_ptr + i, tl.load(x_ptr + index + 600))


def index_behind(way, by, over, block):
    """The same in numpy: C's quotient and remainder of numbers of 32 bits."""
    i = np.arange(block, dtype=np.int32)
    with np.errstate(over="ignore"):
        made = {"remainder": i + np.int32(by),
                "quotient": np.trunc((i + np.int32(by)) / over).astype(np.int32),
                "hash": i // 16 * np.int32(by) + i % 16, "shift": (i // 16 << np.int32(28)) + i % 16,
                "program": np.int32(5) * np.int32(by) + i}[way]
    return np.fmod(made, 512 if way == "quotient" else over) + 600


@pytest.mark.parametrize("dtype", (torch.int16, torch.int32))
@pytest.mark.parametrize("way", ("remainder", "quotient", "hash", "shift", "program"))
def test_what_is_divided_may_have_wrapped(run, way, dtype):
    for by in (2147483500, 2147483520, 1103515248, 1 << 28, 2654432):
        for over in (48, 512, 40):
            x, out = (torch.arange(1400) * 7 % 251).to(dtype), torch.zeros(256, dtype=dtype)
            run(behind, 1, x, out, way, by, over, 256)
            assert (out.numpy() == x.numpy()[index_behind(way, by, over, 256)]).all(), (by, over)


@pytest.mark.parametrize("type, contiguity", [("i8", 8), ("i16", 8), ("i32", 256)])
def test_groups_end_where_numbers_may_wrap(type, contiguity):
    found = {value.name: fact for value, fact in axis_info(parse(f"""tt.func public @k(%n: i32) {{
        %r = tt.make_range {{end = 256 : i32, start = 0 : i32}} : tensor<256xi32>
        %i = {f"arith.trunci %r : tensor<256xi32> to tensor<256x{type}>" if type != "i32" else
              "arith.addi %r, %r : tensor<256xi32>"}
        %c = arith.constant dense<8> : tensor<256x{type}>
        %s = arith.addi {"%r" if type == "i32" else "%i"}, %c : tensor<256x{type}>
        tt.return
    }}""").entry).items()}
    assert found["s"].contiguity == (contiguity,)
    assert found["s"].nonnegative == (type == "i32")
