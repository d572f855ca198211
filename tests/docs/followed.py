"""The kernel that docs/architecture.md follows from Python to words: its text at every stage, made today.

    python -m tests.docs.followed      writes the page's blocks anew (needs Triton); read `git diff` then

A block stands behind a comment that names it: `<!-- followed: plan -->`. All blocks but the first, Triton's
IR, are made of the IR that stands on the page.
"""

from __future__ import annotations

import importlib.util
import re
import struct
import tempfile
import textwrap
from pathlib import Path

from triton_spirv.artifact import Artifact
from triton_spirv.compiler import compile
from triton_spirv.facts.listing import described
from triton_spirv.ir import parse
from triton_spirv.ir.printer import print_module
from triton_spirv.passes.pipeline import pipeline_of
from triton_spirv.target import CPU

PAGE = Path(__file__).parents[2] / "docs" / "architecture.md"
BLOCK = re.compile(r"(<!-- followed: (\w+) -->\n```\w*\n)(.*?)(^```$)", re.S | re.M)

#: the kernel's arguments: pointers to rows whose first byte is a multiple of 16, the row's length, the block
SIGNATURE = "*fp32:16,*fp32:16,i32,1024"


def blocks(page: str) -> dict[str, str]:
    """Name -> text of what the page shows."""
    return {name: text for _, name, text, _ in BLOCK.findall(page)}


def from_python(source: str) -> str:
    """Triton's IR of the kernel in a Python source, without locations."""
    from triton_spirv import plugin
    from triton_spirv.aot import signature

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "softmax.py"
        path.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("followed_softmax", path)
        assert spec and spec.loader
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        front = plugin.front_end()
        parameters = front.parameters(module.softmax)[0]
        made = front.lower(module.softmax, signature.read(SIGNATURE, parameters, {}), CPU, {"num_warps": 4})
    return print_module(parse(made.ttir), locations=False)


def made(ir: str) -> dict[str, str]:
    """What becomes of Triton's IR, by the names of the page's blocks."""
    artifact = compile(ir, CPU)
    return {"passes": passes(ir), "facts": described(parse(ir)), "plan": artifact.plan,
            "listing": second_walk(artifact.listing), "words": first_load(artifact)}


def passes(ir: str) -> str:
    """What each pass does to the kernel."""
    module, lines = parse(ir), []
    for each in pipeline_of(CPU):
        before = print_module(module, locations=False)
        each.run(module, CPU, 4)
        same = print_module(module, locations=False) == before
        lines.append(f"{each.name}: {'nothing to do' if same else 'rewritten'}")
    return "\n".join([*lines, ""])


def second_walk(listing: str) -> str:
    """The loop of the second walk; a long list of components is cut."""
    start, end = listing.index("%loop_1:\n"), listing.index("%after_1:\n")
    return re.sub(r"( %\S+)\1{3,}", r"\1 ...", listing[start:end])


def first_load(artifact: Artifact) -> str:
    """The words of the first load in that loop: operation 61, six words, the last two `Aligned 64`."""
    words = struct.unpack(f"<{len(artifact.words) // 4}I", artifact.words)
    at = next(i for i in range(len(words) - 6)
              if words[i] == 6 << 16 | 61 and words[i + 4:i + 6] == (2, 64))
    return " ".join(f"{word:08x}" for word in words[at:at + 6]) + "\n"


def python_of(page: str) -> str:
    """The kernel's source, with the imports that the page leaves out."""
    return "import triton\nimport triton.language as tl\n\n\n" + textwrap.dedent(blocks(page)["python"])


def renewed(page: str) -> str:
    """The page with all its blocks made today."""
    ir = from_python(python_of(page))
    new = {"python": blocks(page)["python"], "ir": ir, **made(ir)}
    return BLOCK.sub(lambda block: block[1] + new[block[2]] + block[4], page)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
