"""2D block messages on a whole matrix, the form that tensor descriptors come in.

    base + row * pitch + column      where 0 <= row < rows and 0 <= column < columns

The surface is the matrix, the same for all blocks; a block's place is its coordinates, negative ones too.
Whatever lies outside reads as 0 and is not written. The launcher sees to it that the matrix is one that the
messages take: a base at a multiple of 64 bytes, rows of 64 bytes at least and not longer than the pitch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...dataclass import dataclass
from ...facts.axis import axis_facts
from ...facts.bounds import conjunction, keeps_dims
from ...facts.motion import Counter, motion
from ...facts.slopes import constant, number
from ...ir.model import Operation, Value
from ...layout import Layout
from ...spirv.builder import I32, I64
from ...spirv.module import Value as Register
from ...target import MOST, Requirement
from ..context import Context
from ..plan.accesses import Blocks, Message
from ..values.tensor import Uniform
from ..values.types import shape_of
from .block_message import ALIGNMENT, prefetch_starts, starts_of
from .block_motion import counter_step
from .block_resting import along
from .block_stride import is_computable, unevaluated

#: Stands for the parameter of what no launch can see to.
IMPOSSIBLE = -1

Surface = tuple[Register, ...]


@dataclass(frozen=True)
class Axis:
    """A dimension of the matrix: the block's indices, a tensor that varies along it only; what one step adds
    to the address (None: one element); from the mask, whether indices are at least 0, and what they are
    below.
    """

    index: Value
    stride: Value | None
    from_zero: bool = False
    end: Value | None = None


def has_lower_edge(op: Operation) -> bool:
    """Does a mask ask for indices of 0 or more, where they are not known to be?"""
    return any(axis.from_zero and not _is_positive(axis.index) for axis in (_axes(op) or {}).values())


def _axes(op: Operation) -> dict[int, Axis] | None:
    """The dimensions of the matrix that a load or store reaches; None where it is anything else."""
    found: dict[int, Value] = {}
    whole = base_of(op.ptr) is not None and all(_split(term, found) for term in _offsets(op.ptr))
    if not whole or len(found) != 2:
        return None
    axes = {dim: _axis(value) for dim, value in found.items()}
    for part in conjunction(op.mask):
        if part.comparison is None or not keeps_dims(part):
            return None
        left, right = part.operands
        dims = [dim for dim, axis in axes.items()
                if _bare(axis.index) is _bare(left) and _varies_along(left, dim)]
        if len(dims) != 1:
            return None
        axis = axes[dims[0]]
        if part.predicate == "sge" and constant(right) == 0:
            axes[dims[0]] = Axis(axis.index, axis.stride, True, axis.end)
        elif part.predicate == "slt" and axis.end is None:
            axes[dims[0]] = Axis(axis.index, axis.stride, axis.from_zero, _scalar(right))
            if axes[dims[0]].end is None:
                return None
        else:
            return None
    return axes


def base_of(pointers: Value) -> Value | None:
    """The pointer that all of a tensor's pointers start from."""
    op = pointers.defining_op
    while op is not None and (op.has("sum") or op.has("keeps_dims")):
        op = op.operands[0].defining_op
    return op.src if op is not None and op.has("splats") else None


def _offsets(pointers: Value) -> Iterator[Value]:
    op = pointers.defining_op
    while op is not None and (op.has("sum") or op.has("keeps_dims")):
        if op.has("sum"):
            yield op.offset
        op = op.operands[0].defining_op


def _split(offset: Value, found: dict[int, Value]) -> bool:
    """Split offsets into parts that vary along one dimension each, one part a dimension."""
    left = [offset]
    while left:
        offset = left.pop()
        shape, op = shape_of(offset.type), offset.defining_op
        varying = [dim for dim, size in enumerate(shape) if size > 1]
        if len(shape) != 2 or op is None:
            return False
        if len(varying) == 1:
            if varying[0] in found:
                return False
            found[varying[0]] = offset
        elif op.has("sum") or op.has("keeps_dims") or op.has("widens"):
            left += reversed(op.operands)
        else:
            return False
    return True


def _axis(offset: Value) -> Axis:
    op = offset.defining_op
    while op is not None and (op.has("widens") or op.has("converts")):
        offset, op = op.operands[0], op.operands[0].defining_op
    if op is not None and op.has("times"):
        for index, factor in (op.operands, op.operands[::-1]):
            stride = _scalar(factor)
            if stride is not None:
                return Axis(index, stride)
    return Axis(offset, None)


