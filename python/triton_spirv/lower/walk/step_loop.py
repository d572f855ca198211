"""The loop that walks a tensor of more registers than fit, one window a turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...spirv.builder import I32
from ...spirv.control import For
from ...spirv.module import Value as Register
from .evaluation import Evaluation


class StepLoop:
    """A loop over `bits` step bits, or straight-line code where there are none; `carried` values go from turn
    to turn.

    `index` counts turns from 0; a reversed loop visits the last step first.
    """

    def __init__(
        self, ctx: Evaluation, bits: int, carried: Sequence[Register] = (), reverse: bool = False
    ) -> None:
        self.ctx, self.bits, self.reverse = ctx, bits, reverse
        self.carried = list(carried)
        self.results = list(carried)
        self.index: Register | None = None
        self._loop: For | None = None

    def __enter__(self) -> StepLoop:
        if self.bits:
            b = self.ctx.b
            zero, one = b.constant(I32, 0), b.constant(I32, 1)
            self._loop = For(
                b.module,
                zero,
                b.constant(I32, 1 << self.bits),
                one,
                carried=self.carried,
                control="DontUnroll",
            )
            self._loop.__enter__()
            self.index, self.carried = self._loop.index, list(self._loop.carried)
            step = b.isub((1 << self.bits) - 1, self.index) if self.reverse else self.index
            self.ctx.indices.pieces.insert(0, (step, self.bits))
            self.ctx.scopes.open(walks=True)
            self.ctx.recorder.open()
        return self

    def yield_(self, values: Sequence[Register]) -> None:
        """The carried values of the next turn."""
        self.results = list(values)
        if self._loop is not None:
            self._loop.yield_(list(values))

    def __exit__(self, *exception: Any) -> None:
        if exception[0] is None:
            self.ctx.complete()
        if self._loop is not None:
            turn = self.ctx.scopes.close()
            self.ctx.recorder.turns(1 << self.bits, self.ctx.recorder.close())
            self.ctx.scopes.innermost.written |= turn.written  # there is a first turn
            self.ctx.indices.pieces.pop(0)
            self._loop.__exit__(*exception)
            if exception[0] is None:
                self.results = list(self._loop.results)
