"""Launching: arguments to bytes, bytes to the device, and back when the results can be read.

There are two paths. The short one is for devices that share host memory and kernels that take all parameters
as one struct: one `struct.pack_into`, clSetKernelArg and clEnqueueNDRangeKernel with plain integers. The
longer one stages memory, maps arrays, and passes arguments one by one. Every thread has its own kernel object
and buffers, so threads launch concurrently.
"""

from __future__ import annotations

import ctypes
import operator
import os
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from .. import assert_layout
from ..errors import LaunchError, TritonSpirvError
from . import memory, panels, running_kernels, waiting
from .arguments import NeedsPreparation
from .ctypes_call import by_ctypes
from .devices import Context, has_large_allocations
from .extents import extent, sharing
from .grid import GRID_LIMIT, is_launch
from .opencl import OpenCLError, data_of
from .parameters import Parameters
from .program import LARGE_BUFFERS, Program, build
from .quick import Pace, call_of
from .teams import ALONE, SLOW, sharing_of
from .thread_state import Abandoned, ThreadState

if TYPE_CHECKING:
    from ..artifact import Artifact
    from .timed_launches import EventTimer

#: what a launch takes: the grid, and one argument for each parameter of the kernel
Launch = Callable[[int, int, int, Sequence[object]], None]

#: bytes of an allocation up to which Intel's driver asks for nothing more than that it is there
LARGE = 1 << 32
#: A launch that takes less is run in the calling thread: waking other threads takes longer. A launch there
#: that takes more goes to all cores the next time. In nanoseconds; a sleeping worker joins after 100 to 200
#: microseconds.
SHORT_LAUNCH, LONG_LAUNCH = 50_000, 150_000


class DeviceAssertion(TritonSpirvError, RuntimeError):
    """An assertion of the kernel did not hold: the user's file and line, the message."""


