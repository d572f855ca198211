"""The worked example of docs/architecture.md: an operation is added by exactly the text that stands there,
one line of the table, one rule and one test, and every part of the compiler knows it."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from triton_spirv.facts.uniform import is_uniform
from triton_spirv.ir import dialects, parse
from triton_spirv.lower.registry import RULES
from triton_spirv.passes.fetch_ahead import fetch_ahead
from triton_spirv.passes.verify import read_back, verify

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
IMPORTS = """
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lower.one_operation import compute
from triton_spirv.ir.model import Operation
from triton_spirv.lower.context import Context
from triton_spirv.lower.values.numbers import in_f32
from triton_spirv.lower.registry import elementwise
from triton_spirv.lower.values.types import element_of
from triton_spirv.spirv.module import Value as Register
"""


def test_every_module_has_a_place_on_the_page() -> None:
    packages = PAGE.read_text(encoding="utf-8").partition("## Packages")[2].partition("\n## ")[0]
    folder = PAGE.parents[1] / "python" / "triton_spirv"
    modules = {path.name + "/" * path.is_dir() for path in folder.iterdir()
               if path.suffix == ".py" or (path / "__init__.py").exists()} - {"__init__.py", "__main__.py"}
    assert not {name for name in modules if name not in packages}


#: an operand of a product comes through the operation; so does a uniform value
LOOP = """
module {
  tt.func public @kernel(%p: tensor<16x16x!tt.ptr<f32>>, %q: tensor<16x16x!tt.ptr<f32>>, %n: i32, %x: f32) {
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %none = arith.constant dense<0.000000e+00> : tensor<16x16xf32>
    %xs = tt.splat %x : f32 -> tensor<16x16xf32>
    %flat = math.logistic %xs : tensor<16x16xf32>
    %sum = scf.for %k = %zero to %n step %one iter_args(%s = %none) -> (tensor<16x16xf32>) : i32 {
      %a = tt.load %p : tensor<16x16x!tt.ptr<f32>>
      %b = math.logistic %a : tensor<16x16xf32>
      %d = tt.dot %b, %flat, %s : tensor<16x16xf32> * tensor<16x16xf32> -> tensor<16x16xf32>
      scf.yield %d : tensor<16x16xf32>
    }
    tt.store %q, %sum : tensor<16x16x!tt.ptr<f32>>
    tt.return
  }
}
"""


def example(start: str) -> str:
    """The code block of the page that begins so."""
    blocks = re.findall(r"^ *```python\n(.*?)^ *```", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    return textwrap.dedent(next(block for block in blocks if textwrap.dedent(block).startswith(start)))


@pytest.fixture
def added() -> Iterator[None]:
    """math.logistic exists while a test runs."""
    scope: dict[str, object] = {"_op": dialects._op}
    exec(example('_op("math.logistic"'), scope)
    exec(IMPORTS + example('@elementwise("math.logistic"'), scope)
    yield
    del dialects.OPERATIONS["math.logistic"], RULES["math.logistic"]


def documented_test() -> Callable[..., None]:
    scope: dict[str, Any] = {}
    exec(IMPORTS + example("@pytest.mark.parametrize"), scope)
    test: Callable[..., None] = scope["test_logistic"]
    return test


BLOCKS = documented_test().pytestmark[0].args[1]  # type: ignore[attr-defined]


@pytest.mark.parametrize("block", BLOCKS)
def test_adding_an_operation(added: None, run_text: Any, block: int) -> None:
    documented_test()(run_text, block)


def test_every_part_knows_it(added: None) -> None:
    module = parse(LOOP)
    verify(module, "reading")
    read_back(module, "reading", True)
    flat, *_ = (op for op in module.walk() if op.name == "math.logistic")
    assert flat.is_pure and is_uniform(flat.results[0])
    fetch_ahead(module)
    verify(module, "pass fetch-ahead")
    (loop,) = (op for op in module.walk() if op.name == "scf.for")
    assert len(loop.init) == 2, "the operand of the next round travels beside the sum"
