"""Every environment variable that this package reads: docs/environment.md is made of this table.

    python -m triton_spirv --environment-table > docs/environment.md

A test compares the table with the code, in both directions, and the page with the table.
"""

from __future__ import annotations

import difflib
import os
import warnings

from .dataclass import dataclass
from .settings import ANYTHING, COUNT, FLAG, FLAG_OR_AUTO, SECONDS, SOME_SECONDS, Kind, one_of

#: what is of ours
OURS = "TRITON_SPIRV_"


@dataclass(frozen=True)
class Variable:
    """One variable. values: what it may hold; default: what holds where it is unset; meaning: a sentence or
    two for users; kind: what its text may be; trial: the name of the function of cli/values.py that looks at
    what the text names, a device or a file."""

    name: str
    values: str
    default: str
    meaning: str
    kind: Kind = ANYTHING
    trial: str = ""


#: heading of a table -> its variables
VARIABLES: dict[str, tuple[Variable, ...]] = {
    "Where and whether kernels run": (
        Variable("TRITON_SPIRV_BACKEND", "`1`, `0`, `auto`", "`auto`",
                 "Does Triton use this package? `auto`: only if no other Triton backend is active, as on a "
                 "machine without a GPU. `triton_spirv.enable()` sets it to `1`, `disable()` to `0`.",
                 FLAG_OR_AUTO),
        Variable("TRITON_DEFAULT_BACKEND", "a backend's name, here `spirv`", "unset",
                 "Triton's own: the backend to use where several are active.", trial="backend"),
        Variable("TRITON_SPIRV_DEVICE",
                 "`cpu`, `gpu`, `gpu:1` (the second), `gpu:1.0` (its first tile), `vulkan`, `vulkan:INDEX`, "
                 "`vulkan:NAME`, an index, or a part of a name",
                 "the CPU device", "The device that kernels run on. `triton-spirv devices` lists them. Every "
                 "launch reads the variable.", trial="device"),
        Variable("TRITON_SPIRV_INDUCTOR", "`0`, `1`", "`0`",
                 "`1`: torch.compile compiles for the CPU with this package, as after "
                 "`triton_spirv.inductor.enable()`. Needs the extra `inductor`.", FLAG),
        Variable("TRITON_SPIRV_INDUCTOR_KEEP", "MB; `0`: none",
                 "1024, or a 16th of the memory if that is less",
                 "How much memory of results and intermediate values models compiled by torch.compile keep "
                 "for their next calls.", COUNT),
        Variable("TRITON_SPIRV_INDUCTOR_PRODUCTS", "`1`, `0`, `auto`", "`auto`",
                 "`1`: models compiled by torch.compile make matrix products in kernels. `0`: they call "
                 "torch's library. `auto`: kernels, if they are faster here, which is measured once.",
                 FLAG_OR_AUTO),
        Variable("TRITON_SPIRV_OPENMP", "`1`, `0`", "`1`",
                 "`1`: in a process that has imported torch, torch's own threads run CPU kernels while "
                 "they are awake: see [performance.md](performance.md#threads). `0`: the driver's do. "
                 "Read at a kernel's first launch.", FLAG),
        Variable("TRITON_SPIRV_CALLS", "`1`, `0`", "`1`",
                 "`1`: threads of this process that run CPU kernels call them as functions. `0`: they "
                 "launch them through the driver, which takes longer. Read at a kernel's first launch.",
                 FLAG),
        Variable("TRITON_SPIRV_CREW", "`1`, `0`", "`1`",
                 "`1`: on the CPU, threads of this package share launches where torch's threads sleep, or "
                 "there is no torch. `0`: the driver's threads do. Read at a kernel's first launch.", FLAG),
        Variable("TRITON_SPIRV_REPEATED", "`1`, `0`", "`1`",
                 "`1`: a launch that is like many before asks less than Triton's own: see "
                 "[small-problems.md](how-to/small-problems.md#what-a-launch-costs). `0`: all launches are "
                 "Triton's. Read when the first kernel is loaded.", FLAG),
        Variable("TRITON_SPIRV_TARGET", "a name from `triton-spirv targets`",
                 "the device's own",
                 "Compile for this target instead, for example `pvc` without the GPU, or `cpu-simt` to try "
                 "GPU-style code on the CPU. Every launch reads the variable. Kernels for a CPU are not "
                 "launched on a GPU, nor those for OpenCL with Vulkan.", trial="target"),
        Variable("TRITON_SPIRV_SHARED_MEMORY", "`0`, `1`", "`1`",
                 "`0`: copy arguments to the device and back even if it can use host memory. For tests of "
                 "the copies.", FLAG),
        Variable("TRITON_SPIRV_TRIAL", "`0`, `1`", "`1`",
                 "`0`: launch kernels on an OpenCL device of an unknown driver without trying it in another "
                 "process first.", FLAG),
    ),
    "Look at what happens": (
        Variable("TRITON_SPIRV_PROFILE", "`1`, `lines`, or a file name; `%p` in it is the process id", "off",
                 "Print a table of launches and times at the end of the process. `lines`: also the time by "
                 "line of each kernel's source, on the CPU. With a file name, also write a Chrome trace, "
                 "or, if the name ends in `.hatchet`, a file for Triton's `proton-viewer`.",
                 trial="profile"),
        Variable("TRITON_SPIRV_LINE_INFO", "`0`, `1`", "`0`",
                 "`1`: the machine code of CPU kernels says which line of your source it is of, for gdb "
                 "and perf. See [how-to/profilers.md](how-to/profilers.md).", FLAG),
        Variable("TRITON_SPIRV_CHECK",
                 "`bounds`, `uninit`, `race`, `overflow`, `nan`, `deadlock` with commas between them, or "
                 "`all`; `bounds=view`; `lanes`; `compiler`",
                 "none", "Let kernels test themselves while they run, see [checking.md](checking.md).",
                 trial="check"),
        Variable("TRITON_SPIRV_CHECK_TIMEOUT", "seconds", "10",
                 "End a launch that takes longer, in checked mode with `deadlock`, and say what it waits "
                 "for.", trial="check_timeout"),
        Variable("TRITON_SPIRV_CHECK_LIMIT", "a number", "0: all of them",
                 "A launch in checked mode raises at most so many findings. `triton-spirv check` ends the "
                 "program at so many.", trial="check_limit"),
        Variable("TRITON_SPIRV_CHECK_REPORT", "a file name; `%p` in it is the process id", "none",
                 "Write the findings of checked mode there, as a JSON list. There is no file if nothing is "
                 "found.", trial="file"),
        Variable("TRITON_SPIRV_CHECK_SUPPRESS", "`FILE`, `FILE:LINE`, `CHECK:FILE:LINE`, with commas between "
                 "them", "none", "Findings of checked mode to leave out.", trial="check_suppress"),
        Variable("TRITON_SPIRV_OPTIMISE", "`all`, `none`, `-NAME`, `NAME`, with commas between them", "`all`",
                 "The optimisations that are made: all but those with a `-`, or none but those without. "
                 "[checking.md](checking.md) has their names. The launch option `optimise=` does so for one "
                 "launch.", trial="optimise"),
        Variable("TRITON_SPIRV_RECORD", "a folder", "off",
                 "Keep launches in the folder, with their arguments and results. `triton-spirv replay` "
                 "repeats them. A recording contains your data.", trial="folder"),
        Variable("TRITON_SPIRV_RECORD_LAUNCHES", "a number", "1", "How many launches of each kernel to "
                 "record.", COUNT),
        Variable("TRITON_SPIRV_DEBUG", "words with commas between them: `verify`, `read-back`, `print`, "
                 "`print:PASS`, `print:facts`, `print:plan`", "none", "Check or print the IR, or the SPIR-V "
                 "function, after each compiler pass, what is known of values, and the plan. Kernels in the "
                 "cache are not compiled again: set Triton's `TRITON_ALWAYS_COMPILE=1`, too.",
                 trial="debug"),
        Variable("TRITON_SPIRV_PRINT_EACH_THREAD", "`0`, `1`", "`0`",
                 "`1`: `tl.device_print` prints a scalar once for each thread that a GPU would run, also on "
                 "the CPU, which otherwise prints it once for each program. The launch option "
                 "`print_each_thread=True` does so for one launch.", FLAG),
        Variable("TRITON_SPIRV_COMPILE_SECONDS", "seconds; `0`: never", "60",
                 "Warn if a step of compiling a kernel takes longer than this.", SECONDS),
        Variable("TRITON_SPIRV_FAULT_MESSAGE", "`0`, `1`", "`1`",
                 "`0`: do not install signal handlers. With them, a crash of the process names the kernels "
                 "that were running.", FLAG),
        Variable("TRITON_SPIRV_VULKAN_STATISTICS", "`0`, `1`", "`0`",
                 "`1`: ask Vulkan drivers for registers and sizes of the code that they make.", FLAG),
        Variable("TRITON_SPIRV_VULKAN_VALIDATION", "`0`, `1`", "`0`",
                 "`1`: switch the Khronos validation layer on. Its messages go to stderr, and the next wait "
                 "raises them.", FLAG),
    ),
    "Native binaries for Intel GPUs": (
        Variable("TRITON_SPIRV_ZEBIN", "`0`, `1`, `auto`", "`0`",
                 "`1`: compile kernels to native binaries with ocloc. `auto`: only if that works.",
                 FLAG_OR_AUTO),
        Variable("TRITON_OCLOC_PATH", "a file", "`ocloc` in `PATH`", "The ocloc program to use.",
                 trial="program"),
        Variable("TRITON_SPIRV_OCLOC_TIMEOUT", "seconds", "120", "The time limit of one run of ocloc.",
                 SOME_SECONDS),
        Variable("TRITON_SPIRV_KEEP", "a folder", "a private temporary folder",
                 "Where to keep the files of a build that failed.", trial="folder"),
        Variable("TRITON_SPIRV_SHADER_DUMP", "a folder", "off",
                 "Keep the dump of Intel's compiler, with the machine code as text.", trial="folder"),
    ),
    "Caches": (
        Variable("TRITON_CACHE_DIR", "a folder", "`~/.triton/cache`",
                 "Triton's cache folder. Binaries that drivers make are in its folder `spirv-binaries`.",
                 trial="folder"),
        Variable("TRITON_HOME", "a folder", "your home folder",
                 "Triton's: where `.triton/cache` is, if `TRITON_CACHE_DIR` is not set.", trial="folder"),
        Variable("TRITON_SPIRV_CACHE_KEY_FILE", "a file of at least 32 bytes", "no key",
                 "Sign cache entries with this key, and never load entries without a valid signature. See "
                 "[security.md](security.md).", trial="cache_key"),
    ),
    "Finding drivers and tools": (
        Variable("TRITON_SPIRV_VULKAN_LOADER", "a file", "the system's search",
                 "The Vulkan loader, for example `/opt/lib/libvulkan.so.1`.", trial="vulkan_loader"),
        Variable("VK_DRIVER_FILES", "files", "the system's search",
                 "The Vulkan loader's own: the drivers to use. Error messages about missing devices name "
                 "it.", trial="paths"),
        Variable("VK_ICD_FILENAMES", "files", "the system's search", "An older name of `VK_DRIVER_FILES`.",
                 trial="paths"),
        Variable("OCL_ICD_VENDORS", "a folder", "the system's search",
                 "The OpenCL loader's own: where drivers are registered.", trial="paths"),
        Variable("CL_CONFIG_CPU_TARGET_ARCH", "`sapphirerapids`, `icelake-server`, `skx`, `core-avx2`, "
                 "`corei7-avx`, `corei7`", "the processor that is here",
                 "Intel's OpenCL CPU runtime's own: the processor to compile for. Kernels use no "
                 "instructions that it lacks. The runtime goes by the number of the processor's model; "
                 "where a virtual machine shows an older one's, this package sets the variable itself.",
                 trial="processor"),
        Variable("ZE_AFFINITY_MASK", "numbers of devices, or as in `0.1` of a card and a tile, with commas "
                 "between them", "all devices",
                 "Intel's GPU driver's own: the devices that it shows. Error messages about missing devices "
                 "name it."),
        Variable("ZE_FLAT_DEVICE_HIERARCHY", "`FLAT`, `COMBINED`, `COMPOSITE`", "`FLAT` for cards of the Max "
                 "series, else `COMPOSITE`",
                 "Intel's GPU driver's own: is a card of several tiles shown as a device for each tile, or "
                 "(`COMPOSITE`) as one? In the second case its tiles can be chosen as `gpu:0.0`, `gpu:0.1`.",
                 one_of("FLAT", "COMBINED", "COMPOSITE")),
        Variable("TRITON_SPIRV_TOOLS", "folders, separated as in `PATH`", "none",
                 "Where to look first for spirv-val and the other SPIR-V tools.", trial="paths"),
    ),
    "The command's output": (
        Variable("NO_COLOR", "anything", "unset", "Print without colours."),
        Variable("TERM", "a terminal's name", "set by the terminal", "`dumb`: print without colours and "
                 "progress bars."),
    ),
    "The project's own tests": (
        Variable("TRITON_SPIRV_TEST_VULKAN", "as `TRITON_SPIRV_DEVICE`", "`vulkan`",
                 "The Vulkan device of the tests."),
        Variable("TRITON_SPIRV_NEW_OCLOC", "a file", "none", "A recent ocloc for tests that need one.",
                 trial="program"),
        Variable("TRITON_SPIRV_TEST_MODES", "as the tests' option `--spirv-modes`", "`vector`",
                 "The modes that the operation tests run in."),
        Variable("TRITON_SPIRV_TEST_SEED", "a number", "the number in `tests/seed.py`",
                 "Where mutated texts and samples of tests are drawn from.", COUNT),
        Variable("TRITON_SPIRV_TEST_KERNELS", "a number", "another one in each run, which prints it",
                 "The first random kernel of the tests.", COUNT),
    ),
}

