"""The axis along which memory is contiguous becomes the last one of a kernel's tensors.

    x = load(p + columns[:, None] + n * rows[None, :])     [X, R], neighbours along X
    total = sum(x, axis=1)

A tensor is held row by row, sixteen neighbours of its last axis in a vector. Here neighbours of that axis lie
far apart in memory, so each element is loaded by itself, and the sum adds up the components of vectors. This
pass writes the same for tensors [R, X]: loads are vectors then, and the sum adds vector to vector.

Operations, masks, what goes round loops: all that meets element by element gets the axes in another order.
What has to have the user's order (a product, a reshape, a print) gets it by a `tt.trans`. axis_orders.py
chooses the orders.
"""

from __future__ import annotations

from dataclasses import replace

from ..facts.axis import HINTS
from ..ir.location import UNKNOWN_LOCATION
from ..ir.model import Block, DenseAttr, Operation, TensorType, Value
from ..ir.module import Module
from .axis_orders import (
    Components,
    Order,
    accessed,
    has_axis,
    is_access,
    is_free,
    is_ordered,
    shape_of,
    without,
)
from .copies import copied


def order_axes(module: Module) -> None:
    """Rewrites the types, axes and hints of components that another order is better for."""
    for function in module.functions.values():
        if function.regions and any(_goes_across(op) for op in function.walk()):
            components = Components(function)
            orders = components.orders()
            if orders:
                _Rewriting(components, orders).run()


def _goes_across(op: Operation) -> bool:
    """Is it an access that another axis, as the last, would be better for?"""
    if not is_access(op) or not is_ordered(op.ptr):
        return False
    moves = accessed(op.ptr)
    return min(moves) < moves[-1]


