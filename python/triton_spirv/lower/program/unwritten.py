"""Memory that nobody has written (passes/checked/unwritten.py): marks of its bytes, read and cleared. The
array of checks says where they are (check_layout.py)."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce

from ...check_layout import unwritten_word
from ...ir.model import IntegerType, Operation, PointerType, bits_of, element_type
from ...layout import Layout
from ...spirv.builder import I32, I64
from ...spirv.control import For, IfElse, if_
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Int, Vector
from ..context import Context
from ..registry import lowers, pulled
from ..values.tensor import Bound, Fragment, Tensor, Uniform
from .vectors import are_neighbours, briefly, visit_accesses


class Marks:
    """The marks of the bytes that an operation accesses."""

    def __init__(self, ctx: Context, op: Operation) -> None:
        self.b, self.env = ctx.b, ctx.env
        self.array = ctx.launch.hidden["check_buffer"]
        pointer = element_type(op.ptr.type)
        assert isinstance(pointer, PointerType)
        self.size = max(1, bits_of(pointer.pointee) // 8)
        count = op.attributes["count"]
        self.regions = [unwritten_word(count) + 1 + 3 * i for i in range(count)
                        if op.attributes["roots"] >> i & 1]

    def _word(self, number: int) -> Register:
        return self.env.load(self.env.offset(self.array, self.b.constant(I64, number)), 1)

    def exist(self) -> Register:
        """Is there memory of the arguments that nobody has written?"""
        return reduce(self.b.logical_or, (
            self.b.compare("OpINotEqual", self._word(word), self._word(word + 1)) for word in self.regions))

    def find(self, address: Register) -> tuple[Register, Register]:
        """Has an element marks? How far behind it they are."""
        b = self.b
        found = distance = None
        for word in self.regions:
            begin, end, behind = (self._word(word + k) for k in range(3))
            here = b.logical_and(b.compare("OpSGreaterThanEqual", address, begin),
                                 b.compare("OpSLessThanEqual", address, b.isub(end, self.size)))
            found = here if found is None else b.logical_or(found, here)
            distance = behind if distance is None else b.select(here, behind, distance)
        assert found is not None and distance is not None
        return found, distance

    def place(self, address: Register, distance: Register) -> Register:
        """A pointer to the marks of an element, as one integer."""
        return self.env.pointer(self.b.iadd(address, distance), Int(8 * self.size))

    def together(self, first: Register, last: Register, otherwise: Register,
                 action: Callable[[Register], Register]) -> Register:
        """`action` on the marks of neighbours if all of them have some."""
        (here, distance), (there, _) = self.find(first), self.find(last)
        alike = self.b.constant(Bool(), len(self.regions) == 1)
        branch = IfElse(self.b.module, reduce(self.b.logical_and, (here, there, alike)))
        with branch.then():
            branch.yield_([action(self.place(first, distance))])
        with branch.otherwise():
            branch.yield_([otherwise])
        return branch.results[0]


@lowers("ts.give")
def give(ctx: Context, op: Operation, ptr: Tensor | Register, mask: Tensor | Register | None) -> None:
    """The elements are written."""
    b, env, marks = ctx.b, ctx.env, Marks(ctx, op)
    ctx.pending.settle(memory_only=True)

    def one(address: Register) -> None:
        here, distance = marks.find(address)
        with if_(b.module, here):
            env.store(marks.place(address, distance), b.constant(Int(8 * marks.size), 0))

    def together(first: Register, last: Register, width: int) -> Register:
        def clear(place: Register) -> Register:
            env.store(place, b.constant(Vector(Int(8 * marks.size), width), (0,) * width))
            return b.constant(Bool(), True)

        return marks.together(first, last, b.constant(Bool(), False), clear)

    briefly(ctx, marks.exist(), lambda: visit_accesses(ctx, op, marks.size, ptr, mask, one, together))


@pulled("ts.given")
def given(ctx: Context, op: Operation, layout: Layout | None, ptr: Bound, mask: Bound | None
          ) -> Register | Fragment:
    """i1 [...]: has somebody written all bytes of the element? True where the mask is false."""
    b, env, marks = ctx.b, ctx.env, Marks(ctx, op)

    def one(address: Register) -> Register:
        here, distance = marks.find(address)
        branch = IfElse(b.module, here)
        with branch.then():
            branch.yield_([b.compare("OpIEqual", env.load(marks.place(address, distance), 1), 0)])
        with branch.otherwise():
            branch.yield_([b.constant(Bool(), True)])
        return branch.results[0]

    if layout is None:
        assert isinstance(ptr, Register) and (mask is None or isinstance(mask, Register))
        fine = one(env.address(ptr))
        return fine if mask is None else b.logical_or(fine, b.logical_not(mask))
    if isinstance(mask, Uniform) and mask.scalar.constant is True:
        mask = None
    assert not isinstance(ptr, Register) and not isinstance(mask, Register)
    width, exist = layout.width, marks.exist()
    inside = ctx.evaluation.fragment(mask, layout).registers if mask is not None else None
    made = []
    for r, addresses in enumerate(ctx.evaluation.fragment(ptr, layout).registers):
        branch = IfElse(b.module, exist)
        with branch.then():
            fine = _of_vector(ctx, marks, addresses, width, one)
            branch.yield_([fine if inside is None else b.logical_or(fine, b.logical_not(inside[r]))])
        with branch.otherwise():
            branch.yield_([b.splat(b.constant(Bool(), True), width)])
        made.append(branch.results[0])
    return Fragment(layout, IntegerType(1), tuple(made))


def _of_vector(ctx: Context, marks: Marks, addresses: Register, width: int,
               one: Callable[[Register], Register]) -> Register:
    """Neighbours together, others one by one."""
    b, env = ctx.b, ctx.env
    if width == 1:
        return one(addresses)
    (here, distance), (there, _) = (marks.find(b.extract(addresses, k)) for k in (0, width - 1))
    quick = reduce(b.logical_and, (here, there, are_neighbours(ctx, addresses, marks.size),
                                   b.constant(Bool(), len(marks.regions) == 1)))
    branch = IfElse(b.module, quick)
    with branch.then():
        found = env.load(marks.place(b.extract(addresses, 0), distance), width)
        branch.yield_([b.compare("OpIEqual", found, 0)])
    with branch.otherwise():
        places, results = env.private_array(I64, width, width), env.private_array(I32, width, width)
        env.private_store(places, width, b.constant(I32, 0), addresses)
        loop = For(b.module, b.constant(I32, 0), b.constant(I32, width), b.constant(I32, 1),
                   control="DontUnroll")
        with loop:
            ctx.scopes.open()
            fine = one(env.private_load(places, width, I64, loop.index, 1))
            env.private_store(results, width, loop.index, b.select(fine, b.constant(I32, 1), 0))
            ctx.scopes.close()
            loop.yield_([])
        found = env.private_load(results, width, I32, b.constant(I32, 0), width)
        branch.yield_([b.compare("OpINotEqual", found, 0)])
    return branch.results[0]
