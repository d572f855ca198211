"""verify.py: what no rule could lower is refused while reading, with the place and what is wrong."""

from __future__ import annotations

import re

import pytest
from triton_spirv.errors import ParseError
from triton_spirv.ir import parse, verify
from triton_spirv.ir.checks import CHECKS
from triton_spirv.ir.dialects import OPERATIONS

ARGUMENTS = ("%p: !tt.ptr<f32>, %n: i32, %l: i64, %f: f32, %b: i1, %x: tensor<8xf32>, %i: tensor<8xi32>, "
             "%m: tensor<8xi1>, %q: tensor<8x!tt.ptr<f32>>, %t: tensor<4x2xf32>, %h: tensor<16x16xf16>, "
             "%c: tensor<16x16xf32>")
BLOCKED = "#ttg.blocked<{sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [4], order = [0]}>"


def module(body: str, result: str = "") -> str:
    return f"module {{\n  tt.func public @k({ARGUMENTS}) {{\n    {body}\n    tt.return\n  }}\n}}"


@pytest.mark.parametrize(("body", "what"), [
    ("%0 = arith.addi %n, %l : i32", "arith.addi: rhs (%l) is i64, not i32"),
    ("%0 = arith.addf %n, %n : i32", "arith.addf: lhs (%n) is i32, not floats"),
    ("%0 = arith.addi %x, %x : tensor<8xf32>", "lhs (%x) is tensor<8xf32>, not integers"),
    ("%0 = arith.extsi %l : i64 to i32", "arith.extsi: i32 is not wider than i64"),
    ("%0 = arith.truncf %f : f32 to f64", "f64 is not narrower than f32"),
    ("%0 = arith.sitofp %i : tensor<8xi32> to tensor<4xf32>", "its shape is not that of tensor<4xf32>"),
    ("%0 = arith.cmpi wild, %n, %n : i32", "predicate is one of eq, "),
    ("%0 = arith.select %m, %f, %f : tensor<8xi1>, f32", "its condition is tensor<8xi1>, not i1"),
    ("%0 = arith.constant 5000000000 : i32", "5000000000 is not a number of i32"),
    ("%0 = arith.constant -129 : i8", "-129 is not a number of i8"),
    ("%0 = tt.load %x : tensor<8xf32>", "expected a pointer, not tensor<8xf32>"),
    ("%0 = tt.load %q, %i : tensor<8x!tt.ptr<f32>>", "mask (%i) is tensor<8xi32>, not tensor<8xi1>"),
    ("tt.store %q, %i : tensor<8x!tt.ptr<f32>>", "value (%i) is tensor<8xi32>, not tensor<8xf32>"),
    ("%0 = tt.addptr %q, %n : tensor<8x!tt.ptr<f32>>, i32", "its shape is not that of"),
    ("%0 = tt.atomic_rmw fadd, acq_rel, gpu, %q, %i : (tensor<8x!tt.ptr<f32>>, tensor<8xi32>) -> "
     "tensor<8xi32>", "val (%i) is tensor<8xi32>, not tensor<8xf32>"),
    ("%0 = tt.atomic_rmw add, acq_rel, gpu, %q, %x : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> "
     "tensor<8xf32>", "add of f32"),
    ("%0 = tt.int_to_ptr %n : i32 -> !tt.ptr<f32>", "tt.int_to_ptr: src (%n) is i32, not i64"),
    ("%0 = tt.int_to_ptr %i : tensor<8xi32> -> tensor<8x!tt.ptr<f32>>", "src (%i) is tensor<8xi32>, not i64"),
    ("%0 = tt.ptr_to_int %q : tensor<8x!tt.ptr<f32>> -> tensor<8xi32>", "result is tensor<8xi32>, not i64"),
    ("%0 = tt.splat %n : i32 -> tensor<8xf32>", "src (%n) is i32, not f32"),
    ("%0 = tt.expand_dims %x {axis = 2 : i32} : tensor<8xf32> -> tensor<8x1xf32>", "axis is 2; there are 2"),
    ("%0 = tt.expand_dims %x {axis = 1 : i32} : tensor<8xf32> -> tensor<1x8xf32>", "not 8x1 of f32"),
    ("%0 = tt.broadcast %t : tensor<4x2xf32> -> tensor<4x8xf32>", "does not broadcast to"),
    ("%0 = tt.reshape %t : tensor<4x2xf32> -> tensor<16xf32>", "have not the same elements"),
    ("%0 = tt.trans %t {order = array<i32: 0, 0>} : tensor<4x2xf32> -> tensor<4x4xf32>", "no order of 2"),
    ("%0, %1 = tt.split %h : tensor<16x16xf16> -> tensor<16xf16>", "the last dimension of"),
    ("%0 = tt.make_range {end = 9 : i32, start = 0 : i32} : tensor<8xi32>", "not 9 of i32"),
    ("%0 = tt.make_range {end = 0 : i32, start = 8 : i32} : tensor<8xi32>", "there is no range"),
    ("%0 = tt.get_program_id w : i32", "axis is one of x, y, z, not w"),
    ("%0 = tt.dot %h, %h, %x : tensor<16x16xf16> * tensor<16x16xf16> -> tensor<8xf32>", "is not"),
    ("%0 = tt.gather %x[%i] {axis = 3 : i32} : (tensor<8xf32>, tensor<8xi32>) -> tensor<8xf32>", "axis is 3"),
    ("%0 = tt.call @nobody(%n) : (i32) -> i32", "there is no function @nobody"),
    ("%0 = tt.call @k(%n) : (i32) -> i32", "@k is given (i32), not (!tt.ptr<f32>,"),
    ("tt.return %n : i32", "it stands last in its block only"),
    ("scf.yield", "it ends regions of"),
    ("scf.if %n { }", "its condition is i32"),
    ("%0 = scf.if %b -> (i32) { scf.yield %f : f32 } else { scf.yield %n : i32 }", "yields (f32), not (i32)"),
    ("scf.for %j = %n to %l step %n : i32 { }", "its bounds and step are (i32, i64, i32)"),
    ("%0 = scf.for %j = %n to %n step %n iter_args(%a = %f) -> (i32) : i32 { scf.yield %n : i32 }",
     "its region takes (i32, i32), not (i32, f32)"),
    ('%0 = "tt.reduce"(%x) <{axis = 1 : i32}> ({\n^bb0(%a: f32, %d: f32):\n tt.reduce.return %a : f32 }) '
     ": (tensor<8xf32>) -> f32", "axis is 1; there are 1 dimensions"),
    ('%0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({\n^bb0(%a: f32):\n tt.reduce.return %a : f32 }) '
     ": (tensor<8xf32>) -> f32", "its region takes (f32), not (f32, f32)"),
    ('%0 = "tt.load"(%q) : (tensor<8x!tt.ptr<f32>>) -> tensor<8xi32>', "tt.load gives tensor<8xf32>, not"),
    ('"tt.store"(%q, %x) ({ }) : (tensor<8x!tt.ptr<f32>>, tensor<8xf32>) -> ()', "it has no regions"),
    ("tt.assert %n, \"text\" : i32", "condition (%n) is i32, not i1"),
])
def test_operations(body: str, what: str) -> None:
    with pytest.raises(ParseError, match=re.escape(what)) as caught:
        parse(module(body))
    assert caught.value.line in (3, 5) and caught.value.column >= 5 and "^" in str(caught.value)
    parse(module(""))  # the rest of the text is right


