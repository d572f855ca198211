"""The order of a block's instructions, where too many values would be live at once.

Rules compute a tensor register by register, one operation after the other, so that between two operations of
a chain all registers of it are live. The compilers of GPUs keep that order by and large, and spill. So where
the values that are live at once would crowd the registers of a thread, what later blocks alone use moves
there (move_to_uses.py), and the instructions of a block are ordered again: what is wanted is computed right
before who wants it, with all that it needs (depth first, what takes most room first), and what frees as much
as it takes is computed at once. Memory accesses, barriers and calls stay in their order. """

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from .graph import Graph
from .liveness import Step, Steps, find_live, peak, read, truths
from .move_to_uses import move_to_uses

#: Registers of a thread, in the default mode.
REGISTERS = 128


#: Where less is left than so much of the registers of the default mode, values move to later blocks, and
#: blocks are ordered. More would cost instructions where nothing spills: dropout 15 % on pvc.
CROWDED, FULL = 3 / 8, 1 / 16


def lessen_pressure(graph: Graph, lanes: int, register_bytes: int, new_id: Callable[[], int],
                    large: bool = False) -> int:
    """Order the instructions of a function again where they would crowd a thread's registers, which hold so
    many bytes (large: twice as many as by default) -> the bytes that are live at once at most."""
    crowded, full = (int(register_bytes * (1 + large - room)) for room in (CROWDED, FULL))
    blocks, sizes = read(graph, lanes, register_bytes // REGISTERS)
    peaks = [peak(block.body, block.live, sizes) for block in blocks]
    if max(peaks) <= crowded:
        return max(peaks)
    # flags are few, and truth values that do not fit into them are moved to and fro
    flags = dict.fromkeys(truths(graph), 4 * lanes)
    many = [sum(flags.get(value, sizes[value]) for value in block.live) > crowded for block in blocks]
    changed = move_to_uses(graph, blocks, sizes, many, new_id)
    if changed:
        find_live(blocks)
        peaks = [peak(block.body, block.live, sizes) for block in blocks]
    for at, block in enumerate(blocks):
        if peak(block.body, block.live, sizes | flags) <= full:
            continue
        order = list(_Ordering(block, sizes).steps())
        most = peak(order, block.live, sizes)
        if most < peaks[at]:
            block.body, peaks[at], changed = order, most, True
    if changed:
        for block in blocks:
            block.block.instructions[:] = block.instructions()
        graph.write()
    return max(peaks)


class _Ordering:
    """Orders one block. By the id of a value: `waiting`, its step, while that is not yet in its place;
    `room`, what evaluating it takes at once, as Sethi and Ullman number the registers of an expression;
    `uses`, those that are still to come. `missing`: how many operands of a step are not in their places.
    """

    def __init__(self, block: Steps, sizes: Mapping[int, int]) -> None:
        self.block = block
        self.sizes = sizes
        self.waiting = {step.result: step for step in block.body if step.free}
        self.room: dict[int, int] = {}
        self.users: dict[int, list[Step]] = {}
        self.uses = Counter(value for step in (*block.body, *block.tail) for value in step.uses)
        self.uses.update(block.live)
        self.missing: dict[Step, int] = {}
        made = {step.result for step in block.body}
        for step in block.body:
            self.missing[step] = sum(value in made for value in step.uses)
            for value in step.uses:
                self.users.setdefault(value, []).append(step)
            self.room[step.result] = self._room(step)

    def _room(self, step: Step) -> int:
        """Bytes that are live at once at most while a step's operands are computed, and itself."""
        taken, most = 0, self.sizes.get(step.result, 0)
        for value in self._sorted(step):
            most = max(most, taken + self.room[value])
            taken += self.sizes[value]
        return max(most, taken)

    def _sorted(self, step: Step) -> list[int]:
        """The operands that are computed in this block, those that take most room beyond themselves first."""
        return sorted((value for value in step.uses if value in self.waiting),
                      key=lambda value: self.sizes[value] - self.room.get(value, 0))

    def steps(self) -> Iterator[Step]:
        """The instructions in their new order."""
        wanted = {value for step in self.block.tail for value in step.uses} | self.block.live
        for step in self.block.body:
            if not step.free:
                yield from self._with_operands(step)
        for step in self.block.body:
            if step.result in self.waiting and step.result in wanted:
                yield from self._with_operands(step)
        for step in self.block.body:
            if step.result in self.waiting:  # nobody uses it
                yield from self._with_operands(step)

    def _with_operands(self, wanted: Step) -> Iterator[Step]:
        """A step behind all that it needs and that is not there yet."""
        stack = [wanted]
        while stack:
            step = stack[-1]
            if step.free and step.result not in self.waiting:
                stack.pop()
                continue
            before = self._sorted(step)
            if before:
                stack.append(self.waiting[before[0]])
                continue
            stack.pop()
            yield from self._done(step)

    def _done(self, first: Step) -> Iterator[Step]:
        """A step whose operands are there, and all that then takes no more than it frees."""
        ready = [first]
        while ready:
            step = ready.pop()
            if step is not first and (step.result not in self.waiting or self._grows(step)):
                continue
            self.waiting.pop(step.result, None)
            yield step
            for value in step.uses:
                self.uses[value] -= 1
            if not step.result:
                continue
            for user in self.users.get(step.result, ()):
                self.missing[user] -= 1
            ready += [user for user in reversed(self.users.get(step.result, ()))
                      if user.free and not self.missing[user]]

    def _grows(self, step: Step) -> bool:
        """Does a step take more than it frees?"""
        if not self.uses[step.result]:
            return False
        freed = sum(self.sizes[value] for value in step.uses if self.uses[value] == 1)
        return self.sizes[step.result] > freed
