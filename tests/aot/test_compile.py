"""Kernels to bundles, and bundles in an environment without Triton."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
import triton_spirv.aot as aot
from triton_spirv.artifact import Artifact
from triton_spirv.errors import UsageError
from triton_spirv.runtime import processor
from triton_spirv.standalone import loader
from triton_spirv.target import TARGETS
from triton_spirv.tools import spirv_tools

from .conftest import run_python

ROOT = Path(__file__).parents[2]
ADD = "*fp32:16, *fp32, *fp32, i32, 128"


def test_bundle_has_everything(kernels, tmp_path: Path) -> None:
    aot.compile(kernels.add, ADD, targets=["cpu", "cpu-simt"], out=tmp_path, progress=False, num_warps=2)
    assert {path.name for path in tmp_path.iterdir()} == {
        "bundle.json", "loader.py", "add.h", "add.cpu.spv", "add.cpu-simt.spv"}
    vector, simt = json.loads((tmp_path / "bundle.json").read_text())["variants"]
    for variant in (vector, simt):
        words = (tmp_path / variant["spv"]).read_bytes()
        spirv_tools.validate(words)
        assert variant["spv_sha256"] == hashlib.sha256(words).hexdigest()
        assert variant["constants"] == {"BLOCK": 128} and variant["divisible"] == ["x"]
    assert vector["artifact"]["local_size"] == [1, 1, 1]
    assert simt["artifact"]["local_size"] == [32, 1, 1]  # two warps of sixteen lanes
    artifact = Artifact.from_json(vector["artifact"])
    assert vector["struct_format"] == artifact.struct_format and artifact.written == (False, False, True,
                                                                                      False)


@pytest.mark.cpu_device("words for it")
def test_words_are_those_of_a_launch(kernels, tmp_path: Path) -> None:
    """The target `host` is the device at hand: the same module as a launch compiles."""
    torch = pytest.importorskip("torch")
    bundle = aot.compile(kernels.add, "*fp32:16, *fp32:16, *fp32:16, i32:16, 128", targets=["host"])
    x = torch.ones(1024)
    launched = kernels.add[(8,)](x, x, torch.empty_like(x), 1024, BLOCK=128)
    assert bundle.variants[0].artifact.words == launched.asm["spv"]


@pytest.mark.parametrize("target", [name for name, target in TARGETS.items() if not target.emulated])
def test_every_target_without_a_device(target: str, kernels) -> None:
    bundle = aot.compile(kernels.add, ADD, targets=[target], native=False)
    spirv_tools.validate(bundle.variants[0].artifact.words)


RUN_ADD = """
import numpy, loader
add = loader.load("add", {choice})
x = numpy.arange(1008, dtype=numpy.float32)
out = numpy.zeros_like(x)
add((8,), x, x * 2, out, 1000)
assert (out[:1000] == x[:1000] * 3).all() and not out[1000:].any()
assert add.nanoseconds > 0
"""


@pytest.mark.parametrize("target", ["cpu", "cpu-simt"])
def test_bundle_runs_without_triton(target: str, kernels, bare_python: str, tmp_path: Path) -> None:
    aot.compile(kernels.add, ADD, targets=["cpu", "cpu-simt"], out=tmp_path, progress=False)
    done = run_python(bare_python, RUN_ADD.format(choice=f"target={target!r}"), tmp_path)
    assert done.returncode == 0, done.stderr


def test_tutorial_runs_without_triton(bare_python: str, tmp_path: Path, command) -> None:
    """The softmax of tutorial 02, compiled by the command."""
    done = command("compile", f"{ROOT / 'tutorials' / '02-fused-softmax.py'}::softmax_rows", "--signature",
                   "*fp32:16,*fp32:16,i32:16,i32:16,i32,i32,1024", "-o", tmp_path / "softmax")
    assert done.status == 0, done.error
    script = """
