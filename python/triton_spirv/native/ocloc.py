"""Intel's offline compiler, ocloc: finding it, its version, running it, what its log says."""

from __future__ import annotations

import difflib
import functools
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..dataclass import dataclass
from ..settings import SOME_SECONDS, number
from ..target import Target
from ..tools.process import command_line
from .failures import BadRequest, NativeError, OclocNotFound, OclocUnusable

PATH_VARIABLE = "TRITON_OCLOC_PATH"
TIMEOUT_VARIABLE = "TRITON_SPIRV_OCLOC_TIMEOUT"
#: seconds; a kernel takes 0.1 to 10, some malformed modules hang
TIMEOUT = 120.0
HINT = (f"'apt-get install intel-opencl-icd' brings one, or name yours in {PATH_VARIABLE}; "
        "tools/get_ocloc.sh in the sources of triton-spirv fetches a newer one")

GRF_FLAGS = {
    "default": "",
    "128": "-cl-intel-128-GRF-per-thread",
    "256": "-cl-intel-256-GRF-per-thread",
    "512": "-cl-intel-512-GRF-per-thread",
    "auto": "-cl-intel-enable-auto-large-GRF-mode",
}

#: the oldest version that was seen to compile SPV_INTEL_predicated_io; 22.43 does not
PREDICATES_SINCE = (26, 27)

#: build options that are understood; ocloc takes misspelt ones without a word
KNOWN_FLAGS = frozenset((
    *filter(None, GRF_FLAGS.values()),
    "-cl-denorms-are-zero", "-cl-fast-relaxed-math", "-cl-finite-math-only",
    "-cl-fp32-correctly-rounded-divide-sqrt", "-cl-intel-greater-than-4GB-buffer-required",
    "-cl-intel-no-prera-scheduling", "-cl-kernel-arg-info", "-cl-mad-enable", "-cl-no-signed-zeros",
    "-cl-no-subgroup-ifp", "-cl-opt-disable", "-cl-single-precision-constant", "-cl-uniform-work-group-size",
    "-cl-unsafe-math-optimizations", "-g",
))
_KNOWN_PATTERNS = (re.compile(r"-cl-std=CL[123]\.\d"), re.compile(r"-cl-intel-reqd-eu-thread-count=\d+"))
#: followed by a word of its own
_WITH_WORD = "-igc_opts"


#: variables of the environment that change what the compiler does
SETTINGS = ("IGC_", "NEO_", "OCLOC_", "VISA_")


@dataclass(frozen=True)
class Ocloc:
    """A program and its version, as it tells it: "22.43.24595"."""

    path: str
    version: str


@dataclass(frozen=True)
class Run:
    """A finished process: the command, its exit code (None where it was ended for time), what it said, the
    files that it wrote under the name of the output."""

    command: tuple[str, ...]
    code: int | None
    log: str
    output: bytes = b""


def path() -> str | None:
    """The ocloc to use: TRITON_OCLOC_PATH, else the one in PATH, else None."""
    named = os.environ.get(PATH_VARIABLE)
    return shutil.which(named) if named else shutil.which("ocloc")


def find() -> Ocloc:
    """The ocloc to use, with its version; OclocNotFound says how to get one."""
    found = path()
    if found is None:
        named = os.environ.get(PATH_VARIABLE)
        where = f"{PATH_VARIABLE}={named} is no program" if named else f"there is no ocloc in PATH; {HINT}"
        raise OclocNotFound(where)
    try:
        facts = os.stat(os.path.realpath(found))
    except OSError as error:
        raise OclocNotFound(f"{found} cannot be used: {error}") from error
    return Ocloc(found, _version(found, facts.st_mtime_ns, facts.st_size))


def fitting(target: Target) -> Target:
    """The target without what the ocloc at hand does not know: predicated accesses. Without an ocloc, too:
    every driver takes the plain form."""
    if not target.predicated or target.emulated:
        return target
    try:
        version = tuple(int(part) for part in re.findall(r"\d+", find().version)[:2])
    except NativeError:
        version = ()
    return target.with_options(predicated=version >= PREDICATES_SINCE)


@functools.cache
def _version(program: str, changed: int, size: int) -> str:
    """ocloc writes the answer to a file in the current folder, and ends it with a NUL."""
    with tempfile.TemporaryDirectory(prefix="triton-spirv-ocloc-") as folder:
        done = run_process([program, "query", "OCL_DRIVER_VERSION"], folder, 30.0)
        answer = Path(folder, "OCL_DRIVER_VERSION")
        if done.code != 0 or not answer.is_file():
            raise OclocUnusable(f"{program} does not tell its version: {done.log.strip() or 'no output'}\n"
                                f"to repeat: {command_line(done.command)}", done.code)
        return answer.read_bytes().decode(errors="replace").strip("\0 \n.")


@functools.cache
def versions(device: str) -> tuple[tuple[int, int], ...]:
    """IP versions (architecture, release) of a device's or a family's name; none where ocloc does not know
    it. OclocNotFound without an ocloc."""
    done = run_process([find().path, "ids", device], tempfile.gettempdir(), 30.0)
    found = re.findall(r"^(\d+)\.(\d+)\.\d+$", done.log, re.MULTILINE) if done.code == 0 else []
    return tuple((int(architecture), int(release)) for architecture, release in found)


