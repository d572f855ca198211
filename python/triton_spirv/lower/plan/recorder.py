"""Writes a plan down while decisions are taken: `add` a leaf, `open` and `close` what has leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ...ir.model import Operation, Value
from ...layout import Layout
from ..values.tensor import Stored
from .accesses import Overlap
from .records import Arm, ArrayUse, Arrives, Meets, Node, Plan, Region, Renamed, Turns, Versions


class Recorder:
    """The nodes of the innermost open group are at the end of `_open`."""

    def __init__(self) -> None:
        self._open: list[list[Node]] = [[]]
        self._arrays: dict[int, int] = {}  # id of an array's register -> its number
        self._contents: dict[Stored, int] = {}  # -> number of the tensor that it holds
        self._names: list[str] = []
        self._places: dict[int, int] = {}  # id of the first of its arrays' registers -> number of a place

    def add(self, node: Node) -> None:
        """A leaf, or a group that is complete."""
        self._open[-1].append(node)

    def open(self) -> None:
        """What is added from here on belongs to one group."""
        self._open.append([])

    def close(self) -> tuple[Node, ...]:
        """The nodes of the group."""
        return tuple(self._open.pop())

    @contextmanager
    def group(self, make: Callable[[tuple[Node, ...]], Node]) -> Iterator[None]:
        """A group of one body; nothing is written down of an empty one."""
        self.open()
        yield
        body = self.close()
        if body:
            self.add(make(body))

    def turns(self, count: int, body: tuple[Node, ...]) -> None:
        """A loop over steps; straight code is no loop."""
        if count == 1:
            self._open[-1] += body
        elif body:
            self.add(Turns(count, body))

    def versions(self, question: str, arms: Sequence[tuple[str, tuple[Node, ...]]],
                 may_skip: bool = False, tests: Sequence[Overlap] = ()) -> None:
        """Arms of which one runs; nothing is written down where none does anything."""
        if any(body for _, body in arms):
            self.add(Versions(question, tuple(Arm(name, body) for name, body in arms), may_skip,
                              tuple(tests)))

    def region(self, operation: Operation, *arms: tuple[str, tuple[Node, ...]], loops: bool = False) -> None:
        """A loop, branch or call of the kernel; nothing is written down where it has nothing."""
        if any(body for _, body in arms):
            self.add(Region(operation, tuple(Arm(name, body) for name, body in arms), loops))

    # --- arrays -----------------------------------------------------------------------------------------

    def array(self, stored: Stored) -> int:
        """The number of a tensor's array."""
        return self._arrays.setdefault(stored.array.id, len(self._arrays))

    def content(self, stored: Stored) -> int:
        """The number of the tensor itself."""
        number = self._contents.get(stored)
        if number is None:
            number = self._contents[stored] = len(self._names)
            self._names.append("")
        return number

    def name(self, stored: Stored, value: Value) -> int:
        """The tensor is this value of the kernel."""
        number = self.content(stored)
        self._names[number] = self._names[number] or f"%{value.name}"
        return number

    def reads(self, stored: Stored, layout: Layout | None) -> None:
        """The tensor's array is read."""
        self.add(ArrayUse(self.array(stored), self.content(stored), False, layout))

    def writes(self, stored: Stored, layout: Layout | None) -> None:
        """The tensor's array is written."""
        self.add(ArrayUse(self.array(stored), self.content(stored), True, layout))

    def renames(self, before: Stored, after: Stored) -> None:
        """What an array holds is another tensor from here on."""
        self.add(Renamed(self.array(before), self.content(before), self.content(after)))

    def arrives(self, arrays: Sequence[Stored]) -> None:
        """A way goes on where it meets others, at the place that takes these arrays."""
        if arrays:
            self.add(Arrives(self._place(arrays), tuple(map(self.array, arrays))))

    def meets(self, arrays: Sequence[Stored]) -> None:
        """This is the place."""
        if arrays:
            self.add(Meets(self._place(arrays)))

    def _place(self, arrays: Sequence[Stored]) -> int:
        return self._places.setdefault(arrays[0].array.id, len(self._places))

    def finish(self, kernel: Operation, target: str) -> Plan:
        """The whole."""
        (body,) = self._open  # every group is closed
        return Plan(kernel, target, tuple(body), tuple(self._names))
