"""Components that lie a few elements apart in memory, as one vector.

`x[2 * i]` asks for 16 of 31 neighbours. Two vectors have all of them, and one shuffle picks: the second one
begins so early that it ends with the last element asked for, since behind that memory may end. What is stored
goes the other way: each vector is stored under a mask.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...dataclass import dataclass
from ...spirv.builder import Builder
from ...spirv.module import Value as Register


@dataclass(frozen=True)
class Picked:
    """`width` components, each `stride` elements behind the one before; a negative stride goes backwards.
    Elements are counted from the first in memory."""

    width: int
    stride: int

    @property
    def before(self) -> int:
        """From component 0 to the first element in memory."""
        return min(0, (self.width - 1) * self.stride)

    @property
    def starts(self) -> list[int]:
        """Of the parts that are loaded, each as wide as the result."""
        last = (self.width - 1) * (abs(self.stride) - 1)
        return [*range(0, self.width * (abs(self.stride) - 1), self.width), last]

    def element(self, component: int) -> int:
        return component * self.stride - self.before

    def place(self, component: int) -> tuple[int, int]:
        """The part that a component is picked from, and where it is in it."""
        element, starts = self.element(component), self.starts
        part = min(element // self.width, len(starts) - 1)
        return part, element - starts[part]

    def lanes(self, part: int) -> list[int]:
        """For each element of a part the component that is picked from it; `width` for the others."""
        here = {place: c for c in range(self.width) for at, place in [self.place(c)] if at == part}
        return [here.get(place, self.width) for place in range(self.width)]

    def from_parts(self, b: Builder, parts: Sequence[Register]) -> Register:
        """The components."""
        places = [self.place(c) for c in range(self.width)]
        if len(parts) == 1:
            return b.shuffle(parts[0], parts[0], [place for _, place in places])
        made = parts[0]
        for new, part in enumerate(parts[1:], 1):
            made = b.shuffle(made, part, [
                self.width + place if at == new else place if new == 1 and at == 0 else c
                for c, (at, place) in enumerate(places)])
        return made
