"""Is every access of a kernel in its plan, once, and in the kernel's order?

An access of a block of the kernel is made in the code of this block: nothing that is pending crosses the edge
of a loop or a branch. Inside it, two accesses of which one writes keep their order, whatever the pointers
are. The one exception is a walk of several turns that loads and stores: a turn stores before the next one
loads, which the walk has to justify (`Fused`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ...ir.model import Operation, Region, Value
from .records import Access, Fused, Node, Plan, Turns, Versions, Walk
from .records import Region as Inner
from .text import called


def wrong_accesses(plan: Plan) -> list[str]:
    """What does not hold."""
    functions = {op.attributes.get("sym_name"): op for op in plan.kernel.parent.operations
                 } if plan.kernel.parent is not None else {}
    found: list[str] = []
    _Region(plan.kernel.regions[0], functions, found).verify(plan.body)
    return found


@dataclass
class _State:
    """What has happened on the ways to a place. made: how often each access was made, at least and at most.
    past: accesses made on some way, with what they do; fused: how walks of stores are justified."""

    made: dict[Operation, tuple[int, int]] = field(default_factory=dict)
    past: dict[Operation, tuple[bool, bool]] = field(default_factory=dict)
    fused: dict[Operation, Fused] = field(default_factory=dict)

    def copy(self) -> _State:
        return _State(dict(self.made), dict(self.past), dict(self.fused))


def _joined(states: Sequence[_State], skipped: Iterable[bool]) -> _State:
    """After one of several arms; an arm that has nothing to do by right counts as if it did all."""
    result = _State()
    counting = [state for state, skips in zip(states, skipped, strict=True) if not skips] or states
    for op in dict.fromkeys(op for state in states for op in state.made):
        counts = [state.made.get(op, (0, 0)) for state in counting]
        result.made[op] = min(least for least, _ in counts), max(most for _, most in counts)
    for state in states:
        result.past.update(state.past)
    result.fused = dict(states[0].fused)
    return result


class _Region:
    """The accesses of one region of the kernel: its blocks, without what is nested in them."""

    def __init__(self, region: Region, functions: dict[str | None, Operation], found: list[str]) -> None:
        self.functions, self.found = functions, found
        self.blocks = region.blocks
        self.places = {op: (b, i) for b, block in enumerate(region.blocks)
                       for i, op in enumerate(block.operations)}
        self.entered: set[Operation] = set()

    def verify(self, body: tuple[Node, ...]) -> None:
        state = _State()
        self.body(body, state)
        for op in self.places:
            if op.regions or op.name == "tt.call":
                if op not in self.entered:
                    self.inside(op, ())
            elif _is_access(op):
                self.covered(op, *state.made.get(op, (0, 0)))

    def covered(self, op: Operation, least: int, most: int) -> None:
        """Is an access made as often as it should be? A load that nothing needs need not be made."""
        exactly = op.has("atomic") or op.has("writes") or op.attributes.get("isVolatile")
        if exactly and most > 1:
            self.found.append(f"{called(op)} is made twice")
        if exactly and (least < 1 if len(self.blocks) == 1 else most < 1):
            self.found.append(f"{called(op)} is not made on every way")

    def body(self, nodes: tuple[Node, ...], state: _State) -> None:
        for node in nodes:
            if isinstance(node, Access):
                self.access(node, state)
            elif isinstance(node, Fused):
                state.fused[node.operation] = node
            elif isinstance(node, Walk):
                self.body(node.body, state)
            elif isinstance(node, Turns):
                self.turns(node, state)
            elif isinstance(node, Versions):
                self.arms([arm.body for arm in node.arms], state, node.may_skip)
            elif isinstance(node, Inner):
                self.inner(node, state)

    def arms(self, bodies: Sequence[tuple[Node, ...]], state: _State, may_skip: bool = False) -> None:
        states = [state.copy() for _ in bodies]
        for body, each in zip(bodies, states, strict=True):
            self.body(body, each)
        joined = _joined(states, [may_skip and not body for body in bodies])
        state.made, state.past, state.fused = joined.made, joined.past, joined.fused

    def inner(self, node: Inner, state: _State) -> None:
        """A branch between blocks, or an operation with regions of its own."""
        op = node.operation
        if op.successors:
            self.arms([arm.body for arm in node.arms], state)
            return
        self.entered.add(op)
        if op not in self.places:
            self.found.append(f"{op.name} {op.location} stands in another block")
            return
        accesses = [each for arm in node.arms for each, _ in _accesses(arm.body)]
        self.passes(op, any(map(_reads, accesses)), any(each.has("writes") for each in accesses), state)
        self.inside(op, tuple(arm.body for arm in node.arms))

    def inside(self, op: Operation, bodies: tuple[tuple[Node, ...], ...]) -> None:
        if op.name == "tt.call":
            regions: Sequence[Region] = self.functions[op.attributes["callee"]].regions
        else:
            regions = [region for region in op.regions if region.blocks]
        for i, region in enumerate(regions):
            _Region(region, self.functions, self.found).verify(bodies[i] if i < len(bodies) else ())

    def access(self, node: Access, state: _State) -> None:
        op = node.operation
        if op not in self.places:
            self.found.append(f"{called(op)} is made outside its block")
            return
        self.passes(op, _reads(op), op.has("writes"), state)
        for load in self.needed(op):
            if state.made.get(load, (0, 0))[0] < 1:
                self.found.append(f"{called(op)} is made before {called(load)}, which it needs")
        least, most = state.made.get(op, (0, 0))
        state.made[op] = least + 1, most + 1

    def passes(self, op: Operation, reads: bool, writes: bool, state: _State) -> None:
        """Does it come behind what it should come before?"""
        if not reads and not writes:
            return
        for other, (_, wrote) in state.past.items():
            if (writes or wrote) and self.places[other] > self.places[op]:
                self.found.append(f"{called(op)} is made behind {called(other)}")
        before = state.past.get(op, (False, False))
        state.past[op] = before[0] or reads, before[1] or writes

    def turns(self, node: Turns, state: _State) -> None:
        """A loop over steps; a turn stores before the next one loads."""
        self.body(node.body, state)
        inside = [(op, access) for op, access in _accesses(node.body) if op in self.places]
        for store, written in inside:
            if not store.has("writes"):
                continue
            for load, read in inside:
                if load is store or not _reads(load):
                    continue
                if not _is_justified(state.fused.get(store), read, written):
                    self.found.append(f"{called(load)} and {called(store)} share a walk in which a turn may "
                                      "store what the next one loads")

    def needed(self, op: Operation) -> Iterator[Operation]:
        """The loads of its block that a store's address and value are computed from."""
        if not op.has("writes") or op.has("atomic"):
            return
        seen: set[Value] = set()
        left = [op.ptr, *([op.value] if op.name == "tt.store" else [])]
        while left:
            value = left.pop()
            maker = value.defining_op
            if value in seen or maker is None or maker.parent is not op.parent or maker.regions:
                continue
            seen.add(value)
            if maker.name == "tt.load":
                yield maker
                left.append(maker.ptr)
            elif maker.is_pure:
                left += maker.operands


def _is_access(op: Operation) -> bool:
    return _reads(op) or op.has("writes")


def _reads(op: Operation) -> bool:
    return op.has("reads") or op.has("atomic")


def _is_justified(fused: Fused | None, read: Access, written: Access) -> bool:
    """May a turn's store come before what the next turn loads?"""
    if fused is None or fused.way == "before":
        return False
    if fused.way == "apart":
        return read.operation in fused.loads
    same_steps = read.layout is not None and written.layout is not None \
        and read.layout.step == written.layout.step
    return read.operation.ptr is written.operation.ptr and same_steps


def _accesses(nodes: tuple[Node, ...]) -> Iterator[tuple[Operation, Access]]:
    """Every access below, with its operation."""
    for node in nodes:
        if isinstance(node, Access):
            yield node.operation, node
        elif isinstance(node, (Walk, Turns)):
            yield from _accesses(node.body)
        elif isinstance(node, (Versions, Inner)):
            for arm in node.arms:
                yield from _accesses(arm.body)

