"""One HTML page of a kernel: source, IR, listing and machine code in columns, linked by line.

Pointing at a line marks the lines of the other columns that belong to it; a click keeps the mark and brings
them into view; the address then names the line (#0:12), so a place can be sent to somebody. Lines that an
inlined function put between are marked more faintly. Machine code is not linked: drivers leave no lines in
it. Columns can be hidden, and are resized by the bars between them; a narrow page has them below each other.
The page needs nothing beside itself.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from .highlight import coloured
from .linked import Key, Line, Linked
from .page_assets import SCRIPT, STYLE


def page(title: str, facts: str, made: Linked, stage: str, code: str = "") -> str:
    """The text of the page. facts: a line below the title; code: the machine code, if there is any."""
    alive = {key for line in (*made.ir, *made.listing) for key in line.keys}
    columns: list[tuple[str, str, Sequence[Line]]] = [
        ("source", "source", made.source), ("ir", stage, made.ir),
        ("listing", "spvasm", made.listing)]
    if code:
        numbered = [Line(text, (), number) for number, text in enumerate(code.splitlines(), 1)]
        columns.append(("code", "machine code", numbered))
    sections = '<div class="grip"></div>\n'.join(_section(name, head, lines, alive)
                                                 for name, head, lines in columns)
    boxes = " ".join(f'<label><input type="checkbox" checked> {head}</label>' for _, head, _ in columns)
    name = html.escape(title)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{name}</title>
<style>{STYLE}</style>
</head>
<body>
<header><h1>{name}</h1>
<input type="search" placeholder="search (/), Enter: next" aria-label="search"><span id="hits"></span>
{boxes}
<span class="hint">point at a line; click to keep it, Escape to let go</span>
<span class="facts">{html.escape(facts)}</span></header>
<main>
{sections}</main>
<script>{SCRIPT}</script>
</body>
</html>
"""


def _section(name: str, head: str, lines: Sequence[Line], alive: set[Key]) -> str:
    rows = "\n".join(_row(line, alive, name) for line in lines)
    return f'<section><h2>{head}</h2><div class="column" id="{name}">{rows}</div></section>\n'


def _row(line: Line, alive: set[Key], column: str) -> str:
    """A line; only those that lead somewhere can be pointed at."""
    if not line.number:
        text = html.escape(line.text, quote=False)
        return f'<div class="file">{text}</div>' if text else "<div> </div>"
    keys = [key for key in line.keys if key in alive]
    data = f' data-k="{" ".join(f"{file}:{number}" for file, number in keys)}"' if keys else ""
    return f"<div{data}><i>{line.number}</i>{coloured(line.text, column)}</div>"
