"""Reading text: forms, names, blocks, and what is refused, with line, column and caret."""

from __future__ import annotations

import functools
import math

import pytest
from ir.signature import signature
from triton_spirv.errors import ParseError
from triton_spirv.ir import (
    DenseAttr,
    Encoding,
    FloatType,
    FunctionType,
    Location,
    Module,
    Operation,
    PointerType,
    TensorType,
)
from triton_spirv.ir import (
    parse as parse_verified,
)
from triton_spirv.ir.printer import print_module

#: what MLIR spells is read, whether it makes sense or not; tests/ir/test_verify.py is about that
parse = functools.partial(parse_verified, verified=False)


def function(body: str, arguments: str = "%p: !tt.ptr<f32>, %n: i32, %x: tensor<4xf32>, %b: i1") -> Module:
    return parse(f"module {{\n  tt.func public @k({arguments}) {{\n{body}\n    tt.return\n  }}\n}}")


def only(module: Module, name: str) -> Operation:
    (op,) = [op for op in module.walk() if op.name == name]
    return op


def refused(text: str) -> str:
    with pytest.raises(ParseError) as caught:
        parse(text, "k.ttir")
    return str(caught.value)


# Values


def test_function_and_arguments():
    module = parse("""
      tt.func private @f(%p: !tt.ptr<f16, 3> {tt.divisibility = 16 : i32} loc("p"("a.py":1:2)), %n: index)
          -> (i32, f32)
          attributes {noinline = true} {
        %0:2 = tt.call @g(%n) : (index) -> (i32, f32)
        tt.return %0#0, %0#1 : i32, f32
      }
      tt.func private @g(index) -> (i32, f32)
    """)
    f = module.functions["f"]
    assert f.attributes["arg_attrs"] == ({"tt.divisibility": 16}, {})
    assert f.attributes["noinline"] is True and f.attributes["sym_visibility"] == "private"
    assert isinstance(f.attributes["function_type"], FunctionType)
    assert f.regions[0].entry.arguments[0].type == PointerType(FloatType("f16"), 3)
    call = only(module, "tt.call")
    assert call.attributes["callee"] == "g" and call.arguments == (f.regions[0].entry.arguments[1],)
    assert only(module, "tt.return").srcs == tuple(call.results)
    assert module.functions["g"].regions == []


def test_optional_and_variadic_operands():
    module = function("""
      %0 = tt.load %p : !tt.ptr<f32>
      %1 = tt.load %p, %b : !tt.ptr<f32>
      %2 = tt.load %p, %b, %0 cacheModifier = cg evictionPolicy = evict_last {isVolatile = true}
             : !tt.ptr<f32>
      tt.print "a\\22b: " {hex = true, isSigned = array<i32: 0, 1>} : %0, %n : f32, i32
    """)
    loads = [op for op in module.walk() if op.name == "tt.load"]
    assert [op.mask is None for op in loads] == [True, False, False]
    assert [op.other is None for op in loads] == [True, True, False]
    assert loads[2].attributes == {"cache": "cg", "evict": "evict_last", "isVolatile": True}
    assert loads[0].result.type == FloatType("f32")
    printed = only(module, "tt.print")
    assert printed.attributes == {"prefix": 'a"b: ', "hex": True, "isSigned": (0, 1)}
    assert [value.name for value in printed.args] == ["0", "n"]
    with pytest.raises(AttributeError, match=r"tt\.load has no operand 'value'; it has ptr, mask, other"):
        _ = loads[0].value


def test_cache_policy_of_newer_versions():
    module = function("""
      %0 = tt.load %p {cachePolicy = #tt.cache_policy<cache_modifier = cg, eviction_policy = evict_last>}
             : !tt.ptr<f32>
    """)
    assert only(module, "tt.load").attributes == {"cache": "cg", "evict": "evict_last"}


