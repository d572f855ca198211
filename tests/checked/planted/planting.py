"""Kernels with mistakes: what their files share, and how a mistake is planted.

A file has kernels, a function launch_NAME for each, and BUGS: for each kernel lines of

    kind      how the line begins     what stands there => what shall     [how the line begins that is found]

with two spaces or more between columns. A mistake changes one line of the file's text, whose number stays.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import triton_spirv

FOLDER = Path(__file__).parent
FILES = ("pointwise", "norms", "products", "indexed", "scans")

#: kind of a mistake -> the check that finds it (bounds is made besides: wild accesses end the process)
CHECKS = {
    **dict.fromkeys(("mask", "unmasked", "wide", "before", "beyond", "stride", "swapped", "table", "index",
                     "grid", "bound"), "bounds"),
    **dict.fromkeys(("far", "hint", "assume", "shift", "divide", "convert"), "overflow"),
    "other": "uninit", "nan": "nan", "race": "race",
}


#: checks of kernels without mistakes; of products, a driver takes a minute to compile all of them together
ALL = {**dict.fromkeys(FILES, ("all",)), "products": ("bounds,uninit", "overflow,bounds", "nan,bounds")}


def floats(*shape: int) -> Any:
    """An array of normal numbers, the same ones each time."""
    return triton_spirv.asarray(np.random.default_rng(0).standard_normal(shape).astype(np.float32))


def integers(values: Iterable[Any], dtype: str = "int32") -> Any:
    """An array of these."""
    return triton_spirv.asarray(np.array(list(values), np.int64).astype(dtype))


def zeros(*shape: int, dtype: str = "float32") -> Any:
    """An array of zeros."""
    return triton_spirv.asarray(np.zeros(shape, dtype))


@dataclass(frozen=True)
class Bug:
    """A mistake in a kernel of a file: its kind, the number and the new text of a line, the number of the
    line that is to be found."""

    file: str
    kernel: str
    kind: str
    line: int
    text: str
    found: int

    def __str__(self) -> str:
        return f"{self.kernel}-{self.kind}"


def text_of(file: str) -> list[str]:
    """The lines of a file of kernels."""
    return (FOLDER / "kernels" / f"{file}.py").read_text(encoding="utf-8").splitlines()


def load(lines: Sequence[str], place: Path) -> ModuleType:
    """The module that the lines are, written to a file: Triton reads the text of its kernels from there."""
    place.write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = importlib.util.spec_from_file_location(place.stem, place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[place.stem] = module
    spec.loader.exec_module(module)
    return module


def bugs(file: str) -> list[Bug]:
    """All of a file's mistakes."""
    lines = text_of(file)
    kernel, kernels = "", dict[int, str]()
    for number, line in enumerate(lines, 1):
        if match := re.match(r"def (?:launch_)?(\w+)\(", line):
            kernel = match[1]
        kernels[number] = kernel
    found, table = [], ""
    for line in lines:
        if match := re.match(r'BUGS\["(\w+)"\] = """', line):
            table = match[1]
        elif line == '"""':
            table = ""
        elif table:
            found.append(_bug(file, table, line, [n for n, of in kernels.items() if of == table], lines))
    return found


def _bug(file: str, kernel: str, row: str, numbers: Sequence[int], lines: Sequence[str]) -> Bug:
    kind, begin, change, *where = re.split(r"  +", row.strip())
    old, _, new = (word.strip() for word in change.partition("=>"))

    def numbered(begin: str) -> int:
        return next(number for number in numbers if lines[number - 1].strip().startswith(begin))

    line = numbered(begin)
    before = lines[line - 1]
    assert before.count(old) == 1, f"{kernel}, {kind}: {old!r} stands {before.count(old)} times in {before!r}"
    return Bug(file, kernel, kind, line, before.replace(old, new), numbered(where[0]) if where else line)
