"""The ways into torch.compile, and what is refused."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

Script = Callable[..., "subprocess.CompletedProcess[str]"]

MODEL = """
import torch
def model(x):
    return torch.softmax(x.sin() * 2, -1)
x = torch.randn(33, 77)
def check(compiled):
    torch.testing.assert_close(compiled(x), model(x))
"""


def test_three_lines(script: Script) -> None:
    done = script(MODEL + """
import triton_spirv
triton_spirv.inductor.enable()
import counting
counting.count()
compiled = torch.compile(model)
check(compiled)  # launches after a kernel's first are not counted
from torch._inductor import config
assert config.cpu_backend == "triton" and triton_spirv.inductor.is_enabled()
assert len(counting.launched) == 1 and counting.launched[0].startswith("triton_per_fused"), counting.launched
triton_spirv.inductor.disable()
assert config.cpu_backend == "cpp" and not triton_spirv.inductor.is_enabled()
""")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_a_block_a_name_and_a_variable(script: Script) -> None:
    """`with enabled():`, backend="triton-spirv", with options and modes; what is around them stays."""
    done = script(MODEL + """
import counting, triton_spirv, torch._inductor.config as config
counting.count()
with triton_spirv.inductor.enabled():
    check(torch.compile(model))
assert counting.launched and counting.compiled
assert config.cpu_backend == "cpp"

torch._dynamo.reset()
counting.launched.clear(), counting.compiled.clear()
check(torch.compile(model, backend="triton-spirv"))
check(torch.compile(model, backend="triton-spirv", options={"max_fusion_size": 1}))
assert len(counting.launched) > 2, counting.launched  # the options count
check(torch.compile(model, backend="triton-spirv", mode="max-autotune-no-cudagraphs"))
y = torch.randn(33, 77, requires_grad=True)  # the backward pass is compiled later
torch.compile(model, backend="triton-spirv")(y).sum().backward()
assert "backward" in "".join(counting.launched), counting.launched
assert counting.launched and counting.compiled
assert config.cpu_backend == "cpp"
""")
    assert done.returncode == 0, done.stderr
    assert "CPU backend" not in done.stderr
    done = script(MODEL + """
import sys
assert "torch._inductor" not in sys.modules and "triton" not in sys.modules
import torch._inductor.compile_fx, counting
counting.count()
check(torch.compile(model))
assert counting.launched
""", TRITON_SPIRV_INDUCTOR="1")
    assert done.returncode == 0, done.stderr


@pytest.mark.takes_turns(2, 0)
def test_nothing_changes_unless_asked(script: Script) -> None:
    """With the distribution installed, Inductor's C++ backend and AOTInductor go on as before."""
    done = script(MODEL + """
import sys, counting
counting.count()
check(torch.compile(model))
assert not counting.launched and not counting.compiled
class Module(torch.nn.Module):
    def forward(self, x):
        return model(x)
torch._inductor.config.aot_inductor.precompile_headers = False
package = torch._inductor.aoti_compile_and_package(torch.export.export(Module(), (x,)))
check(torch._inductor.aoti_load_package(package))
""", TRITON_SPIRV_INDUCTOR="0")
    assert done.returncode == 0, done.stderr


def test_beside_a_gpu(script: Script, tmp_path: Path) -> None:
    """Another backend that is active, as on a machine with a GPU, stays Triton's choice."""
    from backend.test_switch import OTHER

    for name, text in OTHER.items():
        path = tmp_path / "other" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    with (tmp_path / "other/other_backend/driver.py").open("a") as file:
        file.write("""
from triton.backends.compiler import GPUTarget
OtherDriver.get_current_target = lambda self: GPUTarget("other", 1, 32)
""")
    with (tmp_path / "other/other_backend/compiler.py").open("a") as file:
        file.write("""
OtherBackend.hash = lambda self: "other"
""")
    done = script(f"import sys; sys.path.insert(0, {str(tmp_path / 'other')!r})" + MODEL + """
import triton
driver = triton.runtime.driver
assert type(driver.active).__name__ == "OtherDriver"
check(torch.compile(model, backend="triton-spirv"))
assert type(driver.default).__name__ == "OtherDriver"
driver.reset_active()
assert type(driver.active).__name__ == "OtherDriver"
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("way", ["enable", "variable", "name"])
def test_another_backend_of_the_name_is_refused(way: str, script: Script, tmp_path: Path) -> None:
    from backend.test_switch import OTHER

    for name, text in OTHER.items():
        path = tmp_path / "other" / name.replace("other-1", "triton_somebody-1")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace("other =", "cpu =").replace("Name: other", "Name: triton-somebody")
                        .replace("lambda: True", "lambda: False"))
    uses = {"enable": "import triton_spirv; triton_spirv.inductor.enable()",
            "variable": "check(torch.compile(model))",
            "name": 'check(torch.compile(model, backend="triton-spirv"))'}
    done = script(f"import sys; sys.path.insert(0, {str(tmp_path / 'other')!r})" + MODEL + uses[way],
                  TRITON_SPIRV_INDUCTOR="1" if way == "variable" else None)
    assert done.returncode == 1
    assert "by triton-somebody (other_backend): Triton can have only one" in done.stderr, done.stderr


@pytest.mark.parametrize(("variables", "said"), [
    ({"TRITON_SPIRV_BACKEND": "0"}, "TRITON_SPIRV_BACKEND=0 switches triton-spirv off"),
    ({"TRITON_SPIRV_TARGET": "cpu-simt"}, "chooses spirv cpu-simt: unset both"),
    ({"TRITON_BACKENDS_IN_TREE": "1"}, "unset TRITON_BACKENDS_IN_TREE"),
])
def test_what_cannot_work_is_refused(variables: dict[str, str], said: str, script: Script) -> None:
    done = script("import triton_spirv; triton_spirv.inductor.enable()", **variables)
    assert done.returncode == 1
    assert "UsageError" in done.stderr and said in done.stderr, done.stderr


def test_the_extra_and_the_folder_resolve_together() -> None:
    """The extra names a distribution that pip is given in the same command."""
    command = [sys.executable, "-m", "pip", "install", "--dry-run", "--no-index", "--no-build-isolation",
               "-q", "--report", "-", "-e", ".[inductor]", "-e", "third_party/inductor"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"name": "triton-spirv-inductor"' in done.stdout or '"name":"triton-spirv-inductor"' in done.stdout
