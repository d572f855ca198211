"""Arrays that kernels take, for users without torch: zero-copy views of numpy arrays, and fresh arrays.

Triton's front end takes anything with `data_ptr()` and a `dtype`; a bare numpy array has neither.
`asarray(x)` gives a view of the same memory that has both, and `view.numpy()` gives the memory back as a
numpy array.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .dataclass import dataclass
from .errors import LaunchError
from .tensors import check_elements, why_not_shared

#: numpy's allocations are aligned to 16 bytes; whole cache lines suit wide vectors
ALIGNMENT = 64


@dataclass(frozen=True)
class DType:
    """An element type; `str` gives the name by which Triton knows it. `storage` is the numpy type of the same
    size that holds it."""

    name: str
    storage: str
    itemsize: int
    is_floating_point: bool

    def __str__(self) -> str:
        return self.name


_NUMPY = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
          "float16", "float32", "float64")
_WITHOUT_NUMPY = {"bfloat16": "uint16", "float8_e4m3fn": "uint8", "float8_e5m2": "uint8",
                  "float8_e4m3fnuz": "uint8", "float8_e5m2fnuz": "uint8"}

DTYPES = {name: DType(name, storage, np.dtype(storage).itemsize, name.startswith(("float", "bfloat")))
          for name, storage in {**dict(zip(_NUMPY, _NUMPY, strict=True)), **_WITHOUT_NUMPY}.items()}


def find_dtype(dtype: Any) -> DType:
    """The element type that `dtype` names: a name, a DType, a numpy or torch dtype."""
    if isinstance(dtype, DType):
        return dtype
    name = str(np.dtype(dtype)) if isinstance(dtype, type) else str(dtype).rpartition(".")[2]
    if name not in DTYPES:
        raise LaunchError(f"kernels know no element type {name!r}; there are {', '.join(DTYPES)}")
    return DTYPES[name]


class Array:
    """A view of host memory as a kernel argument; strides count elements. It keeps the memory alive."""

    def __init__(self, memory: np.ndarray, dtype: DType) -> None:
        self._memory = memory
        self.dtype = dtype
        self.address: int = memory.ctypes.data
        self.read_only = not memory.flags.writeable
        self.shape: tuple[int, ...] = memory.shape
        self.strides = tuple(step // dtype.itemsize for step in memory.strides)

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self.address

    def stride(self, dimension: int | None = None) -> Any:
        """Strides in elements, all or one, as torch gives them."""
        return self.strides if dimension is None else self.strides[dimension]

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    def numel(self) -> int:
        """Number of elements."""
        return self._memory.size

    def numpy(self) -> np.ndarray:
        """The same memory as a numpy array; of types that numpy lacks, the bits."""
        return self._memory

    def extent(self) -> tuple[int, int]:
        """Address and bytes of the whole allocation that this is a part of: what a staged launch copies."""
        start, size = span_of(self._memory)
        owner, base = self._memory, self._memory.base
        while base is not None:  # as_strided puts an object of its own between a view and its base
            owner = base if isinstance(base, np.ndarray) else owner
            base = base.base if type(base).__module__.startswith("numpy") else None
        if owner is self._memory:
            return start, size
        first, room = span_of(owner)
        begin = min(start, first)
        return begin, max(start + size, first + room) - begin

    @property
    def device(self) -> str:
        """Where the memory is."""
        return "cpu"

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.numel() * self.dtype.itemsize

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self._memory, dtype=dtype) if copy else np.asarray(self._memory, dtype=dtype)

    def __dlpack__(self, **options: Any) -> Any:
        if self.dtype.name != self.dtype.storage:
            raise BufferError(f"numpy cannot export {self.dtype} through DLPack; .numpy() gives the bits")
        return self._memory.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # kDLCPU

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> Array:
        """A view of a part, by numpy's basic indexing."""
        part = self._memory[index]
        if not isinstance(part, np.ndarray) or not np.shares_memory(part, self._memory):
            raise LaunchError(f"index {index!r} would copy; use slices, or .numpy()[...] for values")
        return Array(part, self.dtype)

    def __repr__(self) -> str:
        return f"triton_spirv.{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"


