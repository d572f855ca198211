"""passes/simplify.py: which xors are found to exchange neighbours, and which are left alone."""

from __future__ import annotations

import pytest
from triton_spirv.ir import parse
from triton_spirv.passes.simplify import simplify

SWAP = """
module {{
  tt.func public @kernel(%x: tensor<4x2x{element}>, %z: tensor<4x2x{element}>,
                         %p: tensor<4x2x!tt.ptr<{element}>>) {{
    %s = "tt.reduce"({reduced}) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: {element}, %b: {element}):
      %c = {combine} {arguments} : {element}
      tt.reduce.return %c : {element}
    }}) : (tensor<4x2x{element}>) -> tensor<{kept}x{element}>
    %w = tt.expand_dims %s {{axis = {axis} : i32}} : tensor<{kept}x{element}> -> tensor<{wide}x{element}>
    %r = tt.broadcast %w : tensor<{wide}x{element}> -> tensor<4x2x{element}>
    %y = arith.xori {operands} : tensor<4x2x{element}>
    tt.store %p, %y : tensor<4x2x!tt.ptr<{element}>>
    {more}
    tt.return
  }}
}}
"""
FOUND = {
    "element": "i32", "reduced": "%x", "axis": 1, "combine": "arith.xori", "arguments": "%a, %b", "kept": "4",
    "wide": "4x1", "operands": "%x, %r", "more": "",
}  # fmt: skip


def simplified(**changes: object) -> list[str]:
    """The operations of the kernel after simplification."""
    module = parse(SWAP.format(**{**FOUND, **changes}))
    simplify(module)
    return [op.name for op in module.entry.regions[0].entry.operations]


@pytest.mark.parametrize("operands", ("%x, %r", "%r, %x"))
@pytest.mark.parametrize("arguments", ("%a, %b", "%b, %a"))
def test_swap_is_found_and_nothing_is_left_of_the_sum(operands: str, arguments: str) -> None:
    assert simplified(operands=operands, arguments=arguments) == ["ts.swap", "tt.store", "tt.return"]


def test_sum_stays_where_it_is_used_elsewhere() -> None:
    names = simplified(more="tt.store %p, %r : tensor<4x2x!tt.ptr<i32>>")
    chain = ["tt.reduce", "tt.expand_dims", "tt.broadcast"]
    assert names == [*chain, "ts.swap", "tt.store", "tt.store", "tt.return"]


@pytest.mark.parametrize(
    "changes",
    (
        {"reduced": "%z"},  # the neighbours of another tensor
        {"axis": 0, "kept": "2", "wide": "1x2"},  # four along the axis
        {"combine": "arith.ori"},
        {"arguments": "%a, %a"},
        {"operands": "%r, %r"},
        {"element": "i1"},
    ),
    ids=str,
)
def test_other_xors_are_left_alone(changes: dict[str, object]) -> None:
    assert "ts.swap" not in simplified(**changes)


def test_uses_of_the_operand_are_those_that_are_left() -> None:
    module = parse(SWAP.format(**FOUND))
    simplify(module)
    block = module.entry.regions[0].entry
    assert [user.name for user, _ in block.arguments[0].uses] == ["ts.swap"]
    assert block.operations[0].attributes == {"axis": 1}
