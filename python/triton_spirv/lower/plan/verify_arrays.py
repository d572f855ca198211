"""Does every array hold what is read from it?

A private array holds one tensor after the other: a by-product takes over the array of a value that nothing
reads any more, a loop overwrites the value of its last round. For each array the tensor that it holds is
followed along all ways; `None` among the tensors of an array means that on some way nothing has written it.

A walk of several turns may write a tensor over another one element by element. Each turn then reads its own
elements of the old one, before it writes, and in the order of the walk.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...facts.destinations import only_store
from ...facts.kept_panels import keeping_products
from ...facts.running_sums import only_adds, sums_from_zero
from ...ir.model import Operation, Value
from .records import (
    ArrayUse,
    Arrives,
    FoundPanel,
    Meets,
    Node,
    Plan,
    Product,
    Region,
    Renamed,
    Turns,
    Versions,
    Walk,
    Zeroed,
)
from .text import called

#: The tensors that an array may hold.
Tensors = frozenset[int | None]

NOTHING: Tensors = frozenset([None])


class _State:
    """What the arrays hold at a place; of arrays that it does not know itself the state `around` knows it, so
    that arms cost what they change."""

    def __init__(self, around: _State | None = None) -> None:
        self.around = around
        self.own: dict[int, Tensors] = {}

    def get(self, array: int) -> Tensors:
        state: _State | None = self
        while state is not None:
            if array in state.own:
                return state.own[array]
            state = state.around
        return NOTHING

    def set(self, array: int, contents: Tensors) -> None:
        self.own[array] = contents


def wrong_arrays(plan: Plan) -> list[str]:
    """What does not hold."""
    arrays = _Arrays(plan)
    arrays.body(plan.body, _State())
    return list(dict.fromkeys(arrays.found))


class _Arrays:
    def __init__(self, plan: Plan) -> None:
        self.kernel, self.contents = plan.kernel, plan.contents
        self.found: list[str] = []
        self.zeroed: set[Operation] = set()  # products that begin sums
        self.overwritten: list[dict[int, set[tuple[int, ...]]]] = []  # by the walks around: array -> steps
        self.arrived: dict[int, dict[int, Tensors]] = {}  # by places where ways meet: array -> what it holds

    def body(self, nodes: tuple[Node, ...], state: _State) -> None:
        for node in nodes:
            if isinstance(node, ArrayUse):
                self.use(node, state)
            elif isinstance(node, Renamed):
                self.expect(node.array, node.before, state, "goes on with")
                state.set(node.array, frozenset([node.after]))
            elif isinstance(node, Zeroed):
                state.set(node.array, frozenset([node.content]))
                self.zeroed.add(node.product)
                if not sums_from_zero(node.product):
                    self.found.append(f"the sums of {called(node.product)} do not begin with zero, or "
                                      "something else asks for them")
            elif isinstance(node, FoundPanel):
                state.set(node.array, frozenset([node.content]))
                self.found_panels(node.operation)
            elif isinstance(node, Product):
                if node.keeps:
                    self.found_panels(node.operation)
                if node.joins and not only_adds(node.operation):
                    self.found.append(f"{called(node.operation)} joins rounds, for whose sums something else "
                                      "asks")
                if node.begins != (node.operation in self.zeroed):
                    self.found.append(f"{called(node.operation)} begins its sums with zero where they do "
                                      "not stand for zero, or does not where they do")
                if node.edges and only_store(node.operation) is None:
                    self.found.append(f"{called(node.operation)} leaves out what no store may leave out")
                if node.ends and not all(map(_ends, (node.operation.a, node.operation.b))):
                    self.found.append(f"{called(node.operation)} leaves out terms of operands without end")
            elif isinstance(node, Arrives):
                ways = self.arrived.setdefault(node.place, {})
                for array in node.arrays:
                    ways[array] = ways.get(array, frozenset()) | state.get(array)
            elif isinstance(node, Meets):
                for array, contents in self.arrived.pop(node.place, {}).items():
                    state.set(array, contents)
            elif isinstance(node, Walk):
                self.walk(node, state)
            elif isinstance(node, Turns):
                self.turns(node, state)
            elif isinstance(node, Versions):
                self.arms([arm.body for arm in node.arms], state)
            elif isinstance(node, Region):
                bodies = [arm.body for arm in node.arms]
                if node.loops:
                    self.loop(bodies, state)
                else:
                    self.arms(bodies, state)

    def found_panels(self, product: Operation) -> None:
        """May programs find what others have packed for a product?"""
        if product not in keeping_products(self.kernel):
            self.found.append(f"{called(product)} multiplies what an earlier program has packed, which may "
                              "be something else")

    def name(self, content: int | None) -> str:
        return "nothing" if content is None else self.contents[content] or f"tensor {content}"

    def expect(self, array: int, content: int, state: _State, does: str) -> None:
        contents = state.get(array)
        if contents != {content}:
            self.found.append(f"array {array} {does} {self.name(content)} where it holds "
                              f"{' or '.join(sorted(map(self.name, contents)))}")

    def use(self, node: ArrayUse, state: _State) -> None:
        """A whole tensor, or the elements of one turn, are read or written."""
        steps = () if node.layout is None else node.layout.step
        if node.writes:
            state.set(node.array, frozenset([node.content]))
            return
        self.expect(node.array, node.content, state, "is read for")
        for around in self.overwritten:
            if node.array in around and around[node.array] != {steps}:
                self.found.append(f"array {node.array} is read for {self.name(node.content)} in another "
                                  "order than that in which the same walk overwrites it")

    def arms(self, bodies: Sequence[tuple[Node, ...]], state: _State) -> None:
        states = [_State(state) for _ in bodies]
        for body, each in zip(bodies, states, strict=True):
            self.body(body, each)
        for array in dict.fromkeys(array for each in states for array in each.own):
            state.set(array, frozenset[int | None]().union(*(each.get(array) for each in states)))

    def loop(self, bodies: Sequence[tuple[Node, ...]], state: _State) -> None:
        """Any number of rounds; of two bodies the loop ends between them."""
        entry = _State(state)
        while True:
            known = len(self.found)
            left = after = _State(entry)
            self.body(bodies[0], left)
            if len(bodies) > 1:
                after = _State(left)
                for body in bodies[1:]:
                    self.body(body, after)
            changed = {**left.own, **after.own}
            again = {array: entry.get(array) | after.get(array) for array in changed}
            if all(contents == entry.get(array) for array, contents in again.items()):
                break
            del self.found[known:]  # it is asked again for what the last round leaves
            entry.own |= again
        state.own |= entry.own
        if len(bodies) > 1:
            state.own |= left.own

    def turns(self, node: Turns, state: _State) -> None:
        """At least one turn. Arrays that are written in steps hold in each turn, for its own elements, what
        they held before; others what the last turn leaves."""
        uses = _uses(node.body)
        stepped = _written_in_steps(uses)
        read_first = _read_first(uses)
        entry = _State(state)
        while True:
            known = len(self.found)
            after = _State(entry)
            self.overwritten.append(stepped)
            self.body(node.body, after)
            self.overwritten.pop()
            again = {array: entry.get(array) | contents for array, contents in after.own.items()
                     if array not in stepped}
            if all(contents == entry.get(array) or array not in read_first
                   for array, contents in again.items()):
                break
            del self.found[known:]
            entry.own |= again
        state.own |= entry.own | after.own

    def walk(self, node: Walk, state: _State) -> None:
        """What it promises to keep it writes, over what it says."""
        for kept in node.keeps:
            if kept.over is not None:
                self.expect(kept.array, kept.over, state, f"is taken over for {self.name(kept.content)} from")
        self.body(node.body, state)
        written = [use for use in _uses(node.body) if use.writes] if node.keeps else []
        for kept in node.keeps:
            if state.get(kept.array) != {kept.content}:
                self.found.append(f"a walk is to keep {self.name(kept.content)} in array {kept.array} and "
                                  "does not on every way")
            if any((use.array, use.content) == (kept.array, kept.content)
                   and (use.layout is None or use.layout.step != kept.layout.step) for use in written):
                self.found.append(f"a walk writes {self.name(kept.content)} in another order than it was to")


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


def _written_in_steps(uses: Sequence[ArrayUse]) -> dict[int, set[tuple[int, ...]]]:
    """The arrays that a turn writes its own elements of: the steps of the walks that do."""
    found: dict[int, set[tuple[int, ...]]] = {}
    for use in uses:
        if use.writes and use.layout is not None and use.layout.step:
            found.setdefault(use.array, set()).add(use.layout.step)
    return found


def _read_first(uses: Sequence[ArrayUse]) -> set[int]:
    """The arrays that are read before they are written."""
    first: dict[int, bool] = {}
    for use in uses:
        first.setdefault(use.array, not use.writes)
    return {array for array, reads in first.items() if reads}


def _ends(operand: Value) -> bool:
    """May an operand be loaded by a mask?"""
    made = operand.defining_op
    return made is None or not made.has("loads") or made.mask is not None
