"""Python files that are copied to where this package is not: they need pyopencl and numpy only.

loader.py runs the kernels of a bundle; replay.py, behind loader.py in one file, repeats a recorded launch.
"""

from __future__ import annotations

from pathlib import Path

_MAIN = 'if __name__ == "__main__":'
_IMPORT = "from .loader import "


def loader_source() -> str:
    """The text of a bundle's loader.py."""
    return Path(__file__).with_name("loader.py").read_text(encoding="utf-8")


def replay_source() -> str:
    """The text of replay.py: the loader without its main part, then what repeats a launch."""
    replay = Path(__file__).with_name("replay.py").read_text(encoding="utf-8")
    head, _, body = replay.partition(_IMPORT)
    docstring = head[:head.index('"""', 3) + 3]
    loader = loader_source().partition(_MAIN)[0]
    loader = loader[loader.index('"""', 3) + 3:].strip()
    body = body.partition(")\n" if body.startswith("(") else "\n")[2]  # behind the names that are imported
    return f"{docstring}\n\nimport argparse\n{loader}\n{body}"
