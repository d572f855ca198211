"""Operands of a matrix unit by 2D block messages: a sub-group loads a block of rows with one instruction.

A message needs a surface: a base at a multiple of 64 bytes, rows at a fixed distance (the pitch), and a width
and a height beyond which it reads 0. Each message here has a surface of its own, which begins just before its
block, so that nothing but the base depends on where the block is. A mask that compares indices with a bound
becomes the surface's edge.

What must hold is proven from the pointers: along one dimension neighbours in memory, along the other a
distance that is the same from row to row within a block (`x % n` keeps neighbours together in aligned groups,
which is enough), and addresses at multiples of 16 bytes. That rows lie far enough apart can only be known
when the kernel is launched: the artifact asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..analysis.axis import axis_facts
from ..analysis.axis_info import LARGEST
from ..ir.model import Block, Operation, Value
from ..layout import Layout
from ..spirv.builder import I32, I64, with_width
from ..spirv.module import Value as Register
from ..spirv.types import Int
from ..target import Requirement
from .access import element_offsets
from .block_motion import Bound, bounds, counter_step, step_of
from .context import Context
from .registry import SOURCE_LAYOUTS
from .tensor import Affine, Deferred, Fragment, Pointers, Uniform
from .types import element_of, register_type, shape_of, storage_bytes

#: Rows and bytes of a row that one message moves at most, and the alignment of a surface in bytes.
ROWS, ROW_BYTES, ALIGNMENT = 32, 64, 64

#: Bytes that a surface's rows must at least be apart.
LEAST_PITCH = 128

#: A surface's most bytes in a row, and rows.
MOST = 1 << 24

#: More than any index of a block.
FAR = 1 << 16


@dataclass(frozen=True)
class Stride:
    """factor * the kernel's parameter `parameter` (None: 1), in elements."""

    factor: int
    parameter: Register | None = None

    def __add__(self, other: Stride) -> Stride | None:
        for zero, rest in ((self, other), (other, self)):
            if not zero.factor:
                return rest
        same = self.parameter is other.parameter
        return Stride(self.factor + other.factor, self.parameter) if same else None

    def __mul__(self, other: Stride) -> Stride | None:
        if self.parameter is not None and other.parameter is not None:
            return None
        return Stride(self.factor * other.factor, self.parameter or other.parameter)


def stride_along(tensor: Any, dim: int, length: int) -> Stride | None:
    """What a tensor of integers grows by along a dimension within aligned groups of `length`; None where that
    is unknown.
    """
    if tensor is None or isinstance(tensor, Uniform):
        return Stride(0)
    if isinstance(tensor, Affine):
        stride = tensor.strides[dim]
        return Stride(stride) if isinstance(stride, int) else Stride(1, stride)
    if not isinstance(tensor, Deferred):
        return None
    op, operands = tensor.operation, tensor.operands
    facts = axis_facts(op.results[tensor.index])
    if facts is not None and facts.contiguity[dim] >= length:
        return Stride(1)
    if facts is not None and facts.constancy[dim] >= length:
        return Stride(0)
    if op.name == "tt.broadcast":
        return Stride(0) if shape_of(op.src.type)[dim] == 1 else stride_along(operands[0], dim, length)
    below = dims_below(op)
    if below is not None:
        source = below[dim]
        return Stride(0) if source is None else stride_along(operands[0], source, length)
    if op.name == "arith.extsi":
        return stride_along(operands[0], dim, length)
    if op.name in ("arith.addi", "arith.muli"):
        x, y = (stride_along(operand, dim, length) for operand in operands)
        if x is None or y is None:
            return None
        if op.name == "arith.addi":
            return x + y
        for uniform, other in ((operands[0], y), (operands[1], x)):
            if isinstance(uniform, Uniform):
                value = uniform.scalar.constant
                return other * (Stride(value) if isinstance(value, int) else Stride(1, uniform.scalar))
    return None


