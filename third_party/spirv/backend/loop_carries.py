"""Variables that a loop takes from round to round, of which Triton's front end forgets some.

    before = x
    for i in range(n):
        before = x
        x = x + 1

It visits the body once, and takes the variables that hold another value behind it for those that the loop
carries. Behind the first round `before` is what it was: x, as it was before the loop. So behind the loop it
is that still, whatever n is, in every Triton from 3.6 to 3.9 and on every device.

A loop that assigns to a variable carries it, too, if that holds the same before the loop as one that the loop
carries. To carry more than is needed changes nothing.
"""

from __future__ import annotations

import ast
import functools
from typing import Any

from triton.compiler import code_generator


def carry_copies() -> None:
    """From now on, in kernels for this backend; once is enough."""
    find = code_generator.CodeGenerator._find_carries
    if hasattr(find, "carries_copies"):
        return

    @functools.wraps(find)
    def _find_carries(self: Any, node: Any, liveins: dict[str, Any], *rest: Any,
                      **options: Any) -> tuple[list[str], list[Any], list[Any]]:
        names, handles, types = find(self, node, liveins, *rest, **options)
        if self.builder.options.backend_name == "spirv":
            _add_copies(node, liveins, names, handles, types)
        return names, handles, types

    _find_carries.carries_copies = True  # type: ignore[attr-defined]
    code_generator.CodeGenerator._find_carries = _find_carries


def _add_copies(node: Any, liveins: dict[str, Any], names: list[str], handles: list[Any],
                types: list[Any]) -> None:
    """Add the variables that are assigned to in a loop and share a value with those that it carries."""
    held = {name: code_generator.flatten_values_to_ir([liveins[name]])
            for name in _assigned(node) if name in liveins and name not in names
            and code_generator._is_triton_value(liveins[name])}
    while copies := [name for name, values in held.items() if any(value in handles for value in values)]:
        for name in copies:
            names.append(name)
            handles += held.pop(name)
            types.append(liveins[name].type)


def _assigned(node: Any) -> list[str]:
    """The names that the body of a loop assigns to, but for the loop's own, in their order."""
    own = getattr(node.target, "id", "") if isinstance(node, ast.For) else ""
    found = (each for statement in node.body for each in ast.walk(statement))
    return list(dict.fromkeys(each.id for each in found if isinstance(each, ast.Name)
                              and isinstance(each.ctx, ast.Store) and each.id != own))
