"""One GPU through Vulkan and CUDA at once: whose memory is where, and whose work comes first.

Memory goes both ways, as file descriptors. CUDA sees a block of an exportable pool from the first time that
somebody asks for an array in it until the block goes back to the driver. Vulkan sees an allocation of CUDA's
that has a descriptor (`cuMemCreate`: torch's `expandable_segments`) from its first launch until it is found
to be gone; the import keeps the memory in use, so each look-up also looks after one older import.

Order: a launch stands between two points of a CUDA stream. The stream signals a number of a timeline
semaphore of its own (streams overtake each other, numbers may only grow), Vulkan's submission waits for it
and signals the same number of another one, and the stream waits for that. For each of these two waits the GPU
changes from one driver's work to the other's, which takes longer than a short kernel. So the host looks
first: if the stream has nothing to do, the submission waits for nobody; if the submission is done then before
the semaphores would be (`PATIENCE`), the stream does not wait either. What takes longer is not looked at in
the launches that follow, and neither are launches between which CUDA has work. Where memory changes hands
outside of that order the host does wait: for Vulkan's work before CUDA is given memory that it has not seen
(earlier launches may still run there), and for CUDA's before a part that was shared is handed out again, or
its block goes back to the driver.
"""

from __future__ import annotations

import ctypes
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...dataclass import dataclass
from ...errors import DeviceError
from .memory import ALIGNMENT, Allocation, Block
from .shared_memory import Intervals, timeline
from .structures import make

if TYPE_CHECKING:
    from .context import Context
    from .stream import Stream

#: allocations of CUDA's that are looked at without asking anew, between two launches
IMPORTS = 1024
#: bytes of copies on the device that a CUDA stream keeps for its next launch
KEPT_BYTES = 1 << 30
#: nanoseconds that the host looks whether a launch is done, where semaphores may not be needed: their cost
PATIENCE = 300_000
#: nanoseconds from which on a short launch has waited for the GPU to change from CUDA's work, 150,000 on an
#: H100
CHANGE = 100_000
#: launches at most that follow one in which it has looked in vain, and do not look
IMPATIENT = 64
ALL_STAGES = 0x10000  # VK_PIPELINE_STAGE_ALL_COMMANDS_BIT


class Meeting:
    """A submission that waits for a value of one timeline semaphore, or for nobody, and gives another one a
    value besides the stream's own: how work of other interfaces stands in its order."""

    def __init__(self, stream: Stream, waits: int, signals: int) -> None:
        self._wait_value, self._signal_values = (ctypes.c_uint64 * 1)(0), (ctypes.c_uint64 * 2)(0, 0)
        self._values = make("TimelineSemaphoreSubmitInfo", waitSemaphoreValueCount=1,
                            pWaitSemaphoreValues=self._wait_value, signalSemaphoreValueCount=2,
                            pSignalSemaphoreValues=self._signal_values)
        self._info = make("SubmitInfo", next=self._values, waitSemaphoreCount=1,
                          pWaitSemaphores=(ctypes.c_void_p * 1)(waits),
                          pWaitDstStageMask=(ctypes.c_uint32 * 1)(ALL_STAGES), commandBufferCount=1,
                          pCommandBuffers=stream.one_handle, signalSemaphoreCount=2,
                          pSignalSemaphores=(ctypes.c_void_p * 2)(stream.semaphore, signals))

    def at(self, value: int, waits: bool = True) -> Meeting:
        """Both values, of the next submission that this is part of; gives itself."""
        self._wait_value[0] = self._signal_values[1] = value
        self._info.waitSemaphoreCount = self._values.waitSemaphoreValueCount = int(waits)
        return self

    def submission(self, number: int) -> int:
        """The address of what vkQueueSubmit takes, for the stream's submission of that number."""
        self._signal_values[0] = number
        return ctypes.addressof(self._info)


class Mapping:
    """A block of Vulkan's at CUDA's addresses, from `pointer` on."""

    def __init__(self, bridge: Bridge, block: Block) -> None:
        self._bridge = bridge
        self._handle, self.pointer = bridge.gpu.import_memory(block.descriptor(), block.allocated)
        bridge.seen.add(self.pointer, block.size, block)

    def release(self) -> None:
        """CUDA sees it no longer; nobody has an array there."""
        self._bridge.settle()
        with self._bridge.lock:
            self._bridge.seen.remove(self.pointer)
        self._bridge.gpu.forget_memory(self._handle, self.pointer)


@dataclass(frozen=True)
class Import:
    """An allocation of CUDA's, of `size` bytes from `base` on; `block`: Vulkan's view of it, None where it
    has none, and then base is any address in it."""

    base: int
    size: int
    block: Block | None


class Channel:
    """A CUDA stream, as Vulkan's work meets it; `kept`: its copies, which its order makes free again."""

    def __init__(self, bridge: Bridge, stream: int) -> None:
        self.stream = stream
        semaphore, self.signals = bridge.semaphore()
        self.meeting = Meeting(bridge.context.stream, semaphore, bridge.done)
        self.kept: list[Allocation] = []
        #: launches without a look: after the last look in vain, and left of these
        self._in_vain = self._blind = 0
        #: the launch before was looked at, and done: CUDA has had nothing of ours to do since
        self._in_a_row = False

    def patience(self) -> int:
        """Nanoseconds for which the host looks whether this launch is done, if the stream is idle; 0: it does
        not look at either."""
        if not self._blind:
            return PATIENCE
        self._blind -= 1
        return 0

    def met(self) -> None:
        """It did not look: CUDA waits for the launch."""
        self._in_a_row = False

    def looked(self, in_vain: bool, took: int = 0) -> None:
        """It did, for `took` nanoseconds, and the launch was done, or not. If it took the GPU a change from
        CUDA's work, torch's operations and launches come in turns: semaphores cost less then."""
        in_a_row, self._in_a_row = self._in_a_row, not in_vain
        if in_vain or (in_a_row and took > CHANGE):
            self._in_vain = self._blind = min(max(2 * self._in_vain, 1), IMPATIENT)
        elif in_a_row:
            self._in_vain = 0


