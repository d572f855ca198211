"""Lists of those that shadow memory has no room for (race_layout.py), as code that a kernel runs: who else
read a cell, or changed or read it by an atomic operation, since it was written."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import TYPE_CHECKING

from ... import race_layout as words
from ...race_layout import BEHIND_LISTS, GROUP_BITS, LISTED
from ...spirv.builder import I32, I64
from ...spirv.control import For, IfElse, While, if_
from ...spirv.module import Value as Register

if TYPE_CHECKING:
    from .race_cells import Accesses

#: the address of a node, and its cells -> those of them that it keeps
Visit = Callable[[Register, Register], Register]


class Lists:
    """The lists of a group's planes, for accesses of one operation."""

    def __init__(self, accesses: Accesses) -> None:
        self.accesses, self.b, self.env = accesses, accesses.b, accesses.env
        self.behind = BEHIND_LISTS[accesses.kind]

    # --- places ---------------------------------------------------------------------------------------------

    def _list(self, number: Register, which: Register | int) -> Register:
        """The address of the list of a cell's group."""
        b = self.b
        group = b.imul(b.ashr(number, GROUP_BITS), len(LISTED))
        return b.iadd(self.accesses.word(words.LISTS),
                      b.imul(b.iadd(group, which), 4 * words.LIST_WORDS))

    def _node(self, node: Register) -> Register:
        """The address of a node."""
        offset = self.b.imul(self.b.resize(node, 64, signed=False), 4 * words.NODE_WORDS)
        return self.b.iadd(self.accesses.word(words.NODES), offset)

    def _at(self, address: Register, word: int) -> Register:
        return self.env.pointer(self.b.iadd(address, 4 * word), I32)

    def _load(self, address: Register, word: int) -> Register:
        return self.env.load(self._at(address, word), 1)

    def _store(self, address: Register, word: int, value: Register) -> None:
        self.env.store(self._at(address, word), value)

    def _bit(self, number: Register) -> Register:
        """The bit of a cell in its group."""
        b = self.b
        return b.shl(b.constant(I32, 1), b.resize(b.iand(number, (1 << GROUP_BITS) - 1), 32))

    # --- what accesses ask for ------------------------------------------------------------------------------

    def are_empty(self, number: Register, width: int) -> Register:
        """Is there nobody in the lists that matter to neighbouring cells?"""
        b = self.b
        heads = [self._load(self._list(cell, which), words.FIRST)
                 for cell in (number, b.iadd(number, width - 1)) for which in self.behind]
        return b.compare("OpIEqual", reduce(b.ior, heads), 0)

    def visit(self, number: Register, address: Register) -> None:
        """Hold an access to a cell against who is in its lists; behind a write nobody stays there."""
        if not self.behind:
            return
        b, writes = self.b, self.accesses.kind == "write"
        bit = self._bit(number)

        def each(node: Register, cells: Register) -> Register:
            stamp = self._load(node, words.NODE_STAMP)
            here = b.compare("OpINotEqual", b.iand(cells, bit), 0)
            with if_(b.module, b.logical_and(here, self.accesses.unordered(stamp))):
                self.accesses.record(stamp, address)
            return b.iand(cells, b.unary("OpNot", bit)) if writes else cells

        loop = For(b.module, b.constant(I64, self.behind[0]), b.constant(I64, self.behind[-1] + 1),
                   b.constant(I64, 1), control="DontUnroll")
        with loop:
            self._walk(self._list(number, loop.index), each)
            loop.yield_([])

    def keep(self, number: Register, plane: int, stamp: Register) -> None:
        """Somebody leaves a cell for another one: who is not ordered behind it goes to the list."""
        b = self.b
        tracks = b.compare("OpINotEqual", self.accesses.word(words.TRACKS), 0)
        with if_(b.module, b.logical_and(tracks, self.accesses.unordered(stamp))):
            self._put(self._list(number, LISTED.index(plane)), stamp, self._bit(number))

    def keep_all(self, number: Register, width: int, plane: int, stamp: Register) -> None:
        """The same for neighbouring cells, of one group or two."""
        b, group = self.b, 1 << GROUP_BITS
        assert width <= group
        cells = b.shl(b.constant(I32, (1 << width) - 1), b.resize(b.iand(number, group - 1), 32))
        tracks = b.compare("OpINotEqual", self.accesses.word(words.TRACKS), 0)
        with if_(b.module, b.logical_and(tracks, self.accesses.unordered(stamp))):
            is_one = b.compare("OpULessThan", cells, 1 << group)
            groups = b.select(is_one, b.constant(I64, 1), b.constant(I64, 2))
            loop = For(b.module, b.constant(I64, 0), groups, b.constant(I64, 1), control="DontUnroll")
            with loop:
                shift = b.resize(b.imul(loop.index, group), 32)
                bits = b.iand(b.lshr(cells, shift), (1 << group) - 1)
                at = b.iadd(number, b.imul(loop.index, width - 1))
                self._put(self._list(at, LISTED.index(plane)), stamp, bits)
                loop.yield_([])

    # --- lists ----------------------------------------------------------------------------------------------

    def _put(self, list: Register, stamp: Register, bit: Register) -> None:
        b = self.b
        first = self._load(list, words.FIRST)
        there = self._node(first)  # number 0 is no node, but memory
        same = b.logical_and(b.compare("OpINotEqual", first, 0),
                             b.compare("OpIEqual", self._load(there, words.NODE_STAMP), stamp))
        branch = IfElse(b.module, same)
        with branch.then():
            self._store(there, words.NODE_CELLS, b.ior(self._load(there, words.NODE_CELLS), bit))
        with branch.otherwise():
            taken = self._take()
            with if_(b.module, b.compare("OpINotEqual", taken, 0)):
                node = self._node(taken)
                for word, value in ((words.NODE_STAMP, stamp), (words.NODE_CELLS, bit), (words.NEXT, first)):
                    self._store(node, word, value)
                self._store(list, words.FIRST, taken)
                length = b.iadd(self._load(list, words.LENGTH), 1)
                self._store(list, words.LENGTH, length)
                with if_(b.module, b.compare("OpUGreaterThan", length, self._load(list, words.LIMIT))):
                    self._shorten(list)

    def _take(self) -> Register:
        """A node that is free, or 0."""
        b, accesses = self.b, self.accesses
        free = accesses.small(words.FREE)
        branch = IfElse(b.module, b.compare("OpINotEqual", free, 0))
        with branch.then():
            self.env.store(accesses.place(words.FREE, I32), self._load(self._node(free), words.NEXT))
            branch.yield_([free])
        with branch.otherwise():
            used = b.iadd(accesses.small(words.USED), 1)
            fits = IfElse(b.module, b.compare("OpULessThan", used, accesses.small(words.MOST_NODES)))
            with fits.then():
                self.env.store(accesses.place(words.USED, I32), used)
                fits.yield_([used])
            with fits.otherwise():
                self.env.store(accesses.place(words.FAILURE), b.constant(I64, words.LISTS_FULL))
                fits.yield_([b.constant(I32, 0)])
            branch.yield_(fits.results)
        return branch.results[0]

    def _walk(self, list: Register, visit: Visit) -> None:
        """Visit a list's nodes; those of no cells leave it."""
        b = self.b
        loop = While(b.module, [self._load(list, words.FIRST), b.constant(I32, 0)])
        with loop.before():
            current, before = loop.carried
            loop.condition(b.compare("OpINotEqual", current, 0), [current, before])
        with loop.body():
            current, before = loop.arguments
            node = self._node(current)
            after = self._load(node, words.NEXT)
            cells = visit(node, self._load(node, words.NODE_CELLS))
            self._store(node, words.NODE_CELLS, cells)
            empty = IfElse(b.module, b.compare("OpIEqual", cells, 0))
            with empty.then():
                self._unlink(list, before, after)
                self._store(node, words.NEXT, self.accesses.small(words.FREE))
                self.env.store(self.accesses.place(words.FREE, I32), current)
                empty.yield_([before])
            with empty.otherwise():
                empty.yield_([current])
            loop.yield_([after, empty.results[0]])

    def _unlink(self, list: Register, before: Register, after: Register) -> None:
        """What is behind `before`, or comes first, is no longer there."""
        b = self.b
        self._store(list, words.LENGTH, b.isub(self._load(list, words.LENGTH), 1))
        place = IfElse(b.module, b.compare("OpIEqual", before, 0))
        with place.then():
            self._store(list, words.FIRST, after)
        with place.otherwise():
            self._store(self._node(before), words.NEXT, after)

    def _shorten(self, list: Register) -> None:
        """Of each program and cell the last stamp stays: the first in the list."""
        b, accesses = self.b, self.accesses
        seen = accesses.word(words.SEEN)

        def place(node: Register) -> Register:
            number = b.isub(b.lshr(self._load(node, words.NODE_STAMP), accesses.shift), accesses.base)
            return accesses.at(seen, b.resize(number, 64, signed=False))

        def keep(node: Register, cells: Register) -> Register:
            others = self.env.load(place(node), 1)
            self.env.store(place(node), b.ior(others, cells))
            return b.iand(cells, b.unary("OpNot", others))

        def clear(node: Register, cells: Register) -> Register:
            self.env.store(place(node), b.constant(I32, 0))
            return cells

        self._walk(list, keep)
        self._walk(list, clear)
        limit = b.iadd(b.shl(self._load(list, words.LENGTH), 1), words.SPARE_NODES)
        self._store(list, words.LIMIT, limit)
