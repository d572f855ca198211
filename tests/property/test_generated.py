"""Generated kernels: some that are always the same, and two minutes of others, which are new in each run.

`python -m tests.property.run` is the long run.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from seed import KERNELS

TREE = Path(__file__).parents[2]
#: Kernels, and the seconds after which a busy machine begins no more.
DRAWN = {"vector": (70, 45), "simt8": (30, 25), "simt": (25, 20), "simt32": (20, 15), "vulkan": (20, 15)}
FIXED = {"vector": 10, "simt8": 5, "simt32": 5}  # kernels


def run(mode: str, folder: Path, *arguments: str) -> None:
    """Kernels of a mode, in a process of their own; what fails is shown, with the command that repeats it."""
    command = [sys.executable, "-m", "tests.property.run", "--modes", mode, "--out", str(folder), "--stop",
               "--timeout", "60", "--shrink-seconds", "40", *arguments]
    done = subprocess.run(command, cwd=TREE, capture_output=True, text=True)
    if done.returncode:
        shown = [path.read_text()[:6000] for path in sorted(folder.glob("*-*.py"))]
        numbers = [path.stem.split("-")[-1] for path in sorted(folder.glob("*-*.py"))]
        again = "\n".join(f"python -m tests.property.run --modes {mode} --only {n}" for n in numbers)
        pytest.fail("\n".join([done.stdout[-2000:], done.stderr[-2000:], *shown, "To repeat:", again]))
    assert f"{mode}: " in done.stdout and " agreed" in done.stdout, done.stdout


@pytest.mark.parametrize("mode", FIXED)
def test_the_same_kernels_agree_with_numpy(mode, tmp_path):
    run(mode, tmp_path, "--first", "1", "--count", str(FIXED[mode]))


@pytest.mark.parametrize("mode", DRAWN)
def test_drawn_kernels_agree_with_numpy(mode, tmp_path):
    count, seconds = DRAWN[mode]
    first = KERNELS + 1000 * [*DRAWN].index(mode)  # of one number modes with lanes have much the same kernel
    # in one batch: another process would spend the seconds on importing torch
    run(mode, tmp_path, "--first", str(first), "--seconds", str(seconds), "--count", str(count), "--batch",
        str(count))
