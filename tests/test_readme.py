"""What README.md and docs/ promise can be found: linked files, commands, names."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_linked_files_exist(page: Path) -> None:
    prose = re.sub(r"```.*?```|`[^`\n]*`(?!\])", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", prose)
    for target in targets:
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page: Path) -> None:
    """`lower/tensors/reduce.py` in a text is a file of the package, of the plugin or of the repository."""
    roots = [ROOT, ROOT / "python" / "triton_spirv", ROOT / "third_party" / "spirv" / "backend"]
    for name in re.findall(r"`([\w./-]+/[\w.-]*\.(?:py|md))`", page.read_text(encoding="utf-8")):
        assert any((root / name).exists() for root in roots), f"{page.name} names {name}"


@pytest.mark.parametrize("name", ["run", "test"])
def test_the_checks_run_the_commands_of_the_readme(name: str) -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert f'bash -c "$(python3 tools/readme_commands.py {name})"' in script
    command = [sys.executable, str(ROOT / "tools" / "readme_commands.py"), name]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    assert printed in README.splitlines()


def test_the_kernel_of_the_readme_prints_what_it_says(tmp_path: Path) -> None:
    kernel, printed = re.findall(r"```python\n(.*?)```.*?```\n(.*?)```", README, re.S)[0]
    path = tmp_path / "my_kernel.py"
    path.write_text(kernel)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_")}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, env=environment)
    assert done.stdout == printed, done.stderr


def test_public_names_exist() -> None:
    import triton_spirv

    for name in re.findall(r"`triton_spirv\.(\w+)", README):
        assert name in triton_spirv.__all__, name
