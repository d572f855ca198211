"""Launches of a block, kept to be made again: what is behind triton_spirv.graph.

A launch that is kept is the runtime's, with its grid and its arguments as they were. Tensors are kept as
aliases of their own, so that nothing that happens to the user's object later changes what is launched; that
their memory is still where it was is asked before each repetition.
"""

from __future__ import annotations

import struct
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from ..dataclass import dataclass
from ..errors import LaunchError
from ..tensors import Addressed, Storage, has_address, has_storage
from .arguments import underlying
from .quick import Quick

#: thread -> what keeps the launches of its block; launchers ask whether there is any
recorders: dict[int, Recorder] = {}


class Recording(Protocol):
    """Launches that a device has recorded."""

    def replay(self) -> bool:
        """Make them; False, and nothing is done, where they are to be made one by one."""


class Fixed(Protocol):
    """A launch with its arguments, that a device can record together with others."""

    def joins(self, other: object) -> bool:
        """Can it stand in one recording with another?"""

    def joined(self, launches: Sequence[Any]) -> Recording:
        """A recording of launches that it joins, itself among them."""


@dataclass(frozen=True)
class Step:
    """A launch. data: its bytes, where it can be a quick one; fixed: where it can be recorded; `repeat` is
    the launch in any case."""

    name: str
    repeat: Callable[[], None]
    quick: Quick | None = None
    programs: int = 0
    data: bytes = b""
    fixed: Fixed | None = None


@dataclass(frozen=True)
class Memory:
    """An argument that is memory, the address that it had, and of tensors, how many bytes their storage."""

    kernel: str
    argument: Addressed
    address: int
    storage: Storage | None = None
    size: int = 0

    def require(self) -> None:
        """LaunchError where it is somewhere else now, or smaller."""
        if self.argument.data_ptr() != self.address or (
                self.storage is not None and self.storage.nbytes() < self.size):
            raise LaunchError(f"{self.kernel}: the memory of an argument is no longer where it was when the "
                              "graph was made (its storage was resized, or emptied); make the graph again")


class Recorder:
    """The launches of one block, in their order."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.memory: dict[int, Memory] = {}

    def add(self, name: str, run: Callable[[int, int, int, Sequence[object]], None], x: int, y: int, z: int,
            values: Sequence[object], quick: Quick | None,
            fixed: Callable[[int, int, int, Sequence[object]], Fixed | None] | None = None) -> None:
        """A launch that has been made; `fixed` gives what a device records of it."""
        if not x * y * z:
            return
        kept = [self._kept(name, value) for value in values]

        def repeat() -> None:
            run(x, y, z, kept)

        if quick is not None:
            lx, ly, lz = quick.local_size
            try:
                data = quick.pack(x * lx, y * ly, z * lz, *quick.numbers(kept))
            except (LaunchError, struct.error, OverflowError):
                pass  # numbers that do not fit are brought into range by each ordinary launch
            else:
                def ordinary() -> None:
                    run(x, y, z, kept)
                    quick.ask_pace()

                return self.steps.append(Step(name, ordinary, quick, x * y * z, data))
        return self.steps.append(Step(name, repeat, fixed=fixed and fixed(x, y, z, kept)))

    def _kept(self, kernel: str, value: object) -> object:
        memory, storage, size = underlying(value) if has_address(value) else value, None, 0
        if has_storage(memory):
            value = memory = memory.detach()
            storage = memory.untyped_storage()
            size = storage.nbytes()
        if has_address(memory):
            address = memory.data_ptr()
            self.memory.setdefault(address, Memory(kernel, memory, address, storage, size))
        return value


def recorder() -> Recorder | None:
    """This thread's, while it keeps its launches."""
    return recorders.get(threading.get_ident())


@contextmanager
def suspended() -> Iterator[None]:
    """Launches of this thread in the block are not kept: those that tuning makes."""
    found = recorders.pop(threading.get_ident(), None)
    try:
        yield
    finally:
        if found is not None:
            recorders[threading.get_ident()] = found


class Replay:
    """The launches of a graph, in their order; those in a row that a device can record are one recording."""

    def __init__(self, steps: Sequence[Step]) -> None:
        self._parts: list[tuple[Recording | None, list[Step]]] = []
        row: list[Step] = []
        for step in steps:
            if row and not _joins(row[-1], step):
                self._add(row)
                row = []
            row.append(step)
        if row:
            self._add(row)

    def _add(self, row: list[Step]) -> None:
        first = row[0].fixed
        self._parts.append((None if first is None else first.joined([step.fixed for step in row]), row))

    def __call__(self) -> None:
        """Make them all."""
        for recording, steps in self._parts:
            if recording is None or not recording.replay():
                repeat(steps)


def _joins(step: Step, other: Step) -> bool:
    """Do two neighbours belong to one part of a replay?"""
    return other.fixed is None if step.fixed is None else step.fixed.joins(other.fixed)


def repeat(steps: Sequence[Step]) -> None:
    """Make the launches, in their order."""
    for step in steps:
        quick = step.quick
        if quick is None or step.programs > quick.most:
            step.repeat()
            continue
        code = quick.threads.call(step.data)
        if code:
            if not quick.said(step.programs, code):
                step.repeat()
        elif quick.slow:
            quick.slow = 0
