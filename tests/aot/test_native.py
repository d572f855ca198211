"""Native code in bundles: by the real ocloc, and what happens without one."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import triton_spirv.aot as aot
from triton_spirv.aot import targets
from triton_spirv.native import ocloc
from triton_spirv.native.failures import OclocNotFound

ADD = "*fp32:16, *fp32, *fp32, i32, 128"
needs_ocloc = pytest.mark.skipif(shutil.which("ocloc") is None, reason="needs ocloc")


@needs_ocloc
def test_bundle_has_native_code(kernels, tmp_path: Path) -> None:
    aot.compile(kernels.add, ADD, targets=["pvc", "dg2"], out=tmp_path, progress=False, processes=1)
    for variant in json.loads((tmp_path / "bundle.json").read_text())["variants"]:
        binary = (tmp_path / variant["native"]).read_bytes()
        assert binary[:4] == b"\x7fELF" and f".text.{variant['entry']}".encode() in binary
        facts = variant["native_facts"]
        assert facts["grf_count"] in (128, 256) and facts["simd_size"] == 16 and facts["ocloc_version"]
        assert variant["artifact"]["passing"] == "arguments" and variant["device_kind"] == "gpu"
    text = (tmp_path / "add.h").read_text()
    assert '#define ADD_PVC_NATIVE "add.pvc.bin"' in text and "#define ADD_DG2_ARG_N 3 " in text
    compiler = shutil.which("cc")
    if compiler:
        subprocess.run([compiler, "-std=c11", "-Wall", "-Werror", "-Wno-unused", "-fsyntax-only", "-x", "c",
                        tmp_path / "add.h"], check=True, timeout=60)


def test_sub_groups_of_the_matrix_unit(kernels, command, tmp_path: Path) -> None:
    """A product on a device whose matrix unit has eight columns: the kernel has lanes of that number,
    however it comes here."""
    source, signature = f"{Path(kernels.__file__)}::product", ("-s", "*fp16:16,*fp16:16,*fp32:16,32")
    bundle = aot.compile(kernels.product, signature[1], targets=["dg2"], num_warps=1, native=False)
    variant = bundle.variants[0]
    # half as many columns, twice the warps
    assert variant.artifact.sub_group_size == 8 and variant.artifact.local_size == (16, 1, 1)
    for kind, out in (("ttir", "p.ttir"), ("ttgir", "p.ttgir")):
        target = () if kind == "ttir" else ("-t", "dg2")
        assert command("compile", source, *signature, *target, "-w", 1, "-e", kind, "-o",
                       tmp_path / out).status == 0
        done = command("compile", tmp_path / out, "-t", "dg2", "-w", 1, "-e", "spv", "-o", tmp_path / "p.spv")
        assert done.status == 0 and (tmp_path / "p.spv").read_bytes() == variant.artifact.words, done.error


@needs_ocloc
def test_zebin_by_the_command(kernels, command, tmp_path: Path) -> None:
    source = f"{Path(kernels.__file__)}::add"
    done = command("compile", source, "-s", ADD, "-t", "pvc", "--emit", "zebin", "-o", tmp_path / "add.bin")
    assert done.status == 0 and (tmp_path / "add.bin").read_bytes()[:4] == b"\x7fELF", done.error


@pytest.mark.parametrize(("version", "takes"), [
    ("22.43.24595", False), ("26.27.039301", True), ("27.1", True), ("", False), (None, False)])
def test_predicates_where_the_compiler_takes_them(version: str | None, takes: bool,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    def find() -> ocloc.Ocloc:
        if version is None:
            raise OclocNotFound("none")
        return ocloc.Ocloc("ocloc", version)
    monkeypatch.setattr(ocloc, "find", find)
    assert targets.named("pvc").predicated == takes and not targets.named("tgl").predicated


def test_without_ocloc_a_bundle_has_spirv(kernels, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_OCLOC_PATH", str(tmp_path / "nosuch"))
    with pytest.warns(UserWarning, match="no native code for pvc: .*nosuch"):
        bundle = aot.compile(kernels.add, ADD, targets=["pvc"], out=tmp_path / "bundle")
    assert not bundle.variants[0].native and (tmp_path / "bundle" / "add.pvc.spv").is_file()


def test_without_ocloc_what_insists_fails(kernels, command, tmp_path: Path,
                                          monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_OCLOC_PATH", str(tmp_path / "nosuch"))
    with pytest.raises(aot.CompilationFailed, match="nosuch"):
        aot.compile(kernels.add, ADD, targets=["pvc"], native=True)
    source = f"{Path(kernels.__file__)}::add"
    done = command("compile", source, "-s", ADD, "-t", "pvc", "--emit", "zebin", "-o", tmp_path / "add.bin")
    assert done.status == 1 and "nosuch" in done.error


def test_native_code_can_be_left_out(kernels, recwarn: pytest.WarningsRecorder,
                                     monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_OCLOC_PATH", "/nonexistent/ocloc")
    assert not aot.compile(kernels.add, ADD, targets=["pvc"], native=False).variants[0].native
    assert not recwarn.list
