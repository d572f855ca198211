"""docs/architecture.md follows a kernel from Python to words: what it shows is what the package makes."""

from __future__ import annotations

import re

import pytest

from docs import followed

PAGE = followed.PAGE.read_text(encoding="utf-8")
AGAIN = "python -m tests.docs.followed writes it anew; read the difference"


def test_every_stage_is_shown() -> None:
    assert list(followed.blocks(PAGE)) == ["python", "ir", "passes", "facts", "plan", "listing", "words"]


@pytest.mark.parametrize("name", ["passes", "facts", "plan", "listing", "words"])
def test_stage(name: str) -> None:
    shown = followed.blocks(PAGE)
    assert followed.made(shown["ir"])[name] == shown[name], AGAIN


def test_front_end() -> None:
    """Triton's IR is that of the Python above it. What values are called, Triton's version says."""
    pytest.importorskip("triton")
    from versions import needs_triton

    needs_triton((3, 8), "the page's IR")
    made = followed.from_python(followed.python_of(PAGE))
    assert re.sub(r"%\w+", "%", made) == re.sub(r"%\w+", "%", followed.blocks(PAGE)["ir"]), AGAIN
