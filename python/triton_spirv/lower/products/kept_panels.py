"""A packed right operand that the next program finds.

Programs of the same columns multiply the same right operand, and to pack it takes a tenth of a product's
time in vectors, and up to a third on tile registers. So what one has packed in a round of its loop is left
on a shelf, memory of the launcher's (panel_layout.py), with a label: of which launch, from which address,
with which strides. A later program of the launch that has the shelf, and would pack what the label says,
multiplies that (facts/kept_panels.py says why that is the same).

A program has a shelf while it packs and multiplies, one round of its loop, or several (waiting_rounds.py); by
an atomic exchange nobody else has it meanwhile. It asks for that of its own thread first, one for each
product of the loop. It tells the thread by where its stack is: a wrong guess costs time, and nothing else.
Where there is none, or no room for the round, or where a mask does not hold everywhere, it packs into an
array of its own.

Programs in an order in which neighbours have other columns find nothing, and a shelf is further away than an
array that is used again and again. So a shelf whose first panel nobody has found is not filled again before
the same first panel comes twice in a row, unless rounds wait on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from math import prod

from ... import panel_layout as layout
from ...dataclass import dataclass
from ...ir.model import Operation
from ...spirv.builder import I32, I64, with_width
from ...spirv.control import For, IfElse, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Int
from ..addresses.masks import all_true, is_proven
from ..addresses.remainders import linear
from ..context import Context
from ..memory.prefetch import SpreadFetches
from ..plan.records import FoundPanel
from ..registry import parts_of_load
from ..values.tensor import Deferred, Stored
from ..values.types import storage_bytes
from .grouped import VECTOR
from .operand import Block, Operand, compute_before, packed_shape, stage_right
from .rounds import Waiting

#: the launcher's memory, by its name among a kernel's parameters
BUFFER = "panel_buffer"

#: Bits of an address in a stack that tell threads apart, from this one on.
STACK_SHIFT = 14


@dataclass(frozen=True)
class Panel:
    """What a program would pack in this round: i64 numbers. least: a variable that tells more of it, if
    any."""

    address: Register
    strides: Sequence[Register]
    round: Register
    bytes: int
    whole: Register
    least: Register | None


@dataclass(frozen=True)
class Shelved:
    """Where rounds lie that wait. number: i64, that of the shelf, -1 for none; round: i64, from 0; label:
    i64, the address of this round's; on_shelf: a scalar Bool, is this round there? elements: of a round."""

    panel: Panel
    base: Register
    array: Register
    number: Register
    round: Register
    label: Register
    on_shelf: Register
    elements: int
    waiting: Waiting

    def label_of(self, ctx: Context, round: Register) -> Register:
        """The address of that of a round, i64."""
        return _places(ctx, self.base, self.number, round, self.panel.bytes)[0]

    def from_round(self, ctx: Context, round: Register, shelved: Register) -> tuple[Register, Register]:
        """The address of the label of a round that waits, i64, and its array, where `shelved` holds; else
        this round's."""
        b = ctx.b
        branch = IfElse(b.module, shelved)
        with branch.then():
            label, place = _places(ctx, self.base, self.number, round, self.panel.bytes)
            branch.yield_([label, b.emit("OpConvertUToPtr", place, type=self.array.type)])
        with branch.otherwise():
            branch.yield_([b.constant(I64, 0), self.array])
        label, array = branch.results
        return label, array


@dataclass(frozen=True)
class Kept:
    """The right operand, packed; lock: i64, the address of the lock of its shelf, 0 where it lies on none.
    shelved: where rounds lie that wait, if any may."""

    block: Block
    lock: Register
    shelved: Shelved | None = None

    def end(self, ctx: Context) -> None:
        """The round has multiplied everything, or waits: then it goes on to have the shelf."""
        b = ctx.b
        goes = b.compare("OpINotEqual", self.lock, 0)
        if self.shelved is not None:
            goes = b.logical_and(goes, b.compare("OpIEqual", self.shelved.waiting.before(ctx), 0))
        with if_(b.module, goes):
            ctx.env.atomic_store(ctx.env.pointer(self.lock, I32), b.constant(I32, 0), "gpu", "release")


