"""Memory of compiled models, kept for their next call.

The C library gives large arrays back to the system when they are freed, and smaller ones if nothing lies
behind them and they are more than twice as large as the largest that it has given back before, so that a call
of a model touches new pages. The system clears each of them and enters it into its tables, which for an
elementwise kernel takes longer than the kernel. Here the storage of a large array stays in a list of its
size, and is handed out again when nobody else has it. It asks the system for large pages, whose addresses are
found sooner.

A storage is free if its count of users is what it was before it was first handed out: tensors, their views,
numpy's arrays, and what autograd has saved all count.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import torch
from triton_spirv.settings import COUNT, number

#: MB of all storages that are kept, at most; 0: none
VARIABLE = "TRITON_SPIRV_INDUCTOR_KEEP"

#: the same where the variable does not say, and the share of the machine's memory that is the most then
MOST, SHARE = 1024, 16

#: bytes from which on an array is kept: a kernel that writes it takes so long that finding one adds little
LEAST = 1 << 20

#: storages of a size that are looked at for a free one
LOOKS = 8

#: shapes of arrays whose list is known at once, at most
SHAPES = 1024

#: a storage that was not handed out while this many times the number of storages were is dropped for others
ROUNDS = 8

#: bytes of a large page, and Linux's advice to use them
LARGE_PAGE, MADV_HUGEPAGE = 1 << 21, 14

_allocate: Any = torch._C._dynamo.guards._empty_strided_cpu
_alias: Any = torch._C._dynamo.guards._reinterpret_tensor
_users: Any = torch._C._storage_Use_Count


class Kept:
    """A storage, and the tensor that holds it. turn: of the pool, when it was last handed out."""

    __slots__ = ("address", "base", "bytes", "place", "storage", "turn", "unused")

    def __init__(self, base: torch.Tensor) -> None:
        self.base, self.turn, self.address = base, 0, base.data_ptr()
        self.storage = base.untyped_storage()
        self.place, self.bytes = self.storage._cdata, self.storage.nbytes()
        self.unused = self.users()

    def users(self) -> int:
        """Who holds the storage: tensors and the like, and those that asked for Python's object of it, which
        is one for all of them. These are asked for before and after: another thread may make a tensor of such
        an object in between, or the other way round."""
        before = sys.getrefcount(self.storage)
        tensors = int(_users(self.place))
        return tensors + max(before, sys.getrefcount(self.storage))

    def is_as_it_was(self) -> bool:
        """Nobody has resized it, moved it to shared memory, or copied it lazily: its address is then another
        one, at the latest when it is asked for. What was emptied and filled again may lie where it was, with
        other bytes."""
        return self.base.data_ptr() == self.address and self.storage.nbytes() == self.bytes


class Pool:
    """Storages by size and type. most: bytes of all of them; least: of one that is worth keeping."""

    def __init__(self, most: int, least: int = 0) -> None:
        self.most, self.least, self.bytes, self.count = most, least, 0, 0
        self.lists: dict[tuple[int, torch.dtype], deque[Kept]] = {}
        #: the same lists, by size, stride and type of an array
        self._shapes: dict[tuple[Sequence[int], Sequence[int], torch.dtype], deque[Kept] | None] = {}
        self._turns, self._looked = itertools.count(1), 0
        self._lock = threading.Lock()

    def empty_strided(self, size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        """As torch's function on the CPU."""
        try:
            known = self._shapes[size, stride, dtype]
        except KeyError:
            known = self._list_of(size, stride, dtype)
        if known is None:
            return _allocate(size, stride, dtype)
        for _ in range(min(len(known), LOOKS)):
            try:
                kept = known.popleft()  # until it has a user no other thread shall see it
            except IndexError:
                break
            if kept.users() != kept.unused:
                known.append(kept)
            elif kept.is_as_it_was():
                made = _alias(kept.base, size, stride, 0)
                kept.turn = next(self._turns)
                known.append(kept)
                return made
            else:
                self._forget(kept)
        return self._another(known, size, stride, dtype)

    def _list_of(self, size: Sequence[int], stride: Sequence[int], dtype: torch.dtype) -> deque[Kept] | None:
        """The storages for arrays of a shape; None where it is too small."""
        bytes_ = _elements(size, stride) * dtype.itemsize
        known = None
        if bytes_ and bytes_ >= self.least:  # a new list is one of the pool's when it has a storage
            known = self.lists.get((bytes_, dtype), deque())
        if len(self._shapes) >= SHAPES:  # sizes that only the call knows
            self._shapes.clear()
        self._shapes[tuple(size), tuple(stride), dtype] = known
        return known

    def _another(self, known: deque[Kept], size: Sequence[int], stride: Sequence[int],
                 dtype: torch.dtype) -> torch.Tensor:
        """Of a new storage, which is kept if there is room."""
        elements = _elements(size, stride)
        bytes_ = elements * dtype.itemsize
        of_all = self.lists.get((bytes_, dtype), known)
        if of_all is not known:  # another shape of as many bytes has had a storage since
            self._shapes[tuple(size), tuple(stride), dtype] = of_all
            return self.empty_strided(size, stride, dtype)
        if not self._makes_room(bytes_):
            return _allocate(size, stride, dtype)
        base = _allocate((elements,), (1,), dtype)
        _use_large_pages(base.data_ptr(), bytes_)
        kept = Kept(base)
        made = _alias(base, size, stride, 0)
        kept.turn = next(self._turns)
        with self._lock:
            self.bytes, self.count = self.bytes + kept.bytes, self.count + 1
            self.lists.setdefault((bytes_, dtype), known).append(kept)
        return made

    def _makes_room(self, bytes_: int) -> bool:
        """Is there room, if need be without what has long been unused?"""
        if self.bytes + bytes_ <= self.most:
            return True
        turn = next(self._turns)
        if bytes_ > self.most or turn - self._looked < self.count:  # looking takes a while
            return False
        self._looked = turn
        for known in list(self.lists.values()):
            for _ in range(len(known)):
                try:
                    kept = known.popleft()
                except IndexError:
                    break
                if turn - kept.turn > ROUNDS * self.count:
                    self._forget(kept)
                else:
                    known.append(kept)
        return self.bytes + bytes_ <= self.most

    def _forget(self, kept: Kept) -> None:
        with self._lock:
            self.bytes, self.count = self.bytes - kept.bytes, self.count - 1

    def in_a_child(self) -> None:
        """Of a fork: other threads are not in it, the lock and the storages that they had in hand are."""
        self._lock = threading.Lock()
        kept = [each for known in self.lists.values() for each in known]
        self.bytes, self.count = sum(each.bytes for each in kept), len(kept)

    def clear(self) -> None:
        """Keep none of them; who has one keeps it."""
        for known in list(self.lists.values()):
            while known:
                try:
                    self._forget(known.popleft())
                except IndexError:
                    break


