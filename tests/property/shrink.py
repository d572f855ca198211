"""The draws of one program, and how they become fewer and smaller while the program still fails."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence


class Choices:
    """Given draws first, then new ones; what was drawn is in `made`."""

    def __init__(self, given: Sequence[int], more: random.Random | None = None) -> None:
        self.given, self.more = given, more
        self.made: list[int] = []

    def __call__(self, low: int, high: int) -> int:
        at = len(self.made)
        if at < len(self.given):
            value = min(max(self.given[at], low), high)
        else:
            value = self.more.randint(low, high) if self.more else low
        self.made.append(value)
        return value


def shrunk(made: list[int], fails: Callable[[list[int]], bool], seconds: float) -> list[int]:
    """Shorter and smaller draws that still fail: pieces are left out, then set to zero, then lowered."""
    deadline = time.monotonic() + seconds
    better = True
    while better:
        better = False
        for change in ("drop", "zero", "halve"):
            size = max(1, len(made) // 2) if change != "halve" else 1
            while size:
                at = len(made) - size
                while at >= 0:
                    if time.monotonic() > deadline:
                        return made
                    piece = made[at : at + size]
                    new = {"drop": [], "zero": [0] * size, "halve": [x // 2 for x in piece]}[change]
                    if new != piece and fails(made[:at] + new + made[at + size :]):
                        made, better = made[:at] + new + made[at + size :], True
                    at -= size
                size //= 2
    return made
