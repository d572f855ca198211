"""One HTML page of a kernel: source, IR and listing in three columns that are linked by line.

Pointing at a line marks the lines of the other columns that belong to it; a click keeps the mark and brings
them into view; the address then names the line (#0:12), so a place can be sent to somebody. Lines that an
inlined function put between are marked more faintly. The page needs nothing beside itself.
"""

from __future__ import annotations

import html
from collections.abc import Sequence

from .linked import Key, Line, Linked

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --paper: #fff; --faint: #7a828a; --line: #d9dee3;
        --head: #f3f5f7; --hot: #ffe08a; --near: #fff4d1; --pin: #c98a00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dfe3e8; --paper: #16191d; --faint: #828b95; --line: #30363d; --head: #1f242a; --hot:
  #6b5200;
          --near: #3a3220; --pin: #e3a008; } }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; flex-direction: column; background: var(--paper);
       color: var(--ink); font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
header { padding: 8px 14px; background: var(--head); border-bottom: 1px solid var(--line);
         font-family: system-ui, sans-serif; }
header b { font-size: 15px; } header span { color: var(--faint); margin-left: 12px; }
main { flex: 1; display: grid; grid-template-columns: 4fr 4fr 4fr; min-height: 0; }
section { display: flex; flex-direction: column; min-width: 0; min-height: 0; border-right: 1px solid
var(--line); } h2 { margin: 0; padding: 4px 12px; font: 600 12px system-ui, sans-serif; color: var(--faint);
     background: var(--head); border-bottom: 1px solid var(--line); }
.column { flex: 1; overflow: auto; padding: 4px 0 40vh; }
.column div { white-space: pre; padding-right: 12px; border-left: 3px solid transparent; width: max-content;
              min-width: 100%; }
.column div[data-k] { cursor: pointer; }
.column i { display: inline-block; width: 3.6em; padding-right: .8em; text-align: right; color: var(--faint);
            font-style: normal; user-select: none; }
.file { color: var(--faint); font-weight: 600; padding: 6px 12px 2px; }
.comment { color: var(--faint); }
.near { background: var(--near); } .hot { background: var(--hot); } .pinned { border-left-color: var(--pin)
!important; }
"""

_SCRIPT = """
"use strict";
const columns = [...document.querySelectorAll(".column")];
const lines = [...document.querySelectorAll("[data-k]")];
const keys = new Map(lines.map(line => [line, line.dataset.k.split(" ")]));
const byKey = new Map();
for (const line of lines) for (const key of keys.get(line)) {
  if (!byKey.has(key)) byKey.set(key, []);
  byKey.get(key).push(line);
}
let pinned = null;

/* The lines of a key, and those that its lines of the IR lead to. */
function reach(wanted) {
  const hot = new Set(), near = new Set();
  for (const key of wanted) for (const line of byKey.get(key) || []) hot.add(line);
  for (const line of [...hot]) if (line.closest("#ir"))
    for (const key of keys.get(line)) for (const other of byKey.get(key)) if (!hot.has(other))
    near.add(other);
  return [hot, near];
}

function mark(wanted, pin) {
  for (const line of document.querySelectorAll(".hot, .near, .pinned")) line.classList.remove("hot", "near",
  "pinned"); if (!wanted) return;
  const [hot, near] = reach(wanted);
  for (const line of hot) { line.classList.add("hot"); if (pin) line.classList.add("pinned"); }
  for (const line of near) line.classList.add("near");
}

/* In every column but the one that was clicked, the first marked line moves to a third of the height. */
function bringIntoView(from) {
  for (const column of columns) {
    if (column === from) continue;
    const line = column.querySelector(".hot") || column.querySelector(".near");
    if (line) column.scrollTop += line.getBoundingClientRect().top - column.getBoundingClientRect().top
      - column.clientHeight / 3;
  }
}

function pin(wanted, from) {
  pinned = wanted;
  mark(wanted, true);
  if (wanted) bringIntoView(from);
}

for (const column of columns) {
  column.addEventListener("mouseover", event => {
    const line = event.target.closest("[data-k]");
    if (line && !pinned) mark(keys.get(line), false);
  });
  column.addEventListener("mouseleave", () => { if (!pinned) mark(null); });
  column.addEventListener("click", event => {
    const line = event.target.closest("[data-k]");
    const again = line && line.classList.contains("pinned");
    pin(line && !again ? keys.get(line) : null, column);
    history.replaceState(null, "", line && !again ? "#" + keys.get(line)[0] : location.pathname);
  });
}
document.addEventListener("keydown", event => { if (event.key === "Escape") pin(null, null); });
function fromAddress() {
  const key = decodeURIComponent(location.hash.slice(1));
  if (byKey.has(key)) pin([key], null);
}
addEventListener("hashchange", fromAddress);
fromAddress();
"""


def page(title: str, made: Linked, stage: str) -> str:
    """The text of the page."""
    alive = {key for line in (*made.ir, *made.listing) for key in line.keys}
    columns = (("source", "source", made.source), ("ir", stage, made.ir), ("listing", "spvasm", made.listing))
    sections = "".join(_section(name, head, lines, alive) for name, head, lines in columns)
    hint = "point at a line; click to keep it, Escape to let go"
    name = html.escape(title)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{name}</title>
<style>{_STYLE}</style>
</head>
<body>
<header><b>{name}</b><span>{hint}</span></header>
<main>
{sections}</main>
<script>{_SCRIPT}</script>
</body>
</html>
"""


def _section(name: str, head: str, lines: Sequence[Line], alive: set[Key]) -> str:
    rows = "\n".join(_row(line, alive) for line in lines)
    return f'<section><h2>{head}</h2><div class="column" id="{name}">{rows}</div></section>\n'


def _row(line: Line, alive: set[Key]) -> str:
    """A line; only those that lead somewhere can be pointed at."""
    text = html.escape(line.text, quote=False)
    if not line.number:
        return f'<div class="file">{text}</div>' if text else "<div> </div>"
    keys = [key for key in line.keys if key in alive]
    data = f' data-k="{" ".join(f"{file}:{number}" for file, number in keys)}"' if keys else ""
    kind = ' class="comment"' if line.text.lstrip().startswith((";", "//", "#")) else ""
    return f"<div{data}{kind}><i>{line.number}</i>{text}</div>"
