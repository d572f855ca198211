"""Keeping a failed build in such a way that it can be repeated: the module, and a script that runs the same
commands on it."""

from __future__ import annotations

import hashlib
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from ..tools.private_folder import private_folder
from . import ocloc
from .failures import in_words

KEEP_VARIABLE = "TRITON_SPIRV_KEEP"


def folder_for(words: bytes, device: str, keep: Path | None) -> Path:
    """Where a failed build is kept: in `keep`, else TRITON_SPIRV_KEEP, else a folder of this process among
    the temporary files; there under a name made of the module and the device."""
    base = keep or os.environ.get(KEEP_VARIABLE) or private_folder("native")
    name = f"{hashlib.sha256(words).hexdigest()[:16]}-{''.join(c if c.isalnum() else '_' for c in device)}"
    return Path(base, name)


def keep(folder: Path, words: bytes, program: ocloc.Ocloc, device: str, kernel: str, simd: int | None,
         dpas: bool, runs: Sequence[tuple[tuple[str, ...], int | None]], seconds: float) -> Path:
    """Write kernel.spv and repro.sh -> the path of the script.

    runs: the flags and the exit code of each attempt. The script repeats them in their order, says each exit
    code beside the one that was seen, and ends with the last. ocloc may say "success" and leave an unusable
    binary; what is wrong with it is said by the reader of this package, run by the interpreter that wrote the
    script.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "kernel.spv").write_bytes(words)
    settings = "".join(f"export {name}={shlex.quote(value)}\n" for name, value in ocloc.settings())
    reader = shlex.join(["-m", __package__ + ".zebin", "BINARY", kernel, str(simd or 0)] + ["dpas"] * dpas)
    steps = "".join(_step(device, flags, code, seconds, reader) for flags, code in runs)
    script = folder / "repro.sh"
    script.write_text(f"""#!/bin/bash
# Repeats the build of kernel {kernel} for {device} that failed, with ocloc {program.version}.
# {ocloc.PATH_VARIABLE} names another ocloc to try.
cd "$(dirname "$0")" || exit 1
PYTHON={shlex.quote(sys.executable)}  # which wrote this script, and has the reader
OCLOC=${{{ocloc.PATH_VARIABLE}:-{shlex.quote(program.path)}}}
{settings}status=0
{steps}exit $status
""")
    script.chmod(0o755)
    return script


def _step(device: str, flags: Sequence[str], code: int | None, seconds: float, reader: str) -> str:
    command = shlex.join(ocloc.arguments(device, flags))
    seen = in_words(code)
    return f"""
rm -f kernel kernel.bin
timeout -s KILL {seconds:g} "$OCLOC" {command}
status=$?
echo "exit code $status; when it failed: {seen}"
for binary in kernel.bin kernel; do
    [ ! -f "$binary" ] || "$PYTHON" {reader.replace("BINARY", '"$binary"')} || true
done
"""