def kept_right(ctx: Context, op: Operation, right: Operand, staging: str, panel: int,
               fetches: SpreadFetches, least: Register | None, waiting: Waiting | None = None) -> Kept | None:
    """The right operand of `op` in panels of so many columns, packed by this program or an earlier one;
    None where no program may find another one's."""
    if BUFFER not in ctx.launch.hidden or ctx.env.watch_global is not None \
            or not staging.startswith("panels"):
        return None
    load = right.tensor
    if op not in ctx.launch.keeping or not isinstance(load, Deferred) or load.evaluated is not None \
            or not load.operation.has("loads") or load.operation is not op.b.defining_op:
        return None
    found = _panel(ctx, op, right, load, panel, least)
    if found is None:
        return None
    compute_before(ctx, op, right.inputs(ctx.layouts.default(right.shape)))
    private = ctx.arrays.allocate(packed_shape(right, panel), right.target)
    shelf = _Shelf.of(ctx, found, private, waiting, ctx.launch.keeping.index(op))
    block = _packed(ctx, op, right, staging, panel, fetches, found, shelf)
    shelved = None
    if waiting is not None:
        shelved = Shelved(found, ctx.env.address(ctx.launch.hidden[BUFFER]), shelf.stored.array, shelf.number,
                          found.round, shelf.label, ctx.b.logical_or(shelf.found, shelf.keeps),
                          prod(packed_shape(right, panel)), waiting)
    return Kept(block, shelf.lock, shelved)


def _panel(ctx: Context, op: Operation, right: Operand, load: Deferred, panel: int, least: Register | None
           ) -> Panel | None:
    b, env, loop, body = ctx.b, ctx.env, op.parent_op, op.parent
    pointers, mask, _ = parts_of_load(load)
    found = linear(ctx, load.operation, pointers)
    if loop is None or body is None or found is None:
        return None
    base, affine, test = found
    whole = b.constant(Bool(), True) if test is None else test
    elements = ctx.layouts.default(load.shape)
    if not is_proven(ctx, mask, elements):
        true = all_true(ctx, mask, elements.without_steps())
        if true is None:
            return None
        whole = b.logical_and(whole, true)
    index, lower, step = (b.resize(ctx.bindings.scalar(x), I64.width) for x in (
        body.arguments[0], loop.operands[0], loop.operands[2]))
    strides = [b.constant(I64, s) if isinstance(s, int) else b.resize(s, I64.width)
               for s in affine.strides]
    return Panel(env.address(env.offset(base, affine.base)), strides,
                 b.binary("OpUDiv", b.isub(index, lower), step),
                 prod(packed_shape(right, panel)) * storage_bytes(right.target), whole, least)


def _word(ctx: Context, place: Register, number: int) -> Register:
    """A pointer to one of the i64 words from an address on."""
    return ctx.env.pointer(ctx.b.iadd(place, 8 * number), I64)


def _is(ctx: Context, place: Register, number: int, value: Register | int) -> Register:
    return ctx.b.compare("OpIEqual", ctx.env.load(_word(ctx, place, number), 1), value)


def _put(ctx: Context, place: Register, number: int, value: Register | int) -> None:
    held = ctx.b.constant(I64, value) if isinstance(value, int) else value
    ctx.env.store(_word(ctx, place, number), held)


