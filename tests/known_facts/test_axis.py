"""Axis information: what it says of known programs, and that what it says is true of random ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from known_facts.evaluate import Evaluator, Overflow
from triton_spirv.facts.axis import AxisInfo, axis_info
from triton_spirv.facts.axis_shapes import lengths, unit
from triton_spirv.ir import Value, parse

POINTER = "%p: !tt.ptr<f32> {tt.divisibility = 16 : i32}"


def facts(
    body: str, arguments: str = f"{POINTER}, %n: i32, %m: i32 {{tt.divisibility = 16 : i32}}"
) -> dict[str, AxisInfo]:
    """name -> fact, of a function with this body"""
    module = parse(f"tt.func public @k({arguments}) {{\n{body}\ntt.return\n}}")
    return {value.name: info for value, info in axis_info(module.entry).items()}


def triple(info: AxisInfo) -> tuple[tuple[int, ...], ...]:
    return info.contiguity, info.divisibility, info.constancy


def test_range_plus_block_offset():
    found = facts("""
        %pid = tt.get_program_id x : i32
        %c = arith.constant 128 : i32
        %start = arith.muli %pid, %c : i32
        %s = tt.splat %start : i32 -> tensor<128xi32>
        %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
        %o = arith.addi %s, %r : tensor<128xi32>
        %b = tt.splat %p : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>>
        %a = tt.addptr %b, %o : tensor<128x!tt.ptr<f32>>, tensor<128xi32>
        %l = tt.splat %m : i32 -> tensor<128xi32>
        %mask = arith.cmpi slt, %o, %l : tensor<128xi32>
        %any = tt.splat %n : i32 -> tensor<128xi32>
        %tail = arith.cmpi slt, %o, %any : tensor<128xi32>
    """)
    assert triple(found["o"]) == ((128,), (128,), (1,))
    assert triple(found["a"]) == ((128,), (16,), (1,))  # bytes: min(16, 128 * 4)
    assert found["mask"].constancy == (16,)
    assert found["tail"].constancy == (1,)


def test_matrix_of_pointers():
    found = facts("""
        %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
        %rows = tt.expand_dims %r {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
        %columns = tt.expand_dims %r {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
        %stride = tt.splat %m : i32 -> tensor<16x1xi32>
        %down = arith.muli %rows, %stride : tensor<16x1xi32>
        %b = tt.splat %p : !tt.ptr<f32> -> tensor<16x1x!tt.ptr<f32>>
        %c = tt.addptr %b, %down : tensor<16x1x!tt.ptr<f32>>, tensor<16x1xi32>
        %d = tt.broadcast %c : tensor<16x1x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
        %e = tt.broadcast %columns : tensor<1x16xi32> -> tensor<16x16xi32>
        %a = tt.addptr %d, %e : tensor<16x16x!tt.ptr<f32>>, tensor<16x16xi32>
        %t = tt.trans %a {order = array<i32: 1, 0>} : tensor<16x16x!tt.ptr<f32>> -> tensor<16x16x!tt.ptr<f32>>
    """)
    assert found["d"].constancy == (1, 16)
    assert found["a"].contiguity == (1, 16)
    assert found["a"].divisibility[1] == 16
    assert found["t"].contiguity == (16, 1)


def test_swizzled_matmul_rows_stay_contiguous():
    """((pid // n) * 64 + arange) % m: the remainder keeps groups of 16, as 16 divides m."""
    found = facts("""
        %pid = tt.get_program_id x : i32
        %q = arith.divsi %pid, %n : i32
        %c = arith.constant 64 : i32
        %start = arith.muli %q, %c : i32
        %s = tt.splat %start : i32 -> tensor<64xi32>
        %r = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        %o = arith.addi %s, %r : tensor<64xi32>
        %l = tt.splat %m : i32 -> tensor<64xi32>
        %w = arith.remsi %o, %l : tensor<64xi32>
        %row = arith.divsi %o, %l : tensor<64xi32>
    """)
    assert triple(found["w"]) == ((16,), (16,), (1,))
    assert found["row"].constancy == (16,)


def test_negative_numbers_round_towards_zero():
    found = facts("""
        %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
        %eight = arith.constant dense<8> : tensor<16xi32>
        %o = arith.subi %r, %eight : tensor<16xi32>
        %q = arith.divsi %o, %eight : tensor<16xi32>
        %w = arith.remsi %o, %eight : tensor<16xi32>
        %three = arith.constant dense<3> : tensor<16xi32>
        %down = arith.shrsi %o, %three : tensor<16xi32>
        %seven = arith.constant dense<7> : tensor<16xi32>
        %low = arith.andi %o, %seven : tensor<16xi32>
    """)
    assert found["q"].constancy == (1,)  # -8 / 8, -7 / 8 are -1, 0
    assert found["w"].contiguity == (1,)
    assert found["down"].constancy == (8,)
    assert triple(found["low"])[:2] == ((8,), (8,))


def test_loop_loses_what_an_iteration_does_not_keep():
    found = facts("""
        %zero = arith.constant 0 : i32
        %eight = arith.constant 8 : i32
        %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
        %c4 = arith.constant dense<4> : tensor<16xi32>
        %any = tt.splat %n : i32 -> tensor<16xi32>
        %x:3 = scf.for %i = %zero to %n step %eight iter_args(%a = %r, %b = %r, %c = %zero)
            -> (tensor<16xi32>, tensor<16xi32>, i32) : i32 {
          %d = arith.addi %a, %c4 : tensor<16xi32>
          %e = arith.muli %b, %any : tensor<16xi32>
          scf.yield %d, %e, %c : tensor<16xi32>, tensor<16xi32>, i32
        }
    """)
    assert found["i"].divisibility == (8,) and found["i"].nonnegative
    assert triple(found["x#0"]) == ((16,), (4,), (1,))
    assert triple(found["b"]) == ((1,), (1,), (1,))
    assert found["x#2"].constant == 0


def test_branches_meet():
    found = facts("""
        %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
        %z = arith.constant dense<0> : tensor<16xi32>
        %zero = arith.constant 0 : i32
        %t = arith.cmpi sgt, %n, %zero : i32
        %x = scf.if %t -> (tensor<16xi32>) {
          %c32 = arith.constant dense<32> : tensor<16xi32>
          %y = arith.addi %r, %c32 : tensor<16xi32>
          scf.yield %y : tensor<16xi32>
        } else {
          scf.yield %r : tensor<16xi32>
        }
        %s = arith.select %t, %r, %z : tensor<16xi32>
    """)
    assert triple(found["x"]) == ((16,), (32,), (1,))
    assert triple(found["s"]) == ((1,), (1,), (1,))


def test_blocks_meet():
    found = facts("""
        %zero = arith.constant 0 : i32
        %eight = arith.constant 8 : i32
        %twelve = arith.constant 12 : i32
        cf.br ^bb1(%zero : i32)
      ^bb1(%i: i32):
        %next = arith.addi %i, %eight : i32
        %t = arith.cmpi slt, %next, %n : i32
        cf.cond_br %t, ^bb1(%next : i32), ^bb2(%i, %twelve : i32, i32)
      ^bb2(%j: i32, %k: i32):
        %sum = arith.addi %j, %k : i32
    """)
    assert found["i"].divisibility == (8,) and found["i"].constant is None
    assert found["k"].constant == 12
    assert found["sum"].divisibility == (4,)


def test_hints_win():
    found = facts("""
        %r = tt.load %p : !tt.ptr<f32>
        %i = arith.fptosi %r : f32 to i32
        %s = tt.splat %i : i32 -> tensor<64xi32>
        %k = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
        %x = arith.muli %s, %k {tt.contiguity = dense<8> : tensor<1xi32>,
                                tt.divisibility = dense<24> : tensor<1xi32>,
                                tt.constancy = 4 : i32} : tensor<64xi32>
    """)
    assert triple(found["x"]) == ((8,), (8,), (4,))


def test_every_value_has_a_fact():
    module = parse(f"""tt.func public @k({POINTER}) {{
      %r = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
      %s = "tt.reduce"(%r) <{{axis = 0 : i32}}> ({{
      ^bb0(%a: i32, %b: i32):
        %c = arith.addi %a, %b : i32
        tt.reduce.return %c : i32
      }}) : (tensor<16xi32>) -> i32
      %q:2 = tt.call @f(%s) : (i32) -> (i32, i32)
      %v = arith.addi %q#0, %s : i32
      tt.return
    }}
    tt.func private @f(%x: i32) -> (i32, i32) {{
      tt.return %x, %x : i32, i32
    }}""")
    known = axis_info(module.functions["k"])
    for op in module.functions["k"].walk():
        assert all(result in known for result in op.results)


# Random programs


def check(value: Value, array: np.ndarray, info: AxisInfo) -> None:
    """That every statement of `info` is true of these numbers."""
    shape = lengths(value.type)
    array = array.reshape(shape)
    step = unit(value.type)
    for d, n in enumerate(shape):
        c, k = info.contiguity[d], info.constancy[d]
        assert n % c == 0 and n % k == 0, (value, info)
        lines = np.moveaxis(array, d, -1)
        groups = lines.reshape(*lines.shape[:-1], n // c, c)
        assert (groups - groups[..., :1] == np.arange(c) * step).all(), ("contiguity", value, info, array)
        assert (groups[..., 0] % info.divisibility[d] == 0).all(), ("divisibility", value, info, array)
        groups = lines.reshape(*lines.shape[:-1], n // k, k)
        assert (groups == groups[..., :1]).all(), ("constancy", value, info, array)
    if info.constant is not None:
        assert (array == info.constant).all(), ("constant", value, info, array)
    if info.nonnegative:
        assert (array >= 0).all(), ("nonnegative", value, info, array)


class Program:
    """Draws a function of integer tensors, line by line; `pool`: type -> names."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.lines: list[str] = []
        self.pool: dict[str, list[str]] = {"i32": ["%n", "%m", "%q"], "!tt.ptr<f16>": ["%p"]}
        self.count = 0

    def emit(self, text: str, type: str) -> str:
        name = f"%v{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        self.pool.setdefault(type, []).append(name)
        return name

    def pick(self, type: str) -> str:
        names = self.pool[type]
        return names[-1 - self.draw(st.integers(0, len(names) - 1))]

    def tensor(self, length: int) -> str:
        """A name of type tensor<length x i32>, a new one if there is none."""
        type = f"tensor<{length}xi32>"
        if type not in self.pool:
            self.emit(f"tt.make_range {{end = {length} : i32, start = 0 : i32}} : {type}", type)
        return self.pick(type)

    def constant(self, type: str, value: int) -> str:
        text = f"dense<{value}> : {type}" if type.startswith("tensor") else f"{value} : {type}"
        return self.emit(f"arith.constant {text}", type)

    def step(self) -> None:
        draw = self.draw
        length = draw(st.sampled_from([8, 16, 32]))
        type = draw(st.sampled_from([f"tensor<{length}xi32>", f"tensor<{length}xi32>", "i32"]))
        a = self.tensor(length) if type != "i32" else self.pick("i32")
        kind = draw(
            st.sampled_from(
                [
                    "binary",
                    "binary",
                    "binary",
                    "constant",
                    "splat",
                    "range",
                    "divide",
                    "divide",
                    "mask",
                    "shift",
                    "compare",
                    "select",
                    "cast",
                    "matrix",
                    "pointer",
                    "extremum",
                    "reshape",
                    "index",
                    "index",
                    "index",
                ]
            )
        )
        if kind == "constant":
            self.constant(type, draw(st.sampled_from([0, 1, 2, 3, 4, 8, 12, 16, 64, -1, -4, -16])))
        elif kind == "binary":
            name = draw(st.sampled_from(["addi", "addi", "subi", "muli", "andi", "ori", "xori"]))
            self.emit(f"arith.{name} {a}, {self.pick(type)} : {type}", type)
        elif kind == "splat":
            self.emit(f"tt.splat {self.pick('i32')} : i32 -> tensor<{length}xi32>", f"tensor<{length}xi32>")
        elif kind == "range":
            type = f"tensor<{length}xi32>"
            start = draw(st.sampled_from([0, 4, 8, 6, 32]))
            self.emit(
                f"tt.make_range {{end = {start + length} : i32, start = {start} : i32}} : {type}", type
            )
        elif kind == "divide":
            name = draw(st.sampled_from(["divsi", "remsi", "divui", "remui"]))
            if type != "i32" and draw(st.booleans()):
                b = self.emit(f"tt.splat %q : i32 -> {type}", type)
            else:
                b = self.constant(type, draw(st.sampled_from([1, 2, 3, 4, 8, 24, 16])))
            self.emit(f"arith.{name} {a}, {b} : {type}", type)
        elif kind == "mask":
            b = self.constant(type, draw(st.sampled_from([1, 3, 7, 15, 8, 12, -8, 0])))
            self.emit(f"arith.andi {a}, {b} : {type}", type)
        elif kind == "shift":
            b = self.constant(type, draw(st.integers(0, 5)))
            self.emit(f"arith.{draw(st.sampled_from(['shli', 'shrsi', 'shrui']))} {a}, {b} : {type}", type)
        elif kind == "extremum":
            name = draw(st.sampled_from(["maxsi", "minsi", "maxui", "minui"]))
            self.emit(f"arith.{name} {a}, {self.pick(type)} : {type}", type)
        elif kind == "compare":
            predicate = draw(st.sampled_from("eq ne slt sle sgt sge ult ule ugt uge".split()))
            self.emit(f"arith.cmpi {predicate}, {a}, {self.pick(type)} : {type}", type.replace("i32", "i1"))
        elif kind == "select":
            masks = type.replace("i32", "i1")
            if masks not in self.pool:
                self.emit(f"arith.cmpi slt, {a}, {self.pick(type)} : {type}", masks)
            scalar = masks != "i1" and "i1" in self.pool and draw(st.booleans())
            condition = self.pick("i1" if scalar else masks)
            types = type if scalar or type == "i32" else f"{masks}, {type}"
            self.emit(f"arith.select {condition}, {a}, {self.pick(type)} : {types}", type)
        elif kind == "cast":
            small = draw(st.sampled_from(["i8", "i16", "i64"]))
            other = type.replace("i32", small)
            if small == "i64":
                b = self.emit(
                    f"arith.{draw(st.sampled_from(['extsi', 'extui']))} {a} : {type} to {other}", other
                )
                self.emit(f"arith.trunci {b} : {other} to {type}", type)
            else:
                b = self.emit(f"arith.trunci {a} : {type} to {other}", other)
                self.emit(f"arith.{draw(st.sampled_from(['extsi', 'extui']))} {b} : {other} to {type}", type)
        elif kind == "index":
            self.index(length)
        elif kind == "matrix":
            self.matrix(length)
        elif kind == "pointer":
            self.pointers(length)
        elif kind == "reshape":
            one, two = f"tensor<{length}xi32>", f"tensor<4x{length // 4}xi32>"
            b = self.emit(f"tt.reshape {self.tensor(length)} : {one} -> {two}", two)
            if draw(st.booleans()):
                turned = f"tensor<{length // 4}x4xi32>"
                b = self.emit(f"tt.trans {b} {{order = array<i32: 1, 0>}} : {two} -> {turned}", turned)
                two = turned
            self.emit(f"tt.reshape {b} : {two} -> {one}", one)

    def index(self, length: int) -> None:
        """What kernels do: a range from somewhere, divided, taken the remainder of, or made narrow."""
        draw = self.draw
        type = f"tensor<{length}xi32>"
        a = self.emit(f"tt.make_range {{end = {length} : i32, start = 0 : i32}} : {type}", type)
        b = self.constant(type, draw(st.sampled_from([-32, -16, -8, -4, -2, 8, 16, 112, 120, 124, 250])))
        a = self.emit(f"arith.addi {a}, {b} : {type}", type)
        kind = draw(st.sampled_from(["divsi", "divui", "remsi", "remui", "shrsi", "andi", "i8", "splat"]))
        if kind == "i8":
            other = type.replace("i32", kind)
            b = self.emit(f"arith.trunci {a} : {type} to {other}", other)
            self.emit(f"arith.{draw(st.sampled_from(['extsi', 'extui']))} {b} : {other} to {type}", type)
            return
        divisors = {"shrsi": [1, 2, 3], "andi": [3, 7, 15]}.get(kind, [2, 4, 8, 16, 12])
        b = self.constant(type, draw(st.sampled_from(divisors)))
        if kind == "splat":
            kind, b = "remsi", self.emit(f"tt.splat %q : i32 -> {type}", type)
        self.emit(f"arith.{kind} {a}, {b} : {type}", type)

    def matrix(self, length: int) -> None:
        """A column and a row, broadcast and combined."""
        rows, columns = f"tensor<{length}x1xi32>", "tensor<1x8xi32>"
        both = f"tensor<{length}x8xi32>"
        a = self.emit(
            f"tt.expand_dims {self.tensor(length)} {{axis = 1 : i32}} : tensor<{length}xi32> -> {rows}", rows
        )
        b = self.emit(
            f"tt.expand_dims {self.tensor(8)} {{axis = 0 : i32}} : tensor<8xi32> -> {columns}", columns
        )
        a = self.emit(f"tt.broadcast {a} : {rows} -> {both}", both)
        b = self.emit(f"tt.broadcast {b} : {columns} -> {both}", both)
        name = self.draw(st.sampled_from(["addi", "muli", "ori"]))
        c = self.emit(f"arith.{name} {a}, {b} : {both}", both)
        flat = f"tensor<{length * 8}xi32>"
        c = self.emit(f"tt.reshape {c} : {both} -> {flat}", flat)
        if length == 8:
            self.emit(f"tt.splat %n : i32 -> {both}", both)

    def pointers(self, length: int) -> None:
        ints, pointers = f"tensor<{length}xi32>", f"tensor<{length}x!tt.ptr<f16>>"
        if pointers not in self.pool or self.draw(st.booleans()):
            self.emit(f"tt.splat {self.pick('!tt.ptr<f16>')} : !tt.ptr<f16> -> {pointers}", pointers)
        a = self.emit(
            f"tt.addptr {self.pick(pointers)}, {self.tensor(length)} : {pointers}, {ints}", pointers
        )
        if self.draw(st.booleans()):
            wide = f"tensor<{length}x!tt.ptr<i32>>"
            b = self.emit(f"tt.bitcast {a} : {pointers} -> {wide}", wide)
            self.emit(f"tt.addptr {b}, {self.tensor(length)} : {wide}, {ints}", wide)

    def block(self, count: int) -> None:
        for _ in range(count):
            self.step()

    def loop(self) -> None:
        """scf.for that carries a tensor and a scalar through random steps."""
        type = "tensor<16xi32>"
        a, b = self.tensor(16), self.pick("i32")
        lower, step = self.constant("i32", self.draw(st.sampled_from([0, 8, -8]))), self.constant("i32", 8)
        upper = self.constant("i32", self.draw(st.sampled_from([-8, 0, 8, 24])))
        outer = {key: list(names) for key, names in self.pool.items()}
        k = self.count
        self.count += 1
        self.lines.append(
            f"%w{k}:2 = scf.for %i{k} = {lower} to {upper} step {step} iter_args(%x{k} = {a}, %y{k} = {b}) "
            f"-> ({type}, i32) : i32 {{"
        )
        self.pool["i32"] += [f"%i{k}", f"%y{k}"]
        self.pool[type].append(f"%x{k}")
        self.block(self.draw(st.integers(1, 4)))
        self.lines.append(f"scf.yield {self.pick(type)}, {self.pick('i32')} : {type}, i32")
        self.lines.append("}")
        self.pool = outer
        self.pool[type].append(f"%w{k}#0")
        self.pool["i32"].append(f"%w{k}#1")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_facts_are_true_of_random_programs(data):
    program = Program(data)
    program.block(data.draw(st.integers(1, 8)))
    if data.draw(st.booleans()):
        program.loop()
        program.block(2)
    body = "\n".join(program.lines)
    text = f"""tt.func public @k(%p: !tt.ptr<f16> {{tt.divisibility = 16 : i32}}, %n: i32,
                                 %m: i32 {{tt.divisibility = 16 : i32}},
                                 %q: i32 {{tt.divisibility = 8 : i32}}) {{
    {body}
    tt.return
    }}"""
    module = parse(text)
    known = axis_info(module.entry)
    n = data.draw(st.integers(-40, 40))
    m = 16 * data.draw(st.integers(-3, 3))
    q = 8 * data.draw(st.integers(1, 4))
    evaluator = Evaluator(lambda value, array: check(value, array, known[value]))
    try:
        evaluator.function(module.entry, [4096, n, m, q])
    except Overflow:
        pass


@pytest.mark.parametrize("upper", [0, 5])
def test_facts_are_true_of_a_while_loop(upper):
    module = parse("""tt.func public @k(%n: i32) {
      %zero = arith.constant 0 : i32
      %four = arith.constant 4 : i32
      %one = arith.constant 1 : i32
      %r:2 = scf.while (%i = %zero, %x = %zero) : (i32, i32) -> (i32, i32) {
        %go = arith.cmpi slt, %i, %n : i32
        %y = arith.addi %x, %four : i32
        scf.condition(%go) %y, %i : i32, i32
      } do {
      ^bb0(%a: i32, %b: i32):
        %c = arith.addi %b, %one : i32
        scf.yield %c, %a : i32, i32
      }
      tt.return
    }""")
    known = axis_info(module.entry)
    assert {v.name: k.divisibility for v, k in known.items()}["r#0"] == (4,)
    Evaluator(lambda value, array: check(value, array, known[value])).function(module.entry, [upper])
