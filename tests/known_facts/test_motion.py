"""facts/motion.py, facts/slopes.py: in text, and what a round adds to what travels."""

from __future__ import annotations

import pytest
from known_facts.update import cases
from texts import Case
from triton_spirv.facts.motion import Counter, Element, Motion, Round, added_each_round, motion
from triton_spirv.facts.slopes import Multiple, Product, added, multiple_of, number, text
from triton_spirv.ir import Operation, Value, parse

POINTERS = "tensor<16x!tt.ptr<f32>>"


def loop_of(body: str) -> Operation:
    arguments = "%p: !tt.ptr<f32>, %n: i32, %t: tensor<16xi32>"
    module = parse(f"tt.func public @k({arguments}) {{\n{body}\ntt.return\n}}")
    return next(op for op in module.walk() if op.name == "scf.for")


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.path.stem)
def test_case(case: Case) -> None:
    assert case.made() == case.expected, "python -m tests.known_facts.update writes it anew"


HEAD = """
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %c = arith.constant dense<4> : tensor<16xi32>
    %base = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %s = tt.splat %n : i32 -> tensor<16xi32>
"""


def test_a_counted_loop_that_moves_pointers():
    loop = loop_of(
        HEAD
        + f"""
        %x:4 = scf.for %i = %zero to %n step %one iter_args(%a = %base, %b = %t, %d = %base, %f = %t)
            -> ({POINTERS}, tensor<16xi32>, {POINTERS}, tensor<16xi32>) : i32 {{
          %a1 = tt.addptr %a, %c : {POINTERS}, tensor<16xi32>
          %k = tt.splat %i : i32 -> tensor<16xi32>
          %a2 = tt.addptr %a1, %k : {POINTERS}, tensor<16xi32>
          %b1 = arith.addi %s, %b : tensor<16xi32>
          %d1 = tt.addptr %d, %t : {POINTERS}, tensor<16xi32>
          scf.yield %a2, %b1, %d1, %f : {POINTERS}, tensor<16xi32>, {POINTERS}, tensor<16xi32>
        }}
    """
    )
    assert [value.name for value in added_each_round(loop, 0)] == ["c", "k"]
    assert [value.name for value in added_each_round(loop, 1)] == ["s"]
    assert added_each_round(loop, 2) is None  # %t is no uniform tensor
    assert added_each_round(loop, 3) == []


def test_scalars_and_what_is_not_uniform():
    loop = loop_of(
        HEAD
        + """
        %x:4 = scf.for %i = %zero to %n step %one iter_args(%a = %n, %b = %n, %d = %t, %f = %n)
            -> (i32, i32, tensor<16xi32>, i32) : i32 {
          %a1 = arith.addi %a, %n : i32
          %b1 = arith.addi %one, %b : i32
          %b2 = arith.addi %b1, %i : i32
          %d1 = arith.addi %t, %d : tensor<16xi32>
          %f1 = arith.addi %i, %n : i32
          scf.yield %a1, %b2, %d1, %f1 : i32, i32, tensor<16xi32>, i32
        }
    """
    )

    def names(index: int, uniform: bool = True) -> list[str] | None:
        steps = added_each_round(loop, index, uniform)
        return None if steps is None else [value.name for value in steps]

    assert names(0) == ["n"] and names(1) == ["one", "i"] and names(3) is None
    assert names(2) is None and names(2, uniform=False) == ["t"]


def test_swapped_arguments_are_no_step():
    loop = loop_of(
        HEAD
        + """
        %x:2 = scf.for %i = %zero to %n step %one iter_args(%a = %t, %b = %t)
            -> (tensor<16xi32>, tensor<16xi32>) : i32 {
          scf.yield %b, %a : tensor<16xi32>, tensor<16xi32>
        }
    """
    )
    assert added_each_round(loop, 0) is None and added_each_round(loop, 1) is None


SLOPES = {
    "%i": (1, None),
    "%a": (6, None),
    "%b": (1, "n"),
    "%c": (5, "n"),
    "%d": (0, None),
    "%e": None,  # two parts of different scalars
    "%f": None,  # n * n
}


def test_slopes_as_numbers() -> None:
    loop = loop_of("""
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        %three = arith.constant 3 : i32
        %four = arith.constant 4 : i32
        scf.for %i = %zero to %n step %one : i32 {
          %two = arith.addi %i, %i : i32
          %a = arith.muli %two, %three : i32
          %b = arith.muli %n, %i : i32
          %b4 = arith.muli %b, %four : i32
          %c = arith.addi %b4, %b : i32
          %d = arith.subi %a, %a : i32
          %e = arith.addi %a, %b : i32
          %f = arith.muli %b, %n : i32
        }
    """)
    body = loop.regions[0].entry
    values: dict[str, Value] = {"%i": body.arguments[0]}
    values |= {f"%{op.result.name}": op.result for op in body.operations if op.results}
    for name, expected in SLOPES.items():
        slope = motion(values[name], Counter(body)).slope
        assert slope is not None, name
        found = multiple_of(slope)
        if expected is None:
            assert found is None and number(slope) is None, name
            continue
        assert found is not None, name
        assert (found.factor, None if found.scalar is None else found.scalar.name) == expected, name
        assert number(slope) == (expected[0] if expected[1] is None else None), name


