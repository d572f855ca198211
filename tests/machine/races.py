"""Happens-before by vector clocks: which accesses of other lanes an access is ordered behind.

A lane is a thread: neither OpenCL nor Vulkan orders what lanes of one sub-group do in memory, unless a
barrier (of the sub-group, or wider) with memory semantics stands in between. `Clocks.known[i, j]` is how much
of lane j's past lane i is ordered behind. Each byte remembers its last writer and two readers: the two are of
different sub-groups where there are such, since a barrier of a sub-group orders all of its lanes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

NOBODY = -1


class Clocks:
    """The clocks of `count` lanes for one kind of memory."""

    def __init__(self, count: int) -> None:
        self.known = np.eye(count, dtype=np.int32)
        self.released: dict[int, Any] = {}  # address -> what is known to who acquires there
        self.fenced: dict[int, Any] = {}  # lane -> what its relaxed atomics release since its last fence
        self.seen: dict[int, Any] = {}  # lane -> what its next acquiring fence makes known

    def join(self, lanes: Any) -> None:
        """A barrier of these lanes."""
        everything = self.known[lanes].max(axis=0)
        self.known[lanes] = everything
        self.known[lanes, lanes] += 1

    def acquire(self, lane: int, address: int, ordered: bool) -> None:
        """The lane has read what was released at an address."""
        past = self.released.get(address)
        if past is None:
            return
        if ordered:
            np.maximum(self.known[lane], past, out=self.known[lane])
        else:
            seen = self.seen.get(lane)
            self.seen[lane] = past.copy() if seen is None else np.maximum(seen, past)

    def release(self, lane: int, address: int, ordered: bool, modifies: bool) -> None:
        """The lane writes an address; a read-modify-write goes on with what was released there."""
        past = self.known[lane].copy() if ordered else self.fenced.get(lane)
        before = self.released.get(address) if modifies else None
        if past is None:
            if not modifies:
                self.released.pop(address, None)
        else:
            self.released[address] = past.copy() if before is None else np.maximum(before, past)
        if ordered:
            self.known[lane, lane] += 1

    def fence(self, lanes: Any, acquires: bool, releases: bool) -> None:
        """OpMemoryBarrier, or an atomic operation's semantics for those around it."""
        for lane in lanes:
            lane = int(lane)
            if acquires and lane in self.seen:
                np.maximum(self.known[lane], self.seen.pop(lane), out=self.known[lane])
            if releases:
                self.fenced[lane] = self.known[lane].copy()
                self.known[lane, lane] += 1


class Shadow:
    """Who touched each byte of a memory: lanes as rows of the clocks, instructions by their numbers."""

    def __init__(self, bytes: int, clocks: Clocks, sub_group_size: int) -> None:
        self.clocks, self.lanes = clocks, sub_group_size
        self.writer = np.full(bytes, NOBODY, np.int32)
        self.first = np.full(bytes, NOBODY, np.int32)
        self.second = np.full(bytes, NOBODY, np.int32)
        self.facts = np.zeros((3, bytes), np.int64)  # of writer, first, second: time, instruction, flags

    ATOMIC, PRIVATE = 1, 2

    def _unordered(self, lanes: Any, others: Any, facts: Any, flags: int) -> Any:
        """Which of the accesses of `others` are not ordered before those of `lanes`, nor harmless."""
        apart = (others >= 0) & (others != lanes)
        if not apart.any():
            return apart
        late = self.clocks.known[np.broadcast_to(lanes, others.shape), others] < facts >> 32
        if flags & self.ATOMIC:
            late &= (facts & self.ATOMIC) == 0
        hidden = (facts & self.PRIVATE) != 0
        if flags & self.PRIVATE:
            hidden = np.ones_like(hidden)
        return apart & (late | hidden)

    def _now(self, lanes: Any, number: int, flags: int) -> Any:
        times = self.clocks.known[lanes, lanes].astype(np.int64)
        return times << 32 | number << 8 | flags

    def read(self, lanes: Any, at: Any, number: int, flags: int) -> tuple[Any, Any] | None:
        """lanes [n], at [n, bytes]. What is wrong: which bytes, and the other access's facts; None mostly."""
        column, now = lanes[:, None], self._now(lanes, number, flags)
        facts = self.facts[0][at]
        bad = self._unordered(column, self.writer[at], facts, flags)
        found = (bad, facts, self.writer[at]) if bad.any() else None
        free = ~self._unordered(column, self.first[at], self.facts[1][at], 0)
        whole_lanes, whole_now = np.broadcast_to(column, at.shape), np.broadcast_to(now[:, None], at.shape)
        self.first[at[free]] = whole_lanes[free]
        self.facts[1][at[free]] = whole_now[free]
        rest = self.first[at] != column
        if rest.any():
            second, first = self.second[at], self.first[at]
            group = first // self.lanes
            near = (second // self.lanes == group) & (column // self.lanes != group)
            free = rest & (near | ~self._unordered(column, second, self.facts[2][at], 0))
            self.second[at[free]] = whole_lanes[free]
            self.facts[2][at[free]] = whole_now[free]
        return found

    def write(self, lanes: Any, at: Any, changes: Any, number: int,
              flags: int) -> tuple[Any, Any, Any] | None:
        """The same of a store; `changes`: the bytes that get another value."""
        column, now = lanes[:, None], self._now(lanes, number, flags)
        found = None
        for k, others in enumerate((self.writer, self.first, self.second)):
            facts, theirs = self.facts[k][at], others[at]
            bad = self._unordered(column, theirs, facts, flags)
            if k == 0:
                bad &= changes
            if found is None and bad.any():
                found = bad, facts, theirs
        self.writer[at] = column
        self.facts[0][at] = now[:, None]
        return found
