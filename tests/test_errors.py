"""errors.py: what is refused, and what is a defect of the package, can be told apart by class."""

from __future__ import annotations

import dataclasses
import functools
import json
import pickle
import signal
from pathlib import Path
from typing import Any, NoReturn

import pytest
import triton_spirv
from triton_spirv.errors import InternalError, LoweringError
from triton_spirv.lower.registry import RULES
from triton_spirv.tools import spirv_tools

TEXT = """
#loc = loc("kernel.py":7:3)
module {
  tt.func public @copy(%p: !tt.ptr<f32>) {
    %x = tt.load %p : !tt.ptr<f32> loc(#loc)
    tt.store %p, %x : !tt.ptr<f32>
    tt.return
  }
}
"""
PLACE = r"kernel\.py:7:3: tt\.load on !tt\.ptr<f32>"


def broken(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """The rule of tt.load raises this."""

    def rule(*arguments: Any) -> NoReturn:
        raise error

    monkeypatch.setitem(RULES, "tt.load", dataclasses.replace(RULES["tt.load"], function=rule))


@pytest.mark.parametrize("cause", [KeyError("x"), AssertionError("never"), TypeError("wants a Value"),
                                   ZeroDivisionError()])
def test_what_a_rule_stumbles_over_is_a_defect(monkeypatch: pytest.MonkeyPatch, cause: Exception) -> None:
    broken(monkeypatch, cause)
    monkeypatch.delenv("TRITON_SPIRV_RECORD", raising=False)
    with pytest.raises(InternalError, match=f"{PLACE}: {type(cause).__name__}") as caught:
        triton_spirv.compile(TEXT)
    assert caught.value.__cause__ is cause
    assert "not of your kernel" in str(caught.value) and "TRITON_SPIRV_RECORD" in str(caught.value)


def test_a_defect_outside_of_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*arguments: object) -> NoReturn:
        raise IndexError("outside")

    monkeypatch.setattr("triton_spirv.compiler.run_passes", fails)
    with pytest.raises(InternalError, match="IndexError: outside") as caught:
        triton_spirv.compile(TEXT)
    assert isinstance(caught.value.__cause__, IndexError)


def test_recursion_without_end_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*arguments: Any) -> Any:
        return endless(*arguments)

    monkeypatch.setitem(RULES, "tt.load", dataclasses.replace(RULES["tt.load"], function=endless))
    with pytest.raises(InternalError, match="RecursionError"):
        triton_spirv.compile(TEXT)


@pytest.mark.parametrize("target", ["cpu", "cpu-simt", "vulkan"])
def test_deep_control_flow(target: str) -> None:
    """Two hundred `elif`."""
    depth = 200
    inside = "".join(f"%b{i} = arith.cmpi eq, %n, %c{i} : i32\nscf.if %b{i} {{\n"
                     f"tt.store %p, %c{i} : !tt.ptr<i32>\n}} else {{\n" for i in range(depth))
    constants = "".join(f"%c{i} = arith.constant {i} : i32\n" for i in range(depth))
    text = ("module {\ntt.func public @k(%p: !tt.ptr<i32>, %n: i32) {\n" + constants + inside + "}\n" * depth
            + "tt.return\n}\n}")
    artifact = triton_spirv.compile(text, target)
    spirv_tools.validate(artifact.words, "vulkan1.3" if target == "vulkan" else None)


def test_a_defect_is_recorded(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    broken(monkeypatch, KeyError("x"))
    monkeypatch.setenv("TRITON_SPIRV_RECORD", str(tmp_path / "recorded"))
    with pytest.raises(InternalError) as caught:
        triton_spirv.compile(TEXT, "cpu", num_warps=2)
    place = tmp_path / "recorded" / "0001-copy"
    assert str(place) in str(caught.value)
    assert (place / "kernel.ttir").read_text() == TEXT
    facts = json.loads((place / "compile.json").read_text())
    assert facts["target"] == "cpu" and facts["options"] == {"num_warps": 2} and "KeyError" in facts["error"]


def test_a_folder_that_cannot_be_written_hides_nothing(monkeypatch: pytest.MonkeyPatch,
                                                       tmp_path: Path) -> None:
    broken(monkeypatch, KeyError("x"))
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TRITON_SPIRV_RECORD", str(tmp_path / "file"))
    with pytest.raises(InternalError, match=PLACE):
        triton_spirv.compile(TEXT)


def test_a_refusal_gets_its_place_once(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, LoweringError("no such layout"))
    with pytest.raises(LoweringError, match=f"^{PLACE}: no such layout$"):
        triton_spirv.compile(TEXT)
    broken(monkeypatch, LoweringError("no such layout", "elsewhere.py:1:1: tt.dot"))
    with pytest.raises(LoweringError, match=r"^elsewhere\.py:1:1: tt\.dot: no such layout$"):
        triton_spirv.compile(TEXT)


def test_memory_that_runs_out_is_not_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    broken(monkeypatch, MemoryError())
    with pytest.raises(MemoryError):
        triton_spirv.compile(TEXT)


class Late(Exception):
    """What a user's handler raises."""


class Watch:
    def handler(self, signum: int, frame: Any) -> NoReturn:
        self.late()

    def late(self) -> NoReturn:
        raise Late


def plain(signum: int, frame: Any) -> NoReturn:
    raise TimeoutError("too long")


def of_any(*arguments: Any) -> NoReturn:
    raise Late


@pytest.mark.parametrize("handler, kind", [(plain, TimeoutError), (Watch().handler, Late), (of_any, Late),
                                           (functools.partial(of_any, 5), Late)])
@pytest.mark.parametrize("within", ["a rule", "a pass"])
def test_what_a_signal_handler_raises_passes_through(monkeypatch: pytest.MonkeyPatch, handler: Any,
                                                     kind: type[Exception], within: str) -> None:
    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGUSR1)
        return None

    if within == "a rule":
        rule = dataclasses.replace(RULES["tt.load"], function=interrupted)
        monkeypatch.setitem(RULES, "tt.load", rule)
    else:
        monkeypatch.setattr("triton_spirv.compiler.run_passes", interrupted)
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(kind):
            triton_spirv.compile(TEXT)
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("error", [InternalError("m", "folder"), LoweringError("m", "place")])
def test_errors_cross_processes(error: Exception) -> None:
    """Worker processes hand them back."""
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error) and str(again) == str(error)
