"""A vector times a matrix whose columns are contiguous in memory, as inner products, where the matrix lies.

A block of tl.dot has 16 rows at least. If a vector is multiplied with a matrix, the mask of the store leaves
out all rows but the first. Where the weights of a network lie row by row, [N, K], the block [K, N] of them is
contiguous along K: to put it into panels takes 64 shuffles for 16 columns and 16 steps along K, and what
there is to do is to read it. So then vectors along K are multiplied where they lie, by those of the one row,
and summed in registers, one for each of as many columns as a vector has components:

    sums[j] += row[k : k + 16] * column j [k : k + 16]       j = 0 .. 15, over the block's K
    total[0, j : j + 16] += the sum of each of sums[0 .. 15]

Elements of 16 bits become f32 on the way, where the packed form may have instructions that sum pairs. Numbers
are added in another order than there. Lines of the next round are asked for meanwhile, into the second cache.
"""

from __future__ import annotations

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
from ..memory.prefetch import LINE, next_round
from ..plan.accesses import Access, Vectors
from ..registry import parts_of_load
from ..values.tensor import Affine, Deferred, Pointers, Stored, Tensor
from ..values.types import element_of, register_type, shape_of, storage_bytes
from .edges import edges_of
from .grouped import VECTOR
from .in_place import MOST, nothing_behind
from .loops import counted
from .operand import Plain, compute_before, converted, swaps_last
from .pairs import NormalSums

F32 = FloatType("f32")

#: Elements of operands, whose products f32 sums.
ELEMENTS = ("f16", "bf16", "f32")


