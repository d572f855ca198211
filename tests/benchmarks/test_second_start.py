"""benchmarks/second_start.py: the second start of the matmul tutorial compiles nothing."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_second_start_of_the_matmul_tutorial(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import second_start

    result = second_start.measure([str(ROOT / "tutorials" / "03-matrix-multiplication.py"), "--quick"])
    first, second = result["first"], result["second"]
    assert result["kernels"] >= 1 and first["built"]
    assert second["compiled"] == second["built"] == []
    assert len(second["cached"]) == result["kernels"]
    assert len(second["loaded"]) == len(first["built"])  # two specialisations may have the same words
    assert result["saved_ms_per_kernel"] > 0
    sys.modules.pop("second_start")
