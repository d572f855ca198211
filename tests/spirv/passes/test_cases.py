"""Each pass over a function by itself, in text; and what its verifier refuses."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from spirv.passes.loading import load
from spirv.passes.update import PASSES, cases, said
from texts import Case
from triton_spirv.errors import InternalError
from triton_spirv.spirv import Module
from triton_spirv.spirv.passes import pipeline
from triton_spirv.spirv.passes.graph import Graph, instruction
from triton_spirv.spirv.passes.verify import verify

LOOP = """
%entry = OpLabel
%x = OpLoad %i32 %p
OpBranch %100
%100 = OpLabel
%101 = OpPhi %i32 %n0 %entry %102 %103
%104 = OpSLessThan %bool %101 %n4
OpLoopMerge %105 %103 None
OpBranchConditional %104 %106 %105
%106 = OpLabel
OpSelectionMerge %107 None
OpBranchConditional %c %108 %107
%108 = OpLabel
%109 = OpIAdd %i32 %101 %x
OpStore %p %109
OpBranch %107
%107 = OpLabel
OpBranch %103
%103 = OpLabel
%102 = OpIAdd %i32 %101 %n1
OpBranch %100
%105 = OpLabel
OpStore %p %101
OpReturn
"""
#: Numbers of the blocks of LOOP.
HEADER, BODY, ARM, JOIN, CONTINUE, BEHIND = 1, 2, 3, 4, 5, 6


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.path.stem)
def test_case(case: Case) -> None:
    assert case.made() == case.expected, "python -m tests.spirv.passes.update writes it anew"


def test_every_pass_has_a_case() -> None:
    assert {said(case.source)["pass"] for case in cases()} == PASSES.keys() >= set(pipeline.NAMES)


def test_what_a_graph_knows() -> None:
    module, function, ids = load(LOOP)
    graph = Graph(module, function)
    follow = {block.number: [after.number for after in block.after] for block in graph.blocks}
    assert follow == {0: [1], 1: [2, 6], 2: [3, 4], 3: [4], 4: [5], 5: [1], 6: []}
    assert graph.dominators == [0, 0, 1, 2, 2, 4, 1] and graph.meeting(ARM, BEHIND) == HEADER
    assert graph.loops == {HEADER: CONTINUE} and graph.loops_around(ARM) == (HEADER,)
    assert [len(each.around) for each in graph.constructs] == [0, 1, 1, 2, 1, 1, 0]
    (loop,) = graph.constructs[BEHIND].ended
    assert loop.is_loop and loop.conditions == [ids[104]]
    assert [user[0] & 0xFFFF for user in graph.users[ids[101]]] == [
        instruction(name)[0] & 0xFFFF for name in ("OpSLessThan", "OpIAdd", "OpIAdd", "OpStore")]
    before = [list(words) for words in function.instructions]
    graph.write()
    assert function.instructions == before


def _drop(block: int, at: int) -> Callable[[Graph, dict[int, int], Module], None]:
    def plant(graph: Graph, ids: dict[int, int], module: Module) -> None:
        del graph.blocks[block].instructions[at]
    return plant


def _use_of_arm(graph: Graph, ids: dict[int, int], module: Module) -> None:
    graph.blocks[BEHIND].instructions[0] = instruction("OpStore", function_pointer(graph), ids[109])


def _late(graph: Graph, ids: dict[int, int], module: Module) -> None:
    code = graph.blocks[ARM].instructions
    code[0], code[1] = code[1], code[0]


def _twice(graph: Graph, ids: dict[int, int], module: Module) -> None:
    graph.blocks[JOIN].instructions.insert(0, list(graph.blocks[ARM].instructions[0]))


def _nothing(graph: Graph, ids: dict[int, int], module: Module) -> None:
    graph.blocks[ARM].instructions[0][3] = module.new_id()


def _wrong_origin(graph: Graph, ids: dict[int, int], module: Module) -> None:
    graph.blocks[HEADER].instructions[0][6] = graph.blocks[JOIN].label


def _into_an_arm(graph: Graph, ids: dict[int, int], module: Module) -> None:
    graph.blocks[0].instructions[-1][1] = graph.blocks[ARM].label


def _back_into_the_body(graph: Graph, ids: dict[int, int], module: Module) -> None:
    graph.blocks[CONTINUE].instructions[-1][1] = graph.blocks[BODY].label


def _count(graph: Graph, ids: dict[int, int], module: Module) -> None:
    graph.blocks[ARM].instructions[0].append(ids[101])


def _second_end(graph: Graph, ids: dict[int, int], module: Module) -> None:
    graph.blocks[ARM].instructions.insert(0, list(graph.blocks[ARM].instructions[-1]))


def function_pointer(graph: Graph) -> int:
    return graph.function.parameters[0].id


PLANTED: dict[str, tuple[Callable[[Graph, dict[int, int], Module], None], str]] = {
    "a value of one arm is used behind both": (_use_of_arm, "is not made on every way to here"),
    "a use before its value": (_late, "is not made on every way to here"),
    "a value of nothing": (_nothing, "nothing makes"),
    "a value twice": (_twice, "is made twice"),
    "a phi with the wrong block": (_wrong_origin, "control comes from"),
    "no merge before a choice": (_drop(BODY, 0), "nothing says where its ways meet"),
    "no merge of a loop": (_drop(HEADER, 2), "no header of a loop|nothing says where its ways meet"),
    "a way into the middle": (_into_an_arm, "ways lead to|not made on every way|control comes from"),
    "a way back into the body": (_back_into_the_body, "no header of a loop|control comes from"),
    "a wrong number of words": (_count, "it has 6 words"),
    "two terminators": (_second_end, "one terminator"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_what_a_pass_may_break_is_noticed(name: str) -> None:
    module, function, ids = load(LOOP)
    verify(Graph(module, function), "loading", module.declared())
    plant, message = PLANTED[name]
    graph = Graph(module, function)
    plant(graph, ids, module)
    graph.write()
    with pytest.raises(InternalError, match=rf"after pass x: kernel: Op\w+ .*({message})"):
        verify(Graph(module, function), "pass x", module.declared())


def test_a_pass_is_checked_and_printed(capsys: pytest.CaptureFixture[str]) -> None:
    module, function, _ = load(LOOP)

    def breaks(graph: Graph) -> None:
        _drop(BODY, 0)(graph, {}, module)
        graph.write()

    kept = pipeline.Pass("contraction", lambda graph: None)
    left = pipeline.Pass("separated-phis", breaks, applies=False)
    pipeline.run_passes(module, function, (kept, left), verified=True, printed={"contraction"})
    assert capsys.readouterr().err.startswith("; after contraction\n; SPIR-V 1.3")
    with pytest.raises(InternalError, match="after pass hidden-products"):
        pipeline.run_passes(module, function, (kept, pipeline.Pass("hidden-products", breaks)), verified=True)
