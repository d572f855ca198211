"""A short run of tests/fuzz/run.py: mutated texts give an error for the user or a valid module, nothing else.

They are the same in each run, of the tests' seed; `python -m tests.fuzz.run` is the long run.
"""

from __future__ import annotations

import random
import time

import pytest

pytest.importorskip("triton")

from seed import SEED

from fuzz import seeds
from fuzz.check import Outcome, check
from fuzz.mutate import MUTATIONS, mutated

KERNELS = 6
TEXTS = 250  # for all targets together: about eight seconds
SECONDS = 60  # on a machine that is busy, fewer texts


def test_mutated_texts() -> None:
    from ir import corpus

    known = seeds.of_corpus(random.Random(SEED).sample(sorted(corpus.KERNELS), KERNELS))
    assert {one.target for one in known} == set(seeds.TARGETS)
    texts = [one.text for one in known]
    end, number, compiled = time.monotonic() + SECONDS, 0, 0
    while number < TEXTS and time.monotonic() < end:
        index, text = mutated(number, texts, SEED)
        outcome = check(text, known[index].target, validated=number % 8 == 0)
        assert not outcome.found, f"seed {SEED}, text {number} for {known[index].target}: {outcome}\n{text}"
        compiled += outcome.kind == "compiled"
        number += 1
    assert number > 10 and compiled, f"{number} texts, {compiled} of them compiled"


def test_texts_are_repeatable() -> None:
    texts = ["module {\n  tt.func public @k(%n: i32) {\n    tt.return\n  }\n}"] * 3
    found = [mutated(number, texts, 7) for number in range(200)]
    assert found == [mutated(number, texts, 7) for number in range(200)]
    assert len({text for _, text in found}) > 60


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_each_mutation_changes_something(mutation: object) -> None:
    text = ('#blocked = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [16]}>\n'
            '#blocked1 = #ttg.blocked<{sizePerThread = [2], threadsPerWarp = [16]}>\nmodule {\n'
            '  %0 = tt.make_range {end = 64 : i32} : tensor<64xi32, #blocked>\n'
            '  %1 = ttg.convert_layout %0 : tensor<64xi32, #blocked> -> tensor<64xi32, #blocked1>\n'
            '  %2 = arith.addi %1, %1 : tensor<64xi32, #blocked1>\n'
            '  %3 = arith.muli %2, %1 : tensor<64xi32, #blocked1>\n}')
    changed = 0
    for number in range(40):
        lines = text.split("\n")
        mutation(random.Random(number), lines, [text])  # type: ignore[operator]
        changed += "\n".join(lines) != text
    assert changed > 10


class _Oracle:
    """What the check says of a compiler that fails in a way of its own."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __call__(self, *arguments: object, **options: object) -> None:
        raise self.error


@pytest.mark.parametrize(("error", "kind"), [
    (KeyError("x"), "foreign"), (MemoryError(), "memory"), (RecursionError(), "foreign")])
def test_findings_are_noticed(monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str) -> None:
    monkeypatch.setattr("triton_spirv.compile", _Oracle(error), raising=False)
    assert check("", "cpu").kind == kind


def test_a_hang_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*arguments: object) -> None:
        while True:
            pass

    monkeypatch.setattr("triton_spirv.compile", endless, raising=False)
    assert check("", "cpu", seconds=0.2) == Outcome("hung", "", "more than 0.2 s")


def kernel(parameters: str, *operations: str) -> str:
    return "\n".join([f"module {{\n  tt.func public @k({parameters}) {{", *operations, "tt.return\n  }\n}"])


def called(symbol: str) -> str:
    """A function of i1 by a library's symbol."""
    return kernel("%x: i1", '%0 = tt.extern_elementwise %x {libname = "", libpath = "", pure = true, '
                  f'symbol = "{symbol}"}} : (i1) -> i1')


def computed(*operations: str) -> str:
    """%0, a block's scale, to %1, another."""
    type = "!tt.ptr<f8E8M0FNU>"
    return kernel(f"%p: {type}", f"%0 = tt.load %p : {type}", *operations, f"tt.store %p, %1 : {type}")


FOUND = {
    "a tensor of nothing": kernel("%x: tensor<4x>"),
    "a pointer to nothing": kernel("%x: !tt.ptr<>"),
    "a timeout of 32 bits": kernel("%p: !tt.ptr<i32>, %n: i32",
                                   "%0 = tt.atomic_poll acquire, gpu, %p, %n timeout %n "
                                   ": !tt.ptr<i32>, i32 -> i1"),
    "an index that is widened": kernel("%n: i32", "%0 = arith.extsi %n : i32 to index"),
    "integers wider than any register": kernel("%n: i32", "%0 = arith.extsi %n : i32 to i128"),
    "an index of four bits": kernel("%n: i32", "%0 = arith.index_cast %n : i32 to index",
                                    "%1 = arith.index_cast %0 : index to i4"),
    "integers of 24 bits": kernel("%x: f32", "%0 = arith.fptosi %x : f32 to i24"),
    "a logarithm of scales": computed("%1 = math.log %0 : f8E8M0FNU"),
    "a sum of scales": computed("%1 = arith.addf %0, %0 : f8E8M0FNU"),
    "scales converted": computed("%2 = arith.extf %0 : f8E8M0FNU to f32",
                                 "%1 = arith.truncf %2 : f32 to f8E8M0FNU"),
    **{symbol: called(symbol) for symbol in ("__nv_float2int_rn", "__nv_popc", "__nv_isnanf", "__nv_sinf")},
}


def test_a_block_that_nothing_reaches_stores_nothing() -> None:
    text = kernel("%p: !tt.ptr<i32>, %n: i32", "cf.br ^bb2", "^bb1:", "tt.store %p, %n : !tt.ptr<i32>",
                  "cf.br ^bb2", "^bb2:")
    assert check(text, "cpu", validated=True).kind == "compiled"


@pytest.mark.parametrize("target", ["cpu", "vulkan"])
@pytest.mark.parametrize("name", FOUND)
def test_what_was_found(target: str, name: str) -> None:
    outcome = check(FOUND[name], target, validated=True)
    assert not outcome.found and outcome.kind != "compiled", outcome
