"""facts/masked_elements.py: what masked elements are, and whether anything asks for them."""

from __future__ import annotations

import pytest
from triton_spirv.facts.masked_elements import governed, implies, is_asked_outside, number
from triton_spirv.ir import Value, parse

FLOATS, MASK, POINTERS = "tensor<16xf32>", "tensor<16xi1>", "tensor<16x!tt.ptr<f32>>"

GIVEN = f"""
    %zero = arith.constant dense<0.000000e+00> : {FLOATS}
    %i = tt.make_range {{end = 16 : i32, start = 0 : i32}} : tensor<16xi32>
    %ns = tt.splat %n : i32 -> tensor<16xi32>
    %ks = tt.splat %k : i32 -> tensor<16xi32>
    %m = arith.cmpi slt, %i, %ns : tensor<16xi32>
    %o = arith.cmpi slt, %i, %ks : tensor<16xi32>
    %both = arith.andi %m, %o : {MASK}
    %x = tt.load %p, %both, %zero : {POINTERS}
"""


def values(body: str) -> dict[str, Value]:
    module = parse(f"tt.func public @k(%p: {POINTERS}, %n: i32, %k: i32, %c: i1) {{\n{GIVEN}\n{body}\n"
                   "tt.return\n}")
    return {value.name: value for op in module.walk() for value in op.results}


def test_a_mask_implies_its_parts() -> None:
    found = values("")
    m, both = found["m"], found["both"]
    assert implies(both, m) and implies(both, both) and implies(m, m)
    assert not implies(m, both) and not implies(found["o"], m) and not implies(None, m)


def test_what_masked_elements_are() -> None:
    found = values(f"""
        %s = arith.select %m, %x, %zero : {MASK}, {FLOATS}
        %u = arith.select %c, %x, %zero : {FLOATS}
        %y = arith.addf %x, %x : {FLOATS}
    """)
    assert governed(found["s"]) == (found["m"], found["zero"])
    assert governed(found["x"]) == (found["both"], found["zero"])
    assert governed(found["u"]) is None and governed(found["y"]) is None
    assert number(found["zero"]) == 0 and number(found["y"]) is None


@pytest.mark.parametrize("use, asked", [
    ("tt.store %p, %y, %m", {"m": False, "o": True, "both": True}),
    ("tt.store %p, %y, %both", {"m": False, "o": False, "both": False}),
    ("tt.store %p, %y", {"m": True, "o": True, "both": True}),
])
def test_stores(use: str, asked: dict[str, bool]) -> None:
    """A mask of fewer parts may be true where one of more is false."""
    found = values(f"%y = arith.mulf %x, %x : {FLOATS}\n{use} : {POINTERS}")
    assert {name: is_asked_outside(found["x"], found[name]) for name in asked} == asked


@pytest.mark.parametrize("body, asked", [
    (f"%s = arith.select %m, %x, %zero : {MASK}, {FLOATS}\ntt.store %p, %s : {POINTERS}", False),
    (f"%s = arith.select %m, %zero, %x : {MASK}, {FLOATS}\ntt.store %p, %s, %o : {POINTERS}", True),
    (f"%s = arith.select %c, %x, %zero : {FLOATS}\ntt.store %p, %s : {POINTERS}", True),
    (f"%q = tt.reshape %x : {FLOATS} -> tensor<4x4xf32>", True),
    (f"%w = tt.load %p, %m, %x : {POINTERS}", True),
    (f"%y = arith.mulf %x, %x : {FLOATS}", False),
])
def test_other_uses(body: str, asked: bool) -> None:
    found = values(body)
    assert is_asked_outside(found["x"], found["m"]) == asked
