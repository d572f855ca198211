"""Capsules of DLPack: elements at an address, for other libraries.

A capsule is one of numpy's, of an array that numpy never reads, with the place and the type of its elements
written over: its deleter is in C, and may be called in any thread, and when Python has ended.
"""

from __future__ import annotations

import ctypes
from typing import Any, Protocol

import numpy as np

from ..arrays import DType

#: DLDeviceType; kDLOneAPI is memory that belongs to a context of SYCL's, which memory of OpenCL does not
CPU, CUDA = 1, 2
#: DLDataTypeCode of what numpy lacks
CODES = {"bfloat16": 4, "float8_e4m3fn": 10, "float8_e4m3fnuz": 11, "float8_e5m2": 12, "float8_e5m2fnuz": 13}


class Elements(Protocol):
    """What a capsule says of them; strides count elements."""

    dtype: DType
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class DLTensor(ctypes.Structure):
    """The head of every capsule, versions before 1.0."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Memory:
    """Elements at an address, for numpy; it keeps `owner`."""

    def __init__(self, array: Elements, pointer: int, owner: object) -> None:
        strides = tuple(step * array.dtype.itemsize for step in array.strides)
        self.__array_interface__ = {"version": 3, "data": (pointer, False), "shape": array.shape,
                                    "strides": strides, "typestr": np.dtype(array.dtype.storage).str}
        self._owner = owner


def on_host(array: Any, copy: bool | None = None) -> object:
    """A capsule of a copy of a device array in host memory; BufferError where `copy` forbids one. Its work is
    done then."""
    if copy is False:
        raise BufferError("the array is on a device; on the host there can only be a copy")
    values = array.numpy()
    return capsule(array, values.ctypes.data, (CPU, 0), values)


def capsule(array: Elements, pointer: int, place: tuple[int, int], owner: object) -> object:
    """The array's elements, at an address on a device of DLPack's; whoever takes it keeps `owner`."""
    exported = np.asarray(Memory(array, pointer, owner)).__dlpack__()
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = DLTensor.from_address(find(exported, b"dltensor"))
    tensor.device_type, tensor.device_id = place
    tensor.code = CODES.get(array.dtype.name, tensor.code)
    return exported
