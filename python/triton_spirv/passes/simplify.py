"""Algebra that Triton leaves to the compiler behind it, done on the IR because whole tensors hang on it.

Triton's sort and flip exchange the two elements along an axis of size 2 by three xors:

    s = xor-reduction of x along the axis          x0 ^ x1
    y = x ^ s, repeated along the axis             x0 ^ (x0 ^ x1) = x1,  x1 ^ (x0 ^ x1) = x0

which is `ts.swap`, a view: no arithmetic, and what a sort does between two of them shares a loop.

torch's kernels choose the larger of two f32, or the first one where it is NaN, by

    m = a > b | a != a
    y = select(m, a, b)

which is `ts.larger` (`ts.smaller`): processors have an instruction for most of it, and a reduction by it has
a number that it may begin with.
"""

from __future__ import annotations

from triton_spirv.ir.model import FloatType, IntegerType, Operation, TensorType, Type, Value
from triton_spirv.ir.module import Module

SWAP = "ts.swap"


def simplify(module: Module, extremes: bool = True) -> None:
    """Rewrite xors that exchange neighbours, and choices of the larger number if `extremes`, in place;
    operations that this leaves unused are removed."""
    for op in list(module.walk()):
        if op.name == "arith.xori":
            _swap(op)
        elif op.name == "arith.cmpi":
            _decide(op)
        elif op.has("selects") and extremes:
            _extreme(op)


#: What no signed number fails, as a test of the constant on the right: least and greatest number of its type.
DECIDED = {"sle": lambda c, low, high: c >= high, "slt": lambda c, low, high: c > high,
           "sge": lambda c, low, high: c <= low, "sgt": lambda c, low, high: c < low}


def _decide(op: Operation) -> None:
    """A scalar widened and compared with a limit that its own type has: true. Checks for overflow are full of
    such, and Mesa's software device (22.3) answers them wrongly."""
    value, limit = (operand.defining_op for operand in op.operands)
    test = DECIDED.get(op.attributes["predicate"])
    if value is None or limit is None or not value.has("widens") or not limit.has("constant"):
        return
    narrow, number = value.operands[0].type, limit.attributes["value"]
    if test is None or not isinstance(narrow, IntegerType) or not isinstance(number, int) or narrow.width < 8:
        return
    if not test(number, -1 << (narrow.width - 1), (1 << (narrow.width - 1)) - 1):
        return
    op.become("arith.constant", [], {"value": True})


#: how the first number compares with the other one where it is chosen -> the operation that chooses so
EXTREMES = {"ogt": "ts.larger", "olt": "ts.smaller"}


def _extreme(op: Operation) -> None:
    either, a, b = op.operands
    mask = either.defining_op
    if mask is None or mask.name != "arith.ori" or _element(a.type) != FloatType("f32"):
        return
    tests = [test.defining_op for test in mask.operands]
    for comparison, nan in (tests, tests[::-1]):
        name = EXTREMES.get(_predicate(comparison, a, b))
        if name is not None and _predicate(nan, a, a) in ("une", "uno"):
            op.become(name, [a, b], {})
            _remove_unused(mask)
            return


def _element(type: Type) -> Type:
    return type.element if isinstance(type, TensorType) else type


def _predicate(op: Operation | None, a: Value, b: Value) -> str:
    """Of a comparison of two floats; empty if it is none of these."""
    found = "" if op is None or op.operands != [a, b] else op.attributes.get("predicate", "")
    assert isinstance(found, str)
    return found


def _swap(op: Operation) -> None:
    for x, other in (op.operands, op.operands[::-1]):
        axis = _summed_axis(x, other)
        if axis is not None:
            op.become(SWAP, [x], {"axis": axis})
            _remove_unused(other.defining_op)
            return


def _summed_axis(x: Value, other: Value) -> int | None:
    """The axis along which `other` repeats x0 ^ x1; None where it is anything else.

    Only on TTIR: under an encoding the axis may lie in lanes. Not on masks, of which other analyses ask more.
    """
    repeat = other.defining_op
    if not isinstance(x.type, TensorType) or x.type.encoding is not None or x.type.element == IntegerType(1):
        return None
    if repeat is None or not repeat.has("repeats"):
        return None
    widen = repeat.operands[0].defining_op
    if widen is None or not widen.has("reshapes"):
        return None
    reduction = widen.operands[0].defining_op
    if reduction is None or not reduction.has("reduces") or reduction.operands != [x]:
        return None
    axis, shape = reduction.attributes["axis"], x.type.shape
    kept = TensorType((*shape[:axis], 1, *shape[axis + 1:]), x.type.element, None)
    return axis if shape[axis] == 2 and widen.result.type == kept and _is_xor(reduction) else None


def _is_xor(reduction: Operation) -> bool:
    block = reduction.regions[0].entry
    if len(reduction.regions[0].blocks) != 1 or len(block.operations) != 2:
        return False
    combine, end = block.operations
    takes_both = set(combine.operands) == set(block.arguments)
    return combine.name == "arith.xori" and takes_both and end.operands == combine.results


def _remove_unused(op: Operation | None) -> None:
    """Take `op` and what it alone used out of its block."""
    if op is None or op.parent is None or not op.is_pure or any(value.uses for value in op.results):
        return
    makers = [value.defining_op for value in op.operands]
    op.erase()
    for maker in makers:
        _remove_unused(maker)
