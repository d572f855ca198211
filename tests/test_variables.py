"""docs/environment.md has every environment variable that the code reads, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from triton_spirv import variables
from triton_spirv.cli import doctor

ROOT = Path(__file__).parent.parent
PACKAGES = [*(ROOT / "python").rglob("*.py"), *(ROOT / "third_party").rglob("*.py")]
TESTS = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"), ROOT / ".ci" / "run"]
TABLE = "variables.py"

#: what looks like a variable of ours and is none
OTHERS = {"TRITON_SPIRV_"}


def of_ours(files: list[Path]) -> dict[str, Path]:
    """TRITON_SPIRV_... -> a file that names it."""
    found = {}
    for path in files:
        if path.name not in (TABLE, Path(__file__).name):
            for name in re.findall(r"\bTRITON_SPIRV_[A-Z_]*\b", path.read_text(encoding="utf-8")):
                found[name] = path
    return {name: path for name, path in found.items() if name not in OTHERS}


def read_in(path: Path) -> Iterator[str]:
    """What a file asks os.environ for, by a string or by a constant of the file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    constants = {target.id: node.value.value for node in tree.body if isinstance(node, ast.Assign)
                 and isinstance(node.value, ast.Constant) for target in node.targets
                 if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        asked: ast.expr | None = None
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("os.environ.get", "os.getenv"):
            asked = node.args[0]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "os.environ":
            asked = node.slice
        elif isinstance(node, ast.Compare) and ast.unparse(node.comparators[0]) == "os.environ":
            asked = node.left
        if isinstance(asked, ast.Constant):
            yield asked.value
        elif isinstance(asked, ast.Name) and isinstance(constants.get(asked.id), str):
            yield constants[asked.id]


def test_page_is_what_the_command_prints() -> None:
    page = (ROOT / "docs" / "environment.md").read_text(encoding="utf-8")
    command = "python -m triton_spirv --environment-table > docs/environment.md"
    assert page == variables.page(), f"docs/environment.md is out of date: {command}"


def test_every_variable_that_the_code_names_is_in_the_table() -> None:
    missing = {name: str(path) for name, path in of_ours(PACKAGES + TESTS).items()
               if name not in variables.names()}
    assert not missing, "python/triton_spirv/variables.py lacks these"


def test_every_variable_that_the_code_reads_is_in_the_table() -> None:
    read = {name for path in PACKAGES for name in read_in(path)}
    assert len(read) > 15
    assert read <= variables.names()


def test_every_variable_of_the_table_is_in_the_code() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in PACKAGES + TESTS if path.name != TABLE)
    assert [name for name in variables.names() if name not in texts] == []


def test_every_prefix_is_in_the_code() -> None:
    texts = "".join(path.read_text(encoding="utf-8") for path in PACKAGES if path.name != TABLE)
    assert [prefix for prefix in variables.PREFIXES if f'"{prefix}"' not in texts] == []


def test_doctor_warns_of_a_misspelled_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_DEVCE", "gpu")
    found = {each.subject: each for each in doctor.findings(run_kernels=False)}
    finding = found["TRITON_SPIRV_DEVCE"]
    assert finding.state == "optional" and finding.remedy == "did you mean TRITON_SPIRV_DEVICE?"
