"""CUDA tensors as kernel arguments, on the same GPU, in the order of the current CUDA stream.

Memory that Vulkan sees is passed by its address there (bridge.py). Of the rest whole allocations are copied
on the device, there and, if the kernel may write to them, back; overlapping ones travel once and together, as
with memory of the host (staging.py). Copies and launch stand in the stream's order, and the host waits for
none of them; what it waits for is memory for new copies (bridge.py).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from ...dataclass import dataclass
from ...errors import LaunchError
from ...tensors import Placed, check_elements, is_tensor
from ..extents import extent, merged
from .devices import devices
from .memory import ALIGNMENT, Allocation

if TYPE_CHECKING:
    from .context import Context


@dataclass(frozen=True)
class Region:
    """CUDA's [begin, end), which is at `address` on Vulkan's side; `copy`: what has been made of it there, at
    `pointer` for CUDA, None where it is the memory itself."""

    begin: int
    end: int
    written: bool
    address: int
    copy: Allocation | None = None
    pointer: int = 0


class CudaTensor(Placed, Protocol):
    """torch's, in CUDA's memory."""

    def get_device(self) -> int: ...


class CudaMemory:
    """The CUDA memory of one launch. First `add` every argument, then `run`, which asks for
    addresses."""

    def __init__(self, context: Context) -> None:
        self._context, self._bridge = context, context.cuda
        self._spans: list[tuple[int, int, bool]] = []
        self._regions: list[Region] = []

    def add(self, argument: CudaTensor, written: bool) -> int:
        """The address of a CUDA tensor on CUDA's side. LaunchError where Vulkan's device is not its GPU."""
        bridge = self._bridge
        if bridge is None or argument.get_device() != bridge.gpu.ordinal:
            raise LaunchError(self._elsewhere(argument))
        if is_tensor(argument):
            check_elements(argument)
        whole = extent(argument)
        if whole is None:
            raise LaunchError(f"the {type(argument).__name__} on {argument.device} does not say where its "
                              "memory begins and ends (untyped_storage()); pass torch.from_dlpack(x)")
        if whole[1]:
            self._spans.append((whole[0], whole[0] + whole[1], written))
        return argument.data_ptr()

    def _elsewhere(self, argument: CudaTensor) -> str:
        """Why the tensor cannot be passed, and what can."""
        from .cuda import open_cuda

        device, bridge = self._context.device, self._bridge
        ways = [] if bridge is None else [f"tensor.to('cuda:{bridge.gpu.ordinal}')"]
        ways.append("tensor.cpu()")
        text = (f"the tensor is on {argument.device}, which {device.choice} ({device.name}) does not share; "
                f"pass {' or '.join(ways)}")
        cuda, number = open_cuda(), argument.get_device()
        if cuda is not None and number < len(cuda.uuids):
            same = [other.choice for other in devices() if other.reaches_cuda
                    and other.uuid == cuda.uuids[number]]
            if same:
                return f"{text}, or set TRITON_SPIRV_DEVICE={same[0]}"
        return f"{text}, or an array of triton_spirv.asarray(x, device='vulkan')"

    def _prepare(self, stream: int) -> None:
        """Find every span on Vulkan's side, overlapping ones together, or room for its copy."""
        bridge = self._bridge
        assert bridge is not None
        if bridge.gpu.is_capturing(stream):
            raise LaunchError("the CUDA stream is captured into a graph, which cannot have launches "
                              "through Vulkan; launch outside of the capture")
        self._channel = channel = bridge.channel(stream)
        for begin, end, written in merged(self._spans):
            address = bridge.address(begin, end)
            if address is not None:
                self._regions.append(Region(begin, end, written, address))
                continue
            shift = begin % ALIGNMENT
            copy = bridge.take(channel, end - begin + shift)
            self._regions.append(Region(begin, end, written, copy.address + shift, copy,
                                        bridge.pointer(copy) + shift))

    def _stream(self) -> int:
        """torch's current stream, or the default one where there is no torch."""
        assert self._bridge is not None
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_initialized():
            return 0
        return torch.cuda.current_stream(self._bridge.gpu.ordinal).cuda_stream

    def address(self, pointer: int) -> int:
        """Vulkan's address of one of CUDA's. (Where one argument ends the next one may begin.)"""
        for region in reversed(self._regions):
            if region.begin <= pointer <= region.end:
                return region.address + pointer - region.begin
        return 0  # of an empty tensor: nothing may be read there

    def run(self, record: Callable[[], None]) -> None:
        """What `record` records runs between what the CUDA stream has and what it is given later."""
        assert self._bridge is not None
        stream = self._stream()
        with self._bridge.launching(), self._bridge.gpu.current():
            self._prepare(stream)
            self._run(record)

    def _run(self, record: Callable[[], None]) -> None:
        bridge, stream, channel = self._bridge, self._context.stream, self._channel
        assert bridge is not None
        gpu, copies = bridge.gpu, [region for region in self._regions if region.copy is not None]
        with stream.lock:
            stream.flush()  # earlier work waits for nobody, and `record` fits into one submission
            for region in copies:
                gpu.copy(region.pointer, region.begin, region.end - region.begin, channel.stream)
            # the stream copies before and behind the launch: it is not idle then, or will not be
            number, patience = bridge.next_number(), 0 if copies else channel.patience()
            idle = patience > 0 and gpu.is_idle(channel.stream)
            if not idle:
                gpu.signal(channel.signals, number, channel.stream)
            stream.meeting = channel.meeting.at(number, waits=not idle)
            try:
                record()
                submission, begin = stream.flush(), time.perf_counter_ns()
                done = idle and stream.is_done(submission, patience)
                if not done:
                    gpu.wait(bridge.awaited, number, channel.stream)
            except BaseException:
                stream.drain()  # the CUDA stream may not wait for what was submitted: the host does
                raise
            finally:
                stream.meeting = None
            for region in copies:
                if region.written:
                    gpu.copy(region.begin, region.pointer, region.end - region.begin, channel.stream)
            if idle:
                channel.looked(in_vain=not done, took=time.perf_counter_ns() - begin)
            else:
                channel.met()
        for region in copies:
            assert region.copy is not None
            bridge.keep(channel, region.copy)
