"""tools/library_tests.py: a library's tests are counted by what became of them."""

from __future__ import annotations

import json
import runpy
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

def test_that_does_not_end():
    while True:
        pass

def test_without_kernels():
    assert not torch.cuda.is_available()

def test_assembly():
    fill[(1,)](torch.zeros(4, dtype=torch.int32, device="cuda"), True)
"""


def counts(tmp_path: Path, *options: str) -> str:
    """What the tool prints for the library above."""
    (tmp_path / "library.py").write_text(LIBRARY)
    (tmp_path / "test_library.py").write_text(TESTS)
    (tmp_path / "test_broken.py").write_text("import no_such_module")
    command = [sys.executable, str(TOOL), str(tmp_path), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.timeout(900)  # two processes that import torch
def test_counts(tmp_path: Path) -> None:
    verdicts = tmp_path / "verdicts"
    printed = counts(tmp_path, "--verdicts", str(verdicts), "--seconds", "3")
    line = "test_library.py: 4 passed (1 of them launched no kernel), 1 refused, 0 skipped, 2 failed"
    assert line in printed, printed
    assert "six" in printed and "is assembly of one kind of GPU" in printed
    assert "no end in 3 s" in printed  # the tests behind it ran, in another process
    # a failure, not silence
    assert "No module named 'no_such_module'" in printed
    assert printed.splitlines()[-1].endswith("1 refused, 0 skipped, 3 failed")
    # what has a verdict is not tried again
    finished = [line for line in map(json.loads, verdicts.read_text().splitlines())
                if line["outcome"] not in ("began", "collected") and "::" in line["test"]]
    assert len(finished) == len({line["test"] for line in finished}) == 7


def test_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same ones each time, others for another file, and all where there are few."""
    monkeypatch.setenv("LIBRARY_MOST", "3")
    monkeypatch.syspath_prepend(str(TOOL.parent))
    drawn = runpy.run_path(str(TOOL.with_name("library_plugin.py")))["drawn"]
    assert drawn("a", 1000) == drawn("a", 1000) != drawn("b", 1000)
    assert len(set(drawn("a", 1000))) == 3
    assert drawn("a", 3) == [0, 1, 2]


def test_files_of_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a library has no tests, the table names a file of tools/adapters."""
    placed = runpy.run_path(str(TOOL))["placed"]
    assert placed("tests/test_sglang.py") == "tests/test_sglang.py"
    assert placed("test_sglang.py") == str(TOOL.parent / "adapters" / "test_sglang.py")


def test_the_pages_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are what the command makes of the two files of data."""
    monkeypatch.syspath_prepend(str(TOOL.parent))
    pages = runpy.run_path(str(TOOL.with_name("library_pages.py")))["pages"]
    for page, text in pages().items():
        assert page.read_text() == text, "python tools/library_pages.py"
