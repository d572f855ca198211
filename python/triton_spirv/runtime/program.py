"""Programs: SPIR-V words built for a device, from the driver's binary where an earlier process left one."""

from __future__ import annotations

import hashlib
import sys
import threading
import warnings
import weakref
from dataclasses import replace

from .. import forks
from ..dataclass import dataclass
from ..errors import DeviceError
from ..native import policy
from ..native.failures import BuildFailed, ScratchExceeded
from ..native.ocloc import scratch_exceeded
from . import binary_cache, builder, running_kernels
from .devices import Context, Device
from .opencl import KERNEL_REGISTER_COUNT_INTEL, KERNEL_SPILL_MEM_SIZE_INTEL, Library, OpenCLError
from .processor import needed, processor

#: an option that kernels for allocations above 4 GB need with Intel's GPUs
LARGE_BUFFERS = "-cl-intel-greater-than-4GB-buffer-required"


class BuildError(DeviceError):
    """The device's compiler refused a module: the error, the build log, the device."""


class Program:
    """A built program, and one kernel object of its entry point that is never launched itself: threads launch
    clones of it.

    registers    of a hardware thread; 0 where it is not known
    spill_bytes  of a hardware thread; None where it is not known. n_spills in dwords for each lane
    build_flags  the options that it was built with
    words        the SPIR-V that it was built from; empty for a native binary
    attempts     all builds that were made for it, as plain data, where there was a choice
    """

    def __init__(self, library: Library, handle: int, entry: str) -> None:
        self.library, self.handle, self.entry, self.kernel = library, handle, entry, 0
        self.registers, self.n_spills, self.build_flags = 0, 0, ""
        self.words = b""
        self.spill_bytes: int | None = None
        self.attempts: tuple[dict[str, object], ...] = ()
        self.kernel = library.create("clCreateKernel", handle, entry.encode())
        running_kernels.install()  # the compiler in the driver may have put a handler of its own in force

    def clone_kernel(self) -> OwnedKernel:
        """A kernel object with arguments of its own."""
        return OwnedKernel(self, self.library.create("clCloneKernel", self.kernel))

    def binary(self) -> bytes:
        """The driver's binary of it."""
        return self.library.binary(self.handle)

    def __del__(self) -> None:
        if sys.is_finalizing():
            return  # the driver's own end may have begun
        if self.kernel:
            self.library.release("clReleaseKernel", self.kernel)
        self.library.release("clReleaseProgram", self.handle)


class OwnedKernel:
    """A kernel object that is released with its owner, and keeps its program alive."""

    def __init__(self, program: Program, handle: int) -> None:
        self.program, self.handle = program, handle

    def __del__(self) -> None:
        if not sys.is_finalizing():
            self.program.library.release("clReleaseKernel", self.handle)


@dataclass(frozen=True)
class Policy:
    """Which register file a GPU's threads get, as options of the launch say it; see native/policy.py. A
    device without such a choice builds once.

    simd: lanes of a sub-group, by which spills are counted; expected: the register file to try first
    """

    grf_mode: str = "default"
    num_warps: int = 1
    simd: int = 0
    expected: str = "default"


_programs: weakref.WeakValueDictionary[tuple[int, str, bytes], Program] = weakref.WeakValueDictionary()
_lock = threading.RLock()
# a fork waits for what other threads have begun: the driver's own locks would stay locked in the child
forks.register(before=lambda: _lock.acquire(), after_in_parent=lambda: _lock.release(),
               after_in_child=lambda: globals().update(_lock=threading.RLock()))
forks.register(builder.pause, builder.go_on, builder.start_anew)  # last, so paused first: it needs the lock


#: OpenCL C sources that are linked with modules which import functions whose names start with a prefix: for
#: devices that lack an instruction. Tests put sources here.
LIBRARIES: dict[bytes, str] = {}


def _library(words: bytes) -> str:
    """The source of what a module imports, "" for nothing."""
    return "".join(dict.fromkeys(source for prefix, source in LIBRARIES.items() if prefix in words))


def require_processor(words: bytes) -> None:
    """BuildError for a module whose instructions this processor lacks: the driver would end the process."""
    for feature in needed(words):
        if feature not in processor().flags:
            raise BuildError(f"the kernel was compiled for a processor with {feature}, which this one lacks "
                             "or this process may not use: compile it for this one, without "
                             "TRITON_SPIRV_TARGET or with --target host")


def build(context: Context, words: bytes, entry: str, options: str = "",
          choice: Policy | None = None) -> Program:
    """The program of these words, built at most once while it is in use; BuildError where it is refused,
    ScratchExceeded where its threads need more memory than the device has for them.

    choice: build with the register file that suits, on devices that have one to choose.
    """
    require_processor(words)
    if context.device.kind == "cpu":
        program = builder.run(lambda: _kept(context, words, entry, options, None))
        running_kernels.install()  # here, too: Python's own handler is the main thread's business
        return program
    return _kept(context, words, entry, options, choice if context.device.kind == "gpu" else None)


