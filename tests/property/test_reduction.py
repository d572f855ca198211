"""What fails becomes small, and a file of its own that says how many numbers are wrong."""

from __future__ import annotations

import os
from pathlib import Path

import prepared
import pytest

from property.modes import environment
from property.program import Program
from property.reduction import reduced, walk
from property.standalone import standalone
from property.steps import Access
from property.worker import program_of


@pytest.mark.parametrize("number", range(100, 103))
def test_a_program_keeps_what_the_failure_needs(number):
    """One store, of the buffer that it stores to last: what computes the value stays, in fewer steps."""
    program = program_of(number)[0]
    wanted = [s for _, s in walk(program.steps) if isinstance(s, Access) and s.value][-1].buffer

    def fails(smaller: Program) -> bool:
        return any(isinstance(s, Access) and s.value and s.buffer == wanted for _, s in walk(smaller.steps))

    small = reduced(program, fails, 20)
    assert fails(small)
    assert sum(1 for _ in walk(small.steps)) <= sum(1 for _ in walk(program.steps)) // 2
    assert set(small.evaluate()) == {b.name for b in small.own()}
    compile(small.source(), "kernel", "exec")


def integers(program: Program) -> list[str]:
    """The arguments of 32-bit integers that it stores to."""
    stored = {s.buffer for _, s in walk(program.steps) if isinstance(s, Access) and s.value}
    return [b.name for b in program.own() if b.name in stored and b.dtype == "i32"]


def test_the_file_of_a_program_of_nothing():
    """To which everything shrinks where whatever runs fails."""
    compile(standalone(Program(), "a reason", "a command", {}), "kernel", "exec")


@pytest.mark.parametrize("change, wrong", [(0, 0), (1, 1)])
def test_the_file_of_a_program_runs(change, wrong, tmp_path):
    """It launches the kernel and compares: with what is expected, or with one element of it changed."""
    program = next(p for p, _ in map(program_of, range(100)) if integers(p) and not p.tile)
    expected, name = program.evaluate(), integers(program)[0]
    expected[name].data[-1] += change
    program.evaluate = lambda: expected  # type: ignore[method-assign]
    path = Path(tmp_path, "kernel.py")
    path.write_text(standalone(program, "a reason", "a command", environment("vector")))
    done = prepared.run(path, imports=prepared.KERNELS,
                        environment={**os.environ, "TRITON_CACHE_DIR": str(tmp_path / "cache")})
    said = f"{name}: {wrong} of {len(expected[name].data)} wrong"
    assert said in done.stdout, done.stdout + done.stderr[-2000:]
