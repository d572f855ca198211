"""Which register files to try, and which build to keep: the same for ocloc and for a driver that builds when
it loads.

A thread of an Intel GPU has 128 registers, or 256 where the chip runs half as many threads. A kernel that
spills is worth a second build with the larger file; whether the result is better is seen by its spills.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dataclass import dataclass
from .failures import BadRequest, NativeError, ScratchExceeded
from .ocloc import GRF_FLAGS

#: a build that spills more dwords of each lane than this is tried again with the larger register file
TOLERATED_SPILLS = 16
#: warps of a work-group that fit onto a core when each has the larger register file
WARPS_WITH_LARGE_GRF = 32
LARGE = "256"
_LARGE_MODES = ("256", "512")


@dataclass(frozen=True)
class Attempt:
    """One build. spill_bytes for each hardware thread, n_spills in dwords for each lane.

    flags        the build options, as one text
    failure      what was wrong with it; None for a usable build
    exact        are the spills what the compiler says, or a bound?
    """

    grf_mode: str
    flags: str
    failure: str | None = None
    grf_count: int = 0
    simd_size: int = 0
    spill_bytes: int = 0
    n_spills: int = 0
    exact: bool = True
    seconds: float = 0.0
    log: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As plain data, for metadata."""
        return {**self.__dict__, "log": list(self.log)}


def dwords_per_lane(spill_bytes: int, simd_size: int) -> int:
    """n_spills, as Triton counts them: dwords of each lane, rounded up."""
    return -(-spill_bytes // (4 * simd_size)) if simd_size else 0


def check(grf_mode: str, num_warps: int) -> None:
    """BadRequest for a register file that there is not, or that work-groups of so many warps cannot have."""
    if grf_mode not in GRF_FLAGS:
        raise BadRequest(f"grf_mode={grf_mode!r} is unknown; there are {', '.join(GRF_FLAGS)}")
    if grf_mode in _LARGE_MODES and num_warps > WARPS_WITH_LARGE_GRF:
        raise BadRequest(f"grf_mode={grf_mode!r} with num_warps={num_warps}: a work-group of more than "
                         f"{WARPS_WITH_LARGE_GRF} warps does not fit onto a core when each has the larger "
                         "register file; use fewer warps, or grf_mode='default'")


def flags_of(grf_mode: str) -> tuple[str, ...]:
    """The build options of a register file."""
    return (GRF_FLAGS[grf_mode],) if GRF_FLAGS[grf_mode] else ()


@dataclass(frozen=True)
class Built:
    """What came of one attempt: the build where it is usable, or the error."""

    attempt: Attempt
    build: Any = None
    error: NativeError | None = None


@dataclass(frozen=True)
class Outcome:
    """All attempts in their order, and the one to keep; None where none is usable."""

    tried: tuple[Built, ...]
    kept: Built | None

    @property
    def attempts(self) -> tuple[Attempt, ...]:
        return tuple(one.attempt for one in self.tried)

    @property
    def error(self) -> NativeError:
        """Of several failures the one that says most: the least scratch space that would have been needed, or
        else the first, which did not ask for anything special."""
        errors = [one.error for one in self.tried if one.error is not None]
        scratch = [error for error in errors if isinstance(error, ScratchExceeded)]
        return min(scratch, key=lambda error: error.required) if scratch else errors[0]


def best_of(build: Callable[[str], Built], grf_mode: str, num_warps: int,
            expected: str = "default") -> Outcome:
    """Make one build, or two, and keep the one with fewer spills; on a tie the one with the smaller register
    file.

    expected: "256" where that is likely to be the better one, so that it is tried first.
    `build` makes one attempt with a register file; a NativeError comes back as part of `Built`, so that a
    good build is not lost because another one failed.
    """
    check(grf_mode, num_warps)
    order = [grf_mode]
    if grf_mode == "default" and num_warps <= WARPS_WITH_LARGE_GRF:
        order = [LARGE, grf_mode] if expected == LARGE else [grf_mode, LARGE]
    tried = [build(order[0])]
    if len(order) > 1 and _worth_another(tried[0]):
        tried.append(build(order[1]))
    usable = [one for one in tried if one.error is None]
    kept = min(usable, key=lambda one: (one.attempt.spill_bytes, one.attempt.grf_count), default=None)
    return Outcome(tuple(tried), kept)


def _worth_another(first: Built) -> bool:
    """No second build where another register file cannot help: an unknown device, a wrong command line, a
    build that took too long."""
    if first.error is not None:
        return first.error.larger_grf_may_help
    return first.attempt.n_spills > TOLERATED_SPILLS


def registers_by(flags: str) -> int:
    """Registers of a thread where only the build options are known; 0 where those leave it open."""
    words = flags.split()
    return next((int(mode) for mode, flag in GRF_FLAGS.items() if mode.isdigit() and flag in words), 0)
