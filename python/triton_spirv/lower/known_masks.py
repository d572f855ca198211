"""`KnownMasks`: masks of which a test around the code at hand has shown something."""

from __future__ import annotations

from collections.abc import Iterator, Set
from contextlib import contextmanager

from ..layout import Layout
from .values.tensor import Bound, Tensor

#: A mask, and the layout whose elements it is asked for.
Asked = tuple[Tensor, Layout]


class KnownMasks:
    """holding: masks that are true for all elements, a set for each test; failing: one that is not."""

    def __init__(self) -> None:
        self.holding: list[set[Asked]] = []
        self.failing: Asked | None = None

    def holds(self, mask: Bound | None, layout: Layout) -> bool:
        """Has a test shown that it is true for all elements?"""
        return any((mask, layout) in known for known in self.holding)

    def fails(self, mask: Bound | None, layout: Layout) -> bool:
        """Has a test shown that it is false for some?"""
        return self.failing == (mask, layout)

    def hold_for_fewer(self, layout: Layout, fewer: Layout) -> None:
        """What holds for the elements of a layout does for those of another that has fewer of them."""
        for known in self.holding:
            known |= {(mask, fewer) for mask, whole in known if whole == layout}

    @contextmanager
    def where_all_hold(self, masks: Set[Asked]) -> Iterator[None]:
        """In the arm of a test that these masks have passed."""
        self.holding.append(set(masks))  # which `hold_for_fewer` adds to
        yield
        self.holding.pop()

    @contextmanager
    def where_one_fails(self, masks: Set[Asked]) -> Iterator[None]:
        """In the other arm: one of them is false somewhere."""
        around, self.failing = self.failing, next(iter(masks)) if len(masks) == 1 else None
        yield
        self.failing = around

    @contextmanager
    def none_holding(self) -> Iterator[None]:
        """Code for which no test around has shown that a mask holds."""
        around, failing, self.holding = self.holding, self.failing, []
        try:
            yield
        finally:
            self.holding, self.failing = around, failing
