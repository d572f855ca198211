"""Launching through Vulkan: arguments to bytes, bytes into a command buffer.

The short path is for arrays on the device: it packs the arguments, records three calls (barrier, push,
dispatch) and returns before the kernel has run; reading an array waits for it. The first command of a
submission needs no barrier before it, and arguments that are those of the launch before, of the same kernel,
are not pushed again. Where an argument is memory of the host the launch stages it, waits, and copies back
what the kernel wrote. With CUDA's memory it takes its place in the order of a CUDA stream, and returns.
"""

from __future__ import annotations

import ctypes
import operator
import os
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ... import assert_layout
from ...errors import DeviceError, LaunchError
from ..arguments import FORMATS, NeedsPreparation, NumberTable, fitted, underlying
from ..checking import Watch
from ..launch import DeviceAssertion, Launch
from ..overflow import refusal
from ..reach import Reach, reach_of
from .arguments import AddressTable
from .commands import BIND_COMPUTE
from .library import untyped
from .printing import BYTES as PRINT_BYTES
from .printing import PrintBuffer
from .program import COMPUTE, Program, parameter_bytes
from .staging import Staging

if TYPE_CHECKING:
    from .cuda_memory import CudaMemory
    from .memory import Allocation
    from .recorded import Fixed


class Kernel:
    """A pipeline, ready to be launched from any thread: `kernel.launch(x, y, z, arguments)`."""

    def __init__(self, program: Program) -> None:
        self.program, self.artifact, self.context = program, program.artifact, program.context
        artifact = self.artifact
        self.kinds = [parameter.type for parameter in artifact.parameters]
        self.pointers = AddressTable(self.context)
        self.tables: dict[int, AddressTable | NumberTable] = {
            index: self.pointers if kind == "ptr" else NumberTable(kind, FORMATS[kind])
            for index, kind in enumerate(self.kinds) if kind in ("ptr", "bf16")}
        self._words: Allocation | None = None
        self._printed: PrintBuffer | None = None
        #: of a kernel in checked mode: what it reports in. Its launches take turns
        self._watch = Watch(artifact, self.context.pools.host.allocate) if artifact.is_checked else None
        self._watching = threading.Lock()
        self.hidden = tuple(self._address_of(name) for name in artifact.hidden)
        size = struct.calcsize(artifact.struct_format)
        self.format = struct.Struct(artifact.struct_format + "x" * (parameter_bytes(artifact) - size))
        short = self._short()
        self.launch: Launch = short if self._watch is None else self._watched
        if artifact.overflow_bytes:
            self.launch = self._overflowing(self.launch)

    def _address_of(self, name: str) -> int:
        """The address of a hidden argument: memory that host and device see, zeroed."""
        if name == "print_buffer":
            memory = self.context.pools.host.allocate(PRINT_BYTES)
            self._printed = PrintBuffer(memory, self.artifact.formats)
            return memory.address
        if name == "overflow_buffer":
            return 0  # launches provide it
        if name == "check_buffer" and self._watch is not None:
            return self._watch.address
        if name != "assert_buffer":
            raise DeviceError(f"the kernel wants a hidden argument {name!r} that this runtime does not know")
        self._words = self.context.pools.host.allocate(4 * assert_layout.WORDS)
        ctypes.memset(self._words.host, 0, 4 * assert_layout.WORDS)
        return self._words.address

    def _overflowing(self, short: Launch) -> Launch:
        """The same with memory for arrays that overflow. All launches of the kernel work on it, one after the
        other; what an earlier one left there is of no use to any."""
        lock, at = threading.Lock(), self.artifact.hidden.index("overflow_buffer")
        known: Allocation | None = None

        def launch(x: int, y: int, z: int, arguments: Sequence[object]) -> None:
            nonlocal known
            if not self._is_launch(x, y, z):
                return
            programs = x * y * z
            size = programs * self.artifact.overflow_bytes
            with lock:  # not the stream's: allocating may wait for the stream
                if known is None or known.size < size:
                    known = None
                    try:
                        known = self.context.pools.device.allocate(size)
                    except DeviceError as error:
                        raise LaunchError(refusal(self.artifact, programs, error)) from None
                    self.hidden = (*self.hidden[:at], known.address, *self.hidden[at + 1:])
                short(x, y, z, arguments)

        return launch

    # ---- the short path

    def _short(self) -> Launch:
        """A closure: everything that a launch needs is a local variable."""
        stream, api, artifact = self.context.stream, self.context.api, self.artifact
        bind, push = untyped(api.vkCmdBindPipeline), untyped(api.vkCmdPushConstants)
        dispatch = untyped(api.vkCmdDispatch)
        barrier_call, barrier, lock = stream.barrier_call, stream.barrier, stream.lock
        pipeline, size = self.program.pipeline, self.program.push_bytes
        pipeline_handle, layout = ctypes.c_void_p(pipeline), ctypes.c_void_p(self.program.layout)
        pack, hidden, limits = self.format.pack, self.hidden, self.context.device.max_groups
        most_x, most_y, most_z = limits
        tables, count = tuple(self.tables.items()), len(self.kinds)
        by_address, block_size = artifact.passing == "buffer", self.format.size
        pushed = (ctypes.c_uint64 * 1)(0)
        pushed_address = ctypes.c_void_p(ctypes.addressof(pushed))
        check = self.check_after_waits
        overflows = artifact.overflow_bytes > 0

        def record(x: int, y: int, z: int, values: Sequence[object]) -> None:
            """With the lock held; values are packable."""
            block = pack(*values, *(self.hidden if overflows else hidden))
            handle = stream.recording or stream.begin()
            if stream.bound != pipeline or stream.pushed != block:
                if by_address:
                    host, pushed[0] = stream.parameters(block_size)
                    ctypes.memmove(host, block, block_size)
                    handle = stream.begin()  # another one, where there was no room
                if stream.bound != pipeline:
                    bind(handle, BIND_COMPUTE, pipeline_handle)
                    stream.bound = pipeline
                if size:
                    push(handle, layout, COMPUTE, 0, size, pushed_address if by_address else block)
                stream.pushed = block
            if stream.unordered:
                barrier_call(handle, *barrier)
            else:
                stream.unordered = True
            dispatch(handle, x, y, z)
            if check:
                stream.checks[id(self)] = check
            stream.added()

        self.record = record

        def launch(x: int, y: int, z: int, arguments: Sequence[object]) -> None:
            if not (0 < x <= most_x and 0 < y <= most_y and 0 < z <= most_z):
                if not self._is_launch(x, y, z):
                    return
            values = list(arguments)
            try:
                for index, table in tables:
                    argument = values[index]
                    values[index] = table[type(argument)](argument)
                with lock:
                    return record(x, y, z, values)
            except NeedsPreparation:
                pass
            except (LaunchError, ctypes.ArgumentError, struct.error, OverflowError, TypeError, IndexError):
                self._is_launch(x, y, z)
            self.launch_prepared(x, y, z, arguments)

        assert count == len(artifact.parameters)
        return launch

    @property
    def check_after_waits(self) -> Callable[[], None] | None:
        """What looks, after a wait, whether the kernel has printed or an assertion has failed."""
        return self._check if self._words is not None or self._printed is not None else None

    def fixed(self, x: int, y: int, z: int, arguments: Sequence[Any]) -> Fixed | None:
        """The launch with these arguments for good; None where each one has to stage memory of the host, to
        find its place among CUDA's work, or to see to memory of its own."""
        from .recorded import Fixed

        if self._watch is not None or self.artifact.overflow_bytes or not self._is_launch(x, y, z):
            return None
        values = list(arguments)
        try:
            for index, table in self.tables.items():
                values[index] = table[type(values[index])](values[index])
            block = self.format.pack(*values, *self.hidden)
        except (NeedsPreparation, LaunchError, struct.error, OverflowError):
            return None
        memory = [underlying(argument) for argument, kind in zip(arguments, self.kinds, strict=True)
                  if kind == "ptr" and argument is not None]
        if not all(hasattr(each, "allocation") for each in memory):
            return None  # a bare address: nobody knows whose
        return Fixed(self, (operator.index(x), operator.index(y), operator.index(z)), block,
                     tuple(each.allocation for each in memory))

    # ---- the longer path

    def launch_prepared(self, x: int, y: int, z: int, arguments: Sequence[object]) -> None:
        """Launch with host memory staged and numbers brought into range; waits if anything was staged."""
        self._check_count(arguments)
        self._is_launch(x, y, z)
        if self.artifact.follows and not self.context.has_arrays:
            raise LaunchError(f"{self.artifact.entry} on {self.context.device.choice}: "
                              f"{self.artifact.follows} follows an address that the kernel loads or makes of "
                              "a number; it must be of an array on the device, and there is none; make one "
                              "(triton_spirv.asarray(x, device='vulkan')) and store its data_ptr()")
        host, cuda, watch = Staging(self.context), None, self._watch
        values: list[Any] = []
        places: dict[int, tuple[Any, Any]] = {}  # whose memory, and what it calls the place there
        grid = operator.index(x), operator.index(y), operator.index(z)
        reach: Reach | None = None  # of memory of the host
        for index, argument in enumerate(arguments):
            try:
                if self.kinds[index] != "ptr":
                    values.append(fitted(argument, self.kinds[index], FORMATS[self.kinds[index]]))
                    continue
                try:
                    values.append(self.pointers[type(argument)](argument))
                except NeedsPreparation:
                    memory, written = underlying(argument), self.artifact.written[index]
                    on_device = hasattr(memory, "lives_on_device")
                    values.append(memory.address if on_device else 0)
                    if on_device or _is_on_cuda(memory):
                        cuda = cuda or self._cuda_memory()
                        if not on_device:
                            places[index] = cuda, cuda.add(memory, written)
                    else:
                        reach = reach or self._reach(arguments, grid)
                        places[index] = host, host.add(
                            memory, written, None if watch is not None else partial(reach.part, index))
            except LaunchError as error:
                raise LaunchError(f"{self._where(index)}: {error}") from None
        host.copy_in()

        def record() -> None:
            for index, (owner, pointer) in places.items():
                values[index] = owner.address(pointer)
            if watch is not None:
                watch.prepare(arguments, grid, values, self._is_here)
            self.record(*grid, values)

        if cuda is not None:
            cuda.run(record)
        else:
            with self.context.stream.lock:
                record()
        if watch is not None or any(owner is host for owner, _ in places.values()):
            self.context.stream.synchronize()
            host.copy_out()

    def _reach(self, arguments: Sequence[object], grid: tuple[int, int, int]) -> Reach:
        """How far the launch may reach."""
        return reach_of(self.artifact, [
            None if kind == "ptr" or not hasattr(argument, "__index__") else
            fitted(argument, kind, FORMATS[kind])
            for kind, argument in zip(self.kinds, arguments, strict=True)], grid)

    def _watched(self, x: int, y: int, z: int, arguments: Sequence[object]) -> None:
        """The same for a kernel in checked mode: wait for it, and raise what it found."""
        if not self._is_launch(x, y, z):
            return
        assert self._watch is not None
        with self._watching:
            failed: DeviceAssertion | None = None
            try:
                self.launch_prepared(x, y, z, arguments)
            except DeviceAssertion as error:
                failed = error  # perhaps because of what was found
            self._watch.require_nothing(arguments)
            if failed is not None:
                raise failed

    def _is_here(self, array: object) -> bool:
        """Is it an array of this device?"""
        return getattr(underlying(array), "context", None) is self.context

    def _cuda_memory(self) -> CudaMemory:
        from .cuda_memory import CudaMemory

        return CudaMemory(self.context)

    # ---- what can be wrong

    def _is_launch(self, x: int, y: int, z: int) -> bool:
        """False for an empty grid, which launches nothing; LaunchError for a grid that cannot be."""
        for axis, size, most in zip("xyz", (x, y, z), self.context.device.max_groups, strict=True):
            if not hasattr(size, "__index__"):
                raise LaunchError(f"grid {axis}: {size!r} is a {type(size).__name__}; a grid holds integers")
            if not 0 <= size <= most:
                raise LaunchError(f"grid ({x}, {y}, {z}): {axis} must lie between 0 and {most} on "
                                  f"{self.context.device.name}"
                                  + ("; split the launch, or give each program more work" * (size > 0)))
        return bool(x and y and z)

    def _check_count(self, arguments: Sequence[object]) -> None:
        if len(arguments) != len(self.kinds):
            wanted = len(self.kinds)
            raise LaunchError(f"{self.artifact.entry} takes {wanted} arguments, got {len(arguments)}")

    def _where(self, index: int) -> str:
        return f"{self.artifact.entry}, argument {index} ({self.artifact.parameters[index].name})"

    def _check(self) -> None:
        """Print what the kernel has printed; raise the assertion that failed."""
        if self._printed is not None:
            self._printed.flush()
        if self._words is None:
            return
        words = (ctypes.c_uint32 * assert_layout.WORDS).from_address(self._words.host)
        if not words[0]:
            return
        text = assert_layout.text(self.artifact.entry, self.artifact.asserts, list(words))
        ctypes.memset(words, 0, ctypes.sizeof(words))
        sys.stderr.flush()
        os.write(2, f"{text}\n".encode())
        raise DeviceAssertion(text)


def _is_on_cuda(memory: object) -> bool:
    """Is it in memory of an NVIDIA GPU? CPU tensors may say that they are CUDA's (torch_as_cuda.py)."""
    return getattr(memory, "is_cuda", False) is True and getattr(memory, "get_device", lambda: -1)() >= 0
