"""What the scripts of this folder share: which sections to run, the machine, figures in a file."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from measure import machine


def introduced() -> dict[str, str]:
    """The machine, printed."""
    facts = machine()
    print("\n".join(f"{name:12} {value}" for name, value in facts.items()), end="\n\n")
    return facts


def plain(value: Any) -> Any:
    """Figures as JSON has them."""
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return {str(name): plain(part) for name, part in value.items()} if isinstance(value, dict) else value


def write(path: str | None, figures: Mapping[str, Any]) -> None:
    """Figures to a file, if there is to be one."""
    if path:
        Path(path).write_text(json.dumps(plain(dict(figures)), indent=1) + "\n", encoding="utf-8")


def output_arguments(parser: argparse.ArgumentParser, plot: bool = True) -> None:
    """Where figures go besides the screen."""
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    if plot:
        parser.add_argument("--plot", metavar="FILE", help="write a picture (.png, .svg, .pdf)")


def by_sections(description: str, quick: str, sections: Mapping[str, Callable[[bool], Any]],
                draw: Callable[[str, dict[str, Any]], None]) -> None:
    """A script of sections that may be chosen: run them, write figures, draw."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--quick", action="store_true", help=quick)
    parser.add_argument("--only", default=",".join(sections), help="sections, separated by commas")
    output_arguments(parser)
    options = parser.parse_args()
    chosen = options.only.split(",")
    if unknown := set(chosen) - set(sections):
        parser.error(f"--only: {', '.join(sorted(unknown))}; there are {', '.join(sections)}")
    facts = introduced()
    results = {name: sections[name](options.quick) for name in chosen}
    write(options.json, {"machine": facts, **results})
    if options.plot:
        draw(options.plot, results)
