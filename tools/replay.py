"""Did a change to the emitter change what it emits?

    python tools/replay.py record before.json        what is emitted now for every kernel of the corpus
    python tools/replay.py compare before.json       after the change: what is different; status 1 if anything
    python tools/replay.py compare before.json --show softmap    and how

The corpus: the kernels of tests/ir/corpus.py, which have every operation of Triton's front end, and those
of the tutorials, through the product's own passes for every target of TARGETS and for an H100; the golden
files; what tests have compiled, where they ran with `--spirv-record FOLDER` and `--kernels FOLDER` names it
here. A refactoring leaves all words as they were; anything else says in its commit what changed and why. The
file holds the kernels' IR too, so comparing needs no Triton, and a later version of it changes nothing.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import json
import os
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / folder) for folder in ("python", "tests", "benchmarks")]

from triton_spirv.compiler import compile  # noqa: E402
from triton_spirv.errors import TritonSpirvError  # noqa: E402
from triton_spirv.target import Target, find_target  # noqa: E402

#: targets by name: one work-item a program, lanes of three sizes, Intel GPUs with and without matrix units of
#: 16 columns, a Vulkan device in software
TARGETS = ("cpu", "cpu-simt8", "cpu-simt", "cpu-simt32", "pvc", "bmg", "dg2", "tgl", "lavapipe")

#: what besides is said of a target under this name: see `h100`
H100 = "h100"

#: kernels from which on processes are worth their start
MANY = 20

#: fields of a target that are sets, which JSON has as lists
SETS = {name for name, value in vars(find_target("lavapipe")).items() if isinstance(value, frozenset)}


@dataclass(frozen=True)
class Kernel:
    """IR for a target, with changed fields of that, and the options of `triton_spirv.compile`."""

    name: str
    source: str
    target: str
    changes: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Emitted:
    """What became of a kernel: a digest of the words, and the listing or an error in its place."""

    words: str
    listing: str

    @staticmethod
    def of(kernel: Kernel) -> Emitted:
        """Today's."""
        try:
            changed = {name: frozenset(map(as_tuple, value)) if name in SETS else as_tuple(value)
                       for name, value in kernel.changes.items()}
            target = find_target(kernel.target).with_options(**changed)
            artifact = compile(kernel.source, target, **kernel.options)
        except Exception as error:  # errors of the package, and whatever a broken change brings
            return Emitted("", f"{type(error).__name__}: {error}\n")
        return Emitted(hashlib.sha256(artifact.words).hexdigest(), artifact.listing)


def as_tuple(value: Any) -> Any:
    """What JSON has made a list of, as it was."""
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


def h100() -> Target:
    """lavapipe with what an H100 (driver 580) reports instead, as far as words depend on it."""
    from machine.targets import RICH
    from triton_spirv.quirks import NVIDIA, VulkanDriver, quirks_of

    return RICH.with_options(
        sub_group_size=32, sub_group_sizes=(32,), shared_bytes=48 * 1024, loop_rounds=0,
        capabilities=(RICH.capabilities or frozenset()) | {"FloatControls2"}, contracts="mode",
        accurate=frozenset({"Exp2"}), quirks=quirks_of(VulkanDriver(NVIDIA)))


def kernels(parts: list[str], folder: Path | None) -> Iterator[Kernel]:
    """The kernels whose names have one of the parts."""
    from golden.update import cases

    for case in cases():
        yield Kernel(f"golden/{case.path.stem}", case.source, case.target.name, changes(case.target))
    yield from lowered(parts)
    for path in sorted(folder.glob("*.json")) if folder is not None else ():
        yield Kernel(**json.loads(path.read_text(encoding="utf-8")))


def changes(target: Target) -> dict[str, Any]:
    """The fields in which it is not the target that its name finds."""
    plain = find_target(target.name)
    return {name: value for name, value in vars(target).items() if value != getattr(plain, name)}


