"""Golden files: one operation, one small shape, one target each; the IR above, what is emitted for it below.

    python tests/golden/update.py [PART OF A NAME ...]     writes the lower halves anew; read `git diff` then

A file begins with comments, the last of which names the target, changed where that shows the subject better:
`// target: cpu stream_bytes=0`. Below the line of dashes stand the plan, and the listing without its
head (capabilities follow from use and are tested elsewhere).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from triton_spirv.compiler import compile
from triton_spirv.target import Target, find_target

FOLDER = Path(__file__).parent
LINE = "// ---- emitted\n"
TARGET = "// target: "


@dataclass(frozen=True)
class Case:
    """A golden file, taken apart."""

    path: Path
    source: str
    expected: str

    @property
    def target(self) -> Target:
        """A known target with some of its fields changed."""
        line = next(line for line in self.source.splitlines() if line.startswith(TARGET))
        name, *changes = line.removeprefix(TARGET).split()
        fields = dict(change.split("=") for change in changes)
        return find_target(name).with_options(**{field: int(number) for field, number in fields.items()})

    def emitted(self) -> str:
        """The plan and the listing that the emitter gives for the source today."""
        artifact = compile(self.source, self.target)
        head, _, rest = artifact.listing.partition("\n\n")
        assert head.startswith("; SPIR-V"), head
        lines = [line for line in rest.splitlines() if not line.strip().startswith("; <unknown>")]
        return "\n".join([artifact.plan, *lines, ""])


def read(path: Path) -> Case:
    """The case of a file; the lower half may be missing."""
    source, _, expected = path.read_text(encoding="utf-8").partition(LINE)
    return Case(path, source, expected.lstrip("\n"))


def cases(*parts: str) -> list[Case]:
    """Those whose names contain one of the parts; without parts all."""
    paths = sorted(FOLDER.glob("*.txt"))
    return [read(path) for path in paths if not parts or any(part in path.name for part in parts)]


def main() -> None:
    chosen = cases(*sys.argv[1:])
    for case in chosen:
        emitted = case.emitted()
        if emitted != case.expected:
            case.path.write_text(f"{case.source.rstrip()}\n\n{LINE}\n{emitted}", encoding="utf-8")
            print(f"updated {case.path.name}")
    print(f"{len(chosen)} golden files")


if __name__ == "__main__":
    main()