class _Rewriting:
    """`orders`: of all values whose axes are not in the user's order."""

    def __init__(self, components: Components, orders: dict[Value, Order]) -> None:
        self.components = components
        self.orders: dict[Value, Order] = {}
        for op in components.operations:
            for value in (*op.results, *(x for region in op.regions for block in region.blocks
                                         for x in block.arguments)):
                order = orders.get(components.leader(value)) if is_ordered(value) else None
                if order is not None:
                    self.orders[value] = order
        self._remade: dict[tuple[Value, Order], Value] = {}

    def run(self) -> None:
        for op in self.components.operations:
            self._restore_operands(op)
        for op in self.components.operations:
            self._remake_operands(op)
        for value in list(self.orders):
            if self.components.is_made_pinned(value):
                self._enter(value)
        for op in self.components.operations:
            if op.name == "tt.expand_dims":
                self._expand(op)
            elif op.has("transposes"):
                self._transpose(op)
            elif has_axis(op):
                self._renumber(op)
        for value, order in self.orders.items():
            self._retype(value, order)
        for op in self.components.operations:
            if op.has("transposes") and op.attributes["order"] == tuple(range(len(shape_of(op.src)))):
                op.result.replace_by(op.src)
                op.erase()
        for value, _ in self._remade:
            made = value.defining_op
            if made is not None and made.parent is not None and not value.uses:
                made.erase()

    def order_of(self, value: Value) -> Order:
        return self.orders.get(value) or tuple(range(len(shape_of(value))))

    # where orders meet

    def _remake_operands(self, op: Operation) -> None:
        """Operands that are one number in all elements, in the order of what they meet."""
        for index, value in enumerate(op.operands):
            if not is_ordered(value) or not is_free(value):
                continue
            met = self.components.met(op, index)
            order = self.orders.get(met) if met is not None else None
            if order is not None:
                if (value, order) not in self._remade:
                    made = value.defining_op
                    assert made is not None
                    copy = copied(made, made.operands)
                    _insert_behind(value, copy)
                    self._remade[value, order] = copy.result
                    self.orders[copy.result] = order
                op.set_operand(index, self._remade[value, order])

    def _restore_operands(self, op: Operation) -> None:
        """What an operation takes in the user's order only."""
        for index, value in enumerate(op.operands):
            order = self.orders.get(value)
            if order is not None and self.components.is_pinned(op, index):
                assert op.parent is not None
                moved = _trans(value, inverse(order), op)
                op.parent.insert_before(op, moved)
                op.set_operand(index, moved.result)

    def _enter(self, value: Value) -> None:
        """A value that is made in the user's order, for the others of its component."""
        self._moved(value, self.orders[value], self.orders.pop(value))

    def _moved(self, value: Value, turned: Order, order: Order) -> None:
        """Its users get it transposed, in this order."""
        users = list(value.uses)
        moved = _trans(value, turned, value.defining_op)
        self.orders[moved.result] = order
        _insert_behind(value, moved)
        for user, index in users:
            user.set_operand(index, moved.result)

    def _aligned(self, value: Value, order: Order, user: Operation, index: int) -> None:
        """Gives a user an operand in this order."""
        if not is_ordered(value) or self.order_of(value) == order:
            return
        given = inverse(self.order_of(value))
        moved = _trans(value, reordered(given, order), user)
        assert user.parent is not None
        user.parent.insert_before(user, moved)
        user.set_operand(index, moved.result)
        if order != tuple(range(len(order))):
            self.orders[moved.result] = order

    # operations that number axes

    def _expand(self, op: Operation) -> None:
        order, axis = self.order_of(op.result), op.attributes["axis"]
        self._aligned(op.src, without(order, axis), op, 0)
        if op.result in self.orders:
            op.set_attribute("axis", order.index(axis))

    def _transpose(self, op: Operation) -> None:
        if op.result not in self.orders and op.src not in self.orders:
            return
        source, order = inverse(self.order_of(op.src)), op.attributes["order"]
        op.set_attribute("order", tuple(source[order[axis]] for axis in self.order_of(op.result)))

    def _renumber(self, op: Operation) -> None:
        order, axis = self.order_of(op.operands[0]), op.attributes["axis"]
        op.set_attribute("axis", order.index(axis))
        kept = without(order, axis)
        for value in op.results:
            if not is_ordered(value) or len(shape_of(value)) == len(order):
                continue
            wanted = self.orders.pop(value, tuple(range(len(kept))))
            if kept != wanted:
                self._moved(value, reordered(inverse(kept), wanted), wanted)
            self.orders[value] = kept

    def _retype(self, value: Value, order: Order) -> None:
        type = value.type
        assert isinstance(type, TensorType)
        made = replace(type, shape=reordered(type.shape, order))
        value.retype(made)
        op = value.defining_op
        if op is None:
            return
        number = op.attributes.get("value")
        if isinstance(number, DenseAttr):
            op.set_attribute("value", replace(number, type=made))
        for hint in HINTS:
            if hint in op.attributes and value is op.results[0]:
                op.set_attribute(hint, _reordered_hint(op.attributes[hint], order))


def reordered(sizes: tuple[int, ...], order: Order) -> tuple[int, ...]:
    """One number for each axis, in another order of the axes."""
    return tuple(sizes[axis] for axis in order)


def inverse(order: Order) -> Order:
    """Where in the order each axis stands."""
    return tuple(order.index(axis) for axis in range(len(order)))


def _reordered_hint(hint: object, order: Order) -> object:
    if isinstance(hint, tuple) and len(hint) == len(order):
        return reordered(hint, order)
    if isinstance(hint, DenseAttr) and isinstance(hint.values, tuple) and len(hint.values) == len(order):
        return replace(hint, values=reordered(hint.values, order))
    return hint


def _trans(value: Value, order: Order, at: Operation | None) -> Operation:
    """A transposition whose operand and result are of one type as yet: they are retyped later."""
    return Operation("tt.trans", [value], {"order": order}, [value.type], [value.name],
                     UNKNOWN_LOCATION if at is None else at.location)


def _insert_behind(value: Value, op: Operation) -> None:
    made = value.defining_op
    block = value.block
    assert block is not None
    if made is not None:
        block.insert_behind(made, op)
    else:
        assert isinstance(value.owner, Block)
        block.insert_before(block.operations[0], op)
