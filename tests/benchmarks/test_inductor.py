"""benchmarks/inductor.py: a model is measured with both backends; what is printed follows from the times."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton_spirv_inductor")

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.takes_turns(2, 1)
def test_one_model(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    command = [sys.executable, str(BENCHMARKS / "inductor.py"), "--only", "sum_over_columns", "--threads",
               "1", "--processor", "--seconds", "0.2", "--json", str(file), "--markdown"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    assert "| sum over columns |" in done.stdout and "1 models; geometric mean" in done.stdout, done.stdout
    (result,) = json.loads(file.read_text())["results"]
    assert result["times"]["ours"]["count"] >= 5 and result["first"]["ours"] > 0


def test_the_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import inductor

    times = {"median": 1.0, "low": 1.0, "high": 1.0}
    results = [{"model": name, "times": {"ours": times, "C++": times | {"median": ratio}},
                "first": {"ours": 1.0, "C++": 2.0}} for name, ratio in (("fast", 4.0), ("slow", 0.25))]
    text = inductor.summary(results)
    assert text == ("2 models; geometric mean of the ratios 1.00, of the first calls' 2.00; "
                    "below 0.8: slow 0.25")
    sys.modules.pop("inductor")
