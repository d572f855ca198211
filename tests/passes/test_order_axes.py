"""passes/order_axes.py: every operation's axes in any order, whatever is best."""

from __future__ import annotations

import pytest
from triton_spirv.ir import Operation, Value, parse
from triton_spirv.passes import order_axes
from triton_spirv.passes.axis_orders import Components, Order, is_free, is_ordered, shape_of
from triton_spirv.passes.verify import read_back, verify
from triton_spirv.target import find_target


def _turned(self: Components) -> dict[Value, Order]:
    """All components with their axes the other way round."""
    found = {}
    for op in self.operations:
        arguments = [x for region in op.regions for block in region.blocks for x in block.arguments]
        for value in (*op.results, *arguments):
            if is_ordered(value) and not is_free(value):
                found[self.leader(value)] = tuple(range(len(shape_of(value))))[::-1]
    return found


def _shapes(op: Operation) -> list[tuple[int, ...]]:
    return [shape_of(value) for value in op.results if is_ordered(value)]


def test_every_operation_takes_any_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels that together have every operation stay IR, and can be compiled."""
    pytest.importorskip("triton")
    from ir.corpus import KERNELS, texts
    from triton_spirv.compiler import compile
    from triton_spirv.errors import UnsupportedOperation

    monkeypatch.setattr(Components, "orders", _turned)
    monkeypatch.setattr(order_axes, "_goes_across", lambda op: True)
    turned = 0
    for name in KERNELS:
        text = texts(name).get("ttir")
        if text is None:
            continue
        module = parse(text)
        before = [_shapes(op) for op in module.walk()]
        order_axes.order_axes(module)
        verify(module, name)
        read_back(module, name)
        turned += [_shapes(op) for op in module.walk()] != before
        try:
            compile(text, find_target("cpu"))
        except UnsupportedOperation:
            continue
    assert turned > 5
