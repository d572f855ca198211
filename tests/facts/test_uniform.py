"""Uniform tensors, and loops that move a tensor by one."""

from __future__ import annotations

from triton_spirv.facts.uniform import is_uniform, uniform_step
from triton_spirv.ir import Module, Operation, Value, parse

POINTERS = "tensor<16x!tt.ptr<f32>>"


def module_of(body: str) -> Module:
    return parse(
        f"tt.func public @k(%p: !tt.ptr<f32>, %n: i32, %t: tensor<16xi32>) {{\n{body}\ntt.return\n}}"
    )


def values(module: Module) -> dict[str, Value]:
    return {value.name: value for op in module.walk() for value in op.results}


def loop_of(body: str) -> Operation:
    return next(op for op in module_of(body).walk() if op.name in ("scf.for", "scf.while"))


def test_what_is_uniform():
    found = values(
        module_of("""
        %s = tt.splat %n : i32 -> tensor<16xi32>
        %c = arith.constant dense<3> : tensor<16xi32>
        %d = arith.constant dense<[1, 2]> : tensor<2xi32>
        %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
        %x = arith.muli %s, %c : tensor<16xi32>
        %y = arith.extsi %x : tensor<16xi32> to tensor<16xi64>
        %e = tt.expand_dims %y {axis = 0 : i32} : tensor<16xi64> -> tensor<1x16xi64>
        %b = tt.broadcast %e : tensor<1x16xi64> -> tensor<4x16xi64>
        %z = arith.addi %x, %r : tensor<16xi32>
        %u = arith.addi %x, %t : tensor<16xi32>
        %v = arith.addi %n, %n : i32
    """)
    )
    assert {name: is_uniform(value) for name, value in found.items()} == {
        "s": True,
        "c": True,
        "d": False,
        "r": False,
        "x": True,
        "y": True,
        "e": True,
        "b": True,
        "z": False,
        "u": False,
        "v": True,
    }


def test_long_chains_are_no_recursion():
    lines = ["%x0 = tt.splat %n : i32 -> tensor<16xi32>"]
    lines += [f"%x{k + 1} = arith.addi %x{k}, %x{k} : tensor<16xi32>" for k in range(3000)]
    assert is_uniform(values(module_of("\n".join(lines)))["x3000"])


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
    assert [value.name for value in uniform_step(loop, 0)] == ["c", "k"]
    assert [value.name for value in uniform_step(loop, 1)] == ["s"]
    assert uniform_step(loop, 2) is None  # %t is no uniform tensor
    assert uniform_step(loop, 3) == []


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
    assert uniform_step(loop, 0) is None and uniform_step(loop, 1) is None


def test_a_while_loop_adds_in_both_regions():
    loop = loop_of(
        HEAD
        + """
        %x:2 = scf.while (%i = %zero, %a = %t) : (i32, tensor<16xi32>) -> (tensor<16xi32>, i32) {
          %go = arith.cmpi slt, %i, %n : i32
          %a1 = arith.addi %a, %c : tensor<16xi32>
          scf.condition(%go) %a1, %i : tensor<16xi32>, i32
        } do {
        ^bb0(%b: tensor<16xi32>, %j: i32):
          %b1 = arith.addi %b, %s : tensor<16xi32>
          %j1 = arith.muli %j, %j : i32
          scf.yield %j1, %b1 : i32, tensor<16xi32>
        }
    """
    )
    assert [value.name for value in uniform_step(loop, 1)] == ["c", "s"]
    assert uniform_step(loop, 0) is None
