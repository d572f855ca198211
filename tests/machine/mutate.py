"""The mutation run: `python -m tests.machine.mutate`. Kernels are emitted, and executed once as they are and
once without each of their barriers; a barrier that nobody misses is either not needed or a blind spot of the
machine. Those are listed with what stands around them.

    python -m tests.machine.mutate --modes machine-pvc,machine-vulkan32 --warps 4,8 --cases product,sort
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
os.environ.setdefault("TRITON_SPIRV_BACKEND", "1")

import torch
from triton_spirv.artifact import Artifact

from machine import hook, targets
from machine.launch import program_of

MODES = ("machine-pvc", "machine-dg2", "machine-tgl", "machine-vulkan32", "machine-vulkan64-8k",
         "machine-simt8")
BARRIERS = ("OpControlBarrier", "OpMemoryBarrier")


@dataclass
class Mutant:
    """A kernel without one barrier: `kinds` of findings, none if nobody missed it."""

    case: str
    mode: str
    warps: int
    line: int
    text: str
    kinds: tuple[str, ...]

    def __str__(self) -> str:
        found = ", ".join(self.kinds) or "NOT NOTICED"
        return f"{self.case}, {self.mode}, {self.warps} warps, line {self.line}: {self.text}: {found}"


def captured(case: str, mode: str, warps: int) -> tuple[Artifact, tuple[int, int, int], list[Any]]:
    """What Triton would launch."""
    from machine.corpus import CASES

    kernel, grid, arguments = CASES[case]
    launches: list[tuple[Artifact, tuple[int, int, int], list[Any]]] = []
    kernel.device_caches.clear()
    before = {name: os.environ.pop(name, None) for name in ("TRITON_SPIRV_TARGET", "TRITON_SPIRV_DEVICE")}
    os.environ.update(targets.MODES[mode])
    torch.manual_seed(0)
    try:
        with hook.installed(lambda artifact, grid, values: launches.append((artifact, grid, list(values)))):
            kernel[(grid,)](*arguments(), num_warps=warps)
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        kernel.device_caches.clear()
    return launches[0]


def mutants(case: str, mode: str, warps: int, orders: int = 3) -> Iterator[Mutant]:
    """One for each barrier of the kernel; AssertionError where the kernel itself has findings."""
    artifact, grid, values = captured(case, mode, warps)
    held = [value.clone() if isinstance(value, torch.Tensor) else value for value in values]

    def findings(without: frozenset[int]) -> Any:
        for value, start in zip(values, held, strict=True):
            if isinstance(value, torch.Tensor):
                value.copy_(start)
        return hook.execute(artifact, grid, values, orders, without)

    whole = findings(frozenset())
    assert not whole, f"{case}, {mode}, {warps} warps: {whole}"
    program = program_of(artifact.words)
    for number, it in enumerate(program.body):
        if it.name in BARRIERS:
            place = program.places[number]
            found = findings(frozenset([number]))
            yield Mutant(case, mode, warps, place.line, place.text, tuple(sorted(found.kinds)))


def summary(made: Sequence[Mutant]) -> str:
    """How many were noticed, and those that were not."""
    missed = [mutant for mutant in made if not mutant.kinds]
    lines = [str(mutant) for mutant in missed]
    return "\n".join([*lines, f"{len(made) - len(missed)} of {len(made)} removed barriers were noticed"])


def main() -> int:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--modes", default=",".join(MODES))
    parser.add_argument("--warps", default="4")
    parser.add_argument("--cases", default="")
    parser.add_argument("--orders", type=int, default=3)
    arguments = parser.parse_args()
    from machine.corpus import CASES

    made: list[Mutant] = []
    for mode in arguments.modes.split(","):
        for warps in map(int, arguments.warps.split(",")):
            for case in arguments.cases.split(",") if arguments.cases else CASES:
                try:
                    found = list(mutants(case, mode, warps, arguments.orders))
                except (AssertionError, Exception) as error:
                    print(f"{case}, {mode}, {warps} warps: {type(error).__name__}: {str(error)[:2000]}")
                    continue
                made += found
                noticed = sum(bool(mutant.kinds) for mutant in found)
                print(f"{case}, {mode}, {warps} warps: {noticed} of {len(found)}", flush=True)
    print(summary(made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
