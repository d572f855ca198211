"""What the site's generator does beside the pages.

README.md is the first page, and CHANGELOG.md is a page. Links that leave the folder of pages lead to the
project's public address, or become plain text where it has none. A page that mkdocs.yml does not place stands
last in the group of its folder.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).parent.parent

#: pages of the site that are files of the project's root
PAGES = {"index.md": "README.md", "changelog.md": "CHANGELOG.md"}
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|`[^`]*`)+)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
FENCED = re.compile(r"(^\s*```.*?^\s*```$)", re.M | re.S)


def public_address() -> str:
    """Where the project's files can be read, by pyproject.toml; "" for nowhere."""
    found = re.search(r'^Repository = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M)
    return found.group(1).rstrip("/") if found else ""


#: folder of pages -> its group in the navigation
GROUPS = {"how-to": "How to", "notes": "Notes", "": "Reference"}


def on_config(config: Any) -> Any:
    """Gives every page a place in the navigation."""
    docs = Path(__file__).parent
    placed = set(re.findall(r"[\w/-]+\.md", repr(config.nav)))
    for path in sorted(docs.rglob("*.md")):
        name = path.relative_to(docs).as_posix()
        if name not in placed:
            pages = group(config.nav, GROUPS[posixpath.dirname(name)])
            assert pages is not None
            pages.append(name)
    return config


def group(entries: list[Any], title: str) -> list[Any] | None:
    """The list of this title, at any depth of the navigation."""
    for entry in entries:
        for name, below in entry.items() if isinstance(entry, dict) else ():
            if isinstance(below, list):
                found = below if name == title else group(below, title)
                if found is not None:
                    return found
    return None


def on_files(files: Any, config: Any) -> Any:
    """Adds the pages that lie elsewhere."""
    for page, source in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Links as the site has them."""
    home = posixpath.dirname(PAGES.get(page.file.src_uri) or f"docs/{page.file.src_uri}")
    pages = {source: name for name, source in PAGES.items()}

    def replaced(match: re.Match[str]) -> str:
        text, path, anchor = match.group(1), match.group(2), match.group(3) or ""
        target = posixpath.normpath(posixpath.join(home, path))
        if target.startswith("docs/") or target in pages:
            name = pages.get(target) or target.removeprefix("docs/")
            here = posixpath.dirname(page.file.src_uri) or "."
            return f"[{text}]({posixpath.relpath(name, here)}{anchor})"
        address = public_address()
        return f"[{text}]({address}/blob/main/{target}{anchor})" if address else text

    parts = FENCED.split(markdown)
    return "".join(part if at % 2 else LINK.sub(replaced, part) for at, part in enumerate(parts))
