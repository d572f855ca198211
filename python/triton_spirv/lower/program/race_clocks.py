"""What programs know of each other's clocks (race_layout.py), as code that a kernel runs: what one program
knows of another's, what it acquires and releases."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ... import race_layout as words
from ...race_layout import FOLLOWS, NOTHING_KNOWN, OWN_ROW
from ...spirv.builder import I32, I64
from ...spirv.control import For, IfElse, While, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Vector
from ..lanes.elements import guarded

if TYPE_CHECKING:
    from .race_cells import Accesses

#: what the keys of addresses are spread by: odd, and near 2^64 divided by the golden ratio
SPREAD = -7046029254386353131


class Clocks:
    """Clocks as the program of one operation knows them. `refresh` before anything is asked, and when it may
    know more."""

    def __init__(self, accesses: Accesses) -> None:
        self.accesses, self.b, self.env = accesses, accesses.b, accesses.env

    def refresh(self) -> None:
        """What the program knows: a row, the versions of its numbers, the last version that counts."""
        b, knows = self.b, self._own(words.KNOWS)
        follows = b.compare("OpIEqual", knows, FOLLOWS)
        nothing, followed = self.accesses.word(words.NOTHING), self._followed(self.accesses.program)
        none = b.compare("OpIEqual", knows, NOTHING_KNOWN)
        row = b.select(follows, followed, b.select(none, nothing, self._own_row(self.accesses.program)))
        self._knowledge = row, b.select(follows, self._versions(followed), nothing), self._own(words.AS_OF)

    def clock_of(self, program: Register) -> Register:
        """The clock that the program knows of another one, by its number."""
        row, versions, last = self._knowledge
        return self.b.select(self._is_known(self._number(versions, program), last),
                             self._number(row, program), 0)

    def clocks(self, index: Register) -> Register:
        """The same of CHUNK programs in a row."""
        row, versions, last = self._knowledge
        return self._clocks_at(row, versions, last, index)

    # --- places ---------------------------------------------------------------------------------------------

    def _place(self, program: Register, word: int) -> Register:
        """A pointer to a number of a program."""
        b, accesses = self.b, self.accesses
        index = b.iadd(b.imul(program, words.PROGRAM_WORDS), word)
        return accesses.at(accesses.word(words.PROGRAMS), index)

    def _own(self, word: int) -> Register:
        return self.env.load(self.accesses.own(word), 1)

    def _own_row(self, program: Register) -> Register:
        """The address of a program's own row."""
        offset = self.b.imul(self.b.imul(program, self.accesses.word(words.ROW)), 4)
        return self.b.iadd(self.accesses.word(words.ROWS), offset)

    def _followed(self, program: Register) -> Register:
        """The address of the row that a program follows."""
        b = self.b
        number = b.resize(self.env.load(self._place(program, words.FOLLOWED), 1), 64, signed=False)
        return b.iadd(self.accesses.word(words.KNOWN), b.imul(number, words.HEAD))

    def _versions(self, known: Register) -> Register:
        """The address of the versions of an address's row."""
        return self.b.iadd(known, self.b.imul(self.accesses.word(words.ROW), 4))

    def _head(self, known: Register, word: int) -> Register:
        """A pointer to a number in front of an address's row."""
        return self.env.pointer(self.b.iadd(known, 4 * word - words.HEAD), I32)

    def _name(self, known: Register) -> Register:
        """What programs that follow a row note."""
        offset = self.b.isub(known, self.accesses.word(words.KNOWN))
        return self.b.resize(self.b.lshr(offset, words.HEAD.bit_length() - 1), 32)

    def _number(self, row: Register, program: Register) -> Register:
        return self.env.load(self.accesses.at(row, program), 1)

    def _is_known(self, version: Register, last: Register) -> Register:
        return self.b.compare("OpULessThanEqual", version, last)

    def _clocks_at(self, row: Register, versions: Register, last: Register, index: Register) -> Register:
        clocks, since = (self.env.load(self.accesses.at(base, index), words.CHUNK)
                         for base in (row, versions))
        return self.b.select(self._is_known(since, last), clocks, 0)

    def row_of(self, address: Register) -> Register:
        """The row of an address, found by its key in the table, or put there."""
        b, env, accesses = self.b, self.env, self.accesses
        keys, mask = accesses.word(words.KEYS), accesses.word(words.KEY_MASK)
        start = b.iand(b.lshr(b.imul(address, SPREAD), 32), mask)
        loop = While(b.module, [start])
        with loop.before():
            slot, = loop.carried
            key = env.load(accesses.at(keys, slot, I64), 1)
            taken = b.logical_and(b.compare("OpINotEqual", key, 0), b.compare("OpINotEqual", key, address))
            loop.condition(taken, [slot, key])
        with loop.body():
            loop.yield_([b.iand(b.iadd(loop.arguments[0], 1), mask)])
        slot, key = loop.results
        with if_(b.module, b.compare("OpIEqual", key, 0)):
            count = b.iadd(accesses.word(words.COUNT), 1)
            full = IfElse(b.module, b.compare("OpSGreaterThanEqual", b.imul(count, 2), mask))
            with full.then():
                env.store(accesses.place(words.FAILURE), b.constant(I64, words.TABLE_FULL))
            with full.otherwise():
                env.store(accesses.place(words.COUNT), count)
                env.store(accesses.at(keys, slot, I64), address)
        size = b.iadd(b.imul(accesses.word(words.ROW), 8), words.HEAD)
        return b.iadd(b.iadd(accesses.word(words.KNOWN), words.HEAD), b.imul(slot, size))

    # --- acquire --------------------------------------------------------------------------------------------

    def acquire(self, known: Register) -> Register:
        """The program knows what a row knows. Does it know more than that?"""
        b, env, program = self.b, self.env, self.accesses.program
        name, version = self._name(known), env.load(self._head(known, words.VERSION), 1)
        no, yes = b.constant(Bool(), False), b.constant(Bool(), True)
        first = IfElse(b.module, b.compare("OpIEqual", self._own(words.KNOWS), NOTHING_KNOWN))
        with first.then():
            self._follow(known, name)
            first.yield_([no])
        with first.otherwise():
            again = IfElse(b.module, self._follows(program, name))
            with again.then():
                again.yield_([no])
            with again.otherwise():
                with if_(b.module, b.compare("OpIEqual", self._own(words.KNOWS), FOLLOWS)):
                    self._keep(program)
                self._raise(self._own_row(program), lambda index: env.load(
                    self.accesses.at(known, index), words.CHUNK))
                again.yield_([yes])
            first.yield_(again.results)
        env.store(self.accesses.own(words.AS_OF), version)  # of one with a row of its own nobody reads it
        return first.results[0]

    def _follows(self, program: Register, name: Register) -> Register:
        """Does a program follow that row?"""
        knows, followed = (self.env.load(self._place(program, word), 1)
                           for word in (words.KNOWS, words.FOLLOWED))
        return self.b.logical_and(self.b.compare("OpIEqual", knows, FOLLOWS),
                                  self.b.compare("OpIEqual", followed, name))

    def _follow(self, known: Register, name: Register) -> None:
        b, env, accesses = self.b, self.env, self.accesses
        first = self._head(known, words.FOLLOWER)
        for word, value in ((words.KNOWS, b.constant(I32, FOLLOWS)), (words.FOLLOWED, name),
                            (words.NEXT_FOLLOWER, env.load(first, 1))):
            env.store(accesses.own(word), value)
        env.store(first, b.iadd(b.resize(accesses.program, 32), 1))

    def _keep(self, program: Register) -> None:
        """One that follows a row gets a row of its own, with what it knows."""
        b, env, accesses = self.b, self.env, self.accesses
        own, followed = self._own_row(program), self._followed(program)
        versions, last = self._versions(followed), env.load(self._place(program, words.AS_OF), 1)
        self._chunks(lambda index: env.store(
            accesses.at(own, index), self._clocks_at(followed, versions, last, index)))
        env.store(self._place(program, words.KNOWS), b.constant(I32, OWN_ROW))
        env.store(self._place(program, words.AS_OF), b.constant(I32, 0))

    # --- release --------------------------------------------------------------------------------------------

    def most(self) -> Register:
        """How many numbers a clock has."""
        return self.b.shl(self.b.constant(I32, 1), self.b.isub(self.accesses.shift, self.accesses.site_bits))

    def release(self, known: Register, again: Register, more: Register | None, replaces: bool) -> None:
        """A row knows what the program does, itself included, whose clock goes on, but where it only says
        something `again`. `more`: the program knows what the row does; does it know more? None: it need not.
        `replaces`: what the row knew no longer matters."""
        b, env, accesses = self.b, self.env, self.accesses
        clock = self._own(words.CLOCK)
        clock = b.iadd(clock, b.select(again, b.constant(I32, 0), b.constant(I32, 1)))
        fits = IfElse(b.module, b.compare("OpULessThan", clock, self.most()))
        with fits.then():
            env.store(accesses.own(words.CLOCK), clock)
            env.store(accesses.own(words.NEWS), b.constant(I32, 0))
            self._tell(known, more, replaces)
            version = b.iadd(env.load(self._head(known, words.VERSION), 1), 1)
            env.store(self._head(known, words.VERSION), version)
            env.store(accesses.at(known, accesses.program), clock)
            env.store(accesses.at(self._versions(known), accesses.program), version)
        with fits.otherwise():
            env.store(accesses.place(words.FAILURE), b.constant(I64, words.CLOCK_RAN_OVER))

    def _tell(self, known: Register, more: Register | None, replaces: bool) -> None:
        """A row knows what the program knows, and is about to know its clock."""
        b, accesses = self.b, self.accesses
        if replaces:
            self._leave(known, None)
            self.refresh()  # it may have followed this row
            self._copy(known, self.clocks)
            return
        follows = self._follows(accesses.program, self._name(known))
        if more is None:
            none = b.compare("OpIEqual", self._own(words.KNOWS), NOTHING_KNOWN)
            tells = b.logical_not(b.logical_or(follows, none))
        else:
            tells = more
        had = b.compare("OpINotEqual", self._number(known, accesses.program), 0)
        with if_(b.module, b.logical_or(tells, had)):
            self._leave(known, follows)
        guarded(accesses.ctx, tells, lambda: self._raise(known, self.clocks))

    def forget(self, known: Register) -> None:
        """A row knows nothing."""
        nothing = self.b.constant(Vector(I32, words.CHUNK), (0,) * words.CHUNK)
        self._leave(known, None)
        self._copy(known, lambda index: nothing)

    def _leave(self, known: Register, stays: Register | None) -> None:
        """Numbers of a row are about to be replaced: all that follow it get rows of their own, but for the
        program itself where it `stays`."""
        b, env, own = self.b, self.env, self.accesses.program
        first, name = self._head(known, words.FOLLOWER), self._name(known)
        loop = While(b.module, [env.load(first, 1)])
        with loop.before():
            loop.condition(b.compare("OpINotEqual", loop.carried[0], 0), loop.carried)
        with loop.body():
            program = b.resize(b.isub(loop.arguments[0], 1), 64, signed=False)
            leaves = self._follows(program, name)
            if stays is not None:
                leaves = b.logical_and(leaves, b.compare("OpINotEqual", program, own))
            with if_(b.module, leaves):
                self._keep(program)
            loop.yield_([env.load(self._place(program, words.NEXT_FOLLOWER), 1)])
        left = b.constant(I32, 0)
        if stays is not None:
            left = b.select(stays, b.iadd(b.resize(own, 32), 1), 0)
            with if_(b.module, stays):
                env.store(self.accesses.own(words.NEXT_FOLLOWER), b.constant(I32, 0))
        env.store(first, left)

    # --- rows -----------------------------------------------------------------------------------------------

    def _chunks(self, visit: Callable[[Register], None]) -> None:
        b = self.b
        loop = For(b.module, b.constant(I64, 0), self.accesses.word(words.ROW), b.constant(I64, words.CHUNK),
                   control="DontUnroll")
        with loop:
            visit(loop.index)
            loop.yield_([])

    def _raise(self, row: Register, others: Callable[[Register], Register]) -> None:
        b, env = self.b, self.env

        def visit(index: Register) -> None:
            place = self.accesses.at(row, index)
            mine, theirs = env.load(place, words.CHUNK), others(index)
            more = b.compare("OpUGreaterThan", theirs, mine)
            with if_(b.module, b.any(more)):
                env.store(place, b.select(more, theirs, mine))

        self._chunks(visit)

    def _copy(self, row: Register, others: Callable[[Register], Register]) -> None:
        self._chunks(lambda index: self.env.store(self.accesses.at(row, index), others(index)))
