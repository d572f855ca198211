"""The order of a device's work: commands are recorded, submitted, waited for.

All work of a device goes through one queue, in the order of the calls, each command after the one before: a
barrier stands between two commands, and one behind the last of a submission. A barrier's scopes are all
commands before it and all behind it in submission order, whatever command buffers they are in (Vulkan's
chapter of synchronization, "Pipeline Barriers" and "Implicit Synchronization Guarantees"); so the last one
orders the next submission too, and a command buffer begins with none. What the host has written before a
submission the device sees without a barrier ("Host Write Ordering Guarantees").

A submission costs more than everything else about a launch, so what is recorded is submitted at once where
the device has nothing to do and the last submission is a while ago, and in larger pieces otherwise. A thread
(submitter.py) submits what nobody else does. One timeline semaphore counts submissions.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import DeviceError
from .commands import BIND_COMPUTE, Barrier, Commands
from .library import DEVICE_LOST, TIMEOUT, VulkanError, untyped
from .memory import Allocation
from .structures import STRUCTURES, make
from .submitter import PACE, Submitter

if TYPE_CHECKING:
    from .bridge import Meeting
    from .context import Context

#: command buffers that are used in turn
COMMAND_BUFFERS = 16
#: commands after which a submission does not wait any longer for the device to become idle
COMMANDS_PER_SUBMISSION = 64
#: what stands between two events with timestamps is submitted with both, so that the time of a submission is
#: never measured; up to so many commands (and some time: submitter.py)
TIMED_COMMANDS = 1024
#: bytes of parameters that the launches of one submission may have
PARAMETER_BYTES = 64 << 10
#: bytes that travel at once between host memory and memory that the host does not see
STAGING_BYTES = 32 << 20
#: a wait looks this long before it sleeps, in nanoseconds
SPIN = 100_000


class Stream:
    """Recording and submitting; every method takes the lock, hot paths take it themselves."""

    def __init__(self, context: Context) -> None:
        self.context, self.api, self.device = context, context.api, context.handle
        self.lock = threading.RLock()
        info: Any = make("CommandPoolCreateInfo", flags=2, queueFamilyIndex=context.device.queue_family)
        self._pool = self.api.create("vkCreateCommandPool", self.device, ctypes.byref(info))
        self.ring = [Commands(handle) for handle in self._allocated(0, COMMAND_BUFFERS)]
        #: by level, command buffers of recordings that are no more
        self.unused: tuple[list[Commands], list[Commands]] = [], []
        info = make("SemaphoreCreateInfo", next=make("SemaphoreTypeCreateInfo", semaphoreType=1))
        self.semaphore = self.api.create("vkCreateSemaphore", self.device, ctypes.byref(info))
        self.submitted = 0  # the number of the last submission; the semaphore has it when it is done
        self.finished = 0  # a submission that is known to be done
        self.current: Commands | None = None
        #: the handle of the command buffer that is being recorded
        self.recording: ctypes.c_void_p | None = None
        self.recorded = self.used = 0
        self.bound = 0  # the pipeline of the commands so far, and what was pushed for it last
        self.pushed: bytes | None = None
        self.ready: Commands | None = None  # the next command buffer, where it has been begun during a wait
        self.unordered = False  # no barrier is recorded behind the last command
        self.flushed_at = self.added_at = 0  # when, and when was recorded, by time.perf_counter_ns
        #: since when (time.perf_counter_ns) an event with a timestamp waits for its other one; 0: none does
        self.timed = 0
        #: has somebody waited for all there was, and nothing been recorded since?
        self.waited = False
        #: what the next submission has to do with others; None: nothing
        self.meeting: Meeting | None = None
        #: called every second of a wait: raises where what the device waits for will never come
        self.watch: Callable[[], None] = lambda: None
        self.submitter = Submitter(self)
        #: what went wrong in the helping thread, for the next call to raise
        self.failure: BaseException | None = None
        #: called after each wait: looks whether an assertion failed
        self.checks: dict[int, Callable[[], None]] = {}
        self._prepare()

    def _prepare(self) -> None:
        """The structures that every submission passes, made once."""
        self._counter = ctypes.c_uint64(0)
        self.counter_address = ctypes.addressof(self._counter)
        self._once = make("CommandBufferBeginInfo", flags=1)
        self._once_address = ctypes.addressof(self._once)
        self._signal = (ctypes.c_uint64 * 1)(0)
        self.one_handle = (ctypes.c_void_p * 1)(0)
        semaphores = (ctypes.c_void_p * 1)(self.semaphore)
        values = make("TimelineSemaphoreSubmitInfo", signalSemaphoreValueCount=1,
                      pSignalSemaphoreValues=self._signal)
        self._submit = make("SubmitInfo", next=values, commandBufferCount=1, pCommandBuffers=self.one_handle,
                            signalSemaphoreCount=1, pSignalSemaphores=semaphores)
        self._submit_address = ctypes.addressof(self._submit)
        #: records a barrier: to be called with the command buffer, and `barrier` (between two commands) or
        #: `last_barrier` (behind the last: the next submissions, and the host)
        is_new = "synchronization2" in self.context.device.features
        self.barrier_call = untyped(self.api.vkCmdPipelineBarrier2 if is_new
                                    else self.api.vkCmdPipelineBarrier)
        self._barriers = Barrier(is_new, host=False), Barrier(is_new, host=True)
        self.barrier, self.last_barrier = (each.arguments for each in self._barriers)

    def _allocated(self, level: int, count: int) -> list[ctypes.c_void_p]:
        """Command buffers, primary (0) or secondary (1)."""
        handles = (ctypes.c_void_p * count)()
        info: Any = make("CommandBufferAllocateInfo", commandPool=self._pool, level=level,
                         commandBufferCount=count)
        self.api.call("vkAllocateCommandBuffers", self.device, ctypes.byref(info), handles)
        return [ctypes.c_void_p(handle) for handle in handles]

    # ---- recording

    def begin(self) -> ctypes.c_void_p:
        """The command buffer to record into; with the lock held."""
        if self.recording is not None:
            return self.recording
        self._tell()
        following = self.ring[(self.submitted + 1) % COMMAND_BUFFERS]
        if following.submission > self.finished:
            self.wait_for(following.submission)  # which may get it ready
        commands = self.ready
        if commands is None:
            commands = following
            self._begin(commands)
            self.bound = 0
        self.current, self.recording, self.ready = commands, commands.handle, None
        self.recorded = self.used = 0
        self.pushed, self.unordered = None, False
        return commands.handle

    def _begin(self, commands: Commands) -> None:
        code = self.api.vkBeginCommandBuffer(commands.handle, self._once_address)
        if code:
            self._failed("vkBeginCommandBuffer", code)

    def get_ready(self) -> None:
        """While there is nothing to do but to wait: begin the next command buffer, with the pipeline that was
        used last. That takes 5 microseconds of a launch, and of 10 that an empty kernel is waited for."""
        if self.recording or self.ready is not None or not self.lock.acquire(blocking=False):
            return
        try:
            commands = self.ring[(self.submitted + 1) % COMMAND_BUFFERS]
            if not self.recording and self.ready is None and commands.submission <= self.finished:
                self._begin(commands)
                if self.bound:
                    self.api.vkCmdBindPipeline(commands.handle, BIND_COMPUTE, self.bound)
                self.ready = commands
        finally:
            self.lock.release()

    def forget(self) -> None:
        """Pipelines will be destroyed: the command buffer that is ready may have one of them."""
        with self.lock:
            if self.ready is not None:
                self.api.call("vkResetCommandBuffer", self.ready.handle, 0)
            self.ready, self.bound = None, 0

    def order(self) -> None:
        """A barrier behind what is recorded, where none is yet; with the lock held."""
        if self.unordered:
            self.barrier_call(self.recording, *self.barrier)
            self.unordered = False

    @contextmanager
    def commands(self) -> Any:
        """Record in this block, behind everything before it."""
        with self.lock:
            handle = self.begin()
            self.order()
            self.unordered = True
            yield handle
            self.added()

    def added(self) -> None:
        """A command has been recorded: submit, if the device is idle or there is enough; with the lock
        held."""
        self.recorded += 1
        self.waited = False
        now = time.perf_counter_ns()
        if self.recorded >= (TIMED_COMMANDS if self.timed else COMMANDS_PER_SUBMISSION):
            self.flush()
        elif not self.timed and now - self.flushed_at > PACE and self.idle():
            self.flush()
        else:
            self.added_at = now
            if not self.submitter.watches:
                self.submitter.start()

    def idle(self) -> bool:
        """Is everything done that was submitted?"""
        if self.finished != self.submitted:
            self.api.vkGetSemaphoreCounterValue(self.device, self.semaphore, self.counter_address)
            self.finished = self._counter.value
        return self.finished == self.submitted

    def _tell(self) -> None:
        """Raise what has failed in the helping thread: launches were lost."""
        if self.failure is not None:
            failure, self.failure = self.failure, None
            raise failure

    def flush(self) -> int:
        """Submit what is recorded; the number of the last submission."""
        with self.lock:
            self._tell()
            handle = self.recording
            if handle is not None:
                assert self.current is not None
                self.barrier_call(handle, *self.last_barrier)
                code = self.api.vkEndCommandBuffer(handle)
                if code:
                    self._failed("vkEndCommandBuffer", code)
                self.recording = None
                self._hand_over(handle)
                self.current.submission = self.submitted
            return self.submitted

    def submit(self, handle: ctypes.c_void_p) -> None:
        """Submit a command buffer that was made before, and ends with a barrier as others do; with the lock
        held, and nothing recorded."""
        self._tell()
        self.waited = False
        self._hand_over(handle)

    def _hand_over(self, handle: ctypes.c_void_p) -> None:
        """Submit a command buffer as the next submission."""
        self.one_handle[0] = handle
        self._signal[0] = self.submitted + 1
        address, meeting = self._submit_address, self.meeting
        if meeting is not None:
            address, self.meeting = meeting.submission(self.submitted + 1), None
        code = self.api.vkQueueSubmit(self.context.queue, 1, address, None)
        if code:
            self._failed("vkQueueSubmit", code)
        self.submitted += 1
        self.flushed_at = time.perf_counter_ns()

    def commands_of_its_own(self, level: int) -> Commands:
        """A command buffer that is not one of the ring: primary (0) or secondary (1); with the lock held.
        One that is not used any more, if there is one, to be begun again."""
        done = [commands for commands in self.unused[level] if commands.submission <= self.finished]
        for commands in done:
            commands.parameters = None
        if not done:
            return Commands(self._allocated(level, 1)[0])
        self.unused[level].remove(done[0])
        return done[0]

    def parameters(self, size: int) -> tuple[int, int]:
        """Room for `size` bytes of parameters of the commands being recorded: where the host and where the
        device sees it; with the lock held."""
        if size > PARAMETER_BYTES:
            raise DeviceError(f"{size} bytes of kernel arguments; there is room for {PARAMETER_BYTES}")
        self.begin()
        if self.used + size > PARAMETER_BYTES:
            self.flush()
            self.begin()
        assert self.current is not None
        while self.current.parameters is None:  # where memory is short, what is recorded is submitted for it
            self.current.parameters = self.context.pools.host.allocate(PARAMETER_BYTES)
            self.begin()
        place, self.used = self.used, self.used + -(-size // 64) * 64
        return self.current.parameters.host + place, self.current.parameters.address + place

    # ---- waiting

    def wait_for(self, submission: int) -> None:
        """Return when that submission is done. Raises DeviceError where the device is lost."""
        if not self.is_done(submission, SPIN):
            self.sleep_for(submission)

    def is_done(self, submission: int, within: int) -> bool:
        """Is it, `within` nanoseconds from now? Looks until then."""
        counter, read = self._counter, self.api.vkGetSemaphoreCounterValue
        deadline = time.perf_counter_ns() + within
        while self.finished < submission:
            code = read(self.device, self.semaphore, self.counter_address)
            self.finished = max(self.finished, counter.value)
            if code:
                self._failed("vkGetSemaphoreCounterValue", code)
            if self.finished < submission:
                self.get_ready()
                if time.perf_counter_ns() > deadline:
                    return False
        return True

    def sleep_for(self, submission: int) -> None:
        """The same, without looking first, for what takes a while."""
        values, semaphores = (ctypes.c_uint64 * 1)(submission), (ctypes.c_void_p * 1)(self.semaphore)
        info = make("SemaphoreWaitInfo", semaphoreCount=1, pSemaphores=semaphores, pValues=values)
        code = TIMEOUT
        while code == TIMEOUT:  # by the second, so that an interrupt is seen
            code = self.api.vkWaitSemaphores(self.device, ctypes.byref(info), 1_000_000_000)
            if code == TIMEOUT:
                self.watch()
        if code:
            self._failed("vkWaitSemaphores", code)
        self.finished = max(self.finished, submission)

    def drain(self) -> None:
        """Everything recorded so far is done."""
        self.timed = 0
        self.wait_for(self.flush())

    def synchronize(self) -> None:
        """The same; raises the assertion that failed in it, if any."""
        self.timed = 0
        self.wait_for(self.flush())
        self.waited = True
        if self.context.instance.messages:
            self.context.instance.raise_messages()
        if self.checks:
            with self.lock:
                checks, self.checks = list(self.checks.values()), {}
            for check in checks:
                check()

    def _failed(self, function: str, code: int) -> None:
        error = VulkanError(function, code)
        if code == DEVICE_LOST:
            raise DeviceError(f"{self.context.device.name}: {error}: a kernel has crashed the device (an "
                              "address out of bounds, or a run longer than the driver allows); this process "
                              "cannot use it any more") from error
        raise error

    # ---- copies

    @contextmanager
    def others_done(self, *memory: Allocation) -> Any:
        """In this block, memory that another interface works on is this stream's: either is waited for."""
        shared = next((part.shared for part in memory if part.shared is not None), None)
        if shared is not None:
            shared.settle()
        try:
            yield
        finally:
            if shared is not None:
                self.drain()

    def write(self, target: Allocation, place: int, source: int, size: int) -> None:
        """Copy `size` bytes at the host's `source` to `place` in `target`."""
        with self.others_done(target):
            self._write(target, place, source, size)

    def _write(self, target: Allocation, place: int, source: int, size: int) -> None:
        if target.host:
            self.synchronize()  # earlier work may still use that memory
            ctypes.memmove(target.host + place, source, size)
            return
        with self.lock:
            for start in range(0, size, STAGING_BYTES):
                part = min(STAGING_BYTES, size - start)
                staging = self.context.pools.host.allocate(part)
                ctypes.memmove(staging.host, source + start, part)
                with self.commands() as handle:
                    self._copy(handle, staging, 0, target, place + start, part)
                self.wait_for(self.flush())

    def read(self, source: Allocation, place: int, target: int, size: int) -> None:
        """Copy `size` bytes at `place` in `source` to the host's `target`; everything before is done then."""
        if source.shared is not None:
            source.shared.settle()
        if source.host:
            self.synchronize()
            ctypes.memmove(target, source.host + place, size)
            return
        with self.lock:
            for start in range(0, size, STAGING_BYTES):
                part = min(STAGING_BYTES, size - start)
                staging = self.context.pools.host.allocate(part)
                with self.commands() as handle:
                    self._copy(handle, source, place + start, staging, 0, part)
                self.synchronize()
                ctypes.memmove(target + start, staging.host, part)

    def copy(self, source: Allocation, place: int, target: Allocation, target_place: int, size: int) -> None:
        """Copy on the device."""
        with self.others_done(source, target), self.commands() as handle:
            self._copy(handle, source, place, target, target_place, size)

    def _copy(self, handle: ctypes.c_void_p, source: Allocation, place: int, target: Allocation,
              target_place: int, size: int) -> None:
        if not size:
            return
        region = STRUCTURES["BufferCopy"](source.offset + place, target.offset + target_place, size)
        self.api.vkCmdCopyBuffer(handle, source.buffer, target.buffer, 1, ctypes.byref(region))

    def fill(self, target: Allocation, place: int, size: int, word: int) -> None:
        """Set whole 32-bit words on the device; place and size are multiples of 4."""
        with self.others_done(target), self.commands() as handle:
            self.api.vkCmdFillBuffer(handle, target.buffer, target.offset + place, size, word)
