"""The table of rules: how each operation is lowered.

Three kinds, by what a rule needs:

    @elementwise   register(s) in, register out. Serves scalars, tensors (register by register) and combiner
                   regions alike.
    @pulled        run under the layout that a consumer asks for; yields a Fragment. Views and reads of
                   memory.
    @lowers        run once, where the operation stands: effects, and operations that need whole tensors.

A rule's parameter names after `ctx` and `op` (and `layout`) are the operand names of its operation, checked
when this package is imported. `@symbolic` adds a form that stays unmaterialised (Uniform, Affine, Pointers),
tried before the others.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ..dataclass import dataclass
from ..ir.dialects import OPERATIONS
from ..ir.model import Operation
from ..spirv.module import Value as Register
from .values.tensor import Bound, Deferred, Tensor

Rule = Callable[..., Any]


@dataclass(frozen=True)
class Entry:
    """One rule: its kind ("elementwise", "pulled", "lowers"), the function, and for deferred ones the cost in
    instructions.
    """

    name: str
    kind: str
    function: Rule
    weight: int = 1

    @property
    def location(self) -> str:
        """file:line of the rule, as `--list-rules` prints it."""
        code = inspect.unwrap(self.function).__code__
        return f"{code.co_filename.rsplit('triton_spirv/', 1)[-1]}:{code.co_firstlineno}"


RULES: dict[str, Entry] = {}
SYMBOLIC: dict[str, Rule] = {}
SOURCE_LAYOUTS: dict[str, Rule] = {}
TOGETHER: dict[str, Rule] = {}


def _check_count(name: str, function: Rule, skipped: int) -> None:
    """The rule takes as many operands as the operation has. (Rules that operations share have names of their
    own for them.)
    """
    parameters = list(inspect.signature(function).parameters.values())[skipped:]
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in parameters):
        return
    taken, given = len(parameters), len(OPERATIONS[name].operands)
    assert taken == given, f"{name}: the rule takes {taken} operands, the operation has {given}"


def _check_parameters(name: str, function: Rule, skipped: int) -> None:
    """The rule's parameters are the operands of the dialect's table line; a mismatch is our mistake, found at
    import.
    """
    parameters = [p.name for p in list(inspect.signature(function).parameters.values())[skipped:]]
    operands = [operand.name for operand in OPERATIONS[name].operands]
    assert parameters == operands, f"{name}: rule takes {parameters}, the operation has {operands}"


def _register(name: str, kind: str, function: Rule, weight: int = 1) -> None:
    assert name in OPERATIONS, f"no operation {name} in the dialect table"
    assert name not in RULES, f"two rules for {name}"
    if kind == "elementwise":
        assert "elementwise" in OPERATIONS[name].traits, f"{name} is not elementwise by the table"
        _check_count(name, function, 2)
    RULES[name] = Entry(name, kind, function, weight)


def elementwise(*names: str, weight: int = 1) -> Callable[[Rule], Rule]:
    """Register a function (ctx, op, *registers) -> register for operations that act element by element."""
    def add(function: Rule) -> Rule:
        for name in names:
            _register(name, "elementwise", function, weight)
        return function
    return add


def pulled(*names: str, weight: int = 1, source_layout: Rule | None = None) -> Callable[[Rule], Rule]:
    """Register (ctx, op, layout, *operands) -> Fragment; `source_layout(op, layout)` gives the layout asked
    of its operand.
    """
    def add(function: Rule) -> Rule:
        for name in names:
            _check_parameters(name, function, 3)
            _register(name, "pulled", function, weight)
            if source_layout is not None:
                SOURCE_LAYOUTS[name] = source_layout
        return function
    return add


def lowers(*names: str) -> Callable[[Rule], Rule]:
    """Register (ctx, op, *operands) -> the results' values (one, a tuple, or None)."""
    def add(function: Rule) -> Rule:
        for name in names:
            _check_parameters(name, function, 2)
            _register(name, "lowers", function)
        return function
    return add


def symbolic(*names: str) -> Callable[[Rule], Rule]:
    """Register (ctx, op, *operands) -> Uniform, Affine, Pointers, or None where the plain rule must do."""
    def add(function: Rule) -> Rule:
        for name in names:
            _check_count(name, function, 2)
            assert name not in SYMBOLIC, f"two symbolic forms for {name}"
            SYMBOLIC[name] = function
        return function
    return add


def together(*names: str) -> Callable[[Rule], Rule]:
    """Register (ctx, op, *rows of registers) -> registers, or None where the rule for each must do; tried
    first, where an operation that acts element by element has several registers at hand."""
    def add(function: Rule) -> Rule:
        for name in names:
            _check_count(name, function, 2)
            assert name not in TOGETHER, f"two rules for several registers of {name}"
            TOGETHER[name] = function
        return function
    return add


def applied(ctx: object, op: Operation, rows: Sequence[Sequence[Register]]) -> list[Register]:
    """The registers of an operation that acts element by element; `rows`: of each operand those it has."""
    if op.name in TOGETHER:
        made = TOGETHER[op.name](ctx, op, *rows)
        if made is not None:
            return list(made)
    return [RULES[op.name].function(ctx, op, *column) for column in zip(*rows, strict=True)]


def named(op: Operation, bound: Sequence[Bound | None]) -> list[Any]:
    """Bound operands by the dialect's names, as rules take them: None for an absent one, a tuple for a
    variadic one."""
    if op.segments is None:
        return list(bound)
    result: list[Bound | tuple[Bound | None, ...] | None] = []
    start = 0
    for operand, count in zip(OPERATIONS[op.name].operands, op.segments, strict=True):
        part = tuple(bound[start:start + count])
        result.append(part if operand.quantity == "*" else part[0] if part else None)
        start += count
    return result


def parts_of_load(node: Deferred) -> tuple[Tensor, Tensor | None, Tensor | None]:
    """Of a load of a tensor: its pointers, its mask, what masked elements give."""
    ptr, mask, other = named(node.operation, node.operands)
    return ptr, mask, other
