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
from triton_spirv.target import OCLOC_DEVICES

from .options import grf_mode_of

if TYPE_CHECKING:
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
    known: dict[str, bool | str] = {"": False, "0": False, "false": False, "1": True, "true": True,
                                     AUTO: AUTO}
    if text.lower() not in known:
        name = VARIABLE if option is None else "generate_native_code"
        raise native.BadRequest(f"{name}={text!r}: say 0, 1 or auto")
    return known[text.lower()]


def device_name(target: GPUTarget, option: str) -> str:
    """What ocloc calls the device: the option, the named target's own name, or what the driver tells of the
    chosen device. Empty for a CPU device."""
    if option or target.backend == "cpu":
        return option
    if target.arch in OCLOC_DEVICES:
        return OCLOC_DEVICES[str(target.arch)]
    from triton_spirv.runtime import devices

    return devices.native_name(devices.choose(devices.selection()))


def compiler_identity(target: GPUTarget, mode: bool | str) -> str:
    """What makes the binary, for the cache's key: ocloc, its version and settings, or the processor that a
    CPU's driver compiles for (the driver itself is in the key of every kernel)."""
    if target.backend == "cpu":
        from triton_spirv.runtime.processor import processor

        return f"driver for {processor().key}"
    try:
        return " ".join([f"ocloc {native.find().version}", *map("=".join, native.ocloc.settings())])
    except native.NativeError:
        if mode != AUTO:
            raise
        return "no ocloc"


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
    if target.backend == "cpu":
        return _driver_binary(words, artifact)
    dump = os.environ.get(DUMP_VARIABLE)
    made = native.compile_spirv(
        words, options.native_device, artifact.entry, num_warps=artifact.num_warps,
        grf_mode=grf_mode_of(options.grf_mode, artifact.grf_mode), flags=flags_of(options.build_flags),
        simd=artifact.sub_group_size, dump=Path(dump) if dump else None)
    return made.binary, made.metadata()


def _driver_binary(words: bytes, artifact: Artifact) -> tuple[bytes, dict[str, Any]]:
    from triton_spirv.runtime import devices, program

    context = devices.open_device(devices.choose(devices.selection()))
    if context.device.kind != "cpu":
        raise DeviceError(f"a kernel for a CPU device cannot be built by {context.device.name}; "
                          "set TRITON_SPIRV_DEVICE=cpu")
    built = program.build(context, words, artifact.entry)
    facts = {"binary_format": "driver", "device": context.device.name,
             "attempts": [Attempt("default", built.build_flags).to_json()]}
    return built.binary(), facts


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
