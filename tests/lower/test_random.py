"""tl.random: Philox 4x32-10 bit for bit (Salmon et al., SC 2011), and the floats made of it.

It is made of multiplications' upper halves, xors and wrapping sums, so one wrong bit anywhere shows in all
that follows.
"""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl

MASK = np.uint64(0xFFFFFFFF)


def philox(seed: int, offsets: np.ndarray, rounds: int = 10) -> np.ndarray:
    """[4, n] uint32: the counter is (low and high half of the offset, 0, 0), the key the seed."""
    counter = [offsets & MASK, offsets >> np.uint64(32), offsets * np.uint64(0), offsets * np.uint64(0)]
    return philox_counters(counter, seed, rounds)


def philox_counters(counter: list[np.ndarray], key: int, rounds: int = 10) -> np.ndarray:
    c0, c1, c2, c3 = (np.asarray(c, np.uint64) for c in counter)
    k0, k1 = np.uint64(key & 0xFFFFFFFF), np.uint64(key >> 32 & 0xFFFFFFFF)
    for _ in range(rounds):
        first, second = np.uint64(0xD2511F53) * c0, np.uint64(0xCD9E8D57) * c2
        c0, c1, c2, c3 = (
            second >> np.uint64(32) ^ c1 ^ k0,
            second & MASK,
            first >> np.uint64(32) ^ c3 ^ k1,
            first & MASK,
        )
        k0, k1 = k0 + np.uint64(0x9E3779B9) & MASK, k1 + np.uint64(0xBB67AE85) & MASK
    return np.stack([c0, c1, c2, c3]).astype(np.uint32)


def uniform(raw: np.ndarray) -> np.ndarray:
    """[0, 1) from 32 bits: the magnitude of a signed number, scaled so that the largest stays below one."""
    signed = raw.view(np.int32)
    return np.where(signed < 0, ~signed, signed).astype(np.float32) * np.float32(4.6566127342e-10)


KNOWN = [
    ((0, 0, 0, 0), 0, (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, 2**64 - 1, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), 0x299F31D0A4093822,
     (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1)),
]


@pytest.mark.parametrize("counter, key, expected", KNOWN)
def test_the_reference_itself(counter, key, expected):
    """Known answers published with the generator."""
    assert tuple(philox_counters([np.array([c]) for c in counter], key)[:, 0]) == expected


@triton.jit
def draw(out_ptr, seed, start, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offset = start + i
    if KIND == "randint4x":
        a, b, c, d = tl.randint4x(seed, offset)
        tl.store(out_ptr + i * 4, a)
        tl.store(out_ptr + i * 4 + 1, b)
        tl.store(out_ptr + i * 4 + 2, c)
        tl.store(out_ptr + i * 4 + 3, d)
    elif KIND == "randint":
        tl.store(out_ptr + i, tl.randint(seed, offset))
    elif KIND == "few_rounds":
        tl.store(out_ptr + i, tl.randint(seed, offset, n_rounds=3))
    elif KIND == "rand":
        tl.store(out_ptr + i, tl.rand(seed, offset))
    else:
        tl.store(out_ptr + i, tl.randn(seed, offset))


SEEDS = (0, 1, 42, 2**31 - 1, 2**32 + 5, 2**63 - 1)


@pytest.mark.parametrize("block", (1, 16, 512))
@pytest.mark.parametrize("seed", SEEDS)
def test_integers(run, seed, block):
    out = numeric.poisoned((3 * block, 4), "u32")
    run(draw, 3, out, seed, 5, "randint4x", block)
    numeric.assert_same(out, philox(seed, np.arange(5, 5 + 3 * block, dtype=np.uint64)).T)


@pytest.mark.parametrize("start", (0, 2**31 - 200, 2**33, 2**62))
def test_offsets_of_64_bits(run, start):
    """The upper half of a wide offset is the counter's second word."""
    out = numeric.poisoned(128, "u32")
    run(draw, 1, out, 7, start, "randint", 128)
    numeric.assert_same(out, philox(7, np.arange(start, start + 128, dtype=np.uint64))[0])


def test_number_of_rounds(run):
    out = numeric.poisoned(64, "u32")
    run(draw, 1, out, 9, 0, "few_rounds", 64)
    numeric.assert_same(out, philox(9, np.arange(64, dtype=np.uint64), 3)[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_uniform(run, seed):
    """A conversion and one product: exact."""
    out = numeric.poisoned(1024, "f32")
    run(draw, 4, out, seed, 0, "rand", 256)
    numeric.assert_same(out, uniform(philox(seed, np.arange(1024, dtype=np.uint64))[0]))
    assert out.min() >= 0 and out.max() < 1


@pytest.mark.parametrize("seed", SEEDS[:3])
def test_normal(run, seed):
    """Box and Muller's transform. log (3 ulp), sqrt, cos (4 ulp), products: 1e-5 of the radius, which is
    below 6."""
    out = numeric.poisoned(4096, "f32")
    run(draw, 16, out, seed, 0, "randn", 256)
    raw = philox(seed, np.arange(4096, dtype=np.uint64))
    u, v = (uniform(raw[i]).astype(np.float64) for i in (0, 1))
    expected = np.sqrt(-2 * np.log(np.maximum(u, 1e-7))) * np.cos(2 * np.pi * v)
    numeric.assert_close(out, expected, 1e-5, 1e-5)
    assert abs(float(out.mean())) < 0.1 and abs(float(out.std()) - 1) < 0.1
