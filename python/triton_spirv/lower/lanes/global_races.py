"""check=lanes: two lanes of a program that meet in the memory of arguments without a barrier in between.

As in shared memory (shared_races.py), but the cells are in a table that the launcher provides, found by the
address: an access that shares its place in the table with one to other memory takes it over, so something may
be missed, and nothing is found that is not so. Programs run one after the other. The table is 64-bit words:
how many entries there are, less one, then for each

    its cell    when it was written last    by whom    when it was read last    by whom    what was stored
    by which of the lane's stores

"When" is the program's number, and below it how many barriers it has passed. Two lanes often store the same
element with the same value; another value is a finding. Barriers part the stores that may meet, so it is one
store of the kernel that gives an element two values, or a barrier is missing. Of one lane, which may store to
a place again and again, it is a finding within one store alone: lanes count those that they come to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...check_layout import ADDING_LANES, ENTRY_WORDS, MANY_LANES, PLACE_BIT, race_word
from ...environment.base import Environment
from ...spirv.builder import I32, I64, Builder, width_of
from ...spirv.control import For, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Int, Void
from ...spirv.values import Function

if TYPE_CHECKING:
    from ..context import Context
    from .shared_races import SharedRaces

KINDS = ("read", "write", "add")


class GlobalRaces:
    """The check of one kernel, beside that of its shared memory: made before the kernel is begun."""

    def __init__(self, b: Builder, env: Environment, arguments: int, shared: SharedRaces) -> None:
        self.b, self.env, self.shared, self._arguments = b, env, shared, arguments
        self._bytes = 16  # of a cell
        self._functions = {kind: self._function(kind) for kind in KINDS}

    # --- in front of the kernel -----------------------------------------------------------------------------

    def _function(self, kind: str) -> Function:
        """Look at the cells of an access and mark them. Its parameters are those of `touched`; the last one
        is the bits that are stored."""
        b, m = self.b, self.b.module
        types = [I64, I64, I32, I32, I64, I32, I32, I32, I32, I64, I64, I64]
        function = m.function(f"met_{kind}", Void(), types)
        address, size, shift, who, now, site, x, y, z, array, put, turn = function.parameters
        m.begin(m.label())
        with if_(m, self._is_watched(array, address)):
            table = self._word(array, race_word(self._arguments))
            last, step = b.iadd(address, b.isub(size, 1)), b.constant(I64, 1)
            wide = b.resize(shift, 64)
            with For(m, b.lshr(address, wide), b.lshr(last, wide), step, inclusive=True) as loop:
                place = b.imul(b.iand(loop.index, self._word(table, 0)), ENTRY_WORDS)
                start = b.iadd(table, b.shl(b.iadd(place, 1), 3))
                cell, written, writer, read, reader, stored, stores = (
                    self.env.pointer(b.iadd(start, 8 * at), I64) for at in range(ENTRY_WORDS))
                with if_(m, b.compare("OpINotEqual", self._load(cell), loop.index)):
                    for word, value in ((cell, loop.index), (written, 0), (read, 0)):
                        self.env.store(word, b.constant(I64, value) if isinstance(value, int) else value)

                bits = b.shl(b.constant(I64, 8), wide)
                behind = b.isub(b.shl(loop.index, wide), address)
                part = b.shl(b.lshr(put, b.iand(b.imul(behind, 8), 63)), b.isub(64, bits))
                mine = self.shared.mark(site, b.constant(I32, ADDING_LANES) if kind == "add" else who)

                def meets(when: Register, before: Register, others: str) -> None:
                    """Report what was there since the last barrier, and is no access of this lane."""
                    found = b.resize(self._load(before), 32)
                    lane = b.iand(found, (1 << PLACE_BIT) - 1)
                    bad = b.compare("OpINotEqual", lane, who)
                    if others:
                        is_one = b.compare(others, lane, ADDING_LANES)
                        if others == "OpIEqual":  # of elements that begin within a cell, two may share it
                            whole = b.compare("OpIEqual", b.iand(address, b.isub(b.lshr(bits, 3), 1)), 0)
                            differs = b.compare("OpINotEqual", self._load(stored), part)
                            differs = b.logical_and(whole, differs)
                            again = b.logical_and(b.compare("OpIEqual", found, mine),
                                                  b.compare("OpIEqual", self._load(stores), turn))
                            bad = b.logical_or(b.logical_and(bad, b.logical_or(is_one, differs)),
                                               b.logical_and(again, differs))
                        else:
                            bad = b.logical_and(bad, is_one)
                    with if_(m, b.logical_and(b.compare("OpIEqual", self._load(when), now), bad)):
                        self.shared.report(array, site, found, who, (x, y, z))

                if kind != "read":
                    meets(read, reader, "")
                meets(written, writer, {"read": "", "write": "OpIEqual", "add": "OpINotEqual"}[kind])
                if kind == "read":
                    known = b.resize(self._load(reader), 32)
                    also = b.logical_and(
                        b.compare("OpIEqual", self._load(read), now),
                        b.compare("OpINotEqual", b.iand(known, (1 << PLACE_BIT) - 1), who))
                    mine = b.select(also, b.ior(mine, MANY_LANES), mine)
                self.env.store(reader if kind == "read" else writer, b.resize(mine, 64))
                self.env.store(read if kind == "read" else written, now)
                if kind == "write":
                    self.env.store(stored, part)
                    self.env.store(stores, turn)
        m.emit("OpReturn")
        m.end_function()
        return function

    def _is_watched(self, array: Register, address: Register) -> Register:
        """Does the address lie in the memory of an argument?"""
        b = self.b
        count, zero, one = b.constant(I64, 2 * self._arguments), b.constant(I64, 0), b.constant(I64, 2)
        with For(b.module, zero, count, one, carried=[b.constant(Bool(), False)]) as loop:
            at = b.iadd(array, b.shl(loop.index, 3))
            begin, end = self._word(at, 0), self._word(at, 1)
            inside = b.logical_and(b.compare("OpSGreaterThanEqual", address, begin),
                                   b.compare("OpSLessThan", address, end))
            loop.yield_([b.logical_or(loop.carried[0], inside)])
        return loop.results[0]

    def _word(self, array: Register, word: int) -> Register:
        """A word of an array, by its address."""
        return self._load(self.env.pointer(self.b.iadd(array, 8 * word), I64))

    def _load(self, pointer: Register) -> Register:
        return self.env.load(pointer, 1)

    # --- in the kernel --------------------------------------------------------------------------------------

    def begin(self, ctx: Context) -> None:
        """At the kernel's first instruction."""
        b, env = self.b, self.env
        number = b.constant(I64, 0)
        for axis in (2, 1, 0):
            number = b.iadd(b.imul(number, b.resize(env.num_programs(axis), 64)),
                            b.resize(env.program_id(axis), 64))
        self._now = b.shl(number, 32)
        self._shift = self.shared.later()
        self._turn = b.module.variable(I64)
        b.emit("OpStore", self._turn, b.constant(I64, 0))
        env.watch_global = self.touched

    def begins_store(self) -> None:
        """A store of the kernel is about to be made, of all of its elements."""
        b = self.b
        b.emit("OpStore", self._turn, b.iadd(b.emit("OpLoad", self._turn, type=I64), 1))

    def touched(self, pointer: Register, size: int, element: int, kind: str, value: Register | None) -> None:
        """An access to `size` bytes of global memory is about to be made; its elements have so many bytes.
        `value`: what a store puts there."""
        b = self.b
        self._bytes = min(self._bytes, element)
        address = self.env.address(pointer)
        if value is None:
            self._touch(address, size, kind, b.constant(I64, 0))
            return
        for number in range(width_of(value.type)):
            one = b.extract(value, number) if width_of(value.type) > 1 else value
            put = b.resize(b.bitcast(one, Int(8 * element)), 64, signed=False)
            self._touch(b.iadd(address, element * number), element, kind, put)

    def _touch(self, address: Register, size: int, kind: str, put: Register) -> None:
        b = self.b
        now = b.ior(self._now, b.resize(self.shared.epoch, 64))
        b.emit("OpFunctionCall", self._functions[kind], address, b.constant(I64, size),
               self._shift[0], self.shared.who, now, b.constant(I32, self.shared.site(kind, "global")),
               *self.shared.program, self.shared.array, put, b.emit("OpLoad", self._turn, type=I64),
               type=Void())

    def finish(self) -> None:
        """All instructions are there: the size of a cell is known."""
        self.env.watch_global = None
        self._shift[1][4] = self.b.constant(I32, self._bytes.bit_length() - 1).id
