"""--skip-unchanged: a test is skipped where nothing that it launches has changed, and runs where anything
has."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")

ROOT = Path(__file__).parent.parent
WORDS = ["-q", "--skip-unchanged", "-p", "no:cacheprovider",
         "tests/lower/test_spmd.py::test_id_in_arithmetic"]


#: Each run of a list: what is another in it, and nothing else. What a process remembers is forgotten between
#: runs, but for the modules that are imported: Triton and torch take seconds.
SCRIPT = """
import contextlib, io, json, pathlib, sys
sys.path.insert(0, "tests")
import pytest, unchanged
unchanged.FOLDER = pathlib.Path(sys.argv[1])
plain = dict(vars(unchanged))
for changes in json.loads(sys.argv[2]):
    for name in ("digest_of", "emitter", "_files", "sources"):
        plain[name].cache_clear()
    vars(unchanged).update(plain)
    vars(unchanged).update({name: lambda *_: "another" for name in changes})
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(said):
        pytest.main(WORDS)
    print(said.getvalue().strip().splitlines()[-1])
"""


def outcomes(tmp_path: Path, *runs: list[str], **variables: str) -> list[str]:
    """The last line of each run, in which the record lies elsewhere, and functions of unchanged.py that are
    named find something else."""
    plain = {name: value for name, value in os.environ.items() if name != "CI"}
    script = SCRIPT.replace("WORDS", repr(WORDS))
    done = subprocess.run([sys.executable, "-c", script, str(tmp_path), json.dumps(runs)], cwd=ROOT,
                          capture_output=True, text=True, env={**plain, **variables}, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_what_is_unchanged_is_skipped(tmp_path: Path) -> None:
    first, again, other_emitter, other_words, elsewhere = outcomes(
        tmp_path, [], [], ["emitter"], ["emitter", "digest_of"], ["surroundings"])
    assert " passed" in first
    assert " skipped" in again and " passed" not in again
    assert " skipped" in other_emitter and " passed" not in other_emitter, "compiled again, to the same words"
    assert " passed" in other_words
    assert " passed" in elsewhere


def test_it_is_not_for_continuous_integration(tmp_path: Path) -> None:
    (said,) = outcomes(tmp_path, [], CI="true")
    assert "where CI is set, everything runs" in said
