"""The pictures of the documentation are made of the figures that stand in its tables."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import pictures


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_pictures_show_the_figures_of_the_tables(name: str) -> None:
    text = (pictures.FOLDER / name).read_text(encoding="utf-8")
    assert pictures.figures_of(name) in text, "out of date: python tools/pictures.py"


def test_tables_are_read() -> None:
    assert len(pictures.table(*pictures.KERNELS)) > 30
    rows = pictures.table(*pictures.DEVICE)
    assert rows[0][0].startswith("vector add") and pictures.number(rows[0][1]) == 3044
    assert pictures.series("1024: 0.08, 65536: 0.21") == [(1024.0, 0.08), (65536.0, 0.21)]


def test_missing_tables_are_noticed() -> None:
    with pytest.raises(ValueError, match="0 tables"):
        pictures.table("vulkan.md", "| no such table |")


@pytest.mark.parametrize("name", ("sizes.svg", "h100.svg"))
def test_drawing_is_repeatable(name: str, tmp_path: Path) -> None:
    for folder in ("first", "second"):
        pictures.draw(name, tmp_path / folder)
    first, second = ((tmp_path / folder / name).read_bytes() for folder in ("first", "second"))
    assert first == second and pictures.figures_of(name).encode() in first


def test_every_picture_is_shown() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in pictures.DOCS.glob("*.md"))
    files = [path.name for path in pictures.FOLDER.iterdir()]
    assert sorted(files) == sorted([*pictures.PICTURES, "viewer.png"])
    assert [name for name in files if f"](pictures/{name})" not in pages] == []
