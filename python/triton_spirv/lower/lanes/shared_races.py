"""check=lanes: two lanes of a program that meet in shared memory without a barrier in between. (In the
memory of arguments: global_races.py.)

The compiler places barriers itself, so this checks the compiler. Beside shared memory there is shadow memory:
four words for each cell, which is as large as the smallest element that the kernel exchanges.

    when it was written last     by whom     when it was read last     by whom

"When" is how many barriers the program has passed. "Who" is a lane's number, MANY_LANES or ADDING_LANES, and
above it the place in the source. A read of what another lane has written since the last barrier is a finding,
and so is a write of what another lane has read, and an atomic addition to what another lane has stored.
(Lanes often store the same element with the same value, so two stores are none.)

Loops end when the launcher says so (../stop_word.py). In one without a barrier each lane may leave by itself.
In another one the word that one lane has read is exchanged between two barriers, at which no other time
begins, so that they hide no missing ones.

Each access calls a function with this test (`touched`), made in front of the kernel. What it does not know
there, the size of a cell and how many there are, becomes known when the kernel is complete (`finish`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...check_layout import (
    ADDING_LANES,
    LANES,
    MANY_LANES,
    PLACE_BIT,
    RECORD,
    SITE_WORDS,
    SLOTS,
    Site,
    site_word,
)
from ...environment.base import Environment
from ...errors import LoweringError
from ...ir.location import Location
from ...spirv.builder import I32, I64, Builder, Operand
from ...spirv.control import For, if_
from ...spirv.module import Value as Register
from ...spirv.operands import opcode
from ...spirv.passes.graph import LOOP_MERGE, OPCODE, Graph, instruction
from ...spirv.types import Array, Pointer, Void
from ...spirv.values import Function, Words
from .global_races import GlobalRaces

if TYPE_CHECKING:
    from ..context import Context

PLANES = 4
SHARED = "Workgroup"
BARRIER = opcode("OpControlBarrier")

#: how an access is made -> its name for users
KINDS = {"read": "load", "write": "store", "add": "atomic addition"}


class SharedRaces:
    """The check of one kernel: made before it is begun, `begin` at its first instruction, `finish` behind its
    last. `sites`: the places that may report, numbered from `first` on."""

    def __init__(self, b: Builder, env: Environment, arguments: int, first: int) -> None:
        self.b, self.env = b, env
        self.sites: list[Site] = []
        self._first, self._first_word = first, site_word(arguments, first)
        self._places: dict[tuple[str, int, int, str, str], int] = {}
        self._bytes = 16  # of a cell
        self._shadow = b.module.forward_variable(Array(I32, 1), SHARED)
        self._functions = {kind: self._function(kind) for kind in KINDS}
        self._beside = GlobalRaces(b, env, arguments, self)
        self._stops: list[Words] = []

    # --- in front of the kernel -----------------------------------------------------------------------------

    def _function(self, kind: str) -> Function:
        """Look at the cells of an access and mark them. Its parameters are those of `touched`."""
        b, m = self.b, self.b.module
        types = [I32] * 11
        types[-1] = I64
        function = m.function(f"touched_{kind}", Void(), types)
        offset, size, shift, cells, who, epoch, site, x, y, z, array = function.parameters
        m.begin(m.label())
        first, last = b.lshr(offset, shift), b.lshr(b.iadd(offset, b.isub(size, 1)), shift)
        with For(m, first, last, b.constant(I32, 1), inclusive=True) as loop:
            written, writer, read, reader = (self._word(b.iadd(loop.index, b.imul(cells, plane)))
                                             for plane in range(PLANES))

            def meets(when: Register, before: Register, others: str) -> None:
                """Report what was there since the last barrier, and is no access of this lane."""
                found = b.emit("OpLoad", before, type=I32)
                lane = b.iand(found, (1 << PLACE_BIT) - 1)
                bad = b.logical_and(b.compare("OpIEqual", b.emit("OpLoad", when, type=I32), epoch),
                                    b.compare("OpINotEqual", lane, who))
                if others:
                    bad = b.logical_and(bad, b.compare(others, lane, ADDING_LANES))
                with if_(m, bad):
                    self.report(array, site, found, who, (x, y, z))

            if kind != "read":
                meets(read, reader, "")
            meets(written, writer, {"read": "", "write": "OpIEqual", "add": "OpINotEqual"}[kind])
            mine = self.mark(site, b.constant(I32, ADDING_LANES) if kind == "add" else who)
            if kind == "read":
                known = b.emit("OpLoad", reader, type=I32)
                also = b.logical_and(
                    b.compare("OpIEqual", b.emit("OpLoad", read, type=I32), epoch),
                    b.compare("OpINotEqual", b.iand(known, (1 << PLACE_BIT) - 1), who))
                b.emit("OpStore", reader, b.select(also, b.ior(mine, MANY_LANES), mine))
                b.emit("OpStore", read, epoch)
            else:
                b.emit("OpStore", writer, mine)
                b.emit("OpStore", written, epoch)
        m.emit("OpReturn")
        m.end_function()
        return function

    def _word(self, index: Register) -> Register:
        """A word of the shadow memory."""
        return self.b.emit("OpInBoundsAccessChain", self._shadow, index, type=Pointer(SHARED, I32))

    def mark(self, site: Register, who: Register) -> Register:
        """Who accesses memory, and where in the source."""
        return self.b.ior(self.b.shl(self.b.isub(site, self._first), PLACE_BIT), who)

    def report(self, array: Register, site: Register, other: Register, who: Register,
                program: Sequence[Register]) -> None:
        """As lower/program/checks.py does it, with a site that is known at run time alone."""
        b, env = self.b, self.env

        def place(word: Operand) -> Register:
            return b.iadd(array, b.shl(word, 3))

        word = b.iadd(b.imul(b.resize(b.isub(site, self._first), 64), SITE_WORDS), self._first_word)
        slot = env.atomic("add", env.pointer(place(word), I32), b.constant(I32, 1), "gpu", "relaxed")
        with if_(b.module, b.compare("OpULessThan", slot, SLOTS)):
            start = b.iadd(b.iadd(word, 1), b.imul(b.resize(slot, 64), RECORD))
            fields = [*(b.resize(each, 64) for each in (*program, who)), b.resize(other, 64, signed=False)]
            for number, field in enumerate(fields):
                env.store(env.pointer(place(b.iadd(start, number)), I64), field)

    # --- in the kernel --------------------------------------------------------------------------------------

    def begin(self, ctx: Context) -> None:
        """At the kernel's first instruction: no cell has been written or read."""
        b, m, env = self.b, self.b.module, self.env
        self._ctx = ctx
        lanes = ctx.layouts.lanes
        self._epoch = m.variable(I32)
        b.emit("OpStore", self._epoch, b.constant(I32, 1))
        self._shift, self._cells = self.later(), self.later()
        self.who = b.iadd(b.imul(env.warp_id(), ctx.target.sub_group_size), env.lane_id())
        self.array = env.address(ctx.launch.hidden["check_buffer"])
        self.program = [env.program_id(axis) for axis in range(3)]
        zero = b.constant(I32, 0)
        with For(m, zero, b.imul(self._cells[0], PLANES), b.constant(I32, lanes)) as loop:
            b.emit("OpStore", self._word(b.iadd(loop.index, self.who)), zero)
        self._exchange = self._word(b.imul(self._cells[0], PLANES))
        own = b.select(b.compare("OpIEqual", self.who, 0), zero, b.iadd(self.who, 1))
        self._given = self._word(b.iadd(b.imul(self._cells[0], PLANES), own))
        env.barrier()
        self._own = m.functions[-1].instructions[-1]
        env.watch = self.touched
        self._beside.begin(ctx)

    def begins_store(self) -> None:
        """A store to the memory of arguments is about to be made."""
        self._beside.begins_store()

    def later(self) -> tuple[Register, Words]:
        """A number that becomes known when the kernel is complete, and the instruction that makes it."""
        zero = self.b.constant(I32, 0)
        made = self.b.emit("OpIAdd", zero, zero, type=I32)
        return made, self.b.module.functions[-1].instructions[-1]

    def touched(self, offset: Register, size: int, element: int, kind: str) -> None:
        """An access to `size` bytes of shared memory is about to be made, `offset` bytes behind its begin;
        its elements have so many bytes."""
        b = self.b
        self._bytes = min(self._bytes, element)
        site = b.constant(I32, self.site(kind, "shared"))
        b.emit("OpFunctionCall", self._functions[kind], offset, b.constant(I32, size), self._shift[0],
               self._cells[0], self.who, self.epoch, site, *self.program, self.array, type=Void())

    def stop(self, seen: Register) -> Register:
        """The word that ends loops, as a loop's condition asks for it, of what this lane has read."""
        made = self.b.emit("OpIAdd", self.b.resize(seen, 32), self.b.constant(I32, 0), type=I32)
        self._stops.append(self.b.module.functions[-1].instructions[-1])
        self._ctx.convergence.bound(made)
        return made

    @property
    def epoch(self) -> Register:
        """How many barriers the program has passed."""
        return self.b.emit("OpLoad", self._epoch, type=I32)

    def site(self, kind: str, memory: str) -> int:
        """The number of the place that is being lowered, for "shared" or "global" memory."""
        place = self.b.module.location
        if isinstance(place, Location):
            place = place.in_user_code
        key = (*(("", 0, 0) if place is None else (place.file, place.line, place.column)), kind, memory)
        if key not in self._places:
            if len(self.sites) >= 1 << PLACE_BIT - 1:
                raise LoweringError("check=lanes: the kernel has more places than can be numbered")
            self._places[key] = self._first + len(self.sites)
            self.sites.append(Site(LANES, KINDS[kind], *key[:3], kind=memory))
        return self._places[key]

    # --- behind it ------------------------------------------------------------------------------------------

    def finish(self) -> None:
        """All instructions are there: give the shadow memory its size."""
        ctx, b = self._ctx, self.b
        self._beside.finish()
        if ctx.launch.overflow_bytes:
            raise LoweringError("check=lanes: arrays of the kernel that shared memory has no room for lie in "
                                "global memory, where they are not watched; use smaller blocks")
        lanes = ctx.layouts.lanes
        cells = -(-ctx.launch.shared_bytes // self._bytes // lanes) * lanes + lanes
        words = PLANES * cells + (1 + lanes if self._stops else 0)
        needed = ctx.launch.shared_bytes + 4 * words
        if needed > ctx.target.shared_bytes:
            raise LoweringError(f"check=lanes needs {needed} bytes of shared memory with its own, and "
                                f"{ctx.target.name} has {ctx.target.shared_bytes}; use smaller blocks")
        for (_, made), number in ((self._shift, self._bytes.bit_length() - 1), (self._cells, cells)):
            made[4] = b.constant(I32, number).id
        b.module.define_variable(self._shadow, Array(I32, words))

    def count_barriers(self, graph: Graph) -> None:
        """Behind each barrier that the passes have left another time begins."""
        b, m = self.b, self.b.module
        one, type = b.constant(I32, 1).id, m.type_id(I32)
        for block in graph.blocks:
            code: list[Words] = []
            for words in block.instructions:
                code.append(words)
                if words[0] & OPCODE == BARRIER and words is not self._own:
                    before, after = m.new_id(), m.new_id()
                    code += [instruction("OpLoad", type, before, self._epoch.id),
                             instruction("OpIAdd", type, after, before, one),
                             instruction("OpStore", self._epoch.id, after)]
            block.instructions[:] = code
        self._exchange_stops(graph)
        graph.write()

    def _exchange_stops(self, graph: Graph) -> None:
        """In loops with barriers, all lanes get what the first one has read."""
        m, stops = self.b.module, {id(words) for words in self._stops}
        with_barriers = _loops_with_barriers(graph)
        for at, block in enumerate(graph.blocks):
            code: list[Words] = []
            for words in block.instructions:
                if id(words) in stops and at in with_barriers:
                    type, same = words[1], m.new_id()
                    code += [instruction("OpStore", self._given.id, words[3]), list(self._own),
                             instruction("OpLoad", type, same, self._exchange.id), list(self._own),
                             [*words[:3], same, words[4]]]
                else:
                    code.append(words)
            block.instructions[:] = code


def _loops_with_barriers(graph: Graph) -> set[int]:
    """The blocks whose innermost loop has a barrier, in it or in loops inside it. A loop's blocks stand
    together, from its header on."""
    place = {block.label: at for at, block in enumerate(graph.blocks)}
    found: set[int] = set()
    for at, block in enumerate(graph.blocks):
        merge = block.merge
        if merge is None or merge[0] & OPCODE != LOOP_MERGE:
            continue
        inside = range(at, place[merge[2]] + 1)
        has = any(words[0] & OPCODE == BARRIER for k in inside for words in graph.blocks[k].instructions)
        found = found.difference(inside) | (set(inside) if has else set())
    return found
