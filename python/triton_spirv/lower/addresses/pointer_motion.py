"""How far pointers move to where the kernel will load or store next, from the IR.

In a loop that is a derivative with respect to the iteration: loop-carried values grow by what is added to
them, the counter by the step. Outside of loops it is the distance to what the next program will load, where
programs run in the order of their numbers: where a program computes on what it has loaded (a softmax), or
where a number that it looks up decides (an embedding, a page of a cache). Then the next program's number is
looked up here too. That load is sure to be allowed: it is in
the kernel's first block and has no mask, so that every program makes it; there is a next program; and its
pointer grows with the program's number alone, by no arithmetic that may wrap. Its result is a hint: it does
not matter who writes there meanwhile.
"""

from __future__ import annotations

from ...facts.uniform import uniform_step
from ...ir.model import Block, Operation, Value
from ...spirv.builder import I64
from ...spirv.module import Value as Register
from ...spirv.types import Int
from ...traversal import Asking, Known, answer
from ..context import Context
from ..registry import RULES
from ..values.tensor import Uniform

#: The result grows as the operand does.
AS_OPERAND = frozenset((
    "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans", "arith.extsi", "arith.extui",
    "arith.trunci", "arith.index_cast",
))

#: The result is the operand, which is not negative.
SAME_NUMBER = frozenset(("arith.extsi", "arith.extui", "arith.index_cast"))

#: Further operations, besides those element by element, whose results follow from the operands alone.
FROM_OPERANDS = frozenset(("tt.addptr", "arith.constant", "tt.get_num_programs"))

#: Values that are asked about for one access, at most: addresses are short formulas, and what they grow by is
#: a hint.
FAR = 128

Growth = Register | int | None  # 0, or one number for all elements, in 64 bits; None: unknown


def distance(ctx: Context, access: Operation) -> Register | None:
    """Elements that the pointers of a load or store move by: from one iteration of the scf.for around it to
    the next, or from this program to the next one where that follows from a number looked up. None where they
    do not move, or not all alike."""
    block = access.parent
    if block is None or block.parent is None or block.parent.parent is None:
        return None
    around = block.parent.parent
    if around.name == "scf.for":
        moved = ByIteration(ctx, block, around).of(access.ptr)
        return moved if isinstance(moved, Register) else None
    if around.name != "tt.func" or ctx.call_stack or block is not around.regions[0].entry:
        return None
    by_program = ByProgram(ctx, block)
    moved = by_program.of(access.ptr)
    return moved if isinstance(moved, Register) and by_program.looks_up else None


def to_next_program(ctx: Context, access: Operation) -> Register | None:
    """Elements that the pointers of a load move by from this program to the next one, in the same iteration
    of the loops around it; 0 in the last program. None where that does not follow from the program's number,
    or they do not move."""
    moved = None if ctx.call_stack else ByNumber(ctx).of(access.ptr)
    return moved if isinstance(moved, Register) else None


def in_reach(ctx: Context, access: Operation, moved: Register, last: Register | int = 0) -> Register:
    """The same, but `last` in the last iteration: what lies behind a matrix has an address to translate, and
    no use."""
    body = access.parent
    loop = body.parent.parent if body is not None and body.parent is not None else None
    if body is None or loop is None or loop.name != "scf.for":
        return moved
    index, upper, step = (known_scalar(ctx, x) for x in (body.arguments[0], *loop.operands[1:3]))
    if index is None or upper is None or step is None:
        return moved
    return ctx.b.select(ctx.b.compare("OpSLessThan", ctx.b.iadd(index, step), upper), moved, last)


def rounds_of(ctx: Context, store: Operation) -> tuple[Register, Register] | None:
    """How often the loop around a store runs and moves its pointers on, as a quotient of two numbers in 64
    bits; None where it stands in no such loop."""
    body = store.parent
    loop = body.parent.parent if body is not None and body.parent is not None else None
    if loop is None or loop.name != "scf.for" or distance(ctx, store) is None:
        return None
    lower, upper, step = (known_scalar(ctx, value) for value in loop.operands[:3])
    if lower is None or upper is None or step is None:
        return None
    return ctx.b.isub(ctx.b.iadd(upper, ctx.b.isub(step, 1)), lower), step


