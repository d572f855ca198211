"""What a kernel whose assertion fails tells its launcher: WORDS words of 32 bits, 0 before the launch.

    0        the number of the assertion, from 1: its record is `Artifact.asserts[number - 1]`
    1, 2, 3  the program's numbers
    4        an element that fails, in row-major order; 0 for a scalar

The first to fail takes word 0, and it alone writes the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

WORDS = 5


def text(entry: str, records: Sequence[Sequence[Any]], words: Sequence[int]) -> str:
    """What the exception says. records: `Artifact.asserts`."""
    number, x, y, z, flat = words
    if number > len(records):
        return f"{entry}: device-side assert number {number} in program ({x}, {y}, {z})"
    file, line, function, message, shape = records[number - 1]
    index: list[int] = []
    for extent in reversed(shape):
        index.insert(0, flat % extent)
        flat //= extent
    element = f", element {tuple(index)}" if shape else ""
    return f"{file}:{line}: {function}: device-side assert: {message} in program ({x}, {y}, {z}){element}"