#: families of variables that belong to drivers and compilers: what they change is a part of cache keys
PREFIXES = {
    "CL_CONFIG_": "Intel's OpenCL CPU runtime",
    "IGC_": "Intel's graphics compiler",
    "NEO_": "Intel's GPU driver",
    "OCLOC_": "ocloc",
    "VISA_": "Intel's assembler",
}

HEAD = """\
# Environment variables

These are all environment variables that triton-spirv reads. You need none of them to start: by default,
kernels run on the CPU wherever Triton finds no GPU. A value that a variable cannot have is an error that
names the variable. `triton-spirv doctor` prints the variables that are set, and finds wrong values and
misspelled names.

Where a variable takes `0` and `1`, it also takes `off` and `on`, `false` and `true`, `no` and `yes`.

This page is generated: `python -m triton_spirv --environment-table > docs/environment.md`.
"""

TAIL = """\
## Settings of drivers

Variables with these beginnings are not ours. They change what a driver or compiler makes, so kernels
that were compiled under other settings are not taken from the cache.

| begins with | belongs to |
|---|---|
"""


def names() -> set[str]:
    """Every variable of the table."""
    return {variable.name for group in VARIABLES.values() for variable in group}


def set_here() -> list[str]:
    """The variables of the table that are set, and all that are called like ours, sorted."""
    return sorted(name for name, text in os.environ.items()
                  if text.strip() and (name.startswith(OURS) or name in names()))


