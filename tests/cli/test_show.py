"""`triton-spirv show`: lines that belong together, on a terminal and in a browser; `triton-spirv cache`."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

pytest.importorskip("triton")

import triton
import triton.language as tl
from triton_spirv.cli import cached, linked
from triton_spirv.cli.highlight import coloured
from triton_spirv.runtime import devices


@triton.jit
def helper(x):
    return tl.where(x > 0, x * 3, x)


@triton.jit
def shown(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = i < n
    value = tl.load(x + i, mask=keep)
    tl.store(out + i, helper(value) + tl.sum(value), mask=keep)


#: lines of this file, by what stands there
HERE = Path(__file__)
LINES = {name: next(number for number, line in enumerate(HERE.read_text().splitlines(), 1)
                    if line.startswith(f"    {mark}"))
         for name, mark in (("helper", "return tl.where(x > 0"), ("load", "value = tl.load(x + i"),
                            ("store", "tl.store(out + i, helper("))}


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> cached.Cached:
    """`shown`, compiled into an empty cache."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))
    shown.device_caches.clear()
    shown.warmup(float32(), float32(), 1000, BLOCK=128, grid=(8,))
    return cached.find("shown")


def float32() -> object:
    from triton.runtime.jit import MockTensor

    return MockTensor(tl.float32)


# ---- lines


def test_lines_belong_together(kernel: cached.Cached) -> None:
    made = linked.linked(kernel)
    here = made.files.index(HERE)

    def texts(lines: tuple[linked.Line, ...], name: str) -> str:
        return "\n".join(line.text for line in lines if (here, LINES[name]) in line.keys)

    assert "tt.load" in texts(made.ir, "load") and "tt.store" not in texts(made.ir, "load")
    assert "masked.load" in texts(made.listing, "load") or "OpLoad" in texts(made.listing, "load")
    assert "arith.select" in texts(made.ir, "helper") and "arith.select" in texts(made.ir, "store")  # inlined
    assert "tt.store" in texts(made.ir, "store") and "OpStore" in texts(made.listing, "store")
    assert "OpSelect" in texts(made.listing, "helper")
    assert re.search(r'"tt\.reduce"\(%\S+\) <\{axis = 0',
                     texts(made.ir, "store"))  # its location is at its end
    assert not any("loc(" in line.text for line in made.ir)
    shown_lines = {line.number for line in made.source if line.keys and line.keys[0][0] == here}
    assert LINES["helper"] - 2 in shown_lines and LINES["store"] - 5 in shown_lines  # from the decorators on
    assert any(path.name == "standard.py" for path in made.files)  # tl.sum


def test_the_plan_beside_the_source(kernel: cached.Cached, command) -> None:
    """A line of the plan stands at the source line of the access that it is about."""
    made = linked.linked(kernel, "plan")
    here = made.files.index(HERE)

    def texts(name: str) -> str:
        return "\n".join(line.text for line in made.ir if (here, LINES[name]) in line.keys)

    assert "load %" in texts("load") and "walk for store" not in texts("load")
    assert "walk for store" in texts("store")
    assert "load %" in command("show", "shown", "--ir", "plan").out


@pytest.mark.parametrize(("body", "keys"), [
    ('"a.py":3:1', ((0, 3),)), ('"x"("a.py":3:1)', ((0, 3),)), ("#loc1", ((0, 7),)),
    ("callsite(#loc1 at #loc2)", ((0, 7), (1, 9))), ("unknown", ()), ("#loc9", ()), ("#loc3", ((0, 7),)),
    ('fused["a.py":3:1, "b.py":4:1]', ((0, 3), (1, 4))), ("#loc4", ()),
])
def test_locations(body: str, keys: tuple[linked.Key, ...]) -> None:
    table = linked.Locations('#loc1 = loc("a.py":7:2)\n#loc2 = loc("b.py":9:2)\n#loc3 = loc("name"(#loc1))\n'
                             "#loc4 = loc(#loc4)\n")
    assert table.keys(body) == keys


def test_spans() -> None:
    text = "import x\n@deco(\n  1)\ndef f():\n    def g():\n        return 1\n    return g\n\ny = 2\n"
    assert linked.spans(text, [6]) == [(5, 6)] and linked.spans(text, [6, 7]) == [(2, 7)]
    assert linked.spans(text, [9]) == [(9, 9)] and linked.spans("def (", [1]) == [(1, 1)]


