"""docs/notes/native-promises.md: each test that it names is there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent
TABLE = (ROOT.parent / "docs" / "notes" / "native-promises.md").read_text(encoding="utf-8")


def test_named_tests_exist() -> None:
    """`FILE::TEST` is in tests/native unless it names a folder; `TEST` and `[CASE]` are in the file named
    before."""
    named, text = 0, ""
    for name in re.findall(r"`([^`]*)`", TABLE):
        path, _, test = name.rpartition("::")
        if name.endswith(".py") or path:
            path = path or name
            file = ROOT.parent / path if "/" in path else ROOT / "native" / path
            text = file.read_text(encoding="utf-8")
            test = "" if name.endswith(".py") else test
        elif not name.startswith(("test_", "[")):
            continue
        function, _, case = test.partition("[")
        assert not function or f"def {function}(" in text, name
        assert not case or f'"{case.rstrip("]")}":' in text, name
        named += 1
    assert named > 50
