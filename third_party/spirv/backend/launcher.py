"""What Triton calls to load a binary and to launch it; the work is done by triton_spirv.runtime."""

from __future__ import annotations

import dataclasses
import operator
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from triton_spirv import checking
from triton_spirv.errors import LaunchError
from triton_spirv.native import zebin
from triton_spirv.runtime import capture, devices
from triton_spirv.runtime.capture import recorders
from triton_spirv.runtime.extents import sharing
from triton_spirv.runtime.processor import cores
from triton_spirv.target import Requirement

from . import recovery, shared_binaries
from .functions import Function, OpenCLFunction, VulkanFunction
from .observers import observed
from .overflow import noticed
from .repeated import bind_repeated_launches
from .targets import chosen_vulkan, current_target, emitter_target, require_interface

if TYPE_CHECKING:
    from triton_spirv.runtime.quick import Quick

#: the runtime's launch function: the grid, and one argument for each parameter of the kernel
Launch = Callable[[int, int, int, Sequence[Any]], None]

#: what kernels that compute an occupancy divide by; a CPU device has no such limits, the figures make the
#: quotients sensible
REGISTERS, REGISTERS_PER_LANE, THREADS = 65536, 32, 1 << 20

CPP_TYPES = {"i1": "int8_t", "u1": "int8_t",
             **{f"i{bits}": f"int{bits}_t" for bits in (8, 16, 32, 64)},
             **{f"u{bits}": f"uint{bits}_t" for bits in (8, 16, 32, 64)},
             **dict.fromkeys(("fp16", "bf16", "fp32", "f32", "fp64"), "double")}


#: Triton makes a kernel's launcher just before it loads the binary, in the same thread; only the launcher is
#: given the metadata
_latest = threading.local()


class SPIRVUtils:
    """Triton's `driver.utils`."""

    def __init__(self) -> None:
        shared_binaries.connect()

    def load_binary(self, name: str, binary: bytes, shared: int,
                    device: Any) -> tuple[Any, Any, int, int, int]:
        """Triton's module and function, registers and spills of a lane, most threads of a work-group.

        Module and function are one object. It is built by its first launch, which knows whether the words are
        those that were compiled: a damaged module would end the process inside of the driver. For a GPU that
        compiles SPIR-V it is built here, since nobody else knows the registers.
        """
        choice, chosen = devices.selection(), chosen_vulkan()
        metadata = getattr(_latest, "metadata", None)
        if metadata is not None:
            require_interface(metadata.target, chosen or devices.choose(choice))
        if chosen is not None:
            program = VulkanFunction(binary, name, chosen)
            return program, program, REGISTERS_PER_LANE, 0, chosen.max_invocations
        context = devices.open_device(devices.choose(choice))
        function = OpenCLFunction(binary, name, context)
        if metadata is not None and not recovery.is_whole(metadata, binary):
            metadata = None  # damaged, or somebody else's
        registers, spills = function.resources(metadata)
        return function, function, REGISTERS_PER_LANE if registers is None else registers, spills, THREADS

    def unload_module(self, module: Any) -> None:
        """Programs are released with the last reference to them."""

    def get_device_properties(self, device: Any) -> dict[str, int]:
        """What kernels ask to size their grids; OpenCL is not loaded for it."""
        target, chosen = current_target(), chosen_vulkan()
        units = (chosen is not None and chosen.compute_units) or cores()
        return {"max_shared_mem": emitter_target(target).shared_bytes, "multiprocessor_count": units,
                "warpSize": target.warp_size, "max_num_regs": REGISTERS}


def make_launcher(source: Any, metadata: Any) -> Callable[..., None]:
    """Triton's `driver.launcher_cls`: a function of the grid, Triton's own arguments, and the kernel's."""
    bind_repeated_launches()
    signature = list(source.signature.values())
    select, needed, most = selector(signature), without_constants(signature), len(signature)
    _latest.metadata = metadata
    bound: Function | None = None
    run: Any = None
    requires = [Requirement(*row) for row in metadata.artifact["requires"]]
    pointers = [kind == "ptr" for _, kind in metadata.artifact["parameters"]]
    shares = sharing(metadata.artifact["written"], pointers)
    disjoint = metadata.artifact["assumes_disjoint"]
    made: list[Quick | None] = []
    others: dict[tuple[bool, bool], Launch] = {}  # the same kernel, for arguments that this one cannot serve

    def quick(function: Function, *form: Any) -> Quick | None:
        """The same for arguments that fit, where every launch is that of this one kernel. `form`: as quick_of
        takes it."""
        nonlocal bound, run
        if function is not bound:
            run, bound = bind(source, function, metadata), function
        return None if requires or disjoint else function.quick(run, *form)

    def repeated(function: Function) -> Quick | None:
        """The quick launch of graphs, one for all that have this kernel."""
        if not made:
            places = {at: 1 for at, is_pointer in enumerate(pointers) if is_pointer}
            made.append(quick(function, None, places))
        return made[0]

    def launch(x: int, y: int, z: int, stream: int, function: Function, packed_metadata: Any,
               launch_metadata: Any, enter_hook: Any, exit_hook: Any, *arguments: Any) -> None:
        nonlocal bound, run
        if function is not bound:
            run, bound = bind(source, function, metadata), function
        if enter_hook is not None:
            enter_hook(launch_metadata)
        if x.__class__ is not int or y.__class__ is not int or z.__class__ is not int:
            x, y, z = whole(x, y, z)
        if not needed <= len(arguments) <= most:
            require_arguments(metadata.name, list(source.signature), needed, len(arguments))
        values = select(arguments) if select else arguments
        block_io = not requires or all(requirement.holds(values) for requirement in requires)
        overlapping = disjoint and shares(values)
        chosen = run
        if not block_io or overlapping:
            other = others.get((block_io, overlapping))
            if other is None:
                other = compiled_again(source, metadata, block_io, overlapping)
                others[block_io, overlapping] = other
            chosen = other
        chosen(x, y, z, values)
        if recorders and (recorder := capture.recorder()) is not None:
            short = repeated(function) if chosen is run else None
            fixed = partial(function.fixed, run) if chosen is run else None
            recorder.add(metadata.name, chosen, x, y, z, values, short, fixed)
        if exit_hook is not None:
            exit_hook(launch_metadata)

    launch.quick = quick  # type: ignore[attr-defined]
    return noticed(observed(launch, source, metadata), metadata)