import numpy, loader
softmax = loader.load()
x = numpy.random.default_rng(0).standard_normal((37, 784)).astype(numpy.float32)
out = numpy.zeros_like(x)
softmax((4,), x, out, 784, 784, 37, 781)
power = numpy.exp(x[:, :781].astype(numpy.float64) - x[:, :781].max(1, keepdims=True))
error = abs(out[:, :781] - power / power.sum(1, keepdims=True)).max()
assert error < 1e-6, error  # a few roundings of numbers below 1
assert not out[:, 781:].any()
"""
    done = run_python(bare_python, script, tmp_path / "softmax")
    assert done.returncode == 0, done.stderr


def test_scalars_of_every_width(kernels, bare_python: str, tmp_path: Path) -> None:
    aot.compile(kernels.scaled, "*fp32, fp64, i64, bf16, i1", targets=["cpu", "cpu-simt"], out=tmp_path,
                progress=False)
    script = """
import numpy, loader
for target in ("cpu", "cpu-simt"):
    x = numpy.arange(100, dtype=numpy.float32)
    loader.load(target=target)((2,), x, 2.5, 90, 0.25, True)
    assert (x[:90] == numpy.arange(90) * 2.5 + 1.25).all() and (x[90:] == numpy.arange(90, 100)).all(), x
"""
    done = run_python(bare_python, script, tmp_path)
    assert done.returncode == 0, done.stderr


def test_what_the_loader_refuses(kernels, bare_python: str, tmp_path: Path) -> None:
    aot.compile(kernels.add, "*fp32:16, *fp32, *fp32, i32:16, 128", out=tmp_path)
    script = """
import numpy, loader
add = loader.load("add")
x = numpy.zeros(128 + 16, numpy.float32)
frozen = x.copy()
frozen.flags.writeable = False
def refused(*arguments):
    try:
        add((1,), *arguments)
    except loader.LoaderError as error:
        print(error)
    else:
        print("accepted")
refused(x, x, x)
refused(x[1:], x, x, 128)
refused(x, x, x, 127)
refused(x.astype(numpy.float64), x, x, 128)
refused([1.0], x, x, 128)
refused(x, x, frozen, 128)
refused(x, x, x, 1 << 40)
try:
    loader.load("sub")
except loader.LoaderError as error:
    print(error)
(loader.FOLDER / "add.cpu.spv").write_bytes(b"damaged")
try:
    loader.load("add")
except loader.LoaderError as error:
    print(error)
"""
    done = run_python(bare_python, script, tmp_path)
    assert done.returncode == 0, done.stderr
    expected = ["add takes 4 arguments (x, y, out, n), not 3",
                "argument 0 (x): compiled for a multiple of 16",
                "argument 3 (n): compiled for a multiple of 16, got 0x7f",
                "argument 0 (x): compiled for float32, got float64",
                "argument 0 (x): a numpy array is wanted, not a list",
                "argument 2 (out): the kernel writes to it",
                "argument 3 (n): 1099511627776 does not fit i32",
                "the bundle has no such kernel; it has add for cpu",
                "add.cpu.spv is damaged"]
    lines = done.stdout.splitlines()
    assert len(lines) == len(expected)
    for line, part in zip(lines, expected, strict=True):
        assert part in line


def test_assertions_of_the_kernel(kernels, bare_python: str, tmp_path: Path) -> None:
    aot.compile(kernels.checked, "*i32, i32, 64", out=tmp_path, debug=True)
    script = """