class MappedArray(Array):
    """A pyopencl array, mapped into host memory while a kernel runs. It may belong to any context of any
    platform."""

    def __init__(self, source: Any, dtype: DType) -> None:
        self._source = source
        with self.mapped() as memory:
            super().__init__(memory, dtype)
        del self._memory  # not ours outside of a launch

    @contextmanager
    def mapped(self) -> Iterator[np.ndarray]:
        """The elements in host memory, until the end of the block; the array's own queue orders it after
        earlier commands."""
        cl, source = sys.modules["pyopencl"], self._source
        if source.queue is None:
            raise LaunchError("a pyopencl array without a queue cannot be mapped; "
                              "array.with_queue(queue) gives it one")
        flags = cl.map_flags.READ | cl.map_flags.WRITE
        memory, _ = cl.enqueue_map_buffer(source.queue, source.base_data, flags, source.offset, source.shape,
                                          source.dtype, strides=source.strides)
        try:
            yield memory
        finally:
            memory.base.release(source.queue)
            source.queue.finish()

    def numpy(self) -> np.ndarray:
        """A copy in host memory."""
        return np.asarray(self._source.get())

    def numel(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.numpy().astype(dtype) if dtype is not None else self.numpy()

    def __dlpack__(self, **options: Any) -> Any:
        raise BufferError("a pyopencl array is mapped only while a kernel runs; .numpy() copies it")

    def __getitem__(self, index: Any) -> Array:
        return MappedArray(self._source[index], self.dtype)


def asarray(source: Any, dtype: Any = None) -> Array:
    """A view of the memory of a numpy or pyopencl array, of another Array, or of anything with DLPack or the
    buffer protocol.

    Nothing is copied. `dtype` reads elements of the same size as another type: `asarray(bits, "bfloat16")` of
    a uint16 array.
    """
    if isinstance(source, Array) and dtype is None:
        return source
    if type(source).__module__.startswith("pyopencl"):
        return MappedArray(source, _reinterpreted(source.dtype, dtype))
    memory = source.numpy() if isinstance(source, Array) else _memory_of(source)
    return Array(memory, _reinterpreted(memory.dtype, dtype))


def span_of(array: np.ndarray) -> tuple[int, int]:
    """Address and bytes of the smallest span that has all elements of an array, whatever its strides."""
    start: int = array.__array_interface__["data"][0]
    if array.flags.c_contiguous or not array.size:
        return start, array.nbytes
    below = above = 0
    for size, step in zip(array.shape, array.strides, strict=True):
        if step < 0:
            below += (size - 1) * step
        else:
            above += (size - 1) * step
    return start + below, above - below + array.itemsize


def dtype_or(source: Any, dtype: Any) -> tuple[np.ndarray, DType]:
    """The elements of `source` as numpy holds them, and their type: `dtype`, or its own. For torch's bfloat16
    and 8-bit floats numpy has the bits."""
    kind = dtype
    if hasattr(source, "untyped_storage"):
        kind = kind or source.dtype
        source = source.detach().resolve_conj().resolve_neg()
        check_elements(source)
        source = source.cpu().contiguous()
        if find_dtype(source.dtype).name != find_dtype(source.dtype).storage:
            source = source.view(getattr(sys.modules["torch"], find_dtype(source.dtype).storage))
        source = source.numpy()
    memory = source.numpy() if isinstance(source, Array) else _memory_of(source)
    kind = kind or (source.dtype if isinstance(source, Array) else None)
    return memory, _reinterpreted(memory.dtype, kind)


def _memory_of(source: Any) -> np.ndarray:
    if isinstance(source, np.ndarray):
        return source
    if hasattr(source, "__dlpack__"):
        if hasattr(source, "is_conj"):
            check_elements(source)
            if not source.is_cpu:
                raise LaunchError(why_not_shared(source))
        return np.from_dlpack(source)
    if hasattr(source, "__array_interface__"):
        return np.asarray(source)
    try:
        return np.asarray(memoryview(source))
    except TypeError:
        raise LaunchError(f"a {type(source).__name__} has no memory that a kernel could share; make it a "
                          "numpy array first: triton_spirv.asarray(numpy.array(x))") from None


def _reinterpreted(actual: np.dtype[Any], dtype: Any) -> DType:
    if dtype is None:
        return find_dtype(actual)
    wanted = find_dtype(dtype)
    if wanted.itemsize != actual.itemsize:
        raise LaunchError(f"elements of {actual} ({actual.itemsize} bytes) cannot be read as {wanted} "
                          f"({wanted.itemsize} bytes)")
    return wanted


def empty(shape: int | Sequence[int], dtype: Any = "float32") -> Array:
    """A new array with arbitrary contents, aligned to 64 bytes."""
    kind = find_dtype(dtype)
    dimensions = (shape,) if isinstance(shape, int) else tuple(shape)
    size = int(np.prod(dimensions, dtype=np.int64)) * kind.itemsize
    block = np.empty(size + ALIGNMENT, np.uint8)
    start = -block.ctypes.data % ALIGNMENT
    return Array(block[start:start + size].view(kind.storage).reshape(dimensions), kind)


def zeros(shape: int | Sequence[int], dtype: Any = "float32") -> Array:
    """A new array of zeros."""
    array = empty(shape, dtype)
    array.numpy()[...] = 0
    return array
