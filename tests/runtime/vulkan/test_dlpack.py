"""Device arrays as tensors of other libraries, by DLPack: whose memory, how long, what of it."""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import weakref
from typing import Any

import numpy as np
import pytest
from simulated_cuda import Tensor
from triton_spirv.runtime import dlpack
from triton_spirv.runtime.vulkan import arrays, memory
from vulkan_launches import COUNT, kernel, random

torch = pytest.importorskip("torch")


def test_memory_stays_while_others_have_it(side: Any) -> None:
    """A part of a block is handed out again when the array and every tensor of it are gone, and CUDA's work
    is done."""
    array = arrays.asarray(side.context, random())
    place, size = array.address, array.nbytes
    held = array.__dlpack__(stream=1) if side.name == "simulated" else torch.from_dlpack(array)
    del array
    gc.collect()
    others = [arrays.empty(side.context, COUNT) for _ in range(20)]
    assert all(abs(other.address - place) >= size for other in others)
    del held
    gc.collect()
    others += [arrays.empty(side.context, COUNT) for _ in range(200)]
    assert place in [other.address for other in others]
    if side.name == "simulated":
        assert "synchronize" in side.gpu.asked


def test_blocks_go_back(simulated: Any) -> None:
    """CUDA's view of a block ends before the block."""
    array = arrays.empty(simulated.context, memory.BLOCK_BYTES // 4 + 64)
    tensor = simulated.of_array(array)
    span = tensor.data_ptr(), tensor.data_ptr() + 4
    assert simulated.bridge.address(*span) == array.address
    del array, tensor
    gc.collect()
    arrays.empty(simulated.context, 4)
    assert simulated.bridge.address(*span) is None and "forget_memory" in simulated.gpu.asked


def test_dlpack_options(side: Any) -> None:
    array = arrays.asarray(side.context, random())
    there = (2, side.gpu.ordinal)
    assert array.__dlpack_device__() == there
    assert (np.from_dlpack(Host(array)) == random()).all() and (np.asarray(array) == random()).all()
    with pytest.raises((RuntimeError, BufferError)):  # numpy has no memory of GPUs, and does not ask
        np.from_dlpack(array)
    if tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1):
        assert (np.from_dlpack(array, device="cpu") == random()).all()
    with pytest.raises(BufferError, match="on the host there can only be a copy"):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="does not reach"):
        array.__dlpack__(dl_device=(2, side.gpu.ordinal + 1))
    for options in ({}, {"stream": -1}, {"copy": False}, {"dl_device": there}, {"max_version": (1, 0)}):
        assert pointer_of(array.__dlpack__(**options)) == pointer_of(array.__dlpack__())
    assert pointer_of(array.__dlpack__(copy=True)) != pointer_of(array.__dlpack__())


def test_without_order_only_where_there_was_one(simulated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """stream=-1 of memory that CUDA has not seen waits nevertheless: an array lay there whose launches still
    run; later on it does not."""
    count, context = 65535 * 64, simulated.context
    launched = kernel(context)
    one, earlier = arrays.asarray(context, np.ones(count, np.float32)), arrays.empty(context, count)
    place = earlier.address
    for _ in range(15):
        launched.launch(65535, 1, 1, (one, one, earlier, count))
    context.stream.flush()
    del earlier
    array = arrays.empty(context, count)
    assert array.address == place
    numbers = Tensor(pointer_of(array.__dlpack__(stream=-1)), count).numbers
    numbers[...] = 100
    context.stream.synchronize()
    assert (numbers == 100).all()
    monkeypatch.setattr(context.stream, "synchronize", None)
    array.__dlpack__(stream=-1)
    with pytest.raises(TypeError):
        array.__dlpack__(stream=1)


class Host:
    """Asks for the copy on the host, as DLPack's consumers on the host do."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(dl_device=(1, 0))

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def pointer_of(capsule: Any) -> int:
    find = ctypes.pythonapi.PyCapsule_GetPointer
    find.restype, find.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return dlpack.DLTensor.from_address(find(capsule, b"dltensor")).data


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "float8_e5m2", "bool", "uint8",
                                  "int64", "float16"])
def test_capsules(simulated: Any, name: str) -> None:
    """What torch makes of them, on the host: type, shape, strides, the same bytes; the owner is kept."""
    class Owner:
        pass

    whole = arrays.empty(simulated.context, (4, 6), name)
    simulated.context.stream.fill(whole.allocation, 0, 24 * whole.dtype.itemsize, 0x01010101)
    simulated.context.stream.drain()
    array, owner = whole.T[1:], Owner()
    kept, place = weakref.ref(owner), whole.allocation.host + whole.dtype.itemsize
    tensor = torch.from_dlpack(Capsule(dlpack.capsule(array, place, (1, 0), owner)))
    assert str(tensor.dtype) == f"torch.{name}" and tensor.shape == (5, 4) and tensor.stride() == (1, 6)
    assert tensor.data_ptr() == place
    tensor.zero_()
    bits = whole.numpy().view(f"u{whole.dtype.itemsize}")
    assert not bits[:, 1:].any() and bits[:, 0].all()
    del owner
    gc.collect()
    assert kept() is not None
    del tensor
    gc.collect()
    assert kept() is None


class Capsule:
    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def test_tensors_may_outlive_python() -> None:
    """Whoever holds a capsule's memory may let it go when Python ends, in any order."""
    script = """
import builtins, torch
from types import SimpleNamespace
from triton_spirv.arrays import find_dtype
from triton_spirv.runtime import dlpack
memory = (1 << 12) * b"a"
array = SimpleNamespace(dtype=find_dtype("uint8"), shape=(8,), strides=(1,))
class Source:
    def __dlpack__(self, **options): return dlpack.capsule(array, id(memory) + 64, (1, 0), memory)
    def __dlpack_device__(self): return 1, 0
builtins.kept = torch.from_dlpack(Source())
kept_too = torch.from_dlpack(Source())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
