"""AOTInductor and the C++ wrapper: kernels launched from C++, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .conftest import Script

needs_a_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs a C++ compiler")

#: a model that has a product, a row's norm, a transposing grid of two axes, an index that may be outside, and
#: a kernel of the user's own
MODEL = """
import torch, triton, triton.language as tl, triton_spirv
torch.manual_seed(0)

@triton.jit
def scaled(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) * factor, mask=at < n)

@torch.library.triton_op("tests::scaled", mutates_args=())
def scale(x: torch.Tensor) -> torch.Tensor:
    out = torch.empty_like(x)
    torch.library.wrap_triton(scaled)[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), 1.5, BLOCK=256)
    return out

scale.register_autograd(lambda ctx, gradient: gradient * 1.5)

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Sequential(torch.nn.Linear(48, 64), torch.nn.GELU(), torch.nn.LayerNorm(64))
        self.table = torch.nn.Parameter(torch.randn(10, 64))

    def forward(self, x, rows):
        y = self.inner(x) + self.table[rows]
        return torch.softmax(scale(y), -1), (y.t() + 1).contiguous(), y.abs().sum()

model = Model()
def arguments(n):
    return torch.randn(n, 48), torch.randint(0, 10, (n,))
def check(compiled):
    for n in (33, 700, 2, 33):
        given = arguments(n)
        torch.testing.assert_close(compiled(*given), model(*given), rtol=1e-4, atol=1e-4)
"""

#: in a process where triton-spirv is off
LOADED = """
import sys, threading, torch
model, cases = torch.load(sys.argv[0] + ".state")
x, _ = cases[0][0]
compiled = torch._inductor.aoti_load_package(model)
for given, wanted in cases:
    torch.testing.assert_close(compiled(*given), wanted, rtol=1e-4, atol=1e-4)

loader = torch._C._aoti.AOTIModelPackageLoader(model, "model", False, 3, -1)
together, right = threading.Barrier(3), []
def run():
    together.wait()
    for given, wanted in 5 * cases:
        torch.testing.assert_close(tuple(loader.boxed_run(list(given))), wanted, rtol=1e-4, atol=1e-4)
    right.append(True)
