"""Which operations of a module have no rule."""

from __future__ import annotations

from collections.abc import Container

from triton_spirv.errors import UnsupportedOperation
from triton_spirv.ir.model import MemDescType, Module, Operation, TensorType, Type, Value


def missing(module: Module, supported: Container[str]) -> list[Operation]:
    """The operations, in textual order, whose name `supported` does not contain."""
    return [op for op in module.walk() if op.name not in supported]


def require_rules(module: Module, supported: Container[str], target: str) -> None:
    """UnsupportedOperation that lists every operation without a rule, each with the user's line, the same
    line once.
    """
    found = missing(module, supported)
    if not found:
        return
    lines = dict.fromkeys(f"{op.location}: {op.name} on {_types(op)}" for op in found)
    listed = "\n  ".join(lines)
    raise UnsupportedOperation(
        f"no rule for target {target}:\n  {listed}\n'python -m triton_spirv --list-rules' shows what there is"
    )


def _types(op: Operation) -> str:
    """Operand types, or result types where there are no operands; layouts left out."""
    values: list[Value] = op.operands or op.results
    return ", ".join(str(_without_layout(value.type)) for value in values) or "nothing"


def _without_layout(type: Type) -> Type:
    if isinstance(type, (TensorType, MemDescType)):
        return TensorType(type.shape, type.element)
    return type
