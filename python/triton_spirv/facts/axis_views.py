"""Axis information through casts and views: the same numbers, in another type or another shape."""

from __future__ import annotations

import math

from triton_spirv.facts.axis_info import LARGEST, OPEN, AxisInfo
from triton_spirv.facts.axis_shapes import constant_of, elementwise, lengths, unit
from triton_spirv.ir.model import IndexType, IntegerType, Operation, PointerType, element_type


def extend(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """extsi, another layout: the same numbers."""
    return infos[0]


def extend_unsigned(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """The same numbers if they are not negative; else groups that begin at a multiple do not pass from -1 to
    0.
    """
    (a,) = infos
    if a.constant is not None:
        source = element_type(op.operands[0].type)
        width = source.width if isinstance(source, IntegerType) else 64
        return constant_of(op, a.constant & ((1 << width) - 1))
    if a.nonnegative:
        return a
    contiguity = tuple(a.aligned(d) for d in range(a.rank))
    divisibility = tuple(a.divisor(d, c) for d, c in enumerate(contiguity))
    return AxisInfo(contiguity, divisibility, a.constancy, None, OPEN)


def truncate(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    (a,) = infos
    return constant_of(op, a.constant) if a.constant is not None else low_bits(op, a)


def low_bits(op: Operation, a: AxisInfo) -> AxisInfo:
    """What numbers are in the type of the result: groups that begin at a multiple of their length, and are no
    longer than its positive half, do not wrap."""
    target = element_type(op.results[0].type)
    half = 1 << (target.width - 1) if isinstance(target, IntegerType) else LARGEST
    contiguity = tuple(math.gcd(a.aligned(d), half) for d in range(a.rank))
    divisibility = tuple(a.divisor(d, c) for d, c in enumerate(contiguity))
    return AxisInfo(contiguity, divisibility, a.constancy)


def index_cast(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    narrow = isinstance(element_type(op.results[0].type), IntegerType)
    return truncate(op, infos) if narrow else infos[0]


def reinterpret(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """Pointer casts: the same addresses in other steps."""
    (a,) = infos
    source, target = op.operands[0].type, op.results[0].type
    kinds = (PointerType, IntegerType, IndexType)
    if not isinstance(element_type(source), kinds) or not isinstance(element_type(target), kinds):
        return elementwise(op, infos)
    before, after = unit(source), unit(target)
    if before == after:
        return a
    divisibility = tuple(a.divisor(d, 1, before) for d in range(a.rank))
    return AxisInfo((1,) * a.rank, divisibility, a.constancy, a.constant, a.most)


# Views


def splat(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    (a,) = infos
    shape = lengths(op.results[0].type)
    rank = len(shape)
    return AxisInfo((1,) * rank, (a.divisor(0, 1),) * rank, shape, a.constant, a.most)


def unsplat(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    (a,) = infos
    return AxisInfo((1,), (a.everywhere(unit(op.operands[0].type)),), (1,), a.constant, a.most)


def expand_dims(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    (a,) = infos
    axis = op.attributes["axis"]
    every = a.everywhere(unit(op.operands[0].type))

    def insert(values: tuple[int, ...], value: int) -> tuple[int, ...]:
        return (*values[:axis], value, *values[axis:])

    contiguity, constancy = insert(a.contiguity, 1), insert(a.constancy, 1)
    return AxisInfo(contiguity, insert(a.divisibility, every), constancy, a.constant, a.most)


def broadcast(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    (a,) = infos
    source, target = lengths(op.operands[0].type), lengths(op.results[0].type)
    constancy = tuple(n if m == 1 else k for m, n, k in zip(source, target, a.constancy, strict=True))
    return AxisInfo(a.contiguity, a.divisibility, constancy, a.constant, a.most)


def reshape(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """Neighbours in the last dimension longer than 1 stay neighbours; of the others nothing is known."""
    (a,) = infos
    source, target = lengths(op.operands[0].type), lengths(op.results[0].type)
    size = unit(op.operands[0].type)
    rank = len(target)
    every = a.everywhere(size)
    if a.uniform(source):
        return AxisInfo((1,) * rank, (every,) * rank, target, a.constant, a.most)
    contiguity, divisibility, constancy = [1] * rank, [every] * rank, [1] * rank
    last = max(d for d in range(len(source)) if source[d] > 1 or d == 0)
    new = max((d for d in range(rank) if target[d] > 1), default=0)
    if not op.attributes.get("allow_reorder"):
        contiguity[new] = math.gcd(a.contiguity[last], target[new])
        constancy[new] = math.gcd(a.constancy[last], target[new])
        divisibility[new] = max(a.divisor(last, contiguity[new], size), every)
    return AxisInfo(tuple(contiguity), tuple(divisibility), tuple(constancy), a.constant, a.most)


def transpose(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    (a,) = infos
    order = op.attributes["order"]

    def permute(values: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(values[d] for d in order)

    contiguity, divisibility, constancy = map(permute, (a.contiguity, a.divisibility, a.constancy))
    return AxisInfo(contiguity, divisibility, constancy, a.constant, a.most)
