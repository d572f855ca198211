"""What is emitted for each golden file is what stands in it, and is a valid module."""

from __future__ import annotations

import difflib

import pytest
import triton_spirv
from golden.update import Case, cases
from triton_spirv.tools import spirv_tools

CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_emitted(case: Case) -> None:
    emitted = case.emitted()
    if emitted != case.expected:
        lines = case.expected.splitlines(), emitted.splitlines()
        difference = "\n".join(difflib.unified_diff(*lines, case.path.name, "emitted", lineterm="", n=2))
        pytest.fail(f"{difference}\n\nIf this is better: python tests/golden/update.py {case.path.stem}",
                    pytrace=False)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.path.stem)
def test_valid(case: Case) -> None:
    spirv_tools.validate(triton_spirv.compile(case.source, case.target).words)


def test_names_say_the_target() -> None:
    assert len(CASES) >= 20
    for case in CASES:
        assert case.path.name.endswith(f".{case.target.name}.txt"), case.path.name
        assert case.source.startswith("// "), f"{case.path.name}: what is shown?"
