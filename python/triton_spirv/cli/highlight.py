"""Colours for a line of source, IR, listing or machine code: HTML, each word of a known kind in an element.

Kinds are classes of CSS: k keyword or instruction, s string, c comment, n number, v value or register, t
type, f name of a function or attribute.
"""

from __future__ import annotations

import html
import keyword
import re

_NUMBER = r"(?P<n>(?<![\w%$])-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.]*[a-zA-Z_]))"

#: kind of text -> its words; the first that fits counts
_WORDS = {
    "source": re.compile("|".join((
        r"(?P<c>#.*$)", r"(?P<s>[rfbu]{0,2}(?:\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'))",
        rf"(?P<k>\b(?:{'|'.join(keyword.kwlist)})\b)", r"(?P<t>@[\w.]+)", r"(?P<f>\b[a-zA-Z_][\w.]*(?=\())",
        _NUMBER))),
    "ir": re.compile("|".join((
        r"(?P<c>//.*$)", r"(?P<s>\"(?:[^\"\\]|\\.)*\")", r"(?P<v>%[\w#]+(?::\d+)?)",
        r"(?P<t>!?\b(?:tensor|vector|memref|tt\.ptr|tt\.tensordesc|ttg\.memdesc)<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>"
        r"|\b(?:[iu]\d+|b?f\d+|index|none)\b)",
        r"(?P<k>\b[a-z_]+(?:\.[a-z_0-9]+)+\b)", r"(?P<f>[@#][\w.]+|\b\w+(?= = )|\^bb\d+)", _NUMBER))),
    "listing": re.compile("|".join((
        r"(?P<c>;.*$)", r"(?P<s>\"(?:[^\"\\]|\\.)*\")", r"(?P<k>\bOp[A-Z]\w*)", r"(?P<v>[%$][\w.]+)",
        r"(?P<t>\b(?:[iu]\d+|f\d+|bf16|bool|ptr|v\d+\w*|void)\b(?:<[^>]*>)?)", _NUMBER))),
    "code": re.compile("|".join((
        r"(?P<f>^\w+:$)", r"(?P<c>^ +[0-9a-f]+(?=  ))", r"(?P<k>(?<=  )(?<=[0-9a-f]  )[a-z][\w]*)",
        r"(?P<v>\b(?:[xyz]mm\d+|k[0-7]|r(?:[a-ds][xip]|[sb]p|\d+[dwb]?|[sd]i)|e[a-ds][xip]|e[sb]p|e[sd]i)\b)",
        r"(?P<t>\b(?:[xyz]mmword|[dq]?word|byte) ptr\b)", _NUMBER))),
}


def coloured(text: str, kind: str) -> str:
    """The line as HTML."""
    parts, at = [], 0
    for found in _WORDS[kind].finditer(text):
        word = html.escape(found[0], quote=False)
        parts += [html.escape(text[at:found.start()], quote=False),
                  f'<b class="{found.lastgroup}">{word}</b>']
        at = found.end()
    return "".join((*parts, html.escape(text[at:], quote=False)))
