"""Rows of readers (race_layout.py), as code that a kernel runs: states of cells that many programs read, and
no two cells the same ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ... import race_layout as words
from ...race_layout import READERS
from ...spirv.builder import I32, I64
from ...spirv.control import For, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool

if TYPE_CHECKING:
    from .race_states import States


class ReaderRows:
    """Those of one operation's states. A state has the number of its row, + 1."""

    def __init__(self, states: States) -> None:
        self.states, self.accesses, self.b, self.env = states, states.accesses, states.b, states.env

    def of(self, state: Register) -> tuple[Register, Register]:
        """What a state says of its row; has it one?"""
        b, row = self.b, self.states.load(words.STATES, state, words.READ_ROW)
        is_row = b.compare("OpINotEqual", row, 0), b.compare("OpINotEqual", row, words.SHARED)
        return row, b.logical_and(*is_row)

    def share(self, state: Register, before: Register) -> None:
        """A state is given to another cell, which was in the state before."""
        with if_(self.b.module, self.b.compare("OpINotEqual", state, before)):
            self.states.store(words.STATES, state, words.READ_ROW, self.b.constant(I32, words.SHARED))

    def _at(self, row: Register, program: Register) -> Register:
        """A pointer to the stamp of a program."""
        b, accesses = self.b, self.accesses
        size = b.imul(accesses.word(words.ROW), 4)
        offset = b.imul(b.resize(b.isub(row, 1), 64, signed=False), size)
        return accesses.at(b.iadd(accesses.word(words.READ_ROWS), offset), program)

    def note(self, state: Register, row: Register, which: int) -> None:
        """The access is in the row, or in front of one of the other lists."""
        if which == READERS:
            self._put(row)
            return
        first = self.states.load(words.STATES, state, words.FIRSTS + which)
        self.states.store(words.STATES, state, words.FIRSTS + which, self.states.longer(first))

    def _put(self, row: Register) -> None:
        """The program has read the cell; of reads at one clock the first one counts."""
        place = self._at(row, self.accesses.program)
        stamp = self.env.load(place, 1)
        self.env.store(place, self.b.select(self.states.is_same(stamp), stamp, self.accesses.stamp))

    def look(self, row: Register, address: Register) -> Register:
        """Is the access ordered behind all that have read the cell? What is not is recorded."""
        b, env, accesses = self.b, self.env, self.accesses
        loop = For(b.module, b.constant(I64, 0), accesses.word(words.ROW), b.constant(I64, words.CHUNK),
                   [b.constant(Bool(), True)], control="DontUnroll")
        with loop:
            stamps = env.load(self._at(row, loop.index), words.CHUNK)
            bad = b.logical_and(accesses.another(stamps), b.compare(
                "OpUGreaterThanEqual", accesses.clock_in(stamps), accesses.clocks.clocks(loop.index)))
            found = b.any(bad)
            with if_(b.module, found):
                self._record(row, loop.index, address)
            loop.yield_([b.logical_and(loop.carried[0], b.logical_not(found))])
        return loop.results[0]

    def _record(self, row: Register, first: Register, address: Register) -> None:
        b, accesses = self.b, self.accesses
        end, step = b.iadd(first, words.CHUNK), b.constant(I64, 1)
        each = For(b.module, first, end, step, control="DontUnroll")
        with each:
            stamp = self.env.load(self._at(row, each.index), 1)
            with if_(b.module, accesses.unordered(stamp)):
                accesses.record(stamp, address)
            each.yield_([])

    def is_due(self, before: Register) -> Register:
        """Is a state one cell's alone, and has its list become long?"""
        b, accesses, states = self.b, self.accesses, self.states
        first = states.load(words.STATES, before, words.FIRSTS + READERS)
        long = b.compare("OpUGreaterThan", states.load(words.NODES, first, words.LENGTH), words.LONG_LIST)
        alone = b.compare("OpIEqual", states.load(words.STATES, before, words.READ_ROW), 0)
        last, most = accesses.word(words.LAST_READ_ROW), accesses.word(words.MOST_READ_ROWS)
        room = b.compare("OpULessThan", last, most)
        return b.logical_and(b.logical_and(long, alone), room)

    def made(self, before: Register) -> Register:
        """The state behind the access, with a row of those that the state before has in its list."""
        b, env, accesses, states = self.b, self.env, self.accesses, self.states
        count = b.iadd(accesses.word(words.LAST_READ_ROW), 1)
        env.store(accesses.place(words.LAST_READ_ROW), count)
        row = b.resize(count, 32)
        firsts = [states.load(words.STATES, before, words.FIRSTS + which) for which in words.LISTS]

        def put(node: Register, _: list[Register]) -> list[Register]:
            """The first one of each program; what earlier launches left is nothing."""
            stamp = states.load(words.NODES, node, words.NODE_STAMP)
            place = self._at(row, accesses.number_in(stamp))
            with if_(b.module, b.compare("OpULessThan", env.load(place, 1), accesses.floor)):
                env.store(place, stamp)
            return []

        states.walk(firsts[READERS], [], put)
        firsts[READERS] = b.constant(I32, 0)
        written = states.load(words.STATES, before, words.WRITTEN)
        state = states.made(written, firsts, row)
        self._put(row)
        return state
