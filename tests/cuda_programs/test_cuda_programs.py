"""Programs and tests that were written for CUDA, unmodified, on the CPU."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import prepared
import pytest

pytest.importorskip("triton")
torch = pytest.importorskip("torch")

from triton_spirv import torch_cpu_as_cuda

KERNELS = """
import torch, triton, triton.language as tl

@triton.jit
def double(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)

@triton.jit
def assembly(out):
    i = tl.arange(0, 4)
    tl.store(out + i, tl.inline_asm_elementwise("shl.b32 $0, $1, 1;", "=r,r", [i], tl.int32, True, 1))
"""

#: a project's file of tests
TESTS = KERNELS + """
import pytest

def waits_for(stream: torch.cuda.Stream | None) -> torch.cuda.Event | None:
    return stream and stream.record_event()

@pytest.mark.parametrize("n", [1, 1000])
def test_double(n):
    torch.manual_seed(0)
    x = torch.randn(n, device="cuda:0")
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.device(x.device.index), torch.cuda.stream(torch.cuda.Stream()):
        start.record()
        out = torch.empty_like(x, device=torch.device("cuda"))
        double[(triton.cdiv(n, 256),)](x, out, n, BLOCK=256)
        end.record()
    assert isinstance(waits_for(torch.cuda.current_stream()), torch.cuda.Event)
    torch.cuda.synchronize()
    assert start.elapsed_time(end) >= 0
    torch.testing.assert_close(out.cuda(), 2 * x.to("cuda", torch.float32))

def test_assembly():
    assembly[(1,)](torch.empty(4, dtype=torch.int32, device="cuda"))

def test_that_is_wrong():
    assert torch.zeros(1, device="cuda") == 1

@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_that_asks():
    assert torch.ones(1, device="cuda").is_cuda and torch.cuda.get_device_capability() == (8, 6)
"""


def run_tests(folder: Path, *options: str, prepares: bool = True) -> str:
    """What pytest prints for TESTS. prepares: in a process that has imported torch before."""
    (folder / "test_project.py").write_text(TESTS)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_SPIRV")}
    words = ["-m", "pytest", "-p", "triton_spirv.pytest", "-p", "no:cacheprovider", "-rs", *options]
    environment.update(TRITON_CACHE_DIR=str(folder / "cache"), PYTEST_ADDOPTS="")
    if prepares:
        done = prepared.python(words, imports=prepared.TORCH, environment=environment, folder=folder)
    else:
        done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True,
                              timeout=250, env=environment)
    return done.stdout + done.stderr


@pytest.mark.parametrize("mode", ["vector", "simt", pytest.param("vulkan", marks=pytest.mark.vulkan)])
def test_the_plugin(mode: str, tmp_path: Path) -> None:
    printed = run_tests(tmp_path, "-n", "0", f"--triton-spirv={mode}", ".", prepares=mode != "vector")
    assert "1 failed, 2 passed, 2 skipped" in printed, printed
    assert "test_that_is_wrong" in printed
    assert re.search(r"refused in 1 tests: .*tt.elementwise_inline_asm", printed), printed
    assert f"triton-spirv, {mode}" in printed
    assert "1 kernels compiled in 2 variants" in printed, printed


def test_the_plugin_in_workers(tmp_path: Path) -> None:
    """pytest-xdist: what workers compile is in the summary; a folder after the option is no mode."""
    printed = run_tests(tmp_path, "-n", "2", "--triton-spirv", ".")
    assert "1 failed, 2 passed, 2 skipped" in printed, printed
    assert "1 kernels compiled in 2 variants" in printed, printed


def test_the_plugin_as_asked(tmp_path: Path) -> None:
    """CUDA is there for those who ask, what is refused fails; and without the option, nothing happens."""
    printed = run_tests(tmp_path, "-n", "0", "--triton-spirv", "--triton-spirv-cuda", "--triton-spirv-strict",
                        "--triton-spirv-capability=8.6")
    assert "2 failed, 3 passed" in printed, printed
    printed = run_tests(tmp_path, "-n", "0", "-k", "asks")
    assert "1 skipped" in printed and "triton-spirv," not in printed, printed
    printed = run_tests(tmp_path, "-n", "0", "-k", "asks", "--triton-spirv")
    assert "No kernel was compiled" in printed, printed
    printed = run_tests(tmp_path, "-n", "0", "--triton-spirv=opencl")
    assert "error" in printed


@pytest.mark.vulkan
def test_tensors_that_say_they_are_on_cuda(tmp_path: Path) -> None:
    printed = run_tests(tmp_path, "-n", "0", "--triton-spirv=vulkan", "--triton-spirv-cuda",
                        "--triton-spirv-capability=8.6")
    assert "1 failed, 3 passed, 1 skipped" in printed, printed


def test_the_command(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(KERNELS)
    (tmp_path / "program.py").write_text("""