@dataclass(frozen=True)
class InnerProducts:
    """Component (k, column) of a right operand is so many elements behind `pointer` as k and the column times
    `across` (I64) add up to. test: a scalar Bool, does all of it lie there, and is nothing stored but the
    first row? ahead: how many elements on the next round reads (I64), if that is known."""

    load: Deferred
    left: Plain
    pointer: Register
    across: Register
    test: Register
    ahead: Register | None

    def unless(self, ctx: Context, array: Stored, accumulate: bool, begins: Register | None,
               others: Callable[[], object], normal: NormalSums | None = None) -> None:
        """`multiply` where the test holds, else what the others do. normal: are the sums without denormal
        numbers? They need not be behind this."""
        def by_columns() -> list[Register]:
            if normal is not None:
                normal.end(ctx)
            self.multiply(ctx, array, accumulate, begins)
            return []

        def whole() -> list[Register]:
            others()
            return []
        one_of(ctx, self.test, "is nothing stored but a row, and do columns lie in memory?",
               ("inner products", by_columns), ("others", whole))

    def multiply(self, ctx: Context, array: Stored, accumulate: bool, begins: Register | None) -> None:
        """array [M, N] (+)= the first row times all columns; begins: a scalar Bool, if what is added to
        counts as zero where it holds."""
        layout = ctx.layouts.of(self.load.operation.results[0].type)
        ctx.recorder.add(Access(self.load.operation, "plain", layout, Vectors(layout)))
        if accumulate:
            ctx.recorder.reads(array, None)
        ctx.recorder.writes(array, None)
        row, b, env, width = self._row(ctx), ctx.b, ctx.env, ctx.target.vector_width
        f32, (height, wide) = register_type(F32), array.shape
        zero = b.constant(with_width(f32, width), 0)
        with counted(ctx, wide // width) as over:
            column = b.imul(over.index, width)

            def clear() -> None:
                """All rows, of which only the first will be asked for."""
                with counted(ctx, height) as down:
                    place = b.iadd(b.imul(down.index, wide), column)
                    env.private_store(array.array, array.width, place, zero)
            if not accumulate:
                clear()
            elif begins is not None:
                with if_(b.module, begins):
                    clear()
            first = env.offset(self.pointer, b.imul(b.resize(column, I64.width), self.across))
            columns = [env.offset(first, b.imul(self.across, j)) for j in range(width)]
            sums = sum_of_each(ctx, self._sums(ctx, row, columns))
            before = env.private_load(array.array, array.width, f32, column, width)
            env.private_store(array.array, array.width, column, b.binary("OpFAdd", before, sums))

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

    def _sums(self, ctx: Context, row: Stored, columns: Sequence[Register]) -> Sequence[Register]:
        """The products of the row with as many columns, in a vector for each: over K."""
        b, env, width, element = ctx.b, ctx.env, ctx.target.vector_width, self.load.element
        turn = min(max(1, LINE // (width * storage_bytes(element))), row.shape[0] // width)
        zero = b.constant(with_width(register_type(F32), width), -0.0)  # to which x adds up to x, also if -0
        with counted(ctx, row.shape[0], turn * width, carried=[zero] * len(columns)) as along:
            sums, k = list(along.carried), b.resize(along.index, I64.width)
            places = [env.offset(column, k) for column in columns]
            steps = range(0, turn * width, width)
            factors = [env.private_load(row.array, row.width, register_type(F32), along.index, width, step)
                       for step in steps]
            for j, place in enumerate(places):  # all of a line: the next one may take its place in the cache
                for step, x in zip(steps, factors, strict=True):
                    loaded = env.load(env.offset(place, b.constant(I64, step)), width)
                    sums[j] = env.multiply_add(x, converted(ctx, loaded, element, F32), sums[j])
                if self.ahead is not None:
                    env.prefetch(env.offset(place, self.ahead), soon=False)
            along.yield_(sums)
        return along.results


def inner_products(ctx: Context, op: Operation, a: Tensor, b: Tensor) -> InnerProducts | None:
    """`op`, a [M, K] x b [K, N] in f32, in this form; None where b does not lie in memory so, or no test says
    that nothing but the first row is stored."""
    shape, width = shape_of(op.results[0].type), ctx.target.vector_width
    if not ctx.target.optimises("inner-products") or ctx.env.watch_global is not None:
        return None
    if len(shape) != 2 or not 1 < shape[0] <= MOST or min(shape[1], a.shape[-1]) < width or width == 1:
        return None
    if str(element_of(op.results[0].type)) != "f32" or {str(a.element), str(b.element)} - set(ELEMENTS):
        return None
    found = _contiguous(ctx, op, b)
    if found is None:
        return None
    load, pointers, mask, across, inside = found
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
    left = Plain(a, F32)
    compute_before(ctx, op, [(x, each) for x in (a, b)
                             for each in (_vectors(ctx, x.shape), ctx.layouts.default(x.shape))])
    assert isinstance(pointers.affine, Affine)
    ahead = None
    if ctx.target.fetches_at_edges:  # as in_place.py
        ahead = next_round(ctx, load.operation, pointers, _along(pointers))
    step = ctx.b.constant(I64, across) if isinstance(across, int) else ctx.b.resize(across, I64.width)
    return InnerProducts(load, left, ctx.env.offset(pointers.base, pointers.affine.base), step, test, ahead)


def _vectors(ctx: Context, shape: tuple[int, ...]) -> Layout:
    """A matrix, a vector of a row at a time; the last steps are the rows."""
    bits, size = row_major(shape, 1).register, log2(ctx.target.vector_width)
    return Layout(shape, component=bits[:size], step=bits[size:])


def _contiguous(ctx: Context, op: Operation, right: Tensor
                ) -> tuple[Deferred, Pointers, Tensor | None, Register | int, Register | None] | None:
    """The load that a right operand is, or is the transpose of, if nothing else needs it and its elements are
    neighbours along K: with its pointers and mask, how far columns are apart, and what must hold for that, if
    anything."""
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
    along, across = affine.strides if not flipped else reversed(affine.strides)
    linearly = Pointers(found.shape, pointers.element, base, affine)
    return (found, linearly, mask, across, inside) if along == 1 else None


def _along(pointers: Pointers) -> Layout:
    """Of a matrix that is contiguous along one dimension: a line at a time, or less."""
    assert isinstance(pointers.affine, Affine)
    axis = pointers.affine.strides.index(1)
    bits, low = row_major(pointers.shape, 1).register, 0 if axis else log2(pointers.shape[1])
    component = bits[low:low + log2(min(VECTOR, pointers.shape[axis]))]
    return Layout(pointers.shape, component, (), tuple(basis for basis in bits if basis not in component))


def sum_of_each(ctx: Context, vectors: Sequence[Register]) -> Register:
    """A vector whose component i is the sum of the components of vector i, of as many vectors of f32 as each
    has components. Two vectors become one with half as many terms for each, by two shuffles: of each 128 bits
    first, as instructions shuffle these for themselves, then of these as a whole."""
    b, found, width = ctx.b, list(vectors), len(vectors)
    inside = min(width, 4)
    for size in (*[1] * log2(inside), *[inside] * log2(width // inside)):
        # groups of `size` components: the even ones of both vectors, and the odd ones
        halves = [[g * size + c for g in range(odd, 2 * width // size, 2) for c in range(size)]
                  for odd in (0, 1)]
        if size == 1:
            halves = [_by_quarters(half, width) for half in halves]
        found = [b.binary("OpFAdd", *(b.shuffle(x, y, half) for half in halves))
                 for x, y in zip(found[::2], found[1::2], strict=True)]
    (made,) = found
    return made


def _by_quarters(components: Sequence[int], width: int) -> list[int]:
    """Every other component of x and then of y, put in the order in which each 128 bits take two of both."""
    x, y = components[:width // 2], components[width // 2:]
    return [c for at in range(0, width // 2, 2) for c in (*x[at:at + 2], *y[at:at + 2])]
