"""What single tokens of the text say: strings, numbers, lists of parts."""

from __future__ import annotations

import re

from .lexer import END

_NUMBER = re.compile(r"0x[0-9A-Fa-f]+\Z|-?\d+(?:\.\d*(?:[eE][-+]?\d+)?)?\Z")
_ESCAPE = re.compile(r"\\(?:([0-9A-Fa-f]{2})|(.))", re.DOTALL)

MAX_DIGITS = 400  # of a number: f64 has no more in front of its point


def unescape(token: str) -> str:
    """The str of a quoted token; MLIR writes other bytes than printable ASCII as \\XX."""
    if "\\" not in token:
        return token[1:-1]
    special = {"n": "\n", "t": "\t"}
    raw = _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else special.get(m[2], m[2]), token[1:-1])
    if any(ord(c) > 255 for c in raw):
        return raw
    return raw.encode("latin-1").decode("utf-8", "surrogateescape")


def split_top(text: str, separator: str = ",") -> list[str]:
    """Cut at the separators outside brackets; parts are stripped."""
    parts, depth, begin = [], 0, 0
    for match in re.finditer(rf"[<({{\[\])}}>]|->|{re.escape(separator)}", text):
        token = match[0]
        if token in "<({[":
            depth += 1
        elif token in ">)}]":
            depth -= 1
        elif token == separator and depth == 0:
            parts.append(text[begin : match.start()].strip())
            begin = match.end()
    parts.append(text[begin:].strip())
    return parts


def shown(token: str) -> str:
    """A token for an error message."""
    return "the end of the text" if token == END else repr(token if len(token) < 200 else token[:200] + "...")


def is_number(token: str) -> bool:
    """Does it spell a number, of a length that numbers have?"""
    return len(token) <= MAX_DIGITS and _NUMBER.match(token) is not None