class Kernel:
    """An entry point, ready to be launched from any thread: `kernel.launch(x, y, z, arguments)` returns when
    results can be read."""

    def __init__(self, context: Context, program: Program, artifact: Artifact) -> None:
        self.context, self.program, self.artifact = context, program, artifact
        self.shared = memory.shares_memory(context.device)
        self.parameters = Parameters(context, artifact)
        #: clEnqueueNDRangeKernel's local sizes
        self.local = (ctypes.c_size_t * 3)(*artifact.local_size)
        self._threads = threading.local()
        #: the same kernel for allocations above 4 GB, where that is another one
        self._for_large: Kernel | None = None
        self._asks_sizes = has_large_allocations(context.device) and LARGE_BUFFERS not in program.build_flags
        #: most programs of a launch that is known to be short
        self._known = 0
        self._text = running_kernels.text(artifact.entry, artifact.place)
        #: where signal handlers find the kernel's name (running_kernels.py)
        self.text_address = ctypes.addressof(self._text)
        self._keeps = "panel_buffer" in artifact.hidden and self.shared
        self.overlap = sharing(artifact.written, [p.type == "ptr" for p in artifact.parameters])
        self.pace = Pace(lambda: 0, lambda programs: None, lambda programs, nanoseconds: None, lambda: 0)
        #: where threads of torch's may share launches
        self.sharing = sharing_of(self)
        #: nanoseconds of a launch by the calling thread: from which on all cores shall run it, from which on
        #: it is slow, and from which on it tells them
        self.longest = sys.maxsize if context.device.compute_units == 1 else LONG_LAUNCH
        self.slow, self.told = (SLOW, ALONE) if self.sharing else (self.longest, self.longest)
        short = self.shared and artifact.passing == "struct" and not artifact.overflow_bytes
        self.launch: Launch = self._short() if short and not artifact.is_checked else self.launch_prepared

    def _new_state(self) -> ThreadState:
        size = struct.calcsize(self.artifact.struct_format) if self.artifact.passing == "struct" else 0
        state = ThreadState(self.context, self.program, size, self.artifact)
        self._threads.state = state
        if self.artifact.passing == "struct" and self.context.device.runs_in_calling_thread and state.may_run:
            state.call = call_of(self, state.kernel, self.told) or by_ctypes(self, state, self._threads)
        return state

    # ---- the short path

    def _short(self) -> Launch:
        """A closure: everything that a launch needs is a local variable."""
        context, artifact, threads = self.context, self.artifact, self._threads
        library = context.device.library
        local_x, local_y, local_z = artifact.local_size
        layout = struct.Struct("<QQQ" + artifact.struct_format.lstrip("<="))
        pack, hidden = layout.pack, artifact.hidden
        tables = tuple(self.parameters.tables.items())
        clock, text, sharing = time.perf_counter_ns, self.text_address, self.sharing
        keeps = self._keeps
        prints, asserts, draws = _prints(artifact), "assert_buffer" in hidden, "ticket_buffer" in hidden
        # programs that a launch may have to run in the calling thread, and the bound that slow launches set
        # to that; one thread would never come to a program that an earlier one waits for
        serial, ceiling, slow = 0, 1 if artifact.waits else GRID_LIMIT, 0
        if context.device.compute_units == 1:  # another thread would only take turns with this one
            serial = ceiling

        def launch(x: int, y: int, z: int, arguments: Sequence[object]) -> None:
            nonlocal serial, ceiling, slow
            programs = x * y * z
            if not 0 < programs <= GRID_LIMIT and not is_launch(x, y, z):
                return
            try:
                state = threads.state
            except AttributeError:
                state = self._new_state()
            values, refused, held = list(arguments), False, None
            try:
                for index, table in tables:
                    argument = values[index]
                    values[index] = table[type(argument)](argument)
                if hidden:
                    values += state.hidden
                    if keeps:
                        held, (x, y, z) = self._panels(arguments, values, (x, y, z))
                data = pack(x * local_x, y * local_y, z * local_z, *values)
            except NeedsPreparation:
                return self.launch_prepared(x, y, z, arguments)
            except (LaunchError, struct.error, OverflowError, TypeError, IndexError):
                refused = True
            if refused:  # outside of the handler: the user need not see how it was found out
                is_launch(x, y, z)
                values = [*self.parameters.fitted(arguments), *(values[len(arguments):] or state.hidden)]
                data = pack(x * local_x, y * local_y, z * local_z, *values)
            if draws:
                state.ticket.value = 0
            if prints:
                sys.stdout.flush()  # the driver writes to the file descriptor
            if sharing is not None and sharing.takes(programs, data):
                code = 0
            elif programs <= serial and state.call is not None and (
                    sharing is None or sharing.leaves_to_one(programs)):
                code = state.call(data)
                if sharing is not None and programs > sharing.most and code >= 0:
                    sharing.took_alone(programs, not code)
                if code > 0:  # nanoseconds
                    taken, code = code, 0
                    slow = slow + 1 if taken > (self.slow if programs > 1 else waiting.SHORT) else 0
                    if slow > 1:  # twice: the first may have been interrupted
                        too_long(programs, taken)
                elif slow:
                    slow = 0
            elif running_kernels.lost_driver_threads and state.call and (programs == 1 or not artifact.waits):
                code = min(state.call(data), 0)
            else:
                threads.__dict__.pop("state", None)  # as _taken() does
                if draws:
                    state.ticket.value = 0
                state.panels = held
                ctypes.memmove(state.sizes, data, layout.size)
                start, queue = clock(), context.queue
                running_kernels.enter(state.place, text)
                code = library.clSetKernelArg(state.kernel.handle, 0, layout.size - 24, state.struct)
                running_kernels.table[state.place] = 0
                code = code or self._run(state, queue, programs, (arguments, values))
                threads.state = state
                taken = clock() - start
                if taken < SHORT_LAUNCH and programs <= ceiling:
                    serial = max(serial, programs)
                elif taken < waiting.SHORT and not serial:
                    serial = 1  # which no other thread could help with
                if sharing is not None and not code:
                    sharing.driver_took(programs, taken)
            if code:
                self.failed(code)
            if held is not None:
                panels.given_back(held)
            if asserts and state.error[0]:
                self.raise_assertion(state.error)

        def was_short(programs: int) -> None:
            nonlocal serial
            serial = max(serial, min(programs, ceiling))

        def too_long(programs: int, nanoseconds: int) -> None:
            nonlocal serial, ceiling
            if nanoseconds > self.longest:
                serial = programs - 1
                ceiling = max(serial, 1)
            if sharing is not None:
                sharing.too_slow(programs, nanoseconds)

        self.pace = Pace(lambda: serial if context.device.runs_in_calling_thread else 0, was_short, too_long,
                         lambda: max(serial, self._known))
        return launch

    def _panels(self, arguments: Sequence[object], values: list[object], grid: tuple[int, int, int]
                ) -> tuple[panels.Panels | None, tuple[int, int, int]]:
        """What a launch keeps packed operands in, which its values then name; the grid that it has then."""
        found = panels.taken(self.context.device.compute_units, self.overlap, arguments, grid)
        if found is None:
            return None, grid
        values[len(arguments) + self.artifact.hidden.index("panel_buffer")] = found.address
        return found, panels.along_x(grid)

    def _leave(self, state: ThreadState) -> None:
        """Enqueue and return: all that the kernel works on is on the device."""
        library, queue = self.context.device.library, self.context.queue
        with running_kernels.calls:
            code = library.clEnqueueNDRangeKernel(queue, state.kernel.handle, 3, None, state.sizes,
                                                  ctypes.addressof(self.local), 0, None, None)
        if code:
            self.failed(code)
        self.context.leave(self.artifact.entry)

    def _run(self, state: ThreadState, queue: int, programs: int, kept: object, event: int | None = None,
             staging: memory.Staging | None = None) -> int:
        """Enqueue and wait: the error code. Launches of the main thread that are not known to be short can be
        interrupted; the kernel runs on then, and this thread goes on with a state and queues of its own."""
        library, start = self.context.device.library, time.perf_counter_ns()
        if running_kernels.lost_driver_threads and programs > 1 and self.artifact.waits:
            raise LaunchError(f"{self.artifact.entry}: its programs wait for each other, which takes more "
                              f"than one thread; {running_kernels.FORKED}")
        enqueue = partial(library.clEnqueueNDRangeKernel, queue, state.kernel.handle, 3, None, state.sizes,
                          ctypes.addressof(self.local), 0, None, event)
        finish: Callable[[], int] = partial(library.clFinish, queue)
        running_kernels.enter(state.place, self.text_address)
        try:
            if not state.may_wait:
                finish = waiting.begun(lambda: enqueue() or library.clFinish(queue))
                code = finish()
            else:
                patient = state.is_main and programs > self._known
                code = enqueue() or (waiting.wait(finish) if patient else finish())
        except BaseException:
            waiting.keep(finish, Abandoned(self, state, kept, staging))
            raise
        finally:
            running_kernels.table[state.place] = 0
        if time.perf_counter_ns() - start < waiting.SHORT:
            self._known = max(self._known, programs)
        else:
            self._known = min(self._known, programs - 1)
        return code

    # ---- the longer path

    def launch_prepared(self, x: int, y: int, z: int, arguments: Sequence[object],
                        timer: EventTimer | None = None) -> None:
        """Launch with whatever the device and the arguments need: mapping, staging, arguments one by one. A
        timer brings its own queue, and learns the device's times."""
        if not is_launch(x, y, z):
            return
        self.parameters.check_count(arguments)
        state = self._taken()
        self._launch_with(state, x, y, z, arguments, timer)
        self._threads.state = state

    def _taken(self) -> ThreadState:
        """This thread's state. It is nobody else's until it is put back: a signal handler may launch the same
        kernel meanwhile. After an error it is not put back, the kernel may run on with it."""
        state: ThreadState = getattr(self._threads, "state", None) or self._new_state()
        self._threads.__dict__.pop("state", None)
        return state

    def _launch_with(self, state: ThreadState, x: int, y: int, z: int, arguments: Sequence[object],
                     timer: EventTimer | None) -> None:
        artifact = self.artifact
        if _prints(artifact):
            sys.stdout.flush()
        if state.watch is not None:
            if not self.shared:
                raise LaunchError(f"{artifact.entry} on {self.context.device.name}: checked mode needs a "
                                  "device that shares the host's memory: TRITON_SPIRV_DEVICE=cpu")
            state.watch.prepare(arguments, (x, y, z))
        if self._asks_sizes and any((extent(arguments[index]) or (0, 0))[1] > LARGE
                                    for index, kind in enumerate(self.parameters.codes) if kind == "Q"):
            return self._large().launch_prepared(x, y, z, arguments, timer)
        parameters = self.parameters
        if artifact.follows and not self.shared \
                and not all(map(parameters.is_there, parameters.pointers(arguments))):
            raise LaunchError(f"{artifact.entry} on {self.context.device.name}: {artifact.follows} follows "
                              "an address that the kernel loads or makes of a number, and the device does "
                              "not share the host's memory; pass the arrays themselves as arguments, or "
                              "offsets into one of them, or make all arrays on the device "
                              "(triton_spirv.empty(..., device='gpu')), or launch where memory is shared: "
                              "TRITON_SPIRV_DEVICE=cpu")
        self.context.settle(others_only=timer is None)
        queue, event = (timer.queue, timer.event) if timer else (self.context.queue, None)
        with ExitStack() as stack:
            staging = None if self.shared else stack.enter_context(memory.Staging(self.context, queue))
            reach = parameters.reach(arguments, (x, y, z)) if staging else None
            values: list[object] = [parameters.prepared(index, argument, stack, staging, reach)
                                    for index, argument in enumerate(arguments)]
            values += state.hidden
            if self._keeps:
                state.panels, (x, y, z) = self._panels(arguments, values, (x, y, z))
            state.ticket.value = 0
            if artifact.overflow_bytes:
                at = len(arguments) + artifact.hidden.index("overflow_buffer")
                values[at] = state.overflow.for_launch(x * y * z, staging)
            if staging:
                for index, (name, address) in enumerate(zip(artifact.hidden, state.hidden, strict=True),
                                                        len(arguments)):
                    if address:
                        size = ctypes.sizeof(state.error) if name == "assert_buffer" else 4
                        staging.add(index, address, (address, size), True)
                for index, address in staging.copy_in().items():
                    values[index] = address
                self._announce(state, staging.allocations, arguments)
            self._set_arguments(state, values)
            struct.pack_into("<QQQ", state.buffer, 0, *map(operator.mul, (x, y, z), artifact.local_size))
            is_there = staging is not None and staging.copies_nothing
            if is_there and not timer and not artifact.hidden and not _prints(artifact) and state.may_wait:
                return self._leave(state)
            self.context.settle()  # whose mistake it is, if one was made
            if state.watch is not None and state.watch.one_by_one:
                queue = self.context.local_queue or queue
            with state.watch.timed() if state.watch is not None else nullcontext():
                code = self._run(state, queue, x * y * z, (arguments, timer), event, staging)
            state.overflow.ended()
            if code:
                self.failed(code)
            if state.panels is not None:
                panels.given_back(state.panels)
                state.panels = None
            if timer:
                timer.read()
            if staging:
                staging.copy_back()
        if state.watch is not None:
            state.watch.require_nothing(arguments)
        if state.error[0]:
            self.raise_assertion(state.error)

    def _large(self) -> Kernel:
        """The kernel for allocations above 4 GB: built so that its offsets have 64 bits everywhere."""
        if self._for_large is None:
            if not self.program.words:
                raise LaunchError(f"{self.artifact.entry}: an array has more than 4 GB; compile the native "
                                  f"binary with build_flags='{LARGE_BUFFERS}'")
            flags = f"{self.program.build_flags} {LARGE_BUFFERS}".strip()
            program = build(self.context, self.program.words, self.artifact.entry, flags)
            self._for_large = Kernel(self.context, program, self.artifact)
        return self._for_large

    def _announce(self, state: ThreadState, allocations: list[int], arguments: Sequence[object]) -> None:
        """Tell the driver what the launch reaches. A kernel object keeps what it was told: one that shall
        reach nothing is a new one."""
        if self.artifact.passing == "struct":
            there = [one.allocation.address for one in self.parameters.pointers(arguments)
                     if self.parameters.is_there(one)]
            allocations = list(dict.fromkeys([*allocations, *there]))
        if not allocations and state.announced:
            state.kernel = self.program.clone_kernel()
        if allocations:
            memory.announce(self.context, state.kernel.handle, allocations)
        if self.artifact.follows:
            memory.announce_indirect(self.context, state.kernel.handle)
        state.announced = bool(allocations)

    def _set_arguments(self, state: ThreadState, values: Sequence[object]) -> None:
        library, kernel = self.context.device.library, state.kernel.handle
        if self.artifact.passing == "struct":
            struct.pack_into(self.artifact.struct_format, state.buffer, 24, *values)
            library.call("clSetKernelArg", kernel, 0, len(state.buffer) - 24, state.struct)
            return
        for index, value in enumerate(values):
            if index >= len(self.parameters.codes) or self.artifact.parameters[index].type == "ptr":
                library.call("clSetKernelArgSVMPointer", kernel, index, value)
            else:
                data = struct.pack(self.parameters.codes[index], value)
                library.call("clSetKernelArg", kernel, index, len(data), data_of(data))

    # ---- what can be wrong

    def failed(self, code: int) -> None:
        """LaunchError for an error code of the driver."""
        error = OpenCLError("clEnqueueNDRangeKernel", code)
        raise LaunchError(f"{self.artifact.entry} on {self.context.device.name}: {error}")

    def raise_assertion(self, error: ctypes.Array[ctypes.c_uint32]) -> None:
        """DeviceAssertion for what the kernel has written into its assert buffer, which is cleared."""
        text = assert_layout.text(self.artifact.entry, self.artifact.asserts, list(error))
        ctypes.memset(error, 0, ctypes.sizeof(error))
        sys.stderr.flush()
        os.write(2, f"{text}\n".encode())
        raise DeviceAssertion(text)


def _prints(artifact: Artifact) -> bool:
    return bool(getattr(artifact, "prints", False))
