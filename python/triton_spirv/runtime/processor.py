"""What the host's processor is, read without OpenCL: it is part of cache keys and of the name of the CPU
target."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from dataclasses import dataclass

#: psABI levels of x86-64, highest first, with the features that tell them from the level below
_LEVELS = (
    ("v4", ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl")),
    ("v3", ("avx2", "fma", "bmi2", "f16c")),
    ("v2", ("sse4_2", "ssse3", "popcnt")),
)


@dataclass(frozen=True)
class Processor:
    """machine as uname spells it, the model's name, its feature flags."""

    machine: str
    model: str
    flags: frozenset[str]

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


@functools.cache
def processor() -> Processor:
    """The processor that this process runs on."""
    facts: dict[str, str] = {}
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if not line.strip():
                    break  # the first processor is enough; the file is long on large machines
                name, _, value = line.partition(":")
                facts[name.strip().lower()] = value.strip()
    except OSError:
        pass
    flags = facts.get("flags") or facts.get("features") or ""
    model = facts.get("model name", platform.processor())
    return Processor(platform.machine(), model, frozenset(flags.split()))


def cores() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
