"""`Kernel`: what is compiled, and how the user wants it. It does not change while it is lowered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields

from ..dataclass import dataclass
from ..ir.model import Operation


@dataclass(frozen=True)
class Options:
    """Those of `triton_spirv.compile` that rules ask for, which says what they mean."""

    num_stages: int = 1
    block_io: bool = True
    overlapping: bool = False
    enable_fp_fusion: bool = True
    fast_math: bool = False
    print_copies: int = 1

    @staticmethod
    def of(given: Mapping[str, object]) -> Options:
        """Of all that a launch says, what is known here."""
        types = {"int": int, "bool": bool}
        return Options(**{each.name: types[str(each.type)](given[each.name])
                          for each in fields(Options) if each.name in given})


@dataclass(frozen=True)
class Kernel:
    """functions: of its module, by name; num_warps: that run a program together; axes: of the grid, along
    which programs ask for their place; has_atomics: has the module atomic operations? across: shapes of
    tensors that are accessed across their rows; stop_word: of the array of checks, by which the launcher ends
    loops; stops_rounds: counted ones, too."""

    functions: Mapping[str, Operation]
    options: Options = field(default_factory=Options)
    num_warps: int = 1
    axes: tuple[int, ...] = ()
    has_atomics: bool = False
    across: Mapping[tuple[int, ...], int] = field(default_factory=dict)
    stop_word: int | None = None
    stops_rounds: bool = False
