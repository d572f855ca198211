"""A process of the long run: some kernels of one mode, a line of JSON for the beginning and the end of each.

The kernel being run is always in a file, so that a process that dies leaves it behind."""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import family
from conftest import MODES

from property.shrink import Choices, shrunk

SIZES = (64, 1024, 32, 128, 64, 4096, 16, 256)  # elements of a tensor at most, in turn
#: Lanes hold every element of a tensor in registers: beyond this, compiling one kernel takes a minute.
LARGEST_FOR_LANES = 256
STEPS = 6
INTERPRETER = "interpreter"
#: what Triton's interpreter says of kernels that it has no meaning for
INTERPRETER_LACKS = (
    "mask has unsupported dtype",  # an i1 that was loaded
    "'int' object has no attribute",  # a plain number where Triton takes a scalar
    "must be 16-byte aligned",  # starts of descriptors
    "Unsupported data type",  # of atomics
)


def environment(mode: str) -> dict[str, str]:
    """The variables that select a mode, for a new process."""
    if mode == INTERPRETER:
        return {"TRITON_INTERPRET": "1"}
    return {"TRITON_SPIRV_BACKEND": "1", **MODES.get(mode, {"TRITON_SPIRV_TARGET": mode})}


def program_of(number: int, given: list[int] | None = None, mode: str = "vector") -> tuple[Any, Choices]:
    """Kernel `number`, the same in every mode but the interpreter's; or what other draws make of its size."""
    import numeric

    from property.strategy import Programs

    choices = Choices(given or [], None if given is not None else random.Random(number))
    programs = Programs(choices, SIZES[number % len(SIZES)])
    if mode == INTERPRETER:
        # it computes on the bits of these as if they were integers, and rounds denormals and what is beyond
        # the range wrongly toward zero
        programs.without = ("bf16", *numeric.FP8, "rtz")
    return programs.build(STEPS), choices


def runs(number: int, mode: str) -> bool:
    """Is this a kernel of the mode?"""
    return mode in ("vector", INTERPRETER) or SIZES[number % len(SIZES)] <= LARGEST_FOR_LANES


def variants_of(number: int, program: Any, mode: str) -> tuple[str, ...]:
    """One kernel in three is run once more, otherwise; a tiled one always in other tiles."""
    from property.launch import VARIANTS

    if mode == INTERPRETER:
        return ("block",) if program.tile else ()
    if program.tile:
        return ("block",)
    return (VARIANTS[number // 3 % 3],) if number % 3 == 0 else ()


def outcome(number: int, mode: str, current: Path, given: list[int] | None = None) -> dict[str, Any]:
    """Run one kernel: {"result": "agreed" | "disagreed" | "refused" | "failed", ...}."""
    from property.launch import Disagreement, check

    program, choices = program_of(number, given, mode)
    text = describe(program)
    current.write_text(text)
    made = {"kernel": number, "draws": choices.made, "text": text}
    try:
        checks = check(program, variants_of(number, program, mode), order_is_open=mode != "vector")
    except Disagreement as error:
        return {**made, "result": "disagreed", "why": str(error), "signature": "Disagreement"}
    except Exception as error:
        lines = str(error).splitlines() or [""]
        name = type(error).__name__
        if mode == INTERPRETER and any(lack in str(error) for lack in INTERPRETER_LACKS):
            return {**made, "result": "refused", "why": lines[-1]}
        if name == "OutOfResources" and mode != "vector":
            return {**made, "result": "refused", "why": lines[-1]}
        signature = f"{name}: {lines[-1][:100]}"
        return {**made, "result": "failed", "why": f"{name}: {error}"[-3000:], "signature": signature}
    return {**made, "result": "agreed", "checks": checks}


def describe(program: Any) -> str:
    buffers = "".join(f"# {b}\n" for b in program.buffers)
    spread = f"grid={program.grid} tile={program.tile} num_warps={program.warps}"
    return f"{program.source()}\n\n{buffers}# {program.scalars} {spread}\n"


def shrink(found: dict[str, Any], mode: str, current: Path, seconds: float) -> dict[str, Any]:
    """The smallest kernel that still fails in the same way."""
    smallest = found

    def fails(draws: list[int]) -> bool:
        nonlocal smallest
        try:
            again = outcome(found["kernel"], mode, current, draws)
        except Exception:  # these draws make no program
            return False
        if again["result"] == found["result"] and again["signature"] == found["signature"]:
            smallest = again
            return True
        return False

    shrunk(found["draws"], fails, seconds)
    return smallest


def write(found: dict[str, Any], path: Path) -> None:
    reason = "".join(f"# {line}\n" for line in found["why"].splitlines()[-40:])
    path.write_text(f"{found['text']}# draws: {found['draws']}\n{reason}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", default="vector")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--out", type=Path, default=Path("generated"))
    parser.add_argument("--shrink-seconds", type=float, default=60)
    arguments = parser.parse_args()
    os.environ.update(environment(arguments.mode))
    if arguments.mode == family.NARROW:
        family.add_narrow(os.environ["TRITON_SPIRV_DEVICE"])
    current = arguments.out / f"current-{arguments.mode}.py"
    for number in range(arguments.first, arguments.first + arguments.count):
        if not runs(number, arguments.mode):
            continue
        print(json.dumps({"begin": number}), flush=True)
        found = outcome(number, arguments.mode, current)
        if found["result"] in ("disagreed", "failed"):
            path = arguments.out / f"{found['result']}-{arguments.mode}-{number}.py"
            write(found, path)
            found = shrink(found, arguments.mode, current, arguments.shrink_seconds)
            write(found, path)
            found["file"] = path.name
        kept = {k: v for k, v in found.items() if k not in ("text", "draws")}
        print(json.dumps({**kept, "mode": arguments.mode}), flush=True)
    current.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
