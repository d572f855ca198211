"""--skip-unchanged: a test is skipped where nothing that it launches has changed, and runs where anything
has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

ROOT = Path(__file__).parent.parent
WORDS = ["-q", "--skip-unchanged", "-p", "no:cacheprovider",
         "tests/lower/test_spmd.py::test_id_in_arithmetic"]


def outcome(tmp_path: Path, *changes: str, **variables: str) -> str:
    """The last line of a run in which the record lies elsewhere, and something else is another."""
    script = "; ".join(("import sys", "sys.path.insert(0, 'tests')", "import pathlib, pytest, unchanged",
                        f"unchanged.FOLDER = pathlib.Path({str(tmp_path)!r})", *changes,
                        f"sys.exit(pytest.main({WORDS!r}))"))
    plain = {name: value for name, value in os.environ.items() if name != "CI"}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True,
                          env={**plain, **variables}, timeout=300)
    return (done.stdout + done.stderr).strip().splitlines()[-1]


def test_what_is_unchanged_is_skipped(tmp_path: Path) -> None:
    other_emitter = "unchanged.emitter = lambda: 'another'"
    assert " passed" in outcome(tmp_path)
    assert " skipped" in outcome(tmp_path) and " passed" not in outcome(tmp_path)
    assert " passed" not in outcome(tmp_path, other_emitter), "compiled again, to the same words"
    assert " passed" in outcome(tmp_path, other_emitter, "unchanged.digest_of = lambda *_: 'another'")
    assert " passed" in outcome(tmp_path, "unchanged.surroundings = lambda file: 'another'")


def test_it_is_not_for_continuous_integration(tmp_path: Path) -> None:
    assert "where CI is set, everything runs" in outcome(tmp_path, CI="true")
