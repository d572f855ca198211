"""Walking large tensors: which loop computes what.

Before a loop opens, `plan` decides which deferred values are computed inside it, which of those are kept in
an array as a by-product, and which must be computed before. `settle` computes what may not move across a
write or into a region.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from ..ir.model import Operation
from ..layout import Layout
from ..spirv.module import Value as Register
from . import fragment as fragments
from .evaluation import Evaluation
from .registry import RULES, SOURCE_LAYOUTS
from .state import Plan
from .step_loop import StepLoop
from .tensor import Affine, Deferred, Fragment, Pointers, Stored
from .types import register_type

#: A deferred value whose evaluation costs at most this many instructions is computed again rather than kept.
CHEAP = 6

#: So many operations in a row wait for their consumer at most; then their value is computed. Evaluation is
#: recursive, a few of Python's calls an operation, and a loop over all that a program computes would spill.
DEEP = 100


class Walking(Evaluation):
    """Plans, by-products, and values computed ahead of time."""

    def plan(
        self,
        op: Operation | None,
        inputs: Iterable[tuple[Any, Layout]],
        stored: Iterable[Deferred] = (),
    ) -> Plan:
        """Prepare a loop in which `op` consumes tensors under layouts.

        Deferred values that are expensive and needed again afterwards become by-products when the loop visits
        them in their natural order; in any other order they are computed before the loop. Small tensors that
        the loop indexes by its step are put into arrays. `stored` are by-products that are wanted anyway,
        after `straighten`. Close with `finish`.
        """
        inputs = list(inputs)
        requests = self.straighten(inputs)
        result = Plan({node: self.allocate(node.shape, node.element) for node in stored})
        kept = []
        for node, layouts in requests:
            if isinstance(node, Fragment):
                if any(any(layout.step) for layout in layouts):
                    self.spill(node)
            elif _is_worth_keeping(node) and all(self.is_natural(layout) for layout in layouts):
                if node not in result.stored and self.needed_later(node, op, result):
                    result.stored[node] = None  # type: ignore[assignment]  # its array is named below
                    kept.append(node)
        dying = self._dying(op, inputs, result)
        for node in kept:
            result.stored[node] = self._taken_over(node, dying) or self.allocate(node.shape, node.element)
        self.plans.append(result)
        return result

    def straighten(self, inputs: Iterable[tuple[Any, Layout]]) -> list[tuple[Any, set[Layout]]]:
        """Compute what a walk over the inputs would come to in another order than its own; the requests that
        are left."""
        inputs = list(inputs)
        requests = self.requests(inputs)
        while astray := [x for x, asked in requests if any(self._is_astray(x, layout) for layout in asked)]:
            self.materialise(astray[:1])
            requests = self.requests(inputs)  # what lies below it is asked for by this walk no longer
        return requests

    def _is_astray(self, node: Any, layout: Layout) -> bool:
        """Would a walk come to this value in another order than its own? Then it is computed before."""
        worth_keeping = isinstance(node, Deferred) and _is_worth_keeping(node)
        return worth_keeping and layout.steps > 1 and not self.is_natural(layout)

    def _dying(
        self, op: Operation | None, inputs: Iterable[tuple[Any, Layout]], plan: Plan
    ) -> list[Deferred]:
        """Values in arrays that this walk reads element by element in natural order, and nothing reads after
        it: what is computed from them is done, or among the plan's by-products.

        They belong to the block of `op`; an outer array is read again by the next iteration.
        """
        found: dict[Deferred, bool] = {}
        seen: set[tuple[int, Layout]] = set()
        for tensor, layout in inputs:
            for node, asked in _walk(tensor, layout, seen):
                if isinstance(node.stored, Stored):
                    found[node] = found.get(node, True) and self.is_natural(asked)
        return [node for node, natural in found.items()
                if natural and op is not None and node.operation.parent is op.parent
                and not self.needed_later(node, op, plan)]

    def _taken_over(self, node: Deferred, dying: list[Deferred]) -> Stored | None:
        """The array of a dying value that only `node` is computed from: each element is read before it is
        written.

        A value that anything else of the walk reads too may not be overwritten: that may come after.
        """
        for value in dying:
            stored = value.stored
            assert isinstance(stored, Stored)
            same_size = prod(stored.shape) == prod(node.shape)
            if (same_size and register_type(stored.element) == register_type(node.element)
                    and self._feeds_only(value, node)):
                dying.remove(value)
                return Stored(node.shape, node.element, stored.array, stored.width)
        return None

    def _feeds_only(self, value: Deferred, node: Deferred) -> bool:
        """Is every use of `value` that is still to come a step of one chain that ends in `node`?"""
        while value is not node:
            users = {user for user, _ in value.operation.results[value.index].uses if not self._is_done(user)}
            if len(users) != 1:
                return False
            bound = [self.frame.values.get(result) for result in users.pop().results]
            if len(bound) != 1 or not isinstance(bound[0], Deferred):
                return False
            value = bound[0]
        return True

    def _is_done(self, user: Operation) -> bool:
        """Has an operation been executed, or its value been kept, so that it asks for its operands no
        more?
        """
        values = [self.frame.values.get(result) for result in user.results]
        waits = any(
            isinstance(x, (Pointers, Affine)) or (isinstance(x, Deferred) and x.stored is None)
            for x in values
        )
        return user in self.frame.lowered and not waits

    def finish(self, plan: Plan) -> None:
        """The loop is over: its by-products are arrays from now on."""
        self.plans.remove(plan)
        for node, stored in plan.stored.items():
            assert node.stored is None, "computed before the walk that was to write its array"
            node.stored = stored

    def requests(self, inputs: Iterable[tuple[Any, Layout]]) -> list[tuple[Any, set[Layout]]]:
        """Every deferred or small tensor below the inputs with the layouts asked of it, consumers before
        producers. Nothing is asked of what lies below a value that is computed before the walk.
        """
        found: dict[Any, set[Layout]] = {}
        order: list[Any] = []
        seen: set[tuple[int, Layout]] = set()

        def visit(tensor: Any, layout: Layout) -> None:
            if isinstance(tensor, Pointers):
                for term in (tensor.affine, *tensor.terms):
                    if term is not None:
                        visit(term, layout)
                return
            if isinstance(tensor, Affine):
                if tensor.exact is not None:
                    visit(tensor.exact, layout)
                return
            if isinstance(tensor, Deferred) and tensor.stored is not None:
                return visit(tensor.stored, layout)
            if not isinstance(tensor, (Deferred, Fragment)) or (id(tensor), layout) in seen:
                return
            seen.add((id(tensor), layout))
            key = tensor if isinstance(tensor, Deferred) else _Identity(tensor)
            found.setdefault(key, set()).add(layout)
            if isinstance(tensor, Deferred) and not self._is_astray(tensor, layout):
                source = SOURCE_LAYOUTS.get(tensor.operation.name)
                for operand in tensor.operands:
                    if not isinstance(operand, Register) and operand is not None:
                        for each in (operand if isinstance(operand, tuple) else (operand,)):
                            visit(
                                each,
                                fragments.without_broadcast(source(tensor.operation, layout))
                                if source
                                else layout,
                            )
            order.append(key)

        for tensor, layout in inputs:
            visit(tensor, layout)
        return [(key.tensor if isinstance(key, _Identity) else key, found[key]) for key in reversed(order)]

    def needed_later(self, node: Deferred, op: Operation | None, plan: Plan | None = None) -> bool:
        """Will an operation other than `op` ask for the node again, directly or through what is not kept?"""
        waiting = [user for user, _ in node.operation.results[node.index].uses]
        seen = {op}
        while waiting:
            user = waiting.pop()
            if user in seen:
                continue
            seen.add(user)
            if user not in self.frame.lowered:
                return True
            for result in user.results:
                bound = self.frame.values.get(result)
                if isinstance(bound, Affine):
                    bound = bound.exact
                kept = isinstance(bound, Deferred) and (
                    bound.stored is not None or (plan is not None and bound in plan.stored)
                )
                if isinstance(bound, (Pointers, Deferred)) and not kept:
                    waiting += [user for user, _ in result.uses]
        return False

    def precompute(self, nodes: Iterable[Deferred]) -> None:
        """Compute values, or what they are views of, now, where that is worth keeping."""
        chosen = []
        for node in nodes:
            node.depth = 1
            while _is_view(node) and isinstance(node.operands[0], Deferred):
                node = node.operands[0]
            if _is_worth_keeping(node):
                chosen.append(node)
        self.materialise(chosen)

    def materialise(self, nodes: Sequence[Deferred]) -> None:
        """Compute deferred tensors now, those of one size in one loop, and keep them."""
        groups: dict[int, list[Deferred]] = {}
        for node in nodes:
            groups.setdefault(prod(node.shape), []).append(node)
        for group in groups.values():
            if self._own_layout(group[0]).steps == 1:
                for node in group:
                    node.stored = node.stored or self.fragment(node, self._own_layout(node))
            else:
                self._materialise_large(group)

    def _own_layout(self, node: Deferred) -> Layout:
        return self.layout_of(node.operation.results[node.index].type)

    def _materialise_large(self, group: Sequence[Deferred]) -> None:
        """Tensors of one size, in one loop. What one of them, or of an earlier group, needs in another order
        than its own is computed before, and may be one of them."""
        from .masks import guarded

        below: list[tuple[Any, Layout]] = []
        left = [node for node in group if node.stored is None]
        while left:
            below = [x for node in left for x in self._below(node, self._own_layout(node))]
            self.straighten(below)
            group, left = left, [node for node in left if node.stored is None]
            if len(group) == len(left):
                break
        if not left:
            return
        plan = self.plan(None, below, left)
        with StepLoop(self, len(self._own_layout(left[0]).step)):

            def evaluate() -> list[Register]:
                for node in left:
                    self.fragment(node, self._own_layout(node))
                return []

            guarded(self, below, [], evaluate)  # type: ignore[arg-type]  # a Context
        self.finish(plan)

    def _below(self, node: Deferred, layout: Layout) -> Iterable[tuple[Any, Layout]]:
        source = SOURCE_LAYOUTS.get(node.operation.name)
        for operand in node.operands:
            for each in (operand if isinstance(operand, tuple) else (operand,)):
                if each is not None and not isinstance(each, Register):
                    yield (
                        each,
                        fragments.without_broadcast(source(node.operation, layout)) if source else layout,
                    )

    def settle(self, memory_only: bool, op: Operation | None = None) -> None:
        """Compute what is pending before code runs that it must not move across: a write (memory_only) or a
        region.
        """
        kept = []
        chosen = []
        for node in self.frame.pending:
            if node.stored is not None:
                continue
            kept.append(node)
        taken = Plan()
        for node in reversed(kept):
            expensive = node.reads_memory or (not memory_only and node.weight > CHEAP)
            if expensive and not _is_view(node) and self.needed_later(node, op, taken):
                taken.stored[node] = None  # type: ignore[assignment]
                chosen.append(node)
        self.materialise(chosen)
        self.frame.pending = [node for node in kept if node.stored is None]

    def stored(self, tensor: Any) -> Stored:
        """The tensor in a private array; large ones are computed in one loop."""
        if isinstance(tensor, Stored):
            return tensor
        if isinstance(tensor, Deferred) and isinstance(tensor.stored, Stored):
            return tensor.stored
        if isinstance(tensor, Deferred):
            self.materialise([tensor])
            return self.stored(tensor.stored)
        if isinstance(tensor, Fragment):
            return self.spill(tensor)
        layout = self.default_layout(tensor.shape)
        made = self.allocate(tensor.shape, tensor.element)
        with StepLoop(self, len(layout.step)):
            self.write(made, self.fragment(tensor, layout))
        return made


def _is_worth_keeping(node: Deferred) -> bool:
    """Is it cheaper to keep a value than to compute it again?"""
    return node.stored is None and not _is_view(node) and (node.reads_memory or node.weight > CHEAP)


def _is_view(node: Deferred) -> bool:
    """A view of one tensor, or its bits as another type: the operand is worth keeping, not the view."""
    entry = RULES[node.operation.name]
    return (entry.kind == "pulled" and entry.weight == 0) or entry.name == "tt.bitcast"


def _walk(tensor: Any, layout: Layout, seen: set[tuple[int, Layout]]) -> Iterable[tuple[Deferred, Layout]]:
    """Every deferred value below a tensor with the layout asked of it; what lies below a computed one is not
    visited.
    """
    if isinstance(tensor, Pointers):
        yield from _walk((tensor.affine, *tensor.terms), layout, seen)
    elif isinstance(tensor, Affine):
        yield from _walk(tensor.exact, layout, seen)
    elif isinstance(tensor, tuple):
        for part in tensor:
            yield from _walk(part, layout, seen)
    elif isinstance(tensor, Deferred) and (id(tensor), layout) not in seen:
        seen.add((id(tensor), layout))
        yield tensor, layout
        if tensor.stored is None:
            source = SOURCE_LAYOUTS.get(tensor.operation.name)
            below = fragments.without_broadcast(source(tensor.operation, layout)) if source else layout
            for operand in tensor.operands:
                yield from _walk(operand, below, seen)


@dataclass(frozen=True)
class _Identity:
    """A tensor compared by identity, as a key."""

    tensor: Any

    def __hash__(self) -> int:
        return id(self.tensor)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and other.tensor is self.tensor


