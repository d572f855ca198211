"""A process of the long run: some kernels of one mode, a line of JSON for the beginning and the end of each.

The kernel being run is always in a file, so that a process that dies leaves it behind."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import family
from conftest import machine_hook
from machine.targets import PREFIX
from versions import TRITON

from property.modes import INTERPRETER, environment, lanes_of, without_check
from property.reduction import reduced
from property.shrink import Choices, shrunk
from property.standalone import standalone

STEPS = 6
#: what Triton's interpreter says of kernels that it has no meaning for
INTERPRETER_LACKS = (
    "mask has unsupported dtype",  # an i1 that was loaded
    "'int' object has no attribute",  # a plain number where Triton takes a scalar
    "must be 16-byte aligned",  # starts of descriptors
    "Unsupported data type",  # of atomics
)

#: the version of Triton that kernels are written for; older ones lack functions, and fail at some themselves
NEWEST = (3, 9)


def program_of(number: int, given: list[int] | None = None, mode: str = "vector") -> tuple[Any, Choices]:
    """Kernel `number` of the mode; or what other draws make."""
    import numeric

    from property.strategy import Programs

    choices = Choices(given or [], None if given is not None else random.Random(number))
    programs = Programs(choices, lanes_of(mode), mode.startswith(PREFIX))
    if mode == INTERPRETER:
        # it computes on the bits of these as if they were integers, and rounds denormals and what is beyond
        # the range wrongly toward zero
        programs.without = ("bf16", *numeric.FP8, "rtz")
    return programs.build(STEPS), choices


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
    program, choices = program_of(number, given, mode)
    return {"draws": choices.made, **result_of(program, number, mode, current)}


def result_of(program: Any, number: int, mode: str, current: Path) -> dict[str, Any]:
    from property.launch import Disagreement, check

    text = describe(program)
    current.write_text(text)
    made = {"kernel": number, "program": program, "text": text}
    try:
        checks = check(program, variants_of(number, program, mode),
                       order_is_open=without_check(mode) != "vector")
    except Disagreement as error:
        return {**made, "result": "disagreed", "why": str(error), "signature": "Disagreement"}
    except Exception as error:
        lines = str(error).splitlines() or [""]
        name = type(error).__name__
        if mode == INTERPRETER and any(lack in str(error) for lack in INTERPRETER_LACKS):
            return {**made, "result": "refused", "why": lines[-1]}
        of_triton = name == "CompilationError" or "PassManager::run failed" in str(error)
        if of_triton and TRITON < NEWEST:
            return {**made, "result": "refused", "why": f"Triton {TRITON[0]}.{TRITON[1]}: {lines[-1]}"}
        refused = mode.startswith(PREFIX) and (name == "Unsupported" or "has no 64-bit floats" in str(error))
        if refused:
            return {**made, "result": "refused", "why": lines[-1]}
        signature = f"{name}: {re.sub(r'[0-9]+', '', lines[-1])[:100]}"
        return {**made, "result": "failed", "why": f"{name}: {error}"[-3000:], "signature": signature}
    return {**made, "result": "agreed", "checks": checks}


def describe(program: Any) -> str:
    buffers = "".join(f"# {b}\n" for b in program.buffers)
    spread = f"grid={program.grid} tile={program.tile} num_warps={program.warps}"
    return f"{program.source()}\n\n{buffers}# {program.scalars} {spread}\n"


def _entry(found: dict[str, Any], mode: str) -> dict[str, Any]:
    """What a log keeps of a kernel."""
    return {**{k: v for k, v in found.items() if k not in ("text", "draws", "program")}, "mode": mode}


def shrink(found: dict[str, Any], mode: str, path: Path, seconds: float, current: Path) -> dict[str, Any]:
    """The smallest kernel that still fails in the same way: fewer and smaller draws, then fewer steps.

    Each is written to the path, since the next may end the process."""
    smallest, number = found, found["kernel"]

    def keep(again: dict[str, Any]) -> bool:
        nonlocal smallest
        if again["result"] == found["result"] and again["signature"] == found["signature"]:
            smallest = {**smallest, **again}
            write(smallest, mode, path)
            return True
        return False

    def fails(draws: list[int]) -> bool:
        try:
            again = outcome(number, mode, current, draws)
        except Exception:  # these draws make no program
            return False
        return keep(again)

    shrunk(found["draws"], fails, seconds / 2)
    reduced(smallest["program"], lambda program: keep(result_of(program, number, mode, current)), seconds / 2)
    return smallest


def write(found: dict[str, Any], mode: str, path: Path) -> None:
    how = f"Kernel {found['kernel']}: python -m tests.property.run --modes {mode} --only {found['kernel']}"
    path.write_text(standalone(found["program"], found["why"][-3000:], how, environment(mode)))


def run_all(arguments: argparse.Namespace, current: Path) -> None:
    """The kernels that the arguments ask for, their reports to stdout; the first one however late it is."""
    for number in range(arguments.first, arguments.first + arguments.count):
        if number != arguments.first and time.time() > arguments.deadline:
            break
        print(json.dumps({"begin": number}), flush=True)
        found = outcome(number, arguments.mode, current)
        if found["result"] in ("disagreed", "failed"):
            path = arguments.out / f"{found['result']}-{arguments.mode}-{number}.py"
            write(found, arguments.mode, path)
            found["file"] = path.name
            # shrinking may end the process
            print(json.dumps({"found": _entry(found, arguments.mode)}), flush=True)
            found = shrink(found, arguments.mode, path, arguments.shrink_seconds, current)
        print(json.dumps(_entry(found, arguments.mode)), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", default="vector")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--out", type=Path, default=Path("generated"))
    parser.add_argument("--current", type=Path, help="file for the kernel that is being run")
    parser.add_argument("--shrink-seconds", type=float, default=60)
    parser.add_argument("--deadline", type=float, default=float("inf"), help="no kernel after this time()")
    arguments = parser.parse_args()
    os.environ.update(environment(arguments.mode))
    if without_check(arguments.mode) == family.NARROW:
        family.add_narrow(os.environ["TRITON_SPIRV_DEVICE"])
    current = arguments.current or arguments.out / f"current-{arguments.mode}.py"
    with machine_hook(arguments.mode):
        run_all(arguments, current)
    current.unlink(missing_ok=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
