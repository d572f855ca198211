"""The switch: invisible when off, ours when on, whatever else is installed, and turned while running."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Script = Callable[..., "subprocess.CompletedProcess[str]"]

ADD = """
import triton, triton.language as tl

@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    tl.store(out + i, tl.load(x + i, mask=mask) + tl.load(y + i, mask=mask), mask=mask)

def check():
    import numpy as np
    from triton_spirv import asarray, zeros
    x, out = asarray(np.arange(100, dtype=np.float32)), zeros(100)
    kernel = add[(2,)](x, x, out, 100, BLOCK=64)
    assert (out.numpy() == 2 * x.numpy()).all()
    return kernel
"""

#: the files of a second backend that is always active, as CUDA's is on a machine with a GPU
OTHER = {
    "other_backend/__init__.py": "",
    "other_backend/compiler.py": """
from triton.backends.compiler import BaseBackend
class OtherBackend(BaseBackend):
    supports_target = staticmethod(lambda target: target.backend == "other")
    hash = parse_options = add_stages = load_dialects = get_module_map = lambda *_: None
""",
    "other_backend/driver.py": """
from triton.backends.driver import DriverBase
class OtherDriver(DriverBase):
    is_active = staticmethod(lambda: True)
    get_current_target = get_active_torch_device = get_benchmarker = map_python_to_cpp_type = lambda *_: None
""",
    "other-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: other\nVersion: 1\n",
    "other-1.dist-info/entry_points.txt": "[triton.backends]\nother = other_backend\n",
}


@pytest.fixture(params=["imported before", "imported after"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A script's first lines: they install the other backend, which Triton imports before or after ours."""
    for name, text in OTHER.items():
        path = tmp_path / "other" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = request.param == "imported before"
    return f"""
import sys
sys.path.insert({0 if before else 10_000}, {str(tmp_path / "other")!r})
from triton.backends import backends
names = list(backends)
assert (names.index("other") < names.index("spirv")) == {before}, names
"""


def test_off_is_invisible(script: Script) -> None:
    done = script("""
import sys, triton
from triton.backends import backends
from triton.backends.compiler import GPUTarget
ours = backends["spirv"]
assert not ours.driver.is_active()
assert not ours.compiler.supports_target(GPUTarget("cpu", "x86_64", 1))
for name in ("triton_spirv.compiler", "triton_spirv.runtime", "triton_spirv_backend.options", "pyopencl"):
    assert name not in sys.modules, name
for other in backends.values():
    assert not hasattr(other.driver.is_active, "silenced")
try:
    triton.runtime.driver.active
except RuntimeError as error:
    assert "0 active drivers" in str(error)
else:
    raise AssertionError("a driver is active")
""", TRITON_SPIRV_BACKEND="0")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("value", [None, "", "auto"])
def test_alone_ours_is_active(script: Script, value: str | None) -> None:
    """The variable is unset, no other backend is active: kernels run. Importing Triton decides nothing."""
    done = script(ADD + """
import triton_spirv, triton_spirv.switch
assert not triton_spirv.switch.is_on()
check()
assert triton_spirv.switch.is_on()
with triton_spirv.backend():
    check()
check()
triton_spirv.disable()
try:
    triton.runtime.driver.reset_active()
    triton.runtime.driver._default = None
    triton.runtime.driver.active
except RuntimeError as error:
    assert "0 active drivers" in str(error)
else:
    raise AssertionError("a driver is active")
triton_spirv.enable()
check()
""", TRITON_SPIRV_BACKEND=value)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("comes", ["first", "last", "imported first"])
def test_choosing_imports_no_torch_where_there_is_no_gpu(script: Script, tmp_path: Path, comes: str) -> None:
    """Other vendors' drivers import torch to look for a GPU; a device file decides whether they are asked.
    Triton imports and asks drivers in the order of a folder's entries, so ours is first on some machines;
    with Inductor's plugin it may be imported first and asked last."""
    ordered = f"""
import importlib.metadata, pathlib, sys
installed = importlib.metadata.entry_points
class Ordered:
    def select(self, **which):
        if {comes == "imported first"}:
            import triton_spirv_backend.driver
        found = installed().select(**which)
        return sorted(found, key=lambda each: (each.name == "spirv") == {comes != "first"})
importlib.metadata.entry_points = Ordered
""" + ADD + f"""
from triton.backends import backends
from triton_spirv_backend import driver
assert list(backends)[{0 if comes == "first" else -1}] == "spirv"
"""
    (tmp_path / "dev").mkdir()
    done = script(ordered + f"""
driver._DEVICES = pathlib.Path({str(tmp_path / "dev")!r})
assert "torch" not in sys.modules
check()
assert "torch" not in sys.modules, "a driver has imported it"
""")
    assert done.returncode == 0, done.stderr
    (tmp_path / "dev" / "kfd").touch()
    done = script(ordered + f"""
driver._DEVICES = pathlib.Path({str(tmp_path / "dev")!r})
asked = []
backends["amd"].driver.is_active = staticmethod(lambda: asked.append("amd") or False)
check()
assert sorted(set(asked)) == ["amd"], asked
driver._DEVICES = pathlib.Path({str(tmp_path)!r})
assert not driver._may_be_active(backends["amd"].driver)
""")
    assert done.returncode == 0, done.stderr


