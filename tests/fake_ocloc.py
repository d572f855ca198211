"""An ocloc that does what a test says, and the binaries that it leaves: so that every exit code, log and form
of a binary is met without waiting for a compiler to produce it."""

from __future__ import annotations

import json
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: what 22.43 and 26.27 say of spilled registers
OLD_LOG = "warning: kernel heavy  compiled SIMD16 allocated 128 regs and spilled around 602"
#: what 26.27 said of a kernel with 2600 live values
SCRATCH = ("error: in kernel 'heavy': total scratch space exceeds HW supported limit: 326400 bytes "
           "(max permitted PTSS 262144 bytes)")

NAMES = {"default": "", "128": "128-GRF", "256": "256-GRF", "512": "512-GRF", "auto": "auto-large-GRF"}

PROGRAM = r"""#!{python} -SE
import json, os, shutil, sys, time
here = {folder!r}
with open(here + "/calls", "a") as file:
    call = {{"argv": sys.argv[1:], "cwd": os.getcwd(), "files": sorted(os.listdir("."))}}
    file.write(json.dumps(call) + "\n")
if sys.argv[1] == "query":
    if os.path.exists(here + "/version"):
        shutil.copy(here + "/version", sys.argv[2])
    sys.exit(0 if os.path.exists(here + "/version") else 1)
script = json.load(open(here + "/script"))
options = sys.argv[sys.argv.index("-options") + 1] if "-options" in sys.argv else ""
answer = next(answer for answer in script if answer["when"] in options)
if answer["sleep"]:
    time.sleep(answer["sleep"])
print(answer["log"], flush=True)
if answer["output"]:
    name = sys.argv[sys.argv.index("-output") + 1]
    shutil.copy(answer["output"], name + answer["ending"])
if answer["code"] < 0:
    os.kill(os.getpid(), -answer["code"])
sys.exit(answer["code"])
"""


@dataclass
class Fake:
    """A program in a folder; `answer` says what it does, `calls` what it was asked."""

    folder: Path
    answers: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.path.write_text(PROGRAM.format(python=sys.executable, folder=str(self.folder)))
        self.path.chmod(0o755)
        (self.folder / "version").write_bytes(b"99.1.2345.\0")

    @property
    def path(self) -> Path:
        return self.folder / "ocloc"

    def answer(self, mode: str = "", code: int = 0, log: str = "Build succeeded.",
               output: bytes | None = None, ending: str = ".bin", sleep: float = 0.0) -> Fake:
        """What happens when the build options are those of a register file; those of the default are like any
        other, so say the default's last."""
        kept = ""
        if output is not None:
            kept = str(self.folder / f"output{len(self.answers)}")
            Path(kept).write_bytes(output)
        self.answers.append({"when": NAMES.get(mode, mode), "code": code, "log": log, "output": kept,
                             "ending": ending, "sleep": sleep})
        (self.folder / "script").write_text(json.dumps(self.answers))
        return self

    def calls(self, what: str = "compile") -> list[dict[str, Any]]:
        """What it was asked, in order."""
        path = self.folder / "calls"
        asked = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        return [call for call in asked if call["argv"][0] == what]


def info(kernel: str = "heavy", grf: int = 128, simd: int = 16, spill: int | None = None, private: int = 0,
         slm: int = 0, barriers: int = 0, scratch: int = 0, dpas: bool = False) -> str:
    """A .ze_info section; spill None leaves the key out, as older compilers do."""
    lines = ["---", "version:         '1.73'", "kernels:", f"  - name:            {kernel}",
             "    user_attributes:", "      intel_reqd_workgroup_walk_order: [ 0, 1, 2 ]",
             "    execution_env:"]
    lines += [f"      barrier_count:   {barriers}"] * bool(barriers) + [f"      grf_count:       {grf}"]
    lines += ["      has_dpas:        true"] * dpas + [f"      private_size:    {private}"] * bool(private)
    lines += [f"      simd_size:       {simd}"] + [f"      slm_size:        {slm}"] * bool(slm)
    lines += [] if spill is None else [f"      spill_size:      {spill}"]
    lines += ["    payload_arguments:", "      - arg_type:        arg_bypointer",
              "        offset:          24"]
    if scratch:
        lines += ["    per_thread_memory_buffers:", "      - type:            scratch",
                  "        usage:           single_space", f"        size:            {scratch}"]
    lines += ["kernels_misc_info:", f"  - name:            {kernel}", "    args_info:",
              "      - index:           0", "        type_name:       'float*;8'", "...", ""]
    return "\n".join(lines)


def elf(text: str | None = None, kernel: str = "heavy", undefined: tuple[str, ...] = (), machine: int = 205,
        bits: int = 2, spirv: bytes = b"", code: bool = True, **facts: Any) -> bytes:
    """A zebin with one kernel; `text` is its .ze_info, else made of the facts. `code`: does it have any?"""
    strings, symbols = b"\0", struct.pack("<IBBHQQ", 0, 0, 0, 0, 0, 0)
    for name, index in [("_entry", 1), *((name, 0) for name in undefined)]:
        symbols += struct.pack("<IBBHQQ", len(strings), 0, 0, index, 0, 0)
        strings += name.encode() + b"\0"
    text = info(kernel, **facts) if text is None else text
    wanted = [("", 0, b"", 0), (f".text.{kernel}" if code else ".text.other", 1, b"\x90" * 64, 0),
              (".symtab", 2, symbols, 3), (".strtab", 3, strings, 0)]
    wanted += [(".ze_info", 0xFF000011, text.encode(), 0)] * bool(text)
    wanted += [(".spv", 0xFF000009, spirv, 0)] * bool(spirv)
    names = b"\0" + b"".join(name.encode() + b"\0" for name, *_ in wanted[1:]) + b".shstrtab\0"
    wanted.append((".shstrtab", 3, names, 0))
    body, headers = b"", b""
    for name, kind, data, link in wanted:
        at = names.index(name.encode() + b"\0") if name else 0
        headers += struct.pack("<IIQQQQIIQQ", at, kind, 0, 0, 64 + len(body), len(data), link, 0, 1, 0)
        body += data
    count = len(wanted)
    head = struct.pack("<HHIQQQIHHHHHH", 1, machine, 1, 0, 0, 64 + len(body), 0, 64, 0, 0, 64, count,
                       count - 1)
    return b"\x7fELF" + bytes([bits, 1, 1]) + bytes(9) + head + body + headers


def archive(**files: bytes) -> bytes:
    """A fat archive."""
    data = b"!<arch>\n"
    for name, content in files.items():
        data += f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode() + content
        data += b"\n" * (len(content) % 2)
    return data
