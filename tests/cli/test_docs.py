"""docs/command.md speaks of every command, and its command lines are accepted."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from triton_spirv.cli.main import COMMANDS, build_parser

PAGE = Path(__file__).parents[2] / "docs" / "command.md"


def test_every_command_has_a_row() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(COMMANDS)


def test_command_lines_are_accepted() -> None:
    text = PAGE.read_text(encoding="utf-8")
    lines = re.findall(r"^triton-spirv (.*)$", text, re.MULTILINE)
    lines += re.findall(r"`triton-spirv ([a-z]+ [^`]*)`", text)
    assert len(lines) >= 2
    for line in lines:
        build_parser().parse_args(shlex.split(line))
