"""`Convergence`: are all lanes of a program where code is being emitted, and do they have the same there?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..spirv.module import Value as Register


class Convergence:
    """parted: lanes may have gone different ways, so that no barrier may stand here; scalars: ids of what all
    lanes have the same of."""

    def __init__(self) -> None:
        self.parted = False
        self.scalars: set[int] = set()

    def bound(self, register: Register) -> None:
        """A scalar of the kernel is this register."""
        if not self.parted:
            self.scalars.add(register.id)

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Code to which each lane comes by a way of its own."""
        around, self.parted = self.parted, True
        yield
        self.parted = around
