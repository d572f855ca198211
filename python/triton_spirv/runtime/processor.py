"""What the host's processor is, read without OpenCL: it is part of cache keys and of the name of the CPU
target."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import sys
from dataclasses import replace
from pathlib import Path

from ..dataclass import dataclass

#: psABI levels of x86-64, highest first, with the features that tell them from the level below
_LEVELS = (
    ("v4", ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
    ("v3", ("avx2", "fma", "bmi2", "f16c")),
    ("v2", ("sse4_2", "ssse3", "popcnt")),
)

CPU_FACTS, MAPPED = "/proc/cpuinfo", "/proc/self/maps"
DRIVER = "libintelocl.so"

#: The setting of Intel's CPU runtime that has it compile for an older processor, and the names that it takes,
#: newest first: each with the features that the next one lacks.
DRIVER_TARGET = "CL_CONFIG_CPU_TARGET_ARCH"
DRIVER_TARGETS = {
    "sapphirerapids": ("amx_tile", "amx_int8", "amx_bf16", "avx512_bf16"),
    "icelake-server": ("avx512_vnni",),
    "skx": _LEVELS[0][1],
    "core-avx2": _LEVELS[1][1],
    "corei7-avx": ("avx",),
    "corei7": (),
}

#: Models of Intel's family 6 that the driver's compiler (LLVM) knows to have the newest of them, and
#: the one that it asks for avx512_bf16. A virtual machine may show the number of an older model with all
#: features of its own: the compiler goes by the number, and ends the process at instructions of the features.
#: Then it is told what to compile for, if the processor has all that the name stands for.
WITH_TILES, ASKED = frozenset(("143", "173", "174", "207")), "85"
NEWEST, *_ = DRIVER_TARGETS
NEWEST_HAS = frozenset((*DRIVER_TARGETS[NEWEST], "avx512_fp16", "avx_vnni", "avx512_vnni", "avx512_vbmi2",
                        "avx512ifma", "avx512_bitalg", "avx512_vpopcntdq", "gfni", "vaes", "vpclmulqdq",
                        "serialize"))

#: The feature of tile registers, and how Linux is asked for them: a system call, an operation, a component of
#: a processor's state.
TILES = "amx_tile"
ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA = 158, 0x1023, 18

#: Names of functions that modules import begin so -> what the processor must have, or the driver's compiler
#: ends the process. Of AVX-512, this feature stands for all of psABI's.
NEEDED = {b"llvm.x86.ldtilecfg": TILES, b"llvm.x86.avx.": "avx", b"llvm.x86.avx2.": "avx2",
          b"llvm.x86.avx512.": "avx512dq", b"llvm.x86.avx512.vpdpbusd": "avx512_vnni",
          b"llvm.x86.avx512bf16.": "avx512_bf16"}


@dataclass(frozen=True)
class Processor:
    """machine as uname spells it, the model's name, its feature flags: those that this process may use;
    vendor: as Linux spells it."""

    machine: str
    model: str
    flags: frozenset[str]
    vendor: str = ""

    @property
    def features(self) -> frozenset[str]:
        """What a target goes by: the flags, and the vendor among them."""
        return self.flags | {self.vendor}

    @property
    def architecture(self) -> str:
        """The machine with its instruction set level: "x86_64-v3"."""
        for level, needed in _LEVELS:
            if self.machine == "x86_64" and self.flags.issuperset(needed):
                return f"{self.machine}-{level}"
        return self.machine

    @property
    def key(self) -> str:
        """A short text that differs where compiled code may differ. A virtual machine may hide features of a
        model."""
        flags = hashlib.sha256(" ".join(sorted(self.flags)).encode()).hexdigest()[:16]
        return f"{self.machine}:{self.model}:{flags}"


def processor() -> Processor:
    """The processor that this process runs on, without the features that the driver is told not to use."""
    return _limited(os.environ.get(DRIVER_TARGET, ""))


@functools.cache
def _limited(name: str) -> Processor:
    """As one that the driver's setting names; whatever it does not know, it refuses itself."""
    here, names = _found(), list(DRIVER_TARGETS)
    newer = names[:names.index(name)] if name in names else []
    unused = frozenset(feature for each in newer for feature in DRIVER_TARGETS[each])
    return replace(here, flags=here.flags - unused)


@functools.cache
def _found() -> Processor:
    """The processor, as Linux describes it."""
    facts: dict[str, str] = {}
    try:
        with open(CPU_FACTS, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if not line.strip():
                    break  # the first processor is enough; the file is long on large machines
                name, _, value = line.partition(":")
                facts[name.strip().lower()] = value.strip()
    except OSError:
        pass
    flags = frozenset((facts.get("flags") or facts.get("features") or "").split())
    if TILES in flags and not _has_tiles():
        flags = frozenset(flag for flag in flags if not flag.startswith(TILES.partition("_")[0]))
    if _is_misled(facts, flags) and not _told(flags):
        flags -= frozenset(DRIVER_TARGETS[NEWEST])
    model = facts["model name"] if "model name" in facts else platform.processor()  # that starts a process
    return Processor(platform.machine(), model, flags, facts.get("vendor_id", ""))


def _is_misled(facts: dict[str, str], flags: frozenset[str]) -> bool:
    """Does the driver's compiler take the processor for one without the newest features that it has?"""
    if facts.get("vendor_id") != "GenuineIntel" or facts.get("cpu family") != "6":
        return False
    known = WITH_TILES if TILES in flags else WITH_TILES | {ASKED}
    return not flags.isdisjoint(DRIVER_TARGETS[NEWEST]) and facts.get("model") not in known


def _told(flags: frozenset[str]) -> bool:
    """Tell the driver what it compiles for, unless the user does. Once it is loaded, that is too late."""
    if DRIVER_TARGET in os.environ:
        return True
    loaded = Path(MAPPED).read_text(encoding="utf-8", errors="replace")
    if not flags.issuperset(NEWEST_HAS) or DRIVER in loaded:
        return False
    os.environ[DRIVER_TARGET] = NEWEST
    return True


def needed(words: bytes) -> list[str]:
    """The features that a module's instructions take."""
    return [feature for name, feature in NEEDED.items() if name in words]


def _has_tiles() -> bool:
    """Ask Linux for tile registers, which it gives to a process that asks: not to one whose threads have
    stacks for signals that are too small for them, nor in a sandbox that forbids the call. (Linux, x86: Using
    XSTATE features in user space applications.)"""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return False
    return ctypes.CDLL(None).syscall(ARCH_PRCTL, REQUEST_PERMISSION, TILE_DATA) == 0


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