@pytest.mark.parametrize(("type", "what"), [
    ("tensor<100xf32>", "100 is not a power of two"),
    ("tensor<0xf32>", "0 is not a power of two"),
    ("tensor<1099511627776xf32>", "it has 1099511627776 elements; a tensor has at most 1048576"),
    ("tensor<1048576x2xf32>", "it has 2097152 elements"),
    ("tensor<4xtuple<>>", "a tensor cannot hold elements of type tuple<>"),
    ("tensor<4xnone>", "a tensor cannot hold elements of type none"),
    ("i0", "an integer has 1 to"), ("i99999999999", "an integer has 1 to"),
    ("!tt.ptr<tuple<>>", "a pointer cannot point to tuple<>"),
    ("!tt.ptr<" * 200 + "f32" + ">" * 200, ""),
    ("tuple<" * 5000 + ">" * 5000, ""),
    (f"tensor<8x8xf32, {BLOCKED}>", "sizePerThread of #ttg.blocked has 1 dimensions, the tensor 2"),
    (f"tensor<8xf32, {BLOCKED.replace('[16]', '[3]')}>", "threadsPerWarp of #ttg.blocked: 3 is"),
    (f"tensor<8xf32, {BLOCKED.replace('[16]', '[0]')}>", "wants whole numbers from 1"),
    (f"tensor<8xf32, {BLOCKED.replace('[16]', '[1152921504606846976]')}>", "wants whole numbers from 1 to"),
    (f"tensor<8xf32, {BLOCKED.replace('[0]', '[1]')}>", "order of #ttg.blocked is not an order of 1"),
    (f"tensor<8xf32, {BLOCKED.replace('order = [0]', 'other = 1')}>", "#ttg.blocked is not an order"),
    (f"tensor<8xf32, #ttg.slice<{{dim = 2, parent = {BLOCKED}}}>>", "dim of #ttg.slice is a whole number"),
    ("tensor<8xf32, #ttg.slice<{dim = 0, parent = 3}>>", "parent of #ttg.slice is not a layout"),
    ("tensor<8xf32, 5>", "5 is not an encoding"),
    ("tensor<8xf32, #ttg.linear<{register = [[1, 0]], lane = [], warp = [], block = []}>>",
     "(1, 0) is not an offset"),
])
def test_types(type: str, what: str) -> None:
    with pytest.raises(ParseError, match=re.escape(what)) as caught:
        parse(f"module {{\n  tt.func public @k(%x: {type}) {{\n    tt.return\n  }}\n}}")
    assert caught.value.line == 2


