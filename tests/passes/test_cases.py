"""Each pass by itself, in text: what it makes of a small kernel, and that every corpus kernel stays IR."""

from __future__ import annotations

import pytest
from passes.update import cases
from texts import Case
from triton_spirv import inspection
from triton_spirv.ir import parse
from triton_spirv.passes import pipeline
from triton_spirv.target import find_target


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.path.stem)
def test_case(case: Case) -> None:
    assert case.made() == case.expected, "python -m tests.passes.update writes it anew; read the difference"


def test_every_pass_has_a_case() -> None:
    assert {name for case in cases() for name in [each.name for each in pipeline.PASSES]
            if f"// pass: {name} " in case.source} == {each.name for each in pipeline.PASSES}


@pytest.mark.parametrize("target", ["cpu", "cpu-simt", "lavapipe"])
def test_every_operation_stays_ir(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernels that together have every operation: verified and read back behind each pass."""
    pytest.importorskip("triton")
    from ir.corpus import KERNELS, texts

    monkeypatch.setenv(inspection.VARIABLE, "verify, read-back")
    chosen = find_target(target)
    for name in KERNELS:
        text = texts(name).get("ttgir" if chosen.lanes else "ttir")
        if text is not None:
            pipeline.run_passes(parse(text), chosen, 4)
