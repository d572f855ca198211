"""loc(...) to Location: the user's place, innermost first."""

from __future__ import annotations

import re
from dataclasses import replace

from .location import UNKNOWN_LOCATION, Location
from .tokens import unescape

_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d{1,9}):(\d{1,9})(?: to .*)?\Z')
_NAMED = re.compile(r'"((?:[^"\\]|\\.)*)"(?:\((.*)\))?\Z', re.DOTALL)


MAX_DEPTH = 100  # of locations in locations


class Locations(dict[str, Location]):
    """Token text `loc(...)` -> Location, filled when first asked; `aliases` are the module's #loc
    definitions.
    """

    def __init__(self, aliases: dict[str, str]) -> None:
        super().__init__()
        self.aliases = aliases
        self.depth = 0

    def __missing__(self, token: str) -> Location:
        plain = _FILE.match(token, 4, len(token) - 1)
        location = self[token] = _place(plain) if plain else self.read(token[4:-1])
        return location

    def read(self, text: str) -> Location:
        """The location that the inside of `loc(...)` says; unknown where it cannot be read, or is deeper than
        any chain of calls: a location is no reason to fail.
        """
        if self.depth > MAX_DEPTH:
            return UNKNOWN_LOCATION
        self.depth += 1
        try:
            return self._read(text.strip())
        finally:
            self.depth -= 1

    def _read(self, text: str) -> Location:
        if text.startswith("#"):
            target = self.aliases.get(text, f"loc({text})")
            return self.get(target, UNKNOWN_LOCATION) if target == f"loc({text})" else self[target]
        if match := _FILE.match(text):
            return _place(match)
        if text.startswith("callsite("):
            callee, caller = _split(text[len("callsite(") : -1], " at ")
            return _called(self.read(callee), self.read(caller))
        if text.startswith("fused"):
            parts = [
                self.read(part)
                for part in _parts(text[text.rindex("[") + 1 : text.rindex("]")] if "[" in text else "")
            ]
            return next((part for part in parts if part.known), UNKNOWN_LOCATION)
        if match := _NAMED.match(text):
            inner = self.read(match[2]) if match[2] else UNKNOWN_LOCATION
            return Location(inner.file, inner.line, inner.column, unescape(f'"{match[1]}"'), inner.callers)
        return UNKNOWN_LOCATION


def _place(match: re.Match[str]) -> Location:
    """"FILE":LINE:COLUMN"""
    file = match[1]
    return Location(unescape(f'"{file}"') if "\\" in file else file, int(match[2]), int(match[3]))


def _called(callee: Location, caller: Location) -> Location:
    """`callee` inlined at `caller`. Without a place of its own it stands at the call."""
    if not callee.known:
        return replace(caller, name=callee.name or caller.name)
    if not caller.known:
        return callee
    return replace(callee, callers=(*callee.callers, replace(caller, callers=()), *caller.callers))


def _split(text: str, separator: str) -> tuple[str, str]:
    """Cut at the first separator outside parentheses and strings."""
    depth, quoted = 0, False
    for index, character in enumerate(text):
        if character == '"' and text[index - 1 : index] != "\\":
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([":
            depth += 1
        elif character in ")]":
            depth -= 1
        elif depth == 0 and text.startswith(separator, index):
            return text[:index], text[index + len(separator) :]
    return text, ""


def _parts(text: str) -> list[str]:
    parts = []
    while text:
        head, text = _split(text, ",")
        parts.append(head)
    return parts
