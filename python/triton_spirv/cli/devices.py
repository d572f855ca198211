"""`triton-spirv devices`: every device of OpenCL and of Vulkan, and what kernels find there."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .output import Output, size_in_words

if TYPE_CHECKING:
    from ..runtime.devices import Device
    from ..runtime.vulkan.devices import Device as VulkanDevice

EXAMPLES = ("devices", "devices --json", "devices --all")

#: clGetDeviceInfo numbers that only this page asks for: CL/cl.h, CL/cl_ext.h
GLOBAL_MEM_SIZE, MAX_CLOCK = 0x101F, 0x100C
IP_VERSION_INTEL, DEVICE_ID_INTEL = 0x4250, 0x4251

#: bits of CL_DEVICE_SVM_CAPABILITIES
SVM = {1: "coarse-grain buffers", 2: "fine-grain buffers", 4: "all host memory", 8: "atomics"}

#: what a kernel may want -> the extension that says so
ABILITIES = {
    "f64": "cl_khr_fp64", "f16": "cl_khr_fp16", "sub-groups": "cl_khr_subgroups",
    "shuffles": "cl_khr_subgroup_shuffle", "Intel sub-groups": "cl_intel_subgroups",
    "i64 atomics": "cl_khr_int64_base_atomics", "float atomics": "cl_ext_float_atomics",
    "unified memory": "cl_intel_unified_shared_memory",
    "matrix engine": "cl_intel_subgroup_matrix_multiply_accumulate",
             "2d block io": "cl_intel_subgroup_2d_block_io",
    "split barrier": "cl_intel_split_work_group_barrier",
}


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true",
                        help="print JSON: a list with an object for each device")
    parser.add_argument("--all", action="store_true", help="print every extension")


def run(options: argparse.Namespace, out: Output) -> int:
    """Status 1 where there is no device."""
    from ..errors import DeviceError
    from ..runtime.chosen_device import chosen
    from ..runtime.devices import INSTALL_HINT, devices
    from ..runtime.vulkan.devices import devices as vulkan_devices

    opencl, vulkan = devices(), vulkan_devices()
    complaint = ""
    try:
        meant = str(chosen()) if opencl or vulkan else ""
    except DeviceError as error:  # TRITON_SPIRV_DEVICE names none of them; the list is what helps then
        meant, complaint = "", str(error).splitlines()[0]
    facts = [describe(device, str(device) == meant) for device in opencl]
    facts += [describe_vulkan(device, str(device) == meant) for device in vulkan]
    if options.json:
        out.json(facts)
        return 0 if facts else 1
    if not facts:
        out.line(f"no OpenCL device and no Vulkan device: {INSTALL_HINT}; 'triton-spirv doctor' says more",
                 "bad")
        return 1
    for fact in facts:
        show(fact, out, options.all)
    if complaint:
        out.line(complaint, "bad")
    return 1 if complaint else 0


def describe(device: Device, chosen: bool) -> dict[str, Any]:
    """The device as plain data; sizes in bytes."""
    from ..runtime.devices import name_of, sub_group_sizes

    svm = [name for bit, name in SVM.items() if device.svm & bit]
    ip = _number(device, IP_VERSION_INTEL) if device.kind == "gpu" else None
    identity = _number(device, DEVICE_ID_INTEL) if device.kind == "gpu" else None
    return {
        "interface": "opencl", "index": str(device.index), "name": device.name, "kind": device.kind,
        "choice": name_of(device), "tile_of": str(device.card.index) if device.card else None,
        "platform": device.platform,
        "driver": device.driver_version, "chosen": chosen, "library": device.library.path,
        "spirv": device.il_versions.split(), "compute_units": device.compute_units,
        "clock_mhz": _number(device, MAX_CLOCK), "work_group_size": device.work_group_size,
        "global_bytes": _number(device, GLOBAL_MEM_SIZE), "local_bytes": device.local_bytes,
        "sub_group_sizes": list(sub_group_sizes(device)), "shared_virtual_memory": svm,
        "works_on_host_memory": device.shares_memory,
        "ip_version": None if ip is None else f"{ip >> 22}.{ip >> 14 & 0xFF}.{ip & 0x3F}",
        "device_id": None if identity is None else f"{identity:#06x}",
        "abilities": [name for name, extension in ABILITIES.items() if extension in device.extensions],
        "extensions": sorted(device.extensions),
    }


def describe_vulkan(device: VulkanDevice, chosen: bool) -> dict[str, Any]:
    """The same of a Vulkan device."""
    kinds = ", ".join(f"{matrix.m}x{matrix.n}x{matrix.k} {matrix.a}" for matrix in device.matrices)
    abilities = [*sorted(device.capabilities), *([f"matrices {kinds}"] if kinds else [])]
    return {
        "interface": "vulkan", "index": device.choice, "name": device.name, "kind": device.kind,
        "choice": device.choice, "tile_of": None,
        "platform": device.platform, "driver": f"{device.driver} {device.driver_version}", "chosen": chosen,
        "library": "", "spirv": [] if device.missing
            else ["SPIR-V_1.6" if device.version >= (1, 3) else "SPIR-V_1.5"],
        "missing": list(device.missing), "compute_units": device.compute_units, "clock_mhz": None,
        "work_group_size": device.max_invocations,
        "global_bytes": max((memory.heap_bytes for memory in device.memory_types), default=0),
        "local_bytes": device.shared_bytes, "sub_group_sizes": list(device.subgroup_sizes),
        "shared_virtual_memory": [], "works_on_host_memory": False, "ip_version": None, "device_id": None,
        "abilities": abilities, "extensions": sorted(device.extensions),
    }


def show(fact: dict[str, Any], out: Output, everything: bool) -> None:
    """One device, to read."""
    star = "*" if fact["chosen"] else " "
    part = f" (tile of device {fact['tile_of']})" if fact["tile_of"] else ""
    out.line(f"{star} {fact['index']}: {fact['name']}{part}", "head" if fact["chosen"] else "")
    sizes = ", ".join(map(str, fact["sub_group_sizes"])) or "unknown"
    memory = "works on host memory in place" if fact["works_on_host_memory"] else "arguments are copied"
    clock = f" at {fact['clock_mhz']} MHz" if fact["clock_mhz"] else ""  # a CPU driver may not tell
    lines = {
        "choice": f"TRITON_SPIRV_DEVICE={fact['choice']}",
        "driver": f"{fact['kind']}, {fact['platform']}, {fact['driver']}",
        "SPIR-V": ", ".join(version.removeprefix("SPIR-V_") for version in fact["spirv"])
             or "none: no kernels here",
        "units": f"{fact['compute_units'] or 'unknown'}{clock}, work-groups of up to "
                 f"{fact['work_group_size']}",
        "memory": f"{size_in_words(fact['global_bytes'] or 0)}, {size_in_words(fact['local_bytes'])} shared "
                  f"by a "
                  f"work-group; {memory}",
        "sub-groups": f"of {sizes}",
        "can": ", ".join(fact["abilities"]) or "nothing beyond the core",
    }
    if fact["ip_version"]:
        lines["chip"] = f"IP version {fact['ip_version']}, PCI id {fact['device_id']}"
    if everything:
        lines["extensions"] = " ".join(fact["extensions"])
    for name, text in lines.items():
        out.line(f"     {name:11} {text}")


def _number(device: Device, what: int) -> int | None:
    from ..runtime.opencl import OpenCLError

    try:
        return device.library.number("clGetDeviceInfo", device.handle, what)
    except OpenCLError:
        return None

