"""`Pending`: deferred values that are computed before code that they may not move across."""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.model import Operation
from ...traversal import Known, answer
from ..bindings import Bindings
from ..values.tensor import DEEP, Deferred
from .later_uses import LaterUses
from .requests import CHEAP, is_view, is_worth_keeping
from .scopes import Scopes
from .walks import Walks


class Pending:
    """Those of the function at hand (`Frame.pending`)."""

    def __init__(self, bindings: Bindings, scopes: Scopes, later_uses: LaterUses, walks: Walks) -> None:
        self._bindings, self._scopes, self._later_uses, self._walks = bindings, scopes, later_uses, walks

    def settle(self, memory_only: bool, op: Operation | None = None) -> None:
        """Compute what is pending before code runs that it must not move across: a write (memory_only) or a
        region.
        """
        frame = self._bindings.frame
        left = [node for node in frame.pending if node.evaluated is None]
        chosen = []
        taken: set[Deferred] = set()
        for node in reversed(left):
            expensive = node.reads_memory or (not memory_only and node.weight > CHEAP)
            if expensive and not is_view(node) and self._later_uses.needs(node, op, taken):
                taken.add(node)
                chosen.append(node)
        self._walks.materialise(chosen)
        over: Known = {}
        frame.pending = [
            node for node in frame.pending
            if (node.evaluated is None or self._scopes.is_kept_for_now(node))
            and (node.reads_memory or node.weight > CHEAP) and not is_view(node)
            and not answer(self._later_uses.are_over, node.operation.results[node.index], known=over)]

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
        self._walks.materialise(chosen)
