"""Every command line of README.md and docs/ is one: commands and scripts exist and know their options, extras
and variables are there. Nothing is run but the parser of `triton-spirv`; tests/docs/test_examples.py runs
programs."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from triton_spirv.cli.main import COMMANDS, build_parser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TOOLS = ("triton-spirv", "python", "python3", "pip", "pytest")


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command in a page's blocks and lines, with variables in front."""
    lines = []
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```$", text, re.S | re.M):
        if language in ("sh", "console"):
            lines += block.replace("\\\n", " ").splitlines()
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M)
    lines += [" ".join(code.split()) for code in re.findall(r"`([^`\n]+(?:\n[^`\n]+)?)`", prose)]
    for line in lines:
        if "…" in line:  # a part of one
            continue
        for part in re.split(r" && | -- | > ", line):
            try:
                words = shlex.split(part, comments=True)
            except ValueError:
                continue
            names = [word for word in words if not re.match(r"[A-Z_0-9]+=", word)]
            if len(names) > 1 and names[0].rpartition("/")[2] in TOOLS:
                yield words


FOUND = sorted({(page.relative_to(ROOT).as_posix(), *words) for page in PAGES
                for words in commands(page.read_text(encoding="utf-8"))})


@pytest.mark.parametrize("command", FOUND, ids=" ".join)
def test_command(command: tuple[str, ...]) -> None:
    _, *words = command
    while re.match(r"[A-Z_0-9]+=", words[0]):
        name = words.pop(0).partition("=")[0]
        table = ROOT.joinpath("docs", "environment.md").read_text(encoding="utf-8")
        assert not name.startswith("TRITON_SPIRV_") or f"`{name}`" in table, f"nothing reads {name}"
    tool, *rest = words
    tool = tool.rpartition("/")[2]
    if tool == "triton-spirv":
        check_own(rest)
    elif tool == "pip":
        check_extras(rest)
    elif tool == "pytest":
        check_pytest(rest)
    elif rest[:2] == ["-m", "pytest"]:
        check_pytest(rest[2:])
    elif rest[0] == "-m":
        check_module(rest[1], rest[2:])
    elif rest[0].startswith(("benchmarks/", "tools/", "tests/", "tutorials/")):
        assert (ROOT / rest[0]).is_file(), f"there is no {rest[0]}"
        known = "".join(path.read_text(encoding="utf-8") for path in (ROOT / rest[0]).parent.glob("*.py"))
        for option in options(rest[1:]):
            assert f'"{option}"' in known, f"{rest[0]} knows no {option}"


def check_own(words: list[str]) -> None:
    """One of `triton-spirv`; a name alone, or with a place for one, is a name."""
    assert words[0] in {*COMMANDS, "COMMAND"}, f"there is no command {words[0]}"
    if len(words) > 1 and "--help" not in words:
        build_parser().parse_args(words)


def check_extras(words: list[str]) -> None:
    table = ROOT.joinpath("pyproject.toml").read_text(encoding="utf-8")
    extras = table.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    for word in words:
        for extra in re.findall(r"^(?:\.|.*triton-spirv)\[([\w,]+)\]$", word):
            assert all(re.search(rf"^{name} = ", extras, re.M) for name in extra.split(",")), word


def check_module(name: str, words: list[str]) -> None:
    folder = ROOT / ("python" if name.startswith("triton_spirv") else "")
    file = folder.joinpath(*name.split("."))
    if name.partition(".")[0] in ("triton_spirv", "tests", "benchmarks"):
        source = file / "__main__.py" if file.is_dir() else file.with_suffix(".py")
        assert source.is_file(), f"there is no module {name}"
        known = "".join(path.read_text(encoding="utf-8") for path in source.parent.rglob("*.py"))
        for option in options(words):
            assert f'"{option}"' in known, f"{name} knows no {option}"


def check_pytest(words: list[str]) -> None:
    known = "".join(path.read_text(encoding="utf-8") for path in (
        ROOT / "tests" / "conftest.py", *(ROOT / "tests").glob("*.py"),
        *(ROOT / "python" / "triton_spirv").glob("pytest*.py")))
    for option in options(words):
        assert f'"{option}"' in known, f"pytest knows no {option}"
    for word in words:
        if word.startswith("tests/") and not re.search(r"[A-Z]", word):
            assert (ROOT / word).exists(), f"there is no {word}"


def options(words: list[str]) -> list[str]:
    return [word.partition("=")[0] for word in words if word.startswith("--")]


def test_there_are_commands() -> None:
    assert len(FOUND) > 80
