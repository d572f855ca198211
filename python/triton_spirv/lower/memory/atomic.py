"""Atomic operations on global memory: read-modify-write, compare and swap, load, store, poll.

A tensor's elements are served one after the other, each exactly once. Integers of 32 and 64 bits, and float
additions where the device has them, are one instruction. Everything else is a loop of compare-and-exchange:
bf16 and f16 sums, and all of 8 or 16 bits, which take place in the aligned 32-bit word around the element
(the rest of the word keeps what others put there).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ...dataclass import dataclass
from ...ir.model import IntegerType, Operation, PointerType
from ...ir.model import Type as ElementType
from ...spirv.builder import I32, Builder
from ...spirv.control import IfElse, While
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Float, Int, Type
from ..context import Context, StepLoop
from ..lanes.elements import EVERYONE, acting, guarded, owner, redundant, visit_elements
from ..lanes.exchange import from_owner
from ..plan.accesses import Access
from ..registry import lowers
from ..stop_word import goes_on
from ..values.numbers import from_arithmetic, is_bits, to_arithmetic
from ..values.tensor import Bound, Fragment
from ..values.types import element_of, is_pointer, register_type, storage_type
from .decide import plan_atomic

#: Ticks of the clock per nanosecond of a timeout: up to 4 GHz it may last longer than asked, not shorter.
TICKS_PER_NANOSECOND = 4

#: Orders of an atomic operation that what the program did before, or does after it, has to keep.
RELEASING, ACQUIRING = ("release", "acq_rel"), ("acquire", "acq_rel")

#: atomic_rmw_op -> (the environment's name, the new value of two integers)
INTEGER: dict[str, tuple[str, Callable[[Builder, Register, Register], Register]]] = {
    "add": ("add", lambda b, x, y: b.iadd(x, y)),
    "and": ("and", lambda b, x, y: b.iand(x, y)),
    "or": ("or", lambda b, x, y: b.ior(x, y)),
    "xor": ("xor", lambda b, x, y: b.ixor(x, y)),
    "max": ("max", lambda b, x, y: b.select(b.compare("OpSGreaterThan", x, y), x, y)),
    "min": ("min", lambda b, x, y: b.select(b.compare("OpSLessThan", x, y), x, y)),
    "umax": ("umax", lambda b, x, y: b.select(b.compare("OpUGreaterThan", x, y), x, y)),
    "umin": ("umin", lambda b, x, y: b.select(b.compare("OpULessThan", x, y), x, y)),
    "exch": ("exchange", lambda b, x, y: y),
}


@dataclass(frozen=True)
class Place:
    """One element in memory: its address (i64), its IR type, and the operation's scope and order."""

    ctx: Context
    address: Register
    type: ElementType
    scope: str
    order: str

    @property
    def storage(self) -> Int:
        """The integer as wide as the element in memory."""
        return _storage(self.type)

    @property
    def release(self) -> str:
        """The order of a fence before relaxed accesses in place of an ordered one."""
        return "release" if self.order in ("release", "acq_rel") else "relaxed"

    @property
    def acquire(self) -> str:
        """The order of a fence behind them."""
        return "acquire" if self.order in ("acquire", "acq_rel") else "relaxed"

    def pointer(self, type: Type) -> Register:
        return self.ctx.env.pointer(self.address, type)

    def word(self) -> tuple[Register, Register]:
        """For 8 and 16 bits: pointer to the aligned 32-bit word around the element; its lowest bit there."""
        b = self.ctx.b
        pointer = self.ctx.env.pointer(b.iand(self.address, -4), I32)
        return pointer, b.shl(b.iand(b.resize(self.address, 32), 3), 3)

    def part(self, word: Register, low: Register) -> Register:
        """The element in its word."""
        b = self.ctx.b
        return b.resize(b.lshr(word, low), self.storage.width)

    def to_bits(self, value: Register) -> Register:
        """A register of the element as the integer that is in memory."""
        b = self.ctx.b
        if isinstance(value.type, Bool):
            return b.select(value, b.constant(self.storage, 1), 0)
        return self.ctx.env.address(value) if is_pointer(value) else b.bitcast(value, self.storage)

    def from_bits(self, bits: Register) -> Register:
        b = self.ctx.b
        type = register_type(self.type)
        return b.compare("OpINotEqual", bits, 0) if isinstance(type, Bool) else b.bitcast(bits, type)

    def update(self, change: Callable[[Register], Register]) -> Register:
        """Replace the element's bits by `change` of them; the old bits. A loop of compare-and-exchange.

        The loop is relaxed and stands between fences: one for all rounds, and a driver that makes every
        ordered atomic a barrier of the work-group (Mesa's software device) would wait in it for lanes that
        have left.
        """
        env, narrow = self.ctx.env, self.storage.width < 32
        pointer, low = self.word() if narrow else (self.pointer(self.storage), self.ctx.b.constant(I32, 0))

        def changed(word: Register) -> Register:
            return self._with(word, low, change(self.part(word, low))) if narrow else change(word)

        env.fence(self.scope, self.release)
        old = env.update_word(pointer, self.scope, changed)
        env.fence(self.scope, self.acquire)
        return self.part(old, low) if narrow else old

    def _with(self, word: Register, low: Register, part: Register) -> Register:
        b = self.ctx.b
        ones = b.shl(b.constant(I32, (1 << self.storage.width) - 1), low)
        return b.ior(b.iand(word, b.ixor(ones, -1)), b.shl(b.resize(part, 32, signed=False), low))

    def exchange(self, compare: Register, value: Register) -> Register:
        """Replace the bits where they equal `compare`; the old bits."""
        b, env = self.ctx.b, self.ctx.env
        if self.storage.width >= 32:
            return env.compare_exchange(self.pointer(self.storage), compare, value, self.scope, self.order)
        return self.update(lambda old: b.select(b.compare("OpIEqual", old, compare), value, old))

    def load(self, order: str) -> Register:
        """The element's bits."""
        if self.storage.width >= 32:
            return self.ctx.env.atomic_load(self.pointer(self.storage), self.scope, order)
        pointer, low = self.word()
        return self.part(self.ctx.env.atomic_load(pointer, self.scope, order), low)