class Bridge:
    """`gpu` (cuda.Gpu) is the context's device, through CUDA."""

    def __init__(self, context: Context, gpu: Any) -> None:
        self.context, self.gpu = context, gpu
        self.lock = threading.RLock()
        #: blocks of ours, by CUDA's addresses
        self.seen = Intervals()
        #: by CUDA's number of the allocation, the one that was looked at longest ago first
        self.imports: OrderedDict[int, Import] = OrderedDict()
        self._channels: dict[int, Channel] = {}
        self._number = self.done = self.awaited = 0
        self._launching = 0  # launches that have looked for addresses, and are not submitted yet
        context.pools.device.spare = self.forget_copies

    # ---- order

    def semaphore(self) -> tuple[int, int]:
        """A new timeline semaphore, Vulkan's handle and CUDA's."""
        semaphore, fd = timeline(self.context.api, self.context.handle)
        return semaphore, self.gpu.import_semaphore(fd)

    def channel(self, stream: int) -> Channel:
        """What belongs to a CUDA stream."""
        with self.lock:
            if not self.done:
                self.done, self.awaited = self.semaphore()
                self.context.stream.watch = self.gpu.check
            if stream not in self._channels:
                self._channels[stream] = Channel(self, stream)
            return self._channels[stream]

    def next_number(self) -> int:
        """The value of the next meeting; with the stream's lock held."""
        self._number += 1
        return self._number

    def settle(self) -> None:
        """All that CUDA was given is done."""
        self.gpu.synchronize()

    @contextmanager
    def launching(self) -> Iterator[None]:
        """In the block, addresses that are given stay: no import ends because there are too many."""
        with self.lock:
            self._launching += 1
        try:
            yield
        finally:
            with self.lock:
                self._launching -= 1
                while not self._launching and len(self.imports) > IMPORTS:
                    self._drop(next(iter(self.imports)))

    # ---- Vulkan's memory, seen by CUDA

    def pointer(self, allocation: Allocation) -> int:
        """CUDA's address of an allocation of the device pool, whose work both order from now on. What Vulkan
        was given before must be done when CUDA first uses it."""
        block = allocation.block
        with self.lock:
            if block.elsewhere is None:
                block.elsewhere = Mapping(self, block)
            allocation.shared = self
            return block.elsewhere.pointer + allocation.offset

    # ---- CUDA's memory, seen by Vulkan

    def address(self, begin: int, end: int) -> int | None:
        """Vulkan's address of CUDA's [begin, end); None where Vulkan cannot see all of it in one piece."""
        with self.lock:
            found = self.seen.find(begin, end)
            if found is not None:
                start, block = found
                return block.address + begin - start
            number = self.gpu.buffer_id(begin)
            self._look_after_one()
            if not number:
                return None
            if number not in self.imports:
                self.imports[number] = self._import(begin)
            self.imports.move_to_end(number)
            known = self.imports[number]
            if known.block is None or begin < known.base or end > known.base + known.size:
                return None
            return known.block.address + begin - known.base

    def _import(self, pointer: int) -> Import:
        exported = self.gpu.export_memory(pointer)
        if exported is None:
            return Import(pointer, 0, None)
        base, size, fd = exported
        try:
            block = Block(self.context.pools.device, size, fd)
        except DeviceError:
            return Import(pointer, 0, None)  # the driver does not take it
        if base % ALIGNMENT or block.address % ALIGNMENT:
            block.release()  # kernels were compiled for addresses that are as even as CUDA's
            return Import(pointer, 0, None)
        return Import(base, size, block)

    def _look_after_one(self) -> None:
        if self.imports:
            number = next(iter(self.imports))
            if self.gpu.buffer_id(self.imports[number].base) == number:
                self.imports.move_to_end(number)
            else:
                self._drop(number)

    def _drop(self, number: int) -> None:
        block = self.imports.pop(number).block
        if block is not None:
            self.context.stream.drain()
            block.release()

    def trim(self) -> None:
        """Memory that nothing lies in goes back: copies, and what CUDA has freed."""
        self.forget_copies()
        with self.lock:
            for _ in range(len(self.imports)):
                self._look_after_one()

    # ---- copies on the device

    def forget_copies(self) -> None:
        """No stream keeps any. The pool asks for it with its lock held: nothing may be allocated there with
        this one held."""
        with self.lock:
            for channel in self._channels.values():
                channel.kept = []

    def take(self, channel: Channel, size: int) -> Allocation:
        """Memory for a copy, which both see; what the stream has left over, or new, for which the host waits:
        launches of an array that lay there may still run, and CUDA's copies do not wait for them."""
        with self.lock:
            fitting = [kept for kept in channel.kept if size <= kept.size <= 2 * size + ALIGNMENT]
            if fitting:
                best = min(fitting, key=lambda kept: kept.size)
                channel.kept.remove(best)
                return best
        made = self.context.pools.device.allocate(size)
        self.context.stream.drain()
        self.pointer(made)
        return made

    def keep(self, channel: Channel, copy: Allocation) -> None:
        """The next launch on the stream may have it."""
        with self.lock:
            channel.kept.append(copy)
            while sum(kept.size for kept in channel.kept) > KEPT_BYTES:
                channel.kept.pop(0)