def test_block_pointers_and_names_of_older_versions():
    module = parse("""
      tt.func @k(%p: !tt.ptr<f32>, %n: i32, %w: i64) {
        %b = tt.make_tensor_ptr %p, [%w, %w], [%w, %w], [%n, %n] {order = array<i32: 1, 0>}
              : <tensor<32x64xf32>>
        %v = tt.load %b {boundaryCheck = array<i32: 0, 1>, padding = 2 : i32} : !tt.ptr<tensor<32x64xf32>>
        %c = tt.advance %b, [%n, %n] : <tensor<32x64xf32>>
        tt.store %c, %v {boundaryCheck = array<i32: 0>} : !tt.ptr<tensor<32x64xf32>>
        %d = tt.make_tensor_descriptor %p, [%n, %n], [%w, %w] {padding = 2 : i32} : <f32>, <tensor<32x64xf32>>
        %z = tt.call @"m.zeros____(0, 0)cconstexpr_64_"() : () -> i32
        tt.return
      }
      tt.func private @"m.zeros____(0, 0)cconstexpr_64_"() -> i32
    """)
    made, load = only(module, "tt.make_tensor_ptr"), only(module, "tt.load")
    assert len(made.shape) == len(made.strides) == len(made.offsets) == 2
    assert made.result.type == PointerType(load.result.type)
    assert load.attributes == {"boundaryCheck": (0, 1), "padding": "nan"}
    assert only(module, "tt.advance").ptr is made.result
    assert str(only(module, "tt.make_tensor_descriptor").result.type) == "!tt.tensordesc<tensor<32x64xf32>>"
    assert only(module, "tt.call").attributes["callee"] in module.functions
    assert signature(parse(print_module(module))) == signature(module)


def test_uses_and_owners():
    module = function("""
      %0 = arith.addi %n, %n : i32
      %1 = arith.muli %0, %n : i32
    """)
    add, multiply = only(module, "arith.addi"), only(module, "arith.muli")
    n = module.entry.regions[0].entry.arguments[1]
    assert n.uses == [(add, 0), (add, 1), (multiply, 1)]
    assert n.defining_op is None and n.owner is module.entry.regions[0].entry
    assert add.result.uses == [(multiply, 0)] and multiply.parent_op is module.entry


def test_loops_and_implicit_terminators():
    module = function("""
      %0:2 = scf.for unsigned %i = %n to %n step %n iter_args(%a = %n, %c = %x)
          -> (i32, tensor<4xf32>)  : i32 {
        scf.if %b {
          tt.store %p, %f : !tt.ptr<f32>
        }
        scf.yield %a, %c : i32, tensor<4xf32>
      } {tt.num_stages = 3 : i32}
      scf.for %j = %n to %n step %n  : i32 {
      }
      %1 = scf.while (%w = %0#0) : (i32) -> i32 {
        scf.condition(%b) %w : i32
      } do {
      ^bb0(%v: i32):
        scf.yield %v : i32
      } attributes {tt.note = "x"}
    """, "%p: !tt.ptr<f32>, %n: i32, %x: tensor<4xf32>, %b: i1, %f: f32")  # fmt: skip
    first, second = [op for op in module.walk() if op.name == "scf.for"]
    assert first.attributes == {"unsignedCmp": True, "tt.num_stages": 3}
    assert [value.name for value in first.init] == ["n", "x"]
    assert [v.name for v in first.regions[0].entry.arguments] == ["i", "a", "c"]
    assert second.regions[0].entry.terminator.name == "scf.yield" and second.init == ()
    branch = only(module, "scf.if")
    assert branch.regions[0].entry.terminator.values == () and branch.regions[1].blocks == []
    loop = only(module, "scf.while")
    assert loop.init == (first.results[0],) and loop.attributes == {"tt.note": "x"}


def test_blocks_branches_and_values_used_above_their_definition():
    module = function("""
      cf.cond_br %b, ^bb2, ^bb1(%n : i32)
    ^bb1(%k: i32):  // 2 preds: ^bb0, ^bb3
      %0 = arith.addi %later, %k : i32
      %1 = tt.splat %later : i32 -> tensor<4xi32>
      cf.br ^bb4
    ^bb2:
      %later = arith.muli %n, %n : i32
      cf.br ^bb3
    ^bb3:
      cf.switch %n : i32, [
        default: ^bb4,
        7: ^bb1(%later : i32)
      ]
    ^bb4:
    """)
    blocks = module.entry.regions[0].blocks
    assert [block.label for block in blocks] == ["^bb0", "^bb1", "^bb2", "^bb3", "^bb4"]
    jump = blocks[0].terminator
    assert jump.successors == [blocks[2], blocks[1]]
    assert jump.true_dest_operands == () and [v.name for v in jump.false_dest_operands] == ["n"]
    add = only(module, "arith.addi")
    assert add.lhs is only(module, "arith.muli").result and add.lhs.uses[0] == (add, 0)
    choice = blocks[3].terminator
    assert choice.attributes["case_values"] == (7,) and choice.case_operands == (add.lhs,)


