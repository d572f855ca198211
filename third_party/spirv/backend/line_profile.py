"""The time of kernels by line of their source, on the CPU: TRITON_SPIRV_PROFILE=lines. And the map from which
Linux's perf takes the names of code that was made at run time: TRITON_SPIRV_LINE_INFO=1.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from triton_spirv.errors import TritonSpirvError
from triton_spirv.isa.hot_lines import HotLines
from triton_spirv.runtime import profile
from triton_spirv.runtime.program import Program
from triton_spirv.runtime.sampling import NotAllowed, Sampler
from triton_spirv.spirv.line_info import files


class LineProfile:
    """Of all kernels of the process. One launch at a time is watched; those beside it are not."""

    def __init__(self) -> None:
        self._sampler, self._busy = Sampler(), threading.Lock()
        self._kernels: list[HotLines] = []
        self._failures: dict[str, None] = {}

    def add(self, program: Program) -> HotLines | None:
        """A program that was built with lines; None where its code cannot be read."""
        self._tell()
        try:
            self._kernels.append(HotLines(program.entry, program.binary(), files(program.words)))
        except TritonSpirvError as error:
            self._failures[f"{program.entry}: {error}"] = None
            return None
        _write_map(self._kernels[-1])
        return self._kernels[-1]

    def leave_out(self, device: str) -> None:
        """Say once that there are no samples of what runs on this device."""
        self._failures[f"kernels on {device} are not sampled; only code that the CPU runs through OpenCL is "
                       "(TRITON_SPIRV_DEVICE=cpu)"] = None
        self._tell()

    def _tell(self) -> None:
        if profile.by_line() and self._text not in profile.PROFILE.sections:
            profile.PROFILE.sections.append(self._text)

    @contextmanager
    def watched(self, lines: HotLines | None) -> Iterator[None]:
        """Around a launch. An autotuner's launches are left out, as in the table."""
        if lines is None or profile.PROFILE.is_tuning or not self._busy.acquire(blocking=False):
            yield
            return
        try:
            if self._started():
                try:
                    yield
                finally:
                    lines.add(self._sampler.stop())
            else:
                yield
        finally:
            self._busy.release()

    def _started(self) -> bool:
        try:
            self._sampler.start()
        except NotAllowed as error:
            self._failures[str(error.strerror)] = None
            return False
        return True

    def _text(self) -> str:
        told = [lines.text() for lines in self._kernels if lines.has_samples]
        failed = [f"time by line is not available: {failure}\n" for failure in self._failures]
        return "".join([*told, *failed]) or "time by line: no samples; launches are too short, or too few\n"


def _write_map(lines: HotLines) -> None:
    """Add the kernel's lines to /tmp/perf-PID.map: start, size and name of each piece of code. A file that
    another user put there is left alone."""
    rows = "".join(f"{start:x} {size:x} {name}\n" for start, size, name in lines.pieces())
    try:
        file = os.open(f"/tmp/perf-{os.getpid()}.map", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW,
                       0o600)
    except OSError:
        return
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        if os.fstat(file).st_uid == os.geteuid():
            stream.write(rows)


LINES = LineProfile()