def _scalar(value: Value) -> Value | None:
    """The scalar that all elements are, or a constant tensor itself."""
    op = value.defining_op
    if op is not None and op.has("splats"):
        return op.src
    return value if constant(value) is not None else None


def _bare(value: Value) -> Value:
    """The number behind views, in whichever dimension, and extensions."""
    while (op := value.defining_op) is not None and any(map(op.has, ("keeps_dims", "reshapes", "widens"))):
        value = op.operands[0]
    return value


def _varies_along(index: Value, dim: int) -> bool:
    """Does an index [M, N] depend on the place along this dimension only?"""
    facts, shape = axis_facts(index), shape_of(index.type)
    return len(shape) == 2 and facts is not None and facts.constancy[1 - dim] >= shape[1 - dim]


def _is_positive(index: Value) -> bool:
    facts = axis_facts(index)
    return facts is not None and facts.nonnegative


# --- surfaces -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Size:
    """A size: `value`, which is the kernel's parameter number `parameter`; None: `known`."""

    value: Value | None
    parameter: int | None
    known: int = 0

    def asked(self, factor: int, least: int) -> Requirement | None:
        """What the launcher must see to for size * factor to be `least` or more; None where that holds."""
        if self.parameter is None and least <= self.known * factor <= MOST:
            return None
        return Requirement(self.parameter if self.parameter is not None else IMPOSSIBLE, factor, least)

    def register(self, ctx: Context) -> Register:
        """In 32 bits."""
        if self.value is None:
            return ctx.b.constant(I32, self.known)
        found = ctx.bindings.frame.values[self.value]
        scalar = found.scalar if isinstance(found, Uniform) else found
        assert isinstance(scalar, Register)
        return ctx.b.resize(scalar, 32)


@dataclass(frozen=True, kw_only=True)
class WholeBlocks(Blocks):
    """axes: the dimensions of the matrix; base: the pointer to its first element; width, height, pitch: its
    sizes; later: the first elements of blocks that are fetched ahead, `moved` rows and columns further on."""

    axes: Mapping[int, Axis]
    base: Value
    width: Size
    height: Size
    pitch: Size
    later: Layout | None = None
    moved: tuple[int, int] = (0, 0)


def plan_whole(ctx: Context, op: Operation, layout: Layout, message: Message) -> WholeBlocks | None:
    """The blocks of a load or store on the whole matrix; None where the matrix is none that a launcher could
    vouch for. In a loop, the blocks of a later iteration are fetched.
    """
    axes = _axes(op)
    if axes is None:
        return None
    across, down = axes[message.across], axes[message.down]
    if across.stride is not None or down.stride is None or across.end is None:
        return None
    for dim, axis in axes.items():
        facts = axis_facts(axis.index)
        if facts is None or facts.contiguity[dim] < shape_of(axis.index.type)[dim]:
            return None
        if not (axis.from_zero or facts.nonnegative) or not is_computable(ctx.bindings.value(axis.index)):
            return None
        if dim == message.across and facts.divisibility[dim] * message.bytes % 4:
            return None
    base, width, pitch = _base(ctx, op, message.bytes), _size(ctx, across.end), _size(ctx, down.stride)
    height = Size(None, None, MOST) if down.end is None else _size(ctx, down.end)
    if base is None or width is None or pitch is None or height is None:
        return None
    requires = _required(message, across.end, width, height, pitch)
    if requires is None:
        return None
    moved = _later(ctx, op, axes) if message.kind != "transpose" else None
    return WholeBlocks(surface="whole", message=message, starts=starts_of(layout, message), edges=(0, 1),
                       requires=tuple(sorted({*requires, Requirement(base[1], 0, 0)})),
                       ahead=0 if moved is None else ctx.kernel.options.num_stages - 1,
                       axes=axes, base=base[0], width=width, height=height, pitch=pitch,
                       later=None if moved is None else prefetch_starts(layout, message),
                       moved=moved or (0, 0))


