"""Texts to mutate: every kernel of tests/ir/corpus.py as each target gets it, and files of Triton's cache.

Needs triton, and no device. `python -m tests.fuzz.run` keeps them in a file, so that its workers do without.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

#: one work-item a program, lanes on a CPU, Vulkan, a GPU with matrix units and block messages
TARGETS = ("cpu", "cpu-simt", "vulkan", "pvc")
#: longer texts take most of the time of a run and are no other than short ones
LONGEST = 20_000


@dataclass(frozen=True)
class Seed:
    name: str
    target: str
    text: str


def of_corpus(names: Iterable[str] = (), targets: Iterable[str] = TARGETS) -> list[Seed]:
    """The kernels of these names, or all."""
    from ir import corpus

    found = []
    for name in names or corpus.KERNELS:
        stages = corpus.texts(name)
        found += [Seed(f"{name}.{stage}", "cpu", stages[stage]) for stage in ("front", "ttir")
                  if "cpu" in targets and stage in stages]
        if "ttir" in stages:
            found += with_layouts(name, stages["ttir"], [target for target in targets if target != "cpu"])
    return [seed for seed in found if len(seed.text) <= LONGEST]


def of_files(folder: Path, targets: Iterable[str] = TARGETS) -> list[Seed]:
    """Every .ttir below a folder, such as the cache that the operation tests have left; each text once, for
    one target."""
    texts = sorted({path.read_text() for path in folder.rglob("*.ttir")} - {""})
    found, targets = [], list(targets)
    for number, text in enumerate(texts):
        target = targets[number % len(targets)]
        if len(text) > LONGEST:
            continue
        found += [Seed(f"file{number}", target, text)] if target == "cpu" else \
            with_layouts(f"file{number}", text, [target])
    return found


def with_layouts(name: str, text: str, targets: Iterable[str]) -> list[Seed]:
    """A text through the passes that lay tensors out over lanes; none where those refuse it."""
    from triton_spirv.plugin import front_end
    from triton_spirv.target import find_target

    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{name}.ttir")
        path.write_text(text)
        for target in targets:
            try:
                made = front_end().with_layouts(path, find_target(target), {"num_warps": 4})
            except Exception:  # a pass of Triton's own refuses: this text is none for that target
                continue
            found.append(Seed(name, target, made.ttgir))
    return found


def write(seeds: list[Seed], path: Path) -> None:
    path.write_text(json.dumps([asdict(seed) for seed in seeds]))


def read(path: Path) -> list[Seed]:
    return [Seed(**fields) for fields in json.loads(path.read_text())]
