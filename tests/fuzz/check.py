"""What becomes of a mutated text: a module that spirv-val takes, an error for the user, or a finding."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import triton_spirv
from triton_spirv.errors import (
    InternalError,
    LoweringError,
    MissingCapability,
    ParseError,
    ResourceError,
    UnsupportedOperation,
    ValidationError,
)
from triton_spirv.target import find_target
from triton_spirv.tools import spirv_tools

#: What a text that is wrong may give, and nothing else.
REFUSALS = (ParseError, UnsupportedOperation, LoweringError, MissingCapability, ResourceError)
#: Outcomes that are findings.
FINDINGS = ("internal", "recursion", "memory", "hung", "foreign", "invalid", "crashed")

PACKAGE = str(Path(triton_spirv.__file__).parent)


class Hang(BaseException):
    """More processor time than any text may take."""


@dataclass(frozen=True)
class Outcome:
    """kind: "compiled", the name of a refusal's class, or one of FINDINGS. where: the innermost place in the
    package, by which findings are told apart."""

    kind: str
    where: str = ""
    message: str = ""

    @property
    def found(self) -> bool:
        return self.kind in FINDINGS


@contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Hang after so many seconds of this process's processor time."""

    def ended(number: int, frame: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGVTALRM, ended)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def check(text: str, target: str, seconds: float = 20, validated: bool = False) -> Outcome:
    """Compile a text for a target; `validated`: and show the module to spirv-val. Nothing is launched."""
    try:
        with limited(seconds):
            artifact = triton_spirv.compile(text, target)
    except REFUSALS as error:
        return Outcome(type(error).__name__, "", str(error))
    except Hang as error:
        return Outcome("hung", _place(error), f"more than {seconds:g} s")
    except MemoryError as error:
        return Outcome("memory", _place(error), str(error))
    except InternalError as error:
        cause = error.__cause__ or error
        kind = "recursion" if isinstance(cause, RecursionError) else "internal"
        return Outcome(kind, "" if kind == "recursion" else f"{type(cause).__name__} {_place(cause)}",
                       str(error.args[0]))
    except Exception as error:
        return Outcome("foreign", f"{type(error).__name__} {_place(error)}", str(error))
    if validated:
        try:
            spirv_tools.validate(artifact.words, {"vulkan": "vulkan1.3"}.get(target))
        except ValidationError as error:
            said = str(error)
            return Outcome("invalid", said.split("\n")[0].partition(": ")[2][:60], said)
    return Outcome("compiled")


def _place(error: BaseException) -> str:
    """file:line of the innermost frame of the package."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename.startswith(PACKAGE)]
    if not frames:
        return ""
    return f"{frames[-1].filename[len(PACKAGE) + 1:]}:{frames[-1].lineno}"


def lanes_of(target: str) -> int:
    return find_target(target).sub_group_size
