"""Does every array hold what is read from it?

A private array holds one tensor after the other: a by-product takes over the array of a value that nothing
reads any more, a loop overwrites the value of its last round. For each array the tensor that it holds is
followed along all ways; `None` among the tensors of an array means that on some way nothing has written it.

A walk of several turns may write a tensor over another one element by element. Each turn then reads its own
elements of the old one, before it writes, and in the order of the walk.
"""

from __future__ import annotations

from collections.abc import Sequence

from .records import ArrayUse, Node, Plan, Region, Renamed, Turns, Versions, Walk

#: array -> the tensors that it may hold
State = dict[int, frozenset[int | None]]

NOTHING: frozenset[int | None] = frozenset([None])


def wrong_arrays(plan: Plan) -> list[str]:
    """What does not hold."""
    arrays = _Arrays(plan)
    arrays.body(plan.body, {})
    return list(dict.fromkeys(arrays.found))


def _joined(states: Sequence[State]) -> State:
    every = dict.fromkeys(array for state in states for array in state)
    return {array: frozenset[int | None]().union(*(state.get(array, NOTHING) for state in states))
            for array in every}


class _Arrays:
    def __init__(self, plan: Plan) -> None:
        self.contents = plan.contents
        self.found: list[str] = []
        self.overwritten: list[dict[int, set[tuple[int, ...]]]] = []  # by the walks around: array -> steps

    def body(self, nodes: tuple[Node, ...], state: State) -> State:
        for node in nodes:
            if isinstance(node, ArrayUse):
                self.use(node, state)
            elif isinstance(node, Renamed):
                self.expect(node.array, node.before, state, "goes on with")
                state[node.array] = frozenset([node.after])
            elif isinstance(node, Walk):
                state = self.walk(node, state)
            elif isinstance(node, Turns):
                state = self.turns(node, state)
            elif isinstance(node, Versions):
                state = self.arms([arm.body for arm in node.arms], state)
            elif isinstance(node, Region):
                bodies = [arm.body for arm in node.arms]
                state = self.loop(bodies, state) if node.loops else self.arms(bodies, state)
        return state

    def name(self, content: int | None) -> str:
        return "nothing" if content is None else self.contents[content] or f"tensor {content}"

    def expect(self, array: int, content: int, state: State, does: str) -> None:
        held = state.get(array, NOTHING)
        if held != {content}:
            self.found.append(f"array {array} {does} {self.name(content)} where it holds "
                              f"{' or '.join(sorted(map(self.name, held)))}")

    def use(self, node: ArrayUse, state: State) -> None:
        """A whole tensor, or the elements of one turn, are read or written."""
        steps = () if node.layout is None else node.layout.step
        if node.writes:
            state[node.array] = frozenset([node.content])
            return
        self.expect(node.array, node.content, state, "is read for")
        for around in self.overwritten:
            if node.array in around and around[node.array] != {steps}:
                self.found.append(f"array {node.array} is read for {self.name(node.content)} in another "
                                  "order than that in which the same walk overwrites it")

    def arms(self, bodies: Sequence[tuple[Node, ...]], state: State) -> State:
        return _joined([self.body(body, dict(state)) for body in bodies])

    def loop(self, bodies: Sequence[tuple[Node, ...]], entry: State) -> State:
        """Any number of rounds; of two bodies the loop ends between them."""
        while True:
            known = len(self.found)
            state, left = dict(entry), entry
            for i, body in enumerate(bodies):
                state = self.body(body, dict(state))
                left = state if i == 0 and len(bodies) > 1 else left
            again = _joined([entry, state])
            if again == _joined([entry]):
                return dict(left) if len(bodies) > 1 else again
            del self.found[known:]  # it is asked again for what the last round leaves
            entry = again

    def turns(self, node: Turns, state: State) -> State:
        """At least one turn. Arrays that are written in steps hold in each turn, for its own elements, what
        they held before; others what the last turn leaves."""
        stepped = _written_in_steps(node.body)
        while True:
            known = len(self.found)
            self.overwritten.append(stepped)
            after = self.body(node.body, dict(state))
            self.overwritten.pop()
            again = _joined([state, after])
            again.update({array: state.get(array, NOTHING) for array in stepped})
            if all(again[array] == state.get(array, NOTHING) or not _reads_first(node.body, array)
                   for array in again):
                return after
            del self.found[known:]
            state = again

    def walk(self, node: Walk, state: State) -> State:
        """What it promises to keep it writes, over what it says."""
        for kept in node.keeps:
            if kept.over is not None:
                self.expect(kept.array, kept.over, state, f"is taken over for {self.name(kept.content)} from")
        state = self.body(node.body, state)
        written = [use for use in _uses(node.body) if use.writes] if node.keeps else []
        for kept in node.keeps:
            if state.get(kept.array, NOTHING) != {kept.content}:
                self.found.append(f"a walk is to keep {self.name(kept.content)} in array {kept.array} and "
                                  "does not on every way")
            if any((use.array, use.content) == (kept.array, kept.content)
                   and (use.layout is None or use.layout.step != kept.layout.step) for use in written):
                self.found.append(f"a walk writes {self.name(kept.content)} in another order than it was to")
        return state


def _uses(nodes: tuple[Node, ...]) -> list[ArrayUse]:
    """Every use below, in order."""
    found: list[ArrayUse] = []
    for node in nodes:
        if isinstance(node, ArrayUse):
            found.append(node)
        elif isinstance(node, (Walk, Turns)):
            found += _uses(node.body)
        elif isinstance(node, (Versions, Region)):
            for arm in node.arms:
                found += _uses(arm.body)
    return found


def _written_in_steps(nodes: tuple[Node, ...]) -> dict[int, set[tuple[int, ...]]]:
    """The arrays that a turn writes its own elements of: the steps of the walks that do."""
    found: dict[int, set[tuple[int, ...]]] = {}
    for use in _uses(nodes):
        if use.writes and use.layout is not None and use.layout.step:
            found.setdefault(use.array, set()).add(use.layout.step)
    return found


def _reads_first(nodes: tuple[Node, ...], array: int) -> bool:
    """Is an array read before it is written?"""
    first = next((use for use in _uses(nodes) if use.array == array), None)
    return first is not None and not first.writes