def find(name: str) -> Variable | None:
    """The variable of that name."""
    every = (variable for group in VARIABLES.values() for variable in group)
    return next((variable for variable in every if variable.name == name), None)


def nearest(name: str) -> str:
    """The variable of ours that a name was probably meant to be; empty if none is like it."""
    return next(iter(difflib.get_close_matches(name, sorted(names()), 1)), "")


def require_known_values() -> None:
    """UsageError for a variable of ours whose text cannot be what the table says: before the first kernel,
    not when the value is used. A warning for a name that nothing reads. Devices and files are not looked
    at."""
    for name in set_here():
        variable = find(name)
        if variable is not None and name.startswith(OURS):
            variable.kind.value(name, os.environ[name].strip())
        elif variable is None:
            meant = nearest(name)
            hint = f"did you mean {meant}?" if meant else "docs/environment.md lists all variables"
            warnings.warn(f"triton-spirv: nothing reads the variable {name}; {hint}", stacklevel=2)


def page() -> str:
    """The text of docs/environment.md."""
    parts = [HEAD]
    for title, group in VARIABLES.items():
        rows = [f"| `{each.name}` | {each.values} | {each.default} | {each.meaning} |" for each in group]
        parts.append("\n".join([f"## {title}", "", "| variable | values | if unset | meaning |",
                                "|---|---|---|---|", *rows, ""]))
    rows = [f"| `{prefix}` | {owner} |" for prefix, owner in PREFIXES.items()]
    return "\n".join([*parts, TAIL + "\n".join(rows), ""])
