"""native/zebin.py: the reader of zebins, on binaries of every form that a compiler may leave."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from fake_ocloc import archive, elf, info
from triton_spirv.native import BuildFailed, describe, kind, spilled_bytes, zebin


def test_figures() -> None:
    binary = elf(grf=256, simd=32, spill=128, private=64, slm=4096, barriers=1, scratch=256)
    facts = describe(binary, "heavy", 32)
    assert (facts.grf_count, facts.simd_size, facts.spill_size, facts.private_size) == (256, 32, 128, 64)
    assert (facts.slm_size, facts.barrier_count, facts.scratch_size, facts.has_dpas) == (4096, 1, 256, False)


def test_magic() -> None:
    assert kind(b"\x03\x02\x23\x07rest") == "spirv" and kind(elf()) == "elf"
    assert kind(archive(a=b"1")) == "archive" and kind(b"") == kind(b"CTNI") == "unknown"
    assert [zebin.format_of(data) for data in (elf(), elf(machine=62), b"\x03\x02\x23\x07", b"CTNI")] == [
        "zebin", "driver", "spv", "driver"]


REFUSED = {
    "empty": (b"", "not an ELF file: it starts with nothing"),
    "patch tokens": (b"CTNI" + bytes(60), "not an ELF file: it starts with 43 54 4e 49"),
    "neither 32 nor 64 bits": (elf(bits=3), "not a little-endian"),
    "other machine": (elf(machine=62), "machine 62, not 205"),
    "cut off": (elf()[:-40], "damaged ELF"),
    "section beyond the end": (elf()[:16] + elf()[16:].replace(b"\x90" * 64, b""), "damaged ELF"),
    "symbol without a name's end": (elf().replace(b"_entry\0", b"_entry_"), "damaged ELF"),
    "no .ze_info": (elf(text=""), "no section .ze_info"),
    "another kernel": (elf(kernel="other"), "does not contain the kernel heavy"),
    "no code": (elf(code=False), "does not contain the kernel heavy"),
    "key missing": (elf(text=info().replace("grf_count", "grf_number")), "lacks 'grf_count'"),
    "undefined": (elf(undefined=("missing_function",)), "nothing defines missing_function"),
    "wrong sub-groups": (elf(simd=32), "sub-groups of 32, not of 16"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case: str) -> None:
    binary, message = REFUSED[case]
    with pytest.raises(BuildFailed, match=message):
        describe(binary, "heavy", 16)


def test_symbols_of_the_driver_may_be_undefined() -> None:
    assert describe(elf(undefined=("__INTEL_PATCH_CROSS_THREAD_OFFSET_OFF_R0",)), "heavy")


def test_matrix_engine() -> None:
    assert describe(elf(dpas=True), "heavy", dpas=True).has_dpas
    with pytest.raises(BuildFailed, match="without the matrix instructions"):
        describe(elf(), "heavy", dpas=True)


def test_kept_module() -> None:
    assert zebin.spirv_of(elf(spirv=b"words")) == b"words" and zebin.spirv_of(elf()) is None


OLD = "warning: kernel heavy  compiled SIMD16 allocated 128 regs and spilled around {}"


@pytest.mark.parametrize(("facts", "log", "expected"), [
    ({"spill": 640, "scratch": 1024}, "", (640, True)),
    ({}, "", (0, True)),                                   # no scratch space at all
    ({"private": 64, "scratch": 1024}, "", (0, True)),     # a compiler that knows says nothing: none
    ({"scratch": 32768}, "", (32768, False)),              # a bound
    ({"scratch": 65536}, OLD.format(602), (602 * 64, False)),
    ({"scratch": 32768}, OLD.format(582), (582 * 32, False)),   # 582 registers of 64 bytes would not fit
    ({"scratch": 32768}, "no warning", (0, False)),        # the scratch space is of private arrays
    ({"scratch": 65536}, OLD.format(602).replace("heavy", "other"), (0, False)),
])
def test_spilled_bytes(facts: dict[str, int], log: str, expected: tuple[int, bool]) -> None:
    assert spilled_bytes(describe(elf(**facts), "heavy"), log) == expected


def test_info_reader() -> None:
    text = """---
version: '1.2'
list:
- a: 1
  b: [ 2, 0x3 ]
- a: "x: y"
  c:
    d: true
    e:
      - 4
      - five
empty:
last:   false
..."""
    assert zebin.parse_info(text) == {
        "version": "1.2", "list": [{"a": 1, "b": [2, 3]}, {"a": "x: y", "c": {"d": True, "e": [4, "five"]}}],
        "empty": {}, "last": False}


def test_archive() -> None:
    files = {"64.12.60.7": b"odd", "generic_ir": b"even"}
    assert zebin.members(archive(**files)) == files
    with pytest.raises(BuildFailed):
        zebin.members(elf())


def test_command(tmp_path: Path) -> None:
    path = tmp_path / "kernel"
    command = [sys.executable, "-m", "triton_spirv.native.zebin", str(path), "heavy", "16"]
    for binary, code, words in ((elf(), 0, "grf_count=128"), (elf(simd=8), 1, "sub-groups of 8")):
        path.write_bytes(binary)
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == code and words in done.stdout
