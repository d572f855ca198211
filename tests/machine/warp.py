"""One sub-group: its values, which of its lanes are where, and its way through the blocks.

All lanes of a sub-group that are in one block execute it together. Of the blocks in which lanes are, the one
that stands first in the module is next: a merge block stands behind everything that leads to it, so lanes
wait for each other where structured control flow ends, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .program import Program, Step

ENDED = 1 << 30


class Warp:
    """A sub-group of a work-group.

    v, u       values by id, and of those with undefined components why (numbers of origins)
    mask       the lanes that execute; `full`: all do; `active`: their numbers
    rows       of each lane, its row among the clocks of global memory
    plain      all lanes execute, and nothing at all is undefined: the short way for most instructions
    """

    def __init__(self, run: Any, group: Any, index: int) -> None:
        program: Program = run.program
        self.run, self.group, self.index, self.program = run, group, index, program
        self.lanes = run.lanes
        self.v: list[Any] = [None] * program.bound
        for id, value in program.constants.items():
            self.v[id] = value
        self.u: dict[int, Any] = {}
        for id in program.undefined:
            self.u[id] = np.full(self.v[id].shape, run.origin("undefined", 0, "OpUndef"), np.uint16)
        self.first_lane = index * self.lanes
        self.rows = group.first_row + self.first_lane + np.arange(self.lanes)
        self.at = np.zeros(self.lanes, np.int64)
        self.previous = np.full(self.lanes, -1, np.int64)
        self.everyone = np.arange(self.lanes)
        self.private: Any = None
        self.spaces: dict[str, Any] = {}
        self.steps = 0
        self.mask = np.ones(self.lanes, bool)
        self._set_mask(self.mask)

    # --- values

    def put(self, id: int, value: Any, origin: Any = None) -> None:
        """The result of an instruction, in the lanes that execute it."""
        old = self.v[id]
        partial = not (self.full or old is None or isinstance(value, list))
        self.v[id] = np.where(self.column, value, old) if partial else value
        if origin is None and id not in self.u:
            return
        before = self.u.get(id)
        if partial and (before is not None or origin is not None):
            zero = np.zeros((1, value.shape[1]), np.uint16)
            origin = np.where(self.column, zero if origin is None else origin,
                              zero if before is None else before)
        if origin is not None and origin.any():
            self.u[id] = origin
        else:
            self.u.pop(id, None)
        self.plain = self.full and not self.u

    def origins(self, *ids: int) -> Any:
        """Why components are undefined of what is computed from these values, one by one."""
        found = None
        for id in ids:
            one = self.u.get(id)
            if one is not None:
                found = one if found is None else np.maximum(found, one)
        return found

    def whole(self, id: int) -> Any:
        """A value with a row for each lane."""
        value = self.v[id]
        return value if value.shape[0] == self.lanes else np.broadcast_to(value,
                                                                          (self.lanes, value.shape[1]))

    def column_of(self, id: int) -> Any:
        """A scalar of each lane, [lanes]."""
        return self.whole(id)[:, 0]

    def expect_defined(self, number: int, id: int, what: str) -> None:
        """Report it where an executing lane's value is undefined."""
        origin = self.u.get(id)
        if origin is None:
            return
        here = np.broadcast_to(origin, (self.lanes, origin.shape[1]))[self.mask]
        if here.any():
            self.run.report_undefined(self, number, int(here.max()), what)

    def report(self, kind: str, number: int, what: str, other: int = 0) -> None:
        self.run.report(self, kind, number, what, other)

    # --- the way through the blocks

    def _set_mask(self, mask: Any) -> None:
        self.mask = mask
        self.full = bool(mask.all())
        self.active = self.everyone if self.full else np.flatnonzero(mask)
        self.column = mask[:, None]
        self.plain = self.full and not self.u

    @property
    def living(self) -> Any:
        """The lanes that have not returned."""
        return self.at != ENDED

    def execute(self) -> Iterator[Step]:
        """Yields each step before which other warps may go on, or have to (barriers)."""
        blocks, current = self.program.blocks, -1
        while True:
            here = int(self.at.min())
            if here == ENDED:
                return
            mask = self.at == here
            if here != current or self.full != bool(mask.all()) or not np.array_equal(mask, self.mask):
                self._set_mask(mask)
            current = here
            block = blocks[here]
            if block.phis:
                self._phis(block)
            for step in block.steps:
                if step.pauses or step.barrier:
                    yield step
                if not step.barrier:
                    step.run(self)
            self.steps += len(block.steps) + 1
            self._leave(block, here)

    def _phis(self, block: Any) -> None:
        blocks = self.program.blocks
        came = self.previous[self.mask]
        first = int(came[0])
        new = []
        if (came == first).all():
            label = blocks[first].label
            for result, values, _ in block.phis:
                id = values[label]
                new.append((result, self.v[id], self.u.get(id)))
        else:
            ways = [(blocks[int(one)].label, (self.previous == one)[:, None]) for one in np.unique(came)]
            for result, values, _ in block.phis:
                value, origin = self.v[values[ways[0][0]]], self.u.get(values[ways[0][0]])
                for label, mask in ways[1:]:
                    id = values[label]
                    value = np.where(mask, self.v[id], value)
                    other = self.u.get(id)
                    if origin is not None or other is not None:
                        zero = np.zeros((1, value.shape[1]), np.uint16)
                        origin = np.where(mask, zero if other is None else other,
                                          zero if origin is None else origin)
                new.append((result, value, origin))
        for result, value, origin in new:
            self.put(result, value, origin)

    def _leave(self, block: Any, here: int) -> None:
        end, order = block.end, self.program.order
        self.previous[self.mask] = here
        if end.name == "OpBranch":
            self.at[self.mask] = order[end.words[0]]
        elif end.name == "OpBranchConditional":
            self.expect_defined(block.end_number, end.words[0], "decides a branch")
            condition = self.column_of(end.words[0])
            ways = np.where(condition, order[end.words[1]], order[end.words[2]])
            self.at[self.mask] = ways[self.mask]
        elif end.name == "OpSwitch":
            self.expect_defined(block.end_number, end.words[0], "decides a branch")
            self._switch(end)
        elif end.name == "OpReturn":
            self.at[self.mask] = ENDED
        else:
            self.report("unreachable", block.end_number, "reached")
            self.at[self.mask] = ENDED

    def _switch(self, end: Any) -> None:
        order, selector = self.program.order, self.column_of(end.words[0])
        words = 2 if selector.itemsize > 4 else 1
        ways = np.full(self.lanes, order[end.words[1]])
        targets = end.words[2:]
        for k in range(0, len(targets), words + 1):
            literal = sum(word << 32 * i for i, word in enumerate(targets[k:k + words]))
            ways[selector == literal & (1 << 8 * selector.itemsize) - 1] = order[targets[k + words]]
        self.at[self.mask] = ways[self.mask]