import numpy, loader
kernel = loader.load("checked")
x = numpy.arange(64, dtype=numpy.int32)
kernel((1,), x, 64)
assert x[0] == 1
x[3] = -5
kernel((1,), x, 64)
"""
    done = run_python(bare_python, script, tmp_path)
    assert "device-side assert: negative in program (0, 0, 0), element (3,)\n" in done.stderr
    assert "kernels.py" in done.stderr


@pytest.mark.parametrize("setting", [None, "icelake-server"])
def test_a_variant_for_another_processor_gives_way(
        kernels, bare_python: str, setting: str | None, tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a bundle for AMX and for any processor, the loader runs the first that the processor here can, and
    that the driver may compile for."""
    if setting is not None:
        monkeypatch.setenv(processor.DRIVER_TARGET, setting)
    aot.compile(kernels.product, "*i8, *i8, *i32, 32", targets=["cpu:sapphirerapids", "cpu"], out=tmp_path,
                progress=False)
    script = """
import numpy, loader
product = loader.load("product")
a, b = numpy.arange(1024).astype(numpy.int8).reshape(32, 32), numpy.eye(32, dtype=numpy.int8)
out = numpy.zeros((32, 32), numpy.int32)
product((1,), a, b, out)
assert (out == a).all()
print(product.facts["target"], loader.has("amx_tile"))
try:
    loader.load("product", target="cpu:sapphirerapids")
except loader.LoaderError as error:
    print(error)
"""
    done = run_python(bare_python, script, tmp_path)
    said = done.stdout.splitlines()
    assert said, done.stderr[-2000:]
    if setting is not None or said[0] == "cpu False":
        assert said[0] == "cpu False"
        assert "needs a processor with amx_tile, which this one lacks or this process may not use" in said[1]
    else:
        assert said == ["cpu:sapphirerapids True"]


def test_an_older_processor_is_not_asked_for_newer_instructions(kernels, bare_python: str,
                                                                tmp_path: Path) -> None:
    """The driver would end the process."""
    aot.compile(kernels.product, "*i8, *i8, *i32, 32", targets=["cpu:x86_64-v3", "cpu"], out=tmp_path,
                progress=False)
    said = run_python(bare_python, """
import loader
loader.features = lambda: {"avx"}
print(loader.load("product").facts["target"])
try:
    loader.load("product", target="cpu:x86_64-v3")
except loader.LoaderError as error:
    print(error)
""", tmp_path).stdout
    assert said.startswith("cpu\n") and "needs a processor with avx2, which this one lacks" in said


def test_the_loader_knows_what_instructions_need() -> None:
    assert loader.NEEDED == processor.NEEDED


@pytest.mark.parametrize("setting", processor.DRIVER_TARGETS)
def test_the_loader_asks_for_nothing_that_the_driver_may_not_use(
        setting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a processor that has everything."""
    everything = frozenset(feature for each in processor.DRIVER_TARGETS.values() for feature in each)
    (tmp_path / "cpuinfo").write_text(f"flags : {' '.join(everything)}\n")
    monkeypatch.setattr(loader, "FACTS", tmp_path / "cpuinfo")
    monkeypatch.setattr(loader.ctypes, "CDLL", lambda name: SimpleNamespace(syscall=lambda *words: 0))
    here = processor.Processor("x86_64", "any", everything)
    monkeypatch.setattr(processor, "_found", lambda: here)
    monkeypatch.setenv(processor.DRIVER_TARGET, setting)
    usable = processor._limited.__wrapped__(setting).flags
    assert {each for each in loader.NEEDED.values() if loader.has(each)} == usable & {*loader.NEEDED.values()}


def test_configurations(kernels, tmp_path: Path) -> None:
    import triton

    configs = [{"BLOCK": 64}, triton.Config({"BLOCK": 256}, num_warps=8)]
    bundle = aot.compile(kernels.add, "*fp32,*fp32,*fp32,i32", configs=configs, targets=["cpu-simt"],
                         out=tmp_path, processes=0, progress=False)
    assert [variant.artifact.local_size[0] for variant in bundle.variants] == [4 * 16, 8 * 16]
    assert len({variant.stem for variant in bundle.variants}) == 2
    assert bundle.find(BLOCK=256).options["num_warps"] == 8
    with pytest.raises(UsageError, match="no such variant; it has add-"):
        bundle.find(BLOCK=512)
    assert len(list(tmp_path.glob("*.h"))) == len(list(tmp_path.glob("*.spv"))) == 2


def test_decorated_kernels_and_defaults(kernels) -> None:
    assert aot.compile(kernels.tuned, "*i32, i32, 64").variants[0].kernel == "tuned"
    scaled = aot.compile(kernels.scaled, "*fp32, fp64, i64, bf16, i1").variants[0]
    assert scaled.signature.constants == {"BLOCK": 64}


def test_a_switch_that_is_off_does_not_matter(tmp_path: Path) -> None:
    script = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import kernels, triton_spirv.aot as aot
print(len(aot.compile(kernels.add, "{ADD}").variants[0].artifact.words))
import triton
print(triton.runtime.driver._active)
"""
    path = tmp_path / "script.py"
    path.write_text(script)
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_SPIRV_BACKEND"}
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120,
                          env=environment)
    size, driver = done.stdout.split()
    assert int(size) > 1000 and driver == "None", done.stderr


