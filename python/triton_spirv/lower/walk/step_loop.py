"""The loop that walks a tensor of more registers than fit, one window a turn."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Protocol

from ...spirv.builder import I32, Builder
from ...spirv.control import For
from ...spirv.module import Value as Register
from ..plan.recorder import Recorder
from .indices import Indices
from .scopes import Scopes


class Turning(Protocol):
    """What a loop over steps changes: `Walks`."""

    b: Builder
    indices: Indices
    scopes: Scopes
    recorder: Recorder

    def complete(self) -> None: ...


class StepLoop:
    """A loop over `bits` step bits, or straight-line code where there are none; `carried` values go from turn
    to turn.

    `index` counts turns from 0; a reversed loop visits the last step first. A `short` one of two turns is
    unrolled by the driver.
    """

    def __init__(
        self, walks: Turning, bits: int, carried: Sequence[Register] = (), reverse: bool = False,
        short: bool = False,
    ) -> None:
        self.walks, self.bits, self.reverse = walks, bits, reverse
        self.short = short and bits == 1
        self.carried = list(carried)
        self.results = list(carried)
        self.index: Register | None = None
        self._loop: For | None = None

    def __enter__(self) -> StepLoop:
        if self.bits:
            b = self.walks.b
            zero, one = b.constant(I32, 0), b.constant(I32, 1)
            self._loop = For(
                b.module,
                zero,
                b.constant(I32, 1 << self.bits),
                one,
                carried=self.carried,
                control="Unroll" if self.short else "DontUnroll",
            )
            self._loop.__enter__()
            self.index, self.carried = self._loop.index, list(self._loop.carried)
            step = b.isub((1 << self.bits) - 1, self.index) if self.reverse else self.index
            self.walks.indices.pieces.insert(0, (step, self.bits))
            self.walks.scopes.open(walks=True)
            self.walks.recorder.open()
        return self

    def yield_(self, values: Sequence[Register]) -> None:
        """The carried values of the next turn."""
        self.results = list(values)
        if self._loop is not None:
            self._loop.yield_(list(values))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if kind is None:
            self.walks.complete()
        if self._loop is not None:
            turn = self.walks.scopes.close()
            self.walks.recorder.turns(1 << self.bits, self.walks.recorder.close())
            self.walks.scopes.innermost.written |= turn.written  # there is a first turn
            self.walks.indices.pieces.pop(0)
            self._loop.__exit__(kind, error, trace)
            if kind is None:
                self.results = list(self._loop.results)
