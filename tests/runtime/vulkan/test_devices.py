"""Devices: what is reported, which is meant, what is said where there is none."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from triton_spirv.errors import DeviceError
from triton_spirv.quirks import NVIDIA
from triton_spirv.runtime.vulkan import devices, features, is_target_name, is_vulkan
from triton_spirv.runtime.vulkan.target import find_target, target_of


def child(script: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: the loader is asked once in each."""
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                          env={**os.environ, **variables})


CHOOSE = "from triton_spirv.runtime.vulkan import devices; print(devices.choose('vulkan'))"


def test_chosen_by_kind_index_and_name(device: devices.Device) -> None:
    assert devices.choose(device.choice) == device
    assert devices.choose(f"vulkan:{device.name[:6].upper()}").name == device.name
    assert is_vulkan("Vulkan:0") and is_vulkan("vulkan") and not is_vulkan("cpu")


@pytest.mark.parametrize("choice", ["vulkan:99", "vulkan:no such thing"])
def test_unknown_device(choice: str, device: devices.Device) -> None:
    with pytest.raises(DeviceError, match=f"(?s){choice}.*{re.escape(device.name)}"):
        devices.choose(choice)


@pytest.mark.parametrize("feature", features.REQUIRED)
def test_a_device_that_lacks_something(feature: str, device: devices.Device,
                                       monkeypatch: pytest.MonkeyPatch) -> None:
    """It is passed over, and refused by name where it is meant."""
    lesser = replace(device, features=device.features - {feature}, kind="gpu", index=0)
    monkeypatch.setattr(devices, "devices", lambda: (lesser, replace(device, index=1)))
    assert devices.choose("vulkan").index == 1
    with pytest.raises(DeviceError, match=f"lacks {feature}, without which"):
        devices.choose("vulkan:0")


def test_no_driver(tmp_path: Path) -> None:
    none = str(tmp_path / "none.json")
    done = child(CHOOSE, TRITON_SPIRV_VULKAN_VALIDATION="", VK_DRIVER_FILES=none, VK_ICD_FILENAMES=none)
    assert "DeviceError: there is no Vulkan device" in done.stderr and "none.json" in done.stderr


@pytest.mark.parametrize("drivers", ["", "/nonexistent/driver.json"])
def test_no_loader(tmp_path: Path, drivers: str) -> None:
    """The way out names the packages; drivers that nobody could ask are not blamed."""
    script = "from triton_spirv.runtime.vulkan import library; library._candidates = lambda: ['libnone.so']\n"
    done = child(script + CHOOSE, VK_DRIVER_FILES=drivers)
    assert "apt install libvulkan1" in done.stderr and "driver.json" not in done.stderr
    broken = tmp_path / "libvulkan.so.1"
    broken.write_bytes(b"nothing")
    done = child(CHOOSE, TRITON_SPIRV_VULKAN_LOADER=str(broken))
    assert f"TRITON_SPIRV_VULKAN_LOADER={broken} is not a Vulkan loader" in done.stderr


def test_without_a_loader_there_are_no_devices() -> None:
    script = ("from triton_spirv.runtime.vulkan import library, devices\n"
              "library._candidates = lambda: []\nprint(devices.devices())")
    assert child(script).stdout == "()\n"


def test_report(device: devices.Device) -> None:
    assert not device.missing and device.subgroup_size in device.subgroup_sizes
    assert device.shared_bytes >= 16 << 10 and device.push_bytes >= 128 and device.max_invocations >= 128
    assert {"Shader", "Int64", "PhysicalStorageBufferAddresses", "GroupNonUniform"} <= device.capabilities
    assert device.memory_types and device.queue_family >= 0


@pytest.mark.parametrize(("families", "expected"), [
    ([(15, 64), (12, 64), (14, 48), (14, 64)], (2, 48)),  # the second draws nothing, and does not compute
    ([(15, 64), (14, 0)], (0, 64)), ([(15, 36)], (0, 36)), ([(1, 64), (14, 0), (15, 64)], (1, 0)),
    ([(12, 64)], (-1, 0)), ([], (-1, 0)),
])
def test_queue_family(families: list[tuple[int, int]], expected: tuple[int, int]) -> None:
    """One that computes only where that has timestamps, or else the first that computes."""
    assert devices.pick_family(families) == expected


def test_name_of_the_target_is_stable(device: devices.Device) -> None:
    """Another process finds the same name, which is a part of the cache key; other facts have another."""
    script = "from triton_spirv.runtime.vulkan import devices; print(devices.choose('vulkan').target_name)"
    names = {child(script, PYTHONHASHSEED=seed).stdout.strip() for seed in ("1", "2")}
    assert names == {devices.choose("vulkan").target_name}
    other = devices.Device(**{**vars_of(device), "driver_version": "another"})
    assert other.target_name != device.target_name


@pytest.mark.parametrize(("version", "mesa", "by_halves"), [
    ("Mesa 22.3.6 (LLVM 15.0.6)", (22, 3, 6), True), ("Mesa 24.1.2", (24, 1, 2), True),
    ("Mesa 24.1.3-1ubuntu1", (24, 1, 3), False), ("Mesa 25.0.0-devel (git-0)", (25, 0, 0), False),
    ("580.95.05", None, False)])
