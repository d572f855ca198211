"""facts/pointers.py: which arguments a kernel may write through, for every way that a pointer can go."""

from __future__ import annotations

import pytest
from triton_spirv.facts.pointers import written_arguments
from triton_spirv.ir import parse

POINTERS = "%a: !tt.ptr<f32>, %b: !tt.ptr<f32>, %n: i32"
HEAD = "%x = arith.constant 1.0 : f32\n%m = arith.constant true\n%i = arith.constant 1 : i32\n"


def written(body: str, arguments: str = POINTERS, more: str = "") -> tuple[bool, ...]:
    text = f"module {{\n{more}\ntt.func public @kernel({arguments}) {{\n{HEAD}{body}\ntt.return\n}}\n}}\n"
    return written_arguments(parse(text))


CASES = {
    "a load": ("%v = tt.load %a : !tt.ptr<f32>", (False, False, False)),
    "a store": ("""
        %v = tt.load %a : !tt.ptr<f32>
        tt.store %b, %v : !tt.ptr<f32>""", (False, True, False)),
    "moved": ("""
        %p = tt.addptr %a, %n : !tt.ptr<f32>, i32
        %v = tt.load %b : !tt.ptr<f32>
        tt.store %p, %v : !tt.ptr<f32>""", (True, False, False)),
    "a tensor": ("""
        %p = tt.splat %b : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
        %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
        %q = tt.addptr %p, %r : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
        %v = arith.constant dense<1.0> : tensor<4xf32>
        tt.store %q, %v : tensor<4x!tt.ptr<f32>>""", (False, True, False)),
    "either": ("""
        %p = arith.select %m, %a, %b : !tt.ptr<f32>
        tt.store %p, %x : !tt.ptr<f32>""", (True, True, False)),
    "an atomic": ("""
        %o = tt.atomic_rmw fadd, relaxed, gpu, %a, %x, %m : (!tt.ptr<f32>, f32, i1) -> f32
        """, (True, False, False)),
    "an atomic load": ("""
        %o = tt.atomic_load relaxed, gpu, %a, %m : (!tt.ptr<f32>, i1) -> f32""", (False, False, False)),
    "an address": ("""
        %v = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
        %p = tt.int_to_ptr %v : i64 -> !tt.ptr<f32>
        tt.store %p, %x : !tt.ptr<f32>""", (True, True, False)),
    "an address that is read": ("""
        %v = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
        %p = tt.int_to_ptr %v : i64 -> !tt.ptr<f32>
        %w = tt.load %p : !tt.ptr<f32>
        tt.store %b, %w : !tt.ptr<f32>""", (False, True, False)),
    "a branch": ("""
        %p = scf.if %m -> (!tt.ptr<f32>) {
          scf.yield %a : !tt.ptr<f32>
        } else {
          scf.yield %a : !tt.ptr<f32>
        }
        tt.store %p, %x : !tt.ptr<f32>""", (True, False, False)),
    "a loop that exchanges two": ("""
        %r:2 = scf.for %k = %i to %n step %i
            iter_args(%p = %a, %q = %b) -> (!tt.ptr<f32>, !tt.ptr<f32>)  : i32 {
          tt.store %p, %x : !tt.ptr<f32>
          scf.yield %q, %p : !tt.ptr<f32>, !tt.ptr<f32>
        }""", (True, True, False)),
    "a loop that keeps them apart": ("""
        %r:2 = scf.for %k = %i to %n step %i
            iter_args(%p = %a, %q = %b) -> (!tt.ptr<f32>, !tt.ptr<f32>)  : i32 {
          %s = tt.addptr %p, %i : !tt.ptr<f32>, i32
          scf.yield %s, %q : !tt.ptr<f32>, !tt.ptr<f32>
        }
        tt.store %r#0, %x : !tt.ptr<f32>""", (True, False, False)),
    "a while loop": ("""
        %r = scf.while (%p = %a) : (!tt.ptr<f32>) -> !tt.ptr<f32> {
          scf.condition(%m) %p : !tt.ptr<f32>
        } do {
        ^bb0(%q: !tt.ptr<f32>):
          %s = arith.select %m, %q, %b : !tt.ptr<f32>
          scf.yield %s : !tt.ptr<f32>
        }
        tt.store %r, %x : !tt.ptr<f32>""", (True, True, False)),
    "an early return": ("""
        cf.cond_br %m, ^bb1, ^bb2(%a : !tt.ptr<f32>)
        ^bb1:
        cf.br ^bb2(%b : !tt.ptr<f32>)
        ^bb2(%p: !tt.ptr<f32>):
        tt.store %p, %x : !tt.ptr<f32>""", (True, True, False)),
}


@pytest.mark.parametrize("case", CASES)
def test_ways(case: str) -> None:
    body, expected = CASES[case]
    assert written(body) == expected


def test_pointer_from_memory_may_be_any() -> None:
    body = "%p = tt.load %b : !tt.ptr<!tt.ptr<f32>>\ntt.store %p, %x : !tt.ptr<f32>"
    assert written(body, "%a: !tt.ptr<f32>, %b: !tt.ptr<!tt.ptr<f32>>, %n: i32") == (True, True, False)


def test_calls() -> None:
    """Through what is passed, and through what is returned."""
    put = """
        tt.func private @put(%p: !tt.ptr<f32>, %q: !tt.ptr<f32>) -> !tt.ptr<f32> {
          %v = tt.load %p : !tt.ptr<f32>
          tt.store %q, %v : !tt.ptr<f32>
          tt.return %p : !tt.ptr<f32>
        }"""
    call = "%r = tt.call @put(%a, %b) : (!tt.ptr<f32>, !tt.ptr<f32>) -> !tt.ptr<f32>\n"
    assert written(call, more=put) == (False, True, False)
    assert written(call + "tt.store %r, %x : !tt.ptr<f32>", more=put) == (True, True, False)
