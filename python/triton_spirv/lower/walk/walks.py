"""Walking large tensors: which loop computes what.

Before a loop opens, `plan` decides which deferred values are computed inside it, which of those are kept in
an array as a by-product, and which must be computed before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod

from ...errors import InternalError
from ...ir.model import Operation
from ...layout import Layout
from ...spirv.builder import Builder
from ...spirv.module import Value as Register
from ...target import Target
from ..layouts import Layouts
from ..plan.recorder import Recorder
from ..plan.records import Kept, Walk
from ..values.tensor import Deferred, Fragment, Stored, Tensor
from ..values.types import register_type
from .above import Above
from .arrays import Arrays
from .evaluation import Evaluation
from .indices import Indices
from .later_uses import LaterUses
from .open_walks import OpenWalks
from .requests import Request, Requested, Requests, below, is_worth_keeping, walk
from .scopes import ByProduct, OpenWalk, Scopes
from .step_loop import StepLoop


class Walks:
    """Decides walks, and computes whole tensors by them."""

    def __init__(self, b: Builder, target: Target, layouts: Layouts, recorder: Recorder, indices: Indices,
                 scopes: Scopes, arrays: Arrays, open_walks: OpenWalks, requests: Requests,
                 later_uses: LaterUses, evaluation: Evaluation, above: Above) -> None:
        self.b, self.recorder, self.indices, self.scopes = b, recorder, indices, scopes
        self._target, self._layouts, self._arrays = target, layouts, arrays
        self._open_walks, self._requests, self._later_uses = open_walks, requests, later_uses
        self._evaluation, self._above = evaluation, above
        self._closed = False

    def plan(
        self,
        op: Operation | None,
        inputs: Iterable[Request],
        wanted: Iterable[Deferred] = (),
        optional: Sequence[Tensor] = (),
    ) -> OpenWalk:
        """Decide a loop in which `op` consumes tensors under layouts.

        Deferred values that are expensive and needed again afterwards become by-products when every turn of
        the loop comes to them, window by window; otherwise they are computed before the loop.
        Small tensors that the loop indexes by its step are put into arrays. `wanted` become by-products in
        any case, after `straighten`; `optional` are those of the inputs that not every turn asks for.
        Close with `finish`.
        """
        inputs = list(inputs)
        if self._closed:
            name = "values" if op is None else op.name
            raise InternalError(f"{name}: a walk in a loop that runs inside another walk")
        requests = self.straighten(inputs)
        asked = self._requests.asked(inputs, optional)
        by_products = {
            node: ByProduct(self._arrays.allocate(node.shape, node.element), self._own_layout(node))
            for node in wanted}
        if not self._target.optimises("by-products"):
            requests = self._without_by_products(op, inputs, requests, by_products)
        kept: dict[Deferred, Layout] = {}
        every = set(by_products)
        for node, layouts in requests:
            if isinstance(node, Fragment):
                if any(any(layout.step) for layout in layouts):
                    self._arrays.spill(node)
            elif is_worth_keeping(node) and all(self._layouts.holds_windows(layout) for layout in layouts):
                always = asked.always.get(node)
                if always is not None and node not in every and self._later_uses.needs(node, op, every):
                    kept[node] = always
                    every.add(node)
        dying = self._dying(op, inputs, every)
        for node, layout in kept.items():
            over = None if node in asked.elsewhere else self._taken_over(node, layout, dying)
            array = self._arrays.allocate(node.shape, node.element) if over is None else Stored(
                node.shape, node.element, over.array, over.width)
            by_products[node] = ByProduct(array, layout, over)
        record = self._record(op, by_products)
        opened = OpenWalk(by_products, record, len(self.scopes), len(self.indices.pieces))
        self._open_walks.around.append(opened)
        self.recorder.open()
        return opened

    @contextmanager
    def none(self) -> Iterator[None]:
        """Code of one turn of a walk, in which no other walk may begin."""
        before, self._closed = self._closed, True
        try:
            yield
        finally:
            self._closed = before

    def _record(self, op: Operation | None, by_products: dict[Deferred, ByProduct]) -> Walk:
        """A walk in the plan, as it is decided."""
        recorder = self.recorder
        return Walk(op, tuple(
            Kept(node.operation, node.index, recorder.array(each.stored),
                 recorder.name(each.stored, node.operation.results[node.index]), each.layout,
                 None if each.over is None else recorder.content(each.over))
            for node, each in by_products.items()), ())

    def _without_by_products(self, op: Operation | None, inputs: Sequence[Request],
                             requests: Requested, by_products: Collection[Deferred]) -> Requested:
        """Compute what the walk would keep in walks of its own; the requests that are left."""
        while again := [node for node, _ in requests if isinstance(node, Deferred) and is_worth_keeping(node)
                        and node not in by_products and self._later_uses.needs(node, op, by_products)]:
            self.materialise(again[:1])
            requests = self.straighten(inputs)
        return requests

    def straighten(self, inputs: Iterable[Request]) -> Requested:
        """Compute what a walk over the inputs would not come to window by window; the requests that are
        left."""
        inputs = list(inputs)
        requests = self._requests.of(inputs)
        while astray := [x for x, asked in requests if isinstance(x, Deferred)
                         and any(self._requests.is_astray(x, layout) for layout in asked)]:
            self.materialise(astray[:1])
            requests = self._requests.of(inputs)  # what lies below it is asked for by this walk no longer
        return requests

    def _dying(
        self, op: Operation | None, inputs: Iterable[Request], kept: Collection[Deferred]
    ) -> dict[Deferred, set[Layout]]:
        """Values in arrays that this walk reads element by element, under which layouts, and nothing reads
        after it: what is computed from them is done, or among its by-products, `kept`.

        They belong to the block of `op`; an outer array is read again by the next iteration.
        """
        found: dict[Deferred, set[Layout]] = {}
        seen: set[Request] = set()
        for tensor, layout in inputs:
            for node, asked in walk(tensor, layout, seen):
                if isinstance(node.evaluated, Stored):
                    found.setdefault(node, set()).add(asked)
        return {node: layouts for node, layouts in found.items()
                if op is not None and node.operation.parent is op.parent
                and not self._later_uses.needs(node, op, kept)}

    def _taken_over(self, node: Deferred, layout: Layout, dying: dict[Deferred, set[Layout]]
                    ) -> Stored | None:
        """The array of a dying value that only `node` is computed from: each element is read before it is
        written, in the turn that writes it, and nothing computes `node` again.

        A value that anything else of the walk reads too may not be overwritten: that may come after.
        """
        for value, asked in dying.items() if self._target.optimises("array-reuse") else ():
            stored = value.evaluated
            assert isinstance(stored, Stored)
            same_size = prod(stored.shape) == prod(node.shape)
            if (same_size and register_type(stored.element) == register_type(node.element)
                    and all(each.in_step_with(layout) for each in asked)
                    and self._later_uses.feeds_only(value, node)):
                del dying[value]
                return stored
        return None

    def finish(self, walk: OpenWalk) -> None:
        """The loop is over: its by-products are arrays from now on."""
        self._open_walks.around.remove(walk)
        body = self.recorder.close()
        if body:
            self.recorder.add(replace(walk.record, body=body))
        for node, kept in walk.by_products.items():
            if not self._open_walks.is_written(walk, node):
                op = node.operation
                raise InternalError(f"{op.location}: {op.name}: the walk that was to write its value to an "
                                    "array does not, on one of its ways")
            assert node.evaluated is None, "computed before the walk that was to write its array"
            self.scopes.keep(node, kept.stored)

    def complete(self) -> None:
        """At the end of a turn of the innermost walk, on the way that is being emitted: write the by-products
        that nothing has asked for on it.
        """
        open_walks = self._open_walks
        walk = open_walks.around[-1] if open_walks.around else None
        if walk is None or not open_walks.in_every_turn(walk):
            return
        bits = sum(bits for _, bits in self.indices.pieces[:len(self.indices.pieces) - walk.pieces])
        for node, kept in walk.by_products.items():
            if len(kept.layout.step) != bits or open_walks.is_written(walk, node):
                continue
            made = self._evaluation.fragment(node, kept.layout)
            if not open_walks.is_written(walk, node):  # known before the walk, or kept by another one inside
                open_walks.write(walk, node, made)

    def materialise(self, nodes: Sequence[Deferred]) -> None:
        """Compute deferred tensors now, those that are walked in as many steps in one loop, and keep them."""
        groups: dict[tuple[int, int], list[Deferred]] = {}
        for node in nodes:
            groups.setdefault((prod(node.shape), self._own_layout(node).steps), []).append(node)
        for group in groups.values():
            if self._own_layout(group[0]).steps == 1:
                for node in group:
                    if node.evaluated is None:
                        self.scopes.keep(node, self._evaluation.fragment(node, self._own_layout(node)))
            else:
                self._materialise_large(group)

    def _own_layout(self, node: Deferred) -> Layout:
        return self._layouts.of(node.operation.results[node.index].type)

    def _materialise_large(self, group: Sequence[Deferred]) -> None:
        """Tensors of one size, in one loop. What one of them, or of an earlier group, needs in another order
        than its own is computed before, and may be one of them."""
        inputs: list[Request] = []
        left = [node for node in group if node.evaluated is None]
        while left:
            inputs = [x for node in left for x in below(node, self._own_layout(node))]
            self.straighten(inputs)
            group, left = left, [node for node in left if node.evaluated is None]
            if len(group) == len(left):
                break
        if not left:
            return
        opened = self.plan(None, inputs, left)
        with StepLoop(self, len(self._own_layout(left[0]).step)):

            def evaluate() -> list[Register]:
                for node in left:
                    self._evaluation.fragment(node, self._own_layout(node))
                return []

            self._above.guarded(inputs, [], evaluate)
        self.finish(opened)

    def stored(self, tensor: Tensor) -> Stored:
        """The tensor in a private array; large ones are computed in one loop."""
        if isinstance(tensor, Stored):
            return tensor
        if isinstance(tensor, Deferred) and isinstance(tensor.evaluated, Stored):
            return tensor.evaluated
        if isinstance(tensor, Deferred):
            self.materialise([tensor])
            assert tensor.evaluated is not None
            return self.stored(tensor.evaluated)
        if isinstance(tensor, Fragment):
            return self._arrays.spill(tensor)
        layout = self._layouts.default(tensor.shape)
        made = self._arrays.allocate(tensor.shape, tensor.element)
        with StepLoop(self, len(layout.step)):
            self._arrays.write(made, self._evaluation.fragment(tensor, layout))
        return made
