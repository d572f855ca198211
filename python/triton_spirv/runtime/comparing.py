"""check=compiler: each launch is made twice, by the kernel as it is and by one without optimisations, on the
same memory, and what they have written is compared.

The optimisations leave the order of sums as it is, so results are compared bit for bit (NaN is NaN, and -0 is
0). Two things may differ. A multiplication and an addition that became one operation here and not there: then
both are compiled once more without such operations. And sums of what one instruction multiplies and adds
(REORDERING), or of what programs add to one place: those may be off by the number of their terms times the
rounding of the type, of the largest number of the array.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checking import Finding, report
from ..errors import LaunchError
from ..recordings import folder
from ..target import REORDERING
from .elements import coordinates, form, values
from .record import Recording

if TYPE_CHECKING:
    import numpy

    from ..artifact import Artifact
    from .launch import Launch

#: options of a launch -> the kernel compiled with them
Again = Callable[..., "Launch"]

#: half a unit in the last place, of the largest number below 2
ROUNDING = {"float16": 2.0 ** -11, "bfloat16": 2.0 ** -8, "float32": 2.0 ** -24, "float64": 2.0 ** -53}


@dataclass(frozen=True)
class Difference:
    """Of two results: the memory by its name in the recording, the first byte that differs, both values, how
    many elements differ."""

    memory: str
    byte: int
    wanted: Any
    found: Any
    count: int


def compared(launch: Launch, artifact: Artifact, words: bytes, device_kind: str, again: Again,
             terms_of: Callable[[int], int]) -> Launch:
    """A launch that compares each of its results. `again` compiles the kernel with other options; `terms_of`:
    by the number of programs, how many numbers a sum adds whose order is not fixed."""
    made: dict[tuple[tuple[str, str | bool], ...], Launch] = {}

    def other(**options: str | bool) -> Launch:
        key = tuple(options.items())
        if key not in made:
            made[key] = again(**options)
        return made[key]

    def checked(x: int, y: int, z: int, arguments: Sequence[Any]) -> None:
        try:
            taken = Recording(artifact, arguments) if x * y * z else None
        except LaunchError as error:
            raise LaunchError(f"{artifact.entry}: check=compiler compares host memory: {error}") from None
        if taken is None:
            return launch(x, y, z, arguments)
        grid = x, y, z

        def differs(reference: Launch, tried: Launch, terms: int = 0) -> Difference | None:
            reference(x, y, z, arguments)
            taken.finish()
            _restore(taken)
            tried(x, y, z, arguments)
            return _difference(taken, terms)

        reference = other(optimise="none")
        found = differs(reference, launch)
        if found is None:
            return None
        _restore(taken)
        if differs(reference, reference) is not None:
            return _again(taken, launch, grid, arguments)  # it depends on which program is first
        for optimise, terms in (("none", 0), (f"none,{','.join(REORDERING)}", 0),
                                ("none", terms_of(x * y * z))):
            _restore(taken)
            unfused = other(optimise=optimise, enable_fp_fusion=False)
            if differs(unfused, other(enable_fp_fusion=False), terms) is None:
                return _again(taken, launch, grid, arguments)
        _restore(taken)
        found = differs(reference, launch) or found
        parent = Path(folder() or tempfile.mkdtemp(prefix="triton-spirv-"))
        place = taken.write(parent, words, grid, device_kind)
        report([_finding(artifact, taken, found, arguments, place)])
        return None

    return checked


def _again(taken: Recording, launch: Launch, grid: tuple[int, int, int], arguments: Sequence[Any]) -> None:
    """What the user asked for, last."""
    _restore(taken)
    launch(*grid, arguments)


def _restore(taken: Recording) -> None:
    """Memory as it was before the launch."""
    for name, row in taken.memories.items():
        if row["written"]:
            before = taken.data[name]
            ctypes.memmove(row["address"], before.ctypes.data, before.nbytes)


def _difference(taken: Recording, terms: int) -> Difference | None:
    """Of what the memory holds from what was kept of the reference; sums of so many terms may be rounded
    otherwise."""
    import numpy

    for name, row in taken.memories.items():
        if not row["written"]:
            continue
        now = numpy.frombuffer(ctypes.string_at(row["address"], row["bytes"]), numpy.uint8)
        if numpy.array_equal(now, taken.data[f"{name}_after"]):
            continue
        wanted, found = values(taken.data[f"{name}_after"], row["dtype"]), values(now, row["dtype"])
        same = wanted == found
        if wanted.dtype.kind == "f":
            same |= numpy.isnan(wanted) & numpy.isnan(found)
            same |= _is_rounding(wanted, found, terms * ROUNDING.get(row["dtype"], 0.0))
        places = numpy.flatnonzero(~same)
        if places.size:
            first = int(places[0])
            return Difference(name, first * row["bytes"] // max(1, wanted.size), wanted[first].item(),
                              found[first].item(), int(places.size))
    return None


def _is_rounding(wanted: numpy.ndarray, found: numpy.ndarray, relative: float) -> numpy.ndarray:
    """Which elements differ by no more than a part of the largest number?"""
    import numpy

    finite = numpy.isfinite(wanted)
    largest = float(numpy.abs(wanted[finite]).max(initial=0.0)) if relative else 0.0
    with numpy.errstate(invalid="ignore", over="ignore"):
        return numpy.abs(wanted - found) <= relative * largest


def _finding(artifact: Artifact, taken: Recording, found: Difference, arguments: Sequence[Any],
             place: Path) -> Finding:
    row = taken.memories[found.memory]
    name = row["arguments"][0]
    number = next(i for i, parameter in enumerate(artifact.parameters) if parameter.name == name)
    argument, offset = arguments[number], taken.places[number]["offset"]
    size = max(1, getattr(argument, "itemsize", 0) or getattr(argument, "element_size", lambda: 1)())
    position = (found.byte - offset) // size
    index = coordinates(position, *form(argument))
    shown = ", ".join(map(str, index)) if index else str(position)
    file, _, line = artifact.place.rpartition(":")
    message = (f"the compiler's optimisations change what the kernel computes: {name}[{shown}] is "
               f"{found.found}, and {found.wanted} without them; {found.count} elements differ. This is a "
               f"defect of triton-spirv: please report it with the recording {place}, which `triton-spirv "
               "replay` repeats")
    return Finding("compiler", message, artifact.entry, file, int(line or 0), 1, (0, 0, 0), found.count, name,
                   index, row["address"] + found.byte)
