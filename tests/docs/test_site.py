"""The site: every page and every public name is in it, and links are as its generator wants them.

`mkdocs build --strict` itself runs in `.ci/run`, in an environment of its own.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import triton_spirv

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """docs/hooks.py; mkdocs, which is not in the tests' environment, is only asked for a file."""
    files = ModuleType("mkdocs.structure.files")
    files.File = object  # type: ignore[attr-defined]
    for name in ("mkdocs", "mkdocs.structure"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    monkeypatch.setitem(sys.modules, "mkdocs.structure.files", files)
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "hooks.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_page_has_a_place(hooks: ModuleType) -> None:
    """Those that mkdocs.yml does not name are put last in the group of their folder."""
    groups: list[Any] = [{title: []} for title in ("How to", "Reference")]
    config = SimpleNamespace(nav=["index.md", *groups, {"Development": ["contributing.md", {"Notes": []}]}])
    hooks.on_config(config)
    named = re.findall(r"[\w/-]+\.md", repr(config.nav))
    pages = [path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md")]
    assert sorted(named) == sorted([*pages, "index.md"])
    assert "how-to/bundles.md" in groups[0]["How to"] and "native.md" in groups[1]["Reference"]
    assert "notes/vulkan.md" in config.nav[-1]["Development"][1]["Notes"]


def test_named_pages_exist() -> None:
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    named = set(re.findall(r"[\w/-]+\.md", navigation)) - {"index.md", "changelog.md"}
    assert len(named) > 20
    assert [name for name in named if not (DOCS / name).exists()] == []


def test_every_public_name_is_on_the_page_of_the_api() -> None:
    shown = re.findall(r"^::: [\w.]*\.(\w+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.M)
    constants = {"__version__", "TARGETS"}
    assert set(triton_spirv.__all__) - constants <= set(shown)


@pytest.mark.parametrize(("page", "written", "expected"), [
    ("index.md", "[a](docs/vulkan.md#speed)", "[a](vulkan.md#speed)"),
    ("index.md", "[a](LICENSE)", "a"),
    ("notes/vulkan.md", "[a](../vulkan.md)", "[a](../vulkan.md)"),
    ("operations.md", "[`a`](../python/triton_spirv/errors.py)", "`a`"),
    ("vulkan.md", "[a](../README.md#use-it)", "[a](index.md#use-it)"),
    ("vulkan.md", "```\n[a](../LICENSE)\n```", "```\n[a](../LICENSE)\n```"),
    ("vulkan.md", "[a](https://example.org/x)", "[a](https://example.org/x)"),
])
def test_links(page: str, written: str, expected: str, hooks: ModuleType) -> None:
    file = SimpleNamespace(src_uri=page)
    made = hooks.on_page_markdown(written, page=SimpleNamespace(file=file), config=None, files=None)
    assert made == expected


def test_links_lead_to_the_public_address(hooks: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "public_address", lambda: "https://example.org/project")
    page = SimpleNamespace(file=SimpleNamespace(src_uri="operations.md"))
    made = hooks.on_page_markdown("[a](../python/x.py)", page=page, config=None, files=None)
    assert made == "[a](https://example.org/project/blob/main/python/x.py)"
