"""Places in the user's source."""

from __future__ import annotations

import os

from ..dataclass import dataclass

#: folders of functions that kernels call, of Triton and of its plugin
LIBRARIES = ("triton/language/", "/triton_spirv_backend/", "/third_party/spirv/backend/")


@dataclass(frozen=True)
class Location:
    """A place in the user's source; line and column count from 1, 0 when unknown.

    `name` is the variable's name where the front end knew it. `callers` are the call sites of inlined
    functions, innermost first.
    """

    file: str
    line: int
    column: int
    name: str | None = None
    callers: tuple[Location, ...] = ()

    @property
    def known(self) -> bool:
        return self.line > 0

    @property
    def in_user_code(self) -> Location:
        """The innermost place in the user's own source: the call site of a function like tl.sum or tl.cdiv,
        which are written in Triton themselves. The place itself where there is no other."""
        return next((place for place in (self, *self.callers) if not place._in_library), self)

    @property
    def _in_library(self) -> bool:
        file = self.file.replace(os.sep, "/")
        return not self.known or any(folder in file for folder in LIBRARIES)

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}:{self.column}" if self.line else self.file


UNKNOWN_LOCATION = Location("<unknown>", 0, 0)
