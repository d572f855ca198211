"""The driver's figures of a pipeline."""

from __future__ import annotations

import struct
from types import SimpleNamespace
from typing import Any

import pytest
from triton_spirv.runtime.vulkan import statistics
from triton_spirv.runtime.vulkan.structures import make


def fake(features: set[str], *entries: tuple[bytes, int, bytes]) -> Any:
    """A context whose driver counts these for the second of two executables."""
    def listed(name: str, structure: str, device: int, about: Any) -> list[Any]:
        if "Properties" in name:
            return [make(structure), make(structure)]
        if about._obj.executableIndex == 0:
            return []
        return [make(structure, name=label, format=form, value=struct.unpack("Q", value)[0])
                for label, form, value in entries]
    return SimpleNamespace(device=SimpleNamespace(features=features), handle=1,
                           api=SimpleNamespace(listed=listed))


ENTRIES = [(b"Register Count", 2, struct.pack("Q", 1 << 40)), (b"Delta", 1, struct.pack("q", -3)),
           (b"Share", 3, struct.pack("d", 0.25)), (b"Spills", 0, struct.pack("I4x", 1))]


def test_every_format(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(statistics.VARIABLE, "1")
    context = fake({"pipelineExecutableInfo"}, *ENTRIES)
    assert statistics.creation_flags(context) == statistics.CAPTURE
    assert statistics.statistics(context, 5) == {"Register Count": 1 << 40, "Delta": -3, "Share": 0.25,
                                                 "Spills": 1}


@pytest.mark.parametrize(("asked", "features"), [("0", {"pipelineExecutableInfo"}), ("1", set())])
def test_nothing_where_not_asked_for_or_not_had(monkeypatch: pytest.MonkeyPatch, asked: str,
                                               features: set[str]) -> None:
    monkeypatch.setenv(statistics.VARIABLE, asked)
    context = fake(features, *ENTRIES)
    assert statistics.creation_flags(context) == 0 and statistics.statistics(context, 5) == {}
