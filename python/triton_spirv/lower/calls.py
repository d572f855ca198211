"""`Calls`: functions that are being lowered, one inside the other, and what their values are bound to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..ir.model import Operation, Value
from .values.tensor import Deferred


@dataclass
class Frame:
    """One function instance. pending: deferred values that somebody may still ask for."""

    values: dict[Value, Any] = field(default_factory=dict)
    lowered: set[Operation] = field(default_factory=set)
    pending: list[Deferred] = field(default_factory=list)


class Calls:
    """frame: of the function at hand; names: of the functions around, but for the kernel itself; operations:
    of called functions so far, each as often as it was lowered."""

    def __init__(self) -> None:
        self.frame = Frame()
        self.names: list[str] = []
        self.operations = 0

    @contextmanager
    def entered(self, name: str) -> Iterator[None]:
        """A function is lowered where it is called."""
        self.names.append(name)
        around, self.frame = self.frame, Frame()
        yield
        self.frame = around
        self.names.pop()
