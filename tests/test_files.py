"""A file is one subject that can be read in a sitting: it has 400 lines at most. (Tests may have more.)"""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("python", "third_party", "tools", "benchmarks")
MOST = 400

#: a table that tools/generate_grammar.py writes
MADE = {"python/triton_spirv/spirv/grammar_data.py"}


def test_files_can_be_read_in_a_sitting() -> None:
    lines = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n")
             for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}
    assert MADE <= lines.keys()
    assert {path: count for path, count in lines.items() if count > MOST and path not in MADE} == {}
