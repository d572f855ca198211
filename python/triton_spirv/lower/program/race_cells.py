"""Shadow memory of the race check, as code that a kernel runs (race_layout.py says what they are):
accesses held against those before them and noted."""

from __future__ import annotations

from functools import reduce

from ... import race_layout as words
from ...ir.model import Operation, PointerType, bits_of, element_type
from ...race_layout import region_word
from ...spirv.builder import I32, I64
from ...spirv.control import For, IfElse, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Int, Type
from ..context import Context
from ..lanes.elements import guarded
from .checks import record
from .race_clocks import Clocks
from .race_planes import Planes
from .race_states import States


class State:
    """The words of race_layout.py, of 64 bits; read where they are asked for."""

    def __init__(self, ctx: Context, op: Operation) -> None:
        self.ctx, self.b, self.env = ctx, ctx.b, ctx.env
        array = ctx.launch.hidden["check_buffer"]
        word = self.b.constant(I64, op.attributes["state"])
        self.address = self.env.load(self.env.offset(array, word), 1)

    def place(self, number: int, type: Type = I64) -> Register:
        """A pointer to a word."""
        return self.env.pointer(self.b.iadd(self.address, 8 * number), type)

    def word(self, number: int) -> Register:
        return self.env.load(self.place(number), 1)

    def small(self, number: int) -> Register:
        """A word that has 32 bits."""
        return self.b.resize(self.word(number), 32)

    def at(self, base: Register, index: Register, type: Int = I32) -> Register:
        """A pointer to an element, of 32 bits if nothing else is said, of an array at an address."""
        return self.env.pointer(self.b.iadd(base, self.b.imul(index, type.width // 8)), type)


class Accesses(State):
    """The accesses of one operation, of a kind of race_layout.BEHIND."""

    def __init__(self, ctx: Context, op: Operation) -> None:
        super().__init__(ctx, op)
        self.op, self.kind = op, op.attributes["kind"]
        pointer = element_type(op.ptr.type)
        assert isinstance(pointer, PointerType)
        self.size = max(1, bits_of(pointer.pointee) // 8)
        self.arguments = [i for i in range(op.attributes["count"]) if op.attributes["roots"] >> i & 1]
        self._regions: dict[int, list[Register]] = {}
        self.shares: bool = op.attributes["shares"]
        self.clocks = Clocks(self)
        self.shadow: Planes | States = States(self) if self.shares else Planes(self)

    def watched(self) -> Register:
        """Is any of the arguments watched that are meant?"""
        return reduce(self.b.logical_or, (
            self.b.compare("OpINotEqual", self.word(region_word(i)), self.word(region_word(i) + 1))
            for i in self.arguments))

    def begin(self) -> None:
        """Read what all accesses ask for."""
        b = self.b
        self.cells, self.plane_bytes = self.word(words.CELLS), self.word(words.PLANE_BYTES)
        self.floor, self.shift = self.small(words.FLOOR), self.small(words.SHIFT)
        self.site_bits, self.base = self.small(words.SITE_BITS), self.small(words.BASE)
        self._regions = {i: self._region_words(i) for i in self.arguments}
        across, down = (self.env.num_programs(axis) for axis in (0, 1))
        x, y, z = (self.env.program_id(axis) for axis in range(3))
        self.program = b.resize(b.iadd(x, b.imul(across, b.iadd(y, b.imul(down, z)))), 64, signed=False)
        clock = b.constant(I32, 0)
        if self.shares:
            clock = self.env.load(self.own(words.CLOCK), 1)
            self.clocks.refresh()
        self.stamp = self._stamp(clock)

    def own(self, word: int) -> Register:
        """A pointer to a number of the program."""
        b = self.b
        return self.at(self.word(words.PROGRAMS), b.iadd(b.imul(self.program, words.PROGRAM_WORDS), word))

    def _stamp(self, clock: Register) -> Register:
        """The program at a clock, here."""
        b = self.b
        number = b.shl(b.iadd(self.base, b.resize(self.program, 32)), self.shift)
        return b.ior(b.ior(number, b.shl(clock, self.site_bits)), self.op.attributes["site"])

    def has_news(self) -> None:
        """Something was accessed that is to be released; of kernels without atomic operations nothing is."""
        if self.shares:
            self.env.store(self.own(words.NEWS), self.b.constant(I32, 1))

    # --- cells ----------------------------------------------------------------------------------------------

    def region(self, address: Register) -> tuple[Register, Register, Register]:
        """Does an access lie in an argument that is watched? Of that argument the cell of address 0, and the
        bits of an address within a cell."""
        b = self.b
        found = first = within = None
        for i in self.arguments:
            begin, end, cell, bits = self._regions.get(i) or self._region_words(i)
            here = b.logical_and(b.compare("OpSGreaterThanEqual", address, begin),
                                 b.compare("OpSLessThanEqual", address, b.isub(end, self.size)))
            found = here if found is None else b.logical_or(found, here)
            first = cell if first is None else b.select(here, cell, first)
            within = bits if within is None else b.select(here, bits, within)
        assert found is not None and first is not None and within is not None
        return found, first, within

    def _region_words(self, argument: int) -> list[Register]:
        """Where an argument's memory begins and ends, the cell of address 0, the bits within a cell."""
        return [self.word(region_word(argument) + k) for k in range(4)]

    def cell(self, number: Register, plane: int) -> Register:
        """A pointer to a cell."""
        plane_at = self.b.iadd(self.cells, self.b.imul(self.plane_bytes, plane))
        return self.at(plane_at, number)

    def another(self, stamp: Register) -> Register:
        """Is it another program's, of this launch? Of one stamp, or a vector."""
        b = self.b
        now = b.compare("OpUGreaterThanEqual", stamp, self.floor)
        return b.logical_and(now, b.compare("OpINotEqual", b.lshr(b.ixor(stamp, self.stamp), self.shift), 0))

    def number_in(self, stamp: Register) -> Register:
        """The number of a stamp's program in this launch."""
        b = self.b
        return b.resize(b.isub(b.lshr(stamp, self.shift), self.base), 64, signed=False)

    def clock_in(self, stamp: Register) -> Register:
        """The clock of a stamp, or of a vector of them."""
        b = self.b
        below = b.isub(b.shl(b.constant(I32, 1), self.shift), 1)
        return b.lshr(b.iand(stamp, below), self.site_bits)

    def unordered(self, stamp: Register) -> Register:
        """Is it another program's, of this launch, and not ordered before this access?"""
        b = self.b
        branch = IfElse(b.module, self.another(stamp))
        with branch.then():
            known = self.clocks.clock_of(self.number_in(stamp))
            branch.yield_([b.compare("OpUGreaterThanEqual", self.clock_in(stamp), known)])
        with branch.otherwise():
            branch.yield_([b.constant(Bool(), False)])
        return branch.results[0]

    def access(self, address: Register) -> None:
        """Hold one access against those before, and note it; nothing for memory that is not watched."""
        b = self.b
        here, first, within = self.region(address)

        def look() -> None:
            start, end = (b.ashr(x, within) for x in (address, b.iadd(address, self.size - 1)))
            loop = For(b.module, start, b.iadd(end, 1), b.constant(I64, 1), control="DontUnroll")
            with loop:
                self.shadow.one(b.isub(loop.index, first), address)
                loop.yield_([])

        guarded(self.ctx, here, look)

    def record(self, stamp: Register, address: Register) -> None:
        """Nothing orders the access behind that of a stamp."""
        record(self.ctx, self.op.attributes["word"], self.b.resize(stamp, 64, signed=False), address)

    def together(self, first: Register, last: Register, width: int) -> Register:
        """The same for neighbouring elements, as many as a vector has, all at once; False, and nothing done,
        where that cannot be: where something races, or not all are watched."""
        b = self.b
        here, cell, bits = self.region(first)
        quick = reduce(b.logical_and, (here, self.region(last)[0],
                                       b.compare("OpIEqual", bits, self.size.bit_length() - 1)))
        branch = IfElse(b.module, quick)
        with branch.then():
            branch.yield_([self.shadow.together(b.isub(b.ashr(first, bits), cell), width)])
        with branch.otherwise():
            branch.yield_([b.constant(Bool(), False)])
        return branch.results[0]

    def may_be_together(self) -> bool:
        return len(self.arguments) == 1 and self.kind in ("read", "write")

    # --- releases -------------------------------------------------------------------------------------------

    def access_before_release(self, address: Register, tracks: Register) -> Register:
        """The access of an operation that releases, and whether that only releases again what it did there
        before: then a clock that is half used up need not go on."""
        b, env = self.b, self.env
        branch = IfElse(b.module, tracks)
        with branch.then():
            clock, released = env.load(self.own(words.CLOCK), 1), env.load(
                self.at(self.clocks.row_of(address), self.program), 1)
            short = b.compare("OpUGreaterThanEqual", clock, b.lshr(self.clocks.most(), 1))
            known = b.logical_and(short, b.compare("OpINotEqual", released, 0))
            again = b.logical_and(known, b.compare("OpIEqual", env.load(self.own(words.NEWS), 1), 0))
            branch.yield_([again, b.select(again, b.isub(released, 1), clock)])
        with branch.otherwise():
            branch.yield_([b.constant(Bool(), False), b.constant(I32, 0)])
        again, clock = branch.results
        self.stamp = self._stamp(clock)
        self.access(address)
        with if_(b.module, b.logical_not(again)):
            self.has_news()
        return again
