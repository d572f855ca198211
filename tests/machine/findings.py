"""What the machine reports: each kind of mistake once for each instruction, with the place in the listing and
in the user's source.

    data-race            two lanes of one program touch a byte, one of them writes, nothing orders them
    race-of-programs     the same between two programs of a launch; counts only where the kernel synchronises
                         programs by atomic operations that acquire or release
    conflicting-store    lanes of one sub-group store different values to one byte in one instruction
    private-access       Vulkan: lanes meet through accesses that do not say NonPrivatePointer
    divergent-barrier    a barrier that some lanes of a sub-group do not reach
    different-barriers   sub-groups of a work-group wait at two barriers
    missed-barrier       a sub-group has ended while others wait at a barrier
    partial-sub-group    an instruction for a whole sub-group that some lanes do not execute
    inactive-lane        a lane reads the value of one that does not execute the instruction, or of none
    out-of-bounds        outside of every argument, or of the array
    misaligned           an address that is no multiple of what the access claims
    uninitialised        a value that nobody wrote reaches memory of the launch, an address or a branch
    undefined            the same of a result that SPIR-V leaves undefined (shift too far, division by zero)
    unreachable          OpUnreachable was reached
    bad-message          a 2D block message that hardware refuses
    orders-differ        without atomic operations, and yet other orders of warps gave other results
    no-end               the launch did not end
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

#: What is said and does not count: programs of a launch that meet without atomics are the user's business.
NOTES = frozenset(["race-of-programs"])


@dataclass
class Finding:
    """One mistake; `count` is how often it was seen, `other` the second instruction of a race."""

    kind: str
    what: str
    line: int
    instruction: str
    source: str
    other: str = ""
    order: str = ""
    count: int = 1
    is_note: bool = False

    def __str__(self) -> str:
        where = f"line {self.line} of the listing: {self.instruction}"
        place = f"{self.source}: " if self.source else ""
        also = f"\n    and {self.other}" if self.other else ""
        times = f", {self.count} times" if self.count > 1 else ""
        return f"{place}{self.kind}: {self.what} (order: {self.order}{times})\n    {where}{also}"


@dataclass
class Findings:
    """All that a run found. `assertion`: the words of assert_layout.py.
    `printed`: what the kernel printed."""

    items: list[Finding] = field(default_factory=list)
    assertion: Sequence[int] = (0,)
    printed: list[str] = field(default_factory=list)
    instructions: int = 0

    @property
    def errors(self) -> list[Finding]:
        """Those that count."""
        return [item for item in self.items if not item.is_note]

    @property
    def kinds(self) -> set[str]:
        """The kinds of those that count."""
        return {item.kind for item in self.errors}

    def __bool__(self) -> bool:
        return bool(self.errors)

    def __str__(self) -> str:
        return "\n".join(str(item) for item in self.items) or "nothing found"


class MachineError(AssertionError):
    """A kernel that ran on the machine has findings."""


class Unsupported(NotImplementedError):
    """An instruction, by its name, that the machine does not know."""
