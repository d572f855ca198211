"""Random graphs of torch operations: compiled, they give what eager mode gives; and what is wrong is seen."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
from seed import SEED

torch = pytest.importorskip("torch")
TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TOOLS))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("more", ([], ["--maxima"]))
def test_some(more: list[str]) -> None:
    command = [sys.executable, str(TOOLS / "inductor_graphs.py"), "--from", str(SEED), "--count", "6", *more]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "passed" in done.stdout.splitlines()[-1], done.stdout


def test_a_number_is_one_graph(tools: None) -> None:
    from random_graphs import Graph
    from random_maxima import Maximum
    for kind, number in product((Graph, Maximum), range(8)):
        first, second = kind(number), kind(number)
        assert first.source() == second.source()
        assert all(torch.equal(one, other) for one, other in zip(first.inputs, second.inputs, strict=True))


def test_other_values_are_wrong(tools: None) -> None:
    """Further from float64 than eager mode's, another type, an integer or a NaN."""
    from inductor_graphs import CLOSE, difference
    x = torch.linspace(1, 2, 100)

    def said(found: torch.Tensor, expected: torch.Tensor) -> str:
        return difference([found], [expected], lambda: [expected.to(torch.float64)], CLOSE)

    assert not said(x + 1e-5, x)
    assert "result 0 is 0.05 off" in said(x + 0.1, x)
    assert said(x.to(torch.float64), x).startswith("result 0: torch.float64 (100,), not torch.float32")
    one, nan = torch.tensor([1, 2, 4]), torch.tensor([1.0, float("nan")])
    assert said(one, torch.tensor([1, 2, 3])) and said(nan, torch.ones(2)) and not said(nan, nan)
    rounded = x.to(torch.float16).to(torch.float32)  # eager mode is as far off: a sum that cancels
    assert not difference([x], [rounded], lambda: [x.to(torch.float64)], 0)


def test_strides_are_copied(tools: None) -> None:
    from inductor_graphs import copied
    part = torch.arange(24).reshape(4, 6)[1:, ::2]
    copy = copied(part)
    assert copy.stride() == (6, 2) and torch.equal(copy, part) and copy.data_ptr() != part.data_ptr()
