"""Memory for arrays of a kernel that shared memory has no room for: a part of a buffer for each program."""

from __future__ import annotations

import ctypes
import mmap
import re
from typing import TYPE_CHECKING

from ..errors import DeviceError, LaunchError

if TYPE_CHECKING:
    from ..artifact import Artifact
    from .memory import Staging


def refusal(artifact: Artifact, programs: int, reason: object) -> str:
    """Why a launch cannot have its memory, and what to do."""
    return (f"{artifact.entry}: shared memory has no room for {artifact.overflow_bytes} bytes of each "
            f"program, and global memory has none for {programs} programs ({reason}); use smaller blocks or "
            "fewer stages, or split the launch")


#: bytes that are kept from one launch to the next
KEPT = 256 << 20


class Overflow:
    """The memory of one thread's launches of a kernel, `KEPT` bytes of which stay for the next where kernels
    work on the host's memory; pages that no program touches cost nothing."""

    def __init__(self, artifact: Artifact) -> None:
        self._artifact = artifact
        self._memory: mmap.mmap | None = None

    def for_launch(self, programs: int, staging: Staging | None) -> int:
        """The address of the buffer, on the device where the launch is staged; what it holds is undefined."""
        size = programs * self._artifact.overflow_bytes
        try:
            return staging.room(size) if staging else self._on_host(size)
        except (DeviceError, OSError, OverflowError) as error:
            raise LaunchError(refusal(self._artifact, programs, error)) from None

    def ended(self) -> None:
        """The launch is over."""
        if self._memory is not None and len(self._memory) > KEPT:
            self._memory = None

    def _on_host(self, size: int) -> int:
        if self._memory is None or len(self._memory) < size:
            self._memory = None  # before there are two
            free = _free_bytes()
            if size > free:  # Linux would give it, and end a process when programs use it
                raise DeviceError(f"of {size} bytes {free} are free")
            # a forked child's programs have others
            self._memory = mmap.mmap(-1, size, access=mmap.ACCESS_COPY)
        return ctypes.addressof(ctypes.c_uint8.from_buffer(self._memory))


def _free_bytes() -> int:
    """What programs may still have of the machine's memory; very much where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            found = re.search(r"^MemAvailable: +(\d+) kB$", file.read(), re.MULTILINE)
    except OSError:
        found = None
    return int(found[1]) << 10 if found else 1 << 62
