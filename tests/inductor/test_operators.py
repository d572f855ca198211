"""A sample of torch's own database of operators: compiled, they give what eager mode gives."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton_spirv_inductor")
pytest.importorskip("expecttest", reason="expecttest is not installed, which torch's database imports")

TOOL = Path(__file__).parent.parent.parent / "tools" / "inductor_operators.py"

#: one or two of each kind of kernel: pointwise, reductions, scans, gathers, sorts, pads, norms
SAMPLE = ("add", "clamp", "cumsum", "gather", "index_add", "logsumexp", "nn.functional.layer_norm",
          "nn.functional.pad", "prod", "roll", "softmax", "std", "topk", "tril", "where")


@pytest.mark.timeout(600)
def test_a_sample(tmp_path: Path) -> None:
    command = [sys.executable, str(TOOL), "--only", ",".join(SAMPLE), "--samples", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    counts = dict(part.rsplit(" ", 1) for part in done.stdout.splitlines()[-1].partition(";")[0].split(", "))
    assert not counts.keys() & {"wrong", "failed", "crashed", "timeout"}, done.stdout
    assert int(counts["passed"]) >= len(SAMPLE) - 1, done.stdout  # and few are torch's own kernels
