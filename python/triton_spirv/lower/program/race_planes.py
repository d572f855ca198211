"""Shadow memory of kernels without atomic operations (race_layout.py), as code that a kernel runs: a cell's
last write, and two programs that read it. Nothing orders programs."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from ...race_layout import READS, WRITES
from ...spirv.control import IfElse, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool

if TYPE_CHECKING:
    from .race_cells import Accesses


class Planes:
    """The cells that one operation accesses."""

    def __init__(self, accesses: Accesses) -> None:
        self.accesses, self.b, self.env = accesses, accesses.b, accesses.env
        self.writes = accesses.kind == "write"
        self.planes = (WRITES, READS, READS + 1) if self.writes else (WRITES,)

    def one(self, number: Register, address: Register) -> None:
        """Hold an access to a cell against those before, and note it."""
        b, env, accesses = self.b, self.env, self.accesses
        for plane in self.planes:
            stamp = env.load(accesses.cell(number, plane), 1)
            with if_(b.module, accesses.another(stamp)):
                accesses.record(stamp, address)
        if self.writes:
            env.store(accesses.cell(number, WRITES), accesses.stamp)
            return
        branch = IfElse(b.module, accesses.another(env.load(accesses.cell(number, READS), 1)))
        with branch.then():  # the cell has room for two: the second one is the last
            env.store(accesses.cell(number, READS + 1), accesses.stamp)
        with branch.otherwise():
            env.store(accesses.cell(number, READS), accesses.stamp)

    def together(self, number: Register, width: int) -> Register:
        """The same for neighbouring cells; False, and nothing done, where something races."""
        b, env, accesses = self.b, self.env, self.accesses
        others = [b.any(accesses.another(env.load(accesses.cell(number, plane), width)))
                  for plane in self.planes]
        branch = IfElse(b.module, reduce(b.logical_or, others))
        with branch.then():
            branch.yield_([b.constant(Bool(), False)])
        with branch.otherwise():
            self._note(number, b.splat(accesses.stamp, width), width)
            branch.yield_([b.constant(Bool(), True)])
        return branch.results[0]

    def _note(self, number: Register, stamp: Register, width: int) -> None:
        b, env, accesses = self.b, self.env, self.accesses
        if self.writes:
            env.store(accesses.cell(number, WRITES), stamp)
            return
        place = accesses.cell(number, READS)
        first = env.load(place, width)
        others = accesses.another(first)
        branch = IfElse(b.module, b.any(others))
        with branch.then():
            second = accesses.cell(number, READS + 1)
            env.store(place, b.select(others, first, stamp))
            env.store(second, b.select(others, stamp, env.load(second, width)))
        with branch.otherwise():
            env.store(place, stamp)
