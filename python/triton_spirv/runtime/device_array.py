"""Arrays that live on a device: what a chain of kernels works on without copying.

`triton_spirv.empty(shape, dtype, device="gpu")` and `triton_spirv.asarray(x, device="vulkan")` make them;
`.numpy()` copies one back, after waiting for the kernels that write it. A subclass says which device it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from ..arrays import DType, dtype_or
from ..errors import LaunchError
from . import dlpack

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

#: a subclass, whose views are of it
Own = TypeVar("Own", bound="DeviceArray")


class Allocation(Protocol):
    """Memory of a device; it goes with the last reference."""

    address: int
    size: int


class Stream(Protocol):
    """What moves memory, in the order of the kernels. Offsets and sizes in bytes; addresses of the host."""

    def read(self, allocation: Any, offset: int, address: int, size: int) -> None: ...
    def write(self, allocation: Any, offset: int, address: int, size: int) -> None: ...
    def copy(self, source: Any, source_offset: int, target: Any, target_offset: int, size: int) -> None: ...
    def fill(self, allocation: Any, offset: int, size: int, word: int) -> None: ...


class DeviceArray:
    """A view of memory of a device; strides count elements. It keeps the memory alive.

    context: what the device is opened as, with its `stream`
    """

    #: what tells it from memory of the host
    lives_on_device = True

    def __init__(self, context: Any, allocation: Any, dtype: DType, shape: tuple[int, ...],
                 strides: tuple[int, ...], offset: int = 0) -> None:
        self.context, self.allocation, self.dtype = context, allocation, dtype
        self.shape, self.strides, self._offset = shape, strides, offset
        self.address = allocation.address + offset
        self.read_only = False

    # ---- what Triton asks

    def data_ptr(self) -> int:
        """The address of the first element, on the device."""
        return self.address

    def extent(self) -> tuple[int, int]:
        """Address and bytes of the allocation, on the device."""
        return self.allocation.address, self.allocation.size

    def stride(self, dimension: int | None = None) -> Any:
        """Strides in elements, all or one, as torch gives them."""
        return self.strides if dimension is None else self.strides[dimension]

    def element_size(self) -> int:
        """Bytes of an element."""
        return self.dtype.itemsize

    def numel(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def device(self) -> str:
        """Where the memory is, as TRITON_SPIRV_DEVICE says it."""
        raise NotImplementedError

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.numel() * self.dtype.itemsize

    # ---- values

    def numpy(self) -> np.ndarray:
        """A copy in host memory, when all kernels launched so far are done; of types that numpy lacks, the
        bits."""
        begin, end = self._span()
        raw = np.empty(end - begin, np.uint8)
        if raw.size:
            self.context.stream.read(self.allocation, self._offset + begin, raw.ctypes.data, raw.size)
        return self._as_numpy(raw, -begin)

    def copy_from(self: Own, source: object) -> Own:
        """Overwrite the elements with those of `source`, of the same shape: anything numpy reads, a
        tensor of torch's on any device, or an array of this device; gives itself."""
        if isinstance(source, DeviceArray) and source.context is self.context and self._alike(source):
            self.context.stream.copy(source.allocation, source._offset, self.allocation, self._offset,
                                     self.nbytes)
            return self
        if hasattr(source, "untyped_storage"):
            values, _ = dtype_or(source, None)
        else:
            values = source.numpy() if hasattr(source, "numpy") else np.asarray(source)
        if values.dtype.itemsize != self.dtype.itemsize or values.shape != self.shape:
            raise LaunchError(f"cannot copy {values.dtype}{list(values.shape)} into "
                              f"{self.dtype}{list(self.shape)}: same shape and element size are needed")
        if self._contiguous():
            values = np.ascontiguousarray(values)
            if values.nbytes:
                self.context.stream.write(self.allocation, self._offset, values.ctypes.data, values.nbytes)
            return self
        begin, end = self._span()  # elements between ours must stay
        raw = np.empty(end - begin, np.uint8)
        self.context.stream.read(self.allocation, self._offset + begin, raw.ctypes.data, raw.size)
        self._as_numpy(raw, -begin)[...] = values.view(self.dtype.storage)
        self.context.stream.write(self.allocation, self._offset + begin, raw.ctypes.data, raw.size)
        return self

    def fill_(self: Own, value: float) -> Own:
        """Set every element, as torch spells it; gives itself."""
        if self.dtype.name != self.dtype.storage and value != 0:
            raise LaunchError(f"filling {self.dtype} takes numbers that numpy cannot make; copy_from() takes "
                              "their bits")
        pattern = np.array([value]).astype(self.dtype.storage).tobytes()
        if self._contiguous() and self.nbytes % 4 == 0 and self._offset % 4 == 0 and len(pattern) <= 4:
            word = int.from_bytes(pattern * (4 // len(pattern)), "little")
            if self.nbytes:
                self.context.stream.fill(self.allocation, self._offset, self.nbytes, word)
            return self
        return self.copy_from(np.full(self.shape, value, self.dtype.storage))

    fill = fill_

    def zero_(self: Own) -> Own:
        """Set every element to 0."""
        return self.fill_(0)

    def _alike(self, other: DeviceArray) -> bool:
        return (self.shape == other.shape and self.dtype == other.dtype and self._contiguous()
                and other._contiguous())

    def _contiguous(self) -> bool:
        return self.strides == row_major(self.shape) or self.numel() == 0

    is_contiguous = _contiguous

    def _span(self) -> tuple[int, int]:
        """The first and the last byte + 1 of the elements, relative to the first element."""
        if not self.numel():
            return 0, 0
        steps = [(size - 1) * step * self.dtype.itemsize
                 for size, step in zip(self.shape, self.strides, strict=True)]
        return (sum(step for step in steps if step < 0),
                sum(step for step in steps if step > 0) + self.dtype.itemsize)

    def _as_numpy(self, raw: np.ndarray, place: int) -> np.ndarray:
        """The elements in the bytes of the span, the first one at `place`."""
        strides = tuple(step * self.dtype.itemsize for step in self.strides)
        return np.ndarray(self.shape, self.dtype.storage, raw, place if raw.size else 0, strides)

    # ---- views

    def __getitem__(self: Own, index: Any) -> Own:
        """A view of a part, by numpy's basic indexing."""
        item = self.dtype.itemsize
        strides = tuple(step * item for step in self.strides)
        model = np.lib.stride_tricks.as_strided(np.empty(0, self.dtype.storage), self.shape, strides)
        part = model[index] if _is_basic(index) else None
        if not isinstance(part, np.ndarray):
            raise LaunchError(f"index {index!r} would copy; use slices, or .numpy()[...] for values")
        offset = part.__array_interface__["data"][0] - model.__array_interface__["data"][0]
        return type(self)(self.context, self.allocation, self.dtype, part.shape,
                          tuple(step // item for step in part.strides), self._offset + offset)

    def reshape(self: Own, *shape: Any) -> Own:
        """A view of another shape; LaunchError where the elements do not lie one behind the other."""
        wanted = tuple(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if not self._contiguous():
            raise LaunchError("only an array whose elements lie one behind the other can be reshaped")
        if -1 in wanted:
            others = int(np.prod([size for size in wanted if size != -1], dtype=np.int64))
            wanted = tuple(self.numel() // max(others, 1) if size == -1 else size for size in wanted)
        if int(np.prod(wanted, dtype=np.int64)) != self.numel():
            raise LaunchError(f"{self.numel()} elements cannot have the shape {wanted}")
        return type(self)(self.context, self.allocation, self.dtype, wanted, row_major(wanted), self._offset)

    @property
    def T(self: Own) -> Own:
        """A view with the dimensions in the other order."""
        return type(self)(self.context, self.allocation, self.dtype, self.shape[::-1], self.strides[::-1],
                          self._offset)

    # ---- others

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("the array is on a device; numpy can only have a copy")
        values = self.numpy()
        return values.astype(dtype) if dtype is not None else values

    def __dlpack__(self, *, stream: object = None, max_version: object = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> object:
        """A copy in host memory; `stream` and `max_version` change nothing. BufferError for another device,
        and where `copy` forbids it."""
        if dl_device is not None and tuple(map(int, dl_device)) != self.__dlpack_device__():
            raise BufferError(f"the array is on {self.device}, which DLPack's device {tuple(dl_device)} does "
                              "not reach; ask for (1, 0), a copy on the host")
        return dlpack.on_host(self, copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # kDLCPU

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"triton_spirv.DeviceArray(shape={self.shape}, dtype={self.dtype}, device={self.device!r})"


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Strides of elements that lie one behind the other."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _is_basic(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is Ellipsis or isinstance(part, (slice, int, np.integer))
               for part in parts)
