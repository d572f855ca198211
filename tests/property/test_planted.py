"""Is the check sharp? Bugs planted in the emitter are found within the numbers of kernels stated here.

`python -m tests.property.planted` looks for all of them.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from property.planted import BUGS
from property.planting import planted

TREE = Path(__file__).parents[2]


@pytest.mark.parametrize(
    "bug, within",
    [
        ("a subtraction of integers swaps its operands", 30),
        ("a reduction forgets the last lanes", 30),
        ("a left shift goes right", 10),
    ],
)
def test_a_planted_bug_is_found(bug, within):
    """In a process of its own, since wrong code may kill it."""
    command = [sys.executable, "-m", "tests.property.planted", "--only", bug, "--most", str(within)]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True, timeout=600)
    assert f": {bug}" in done.stdout, done.stderr[-2000:]
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_every_bug_can_be_planted(bug):
    """What it replaces is there still."""
    with planted(bug):
        pass


def test_without_a_bug_the_same_kernels_agree():
    """What is found is the bug, not the check."""
    command = [sys.executable, "-m", "tests.property.planted", "--none", "--most", "5"]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1 and "not found in    5: nothing" in done.stdout, done.stdout + done.stderr
