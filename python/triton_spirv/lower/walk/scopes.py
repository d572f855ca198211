"""Scopes: what has been evaluated where code is being emitted, and the walks around it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field, replace

from ...dataclass import dataclass
from ...layout import Layout
from ..plan.records import Walk
from ..values.tensor import Deferred, Fragment, Stored, Tensor


@dataclass(eq=False)
class Scope:
    """Code that dominates what is emitted until the scope closes, and nothing behind it: what is made within
    is forgotten then. `walks`: every turn of the walk around it comes through it, or through its other arm,
    which does the same.
    """

    walks: bool = False
    fragments: dict[tuple[Tensor, Layout], Fragment] = field(default_factory=dict)
    spilled: dict[Fragment, Stored] = field(default_factory=dict)
    exchanged: dict[Fragment, list[Fragment]] = field(default_factory=dict)  # what lanes have exchanged
    kept: set[Deferred] = field(default_factory=set)  # made before the scope, evaluated for good in it
    written: set[tuple[OpenWalk, Deferred]] = field(default_factory=set)  # by-products, on all ways to here


@dataclass(frozen=True)
class ByProduct:
    """Where a walk writes a value that it computes anyway: an array, under the layout in which it comes to
    the value. over: the tensor whose array that was."""

    stored: Stored
    layout: Layout
    over: Stored | None = None


@dataclass(eq=False)
class OpenWalk:
    """A walk that is being emitted. by_products: decided before it. record: it in the plan, still without its
    body. scopes, pieces: how many scopes and pieces of the step there were before it."""

    by_products: dict[Deferred, ByProduct]
    record: Walk
    scopes: int
    pieces: int

    def keep_nothing(self) -> None:
        """What it computes goes where its own code says."""
        self.by_products.clear()
        self.record = replace(self.record, keeps=())


class Scopes:
    """Those around the code at hand, the outermost first."""

    def __init__(self) -> None:
        self._open = [Scope()]

    def __len__(self) -> int:
        return len(self._open)

    @property
    def innermost(self) -> Scope:
        return self._open[-1]

    def since(self, count: int) -> Sequence[Scope]:
        """But for the `count` outermost ones."""
        return self._open[count:]

    def open(self, walks: bool = False) -> None:
        """Enter a scope whose code does not dominate what follows it."""
        self._open.append(Scope(walks))

    def close(self) -> Scope:
        """Leave it: what was evaluated in it is not, for what follows."""
        scope = self._open.pop()
        for node in scope.kept:
            node.evaluated = None
        return scope

    @contextmanager
    def none(self) -> Iterator[None]:
        """Code for which nothing is evaluated yet, and behind which nothing of it is."""
        opened, self._open = self._open, [Scope()]
        try:
            yield
        finally:
            self.close()
            self._open = opened

    def evaluated(self, tensor: Tensor, layout: Layout) -> Fragment | None:
        """Its registers under a layout, where they are known."""
        key = tensor, layout
        for scope in reversed(self._open):
            if key in scope.fragments:
                return scope.fragments[key]
        return None

    def add(self, tensor: Tensor, made: Fragment) -> bool:
        """These are its registers. False where this scope knows them already."""
        key = tensor, made.layout
        if key in self.innermost.fragments:
            return False
        self.innermost.fragments[key] = made
        return True

    def spilled(self, tensor: Fragment) -> Stored | None:
        """The array that holds it, too."""
        return next((scope.spilled[tensor] for scope in reversed(self._open)
                     if tensor in scope.spilled), None)

    def spill(self, tensor: Fragment, stored: Stored) -> None:
        """An array holds it, too."""
        self.innermost.spilled[tensor] = stored

    def exchanged(self, tensor: Fragment) -> Iterator[Fragment]:
        """The same elements in other lanes or warps, as they have been exchanged."""
        for scope in reversed(self._open):
            yield from scope.exchanged.get(tensor, ())

    def exchange(self, tensor: Fragment, made: Fragment) -> None:
        """Lanes have exchanged it."""
        self.innermost.exchanged.setdefault(tensor, []).append(made)

    def keep(self, node: Deferred, value: Fragment | Stored) -> None:
        """A deferred value is in registers or an array from here on, until this scope closes, or its own."""
        node.evaluated = value
        if node.scope is not self.innermost:
            self.innermost.kept.add(node)

    def is_kept_for_now(self, node: Deferred) -> bool:
        """Will a value that is kept be deferred again, when a scope closes?"""
        return any(node in scope.kept for scope in self._open[1:])