def test_old_mesa_extends_by_halves(device: devices.Device, version: str, mesa: tuple[int, ...] | None,
                                    by_halves: bool) -> None:
    other = devices.Device(**{**vars_of(device), "driver_version": version})
    assert other.mesa == mesa and target_of(other).has("extends_by_halves") == by_halves


def vars_of(device: devices.Device) -> dict[str, object]:
    return {name: getattr(device, name) for name in devices.Device.__dataclass_fields__}


def test_target(device: devices.Device) -> None:
    target = target_of(device)
    assert find_target(target.name) == target and is_target_name(target.name)
    assert target.environment == "vulkan" and target.capabilities == device.capabilities
    assert target.sub_group_size == device.subgroup_size and target.shared_bytes == device.shared_bytes
    with pytest.raises(DeviceError, match="vulkan-unknown"):
        find_target("vulkan-unknown")


@pytest.mark.parametrize(("independence", "widths", "expected"), [
    (features.ALL, (16, 64), {16, 64}), (features.ONLY_32, (16, 32), {32}),
    (features.ONLY_32, (16, 32, 64), {16, 32, 64}), (features.NONE, (16, 32), set()),
    (features.NONE, (16, 32, 64), {16, 32, 64}),
])
def test_float_controls_that_go_together(independence: int, widths: tuple[int, ...],
                                         expected: set[int]) -> None:
    """Execution modes of widths that the device cannot have alone are left out."""
    from triton_spirv.runtime.vulkan.structures import make

    reported = make("PhysicalDeviceVulkan12Properties", roundingModeIndependence=independence)
    for width in widths:
        setattr(reported, f"shaderRoundingModeRTEFloat{width}", 1)
    assert devices._float_controls(reported) == {("RoundingModeRTE", width) for width in expected}


def test_validation_layer_that_is_missing(tmp_path: Path) -> None:
    done = child(CHOOSE, TRITON_SPIRV_VULKAN_VALIDATION="1", VK_LAYER_PATH=str(tmp_path))
    assert "VK_LAYER_KHRONOS_validation, which is not installed" in done.stderr
    assert "vulkan-validationlayers" in done.stderr


def test_validation_layer_reports_what_is_wrong() -> None:
    """A fill of 3 bytes at 1: Vulkan asks for multiples of 4. The next wait raises it."""
    script = """
from triton_spirv.runtime.vulkan import devices
from triton_spirv.runtime.vulkan.context import open_device
context = open_device(devices.choose("vulkan"))
memory = context.pools.device.allocate(64)
context.stream.fill(memory, 0, 8, 0)
context.stream.synchronize()
print("fine so far")
context.stream.fill(memory, 1, 3, 0)
context.stream.synchronize()
"""
    done = child(script, TRITON_SPIRV_VULKAN_VALIDATION="1")
    if "VK_LAYER_KHRONOS_validation, which is not installed" in done.stderr:
        pytest.skip("the validation layer is not installed")  # which .ci/run takes for a failure
    assert "fine so far" in done.stdout
    assert "DeviceError: the Vulkan validation layer reports" in done.stderr
    assert "vkCmdFillBuffer" in done.stderr


@pytest.mark.parametrize("driver", [NVIDIA, "another"])
def test_what_is_known_of_a_driver(driver: str, device: devices.Device) -> None:
    """Rounding of f32 needs no mode there, and contraction float controls; others keep all that they have."""
    controls = frozenset((mode, bits) for mode in ("RoundingModeRTE", "SignedZeroInfNanPreserve")
                         for bits in (16, 32, 64)) | {("DenormPreserve", 16)}
    target = target_of(replace(device, driver=driver, float_controls=controls))
    known = driver == NVIDIA
    assert controls - target.float_controls == ({("RoundingModeRTE", 32)} if known else set())
    told = {"keeps_loops", "knows_extensions", "joins_conversions", "joins_quotients", "saturates",
            "equals_itself"}
    assert {name for name in told if target.has(name)} == (told if known else set())
    for feature, contracts in (("shaderFloatControls2", "mode"), ("shaderInt64", "")):
        offered = replace(device, driver=driver, features=frozenset({feature}))
        assert target_of(offered).contracts == (contracts if known else "fma")
    assert target.accurate == ({"Exp2"} if known else set())


def test_reconvergence(device: devices.Device) -> None:
    """A kernel asks for what the device was created with; code for another promise has another name."""
    maximal, uniform = "shaderMaximalReconvergence", "shaderSubgroupUniformControlFlow"
    plain = device.features - {maximal, uniform}
    modes = {"": set(), "SubgroupUniformControlFlowKHR": {uniform},
             "MaximallyReconvergesKHR": {uniform, maximal}}
    offered = {mode: replace(device, features=plain | more) for mode, more in modes.items()}
    for mode, other in offered.items():
        assert target_of(other).reconvergence == mode
    assert len({other.target_name for other in offered.values()}) == 3