def whole(*grid: Any) -> tuple[int, ...]:
    """Sizes of a grid as Python's integers: those of numpy have few bits, and products of them wrap. What is
    no integer is refused by name."""
    for axis, size in zip("xyz", grid, strict=True):
        if not hasattr(size, "__index__"):
            raise LaunchError(f"grid {axis}: {size!r} is a {type(size).__name__}; a grid holds integers")
    return tuple(map(operator.index, grid))


def without_constants(signature: Sequence[Any]) -> int:
    """How many arguments a launch needs: the last ones may be left out if they are constants."""
    return max((at + 1 for at, kind in enumerate(signature) if kind != "constexpr"), default=0)


def require_arguments(kernel: str, names: Sequence[str], needed: int, given: int) -> None:
    """TypeError, as of a function in Python, for arguments that are too few or too many."""
    if given > len(names):
        were = "was" if given == 1 else "were"
        raise TypeError(f"{kernel}() takes {len(names)} positional argument{'s' * (len(names) != 1)} but "
                        f"{given} {were} given")
    missing = [repr(name) for name in names[given:needed]]
    if missing:
        listed = ", ".join(missing[:-1]) + " and " * (len(missing) > 1) + missing[-1]
        raise TypeError(f"{kernel}() missing {len(missing)} required positional "
                        f"argument{'s' * (len(missing) > 1)}: {listed}")


def bind(source: Any, function: Function, metadata: Any) -> Launch:
    """The runtime's launch function of a kernel, which compares its results if that is checked."""
    launch = function.bind(metadata)
    if checking.COMPILER in metadata.check.split(","):
        launch = _compared(launch, source, function, metadata)
    return _limited(launch, metadata.check_limit) if metadata.check_limit else launch


def _limited(launch: Launch, most: int) -> Launch:
    """The same, raising at most so many findings."""
    def limited(x: int, y: int, z: int, arguments: Sequence[Any]) -> None:
        with checking.limited(most):
            launch(x, y, z, arguments)

    return limited


def _compared(launch: Launch, source: Any, function: Function, metadata: Any) -> Launch:
    """The same, comparing results with those of the kernel without optimisations."""
    from triton_spirv.artifact import Artifact
    from triton_spirv.facts.sums import sums_of
    from triton_spirv.runtime.comparing import Sums, compared

    def again(without: str = "", **changed: Any) -> Launch:
        if without:
            changed["optimise"] = f"{metadata.optimise} {without}"
        made = made_again(source, metadata, **changed)
        return made.function.bind(made.metadata)

    def sums() -> Sums:
        return Sums(*sums_of(made_again(source, metadata).asm["ttir"]))

    words = function.binary if zebin.kind(function.binary) == "spirv" else recovery.spirv_words(metadata)
    artifact = Artifact.from_json(metadata.artifact)
    return compared(launch, artifact, words, function.device_kind, again, sums)


def compiled_again(source: Any, metadata: Any, block_io: bool, overlapping: bool) -> Launch:
    """The runtime's launch function of the kernel compiled with or without 2D block messages, for arguments
    that may overlap or not."""
    made = made_again(source, metadata, block_io=block_io and metadata.block_io, overlapping=overlapping)
    return bind(source, made.function, made.metadata)


def made_again(source: Any, metadata: Any, **changed: Any) -> Any:
    """The kernel compiled with other options, as Triton has it, ready to be launched."""
    import triton

    from .options import SPIRVOptions

    known = {field.name: getattr(metadata, field.name, None) for field in dataclasses.fields(SPIRVOptions)}
    made = triton.compile(source, target=metadata.target,
                          options={**known, "num_warps": metadata.asked_warps, **changed})
    made._init_handles()
    return made


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
