"""The tests of the runtime, of the plugin and of compiling ahead of time on a simulated GPU.

    python -m pytest tests/runtime tests/backend tests/aot --spirv-modes gpu-bmg

Where one simulated GPU is the only mode of a run, these tests have it as their device: `TRITON_SPIRV_DEVICE`
names it, for them and for processes that they start, and the loader of OpenCL finds it beside the CPU driver.
After each test none of these processes may have done anything wrong. Tests that have devices of their own
(the fixtures `gpu` and `cell`; files that import `simulated_gpu`) are as they always are.

What is about the CPU device only says so: `@pytest.mark.cpu_device("why")`, on a test or on one of its
values. Those are skipped, with the reason; so are those that are refused because the device has no 64-bit
floats.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import simulated_gpu

HERE = Path(__file__).parent
FOLDERS = ("runtime", "backend", "aot")
MARKER = "cpu_device(reason): about the CPU device; skipped where the tests run on a simulated GPU"


def mode_of(config: pytest.Config) -> str | None:
    """The mode of a run whose only one is a simulated GPU."""
    mode = config.getoption("--spirv-modes")
    return str(mode) if mode in simulated_gpu.MODES else None


def configure(config: pytest.Config) -> None:
    """The loader reads which drivers there are once in a process."""
    config.addinivalue_line("markers", MARKER)
    if mode_of(config) and simulated_gpu.available():
        os.environ["OCL_ICD_VENDORS"] = str(simulated_gpu.folder() / "vendors")


def takes_part(item: pytest.Item) -> bool:
    """Has this test the device that the run asks for?"""
    if not item.path.is_relative_to(HERE):
        return False
    folders = item.path.relative_to(HERE).parts[:-1]
    own = {"gpu", "cell"} & set(getattr(item, "fixturenames", ())) \
        or hasattr(getattr(item, "module", None), "simulated_gpu")
    return bool(folders) and folders[0] in FOLDERS and "vulkan" not in folders and not own \
        and not item.get_closest_marker("vulkan")


def skip_others(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Those that are about the CPU device, each with its reason."""
    mode = mode_of(config)
    for item in items:
        marker = item.get_closest_marker("cpu_device")
        if mode and marker and takes_part(item):
            item.add_marker(pytest.mark.skip(reason=f"about the CPU device: {marker.args[0]}"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Skipped where the device lacks what the test needs."""
    try:
        yield
    except Exception as error:
        mode = mode_of(item.config)
        if mode is None or not takes_part(item) or not simulated_gpu.lacks_doubles(mode, error):
            raise
        pytest.skip("the device has no 64-bit floats")


@pytest.fixture(autouse=True)
def device_of_the_run(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch,
                      tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The device of a test that takes part; what was wrong with its calls, if anything."""
    mode = mode_of(request.config)
    if mode is None or not takes_part(request.node):
        yield
        return
    if not simulated_gpu.available():
        pytest.skip(simulated_gpu.NEEDED)
    log = tmp_path_factory.mktemp("wrong") / "calls"
    monkeypatch.setenv("SIMULATED_GPU_LOG", str(log))
    for name, value in simulated_gpu.MODES[mode].items():
        monkeypatch.setenv(name, value)
    simulated_gpu.violations()
    yield
    wrong = simulated_gpu.violations()
    more = log.read_text().splitlines() if log.exists() else []
    assert not wrong + more, "\n".join(wrong + more)
