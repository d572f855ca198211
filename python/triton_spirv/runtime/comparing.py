"""check=compiler: each launch is made twice, by the kernel as it is and by one without optimisations, on the
same memory, and what they have written is compared.

The optimisations leave the order of sums as it is, so results are compared bit for bit (NaN is NaN, and -0 is
0). Four things may differ:

- A multiplication and an addition that became one operation here and not there: then both are compiled once
  more without such operations.
- Sums of what one instruction multiplies and adds (REORDERING), and others (REORDERED). Then the reference
  gets those instructions, too, the kernel goes without the others, and the sums themselves are compared in a
  second launch, whose operands are small integers (facts/sums.py): their sums are exact in any order, so
  there is no allowance.
- What is folded along an axis, where the order shows (floats, argmax) and a block's axes have another one.
  Then the reference has that order, too: a mistake in it would not be found in such a kernel.
- What programs add to one place of memory, in any order. Of n numbers added to x, both results are within
  gamma(n) * (|x| + the sum of their magnitudes) of the exact one, gamma(n) = n u / (1 - n u), u half a unit
  in the last place: Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., (4.4) to (4.6). Both n
  and the sum are counted, for each element, by launches that add 1, and magnitudes.
"""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..checking import Finding, report, require_settings
from ..dataclass import dataclass
from ..errors import LaunchError
from ..recordings import folder
from ..target import REFERENCE, REFERENCE_OF_FOLDS, REORDERED, REORDERING
from .elements import coordinates, form, item_bytes, values
from .record import Recording

if TYPE_CHECKING:
    import numpy

    from ..artifact import Artifact
    from .launch import Launch

#: options of a launch -> the kernel compiled with them; without: what its optimisations are to leave out, too
Again = Callable[..., "Launch"]

#: memory by its name -> how far results may differ, for each element
Bounds = dict[str, "numpy.ndarray"]

#: how often a difference must be there again: that of the order of programs comes and goes
REPEATED = 3

#: half a unit in the last place, of the largest number below 2
ROUNDING = {"float16": 2.0 ** -11, "bfloat16": 2.0 ** -8, "float32": 2.0 ** -24, "float64": 2.0 ** -53}


@dataclass(frozen=True)
class Sums:
    """What facts/sums.py says of a kernel: does it sum products of floats, can these sums be made exact, to
    which arguments' memory does it only add floats, does the order of a fold along an axis show."""

    products: bool
    exact: bool
    added: frozenset[int]
    folds: bool


@dataclass(frozen=True)
class Difference:
    """Of two results: the memory by its name in the recording, the first byte that differs, both values, how
    many elements differ."""

    memory: str
    byte: int
    wanted: int | float
    found: int | float
    count: int


def compared(launch: Launch, artifact: Artifact, words: bytes, device_kind: str, again: Again,
             sums: Callable[[], Sums]) -> Launch:
    """A launch that compares each of its results. `again` compiles the kernel with other options; `sums` says
    which of its sums have no fixed order."""
    made: dict[tuple[tuple[str, str | bool], ...], Launch] = {}

    def other(**options: str | bool) -> Launch:
        key = tuple(options.items())
        if key not in made:
            made[key] = again(**options)
        return made[key]

    def checked(x: int, y: int, z: int, arguments: Sequence[object]) -> None:
        require_settings()
        try:
            taken = Recording(artifact, arguments) if x * y * z else None
        except LaunchError as error:
            raise LaunchError(f"{artifact.entry}: check=compiler compares host memory: {error}") from None
        if taken is None:
            return launch(x, y, z, arguments)
        grid = x, y, z
        bounds: Bounds = {}

        def differs(reference: Launch, tried: Launch) -> Difference | None:
            _restore(taken)
            reference(x, y, z, arguments)
            taken.finish()
            _restore(taken)
            tried(x, y, z, arguments)
            return _difference(taken, bounds)

        plain = REFERENCE
        reference = other(optimise=plain)
        if differs(reference, launch) is None:
            return None
        known = sums()
        if known.folds:
            plain = REFERENCE_OF_FOLDS
            reference = other(optimise=plain)
            if differs(reference, launch) is None:
                return None
        bounds = _bounds(taken, known, grid, arguments, other, plain)
        if differs(reference, reference) is not None:
            return _again(taken, launch, grid, arguments)  # it depends on which program is first
        pair = other(optimise=plain, enable_fp_fusion=False), other(enable_fp_fusion=False)
        found = differs(*pair)
        if found is not None and known.products:
            pair = (other(optimise=",".join((plain, *REORDERING)), enable_fp_fusion=False),
                    other(without=" ".join(f"-{name}" for name in REORDERED), enable_fp_fusion=False))
            found = differs(*pair)
            if found is None and known.exact:
                bounds = _bounds(taken, known, grid, arguments, other, plain, "exact+") if bounds else bounds
                pair = (other(optimise=plain, enable_fp_fusion=False, compared="exact"),
                        other(enable_fp_fusion=False, compared="exact"))
                found = differs(*pair)
        for _ in range(REPEATED):  # by chance the references may have had one order of programs, this another
            found = found and differs(*pair)
        if found is None:
            return _again(taken, launch, grid, arguments)
        found = differs(reference, launch) or found
        parent = Path(folder() or tempfile.mkdtemp(prefix="triton-spirv-"))
        place = taken.write(parent, words, grid, device_kind)
        report([_finding(artifact, taken, found, arguments, place)])
        return None

    return checked


