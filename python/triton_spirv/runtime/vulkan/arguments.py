"""What a user passes for a pointer, as an address on the device.

Device arrays are passed by their address; memory of the host, and CUDA's, takes the launch's longer path. A
table learns each type once, as for OpenCL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...errors import LaunchError
from ..arguments import Handler, NeedsPreparation

if TYPE_CHECKING:
    from .arrays import DeviceArray
    from .context import Context


class AddressTable(dict[type, Handler]):
    """Type of an argument -> the function that gives its address on the device of `context`."""

    def __init__(self, context: Context) -> None:
        super().__init__({int: self._number, type(None): _null})
        self._context = context

    def __missing__(self, kind: type) -> Handler:
        self[kind] = self._choose(kind)
        return self[kind]

    def _choose(self, kind: type) -> Handler:
        if hasattr(kind, "lives_on_device"):
            return self._device_array()
        if hasattr(kind, "extent") or hasattr(kind, "is_cpu"):
            return _staged
        if hasattr(kind, "data_ptr"):
            return self._wrapper
        return _refused

    def _number(self, argument: int) -> int:
        if argument and not self._context.has_arrays:
            raise LaunchError(f"{argument:#x} is a bare address; {self._context.device.choice} knows those "
                              "of arrays on the device, and there is none; pass the array itself")
        return argument

    def _device_array(self) -> Handler:
        context = self._context

        def address(argument: DeviceArray) -> int:
            if argument.context is not context:
                raise LaunchError(f"the array is on {argument.device}, the kernel runs on "
                                  f"{context.device.choice}; copy it: triton_spirv.asarray(x.numpy(), "
                                  f"device={context.device.choice!r})")
            if argument.allocation.shared is not None:
                raise NeedsPreparation("CUDA works on it as well, in an order of its own")
            return argument.address

        return address

    def _wrapper(self, argument: object) -> int:
        """triton.reinterpret gives a wrapper around an array or a tensor."""
        base = getattr(argument, "base", None)
        return self[type(base)](base) if base is not None else _refused(argument)


def _null(argument: None) -> int:
    return 0


def _staged(argument: object) -> int:
    raise NeedsPreparation("host memory is copied to the device and back, CUDA's has its own order")


def _refused(argument: object) -> int:
    kind = type(argument)
    name = f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins.")
    raise LaunchError(f"a {name} is not memory that a kernel can work on; pass triton_spirv.asarray(x, "
                      "device='vulkan') to keep it on the device, or triton_spirv.asarray(x)")