threads = [threading.Thread(target=run) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len(right) == 3
try:
    compiled(x, torch.full((len(x),), 10))
except RuntimeError:
    print("refused")
assert not {"triton_spirv.compiler", "triton_spirv.runtime.launch"} & set(sys.modules)
"""


@needs_a_compiler
@pytest.mark.takes_turns(2, 0)
def test_a_package_runs_where_only_torch_is(script: Script, tmp_path: Path) -> None:
    """Dynamic shapes, several kernels, several models of it at once, an index that is outside; in a process
    where triton-spirv is off, and Inductor's cache is gone."""
    done = script(MODEL + f"""
torch._inductor.config.aot_inductor.precompile_headers = False
size = torch.export.Dim("size", min=2, max=5000)
with torch.no_grad(), triton_spirv.inductor.enabled():
    program = torch.export.export(model, arguments(33), dynamic_shapes=({{0: size}}, {{0: size}}))
    package = torch._inductor.aoti_compile_and_package(program, package_path={str(tmp_path / 'model.pt2')!r})
    cases = [arguments(n) for n in (33, 700, 2, 33)]
    torch.save((package, [(given, model(*given)) for given in cases]), {str(tmp_path / 'script.py.state')!r})
""")
    assert done.returncode == 0, done.stderr
    shutil.rmtree(tmp_path / "inductor")
    for calls in ("1", "0"):
        done = script(LOADED, TRITON_SPIRV_BACKEND="0", TRITON_SPIRV_CALLS=calls)
        assert done.returncode == 0, done.stderr
        assert "refused" in done.stdout
        assert "device-side assert: index out of bounds" in done.stderr, done.stderr


@needs_a_compiler
@pytest.mark.takes_turns(2, 1)
def test_the_wrapper_alone(script: Script, tmp_path: Path) -> None:
    """torch.compile with cpp_wrapper: forward and backward, and again from Inductor's caches."""
    text = MODEL + """
from torch._inductor import config
import counting
counting.count()
config.cpp_wrapper, config.cpp_cache_precompile_headers = True, False
triton_spirv.inductor.enable()
compiled = torch.compile(model, dynamic=True)
check(compiled)
given = arguments(40)
gradients = []
for each in (model, compiled):
    model.zero_grad()
    torch.log(each(*given)[0]).pow(2).mean().backward()
    gradients.append([p.grad.clone() for p in model.parameters()])
torch.testing.assert_close(*gradients, rtol=1e-3, atol=1e-4)
print(len(counting.compiled))
"""
    compiled = []
    for calls in ("1", "0"):
        # Triton's own cache has the kernel that eager mode launches
        done = script(text, TRITON_CACHE_DIR=str(tmp_path / "triton"), TRITON_SPIRV_CALLS=calls)
        assert done.returncode == 0, done.stderr
        compiled.append(int(done.stdout))
    assert compiled[0] > 3 and not compiled[1]


def test_what_cpp_cannot_launch_is_refused() -> None:
    """Before C++ is written: by name, with the way out."""
    from triton_spirv.errors import UnsupportedOperation
    from triton_spirv_inductor.cpp_wrapper import kernel_text

    artifact = {"entry": "k", "parameters": [["x", "ptr"], ["n", "i32"]], "hidden": [], "passing": "struct",
                "requires": [], "assumes_disjoint": False, "asserts": [], "local_size": [1, 1, 1],
                "waits": False}
    signature = {"x": "*fp32", "n": "i32", "BLOCK": "constexpr"}
    text = kernel_text("k", artifact, b"\3\2#\7", signature)
    assert "{0, 0, 8, true}, {1, 8, 4, false}" in text and "0x7230203" in text
    assert text.endswith("messages, 0, 0, false};\n")  # programs are no functions
    assert kernel_text("k", artifact | {"exports": "f", "private_bytes": 8}, b"", signature).endswith(
        'messages, 0, 16, false, "f", 8};\n')
    for function, needs in (("avx512.max.ps.512", 64), ("avx512bf16.cvtneps2bf16.512", 8),
                            ("avx512.vpdpbusd.512", 68), ("avx.max.ps.256", 32), ("avx2.pmadd.wd", 2),
                            ("ldtilecfg", 1)):
        words = f"llvm.x86.{function}".encode() + b"\0\0\0"
        assert f"messages, 0, {needs}, false" in kernel_text("k", artifact, words, signature)
    for name in ("ticket_buffer", "panel_buffer"):  # a word that is 0 before each launch
        assert "24, {1, 1, 1}, -1, 16," in kernel_text("k", artifact | {"hidden": [name]}, b"", signature)
    for change, said in (({"hidden": ["check_buffer"]}, "check_buffer: switch checks off"),
                         ({"passing": "arguments"}, "not compiled for the CPU alone")):
        with pytest.raises(UnsupportedOperation, match=said) as caught:
            kernel_text("k", artifact | change, b"", signature)
        assert "launches k from C++" in str(caught.value) and "cpu_backend = 'cpp'" in str(caught.value)
    with pytest.raises(UnsupportedOperation, match="no type for n: fp16"):
        kernel_text("k", artifact, b"", signature | {"n": "fp16"})


def test_no_compiler_is_refused(script: Script) -> None:
    """Before anything is compiled."""
    done = script("""
import torch, counting, triton_spirv
counting.count()
torch._inductor.config.cpp.cxx = (None, "no-such-compiler")
class Module(torch.nn.Module):
    def forward(self, x):
        return torch.softmax(x, -1)
x = torch.randn(8, 8)
for use in (lambda: torch._inductor.aoti_compile_and_package(torch.export.export(Module(), (x,))),
            lambda: torch.compile(Module(), options={"cpp_wrapper": True})(x)):
    torch._dynamo.reset()
    text = ""
    with triton_spirv.inductor.enabled():
        try:
            use()
        except Exception as error:
            text = str(error)
    assert "takes a C++ compiler" in text and "cpu_backend = 'cpp'" in text, text
    assert not counting.compiled
""")
    assert done.returncode == 0, done.stderr
