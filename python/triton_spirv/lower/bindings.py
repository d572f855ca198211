"""`Bindings`: functions that are being lowered, one inside the other, and what their values are bound to."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field

from ..dataclass import dataclass
from ..ir.model import Operation, Value
from ..spirv.module import Value as Register
from .convergence import Convergence
from .plan.recorder import Recorder
from .values.tensor import Bound, Deferred, Stored, Tensor


@dataclass
class Frame:
    """One function instance. pending: deferred values that somebody may still ask for."""

    values: dict[Value, Bound] = field(default_factory=dict)
    lowered: set[Operation] = field(default_factory=set)
    pending: list[Deferred] = field(default_factory=list)


class Bindings:
    """frame: of the function at hand; names: of the functions around, but for the kernel itself; operations:
    of called functions so far, each as often as it was lowered."""

    def __init__(self, convergence: Convergence, recorder: Recorder) -> None:
        self._convergence, self._recorder = convergence, recorder
        self.frame = Frame()
        self.names: list[str] = []
        self.operations = 0

    def value(self, value: Value) -> Bound:
        """What `value` was bound to: a register (scalars) or a Tensor."""
        return self.frame.values[value]

    def scalar(self, value: Value) -> Register:
        """The same of a scalar."""
        bound = self.frame.values[value]
        assert isinstance(bound, Register)
        return bound

    def tensor(self, value: Value) -> Tensor:
        """The same of a tensor."""
        bound = self.frame.values[value]
        assert not isinstance(bound, Register)
        return bound

    def bind(self, value: Value, bound: object) -> None:
        """From here on it is this."""
        if isinstance(bound, Deferred):
            self.frame.pending.append(bound)
        elif isinstance(bound, Register):
            self._convergence.bound(bound)
        elif isinstance(bound, Stored):
            self._recorder.name(bound, value)
        self.frame.values[value] = bound  # type: ignore[assignment]  # or matrices, which products take

    @contextmanager
    def entered(self, name: str) -> Iterator[None]:
        """A function is lowered where it is called."""
        self.names.append(name)
        around, self.frame = self.frame, Frame()
        yield
        self.frame = around
        self.names.pop()
