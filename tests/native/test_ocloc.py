"""native/ocloc.py: which program, which version, which command line; the reading of its log."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from fake_ocloc import OLD_LOG, SCRATCH, Fake, elf
from triton_spirv.errors import UsageError
from triton_spirv.native import BadRequest, OclocNotFound, OclocUnusable, ocloc


def test_named_before_path(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ocloc.find() == ocloc.Ocloc(str(fake.path), "99.1.2345")
    monkeypatch.delenv("TRITON_OCLOC_PATH")
    monkeypatch.setenv("PATH", str(fake.folder))
    assert ocloc.find().path == str(fake.path)


def test_not_found(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_OCLOC_PATH", str(tmp_path / "absent"))
    with pytest.raises(OclocNotFound, match=r"TRITON_OCLOC_PATH=.*absent is no program"):
        ocloc.find()
    monkeypatch.delenv("TRITON_OCLOC_PATH")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(OclocNotFound, match=r"apt-get install intel-opencl-icd.*get_ocloc\.sh"):
        ocloc.find()


def test_version_is_asked_in_a_folder_of_its_own(fake: Fake) -> None:
    ocloc.find()
    (call,) = fake.calls("query")
    assert call["argv"] == ["query", "OCL_DRIVER_VERSION"] and call["files"] == []
    assert call["cwd"] != os.getcwd() and not os.path.exists(call["cwd"])
    ocloc.find()
    assert len(fake.calls("query")) == 1


def test_version_that_is_not_told(fake: Fake) -> None:
    (fake.folder / "version").unlink()
    with pytest.raises(OclocUnusable, match=r"(?s)does not tell its version.*to repeat: .*ocloc query"):
        ocloc.find()


def test_command_line() -> None:
    words = ocloc.arguments("pvc", ["-g", "-cl-mad-enable"])
    assert words[:2] == ["compile", "-spirv_input"] and words[words.index("--format") + 1] == "zebin"
    assert words[words.index("-device") + 1] == "pvc" and words[-2:] == ["-options", "-g -cl-mad-enable"]
    assert "-options" not in ocloc.arguments("pvc", []) and not {"-q", "-o"} & set(words)


@pytest.mark.parametrize("ending", ["", ".bin"])
def test_output_under_either_name(fake: Fake, ending: str) -> None:
    fake.answer(output=elf(), ending=ending)
    done = ocloc.compile(ocloc.find(), b"words", "pvc", [], 20)
    assert done.output == elf() and done.code == 0
    assert fake.calls()[0]["files"] == ["kernel.spv"]


def test_nothing_is_left_behind(fake: Fake) -> None:
    ocloc.compile(ocloc.find(), b"words", "pvc", [], 20) if fake.answer(output=elf()) else None
    assert not os.path.exists(fake.calls()[0]["cwd"])


def test_time_limit(fake: Fake) -> None:
    fake.answer(sleep=60)
    began = time.monotonic()
    assert ocloc.compile(ocloc.find(), b"words", "pvc", [], 1.0).code is None
    assert time.monotonic() - began < 20


def test_time_limit_is_a_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ocloc.timeout() == ocloc.TIMEOUT
    monkeypatch.setenv("TRITON_SPIRV_OCLOC_TIMEOUT", "7.5")
    assert ocloc.timeout() == 7.5
    for wrong in ("soon", "-1", "nan"):
        monkeypatch.setenv("TRITON_SPIRV_OCLOC_TIMEOUT", wrong)
        with pytest.raises(UsageError, match=r"TIMEOUT='[\w-]+': use a number of seconds above 0"):
            ocloc.timeout()


def test_flags() -> None:
    known = ("-cl-fast-relaxed-math", "-cl-std=CL2.0 -g", "-igc_opts 'A=1,B=2'")
    assert ocloc.check_flags(known) == known
    with pytest.raises(BadRequest, match=r"-cl-fast-relaxed-mth.*did you mean -cl-fast-relaxed-math"):
        ocloc.check_flags(["-cl-fast-relaxed-mth"])
    with pytest.raises(BadRequest, match="known ones: -cl-denorms"):
        ocloc.check_flags(["-O3"])
    with pytest.raises(BadRequest, match="grf_mode='256'"):
        ocloc.check_flags(["-g -cl-intel-256-GRF-per-thread"])
    with pytest.raises(BadRequest, match="needs a value after it"):
        ocloc.check_flags(["-igc_opts"])


def test_shader_dump() -> None:
    assert ocloc.shader_dump(Path("/a/b")) == "-igc_opts 'DumpToCustomDir=/a/b,ShaderDumpEnable=1'"
    with pytest.raises(BadRequest, match="cannot dump"):
        ocloc.shader_dump(Path("/a b"))


LOG = """Compilation from IR - skipping loading of FCL

warning: in kernel 'heavy': [RetryManager] Start recompilation of the kernel

warning: in kernel 'heavy': compiled SIMD16 allocated 128 regs and spilled around 345
warning: in kernel 'heavy': compiled SIMD16 allocated 128 regs and spilled around 345

Build succeeded.
"""
OLD_SCRATCH = ("error: total scratch space exceeds HW supported limit for kernel heavy: 587264 bytes "
               "(max permitted PTSS 262144 bytes)")


def test_log() -> None:
    assert ocloc.useful_lines(LOG) == [
        "warning: in kernel 'heavy': [RetryManager] Start recompilation of the kernel",
        "warning: in kernel 'heavy': compiled SIMD16 allocated 128 regs and spilled around 345"]
    assert ocloc.spilled_registers(LOG, "heavy") == 345 and ocloc.spilled_registers(OLD_LOG, "heavy") == 602
    assert ocloc.spilled_registers(LOG, "other") is None
    assert ocloc.scratch_exceeded(SCRATCH) == (326400, 262144)
    assert ocloc.scratch_exceeded(OLD_SCRATCH) == (587264, 262144)
    assert ocloc.scratch_exceeded(LOG) is None
