"""How an access moves its elements is decided once, however many versions of a walk make it."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import triton_spirv
from triton_spirv.lower.addresses import transfers
from triton_spirv.lower.addresses.transfers import Transfers

#: a masked load and its store, walked in two layouts, one of them in a hot and a cold version
COPY = runpy.run_path(str(Path(__file__).parents[2] / "tools" / "count_calls.py"))["COPY"]


def test_each_access_is_decided_once_for_each_layout(monkeypatch: pytest.MonkeyPatch) -> None:
    decided: Counter[Any] = Counter()
    runs: Counter[Any] = Counter()
    decide, run_length = Transfers._decided, transfers.run_length

    def counted(self: Transfers, op: Any, ptr: Any, mask: Any, layout: Any) -> Any:
        decided[op.name, layout] += 1
        return decide(self, op, ptr, mask, layout)

    def counted_run(pointers: Any, layout: Any) -> int:
        runs[pointers, layout] += 1
        return run_length(pointers, layout)

    monkeypatch.setattr(Transfers, "_decided", counted)
    monkeypatch.setattr(transfers, "run_length", counted_run)
    made = triton_spirv.compile(COPY, "cpu")
    assert made.plan.count("load") > 2 and made.plan.count("store") > 2
    assert {name for name, _ in decided} == {"tt.load", "tt.store"}
    assert len(decided) == 4 and set(decided.values()) == {1}
    assert len(runs) == 4 and set(runs.values()) == {1}