def _kept(context: Context, words: bytes, entry: str, options: str, choice: Policy | None) -> Program:
    """From this process, from the disk, or built."""
    linked = _library(words)
    wanted = " ".join(filter(None, (options, str(choice or ""), linked)))
    name = (context.handle, f"{entry} {wanted}", hashlib.sha256(words).digest())
    with _lock:  # drivers build one program at a time anyway
        program = _programs.get(name)
        if program is None:
            file = binary_cache.key(words, context.device, wanted)
            program = _from_cache(context, file, entry, options)
            if program is None:
                program = _from_words(context, words, entry, options, choice)
                binary_cache.store(file, program.binary(), {"build_flags": program.build_flags,
                                                            "attempts": list(program.attempts)})
            program.words = words
            _measure(program, context, choice.simd if choice else 0)
            _programs[name] = program
        return program


def from_binary(context: Context, binary: bytes, entry: str, simd: int = 0) -> Program:
    """The program of a native binary; OpenCLError where the driver refuses it."""
    library, device = context.device.library, context.device.handle
    handle = library.program_with_binary(context.handle, device, binary)
    library.build(handle, device)
    program = Program(library, handle, entry)
    _measure(program, context, simd)
    return program


def _from_cache(context: Context, name: str, entry: str, options: str) -> Program | None:
    found = binary_cache.load_with_facts(name)
    if found is None:
        return None
    binary, facts = found
    library, device = context.device.library, context.device.handle
    try:
        handle = library.program_with_binary(context.handle, device, binary)
        library.build(handle, device, options)
        program = Program(library, handle, entry)
    except OpenCLError as error:
        binary_cache.remove(name)  # not this driver's after all: build from the words
        say_rebuilt(entry, context.device, error)
        return None
    program.build_flags = facts.get("build_flags", options)
    program.attempts = tuple(facts.get("attempts", ()))
    return program


def say_rebuilt(entry: str, device: Device, reason: object) -> None:
    """The message of a binary that is of no use and is made anew."""
    warnings.warn(f"{device.name} cannot use the cached binary of {entry} "
                  f"(driver {device.driver_version}): {reason}; it is built again from SPIR-V",
                  RuntimeWarning, stacklevel=2)


def _from_words(context: Context, words: bytes, entry: str, options: str, choice: Policy | None) -> Program:
    if choice is None:
        try:
            return compiled(context, words, entry, options)
        except OpenCLError as error:
            raise BuildError(_refusal(context.device, entry, str(error))) from error
    outcome = policy.best_of(lambda mode: _attempt(context, words, entry, options, mode, choice.simd),
                             choice.grf_mode, choice.num_warps, choice.expected)
    if outcome.kept is None:
        tried = "".join(f"\n  tried GRF {one.grf_mode}: {one.failure}" for one in outcome.attempts)
        message = _refusal(context.device, entry, f"no register file will do{tried}")
        if isinstance(outcome.error, ScratchExceeded):
            raise ScratchExceeded(outcome.error.required, outcome.error.limit, message)
        raise BuildError(message) from outcome.error
    program: Program = outcome.kept.build
    program.attempts = tuple(attempt.to_json() for attempt in outcome.attempts)
    return program


def _attempt(context: Context, words: bytes, entry: str, options: str, mode: str, simd: int) -> policy.Built:
    """One build with a register file, and what the device tells of it."""
    flags = " ".join(filter(None, (options, *policy.flags_of(mode))))
    attempt = policy.Attempt(mode, flags)
    try:
        program = compiled(context, words, entry, flags)
    except OpenCLError as error:
        exceeded = scratch_exceeded(str(error))
        failure = ScratchExceeded(*exceeded) if exceeded else BuildFailed(str(error))
        return policy.Built(replace(attempt, failure=str(error)), None, failure)
    _measure(program, context, simd)
    exact = program.spill_bytes is not None
    return policy.Built(replace(attempt, grf_count=program.registers, simd_size=simd, exact=exact,
                                spill_bytes=program.spill_bytes or 0, n_spills=program.n_spills), program)


def compiled(context: Context, words: bytes, entry: str, options: str = "") -> Program:
    """By the driver's compiler, whether it has been before or not; OpenCLError where it refuses."""
    library = context.device.library
    handle = library.program_with_il(context.handle, words)
    source = _library(words)
    if source:
        handle = library.linked(context.handle, context.device.handle, handle, source)
    else:
        library.build(handle, context.device.handle, options)
    program = Program(library, handle, entry)
    program.build_flags = options
    return program


def _refusal(device: Device, entry: str, reason: str) -> str:
    return f"{device.name} (driver {device.driver_version}) cannot build {entry}: {reason}"


def _measure(program: Program, context: Context, simd: int) -> None:
    """Ask a GPU for the registers and spills of the kernel; where it does not tell, registers follow from the
    build options."""
    device = context.device
    if device.kind != "gpu":
        return

    def ask(what: int) -> int | None:
        try:
            return device.library.number("clGetKernelWorkGroupInfo", program.kernel, device.handle, what)
        except DeviceError:
            return None

    program.spill_bytes = ask(KERNEL_SPILL_MEM_SIZE_INTEL)
    program.registers = ask(KERNEL_REGISTER_COUNT_INTEL) or policy.registers_by(program.build_flags)
    program.n_spills = policy.dwords_per_lane(program.spill_bytes or 0, simd)
