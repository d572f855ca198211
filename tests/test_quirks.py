"""quirks.py: the table names files and tests that exist, targets tell what is in it, the page is current."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from triton_spirv import quirks
from triton_spirv.quirks import QUIRKS, TABLE, TOLD, Quirk, VulkanDriver, quirks_of
from triton_spirv.target import LAVAPIPE, TARGETS

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "triton_spirv"


@pytest.mark.parametrize("quirk", TABLE, ids=lambda quirk: quirk.name)
def test_its_test_and_its_files_exist(quirk: Quirk) -> None:
    file, _, name = quirk.test.partition("::")
    tests = {node.name for node in ast.walk(ast.parse((ROOT / file).read_text(encoding="utf-8")))
             if isinstance(node, ast.FunctionDef)}
    assert name in tests, quirk.test
    for where in quirk.where:
        assert (PACKAGE / where).is_file(), where


def test_names_are_of_one_quirk_each() -> None:
    assert len(QUIRKS) == len(TABLE)


def test_who_asks_for_a_quirk_names_one_that_targets_tell() -> None:
    """And each that targets tell is asked for."""
    asked = {name for path in PACKAGE.rglob("*.py")
             for name in re.findall(r'target\.has\("(\w+)"\)', path.read_text(encoding="utf-8"))}
    assert asked == TOLD


def test_page_is_what_the_command_prints() -> None:
    page = (ROOT / "docs" / "notes" / "quirks.md").read_text(encoding="utf-8")
    command = "python -m triton_spirv --quirks-table > docs/notes/quirks.md"
    assert page == quirks.page(), f"docs/notes/quirks.md is out of date: {command}"


@pytest.mark.parametrize(("driver", "told"), [
    (VulkanDriver("NVIDIA"),
     {"joins_quotients", "joins_conversions", "knows_extensions", "saturates", "equals_itself",
      "keeps_loops"}),
    (VulkanDriver("llvmpipe", (22, 3, 6)), {"extends_by_halves", "folds_zeros"}),
    (VulkanDriver("llvmpipe", (24, 1, 3)), {"folds_zeros"}),
    (VulkanDriver("radv", (24, 1, 2)), {"extends_by_halves"}),
    (VulkanDriver("another"), set()),
])
def test_quirks_of_a_driver(driver: VulkanDriver, told: set[str]) -> None:
    assert quirks_of(driver) == told | {"carries_words"}


def test_a_target_tells_its_quirks() -> None:
    assert all(target.quirks <= TOLD for target in TARGETS.values())
    target = LAVAPIPE.with_options(keeps_loops=True, carries_words=False)
    assert target.has("keeps_loops") and not target.has("carries_words")
    assert target.with_options(name="other").quirks == {"keeps_loops"}
    with pytest.raises(ValueError, match="keep_loops"):
        LAVAPIPE.with_options(quirks=frozenset({"keep_loops"}))
    with pytest.raises(ValueError, match="no quirk that targets tell"):
        LAVAPIPE.has("permuted_phis")


def test_every_field_of_a_target_is_described() -> None:
    """In the docstring of its group, and by a name at the beginning of a line."""
    for group in type(LAVAPIPE).__mro__[1:-1]:
        described = {line.split()[0] for line in (group.__doc__ or "").splitlines()
                     if line.startswith("    ") and not line.startswith("     ") and line.strip()}
        assert set(group.__annotations__) <= described, group.__name__
