"""`Target`: what the emitter may use on a device, as data that it asks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ..dataclass import dataclass
from ..quirks import TOLD
from .capabilities import LARGE_WARPS, Arithmetic, Lanes, Memory, Messages, ModuleForm, Products, Vectors
from .optimisations import OPTIMISATIONS, left_out

#: Bytes of a row, and rows, of a surface of 2D block messages.
MOST = 1 << 24


class Requirement(NamedTuple):
    """parameter * factor >= least + other * other_factor, and not above MOST; a factor of 0: the pointer
    `parameter` is a multiple of 64. Parameters by number; other: -1 for none.
    """

    parameter: int
    factor: int
    least: int
    other: int = -1
    other_factor: int = 0

    def holds(self, values: Sequence[Any]) -> bool:
        """Of the arguments of a launch?"""
        value = values[self.parameter]
        if not self.factor:
            return (value if isinstance(value, int) else value.data_ptr()) % 64 == 0
        least = self.least + (values[self.other] * self.other_factor if self.other >= 0 else 0)
        return bool(least <= value * self.factor <= MOST)


@dataclass(frozen=True)
class Target(Messages, Products, Arithmetic, Memory, Lanes, Vectors, ModuleForm):
    """A device, or a family of devices. No rule knows a chip's name; it asks for a capability, a width or a
    size."""

    def __post_init__(self) -> None:
        if self.quirks - TOLD:
            raise ValueError(f"no quirks: {', '.join(sorted(self.quirks - TOLD))}; there are "
                             f"{', '.join(sorted(TOLD))}")

    def has(self, quirk: str) -> bool:
        """Does its driver get that wrong? By the name in triton_spirv/quirks.py."""
        if quirk not in TOLD:
            raise ValueError(f"{quirk} is no quirk that targets tell")
        return quirk in self.quirks

    def optimises(self, name: str) -> bool:
        """Is an optimisation made? By the name in optimisations.py."""
        if name not in OPTIMISATIONS:
            raise ValueError(f"{name} is no optimisation")
        return name not in self.leaves_out

    def optimised(self, text: str) -> Target:
        """The target with the optimisations that a launch's option names; itself for all of them."""
        names = left_out(text)
        if not names or names == self.leaves_out:
            return self
        changes = {key: value for name in names for key, value in OPTIMISATIONS[name].changes.items()}
        return self.with_options(leaves_out=names, **changes)

    @property
    def lanes(self) -> bool:
        """Is a program shared by the lanes of sub-groups (SIMT mode, TTGIR) rather than run by one work-item
        (TTIR)?
        """
        return self.sub_group_size > 1

    @property
    def float16(self) -> bool:
        """Are there registers of f16? Otherwise its bits are held, and f32 computes."""
        return self.capabilities is None or "Float16" in self.capabilities

    def grf_mode(self, bytes: int, warps: int) -> str:
        """The registers of a thread which needs so many bytes at once: "256", twice as many as by default,
        where only a quarter of those would be left. Half as many threads share an engine then.
        """
        crowded = bytes * 4 > self.register_bytes * 3
        return "256" if self.large_registers and crowded and warps <= LARGE_WARPS else "default"

    def with_options(self, **changes: object) -> Target:
        """A copy with some fields changed. The name of a quirk says whether it has that:
        `keeps_loops=True`."""
        told = {name: changes.pop(name) for name in TOLD & changes.keys()}
        if told:
            quirks = changes.get("quirks", self.quirks)
            assert isinstance(quirks, frozenset)
            has = {name for name, value in told.items() if value}
            changes["quirks"] = quirks.difference(told) | has  # frozen still: - of a dictionary's keys is not
        return replace(self, **changes)  # type: ignore[arg-type]