def dims_below(op: Operation) -> list[int | None] | None:
    """For a view that adds dimensions of size 1: per dimension of the result, that of the operand, None for
    an added one. None for any other operation.
    """
    if op.name not in ("tt.expand_dims", "tt.reshape"):
        return None
    source = [d for d, size in enumerate(shape_of(op.src.type)) if size != 1]
    result = [d for d, size in enumerate(shape_of(op.result.type)) if size != 1]
    if [shape_of(op.src.type)[d] for d in source] != [shape_of(op.result.type)[d] for d in result]:
        return None
    found = dict(zip(result, source, strict=True))
    return [found.get(d) for d in range(len(shape_of(op.result.type)))]


def pointer_stride(pointers: Pointers, dim: int, length: int) -> Stride | None:
    """The same of pointers."""
    total: Stride | None = Stride(0)
    for part in (pointers.affine, *pointers.terms):
        found = stride_along(part, dim, length)
        total = None if total is None or found is None else total + found
    return total


def is_computable(tensor: Any) -> bool:
    """Can any element be computed by itself, from scalars?"""
    if isinstance(tensor, Deferred):
        return not tensor.reads_memory and all(map(is_computable, tensor.operands))
    return tensor is None or isinstance(tensor, (Uniform, Register, Affine))


def unevaluated(tensor: Any) -> Any:
    """The tensor without the registers that it has been evaluated to, to be evaluated for a few elements."""
    if isinstance(tensor, Affine):  # indices do not overflow the type that they are extended from
        return replace(tensor, exact=None)
    if not isinstance(tensor, Deferred):
        return tensor
    bare = replace(tensor, operands=tuple(map(unevaluated, tensor.operands)), stored=None, siblings=[])
    bare.siblings.append(bare)
    return bare


# --- what one message moves ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Message:
    """How a block is moved: `kind` "plain", "transform" (two or four rows in one word) or "transpose" (of
    words of 32 bits); the contiguous dimension; rows, columns and blocks side by side, in elements of
    `bytes`; what one register of the fragment holds of a block, `step` rows or columns apart; its words.
    """

    kind: str
    across: int
    bytes: int
    height: int
    width: int
    count: int
    step: int
    word: Int
    words: int

    @property
    def down(self) -> int:
        return 1 - self.across

    @property
    def block(self) -> tuple[int, int, int]:
        return self.width, self.height, self.count


