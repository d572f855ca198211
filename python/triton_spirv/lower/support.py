"""Which operations of a module have no rule, or types that the target lacks."""

from __future__ import annotations

from collections.abc import Container

from triton_spirv.errors import MissingCapability, UnsupportedOperation
from triton_spirv.ir.model import (
    FloatType,
    MemDescType,
    Operation,
    PointerType,
    TensorType,
    Type,
    Value,
)
from triton_spirv.ir.module import Module


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


def require_float64(module: Module, target: str) -> None:
    """MissingCapability that lists every operation on 64-bit floats, for a target that has none."""
    found = [op for op in module.walk()
             if any(_is_float64(value.type) for value in (*op.operands, *op.results))]
    if found:
        listed = "\n  ".join(dict.fromkeys(f"{op.location}: {op.name} on {_types(op)}" for op in found))
        raise MissingCapability(f"target {target} has no 64-bit floats (Float64):\n  {listed}\n"
                                "use float32 there, or another device")


def _is_float64(type: Type) -> bool:
    if isinstance(type, (TensorType, MemDescType)):
        type = type.element
    if isinstance(type, PointerType):
        type = type.pointee
    return isinstance(type, FloatType) and type.name == "f64"


def _types(op: Operation) -> str:
    """Operand types, or result types where there are no operands; layouts left out."""
    values: list[Value] = op.operands or op.results
    return ", ".join(str(_without_layout(value.type)) for value in values) or "nothing"


def _without_layout(type: Type) -> Type:
    if isinstance(type, (TensorType, MemDescType)):
        return TensorType(type.shape, type.element)
    return type
