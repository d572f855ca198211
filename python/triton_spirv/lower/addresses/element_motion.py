"""How a tensor of integers moves from element to element, as far as lowering knows it: along a dimension,
within aligned groups, by one slope.

The slopes of affine tensors, their strides, are those of whole dimensions, and may be known when running
only. Of others the facts of the IR tell (facts/axis.py), and what they are made of. facts/motion.py asks the
same of the rounds of a loop and of programs; slopes are of one kind (facts/slopes.py), and one rule says what
an operation makes of them.
"""

from __future__ import annotations

from ...facts.axis import axis_facts
from ...facts.slopes import Multiple, Slope, added, multiple_of, number, of_result
from ...facts.views import source_dims
from ...ir.model import bits_of
from ...layout import Layout
from ...spirv.module import Value as Register
from ...traversal import Asking, answer, question
from ..values.tensor import Affine, Deferred, Fragment, Pointers, Stored, Tensor, Uniform

#: Bits of integers of which sums and products are taken not to wrap.
NARROW = 32


def slope_along(tensor: object, dim: int, length: int) -> Slope[Register] | None:
    """What a tensor grows by along a dimension within aligned groups of `length`, in elements; None where
    that is unknown."""
    return answer(_slope, tensor, dim, length) if isinstance(tensor, Deferred) else _of_formula(tensor, dim)


def _of_formula(tensor: object, dim: int) -> Slope[Register] | None:
    """The same of a tensor that is no operation."""
    if isinstance(tensor, Affine):
        return tensor.strides[dim]
    return 0 if tensor is None or isinstance(tensor, (Uniform, Register)) else None


def _slope(tensor: object, dim: int, length: int) -> Asking[Slope[Register] | None]:
    if not isinstance(tensor, Deferred):
        return _of_formula(tensor, dim)
    op, operands = tensor.operation, tensor.operands
    facts = axis_facts(op.results[tensor.index])
    if facts is not None and facts.contiguity[dim] >= length:
        return 1
    if facts is not None and facts.constancy[dim] >= length:
        return 0
    dims = source_dims(op)
    if dims is not None:
        source = dims[dim]
        return 0 if source is None else (yield (operands[0], source, length))
    if op.has("widens"):
        return (yield (operands[0], dim, length))
    if not op.has("elementwise"):
        return None
    slopes = []
    for operand in operands:
        slopes.append((yield (operand, dim, length)))
        if slopes[-1] is None:
            return None

    def scalar(place: int) -> Register | int | None:
        uniform = operands[place]
        if not isinstance(uniform, Uniform):
            return None
        value = uniform.scalar.constant
        return value if isinstance(value, int) else uniform.scalar

    return of_result(op, slopes, scalar, wraps=bits_of(tensor.element) < NARROW)


def pointer_slope(pointers: Pointers, dim: int, length: int) -> Slope[Register] | None:
    """The same of pointers."""
    slopes = [slope_along(part, dim, length) for part in (pointers.affine, *pointers.terms)]
    known = [slope for slope in slopes if slope is not None]
    return added(*known) if len(known) == len(slopes) else None


def pitch_of(pointers: Pointers, dim: int, length: int) -> Multiple[Register] | None:
    """The same as a number, or a number times one scalar; None where it is more than that."""
    slope = pointer_slope(pointers, dim, length)
    return None if slope is None else multiple_of(slope)


@question
def contiguous_axis(tensor: object) -> Asking[int | None]:
    """The dimension along which neighbours of a tensor are neighbours in the memory that it comes from; None:
    unknown."""
    if isinstance(tensor, (Stored, Fragment)):
        return len(tensor.shape) - 1
    if not isinstance(tensor, Deferred):
        return None
    if tensor.evaluated is not None:
        return (yield (tensor.evaluated,))
    op = tensor.operation
    if op.has("loads"):
        pointers = tensor.operands[0]
        found = [d for d in range(len(tensor.shape))
                 if isinstance(pointers, Pointers) and pointer_slope(pointers, d, 2) == 1]
        return found[-1] if found else None
    if op.has("transposes"):
        inner = yield (tensor.operands[0],)
        return None if inner is None else list(op.attributes["order"]).index(inner)
    if op.has("elementwise"):
        for operand in tensor.operands:
            axis = yield (operand,)
            if axis is not None:
                return axis
    return None


def growth(tensor: Tensor | None, basis: int, layout: Layout) -> int | None:
    """What a tensor grows by from one element to the one whose index has bit `basis` too; None where that is
    unknown, or no number."""
    total = 0
    for dim, index in enumerate(layout.unravel(basis)):
        if index:
            slope = slope_along(tensor, dim, 2 * index)
            step = slope if isinstance(slope, int) else number(slope)
            if step is None:
                return None
            total += index * step
    return total


def pointer_growth(pointers: Pointers, basis: int, layout: Layout) -> int | None:
    """The same of pointers."""
    total = 0
    for part in (pointers.affine, *pointers.terms):
        grown = 0 if part is None else growth(part, basis, layout)
        if grown is None:
            return None
        total += grown
    return total
