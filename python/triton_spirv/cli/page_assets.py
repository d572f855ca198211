"""The style and the script of a page that `page` makes."""

STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --paper: #fff; --faint: #69717a; --line: #d9dee3;
        --head: #f3f5f7; --hot: #ffe08a; --near: #fff4d1; --pin: #c98a00; --found: #b9dcff;
        --k: #8250a8; --s: #2a6f2a; --n: #0a58a6; --v: #a0451e; --t: #14716b; --f: #7a5a00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #dfe3e8; --paper: #16191d; --faint: #8a939d; --line: #30363d; --head: #1f242a;
          --hot: #6b5200; --near: #3a3220; --pin: #e3a008; --found: #154a78;
          --k: #c9a2f0; --s: #8fce8f; --n: #7fbcf5; --v: #f0a884; --t: #6fd0c8; --f: #dcbf6a; } }
* { box-sizing: border-box; }
body { margin: 0; height: 100vh; display: flex; flex-direction: column; background: var(--paper);
       color: var(--ink); font: 13px/1.45 ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
header { padding: 8px 14px; background: var(--head); border-bottom: 1px solid var(--line); display: flex;
         flex-wrap: wrap; gap: 4px 14px; align-items: center; font-family: system-ui, sans-serif; }
header h1 { font-size: 15px; margin: 0; } header span { color: var(--faint); }
header .facts { flex-basis: 100%; font-size: 12px; overflow-wrap: anywhere; }
header label { font-size: 12px; white-space: nowrap; }
header input[type=search] { font: inherit; font-size: 13px; width: 16em; max-width: 40vw; padding: 1px 6px;
         color: var(--ink); background: var(--paper); border: 1px solid var(--line); border-radius: 4px; }
main { flex: 1; display: flex; min-height: 0; min-width: 0; }
section { display: flex; flex-direction: column; flex: 1 1 0; min-width: 90px; min-height: 60px;
          overflow: hidden; }
section[hidden], .grip[hidden] { display: none; }
.grip { flex: 0 0 5px; cursor: col-resize; background: var(--line); touch-action: none; }
.grip:hover, .grip.held { background: var(--pin); }
h2 { margin: 0; padding: 4px 12px; font: 600 12px system-ui, sans-serif; color: var(--faint);
     background: var(--head); border-bottom: 1px solid var(--line); }
.column { flex: 1; overflow: auto; padding: 4px 0 40vh; }
.column div { white-space: pre; padding-right: 12px; border-left: 3px solid transparent; width: max-content;
              min-width: 100%; }
.column div[data-k] { cursor: pointer; }
.column i { display: inline-block; width: 3.6em; padding-right: .8em; text-align: right; color: var(--faint);
            font-style: normal; user-select: none; }
.column b { font-weight: inherit; } .k { color: var(--k); } .s { color: var(--s); } .n { color: var(--n); }
.v { color: var(--v); } .t { color: var(--t); } .f { color: var(--f); } .c, .comment { color: var(--faint); }
.file { color: var(--faint); font-weight: 600; padding: 6px 12px 2px; }
.near { background: var(--near); } .hot { background: var(--hot); } .found { background: var(--found); }
.pinned { border-left-color: var(--pin) !important; }
@media (max-width: 900px) {
  main { flex-direction: column; } .grip { cursor: row-resize; } section { min-width: 0; }
  body { font-size: 12px; } .column { padding-bottom: 10vh; } .column i { width: 3em; }
  .hint { display: none; } }
"""

SCRIPT = """
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

/* Columns: shown or not, as wide as their grips say. */
const main = document.querySelector("main");
const sections = [...document.querySelectorAll("section")];
const narrow = matchMedia("(max-width: 900px)");
const boxes = [...document.querySelectorAll("header input[type=checkbox]")];
function show() {
  boxes.forEach((box, place) => { sections[place].hidden = !box.checked; });
  const shown = sections.filter(section => !section.hidden);
  for (const grip of document.querySelectorAll(".grip")) {
    const next = grip.nextElementSibling;
    grip.hidden = next.hidden || shown.indexOf(next) < 1;
  }
}
function fit() {
  boxes.forEach((box, place) => { box.checked = !narrow.matches || place === 0 || place === 2; });
  for (const section of sections) section.style.flex = "";
  show();
}
narrow.addEventListener("change", fit);
for (const box of boxes) box.addEventListener("change", show);
fit();
for (const grip of document.querySelectorAll(".grip")) grip.addEventListener("pointerdown", event => {
  event.preventDefault();
  grip.setPointerCapture(event.pointerId);
  grip.classList.add("held");
  const right = grip.nextElementSibling;
  const left = sections.slice(0, sections.indexOf(right)).reverse().find(section => !section.hidden);
  const size = section => narrow.matches ? section.offsetHeight : section.offsetWidth;
  const at = move => narrow.matches ? move.clientY : move.clientX;
  const start = at(event);
  const sizes = new Map(sections.filter(section => !section.hidden).map(section => [section, size(section)]));
  const both = sizes.get(left) + sizes.get(right);
  grip.onpointermove = move => {
    const wanted = Math.max(60, Math.min(both - 60, sizes.get(left) + at(move) - start));
    for (const [section, now] of sizes) {
      const share = section === left ? wanted : section === right ? both - wanted : now;
      section.style.flex = share + " 1 0px";
    }
  };
  grip.onpointerup = () => { grip.classList.remove("held"); grip.onpointermove = null; };
});

/* Search: lines that have the text, in all columns; Enter goes to the next. */
const search = document.querySelector("input[type=search]"), hits = document.querySelector("#hits");
const all = [...document.querySelectorAll(".column div")];
let found = [], current = -1;
function look() {
  for (const line of found) line.classList.remove("found");
  const wanted = search.value.toLowerCase();
  found = wanted ? all.filter(line => line.textContent.toLowerCase().includes(wanted)) : [];
  for (const line of found) line.classList.add("found");
  hits.textContent = wanted ? found.length + " lines" : "";
  current = -1;
}
function next(step) {
  const shown = found.filter(line => !line.closest("section").hidden);
  if (!shown.length) return;
  current = (current + step + shown.length) % shown.length;
  shown[current].scrollIntoView({block: "center"});
  hits.textContent = (current + 1) + " of " + shown.length;
}
search.addEventListener("input", look);
search.addEventListener("keydown", event => { if (event.key === "Enter") next(event.shiftKey ? -1 : 1); });
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== search) { event.preventDefault(); search.focus(); }
});
"""
