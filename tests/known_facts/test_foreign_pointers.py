"""facts/foreign_pointers.py: does a kernel follow addresses that no argument gave it?"""

from __future__ import annotations

import pytest
from triton_spirv.facts.foreign_pointers import follows
from triton_spirv.ir import parse

HEAD = """%x = arith.constant 1.0 : f32
%eight = arith.constant 8 : i64
%i = arith.constant 1 : i32"""
ARGUMENTS = ("%a: !tt.ptr<f32>, %table: !tt.ptr<i64>, %pointers: !tt.ptr<!tt.ptr<f32>>, %number: i64, "
             "%m: i1, %n: i32")


def found(body: str, more: str = "") -> str:
    """Where the kernel follows one; places are lines of the text, of which the body begins with the sixth."""
    text = f"module {{\n{more}\ntt.func public @kernel({ARGUMENTS}) {{\n{HEAD}\n{body}\ntt.return\n}}\n}}\n"
    return follows(parse(text))


LOADED = "%w = tt.load %table : !tt.ptr<i64>\n%p = tt.int_to_ptr %w : i64 -> !tt.ptr<f32>\n"
READ = "%v = tt.load %p : !tt.ptr<f32>"

FOREIGN = {
    "a loaded number": (LOADED + READ, "tt.load"),
    "a loaded pointer": ("%p = tt.load %pointers : !tt.ptr<!tt.ptr<f32>>\n" + READ, "tt.load"),
    "an argument that is a number": ("%p = tt.int_to_ptr %number : i64 -> !tt.ptr<f32>\n" + READ, "tt.load"),
    "a store": (LOADED + "tt.store %p, %x : !tt.ptr<f32>", "tt.store"),
    "an atomic": (LOADED + "%o = tt.atomic_rmw fadd, relaxed, gpu, %p, %x, %m : "
                           "(!tt.ptr<f32>, f32, i1) -> f32", "tt.atomic_rmw"),
    "moved": (LOADED + """
        %q = tt.addptr %p, %n : !tt.ptr<f32>, i32
        tt.store %q, %x : !tt.ptr<f32>""", "tt.store"),
    "a tensor": (LOADED + """
        %s = tt.splat %p : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
        %r = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
        %q = tt.addptr %s, %r : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
        %v = tt.load %q : tensor<4x!tt.ptr<f32>>""", "tt.load"),
    "one or the other": (LOADED + """
        %q = arith.select %m, %a, %p : !tt.ptr<f32>
        tt.store %q, %x : !tt.ptr<f32>""", "tt.store"),
    "one or the other number": ("""
        %w = tt.load %table : !tt.ptr<i64>
        %b = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
        %c = arith.select %m, %b, %w : i64
        %p = tt.int_to_ptr %c : i64 -> !tt.ptr<f32>
        tt.store %p, %x : !tt.ptr<f32>""", "tt.store"),
    "a sum of two addresses": ("""
        %b = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
        %c = arith.addi %b, %b : i64
        %p = tt.int_to_ptr %c : i64 -> !tt.ptr<f32>
        tt.store %p, %x : !tt.ptr<f32>""", "tt.store"),
    "there and back": (LOADED + """
        %b = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
        %c = arith.addi %b, %eight : i64
        %q = tt.int_to_ptr %c : i64 -> !tt.ptr<f32>
        tt.store %q, %x : !tt.ptr<f32>""", "tt.store"),
    "out of a branch": (LOADED + """
        %q = scf.if %m -> (!tt.ptr<f32>) {
          scf.yield %a : !tt.ptr<f32>
        } else {
          scf.yield %p : !tt.ptr<f32>
        }
        tt.store %q, %x : !tt.ptr<f32>""", "tt.store"),
    "out of a loop": (LOADED + """
        %r:2 = scf.for %k = %i to %n step %i
            iter_args(%s = %a, %t = %p) -> (!tt.ptr<f32>, !tt.ptr<f32>)  : i32 {
          tt.store %s, %x : !tt.ptr<f32>
          scf.yield %t, %s : !tt.ptr<f32>, !tt.ptr<f32>
        }""", "tt.store"),
}

OWN = {
    "nothing": "tt.store %a, %x : !tt.ptr<f32>",
    "not followed": LOADED + "tt.store %a, %x : !tt.ptr<f32>",
    "an address that is kept": LOADED + "tt.store %pointers, %p : !tt.ptr<!tt.ptr<f32>>",
    "an argument there and back": """
        %b = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
        %p = tt.int_to_ptr %b : i64 -> !tt.ptr<f32>
        tt.store %p, %x : !tt.ptr<f32>""",
    "an offset that is loaded": """
        %w = tt.load %table : !tt.ptr<i64>
        %b = tt.ptr_to_int %a : !tt.ptr<f32> -> i64
        %c = arith.addi %w, %b : i64
        %p = tt.int_to_ptr %c : i64 -> !tt.ptr<f32>
        tt.store %p, %x : !tt.ptr<f32>""",
    "a tensor of addresses": """
        %s = tt.splat %a : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
        %b = tt.ptr_to_int %s : tensor<4x!tt.ptr<f32>> -> tensor<4xi64>
        %o = arith.constant dense<-16> : tensor<4xi64>
        %c = arith.andi %b, %o : tensor<4xi64>
        %p = tt.int_to_ptr %c : tensor<4xi64> -> tensor<4x!tt.ptr<f32>>
        %v = tt.load %p : tensor<4x!tt.ptr<f32>>""",
}


@pytest.mark.parametrize("name", FOREIGN)
def test_followed(name: str) -> None:
    body, accesses = FOREIGN[name]
    assert found(body) == accesses


def test_in_a_function_that_is_called() -> None:
    callee = """tt.func private @read(%p: !tt.ptr<f32>) -> f32 {
        %v = tt.load %p : !tt.ptr<f32>
        tt.return %v : f32
    }"""
    call = "%v = tt.call @read(%p) : (!tt.ptr<f32>) -> f32"
    assert found(LOADED + call, callee) == "tt.load"
    assert found(call.replace("%p", "%a"), callee) == ""


@pytest.mark.parametrize("name", OWN)
def test_not_followed(name: str) -> None:
    assert found(OWN[name]) == ""


def test_shared_values_take_no_time() -> None:
    """A chain of sums of 4000 links, each of which uses the one before twice."""
    links = "\n".join(f"%c{i + 1} = arith.addi %c{i}, %c{i} : i64" for i in range(4000))
    body = f"%c0 = tt.load %table : !tt.ptr<i64>\n{links}\n%p = tt.int_to_ptr %c4000 : i64 -> !tt.ptr<f32>\n"
    assert found(body + READ) == "tt.load"
