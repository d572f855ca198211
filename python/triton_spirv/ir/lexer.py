"""Text to tokens: one compiled expression, `findall`, a list of strings. A token's kind is its first
character.

Types (`tensor<4x!tt.ptr<f32>, #blocked>`), locations (`loc(#loc12)`) and flat attribute dictionaries (`{axis
= 1 : i32}`) are single tokens, so that one dictionary look-up reads them the second time. Positions are
computed again only for an error.
"""

from __future__ import annotations

import re

END = "\0"  # follows the last token, several times, so that looking ahead needs no bounds check


#: A tensor has 2^20 elements at most (TRITON_MAX_TENSOR_NUMEL), so 20 dimensions, each of which may be
#: reduced: slices of slices of one layout.
DEPTH = 24


def _nested() -> str:
    """Balanced <...>, unrolled (no backtracking) to a depth that no type reaches."""
    inside = r"[^<>]*"
    for _ in range(DEPTH):
        inside = rf"[^<>]*(?:<{inside}>[^<>]*)*"
    return f"<{inside}>"


TOKEN = re.compile(
    r"%[\w$.\-]+(?:\#\d+)?"  # %value, %value#1
    r"|loc\(\#\w+\)"
    rf"|[!\#]?[A-Za-z_][\w$.]*(?:{_nested()})?"  # keyword, operation, type, #alias
    r"|\{[A-Za-z_][\w.]*(?:[ ,=][^{}%\n\"]*)?\}"  # {flat = 1 : i32, dictionary}
    r"|<\{[^{}%\n\"]*\}>"  # <{flat properties}>
    r'|"(?:[^"\\]|\\.)*"'
    r"|0x[0-9A-Fa-f]+|-?\d+(?:\.\d*(?:[eE][-+]?\d+)?)?"
    r'|->|::|<\{|\}>|@(?:[\w$.\-]+|"(?:[^"\\]|\\.)*")|\^[\w$.\-]+'
    rf"|{_nested()}"  # <f32>: a type whose name the format leaves out
    r"|//[^\n]*|\S"
)
_ALIAS = re.compile(r"^([#!]\w+)[ \t]*=[ \t]*(.+)$", re.MULTILINE)


def scan_aliases(text: str) -> tuple[dict[str, str], int, int]:
    """Alias definitions, name -> text, and the part [start, end) of the text between those at the head and
    those at the end.

    MLIR prints them one a line before the module and the deferred ones after it. What a person wrote
    elsewhere, or over several lines, stays in the part that is tokenized (Parser.module reads it there).
    """
    aliases: dict[str, str] = {}
    start, end = 0, len(text)
    tail: list[tuple[int, int]] = []  # where the definitions after the head lie
    for match in _ALIAS.finditer(text):
        name, definition = match.groups()
        if not _whole(definition):
            continue
        aliases[name] = definition
        if not tail and not text[start : match.start()].strip():
            start = match.end()
        else:
            tail.append(match.span())
    for first, last in reversed(tail):
        if text[last:end].strip():
            break
        end = first
    return aliases, start, end


def _whole(definition: str) -> bool:
    """Whether the definition ends on its line."""
    return definition.count("<") == definition.count(">") - definition.count("->") and definition.count(
        "("
    ) == definition.count(")")


def tokenize(text: str, start: int = 0, end: int | None = None) -> list[str]:
    """Tokens of text[start:end] without comments, and END."""
    end = len(text) if end is None else end
    tokens = TOKEN.findall(text, start, end)
    if text.find("//", start, end) >= 0:
        tokens = [token for token in tokens if token[:2] != "//"]
    tokens += [END] * 4
    return tokens


def position(text: str, start: int, end: int, index: int) -> tuple[int, int, str]:
    """line and column (from 1) of token number `index`, and the text of that line."""
    offset = end
    count = 0
    for match in TOKEN.finditer(text, start, end):
        if match[0][:2] == "//":
            continue
        if count == index:
            offset = match.start()
            break
        count += 1
    else:
        offset = len(text[:end].rstrip())
    begin = text.rfind("\n", 0, offset) + 1
    stop = text.find("\n", offset)
    return text.count("\n", 0, offset) + 1, offset - begin + 1, text[begin : stop if stop >= 0 else len(text)]
