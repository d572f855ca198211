"""Versions agree, the changelog is kept, and MANIFEST.in names every folder; `.ci/run` makes a whole release,
but for publishing it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import triton_spirv

ROOT = Path(__file__).parents[2]


def text(*parts: str) -> str:
    return ROOT.joinpath(*parts).read_text(encoding="utf-8")


def test_versions_agree() -> None:
    assert not re.search(r"^version", text("pyproject.toml"), re.M)
    second = text("third_party", "inductor", "pyproject.toml")
    assert re.findall(r'^version = "(.*)"', second, re.M) == [triton_spirv.__version__]
    pins = re.findall(r'"triton-spirv[\w-]*(?:\[\w+\])?==([^"]+)"', text("pyproject.toml") + second)
    assert pins == [triton_spirv.__version__] * 2


def test_setup_finds_the_version() -> None:
    done = subprocess.run([sys.executable, "setup.py", "--version"], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1:] == [triton_spirv.__version__], done.stderr


def test_changelog_has_a_place_for_changes() -> None:
    assert re.search(r"^## Unreleased$", text("CHANGELOG.md"), re.M)


def test_sources_are_distributed() -> None:
    """Every folder of the project is in MANIFEST.in; tools/release.py compares the files."""
    grafted = re.findall(r"^graft (\S+)$", text("MANIFEST.in"), re.M)
    ours = {".ci", "python", "third_party", "tests", "docs", "tutorials", "benchmarks", "tools"}
    assert set(grafted) == ours


def test_release_without_a_changelog_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    import release

    monkeypatch.setattr(release, "ROOT", tmp_path)
    (tmp_path / "CHANGELOG.md").write_text("\n## Unreleased\n\n- news\n\n## 0.1.0 (2026)\n\n- all\n")
    assert release.notes("Unreleased") == "- news" and release.notes("0.1.0") == "- all"
    assert not release.notes("0.2.0") and not release.notes("0.1")


def test_pyinstaller_finds_the_hook() -> None:
    """tools/release.py --freeze makes and runs a program with it."""
    from triton_spirv import _pyinstaller

    (folder,) = _pyinstaller.hook_dirs()
    assert (Path(folder) / "hook-triton_spirv.py").is_file()
    assert f'"pyinstaller40": ["hook-dirs = {_pyinstaller.__name__}:hook_dirs"]' in text("setup.py")
