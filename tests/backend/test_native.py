"""native_stage.py, recovery.py, functions.py: kernels whose last stage is a native binary."""

from __future__ import annotations

import gc
import os
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
from fake_ocloc import OLD_LOG, SCRATCH, Fake, elf
from scripted_gpu import LARGE, Gpu, context
from triton.backends.compiler import GPUTarget
from triton.runtime.errors import OutOfResources
from triton_spirv import native, zeros
from triton_spirv.errors import DeviceError, UsageError
from triton_spirv.native import zebin
from triton_spirv.runtime import devices, opencl
from triton_spirv_backend import native_stage
from triton_spirv_backend.errors import BuildFailure
from triton_spirv_backend.options import SPIRVOptions

PVC = GPUTarget("spirv", "pvc", 16)
CPU = GPUTarget("cpu", "x86_64-v3", 32)


@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n, other=0.0), mask=i < n)


@triton.jit
def product(a, b, c, steps, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, j, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for step in range(steps):
        total += tl.dot(tl.load(a + i * K + k[None, :] + step * M * K),
                        tl.load(b + k[:, None] * N + j + step * N * K))
    tl.store(c + i * N + j, total)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    folder = tmp_path / "fake"
    folder.mkdir()
    made = Fake(folder)
    monkeypatch.setenv("TRITON_OCLOC_PATH", str(made.path))
    monkeypatch.setenv("TRITON_SPIRV_KEEP", str(tmp_path / "kept"))
    native_stage._warned.clear()
    return made


def compile(target: GPUTarget = PVC, **options: Any) -> Any:
    """`double`, compiled and not launched."""
    signature = {"x": "*fp32", "out": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    source = triton.compiler.ASTSource(double, signature, {"BLOCK": 64})
    return triton.compile(source, target=target, options={"generate_native_code": True, **options})


def binary(**facts: Any) -> bytes:
    return elf(kernel="double", **facts)


def launched(**options: Any) -> Any:
    """`double` on the CPU device, and its result looked at; nothing of earlier launches is in memory."""
    double.device_caches.clear()
    gc.collect()
    x, out = zeros(64), zeros(64)
    x.numpy()[:] = 3
    kernel = double[(1,)](x, out, 50, BLOCK=64, **options)
    assert (out.numpy()[:50] == 6).all() and not out.numpy()[50:].any()
    return kernel


def lane_launch(monkeypatch: pytest.MonkeyPatch, **options: Any) -> Any:
    """The same in SIMT mode, with a binary for PVC, which the CPU device refuses."""
    monkeypatch.setenv("TRITON_SPIRV_TARGET", "cpu-simt")
    return launched(generate_native_code=True, native_device="pvc", **options)


# ---- the switch

def test_off_by_default(fake: Fake) -> None:
    kernel = compile(generate_native_code=None)
    assert zebin.kind(kernel.asm["spv"]) == "spirv" and not fake.calls()
    assert kernel.metadata.binary_format == "spv" and kernel.metadata.generate_native_code is False


@pytest.mark.parametrize("value", ["1", "auto", "AUTO", "true"])
def test_variable(fake: Fake, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_ZEBIN", value)
    fake.answer(output=binary())
    kernel = compile(generate_native_code=None)
    assert zebin.kind(kernel.asm["spv"]) == "elf"
    assert kernel.metadata.generate_native_code == ("auto" if "a" in value.lower() else True)
    assert SPIRVOptions.parse({"generate_native_code": False}, PVC).generate_native_code is False


def test_variable_that_is_misspelt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_ZEBIN", "yes please")
    with pytest.raises(UsageError, match="TRITON_SPIRV_ZEBIN='yes please': use 1, 0 or auto"):
        compile(generate_native_code=None)


# ---- what is made

def test_both_forms_are_kept(fake: Fake, cache: Path) -> None:
    """The stage has one name for both formats; the SPIR-V lies beside the binary."""
    fake.answer(output=binary())
    kernel = compile()
    assert kernel.asm["spv"] == binary()
    (kept,) = cache.rglob("double.spirv")
    assert zebin.kind(kept.read_bytes()) == "spirv" and kept.parent == next(cache.rglob("double.spv")).parent
    assert fake.calls()[0]["argv"][4:6] == ["-device", "pvc"]


def test_metadata(fake: Fake) -> None:
    fake.answer("256", output=binary(grf=256, spill=640, scratch=1024, private=64, slm=128, barriers=1))
    fake.answer(output=binary(spill=2048, scratch=2048))
    kernel = compile(num_warps=4, build_flags="-cl-mad-enable")
    facts = kernel.metadata
    assert facts.build_flags == "-cl-mad-enable -cl-intel-256-GRF-per-thread"
    assert facts.generate_native_code is True and facts.binary_format == "zebin"
    assert (facts.device, facts.ocloc_version) == ("pvc", "99.1.2345")
    assert facts.ocloc_cmd.startswith(str(fake.path)) and facts.grf_mode == "default"
    assert [(one["grf_mode"], one["spill_bytes"], one["n_spills"]) for one in facts.attempts] == [
        ("default", 2048, 32), ("256", 640, 10)]
    assert (facts.grf_count, facts.simd_size, facts.spill_bytes, facts.n_spills) == (256, 16, 640, 10)
    assert (facts.slm_size, facts.barrier_count, facts.private_size) == (128, 1, 64)
    kernel._init_handles()
    assert (kernel.n_regs, kernel.n_spills) == (256, 10)


def test_inexact_spills_come_from_metadata(fake: Fake) -> None:
    """Only the log knows what an old compiler spilled; the binary has a bound."""
    fake.answer(output=binary(scratch=65536), log=OLD_LOG.replace("heavy", "double"))
    kernel = compile(grf_mode="128")
    kernel._init_handles()
    assert kernel.metadata.exact is False and kernel.n_spills == kernel.metadata.n_spills == 602


def test_figures_of_a_binary_alone() -> None:
    """load_binary without the metadata, as other loaders call it."""
    utils = triton.runtime.driver.active.utils
    for data, expected in ((binary(grf=256, spill=640, scratch=1024), (256, 10)), (binary(text=""), (0, 0))):
        _, _, registers, spills, _ = utils.load_binary("double", data, 0, "cpu")
        assert (registers, spills) == expected


@pytest.mark.parametrize(("target", "option", "name"), [
    (PVC, "", "pvc"), (GPUTarget("spirv", "dg2", 16), "", "acm-g10"), (PVC, "12.60.7", "12.60.7"),
    (GPUTarget("spirv", "cpu-simt", 16), "0x56a0", "0x56a0"), (CPU, "", ""),
    pytest.param(GPUTarget("spirv", "cpu-simt", 16), "", "",
                 marks=pytest.mark.cpu_device("its driver knows no such name")),
])
def test_device_name(target: GPUTarget, option: str, name: str) -> None:
    """The option, else the named target's own; the driver is asked only where neither says
    (tests/runtime/test_gpu_policy.py)."""
    assert native_stage.device_name(target, option) == name


def test_flags() -> None:
    assert native_stage.flags_of("-g -igc_opts 'A=1,B=2'  -cl-mad-enable") == (
        "-g", "-igc_opts A=1,B=2", "-cl-mad-enable")


def test_dump(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_SHADER_DUMP", str(tmp_path / "dump"))
    fake.answer(output=binary())
    compile()
    assert f"-igc_opts 'DumpToCustomDir={tmp_path}/dump,ShaderDumpEnable=1'" in fake.calls()[0]["argv"]


def test_key(fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever changes the binary changes the key."""
    def key(target: GPUTarget = PVC, **options: Any) -> str:
        return SPIRVOptions.parse({"generate_native_code": True, **options}, target).hash()

    keys = [key(), key(generate_native_code="auto"), key(generate_native_code=False), key(grf_mode="256"),
            key(build_flags="-cl-mad-enable"), key(native_device="12.60.7"), key(CPU),
            key(GPUTarget("spirv", "bmg", 16))]
    monkeypatch.setenv("IGC_EnableSomething", "1")
    keys.append(key())
    (fake.folder / "version").write_bytes(b"99.2.0\0")
    fake.path.write_text(fake.path.read_text() + "\n# another program\n")
    keys.append(key())
    monkeypatch.setenv("TRITON_OCLOC_PATH", str(tmp_path / "absent"))
    keys.append(key(generate_native_code="auto"))
    assert len(set(keys)) == len(keys)


# ---- what fails

FAILURES: dict[str, dict[str, Any]] = {
    "build": {"code": 245, "log": "error: no"}, "crash": {"code": -6}, "device": {"code": 223},
    "degenerate": {"output": b"nothing of use"}, "command line": {"code": 226},
}


@pytest.mark.parametrize("case", FAILURES)
def test_auto_falls_back_with_one_warning(fake: Fake, case: str) -> None:
    fake.answer(**FAILURES[case])
    with pytest.warns(RuntimeWarning, match="double stays SPIR-V, which the driver compiles") as seen:
        kernel = compile(generate_native_code="auto")
    assert len(seen) == 1
    assert zebin.kind(kernel.asm["spv"]) == "spirv" and kernel.metadata.binary_format == "spv"
    with pytest.raises((native.NativeError, BuildFailure), match=r"ocloc 99\.1\.2345 cannot build double"):
        compile()


def test_auto_without_ocloc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    native_stage._warned.clear()
    monkeypatch.setenv("TRITON_OCLOC_PATH", str(tmp_path / "absent"))
    with pytest.warns(RuntimeWarning, match="absent is no program"):
        assert compile(generate_native_code="auto").metadata.binary_format == "spv"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compile(generate_native_code="auto", num_warps=2)  # the same reason is not said again
    with pytest.raises(native.OclocNotFound):
        compile()


@pytest.mark.parametrize("mode", [True, "auto"])
def test_out_of_resources(fake: Fake, mode: Any) -> None:
    fake.answer(code=245, log=SCRATCH)
    with pytest.raises(OutOfResources) as caught:
        compile(generate_native_code=mode)
    error = caught.value
    assert (error.required, error.limit, error.name) == (326400, 262144, "per-thread scratch space")


def test_autotuner_skips_what_cannot_be_built(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """One configuration's build fails, the other is taken; its binary is for a GPU, so SPIR-V is run."""
    monkeypatch.setenv("TRITON_SPIRV_TARGET", "cpu-simt")
    fake.answer("-cl-mad-enable", code=245, log="error: no")
    fake.answer(output=binary())
    configs = [triton.Config({"BLOCK": 64, "build_flags": "-cl-mad-enable"}), triton.Config({"BLOCK": 64})]
    tuned = triton.autotune(configs, key=[])(double)
    tuned.do_bench = lambda call, quantiles: (call(), [1.0, 1.0, 1.0])[1]
    double.device_caches.clear()
    x, out = zeros(64), zeros(64)
    x.numpy()[:] = 3
    with pytest.warns(RuntimeWarning, match="cannot use the cached binary"):
        tuned[(1,)](x, out, 50, generate_native_code=True, native_device="pvc")
    assert tuned.best_config is configs[1] and out.numpy()[0] == 6


# ---- what is loaded

def test_refused_binary_is_rebuilt_once(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    fake.answer(output=binary())
    with pytest.warns(RuntimeWarning, match=r"the cached binary of double.*again from SPIR-V") as seen:
        kernel = lane_launch(monkeypatch)
    assert len(seen) == 1 and kernel.asm["spv"] == binary() and kernel.n_regs == 128
    monkeypatch.setattr(opencl.Library, "program_with_il", None)  # what was rebuilt is cached, too
    with pytest.warns(RuntimeWarning, match="cannot use the cached binary"):
        lane_launch(monkeypatch)
    assert len(fake.calls()) == 1


def test_damaged_binary(fake: Fake, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This process goes on with the SPIR-V; the next one finds no metadata and compiles again."""
    fake.answer(output=binary())
    with pytest.warns(RuntimeWarning):
        lane_launch(monkeypatch)
    (file,) = cache.rglob("double.spv")
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.warns(RuntimeWarning, match="binary of double is damaged"):
        lane_launch(monkeypatch)
    assert not file.with_suffix(".json").exists()
    with pytest.warns(RuntimeWarning, match="cannot use the cached binary"):
        lane_launch(monkeypatch)
    assert file.read_bytes() == binary() and len(fake.calls()) == 2


def test_damaged_binary_and_module(fake: Fake, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is the TTGIR; the module made of it must be the very same."""
    fake.answer(output=binary())
    with pytest.warns(RuntimeWarning):
        lane_launch(monkeypatch)
    for name in ("double.spv", "double.spirv"):
        (file,) = cache.rglob(name)
        file.write_bytes(b"damaged")
    with pytest.warns(RuntimeWarning, match="binary of double is damaged"):
        lane_launch(monkeypatch)


# ---- binaries of a driver

def test_vulkan_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    target = GPUTarget("spirv", "lavapipe", 8)
    with pytest.raises(DeviceError, match="OpenCL devices, and lavapipe is for vulkan"):
        compile(target)
    with pytest.warns(RuntimeWarning, match="double stays SPIR-V.*lavapipe is for vulkan"):
        assert compile(target, generate_native_code="auto").metadata.binary_format == "spv"


def test_driver_binary_of_a_gpu_without_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver builds it, by the same rules, and its figures are in the metadata."""
    gpu = context(Gpu({"": (128, 22080), LARGE: (256, 12416)}))
    monkeypatch.setattr(devices, "choose", lambda choice: gpu.device)
    monkeypatch.setattr(devices, "open_device", lambda device: gpu)
    kernel = compile(GPUTarget("spirv", "opencl-gpu", 16))
    facts = kernel.metadata
    assert (facts.binary_format, facts.device, facts.build_flags) == ("driver", "scripted", LARGE)
    assert (facts.grf_count, facts.n_spills, len(facts.attempts)) == (256, 194, 2)
    kernel._init_handles()
    assert (kernel.n_regs, kernel.n_spills) == (256, 194)


@pytest.mark.cpu_device("binaries of its driver")
def test_driver_binary_of_a_cpu_device(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = launched(generate_native_code=True)
    assert kernel.metadata.binary_format == "driver" and zebin.format_of(kernel.asm["spv"]) == "driver"
    shutil.rmtree(cache / "spirv-binaries")
    monkeypatch.setattr(opencl.Library, "program_with_il", None)
    assert launched(generate_native_code=True).hash == kernel.hash


@pytest.mark.cpu_device("binaries of its driver")
def test_driver_binary_is_keyed_by_processor_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_spirv.runtime import binary_cache, processor

    options = {"generate_native_code": True}
    before = SPIRVOptions.parse(options, CPU).hash()
    other = processor.Processor("x86_64", "another one", frozenset())
    with monkeypatch.context() as patch:
        patch.setenv("CL_CONFIG_CPU_TARGET_ARCH", "corei7-avx")
        assert SPIRVOptions.parse(options, CPU).hash() != before
    assert SPIRVOptions.parse(options, CPU).hash() == before
    monkeypatch.setattr(binary_cache, "processor", lambda: other)
    assert SPIRVOptions.parse(options, CPU).hash() != before


# ---- the real compiler

def test_spilling_product_on_pvc(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product whose sums need more than 128 registers: attempts, both spill counts, the one that is kept,
    and n_regs and n_spills as .ze_info has them."""
    path = os.environ.get("TRITON_SPIRV_NEW_OCLOC")
    if not path:
        pytest.skip("the new ocloc is missing: tools/get_ocloc.sh FOLDER, "
                    "then TRITON_SPIRV_NEW_OCLOC=FOLDER/ocloc")
    monkeypatch.setenv("TRITON_OCLOC_PATH", path)
    signature = {**dict.fromkeys("abc", "*fp32"), "steps": "i32", **dict.fromkeys("MNK", "constexpr")}
    source = triton.compiler.ASTSource(product, signature, {"M": 64, "N": 256, "K": 16})
    kernel = triton.compile(source, target=PVC, options={"generate_native_code": True})
    second, first = kernel.metadata.attempts  # the emitter expects that 256 registers are the better choice
    assert (first["grf_count"], second["grf_count"]) == (128, 256)
    assert first["n_spills"] > second["n_spills"] > 16
    assert kernel.metadata.build_flags == "-cl-intel-256-GRF-per-thread" and kernel.metadata.exact
    told = zebin.describe(kernel.asm["spv"], "product", 16)
    kernel._init_handles()
    assert kernel.n_regs == kernel.metadata.grf_count == told.grf_count == 256
    spilled = -(-(told.spill_size or 0) // (4 * told.simd_size))
    assert kernel.n_spills == kernel.metadata.n_spills == second["n_spills"] == spilled