def _elements(size: Sequence[int], stride: Sequence[int]) -> int:
    """From the first to the last that an array of this shape has."""
    return 1 + sum((extent - 1) * step for extent, step in zip(size, stride, strict=True)) if all(size) else 0


def _use_large_pages(address: int, bytes_: int) -> None:
    advise = _advise()
    start = -(-address // LARGE_PAGE) * LARGE_PAGE
    whole = (address + bytes_ - start) // LARGE_PAGE * LARGE_PAGE
    if advise is not None and whole > 0:
        advise(start, whole, MADV_HUGEPAGE)  # what it answers does not matter: it is an advice


@functools.cache
def _advise() -> Callable[[int, int, int], int] | None:
    """The C library's madvise; None where there is none."""
    try:
        function = ctypes.CDLL(None).madvise
    except (OSError, AttributeError, TypeError):
        return None
    function.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return function


def _most() -> int:
    """Bytes that are kept at most, by the variable or else by the machine's memory."""
    megabytes = number(VARIABLE, COUNT, -1)
    if megabytes >= 0:
        return int(megabytes) << 20
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return MOST << 18
    return min(MOST << 20, memory // SHARE)


pool = Pool(_most(), LEAST)
os.register_at_fork(after_in_child=pool.in_a_child)

#: Inductor's code calls this
empty_strided_kept = pool.empty_strided


@functools.cache
def install() -> None:
    """Inductor asks here, in this process, for the code that allocates an array."""
    from torch._inductor import config
    from torch._inductor.codegen.wrapper import PythonWrapperCodegen

    header, allocation = PythonWrapperCodegen.write_header, PythonWrapperCodegen.make_buffer_allocation

    @functools.wraps(header)
    def write_header(self: Any) -> None:
        header(self)
        if config.cpu_backend == "triton":
            self.header.writeline(f"from {__name__} import empty_strided_kept")

    @functools.wraps(allocation)
    def make_buffer_allocation(self: Any, buffer: Any) -> str:
        line: str = allocation(self, buffer)
        if config.cpu_backend == "triton" and is_large(buffer):
            return line.replace(" = empty_strided_cpu(", " = empty_strided_kept(", 1)
        return line

    PythonWrapperCodegen.write_header = write_header
    PythonWrapperCodegen.make_buffer_allocation = make_buffer_allocation


def is_large(buffer: Any) -> bool:
    """May an array of Inductor's have so many bytes that it is kept? Sizes may be known at the call only."""
    from torch._inductor.utils import sympy_product
    from torch._inductor.virtualized import V

    elements = sympy_product(V.graph.get_allocation_size(buffer))
    least = -(-LEAST // buffer.get_dtype().itemsize)
    return not V.graph.sizevars.statically_known_lt(elements, least)