def test_generic_form():
    module = function("""
      %0 = "tt.load"(%p, %b) <{cache = 3 : i32, evict = 1 : i32, operandSegmentSizes = array<i32: 1, 1, 0>}>
             {a.b} : (!tt.ptr<f32>, i1) -> f32
      %1 = "arith.cmpi"(%n, %n) <{predicate = 2 : i64}> : (i32, i32) -> i1
      %2:2 = "tt.reduce"(%x, %x) <{axis = 0 : i32}> ({
      ^bb0(%c: f32, %d: f32, %e: f32, %f: f32):
        "tt.reduce.return"(%c, %f) : (f32, f32) -> ()
      }) : (tensor<4xf32>, tensor<4xf32>) -> (f32, f32)
      "tt.store"(%p, %0) : (!tt.ptr<f32>, f32) -> ()
    """)
    load = only(module, "tt.load")
    assert load.mask.name == "b" and load.other is None
    assert load.attributes == {"cache": "cg", "evict": "evict_normal", "a.b": True}
    assert only(module, "arith.cmpi").attributes["predicate"] == "slt"
    assert len(only(module, "tt.reduce").srcs) == 2
    assert only(module, "tt.store").mask is None


def test_functions_without_a_module_and_aliases_anywhere():
    module = parse("""
!row = tensor<4xf32>
tt.func @f(%x: !row) { tt.return }
#layout= #ttg.blocked<{
  sizePerThread = [1], threadsPerWarp = [16], warpsPerCTA = [1], order = [0]
}>
tt.func @g(%x: tensor<4xf32, #layout>) { tt.return }
#loc7 = loc("a.py":1:1)
tt.func @h(%x: !row) { tt.return } loc(#loc7)
""")
    assert str(module.functions["f"].attributes["function_type"]) == "(tensor<4xf32>) -> ()"
    (type,) = module.functions["g"].attributes["function_type"].inputs
    assert type.encoding["threadsPerWarp"] == (16,)
    assert str(module.functions["h"].location) == "a.py:1:1"


# Types and attributes


@pytest.mark.parametrize("text", [
    "i1", "i64", "index", "bf16", "f8E4M3FN", "f8E5M2FNUZ", "!tt.ptr<!tt.ptr<i8>>", "!tt.ptr<f32, 3>", "none",
    "tensor<4x1xi32>", "tensor<f32>", "tensor<2x!tt.ptr<bf16>>", "!tt.tensordesc<32x64xf16>",
    "!tt.tensordesc<tensor<32x64xf16>>", "!ttg.async.token", "tuple<i32, tensor<4xf32>>", "vector<4xf32>",
    "!llvm.ptr",
    "tensor<4xf32, #ttg.slice<{dim = 1, parent = #ttg.blocked<{sizePerThread = [1, 4], "
    "threadsPerWarp = [2, 8], warpsPerCTA = [1, 1], order = [1, 0]}>}>>",
    "tensor<16x16xf16, #ttg.dot_op<{opIdx = 0, parent = #ttg.nvidia_mma<{versionMajor = 2, versionMinor = 0, "
    "warpsPerCTA = [4, 1], instrShape = [16, 8]}>, kWidth = 2}>>",
    "tensor<4xf32, #ttg.linear<{register = [[1]], lane = [[2], [0]], warp = [], block = []}>>",
    "!ttg.memdesc<3x32x32xf16, #ttg.swizzled_shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0]}>, "
    "#ttg.shared_memory, mutable>",
    "!ttg.memdesc<32x8xf16, #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [32, 32]}>, "
    "#ttg.shared_memory, 32x32>",
])  # fmt: skip
def test_types_print_as_they_are_written(text):
    module = parse(f"tt.func @f(%x: {text}) {{\n tt.return\n}}")
    (type,) = module.functions["f"].attributes["function_type"].inputs
    assert str(type) == text
    (again,) = parse(f"tt.func @f({type})").functions["f"].attributes["function_type"].inputs
    assert again == type and hash(again) == hash(type)


