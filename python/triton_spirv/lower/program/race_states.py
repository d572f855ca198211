"""Shadow memory of kernels with atomic operations (race_layout.py), as code that a kernel runs: what was done
to a cell is a state, which cells share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ... import race_layout as words
from ...race_layout import BEHIND, LISTS, NOTED, READERS
from ...spirv.builder import I32, I64
from ...spirv.control import IfElse, While, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool
from .race_readers import ReaderRows

if TYPE_CHECKING:
    from .race_cells import Accesses


class States:
    """The cells that one operation accesses."""

    def __init__(self, accesses: Accesses) -> None:
        self.accesses, self.b, self.env = accesses, accesses.b, accesses.env
        self.kind, self.rows = accesses.kind, ReaderRows(self)

    # --- places ---------------------------------------------------------------------------------------------

    def load(self, pool: int, number: Register, word: int) -> Register:
        return self.env.load(self._at(pool, number, word), 1)

    def store(self, pool: int, number: Register, word: int, value: Register) -> None:
        self.env.store(self._at(pool, number, word), value)

    def _at(self, pool: int, number: Register, word: int) -> Register:
        """A pointer to a word of a state, or of a node."""
        size = 4 * (words.STATE_WORDS if pool == words.STATES else words.NODE_WORDS)
        offset = self.b.imul(self.b.resize(number, 64, signed=False), size)
        base = self.b.iadd(self.accesses.word(pool), offset)
        return self.env.pointer(self.b.iadd(base, 4 * word), I32)

    def _new(self, pool: int) -> Register:
        """The number of a state, or a node, that was none; 0 where there is no room."""
        b, accesses = self.b, self.accesses
        last, most = {words.STATES: (words.LAST_STATE, words.MOST_STATES),
                      words.NODES: (words.LAST_NODE, words.MOST_NODES)}[pool]
        number = b.iadd(accesses.small(last), 1)
        fits = IfElse(b.module, b.compare("OpULessThan", number, accesses.small(most)))
        with fits.then():
            self.env.store(accesses.place(last, I32), number)
            fits.yield_([number])
        with fits.otherwise():
            self.env.store(accesses.place(words.FAILURE), b.constant(I64, words.STATES_FULL))
            fits.yield_([b.constant(I32, 0)])
        return fits.results[0]

    def _now(self, states: Register) -> Register:
        """Of states, or a vector of them: those of earlier launches are nothing."""
        b = self.b
        return b.select(b.compare("OpUGreaterThan", states, self.accesses.small(words.OLD_STATES)), states, 0)

    # --- accesses -------------------------------------------------------------------------------------------

    def one(self, number: Register, address: Register) -> None:
        """Hold an access to a cell against its state, and give it the next one."""
        b, cell = self.b, self.accesses.cell(number, 0)
        before = self._now(self.env.load(cell, 1))
        if self.kind == "write":
            self.env.store(cell, self._next(before, address))
            return
        row, has = self.rows.of(before)
        branch = IfElse(b.module, has)
        with branch.then():
            self._look(before, address)
            self.rows.note(before, row, NOTED[self.kind])
            branch.yield_([])
        with branch.otherwise():
            self.env.store(cell, self._next(before, address))
            branch.yield_([])

    def _next(self, before: Register, address: Register) -> Register:
        """The state behind an access to a cell; what this very access has made of a state before is known."""
        b = self.b

        def made_before() -> list[Register]:
            after = self.load(words.STATES, before, words.MEMO)
            self.rows.share(after, before)
            return [after]

        known = IfElse(b.module, self._is_known(before))
        with known.then():
            known.yield_(made_before())
        with known.otherwise():
            is_ordered = self._look(before, address)
            again = IfElse(b.module, self._is_memo(before))
            with again.then():
                again.yield_(made_before())
            with again.otherwise():
                again.yield_([self._after_one(before, is_ordered)])
            known.yield_(again.results)
        return known.results[0]

    def together(self, number: Register, width: int) -> Register:
        """The same for neighbouring cells; False, and nothing done, where they are in different states, or
        something races."""
        b, env = self.b, self.env
        cell = self.accesses.cell(number, 0)
        states = self._now(env.load(cell, width))
        before = b.extract(states, 0)
        nothing = [b.constant(Bool(), False), b.constant(I32, 0)]
        same = IfElse(b.module, b.all(b.compare("OpIEqual", states, b.splat(before, width))))
        with same.then():
            known = IfElse(b.module, self._is_known(before))
            with known.then():
                known.yield_([b.constant(Bool(), True), self.load(words.STATES, before, words.MEMO)])
            with known.otherwise():
                clean = IfElse(b.module, self._look(before, None))
                with clean.then():
                    after = self._after(before)
                    self._memorise(before, after, b.constant(Bool(), True))
                    clean.yield_([b.constant(Bool(), True), after])
                with clean.otherwise():
                    clean.yield_(nothing)
                known.yield_(clean.results)
            same.yield_(known.results)
        with same.otherwise():
            same.yield_(nothing)
        done, after = same.results
        with if_(b.module, done):
            env.store(cell, b.splat(after, width))
            self.rows.share(after, before)
        return done

    def _is_known(self, before: Register) -> Register:
        """Has this very access made something of this state before, and raced with nobody?"""
        raced = self.load(words.STATES, before, words.RACED)
        return self.b.logical_and(self._is_memo(before), self.b.compare("OpIEqual", raced, 0))

    def _is_memo(self, before: Register) -> Register:
        return self.b.compare("OpIEqual", self.load(words.STATES, before, words.MEMO_STAMP),
                              self.accesses.stamp)

    def _memorise(self, before: Register, after: Register, is_ordered: Register) -> None:
        raced = self.b.select(is_ordered, self.b.constant(I32, 0), self.b.constant(I32, 1))
        for word, value in ((words.MEMO_STAMP, self.accesses.stamp), (words.MEMO, after),
                            (words.RACED, raced)):
            self.store(words.STATES, before, word, value)

    def _look(self, before: Register, address: Register | None) -> Register:
        """Is the access ordered behind all that it has to be? With its address, what is not is recorded."""
        b, accesses = self.b, self.accesses

        def is_ordered(stamp: Register) -> Register:
            unordered = accesses.unordered(stamp)
            if address is not None:
                with if_(b.module, unordered):
                    accesses.record(stamp, address)
            return b.logical_not(unordered)

        ordered = is_ordered(self.load(words.STATES, before, words.WRITTEN))
        for which in BEHIND[self.kind]:
            first = self.load(words.STATES, before, words.FIRSTS + which)
            ordered, = self.walk(first, [ordered], lambda node, held: [
                b.logical_and(held[0], is_ordered(self.load(words.NODES, node, words.NODE_STAMP)))])
        if address is None or READERS not in BEHIND[self.kind]:
            return ordered  # neighbours are in one state: it has no row
        row, has = self.rows.of(before)
        branch = IfElse(b.module, has)
        with branch.then():
            branch.yield_([b.logical_and(ordered, self.rows.look(row, address))])
        with branch.otherwise():
            branch.yield_([ordered])
        return branch.results[0]

    def walk(self, first: Register, held: list[Register],
              visit: Callable[[Register, list[Register]], list[Register]]) -> list[Register]:
        """Visit a list's nodes."""
        b = self.b
        loop = While(b.module, [first, *held])
        with loop.before():
            loop.condition(b.compare("OpINotEqual", loop.carried[0], 0), loop.carried)
        with loop.body():
            node, *rest = loop.arguments
            given = visit(node, rest)
            loop.yield_([self.load(words.NODES, node, words.NEXT), *given])
        return list(loop.results[1:])

    # --- what comes of a state ------------------------------------------------------------------------------

    def _after(self, before: Register) -> Register:
        """The state behind the access."""
        return self._written() if self.kind == "write" else self.noted(before)

    def _after_one(self, before: Register, is_ordered: Register) -> Register:
        """The same of a single cell, which gets a row of readers when its own list has become long: a state
        of no other cell, which nobody looks up."""
        b = self.b
        if self.kind != "read":
            after = self._after(before)
            self._memorise(before, after, is_ordered)
            return after
        branch = IfElse(b.module, self.rows.is_due(before))
        with branch.then():
            branch.yield_([self.rows.made(before)])
        with branch.otherwise():
            after = self._after(before)
            self._memorise(before, after, is_ordered)
            branch.yield_([after])
        return branch.results[0]

    def _written(self) -> Register:
        """Nothing but this write matters: the same whatever was before, so that state 0 knows it."""
        b, nobody = self.b, self.b.constant(I32, 0)
        known = IfElse(b.module, self._is_known(nobody))
        with known.then():
            known.yield_([self.load(words.STATES, nobody, words.MEMO)])
        with known.otherwise():
            state = self.made(self.accesses.stamp, [nobody for _ in LISTS])
            self._memorise(nobody, state, b.constant(Bool(), True))
            known.yield_([state])
        return known.results[0]

    def noted(self, before: Register) -> Register:
        """The program is in a list; not where it wrote at the same clock: that write is before or behind
        whatever this access is."""
        b, own = self.b, NOTED[self.kind]
        written = self.load(words.STATES, before, words.WRITTEN)
        again = self.is_same(written)
        firsts = [self.load(words.STATES, before, words.FIRSTS + which) for which in LISTS]
        branch = IfElse(b.module, again)
        with branch.then():
            branch.yield_([firsts[own]])
        with branch.otherwise():
            branch.yield_([self.longer(firsts[own])])
        first, = branch.results
        changed = IfElse(b.module, b.compare("OpINotEqual", first, firsts[own]))
        with changed.then():
            firsts[own] = first
            changed.yield_([self.made(written, firsts)])
        with changed.otherwise():
            changed.yield_([before])
        return changed.results[0]

    def is_same(self, stamp: Register) -> Register:
        """Is it the program's, at the same clock?"""
        b = self.b
        return b.compare("OpIEqual", b.lshr(b.ixor(stamp, self.accesses.stamp), self.accesses.site_bits), 0)

    def made(self, written: Register, firsts: list[Register], row: Register | None = None) -> Register:
        """A new state."""
        b, state = self.b, self._new(words.STATES)
        with if_(b.module, b.compare("OpINotEqual", state, 0)):
            for word, value in enumerate((written, *firsts)):
                self.store(words.STATES, state, word, value)
            self.store(words.STATES, state, words.READ_ROW, b.constant(I32, 0) if row is None else row)
        return state

    def longer(self, first: Register) -> Register:
        """The list with this access in front, in place of one that it is ordered behind; one of the program
        at the same clock is as good. Where no program orders another, two are enough."""
        b, accesses = self.b, self.accesses
        stamp, following, room = (self.load(words.NODES, first, word)  # number 0 is no node, but zeros
                                  for word in (words.NODE_STAMP, words.NEXT, words.ROOM))
        unordered = accesses.unordered(stamp)
        tracks = b.compare("OpINotEqual", accesses.word(words.TRACKS), 0)
        enough = b.logical_and(b.logical_not(tracks), b.compare("OpINotEqual", following, 0))
        is_there = b.logical_or(self.is_same(stamp), b.logical_and(unordered, enough))
        branch = IfElse(b.module, is_there)
        with branch.then():
            branch.yield_([first])
        with branch.otherwise():
            is_none = b.compare("OpIEqual", first, 0)
            following = b.select(unordered, first, following)
            room = b.select(is_none, b.constant(I32, words.SPARE_NODES),
                            b.select(unordered, b.isub(room, 1), room))
            node = self._node(accesses.stamp, following, room)
            short = IfElse(b.module, b.logical_and(b.compare("OpINotEqual", node, 0),
                                                   b.compare("OpIEqual", room, 0)))
            with short.then():
                short.yield_([self._shortened(node)])
            with short.otherwise():
                short.yield_([node])
            branch.yield_(short.results)
        return branch.results[0]

    def _node(self, stamp: Register, following: Register, room: Register) -> Register:
        b, node = self.b, self._new(words.NODES)
        with if_(b.module, b.compare("OpINotEqual", node, 0)):
            length = b.iadd(self.load(words.NODES, following, words.LENGTH), 1)
            for word, value in ((words.NODE_STAMP, stamp), (words.NEXT, following), (words.ROOM, room),
                                (words.LENGTH, length)):
                self.store(words.NODES, node, word, value)
        return node

    def _shortened(self, first: Register) -> Register:
        """A list of the first node of each program, which is the last that it did."""
        b, env, accesses = self.b, self.env, self.accesses
        seen = accesses.word(words.SEEN)

        def place(stamp: Register) -> Register:
            return accesses.at(seen, accesses.number_in(stamp))

        def keep(node: Register, held: list[Register]) -> list[Register]:
            stamp = self.load(words.NODES, node, words.NODE_STAMP)
            new = IfElse(b.module, b.compare("OpIEqual", env.load(place(stamp), 1), 0))
            with new.then():
                env.store(place(stamp), b.constant(I32, 1))
                new.yield_([self._node(stamp, held[0], held[1]), b.iadd(held[1], 1)])
            with new.otherwise():
                new.yield_(held)
            return new.results

        def clear(node: Register, _: list[Register]) -> list[Register]:
            env.store(place(self.load(words.NODES, node, words.NODE_STAMP)), b.constant(I32, 0))
            return []

        kept, _ = self.walk(first, [b.constant(I32, 0), b.constant(I32, words.SPARE_NODES)], keep)
        self.walk(first, [], clear)
        return kept