@dataclass(frozen=True)
class _Shelf:
    """stored: an array on it, or one of the program's own; found: scalar Bools, does it hold the panel
    already? keeps: shall it be labelled when it is packed? launch, label: i64, the number and an address."""

    stored: Stored
    lock: Register
    found: Register
    keeps: Register
    launch: Register
    label: Register
    number: Register

    @staticmethod
    def of(ctx: Context, panel: Panel, private: Stored, waiting: Waiting | None, product: int) -> _Shelf:
        """Take one, unless rounds wait on one. product: which one of the loop's it is for."""
        b, env = ctx.b, ctx.env
        base = env.address(ctx.launch.hidden[BUFFER])
        shelves = env.load(env.pointer(base, I32), 1)
        zero, no = b.constant(I64, 0), b.constant(Bool(), False)
        branch = IfElse(b.module, b.logical_and(panel.whole, b.compare("OpSGreaterThan", shelves, 0)))
        with branch.then():
            rounds = b.resize(env.load(env.pointer(b.iadd(base, 4), I32), 1), 64)
            launch, size, first = (env.load(_word(ctx, base, number), 1) for number in (1, 2, 3))
            fits = b.logical_and(
                b.compare("OpULessThan", panel.round, rounds),
                b.compare("OpULessThanEqual", b.imul(b.iadd(panel.round, 1), panel.bytes), size))
            number = _held(ctx, waiting, fits, lambda: _taken(
                ctx, base, b.select(fits, shelves, b.constant(I32, 0)), product))
            branch.yield_([number, rounds, launch, size, first])
        with branch.otherwise():
            branch.yield_([b.constant(I64, -1), zero, zero, zero, zero])
        number, rounds, launch, size, first = branch.results
        branch = IfElse(b.module, b.compare("OpSGreaterThanEqual", number, 0))
        with branch.then():
            labels = b.iadd(b.imul(rounds, layout.LABEL_BYTES), layout.POLICY_BYTES)
            policy = b.iadd(b.iadd(base, b.imul(number, labels)), layout.LABELS)
            label, place = _places(ctx, base, number, panel.round, panel.bytes)
            found, keeps = _looked_up(ctx, panel, policy, label, launch, waiting is not None)
            lock = b.iadd(b.iadd(base, b.imul(number, layout.LOCK_BYTES)), layout.LOCKS)
            branch.yield_([lock, label, place, found, keeps])
        with branch.otherwise():
            branch.yield_([zero, zero, zero, no, no])
        lock, label, place, found, keeps = branch.results
        shelf = b.emit("OpConvertUToPtr", place, type=private.array.type)
        array = b.emit("OpSelect", b.logical_or(found, keeps), shelf, private.array, type=private.array.type)
        if waiting is not None:  # rounds that wait have theirs, wherever this one lies
            waits = b.compare("OpSGreaterThan", waiting.before(ctx), 0)
            number = b.select(waits, waiting.number(ctx), number)
            locks = b.iadd(b.iadd(base, b.imul(number, layout.LOCK_BYTES)), layout.LOCKS)
            lock = b.select(b.compare("OpSGreaterThanEqual", number, 0), locks, zero)
        return _Shelf(replace(private, array=array), lock, found, keeps, launch, label, number)


def _places(ctx: Context, base: Register, number: Register, round: Register, size: int
           ) -> tuple[Register, Register]:
    """i64: where the label of a round is, and its panels, on a shelf of the memory from an address on; size:
    bytes of a round."""
    b, env = ctx.b, ctx.env
    rounds = b.resize(env.load(env.pointer(b.iadd(base, 4), I32), 1), 64)
    shelf, first = (env.load(_word(ctx, base, word), 1) for word in (2, 3))
    labels = b.iadd(b.imul(rounds, layout.LABEL_BYTES), layout.POLICY_BYTES)
    policy = b.iadd(b.iadd(base, b.imul(number, labels)), layout.LABELS)
    label = b.iadd(b.iadd(policy, b.imul(round, layout.LABEL_BYTES)), layout.POLICY_BYTES)
    return label, b.iadd(b.iadd(b.iadd(base, first), b.imul(number, shelf)), b.imul(round, size))


def _held(ctx: Context, waiting: Waiting | None, fits: Register, taken: Callable[[], Register]) -> Register:
    """i64: the number of the shelf on which rounds wait, if any do and this one fits, else of one that is
    taken."""
    if waiting is None:
        return taken()
    b = ctx.b
    branch = IfElse(b.module, b.compare("OpSGreaterThan", waiting.before(ctx), 0))
    with branch.then():
        branch.yield_([b.select(fits, waiting.number(ctx), b.constant(I64, -1))])
    with branch.otherwise():
        branch.yield_([taken()])
    return branch.results[0]


def _taken(ctx: Context, base: Register, shelves: Register, product: int) -> Register:
    """i64: the number of this thread's shelf for a product among so many, -1 where it has none, or another
    program has it."""
    b, env = ctx.b, ctx.env
    here = b.module.variable(I32)
    b.emit("OpStore", here, b.constant(I32, 0))
    me = b.iadd(b.imul(b.lshr(env.address(here), STACK_SHIFT), 2 * layout.PRODUCTS),
                2 * product + 1)
    none = b.constant(I64, -1)
    loop = For(b.module, b.constant(I32, 0), shelves, b.constant(I32, 1), carried=[none],
               control="DontUnroll")
    with loop:
        number = b.resize(loop.index, 64)
        owner = env.pointer(b.iadd(b.iadd(base, b.imul(number, 8)), layout.OWNERS), I64)
        lock = env.pointer(b.iadd(b.iadd(base, b.imul(number, layout.LOCK_BYTES)), layout.LOCKS), I32)
        seeks = IfElse(b.module, b.compare("OpSLessThan", loop.carried[0], 0))
        with seeks.then():
            theirs = env.atomic_load(owner, "gpu", "relaxed")
            empty = IfElse(b.module, b.compare("OpIEqual", theirs, 0))
            with empty.then():
                before = env.compare_exchange(owner, b.constant(I64, 0), me, "gpu", "relaxed")
                empty.yield_([b.select(b.compare("OpIEqual", before, 0), me, before)])
            with empty.otherwise():
                empty.yield_([theirs])
            mine = IfElse(b.module, b.compare("OpIEqual", empty.results[0], me))
            with mine.then():
                held = env.atomic("exchange", lock, b.constant(I32, 1), "gpu", "acquire")
                mine.yield_([b.select(b.compare("OpIEqual", held, 0), number, none)])
            with mine.otherwise():
                mine.yield_([none])
            seeks.yield_(mine.results)
        with seeks.otherwise():
            seeks.yield_([loop.carried[0]])
        loop.yield_(seeks.results)
    return loop.results[0]