def test_shared_values_are_asked_once() -> None:
    lines = [f"%x{k + 1} = arith.addi %x{k}, %x{k} : i32" for k in range(40)]
    loop = loop_of("""
        %zero = arith.constant 0 : i32
        %one = arith.constant 1 : i32
        scf.for %x0 = %zero to %n step %one : i32 {
    """ + "\n".join(lines) + "\n}")
    body = loop.regions[0].entry
    last = [op.result for op in body.operations if op.results][-1]
    assert number(motion(last, Counter(body)).slope) == 2 ** 40
    by_round = motion(last, Round(body))
    assert multiple_of(by_round.slope) == Multiple(2 ** 40) and len(str(by_round)) < 1000
    assert added(1, 2, 3) == 6 and added(0, 0) == 0
    assert added(0, Product(1, last)) == Product(1, last)


#: value -> its slopes along each dimension, in words; None: unknown
ELEMENTS = {
    "r": ["1"], "s": ["0"], "mixed": [None], "scaled": ["1 * %four"], "wide": ["1 * %four"],
    "far": ["1 * %s"], "less": ["(1 + 1 * %s * -1)"], "short": [None], "chosen": ["0"], "some": [None],
    "column": ["1", "0"], "tile": ["1", "0"], "turned": ["0", "1"], "both": ["0", "1"],
    "flat": [None], "sums": [None], "pointers": ["0", "2"], "a": ["1 * %four"],
}


def test_from_element_to_element() -> None:
    module = parse("""
        tt.func public @k(%p: !tt.ptr<f32>, %n: i32, %b: i1) {
          %zero = arith.constant 0 : i32
          %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
          %s = tt.splat %n : i32 -> tensor<16xi32>
          %mixed = arith.constant dense<[0, 1, 2, 4]> : tensor<4xi32>
          %four = arith.constant dense<4> : tensor<16xi32>
          %scaled = arith.muli %four, %r : tensor<16xi32>
          %wide = arith.extsi %scaled : tensor<16xi32> to tensor<16xi64>
          %far = arith.muli %r, %s : tensor<16xi32>
          %less = arith.subi %r, %far : tensor<16xi32>
          %byte = arith.trunci %r : tensor<16xi32> to tensor<16xi8>
          %short = arith.addi %byte, %byte : tensor<16xi8>
          %chosen = arith.select %b, %s, %four : tensor<16xi32>
          %some = arith.select %b, %s, %r : tensor<16xi32>
          %column = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
          %tile = tt.broadcast %column : tensor<16x1xi32> -> tensor<16x8xi32>
          %turned = tt.trans %tile {order = array<i32: 1, 0>} : tensor<16x8xi32> -> tensor<8x16xi32>
          %row = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
          %both = tt.broadcast %row : tensor<1x16xi32> -> tensor<8x16xi32>
          %flat = tt.reshape %both : tensor<8x16xi32> -> tensor<128xi32>
          %sums = "tt.reduce"(%both) <{axis = 0 : i32}> ({
          ^bb0(%x: i32, %y: i32):
            %z = arith.addi %x, %y : i32
            tt.reduce.return %z : i32
          }) : (tensor<8x16xi32>) -> tensor<16xi32>
          %first = tt.splat %p : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
          %second = tt.addptr %first, %turned : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
          %pointers = tt.addptr %second, %both : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
          %left = scf.for %i = %zero to %n step %n iter_args(%a = %scaled) -> (tensor<16xi32>) : i32 {
            %next = arith.addi %a, %s : tensor<16xi32>
            scf.yield %next : tensor<16xi32>
          }
          tt.return
        }""")
    values = {value.name: value for op in module.walk() for value in op.results}
    values["a"] = next(op for op in module.walk() if op.name == "scf.for").regions[0].entry.arguments[1]
    for name, expected in ELEMENTS.items():
        value = values[name]
        slopes = [motion(value, Element(dim)).slope for dim in range(len(value.type.shape))]
        assert [None if slope is None else text(slope) for slope in slopes] == expected, name
    assert motion(values["r"], Element(0)) == Motion(0, 1)
    assert motion(values["turned"], Element(0)).start is values["tile"]
