"""Values that only later blocks use are computed there, so that they are not live before.

Where each register of a tensor is stored behind a branch of its own, its address and its mask would be
computed before the first of these branches and wait in registers for theirs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

from .graph import OPCODE, Graph, id_places, numbers
from .liveness import Step, Steps, arriving

#: What is computed again in each block that uses it, if there are no more of them than COPIES.
CHEAP = ("OpIAdd", "OpISub", "OpBitwiseXor", "OpBitwiseAnd", "OpBitwiseOr", "OpShiftLeftLogical",
         "OpSConvert", "OpUConvert", "OpBitcast", "OpPtrAccessChain", "OpInBoundsPtrAccessChain")
COPIES = 3

#: What is a loop or a function where a device does not have it; and bytes from which it is worth moving.
QUOTIENTS = ("OpUDiv", "OpSDiv", "OpUMod", "OpSRem", "OpSMod")
LEAST = 32


def move_to_uses(graph: Graph, blocks: Sequence[Steps], sizes: dict[int, int], many: Sequence[bool],
                 new_id: Callable[[], int]) -> bool:
    """Move what a lane computes alone to the nearest block that all its users are behind, unless that is in
    another loop, or its operands would live on for it and take as much room. Where its own block is the
    nearest, and many values are live behind it, what is cheap is computed again by each user. Is anything
    moved?"""
    moving = _Moving(graph, blocks, sizes, new_id)
    for at in range(len(blocks) - 1, -1, -1):
        moving.out_of(at, many[at])
    for at, steps in moving.given.items():
        blocks[at].body = _placed(steps[::-1], blocks[at])
    return bool(moving.given)


class _Moving:
    """`given`: the steps that a block gets from others, last ones first."""

    def __init__(self, graph: Graph, blocks: Sequence[Steps], sizes: dict[int, int],
                 new_id: Callable[[], int]) -> None:
        self.graph, self.blocks, self.sizes, self.new_id = graph, blocks, sizes, new_id
        self.loops = [graph.loops_around(at) for at in range(len(blocks))]
        self.users = _users(blocks)
        self.given: dict[int, list[Step]] = defaultdict(list)
        self.cheap = numbers(*CHEAP)
        self.quotients = numbers(*QUOTIENTS)
        self.made: dict[int, Step] = {}           # of the block at hand, as the next:
        self.sharing: Counter[int] = Counter()    # how often a step that may move uses a value

    def out_of(self, at: int, copies: bool) -> None:
        """Move what may leave a block; copies: cheap steps to several."""
        block = self.blocks[at]
        live = set(block.live)
        staying: list[Step] = []
        self.made = {step.result: step for step in block.body if self._may_move(step)}
        self.sharing = Counter(value for result, step in self.made.items() if result in live
                               for value in step.uses)
        for step in reversed(block.body):
            targets = self._targets(step, at, copies) if self._may_move(step) else [at]
            longer = sum(self._longer(value, live, at) for value in step.uses)
            if targets == [at] or longer >= self.sizes[step.result]:
                staying.append(step)
                continue
            live.discard(step.result)
            live.update(step.uses)
            if at in targets:
                staying.append(step)
            self._move(step, at, targets)
        block.body = staying[::-1]

    def _may_move(self, step: Step) -> bool:
        """Is a step of a lane alone, and worth it? A quotient takes room of its own while it is computed."""
        return step.alone and (
            self.sizes[step.result] >= LEAST or step.words[0] & OPCODE not in self.quotients)

    def _longer(self, value: int, live: set[int], at: int, depth: int = 4) -> int:
        """Bytes that live on if a value of block `at` is used behind it: a share of it, where others that may
        move use it too; what it is computed from instead, where it can follow its only user."""
        if value in live:
            return 0
        share = self.sizes[value] // max(1, self.sharing[value])
        step = self.made.get(value)
        if step is None or not depth or self.users[value].total() != 1:
            return share
        return min(share, sum(self._longer(before, live, at, depth - 1) for before in step.uses))

    def _targets(self, step: Step, at: int, copies: bool) -> list[int]:
        """The blocks that are to compute what a step of block `at` computes."""
        using = [other for other, times in self.users[step.result].items() if times]
        if not using:
            return [at]
        meeting = using[0]
        for other in using:
            meeting = self.graph.meeting(meeting, other)
        if meeting == at and copies and len(using) <= COPIES and step.words[0] & OPCODE in self.cheap:
            return using if all(self.loops[other] == self.loops[at] for other in using) else [at]
        return [meeting] if self.loops[meeting] == self.loops[at] else [at]

    def _move(self, step: Step, at: int, targets: Sequence[int]) -> None:
        """Give a step to other blocks: the first takes it as it is, unless it stays here too."""
        taken = at in targets
        for to in targets:
            if to == at:
                continue
            given = step
            if taken:
                given = self._copy(step, to)
            taken = True
            self.given[to].append(given)
            for value in step.uses:
                self.users[value][to] += 1
        if at not in targets:
            for value in step.uses:
                self.users[value][at] -= 1

    def _copy(self, step: Step, to: int) -> Step:
        """The step once more, which block `to` uses instead."""
        old, new = step.result, self.new_id()
        self.sizes[new] = self.sizes[old]
        block = self.blocks[to]
        for user in (*block.body, *block.tail, *self.given[to]):
            if old in user.uses:
                for place in id_places(user.words):
                    if user.words[place] == old:
                        user.words[place] = new
                user.uses = tuple(new if value == old else value for value in user.uses)
        for after in block.after:
            for phi in after.phis:
                for place in range(3, len(phi.words), 2):
                    if phi.words[place] == old and phi.words[place + 1] == block.block.label:
                        phi.words[place] = new
                phi.uses = tuple(dict.fromkeys(x for x in phi.words[3::2] if x in self.sizes))
        self.users[new] = Counter({to: self.users[old].pop(to)})
        words = [*step.words[:2], new, *step.words[3:]]
        return Step(words, new, step.uses, step.free, step.alone, step.line)


def _placed(steps: Sequence[Step], block: Steps) -> list[Step]:
    """The body of a block with steps that it is given, each right before its first user."""
    given = {step.result: step for step in steps}
    body: list[Step] = []

    def place(wanted: Step) -> None:
        given.pop(wanted.result, None)
        stack = [(wanted, iter(wanted.uses))]
        while stack:
            step, uses = stack[-1]
            value = next((value for value in uses if value in given), None)
            if value is None:
                body.append(step)
                stack.pop()
            else:
                before = given.pop(value)
                stack.append((before, iter(before.uses)))

    for step in block.body:
        place(step)
    for step in steps:
        if step.result in given:
            place(step)
    return body


def _users(blocks: Sequence[Steps]) -> dict[int, Counter[int]]:
    """How often each value is used in a block, by number: by a phi, in the block that it comes from."""
    users: dict[int, Counter[int]] = defaultdict(Counter)
    for at, block in enumerate(blocks):
        for step in (*block.body, *block.tail):
            for value in step.uses:
                users[value][at] += 1
        for after in block.after:
            for phi in after.phis:
                for value in arriving(phi, block):
                    users[value][at] += 1
    return users
