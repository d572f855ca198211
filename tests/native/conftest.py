"""A fake ocloc, and the real ones: the one in PATH, and a newer one that TRITON_SPIRV_NEW_OCLOC names (the
script tools/get_ocloc.sh brings it)."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from fake_ocloc import Fake

NEW_VARIABLE = "TRITON_SPIRV_NEW_OCLOC"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    """The ocloc of this test; what it keeps of failures lies in tmp_path / "kept"."""
    folder = tmp_path / "fake"
    folder.mkdir()
    made = Fake(folder)
    monkeypatch.setenv("TRITON_OCLOC_PATH", str(made.path))
    monkeypatch.setenv("TRITON_SPIRV_KEEP", str(tmp_path / "kept"))
    return made


@pytest.fixture(params=["old", "new"])
def ocloc_name(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """"old" or "new", with that real ocloc as the one to use."""
    path = os.environ.get(NEW_VARIABLE) if request.param == "new" else shutil.which("ocloc")
    if not path or not os.access(path, os.X_OK):
        ways = {"old": "apt-get install intel-opencl-icd",
                "new": f"tools/get_ocloc.sh FOLDER, then {NEW_VARIABLE}=FOLDER/ocloc"}
        pytest.skip(f"the {request.param} ocloc is missing: {ways[request.param]}")
    monkeypatch.setenv("TRITON_OCLOC_PATH", path)
    monkeypatch.setenv("TRITON_SPIRV_KEEP", str(tmp_path / "kept"))
    return str(request.param)
