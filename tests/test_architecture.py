"""The worked example of docs/architecture.md: an operation is added by exactly the text that stands there."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import triton_spirv
from triton_spirv.ir import dialects
from triton_spirv.lower.registry import RULES
from triton_spirv.runtime import devices, launch, program

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
IMPORTS = """
from triton_spirv.ir.model import Operation
from triton_spirv.lower.context import Context
from triton_spirv.lower.values.numbers import in_f32
from triton_spirv.lower.registry import elementwise
from triton_spirv.lower.values.types import element_of
from triton_spirv.spirv.module import Value as Register
"""
KERNEL = """
module {{
  tt.func public @logistic(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {{
    %i = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>
    %x0 = tt.splat %x : !tt.ptr<f32> -> tensor<{n}x!tt.ptr<f32>>
    %x1 = tt.addptr %x0, %i : tensor<{n}x!tt.ptr<f32>>, tensor<{n}xi32>
    %v = tt.load %x1 : tensor<{n}x!tt.ptr<f32>>
    %w = math.logistic %v : tensor<{n}xf32>
    %y0 = tt.splat %y : !tt.ptr<f32> -> tensor<{n}x!tt.ptr<f32>>
    %y1 = tt.addptr %y0, %i : tensor<{n}x!tt.ptr<f32>>, tensor<{n}xi32>
    tt.store %y1, %w : tensor<{n}x!tt.ptr<f32>>
    tt.return
  }}
}}
"""


def example(start: str) -> str:
    """The code block of the page that begins so."""
    blocks = re.findall(r"^ *```python\n(.*?)^ *```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    return textwrap.dedent(next(block for block in blocks if block.strip().startswith(start)))


@pytest.fixture
def added() -> Iterator[None]:
    """math.logistic exists while a test runs."""
    scope: dict[str, object] = {"_op": dialects._op}
    exec(example('_op("math.logistic"'), scope)
    exec("from __future__ import annotations\n" + IMPORTS + example('@elementwise("math.logistic"'), scope)
    yield
    del dialects.OPERATIONS["math.logistic"], RULES["math.logistic"]


@pytest.mark.parametrize("count", [4, 64, 4096])
def test_adding_an_operation(added: None, count: int) -> None:
    if not devices.devices():
        pytest.skip("no OpenCL device")
    artifact = triton_spirv.compile(KERNEL.format(n=count))
    x = np.linspace(-20, 20, count, dtype=np.float32)
    x[:3] = math.inf, -math.inf, math.nan
    y = np.zeros_like(x)
    context = devices.open_device(devices.choose("cpu"))
    kernel = launch.Kernel(context, program.build(context, artifact.words, artifact.entry), artifact)
    kernel.launch(1, 1, 1, [triton_spirv.asarray(x), triton_spirv.asarray(y)])
    # exp to 3 ulp, an addition and a division to half of one and 2.5
    np.testing.assert_allclose(y, 1 / (1 + np.exp(-x.astype(np.float64))), rtol=8 * 2.0 ** -24)
