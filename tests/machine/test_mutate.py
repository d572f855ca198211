"""Barriers that are taken away are missed: a sample of the mutation run."""

from __future__ import annotations

import pytest

from machine.mutate import Mutant, mutants, summary


@pytest.mark.parametrize("case, mode", [("argmax", "machine-pvc"), ("histogram", "machine-vulkan32"),
                                        ("in place", "machine-pvc"), ("in place", "machine-vulkan32")])
def test_removed_barriers_are_noticed(case: str, mode: str) -> None:
    made = list(mutants(case, mode, 4))
    assert len(made) >= 2
    assert all(mutant.kinds for mutant in made), summary(made)


def test_summary() -> None:
    noticed = Mutant("a", "m", 4, 7, "OpControlBarrier", ("data-race",))
    missed = Mutant("b", "m", 4, 9, "OpControlBarrier", ())
    assert summary([noticed, missed]).splitlines() == [
        "b, m, 4 warps, line 9: OpControlBarrier: NOT NOTICED", "1 of 2 removed barriers were noticed"]