def message_for(ctx: Context, op: Operation, pointers: Pointers, layout: Layout) -> Message | None:
    """The largest message that moves part of an operand; None where the pointers do not prove one."""
    encoding = op.result.type.encoding  # type: ignore[attr-defined]
    unit = ctx.target.matrix
    assert unit is not None
    operand, size = encoding["operand"], storage_bytes(element_of(op.result.type))
    inner = 1 if operand in ("a", "bt") else 0  # the dimension of K
    tile = _tile(layout)
    facts = axis_facts(op.ptr)
    if facts is None:
        return None
    for across in (1, 0):
        contiguous = _run(pointers, across, ROW_BYTES // size, Stride(1))
        if min(contiguous, facts.contiguity[across]) * size < 16:
            continue
        if facts.divisibility[across] < 16:
            return None
        contiguous = min(contiguous, tile[across], facts.contiguity[across])
        rows = min(_run(pointers, 1 - across, ROWS, None), tile[1 - across])
        bits = size * 8
        if operand[0] == "a" and across == inner:
            word = Int(16 if bits < 32 else 32)
            width = 16 * word.width // bits if bits < 32 else 8
            step, words = unit.rows, unit.rows * (1 if bits < 32 else width) // (1 if bits < 32 else 16)
            kind = "plain"
        elif operand[0] == "b" and across != inner:
            word, width, step = Int(32), 16, layout.width
            kind, words = ("plain" if bits == 32 else "transform"), layout.width * bits // 32
        elif operand[0] == "b":
            word, width, step, words = Int(32), 256 // bits, layout.width, layout.width * bits // 32
            fits = rows >= 16 and contiguous >= width
            return Message("transpose", across, size, 16, width, 1, step, word, words) if fits else None
        else:
            return None
        if rows < (unit.rows if operand[0] == "a" else unit.depth(bits)):
            return None
        count = max(1, min(contiguous // width, ROW_BYTES // (width * size)))
        if contiguous < width:
            return None
        return Message(kind, across, size, rows, width, count, step, word, words)
    return None


def _tile(layout: Layout) -> tuple[int, ...]:
    """The part of the tensor that one sub-group holds."""
    reach = 0
    for basis in (*layout.component, *layout.register, *layout.lane):
        reach |= basis
    return tuple(index + 1 for index in layout.unravel(reach))


def _run(pointers: Pointers, dim: int, longest: int, wanted: Stride | None) -> int:
    """The longest aligned groups along a dimension with one stride, `wanted` if that is given."""
    length = longest
    while length > 1:
        stride = pointer_stride(pointers, dim, length)
        if stride is not None and wanted in (None, stride):
            return length
        length //= 2
    return 1


# --- masks as edges -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Edges:
    """Per dimension: how many elements of each block, counted from its first, are inside; None for all."""

    limits: tuple[tuple[Register, ...] | None, tuple[Register, ...] | None]


def edges(ctx: Context, mask: Any, starts: Layout, message: Message) -> Edges | None:
    """The bounds that a mask stands for; None where it is more than bounds, or a row of a surface would not
    end at a multiple of 4 bytes.
    """
    found: list[tuple[int, tuple[Register, ...]]] = []
    if mask is not None and not _collect(ctx, mask, starts, message, (0, 1), found):
        return None
    limits: list[tuple[Register, ...] | None] = [None, None]
    for dim, values in found:
        before = limits[dim]
        limits[dim] = values if before is None else tuple(
            ctx.b.ext("s_min", x, y) for x, y in zip(before, values, strict=True))
    return Edges((limits[0], limits[1]))


def _collect(ctx: Context, mask: Any, starts: Layout, message: Message, dims: tuple[int, ...],
             found: list[tuple[int, tuple[Register, ...]]]) -> bool:
    """Add the bounds of a mask, whose dimensions are `dims` of the block; is it nothing but bounds?"""
    b = ctx.b
    if isinstance(mask, Uniform):
        if mask.scalar.constant is not True:
            found.append((message.down, (b.select(mask.scalar, b.constant(I32, FAR), 0),) * starts.registers))
        return True
    if not isinstance(mask, Deferred):
        return False
    op, operands = mask.operation, mask.operands
    if op.name == "arith.andi":
        return all(_collect(ctx, operand, starts, message, dims, found) for operand in operands)
    views = dims_below(op)
    if op.name == "tt.broadcast" or views is not None:
        kept = {source: dims[d] for d, source in enumerate(views or range(len(dims))) if source is not None}
        below = tuple(kept.get(d, -1) for d in range(len(shape_of(op.src.type))))
        return _collect(ctx, operands[0], SOURCE_LAYOUTS[op.name](op, starts), message, below, found)
    if op.name != "arith.cmpi":
        return False
    left, right = operands
    predicate = op.attributes["predicate"]
    if predicate in ("sgt", "sge") and isinstance(left, Uniform):  # bound > x
        left, right, predicate = right, left, {"sgt": "slt", "sge": "sle"}[predicate]
        index = op.operands[1]
    else:
        index = op.operands[0]
    if predicate == "sge" and isinstance(right, Uniform) and right.scalar.constant == 0:
        facts = axis_facts(index)
        return facts is not None and facts.nonnegative
    if predicate not in ("slt", "sle") or not isinstance(right, Uniform) or not is_computable(left):
        return False
    moving = [(i, stride_along(left, i, n)) for i, n in enumerate(starts.shape)]
    if any(stride is None or stride.parameter is not None for _, stride in moving):
        return False
    along = [(i, stride.factor) for i, stride in moving if stride is not None and stride.factor]
    if len(along) != 1 or along[0][1] != 1:
        return False
    if dims[along[0][0]] == message.across:
        facts, limit = axis_facts(index), axis_facts(op.operands[1 - op.operands.index(index)])
        if predicate != "slt" or facts is None or limit is None or any(
                x * message.bytes % 4 for x in (facts.divisibility[along[0][0]], limit.everywhere())):
            return False
    bound = right.scalar if predicate == "slt" else b.iadd(right.scalar, 1)
    first = ctx.registers(unevaluated(left), starts)
    rest = [b.isub(bound, x) for x in first]
    small = [x if x.type == I32 else b.resize(_clamped(ctx, x), 32) for x in rest]
    found.append((dims[along[0][0]], tuple(small)))
    return True


def _clamped(ctx: Context, value: Register) -> Register:
    far = ctx.b.constant(value.type, FAR)
    return ctx.b.ext("s_min", ctx.b.ext("s_max", value, ctx.b.constant(value.type, 0)), far)


# --- loads --------------------------------------------------------------------------------------------------


def block_load(ctx: Context, op: Operation, layout: Layout, ptr: Any, mask: Any,
               other: Any) -> Fragment | None:
    """The operand of a product by 2D block messages; None where that cannot be."""
    zero = other is None or (isinstance(other, Uniform) and other.scalar.constant == 0)
    if not isinstance(ptr, Pointers) or not (mask is None or zero):
        return None
    resting = ctx.block_loads.get(op)
    if isinstance(resting, Resting) and ptr.base.id in ctx.displaced:
        resting.prefetch(ctx)
        message, starts = resting.message, resting.starts
        surfaces = [resting.surface(ctx, first, 0) for first in resting.surfaces]
        return loaded(ctx, op, layout, message, starts, surfaces)
    loads = None if isinstance(resting, Resting) else resting
    moved = ctx.displaced.get(ptr.base.id)
    if loads is None or moved is None:
        loads, moved = prepare_load(ctx, op, ptr), None
    if loads is None:
        return None
    message = loads.message
    limits = edges(ctx, mask, loads.starts, message)
    if limits is None:
        return None
    if moved is not None:
        moved = ctx.b.imul(moved, message.bytes)
        loads.prefetch(ctx, moved)
    surfaces = [loads.surface(ctx, i, moved, limits) for i in range(loads.starts.registers)]
    return loaded(ctx, op, layout, message, loads.starts, surfaces)


def loaded(ctx: Context, op: Operation, layout: Layout, message: Message, starts: Layout,
           surfaces: Sequence[tuple[Register, ...]]) -> Fragment:
    """The fragment that messages on these surfaces, one for each start, load."""
    b, element = ctx.b, register_type(element_of(op.result.type))
    made: dict[int, Register] = {}
    part = with_width(message.word, message.words)
    for start, surface in zip(starts.register_indices, surfaces, strict=True):
        block = ctx.env.load_block(message.kind, message.bytes, message.block, surface, part)
        for index, words in zip(covered(layout, message, start), block, strict=True):
            type = with_width(element, layout.width)
            made[index] = words if words.type == type else b.emit("OpBitcast", words, type=type)
    registers = tuple(made[index] for index in layout.register_indices)
    return Fragment(layout, element_of(op.result.type), registers)


def is_loadable(ctx: Context, layout: Layout, ptr: Pointers) -> bool:
    """Are there such messages, and are the pointers known without memory?"""
    return ctx.target.block_2d and bool(ctx.options.get("block_io", True)) and len(layout.shape) == 2 and all(
        map(is_computable, (ptr.affine, *ptr.terms)))


def prepare_load(ctx: Context, op: Operation, ptr: Pointers, step: Register | None = None) -> Loads | None:
    """What the messages of a load have in common in all iterations of a loop that moves the pointers by
    `step` elements; None where messages cannot load it.
    """
    b = ctx.b
    layout = ctx.layout_of(op.result.type)
    if not is_loadable(ctx, layout, ptr):
        return None
    message = message_for(ctx, op, ptr, layout)
    if message is None:
        return None
    pitch = pointer_stride(ptr, message.down, message.height)
    assert pitch is not None
    factor = pitch.factor * message.bytes
    least = LEAST_PITCH + ALIGNMENT * _has_right_edge(op, message)
    if not ctx.asks_for_pitch(factor, pitch.parameter, least):
        return None
    distance = b.constant(I32, factor) if pitch.parameter is None else b.imul(
        b.resize(pitch.parameter, 32), factor)
    ptr = replace(ptr, terms=tuple(map(unevaluated, ptr.terms)))
    starts = starts_of(layout, message)
    ahead = prefetch_starts(layout, message) if step is not None else None
    return Loads(message, starts, distance, addresses(ctx, ptr, starts, message.bytes),
                 None if ahead is None else addresses(ctx, ptr, ahead, message.bytes), step)


def _has_right_edge(op: Operation, message: Message) -> bool:
    """May the mask differ along a row?"""
    facts = None if op.mask is None else axis_facts(op.mask)
    return op.mask is not None and (facts is None or facts.constancy[message.across] < shape_of(op.mask.type)[
        message.across])


def prepare_loads(ctx: Context, body: Block, initial: Sequence[Any], steps: Sequence[Any]) -> None:
    """Before a loop: prepare the loads of its body whose pointers start at `initial` and move by `steps`
    (None: they do anything else) in each iteration.
    """
    for op in body.operations:
        if op.name != "tt.load" or "ts.natural" not in op.attributes or op.ptr.owner is not body:
            continue
        pointers, values = initial[op.ptr.index - 1], steps[op.ptr.index - 1]
        if not isinstance(pointers, Pointers) or values is None:
            continue
        size = storage_bytes(element_of(op.result.type))
        facts = [axis_facts(value) for value in values]
        if any(fact is None or fact.everywhere() * size % ALIGNMENT for fact in facts):
            continue
        known = [ctx.frame.values.get(value) for value in values]
        step = None
        for bound in known:
            scalar = bound.scalar if isinstance(bound, Uniform) else bound
            if isinstance(scalar, Register):
                scalar = ctx.b.resize(scalar, 64)
                step = scalar if step is None else ctx.b.iadd(step, scalar)
        if any(bound is None for bound in known):
            step = None
        resting = rest(ctx, op, body, pointers, values)
        if resting is not None:
            ctx.block_loads[op] = resting
            continue
        made = prepare_load(ctx, op, pointers, step)
        if made is not None:
            made.align_all(ctx)
            ctx.block_loads[op] = made


# --- surfaces that rest while a loop moves the block
# ---------------------------------------------------------


@dataclass(frozen=True)
class Resting:
    """Surfaces that stay where they are; the block lies `count` times the loop's counter further along
    `moving`.

    surfaces: (base, width, height, pitch, x, y) of each block of the first iteration; ahead: of what a warp
    fetches ahead; turn: what an iteration adds to the counter.
    """

    message: Message
    starts: Layout
    surfaces: list[tuple[Register, ...]]
    ahead: list[tuple[Register, ...]]
    moving: int
    count: int
    turn: int
    counter: Value

    def surface(self, ctx: Context, first: tuple[Register, ...], later: int) -> tuple[Register, ...]:
        """The surface with the block's place so many iterations later than this one."""
        b, message = ctx.b, self.message
        count = self.count
        *rest, x, y = first
        if self.moving == message.across and message.kind == "transpose":
            count = count * message.bytes // 4
        moved = b.imul(b.iadd(b.resize(ctx.value(self.counter), 32), later * self.turn), count)
        return (*rest, b.iadd(moved, x), y) if self.moving == message.across else (*rest, x, b.iadd(moved, y))

    def prefetch(self, ctx: Context) -> None:
        """Ask for what a later iteration will load; how much later, the launch option num_stages says."""
        distance = int(ctx.options.get("num_stages", 1)) - 1
        message = self.message
        for first in self.ahead if distance > 0 else ():
            *rest, x, y = self.surface(ctx, first, distance)
            if message.kind == "transpose":
                x = ctx.b.imul(x, 4 // message.bytes)
            block = (message.width * message.count, message.height, 1)
            ctx.env.prefetch_block(message.bytes, block, (*rest, x, y))


def rest(ctx: Context, op: Operation, body: Block, ptr: Pointers, values: Sequence[Value]) -> Resting | None:
    """Surfaces for all iterations of a loop; None where the block, or its mask, does not move as one that
    rests would need.
    """
    loop = body.parent.parent
    limits = bounds(op.mask, body)
    layout = ctx.layout_of(op.result.type)
    turn = None if loop is None else counter_step(loop)
    if not turn or limits is None or not is_loadable(ctx, layout, ptr):
        return None
    message = message_for(ctx, op, ptr, layout)
    pitch = None if message is None else pointer_stride(ptr, message.down, message.height)
    if message is None or pitch is None:
        return None
    parameters = {ctx.parameters.get(register.id): value for value, register in ctx.frame.values.items()
                  if isinstance(register, Register)}
    number = None if pitch.parameter is None else ctx.parameter_number(pitch.parameter)
    if pitch.parameter is not None and number is None:
        return None
    step = step_of(list(values), pitch.factor, None if number is None else parameters[number])
    if step is None or step[1] % turn:
        return None
    count = step[1] // turn
    moving = message.down if step[0] else message.across
    if any(limit.slope != (-count if limit.dim == moving else 0) for limit in limits):
        return None
    by_dim = {limit.dim: limit for limit in limits}
    if len(by_dim) < len(limits) or any(_scalar(ctx, limit) is None for limit in limits):
        return None
    if moving == message.across and (
            moving not in by_dim or not _can_end(ctx, op, message, pitch, number, by_dim[moving])):
        return None
    fixed_edge = by_dim.get(message.across) if moving == message.down else None
    if fixed_edge is not None and not _is_even(message, fixed_edge):
        return None
    least = LEAST_PITCH if fixed_edge is None else LEAST_PITCH + ALIGNMENT
    if not ctx.asks_for_pitch(pitch.factor * message.bytes, pitch.parameter, least):
        return None
    b = ctx.b
    bare = replace(ptr, terms=tuple(map(unevaluated, ptr.terms)))
    distance = b.constant(I32, pitch.factor * message.bytes) if pitch.parameter is None else b.imul(
        b.resize(pitch.parameter, 32), pitch.factor * message.bytes)

    def surfaces(starts: Layout) -> list[tuple[Register, ...]]:
        inside: list[list[Register]] = [[], []]
        for dim, limit in by_dim.items():
            first = ctx.registers(unevaluated(ctx.value(limit.index)),
                                  _along(starts, dim, shape_of(limit.index.type)))
            inside[dim] = [b.resize(b.isub(_scalar(ctx, limit), x), 32) for x in first]
        across, down = inside[message.across], inside[message.down]
        shift = (4 if message.kind == "transpose" else message.bytes).bit_length() - 1
        row, one, none = (b.constant(I32, x) for x in (message.width * message.count, 1, 0))
        made: list[tuple[Register, ...]] = []
        for i, place in enumerate(addresses(ctx, bare, starts, message.bytes)):
            base, width = b.iand(place, b.constant(I64, -ALIGNMENT)), b.constant(I32, 2 * ALIGNMENT)
            before = b.iand(b.resize(place, 32), ALIGNMENT - 1)
            height, y = b.constant(I32, MOST if moving == message.down else message.height), none
            if moving == message.across:
                width, before = b.imul(across[i], message.bytes), none
            elif across:
                base, before = b.isub(base, b.constant(I64, ALIGNMENT)), b.iadd(before, ALIGNMENT)
                held = b.ext("s_min", b.ext("s_max", across[i], none), row)
                width = b.iadd(before, b.imul(held, message.bytes))
            if down:
                height = b.ext("s_max", b.ext("s_min", down[i], height), one)
                y = b.select(b.compare("OpSLessThan", down[i], 1), b.constant(I32, MOST), 0)
            made.append((base, width, height, distance, b.lshr(before, shift), y))
        return made

    starts = starts_of(layout, message)
    ahead = surfaces(prefetch_starts(layout, message)) if int(ctx.options.get("num_stages", 1)) > 1 else []
    return Resting(message, starts, surfaces(starts), ahead, moving, count, turn, body.arguments[0])


def _scalar(ctx: Context, limit: Bound) -> Any:
    """The bound as a scalar; None where it is a tensor of many."""
    bound = ctx.frame.values.get(limit.limit)
    bound = bound.scalar if isinstance(bound, Uniform) else bound
    return bound if isinstance(bound, Register) and is_computable(ctx.value(limit.index)) else None


def _is_even(message: Message, limit: Bound) -> bool:
    """Does a surface that ends at the bound have rows of a multiple of 4 bytes?"""
    index, end = axis_facts(limit.index), axis_facts(limit.limit)
    return index is not None and end is not None and not any(
        x * message.bytes % 4 for x in (index.divisibility[limit.dim], end.everywhere()))


def _along(starts: Layout, dim: int, shape: tuple[int, ...]) -> Layout:
    """The layout of starts for a tensor that varies along one dimension only."""
    mask = starts.axis_mask(dim)
    low = starts.dim_bits[dim][0]
    target = Layout(shape).dim_bits[dim][0]
    return starts.map(shape, lambda basis: (basis & mask) >> low << target)


def _can_end(ctx: Context, op: Operation, message: Message, pitch: Stride, number: int | None,
             limit: Bound) -> bool:
    """Can a surface be as wide as the matrix? Then blocks begin at multiples of 64 bytes, and the launcher
    sees to it that the matrix has rows of 64 bytes at least, and of not more than their distance.
    """
    found = ctx.frame.values.get(limit.limit)
    end = found.scalar if isinstance(found, Uniform) else found
    facts, sizes = axis_facts(limit.limit), {message.down: message.height,
                                            message.across: message.width * message.count}
    loop_value = op.ptr.owner.parent.parent.init[op.ptr.index - 1]
    apart, base = pointer_divisor(loop_value, (sizes[0], sizes[1]), message.bytes)
    known = ctx.frame.values.get(base) if base is not None else None
    if not isinstance(end, Register) or not isinstance(known, Register) or facts is None:
        return False
    if apart % ALIGNMENT or facts.everywhere() * message.bytes % 4 or number is None:
        return False
    last, start = ctx.parameter_number(end), ctx.parameter_number(known)
    if last is None or start is None:
        return False
    index = axis_facts(limit.index)
    if index is None or index.divisibility[limit.dim] < LARGEST:  # it begins at 0
        return False
    factor = abs(pitch.factor) * message.bytes
    ctx.requires |= {Requirement(number, factor, 0, last, message.bytes),
                     Requirement(last, message.bytes, ALIGNMENT), Requirement(start, 0, 0)}
    return True


def pointer_divisor(value: Value, lengths: tuple[int, ...], size: int) -> tuple[int, Value | None]:
    """What divides the distance in bytes from the returned pointer to the first elements of aligned blocks of
    `lengths`; that pointer.
    """
    op = value.defining_op
    if op is None:
        return LARGEST, value
    if op.name in ("tt.splat", "tt.broadcast"):
        return pointer_divisor(op.operands[0], lengths, size)
    if op.name == "tt.addptr":
        apart, base = pointer_divisor(op.ptr, lengths, size)
        return min(apart, divisor(op.offset, lengths) * size), base
    return 1, None


def divisor(value: Value, lengths: tuple[int, ...]) -> int:
    """A power of two that divides the elements of a tensor of integers at multiples of `lengths`."""
    facts = axis_facts(value)
    best = 1 if facts is None else max(
        facts.divisor(d, lengths[d] if d < len(lengths) else 1) for d in range(facts.rank))
    op = value.defining_op
    if op is None:
        return best
    found = 1
    if op.name in ("tt.broadcast", "arith.extsi", "tt.splat"):
        found = divisor(op.operands[0], lengths)
    elif (below := dims_below(op)) is not None:
        kept = {source: lengths[d] for d, source in enumerate(below) if source is not None}
        found = divisor(op.src, tuple(kept.get(d, 1) for d in range(len(shape_of(op.src.type)))))
    elif op.name == "arith.muli":
        found = divisor(op.lhs, lengths) * divisor(op.rhs, lengths)
    elif op.name in ("arith.addi", "arith.subi"):
        found = min(divisor(op.lhs, lengths), divisor(op.rhs, lengths))
    return min(max(best, found), LARGEST)


def addresses(ctx: Context, ptr: Pointers, starts: Layout, bytes: int) -> list[Register]:
    """Of the first elements of blocks."""
    b, base = ctx.b, ctx.env.address(ptr.base)
    return [base if offset is None else b.iadd(base, b.imul(offset, bytes))
            for offset in element_offsets(ctx, ptr, starts)]


def _starts(layout: Layout, extent: Sequence[int], height: int, width: int, down: int) -> list[int]:
    """The bases of blocks of `height` x `width` that make up `extent`."""
    bases = []
    for dim in (0, 1):
        low, _ = layout.dim_bits[dim]
        size = height if dim == down else width
        while size < extent[dim]:
            bases.append(size << low)
            size *= 2
    return bases


def starts_of(layout: Layout, message: Message) -> Layout:
    """The first elements of the blocks, one register each."""
    bases = _starts(layout, _tile(layout), message.height, message.width * message.count, message.down)
    return Layout(layout.shape, (), tuple(bases), (), (), layout.warp)


def prefetch_starts(layout: Layout, message: Message) -> Layout:
    """The blocks of the whole tensor that are fetched ahead, shared out to the warps."""
    bases = _starts(layout, layout.shape, message.height, message.width * message.count, message.down)
    warps = len(layout.warp)
    mine, rest = bases[:warps], bases[warps:]
    return Layout(layout.shape, (), tuple(rest), (), (), tuple(mine) + (0,) * (warps - len(mine)))


def covered(layout: Layout, message: Message, start: int) -> list[int]:
    """The indices of the registers that a block holds, in the order in which it has them."""
    (low_down, low_across) = (layout.dim_bits[d][0] for d in (message.down, message.across))
    if message.kind == "transpose":
        return [start + (c << low_across) for c in range(0, message.width, message.step)]
    return [start + (r << low_down) + (c * message.width << low_across)
            for c in range(message.count) for r in range(0, message.height, message.step)]


class Loads:
    """The messages of one load: surfaces that begin at most 64 bytes before each block, 128 where its right
    edge is in question.
    """

    def __init__(self, message: Message, starts: Layout, pitch: Register, places: Sequence[Register],
                 ahead: Sequence[Register] | None, step: Register | None) -> None:
        self.message, self.starts, self.pitch = message, starts, pitch
        self.places, self.ahead, self.step = places, ahead, step
        self._aligned: dict[int, tuple[Register, Register]] = {}

    def aligned(self, ctx: Context, place: Register) -> tuple[Register, Register]:
        """The surface's base for a block, and the bytes before the block."""
        b = ctx.b
        if place.id not in self._aligned:
            self._aligned[place.id] = (b.iand(place, b.constant(I64, -ALIGNMENT)),
                                       b.iand(b.resize(place, 32), ALIGNMENT - 1))
        return self._aligned[place.id]

    def align_all(self, ctx: Context) -> None:
        """Compute all bases here, so that a loop need not."""
        for place in (*self.places, *(self.ahead or ())):
            self.aligned(ctx, place)

    def surface(self, ctx: Context, i: int, moved: Register | None, limits: Edges) -> tuple[Register, ...]:
        """(base, width in bytes, height, pitch in bytes, x, y) of block `i`, `moved` bytes further on."""
        b, message, size = ctx.b, self.message, self.message.bytes
        across, down = limits.limits[message.across], limits.limits[message.down]
        base, before = self.aligned(ctx, self.places[i])
        if moved is not None:
            base = b.iadd(base, moved)
        width = b.constant(I32, 2 * ALIGNMENT)
        if across is not None:
            base = b.isub(base, b.constant(I64, ALIGNMENT))
            before = b.iadd(before, ALIGNMENT)
            row = b.constant(I32, message.width * message.count)
            inside = b.ext("s_min", b.ext("s_max", across[i], b.constant(I32, 0)), row)
            width = b.iadd(before, b.imul(inside, size))
        height, y = b.constant(I32, message.height), b.constant(I32, 0)
        if down is not None:
            height = b.ext("s_max", b.ext("s_min", down[i], height), b.constant(I32, 1))
            y = b.select(b.compare("OpSLessThan", down[i], 1), b.constant(I32, 1), 0)
        shift = (4 if message.kind == "transpose" else size).bit_length() - 1
        return base, width, height, self.pitch, b.lshr(before, shift), y

    def prefetch(self, ctx: Context, moved: Register) -> None:
        """Ask for what a later iteration will load; how much later, the launch option num_stages says."""
        b, message = ctx.b, self.message
        distance = int(ctx.options.get("num_stages", 1)) - 1
        if self.ahead is None or self.step is None or distance < 1:
            return
        moved = b.iadd(moved, b.imul(self.step, distance * message.bytes))
        for place in self.ahead:
            base, before = self.aligned(ctx, place)
            row = message.width * message.count
            surface = (b.iadd(base, moved), b.constant(I32, 2 * ALIGNMENT), b.constant(I32, message.height),
                       self.pitch, b.lshr(before, message.bytes.bit_length() - 1), b.constant(I32, 0))
            ctx.env.prefetch_block(message.bytes, (row, message.height, 1), surface)
