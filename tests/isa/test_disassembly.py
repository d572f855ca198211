"""disassembly.py: every byte of the code is counted, whatever capstone knows."""

from __future__ import annotations

import shutil

import pytest

pytest.importorskip("capstone")

from triton_spirv.isa import disassembly, machine_code

#: an instruction, its bytes, how it is counted: kind, multiplications, bytes of memory
FP16 = (("vaddph zmm0,zmm1,zmm2", "62f57448 58c2", "vector", 0, 0),
        ("vfmadd231ph zmm1,zmm2,[rax]", "62f66d48 b808", "multiply-add", 32, 64),
        ("vfmadd231ph zmm1,zmm2,[rax+rcx*4+0x12345678]", "62f66d48 b88c8878563412", "multiply-add", 32, 64),
        ("vmulph zmm1,zmm2,[rax+0x40]", "62f56c48 594801", "vector", 0, 64),
        ("vcmpltph k1,zmm1,zmm2", "62f37448 c2ca01", "vector", 0, 0))
#: xor ecx,ecx; loop: vaddps zmm0,zmm0,[rax]; FP16...; add rcx,1; cmp rcx,9; jne loop; ret
BEFORE, HEAD = bytes.fromhex("31c9"), bytes.fromhex("62f17c48 5800")
AFTER = bytes.fromhex("4883c101 4883f909")


def loop() -> bytes:
    """A loop with all instructions of FP16 in it."""
    body = HEAD + b"".join(bytes.fromhex(code) for _, code, *_ in FP16) + AFTER
    return BEFORE + body + b"\x75" + (256 - len(body) - 2).to_bytes(1, "little") + b"\xc3"


@pytest.fixture(params=["objdump", "without"])
def tool(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Is binutils installed?"""
    if request.param == "without":
        monkeypatch.setattr(disassembly.shutil, "which", lambda name: None)
    elif shutil.which("objdump") is None:
        pytest.skip("binutils are not installed")
    return request.param


def test_nothing_is_left_out(tool: str) -> None:
    code = loop()
    found = disassembly.disassemble(code)
    ends = [0, *(each.address + each.size for each in found)]
    assert [each.address for each in found] == ends[:-1] and ends[-1] == len(code)
    made = machine_code.of_bytes(code, "k")
    assert made.whole.instructions == 2 + len(FP16) + 4 == len(found)
    (hot,) = made.loops
    assert hot.instructions == len(FP16) + 4 and hot.counts["branch"] == 1
    if tool == "without":
        unknown = sum(len(bytes.fromhex(code)) for _, code, *_ in FP16)
        assert made.unknown_bytes == unknown and made.whole.counts["unknown"] == len(FP16)
    else:
        assert made.unknown_bytes == 0 and made.whole.macs == 64 and "vfmadd231ph" in made.text


@pytest.mark.parametrize(("text", "code", "kind", "macs", "moved"), FP16)
def test_kinds_by_objdump(text: str, code: str, kind: str, macs: int, moved: int) -> None:
    if shutil.which("objdump") is None:
        pytest.skip("binutils are not installed")
    (one,) = machine_code.of_bytes(bytes.fromhex(code), "k").codes
    assert (one.kind, one.macs, one.moved, one.width) == (kind, macs, moved, 512)
    assert one.name == text.split()[0]


#: what capstone knows, too
BOTH = ("c5fc5800", "62f17c48104c08fd", "4889e5", "8b4f14", "62f27d481801", "e800000000", "75fe", "c3",
        "4881ecc0110000", "6266660f1f840000000000"[2:], "62f3fd481bc101", "48b80000000000000000", "55")


@pytest.mark.parametrize("code", BOTH)
def test_objdump_and_capstone_agree(code: str) -> None:
    if shutil.which("objdump") is None:
        pytest.skip("binutils are not installed")
    data = bytes.fromhex(code)
    (ours,) = disassembly.disassemble(data)
    other = disassembly.by_objdump(data)[0]
    assert (ours.size, ours.group, ours.target) == (other.size, other.group, other.target)
    assert machine_code._code(ours).kind == machine_code._code(other).kind
    assert sum(each.size for each in ours.memory) == sum(each.size for each in other.memory)


def test_the_user_hears_of_what_is_not_known(monkeypatch: pytest.MonkeyPatch,
                                             capsys: pytest.CaptureFixture[str]) -> None:
    from triton_spirv.cli.output import Output
    from triton_spirv.cli.stats import show_cpu

    show_cpu("k", machine_code.of_bytes(loop(), "k", "a device"), Output())
    known = capsys.readouterr().out
    monkeypatch.setattr(disassembly.shutil, "which", lambda name: None)
    show_cpu("k", machine_code.of_bytes(loop(), "k", "a device"), Output())
    told = capsys.readouterr().out
    assert "not known" in told and "install binutils" in told
    assert "not known" not in known or shutil.which("objdump") is None
