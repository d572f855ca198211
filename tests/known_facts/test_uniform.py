"""facts/uniform.py: which tensors hold one value."""

from __future__ import annotations

from triton_spirv.facts.uniform import is_uniform
from triton_spirv.ir import Module, Value, parse


def module_of(body: str) -> Module:
    return parse(
        f"tt.func public @k(%p: !tt.ptr<f32>, %n: i32, %t: tensor<16xi32>) {{\n{body}\ntt.return\n}}"
    )


def values(module: Module) -> dict[str, Value]:
    return {value.name: value for op in module.walk() for value in op.results}


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
