"""Whether floats equal themselves, asked of their bits, is the same answer: of scalars and of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from environment.shaders import module, pointer
from triton_spirv.spirv import Float, Int
from triton_spirv.spirv.builder import width_of, with_width
from triton_spirv.target import LAVAPIPE
from triton_spirv.tools import spirv_tools

pytestmark = pytest.mark.vulkan
TARGET = LAVAPIPE.with_options(equals_itself=True)


@pytest.mark.parametrize("width", [1, 2, 4])
@pytest.mark.parametrize("bits", [32, 64])
def test_answers(launch: Any, bits: int, width: int) -> None:
    size = TARGET.sub_group_size * 4

    def body(b: Any, env: Any, values: list[Any]) -> None:
        first = b.imul(env.lane_id(), 4)
        for i in range(0, 4, width):
            places = [b.iadd(first, i + c) for c in range(width)]
            parts = [env.load(env.offset(values[0], place), 1) for place in places]
            x = b.construct(parts) if width > 1 else parts[0]
            answers = [b.compare(name, x, x) for name in ("OpFOrdEqual", "OpFUnordNotEqual")]
            for out, truth in zip(values[1:], answers, strict=True):
                kind = with_width(Int(32), width_of(x.type))
                number = b.select(truth, b.constant(kind, 1), b.constant(kind, 0))
                for c, place in enumerate(places):
                    env.store(env.offset(out, place), b.extract(number, c) if width > 1 else number)

    parameters = [pointer("x", bits, Float), *(pointer(name, 32, Int) for name in ("same", "other"))]
    artifact = module(parameters, body, TARGET)
    spirv_tools.validate(artifact.words, "vulkan1.2")
    text = spirv_tools.disassemble(artifact.words)
    assert "OpFOrdEqual" not in text and "OpFUnordNotEqual" not in text
    dtype = np.dtype(f"f{bits // 8}")
    some = np.array([0, -0.0, 1, np.inf, -np.inf, np.nan, -np.nan, np.finfo(dtype).max,
                     np.finfo(dtype).smallest_subnormal], dtype)
    x = np.resize(some, size)
    signalling = (1 << bits) - (1 << np.finfo(dtype).nmant) + 1
    x[-1] = np.array([signalling], f"u{bits // 8}").view(dtype)[0]
    same, other = (torch.zeros(size, dtype=torch.int32) for _ in range(2))
    launch(artifact, 1, torch.from_numpy(x), same, other)
    np.testing.assert_array_equal(same.numpy(), x == x)
    np.testing.assert_array_equal(other.numpy(), x != x)
