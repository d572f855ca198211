"""compiler.py, stages.py, options.py, fingerprint.py, errors.py: what Triton's compiler sees."""

from __future__ import annotations

import copy
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import triton
import triton.language as tl
import triton_spirv
from triton.backends.compiler import GPUTarget
from triton.runtime.errors import OutOfResources
from triton_spirv import zeros
from triton_spirv.errors import DeviceError, LaunchError, ResourceError, UnsupportedOperation
from triton_spirv.runtime.program import BuildError
from triton_spirv_backend import errors, fingerprint, options, stages
from triton_spirv_backend.compiler import SPIRVBackend
from triton_spirv_backend.options import SPIRVOptions

CPU = GPUTarget("cpu", "x86_64-v3", 32)


@triton.jit
def row_sum(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))


@triton.jit
def copy_all(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i))


def copy_source() -> Any:
    """copy_all for 64 elements, as triton.compile takes it."""
    signature = {"x": "*fp32", "out": "*fp32", "BLOCK": "constexpr"}
    return triton.compiler.ASTSource(copy_all, signature, {"BLOCK": 64})


def launched(**changes: Any) -> Any:
    """The kernel after a launch that compiled it, or read it from the cache folder."""
    row_sum.device_caches.clear()
    x, out = zeros(64), zeros(1)
    x.numpy()[:] = 1
    kernel = row_sum[(1,)](x, out, 50, BLOCK=64, **changes)
    assert out.numpy()[0] == 50
    return kernel


def test_stages_can_be_read() -> None:
    kernel = launched()
    assert "tt.reduce" in kernel.asm["ttir"] and "loc(" in kernel.asm["ttir"]
    assert "ttg.num-warps" in kernel.asm["ttgir"] and "#ttg.blocked" in kernel.asm["ttgir"]
    assert kernel.asm["spv"][:4] == b"\x03\x02\x23\x07"
    assert kernel.asm["plan"].startswith("plan of row_sum for ") and "test_compiler.py" in kernel.asm["plan"]
    assert "row_sum" in kernel.asm["spvasm"] and "test_compiler.py" in kernel.asm["spvasm"]


def test_stages_are_in_the_cache(cache: Path) -> None:
    launched()
    names = {path.name for path in cache.rglob("row_sum.*")}
    assert {f"row_sum.{stage}" for stage in ("ttir", "ttgir", "plan", "spvasm", "spv", "json")} <= names


def test_second_process_reads_the_cache(cache: Path) -> None:
    """From the cache: neither the emitter nor the driver's compiler works again."""
    script = """
import sys
sys.path[:0] = sys.argv[1:2]
import triton, triton_spirv.runtime.opencl as opencl
from test_compiler import launched
if sys.argv[2] == "second":
    sys.modules["triton_spirv.compiler"] = None
    opencl.Library.program_with_il = None
launched()
"""
    for turn in ("first", "second"):
        command = [sys.executable, "-c", script, str(Path(__file__).parent), turn]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda words: words[:-8], "empty": lambda words: b"",
    "changed": lambda words: words[:40] + b"\xff" + words[41:],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_cache_file(cache: Path, damage: Callable[[bytes], bytes]) -> None:
    """The module is made again of the Triton IR beside it, and the file is good again; the driver, which
    would crash, sees nothing. Where that is damaged too, an error says what to delete, and then it works."""
    launched()
    (file,) = cache.rglob("row_sum.spv")
    good = file.read_bytes()
    file.write_bytes(damage(good))
    with pytest.warns(RuntimeWarning, match="binary of row_sum is damaged; it is built again"):
        launched()
    assert file.read_bytes() == good
    file.write_bytes(damage(good))
    for stage in ("ttir", "ttgir"):  # the second is what a target of lanes is made of
        (source,) = cache.rglob(f"row_sum.{stage}")
        source.write_text(source.read_text().replace("arith.addf", "arith.mulf"))
    with pytest.raises(LaunchError, match="SPIR-V of row_sum is damaged") as caught:
        launched()
    assert f"delete the folder {file.parent}," in str(caught.value)
    shutil.rmtree(file.parent)
    launched()


@pytest.mark.parametrize("damaged", [b"", b"{", b"[]", b"\xff\xfe", b'{"name": "row_sum"}', None],
                         ids=["empty", "cut off", "a list", "binary", "another", "metadata cut in half"])