def test_another_active_driver_is_left_alone(script: Script, other: str) -> None:
    """The variable is unset, and another backend is active: it stays the only one, ours stays silent."""
    done = script(other + """
import triton
from triton.backends import backends
from triton.backends.compiler import GPUTarget
assert type(triton.runtime.driver.active).__name__ == "OtherDriver"
assert not backends["spirv"].driver.is_active()
assert not hasattr(backends["other"].driver.is_active, "silenced")
assert not backends["spirv"].compiler.supports_target(GPUTarget("cpu", "x86_64", 1))
""")
    assert done.returncode == 0, done.stderr


def test_named_as_the_default_ours_is_active(script: Script, other: str) -> None:
    done = script(other + ADD + """
if triton.__version__ < "3.7":
    raise SystemExit  # it has no such variable, and chooses none of two
assert type(triton.runtime.driver.active).__name__ == "SPIRVDriver"
check()
""", TRITON_DEFAULT_BACKEND="spirv")
    assert done.returncode == 0, done.stderr


def test_import_is_cheap(script: Script) -> None:
    """The plugin's part of `import triton` with the switch off is two files and the switch."""
    done = script("""
import importlib, os, sys
os.environ["TRITON_BACKENDS_IN_TREE"] = "1"
import triton
before = set(sys.modules)
importlib.import_module("triton_spirv_backend.compiler")
importlib.import_module("triton_spirv_backend.driver")
made = set(sys.modules) - before
print(*sorted(name for name in made if name.partition(".")[0] not in sys.stdlib_module_names))
""")
    assert done.returncode == 0, done.stderr
    ours = {"triton_spirv", "triton_spirv.switch", "triton_spirv_backend", "triton_spirv_backend.compiler",
            "triton_spirv_backend.driver"}
    assert set(done.stdout.split()) <= ours


@pytest.mark.cpu_device("what it reports")
def test_on(script: Script) -> None:
    done = script(ADD + """
target = triton.runtime.driver.active.get_current_target()
assert target.backend == "cpu" and target.warp_size == 32, target
check()
""", TRITON_SPIRV_BACKEND="1")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("value", ["0", "off", "false", "No"])
def test_values_that_mean_off(script: Script, value: str) -> None:
    done = script("""
import triton_spirv.switch
assert not triton_spirv.switch.is_on()
""", TRITON_SPIRV_BACKEND=value)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("default", [None, "other"])
def test_second_active_driver(script: Script, other: str, default: str | None) -> None:
    """As on a machine with CUDA: with the switch on ours is chosen; off, the other one comes back."""
    done = script(other + ADD + """
import triton_spirv
active = lambda: type(triton.runtime.driver.active).__name__
assert active() == "SPIRVDriver", active()
check()
triton_spirv.disable()
assert active() == "OtherDriver", active()
triton_spirv.enable()
assert active() == "SPIRVDriver", active()
""", TRITON_SPIRV_BACKEND="1", TRITON_DEFAULT_BACKEND=default)
    assert done.returncode == 0, done.stderr


