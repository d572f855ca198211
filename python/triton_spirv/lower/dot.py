"""tt.dot on private arrays: the form for devices where one work-item runs a whole program.

Both operands are staged once, in the type that is computed in: A row by row so that its elements can be broadcast, B row by row so that
neighbouring columns form a vector. The micro kernel keeps a tile of rows x vectors of the result in registers over the whole of K
(Goto and van de Geijn, Anatomy of high-performance matrix multiplication, 2008). An accumulator that nothing else reads is updated
where it stands.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from ..ir.model import FloatType, IntegerType, Operation, Type
from ..spirv.builder import I32, with_width
from ..spirv.control import For
from ..spirv.module import Value as Register
from ..spirv.types import Float
from .cast import to_float
from .context import Context, StepLoop
from .registry import lowers
from .tensor import Fragment, Stored, Uniform
from .types import element_of, register_type, shape_of

F32 = FloatType("f32")


def compute_type(accumulator: Type) -> Type:
    """The type that products are summed in: f64 and integers as they are, every narrower float in f32."""
    if isinstance(accumulator, IntegerType) or str(accumulator) == "f64":
        return accumulator
    return F32


def converted(ctx: Context, register: Register, source: Type, target: Type) -> Register:
    """An operand in the type that is computed in."""
    if isinstance(target, IntegerType):
        return ctx.b.resize(register, target.width)
    return to_float(ctx, register, source, target)


def staged(ctx: Context, op: Operation, tensor: Any, target: Type) -> Stored:
    """The whole tensor in a private array of type `target`, row-major."""
    if isinstance(tensor, Stored) and tensor.element == target:
        return tensor
    known = getattr(tensor, "stored", None)
    if isinstance(known, Stored) and known.element == target:
        return known
    layout = ctx.default_layout(tensor.shape)
    array = ctx.allocate(tensor.shape, target)
    plan = ctx.plan(op, [(tensor, layout)])
    with StepLoop(ctx, len(layout.step)):
        made = ctx.fragment(tensor, layout)
        registers = tuple(converted(ctx, x, tensor.element, target) for x in made.registers)
        ctx.write(array, Fragment(layout, target, registers))
    ctx.finish(plan)
    return array


def updates_in_place(op: Operation, accumulator: Any, target: Type) -> bool:
    """May the result overwrite the accumulator: an array, of the right type, that only this operation of its block reads?"""
    return (isinstance(accumulator, Stored) and accumulator.element == target and len(op.c.uses) == 1
            and (op.c.owner is op.parent or op.c.defining_op is not None and op.c.defining_op.parent is op.parent
                 and op.c.defining_op.name in ("tt.dot", "scf.for", "scf.if", "scf.while")))


@lowers("tt.dot")
def dot(ctx: Context, op: Operation, a: Any, b: Any, c: Any) -> Any:
    """a [..., M, K] x b [..., K, N] + c [..., M, N]; narrow floats are exact products summed in f32, integers wrap."""
    element = element_of(op.results[0].type)
    target = compute_type(element)
    shape = shape_of(op.results[0].type)
    left, right = staged(ctx, op, a, target), staged(ctx, op, b, target)
    zero = isinstance(c, Uniform) and c.scalar.constant == 0
    if updates_in_place(op, c, target):
        array = replace(c)
    elif zero:
        array = ctx.allocate(shape, target)
    else:
        array = _copy(ctx, op, c, target)
    multiply(ctx, left, right, array, shape_of(op.a.type)[-1], not zero)
    if element == target:
        return array
    layout = ctx.default_layout(shape)
    rounded = ctx.allocate(shape, element)
    with StepLoop(ctx, len(layout.step)):
        made = ctx.fragment(array, layout)
        registers = tuple(to_float(ctx, x, target, element) for x in made.registers)  # type: ignore[arg-type]
        ctx.write(rounded, Fragment(layout, element, registers))
    return rounded


def _copy(ctx: Context, op: Operation, tensor: Any, target: Type) -> Stored:
    """A private array of one's own with the tensor's elements."""
    made = staged(ctx, op, tensor, target)
    if not (isinstance(tensor, Stored) or made is getattr(tensor, "stored", None)):
        return made
    layout = ctx.default_layout(tensor.shape)
    array = ctx.allocate(tensor.shape, target)
    with StepLoop(ctx, len(layout.step)):
        ctx.write(array, ctx.fragment(made, layout))
    return array


def multiply(ctx: Context, left: Stored, right: Stored, result: Stored, depth: int, accumulate: bool) -> None:
    """result [..., M, N] (+)= left [..., M, K] x right [..., K, N], all private arrays of one element type."""
    rows, columns = result.shape[-2:]
    width = min(columns, ctx.target.vector_width)
    tile = (min(rows, ctx.target.accumulators[0]), min(columns // width, ctx.target.accumulators[1]))
    b, m = ctx.b, ctx.b.module

    def constant(value: int) -> Register:
        return b.constant(I32, value)

    def loop(count: int) -> For:
        return For(m, constant(0), constant(count), constant(1), control="DontUnroll")

    with loop(prod(result.shape[:-2])) as batch, loop(columns // width // tile[1]) as panel, loop(rows // tile[0]) as block:
        assert batch.index is not None
        row = b.iadd(b.imul(batch.index, rows), b.imul(block.index, tile[0]))
        first = b.imul(panel.index, tile[1] * width)
        places = [[b.iadd(b.imul(b.iadd(row, i), columns), b.iadd(first, j * width)) for j in range(tile[1])] for i in range(tile[0])]
        _micro_kernel(ctx, left, right, result, depth, width, row, b.iadd(b.imul(batch.index, depth * columns), first), places, accumulate)


def _micro_kernel(ctx: Context, left: Stored, right: Stored, result: Stored, depth: int, width: int, row: Register,
                  column: Register, places: list[list[Register]], accumulate: bool) -> None:
    """One tile of the result: its accumulators go through the loop over K as phis."""
    b, env = ctx.b, ctx.env
    element = register_type(result.element)
    columns = result.shape[-1]
    flat = [place for line in places for place in line]
    zero = b.constant(with_width(element, width), 0)
    start = [env.private_load(result.array, result.width, element, place, width) if accumulate else zero for place in flat]
    loop = For(b.module, b.constant(I32, 0), b.constant(I32, depth), b.constant(I32, 1), carried=start, control="DontUnroll")
    with loop:
        k = loop.index
        vectors = [env.private_load(right.array, right.width, element,
                                    b.iadd(b.iadd(column, b.imul(k, columns)), j * width), width) for j in range(len(places[0]))]
        sums = []
        for i, line in enumerate(places):
            scalar = env.private_load(left.array, left.width, element, b.iadd(b.imul(b.iadd(row, i), depth), k), 1)
            factor = b.splat(scalar, width)
            for j in range(len(line)):
                sums.append(_multiply_add(ctx, factor, vectors[j], loop.carried[i * len(line) + j]))
        loop.yield_(sums)
    for place, value in zip(flat, loop.results, strict=True):
        env.private_store(result.array, result.width, place, value)


def _multiply_add(ctx: Context, x: Register, y: Register, z: Register) -> Register:
    """x * y + z; floats are fused."""
    b = ctx.b
    if isinstance(getattr(z.type, "element", z.type), Float):
        return ctx.env.contract(b.binary("OpFAdd", ctx.env.contract(b.binary("OpFMul", x, y)), z))
    return b.iadd(b.imul(x, y), z)
