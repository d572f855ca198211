"""Cases of passes: IR above, below what one pass makes of it.

    python -m tests.passes.update [PART ...]    writes the lower halves anew; read `git diff` then

A file in cases/ begins with comments, one of which names pass and target:
`// pass: fetch-ahead lavapipe`, with changed fields of the target behind that.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

from triton_spirv.ir import parse
from triton_spirv.ir.printer import print_module
from triton_spirv.passes.pipeline import PASSES
from triton_spirv.passes.verify import read_back, verify
from triton_spirv.target import find_target

FOLDER = Path(__file__).parent / "cases"
LINE = "// ---- becomes\n"


@dataclass(frozen=True)
class Case:
    """A file, taken apart."""

    path: Path
    source: str
    expected: str

    def made(self) -> str:
        """What the pass makes of the source today; it is verified."""
        found = re.search(r"^// pass: (\S+) (\S+)((?: \S+=\d+)*)$", self.source, re.M)
        assert found is not None, self.path
        name, target, changes = found.groups()
        fields = {key: int(value) for key, value in (word.split("=") for word in changes.split())}
        module = parse(self.source)
        one = next(each for each in PASSES if each.name == name)
        warps = int(module.attributes.get("ttg.num-warps", 1))
        one.run(module, find_target(target).with_options(**fields), warps)
        verify(module, name)
        read_back(module, name, not one.mixes_layouts)
        return print_module(module, locations=False)


def cases(*parts: str) -> list[Case]:
    """Those whose names contain one of the parts; without parts all."""
    found = []
    for path in sorted(FOLDER.glob("*.mlir")):
        if not parts or any(part in path.name for part in parts):
            source, _, expected = path.read_text(encoding="utf-8").partition(LINE)
            found.append(Case(path, source, expected))
    return found


if __name__ == "__main__":
    for case in cases(*sys.argv[1:]):
        case.path.write_text(case.source + LINE + case.made(), encoding="utf-8")
