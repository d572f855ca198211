"""How the address of an element follows from its index, by the kernel's operations alone.

The verifier of fused walks asks this. It knows nothing of what lowering has bound values to: it reads how the
pointers are made.

    x + row * n + tl.arange(0, 64)                   strides 1
    x + rows[:, None] * n + columns[None, :] * 2     strides n, 2
    x + tl.load(index)                               none: no formula of the index

A stride is a sum of products of scalars of the kernel, with integers before them; two that are equal have the
same value wherever both are known. As in the facts of values, index arithmetic is taken not to wrap.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...facts.axis import axis_facts
from ...facts.motion import added_each_round
from ...ir.model import DenseAttr, Operation, TensorType, Type, Value, bits_of, function_of
from ...traversal import Asking, Known, answer

#: Values that are multiplied, by their ids, in order.
Product = tuple[int, ...]

#: An integer, or a sum of products with the integer before each, which is not 0. The product of no values
#: is 1.
Stride = int | frozenset[tuple[Product, int]]

#: Products in one sum, and values in one product; what has more is a value of its own.
MOST = 16

#: Bits of integers of which sums and products are taken not to wrap.
NARROW = 32


def _terms(stride: Stride) -> dict[Product, int]:
    return dict(stride) if not isinstance(stride, int) else {(): stride} if stride else {}


def _stride(terms: dict[Product, int]) -> Stride:
    left = {product: factor for product, factor in terms.items() if factor}
    return left.get((), 0) if not left.keys() - {()} else frozenset(left.items())


def _sum(x: Stride, y: Stride, factor: int) -> Stride:
    """x + factor * y."""
    if isinstance(x, int) and isinstance(y, int):
        return x + factor * y
    if y == 0:
        return x
    total = _terms(x)
    for product, each in _terms(y).items():
        total[product] = total.get(product, 0) + factor * each
    return _stride(total)


def _product(x: Stride, y: Stride) -> Stride:
    if isinstance(x, int) and isinstance(y, int):
        return x * y
    total: dict[Product, int] = {}
    for left, factor in _terms(x).items():
        for right, other in _terms(y).items():
            both = tuple(sorted(left + right))
            total[both] = total.get(both, 0) + factor * other
    return _stride(total)


def sum_of(strides: Sequence[Stride]) -> Stride:
    """Their sum."""
    total: Stride = 0
    for stride in strides:
        total = _sum(total, stride, 1)
    return total


def multiple_of(stride: Stride, factor: int) -> Stride:
    """A stride times a number."""
    return _product(stride, factor)


class Addresses:
    """Of one function. `caller`: where it is called, those of that function and the call's operands: its own
    arguments are those."""

    def __init__(self, caller: tuple[Addresses, Sequence[Value]] | None = None) -> None:
        self.caller = caller
        self._strides: Known = {}
        self._scalars: Known = {}

    def strides(self, value: Value) -> tuple[Stride, ...] | None:
        """By how much an integer, or a pointer in elements, grows along each dimension of a tensor; None
        where it is no such formula of the index."""
        return answer(self._of_tensor, value, known=self._strides)

    def scalar(self, value: Value) -> Stride:
        """A scalar, or what all elements of a tensor are."""
        return answer(self._of_scalar, value, known=self._scalars)

    def _of_tensor(self, value: Value) -> Asking[tuple[Stride, ...] | None]:
        op = value.defining_op
        known = None if op is None else _without_operands(op)
        if known is not None:
            return known
        if op is None or op.has("loops"):
            before = self._carried(value)
            if before is not None:
                return (yield (before,))
        elsewhere = self._elsewhere(value)
        if elsewhere is not None:
            return elsewhere[0].strides(elsewhere[1])
        if op is None:
            return None
        if op.has("view"):
            return viewed(op, (yield (op.operands[0],)))
        if not op.has("elementwise") or not op.operands:
            return None
        parts = []
        for operand in op.operands:
            maker = operand.defining_op
            found = None if maker is None else _without_operands(maker)
            if found is None:
                found = yield (operand,)
            if found is None:
                return None
            parts.append(found)
        return self._computed(op, parts) if any(map(any, parts)) else parts[0]

    def _computed(self, op: Operation, parts: list[tuple[Stride, ...]]) -> tuple[Stride, ...] | None:
        """Of an operation whose operands have these strides."""
        if _keeps_number(op):
            return parts[0]
        if op.has("sum") or op.has("difference"):
            sign = 1 if op.has("sum") else -1
            return tuple(_sum(x, y, sign) for x, y in zip(*parts, strict=True))
        if op.has("times"):
            for one, other in ((0, 1), (1, 0)):
                if not any(parts[other]):
                    scale = self.scalar(op.operands[other])
                    return tuple(_product(x, scale) for x in parts[one])
        return None

    def _carried(self, value: Value) -> Value | None:
        """What a value that a counted loop moves by the same amount everywhere is before it: an argument of
        its body, or a result."""
        op = value.defining_op
        loop = op if op is not None or value.block is None else value.block.parent.parent
        place = value.index if op is not None else value.index - 1
        if loop is None or not loop.has("counts") or place < 0 or added_each_round(loop, place) is None:
            return None
        return loop.operands[3 + place]

    def _elsewhere(self, value: Value) -> tuple[Addresses, Value] | None:
        """The same value in another function: of an argument what the caller gives, of a call's result what
        the function returns."""
        op, block = value.defining_op, value.block
        function = function_of(block)
        if function is None:
            return None
        if op is None:
            is_given = self.caller is not None and block is function.regions[0].entry
            return (self.caller[0], self.caller[1][value.index]) if self.caller and is_given else None
        if not op.has("calls") or function.parent is None:
            return None
        called = next((each for each in function.parent.operations
                       if each.attributes.get("sym_name") == op.attributes["callee"]), None)
        if called is None or len(called.regions[0].blocks) != 1:
            return None
        return Addresses((self, op.operands)), called.regions[0].entry.terminator.operands[value.index]

    def _of_scalar(self, value: Value) -> Asking[Stride]:
        itself: Stride = frozenset([((id(value),), 1)])
        facts = axis_facts(value)
        if facts is not None and facts.constant is not None:
            return facts.constant
        op, elsewhere = value.defining_op, self._elsewhere(value)
        if elsewhere is not None:
            return elsewhere[0].scalar(elsewhere[1])
        if op is None:
            return itself
        if op.has("view") or _keeps_number(op):
            return (yield (op.operands[0],))
        is_sum = op.has("sum") or op.has("difference")
        if not (is_sum or op.has("times")) or bits_of(_element(value)) < NARROW:
            return itself
        x = yield (op.operands[0],)
        y = yield (op.operands[1],)
        made = _sum(x, y, 1 if op.has("sum") else -1) if is_sum else _product(x, y)
        if isinstance(made, int) or (len(made) <= MOST and all(len(product) <= MOST for product, _ in made)):
            return made
        return itself


def _element(value: Value) -> Type:
    return value.type.element if isinstance(value.type, TensorType) else value.type


def _without_operands(op: Operation) -> tuple[Stride, ...] | None:
    """Of a tensor that is made of no other one; None: it is none of these."""
    if op.has("enumerates"):
        return (1,)
    value = op.attributes.get("value") if op.has("constant") else None
    if op.has("splats") or (isinstance(value, DenseAttr) and value.splat):
        type = op.results[0].type
        return (0,) * len(type.shape) if isinstance(type, TensorType) else None
    return None


def _keeps_number(op: Operation) -> bool:
    """Is its result the number that its operand is?"""
    if op.has("zero_extends"):  # the bits: of a number that is not negative, the same number
        facts = axis_facts(op.operands[0])
        return facts is not None and facts.nonnegative
    return op.has("widens")


def viewed(op: Operation, source: tuple[Stride, ...] | None) -> tuple[Stride, ...] | None:
    """Of a view of a tensor with these strides."""
    made, viewed = op.results[0].type, op.operands[0].type
    if source is None or not isinstance(made, TensorType) or not isinstance(viewed, TensorType):
        return None
    if op.has("transposes"):
        return tuple(source[d] for d in op.attributes["order"])
    if op.has("repeats"):
        return tuple(0 if size == 1 else stride for size, stride in zip(viewed.shape, source, strict=True))
    if not any(source):
        return (0,) * len(made.shape)
    if not op.has("reshapes") or [n for n in made.shape if n != 1] != [n for n in viewed.shape if n != 1]:
        return None
    strides = iter([stride for size, stride in zip(viewed.shape, source, strict=True) if size != 1])
    return tuple(0 if size == 1 else next(strides) for size in made.shape)
