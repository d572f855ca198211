"""What the emitter may use on a Vulkan device: its report, as a Target."""

from __future__ import annotations

from ...errors import DeviceError
from ...quirks import LLVMPIPE, NVIDIA, VulkanDriver, quirks_of
from ...target import Target
from .devices import Device, devices

#: the newest SPIR-V that a version of Vulkan takes
SPIRV_VERSIONS = {(1, 2): (1, 5), (1, 3): (1, 6), (1, 4): (1, 6)}

#: Of an H100: 65536 registers of a unit, of which a lane has up to 255; of shared memory its driver gives two
#: work-groups 24576 bytes each, but not 30000.
NVIDIA_PAIRED = (4, 24576)

#: LP_MAX_TGSI_LOOP_ITERATIONS of every version of Mesa
LLVMPIPE_ROUNDS = 65535


def target_of(device: Device) -> Target:
    """The target of a device. One name stands for one set of facts: see `Device.fingerprint`."""
    nvidia = device.driver == NVIDIA
    newest = max(version for version in SPIRV_VERSIONS if version <= max(device.version, (1, 2)))
    return Target(
        device.target_name,
        environment="vulkan",
        spirv_version=SPIRV_VERSIONS[newest],
        capabilities=device.capabilities,
        vector_width=1,
        max_registers=1 << 30,
        sub_group_size=device.subgroup_size,
        sub_group_sizes=device.subgroup_sizes,
        shared_bytes=device.shared_bytes,
        passing="push",
        components=4,
        fetches_ahead=True,
        double_buffers=True,
        paired=NVIDIA_PAIRED if nvidia else (0, 0),
        places_tiles=True,
        holds_operands=True,
        quirks=quirks_of(VulkanDriver(device.driver, device.mesa)),
        loop_rounds=LLVMPIPE_ROUNDS if device.driver == LLVMPIPE else 0,
        reconvergence=device.reconvergence,
        unrolled=128 if device.kind == "cpu" else 1024,
        # software devices divide as their processor does
        rounded=frozenset({"OpFDiv", "Sqrt"} if device.kind == "cpu" else ()),
        accurate=frozenset({"Exp2"} if nvidia else ()),
        contracts=contraction_of(device),
        float64="Float64" in device.capabilities,
        float_controls=controls_of(device),
        push_bytes=device.push_bytes,
        work_group_size=device.max_invocations,
        matrices=tuple((m.m, m.n, m.k, m.a, m.b, m.c, m.result) for m in device.matrices
                       if m.scope == "subgroup" and not m.saturating),
    )


def contraction_of(device: Device) -> str:
    """`Target.contracts`. An NVIDIA driver's (580) Fma takes denormals for 0, its contractions do not;
    without float controls to ask for them nothing is contracted."""
    if device.driver != NVIDIA:
        return "fma"
    return "mode" if "FloatControls2" in device.capabilities else ""


def controls_of(device: Device) -> frozenset[tuple[str, int]]:
    """The float controls that modules declare. An NVIDIA driver (580) rounds f32 to nearest without being
    told, and its code for softmax is a tenth slower where RoundingModeRTE says so."""
    return device.float_controls - ({("RoundingModeRTE", 32)} if device.driver == NVIDIA else set())


def find_target(name: str) -> Target:
    """The target of that name; DeviceError where no device of this machine has it."""
    for device in devices():
        if device.target_name == name:
            return target_of(device)
    raise DeviceError(f"no Vulkan device of this machine is target {name!r}")
