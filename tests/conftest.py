"""What every test shares: how a kernel is launched, in which mode, and what must hold after each launch.

Tests that need no device (tests/ir, tests/spirv, ...) pay nothing for this file: triton and torch are
imported by the fixtures that use them. `TRITON_INTERPRET=1 pytest tests/lower` runs the operation tests in
Triton's own interpreter, which checks the references; where the interpreter itself is wrong, a test says
`numeric.interpreter_is_wrong(...)`.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import re
import signal
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

# tests import `numeric` by its plain name, whatever the import mode
sys.path.insert(0, str(Path(__file__).parent))
import covering
import crowded
import everywhere
import family
import scarce
import simulated_gpu
import unchanged
from everywhere import (  # noqa: F401  # a fixture of all tests, a hook
    device_of_the_run,
    pytest_runtest_call,
)
from machine import targets as machine_targets
from released import (  # noqa: F401  # hooks
    pytest_collection_finish,
    pytest_runtest_teardown,
    pytest_sessionfinish,
)
from seed import KERNELS, SEED

INTERPRETED = os.environ.get("TRITON_INTERPRET") == "1"
if not INTERPRETED:
    os.environ.setdefault("TRITON_SPIRV_BACKEND", "1")  # Triton reads the switch when it is imported

os.environ.setdefault("TRITON_SPIRV_DEBUG", "verify")  # the IR behind each pass

# a shell's background jobs ignore Ctrl-C, and so would the processes that tests start and interrupt
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Mesa's software Vulkan device compiles a kernel of 8000 elements four times as fast without its optimiser
os.environ.setdefault("GALLIVM_PERF", "nopt")

#: mode -> the environment that selects it. A mode is how a tensor is spread over work-items, see
#: docs/architecture.md; "family" and "crowded" are targets that the tests make (tests/family.py, crowded.py).
MODES: dict[str, dict[str, str]] = {
    "vector": {},
    **{name: {"TRITON_SPIRV_TARGET": name}
       for name in ("simt", "simt8", "simt32", family.NAME, crowded.NAME)},
    # without any optimisation: what check=compiler compares with
    "simple": {"TRITON_SPIRV_OPTIMISE": "none"},
    "simple-simt": {"TRITON_SPIRV_OPTIMISE": "none", "TRITON_SPIRV_TARGET": "simt"},
    # the CPU device as one of another driver: no f16, and nothing of Intel's
    "other-cpu": {"TRITON_SPIRV_TARGET": "opencl-cpu:double:atomics"},
    # that driver: tools/with_pocl.sh runs pytest on a machine that has it
    "pocl": {"TRITON_SPIRV_DEVICE": "portable"},
    "vulkan": {"TRITON_SPIRV_DEVICE": os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan")},
}
#: the same device, its narrow types hidden
MODES[family.NARROW] = {**MODES["vulkan"], "TRITON_SPIRV_TARGET": family.NARROW}
#: devices with hardly any shared memory
MODES[scarce.NAME] = {"TRITON_SPIRV_TARGET": scarce.NAME}
MODES[scarce.VULKAN] = {**MODES["vulkan"], "TRITON_SPIRV_TARGET": scarce.VULKAN}

#: the environment that spirv-val is told, the newest OpenCL one it knows; modules that use what it lacks
#: (cl_khr_int64_base_atomics brings this to OpenCL), or newer SPIR-V than its 1.2, are checked by the rules
#: of their own version alone
VALIDATION_ENVIRONMENT = "opencl2.2"
BEYOND_ENVIRONMENT = "Int64Atomics"
#: folders of tests that take seconds each
LONG = ("benchmarks", "cuda_programs", "inductor", "property", "tutorials")
#: the same for Vulkan, by the version of SPIR-V in the header
VULKAN_ENVIRONMENTS = {0x00010500: "vulkan1.2", 0x00010600: "vulkan1.3"}

_validated: set[str] = set()
_mode_of_kernel: dict[int, str] = {}


#: modes on a device that lacks the instructions of the target: they are functions, linked in
EMULATED = ("xe", "xe8")

#: where the functions are, by how their names begin
EMULATIONS = {b"ts_matrix_": "matrix.cl", b"ts_load_": "matrix.cl", b"ts_store_": "matrix.cl",
              b"ts_where_": "predicated.cl"}

MODES.update({"xe": {"TRITON_SPIRV_TARGET": "cpu-xe"}, "xe8": {"TRITON_SPIRV_TARGET": "cpu-xe8"}})

#: kernels compiled for targets that may not be here, executed by tests/machine
MODES.update(machine_targets.MODES)

#: GPUs of Intel's, simulated behind OpenCL: real targets, memory of their own, every call checked
MODES.update(simulated_gpu.MODES)


VULKAN_NEEDED = "a Vulkan device is missing: apt-get install libvulkan1 mesa-vulkan-drivers"


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--skip-unchanged"):
        unchanged.refuse_in_ci()
    covering.configure(config)
    everywhere.configure(config)
    config.addinivalue_line("markers", "vulkan: needs a Vulkan device; skipped where there is none")


@functools.cache
def has_vulkan() -> bool:
    from triton_spirv.errors import DeviceError
    from triton_spirv.runtime.vulkan import devices

    try:
        devices.choose(os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan"))
    except DeviceError:
        return False
    return True


@functools.cache
def steady_hypothesis() -> None:
    """Its examples come from the tests' seed, too, and a busy machine may take its time for one."""
    import hypothesis.core

    hypothesis.core.global_force_seed = SEED
    hypothesis.settings.register_profile("steady", deadline=None)
    hypothesis.settings.load_profile("steady")