def test_slices_of_twenty_dimensions():
    """As sorts of 2^20 elements reduce them, one after the other."""
    encoding = "#blocked"
    for dim in range(20):
        encoding = f"#ttg.slice<{{dim = {dim}, parent = {encoding}}}>"
    module = parse(f"""
#blocked = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}}>
tt.func @f(%x: tensor<2xf32, {encoding}>) {{ tt.return }}""")
    (type,) = module.functions["f"].attributes["function_type"].inputs
    found = type.encoding
    for dim in reversed(range(20)):
        assert (found.name, found["dim"]) == ("slice", dim)
        found = found["parent"]
    assert found.name == "blocked"


def test_encodings_have_values():
    module = parse("""
#blocked = #ttg.blocked<{sizePerThread = [1, 4], threadsPerWarp = [2, 8], warpsPerCTA = [1, 1], order = [0]}>
tt.func @f(%x: tensor<16xf32, #ttg.slice<{dim = 1, parent = #blocked}>>) { tt.return }""")
    (type,) = module.functions["f"].attributes["function_type"].inputs
    encoding = type.encoding
    assert (encoding.dialect, encoding.name, encoding["dim"]) == ("ttg", "slice", 1)
    assert isinstance(encoding["parent"], Encoding)
    assert encoding["parent"].parameters["sizePerThread"] == (1, 4)


def constant(text: str):
    return only(function(f"%c = arith.constant {text}"), "arith.constant").attributes["value"]


def test_constants():
    assert constant("true") is True
    assert constant("-7 : i64") == -7
    assert constant("1 : i1") is True
    assert constant("1.44269502 : f32") == 1.4426950216293335  # the nearest f32
    assert constant("0x7F800000 : f32") == math.inf
    nan = constant("0xFFC00001 : f32")
    assert math.isnan(nan) and nan.bits == 0xFFC00001
    assert constant("0x7E : f8E4M3FN") == 448.0
    assert constant("dense<0xFF800000> : tensor<4xf32>") == DenseAttr(
        TensorType((4,), FloatType("f32")), True, -math.inf
    )
    assert constant("dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>").values == (1, 2, 3, 4)
    assert constant("dense<true> : tensor<4xi1>").values is True
    assert constant('dense<"0x0100FFFF"> : tensor<2xi16>').values == (1, -1)
    assert constant('dense<"0x0000C07F0000803F"> : tensor<2xf32>').values[1] == 1.0
    assert constant("dense<> : tensor<0xi32>").values == ()


def test_flags():
    module = function("""
      %0 = arith.addi %n, %n overflow<nsw, nuw> : i32
      %1 = arith.mulf %x, %x fastmath<contract> : tensor<4xf32>
      %2 = arith.divui %n, %n exact : i32
      %3 = arith.truncf %x to_nearest_even : tensor<4xf32> to tensor<4xf16>
      %4 = arith.extui %n nneg : i32 to i64
    """)
    flags = {op.name: op.attributes for op in module.walk() if op.attributes and op.name.startswith("arith.")}
    assert flags == {
        "arith.addi": {"overflowFlags": "nsw, nuw"}, "arith.mulf": {"fastmath": "contract"},
        "arith.divui": {"isExact": True}, "arith.truncf": {"roundingmode": "to_nearest_even"},
        "arith.extui": {"nonNeg": True},
    }  # fmt: skip


# Locations


def test_locations():
    module = parse("""
#loc = loc("/home/me/softmax.py":3:1)
#loc1 = loc(unknown)
module {
  tt.func @f(%n: i32 loc("n"(#loc))) {
    %0 = arith.addi %n, %n : i32 loc(#loc3)
    %1 = arith.addi %n, %n : i32 loc(callsite(#loc4 at callsite(#loc2 at "main.py":9:5)))
    %2 = arith.addi %n, %n : i32 loc(callsite(#loc1 at #loc3))
    %3 = arith.addi %n, %n : i32 loc(fused<"x">[#loc1, "b.py":7:8])
    %4 = arith.addi %n, %n : i32 loc("a.py":1:2 to :9)
    %5 = arith.addi %n, %n : i32
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("/lib/standard.py":43:13)
#loc3 = loc("x"(#loc2))
#loc4 = loc("inner.py":1:1)
""")
    found = [op.location for op in module.walk() if op.name == "arith.addi"]
    assert found[0] == Location("/lib/standard.py", 43, 13, "x")
    assert str(found[0]) == "standard.py:43:13"
    assert str(found[1]) == "inner.py:1:1"
    assert [str(caller) for caller in found[1].callers] == ["standard.py:43:13", "main.py:9:5"]
    assert found[2] == found[0]  # the callee has no place: the call's
    assert str(found[3]) == "b.py:7:8" and str(found[4]) == "a.py:1:2"
    assert not found[5].known and str(found[5]) == "<unknown>"


