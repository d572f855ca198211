"""tools/upstream_tests.py on a small tree of its own: what it redirects, skips, counts and reports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")
pytest.importorskip("torch")

TOOL = Path(__file__).parents[2] / "tools" / "upstream_tests.py"
CONFTEST = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--device", default="cuda")

@pytest.fixture
def device(request):
    return request.config.getoption("--device")
"""
TESTS = """
import pytest, torch, triton, triton.language as tl

@triton.jit
def fill(out_ptr):
    tl.store(out_ptr + tl.arange(0, 16), 7)

@pytest.mark.parametrize("number", range(4))
def test_filled(device, number):
    out = torch.zeros(16, dtype=torch.int32, device="cuda").to("cuda").cuda()
    fill[(1,)](out)
    torch.cuda.synchronize()
    assert (out.to(device) == 7).all(), "nothing was stored"

def test_compares_nothing(device):
    fill[(1,)](torch.zeros(16, dtype=torch.int32, device=device))

def test_assume():
    raise AssertionError("never run")

def test_of_other_hardware():
    pytest.skip("needs a unit of its own")
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source tree with one file of tests, and a package that must not be found."""
    unit = tmp_path / "source" / "python" / "test" / "unit" / "language"
    unit.mkdir(parents=True)
    (unit / "test_core.py").write_text(TESTS)
    (tmp_path / "source" / "pytest.ini").write_text("[pytest]\nmarkers =\n    interpreter: x\n")
    (tmp_path / "source" / "python" / "conftest.py").write_text(CONFTEST)
    (tmp_path / "source" / "python" / "triton").mkdir()
    (tmp_path / "source" / "python" / "triton" / "__init__.py").write_text("raise ImportError('wrong')")
    return tmp_path / "source"


def counted(tree: Path, *options: str) -> tuple[int, str]:
    out = str(tree.parent / "out")
    command = [sys.executable, str(TOOL), str(tree), "language/test_core.py", "--out", out]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=240)
    return done.returncode, done.stdout + done.stderr


def test_counts_and_costs(tree: Path) -> None:
    status, said = counted(tree)
    assert status == 0 and "language/test_core.py: 5 passed, 0 failed, 2 skipped" in said, said
    for part in ("front end", "passes", "emitter", "driver's build", "launches", "all"):
        assert f"{part} " in said, said


def test_floor(tree: Path) -> None:
    """Without launches only what compares nothing passes, and failures are named."""
    status, said = counted(tree, "--nothing")
    assert status == 1 and "1 passed, 4 failed, 2 skipped" in said, said
    assert "FAILED test_filled[3]: AssertionError: nothing was stored" in said


def test_samples_of_a_revision(tree: Path) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.invalid", "-C", str(tree)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "tests"]):
        subprocess.run([*git, *command], check=True)
    status, said = counted(tree, "--revision", "HEAD", "--every", "3")
    assert status == 0 and "2 passed, 0 failed, 1 skipped" in said, said


BEYOND = """
@pytest.mark.parametrize("size", range(12, 17))
def test_beyond(device, size):
    fill[(1,)](torch.zeros(size, dtype=torch.int32, device=device))
"""


def test_what_checks_find(tree: Path) -> None:
    """It fails no test, and is counted by its place."""
    file = tree / "python" / "test" / "unit" / "language" / "test_core.py"
    file.write_text(TESTS + BEYOND)
    status, said = counted(tree, "--check", "bounds")
    assert status == 0 and "10 passed, 0 failed" in said, said
    assert ("bounds, line 6, 4 times, as in test_beyond[12]: tl.store(out_ptr + tl.arange(0, 16), 7)"
            in said), said
    status, said = counted(tree, "--check", "bounds", "--sample", "1000")
    assert status == 0 and "3 passed, 0 failed" in said, said
