"""The real compilers, Debian's stable ocloc and the newer one: that what the fake says is what they do."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import heavy
import pytest
from triton_spirv import native
from triton_spirv.tools import validate

DEVICES = {"old": ("pvc", "acm-g10", "tgllp"), "new": ("pvc", "acm-g10", "tgllp", "bmg")}


@pytest.fixture(scope="module")
def small() -> bytes:
    words = heavy.kernel(4)
    validate(words)
    return words


@pytest.fixture(scope="module")
def spilling() -> bytes:
    """220 floats of each of 16 lanes: more than 128 registers of 64 bytes, and more than 256 with the
    rest."""
    words = heavy.kernel(220)
    validate(words)
    return words


def lines_of(binary: bytes) -> dict[str, int]:
    """The numbers of .ze_info's execution environment, by a reading of its text alone."""
    text = next(one.data for one in native.zebin.sections(binary) if one.name == ".ze_info").decode()
    part = text[text.index("execution_env:"):text.index("payload_arguments:")]
    return {name: int(number) for name, number in re.findall(r"(\w+): +(\d+)", part)}


def test_devices(ocloc_name: str, small: bytes) -> None:
    for device in DEVICES[ocloc_name]:
        made = native.compile_spirv(small, device, "heavy", simd=16)
        assert (made.grf_count, made.simd_size, made.n_spills, made.exact) == (128, 16, 0, True)
        assert len(made.attempts) == 1 and native.zebin.spirv_of(made.binary) == small


def test_device_strings(ocloc_name: str, small: bytes) -> None:
    """An IP version, and a device id."""
    for device in ("12.60.7", "0x56a0"):
        assert native.compile_spirv(small, device, "heavy").simd_size == 16


def test_spilling_kernel(ocloc_name: str, spilling: bytes) -> None:
    """On PVC: two attempts, both spill counts, the better one kept; the figures are those of .ze_info."""
    made = native.compile_spirv(spilling, "pvc", "heavy", simd=16)
    first, second = made.attempts
    assert (first.grf_count, second.grf_count) == (128, 256)
    assert first.n_spills > second.n_spills > 16
    assert made.build_flags == "-cl-intel-256-GRF-per-thread" and made.n_spills == second.n_spills
    told = lines_of(made.binary)
    assert made.grf_count == told["grf_count"] == 256 and made.simd_size == told["simd_size"]
    assert made.exact == (ocloc_name == "new")
    if made.exact:
        assert made.spill_bytes == told["spill_size"] and made.n_spills == told["spill_size"] / (4 * 16)
    else:
        warned = re.findall(r"spilled around (\d+)", "".join(second.log))
        assert made.spill_bytes == int(warned[0]) * 64  # bytes of a register of PVC


def test_register_files(ocloc_name: str, spilling: bytes) -> None:
    for mode, grf in (("128", 128), ("auto", 256)):
        made = native.compile_spirv(spilling, "pvc", "heavy", grf_mode=mode)
        assert made.grf_count == grf and len(made.attempts) == 1


def test_no_larger_register_file(ocloc_name: str, spilling: bytes) -> None:
    """Tiger Lake has none and ignores the flag: a tie, and the first build stays."""
    made = native.compile_spirv(spilling, "tgllp", "heavy")
    assert [one.grf_count for one in made.attempts] == [128, 128]
    assert made.attempts[0].spill_bytes == made.attempts[1].spill_bytes and made.build_flags == ""


def test_512_registers_are_refused(ocloc_name: str, small: bytes) -> None:
    if ocloc_name == "old":
        made = native.compile_spirv(small, "pvc", "heavy", grf_mode="512")
        assert made.grf_count == 128  # it does not know the flag, and says nothing
        return
    with pytest.raises(native.BuildFailed, match=r"exit code 245[\s\S]*512-grf-per-thread option"):
        native.compile_spirv(small, "pvc", "heavy", grf_mode="512")


def test_private_and_local_memory(ocloc_name: str) -> None:
    private = native.compile_spirv(heavy.kernel(4, private=300), "pvc", "heavy")
    assert private.n_spills == 0 and private.private_size == (19200 if ocloc_name == "new" else 0)
    shared = native.compile_spirv(heavy.kernel(4, shared=4096), "pvc", "heavy")
    assert (shared.slm_size, shared.barrier_count) == (4096, 1)


def test_success_that_is_none(ocloc_name: str, small: bytes) -> None:
    """A module cut off and one without the kernel: exit code 0, and no binary to use."""
    for words, kernel in ((small[:400], "heavy"), (small, "another")):
        with pytest.raises(native.BuildFailed, match=r"exit code 0 \(success\)") as caught:
            native.compile_spirv(words, "pvc", kernel)
        assert ("spirv-val: error" in str(caught.value)) == (words != small)
    with pytest.raises(native.BuildFailed, match="sub-groups of 16, not of 32"):
        native.compile_spirv(small, "pvc", "heavy", simd=32)


def test_unknown_device(ocloc_name: str, small: bytes) -> None:
    with pytest.raises(native.UnknownDevice, match="exit code 223") as caught:
        native.compile_spirv(small, "nosuch", "heavy")
    assert "GRF 256" not in str(caught.value)


def test_family(ocloc_name: str, small: bytes) -> None:
    with pytest.raises(native.UnknownDevice, match="family of devices"):
        native.compile_spirv(small, "xe-hpc", "heavy")
    made = native.compile_spirv(small, "xe-hpc", "heavy", bundle=True)
    assert made.binary_format == "archive" and "64.12.60.7" in native.zebin.members(made.binary)


def test_script_repeats_the_failure(ocloc_name: str, small: bytes) -> None:
    with pytest.raises(native.NativeError) as caught:
        native.compile_spirv(small, "nosuch", "heavy")
    script = re.findall(r"to repeat: (.*)", str(caught.value))[0]
    done = subprocess.run([script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 223 and "Cannot get HW Info for device nosuch" in done.stdout + done.stderr


def test_shader_dump(ocloc_name: str, small: bytes, tmp_path: Path) -> None:
    native.compile_spirv(small, "pvc", "heavy", dump=tmp_path / "dump")
    assert list((tmp_path / "dump").rglob("*.asm")), "no ISA text in the dump"


def test_time_limit(ocloc_name: str, spilling: bytes) -> None:
    with pytest.raises(native.Timeout, match="ended after"):
        native.compile_spirv(spilling, "pvc", "heavy", timeout=0.05)
