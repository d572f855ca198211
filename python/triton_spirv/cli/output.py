"""What the command prints: tables and marked lines, coloured by the library rich where output is a terminal
and rich is installed, plain text that other programs can read everywhere else.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

#: what a line means -> how rich shows it
STYLES = {"good": "green", "bad": "bold red", "warning": "yellow", "head": "bold", "faint": "dim", "": ""}


class Output:
    """Prints to one stream. `rich` is None where text stays plain."""

    def __init__(self, stream: TextIO | None = None, rich: bool | None = None) -> None:
        self.stream = sys.stdout if stream is None else stream
        wanted = self._is_terminal() if rich is None else rich
        self.rich = self._console() if wanted else None

    def _is_terminal(self) -> bool:
        return self.stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"

    def _console(self) -> Any:
        try:
            console = importlib.import_module("rich.console")
        except ImportError:
            return None
        return console.Console(file=self.stream, highlight=False, force_terminal=True)

    def line(self, text: str = "", style: str = "") -> None:
        """One line, or several; `style` is one of STYLES."""
        if self.rich is None:
            print(text, file=self.stream)
        else:
            self.rich.print(text, style=STYLES[style] or None, markup=False, soft_wrap=True)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]],
              styles: Sequence[str] = ()) -> None:
        """Rows under column heads; a column whose cells are all numbers is set to the right. `styles` has one
        of STYLES for each row."""
        texts = [[str(cell) for cell in row] for row in rows]
        right = [bool(rows) and all(isinstance(row[column], int | float) for row in rows)
                 for column in range(len(columns))]
        if self.rich is None:
            self._plain_table(columns, texts, right)
            return
        box = importlib.import_module("rich.box").SIMPLE_HEAD
        made = importlib.import_module("rich.table").Table(box=box)
        text = importlib.import_module("rich.text").Text
        for head, side in zip(columns, right, strict=True):
            made.add_column(head, justify="right" if side else "left", overflow="fold")
        for index, cells in enumerate(texts):
            style = STYLES[styles[index]] if styles else ""
            made.add_row(*map(text, cells), style=style or None)
        self.rich.print(made)

    def _plain_table(self, columns: Sequence[str], texts: list[list[str]], right: list[bool]) -> None:
        lines = [list(columns), *texts]
        widths = [max(len(line[column]) for line in lines) for column in range(len(columns))]
        for line in lines:
            cells = [cell.rjust(width) if side else cell.ljust(width)
                     for cell, width, side in zip(line, widths, right, strict=True)]
            print("  ".join(cells).rstrip(), file=self.stream)

    def json(self, data: object) -> None:
        """Plain data as JSON, never coloured."""
        json.dump(data, self.stream, indent=1, sort_keys=False)
        print(file=self.stream)


def size_in_words(count: int) -> str:
    """Bytes as 512 B, 64 KiB, 1.5 GiB."""
    value, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024 or unit == "GiB":
            break
        value /= 1024
    return f"{value:.4g} {unit}"
