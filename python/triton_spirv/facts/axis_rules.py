"""How each operation makes AxisInfo of its result from that of its operands. The rules.

Each takes the operation and the operands' facts, by position, and gives the fact of its only result.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from triton_spirv.facts import axis_views as views
from triton_spirv.facts.axis_info import (
    LARGEST,
    OPEN,
    AxisInfo,
    either,
    of_constant,
    power_of_two_divisor,
    unknown,
)
from triton_spirv.facts.axis_shapes import constant_of, elementwise, gcds, lengths, unit
from triton_spirv.ir.dialects import OPERATIONS
from triton_spirv.ir.model import DenseAttr, IntegerType, Operation, TensorType, element_type

Rule = Callable[[Operation, list[AxisInfo]], AxisInfo]

#: Bits of integers of which sums and products are taken not to wrap.
NARROW = 32
#: Bits that are left for an index of any size by what it is multiplied by, at the least.
ROOM = 8


# Makers of values


def constant(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    value, type = op.attributes["value"], op.results[0].type
    if isinstance(value, DenseAttr):
        if not value.splat:
            return unknown(len(lengths(type)))
        value = value.values
    shape = lengths(type)
    if isinstance(value, float):
        ones = (1,) * len(shape)
        return AxisInfo(ones, ones, shape)
    return of_constant(int(value), shape)


def make_range(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    start, end = op.attributes["start"], op.attributes["end"]
    most = end - 1 if start >= 0 else None
    return AxisInfo((end - start,), (power_of_two_divisor(start),), (1,), None, most)


def program_id(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    return AxisInfo((1,), (1,), (1,), None, OPEN)


# Sums


def _width(op: Operation) -> int:
    type = element_type(op.results[0].type)
    return type.width if isinstance(type, IntegerType) else 64


def _wraps(op: Operation, most: int | None) -> bool:
    """May a sum or product, whose largest element were `most`, be another number than that of integers? Those
    of 8 and 16 bits wrap in kernels."""
    width = _width(op)
    return width < NARROW or (most is not None and most != OPEN and most >> (width - 1) != 0)


def _largest(op: Operation, a: int | None, b: int | None, of: Callable[[int, int], int]) -> int | None:
    """The largest element of a sum or product, were its type wide enough. Where one side may be of any size,
    the other tells an index from what wraps by design, as a hash does: it leaves no room for an index."""
    if a is None or b is None:
        return None
    least = min(a, b)
    if OPEN not in (a, b):
        return of(a, b)
    if least == OPEN:
        return OPEN
    most = 1 << (_width(op) - 1)
    return OPEN if least < most >> (1 if of is int.__add__ else ROOM) else most


def _sum(
    a: AxisInfo, b: AxisInfo, swap: bool, unit_a: int, unit_b: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Contiguity and divisibility where constant meets contiguous; `swap`: b may be the contiguous one."""
    contiguity, divisibility = [], []
    for d in range(a.rank):
        c = math.gcd(a.contiguity[d], b.constancy[d])
        if swap:
            c = max(c, math.gcd(a.constancy[d], b.contiguity[d]))
        contiguity.append(c)
        divisor = min(b.divisor(d, c) * unit_b, LARGEST)
        divisibility.append(min(a.divisor(d, c, unit_a), divisor))
    return tuple(contiguity), tuple(divisibility)


