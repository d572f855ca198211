"""`Layouts`: under which layouts tensors of the kernel are held, and walked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..ir.model import TensorType, Type
from ..layout import Layout, row_major, squares
from ..target import Target
from .kernel import Kernel
from .values.encoding import layout_of_encoding


class Layouts:
    """brief: the code at hand hardly ever runs, so it is short rather than fast."""

    def __init__(self, kernel: Kernel, target: Target) -> None:
        self._kernel, self._target = kernel, target
        self.brief = False
        self._walked: dict[tuple[int, ...], Layout] = {}

    @property
    def lanes(self) -> int:
        """Work-items that run a program together."""
        return self._kernel.num_warps * self._target.sub_group_size

    def of(self, type: Type) -> Layout:
        """The layout under which values of a tensor type are held: its encoding's, or row-major in vector
        mode.
        """
        assert isinstance(type, TensorType)
        if type.encoding is not None:
            return layout_of_encoding(type.encoding, type.shape, self._kernel.num_warps,
                                      self._target.sub_group_size)
        return self.default(type.shape)

    def default(self, shape: tuple[int, ...]) -> Layout:
        """Row-major, walked in steps where the tensor has more registers than fit; by squares where some
        access goes across the rows."""
        if shape in self._walked:
            return self._walked[shape]
        kernel, target = self._kernel, self._target
        window = 1 if self.brief else target.window
        if shape in kernel.across and not self.brief:
            return squares(shape, kernel.across[shape], target.vector_width, target.max_registers)
        return row_major(shape, target.vector_width, target.max_registers, window)

    def through_rounds(self, layout: Layout) -> bool:
        """Do turns of the walk at hand take rows of this shape through all rounds of a loop?"""
        return layout.shape in self._walked

    @contextmanager
    def walked(self, layout: Layout) -> Iterator[None]:
        """Code in which each turn of a walk takes rows of this shape through all rounds of a loop; windows
        are those of the layout there."""
        around, self._walked = self._walked, self._walked | {layout.shape: layout}
        try:
            yield
        finally:
            self._walked = around

    def is_by_squares(self, layout: Layout) -> bool:
        """Does a walk under this layout go by squares?"""
        across = layout.shape in self._kernel.across
        return across and bool(layout.step) and layout == self.default(layout.shape)

    def holds_windows(self, layout: Layout) -> bool:
        """Does each turn hold one of the windows in which tensors of this shape are walked, whichever comes
        first? That is enough to put the elements into an array, or to fetch them. It does not say that the
        turns of two walks go together: `Layout.in_step_with`."""
        own = self.default(layout.shape)
        return (
            layout.origin == 0
            and own.component == layout.component
            and own.register == layout.register
            and sorted(own.step) == sorted(layout.step)
        )
