"""The mask of an access, as the user's source has it: what a finding shows beside the place."""

from __future__ import annotations

import ast
import functools
import linecache
from collections.abc import Iterator

#: which of a function's arguments is the mask, where it has no name: tl.load(pointer, mask, other)
POSITIONS = {"load": 1, "store": 2, "atomic": 2}


def mask_of(file: str, line: int, column: int, what: str) -> str:
    """The text of the mask of the access that begins there (from 1), or of `boundary_check`; of a variable,
    also what was assigned to it last in the lines above. "" where there is none, or no source."""
    tree = _parsed(file, "".join(linecache.getlines(file)))
    found = [] if tree is None else list(_calls(tree, line, column, what.split()[0]))
    for call, function in found:
        name, mask = _mask(call, what.split()[0])
        if mask is not None:
            text = ast.unparse(mask)
            value = _assigned(function, text, line) if isinstance(mask, ast.Name) else None
            text = text if value is None else f"{text} = {ast.unparse(value)}"
            return text if name == "mask" else f"{name}={text}"
    return ""


@functools.lru_cache(maxsize=16)  # a launch names many places of one file
def _parsed(file: str, text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):  # no Python, such as a kernel that was passed as IR
        return None


def _calls(tree: ast.Module, line: int, column: int, what: str) -> Iterator[tuple[ast.Call, ast.AST]]:
    """The calls there of a function of that name, and the function of the user's that holds each."""
    for holder in ast.walk(tree):
        if isinstance(holder, ast.FunctionDef):
            for node in ast.walk(holder):
                if isinstance(node, ast.Call) and (node.lineno, node.col_offset + 1) == (line, column) \
                        and isinstance(node.func, ast.Attribute) and node.func.attr.startswith(what):
                    yield node, holder


def _mask(call: ast.Call, what: str) -> tuple[str, ast.expr | None]:
    for keyword in call.keywords:
        if keyword.arg in ("mask", "boundary_check"):
            return keyword.arg, keyword.value
    position = POSITIONS[what]
    assert isinstance(call.func, ast.Attribute)
    is_short = len(call.args) <= position or "cas" in call.func.attr or "poll" in call.func.attr
    return "mask", None if is_short or isinstance(call.args[position], ast.Starred) else call.args[position]


def _assigned(function: ast.AST, name: str, line: int) -> ast.expr | None:
    """What the function assigned to a variable last, in a line above this one."""
    found = [node for node in ast.walk(function) if isinstance(node, ast.Assign) and node.lineno < line
             and any(isinstance(target, ast.Name) and target.id == name for target in node.targets)]
    return max(found, key=lambda node: node.lineno).value if found else None
