"""Memory that nobody has written yet, as far as it is known: of `torch.empty` and `triton_spirv.empty` in
checked mode, and of arrays that the user marks.

Such memory is filled with a pattern. What kernels in checked mode write is taken note of exactly, in marks: a
byte for each. What anybody else writes shows by the pattern: it is looked for again before each launch, in
pieces of 16 bytes, and a piece in which a marked byte has changed is written. So nothing has to say what it
writes, and what is written is taken for unwritten only if it leaves all marked bytes of a piece as they were.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .errors import UsageError

if TYPE_CHECKING:
    import numpy

#: four bytes, again and again: a NaN in f32, f64 and f16; at addresses that are multiples of 4
PATTERN = 0xFFBADBAD
#: twice
WORD = PATTERN << 32 | PATTERN
#: bytes that are looked at together
PIECE = 16
#: bytes that are looked at in one go, a multiple of PIECE: they stay in a cache
TOGETHER = 1 << 18


class Unwritten:
    """Memory from `begin` to `end` of which nobody has written something; `marks`: a byte for each, 1 where
    nobody has. `is_alive`: has it not been freed?"""

    def __init__(self, begin: int, size: int, is_alive: Callable[[], bool]) -> None:
        import numpy

        self.begin, self.end, self.is_alive = begin, begin + size, is_alive
        self.marks = numpy.ones(size, numpy.uint8)
        self.any = True

    @property
    def distance(self) -> int:
        """How far behind a byte its mark is."""
        address: int = self.marks.ctypes.data
        return address - self.begin

    def look(self) -> None:
        """Clear the marks of what has been written by others than kernels in checked mode: of pieces where a
        byte has changed that is still marked. Other bytes of such a piece may hold what a kernel wrote."""
        import numpy

        first, last = -(-self.begin // PIECE) * PIECE, self.end // PIECE * PIECE
        for begin in range(first, last, TOGETHER):
            size = min(TOGETHER, last - begin)
            words = _bytes_at(begin, size).view("uint64")
            if not (words == WORD).all():
                marks = self.marks[begin - self.begin:begin - self.begin + size].view("uint64")
                # a mark is 0 or 1: all bits of its byte, or none
                changed = ((words ^ WORD) & (marks * 255)).astype(bool)
                pieces = changed.view("uint16") != 0
                if pieces.any():  # no other marks are written: a kernel in another thread may clear them now
                    numpy.copyto(marks.reshape(-1, 2), 0, where=pieces[:, None])
        if first >= last:
            first = last = self.end
        for begin, end in ((self.begin, first), (last, self.end)):
            marks = self.marks[begin - self.begin:end - self.begin]
            if (marks[_bytes_at(begin, end - begin) != _pattern(begin, end - begin)]).any():
                marks[...] = 0
        self.any = bool(self.marks.any())


_known: dict[int, Unwritten] = {}
_lock = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))


def fill(begin: int, size: int, is_alive: Callable[[], bool]) -> None:
    """Fill memory with the pattern, and take it for unwritten."""
    if size <= 0:
        return
    _bytes_at(begin, size)[...] = _pattern(begin, size)
    with _lock:
        for other in list(_known.values()):
            if other.is_alive() and other.begin <= begin and begin + size <= other.end:
                other.marks[begin - other.begin:begin + size - other.begin] = 1
                return
            if not other.is_alive() or (begin < other.end and other.begin < begin + size):
                del _known[other.begin]
        _known[begin] = Unwritten(begin, size, is_alive)


def find(begin: int, end: int) -> Unwritten | None:
    """What is unwritten of some memory that is there; looked at again. Of several parts, the largest."""
    if not _known:
        return None
    with _lock:
        parts = [part for part in _known.values() if begin <= part.begin and part.end <= end]
        for part in parts:
            part.look()
            if not part.any:
                del _known[part.begin]
    return max((part for part in parts if part.any), key=lambda part: part.end - part.begin, default=None)


def mark_uninitialised(array: Any) -> None:
    """Take all elements of an array or a tensor for not written: check=uninit then finds who reads them. They
    are overwritten. UsageError for what is not contiguous, or not in the host's memory."""
    begin, size = _contiguous(array)
    fill(begin, size, _alive(array))


def _contiguous(array: Any) -> tuple[int, int]:
    """Address and bytes."""
    if hasattr(array, "is_contiguous") and hasattr(array, "untyped_storage"):
        if array.device.type == "cpu" and array.is_contiguous():
            return array.data_ptr(), array.numel() * array.element_size()
    else:
        memory = array.numpy() if hasattr(array, "numpy") else array
        flags = None if hasattr(array, "lives_on_device") else getattr(memory, "flags", None)
        if flags is not None and flags.c_contiguous and flags.writeable:
            return memory.ctypes.data, memory.nbytes
    raise UsageError("mark_uninitialised takes arrays that are contiguous, writable, and in the host's "
                     "memory")


def _alive(array: Any) -> Callable[[], bool]:
    """Is the memory still the array's?"""
    if hasattr(array, "untyped_storage"):
        from torch.multiprocessing.reductions import StorageWeakRef

        storage = StorageWeakRef(array.untyped_storage())
        return lambda: not storage.expired()
    memory = array.numpy() if hasattr(array, "numpy") else array
    while isinstance(getattr(memory, "base", None), type(memory)):
        memory = memory.base
    reference = weakref.ref(memory)
    return lambda: reference() is not None


def import_torch() -> None:
    """Import torch now, where it is installed, so that `watching_torch` knows it."""
    if importlib.util.find_spec("torch"):
        importlib.import_module("torch")


@contextmanager
def watching_torch() -> Iterator[None]:
    """What torch.empty and its like make inside is unwritten; in this thread, and where torch is imported."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    from torch.overrides import TorchFunctionMode

    tensor = torch.Tensor
    makers = {torch.empty, torch.empty_like, torch.empty_strided, torch.empty_permuted, tensor.new_empty,
              tensor.new_empty_strided}

    class Watching(TorchFunctionMode):
        """Fills what is empty."""

        def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            made = function(*args, **(kwargs or {}))
            if function in makers and type(made) is tensor and made.device.type == "cpu" and made.numel():
                storage = made.untyped_storage()
                if "out" not in (kwargs or {}):
                    fill(storage.data_ptr(), storage.nbytes(), _alive(made))
            return made

    with Watching():
        yield


def _bytes_at(address: int, size: int) -> numpy.ndarray:
    """Memory as bytes."""
    import numpy

    if not size:
        return numpy.empty(0, numpy.uint8)
    return numpy.frombuffer(memoryview((ctypes.c_uint8 * size).from_address(address)), numpy.uint8)


def _pattern(begin: int, size: int) -> numpy.ndarray:
    """The pattern from an address on."""
    import numpy

    shift = begin % 4
    whole = numpy.full((size + shift + 3) // 4, PATTERN, numpy.uint32).view(numpy.uint8)
    return whole[shift:shift + size]