def _storage(type: ElementType) -> Int:
    """The integer as wide as an element in memory."""
    stored = storage_type(type)
    assert isinstance(stored, (Int, Float))
    return Int(stored.width)


# --- each element once --------------------------------------------------------------------------------------


def each(ctx: Context, op: Operation, operands: tuple[Bound, ...], mask: Bound | None,
         action: Callable[..., Register | None], result: ElementType | None = None,
         short: bool = False) -> Bound | None:
    """`action(place, *operands)`, one instruction if it is short, for the scalar, or for every element of the
    tensors: op.ptr and `operands`.

    What action returns, of IR element type `result`, is the operation's result; 0 where the mask is false.
    """
    ctx.pending.settle(memory_only=True)
    ptr = ctx.bindings.value(op.ptr)
    plan = plan_atomic(ctx, op, ptr, mask)
    writes = op.has("writes")
    ctx.shared.touches(op, ptr, writes, plan.layout, releases=op.attributes["sem"] in RELEASING)

    def done() -> None:
        """The elements are served, and what this returns is not yet exchanged between lanes."""
        acquires = op.attributes["sem"] in ACQUIRING or op.has("waits")
        ctx.shared.touches(op, ptr, writes, plan.layout, acquires=acquires, again=True)

    return _each(ctx, plan, ptr, operands, mask if plan.cold else None, action, result, done, short)


def _each(ctx: Context, access: Access, ptr: Bound, operands: tuple[Bound, ...], mask: Bound | None,
          action: Callable[..., Register | None], result: ElementType | None,
          done: Callable[[], None], short: bool) -> Bound | None:
    op = access.operation
    pointer = element_of(op.ptr.type)
    assert isinstance(pointer, PointerType)
    make = partial(Place, ctx, type=pointer.pointee, scope=op.attributes["scope"], order=op.attributes["sem"])
    if op.results and not op.results[0].uses:
        result = None
    layout = access.layout
    if layout is None:
        assert isinstance(ptr, Register) and (mask is None or isinstance(mask, Register))
        ctx.recorder.add(access)
        acts = _both(ctx, acting(ctx), mask)
        old = _where(ctx, acts, lambda: action(make(ctx.env.address(ptr)), *operands), result)
        done()
        return from_owner(ctx, old, *EVERYONE) if old is not None else None
    copies = redundant(layout)
    owns = owner(ctx, *copies)
    tensors = (ptr, mask, *operands)

    def visit(row: list[Register]) -> Register | None:
        return _where(ctx, _both(ctx, owns, row[1]), lambda: action(make(row[0]), *row[2:]), result)
    walk = ctx.walks.plan(op, [(x, layout) for x in tensors if x is not None and not isinstance(x, Register)])
    stored = ctx.arrays.allocate(layout.shape, result) if result is not None and layout.steps > 1 else None
    with StepLoop(ctx.walks, len(layout.step)):
        made = visit_elements(ctx, layout, tensors, visit, result, short)
        ctx.recorder.add(access)
        done()
        if made is not None:
            shared = tuple(from_owner(ctx, old, *copies) for old in made.registers)
            made = Fragment(layout, made.element, shared)
        if stored is not None and made is not None:
            ctx.arrays.write(stored, made)
    ctx.walks.finish(walk)
    if stored is not None or made is None:
        return stored
    return ctx.evaluation.fragment(made, ctx.layouts.of(op.ptr.type))


def _both(ctx: Context, x: Register | None, y: Register | None) -> Register | None:
    return x if y is None else y if x is None else ctx.b.logical_and(x, y)


