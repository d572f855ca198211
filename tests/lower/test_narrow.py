"""f16 and narrow memory on a device that has neither (lower/values/float16.py,
environment/vulkan/memory.py): bits that f32 computes for, elements cut out of words. `pytest tests/lower
--spirv-modes narrow` runs everything there."""

from __future__ import annotations

import family
import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

SPIRV_MODES = (family.NARROW,)


@triton.jit
def converted(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty))


@triton.jit
def truncated(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(tl.float16, fp_downcast_rounding="rtz"))


@triton.jit
def computed(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, tl.where(x > y, x * y + x, -y))


@triton.jit
def scattered(out_ptr, STRIDE: tl.constexpr, COUNT: tl.constexpr):
    """Each program stores every STRIDE-th element: programs meet in words."""
    i = tl.program_id(0) + STRIDE * tl.arange(0, COUNT)
    tl.store(out_ptr + i, (i % 100).to(out_ptr.dtype.element_ty))


@triton.jit
def stored_together(out_ptr, N: tl.constexpr, EACH: tl.constexpr):
    """EACH lanes store a value of their own to one element."""
    i = tl.arange(0, N)
    tl.store(out_ptr + i // EACH, (i % EACH + 1).to(out_ptr.dtype.element_ty))


@pytest.mark.parametrize("dtype", ("i8", "u8", "i16", "f16"))
@pytest.mark.parametrize("each", (1, 2, 8, 64))
@pytest.mark.parametrize("warps", (1, 4))
def test_one_of_several_values_stays(run, warps, each, dtype):
    """Never some bits of each: 1 and 2 are not 3."""
    size = 128
    out = numeric.tensor(np.zeros(size // each + 1), dtype)
    run(stored_together, 1, out, size, each, num_warps=warps)
    found = numeric.array(out).astype(np.float32)
    assert np.isin(found[:-1], np.arange(1, each + 1)).all()
    assert found[-1] == 0


@triton.jit
def walked(x_ptr, out_ptr, count, scale: tl.float16):
    """A pointer that a loop moves, and a scalar argument of 16 bits."""
    total = 0.0
    for _ in range(count):
        total += tl.load(x_ptr).to(tl.float32)
        x_ptr += 1
    tl.store(out_ptr, total * scale.to(tl.float32))


def uses_nothing_narrow(compiled):
    line = next(line for line in compiled.asm["spvasm"].splitlines() if line.startswith("; Capability "))
    used = {name.strip() for name in line.removeprefix("; Capability ").split(",")}
    assert "PhysicalStorageBufferAddresses" in used and not used & family.HIDDEN


def test_every_number_is_read_exactly(run):
    x = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    out = numeric.poisoned(len(x), "f32")
    uses_nothing_narrow(run(converted, 64, numeric.tensor(x, "f16"), out, 1024))
    numeric.assert_same(out, x.astype(np.float32))


@pytest.mark.parametrize("rounding", ("rtne", "rtz"))
def test_numbers_are_rounded_once(run, rounding):
    """What lies on, and beside, all the numbers and the middles between them; beyond the largest, too."""
    halves = np.arange(0x7C01, dtype=np.uint16).view(np.float16).astype(np.float32)
    halves[-1] = 65536
    middles = (halves[1:] + halves[:-1]) / 2
    x = np.concatenate([halves, middles])
    x = np.concatenate([x, np.nextafter(x, np.float32(0)), np.nextafter(x, np.float32(np.inf)),
                        numeric.specials("f32"), numeric.random(4096, "f32", 0, low=-7e4, high=7e4)])
    x = np.concatenate([x, -x])
    x = np.resize(x, -(-len(x) // 1024) * 1024)
    out = numeric.poisoned(len(x), "f16")
    run(converted if rounding == "rtne" else truncated, len(x) // 1024, numeric.tensor(x, "f32"), out, 1024)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = x.astype(np.float16)
    if rounding == "rtz":
        beyond = np.abs(expected.astype(np.float32)) > np.abs(x)
        expected = np.where(beyond, np.nextafter(expected, np.float16(0)), expected)
    numeric.assert_same(out, expected)


def test_arithmetic_rounds_after_each_operation(run):
    x, y = numeric.pairs("f16", 4096)
    out = numeric.poisoned(len(x), "f16")
    run(computed, len(x) // 1024, numeric.tensor(x, "f16"), numeric.tensor(y, "f16"), out, 1024,
        enable_fp_fusion=False)
    with np.errstate(all="ignore"):
        numeric.assert_same(out, np.where(x > y, x * y + x, -y))


@pytest.mark.parametrize("dtype", ("i8", "i16", "f16", "bf16"))
def test_programs_store_to_one_word(run, dtype):
    """What nobody stores stays as it is."""
    out = numeric.tensor(np.full(8 * 1024, 77), dtype)
    uses_nothing_narrow(run(scattered, 7, out, 8, 1024))
    i = np.arange(8 * 1024)
    expected = np.where(i % 8 < 7, i % 100, 77).astype(np.float32)
    numeric.assert_same(numeric.array(out).astype(np.float32), expected)


def test_pointers_in_loops_and_scalar_arguments(run):
    x, out = numeric.tensor(np.arange(-50, 51), "i8"), numeric.poisoned(1, "f32")
    run(walked, 1, x[3:], out, 20, 1.5)
    numeric.assert_same(out, np.array([1.5 * np.arange(-47, -27).sum()], np.float32))