def pytest_runtest_setup(item: pytest.Item) -> None:
    # what tests draw without a seed of their own comes from the tests' seed
    if (generator := getattr(sys.modules.get("torch"), "default_generator", None)) is not None:
        generator.manual_seed(SEED)
    if "hypothesis" in sys.modules:
        steady_hypothesis()
    cell = getattr(item, "callspec", None) and item.callspec.params.get("cell")  # type: ignore[attr-defined]
    runs_there = cell is not None and cell.mode in ("vulkan", family.NARROW, scarce.VULKAN)
    if (runs_there or item.get_closest_marker("vulkan")) and not has_vulkan():
        pytest.skip(VULKAN_NEEDED)  # which .ci/run takes for a failure


def pytest_addoption(parser: pytest.Parser) -> None:
    covering.add_option(parser)
    parser.addoption(
        "--spirv-modes",
        default=os.environ.get("TRITON_SPIRV_TEST_MODES", "vector"),
        help=f"comma-separated modes to run the operation tests in, of {', '.join(MODES)}",
    )

    parser.addoption(
        "--spirv-warps",
        default="0",
        help="comma-separated num_warps of the operation tests' kernels, where a test does not say; 0: what"
             " Triton takes. In vector mode there are no warps",
    )
    parser.addoption(
        "--spirv-record", type=Path, metavar="FOLDER",
        help="write down there what the operation tests compile, for tools/replay.py",
    )
    parser.addoption(
        "--skip-unchanged", action="store_true",
        help="skip tests that launch kernels where the words of all of them and the driver are as they were "
             "when the test passed (tests/unchanged.py); for developing, refused where CI is set",
    )
    parser.addoption(
        "--spirv-sample",
        type=int,
        metavar="N",
        help="run each operation test in one of N of the combinations of --spirv-modes and --spirv-warps,"
             " another one for each test; with as many combinations as N, every test runs once; with half as"
             " many or fewer, all cases of a test function that run do so in the same one",
    )


@dataclass(frozen=True)
class Cell:
    """One way to run a test: a mode, and the warps of kernels that do not say (0: Triton's default)."""

    mode: str
    warps: int

    def __str__(self) -> str:
        return f"{self.mode}x{self.warps}" if self.warps else self.mode


def cells(config: pytest.Config) -> list[Cell]:
    """The combinations of modes and warps that the command line asks for."""
    modes = config.getoption("--spirv-modes").split(",")
    warps = [int(count) for count in config.getoption("--spirv-warps").split(",")]
    unknown = sorted(set(modes) - set(MODES))
    if unknown:
        raise pytest.UsageError(f"--spirv-modes: unknown {', '.join(unknown)}; there are {', '.join(MODES)}")
    return [Cell(mode, count) for mode in modes for count in (warps if "vector" not in mode else [0])]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "cell" not in metafunc.fixturenames:
        return
    if modes := getattr(metafunc.module, "SPIRV_MODES", ()):
        chosen = [Cell(mode, 0) for mode in modes]
    else:
        chosen = cells(metafunc.config)
        if is_one_drawn(metafunc.config):  # to make all, and leave most out, takes as long as to run the rest
            chosen = [chosen[draw(metafunc.definition.nodeid, len(chosen))]]
    metafunc.parametrize("cell", chosen, indirect=True, ids=str)


def pytest_report_header() -> str:
    return f"random kernels from {KERNELS}: TRITON_SPIRV_TEST_KERNELS={KERNELS} draws them again"


def is_one_drawn(config: pytest.Config) -> bool:
    """Does --spirv-sample leave so few that a test function has one combination, of which a part is run?"""
    return (config.getoption("--spirv-sample") or 0) >= 2 * len(cells(config))


