"""`OpenWalks`: the walks around the code at hand, and the writes of what they keep."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..values.tensor import Deferred, Fragment
from .arrays import Arrays
from .scopes import OpenWalk, Scopes


class OpenWalks:
    """around: the walks, innermost last; fetches_elsewhere: what the loads of the innermost one read next is
    fetched by other code."""

    def __init__(self, arrays: Arrays, scopes: Scopes) -> None:
        self._arrays, self._scopes = arrays, scopes
        self.around: list[OpenWalk] = []
        self.fetches_elsewhere = False

    def evaluated(self, node: Deferred, made: Fragment) -> None:
        """Write a value where it is a by-product of a walk that comes to it in every turn."""
        for walk in self.around:
            kept = walk.by_products.get(node)
            if kept is not None and kept.layout == made.layout and self.in_every_turn(walk):
                self.write(walk, node, made)

    def in_every_turn(self, walk: OpenWalk) -> bool:
        """Does every turn of a walk come to where code is being emitted, or to its like elsewhere?"""
        return all(scope.walks for scope in self._scopes.since(walk.scopes))

    def write(self, walk: OpenWalk, node: Deferred, made: Fragment) -> None:
        """A by-product's elements of this turn, on the way that is being emitted."""
        self._arrays.write(walk.by_products[node].stored, made)
        self._scopes.innermost.written.add((walk, node))

    def is_written(self, walk: OpenWalk, node: Deferred) -> bool:
        """Do all ways to where code is being emitted lead through a write of this by-product?"""
        return any((walk, node) in scope.written for scope in self._scopes.since(walk.scopes - 1))

    @contextmanager
    def none(self) -> Iterator[None]:
        """Code in which no by-products are due."""
        around, self.around = self.around, []
        try:
            yield
        finally:
            self.around = around
