"""triton-spirv check: a program runs to its end, what is found is printed once, and is data on request."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import prepared
import pytest
from triton_spirv.checking import Finding
from triton_spirv.cli import check as command

PROGRAM = """
import sys
import numpy as np
import triton
import triton.language as tl
import triton_spirv


@triton.jit
def copy(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i), mask=i < n)


x, o = (triton_spirv.asarray(np.ones(100, np.float32)) for _ in range(2))
for _ in range(3):
    copy[(2,)](x, o, int(sys.argv[1]), BLOCK=64)
print("the end")
"""


def check(tmp_path: Path, *arguments: str, text: str = PROGRAM) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "program.py"
    file.write_text(text)
    where = arguments.index("PROGRAM")
    arguments = (*arguments[:where], str(file), *arguments[where + 1:])
    return prepared.python(["-m", "triton_spirv", "check", *arguments], folder=tmp_path)


def test_findings(tmp_path: Path) -> None:
    done = check(tmp_path, "--report", "found.json", "PROGRAM", "104")
    assert done.returncode == 1 and "the end" in done.stdout, done.stderr
    assert done.stdout.count("load at x[100], 1 element beyond its end") == 1
    assert done.stdout.count("store at o[100], 1 element beyond its end") == 1
    assert done.stdout.endswith("2 findings\n")
    load, store = json.loads((tmp_path / "found.json").read_text())
    assert load["check"] == store["check"] == "bounds" and load["line"] == store["line"] == 12
    assert load["index"] == [100] and load["program"] == [1, 0, 0] and "tl.store" in load["source"]


def test_reports_that_cannot_be_written(tmp_path: Path) -> None:
    """That is said before the program runs. A report that can be is where the program began."""
    for name, wrong in (("absent/found.json", f"no folder {tmp_path / 'absent'}"), (".", "is a folder")):
        done = check(tmp_path, "--report", name, "PROGRAM", "104")
        assert done.returncode == 2 and not done.stdout and wrong in done.stderr
        assert len(done.stderr.splitlines()) == 1
    leaving = PROGRAM.replace("import sys\n", "import os, sys\nos.chdir('/')\n")
    done = check(tmp_path, "--report", "found.json", "PROGRAM", "104", text=leaving)
    assert done.returncode == 1 and len(json.loads((tmp_path / "found.json").read_text())) == 2
    spoiling = PROGRAM + "import os\nos.mkdir('found')\n"
    done = check(tmp_path, "--report", "found", "PROGRAM", "104", text=spoiling)
    assert done.returncode == 2 and "the findings are not written: " in done.stderr
    assert done.stdout.endswith("2 findings\n") and "Traceback" not in done.stderr


def test_annotations(tmp_path: Path) -> None:
    done = check(tmp_path, "--github", "--checks", "bounds", "PROGRAM", "101")
    # a kernel that was compiled for a copy of the file says the copy's name
    assert re.search(r"^::error file=.*program\.py,line=12,col=\d+,title=bounds::load at x", done.stdout,
                     re.MULTILINE)


def test_nothing(tmp_path: Path) -> None:
    done = check(tmp_path, "--checks", "nan", "PROGRAM", "100")
    assert done.returncode == 0 and done.stdout == "the end\n0 findings\n"
    wrong = check(tmp_path, "--checks", "nans", "PROGRAM", "100")
    assert wrong.returncode == 2 and "there is no check nans" in wrong.stderr


#: a defect of the compiler's: a mask is taken to hold for a window if it does for its first element
WRONG = """
from triton_spirv.lower.addresses import masks
original = masks._ordered
masks._ordered = lambda ctx, predicate, operands, layout, opposite=False: original(
    ctx, predicate, operands, layout if opposite else layout.map(layout.shape, lambda basis: 0), opposite)
"""


@pytest.mark.parametrize("wrong, said", [(WRONG, "no finding without one of: masks"),
                                         ("", "results do not depend on optimisations")])
def test_bisect(wrong: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "program.py"
    arrays = "np.full(128, k, np.float32)) for k in range(2)"
    file.write_text(wrong + PROGRAM.replace("np.ones(100, np.float32)) for _ in range(2)", arrays))
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(command, "OPTIMISATIONS", ["masks", "streaming"])
    options = argparse.Namespace(bisect=True, module=False, program=str(file), arguments=["90"])
    lines: list[str] = []
    out: Any = argparse.Namespace(line=lines.append)
    assert command.run(options, out) == bool(wrong)
    assert lines == [said]


def test_annotations_end_where_they_end() -> None:
    """A comma or a colon would end the file's name."""
    finding = Finding("bounds", "100% of\nx", "copy", "a,b:c/100%.py", 3, 5, (0, 0, 0), 1)
    assert command._annotation(finding) == (
        "::error file=a%2Cb%3Ac/100%25.py,line=3,col=5,title=bounds::100%25 of%0Ax")
