"""What every test shares: how a kernel is launched, in which mode, and what must hold after each launch.

Tests that need no device (tests/ir, tests/spirv, ...) pay nothing for this file: triton and torch are
imported by the fixtures that use them. `TRITON_INTERPRET=1 pytest tests/lower` runs the operation tests in
Triton's own interpreter, which checks the references; where the interpreter itself is wrong, a test says
`numeric.interpreter_is_wrong(...)`.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(
    0, str(Path(__file__).parent)
)  # tests import `numeric` by its plain name, whatever the import mode

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if not INTERPRETED:
    os.environ.setdefault("TRITON_SPIRV_BACKEND", "1")  # Triton reads the switch when it is imported

#: mode -> the environment that selects it. A mode is how a tensor is spread over work-items, see
#: docs/architecture.md.
MODES: dict[str, dict[str, str]] = {
    "vector": {}, **{name: {"TRITON_SPIRV_TARGET": name} for name in ("simt", "simt8", "simt32")},
}

#: the environment that spirv-val is told, the newest OpenCL one it knows; modules that use what it lacks
#: (cl_khr_int64_base_atomics brings this to OpenCL), or newer SPIR-V than its 1.2, are checked by the rules
#: of their own version alone
VALIDATION_ENVIRONMENT = "opencl2.2"
BEYOND_ENVIRONMENT = "Int64Atomics"

_validated: set[str] = set()
_mode_of_kernel: dict[int, str] = {}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--spirv-modes",
        default=os.environ.get("TRITON_SPIRV_TEST_MODES", "vector"),
        help=f"comma-separated modes to run the operation tests in, of {', '.join(MODES)}",
    )

    parser.addoption(
        "--spirv-warps",
        type=int,
        help="num_warps of the operation tests' kernels, where a test does not say",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "mode" not in metafunc.fixturenames:
        return
    modes = metafunc.config.getoption("--spirv-modes").split(",")
    unknown = sorted(set(modes) - set(MODES))
    if unknown:
        raise pytest.UsageError(f"--spirv-modes: unknown {', '.join(unknown)}; there are {', '.join(MODES)}")
    metafunc.parametrize("mode", modes, indirect=True)


@pytest.fixture
def mode(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The mode that this test runs in; its environment is set while the test runs."""
    for name, value in MODES[request.param].items():
        monkeypatch.setenv(name, value)
    return request.param


@pytest.fixture
def run(mode: str, pytestconfig: pytest.Config) -> Iterator[Callable[..., Any]]:
    """`run(kernel, grid, *arguments, **constexprs_and_options)` launches and gives the CompiledKernel (None
    when interpreted).

    After the test every SPIR-V module that its launches made must pass spirv-val.
    """
    compiled: list[Any] = []
    warps = pytestconfig.getoption("--spirv-warps")

    def launch(kernel: Any, grid: int | tuple[int, ...], *arguments: Any, **options: Any) -> Any:
        if _mode_of_kernel.get(id(kernel), mode) != mode:
            kernel.device_caches.clear()  # keyed by the device alone, but the mode changes the code
        _mode_of_kernel[id(kernel)] = mode
        if warps:
            options.setdefault("num_warps", warps)
        try:
            result = kernel[(grid,) if isinstance(grid, int) else grid](*arguments, **options)
        except Exception as error:
            if mode != "vector" and type(error).__name__ == "OutOfResources":
                pytest.skip(f"{mode}: {error}")  # one work-item has more memory of its own than lanes share
            raise
        compiled.append(result)
        return result

    yield launch
    for kernel in compiled:
        assert_valid(kernel)


def assert_valid(compiled: Any) -> None:
    """The kernel's SPIR-V module passes spirv-val; each distinct module is shown to it once."""
    words = getattr(compiled, "asm", {}).get("spv")
    if words is None:
        return
    digest = hashlib.sha256(words).hexdigest()
    if digest in _validated:
        return
    from triton_spirv.tools import spirv_tools

    newer = int.from_bytes(words[4:8], "little") > 0x00010200
    beyond = newer or BEYOND_ENVIRONMENT in compiled.asm["spvasm"]
    spirv_tools.validate(words, None if beyond else VALIDATION_ENVIRONMENT)
    _validated.add(digest)
