"""Device arrays for other libraries, by DLPack: the memory itself where CUDA has it, a copy on the host
elsewhere.

The capsule is one of numpy's, of an array that numpy never reads, with the place and the type of its elements
written over: its deleter is in C, and may be called in any thread, and when Python has ended.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .arrays import DeviceArray

#: DLDeviceType
CPU, CUDA = 1, 2
#: DLDataTypeCode of what numpy lacks
CODES = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13}


class DLTensor(ctypes.Structure):
    """The head of every capsule, versions before 1.0."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Memory:
    """Elements at an address, for numpy; it keeps `owner`."""

    def __init__(self, array: DeviceArray, pointer: int, owner: Any) -> None:
        strides = tuple(step * array.dtype.itemsize for step in array.strides)
        self.__array_interface__ = {"version": 3, "data": (pointer, False), "shape": array.shape,
                                    "strides": strides, "typestr": np.dtype(array.dtype.storage).str}
        self._owner = owner


def device_of(array: DeviceArray) -> tuple[int, int]:
    """The device that DLPack has the array on."""
    cuda = array.context.cuda
    return (CPU, 0) if cuda is None else (CUDA, cuda.gpu.ordinal)


def export(array: DeviceArray, stream: Any = None, dl_device: Any = None, copy: bool | None = None,
           **_: Any) -> Any:
    """A capsule on `dl_device` (None: where it is). BufferError for a device that has it not, and where
    `copy` forbids what is needed. Vulkan's work is done then. `stream` -1 asks for no order, and has none
    where CUDA was given that memory before; the first time, even launches of an array that lay there earlier
    may still run."""
    here = device_of(array)
    wanted = here if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted == (CPU, 0):
        return _on_host(array, copy)
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


def _on_host(array: DeviceArray, copy: bool | None) -> Any:
    if copy is False:
        raise BufferError("the array is on a Vulkan device; on the host there can only be a copy")
    if array.dtype.name != array.dtype.storage:
        raise BufferError(f"numpy cannot export {array.dtype} through DLPack; .numpy() gives the bits")
    return array.numpy().__dlpack__()


def capsule(array: DeviceArray, pointer: int, place: tuple[int, int], owner: Any) -> Any:
    """The array's elements, at an address on a device of DLPack's; whoever takes it keeps `owner`."""
    made = np.asarray(Memory(array, pointer, owner)).__dlpack__()
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = DLTensor.from_address(find(made, b"dltensor"))
    tensor.device_type, tensor.device_id = place
    tensor.code = CODES.get(array.dtype.name, tensor.code)
    return made