def draw(name: str, count: int) -> int:
    """A number below `count` for what has this name; with another seed of the tests another."""
    return zlib.crc32(f"{SEED} {name}".encode()) % count


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A sample that covers each test; or --spirv-sample: of the combinations of one test, every Nth; where to
    start depends on its name and on the tests' seed. Long tests come first: at the end of a run in several
    processes one of them would keep the others waiting."""
    covering.apply(config, items)
    everywhere.skip_others(config, items)
    items.sort(key=lambda item: item.path.parent.name not in LONG)
    sample = config.getoption("--spirv-sample")
    if not sample:
        return
    numbers = {str(cell): i for i, cell in enumerate(cells(config))}
    part = sample // len(numbers) if is_one_drawn(config) else sample
    kept, dropped = [], []
    for item in items:
        cell = getattr(item, "callspec", None) and item.callspec.params.get("cell")  # type: ignore[attr-defined]
        if cell is not None:
            start = zlib.crc32(item.nodeid.replace(str(cell), "", 1).encode())
            of = sample if hasattr(item.module, "SPIRV_MODES") else part  # type: ignore[attr-defined]
            if (start + SEED + (numbers.get(str(cell), 0) if of == sample else 0)) % of:
                dropped.append(item)
                continue
        kept.append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=dropped)


@pytest.fixture
def cell(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cell]:
    """How this test runs; the environment of its mode is set while it does."""
    variables = MODES[request.param.mode]
    chosen = os.environ.get("TRITON_SPIRV_DEVICE", "")
    if "TRITON_SPIRV_DEVICE" not in variables and chosen.startswith("vulkan"):
        monkeypatch.delenv("TRITON_SPIRV_DEVICE")  # modes of the OpenCL device
    if request.param.mode == family.NARROW:
        family.add_narrow(variables["TRITON_SPIRV_DEVICE"])
    if request.param.mode == scarce.VULKAN:
        scarce.add_vulkan(variables["TRITON_SPIRV_DEVICE"])
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    # where memory is copied, of the smallest arrays too no more than a launch may reach
    monkeypatch.setattr("triton_spirv.runtime.reach.LEAST_BYTES", 0)
    if request.param.mode in EMULATED:
        from triton_spirv.runtime import program

        folder = Path(__file__).parent / "emulation"
        for prefix, file in EMULATIONS.items():
            monkeypatch.setitem(program.LIBRARIES, prefix, (folder / file).read_text())
    with machine_hook(request.param.mode), simulated(request.param.mode):
        yield request.param


def simulated(mode: str) -> contextlib.AbstractContextManager[None]:
    """Simulated GPUs are there for their modes; afterwards nothing may have been wrong."""
    return simulated_gpu.checked() if mode in simulated_gpu.MODES else contextlib.nullcontext()


def machine_hook(mode: str) -> contextlib.AbstractContextManager[None]:
    """Kernels of the machine's modes are executed by it."""
    if not machine_targets.is_machine(mode):
        return contextlib.nullcontext()
    from machine import hook

    return hook.installed()


@pytest.fixture
def gpu() -> Iterator[str]:
    """What chooses a simulated GPU; afterwards nothing that it was asked may have been wrong."""
    with simulated_gpu.checked():
        yield simulated_gpu.DEVICES["gpu-bmg"]


@pytest.fixture
def mode(cell: Cell) -> str:
    """The mode that this test runs in."""
    return cell.mode


PASSED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    report = yield
    if report.when == "call":
        item.stash[PASSED] = report.passed
    return report


