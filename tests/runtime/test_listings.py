"""Listings of machine code: their bytes are what their text says."""

from __future__ import annotations

import re

import pytest
from triton_spirv.environment.opencl import programs
from triton_spirv.isa import object_file
from triton_spirv.runtime import crew_code, fault_code, launch_code, machine_code

capstone = pytest.importorskip("capstone")

LISTINGS = {"launches": launch_code.LISTING,
            "crews": crew_code.LISTING,
            "faults": fault_code.LISTING.replace("DATA", "0x1122334455667788")}


def said(listing: str) -> list[str]:
    """The text of each instruction."""
    lines = (line for line in listing.strip().splitlines() if not line.rstrip().endswith(":"))
    return [line.split(None, 1)[1] for line in lines]


def plain(text: str) -> str:
    """Without what assemblers write differently: spaces, numbers' bases, sizes of what is in memory."""
    text = re.sub(r"\b(qword|dword|xmmword|word) ptr ", "", text.lower().strip())
    text = re.sub(r"\b(0x[0-9a-f]+|[0-9]+)\b", lambda found: str(int(found[0], 0) % (1 << 64)), text)
    return re.sub(r"\s+", "", text.replace("+0]", "]").replace(" + 0]", "]"))


@pytest.mark.parametrize("name", LISTINGS)
def test_bytes_are_what_the_text_says(name: str) -> None:
    code, labels = machine_code.assembled(LISTINGS[name])
    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    found = list(engine.disasm(code, 0))
    texts = said(LISTINGS[name])
    assert len(found) == len(texts) and found[-1].address + found[-1].size == len(code)
    for instruction, text in zip(found, texts, strict=True):
        operation, _, operands = text.partition(" ")
        if operands in labels and (operation.startswith("j") or operation == "call"):
            operands = hex(labels[operands])
        assert plain(f"{instruction.mnemonic} {instruction.op_str}") == plain(f"{operation} {operands}"), text


def test_the_name_of_a_program_stands_twice() -> None:
    assert object_file.PROGRAM == programs.PROGRAM
