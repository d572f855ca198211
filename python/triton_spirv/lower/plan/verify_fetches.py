"""Is what a plan fetches ahead what its accesses will touch?

What is fetched is a hint, but for one thing: a number that the next program will look up is really loaded. So
every program with a next one must make that load, whatever a mask says, and this one must have made its own.
The distances themselves are found again from the kernel's operations.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.destinations import destination, has_early_address
from ...facts.lookup import may_look_up, next_program
from ...facts.motion import Program, Round, motion
from ...facts.slopes import Product, Slope
from ...ir.model import Operation, Value
from ...traversal import Asking, Known, answer
from .accesses import Access, Distance, Fetch
from .records import Node, Plan, Turns, Versions, Walk
from .records import Region as Inner
from .text import called


def wrong_fetches(plan: Plan) -> list[str]:
    """What does not hold."""
    functions = {op.attributes.get("sym_name"): op for op in plan.kernel.parent.operations
                 } if plan.kernel.parent is not None else {}
    return list(_Fetches(plan.kernel, functions).of(plan.body, (plan.kernel,)))


class _Fetches:
    """Those of one kernel. accesses: those before the place that is looked at."""

    def __init__(self, kernel: Operation, functions: dict[str | None, Operation]) -> None:
        self.kernel, self.functions = kernel, functions
        self.accesses: set[Operation] = set()
        self._slopes: dict[tuple[Operation, str, bool], tuple[int | None, frozenset[Value]]] = {}
        self._numbers: dict[object, int] = {}  # of slopes: equal ones have one number
        self._known: Known = {}

    def of(self, nodes: tuple[Node, ...], around: tuple[Operation, ...]) -> Iterator[str]:
        """What does not hold of a body; `around`: the operations whose regions it stands in."""
        for node in nodes:
            if isinstance(node, Access):
                self.accesses.add(node.operation)
            elif isinstance(node, Fetch):
                wrong = self.wrong(node, around)
                if wrong is not None:
                    yield f"what is fetched ahead of {called(node.operation)} {wrong}"
            elif isinstance(node, (Walk, Turns)):
                yield from self.of(node.body, around)
            elif isinstance(node, (Versions, Inner)):
                inner = around
                if isinstance(node, Inner):
                    op = node.operation
                    inner += (self.functions[op.attributes["callee"]] if op.has("calls") else op,)
                for arm in node.arms:
                    yield from self.of(arm.body, inner)

    def wrong(self, node: Fetch, around: tuple[Operation, ...]) -> str | None:
        op = node.operation
        if op.parent_op not in around:
            return "is fetched where its address is not known"
        if node.way == "result" and not any(_ends_in(loop, op) for loop in around if loop.has("counts")):
            return "is no result of a product that is computed there"
        if node.layout.width != node.vectors.run and (node.distance is not None or node.way == "turns ahead"):
            return "lies in no lines of memory"
        for distance in (node.distance, node.last):
            wrong = None if distance is None else self.wrong_distance(op, distance, around)
            if wrong is not None:
                return wrong
        return None

    def wrong_distance(self, op: Operation, distance: Distance, around: tuple[Operation, ...]) -> str | None:
        if distance.mover == "round" and (op.parent_op is None or not op.parent_op.has("counts")):
            return "is for the next round of no loop"
        if distance.mover == "program" and any(each.has("function") for each in around[1:]):
            return "is for the next program, which may not call this function"
        slope, looked_up = self.slope(op, distance.mover, bool(distance.looked_up))
        if slope is None or slope != self.number(distance.slope) or looked_up != distance.looked_up:
            return "lies elsewhere: its pointers move otherwise"
        for value in looked_up:
            load = value.defining_op
            if load is None or not may_look_up(load, self.kernel.regions[0].entry):
                return f"is found by a number, %{value.name}, that the next program may not look up"
            if load not in self.accesses:
                return f"is found by a number, %{value.name}, that is not looked up yet"
        return None

    def slope(self, op: Operation, mover: str, looks_up: bool) -> tuple[int | None, frozenset[Value]]:
        """How the pointers of an access move, as a number of the slope, and what of it is looked up."""
        key = op, mover, looks_up
        if key not in self._slopes:
            assert op.parent is not None
            slope: Slope[Value] | None
            looked_up: frozenset[Value] = frozenset()
            if looks_up:
                slope, looked_up = next_program(op.ptr, self.kernel.regions[0].entry)
            else:
                by = Round(op.parent) if mover == "round" else Program("x")
                slope = motion(op.ptr, by, hint=True).slope
            self._slopes[key] = None if slope is None else self.number(slope), looked_up
        return self._slopes[key]

    def number(self, slope: Slope[Value]) -> int:
        """The same for equal slopes, which may share their parts."""

        def rule(slope: Slope[Value]) -> Asking[int]:
            key: object = slope
            if isinstance(slope, Product):
                factor = yield (slope.factor,)
                key = "product", (yield (slope.slope,)), factor
            elif not isinstance(slope, (int, Value)):
                parts = []
                for part in slope.parts:
                    parts.append((yield (part,)))
                key = "sum", *parts
            return self._numbers.setdefault(key, len(self._numbers))

        return answer(rule, slope, known=self._known)


def _ends_in(loop: Operation, store: Operation) -> bool:
    """Does a store behind a loop, at addresses that are known before it, store a product of the loop?"""
    products = [op for op in loop.walk() if op.has("product")]
    return any(destination(op) is store for op in products) and has_early_address(store, loop)