def _bounds(taken: Recording, known: Sums, grid: tuple[int, int, int], arguments: Sequence[object],
            other: Callable[..., Launch], plain: str, exact: str = "") -> Bounds:
    """How far two results may differ, for each element of the memory that programs only add to. `plain`: the
    reference's optimisations; `exact`: of the kernel in that form, too."""
    import numpy

    names = {parameter.name for i, parameter in enumerate(taken.artifact.parameters) if i in known.added}
    added = {name: row for name, row in taken.memories.items()
             if row["written"] and row["dtype"] in ROUNDING and names >= set(row["arguments"])}
    if not added:
        return {}
    found: list[dict[str, numpy.ndarray]] = []
    for what in ("magnitudes", "counts"):
        _restore(taken)
        for name, row in added.items():
            signless = _bits(taken.data[name], row["dtype"]) & _below_sign(row["dtype"])
            start = signless if what == "magnitudes" else numpy.zeros_like(signless)
            ctypes.memmove(row["address"], start.ctypes.data, start.nbytes)
        other(optimise=plain, enable_fp_fusion=False, compared=exact + what)(*grid, arguments)
        found.append({name: values(_now(row), row["dtype"]).astype(numpy.float64)
                      for name, row in added.items()})
    bounds = {}
    for name, row in added.items():
        magnitudes, counts = (each[name] for each in found)
        part = counts * ROUNDING[row["dtype"]]
        gamma = part / numpy.maximum(1 - part, 2.0 ** -60)
        # the magnitudes are a sum of that kind themselves; one of so many terms that nothing is known says so
        bounds[name] = numpy.where(part < 0.25, 2 * gamma / numpy.maximum(1 - gamma, 0.5) * magnitudes,
                                   numpy.inf)
    return bounds


def _bits(memory: numpy.ndarray, dtype: str) -> numpy.ndarray:
    """Floats as unsigned integers of their size."""
    size = values(memory[:0], dtype).itemsize if dtype != "bfloat16" else 2
    return memory[:memory.size // size * size].view(f"u{size}")


def _below_sign(dtype: str) -> int:
    """All bits of a float but its sign."""
    import numpy

    return (1 << (8 * _bits(numpy.zeros(8, numpy.uint8), dtype).itemsize - 1)) - 1


def _now(row: Mapping[str, Any]) -> numpy.ndarray:
    """The bytes of a memory."""
    import numpy

    return numpy.frombuffer(ctypes.string_at(row["address"], row["bytes"]), numpy.uint8)


def _again(taken: Recording, launch: Launch, grid: tuple[int, int, int], arguments: Sequence[object]) -> None:
    """What the user asked for, last."""
    _restore(taken)
    launch(*grid, arguments)


def _restore(taken: Recording) -> None:
    """Memory as it was before the launch."""
    for name, row in taken.memories.items():
        if row["written"]:
            before = taken.data[name]
            ctypes.memmove(row["address"], before.ctypes.data, before.nbytes)


def _difference(taken: Recording, bounds: Bounds) -> Difference | None:
    """Of what the memory holds from what was kept of the reference."""
    import numpy

    for name, row in taken.memories.items():
        if not row["written"]:
            continue
        now = _now(row)
        if numpy.array_equal(now, taken.data[f"{name}_after"]):
            continue
        wanted, found = values(taken.data[f"{name}_after"], row["dtype"]), values(now, row["dtype"])
        same = wanted == found
        if wanted.dtype.kind == "f":
            same |= numpy.isnan(wanted) & numpy.isnan(found)
            if name in bounds:
                with numpy.errstate(invalid="ignore", over="ignore"):
                    distance = numpy.abs(wanted.astype(numpy.float64) - found.astype(numpy.float64))
                same |= (distance <= bounds[name]) | numpy.isinf(bounds[name])
        places = numpy.flatnonzero(~same)
        if places.size:
            first = int(places[0])
            return Difference(name, first * row["bytes"] // max(1, wanted.size), wanted[first].item(),
                              found[first].item(), int(places.size))
    return None


def _finding(artifact: Artifact, taken: Recording, found: Difference, arguments: Sequence[object],
             place: Path) -> Finding:
    row = taken.memories[found.memory]
    name = row["arguments"][0]
    number = next(i for i, parameter in enumerate(artifact.parameters) if parameter.name == name)
    argument, offset = arguments[number], taken.places[number]["offset"]
    position = (found.byte - offset) // max(1, item_bytes(argument))
    index = coordinates(position, *form(argument))
    shown = ", ".join(map(str, index)) if index else str(position)
    file, _, line = artifact.place.rpartition(":")
    message = (f"the compiler's optimisations change what the kernel computes: {name}[{shown}] is "
               f"{found.found}, and {found.wanted} without them; {found.count} elements differ. This is a "
               f"defect of triton-spirv: please report it with the recording {place}, which `triton-spirv "
               "replay` repeats")
    return Finding("compiler", message, artifact.entry, file, int(line or 0), 1, (0, 0, 0), found.count, name,
                   index, row["address"] + found.byte)
