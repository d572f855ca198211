"""Differences of 64-bit integers in words are the same numbers, of scalars and of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from environment.shaders import module, pointer
from triton_spirv.spirv import Int
from triton_spirv.target import LAVAPIPE
from triton_spirv.tools import spirv_tools

pytestmark = pytest.mark.vulkan
TARGET = LAVAPIPE.with_options(saturates=True)
SOME = np.array([0, 1, 2, (1 << 32) - 1, 1 << 32, (1 << 32) + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1],
                np.uint64)


@pytest.mark.parametrize("width", [1, 2, 4])
def test_differences_are_exact(launch: Any, width: int) -> None:
    each = 16  # of a lane
    size = TARGET.sub_group_size * each

    def body(b: Any, env: Any, values: list[Any]) -> None:
        first = b.imul(env.lane_id(), each)
        for i in range(0, each, width):
            place = b.iadd(first, i)
            loaded = [[env.load(env.offset(value, b.iadd(place, c)), 1) for c in range(width)]
                      for value in values[:2]]
            x, y = (b.construct(parts) if width > 1 else parts[0] for parts in loaded)
            for out, result in zip(values[2:], (b.isub(x, y), b.unary("OpSNegate", x)), strict=True):
                for c in range(width):
                    part = b.extract(result, c) if width > 1 else result
                    env.store(env.offset(out, b.iadd(place, c)), part)

    artifact = module([pointer(name, 64, Int) for name in ("x", "y", "d", "n")], body, TARGET)
    spirv_tools.validate(artifact.words, "vulkan1.2")
    text = spirv_tools.disassemble(artifact.words)
    assert "OpSNegate" not in text and "OpISub %ulong" not in text
    generator = np.random.default_rng(0)
    pairs = [np.resize(grid.reshape(-1), size) for grid in np.meshgrid(SOME, SOME)]
    x, y = (np.where(generator.random(size) < 0.7, pair, generator.integers(0, 1 << 64, size, np.uint64))
            for pair in pairs)
    given = [torch.from_numpy(values.view(np.int64)) for values in (x, y)]
    d, n = (torch.zeros(size, dtype=torch.int64) for _ in range(2))
    launch(artifact, 1, *given, d, n)
    np.testing.assert_array_equal(d.numpy().view(np.uint64), x - y)
    np.testing.assert_array_equal(n.numpy().view(np.uint64), np.uint64(0) - x)