@pytest.fixture
def run(cell: Cell, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """`run(kernel, grid, *arguments, **constexprs_and_options)` launches and gives the CompiledKernel (None
    when interpreted).

    After the test every SPIR-V module that its launches made must pass spirv-val.
    """
    compiled: list[Any] = []
    mode = cell.mode
    skips = request.config.getoption("--skip-unchanged") and not machine_targets.is_machine(mode)
    if skips and unchanged.is_unchanged(request.node.nodeid, request.path):
        pytest.skip("its words and the driver are unchanged since it passed")

    def launch(kernel: Any, grid: int | tuple[int, ...], *arguments: Any, **options: Any) -> Any:
        if _mode_of_kernel.get(id(kernel), mode) != mode:
            kernel.device_caches.clear()  # keyed by the device alone, but the mode changes the code
        _mode_of_kernel[id(kernel)] = mode
        if cell.warps:
            options.setdefault("num_warps", cell.warps)
        try:
            result = kernel[(grid,) if isinstance(grid, int) else grid](*arguments, **options)
        except Exception as error:
            skip_where_refused(mode, error)
            raise
        compiled.append(result)
        return result

    yield launch
    for kernel in compiled:
        assert_valid(kernel)
        if folder := request.config.getoption("--spirv-record"):
            record_kernel(kernel, folder)
    if skips and request.node.stash.get(PASSED, False):
        unchanged.note(request.node.nodeid, request.path, compiled)


@pytest.fixture
def run_text(cell: Cell, request: pytest.FixtureRequest) -> Callable[..., None]:
    """`run_text(text, programs, *arguments)` launches a kernel that is written in TTIR, with tensors of one
    dimension. Its module must pass spirv-val."""
    import handmade
    import triton_spirv
    import ttgir
    from triton_spirv import errors
    from triton_spirv_backend.targets import chosen_vulkan, current_target, emitter_target

    def launch(text: str, programs: int, *arguments: Any) -> None:
        target = emitter_target(current_target())
        warps = cell.warps or 4
        if target.lanes:
            text = ttgir.spread(text, target.sub_group_size, warps)
        try:
            made = triton_spirv.compile(text, target)
        except errors.TritonSpirvError as error:
            skip_where_refused(cell.mode, error)
            raise
        assert_valid(SimpleNamespace(asm={"spv": made.words, "spvasm": made.listing}))
        if folder := request.config.getoption("--spirv-record"):
            record(made.entry, text, target, {}, folder)
        if machine_targets.is_machine(cell.mode):
            from machine import hook

            hook.check(made, (programs, 1, 1), arguments)
            return
        device = chosen_vulkan()
        bound = handmade.bind(made) if device is None else handmade.bind_vulkan(made, device)
        bound.launch(programs, 1, 1, list(arguments))

    return launch


def skip_where_refused(mode: str, error: Exception) -> None:
    """The tests' own target refuses 64-bit floats by name; test_family.py tests that it is right to. So do
    targets of the machine; and it says itself which instructions it does not know."""
    if mode == family.NAME and family.refuses(error):
        pytest.skip(f"{mode}: {error}")
    if simulated_gpu.refuses(mode, error):
        pytest.skip(f"{mode}: {error}")
    if machine_targets.is_machine(mode) and (
            type(error).__name__ == "Unsupported" or "has no 64-bit floats" in str(error)):
        pytest.skip(f"{mode}: {error}")


def record_kernel(compiled: Any, folder: Path) -> None:
    """What the emitter was given for a kernel, as a file for tools/replay.py."""
    from triton_spirv_backend.stages import emitter_options
    from triton_spirv_backend.targets import emitter_target

    if "spv" in getattr(compiled, "asm", {}):
        target = emitter_target(compiled.metadata.target)
        text = compiled.asm["ttgir" if target.lanes else "ttir"]
        record(compiled.metadata.name, text, target, emitter_options(compiled.metadata), folder)


def record(name: str, text: str, target: Any, options: dict[str, Any], folder: Path) -> None:
    """The file, named for what it holds. (Not for a Vulkan device, whose target is found on its own machine
    only.)"""
    from triton_spirv.errors import DeviceError
    from triton_spirv.target import find_target

    try:
        plain = vars(find_target(target.name))
    except DeviceError:
        return
    changes = {field: value for field, value in vars(target).items() if value != plain[field]}
    lanes = re.search(r'"ttg.threads-per-warp" = (\d+)', text)
    if target.lanes and lanes and int(lanes[1]) != plain["sub_group_size"]:
        changes["sub_group_size"] = int(lanes[1])
    row = {"source": text, "target": target.name, "changes": changes, "options": options}
    digest = hashlib.sha256(json.dumps(row, default=sorted).encode()).hexdigest()[:16]
    row["name"] = f"{name}-{digest}.{target.name}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{digest}.json").write_text(json.dumps(row, default=sorted), encoding="utf-8")


def assert_valid(compiled: Any) -> None:
    """The kernel's SPIR-V module passes spirv-val; each distinct module is shown to it once."""
    words = getattr(compiled, "asm", {}).get("spv")
    if words is None:
        return
    digest = hashlib.sha256(words).hexdigest()
    if digest in _validated:
        return
    import valid

    version = int.from_bytes(words[4:8], "little")
    if is_shader(words):
        valid.validate(words, VULKAN_ENVIRONMENTS[version])
    else:
        beyond = version > 0x00010200 or BEYOND_ENVIRONMENT in compiled.asm["spvasm"]
        valid.validate(words, None if beyond else VALIDATION_ENVIRONMENT)
    _validated.add(digest)


@pytest.fixture
def require_valid() -> Callable[[Any], None]:
    """`assert_valid`, for tests in folders below."""
    return assert_valid


def is_shader(words: bytes) -> bool:
    """Does the module begin with OpCapability Shader, as those for Vulkan do?"""
    capability, shader = (2 << 16 | 17).to_bytes(4, "little"), (1).to_bytes(4, "little")
    return capability + shader in words[20:20 + 8 * 40]
