"""Kernels as IR, and their plans; plans with a decision changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import triton_spirv.compiler as compiler
from triton_spirv.lower.plan.records import Arm, Node, Plan, Region, Turns, Versions, Walk

LARGE = 4096  # elements of a tensor that is walked in steps

_REDUCE = """
    %{to} = "tt.reduce"(%{of}) <{{axis = 0 : i32}}> ({{
    ^bb0(%a{to}: f32, %b{to}: f32):
      %c{to} = arith.{op} %a{to}, %b{to} : f32
      tt.reduce.return %c{to} : f32
    }}) : (tensor<{n}xf32>) -> f32
"""


def kernel(body: str, n: int = LARGE) -> str:
    """A kernel of three pointers and a number; `%i` are the indices, `%px` and so on tensors of pointers."""
    pointers = "".join(f"""
    %p{x}0 = tt.splat %{x} : !tt.ptr<f32> -> tensor<{n}x!tt.ptr<f32>>
    %p{x} = tt.addptr %p{x}0, %i : tensor<{n}x!tt.ptr<f32>>, tensor<{n}xi32>""" for x in "xyz")
    return f"""module {{
  tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>, %n: i32) {{
    %i = tt.make_range {{end = {n} : i32, start = 0 : i32}} : tensor<{n}xi32>{pointers}
    %ns = tt.splat %n : i32 -> tensor<{n}xi32>
    %m = arith.cmpi slt, %i, %ns : tensor<{n}xi32>
{body}
    tt.return
  }}
}}
""".replace("TENSOR", f"tensor<{n}xf32>").replace("PTRS", f"tensor<{n}x!tt.ptr<f32>>").replace(
        "INDICES", f"tensor<{n}xi32>")


def reduce(to: str, of: str, op: str, n: int = LARGE) -> str:
    """to = the reduction of a tensor of f32."""
    return _REDUCE.format(to=to, of=of, op=op, n=n)


SOFTMAX = kernel("""
    %low = arith.constant dense<0xFF800000> : TENSOR
    %v = tt.load %px, %m, %low : PTRS
""" + reduce("top", "v", "maxnumf") + """
    %tops = tt.splat %top : f32 -> TENSOR
    %d = arith.subf %v, %tops : TENSOR
    %e = math.exp %d : TENSOR
""" + reduce("sum", "e", "addf") + """
    %sums = tt.splat %sum : f32 -> TENSOR
    %q = arith.divf %e, %sums : TENSOR
    tt.store %py, %q, %m : PTRS
""")

IN_PLACE = kernel("""
    %v = tt.load %px : PTRS
    %e = math.exp %v : TENSOR
    tt.store %px, %e : PTRS
""")

COPY = kernel("""
    %v = tt.load %px : PTRS
    %e = math.exp %v : TENSOR
    tt.store %py, %e : PTRS
""")

TWO_STORES = kernel("""
    %v = tt.load %px : PTRS
    %e = math.exp %v : TENSOR
    tt.store %px, %e : PTRS
    %w = tt.load %py : PTRS
    %s = arith.addf %w, %v : TENSOR
    tt.store %pz, %s : PTRS
    tt.store %py, %v : PTRS
""")

SMALL = kernel("""
    %v = tt.load %px : PTRS
    tt.store %py, %v : PTRS
    %w = tt.load %px {isVolatile = true} : PTRS
    tt.store %pz, %w : PTRS
""", 16)

LOOP = kernel("""
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %v = tt.load %px : PTRS
    %r = scf.for %k = %zero to %n step %one iter_args(%s = %v) -> (TENSOR) : i32 {
      %w = tt.load %py : PTRS
      %t = arith.addf %s, %w : TENSOR
      scf.yield %t : TENSOR
    }
    tt.store %pz, %r : PTRS
""")

WHILE = kernel("""
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %v = tt.load %px : PTRS
    %r:2 = scf.while (%s = %v, %k = %n) : (TENSOR, i32) -> (TENSOR, i32) {
      %more = arith.cmpi sgt, %k, %zero : i32
      scf.condition(%more) %s, %k : TENSOR, i32
    } do {
    ^bb0(%t: TENSOR, %l: i32):
      %w = tt.load %py : PTRS
      %u = arith.addf %t, %w : TENSOR
      %less = arith.subi %l, %one : i32
      scf.yield %u, %less : TENSOR, i32
    }
    tt.store %pz, %r#0 : PTRS
""")

BRANCH = kernel("""
    %zero = arith.constant 0 : i32
    %yes = arith.cmpi sgt, %n, %zero : i32
    %v = tt.load %px : PTRS
    scf.if %yes {
      tt.store %py, %v : PTRS
    } else {
      tt.store %pz, %v : PTRS
    }
""", 16)


@contextmanager
def kept_plans() -> Iterator[list[Plan]]:
    """The plans of what is compiled meanwhile, before anything checks them."""
    found: list[Plan] = []
    right = compiler._check_plan
    compiler._check_plan = lambda plan, inspection: found.append(plan)
    try:
        yield found
    finally:
        compiler._check_plan = right


def plan_of(text: str, target: Any = "cpu", **options: Any) -> Plan:
    """The plan of a kernel."""
    with kept_plans() as found:
        compiler.compile(text, target, **options)
    return found[-1]


def changed(plan: Plan, change: Callable[[Node], list[Node]]) -> Plan:
    """The plan with other nodes in the place of each, the innermost first."""
    return replace(plan, body=_changed(plan.body, change))


def _changed(nodes: tuple[Node, ...], change: Callable[[Node], list[Node]]) -> tuple[Node, ...]:
    made: list[Node] = []
    for node in nodes:
        if isinstance(node, (Walk, Turns)):
            node = replace(node, body=_changed(node.body, change))
        elif isinstance(node, (Versions, Region)):
            node = replace(node, arms=tuple(Arm(arm.name, _changed(arm.body, change)) for arm in node.arms))
        made += change(node)
    return tuple(made)
