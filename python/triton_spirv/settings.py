"""Reading an environment variable: what it may hold, and a sentence where it holds something else.

    flag("TRITON_SPIRV_TRIAL", True)                  1, on, true, yes; 0, off, false, no
    number("TRITON_SPIRV_COMPILE_SECONDS", SECONDS, 60.0)

The table of all variables (variables.py) names the same kinds.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable

from .dataclass import dataclass
from .errors import UsageError

#: words of a switch, in small letters
WORDS = {word: value for value, words in ((True, "1 on true yes"), (False, "0 off false no"))
         for word in words.split()}


@dataclass(frozen=True)
class Kind:
    """What a variable may hold. `read` makes a value of its text; ValueError or KeyError where it cannot.
    `says` is what to write, for messages."""

    read: Callable[[str], object]
    says: str

    def value(self, name: str, text: str) -> object:
        """The value; UsageError names the variable and what it may hold."""
        try:
            return self.read(text)
        except (ValueError, KeyError, OverflowError):
            raise UsageError(f"{name}={text!r}: use {self.says}") from None


def _at_least(least: float, whole: bool = False) -> Callable[[str], float]:
    def read(text: str) -> float:
        found = int(text) if whole else float(text)
        if not least <= found < math.inf:
            raise ValueError
        return found

    return read


def one_of(*words: str) -> Kind:
    """One of some words, in any case."""
    known = {word.lower(): word for word in words}
    return Kind(lambda text: known[text.lower()], f"{', '.join(words[:-1])} or {words[-1]}")


ANYTHING = Kind(str, "")
FLAG = Kind(lambda text: WORDS[text.lower()], "1 or 0")
FLAG_OR_AUTO = Kind(lambda text: "auto" if text.lower() == "auto" else WORDS[text.lower()], "1, 0 or auto")
SECONDS = Kind(_at_least(0), "a number of seconds, 0 or more")
SOME_SECONDS = Kind(_at_least(math.ulp(0)), "a number of seconds above 0")
COUNT = Kind(_at_least(0, whole=True), "a whole number, 0 or more")


def flag(name: str, default: bool) -> bool:
    """The switch that a variable is; UsageError for another word."""
    text = os.environ.get(name, "").strip()
    return bool(FLAG.value(name, text)) if text else default


def number(name: str, kind: Kind, default: float) -> float:
    """The number that a variable holds; UsageError where it holds none, or one that is too small."""
    text = os.environ.get(name, "").strip()
    found = kind.value(name, text) if text else default
    assert isinstance(found, (int, float))
    return float(found)
