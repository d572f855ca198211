"""arrays.py: views of the same memory, with what Triton's front end asks for."""

from __future__ import annotations

import array

import numpy as np
import pytest
import triton_spirv
from triton_spirv.arrays import DTYPES, asarray, empty, find_dtype, zeros
from triton_spirv.errors import LaunchError

NUMPY = [name for name, dtype in DTYPES.items() if dtype.name == dtype.storage]


@pytest.mark.parametrize("name", NUMPY)
def test_view_of_numpy(name: str) -> None:
    memory = np.zeros((3, 5), name)
    view = asarray(memory)
    assert view.data_ptr() == memory.ctypes.data and view.numpy() is memory
    assert str(view.dtype) == name and view.dtype.itemsize == memory.itemsize == view.element_size()
    assert view.shape == (3, 5) and view.stride() == (5, 1) and view.stride(0) == 5 and view.ndim == 2
    assert view.numel() == 15 and view.nbytes == memory.nbytes and len(view) == 3
    memory[1, 2] = 1
    assert np.asarray(view)[1, 2] == 1 and np.from_dlpack(view)[1, 2] == 1


def test_strided_views() -> None:
    memory = np.arange(24.0, dtype=np.float32).reshape(4, 6)
    assert asarray(memory.T).stride() == (1, 6)
    assert asarray(memory[::2, ::3]).stride() == (12, 3)
    assert asarray(memory[::-1]).stride() == (-6, 1)
    part = asarray(memory)[1:3, 2:]
    assert part.data_ptr() == memory[1:, 2:].ctypes.data and part.shape == (2, 4)
    assert part.extent() == asarray(memory.T).extent() == (memory.ctypes.data, memory.nbytes)
    with pytest.raises(LaunchError, match="would copy"):
        asarray(memory)[1, 2]
    with pytest.raises(LaunchError, match="would copy"):
        asarray(memory)[[0, 1]]


@pytest.mark.parametrize("name", sorted(set(DTYPES) - set(NUMPY)))
def test_types_without_numpy(name: str) -> None:
    bits = np.zeros(4, DTYPES[name].storage)
    view = asarray(bits, name)
    assert str(view.dtype) == name and view.dtype.is_floating_point and view.numpy() is bits
    assert empty(3, name).numpy().dtype == DTYPES[name].storage
    with pytest.raises(BufferError, match=name):
        view.__dlpack__()


def test_other_owners() -> None:
    source = array.array("f", [1, 2, 3])
    assert asarray(source).data_ptr() == source.buffer_info()[0]
    assert asarray(asarray(source)) is not None
    view = asarray(source)
    assert asarray(view) is view
    other = asarray(view, "int32")
    assert str(other.dtype) == "int32" and other.data_ptr() == view.data_ptr()
    torch = pytest.importorskip("torch")
    tensor = torch.ones(4)
    assert asarray(tensor).data_ptr() == tensor.data_ptr()


def test_what_has_no_memory() -> None:
    for value in ([1, 2], (1,), 3, None, {"a": 1}):
        with pytest.raises(LaunchError, match="has no memory that a kernel could share"):
            asarray(value)
    with pytest.raises(LaunchError, match="kernels know no element type 'complex64'"):
        asarray(np.zeros(3, np.complex64))
    with pytest.raises(LaunchError, match="kernels know no element type"):
        asarray(np.zeros(3, ">f4"))
    with pytest.raises(LaunchError, match="cannot be read as bfloat16"):
        asarray(np.zeros(3, np.float32), "bfloat16")


def test_new_arrays() -> None:
    assert zeros((2, 3)).numpy().sum() == 0 and zeros((2, 3)).shape == (2, 3)
    for shape in (1, 7, (3, 5), (1000, 1000)):
        assert empty(shape, "float16").data_ptr() % 64 == 0
    assert zeros(5, np.int8).dtype is DTYPES["int8"] and find_dtype(np.dtype("uint16")) is DTYPES["uint16"]
    torch = pytest.importorskip("torch")
    assert find_dtype(torch.bfloat16) is DTYPES["bfloat16"]


def test_memory_outlives_its_maker() -> None:
    view = asarray(np.full(1000, 7.0))
    assert view.numpy().sum() == 7000


def test_public_names() -> None:
    names = {"asarray", "empty", "zeros", "enable", "disable", "backend", "compile", "devices"}
    assert names <= set(dir(triton_spirv))
    for name in triton_spirv.__all__:
        assert getattr(triton_spirv, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        triton_spirv.nonsense
