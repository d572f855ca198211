"""What Triton calls to load a binary and to launch it; the work is done by triton_spirv.runtime."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from triton_spirv.errors import LaunchError
from triton_spirv.runtime import devices
from triton_spirv.runtime.processor import cores
from triton_spirv.target import find_target

from .errors import as_triton_errors
from .targets import CPU_WARP_SIZE

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
        """The program twice (Triton's module and function), registers and spills of a lane, most threads of a
        work-group."""
        from triton_spirv.runtime import program

        context = devices.open_device(devices.choose(devices.selection()))
        with as_triton_errors():
            loaded = program.build(context, binary, name)
        return loaded, Function(context, loaded), REGISTERS_PER_LANE, 0, THREADS

    def unload_module(self, module: Any) -> None:
        """Programs are released with the last reference to them."""

    def get_device_properties(self, device: Any) -> dict[str, int]:
        """What kernels ask to size their grids; OpenCL is not loaded for it."""
        return {"max_shared_mem": find_target("cpu").shared_bytes, "multiprocessor_count": cores(),
                "warpSize": CPU_WARP_SIZE, "max_num_regs": REGISTERS}


class Function:
    """A loaded program on its device; becomes launchable together with a kernel's metadata."""

    def __init__(self, context: devices.Context, program: Any) -> None:
        self.context, self.program = context, program

    def bind(self, artifact: Any) -> Callable[[int, int, int, Sequence[Any]], None]:
        """The runtime's launch function."""
        from triton_spirv.runtime.launch import Kernel

        return Kernel(self.context, self.program, artifact).launch


def make_launcher(source: Any, metadata: Any) -> Callable[..., None]:
    """Triton's `driver.launcher_cls`: a function of the grid, Triton's own arguments, and the kernel's."""
    select = selector(list(source.signature.values()))
    bound: Function | None = None
    run: Any = None

    def launch(x: int, y: int, z: int, stream: int, function: Function, packed_metadata: Any,
               launch_metadata: Any, enter_hook: Any, exit_hook: Any, *arguments: Any) -> None:
        nonlocal bound, run
        if function is not bound:
            run, bound = function.bind(_artifact(metadata)), function
        if enter_hook is not None:
            enter_hook(launch_metadata)
        run(x, y, z, select(arguments) if select else arguments)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    return launch


def _artifact(metadata: Any) -> Any:
    from triton_spirv import Artifact

    return Artifact.from_json(metadata.artifact)


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
