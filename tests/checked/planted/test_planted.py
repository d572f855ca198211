"""Checked mode finds mistakes that are planted in kernels, in the line where they are, and nothing in the
kernels without them."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from checked.launches import found
from triton_spirv_backend.options import SPIRVOptions

sys.path.insert(0, str(Path(__file__).parent))
from planting import ALL, CHECKS, FILES, Bug, bugs, load, text_of

BUGS = [bug for file in FILES for bug in bugs(file)]
KERNELS = sorted({(bug.file, bug.kernel) for bug in BUGS})

#: mistakes that a driver takes for impossible, so that it could take the check away: with its optimiser
IMPOSSIBLE = ("assume", "shift", "divide", "convert")


@pytest.fixture
def unoptimised(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most of a test's time is the driver's compiler, and half of that its optimiser."""
    original = SPIRVOptions.parse

    def parse(options: dict[str, Any], target: Any) -> SPIRVOptions:
        return original({"build_flags": "-cl-opt-disable", **options}, target)

    if bug.kind not in IMPOSSIBLE:
        monkeypatch.setattr(SPIRVOptions, "parse", parse)


#: the other ways that bounds are checked in
ELSEWHERE = {"simt": {"TRITON_SPIRV_TARGET": "simt"},
             "vulkan": {"TRITON_SPIRV_DEVICE": os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan")}}
MODES = ["simt", pytest.param("vulkan", marks=pytest.mark.vulkan)]


@pytest.fixture
def elsewhere(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in ELSEWHERE[mode].items():
        monkeypatch.setenv(name, value)


def findings(place: Path, lines: list[str], kernel: str, checks: str) -> list[tuple[str, int]]:
    """(check, line) of what a launch of a kernel finds."""
    module = load(lines, place)
    return [(finding.check, finding.line) for finding in found(checks, getattr(module, f"launch_{kernel}"))]


def test_there_are_as_many_as_there_should_be() -> None:
    kinds = Counter(bug.kernel for bug in BUGS)
    assert len(KERNELS) >= 20 and min(kinds.values()) >= 10 and len(BUGS) >= 200
    assert len({str(bug) for bug in BUGS}) == len(BUGS)


@pytest.mark.parametrize("file, kernel", KERNELS)
def test_nothing_is_found_without_mistakes(file: str, kernel: str, tmp_path: Path) -> None:
    for checks in ALL[file]:
        assert not findings(tmp_path / f"{file}_sound.py", text_of(file), kernel, checks)


@pytest.mark.takes_turns(2)
@pytest.mark.usefixtures("unoptimised")
@pytest.mark.parametrize("bug", BUGS, ids=str)
def test_found(bug: Bug, tmp_path: Path) -> None:
    lines = text_of(bug.file)
    lines[bug.line - 1] = bug.text
    place = tmp_path / f"{bug.kernel}_{bug.kind}.py"
    found = findings(place, lines, bug.kernel, f"bounds,{CHECKS[bug.kind]}")
    assert (CHECKS[bug.kind], bug.found) in found


@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("file, kernel", KERNELS)
def test_nothing_is_found_elsewhere_without_mistakes(file: str, kernel: str, mode: str,
                                                     tmp_path: Path) -> None:
    assert not findings(tmp_path / f"{file}_sound.py", text_of(file), kernel, "bounds")


@pytest.mark.takes_turns(4)
@pytest.mark.usefixtures("elsewhere")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bug", [bug for bug in BUGS if CHECKS[bug.kind] == "bounds"], ids=str)
def test_found_elsewhere(bug: Bug, mode: str, tmp_path: Path) -> None:
    lines = text_of(bug.file)
    lines[bug.line - 1] = bug.text
    found = findings(tmp_path / f"{bug.kernel}_{bug.kind}.py", lines, bug.kernel, "bounds")
    assert ("bounds", bug.found) in found