# What is refused


def test_unknown_operation():
    message = refused("tt.func @f() {\n  foo.bar {a = 1 : i32}\n  tt.return\n}")
    assert message.splitlines() == [
        "k.ttir:2:3: unknown operation 'foo.bar': no line in triton_spirv/ir/dialects.py",
        "    foo.bar {a = 1 : i32}",
        "    ^",
    ]


HEAD = "tt.func @f(%n: i32, %x: f32, %p: !tt.ptr<f32>) {\n"
TAIL = "\n  tt.return\n}"


@pytest.mark.parametrize(
    "line, message",
    [
        ("  %0 = arith.addi %n : i32", "k.ttir:2:22: expected ',', found ':'"),
        ("  %0 = arith.addi %n, %n, %n : i32", "k.ttir:2:25: expected ':', found ','"),
        ("  %0 = arith.addi %n, %y : i32", "k.ttir:2:23: use of undefined value %y"),
        ("  %0 = arith.addi %n, %x : f32", "k.ttir:2:28: %n is i32, not f32"),
        ("  %0 = arith.addi %n, %n : i33x", "k.ttir:2:28: cannot read the type 'i33x': unknown type"),
        ("  %0 = tt.load %n : i32", "k.ttir:2:8: tt.load: expected a pointer, not i32"),
        ("  %n = arith.addi %n, %n : i32", "k.ttir:2:8: redefinition of %n"),
        ("  %0:2 = arith.addi %n, %n : i32", "k.ttir:2:10: arith.addi has 1 results, the text names 2"),
        ("  %0 = tt.call @g(%n) : (i32, i32) -> i32", "k.ttir:2:25: 1 operands, but 2 operand types"),
        ('  %0 = "arith.addi"(%n) : (i32) -> i32', "k.ttir:2:8: arith.addi has 2 operands, not 1"),
        ('  "tt.store"(%p) : (!tt.ptr<f32>) -> ()', "k.ttir:2:3: tt.store cannot have 1 operands"),
        ("  %0 = arith.constant dense<[1, 2]> : tensor<4xi32>", "k.ttir:2:23: dense<...> has 2 values"),
        ("  %0 = arith.constant 1.5 : i32", "k.ttir:2:23: '1.5' is not a number of type i32"),
        (
            "  %0 = tt.splat %n : i32 -> tensor<4xi32, #blocked>",
            "k.ttir:2:29: cannot read the type 'tensor<4xi32, #blocked>': unknown alias '#blocked'",
        ),
        ("  cf.br ^bb7", "k.ttir:4:1: branch to ^bb7, which is not in this region"),
        ("  tt.assert %n, message : i32", "k.ttir:2:17: expected the text of message in quotes"),
        ("  =", "k.ttir:2:3: expected an operation, found '='"),
    ],
)
def test_refusals(line, message):
    found = refused(HEAD + line + TAIL)
    assert found.startswith(message)
    lines = found.splitlines()
    column = int(found.split(":")[2])
    assert lines[2] == " " * (column + 1) + "^"


def test_end_of_text():
    assert refused("tt.func @f() {\n  tt.return\n").startswith(
        "k.ttir:2:12: expected an operation, found the end of the text"
    )
    assert "found the end of the text" in refused("module {\n  %0 = tt.splat")


def test_values_end_with_their_region():
    text = HEAD + """
      scf.for %i = %n to %n step %n : i32 {
        %0 = arith.addi %i, %i : i32
      }
      %1 = arith.addi %0, %n : i32""" + TAIL  # fmt: skip
    assert "use of undefined value %0" in refused(text)
