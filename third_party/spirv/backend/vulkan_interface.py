"""What torch.cuda is to a GPU, for a Vulkan device: events are timestamps of the device."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from triton_spirv.once import Once
from triton_spirv.runtime.vulkan import arrays, timing
from triton_spirv.runtime.vulkan.context import Context, open_device
from triton_spirv.runtime.vulkan.devices import Device

#: bytes that no GPU's cache holds
CACHE_BYTES = 256 << 20
#: of a software device, whose caches are the processor's
SOFTWARE_CACHE_BYTES = 32 << 20


class VulkanInterface:
    """`driver.get_device_interface()` for one device."""

    def __init__(self, device: Device) -> None:
        self.chosen, self.context = device, open_device(device)
        # classes, as torch's are: programs write `torch.cuda.Stream | None`
        self.Event, self.Stream = _events(self.context), _streams(self)

    def current_stream(self, device: Any = None) -> TheStream:
        """The only stream, whatever it is called."""
        return self.Stream(device)

    default_stream = current_stream

    @contextmanager
    def stream(self, stream: Any) -> Iterator[None]:
        """Work in this block goes to `stream`."""
        yield

    @contextmanager
    def device(self, device: Any) -> Iterator[None]:
        """Work in this block goes to `device`."""
        yield

    def synchronize(self, device: Any = None) -> None:
        """Everything launched so far is done."""
        self.context.stream.synchronize()

    def is_available(self) -> bool:
        """There is a device."""
        return True

    def device_count(self) -> int:
        """One: the chosen one."""
        return 1

    def current_device(self) -> str:
        """The device's name."""
        return self.chosen.choice

    def set_device(self, device: Any) -> None:
        """TRITON_SPIRV_DEVICE chooses."""

    def empty_cache(self) -> None:
        """Memory that nothing lies in goes back to the driver."""
        if "cuda" in vars(self.context) and self.context.cuda is not None:
            self.context.cuda.trim()
        self.context.pools.device.trim()

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        """No compute capability."""
        return 0, 0

    def get_device_properties(self, device: Any = None) -> SimpleNamespace:
        """The few facts that benchmarks ask for."""
        return SimpleNamespace(name=self.chosen.name, multi_processor_count=self.chosen.compute_units or 1,
                               major=0, minor=0)

    def cache(self) -> arrays.DeviceArray:
        """An array with `fill(0)` that no cache holds."""
        size = SOFTWARE_CACHE_BYTES if self.chosen.kind == "cpu" else CACHE_BYTES
        return arrays.empty(self.context, size // 4, "int32")


class TheStream:
    """All work of a device is in the order of the calls, on every stream."""

    cuda_stream = 0

    def __init__(self, interface: VulkanInterface) -> None:
        self._interface = interface

    def __enter__(self) -> TheStream:
        return self

    def __exit__(self, *failure: object) -> None:
        pass

    def synchronize(self) -> None:
        """Everything launched so far is done."""
        self._interface.synchronize()

    def query(self) -> bool:
        """Is everything done?"""
        stream = self._interface.context.stream
        stream.flush()
        return stream.idle()

    def wait_stream(self, stream: Any) -> None:
        """One order: nothing to wait for."""

    def wait_event(self, event: Any) -> None:
        """One order: nothing to wait for."""

    def record_event(self, event: Any = None) -> Any:
        """An event recorded now."""
        event = event or self._interface.Event()
        event.record()
        return event


def _events(context: Context) -> type[Any]:
    """The class of a device's events."""

    class Event(timing.Event):
        """A point in the order of the device's work."""

        def __init__(self, enable_timing: bool = False, **_: Any) -> None:
            super().__init__(context, enable_timing)

    return Event


def _streams(interface: VulkanInterface) -> type[TheStream]:
    """The class of a device's streams."""

    class Stream(TheStream):
        """The only stream."""

        def __init__(self, device: Any = None, priority: int = 0, **_: Any) -> None:
            super().__init__(interface)

    return Stream


@Once
def of(device: Device) -> VulkanInterface:
    """The interface of a device."""
    return VulkanInterface(device)