@pytest.mark.parametrize("name", ["row_sum.json", "__grp__row_sum.json", "row_sum.ttir"])
def test_damaged_texts_are_made_again(cache: Path, name: str, damaged: bytes | None) -> None:
    """The metadata, the list of files, the IR: the kernel works at once, and is whole afterwards."""
    launched()
    (file,) = cache.rglob(name)
    good = file.read_bytes()
    bad = good[:len(good) // 2] if damaged is None else damaged
    file.write_bytes(bad)
    is_list, readable = name.startswith("__grp__"), name.endswith("ttir") and bad != b"\xff\xfe"
    if is_list or readable:  # Triton looks at the list itself; a text that can be read does no harm
        launched()
    else:
        with pytest.warns(RuntimeWarning, match=f"{name} in Triton's cache is damaged; the kernel is"):
            launched()
        assert json.loads((file.parent / "row_sum.json").read_text())["name"] == "row_sum"
    launched()


@pytest.mark.cpu_device("its warps of 32")
def test_metadata() -> None:
    kernel = launched(num_warps=2)
    metadata = kernel.metadata
    assert metadata.name == "row_sum" and metadata.num_warps == 2 and metadata.warp_size == 32
    assert metadata.target == triton.runtime.driver.active.get_current_target()
    assert metadata.shared > 0 and kernel.n_regs > 0 and kernel.n_spills == 0
    assert metadata.num_warps * metadata.warp_size <= kernel.n_max_threads
    for scratch in ("global_scratch_size", "profile_scratch_size"):
        assert getattr(metadata, scratch) == 0
    json.dumps(metadata.artifact)
    x = zeros(64)
    assert copy_all[(1,)](x, x, BLOCK=64).metadata.shared == 0


def test_foreign_launch_options_are_accepted() -> None:
    launched(num_stages=5, num_ctas=1, waves_per_eu=2, matrix_instr_nonkdim=16, kpack=2, maxnreg=128,
             launch_cooperative_grid=True, launch_pdl=True, enable_fp_fusion=False, grf_mode="256")
    with pytest.raises(KeyError, match="no_such_option"):
        launched(no_such_option=1)


def test_num_warps() -> None:
    for count in (1, 2, 8, 32):
        launched(num_warps=count)
    for count in (0, 3, -4):
        with pytest.raises(AssertionError, match="num_warps must be a power of 2"):
            launched(num_warps=count)


def test_options_hash_covers_what_changes_code() -> None:
    base = SPIRVOptions.parse({}, CPU)
    assert base.hash() == SPIRVOptions.parse({"kpack": 2, "waves_per_eu": 3, "maxnreg": None}, CPU).hash()
    for change in ({"num_warps": 8}, {"debug": True}, {"enable_fp_fusion": False}, {"num_stages": 1},
                   {"fast_math": True}):
        assert SPIRVOptions.parse(change, CPU).hash() != base.hash()
    assert set(base.__dict__) >= set(options.FIELDS) and base.extern_libs == ()


#: its matrix unit has a set of types, within what describes it
XE2 = GPUTarget("spirv", "opencl:lanes16:sizes16-32:shared131072:float64:block_io:matrix16", 16)


@pytest.mark.parametrize("target", [CPU, XE2], ids=["cpu", "matrix unit"])
def test_fingerprint(target: GPUTarget) -> None:
    """The backend's part of the cache key: the same in another process, another one for another target."""
    script = f"""
from triton.backends.compiler import GPUTarget
from triton_spirv_backend import fingerprint
print(fingerprint.of({target!r}))
"""
    for seed in ("1", "2", "3"):  # of the order of sets
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                              env={**os.environ, "PYTHONHASHSEED": seed})
        assert done.stdout.strip() == SPIRVBackend(target).hash(), done.stderr
    assert fingerprint.of(GPUTarget("cpu", "aarch64", 32)) != fingerprint.of(target)


@pytest.mark.cpu_device("the version of its driver is the name of a file")
def test_driver_identity() -> None:
    assert "libintelocl" in fingerprint.driver_identity()


def test_fingerprint_covers_the_emitter(monkeypatch: pytest.MonkeyPatch) -> None:
    read, seen = Path.read_bytes, []
    monkeypatch.setattr(Path, "read_bytes", lambda path: seen.append(path) or read(path))
    fingerprint.sources.__wrapped__()
    names = {os.path.relpath(path, Path(triton_spirv.__file__).parent) for path in seen}
    assert {"compiler.py", "layout.py", "ir/parser.py", "lower/arithmetic/elementwise.py"} <= names
    assert not any(name.startswith("runtime") for name in names)
    assert any(name.endswith("backend/stages.py") for name in names)


def test_targets() -> None:
    assert SPIRVBackend.supports_target(CPU)
    assert SPIRVBackend.supports_target(GPUTarget("spirv", "cpu-simt", 16))
    assert not SPIRVBackend.supports_target(GPUTarget("cuda", 90, 32))
    with pytest.raises(DeviceError, match=r"unknown target 'no such chip'; known targets: .*cpu"):
        SPIRVBackend(GPUTarget("spirv", "no such chip", 16)).hash()