def lowered(parts: list[str]) -> Iterator[Kernel]:
    """The corpus and the tutorials, as Triton's front end and passes leave them for each target."""
    from ir.corpus import KERNELS
    from isa_cases import CASES, tutorial
    from triton_spirv import plugin
    from triton_spirv.aot import signature

    front = plugin.front_end()
    given: list[tuple[str, Any, Any, dict[str, Any]]] = [
        (name, entry.function, signature.Signature(entry.signature, (), entry.constants), entry.options)
        for name, entry in KERNELS.items()
    ]
    for case in CASES:
        function = getattr(tutorial(case.file), case.kernel)
        read = signature.read(case.arguments, front.parameters(function)[0], {})
        given.append((f"tutorial-{case.name}", function, read,
                      {"num_warps": case.warps, "num_stages": case.stages}))
    targets = [*((name, find_target(name)) for name in TARGETS), (H100, h100())]
    for name, function, types, options in given:
        for label, target in targets:
            label = f"{name}.{label}"
            if parts and not any(part in label for part in parts):
                continue
            try:
                made = front.lower(function, types, target, options)
            except TritonSpirvError:
                continue  # Triton itself refuses it
            yield Kernel(label, made.ttgir or made.ttir, target.name, changes(made.target), made.options)


def all_emitted(all_kernels: list[Kernel]) -> list[Emitted]:
    """What becomes of each; many are computed by all processors."""
    if len(all_kernels) < MANY:
        return list(map(Emitted.of, all_kernels))
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(Emitted.of, all_kernels, chunksize=4))


def record(file: Path, parts: list[str], folder: Path | None) -> int:
    """Write what is emitted now."""
    wanted = [x for x in kernels(parts, folder) if not parts or any(part in x.name for part in parts)]
    rows = [{**asdict(kernel), **asdict(emitted)}
            for kernel, emitted in zip(wanted, all_emitted(wanted), strict=True)]
    file.write_text(json.dumps(rows, indent=1, default=sorted), encoding="utf-8")
    refused = sum(not row["words"] for row in rows)
    print(f"{len(rows)} kernels, {refused} of them refused, recorded in {file}")
    return 0


def compare(file: Path, show: list[str]) -> int:
    """Print what differs from the record; 1 if anything does."""
    rows = json.loads(file.read_text(encoding="utf-8"))
    before = [Emitted(row.pop("words"), row.pop("listing")) for row in rows]
    known = [Kernel(**row) for row in rows]
    different = 0
    for kernel, old, now in zip(known, before, all_emitted(known), strict=True):
        if now == old:
            continue
        different += 1
        print_difference(kernel.name, old, now, any(part in kernel.name for part in show))
    print(f"{len(known) - different} kernels the same, {different} different")
    return 1 if different else 0


def print_difference(name: str, old: Emitted, now: Emitted, whole: bool) -> None:
    before, after = old.listing.splitlines(), now.listing.splitlines()
    lines = list(difflib.unified_diff(before, after, "before", "now", lineterm="", n=3))
    plus, minus = (sum(line.startswith(sign) for line in lines[2:]) for sign in "+-")
    print(f"{name}: {len(before)} lines before, {len(after)} now, +{plus} -{minus}"
          + ("" if lines else "; the same to read, other words"))
    if whole:
        print("\n".join(lines) + "\n")


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Did a change to the emitter change what it emits?")
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="write down what is emitted now")
    comparing = commands.add_parser("compare", help="what is different from the record")
    for command in (recording, comparing):
        command.add_argument("file", type=Path)
    recording.add_argument("parts", nargs="*", help="only kernels whose names contain one of these")
    recording.add_argument("--kernels", type=Path, metavar="FOLDER",
                           help="also what tests compiled that ran with --spirv-record FOLDER")
    comparing.add_argument("--show", action="append", default=[], metavar="PART", help="how these differ")
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    if options.command == "record":
        return record(options.file, options.parts, options.kernels)
    return compare(options.file, options.show)


if __name__ == "__main__":
    raise SystemExit(main())