@pytest.mark.parametrize(("change", "complaint"), [
    ({"targets": ["abacus"]}, "unknown target 'abacus'; there are "),
    ({"targets": []}, "no target is named"),
    ({"signature": "*fp32"}, "has 1 item"),
    ({"num_wraps": 4}, "there is no option 'num_wraps'; there are num_warps"),
    ({"num_warps": 3}, "num_warps must be a power of 2, got 3"),
    ({"kernel": "add"}, "'add' is not a @triton.jit function"),
])
def test_what_cannot_be_meant(change: dict[str, object], complaint: str, kernels) -> None:
    wanted = {"kernel": kernels.add, "signature": ADD, **change}
    with pytest.raises(UsageError, match=re.escape(complaint)):
        aot.compile(**wanted)  # type: ignore[arg-type]


def test_what_triton_refuses(kernels) -> None:
    with pytest.raises(Exception, match=r"(?s)wrong: .*nosuch is not defined"):
        aot.compile(kernels.wrong, "*i32, 64")


# ---- the C header


def struct_of(text: str, name: str) -> str:
    return re.search(rf"struct {name} \{{.*?\n\}};", text, re.DOTALL)[0]


def test_header_lays_out_what_is_packed(kernels, tmp_path: Path) -> None:
    """cffi, which knows C's rules, finds the offsets at which struct.pack puts the values."""
    cffi = pytest.importorskip("cffi")
    bundle = aot.compile(kernels.scaled, "*fp32:16, fp64, i32, bf16, i1", out=tmp_path)
    artifact = bundle.variants[0].artifact
    text = (tmp_path / "scaled.h").read_text()
    ffi = cffi.FFI()
    ffi.cdef(re.sub(r"/\*.*?\*/", "", struct_of(text, "scaled_cpu_arguments"), flags=re.DOTALL))
    assert ffi.sizeof("struct scaled_cpu_arguments") == struct.calcsize(artifact.struct_format)
    for place, (field, value) in enumerate({"x": 1, "factor": 1.0, "n": 1, "half": 1, "flag": 1}.items()):
        values = [value if at == place else 0 for at in range(5)]
        packed = struct.pack(artifact.struct_format, *values)
        filled = ffi.new("struct scaled_cpu_arguments *", {field: value})
        assert bytes(ffi.buffer(filled)) == packed, field


def test_header_compiles(kernels, tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler here")
    aot.compile(kernels.scaled, "*fp32:16, fp64, i32, bf16, i1", targets=["cpu", "cpu:x86_64-v4"],
                out=tmp_path,
                progress=False)
    (tmp_path / "main.c").write_text('#include "scaled.h"\n#include <stdio.h>\nint main(void) {\n'
                                     "    struct scaled_cpu_arguments a = {0};\n"
                                     '    printf("%s %zu %zu", SCALED_CPU_ENTRY, sizeof a, '
                                     "scaled_cpu_x86_64_v4_local_size[0]);\n    return 0;\n}\n")
    command = [compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "main.c", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=60)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, timeout=60).stdout
    assert said == "scaled 24 1"


def test_header_of_awkward_names() -> None:
    from triton_spirv.aot.header import identifier

    assert [identifier(name) for name in ("x", "int", "cpu:x86_64-v4", "1st", "lambda")] == [
        "x", "int_", "cpu_x86_64_v4", "_1st", "lambda_"]