def add(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    a, b = infos
    if a.constant is not None and b.constant is not None:
        return constant_of(op, a.constant + b.constant)
    return _wrapped(op, AxisInfo(*_sum(a, b, True, 1, 1), gcds(a.constancy, b.constancy), None,
                                 _largest(op, a.most, b.most, int.__add__)))


def subtract(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    a, b = infos
    if a.constant is not None and b.constant is not None:
        return constant_of(op, a.constant - b.constant)
    return _wrapped(op, AxisInfo(*_sum(a, b, False, 1, 1), gcds(a.constancy, b.constancy)))


def _wrapped(op: Operation, info: AxisInfo) -> AxisInfo:
    """Of a sum that may wrap: its low bits."""
    return views.low_bits(op, info) if _wraps(op, info.most) else info


def addptr(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """Addresses in bytes, offsets in elements."""
    a, b = infos
    size = unit(op.operands[0].type)
    contiguity, divisibility = _sum(a, b, True, size, size)
    return AxisInfo(contiguity, divisibility, gcds(a.constancy, b.constancy))


# Products, quotients


def multiply(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    a, b = infos
    if a.constant is not None and b.constant is not None:
        return constant_of(op, a.constant * b.constant)
    if b.constant == 0 or a.constant == 0:
        return constant_of(op, 0)
    if b.constant == 1 or a.constant == 1:
        return a if b.constant == 1 else b
    divisibility = tuple(min(a.divisor(d, 1) * b.divisor(d, 1), LARGEST) for d in range(a.rank))
    most = _largest(op, a.most, b.most, int.__mul__)
    return AxisInfo((1,) * a.rank, divisibility, gcds(a.constancy, b.constancy), None,
                    None if _wraps(op, most) else most)


def _within(a: AxisInfo, b: AxisInfo, d: int) -> int:
    """Groups along d where `a` counts up from a multiple of the length, and `b` is one multiple of it:
    neither a / b changes in them, nor does a % b wrap."""
    return math.gcd(a.aligned(d), math.gcd(b.divisor(d, 1), b.constancy[d]))


def divide(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """Rounds towards zero: a group that counts up through negative numbers does not stay in one quotient.

    The divisor is taken to be positive, as the module's head says.
    """
    a, b = infos
    if b.constant == 1:
        return a
    signed = op.name == "arith.divsi"
    if a.constant is not None and b.constant and (a.nonnegative and b.constant > 0):
        return constant_of(op, a.constant // b.constant)
    constancy = gcds(a.constancy, b.constancy)
    if a.nonnegative or not signed:
        constancy = tuple(max(k, _within(a, b, d)) for d, k in enumerate(constancy))
    ones = (1,) * a.rank
    power = b.constant if b.constant and b.constant > 0 and b.constant & (b.constant - 1) == 0 else None
    divisibility = tuple(max(a.divisor(d, 1) // power, 1) for d in range(a.rank)) if power else ones
    return AxisInfo(ones, divisibility, constancy, None, a.most)


def remainder(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    a, b = infos
    signed = op.name == "arith.remsi"
    if a.constant is not None and b.constant and (a.nonnegative and b.constant > 0):
        return constant_of(op, a.constant % b.constant)
    contiguity = (1,) * a.rank
    if a.nonnegative or not signed:
        contiguity = tuple(_within(a, b, d) for d in range(a.rank))
    divisibility = tuple(min(a.divisor(d, c), b.divisor(d, c)) for d, c in enumerate(contiguity))
    most = a.most if a.most is None or not b.constant or b.constant < 0 else min(a.most, b.constant - 1)
    return AxisInfo(contiguity, divisibility, gcds(a.constancy, b.constancy), None, most)


# Bits


def bit_and(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """x & (2**n - 1) is a remainder that rounds down, for negative x too."""
    a, b = infos
    if a.constant is not None and b.constant is not None:
        return constant_of(op, a.constant & b.constant)
    contiguity = (1,) * a.rank
    for value, mask in ((a, b.constant), (b, a.constant)):
        if mask is not None and mask > 0 and mask & (mask + 1) == 0:
            contiguity = tuple(math.gcd(value.aligned(d), mask + 1) for d in range(a.rank))
    divisibility = tuple(max(a.divisor(d, c), b.divisor(d, c)) for d, c in enumerate(contiguity))
    most = min((info.most for info in infos if info.most is not None), default=None)
    return AxisInfo(contiguity, divisibility, gcds(a.constancy, b.constancy), None, most)


def bit_or(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """or, xor: as a sum where one counts up in low bits that the other does not have."""
    a, b = infos
    if a.constant is not None and b.constant is not None:
        value = a.constant | b.constant if op.name == "arith.ori" else a.constant ^ b.constant
        return constant_of(op, value)
    contiguity = tuple(max(_within(a, b, d), _within(b, a, d)) for d in range(a.rank))
    divisibility = tuple(min(a.divisor(d, c), b.divisor(d, c)) for d, c in enumerate(contiguity))
    return AxisInfo(contiguity, divisibility, gcds(a.constancy, b.constancy), None, either(a, b))


def shift_left(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    a, b = infos
    if b.constant == 0:
        return a
    if a.constant is not None and b.constant is not None and 0 <= b.constant < 64:
        return constant_of(op, a.constant << b.constant)
    shift = b.constant if b.constant is not None and 0 <= b.constant < 62 else 0
    divisibility = tuple(min(a.divisor(d, 1) << shift, LARGEST) for d in range(a.rank))
    most = _largest(op, a.most, 1 << shift if b.constant == shift else OPEN, int.__mul__)
    return AxisInfo((1,) * a.rank, divisibility, gcds(a.constancy, b.constancy), None,
                    None if _wraps(op, most) else most)


def shift_right(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """Rounds down, so negative numbers are no exception."""
    a, b = infos
    if b.constant == 0:
        return a
    if b.constant is None or not 0 <= b.constant < 62:
        return elementwise(op, infos)
    if a.constant is not None and a.nonnegative:
        return constant_of(op, a.constant >> b.constant)
    size = 1 << b.constant
    constancy = tuple(max(k, math.gcd(a.aligned(d), size)) for d, k in enumerate(a.constancy))
    divisibility = tuple(max(a.divisor(d, 1) >> b.constant, 1) for d in range(a.rank))
    most = OPEN if op.name == "arith.shrui" and a.most is None else a.most
    return AxisInfo((1,) * a.rank, divisibility, constancy, None, most)


# Choices


def extremum(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """min, max: an element of one or of the other."""
    a, b = infos
    signed = op.name.endswith("si")
    if a.constant is not None and b.constant is not None and (signed or (a.nonnegative and b.nonnegative)):
        pick = max if "max" in op.name else min
        return constant_of(op, pick(a.constant, b.constant))
    divisibility = tuple(min(a.divisor(d, 1), b.divisor(d, 1)) for d in range(a.rank))
    one = signed and "max" in op.name and (a.nonnegative or b.nonnegative)
    return AxisInfo((1,) * a.rank, divisibility, gcds(a.constancy, b.constancy), None,
                    OPEN if one else either(a, b))


def select(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    condition, a, b = infos
    if condition.constant is not None:
        return a if condition.constant else b
    scalar = not isinstance(op.operands[0].type, TensorType)
    keeps = (LARGEST,) * a.rank if scalar else condition.constancy
    size = unit(op.results[0].type)
    contiguity = gcds(gcds(a.contiguity, b.contiguity), keeps)
    divisibility = tuple(min(a.divisor(d, c, size), b.divisor(d, c, size)) for d, c in enumerate(contiguity))
    constancy = gcds(gcds(a.constancy, b.constancy), keeps)
    value = None
    if a.constant is not None and a.constant == b.constant:
        value, constancy = a.constant, lengths(op.results[0].type)
    return AxisInfo(contiguity, divisibility, constancy, value, either(a, b))


_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "eq": int.__eq__,
    "ne": int.__ne__,
    "slt": int.__lt__,
    "sle": int.__le__,
    "sgt": int.__gt__,
    "sge": int.__ge__,
    "ult": int.__lt__,
    "ule": int.__le__,
    "ugt": int.__gt__,
    "uge": int.__ge__,
}
_BELOW = frozenset(["slt", "sge", "ult", "uge"])  # a counts up: a < b and a >= b change where b is a multiple
_ABOVE = frozenset(["sgt", "sle", "ugt", "ule"])  # b counts up


def compare(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """The masks of index < limit: constant in groups whose length divides the limit."""
    a, b = infos
    predicate = op.attributes["predicate"]
    signs_known = predicate[0] != "u" or (a.nonnegative and b.nonnegative)
    if a.constant is not None and b.constant is not None and signs_known:
        return constant_of(op, int(_COMPARE[predicate](a.constant, b.constant)))
    constancy = gcds(a.constancy, b.constancy)
    if predicate in _BELOW:
        constancy = tuple(max(k, _within(a, b, d)) for d, k in enumerate(constancy))
    elif predicate in _ABOVE:
        constancy = tuple(max(k, _within(b, a, d)) for d, k in enumerate(constancy))
    ones = (1,) * a.rank
    return AxisInfo(ones, ones, constancy, None, True)


def load(op: Operation, infos: list[AxisInfo]) -> AxisInfo:
    """Equal addresses under equal masks hold equal values."""
    if op.attributes.get("isVolatile"):
        return unknown(len(lengths(op.results[0].type)))
    return elementwise(op, infos)


RULES: dict[str, Rule] = {
    "arith.constant": constant,
    "tt.make_range": make_range,
    "tt.get_program_id": program_id,
    "tt.get_num_programs": program_id,
    "arith.addi": add,
    "arith.subi": subtract,
    "arith.muli": multiply,
    "tt.addptr": addptr,
    "arith.divsi": divide,
    "arith.divui": divide,
    "arith.remsi": remainder,
    "arith.remui": remainder,
    "arith.andi": bit_and,
    "arith.ori": bit_or,
    "arith.xori": bit_or,
    "arith.shli": shift_left,
    "arith.shrsi": shift_right,
    "arith.shrui": shift_right,
    "arith.maxsi": extremum,
    "arith.minsi": extremum,
    "arith.maxui": extremum,
    "arith.minui": extremum,
    "arith.select": select,
    "arith.cmpi": compare,
    "tt.load": load,
    "arith.extsi": views.extend,
    "arith.extui": views.extend_unsigned,
    "arith.trunci": views.truncate,
    "arith.index_cast": views.index_cast,
    "tt.bitcast": views.reinterpret,
    "tt.int_to_ptr": views.reinterpret,
    "tt.ptr_to_int": views.reinterpret,
    "tt.splat": views.splat,
    "tt.unsplat": views.unsplat,
    "tt.expand_dims": views.expand_dims,
    "tt.broadcast": views.broadcast,
    "tt.reshape": views.reshape,
    "tt.trans": views.transpose,
    "ttg.convert_layout": views.extend,
}


def rule_for(name: str) -> Rule | None:
    """The rule of an operation; None: nothing is known of its results."""
    return RULES.get(name) or (elementwise if "elementwise" in OPERATIONS[name].traits else None)
