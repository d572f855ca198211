"""The errors of the package: each names the cause and the way out.

They are raised where the knowledge is: reading the IR, choosing rules, lowering, building SPIR-V, validating
it, running a tool, launching. Catch `TritonSpirvError` for all of them.
"""

from __future__ import annotations

import inspect
from types import FrameType
from typing import Any


class TritonSpirvError(Exception):
    """Base class of every error that this package raises on purpose."""


class ParseError(TritonSpirvError):
    """The IR text cannot be read: `filename:line:column: message`, the line, and a caret below the place."""

    def __init__(
        self, message: str, filename: str = "<ttir>", line: int = 0, column: int = 0, text: str = ""
    ) -> None:
        self.filename, self.line, self.column, self.text = filename, line, column, text
        caret = f"\n  {text}\n  {' ' * max(column - 1, 0)}^" if text else ""
        super().__init__(f"{filename}:{line}:{column}: {message}{caret}")


class UnsupportedOperation(TritonSpirvError):
    """Operations without a rule for the target, all at once, each with the user's file and line."""


class LoweringError(TritonSpirvError):
    """A rule refuses an operation. `place` is the operation, its types and the user's line; a rule leaves it
    out, and the innermost operation that is being lowered fills it in.
    """

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {self.args[0]}" if self.place else str(self.args[0])


class InternalError(TritonSpirvError):
    """A defect of triton-spirv itself, never of the user's kernel: the place, what went wrong, and how to
    report it. The exception behind it is its `__cause__`. `recorded`: where the kernel's IR is kept.
    """

    def __init__(self, message: str, recorded: str = "") -> None:
        super().__init__(message)
        self.recorded = recorded

    def __str__(self) -> str:
        kept = (f"The recording is {self.recorded}" if self.recorded else
                "TRITON_SPIRV_RECORD=FOLDER makes one: run the program again with it")
        return (f"{self.args[0]}\nThis is a defect of triton-spirv, not of your kernel. Please report it "
                f"together with a recording. {kept}.")


class MissingCapability(TritonSpirvError):
    """The target lacks a SPIR-V capability: what needs it, the alternatives, what the target has."""


class ValidationError(TritonSpirvError):
    """spirv-val refused a module: its words, the listing around the instruction, the path of the kept
    module.
    """


class ToolError(TritonSpirvError):
    """An external tool failed: the command line to repeat, its output, its exit status."""


class DeviceError(TritonSpirvError):
    """No such device, or the device lacks what is asked of it."""


class LaunchError(TritonSpirvError):
    """The arguments or the grid of a launch are not usable; the message names the argument and the way
    out.
    """


class ResourceError(TritonSpirvError):
    """A kernel needs more of a resource than the target has (shared or private memory, registers)."""

    def __init__(self, required: int, limit: int, name: str) -> None:
        self.required, self.limit, self.name = required, limit, name
        super().__init__(f"out of resource: {name}, required {required}, the target has {limit}; "
                         "use smaller block sizes or fewer stages")


class UsageError(TritonSpirvError):
    """The request makes no sense: an unknown target, a signature that does not fit the kernel, a file
    that is not there. One line that says what may be written instead; the command ends with status 2.
    """


def is_interruption(error: BaseException) -> bool:
    """Was it raised in a signal handler, as by signal.alarm()? Python calls a handler with the frame that it
    interrupts, its own caller, which no other call does."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        if _is_given(traceback.tb_next.tb_frame, traceback.tb_frame):
            return True
        traceback = traceback.tb_next
    return False


def _is_given(called: FrameType, caller: FrameType) -> bool:
    """Is its caller's frame among the arguments of a call?"""
    code, values = called.f_code, called.f_locals
    takes_any = bool(code.co_flags & inspect.CO_VARARGS)
    names = code.co_varnames[:code.co_argcount + code.co_kwonlyargcount + takes_any]
    given: list[Any] = [values.get(name) for name in names]
    rest = given.pop() if takes_any else ()
    return any(value is caller for value in (*given, *(rest or ())))
