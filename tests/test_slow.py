"""slow.py: a warning where a step of others, Triton's passes, takes long."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable

import pytest
from triton_spirv.slow import SlowCompilation, watched


def until_told(told: list[warnings.WarningMessage]) -> Callable[..., None]:
    """A step that ends when a warning has come."""
    def step(*_: object) -> None:
        end = time.monotonic() + 60
        while not told and time.monotonic() < end:
            time.sleep(0.001)
    return step


def test_a_step_of_others_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_COMPILE_SECONDS", "0.01")
    with pytest.warns(SlowCompilation) as told, watched(lambda: "somebody has worked", "do without"):
        until_told(told.list)()
    assert str(told[0].message) == ("somebody has worked for more than 0.01 s; do without "
                                    "(TRITON_SPIRV_COMPILE_SECONDS sets the time, 0 for no warning)")


@pytest.mark.parametrize("seconds", ("0", "60"))
def test_a_quick_step_says_nothing(seconds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_COMPILE_SECONDS", seconds)
    before = threading.active_count()
    with warnings.catch_warnings(record=True) as told, watched(lambda: "nobody", ""):
        time.sleep(0.01)
    assert not told and threading.active_count() == before


def test_passes_of_triton_that_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the kernel and its place. In Triton 3.9 a pass on layouts goes round for ever in some loops."""
    stages = pytest.importorskip("triton_spirv_backend.stages")
    pipeline = object.__new__(stages.Pipeline)
    pipeline.source = """
#loc = loc("kernel.py":7:0)
module {
  tt.func public @turned() { tt.return }  loc(#loc)
} loc(#loc)
"""
    monkeypatch.setenv("TRITON_SPIRV_COMPILE_SECONDS", "0.01")
    with pytest.warns(SlowCompilation) as told, watched(pipeline.in_passes, stages.WITHOUT_END):
        until_told(told.list)()
    assert str(told[0].message).startswith("Triton's passes on layouts have worked on turned (kernel.py:7")
    assert 'optimise="-layouts"' in str(told[0].message)
