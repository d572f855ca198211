"""Prints one of the two commands of README.md as it stands there: `python3 tools/readme_commands.py run`, or
`test`. The checks take the commands from here, so that what newcomers are told is what is tried."""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).parent.parent / "README.md"
NAMES = ("run", "test")


def commands() -> dict[str, str]:
    """name -> command, one for each line of the section "Two commands" that makes an environment; ValueError
    where there are not two."""
    section = re.search(r"^## Two commands$(.*?)^## ", README.read_text(encoding="utf-8"), re.M | re.S)
    found = re.findall(r"^python3 -m venv .*$", section.group(1) if section else "", re.M)
    return dict(zip(NAMES, found, strict=True))


if __name__ == "__main__":
    print(commands()[sys.argv[1]])