def test_turned_while_running(script: Script, other: str) -> None:
    done = script(other + ADD + """
import os, triton_spirv
active = lambda: type(triton.runtime.driver.active).__name__
other = triton.runtime.driver.active
assert active() == "OtherDriver"
with triton_spirv.backend():
    assert active() == "SPIRVDriver" and os.environ["TRITON_SPIRV_BACKEND"] == "1"
    check()
    with triton_spirv.backend():
        check()
    triton.runtime.driver.reset_active()
    assert active() == "SPIRVDriver"
    check()
assert triton.runtime.driver.active is other and "TRITON_SPIRV_BACKEND" not in os.environ
triton_spirv.enable()
triton_spirv.enable()
check()
triton_spirv.disable()
assert triton.runtime.driver.active is other
try:
    with triton_spirv.backend():
        raise KeyError
except KeyError:
    assert active() == "OtherDriver"
""")
    assert done.returncode == 0, done.stderr


def test_kernels_may_die_later(script: Script) -> None:
    """A kernel that ends with the switch off says nothing, whatever Triton wants to do with it then."""
    done = script(ADD + """
import gc, triton_spirv
with triton_spirv.backend():
    check()
add.device_caches.clear()
gc.collect()
with triton_spirv.backend():
    check()
""")
    assert done.returncode == 0 and not done.stderr, done.stderr


def test_enabled_before_triton_is_imported(script: Script) -> None:
    done = script("import triton_spirv\ntriton_spirv.enable()\n" + ADD + "check()")
    assert done.returncode == 0, done.stderr


def test_wrong_device(script: Script) -> None:
    done = script(ADD + "check()", TRITON_SPIRV_BACKEND="1", TRITON_SPIRV_DEVICE="no such device")
    assert done.returncode and "names no device; say cpu, gpu, gpu:1, an index" in done.stderr
    assert "\n  0: " in done.stderr


@pytest.mark.parametrize("choice", ["cpu", "0", "opencl"])
def test_device_choices(script: Script, choice: str) -> None:
    done = script(ADD + "check()", TRITON_SPIRV_BACKEND="1", TRITON_SPIRV_DEVICE=choice)
    assert done.returncode == 0, done.stderr


@pytest.mark.cpu_device("compiling for it asks no driver")
def test_compiling_does_not_touch_opencl(script: Script) -> None:
    """Compile workers run in processes that must not open a device."""
    done = script(ADD + """
import ctypes, triton_spirv.runtime.opencl as opencl
def refuse(*_):
    raise AssertionError("a driver was loaded")
opencl.Library.__init__ = refuse
from triton_spirv import zeros
x = zeros(100)
kernel = add.warmup(x, x, x, 100, BLOCK=64, grid=(1,))
assert kernel.asm["spv"][:4] == b"\\x03\\x02\\x23\\x07"
assert triton.runtime.driver.active.utils.get_device_properties("cpu")["multiprocessor_count"] >= 1
""", TRITON_SPIRV_BACKEND="1")
    assert done.returncode == 0, done.stderr


def test_without_triton_enable_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util
    import os
    import sys

    from triton_spirv import switch

    monkeypatch.delitem(sys.modules, "triton", raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.delenv(switch.VARIABLE, raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'triton-spirv\[cpu\]'"):
        switch.enable()
    assert switch.VARIABLE not in os.environ


@pytest.mark.parametrize("name, value", [("TRITON_SPIRV_BACKEND", "nope"),
                                         ("TRITON_SPIRV_COMPILE_SECONDS", "soon")])
def test_a_wrong_value_ends_the_first_launch_not_the_import(script: Script, name: str, value: str) -> None:
    ran = script(ADD + "print('imported')\ncheck()", **{name: value})
    assert ran.returncode == 1 and ran.stdout == "imported\n"
    assert f"triton_spirv.errors.UsageError: {name}='{value}': use " in ran.stderr


def test_other_words_for_on_and_off(script: Script) -> None:
    assert script(ADD + "check(); print('ran')", TRITON_SPIRV_BACKEND="Yes").stdout == "ran\n"
    assert "0 active drivers" in script(ADD + "check()", TRITON_SPIRV_BACKEND="False").stderr
