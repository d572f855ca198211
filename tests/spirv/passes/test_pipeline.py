"""Which passes over the function run for which target."""

from __future__ import annotations

import re

import pytest
import triton_spirv
from triton_spirv import inspection
from triton_spirv.spirv.passes.pipeline import NAMES
from triton_spirv.target import TARGETS, find_target

EVERYWHERE = ("definite-assignment", "needed-barriers")
PRESSURE, LANES, CONTRACTION, PHIS = "register-pressure", "convergence", "contraction", "separated-phis"
GPU = (*EVERYWHERE, PRESSURE, LANES)
NVIDIA = "lavapipe with NVIDIA's faults"
PINNED = {
    "cpu": EVERYWHERE,
    **dict.fromkeys(("cpu-simt", "cpu-simt8", "cpu-simt32"), (*EVERYWHERE, LANES, PHIS)),
    **dict.fromkeys(("pvc", "bmg", "dg2", "tgl"), GPU),
    **dict.fromkeys(("vulkan", "lavapipe"), (*EVERYWHERE, LANES, CONTRACTION)),
    NVIDIA: (*EVERYWHERE, LANES, "parted-conversions", "hidden-products", "parted-differences",
             "self-comparisons", CONTRACTION),
}
KERNEL = """
module {
  tt.func public @kernel(%p: !tt.ptr<f32>, %x: f32) {
    tt.store %p, %x : !tt.ptr<f32>
    tt.return
  }
}
"""


def passes(name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    target = find_target(name.partition(" ")[0])
    if name == NVIDIA:
        target = target.with_options(joins_conversions=True, knows_extensions=True, saturates=True,
                                     equals_itself=True)
    monkeypatch.setenv(inspection.VARIABLE, "verify, print")
    triton_spirv.compile(KERNEL, target)
    return re.findall(r"^; after (\S+)$", capsys.readouterr().err, re.MULTILINE)


@pytest.mark.parametrize("name", PINNED)
def test_the_passes_of_a_target(name: str, monkeypatch: pytest.MonkeyPatch,
                                capsys: pytest.CaptureFixture[str]) -> None:
    found = passes(name, monkeypatch, capsys)
    assert tuple(found) == PINNED[name]
    assert found == [each for each in NAMES if each in found]


def test_every_pass_runs_somewhere() -> None:
    assert {name for names in PINNED.values() for name in names} == set(NAMES)
    assert PINNED.keys() - {NVIDIA} <= TARGETS.keys()


def test_a_word_that_means_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(inspection.VARIABLE, "print:needed-barrier")
    with pytest.raises(triton_spirv.errors.UsageError, match="there are print, print:contraction, "):
        triton_spirv.compile(KERNEL, "cpu")
