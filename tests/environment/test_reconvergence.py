"""Lanes that parted at a branch are together behind it: asked for where a device has that."""

from __future__ import annotations

from typing import Any

import pytest
from environment.shaders import module, pointer
from triton_spirv.target import LAVAPIPE
from triton_spirv.tools import spirv_tools


@pytest.mark.parametrize("mode", ("MaximallyReconvergesKHR", "SubgroupUniformControlFlowKHR", ""))
def test_execution_mode(mode: str) -> None:
    def body(b: Any, env: Any, values: list[Any]) -> None:
        env.store(values[0], env.shuffle_xor(env.load(values[0], 1), 1))

    made = module([pointer("x", 32)], body, LAVAPIPE.with_options(reconvergence=mode))
    spirv_tools.validate(made.words, "vulkan1.2")
    text = spirv_tools.disassemble(made.words)
    assert ("Reconverges" in text or "UniformControlFlow" in text) == bool(mode)
    assert not mode or mode in text