# ---- the command


def test_side_by_side(kernel: cached.Cached, command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    done = command("show", "shown", "--lines", 3)
    row = next(line for line in done.out.splitlines() if line.lstrip().startswith(f"{LINES['load']} "))
    assert "value = tl.load" in row and "tt." in row and "Op" in row
    assert "more" in done.out
    assert len(command("show", "shown", "--lines", 0).out.splitlines()) > len(done.out.splitlines())


def test_one_column(kernel: cached.Cached, command) -> None:
    for stage in ("ttir", "ttgir", "plan", "spvasm"):
        assert command("show", "shown", "--only", stage).out == kernel.text(stage)
    assert "return tl.where" in command("show", kernel.key[:8], "--only", "source").out


def test_a_source_that_has_changed(kernel: cached.Cached, command) -> None:
    path = kernel.path("json")
    os.utime(path, (0, 0))
    assert f"{HERE} has changed since" in command("show", "shown").out


@pytest.mark.parametrize("words",
                         [("nosuch",), ("shown", "--html", "/nonexistent/x.html"), ("shown", "--ir", "x")])
def test_bad_input(words: tuple[str, ...], kernel: cached.Cached, command) -> None:
    done = command("show", *words)
    assert done.status == 2 and done.error.count("\n") == 1


# ---- the page, in a real browser


def browse(page: Path, fragment: str = "", script: str = "", size: str = "1600,800") -> str:
    """The document as the browser has it, after its own script and then `script` have run."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no browser here")
    copy = page.with_name("copy.html")
    copy.write_text(page.read_text().replace("</body>", f"<script>{script}</script></body>"))
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--window-size={size}",
               f"--user-data-dir={page.parent / 'browser'}", "--virtual-time-budget=2000", "--dump-dom",
               f"{copy.as_uri()}{fragment}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def marked(document: str, kind: str) -> dict[str, list[str]]:
    """column -> the texts of its lines of a class."""
    found = {}
    for name, column in re.findall(r'<div class="column" id="(\w+)">(.*?)</section>', document, re.DOTALL):
        rows = re.findall(r'<div data-k="[^"]*" class="([^"]*)"><i>\d+</i>(.*?)</div>', column)
        found[name] = [re.sub("</?b[^>]*>", "", text) for classes, text in rows if kind in classes.split()]
    return found


@pytest.fixture
def page(kernel: cached.Cached, command, tmp_path: Path) -> Path:
    path = tmp_path / "shown.html"
    assert command("show", "shown", "--html", path).status == 0
    return path


def key_of(kernel: cached.Cached, name: str) -> str:
    return f"{linked.linked(kernel).files.index(HERE)}:{LINES[name]}"


def test_page_needs_nothing_else(page: Path) -> None:
    text = page.read_text()
    assert "http:" not in text and "https:" not in text and "<link" not in text and "src=" not in text
    assert "tt.ptr&lt;f32&gt;" in text


def test_click_links_the_columns(page: Path, kernel: cached.Cached) -> None:
    key = key_of(kernel, "load")
    script = f"""document.querySelector('#source [data-k="{key}"]').click();
      document.body.dataset.scrolled = document.querySelector("#listing").scrollTop;
      document.body.dataset.address = location.hash;"""
    document = browse(page, script=script)
    hot = marked(document, "pinned")
    assert hot["source"] == ["    value = tl.load(x + i, mask=keep)"]
    assert any("tt.load" in text for text in hot["ir"]) and not any("tt.store" in text for text in hot["ir"])
    assert any("Op" in text for text in hot["listing"])
    assert float(re.search(r'data-scrolled="([\d.]+)"', document)[1]) > 0
    assert f'data-address="#{key}"' in document


def test_click_on_the_listing_leads_back(page: Path, kernel: cached.Cached) -> None:
    key = key_of(kernel, "helper")
    document = browse(page, script=f"""document.querySelector('#listing [data-k="{key}"]').click();""")
    assert any("return tl.where" in text for text in marked(document, "hot")["source"])
    assert any("arith.select" in text for text in marked(document, "hot")["ir"])
    assert any("tl.store" in text for text in marked(document, "near")["source"])  # which called it


def test_second_click_and_escape_let_go(page: Path, kernel: cached.Cached) -> None:
    line = f"""document.querySelector('#source [data-k="{key_of(kernel, "load")}"]')"""
    twice = browse(page, script=f"{line}.click(); {line}.click();")
    escaped = browse(page, script=f"{line}.click(); document.dispatchEvent("
                                  "new KeyboardEvent('keydown', {key: 'Escape'}));")
    for document in (twice, escaped):
        assert not any(marked(document, "pinned").values()) and not any(marked(document, "hot").values())


def test_pointing_and_addresses(page: Path, kernel: cached.Cached) -> None:
    key = key_of(kernel, "store")
    pointed = browse(page, script=f"""document.querySelector('#ir [data-k~="{key}"]')
      .dispatchEvent(new MouseEvent('mouseover', {{bubbles: true}}));""")
    assert marked(pointed, "hot")["source"] and not marked(pointed, "pinned")["source"]
    document = browse(page, fragment=f"#{key}")
    assert any("tt.store" in text for text in marked(document, "pinned")["ir"])


# ---- the cache


def test_cache_ls(kernel: cached.Cached, command) -> None:
    done = command("cache", "ls")
    assert "shown" in done.out and kernel.key[:8] in done.out and "1 kernels" in done.out
    listed = json.loads(command("cache", "ls", "shown", "--json").out)
    assert listed["kernels"][0]["bytes"] == kernel.size and listed["kernels"][0]["folder"] == kernel.key


def test_cache_verify_finds_every_damage(kernel: cached.Cached, command) -> None:
    assert command("cache", "verify").status == 0
    whole = {path: path.read_bytes() for path in kernel.files}
    for name, damage, complaint in (
            ("shown.spv", b"damaged", "shown.spv is not what was compiled"),
            ("shown.spv", None, "shown.spv is missing"),
            ("shown.ttir", None, "shown.ttir is missing"),
            ("shown.json", b"{", "shown.json is damaged"),
            ("shown.json", b"", "shown.json is damaged"),
            ("shown.json", b"[]", "shown.json is damaged"),
            ("shown.json", b'{"name": "shown"}', "shown.json is damaged"),
            ("__grp__shown.json", b"", "__grp__shown.json is missing or damaged")):
        path = kernel.folder / name
        path.write_bytes(damage) if damage is not None else path.unlink()
        done = command("cache", "verify")
        assert done.status == 1 and complaint in done.out, name
        if name == "shown.json":
            done = command("doctor", "--no-run")
            assert "1 damaged kernels" in done.out and "triton-spirv cache verify --rm" in done.out
        for each, data in whole.items():
            each.write_bytes(data)


def test_cache_verify_of_drivers_binaries(kernel: cached.Cached, command) -> None:
    from triton_spirv.runtime import binary_cache

    binary_cache.store("sound", b"binary")
    assert command("cache", "verify").status == 0
    (binary_cache.folder() / "older").write_bytes(b"triton-spirv binary 0\nof another version")
    done = command("cache", "verify")
    assert done.status == 0 and "older: made by another version" in done.out and "1 outdated" in done.out
    (binary_cache.folder() / "broken").write_bytes(binary_cache.pack(b"binary")[:-1] + b"?")
    assert command("cache", "verify").status == 1
    done = command("cache", "verify", "--rm")
    assert done.status == 0 and "removed" in done.out
    assert [path.name for path in binary_cache.folder().iterdir()] == ["sound"]


def test_a_removed_kernel_is_compiled_again(kernel: cached.Cached, command) -> None:
    (kernel.folder / "shown.spv").write_bytes(b"damaged")
    assert command("cache", "verify", "--rm").status == 0 and not kernel.folder.exists()
    shown.device_caches.clear()
    shown.warmup(float32(), float32(), 1000, BLOCK=128, grid=(8,))
    assert command("cache", "verify").status == 0 and cached.find("shown").key == kernel.key


def test_cache_rm(kernel: cached.Cached, command) -> None:
    assert command("cache", "rm").status == 2
    assert command("cache", "rm", "nosuch").status == 2
    assert command("cache", "rm", "--older", 1).status == 0 and kernel.folder.exists()
    old = time.time() - 3 * 86400
    os.utime(kernel.path("json"), (old, old))
    done = command("cache", "rm", "--older", 1)
    assert "1 kernels" in done.out and not kernel.folder.exists()


def test_cache_rm_leaves_others_alone(kernel: cached.Cached, command) -> None:
    other = kernel.folder.parent / "OTHER"
    other.mkdir()
    (other / "cuda.json").write_text('{"target": {"backend": "cuda"}}')
    assert command("cache", "rm", "--all").status == 0
    assert other.exists() and not kernel.folder.exists()


# ---- colours, search, columns, machine code


@pytest.mark.parametrize(("kind", "text", "marks"), [
    ("source", "    x = tl.load(p + 0x10)  # a < b",
     {"k": [], "f": ["tl.load"], "n": ["0x10"], "c": ["# a &lt; b"]}),
    ("source", 'return "for # x"', {"k": ["return"], "s": ['"for # x"'], "c": []}),
    ("ir", "%0 = tt.load %x_1, %m : tensor<4x!tt.ptr<f32>>",
     {"v": ["%0", "%x_1", "%m"], "k": ["tt.load"], "t": ["tensor&lt;4x!tt.ptr&lt;f32&gt;&gt;"]}),
    ("listing", "%a = OpFAdd f32 %b %c ; note", {"k": ["OpFAdd"], "t": ["f32"], "c": ["; note"]}),
    ("code", "        4c  vaddps zmm0, zmm1, zmmword ptr [rax + 0x40]",
     {"k": ["vaddps"], "v": ["zmm0", "zmm1", "rax"], "t": ["zmmword ptr"], "n": ["0x40"]}),
    ("code", "at_50:", {"f": ["at_50:"]}),
])
def test_colours(kind: str, text: str, marks: dict[str, list[str]]) -> None:
    made = coloured(text, kind)
    for mark, words in marks.items():
        assert re.findall(f'<b class="{mark}">(.*?)</b>', made) == words, made
    assert html.unescape(re.sub(r"</?b[^>]*>", "", made)) == text


def test_head_says_types_and_options(page: Path) -> None:
    facts = re.search('class="facts">(.*?)<', page.read_text())
    assert facts and facts[1].startswith("(x: tt.ptr&lt;f32&gt;, out: tt.ptr&lt;f32&gt;, n: i32) num_warps=4")


def test_machine_code_is_a_column(page: Path) -> None:
    pytest.importorskip("capstone")
    if not any(device.kind == "cpu" for device in devices.devices()):
        pytest.skip("no CPU device")
    column = page.read_text().split('id="code">')[1].split("</section>")[0]
    assert ">ret<" in column and re.search(r">[xyz]mm\d+<", column)


def test_search(page: Path) -> None:
    script = """const field = document.querySelector("input[type=search]");
                field.value = "TT.LOAD";
                field.dispatchEvent(new Event("input"));
                field.dispatchEvent(new KeyboardEvent("keydown", {key: "Enter"}));"""
    document = browse(page, script=script)
    rows = re.findall(r'<div[^>]*class="[^"]*found[^"]*"[^>]*>(.*?)</div>', document)
    assert rows and all("tt.load" in re.sub("<[^>]*>", "", row) for row in rows)
    assert re.search(r'id="hits">1 of \d', document)


def test_columns_are_hidden_and_resized(page: Path) -> None:
    script = """document.querySelectorAll("header input[type=checkbox]")[1].click();
                const grip = document.querySelectorAll(".grip")[1];
                grip.setPointerCapture = () => {};
                grip.dispatchEvent(new PointerEvent("pointerdown", {clientX: 800}));
                grip.dispatchEvent(new PointerEvent("pointermove", {clientX: 900}));
                const sizes = ["source", "ir", "listing"].map(name =>
                  document.getElementById(name).closest("section").offsetWidth);
                document.title = sizes.join(" ");"""
    source, ir, listing = map(int, re.findall("<title>(.*?)</title>", browse(page, script=script))[0].split())
    assert ir == 0 and source > listing + 150


def test_a_narrow_window(page: Path) -> None:
    """Two columns below each other, each as wide as the window; nothing has to be scrolled sideways."""
    script = """const shown = [...document.querySelectorAll("section")].filter(one => !one.hidden);
                const widths = [...shown.map(one => one.offsetWidth), document.documentElement.scrollWidth];
                document.title = widths.map(width => width / innerWidth).join(" ");"""
    document = browse(page, script=script, size="700,900")
    assert re.findall("<title>(.*?)</title>", document) == ["1 1 1"]
