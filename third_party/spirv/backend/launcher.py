"""What Triton calls to load a binary and to launch it; the work is done by triton_spirv.runtime."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from triton import knobs
from triton_spirv.errors import LaunchError
from triton_spirv.runtime import devices
from triton_spirv.runtime.processor import cores
from triton_spirv.runtime.vulkan import devices as vulkan

from .errors import as_triton_errors
from .targets import chosen_vulkan, current_target, emitter_target

if TYPE_CHECKING:
    from triton_spirv import Artifact

#: the runtime's launch function: the grid, and one argument for each parameter of the kernel
Launch = Callable[[int, int, int, Sequence[Any]], None]

#: what kernels that compute an occupancy divide by; a CPU device has no such limits, the figures make the
#: quotients sensible
REGISTERS, REGISTERS_PER_LANE, THREADS = 65536, 32, 1 << 20

CPP_TYPES = {"i1": "int8_t", "u1": "int8_t",
             **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
             **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
             **dict.fromkeys(("fp16", "bf16", "fp32", "f32", "fp64"), "double")}


class SPIRVUtils:
    """Triton's `driver.utils`."""

    def load_binary(self, name: str, binary: bytes, shared: int,
                    device: Any) -> tuple[Any, Any, int, int, int]:
        """Triton's module and function, registers and spills of a lane, most threads of a work-group.

        Module and function are one object. It is built by its first launch, which knows whether the words are
        those that were compiled: a damaged module would end the process inside of the driver.
        """
        choice, chosen = devices.selection(), chosen_vulkan()
        if chosen is not None:
            program = VulkanFunction(binary, name, chosen)
            return program, program, REGISTERS_PER_LANE, 0, chosen.max_invocations
        context = devices.open_device(devices.choose(choice))
        function = OpenCLFunction(binary, name, context)
        return function, function, REGISTERS_PER_LANE, 0, THREADS

    def unload_module(self, module: Any) -> None:
        """Programs are released with the last reference to them."""

    def get_device_properties(self, device: Any) -> dict[str, int]:
        """What kernels ask to size their grids; OpenCL is not loaded for it."""
        target, chosen = current_target(), chosen_vulkan()
        units = (chosen is not None and chosen.compute_units) or cores()
        return {"max_shared_mem": emitter_target(target).shared_bytes, "multiprocessor_count": units,
                "warpSize": target.warp_size, "max_num_regs": REGISTERS}


class Function:
    """The words of a kernel; launchable together with the kernel's metadata."""

    def __init__(self, words: bytes, name: str) -> None:
        self.words, self.name = words, name

    def bind(self, metadata: Any) -> Launch:
        """The runtime's launch function; LaunchError where the words are not those that were compiled."""
        from triton_spirv import Artifact

        if hashlib.sha256(self.words).hexdigest() != metadata.spirv_digest:
            folder = base64.b32encode(bytes.fromhex(metadata.hash)).decode().rstrip("=")  # as Triton names it
            raise LaunchError(f"the cached SPIR-V of {self.name} is damaged; delete the folder "
                              f"{os.path.join(knobs.cache.dir, folder)}, or set TRITON_ALWAYS_COMPILE=1")
        with as_triton_errors():
            return self.build(Artifact.from_json(metadata.artifact))

    def build(self, artifact: Artifact) -> Launch:
        """The launch function of the words on the device."""
        raise NotImplementedError


class OpenCLFunction(Function):
    """On an OpenCL device."""

    def __init__(self, words: bytes, name: str, context: devices.Context) -> None:
        super().__init__(words, name)
        self.context = context

    def build(self, artifact: Artifact) -> Launch:
        from triton_spirv.runtime import launch, program

        built = program.build(self.context, self.words, self.name)
        return launch.Kernel(self.context, built, artifact).launch


class VulkanFunction(Function):
    """On a Vulkan device, which is opened by the first launch."""

    def __init__(self, words: bytes, name: str, device: vulkan.Device) -> None:
        super().__init__(words, name)
        self.device = device

    def build(self, artifact: Artifact) -> Launch:
        from triton_spirv.runtime.vulkan import context, launch, program

        return launch.Kernel(program.build(context.open_device(self.device), self.words, artifact)).launch


def make_launcher(source: Any, metadata: Any) -> Callable[..., None]:
    """Triton's `driver.launcher_cls`: a function of the grid, Triton's own arguments, and the kernel's."""
    select = selector(list(source.signature.values()))
    bound: Function | None = None
    run: Any = None

    def launch(x: int, y: int, z: int, stream: int, function: Function, packed_metadata: Any,
               launch_metadata: Any, enter_hook: Any, exit_hook: Any, *arguments: Any) -> None:
        nonlocal bound, run
        if function is not bound:
            run, bound = function.bind(metadata), function
        if enter_hook is not None:
            enter_hook(launch_metadata)
        run(x, y, z, select(arguments) if select else arguments)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    return launch


def selector(signature: Sequence[Any]) -> Callable[[Sequence[Any]], Sequence[Any]] | None:
    """From the arguments of a launch to those of the kernel: constants left out, tuples and descriptors taken
    apart. None: all."""
    if any(isinstance(kind, tuple) or kind.startswith("tensordesc") for kind in signature):
        return lambda arguments: list(flattened(signature, arguments))
    kept = [index for index, kind in enumerate(signature) if kind != "constexpr"]
    if len(kept) == len(signature):
        return None
    if len(kept) > 1:
        return itemgetter(*kept)
    return lambda arguments: [arguments[index] for index in kept]


def flattened(signature: Sequence[Any], arguments: Sequence[Any]) -> Iterator[Any]:
    """The kernel's arguments in the order of its parameters."""
    for kind, argument in zip(signature, arguments, strict=True):
        if isinstance(kind, tuple):
            yield from flattened(kind, argument)
        elif kind.startswith("tensordesc"):
            yield from decomposed(argument)
        elif kind != "constexpr":
            yield argument


def decomposed(descriptor: Any) -> Iterator[Any]:
    """A host-side tensor descriptor as the parameters that the descriptor rewriting leaves of it.

    Base, shape and strides as the descriptor's own, its flags, then shape and strides as the front end passes
    them beside it.
    """
    if not hasattr(descriptor, "block_shape"):
        kind = type(descriptor).__name__
        raise LaunchError(f"a {kind} was passed where the kernel was compiled for a tensor descriptor")
    yield descriptor.base
    yield from descriptor.shape
    yield from descriptor.strides
    yield descriptor.padding == "nan"
    if hasattr(descriptor, "round_f32_to_tf32"):  # Triton 3.7
        yield descriptor.round_f32_to_tf32
    yield from descriptor.shape
    yield from descriptor.strides
