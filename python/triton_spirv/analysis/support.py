"""Which operations of a module have no rule."""

from __future__ import annotations

from collections.abc import Container

from ..errors import UnsupportedOperation
from ..ir.model import Module


def require_rules(module: Module, supported: Container[str], target: str) -> None:
    """Raise UnsupportedOperation that lists every operation without a rule, each with the user's line."""
    lines = []
    for op in module.walk():
        if op.name not in supported:
            types = ", ".join(str(v.type) for v in op.operands) or "nothing"
            lines.append(f"{op.location}: {op.name} on {types}")
    if lines:
        found = "\n  ".join(dict.fromkeys(lines))
        raise UnsupportedOperation(f"no rule for target {target}:\n  {found}\n'python -m triton_spirv --list-rules' shows what there is")
