"""Tests of the plugin need Triton; each has an empty cache, and none needs torch unless it says so."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("triton")

Script = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Triton's cache folder, empty."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """`script(text, NAME="value")` runs a script in a process of its own; None leaves a variable unset.

    The folder of the tests is on its path; the switch is off unless the test sets it. The device is that of
    the run (tests/everywhere.py).
    """
    path = tmp_path / "script.py"

    device = os.environ.get("TRITON_SPIRV_DEVICE")

    def run(text: str, **variables: str | None) -> subprocess.CompletedProcess[str]:
        path.write_text(text)
        wanted = {"TRITON_SPIRV_BACKEND": None, "TRITON_SPIRV_DEVICE": device, "TRITON_DEFAULT_BACKEND": None,
                  "PYTHONPATH": str(Path(__file__).parent.parent), **variables}
        environment = {**os.environ, **{name: value for name, value in wanted.items() if value is not None}}
        for name, value in wanted.items():
            if value is None:
                environment.pop(name, None)
        command = [sys.executable, str(path)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)

    return run