def settings() -> list[tuple[str, str]]:
    """The variables of the environment that change what the compiler does, sorted."""
    return sorted((name, value) for name, value in os.environ.items() if name.startswith(SETTINGS))


def timeout() -> float:
    """Seconds for one run of ocloc, by TRITON_SPIRV_OCLOC_TIMEOUT."""
    return number(TIMEOUT_VARIABLE, SOME_SECONDS, TIMEOUT)


def arguments(device: str, flags: Sequence[str]) -> list[str]:
    """The arguments of a compilation. Never -q: it hides the build log. The format is said because older ones
    write another by default; `-o` does not exist there."""
    words = ["compile", "-spirv_input", "-file", "kernel.spv", "-device", device, "-output", "kernel",
             "-output_no_suffix", "--format", "zebin"]
    return words + ["-options", " ".join(flags)] * bool(flags)


def compile(program: Ocloc, words: bytes, device: str, flags: Sequence[str], seconds: float) -> Run:
    """Run one compilation in a folder of its own. `output` is empty where it left no file."""
    with tempfile.TemporaryDirectory(prefix="triton-spirv-ocloc-") as folder:
        Path(folder, "kernel.spv").write_bytes(words)
        done = run_process([program.path, *arguments(device, flags)], folder, seconds)
        # old ones name it "kernel", new ones "kernel.bin", or "kernel" for an archive
        made = [Path(folder, name) for name in ("kernel.bin", "kernel") if Path(folder, name).is_file()]
        return replace(done, output=made[0].read_bytes() if made else b"")


def run_process(command: Sequence[str], folder: str, seconds: float) -> Run:
    """Run a command in a folder; when the time is over it is ended, with everything that it started."""
    words = tuple(command)
    try:
        process = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True)
    except OSError as error:
        raise OclocUnusable(f"{words[0]} does not start: {error}") from error
    try:
        said, _ = process.communicate(timeout=seconds)
        return Run(words, process.returncode, said.decode(errors="replace"))
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        said, _ = process.communicate()
        return Run(words, None, said.decode(errors="replace"))
    except BaseException:  # the user's Ctrl-C ends it too
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise


def check_flags(flags: Sequence[str]) -> tuple[str, ...]:
    """The flags, as single words; BadRequest for one that ocloc would ignore, with the one that was meant."""
    words = [word for flag in flags for word in split_flag(flag)]
    rest = iter(words)
    for word in rest:
        if word == _WITH_WORD:
            if next(rest, None) is None:
                raise BadRequest(f"{_WITH_WORD} needs a value after it")
        elif word in GRF_FLAGS.values():
            mode = next(mode for mode, flag in GRF_FLAGS.items() if flag == word)
            raise BadRequest(f"the build flag {word} conflicts with grf_mode={mode!r}; use grf_mode instead")
        elif word not in KNOWN_FLAGS and not any(pattern.fullmatch(word) for pattern in _KNOWN_PATTERNS):
            near = difflib.get_close_matches(word, KNOWN_FLAGS, 1)
            meant = f"; did you mean {near[0]}?" if near else f"; known ones: {' '.join(sorted(KNOWN_FLAGS))}"
            raise BadRequest(f"unknown build flag {word}, which ocloc would ignore{meant}")
    return tuple(flags)


def split_flag(flag: str) -> list[str]:
    """`-igc_opts 'A=1,B=2'` is one flag of two words."""
    return shlex.split(flag)


def shader_dump(folder: Path) -> str:
    """The flag that makes the compiler write its intermediate forms and the ISA to a folder."""
    if re.search(r"[\s',]", str(folder)):
        raise BadRequest(f"the compiler cannot dump to {str(folder)!r}: blanks, commas and quotes end its "
                         "options")
    return f"{_WITH_WORD} 'DumpToCustomDir={folder},ShaderDumpEnable=1'"


# ---- the log

_NOISE = ("Compilation from IR - skipping loading of FCL", "Build succeeded.", "Command was:",
          "Auto-detected target based on")
_SPILLED = re.compile(r"kernel '?(?P<kernel>[^\s']+?)'?:?\s+compiled SIMD\d+ allocated \d+ regs "
                      r"and spilled around (?P<spills>\d+)")
_SCRATCH = re.compile(r"scratch space exceeds HW supported limit(?: for kernel\s+[^\s:]+)?:\s*"
                      r"(?P<required>\d+) bytes \(max permitted PTSS (?P<limit>\d+) bytes\)")


def useful_lines(log: str) -> list[str]:
    """The lines of a log that say something, each once."""
    lines = (line.strip() for line in log.splitlines())
    return list(dict.fromkeys(line for line in lines if line and not line.startswith(_NOISE)))


def spilled_registers(log: str, kernel: str) -> int | None:
    """Registers that the compiler's warning says it spilled; None without one."""
    for match in _SPILLED.finditer(log):
        if match["kernel"] == kernel:
            return int(match["spills"])
    return None


def scratch_exceeded(log: str) -> tuple[int, int] | None:
    """(required, limit) in bytes, where the log says that a thread's scratch space is too large."""
    match = _SCRATCH.search(log)
    return (int(match["required"]), int(match["limit"])) if match else None
