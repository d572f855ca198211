"""Device arrays for other libraries, by DLPack: the memory itself where CUDA has it, a copy on the host
elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..dlpack import CPU, CUDA, capsule, on_host

if TYPE_CHECKING:
    from .arrays import DeviceArray


def device_of(array: DeviceArray) -> tuple[int, int]:
    """The device that DLPack has the array on."""
    cuda = array.context.cuda
    return (CPU, 0) if cuda is None else (CUDA, cuda.gpu.ordinal)


def export(array: DeviceArray, stream: object = None, dl_device: tuple[int, int] | None = None,
           copy: bool | None = None, **_: object) -> object:
    """A capsule on `dl_device` (None: where it is). BufferError for a device that has it not, and where
    `copy` forbids what is needed. Vulkan's work is done then. `stream` -1 asks for no order, and has none
    where CUDA was given that memory before; the first time, even launches of an array that lay there earlier
    may still run."""
    here = device_of(array)
    wanted = here if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted == (CPU, 0):
        return on_host(array, copy)
    if wanted != here:
        raise BufferError(f"the array is on {array.device}, which DLPack's device {wanted} does not reach; "
                          "ask for (1, 0), a copy on the host")
    if copy:
        from .arrays import empty

        array = empty(array.context, array.shape, array.dtype).copy_from(array)
    known = array.allocation.shared is not None
    pointer = array.context.cuda.pointer(array.allocation)  # type: ignore[union-attr]
    if stream != -1 or not known:
        array.context.stream.synchronize()
    return capsule(array, pointer + array.address - array.allocation.address, here, array.allocation)