def _looked_up(ctx: Context, panel: Panel, policy: Register, label: Register, launch: Register, always: bool
               ) -> tuple[Register, Register]:
    """Scalar Bools: does the label say that the panel is there? Is it to be kept, if not? The label says
    nothing any more then. always: it is."""
    b = ctx.b
    current = _is(ctx, label, layout.LAUNCH, launch)
    described = [_is(ctx, label, number, value) for number, value in zip(
        (layout.ADDRESS, layout.DOWN, layout.ACROSS), (panel.address, *panel.strides), strict=True)]
    found = reduce(b.logical_and, described, current)
    same = _is(ctx, policy, layout.POLICY_LAUNCH, launch)
    doubt = b.logical_and(same, b.logical_not(_is(ctx, policy, layout.DOUBT, 0)))
    first = IfElse(b.module, b.compare("OpIEqual", panel.round, 0))
    with first.then():
        wasted = b.logical_and(current, _is(ctx, label, layout.FOUND, 0))
        again = b.logical_or(found, b.logical_and(same, _is(ctx, policy, layout.LAST, panel.address)))
        doubtful = b.logical_and(b.logical_or(doubt, wasted), b.logical_not(again))
        _put(ctx, policy, layout.POLICY_LAUNCH, launch)
        _put(ctx, policy, layout.DOUBT, b.select(doubtful, b.constant(I64, 1), 0))
        _put(ctx, policy, layout.LAST, panel.address)
        first.yield_([doubtful])
    with first.otherwise():
        first.yield_([doubt])
    keeps = b.logical_not(found if always else b.logical_or(found, first.results[0]))
    with if_(b.module, found):
        _put(ctx, label, layout.FOUND, 1)
    with if_(b.module, keeps):
        _put(ctx, label, layout.LAUNCH, 0)
    return found, keeps


def _packed(ctx: Context, op: Operation, right: Operand, staging: str, panel: int,
            fetches: SpreadFetches, described: Panel, shelf: _Shelf) -> Block:
    """The operand in the shelf's array, by this program unless it is found."""
    b, env, arms = ctx.b, ctx.env, []
    magnitudes = env.pointer(b.iadd(shelf.label, layout.LEAST), Int(16))
    vector = with_width(Int(16), VECTOR)

    def arm(name: str) -> None:
        arms.append((name, ctx.recorder.close()))
        ctx.scopes.close()

    branch = IfElse(b.module, shelf.found)
    with branch.then():
        ctx.scopes.open()
        ctx.recorder.open()
        ctx.recorder.add(FoundPanel(op, ctx.recorder.array(shelf.stored), ctx.recorder.content(shelf.stored)))
        if described.least is not None:
            b.emit("OpStore", described.least, env.load(magnitudes, VECTOR))
        arm("found")
    with branch.otherwise():
        ctx.scopes.open()
        ctx.recorder.open()
        block = stage_right(ctx, op, right, staging, panel, fetches, shelf.stored, down_first=True)
        with if_(b.module, shelf.keeps):
            if described.least is not None:
                env.store(magnitudes, b.emit("OpLoad", described.least, type=vector))
            for number, value in zip((layout.ADDRESS, layout.DOWN, layout.ACROSS),
                                     (described.address, *described.strides), strict=True):
                _put(ctx, shelf.label, number, value)
            _put(ctx, shelf.label, layout.FOUND, 0)
            _put(ctx, shelf.label, layout.LAUNCH, shelf.launch)
        arm("packed")
    ctx.recorder.versions("has an earlier program packed the right operand?", arms, may_skip=True)
    return block
