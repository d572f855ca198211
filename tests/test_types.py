"""How many annotations of the package say `Any`: they become fewer, never more."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "python" / "triton_spirv"

#: As many as there are. Whoever takes one away lowers it.
MOST = 338


def annotations(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.AnnAssign)) and node.annotation is not None:
            yield node.annotation
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.returns is not None:
            yield node.returns


def anys(path: Path) -> int:
    names = (name for annotation in annotations(ast.parse(path.read_text(encoding="utf-8")))
             for name in ast.walk(annotation))
    return sum(isinstance(name, ast.Name) and name.id == "Any" for name in names)


def test_any_is_said_no_more_often() -> None:
    counts = {str(path.relative_to(PACKAGE)): anys(path) for path in PACKAGE.rglob("*.py")}
    total = sum(counts.values())
    most = sorted(((count, path) for path, count in counts.items()), reverse=True)[:5]
    assert total <= MOST, f"{total} annotations say Any; most in {most}"