def test_compile_for_a_target_by_name() -> None:
    source = copy_source()
    kernel = triton.compile(source, target=GPUTarget("spirv", "cpu", 32))
    assert kernel.asm["spv"] and kernel.metadata.target.backend == "spirv"


def test_ir_files(tmp_path: Path) -> None:
    """A .ttir file compiles; a .ttgir file is for targets with lanes."""
    kernel = launched()
    path = tmp_path / "again.ttir"
    path.write_text(kernel.asm["ttir"])
    again = triton.compile(str(path), target=kernel.metadata.target)
    assert again.asm["spv"] == kernel.asm["spv"]
    path = tmp_path / "again.ttgir"
    path.write_text(kernel.asm["ttgir"])
    with pytest.raises(UnsupportedOperation, match="compiles Triton IR"):
        triton.compile(str(path), target=kernel.metadata.target)


def test_gluon_is_refused() -> None:
    gluon = pytest.importorskip("triton.experimental.gluon")

    @gluon.jit
    def kernel():
        pass

    with pytest.raises(UnsupportedOperation, match=r"Gluon kernels .* @triton.jit only"):
        kernel[(1,)]()


def test_binary_only_cache_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(triton.knobs.compilation, "store_binary_only", True)
    with pytest.raises(UnsupportedOperation, match="TRITON_STORE_BINARY_ONLY"):
        launched()


def test_passes_that_a_version_lacks_are_left_out() -> None:
    from triton._C.libtriton import ir

    context = ir.context()
    ir.load_dialects(context)
    source = copy_source()
    backend = SPIRVBackend(CPU)
    chosen = backend.parse_options({})
    functions = backend.get_codegen_implementation(chosen)
    module = source.make_ir(CPU, chosen, functions, backend.get_module_map(), context)
    stages.run_passes(module, ("ttir.add_of_the_future", "common.add_cse"), "test")


def test_resource_errors_are_tritons() -> None:
    message = "shared memory, Required: 9, Hardware limit: 8"
    with pytest.raises(OutOfResources, match=message), errors.as_triton_errors():
        raise ResourceError(9, 8, "shared memory")
    with pytest.raises(OutOfResources, match="the log") as caught, errors.as_triton_errors():
        raise BuildError("the log")
    for clone in (copy.deepcopy(caught.value), pickle.loads(pickle.dumps(caught.value))):
        assert str(clone) == "the log"
    with pytest.raises(DeviceError), errors.as_triton_errors():
        raise DeviceError("other errors pass")


def test_unsupported_operations_reach_the_user() -> None:
    @triton.jit
    def kernel(out):
        tl.store(out, tl.inline_asm_elementwise("nop", "=r,r", [tl.load(out)], tl.float32, True, 1))

    with pytest.raises(UnsupportedOperation, match=r"test_compiler.py"):
        kernel[(1,)](zeros(1))


@triton.jit
def convert(x, out, BLOCK: tl.constexpr, TO_FLOAT8: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if TO_FLOAT8:
        tl.store(out + i, tl.load(x + i).to(tl.float8e4b15).to(tl.uint8, bitcast=True))
    else:
        tl.store(out + i, tl.load(x + i).to(tl.float8e4b15, bitcast=True).to(tl.float16))


def test_float8e4b15() -> None:
    """All 256 values to fp16 and back; larger values are clamped to 1.75, ties round away from zero."""
    np = pytest.importorskip("numpy")
    every, wide, back = zeros(256, "uint8"), zeros(256, "float16"), zeros(256, "uint8")
    every.numpy()[:] = np.arange(256)
    convert[(1,)](every, wide, BLOCK=256, TO_FLOAT8=False)
    bits = np.arange(256)
    exponent, mantissa, sign = (bits >> 3) & 15, bits & 7, np.where(bits & 128, -1.0, 1.0)
    magnitude = np.where(exponent == 0, mantissa / 8 * 2.0**-14, (1 + mantissa / 8) * 2.0**(exponent - 15))
    np.testing.assert_array_equal(wide.numpy(), (sign * magnitude).astype(np.float16))
    convert[(1,)](wide, back, BLOCK=256, TO_FLOAT8=True)
    np.testing.assert_array_equal(back.numpy(), np.where(bits & 127 == 127, bits - 1, bits))
    for value, expected in ((100.0, 0x7E), (-1e4, 0xFE), (float("nan"), 0x7E), (1.0625, 0x79), (1.05, 0x78)):
        wide.numpy()[:] = value
        convert[(1,)](wide, back, BLOCK=256, TO_FLOAT8=True)
        assert set(back.numpy().tolist()) == {expected}
