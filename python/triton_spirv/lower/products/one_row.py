"""A vector times a matrix, where the matrix lies: what its two forms have in common.

A block of tl.dot has 16 rows at least. If a vector is multiplied with a matrix, the mask of the store leaves
out all rows but the first, and what there is to do is to read the matrix once. To pack it for a tile first
takes longer than that. A kernel finds out when it runs whether nothing else is stored: an array has the sums
then of the first row only.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace

from ...dataclass import dataclass
from ...ir.model import FloatType, Operation
from ...layout import Layout, log2, row_major
from ...spirv.builder import I32, I64, with_width
from ...spirv.control import if_
from ...spirv.module import Value as Register
from ..addresses.masks import all_true, is_proven, one_of
from ..addresses.remainders import linear
from ..context import Context, StepLoop
from ..plan.accesses import Access, Vectors
from ..registry import parts_of_load
from ..values.tensor import Affine, Deferred, Pointers, Stored, Tensor
from ..values.types import element_of, register_type, shape_of
from .edges import edges_of
from .in_place import MOST, nothing_behind
from .loops import counted
from .operand import Plain, compute_before, swaps_last
from .pairs import NormalSums

F32 = FloatType("f32")

#: Elements of operands, whose products f32 sums.
ELEMENTS = ("f16", "bf16", "f32")


@dataclass(frozen=True)
class Found:
    """A right operand [K, N] in memory: component (k, column) lies as `pointers` say, whose offsets are
    `down` elements apart along K and `across` along N. test: a scalar Bool, does all of it lie there, and is
    nothing stored but the first row?"""

    load: Deferred
    pointers: Pointers
    down: Register | int
    across: Register | int
    test: Register

    def first(self, ctx: Context) -> Register:
        """A pointer to component (0, 0)."""
        assert isinstance(self.pointers.affine, Affine)
        return ctx.env.offset(self.pointers.base, self.pointers.affine.base)


@dataclass(frozen=True)
class OneRow(ABC):
    """found: the right operand; left: the other one, of which the first row counts; ahead: how many elements
    on the next round reads (I64), if that is known."""

    found: Found
    left: Plain
    ahead: Register | None

    #: of the form, in plans
    name = ""

    def unless(self, ctx: Context, array: Stored, accumulate: bool, begins: Register | None,
               others: Callable[[], object], normal: NormalSums | None = None) -> None:
        """`multiply` where the test holds, else what the others do. normal: are the sums without denormal
        numbers? They need not be behind this."""
        def this_way() -> list[Register]:
            if normal is not None:
                normal.end(ctx)
            self.multiply(ctx, array, accumulate, begins)
            return []

        def whole() -> list[Register]:
            others()
            return []
        one_of(ctx, self.found.test, "is nothing stored but a row, and do columns lie in memory?",
               (self.name, this_way), ("others", whole))

    def multiply(self, ctx: Context, array: Stored, accumulate: bool, begins: Register | None) -> None:
        """array [M, N] (+)= the first row times all columns; begins: a scalar Bool, if what is added to
        counts as zero where it holds."""
        layout = ctx.layouts.of(self.found.load.operation.results[0].type)
        ctx.recorder.add(Access(self.found.load.operation, "plain", layout, Vectors(layout)))
        if accumulate:
            ctx.recorder.reads(array, None)
        ctx.recorder.writes(array, None)
        row, b, env, width = self._row(ctx), ctx.b, ctx.env, ctx.target.vector_width
        f32, (height, wide) = register_type(F32), array.shape
        zero, vectors = b.constant(with_width(f32, width), 0), self.vectors(ctx, wide // width)
        with counted(ctx, wide // width // vectors) as over:  # one by one: definite assignment follows that
            columns = [b.iadd(b.imul(over.index, vectors * width), j * width) for j in range(vectors)]

            def clear() -> None:
                """All rows, of which only the first will be asked for."""
                with counted(ctx, height) as down:
                    for column in columns:
                        place = b.iadd(b.imul(down.index, wide), column)
                        env.private_store(array.array, array.width, place, zero)
            if not accumulate:
                clear()
            elif begins is not None:
                with if_(b.module, begins):
                    clear()
            for column, sums in zip(columns, self.sums(ctx, row, columns), strict=True):
                before = env.private_load(array.array, array.width, f32, column, width)
                env.private_store(array.array, array.width, column, b.binary("OpFAdd", before, sums))

    @abstractmethod
    def vectors(self, ctx: Context, most: int) -> int:
        """How many of the result are summed at a time, of so many: a divisor of that."""

    @abstractmethod
    def sums(self, ctx: Context, row: Stored, columns: Sequence[Register]) -> Sequence[Register]:
        """These vectors of the result of this block: the row times the columns from each of these on."""

    def _row(self, ctx: Context) -> Stored:
        """The first row of the left operand, in an array."""
        (rows, depth), layout = self.left.shape, _vectors(ctx, self.left.shape)
        stored = ctx.arrays.allocate((depth,), F32)
        ctx.indices.pieces.insert(0, (ctx.b.constant(I32, 0), log2(rows)))
        ctx.scopes.open(walks=True)
        with StepLoop(ctx.walks, log2(depth // layout.width)):
            made = self.left.fragment(ctx, layout)
            places = made.layout.map((depth,), lambda index: index % depth)
            ctx.arrays.write(stored, replace(made, layout=places))
        ctx.scopes.close()
        ctx.indices.pieces.pop(0)
        ctx.recorder.reads(stored, None)
        return stored


def found_in_memory(ctx: Context, op: Operation, a: Tensor, b: Tensor, axis: int) -> Found | None:
    """The right operand of `op`, a [M, K] x b [K, N] in f32, whose components are neighbours along an axis
    (0: K); None where it does not lie in memory so, or no test says that nothing but the first row is
    stored."""
    shape, width = shape_of(op.results[0].type), ctx.target.vector_width
    if ctx.env.watch_global is not None:
        return None
    if len(shape) != 2 or not 1 < shape[0] <= MOST or min(shape[1], a.shape[-1]) < width or width == 1:
        return None
    if str(element_of(op.results[0].type)) != "f32" or {str(a.element), str(b.element)} - set(ELEMENTS):
        return None
    found = _contiguous(ctx, op, b, axis)
    if found is None:
        return None
    load, pointers, mask, (down, across), inside = found
    edges = edges_of(ctx, op)
    test = None if edges is None else nothing_behind(ctx, edges, 1, shape)
    if test is None:
        return None
    if inside is not None:
        test = ctx.b.logical_and(test, inside)
    layout = ctx.layouts.default(load.shape)
    if not is_proven(ctx, mask, layout):
        whole = all_true(ctx, mask, layout.without_steps())
        if whole is None:
            return None
        test = ctx.b.logical_and(test, whole)
    compute_before(ctx, op, [(x, each) for x in (a, b)
                             for each in (_vectors(ctx, x.shape), ctx.layouts.default(x.shape))])
    return Found(load, pointers, down, across, test)


def _vectors(ctx: Context, shape: tuple[int, ...]) -> Layout:
    """A matrix, a vector of a row at a time; the last steps are the rows."""
    bits, size = row_major(shape, 1).register, log2(ctx.target.vector_width)
    return Layout(shape, component=bits[:size], step=bits[size:])


def _contiguous(ctx: Context, op: Operation, right: Tensor, axis: int) -> tuple[
        Deferred, Pointers, Tensor | None, tuple[Register | int, Register | int], Register | None] | None:
    """The load that a right operand is, or is the transpose of, if nothing else needs it and its elements are
    neighbours along an axis: with its pointers and mask, how far rows and columns of the operand are apart,
    and what must hold for that, if anything."""
    found: object = right
    flipped = False
    while isinstance(found, Deferred) and found.evaluated is None and not ctx.later_uses.needs(found, op) \
            and found.operation.has("transposes") and swaps_last(found.operation):
        found, flipped = found.operands[0], not flipped
    if not isinstance(found, Deferred) or found.evaluated is not None or not found.operation.has("loads"):
        return None
    if found.operation.attributes.get("isVolatile") or ctx.later_uses.needs(found, op):
        return None
    pointers, mask, _ = parts_of_load(found)
    known = linear(ctx, found.operation, pointers)
    if known is None:
        return None
    base, affine, inside = known
    strides = affine.strides if not flipped else affine.strides[::-1]
    linearly = Pointers(found.shape, pointers.element, base, affine)
    return (found, linearly, mask, (strides[0], strides[1]), inside) if strides[axis] == 1 else None


def wide(ctx: Context, stride: Register | int) -> Register:
    """I64."""
    return ctx.b.constant(I64, stride) if isinstance(stride, int) else ctx.b.resize(stride, I64.width)
