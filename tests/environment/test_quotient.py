"""Division of 64-bit integers by way of f64 is exact, for every size of dividend and divisor."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import torch
from environment.shaders import module, pointer
from triton_spirv.spirv import Int
from triton_spirv.target import LAVAPIPE
from triton_spirv.tools import spirv_tools

pytestmark = pytest.mark.vulkan
TARGET = LAVAPIPE.with_options(joins_quotients=True)
PER_LANE = 300


def numbers(signed: bool) -> tuple[list[int], list[int]]:
    """Dividends and divisors of all sizes, around powers of two, and next to multiples."""
    generator = random.Random(5)
    bits = 63 if signed else 64

    def one() -> int:
        size = generator.randrange(1, bits + 1)
        near = (1 << size) - 1 - generator.choice((0, 1, 2, generator.getrandbits(size)))
        return max(1, near)

    pairs = []
    while len(pairs) < TARGET.sub_group_size * PER_LANE:
        x, y = one(), one()
        if generator.random() < 0.5:  # next to a multiple of the divisor
            x = min((1 << bits) - 1, max(0, x // y * y + generator.choice((-1, 0, 1))))
        if signed:
            x, y = x * generator.choice((-1, 1)), y * generator.choice((-1, 1))
        pairs.append((x, y))
    if signed:
        pairs[:3] = [(-1 << 63, 1), (-1 << 63, 3), (-1 << 63, (1 << 63) - 1)]
    return [x for x, _ in pairs], [y for _, y in pairs]


@pytest.mark.parametrize("signed", [True, False], ids=["i64", "u64"])
def test_quotients_and_remainders_are_exact(launch: Any, signed: bool) -> None:
    division, rest = ("OpSDiv", "OpSRem") if signed else ("OpUDiv", "OpUMod")

    def body(b: Any, env: Any, values: list[Any]) -> None:
        first = b.imul(env.lane_id(), PER_LANE)
        for i in range(PER_LANE):
            place = b.iadd(first, i)
            x, y = (env.load(env.offset(value, place), 1) for value in values[:2])
            env.store(env.offset(values[2], place), env.integer(division, x, y))
            env.store(env.offset(values[3], place), env.integer(rest, x, y))

    artifact = module([pointer(name, 64, Int) for name in ("x", "y", "q", "r")], body, TARGET)
    spirv_tools.validate(artifact.words, "vulkan1.2")
    assert f"{division} " not in spirv_tools.disassemble(artifact.words)
    xs, ys = numbers(signed)
    kind = np.int64 if signed else np.uint64
    x, y = (torch.from_numpy(np.array(each, kind).view(np.int64)) for each in (xs, ys))
    q, r = torch.zeros_like(x), torch.zeros_like(x)
    launch(artifact, 1, x, y, q, r)
    for i, (n, d) in enumerate(zip(xs, ys, strict=True)):
        quotient = abs(n) // abs(d) * (-1 if (n < 0) != (d < 0) else 1)
        found = (int(q.numpy().view(kind)[i]), int(r.numpy().view(kind)[i]))
        assert found == (quotient, n - quotient * d), (n, d)