import sys, torch
from helper import double
assert __name__ == "__main__" and torch.cuda.is_available() and torch.cuda.get_device_capability() == (8, 0)
x = torch.arange(10.0).cuda()
out = torch.empty_like(x)
double[(1,)](x, out, 10, BLOCK=16)
print(out.sum().item(), x.is_cuda, sys.argv)
sys.exit(3)
""")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TRITON_SPIRV")}
    base = ["-m", "triton_spirv", "run"]
    named = [str(tmp_path / "program.py"), "--steps", "1"]
    done = subprocess.run([sys.executable, *base, "--cuda", "--capability", "8.0", *named],
                          capture_output=True, text=True, env=environment)
    assert done.returncode == 3, done.stderr
    assert done.stdout == f"90.0 True {named}\n"
    done = prepared.python([*base, "--cuda", "--capability", "8.0", "-m", "program"], imports=prepared.TORCH,
                           environment=environment, folder=tmp_path)
    assert done.returncode == 3 and done.stdout.startswith("90.0 True"), done.stderr
    done = prepared.python([*base, "nothing.py"], imports=prepared.TORCH, environment=environment)
    assert done.returncode == 2 and done.stderr == "triton-spirv run: there is no file nothing.py\n"


def test_torch_as_it_was_before() -> None:
    before = dict(vars(torch.cuda)), torch.Tensor.cuda, "is_cuda" in vars(torch.Tensor)
    with torch_cpu_as_cuda(available=True, is_cuda=True, capability=(9, 0)):
        with torch_cpu_as_cuda():
            assert not torch.cuda.is_available()
        assert torch.cuda.device(0).idx == 0
        assert torch.cuda.is_available() and torch.cuda.device_count() == 1
        assert torch.zeros(1).is_cuda and torch.cuda.get_device_properties(0).major == 9
    assert before == (dict(vars(torch.cuda)), torch.Tensor.cuda, "is_cuda" in vars(torch.Tensor))


@torch_cpu_as_cuda()
def test_ways_to_name_the_device() -> None:
    """Each gives a tensor on the CPU."""
    x = torch.zeros(3, device=0)
    model = torch.nn.Linear(3, 2, device="cuda").cuda().to("cuda").to(torch.device("cuda", 0))
    with torch.device("cuda"):
        made = torch.ones(3)
    for tensor in (x, made, x.cuda(non_blocking=True), x.to(0), x.to("cuda", non_blocking=True),
                   x.to(device="cuda", dtype=torch.float64), x.new_ones(2, device="cuda"), model(x),
                   x.pin_memory(), torch.empty(4, pin_memory=True), torch.full_like(x, 2, device="cuda:1")):
        assert tensor.device.type == "cpu"
    assert x.to(torch.int32).dtype == torch.int32  # what is no device stays
    torch.cuda.current_stream().wait_stream(torch.cuda.Stream())
    with pytest.raises(RuntimeError):
        torch.zeros(1, device="no such device")


@torch_cpu_as_cuda()
def test_a_default_device() -> None:
    """torch puts it in behind all modes."""
    torch.set_default_device("cuda")
    try:
        made = torch.zeros(3), torch.tensor([1.0]), torch.randn(2, device=None)
        assert {tensor.device.type for tensor in made} == {"cpu"}
        assert torch.zeros(3, device="meta").device.type == "meta"
    finally:
        torch.set_default_device(None)


def test_accelerators() -> None:
    """What torch calls an accelerator is there for those who ask."""
    with torch_cpu_as_cuda():
        assert not torch.accelerator.is_available()
    with torch_cpu_as_cuda(available=True):
        assert torch.accelerator.current_accelerator() == torch.device("cuda")
        assert torch.zeros(1, device=torch.accelerator.current_accelerator()).device.type == "cpu"
        torch.accelerator.synchronize()
        assert torch._C._cuda_getCurrentRawStream(torch.cuda.current_device()) == 0
        free, total = torch.cuda.mem_get_info()
        assert 0 < free < total
        torch.cuda.manual_seed(1)
        with torch.random.fork_rng():  # asks each device for its generator
            torch.rand(1, device="cuda")
    assert not torch.accelerator.is_available()


def test_the_name_of_the_backend(tmp_path: Path) -> None:
    """In lane modes Triton calls it "spirv", and libraries take that for a device of torch's."""
    (tmp_path / "test_library.py").write_text(KERNELS + """
from functools import partial
name = triton.runtime.driver.active.get_current_target().backend

class Double(torch.autograd.Function):
    @staticmethod
    @partial(torch.amp.custom_fwd, device_type=name)
    def forward(ctx, x):
        out = torch.empty_like(x)
        with getattr(torch, name).device(x.device.index):
            double[(1,)](x, out, x.numel(), BLOCK=256)
        return out

    @staticmethod
    @partial(torch.amp.custom_bwd, device_type=name)
    def backward(ctx, d):
        return 2 * d

def test_double():
    x = torch.arange(5.0, device=name, requires_grad=True)
    Double.apply(x).sum().backward()
    assert x.grad.sum() == 10
    device = torch.device(name, getattr(torch, name).current_device())
    assert torch.zeros(1, device=device).device.type == "cpu"
    torch.manual_seed(0)
""")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("TRITON_SPIRV")}
    words = ["-m", "pytest", "-q", "-n", "0", "-p", "triton_spirv.pytest", "-p", "no:cacheprovider",
             "--triton-spirv=simt", "."]
    done = prepared.python(words, imports=prepared.TORCH, environment=environment, folder=tmp_path)
    assert done.returncode == 0, done.stdout


def test_compiled_models(tmp_path: Path) -> None:
    """torch.compile keeps account of the accelerator's current stream, and Inductor's caches of its name."""
    path = tmp_path / "script.py"
    path.write_text("""
import torch, triton_spirv

@torch.compile(backend="eager", fullgraph=True)
def model(x):
    return torch.sin(x) + 1

with triton_spirv.torch_cpu_as_cuda(available=True):
    for size in (3, 4):
        x = torch.ones(size, device="cuda")
        torch.testing.assert_close(model(x), torch.sin(x) + 1)
    assert not torch.cuda.is_current_stream_capturing()
    from torch._inductor.codecache import CacheBase
    assert CacheBase.get_system()["device"]["name"]
""")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
