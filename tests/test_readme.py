"""What README.md and docs/ promise can be found: linked files, commands, names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_linked_files_exist(page: Path) -> None:
    prose = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", prose)
    for target in targets:
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page: Path) -> None:
    """`lower/reduce.py` in a text is a file of the package, of the plugin or of the repository."""
    roots = [ROOT, ROOT / "python" / "triton_spirv", ROOT / "third_party" / "spirv" / "backend"]
    for name in re.findall(r"`([\w./-]+/[\w.-]*\.(?:py|md))`", page.read_text(encoding="utf-8")):
        assert any((root / name).exists() for root in roots), f"{page.name} names {name}"


def test_the_checks_run_the_command_of_the_readme() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    command = next(line for line in README.splitlines() if "pytest" in line)
    for part in ('".[cpu,test]"', "-m pytest tests -q"):
        assert part in command, part
        assert part in script, f".ci/run does not contain {part}"


def test_public_names_exist() -> None:
    import triton_spirv

    for name in re.findall(r"`triton_spirv\.(\w+)", README):
        assert name in triton_spirv.__all__, name
