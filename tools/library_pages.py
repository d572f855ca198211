"""The tables of libraries in docs/, from tools/libraries.toml and tools/libraries.json:

    python tools/library_pages.py

The results are those that `tools/library_tests.py --record` kept.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from library_tests import COLUMNS, RESULTS, load, total

DOCS = Path(__file__).parent.parent / "docs"


def between(page: str, text: str) -> str:
    """The page with another text between its two marks."""
    begin, end = "<!-- libraries -->\n", "<!-- end of libraries -->"
    head, _, rest = page.partition(begin)
    return f"{head}{begin}\n{text.strip()}\n\n{end}{rest.partition(end)[2]}"


def summary(libraries: dict[str, Any], results: dict[str, Any]) -> str:
    """A row for each library."""
    names = ("library", "version", "with", "tests", "tried", "passed", "without a kernel", *COLUMNS[2:])
    rows = [f"| {' | '.join(names)} |", f"|{'---|' * 3}{'---:|' * 7}"]
    for name, result in results.items():
        ran, quiet, *others = total(result)
        library = libraries[name.partition(" ")[0]]
        counts = (result["tests"], sum((ran, quiet, *others)), ran + quiet, quiet, *others)
        cells = (title(name, library), library["version"], result["with"], *map("{:,}".format, counts))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def title(name: str, library: dict[str, Any]) -> str:
    """Of a run."""
    return f"{library['title']}, Vulkan" if name.endswith(" vulkan") else str(library["title"])


def details(libraries: dict[str, Any], results: dict[str, Any]) -> str:
    """A section for each library."""
    return "\n\n".join(section(name, libraries[name.partition(" ")[0]], result)
                       for name, result in results.items())


def section(name: str, library: dict[str, Any], result: dict[str, Any]) -> str:
    """What ran, the counts of each file, and the reasons."""
    asked = f"{name.partition(' ')[0]}{' --vulkan' * name.endswith(' vulkan')} --most {result['most']}"
    rows = ["| file | passed with kernels | passed without | refused | skipped | failed |",
            "|---|---:|---:|---:|---:|---:|",
            *(f"| {file} | {' | '.join(map(str, counts))} |" for file, counts in result["files"].items())]
    reasons = [f"- {count} {column}: {escaped(reason)}" for column, reason, count in result["reasons"]]
    parts = [
        f"## {title(name, library)}",
        f"{library['source']}. {library.get('note', '')}".strip(),
        f"```sh\npython tools/library_tests.py CHECKOUT --library {asked} --seconds {result['seconds']}\n```",
        f"{result['with']}. The files have {result['tests']:,} tests.",
        "\n".join(rows), "\n".join(reasons)]
    return "\n\n".join(filter(None, parts))


def escaped(reason: str) -> str:
    """In a line of Markdown."""
    return re.sub(r"([<>|`*_\[\]])", r"\\\1", reason)


def pages() -> dict[Path, str]:
    """What the pages are to be."""
    libraries, results = load()["library"], json.loads(RESULTS.read_text())
    made = {DOCS / "compatibility.md": summary, DOCS / "notes" / "libraries.md": details}
    return {page: between(page.read_text(), make(libraries, results)) for page, make in made.items()}


if __name__ == "__main__":
    for page, text in pages().items():
        page.write_text(text)