def _where(ctx: Context, condition: Register | None, action: Callable[[], Register | None],
           result: ElementType | None) -> Register | None:
    """What `action` returns where the condition holds, else 0."""
    if result is None:
        guarded(ctx, condition, action)
        return None
    if condition is None or condition.constant is True:
        return action()
    branch = IfElse(ctx.b.module, condition)
    type = register_type(result)
    with branch.then():
        value = action()
        assert value is not None
        branch.yield_([value])
    with branch.otherwise():
        branch.yield_([ctx.b.constant(type, False if isinstance(type, Bool) else 0)])
    return branch.results[0]


# --- the operations -----------------------------------------------------------------------------------------


@lowers("tt.atomic_rmw")
def atomic_rmw(ctx: Context, op: Operation, ptr: Bound, val: Bound, mask: Bound | None) -> Bound | None:
    """ptr, val [...] -> the old values; masked elements are not touched."""
    kind = op.attributes["atomic_rmw_op"]
    element = element_of(op.results[0].type)
    if kind == "fadd":
        return each(ctx, op, (val,), mask, partial(_float_add, ctx), element,
                    short=ctx.env.has_atomic("fadd", register_type(element)))
    return each(ctx, op, (val,), mask, partial(_modify, kind, ctx), element,
                short=ctx.env.has_atomic(INTEGER[kind][0], _storage(element)))


def _modify(kind: str, ctx: Context, place: Place, value: Register) -> Register:
    name, change = INTEGER[kind]
    bits = place.to_bits(value)
    if ctx.env.has_atomic(name, place.storage):
        old = ctx.env.atomic(name, place.pointer(place.storage), bits, place.scope, place.order)
    else:
        old = place.update(lambda old: change(ctx.b, old, bits))
    return place.from_bits(old)


def _float_add(ctx: Context, place: Place, value: Register) -> Register:
    """f32 and f64 where the device adds them; f16 and bf16 in f32, rounded once."""
    b = ctx.b
    if ctx.env.has_atomic("fadd", value.type):
        return ctx.env.atomic("fadd", place.pointer(value.type), value, place.scope, place.order)
    if value.type in (Float(32), Float(64)):
        widen = narrow = lambda x: x
    elif is_bits(place.type):
        widen = partial(to_arithmetic, b, type=place.type)
        narrow = partial(from_arithmetic, b, type=place.type)
    else:
        widen = partial(b.convert, "OpFConvert", element=Float(32))
        narrow = partial(ctx.env.narrow, element=Float(16))
    wide = widen(value)

    def add(old: Register) -> Register:
        return place.to_bits(narrow(b.binary("OpFAdd", widen(place.from_bits(old)), wide)))
    return place.from_bits(place.update(add))


@lowers("tt.atomic_cas")
def atomic_cas(ctx: Context, op: Operation, ptr: Bound, cmp: Bound, val: Bound) -> Bound | None:
    """ptr, cmp, val [...] -> the old values; floats are compared by their bits."""
    def swap(place: Place, compare: Register, value: Register) -> Register:
        return place.from_bits(place.exchange(place.to_bits(compare), place.to_bits(value)))
    return each(ctx, op, (cmp, val), None, swap, element_of(op.results[0].type))


@lowers("tt.atomic_load")
def atomic_load(ctx: Context, op: Operation, ptr: Bound, mask: Bound | None) -> Bound | None:
    """ptr [...] -> [...]; 0 where the mask is false."""
    element = element_of(op.results[0].type)
    return each(ctx, op, (), mask, lambda place: place.from_bits(place.load(place.order)), element)


@lowers("tt.atomic_store")
def atomic_store(ctx: Context, op: Operation, ptr: Bound, value: Bound, mask: Bound | None) -> None:
    """ptr, value [...]; masked elements are not touched."""
    def put(place: Place, value: Register) -> None:
        bits = place.to_bits(value)
        if place.storage.width >= 32:
            ctx.env.atomic_store(place.pointer(place.storage), bits, place.scope, place.order)
        else:
            place.update(lambda old: bits)
    each(ctx, op, (value,), mask, put)


@lowers("tt.atomic_poll")
def atomic_poll(ctx: Context, op: Operation, ptr: Bound, expected: Bound,
                timeout: Register | None) -> Bound | None:
    """Wait until memory holds `expected`; false where `timeout` (i64, ns for all elements together) passed
    first. The whole program waits, whatever the operation's order and whether or not its result is used."""
    b = ctx.b
    limit = b.imul(timeout, TICKS_PER_NANOSECOND) if timeout is not None else None
    start = ctx.env.ticks() if limit is not None else None

    def wait(place: Place, wanted: Register) -> Register:
        bits = place.to_bits(wanted)
        loop = While(b.module)
        with loop.before():
            found = b.compare("OpIEqual", place.load("relaxed"), bits)
            go_on = b.logical_not(found)
            if start is not None and limit is not None:
                go_on = b.logical_and(go_on, b.compare("OpULessThan", b.isub(ctx.env.ticks(), start), limit))
            loop.condition(goes_on(ctx, go_on, together=False), [found])
        with loop.body():
            loop.yield_([])
        ctx.env.fence(place.scope, place.acquire)
        return loop.results[0]
    return each(ctx, op, (expected,), None, wait, IntegerType(1))
