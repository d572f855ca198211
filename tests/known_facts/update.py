"""Cases of facts: IR above, below what is known of its values.

    python -m tests.known_facts.update [PART ...]    writes the lower halves anew; read `git diff` then
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from triton_spirv.facts.listing import described
from triton_spirv.ir import parse

FOLDER = Path(__file__).parent / "cases"
LINE = "// ---- known\n"


@dataclass(frozen=True)
class Case:
    """A file, taken apart."""

    path: Path
    source: str
    expected: str

    def made(self) -> str:
        """What is known of the source today."""
        return described(parse(self.source))


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