def whole_surfaces(ctx: Context, blocks: WholeBlocks) -> list[Surface]:
    """(base, width, height, pitch, x, y) of the blocks; what is to be fetched ahead is fetched."""
    b, message = ctx.b, blocks.message
    ctx.launch.requires |= set(blocks.requires)
    base = ctx.env.address(ctx.bindings.scalar(blocks.base))
    width, pitch, height = (size.register(ctx) for size in (blocks.width, blocks.pitch, blocks.height))
    extent = base, b.imul(width, message.bytes), height, b.imul(pitch, message.bytes)
    made: list[Surface] = [
        (*extent, *place) for place in _places(ctx, blocks.axes, blocks.starts, message, (0, 0))]
    if blocks.later is not None:
        for place in _places(ctx, blocks.axes, blocks.later, message, blocks.moved):
            block = (message.width * message.count, message.height, 1)
            ctx.env.prefetch_block(message.bytes, block, (*extent, *place))
    return made


def _places(ctx: Context, axes: Mapping[int, Axis], starts: Layout, message: Message,
            moved: tuple[int, int]) -> list[tuple[Register, Register]]:
    """x and y of the blocks that begin at `starts`, `moved` rows and columns further on."""
    b = ctx.b
    coordinates = []
    for dim in (message.across, message.down):
        index = axes[dim].index
        values = ctx.evaluation.registers(unevaluated(ctx.bindings.value(index)),
                                          along(starts, dim, shape_of(index.type)))
        if moved[dim]:
            values = [b.iadd(x, moved[dim]) for x in values]
        small = [x if x.type == I32 else b.resize(_within(ctx, x), 32) for x in values]
        if dim == message.across and message.kind == "transpose":
            small = [b.ashr(x, (4 // message.bytes).bit_length() - 1) for x in small]
        coordinates.append(small)
    return list(zip(*coordinates, strict=True))


def _within(ctx: Context, value: Register) -> Register:
    """A coordinate of 64 bits; those beyond any surface stay beyond it."""
    b = ctx.b
    return b.ext("s_min", b.ext("s_max", value, b.constant(I64, -MOST)), b.constant(I64, MOST))


def _later(ctx: Context, op: Operation, axes: dict[int, Axis]) -> tuple[int, int] | None:
    """How far the block will have moved when num_stages - 1 iterations are over; None where it does not."""
    distance, loop = ctx.kernel.options.num_stages - 1, op.parent_op
    turn = counter_step(loop) if loop is not None and loop.has("counts") else None
    if distance < 1 or not turn or op.parent is None:
        return None
    moves = []
    for dim in (0, 1):
        slope = number(motion(axes[dim].index, Counter(op.parent)).slope)
        moves.append((slope or 0) * turn * distance)
    return (moves[0], moves[1]) if any(moves) else None


def _required(message: Message, end: Value, width: Size, height: Size,
              pitch: Size) -> list[Requirement] | None:
    """What the launcher must see to for a matrix of these sizes; None where it could not."""
    bytes, facts = message.bytes, axis_facts(end)
    if facts is None or facts.everywhere() * bytes % 4:
        return None
    asked = [width.asked(bytes, ALIGNMENT), height.asked(1, 1), pitch.asked(bytes, width.known * bytes)]
    if width.parameter is not None:
        if pitch.parameter is None:
            return None
        asked.append(Requirement(pitch.parameter, bytes, 0, width.parameter, bytes))
    if any(one is not None and one.parameter == IMPOSSIBLE for one in asked):
        return None
    return [one for one in asked if one is not None]


def _size(ctx: Context, value: Value) -> Size | None:
    known = constant(value)
    if known is not None:
        return Size(None, None, known)
    found = ctx.bindings.frame.values.get(value)
    register = found.scalar if isinstance(found, Uniform) else found
    number = ctx.launch.parameter_number(register) if isinstance(register, Register) else None
    return None if number is None else Size(value, number)


def _base(ctx: Context, op: Operation, bytes: int) -> tuple[Value, int] | None:
    """The pointer that the matrix begins at, a multiple of 64 where the kernel's argument is one, and the
    number of that."""
    base = root = base_of(op.ptr)
    while root is not None and root.defining_op is not None:
        maker = root.defining_op
        facts = axis_facts(maker.operands[1]) if maker.has("offsets") else None
        if facts is None or facts.everywhere() * bytes % ALIGNMENT:
            return None
        root = maker.operands[0]
    pointer, argument = (ctx.bindings.frame.values.get(x) for x in (base, root) if x is not None)
    number = ctx.launch.parameter_number(argument) if isinstance(argument, Register) else None
    if number is None or base is None or not isinstance(pointer, Register):
        return None
    return base, number