@pytest.mark.parametrize("text", [
    "[" * 5000 + "1" + "]" * 5000, "{a = " * 5000 + "1" + "}" * 5000, "(" * 5000 + ")" * 5000,
    "1" * 5000, "1" * 5000 + " : i32", "0x" + "F" * 40 + " : f32", "1.0 : f128", "0x7 : f80", "1 : (i32",
])
def test_attributes_without_end(text: str) -> None:
    with pytest.raises(ParseError):
        parse(f"module attributes {{a = {text}}} {{ }}")


def test_regions_without_end() -> None:
    depth = 3000
    with pytest.raises(ParseError, match="regions are nested more than"):
        parse(module("scf.if %b {\n" * depth + "}\n" * depth))


@pytest.mark.parametrize("locations", ["#loc1 = loc(#loc1)", "#loc1 = loc(#loc2)\n#loc2 = loc(#loc1)",
                                       f"#loc1 = loc({'callsite(' * 3000}unknown{' at unknown)' * 3000})",
                                       f'#loc1 = loc("k.py":{"9" * 5000}:1)'])
def test_a_location_is_no_reason_to_fail(locations: str) -> None:
    text = module("%0 = arith.addi %n, %n : i32 loc(#loc1)")
    assert parse(f"{locations}\n{text}").entry.attributes["sym_name"] == "k"


@pytest.mark.parametrize("alias", ["!a = !a", "!a = tuple<!a>", "#a = #a",
                                   "#a = #ttg.slice<{dim = 0, parent = #a}>"])
def test_names_that_stand_for_themselves(alias: str) -> None:
    use = "!a" if alias[0] == "!" else "tensor<8xf32, #a>"
    with pytest.raises(ParseError):
        parse(f"{alias}\nmodule {{\n  tt.func public @k(%x: {use}) {{\n    tt.return\n  }}\n}}")


CROSSED = """
    cf.cond_br %b, ^bb1, ^bb2
  ^bb1:
    %y = arith.addi %n, %n : i32
    cf.br ^bb3
  ^bb2:
    cf.br ^bb3
  ^bb3:
    {use}"""


def test_a_value_of_one_way_only() -> None:
    parse(module(CROSSED.format(use="%z = arith.addi %n, %n : i32")))
    with pytest.raises(ParseError, match="%y is not computed on every way to here"):
        parse(module(CROSSED.format(use="%z = arith.addi %y, %y : i32")))


def test_branches_pass_what_their_blocks_take() -> None:
    with pytest.raises(ParseError, match=r"\^bb1 is given \(f32\), not \(i32\)"):
        parse(module("cf.br ^bb1(%f : f32)\n  ^bb1(%z: i32):"))


@pytest.mark.parametrize(("text", "what"), [
    ("module { tt.func private @k() { tt.return } }", "one public function"),
    ("module { tt.func @a() { tt.return } tt.func @b() { tt.return } }", "one public function"),
    ("module { tt.func public @a() }", "one public function"),
])
def test_a_kernel_is_one(text: str, what: str) -> None:
    with pytest.raises(ParseError, match=what):
        _ = parse(text).entry


@pytest.mark.parametrize(("text", "what"), [
    ("module { tt.func @a() { tt.return } tt.func @a() { tt.return } }", "two functions are called @a"),
    ('module attributes {"ttg.num-warps" = 3 : i32} { }', "ttg.num-warps is 3"),
    ('module attributes {"ttg.threads-per-warp" = 4096 : i32} { }', "ttg.threads-per-warp is 4096"),
    ("module { module { } }", "a module stands in nothing else"),
    ("module { tt.func @a() { tt.func @b() { tt.return } tt.return } }", "a function stands in a module"),
    ("module { tt.func @a(%n: i32 {tt.divisibility = 3 : i32}) { tt.return } }", "tt.divisibility is 3"),
])
def test_modules(text: str, what: str) -> None:
    with pytest.raises(ParseError, match=what):
        parse(text)


def test_every_check_is_of_an_operation() -> None:
    assert CHECKS.keys() <= OPERATIONS.keys()
    for name in OPERATIONS:
        assert verify._CHECKS[name]


def test_reading_alone_asks_for_nothing() -> None:
    text = module("%0 = arith.addi %n, %l : i32")
    assert parse(text, verified=False).entry is not None


def test_hints_have_a_number_for_each_dimension() -> None:
    """dense<...> of three numbers is no tensor that a kernel computes with; a constant would be one."""
    hint = "{tt.contiguity = dense<[1, 1, 2]> : tensor<3xi32>}"
    text = "module { tt.func public @k() { %i = tt.make_range {end = 4 : i32, start = 0 : i32} : " \
        "tensor<4xi32> %j = tt.reshape %i HINT : tensor<4xi32> -> tensor<1x2x2xi32> tt.return } }"
    hinted = parse(text.replace("HINT", hint)).entry.regions[0].entry.operations[1]
    assert hinted.attributes["tt.contiguity"].values == (1, 1, 2)
    with pytest.raises(ParseError, match="3 is not a power of two"):
        parse("module { tt.func public @k() { %c = arith.constant dense<[1, 1, 2]> : tensor<3xi32> "
              "tt.return } }")
