"""Walking large tensors: which loop computes what.

Before a loop opens, `plan` decides which deferred values are computed inside it, which of those are kept in
an array as a by-product, and which must be computed before. `settle` computes what may not move across a
write or into a region.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from math import prod

from ...errors import InternalError
from ...ir.model import Operation, Value
from ...layout import Layout
from ...spirv.module import Value as Register
from ...traversal import Asking, Known, answer
from ..plan.records import Kept, Walk
from ..values.tensor import DEEP, Affine, Deferred, Fragment, Pointers, Stored, Tensor
from ..values.types import register_type
from .requests import CHEAP, Request, Requests, below, is_view, is_worth_keeping, walk
from .scopes import ByProduct, OpenWalk
from .step_loop import StepLoop


class Walking(Requests):
    """Plans, by-products, and values computed ahead of time."""

    def plan_walk(
        self,
        op: Operation | None,
        inputs: Iterable[Request],
        stored: Iterable[Deferred] = (),
        optional: Sequence[Tensor] = (),
    ) -> OpenWalk:
        """Decide a loop in which `op` consumes tensors under layouts.

        Deferred values that are expensive and needed again afterwards become by-products when every turn of
        the loop comes to them, window by window; otherwise they are computed before the loop.
        Small tensors that the loop indexes by its step are put into arrays. `stored` are by-products that are
        wanted anyway, after `straighten`; `optional` are those of the inputs that not every turn asks for.
        Close with `finish`.
        """
        inputs = list(inputs)
        requests = self.straighten(inputs)
        asked = self.asked(inputs, optional)
        made = {node: ByProduct(self.arrays.allocate(node.shape, node.element), self._own_layout(node))
                for node in stored}
        if not self.target.optimises("by-products"):
            requests = self._without_by_products(op, inputs, requests, made)
        kept: dict[Deferred, Layout] = {}
        every = set(made)
        for node, layouts in requests:
            if isinstance(node, Fragment):
                if any(any(layout.step) for layout in layouts):
                    self.spill(node)
            elif is_worth_keeping(node) and all(self.holds_windows(layout) for layout in layouts):
                always = asked.always.get(node)
                if always is not None and node not in every and self.needed_later(node, op, every):
                    kept[node] = always
                    every.add(node)
        dying = self._dying(op, inputs, every)
        for node, layout in kept.items():
            over = None if node in asked.elsewhere else self._taken_over(node, layout, dying)
            array = self.arrays.allocate(node.shape, node.element) if over is None else Stored(
                node.shape, node.element, over.array, over.width)
            made[node] = ByProduct(array, layout, over)
        self.walks.append(OpenWalk(made, self._record(op, made), len(self.scopes), len(self.indices.pieces)))
        self.recorder.open()
        return self.walks[-1]

    def _record(self, op: Operation | None, by_products: dict[Deferred, ByProduct]) -> Walk:
        """A walk in the plan, as it is decided."""
        recorder = self.recorder
        return Walk(op, tuple(
            Kept(node.operation, node.index, recorder.array(each.stored),
                 recorder.name(each.stored, node.operation.results[node.index]), each.layout,
                 None if each.over is None else recorder.content(each.over))
            for node, each in by_products.items()), ())

    def _without_by_products(self, op: Operation | None, inputs: Sequence[Request],
                             requests: list[tuple[Deferred | Fragment, set[Layout]]],
                             made: Collection[Deferred]) -> list[tuple[Deferred | Fragment, set[Layout]]]:
        """Compute what the walk would keep in walks of its own; the requests that are left."""
        while again := [node for node, _ in requests if isinstance(node, Deferred) and is_worth_keeping(node)
                        and node not in made and self.needed_later(node, op, made)]:
            self.materialise(again[:1])
            requests = self.straighten(inputs)
        return requests

    def straighten(self, inputs: Iterable[Request]) -> list[tuple[Deferred | Fragment, set[Layout]]]:
        """Compute what a walk over the inputs would not come to window by window; the requests that are
        left."""
        inputs = list(inputs)
        requests = self.requests(inputs)
        while astray := [x for x, asked in requests if isinstance(x, Deferred)
                         and any(self.is_astray(x, layout) for layout in asked)]:
            self.materialise(astray[:1])
            requests = self.requests(inputs)  # what lies below it is asked for by this walk no longer
        return requests

    def _dying(
        self, op: Operation | None, inputs: Iterable[Request], kept: Collection[Deferred]
    ) -> dict[Deferred, set[Layout]]:
        """Values in arrays that this walk reads element by element, under which layouts, and nothing reads
        after it: what is computed from them is done, or among its by-products, `kept`.

        They belong to the block of `op`; an outer array is read again by the next iteration.
        """
        found: dict[Deferred, set[Layout]] = {}
        seen: set[tuple[int, Layout]] = set()
        for tensor, layout in inputs:
            for node, asked in walk(tensor, layout, seen):
                if isinstance(node.stored, Stored):
                    found.setdefault(node, set()).add(asked)
        return {node: layouts for node, layouts in found.items()
                if op is not None and node.operation.parent is op.parent
                and not self.needed_later(node, op, kept)}

    def _taken_over(self, node: Deferred, layout: Layout, dying: dict[Deferred, set[Layout]]
                    ) -> Stored | None:
        """The array of a dying value that only `node` is computed from: each element is read before it is
        written, in the turn that writes it, and nothing computes `node` again.

        A value that anything else of the walk reads too may not be overwritten: that may come after.
        """
        for value, asked in dying.items() if self.target.optimises("array-reuse") else ():
            stored = value.stored
            assert isinstance(stored, Stored)
            same_size = prod(stored.shape) == prod(node.shape)
            if (same_size and register_type(stored.element) == register_type(node.element)
                    and all(each.in_step_with(layout) for each in asked)
                    and self._feeds_only(value, node)):
                del dying[value]
                return stored
        return None

    def _feeds_only(self, value: Deferred, node: Deferred) -> bool:
        """Is every use of `value` that is still to come a step of one chain that ends in `node`?"""
        while value is not node:
            users = {user for user in _users(value) if not self._is_done(user)}
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

    def finish(self, walk: OpenWalk) -> None:
        """The loop is over: its by-products are arrays from now on."""
        self.walks.remove(walk)
        body = self.recorder.close()
        if body:
            self.recorder.add(replace(walk.record, body=body))
        for node, kept in walk.by_products.items():
            if not self.is_written(walk, node):
                op = node.operation
                raise InternalError(f"{op.location}: {op.name}: the walk that was to write its value to an "
                                    "array does not, on one of its ways")
            assert node.stored is None, "computed before the walk that was to write its array"
            self.scopes.keep(node, kept.stored)

    def needed_later(self, node: Deferred, op: Operation | None, kept: Collection[Deferred] = ()) -> bool:
        """Will an operation other than `op` ask for the node again, directly or through what is not kept, now
        or by the walk at hand?

        Pointers ask for the summands of their offset, whatever becomes of the sum (`Deferred.pointers`).
        """
        waiting = _users(node)
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
                if isinstance(bound, Pointers):
                    waiting += [user for user, _ in result.uses]
                elif isinstance(bound, Deferred) and bound.stored is None and bound not in kept:
                    waiting += _users(bound)
        return False

    def precompute(self, nodes: Iterable[Deferred]) -> None:
        """Compute values now, or what they are views of where that is worth keeping."""
        chosen = []
        for node in nodes:
            viewed, views = node, 0
            while is_view(viewed) and isinstance(viewed.operands[0], Deferred):
                viewed, views = viewed.operands[0], views + 1
            if views < DEEP and is_worth_keeping(viewed):
                node.depth = 1 + views
                chosen.append(viewed)
            else:
                chosen.append(node)
        self.materialise(chosen)

    def materialise(self, nodes: Sequence[Deferred]) -> None:
        """Compute deferred tensors now, those that are walked in as many steps in one loop, and keep them."""
        groups: dict[tuple[int, int], list[Deferred]] = {}
        for node in nodes:
            groups.setdefault((prod(node.shape), self._own_layout(node).steps), []).append(node)
        for group in groups.values():
            if self._own_layout(group[0]).steps == 1:
                for node in group:
                    if node.stored is None:
                        self.scopes.keep(node, self.fragment(node, self._own_layout(node)))
            else:
                self._materialise_large(group)

    def _own_layout(self, node: Deferred) -> Layout:
        return self.layout_of(node.operation.results[node.index].type)

    def _materialise_large(self, group: Sequence[Deferred]) -> None:
        """Tensors of one size, in one loop. What one of them, or of an earlier group, needs in another order
        than its own is computed before, and may be one of them."""
        from ..addresses.masks import guarded

        inputs: list[Request] = []
        left = [node for node in group if node.stored is None]
        while left:
            inputs = [x for node in left for x in below(node, self._own_layout(node))]
            self.straighten(inputs)
            group, left = left, [node for node in left if node.stored is None]
            if len(group) == len(left):
                break
        if not left:
            return
        opened = self.plan_walk(None, inputs, left)
        with StepLoop(self, len(self._own_layout(left[0]).step)):

            def evaluate() -> list[Register]:
                for node in left:
                    self.fragment(node, self._own_layout(node))
                return []

            guarded(self, inputs, [], evaluate)  # type: ignore[arg-type]  # a Context
        self.finish(opened)

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
        taken: set[Deferred] = set()
        for node in reversed(kept):
            expensive = node.reads_memory or (not memory_only and node.weight > CHEAP)
            if expensive and not is_view(node) and self.needed_later(node, op, taken):
                taken.add(node)
                chosen.append(node)
        self.materialise(chosen)
        over: Known = {}
        self.frame.pending = [
            node for node in self.frame.pending
            if (node.stored is None or self.scopes.is_kept_for_now(node))
            and (node.reads_memory or node.weight > CHEAP) and not is_view(node)
            and not answer(self._is_over, node.operation.results[node.index], known=over)]

    def _is_over(self, value: Value) -> Asking[bool]:
        """Will nothing ask for a value again, nor for what is computed from it, kept or not?"""
        for user, _ in value.uses:
            if user not in self.frame.lowered:
                return False
            for result in user.results:
                if isinstance(self.frame.values.get(result), (Deferred, Pointers, Affine)) and not (
                        yield (result,)):
                    return False
        return True

    def stored(self, tensor: Tensor) -> Stored:
        """The tensor in a private array; large ones are computed in one loop."""
        if isinstance(tensor, Stored):
            return tensor
        if isinstance(tensor, Deferred) and isinstance(tensor.stored, Stored):
            return tensor.stored
        if isinstance(tensor, Deferred):
            self.materialise([tensor])
            assert tensor.stored is not None
            return self.stored(tensor.stored)
        if isinstance(tensor, Fragment):
            return self.spill(tensor)
        layout = self.default_layout(tensor.shape)
        made = self.arrays.allocate(tensor.shape, tensor.element)
        with StepLoop(self, len(layout.step)):
            self.arrays.write(made, self.fragment(tensor, layout))
        return made


def _users(node: Deferred) -> list[Operation]:
    """What uses the value, or pointers with it among the summands of their offset."""
    results = (node.operation.results[node.index], *node.pointers)
    return [user for result in results for user, _ in result.uses]
