"""Addresses that lie together in pieces: where an index is divided by a number that is no multiple of a
vector's length, or that only the launch knows.

    x = tl.load(table + row * width + i % width)        i = program * BLOCK + 0, 1, ... BLOCK - 1
    y = tl.load(scale + i // width)

Most vectors of neighbours in `i` lie in one row of the table, and take one element of the scale; those at
the end of a row do not. Nobody knows which before the kernel runs; facts/axis.py knows what holds for all.
"""

from __future__ import annotations

from ..ir.model import DenseAttr, Operation, TensorType, Value, bits_of
from ..traversal import Asking, Known, answer

#: Of a shorter piece, too few vectors are whole.
SHORTEST = 24

#: Bits of integers that a vector of them is divided by a constant in, by multiplying.
NARROW = 32

#: What a piece is: "one", all elements equal, or "neighbours", each is one more than the one before it; and
#: whether there are several, which a division makes.
Piece = tuple[str, bool]


def pieces_of(value: Value, known: Known) -> str:
    """What pieces the addresses of a tensor of one dimension consist of; "" where there are none, or one.
    known: answers about values of the module, which is given and takes them."""
    if not isinstance(value.type, TensorType) or len(value.type.shape) != 1:
        return ""
    found = answer(_pieces, value, known=known)
    return found[0] if found is not None and found[1] else ""


def numerator_of(division: Operation, known: Known) -> str:
    """Of what pieces that consists which is divided, where the divisor is one number that only the launch
    knows, or of 64 bits; "" for other divisions. known: as of `pieces_of`."""
    divisor, type = division.operands[1], division.result.type
    if not isinstance(type, TensorType) or len(type.shape) != 1 or \
            answer(_pieces, divisor, known=known) != ("one", False):
        return ""
    op = divisor.defining_op
    if bits_of(type.element) <= NARROW and op is not None and op.has("constant"):
        return ""
    found = answer(_pieces, division.operands[0], known=known)
    return "" if found is None or found == ("one", False) or not _is_long(divisor) else found[0]


def _pieces(value: Value) -> Asking[Piece | None]:
    """None where elements are no such pieces."""
    op = value.defining_op
    if not isinstance(value.type, TensorType) or op is None or op.has("splats") or _is_uniform(op):
        return None if op is None and isinstance(value.type, TensorType) else ("one", False)
    if op.has("enumerates"):
        return "neighbours", False
    if op.has("loads"):
        places = yield (op.ptr,)
        return places if places is not None and places[0] == "one" else None
    if not op.has("elementwise") or op.regions:
        return None
    operands = []
    for operand in op.operands:
        operands.append((yield (operand,)))
        if operands[-1] is None:
            return None
    return _of_result(op, [piece for piece in operands if piece is not None])


def _of_result(op: Operation, operands: list[Piece]) -> Piece | None:
    kinds, divided = [kind for kind, _ in operands], any(several for _, several in operands)
    if "neighbours" not in kinds:
        return "one", divided
    if op.has("widens") or op.has("resizes") or (op.has("sum") and kinds.count("neighbours") == 1):
        return "neighbours", divided
    if kinds[0] == "neighbours" and "neighbours" not in kinds[1:]:
        if op.has("difference"):
            return "neighbours", divided
        if op.has("divides") and _is_long(op.operands[1]):
            return "neighbours" if op.has("remainder") else "one", True
    return None


def _is_uniform(op: Operation) -> bool:
    number = op.attributes.get("value")
    return op.has("constant") and isinstance(number, DenseAttr) and number.splat


def _is_long(divisor: Value) -> bool:
    """Is it a number large enough, as far as is known?"""
    op = divisor.defining_op
    number = op.attributes.get("value") if op is not None and op.has("constant") else None
    number = number.values if isinstance(number, DenseAttr) else number
    return not isinstance(number, int) or abs(number) >= SHORTEST
