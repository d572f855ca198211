"""passes/pipeline.py: which passes run for which target, and what is checked and known behind them."""

from __future__ import annotations

import gc
import weakref

import pytest
from triton_spirv import inspection
from triton_spirv.errors import InternalError, UsageError
from triton_spirv.facts.axis import AxisFacts, axis_facts
from triton_spirv.ir import IntegerType, Module, Operation, parse
from triton_spirv.passes import pipeline
from triton_spirv.target import TARGETS, find_target

NARROW = "lavapipe without f16"
ALWAYS = ("simplify", "single-rounds")
ORDER, JOINED = "order-axes", "join-reductions"
RUNS, EARLY = "once-per-run", "early-addresses"
UNIT, TILES, AHEAD, BITS = "place-products", "place-tiles", "fetch-ahead", "float16-bits"
PINNED = {
    "cpu": ("simplify", ORDER, "single-rounds", JOINED, EARLY, RUNS),
    "cpu-simt": ALWAYS, "cpu-simt8": ALWAYS, "cpu-simt32": ALWAYS,
    "pvc": (*ALWAYS, UNIT, TILES), "bmg": (*ALWAYS, UNIT, TILES), "dg2": (*ALWAYS, UNIT, TILES),
    "tgl": (*ALWAYS, TILES),
    "vulkan": (*ALWAYS, TILES, AHEAD), "lavapipe": (*ALWAYS, TILES, AHEAD),
    NARROW: (*ALWAYS, TILES, AHEAD, BITS),
}
KERNEL = """
module {
  tt.func public @kernel(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %at = tt.addptr %base, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %x = tt.load %at : tensor<16x!tt.ptr<f32>>
    tt.store %at, %x : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
"""


def names(name: str) -> tuple[str, ...]:
    target = find_target(name.partition(" ")[0])
    if name == NARROW:
        assert target.capabilities is not None
        target = target.with_options(capabilities=target.capabilities - {"Float16"})
    return tuple(each.name for each in pipeline.pipeline_of(target))


@pytest.mark.parametrize("target", PINNED)
def test_the_passes_of_a_target(target: str) -> None:
    assert names(target) == PINNED[target]


def test_every_pass_runs_somewhere() -> None:
    run = {name for target in (*TARGETS, NARROW) for name in names(target)}
    assert run == {each.name for each in pipeline.PASSES}


def loses_a_use(module: Module, *_: object) -> None:
    next(op for op in module.walk() if op.name == "tt.load").operands[0].uses.clear()


def test_the_verifier_runs_behind_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "PASSES", (pipeline.Pass("forgetful", loses_a_use),))
    monkeypatch.setenv(inspection.VARIABLE, "")
    pipeline.run_passes(parse(KERNEL), find_target("cpu"), 1)
    monkeypatch.setenv(inspection.VARIABLE, "verify")
    with pytest.raises(InternalError, match=r"after pass forgetful: .*tt\.load"):
        pipeline.run_passes(parse(KERNEL), find_target("cpu"), 1)


def test_the_ir_is_printed_behind_a_pass(monkeypatch: pytest.MonkeyPatch,
                                         capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(inspection.VARIABLE, "print:single-rounds, read-back")
    pipeline.run_passes(parse(KERNEL), find_target("cpu"), 1)
    printed = capsys.readouterr().err
    assert printed.startswith("// after single-rounds\nmodule") and "simplify" not in printed
    assert [op.name for op in parse(printed).walk()] == [op.name for op in parse(KERNEL).walk()]


def test_facts_are_printed_behind_the_last_pass(monkeypatch: pytest.MonkeyPatch,
                                                 capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv(inspection.VARIABLE, "print:facts")
    pipeline.run_passes(parse(KERNEL), find_target("cpu"), 1)
    assert "contiguous 16" in capsys.readouterr().err


def test_a_word_that_means_nothing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(inspection.VARIABLE, "verfy")
    with pytest.raises(UsageError, match="unknown: verfy; there are print, print:early-addresses, "):
        pipeline.run_passes(parse(KERNEL), find_target("cpu"), 1)


def changes() -> dict[str, object]:
    """What a pass may do to an operation, by name."""
    def erase(op: Operation) -> None:
        op.erase()

    def replace(op: Operation) -> None:
        op.set_operand(1, op.operands[1])

    def attribute(op: Operation) -> None:
        op.set_attribute("ts.said", True)

    def retype(op: Operation) -> None:
        op.operands[1].retype(op.operands[1].type)

    def move(op: Operation) -> None:
        assert op.parent is not None
        op.parent.terminator.move_before(op)

    return {change.__name__: change for change in (erase, replace, attribute, retype, move)}


@pytest.mark.parametrize("change", changes().values(), ids=changes())
def test_facts_of_what_a_function_was_are_refused(change) -> None:
    module = parse(KERNEL)
    store = next(op for op in module.walk() if op.name == "tt.store")
    pointers = store.operands[0]
    facts = AxisFacts(module.entry)
    known = facts.of(pointers)
    assert known is not None and known.contiguity == (16,) and axis_facts(pointers) == known
    change(store)
    with pytest.raises(InternalError, match=r"facts of generation 0 of a function, which is at \d now"):
        facts.of(pointers)
    assert axis_facts(pointers) == known  # asked anew


def test_facts_asked_early_do_not_outlive_a_pass() -> None:
    """Whoever asks before the passes run gets no say in what is emitted."""
    module = parse(KERNEL)
    load = next(op for op in module.walk() if op.name == "tt.load")
    before = axis_facts(load.result)
    constant = Operation("arith.constant", [], {"value": 3}, [IntegerType(32)], ["c"])
    assert load.parent is not None
    load.parent.insert_before(load, constant)
    found = axis_facts(constant.result)
    assert before is not None and found is not None and found.constant == 3


def test_facts_live_no_longer_than_their_function() -> None:
    module = parse(KERNEL)
    assert axis_facts(next(op for op in module.walk() if op.name == "tt.load").result) is not None
    facts = weakref.ref(module.entry.facts)
    del module
    gc.collect()
    assert facts() is None
