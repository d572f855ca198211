"""Accesses that one lane makes or leaves: by a branch, where an environment has nothing better."""

from __future__ import annotations

from collections.abc import Sequence

from ..spirv.builder import Builder, width_of
from ..spirv.control import IfElse, if_
from ..spirv.module import Value
from ..spirv.types import Type


class MaskedAccess:
    """What environments say of accesses under a truth value of the lane."""

    b: Builder

    def predicates(self, element: Type, count: int, alignment: int) -> bool:
        """Are so many neighbouring elements, whose address is a multiple of `alignment` bytes, loaded and
        stored where a truth value of the lane says so, without a branch?
        """
        return False

    def load_where(self, pointer: Value, here: Value, other: Value, alignment: int | None = None) -> Value:
        """As many neighbouring elements as `other` has, where `here` (Bool) is true; `other` elsewhere, and
        memory is not touched.
        """
        branch = IfElse(self.b.module, here)
        with branch.then():
            branch.yield_([self.load(pointer, width_of(other.type), False, alignment)])  # type: ignore[attr-defined]
        with branch.otherwise():
            branch.yield_([other])
        return branch.results[0]

    def store_where(self, pointer: Value, value: Value, here: Value, alignment: int | None = None) -> None:
        """Store where `here` (Bool) is true; memory is not touched elsewhere."""
        with if_(self.b.module, here):
            self.store(pointer, value, False, alignment)  # type: ignore[attr-defined]

    def gather_one_by_one(self, pointers: Sequence[Value], mask: Value, other: Value) -> Value:
        """`gather` with one access per component: the form that every device takes."""
        b = self.b
        return b.construct([self.load_where(pointer, b.extract(mask, c), b.extract(other, c))
                            for c, pointer in enumerate(pointers)])
