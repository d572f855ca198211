"""What the printer writes, the parser reads: every line of the table, with random operands and attributes."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir.signature import signature
from triton_spirv.ir import (
    Block,
    DenseAttr,
    Encoding,
    FloatType,
    FunctionType,
    IntegerType,
    Location,
    Module,
    Operation,
    PointerType,
    Region,
    TensorDescType,
    TensorType,
)
from triton_spirv.ir import (
    parse as parse_verified,
)
from triton_spirv.ir.dialects import OPERATIONS, OperationSpec
from triton_spirv.ir.enumerations import ENUMS
from triton_spirv.ir.format import items_of
from triton_spirv.ir.inference import result_types
from triton_spirv.ir.numbers import BitsFloat, rounded
from triton_spirv.ir.printer import print_module

#: what MLIR spells is read, whether it makes sense or not; tests/ir/test_verify.py is about that
parse = functools.partial(parse_verified, verified=False)

BLOCKED = Encoding(
    "ttg", "blocked",
    (("sizePerThread", (1, 4)), ("threadsPerWarp", (2, 8)), ("warpsPerCTA", (1, 1)), ("order", (1, 0))),
)  # fmt: skip
INTEGERS = [IntegerType(width) for width in (1, 8, 16, 32, 64)]
FLOATS = [FloatType(name) for name in ("f16", "bf16", "f32", "f64", "f8E5M2", "f8E4M3FN")]
SCALARS = [*INTEGERS, *FLOATS]
POINTERS = [PointerType(FloatType("f32")), PointerType(IntegerType(8)), PointerType(FloatType("bf16"), 3)]

types = st.one_of(
    st.sampled_from([*SCALARS, *POINTERS]),
    st.builds(
        TensorType,
        st.lists(st.sampled_from([1, 2, 16, 64]), min_size=1, max_size=3).map(tuple),
        st.sampled_from([*SCALARS, *POINTERS]),
        st.sampled_from([None, BLOCKED]),
    ),
)
pointers = st.one_of(
    st.sampled_from(POINTERS),
    st.builds(TensorType, st.just((4, 8)), st.sampled_from(POINTERS), st.sampled_from([None, BLOCKED])),
)
names = st.from_regex(r"[a-z_][a-z0-9_]{0,5}(\.[a-z_]{1,4})?", fullmatch=True)
numbers = st.integers(-(1 << 31), (1 << 31) - 1)


@st.composite
def floats(draw, type: FloatType) -> float:
    if draw(st.booleans()):
        return BitsFloat.of(draw(st.integers(0, (1 << type.width) - 1)), type)
    return rounded(draw(st.floats(-400, 400)), type)


@st.composite
def dense(draw) -> DenseAttr:
    type = TensorType(draw(st.sampled_from([(1,), (2, 3), (4,)])), draw(st.sampled_from(SCALARS)))
    if isinstance(type.element, FloatType):
        one = floats(type.element)
    else:
        half = 1 << (type.element.width - 1)
        one = st.booleans() if half == 1 else st.integers(-half, half - 1)
    if draw(st.booleans()):
        return DenseAttr(type, True, draw(one))
    return DenseAttr(type, False, tuple(draw(one) for _ in range(type.numel)))


values: st.SearchStrategy[Any] = st.one_of(
    numbers, st.booleans(), st.text(max_size=8), dense(), types, st.just(BLOCKED),
    st.lists(numbers, min_size=1, max_size=3).map(tuple),
    st.lists(st.text(max_size=3), min_size=1, max_size=2).map(tuple),
)  # fmt: skip
dictionaries = st.dictionaries(names, values, max_size=3)
places = st.builds(
    Location, st.text("abc/ é\"", min_size=1, max_size=6), st.integers(1, 99), st.integers(1, 99),
    st.one_of(st.none(), st.text("xyz \"(#at", max_size=6)),
)  # fmt: skip
locations = st.builds(
    lambda place, callers: Location(place.file, place.line, place.column, place.name, tuple(callers)),
    places, st.lists(places, max_size=2),
)  # fmt: skip


def keyword(spec: OperationSpec, name: str) -> st.SearchStrategy[Any]:
    enum = dict(spec.enums).get(name)
    return st.sampled_from(sorted(ENUMS[enum].values())) if enum else st.integers(0, 9)


@st.composite
def operations(draw, name: str) -> tuple[Operation, list]:
    """An operation of the table as its format allows it, and the block arguments that it uses."""
    spec = OPERATIONS[name]
    block = Block(Region())
    rule, _, of = spec.result_rule.partition(" ")
    groups: list[Any] = []

    def argument(type):
        from triton_spirv.ir import Value

        value = Value(type, draw(st.sampled_from(["a", "b", "7", "x_1", "y#1"])), block, len(block.arguments))
        block.arguments.append(value)
        return value

    for operand in spec.operands:
        kind = pointers if rule == "pointee" and operand.name == of else types
        if name in ("tt.make_tensor_descriptor", "tt.make_tensor_ptr", "tt.advance") and not operand.quantity:
            kind = st.sampled_from(POINTERS)
        if operand.quantity == "*":
            groups.append([argument(draw(kind)) for _ in range(draw(st.integers(0, 3)))])
        elif operand.quantity == "?":
            groups.append(argument(draw(kind)) if draw(st.booleans()) else None)
        else:
            groups.append(argument(draw(kind)))
    if name in ("tt.load", "ttg.async_copy_global_to_local") and groups[-2] is None:
        groups[-1] = None  # without a mask there is no other
    attributes = draw(dictionaries)
    results = []
    for item in items_of(spec.format):
        for word in item if isinstance(item, list) else [item]:
            if isinstance(item, list) and word[0] in "@!" and not draw(st.booleans()):
                continue
            if word.startswith("@@"):
                attributes[word[2:]] = "callee"
            elif word[0] == "@":
                attributes[word[1:]] = draw(keyword(spec, word[1:]))
            elif word[0] == '"':
                attributes[word[1:]] = draw(st.text(max_size=9))
            elif word[0] == "#":
                attributes[word[1:]] = tuple(draw(st.lists(numbers, max_size=3)))
            elif word[0] == "|":
                attributes[word[1:]] = draw(st.sampled_from(["all", "local", "local|global_read"]))
            elif word[0] == "!":
                attributes[word[1:]] = True
            elif word == "flags":
                attributes.update(draw(st.fixed_dictionaries({}, optional={
                    "fastmath": st.just("nnan, contract"), "overflowFlags": st.just("nsw"),
                    "isExact": st.just(True),
                })))  # fmt: skip
            elif word == "caching":
                attributes.update(draw(st.fixed_dictionaries({}, optional={"cache": st.just("cg")})))
                if "cache" in attributes:
                    attributes["evict"] = "evict_first"
            elif word == "R":
                results.append(draw(types))
    if name == "tt.make_tensor_descriptor":
        results = [TensorDescType(TensorType((4, 4), FloatType("f16")))]
    if name == "tt.make_tensor_ptr":
        results = [PointerType(TensorType((4, 4), FloatType("f16")))]
    if "F" in spec.format.split() or "R*" in spec.format.split():
        results = draw(st.lists(types, min_size=1, max_size=3))
    infer = result_types(spec)
    if infer is not None:
        results = infer(groups, results)
    flat = [v for group in groups for v in (group if isinstance(group, list) else [group]) if v is not None]
    counts = tuple(len(g) if isinstance(g, list) else int(g is not None) for g in groups)
    op = Operation(
        name, flat, attributes, results, ["r"] * len(results), draw(locations), None if spec.fixed else counts
    )
    return op, block.arguments


def module_of(op: Operation, arguments: list) -> Module:
    region = Region()
    block = Block(region)
    region.blocks.append(block)
    block.arguments = arguments
    end = Operation("tt.return", [], {}, [], [], segments=(0,))
    for inner in (op, end):
        inner.parent = block
        block.operations.append(inner)
    for value in arguments:
        value.owner = block
    attributes = {
        "sym_name": "f", "function_type": FunctionType(tuple(v.type for v in arguments), ()),
        "arg_attrs": ({},) * len(arguments),
    }  # fmt: skip
    function = Operation("tt.func", [], attributes, [], [], regions=[region])
    region.parent = function
    outer = Region()
    body = Block(outer)
    outer.blocks.append(body)
    function.parent = body
    body.operations.append(function)
    outer.parent = Operation("builtin.module", [], {}, [], [], regions=[outer])
    return Module(outer.parent)


FORMATS = sorted(
    name for name, spec in OPERATIONS.items() if not spec.format.startswith(("custom", "generic"))
)


@settings(max_examples=600, deadline=None)
@given(st.data())
def test_every_format_reads_what_it_prints(data):
    module = module_of(*data.draw(operations(data.draw(st.sampled_from(FORMATS)))))
    expected = signature(module)
    text = print_module(module)
    assert signature(parse(text)) == expected, text


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_compiles(name):
    items_of(OPERATIONS[name].format)
    result_types(OPERATIONS[name])


@given(st.data())
def test_constants(data):
    type = data.draw(st.sampled_from(SCALARS))
    if isinstance(type, FloatType):
        value = data.draw(floats(type))
    else:
        value = data.draw(
            st.booleans()
            if type.width == 1
            else st.integers(-(1 << type.width - 1), (1 << type.width - 1) - 1)
        )
    op = Operation("arith.constant", [], {"value": value}, [type], ["c"])
    if data.draw(st.booleans()):
        attribute = data.draw(dense())
        op = Operation("arith.constant", [], {"value": attribute}, [attribute.type], ["c"])
    module = module_of(op, [])
    for generic in (False, True):
        again = parse(print_module(module, generic))
        assert signature(again) == signature(module)
        found = again.entry.regions[0].entry.operations[0].attributes["value"]
        assert getattr(found, "bits", None) == getattr(op.attributes["value"], "bits", None) or found == found


def test_text_is_readable():
    text = """module {
  tt.func public @k(%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) attributes {noinline = false} {
    %c = arith.constant 2.5 : f32
    %x:2 = scf.for %i = %n to %n step %n iter_args(%a = %c, %b = %n) -> (f32, i32) : i32 {
      %y = scf.if %t -> (f32) {
        scf.yield %a : f32
      } else {
        scf.yield %c : f32
      }
      scf.yield %y, %b : f32, i32
    } {tt.num_stages = 2 : i32}
    tt.store %p, %x#0 : !tt.ptr<f32>
    tt.return
  }
}
""".replace("    %x:2", "    %t = arith.cmpi slt, %n, %n : i32\n    %x:2")
    assert print_module(parse(text), locations=False) == text
