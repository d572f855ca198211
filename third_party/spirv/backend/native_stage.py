"""The native binary instead of SPIR-V as the last stage's result: a zebin by ocloc for an Intel GPU, which
need not be there, or the driver's own binary for a CPU device.

Off by default. `generate_native_code=True` or TRITON_SPIRV_ZEBIN=1 asks for it and raises where it fails;
"auto" takes SPIR-V then, with a warning, except where a kernel needs more resources than the device has: the
driver would find so, too.

The stage keeps its name, `spv`, for both formats, and whoever loads it looks at the first bytes. The SPIR-V
lies beside it in Triton's cache under the ending `.spirv`.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from triton.backends.compiler import GPUTarget
from triton.runtime.cache import get_cache_manager
from triton_spirv import native
from triton_spirv.artifact import Artifact
from triton_spirv.errors import DeviceError, TritonSpirvError
from triton_spirv.native.policy import Attempt
from triton_spirv.settings import FLAG_OR_AUTO
from triton_spirv.target import ocloc_device

from .targets import emitter_target

if TYPE_CHECKING:
    from triton_spirv.runtime.devices import Device

    from .options import SPIRVOptions

VARIABLE = "TRITON_SPIRV_ZEBIN"
DUMP_VARIABLE = "TRITON_SPIRV_SHADER_DUMP"
AUTO = "auto"
#: longest name that Triton gives to a file of a kernel, without its ending
_NAME_LENGTH = 150

#: what metadata says of a kernel that was left as SPIR-V
NOT_NATIVE: dict[str, Any] = {"binary_format": "spv", "device": "", "ocloc_version": "", "ocloc_cmd": "",
                              "attempts": [], "grf_count": 0, "simd_size": 0, "spill_bytes": 0, "n_spills": 0,
                              "slm_size": 0, "barrier_count": 0, "private_size": 0, "native_digest": ""}

_warned: set[str] = set()


def wanted(option: Any) -> bool | str:
    """False, True or "auto": the option, and where that is None the variable."""
    text = os.environ.get(VARIABLE, "") if option is None else str(option)
    if not text:
        return False
    mode = FLAG_OR_AUTO.value(VARIABLE if option is None else "generate_native_code", text)
    assert isinstance(mode, (bool, str))
    return mode


def device_name(target: GPUTarget, option: str) -> str:
    """What ocloc calls the device: the option, the named target's own name, or what the driver tells of the
    chosen device. Empty where that driver is the only one that compiles for it: a CPU device, a GPU that
    ocloc has no name for."""
    if option or target.backend == "cpu":
        return option
    if known := ocloc_device(str(target.arch)):
        return known
    from triton_spirv.runtime import devices

    device = chosen_device(target)
    if device.kind == "cpu":
        return ""
    try:
        return devices.native_name(device)
    except DeviceError:
        return ""


def chosen_device(target: GPUTarget) -> Device:
    """The OpenCL device that kernels for the target run on; DeviceError without one."""
    from triton_spirv.runtime import devices

    environment = emitter_target(target).environment
    if environment != "opencl":
        raise DeviceError("native binaries are made for OpenCL devices, "
                          f"and {target.arch} is for {environment}")
    return devices.choose(devices.selection())


def how(target: GPUTarget, mode: bool | str, option: str) -> dict[str, str]:
    """The device, and what compiles for it, for the cache's key: ocloc, its version and settings, or a
    driver, its version and settings, and the processor of a CPU device. With "auto" neither need be there."""
    from triton_spirv.runtime import binary_cache

    try:
        name = device_name(target, option)
        if not name:
            return {"native_device": "", "native_compiler": binary_cache.compiler_of(chosen_device(target))}
        identity = " ".join([f"ocloc {native.find().version}", *map("=".join, native.ocloc.settings())])
        return {"native_device": name, "native_compiler": identity}
    except (native.NativeError, DeviceError):
        if mode != AUTO:
            raise
        return {"native_device": option, "native_compiler": "none"}


def make(words: bytes, artifact: Artifact, options: SPIRVOptions, metadata: dict[str, Any]) -> bytes:
    """The binary, or the words again where "auto" has to do without one; fills the metadata."""
    try:
        binary, facts = _build(words, artifact, options, metadata["target"])
    except native.ScratchExceeded:
        raise
    except TritonSpirvError as error:
        if options.generate_native_code != AUTO:
            raise
        _warn(f"{artifact.entry} stays SPIR-V, which the driver compiles when it is loaded: {error}")
        return words
    manager = get_cache_manager(metadata["hash"])
    manager.put(words, kept_name(artifact.entry))
    metadata.update(facts, native_digest=hashlib.sha256(binary).hexdigest())
    return binary


def _build(words: bytes, artifact: Artifact, options: SPIRVOptions,
           target: GPUTarget) -> tuple[bytes, dict[str, Any]]:
    device = device_name(target, options.native_device)
    if not device:
        return _driver_binary(words, artifact, options, chosen_device(target))
    dump = os.environ.get(DUMP_VARIABLE)
    made = native.compile_spirv(
        words, device, artifact.entry, num_warps=artifact.num_warps, grf_mode=options.grf_mode,
        expected_grf=artifact.grf_mode, flags=flags_of(options.build_flags), simd=artifact.sub_group_size,
        dump=Path(dump) if dump else None)
    return made.binary, made.metadata()


def _driver_binary(words: bytes, artifact: Artifact, options: SPIRVOptions,
                   device: Device) -> tuple[bytes, dict[str, Any]]:
    """What the driver of a device that is there makes of the words."""
    from triton_spirv.runtime import devices, program

    choice = program.Policy(options.grf_mode, artifact.num_warps, artifact.sub_group_size, artifact.grf_mode)
    built = program.build(devices.open_device(device), words, artifact.entry, options.build_flags, choice)
    attempts = list(built.attempts) or [Attempt("default", built.build_flags).to_json()]
    return built.binary(), {
        "binary_format": "driver", "device": device.name, "attempts": attempts,
        "build_flags": built.build_flags,
        "grf_count": built.registers, "simd_size": artifact.sub_group_size, "n_spills": built.n_spills,
        "spill_bytes": built.spill_bytes or 0}


def flags_of(text: str) -> tuple[str, ...]:
    """The flags of a text as one types them; `-igc_opts 'A=1,B=2'` stays together."""
    words = shlex.split(text)
    flags: list[str] = []
    while words:
        word = words.pop(0)
        if word == "-igc_opts" and words:
            word += f" {shlex.quote(words.pop(0))}"
        flags.append(word)
    return tuple(flags)


def kept_name(entry: str) -> str:
    """The file of the SPIR-V module beside a native binary in Triton's cache."""
    return f"{entry[:_NAME_LENGTH]}.spirv"


def _warn(message: str) -> None:
    """Each message once."""
    if message not in _warned:
        _warned.add(message)
        warnings.warn(message, RuntimeWarning, stacklevel=2)
