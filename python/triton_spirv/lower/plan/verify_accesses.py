"""Is every access of a kernel in its plan, once, and in the kernel's order?

An access of a block of the kernel is made in the code of this block: nothing that is pending crosses the edge
of a loop or a branch. Inside it, two accesses of which one writes, or is atomic, keep their order, whatever
the pointers are. The one exception is a walk of several turns that loads and stores: a turn stores before the
next one loads, for which the walk gives proofs (`Fused`) that verify_fused.py makes again; and a store behind
a loop whose tiles a product in the loop's last round stores (`StoredEarly`): what is read behind that, in the
round, is compared with the store's memory, and the walk of the store asks whether it has anything to do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from ...dataclass import dataclass
from ...facts.destinations import last_round
from ...ir.model import Block, Operation, Region, Value
from ...traversal import Asking, Known, answer
from .accesses import Access, Fused, StoredEarly
from .addresses import Addresses
from .records import STORED, Node, Plan, Turns, Versions, Walk
from .records import Region as Inner
from .text import called
from .verify_fused import FusedWalks


def wrong_accesses(plan: Plan) -> list[str]:
    """What does not hold."""
    functions = {op.attributes.get("sym_name"): op for op in plan.kernel.parent.operations
                 } if plan.kernel.parent is not None else {}
    found: list[str] = []
    _Region(plan.kernel.regions[0], functions, found, Addresses(), set()).verify(plan.body)
    return found


@dataclass
class _State:
    """What has happened on the ways to a place; what it does not know itself the state `around` knows, so
    that arms cost what they change. emitted: how often each access was, at least and at most. last,
    last_writes: of the accesses on some way those that stand before no other in the kernel, and of those that
    write or are atomic. They are several where no way leads from one's block to another's.
    fused: how walks of stores are justified. ready: values all loads of which are made."""

    around: _State | None = None
    emitted: dict[Operation, tuple[int, int]] = field(default_factory=dict)
    fused: dict[Operation, Fused] = field(default_factory=dict)
    ready: set[Value] = field(default_factory=set)
    last: tuple[Operation, ...] = ()
    last_writes: tuple[Operation, ...] = ()

    def arm(self) -> _State:
        """One of several ways that go on from here."""
        return _State(self, last=self.last, last_writes=self.last_writes)

    def count(self, op: Operation) -> tuple[int, int]:
        """How often an access was made."""
        state: _State | None = self
        while state is not None:
            if op in state.emitted:
                return state.emitted[op]
            state = state.around
        return 0, 0

    def why(self, op: Operation) -> Fused | None:
        """How the walk of a store is justified."""
        state: _State | None = self
        while state is not None and op not in state.fused:
            state = state.around
        return None if state is None else state.fused[op]

    def is_ready(self, value: Value) -> bool:
        state: _State | None = self
        while state is not None and value not in state.ready:
            state = state.around
        return state is not None


class _Region:
    """The accesses of one region of the kernel: its blocks, without what is nested in them. early: stores of
    which tiles may have been stored already."""

    def __init__(self, region: Region, functions: dict[str | None, Operation], found: list[str],
                 addresses: Addresses, early: set[Operation]) -> None:
        self.functions, self.found, self.addresses, self.early = functions, found, addresses, early
        self.fused = FusedWalks(addresses)
        self.blocks = region.reached()
        self.places = {op: (b, i) for b, block in enumerate(self.blocks)
                       for i, op in enumerate(block.operations)}
        self.behind: Known = {}
        self.entered: set[Operation] = set()

    def verify(self, body: tuple[Node, ...]) -> None:
        state = _State()
        self.body(body, state)
        for op in self.places:
            if op.regions or op.has("calls"):
                if op not in self.entered:
                    self.inside(op, ())
            elif _is_access(op):
                self.covered(op, *state.count(op))

    def covered(self, op: Operation, least: int, most: int) -> None:
        """Is an access made as often as it should be? A load that nothing needs need not be made."""
        exactly = op.has("atomic") or op.has("writes") or op.attributes.get("isVolatile")
        if exactly and most > 1:
            self.found.append(f"{called(op)} is made twice")
        if exactly and (least < 1 if len(self.blocks) == 1 else most < 1):
            self.found.append(f"{called(op)} is not made on every way")

    def body(self, nodes: tuple[Node, ...], state: _State) -> None:
        for place, node in enumerate(nodes):
            if isinstance(node, Access):
                self.access(node, state)
            elif isinstance(node, StoredEarly):
                self.stored_early(node, nodes[place + 1:])
            elif isinstance(node, Fused):
                state.fused[node.operation] = node
            elif isinstance(node, Walk):
                self.body(node.body, state)
            elif isinstance(node, Turns):
                self.turns(node, state)
            elif isinstance(node, Versions):
                self.fused.tests(node)
                if node.question == STORED:
                    self.stored_late(node)
                self.arms([arm.body for arm in node.arms], state, node.may_skip)
            elif isinstance(node, Inner):
                self.inner(node, state)

    def arms(self, bodies: Sequence[tuple[Node, ...]], state: _State, may_skip: bool = False) -> None:
        """Several ways; one that accesses nothing by right counts as if it did all."""
        states = [state.arm() for _ in bodies]
        for body, each in zip(bodies, states, strict=True):
            self.body(body, each)
        counting = [each for body, each in zip(bodies, states, strict=True)
                    if not may_skip or any(True for _ in _accesses(body))] or states
        for op in dict.fromkeys(op for each in states for op in each.emitted):
            counts = [each.count(op) for each in counting]
            state.emitted[op] = min(least for least, _ in counts), max(most for _, most in counts)
        state.ready |= set.intersection(*(each.ready for each in counting))
        state.fused |= states[0].fused
        for each in states:
            state.last = self.latest(state.last, each.last)
            state.last_writes = self.latest(state.last_writes, each.last_writes)

    def latest(self, ops: tuple[Operation, ...], others: tuple[Operation, ...]) -> tuple[Operation, ...]:
        """Those of both that stand before no other."""
        if ops == others:
            return ops
        both = tuple(dict.fromkeys(ops + others))
        return tuple(op for op in both if not any(self.before(op, other) for other in both))

    def before(self, op: Operation, other: Operation) -> bool:
        """Does an access stand before another in the kernel? Blocks stand in any order in its text."""
        (block, place), (other_block, other_place) = self.places[op], self.places[other]
        if block == other_block:
            return place < other_place
        return bool(answer(self._reached, self.blocks[block], known=self.behind) >> other_block & 1)

    def _reached(self, block: Block) -> Asking[int]:
        """The blocks that a way leads to from one: a bit for each."""
        bits = 0
        for successor in block.operations[-1].successors:
            bits |= 1 << self.blocks.index(successor) | (yield (successor,))
        return bits

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
        self.passes(op, any(map(_reads, accesses)), any(map(_orders, accesses)), state)
        self.inside(op, tuple(arm.body for arm in node.arms))

    def inside(self, op: Operation, bodies: tuple[tuple[Node, ...], ...]) -> None:
        if op.has("calls"):
            regions: Sequence[Region] = self.functions[op.attributes["callee"]].regions
            addresses = Addresses((self.addresses, op.operands))
        else:
            regions = [region for region in op.regions if region.blocks]
            addresses = self.addresses
        for i, region in enumerate(regions):
            inner = _Region(region, self.functions, self.found, addresses, self.early)
            inner.verify(bodies[i] if i < len(bodies) else ())

    def access(self, node: Access, state: _State) -> None:
        op = node.operation
        if op not in self.places:
            self.found.append(f"{called(op)} is made outside its block")
            return
        self.passes(op, _reads(op), _orders(op), state)
        if op in self.early:
            self.found.append(f"{called(op)} is made where its tiles may be in memory already")
        for load in self.missing(op, state):
            self.found.append(f"{called(op)} is made before {called(load)}, which it needs")
        least, most = state.count(op)
        state.emitted[op] = least + 1, most + 1

    def stored_early(self, node: StoredEarly, behind: tuple[Node, ...]) -> None:
        """May a product store its tiles in the last round? behind: what else is done in the round."""
        op, test = node.operation, node.test
        self.early.add(op)
        found = last_round(node.product) if node.product in self.places else None
        if found is None or found.store is not op:
            self.found.append(f"{called(op)} stores something else than {called(node.product)} sums")
        elif node.late and not found.steps:
            self.found.append(f"tiles of {called(op)} wait, and are stored as they are summed")
        compared = [] if test is None else [each for each in test.loads if not each.same]
        for other, _ in _accesses(_before_late(op, behind)):
            if other not in [each.span.operation for each in compared]:
                self.found.append(f"{called(other)} is made behind {called(op)}, whose tiles are stored "
                                  "early, and no test compares their memory")
        if test is None:
            return
        if test.decided or test.store.operation is not op:
            self.found.append(f"the test of the memory of {called(op)} compares nothing when the kernel runs")
        for span in (test.store, *(each.span for each in compared)):
            wrong = self.fused.wrong_span(span)
            if wrong is not None:
                self.found.append(wrong)

    def stored_late(self, node: Versions) -> None:
        """May a store be left out?"""
        for op in {op for op, _ in _accesses((node,)) if op.has("writes")}:
            if op not in self.early:
                self.found.append(f"{called(op)} is left out, and nothing has stored its tiles")
            self.early.discard(op)

    def passes(self, op: Operation, reads: bool, orders: bool, state: _State) -> None:
        """Does it come behind what it should come before?"""
        if not reads and not orders:
            return
        for other in state.last if orders else state.last_writes:
            if self.before(op, other):
                self.found.append(f"{called(op)} is made behind {called(other)}")
        state.last = self.latest(state.last, (op,))
        if orders:
            state.last_writes = self.latest(state.last_writes, (op,))

    def turns(self, node: Turns, state: _State) -> None:
        """A loop over steps; a turn stores before the next one loads."""
        self.body(node.body, state)
        inside = [(op, access) for op, access in _accesses(node.body) if op in self.places]
        for store, written in inside:
            if not store.has("writes"):
                continue
            for load, read in inside:
                if load is store or not (
                        _reads(load) or (load.has("writes") and self.before(load, store))):
                    continue
                doubt = self.fused.doubt(state.why(store), read, written)
                if doubt is not None:
                    does = "loads" if _reads(load) else "stores"
                    self.found.append(f"{called(load)} and {called(store)} share a walk in which a turn may "
                                      f"store what the next one {does}: {doubt}")

    def missing(self, op: Operation, state: _State) -> list[Operation]:
        """Of the loads of its block that a store's address and value are computed from, those that are not
        made on every way to here."""
        if not op.has("writes") or op.has("atomic"):
            return []
        seen: set[Value] = set()
        found = []
        left = [op.ptr, *([op.value] if op.name == "tt.store" else [])]
        while left:
            value = left.pop()
            maker = value.defining_op
            if value in seen or maker is None or maker.parent is not op.parent or maker.regions \
                    or state.is_ready(value):
                continue
            seen.add(value)
            if maker.has("loads"):
                if state.count(maker)[0] < 1:
                    found.append(maker)
                left.append(maker.ptr)
            elif maker.is_pure:
                left += maker.operands
        if not found:
            state.ready |= seen
        return found


def _before_late(store: Operation, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The nodes before that which asks whether the tiles of a store are in memory."""
    for place, node in enumerate(nodes):
        if isinstance(node, Versions) and node.question == STORED and any(
                op is store for op, _ in _accesses((node,))):
            return nodes[:place]
    return nodes


def _is_access(op: Operation) -> bool:
    return op.has("accesses")


def _reads(op: Operation) -> bool:
    return op.has("reads") or op.has("atomic")


def _orders(op: Operation) -> bool:
    """May nothing that stands before it be made behind it? What it writes would be read, or what another
    program writes once it has seen it."""
    return op.has("writes") or op.has("atomic")


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