class _Growth:
    """What values of a block grow by; derived classes know what changes at all."""

    def __init__(self, ctx: Context, body: Block | None) -> None:
        self.ctx, self.body = ctx, body  # None: every block
        self.known: Known = {}

    def of(self, value: Value) -> Growth:
        """What a value grows by; each is asked once, as code may be emitted for it."""
        return answer(self._rule, value, known=self.known)

    def _rule(self, value: Value) -> Asking[Growth]:
        if len(self.known) > FAR:
            return None
        op = value.defining_op
        block = value.owner if op is None else op.parent
        if block is not self.body and self.body is not None:
            return 0
        if op is None:
            return (yield from self.of_argument(value))
        if op.name in AS_OPERAND:
            return (yield (op.operands[0],))
        if op.name in ("tt.get_program_id", "tt.load"):
            return (yield from self.of_source(op))
        parts: list[Growth] = []
        for operand in op.operands:
            parts.append((yield (operand,)))
        if None in parts:
            return None
        moving = [part for part in parts if isinstance(part, Register)]
        if not moving:
            return 0
        if op.name in ("arith.addi", "tt.addptr"):
            return self.sum(parts)
        if op.name == "arith.muli" and len(moving) == 1:
            factor = known_scalar(self.ctx, op.operands[1 - parts.index(moving[0])])
            return None if factor is None else self.ctx.b.imul(moving[0], factor)
        return None

    def of_argument(self, value: Value) -> Asking[Growth]:
        """What an argument of the block grows by."""
        yield from ()
        return 0

    def of_source(self, op: Operation) -> Asking[Growth]:
        """What a program's number, or what is loaded, grows by."""
        for operand in op.operands:
            if (yield (operand,)) != 0:
                return None
        return 0

    def sum(self, parts: list[Growth]) -> Growth:
        """Of what is added."""
        total: Growth = 0
        for part in parts:
            if part is None:
                return None
            if isinstance(part, Register):
                total = part if not isinstance(total, Register) else self.ctx.b.iadd(total, part)
        return total


class ByIteration(_Growth):
    """From one iteration of an scf.for to the next."""

    def __init__(self, ctx: Context, body: Block, loop: Operation) -> None:
        super().__init__(ctx, body)
        self.loop = loop

    def of_argument(self, value: Value) -> Asking[Growth]:
        yield from ()
        if value.index == 0:
            return known_scalar(self.ctx, self.loop.operands[2])
        chain = uniform_step(self.loop, value.index - 1)
        return None if chain is None else self.sum([known_scalar(self.ctx, step) for step in chain])


class ByNumber(_Growth):
    """From this program to the one after it along x, by the program's number alone. For hints: arithmetic
    that wraps is taken as if it did not."""

    def __init__(self, ctx: Context, body: Block | None = None) -> None:
        super().__init__(ctx, body)

    def of_argument(self, value: Value) -> Asking[Growth]:
        assert isinstance(value.owner, Block)
        around = value.owner.parent.parent
        if around is None or around.name != "scf.for":
            return 0 if around is not None and around.name == "tt.func" else None
        return (yield (around.operands[0 if value.index == 0 else value.index + 2],))

    def of_source(self, op: Operation) -> Asking[Growth]:
        if op.name == "tt.get_program_id":
            return to_next(self.ctx) if op.attributes["axis"] == "x" else 0
        return (yield from super().of_source(op))


class ByProgram(_Growth):
    """From this program to the one after it along x; `looks_up`: does that follow from a number looked up?"""

    def __init__(self, ctx: Context, body: Block) -> None:
        super().__init__(ctx, body)
        self.looks_up = False
        self.steps: Known = {}

    def of_source(self, op: Operation) -> Asking[Growth]:
        if op.name == "tt.get_program_id":
            return to_next(self.ctx) if op.attributes["axis"] == "x" else 0
        steps = answer(self._steps, op.ptr, known=self.steps)
        if steps == 0:
            return (yield from super().of_source(op))
        now, ptr = known_scalar(self.ctx, op.results[0]), self.ctx.frame.values.get(op.ptr)
        if steps != 1 or now is None or not isinstance(ptr, Register):
            return None
        if len(op.operands) != 1 or op.attributes.get("isVolatile"):
            return None
        self.looks_up = True
        following = self.ctx.env.load(self.ctx.env.offset(ptr, to_next(self.ctx)), 1)
        return self.ctx.b.isub(self.ctx.b.resize(following, I64.width), now)

    def _steps(self, value: Value) -> Asking[int | None]:
        """How many times the program's number is added to make this value; None where anything else is done
        with it."""
        if len(self.steps) > FAR:
            return None
        op = value.defining_op
        if op is None or op.parent is not self.body:
            return 0
        if op.name == "tt.get_program_id":
            return 1 if op.attributes["axis"] == "x" else 0
        parts: list[int | None] = []
        for operand in op.operands:
            parts.append((yield (operand,)))
        if op.name in SAME_NUMBER:
            return parts[0]
        if op.name == "tt.addptr" and parts == [0, 1]:
            return 1
        return 0 if _computes(op) and all(part == 0 for part in parts) else None


def _computes(op: Operation) -> bool:
    """Do the results follow from the operands alone? Not of an atomic operation, nor of a branch, which may
    ask for the program's number inside."""
    entry = RULES.get(op.name)
    return op.name in FROM_OPERANDS or (entry is not None and entry.kind == "elementwise")


def to_next(ctx: Context) -> Register:
    """1, or 0 in the last program."""
    b, env = ctx.b, ctx.env
    is_last = b.compare("OpSGreaterThanEqual", b.iadd(env.program_id(0), 1), env.num_programs(0))
    return b.select(is_last, b.constant(I64, 0), 1)


def known_scalar(ctx: Context, value: Value) -> Register | None:
    """A uniform value that is known where the code stands, in 64 bits."""
    bound = ctx.frame.values.get(value)
    if isinstance(bound, Uniform):
        bound = bound.scalar
    if not isinstance(bound, Register) or not isinstance(bound.type, Int):
        return None
    return ctx.b.resize(bound, I64.width)
