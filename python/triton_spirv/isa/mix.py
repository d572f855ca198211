"""Counts what a piece of ISA does: instructions by kind, multiplications, bytes moved, and how much of its
time the matrix engine has.

The model of time is coarse and the same for everybody: a vector engine issues one register's width of 32-bit
channels in a cycle, the matrix engine one repetition; math functions take four times as long.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

from ..dataclass import dataclass
from .listing import Instruction, Listing

KINDS = ("matrix", "multiply-add", "arithmetic", "math", "move", "load", "store", "shared", "atomic",
         "prefetch",
         "spill", "fence", "barrier", "branch", "wait", "end")
#: messages that move data of the kernel
MOVING = ("load", "store", "shared", "atomic")

#: element types of the matrix engine -> bytes
ELEMENT_BYTES = {"tf32": 4, "hf": 2, "bf": 2, "ub": 1, "b": 1, "hf8": 1, "bf8": 1, "u4": 0.5, "s4": 0.5,
                 "u2": 0.25,
                 "s2": 0.25, "e2m1": 0.5}

_SHAPE = re.compile(r"^b?dpasw?\.(\d+)x(\d+)")
_TYPES = re.compile(rf":({'|'.join(sorted(ELEMENT_BYTES, key=len, reverse=True))})\b")
_REGISTER = re.compile(r"\b(r\d+|null)(?=[.:])")
#: "wr:1+4, rd:0": registers sent, of which the second number is data; registers that come back
_TRAFFIC = re.compile(r"\bwr:\d+h?\+(\d+), rd:(\d+)")
_DESCRIPTOR = re.compile(r"\bdesc:0x([0-9A-Fa-f]+)")
_PAYLOAD = re.compile(r"\]\s*r\d+:(\d+)")
_FLOAT = re.compile(r":(f|hf|df|bf)\b")
_WIDE = re.compile(r":(q|uq|df)\b")


@dataclass(frozen=True)
class Mix:
    """A piece of code. macs: multiplications with additions, of all channels; moved: bytes of messages;
    matrix_cycles and other_cycles: by the model of this module."""

    counts: dict[str, int]
    names: dict[str, int] = field(repr=False)
    macs: int = 0
    moved: int = 0
    matrix_cycles: int = 0
    other_cycles: int = 0
    label: str = ""
    #: "file.py:12" of the lines of the source that it is made of, those of most instructions first
    lines: tuple[str, ...] = ()

    @property
    def instructions(self) -> int:
        return sum(self.counts.values())

    @property
    def messages(self) -> int:
        """Loads, stores and the like, spills too."""
        return sum(self.counts.get(kind, 0) for kind in (*MOVING, "spill"))

    @property
    def per_kilomac(self) -> float | None:
        """Instructions for 1000 multiplications; None where nothing is multiplied."""
        return self.instructions * 1000 / self.macs if self.macs else None

    @property
    def bytes_per_kilomac(self) -> float | None:
        return self.moved * 1000 / self.macs if self.macs else None

    @property
    def matrix_share(self) -> float:
        """Of the cycles, those of the matrix engine."""
        total = self.matrix_cycles + self.other_cycles
        return self.matrix_cycles / total if total else 0.0

    @property
    def messages_per_matrix(self) -> float | None:
        """Messages for each instruction of the matrix engine, or for as many multiplications (2048)."""
        matrix = self.counts.get("matrix") or self.macs / 2048
        return self.messages / matrix if matrix else None

    def to_json(self) -> dict[str, Any]:
        """Counts and measures as plain data."""
        measures = {name: None if value is None else round(value, 3) for name, value in (
            ("instructions_per_kilomac", self.per_kilomac), ("bytes_per_kilomac", self.bytes_per_kilomac),
            ("messages_per_matrix", self.messages_per_matrix), ("matrix_share", self.matrix_share))}
        return {"label": self.label, "instructions": self.instructions, "counts": self.counts,
                "names": self.names,
                "macs": self.macs, "bytes": self.moved, **measures,
                **({"lines": list(self.lines)} if self.lines else {})}


def measure(items: Iterable[Instruction | str], register_bytes: int, label: str = "") -> Mix:
    """Count instructions."""
    counts: Counter[str] = Counter()
    names: Counter[str] = Counter()
    macs = moved = matrix = other = 0
    for item in items:
        if isinstance(item, str):
            continue
        kind = item.kind
        counts[kind] += 1
        names[item.message if kind in ("matrix", *MOVING) else item.base] += 1
        macs += multiplications(item)
        moved += transferred(item, register_bytes) if kind in MOVING else 0
        if kind == "matrix":
            matrix += _repetitions(item)
        else:
            other += _cycles(item, kind, register_bytes)
    ordered = {kind: counts[kind] for kind in KINDS if counts[kind]}
    return Mix(ordered, dict(names.most_common()), macs, moved, matrix, other, label)


def multiplications(item: Instruction) -> int:
    """Of all channels of an instruction."""
    if item.kind == "matrix":
        return _matrix_multiplications(item)
    if item.base == "dp4a":
        return 4 * item.width
    return item.width if item.kind == "multiply-add" and _FLOAT.search(item.operands) else 0


def _matrix_multiplications(item: Instruction) -> int:
    shape = _SHAPE.match(item.name)
    operands = item.operands.partition("{")[0]
    registers = _REGISTER.findall(operands)
    # without an accumulator and with one register for both factors it only keeps the engine's caches warm
    if shape is None or (len(registers) >= 4 and registers[1] == "null" and registers[2] == registers[3]):
        return 0
    kinds = _TYPES.findall(operands)[-2:] or ["hf"]
    size = max(ELEMENT_BYTES[kind] for kind in kinds)
    return int(item.width * int(shape[1]) * int(shape[2]) * 4 / size)


def _repetitions(item: Instruction) -> int:
    shape = _SHAPE.match(item.name)
    return int(shape[2]) if shape else 1


def _cycles(item: Instruction, kind: str, register_bytes: int) -> int:
    lanes = register_bytes // 4
    if kind in ("move", "multiply-add", "arithmetic"):
        return max(1, item.width * (2 if _WIDE.search(item.operands) else 1) // lanes)
    return max(1, item.width * 4 // lanes) if kind == "math" else 1


def transferred(item: Instruction, register_bytes: int) -> int:
    """Bytes that a message brings or takes: what a load answers, what a store carries."""
    traffic = _TRAFFIC.search(item.comment)
    if traffic:
        sent, answered = int(traffic[1]), int(traffic[2])
        return (sent + (32 if answered == 31 else answered)) * register_bytes
    descriptor = _DESCRIPTOR.search(item.comment)
    answered = 0 if descriptor is None else int(descriptor[1], 16) >> 20 & 31
    if answered and not item.base.startswith("store"):
        return (32 if answered == 31 else answered) * register_bytes  # the field's largest value means 32
    payload = _PAYLOAD.search(item.operands)
    return int(payload[1]) * register_bytes if payload else 0


def innermost_loops(listing: Listing) -> list[Mix]:
    """The loops that have no other in them, in the order of the text; `label` is where each begins."""
    return [measure(listing.items[start:end + 1], listing.register_bytes, str(listing.items[start]))
            for start, end in loop_spans(listing.items)]


def loop_spans(items: Sequence[Any]) -> list[tuple[int, int]]:
    """First and last item of each innermost loop. Items: labels, as texts, and whatever has `targets`, the
    labels that it may jump to.
    """
    places = {item: index for index, item in enumerate(items) if isinstance(item, str)}
    ends: dict[int, int] = {}
    for index, item in enumerate(items):
        for target in () if isinstance(item, str) else item.targets:
            start = places.get(target, index)
            if start < index:
                ends[start] = max(ends.get(start, 0), index)
    spans = sorted(ends.items())
    return [span for span in spans if not any(_contains(span, other) for other in spans)]


def _contains(outer: tuple[int, int], inner: tuple[int, int]) -> bool:
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


def hottest(loops: Sequence[Mix]) -> Mix | None:
    """The loop with the most multiplications, or else the longest."""
    return max(loops, key=lambda loop: (loop.macs, loop.instructions), default=None)
