"""docs/troubleshooting.md quotes messages that the package, or Triton, really gives."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "troubleshooting.md"

#: said by Triton and by a driver, not by this package
OF_OTHERS = {"active drivers ([", "There should only be one.",
             "failed to specialize argument of type: ndarray", "tuple index out of range",
             "@jit functions should be defined in a Python file",
             "object of type 'int' has no len()", "PLEASE submit a bug report to"}


def texts() -> str:
    """All texts in the code, `…` for what is filled in, one a line."""
    found = []
    for folder in (ROOT / "python", ROOT / "third_party"):
        for path in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.JoinedStr):
                    found.append("".join(str(part.value) if isinstance(part, ast.Constant) else "…"
                                         for part in node.values))
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.append(node.value)
                elif isinstance(node, ast.ClassDef):
                    found.append(f"{node.name}:")
    return "\n".join(found)


def test_messages_exist() -> None:
    known, looked_for = texts(), 0
    for row in re.findall(r"^\| (`.*?) \|", PAGE.read_text(encoding="utf-8"), re.M):
        for message in re.findall(r"`([^`]+)`", row):
            for part in message.split("…"):
                part = part.strip(" '();,:")
                if len(part) > 6 and not any(text in part or part in text for text in OF_OTHERS):
                    looked_for += 1
                    assert part in known, f"no message has {part!r}"
    assert looked_for > 30
