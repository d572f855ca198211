"""What two modules must have in common to be the same: everything but the names of values."""

from __future__ import annotations

from typing import Any

from triton_spirv.ir import Block, Module, Operation, Value


def signature(module: Module) -> list[Any]:
    """A list that is equal for equal modules: operations in textual order, values and blocks by number."""
    numbers: dict[Value | Block, int] = {}
    found: list[Any] = []

    def number(thing: Value | Block) -> int:
        return numbers.setdefault(thing, len(numbers))

    def visit(op: Operation) -> None:
        found.append(
            (
                op.name,
                [number(value) for value in op.operands],
                sorted((name, repr(value)) for name, value in op.attributes.items()),
                [(number(value), value.type) for value in op.results],
                op.segments,
                [number(block) for block in op.successors],
                op.location,
                len(op.regions),
            )
        )
        for region in op.regions:
            assert region.parent is op
            for block in region.blocks:
                assert block.parent is region
                found.append((number(block), [(number(value), value.type) for value in block.arguments]))
                for inner in block.operations:
                    assert inner.parent is block
                    visit(inner)

    visit(module.operation)
    return found


def check_uses(module: Module) -> None:
    """Each use is recorded once, and each operand's owner is in the module."""
    for op in module.walk():
        for index, value in enumerate(op.operands):
            assert value.uses.count((op, index)) == 1
        for index, value in enumerate(op.results):
            assert value.owner is op and value.index == index
            assert all(user.operands[k] is value for user, k in value.uses)
