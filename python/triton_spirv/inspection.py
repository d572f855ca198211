"""What TRITON_SPIRV_DEBUG asks to see of passes, with commas between its words:

    verify        behind each pass, what must hold of the IR or of the function (the tests set it)
    read-back     what is printed behind each pass over the IR is read back as the same
    print         the IR or the module behind each pass, what is known of values, and the plan, to stderr;
                  print:NAME for one pass, print:facts, or print:plan
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from .dataclass import dataclass
from .errors import UsageError

VARIABLE = "TRITON_SPIRV_DEBUG"


@dataclass(frozen=True)
class Inspection:
    """`printed`: the names of passes."""

    verify: bool = False
    read_back: bool = False
    printed: frozenset[str] = frozenset()

    @staticmethod
    def asked(passes: Iterable[str]) -> Inspection:
        """By the variable, of these passes; UsageError for an unknown word."""
        words = {word.strip() for word in os.environ.get(VARIABLE, "").split(",")} - {""}
        prints = {f"print:{name}": name for name in passes}
        known = {"verify", "read-back", "print", *prints}
        if words - known:
            raise UsageError(f"{VARIABLE}: unknown: {', '.join(sorted(words - known))}; there are "
                             f"{', '.join(sorted(known))}")
        printed = prints.values() if "print" in words else [prints[word] for word in words & prints.keys()]
        return Inspection("verify" in words, "read-back" in words, frozenset(printed))


def ask_to_print(wanted: Iterable[str], passes: Collection[str]) -> None:
    """Say in the variable, for this process and those that it starts, behind which of the passes to print: by
    name, or "all"; UsageError for one that there is not."""
    for name in wanted:
        if name != "all" and name not in passes:
            raise UsageError(f"there is no pass {name!r}; there are {', '.join(passes)}, and all")
        word = "print" if name == "all" else f"print:{name}"
        os.environ[VARIABLE] = ",".join(filter(None, (os.environ.get(VARIABLE), word)))
