"""Did a change to the emitter change what it emits?

    python tools/replay.py record before.json        what is emitted now for every kernel of the corpus
    python tools/replay.py compare before.json       after the change: what is different; status 1 if anything
    python tools/replay.py compare before.json --show softmax    and how

The corpus is that of tests/ir/corpus.py, which covers every operation of Triton's front end, with the golden
files. A refactoring leaves all words as they were; anything else says in its commit what changed and why. The
file holds the kernels' IR too, so comparing needs no Triton, and a later version of it changes nothing.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "tests")]

from triton_spirv.compiler import compile  # noqa: E402
from triton_spirv.target import Target, find_target  # noqa: E402

#: stage of a corpus kernel -> the target that compiles it
STAGES = {"ttir": "cpu", "ttgir": "cpu-simt"}


@dataclass(frozen=True)
class Emitted:
    """What became of a kernel: a digest of the words, and the listing or an error in its place."""

    words: str
    listing: str

    @staticmethod
    def of(source: str, target: Target) -> Emitted:
        """Today's."""
        try:
            artifact = compile(source, target)
        except Exception as error:  # errors of the package, and whatever a broken change brings
            return Emitted("", f"{type(error).__name__}: {error}\n")
        return Emitted(hashlib.sha256(artifact.words).hexdigest(), artifact.listing)


def sources(parts: list[str]) -> Iterator[tuple[str, str, str, dict[str, object]]]:
    """(name, IR, target, changed fields of the target) of the kernels whose names have one of the parts."""
    from golden.update import cases
    from ir.corpus import KERNELS, texts

    def wanted(name: str) -> bool:
        return not parts or any(part in name for part in parts)

    for name in filter(wanted, KERNELS):
        for stage, target in STAGES.items():
            if stage in texts(name):
                yield f"{name}.{target}", texts(name)[stage], target, {}
    for case in cases():
        plain = find_target(case.target.name)
        fields = vars(case.target).items()
        changed = {field: value for field, value in fields if value != getattr(plain, field)}
        if wanted(case.path.stem):
            yield f"golden/{case.path.stem}", case.source, plain.name, changed


def record(file: Path, parts: list[str]) -> int:
    """Write what is emitted now."""
    known = {}
    for name, source, target, changes in sources(parts):
        emitted = Emitted.of(source, find_target(target).with_options(**changes))
        known[name] = {"source": source, "target": target, "changes": changes, **asdict(emitted)}
    file.write_text(json.dumps(known, indent=1), encoding="utf-8")
    refused = sum(not row["words"] for row in known.values())
    print(f"{len(known)} kernels, {refused} of them refused, recorded in {file}")
    return 0


def compare(file: Path, show: list[str]) -> int:
    """Print what differs from the record; 1 if anything does."""
    known = json.loads(file.read_text(encoding="utf-8"))
    different = []
    for name, row in known.items():
        now = Emitted.of(row["source"], find_target(row["target"]).with_options(**row["changes"]))
        if now == Emitted(row["words"], row["listing"]):
            continue
        different.append(name)
        before, after = row["listing"].splitlines(), now.listing.splitlines()
        lines = list(difflib.unified_diff(before, after, "before", "now", lineterm="", n=3))
        plus, minus = (sum(line.startswith(sign) for line in lines[2:]) for sign in "+-")
        print(f"{name}: {len(before)} lines before, {len(after)} now, +{plus} -{minus}"
              + ("" if lines else "; the same to read, other words"))
        if any(part in name for part in show):
            print("\n".join(lines) + "\n")
    print(f"{len(known) - len(different)} kernels the same, {len(different)} different")
    return 1 if different else 0


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Did a change to the emitter change what it emits?")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="write down what is emitted now")
    comparing = commands.add_parser("compare", help="what is different from the record")
    for command in (recording, comparing):
        command.add_argument("file", type=Path)
    recording.add_argument("parts", nargs="*", help="only kernels whose names contain one of these")
    comparing.add_argument("--show", action="append", default=[], metavar="PART", help="how these differ")
    options = parser.parse_args(arguments)
    if options.command == "record":
        return record(options.file, options.parts)
    return compare(options.file, options.show)


if __name__ == "__main__":
    raise SystemExit(main())
