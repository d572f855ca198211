"""What can go wrong between SPIR-V and a native binary, one class for each way out.

Every message names the ocloc, the kernel, the device, the exit code in words, the register files that were
tried and the folder with the module and a script that repeats the failure.
"""

from __future__ import annotations

from ..errors import ResourceError, ToolError

#: exit codes of `ocloc compile`, as observed with 22.43 and 26.27; a negative one is a signal
EXIT_CODES = {
    0: "success",
    1: "crashed, or the input is no SPIR-V module",
    10: "refused the module: its magic number, an extension or a capability",
    134: "crashed (abort)",
    139: "crashed (segmentation fault)",
    223: "does not know the device",
    225: "did not find its input file",
    226: "did not understand its command line",
    245: "the build failed",
    -6: "crashed (abort)",
    -9: "was killed, for memory perhaps",
    -11: "crashed (segmentation fault)",
}


def in_words(code: int | None) -> str:
    """`exit code 245 (the build failed)`; None is a process that was ended because it took too long."""
    if code is None:
        return "no exit code (it was ended after the time limit)"
    unknown = "ended by a signal" if code < 0 else "an exit code without a known meaning"
    meaning = EXIT_CODES.get(code, unknown)
    return f"exit code {code} ({meaning})"


class NativeError(ToolError):
    """No native binary was made. `code` is ocloc's exit code where it ran to its end."""

    #: would a build with more registers for each thread have a chance?
    larger_grf_may_help = False

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


class OclocNotFound(NativeError):
    """There is no ocloc; the message says how to get one."""


class OclocUnusable(NativeError):
    """ocloc is there and does not do what it is for: its version is not to be had, it loses its input."""


class UnknownDevice(NativeError):
    """ocloc does not know the device, or the name means a family of devices."""


class BadRequest(NativeError):
    """What was asked for is refused before any process starts, or ocloc did not understand it."""


class Timeout(NativeError):
    """ocloc took longer than it was given."""


class BuildFailed(NativeError):
    """The device's compiler refused the module, crashed on it, or made something unusable of it."""

    larger_grf_may_help = True


class ScratchExceeded(ResourceError, BuildFailed):
    """A thread spills more than the device can give it. Bytes."""

    def __init__(self, required: int, limit: int, detail: str = "") -> None:
        ResourceError.__init__(self, required, limit, "per-thread scratch space")
        self.detail, self.code = detail, 245

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.detail}" if self.detail else super().__str__()

    def __reduce__(self) -> tuple[type[ScratchExceeded], tuple[int, int, str]]:
        return ScratchExceeded, (self.required, self.limit, self.detail)
