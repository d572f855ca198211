"""Finding an external program and running it. A failure shows the command line to repeat."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sysconfig
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ..errors import ToolError

FOLDERS_VARIABLE = "TRITON_SPIRV_TOOLS"    # folders to search first, separated as in PATH
CMEEL_FOLDER = Path("cmeel.prefix", "bin")


@cache
def find(program: str, hint: str = "") -> Path:
    """The path of a program, in $TRITON_SPIRV_TOOLS, installed packages or PATH; or ToolError with `hint`.

    Packages built by cmeel put a Python wrapper into PATH that takes 80 ms to start; the program itself,
    which takes 3 ms, lies in a folder of their own: hence the order.
    """
    folders = [Path(folder) for folder in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if folder]
    folders += [Path(sysconfig.get_path(scheme)) / CMEEL_FOLDER for scheme in ("purelib", "platlib")]
    for folder in folders:
        found = shutil.which(program, path=folder)
        if found is not None:
            return Path(found)
    found = shutil.which(program)
    if found is None:
        way_out = hint or f"put its folder into PATH or {FOLDERS_VARIABLE}"
        raise ToolError(f"{program} is not installed: {way_out}")
    return Path(found)


def run(command: Sequence[str | Path], data: bytes = b"") -> bytes:
    """Run a command with `data` as its input -> its output; ToolError with what it said when it fails."""
    finished = subprocess.run([str(word) for word in command], input=data, capture_output=True, check=False)
    if finished.returncode != 0:
        said = (finished.stderr or finished.stdout).decode(errors="replace").strip()
        raise ToolError(f"{said}\nexit status {finished.returncode} of: {command_line(command)}")
    return finished.stdout


def command_line(command: Sequence[str | Path]) -> str:
    """The command as one would type it."""
    return shlex.join(str(word) for word in command)
