"""tools/library_tests.py: a library's tests are counted by what became of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

TOOL = Path(__file__).parents[2] / "tools" / "library_tests.py"

LIBRARY = """
import triton, triton.language as tl

@triton.jit
def fill(out, ASSEMBLY: tl.constexpr):
    i = tl.arange(0, 4)
    if ASSEMBLY:
        i = tl.inline_asm_elementwise("shl.b32 $0, $1, 1;", "=r,r", [i], tl.int32, True, 1)
    tl.store(out + i, i)
"""
TESTS = """
import pytest, torch
from library import fill

@pytest.mark.parametrize("size", [4, 5, 6, 7])
def test_fill(size):
    out = torch.zeros(size, dtype=torch.int32, device="cuda")
    fill[(1,)](out, False)
    assert out.sum() == 6 and size != 6, "six"

def test_assembly():
    fill[(1,)](torch.zeros(4, dtype=torch.int32, device="cuda"), True)
"""


def test_counts(tmp_path: Path) -> None:
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "test_library.py").write_text(TESTS)
    (tmp_path / "test_broken.py").write_text("import no_such_module")
    command = [sys.executable, str(TOOL), str(tmp_path), "--every", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "test_library.py: 1 passed, 1 refused, 0 skipped, 1 failed" in done.stdout, done.stdout
    assert "six" in done.stdout and "is assembly of one kind of GPU" in done.stdout
    # a failure, not silence
    assert "no tests were found: ModuleNotFoundError: No module named 'no_such_module'" in done.stdout
    assert done.stdout.splitlines()[-1] == "1 passed, 1 refused, 0 skipped, 2 failed"
