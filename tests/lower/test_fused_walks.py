"""Loads that a later store's walk makes: the plan gives a proof for each, and the verifier makes it again.

Mistakes are planted in what decides. The verifier has to refuse the kernels that they make wrong, without a
device: it asks the operations of the kernel and the accesses as they are emitted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from lower import plans
from lower.plans import kernel, plan_of
from lower.test_plan import lines
from property.bugs import BUGS
from property.bugs_of_walks import BUGS as BUGS_OF_WALKS
from property.planting import Bug, planted, within
from triton_spirv.compiler import compile
from triton_spirv.errors import InternalError
from triton_spirv.layout import Layout
from triton_spirv.lower.plan.accesses import Access, Fused
from triton_spirv.lower.plan.records import Node, Plan, Turns, Versions, Walk
from triton_spirv.lower.plan.text import plan_text
from triton_spirv.lower.plan.verify import defects
from triton_spirv.spirv.builder import I64
from triton_spirv.target import CPU


def rows(body: str, shape: str = "64x64") -> str:
    """A kernel of two pointers and two numbers; `%r` and `%c` are indices of rows and columns, as tensors of
    the shape."""
    high, wide = shape.split("x")
    return f"""module {{
  tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32, %k: i32) {{
    %r0 = tt.make_range {{end = {high} : i32, start = 0 : i32}} : tensor<{high}xi32>
    %r1 = tt.expand_dims %r0 {{axis = 1 : i32}} : tensor<{high}xi32> -> tensor<{high}x1xi32>
    %r = tt.broadcast %r1 : tensor<{high}x1xi32> -> INDICES
    %c0 = tt.make_range {{end = {wide} : i32, start = 0 : i32}} : tensor<{wide}xi32>
    %c1 = tt.expand_dims %c0 {{axis = 0 : i32}} : tensor<{wide}xi32> -> tensor<1x{wide}xi32>
    %c = tt.broadcast %c1 : tensor<1x{wide}xi32> -> INDICES
    %xs = tt.splat %x : !tt.ptr<f32> -> PTRS
    %ys = tt.splat %y : !tt.ptr<f32> -> PTRS
    %ns = tt.splat %n : i32 -> INDICES
    %ks = tt.splat %k : i32 -> INDICES
    %wide = arith.constant dense<{wide}> : INDICES
{body}
    tt.return
  }}
}}
""".replace("TENSOR", f"tensor<{shape}xf32>").replace("PTRS", f"tensor<{shape}x!tt.ptr<f32>>").replace(
        "INDICES", f"tensor<{shape}xi32>")


#: rows of a square change places: each is loaded in the turn that stores another one
TURNED = """module {
  tt.func public @kernel(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>) {
    %a0 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %a1 = tt.expand_dims %a0 {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
    %a2 = tt.expand_dims %a1 {axis = 2 : i32} : tensor<8x1xi32> -> tensor<8x1x1xi32>
    %a = tt.broadcast %a2 : tensor<8x1x1xi32> -> tensor<8x8x64xi32>
    %b1 = tt.expand_dims %a0 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %b2 = tt.expand_dims %b1 {axis = 2 : i32} : tensor<1x8xi32> -> tensor<1x8x1xi32>
    %b = tt.broadcast %b2 : tensor<1x8x1xi32> -> tensor<8x8x64xi32>
    %c0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %c1 = tt.expand_dims %c0 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %c2 = tt.expand_dims %c1 {axis = 0 : i32} : tensor<1x64xi32> -> tensor<1x1x64xi32>
    %c = tt.broadcast %c2 : tensor<1x1x64xi32> -> tensor<8x8x64xi32>
    %n512 = arith.constant dense<512> : tensor<8x8x64xi32>
    %n64 = arith.constant dense<64> : tensor<8x8x64xi32>
    %u = arith.muli %a, %n512 : tensor<8x8x64xi32>
    %v = arith.muli %b, %n64 : tensor<8x8x64xi32>
    %w = arith.addi %u, %v : tensor<8x8x64xi32>
    %o = arith.addi %w, %c : tensor<8x8x64xi32>
    %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x8x64x!tt.ptr<f32>>
    %ys = tt.splat %y : !tt.ptr<f32> -> tensor<8x8x64x!tt.ptr<f32>>
    %px = tt.addptr %xs, %o : tensor<8x8x64x!tt.ptr<f32>>, tensor<8x8x64xi32>
    %py = tt.addptr %ys, %o : tensor<8x8x64x!tt.ptr<f32>>, tensor<8x8x64xi32>
    %l = tt.load %px : tensor<8x8x64x!tt.ptr<f32>>
    %t = tt.trans %l {order = array<i32: 1, 0, 2>} : tensor<8x8x64xf32> -> tensor<8x8x64xf32>
    tt.store %py, %t : tensor<8x8x64x!tt.ptr<f32>>
    tt.return
  }
}
"""

#: elements of different turns have one address: row r, column c is at r + c
MEETING = rows("""
    %o = arith.addi %r, %c : INDICES
    %p = tt.addptr %xs, %o : PTRS, INDICES
    %v = tt.load %p : PTRS
    %w = arith.addf %v, %v : TENSOR
    tt.store %p, %w : PTRS
""")


def copied(loaded: str, stored: str) -> str:
    """A tile of x is stored to y; by which numbers rows lie apart in each."""
    return rows(f"""
    %o0 = arith.muli %r, {stored} : INDICES
    %o = arith.addi %o0, %c : INDICES
    %q0 = arith.muli %r, {loaded} : INDICES
    %q = arith.addi %q0, %c : INDICES
    %px = tt.addptr %xs, %q : PTRS, INDICES
    %py = tt.addptr %ys, %o : PTRS, INDICES
    %v = tt.load %px : PTRS
    tt.store %py, %v : PTRS
""")


STRIDED, SPREAD, FLAT = copied("%ns", "%ns"), copied("%ks", "%ns"), copied("%wide", "%wide")

#: a tile with an end along one dimension or both
EDGE = rows("""
    %m0 = arith.cmpi slt, %r, %ns : INDICES
    %m1 = arith.cmpi sle, %c, %ks : INDICES
    %m2 = arith.andi %m0, %m1 : tensor<64x64xi1>
    %o0 = arith.muli %r, %wide : INDICES
    %o = arith.addi %o0, %c : INDICES
    %px = tt.addptr %xs, %o : PTRS, INDICES
    %py = tt.addptr %ys, %o : PTRS, INDICES
    %v = tt.load %px, MASK : PTRS
    tt.store %py, %v, MASK : PTRS
""")

BETWEEN = kernel("""
    %one = arith.constant dense<1.0> : TENSOR
    %v = tt.load %px : PTRS
    tt.store %px, %one : PTRS
    tt.store %py, %v : PTRS
""")

ATOMIC = kernel("""
    %one = arith.constant 1.0 : f32
    %true = arith.constant true
    %v = tt.load %px : PTRS
    %old = tt.atomic_rmw fadd, acq_rel, gpu, %x, %one, %true : (!tt.ptr<f32>, f32, i1) -> f32
    tt.store %py, %v : PTRS
""")

POLLED = kernel("""
    %true = arith.constant true
    %v = tt.load %px : PTRS
    %seen = tt.atomic_load acquire, gpu, %x : (!tt.ptr<f32>) -> f32
    %all = tt.splat %seen : f32 -> TENSOR
    %w = arith.addf %v, %all : TENSOR
    tt.store %py, %w : PTRS
""")

#: what is loaded before the loop is stored in each round, behind a store to the same place
ROUNDS = kernel("""
    %zero = arith.constant 0 : i32
    %step = arith.constant 1 : i32
    %one = arith.constant dense<1.0> : TENSOR
    %v = tt.load %px : PTRS
    scf.for %k = %zero to %n step %step : i32 {
      tt.store %py, %v : PTRS
      tt.store %px, %one : PTRS
    }
""")

CALLED = kernel("""
    %v = tt.load %px : PTRS
    tt.call @clear(%px) : (PTRS) -> ()
    tt.store %py, %v : PTRS
""").rstrip().removesuffix("}") + """
  tt.func private @clear(%p: tensor<4096x!tt.ptr<f32>>) {
    %one = arith.constant dense<1.0> : tensor<4096xf32>
    tt.store %p, %one : tensor<4096x!tt.ptr<f32>>
    tt.return
  }
}
"""

#: a function walks what it is given, in place
IN_A_FUNCTION = kernel("""
    tt.call @double(%px, %py) : (PTRS, PTRS) -> ()
""").rstrip().removesuffix("}") + """
  tt.func private @double(%p: tensor<4096x!tt.ptr<f32>>, %q: tensor<4096x!tt.ptr<f32>>) {
    %v = tt.load %p : tensor<4096x!tt.ptr<f32>>
    %w = arith.addf %v, %v : tensor<4096xf32>
    tt.store %p, %w : tensor<4096x!tt.ptr<f32>>
    %u = tt.load %q : tensor<4096x!tt.ptr<f32>>
    tt.store %p, %u : tensor<4096x!tt.ptr<f32>>
    tt.return
  }
}
"""

#: pointers that a function makes, of rows as far apart as another one says
MADE = rows("""
    %n64 = tt.call @wide() : () -> i32
    %n64s = tt.splat %n64 : i32 -> INDICES
    %o0 = arith.muli %r, %n64s : INDICES
    %o = arith.addi %o0, %c : INDICES
    %px = tt.call @at(%xs, %o) : (PTRS, INDICES) -> PTRS
    %py = tt.call @at(%ys, %o) : (PTRS, INDICES) -> PTRS
    %v = tt.load %px : PTRS
    tt.store %px, %v : PTRS
    %w = tt.load %px : PTRS
    tt.store %py, %w : PTRS
""").rstrip().removesuffix("}") + """
  tt.func private @at(%p: tensor<64x64x!tt.ptr<f32>>, %o: tensor<64x64xi32>) -> tensor<64x64x!tt.ptr<f32>> {
    %q = tt.addptr %p, %o : tensor<64x64x!tt.ptr<f32>>, tensor<64x64xi32>
    tt.return %q : tensor<64x64x!tt.ptr<f32>>
  }
  tt.func private @wide() -> i32 {
    %n = arith.constant 64 : i32
    tt.return %n : i32
  }
}
"""

#: pointers that a loop of the kernel moves
MOVED = kernel("""
    %zero = arith.constant 0 : i32
    %step = arith.constant 1 : i32
    %next = arith.constant dense<4096> : INDICES
    %l:2 = scf.for %k = %zero to %n step %step iter_args(%p = %px, %q = %py) -> (PTRS, PTRS) : i32 {
      %v = tt.load %p : PTRS
      %w = arith.addf %v, %v : TENSOR
      tt.store %p, %w : PTRS
      %u = tt.load %q : PTRS
      tt.store %p, %u : PTRS
      %p1 = tt.addptr %p, %next : PTRS, INDICES
      %q1 = tt.addptr %q, %next : PTRS, INDICES
      scf.yield %p1, %q1 : PTRS, PTRS
    }
    %last = tt.load %l#0 : PTRS
    tt.store %l#0, %last : PTRS
""")


def nodes(plan: Plan) -> list[Node]:
    """Every record, the outer ones first."""
    found, left = [], list(plan.body)
    while left:
        node = left.pop(0)
        found.append(node)
        if isinstance(node, (Walk, Turns)):
            left += node.body
        else:
            left += [inner for arm in getattr(node, "arms", ()) for inner in arm.body]
    return found


def proofs(plan: Plan) -> list[str]:
    return [load.proof for node in nodes(plan) if isinstance(node, Fused) for load in node.loads]


@pytest.mark.parametrize(("text", "expected"), [
    (plans.IN_PLACE, ["same pointers"]),
    (plans.COPY, ["disjoint or same"]),
    (STRIDED, ["disjoint or same"]),
    (SPREAD, ["disjoint"]),
    (FLAT, ["disjoint or same"]),
    (TURNED, ["disjoint"]),
    (MEETING, ["disjoint"]),
    (MADE, ["same pointers", "disjoint or same"]),
    (IN_A_FUNCTION, ["same pointers", "disjoint or same"]),
    (MOVED, 2 * ["same pointers", "same pointers", "disjoint or same"]),  # with the loop, and without
    (BETWEEN, ["same pointers", "disjoint or same", "disjoint or same"]),  # the stores share a walk
    *((text, []) for text in (ATOMIC, POLLED, CALLED)),
])
def test_proofs(text: str, expected: list[str]) -> None:
    plan = plan_of(text)
    assert defects(plan) == []
    assert sorted(proofs(plan)) == sorted(expected)


def test_text() -> None:
    assert plan_text(plan_of(STRIDED)) == """\
plan of kernel for cpu
versions: does the memory of the store lie apart from that of its loads?
  apart
    store: its walk loads
      load %v: from memory that lies apart, or from that of the store, each turn its own elements
    walk for store
      64 turns
        load %v: plain, 4 of 16 x f32, runs of 16, alignment 4
        store: plain, 4 of 16 x f32, runs of 16, alignment 4, past the caches in large streams
  overlapping
    walk, keeps %v in array 0
      256 turns
        load %v: plain, 16 x f32, runs of 16, alignment 4
        write array 0 (%v)
    store: everything is loaded before its walk
    walk for store
      256 turns
        read array 0 (%v)
        store: plain, 16 x f32, runs of 16, alignment 4
"""


def test_long_plans() -> None:
    """Four times the loads and stores take four times as long."""
    def copies(count: int) -> Plan:
        return plan_of(kernel("".join(f"""
    %v{i} = tt.load %px : PTRS
    tt.store %p{"yz"[i % 2]}, %v{i} : PTRS
""" for i in range(count))))

    short, long = copies(8), copies(32)
    assert defects(long) == []
    assert len(proofs(long)) == 32
    assert lines(lambda: defects(long)) < 4.4 * lines(lambda: defects(short))


def test_nothing_waits_without_optimisations() -> None:
    """The way out that a refused plan names."""
    for text in (plans.IN_PLACE, plans.COPY, STRIDED, TURNED):
        plan = plan_of(text, CPU.optimised("none"))
        assert defects(plan) == []
        assert proofs(plan) == []


# --- mistakes in what decides -------------------------------------------------------------------------------


def bug(name: str) -> Bug:
    return next(each for each in (*BUGS, *BUGS_OF_WALKS) if each.name == name)


def mistake(module: str, path: str, wrong: Callable[[Any], Any]) -> Bug:
    return Bug(path, within(module, path, wrong))


def _orders_ignored(put: Callable[[Any, str, Any], None]) -> None:
    put(Layout, "in_step_with", lambda self, other: True)


def _untested(right: Any) -> Any:
    """The walk that is for memory that lies apart runs without a test."""
    return lambda self, question, arms, may_skip=False, tests=(): right(self, question, arms, may_skip)


def _half_compared(right: Any) -> Any:
    """The test leaves the last load out."""
    def apart(ctx: Any, op: Any, ptr: Any, mask: Any, loads: Any, *earlier: Any) -> Any:
        return right(ctx, op, ptr, mask, loads[:-1], *earlier)
    return apart


NEVER_SETTLED = mistake("walk.pending", "Pending.settle",
                        lambda right: lambda self, memory_only, op=None: None)

#: two loads, one of which the test forgets
TWO_LOADS = kernel("""
    %v = tt.load %px : PTRS
    %w = tt.load %py : PTRS
    %s = arith.addf %v, %w : TENSOR
    tt.store %pz, %s : PTRS
""")


@pytest.mark.parametrize(("wrong", "text", "says"), [
    # the two mends taken back
    (Bug("orders", _orders_ignored), TURNED, "the two come to their elements in different orders"),
    (mistake("memory.hazard", "distinct", lambda right: lambda ctx, ptr, layout: (True, ())), MEETING,
     "elements of different turns may have one address"),
    # other writes between a load and the walk that makes it
    (NEVER_SETTLED, BETWEEN, "is made behind store"),
    (bug("loads wait beyond an atomic"), ATOMIC, "is made behind atomic_rmw"),
    (bug("loads wait beyond an atomic"), POLLED, "is made behind atomic_load"),
    (NEVER_SETTLED, CALLED, "is made behind call"),
    (NEVER_SETTLED, ROUNDS, "is made outside its block"),
    # what the decision goes by
    (bug("every load of a loop counts as in place"), plans.COPY, "their pointers are not the same"),
    (bug("loads and a store are apart"), plans.COPY, "compares nothing when the kernel runs"),
    (mistake("plan.recorder", "Recorder.versions", _untested), plans.COPY, "no test compares their memory"),
    (mistake("memory.hazard", "apart", _half_compared), TWO_LOADS, "no proof is given"),
    (bug("accesses walk alike whatever their strides"), SPREAD, "their addresses do not grow alike"),
    (bug("a product of an index keeps its stride"), FLAT, "grow by 1, not by 64"),
    (mistake("memory.hazard", "distinct", lambda right: lambda ctx, ptr, layout: (
        right(ctx, ptr, layout)[0] is not False, ())), STRIDED, "elements of different turns may have one"),
    (mistake("addresses.intervals", "Intervals.last", lambda right: lambda self, dim, extent:
             self.ctx.b.constant(I64, 0)), SPREAD, "of which the mask says nothing"),
], ids=lambda value: value.name if isinstance(value, Bug) else None)
def test_wrong_decisions(wrong: Bug, text: str, says: str) -> None:
    assert defects(plan_of(text)) == []
    with planted(wrong):
        found = defects(plan_of(text))
        with pytest.raises(InternalError, match='optimise="none"'):
            compile(text, "cpu")
    assert any(says in each for each in found), found


# --- records with one of them changed -----------------------------------------------------------------------


def test_a_turn_reads_other_elements_than_it_stores() -> None:
    """The layout under which the load is made in the end is asked, not what was decided."""
    def change(node: Node) -> list[Node]:
        if isinstance(node, Access) and node.operation.name == "tt.load" and node.layout is not None:
            return [replace(node, layout=replace(node.layout, step=node.layout.step[::-1]))]
        return [node]

    wrong = plans.changed(plan_of(plans.IN_PLACE), change)
    assert any("different orders" in each for each in defects(wrong))


def test_a_test_of_another_store() -> None:
    def change(node: Node) -> list[Node]:
        if isinstance(node, Versions) and node.tests:
            load = node.tests[0].loads[0].span
            return [replace(node, tests=(replace(node.tests[0], store=load),))]
        return [node]

    wrong = plans.changed(plan_of(plans.COPY), change)
    assert any("no test compares" in each for each in defects(wrong))


# --- what the kernels compute -------------------------------------------------------------------------------


@triton.jit
def strided(x, y, n, k, ROWS: tl.constexpr, WIDE: tl.constexpr):
    r, c = tl.arange(0, ROWS)[:, None], tl.arange(0, WIDE)[None, :]
    tl.store(y + r * n + c, tl.load(x + r * k + c) + 1)


@pytest.mark.parametrize("size", [(4, 16), (64, 64), (16, 256)])
@pytest.mark.parametrize(("spread", "loaded"), [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("shift", [0, 16, 64, 4096])
def test_rows_of_one_memory(run, size, spread, loaded, shift):
    """Rows are stored where others are still to be loaded, or in the very place of their own."""
    high, wide = size
    n, k = spread * wide, loaded * wide
    x = numeric.random(2 * high * wide + shift, "i32", low=-99, high=99)
    held = numeric.tensor(x, "i32")
    run(strided, 1, held, held[shift:] if shift else held, n, k, high, wide)
    r, c = np.arange(high)[:, None], np.arange(wide)
    expected = x.copy()
    expected[shift + r * n + c] = x[r * k + c] + 1
    numeric.assert_same(held, expected)


@triton.jit
def at_the_edge(x, y, start, rows, columns, n, ROWS: tl.constexpr, WIDE: tl.constexpr, BY_ROWS: tl.constexpr):
    r, c = (start + tl.arange(0, ROWS))[:, None], tl.arange(0, WIDE)[None, :]
    inside = (r < rows) & (c < columns)
    place = (r - start) * n + c if BY_ROWS else (r - start) + c * n
    tl.store(y + place, tl.load(x + place, inside) + 1, inside)


@pytest.mark.parametrize("by_rows", (True, False))
@pytest.mark.parametrize(("start", "rows", "columns"), [
    (0, 20, 50), (-7, 20, 33), ((1 << 31) - 40, (1 << 31) - 9, 50), (5, 3, 20), (0, 64, 64), (0, 1, 1)])
@pytest.mark.parametrize("shift", (0, 1, -1, 40, 1200, 2400, -2400, 1250, 3000))
def test_blocks_that_end_where_their_mask_does(run, by_rows, start, rows, columns, shift):
    """What is stored begins where what is loaded ends, or a little before; the block reaches further. Indices
    may wrap."""
    high = wide = n = 64
    x = numeric.random(4 * high * n, "i32", low=-99, high=99)
    held = numeric.tensor(x, "i32")
    first = 4000
    run(at_the_edge, 1, held[first:], held[first + shift:], start, rows, columns, n, high, wide, by_rows)
    r, c = np.arange(high)[:, None], np.arange(wide)
    index = (r + start).astype(np.int32)
    inside = (index < rows) & (c < columns)
    place = (r * n + c if by_rows else r + c * n)[inside]
    expected = x.copy()
    expected[first + shift + place] = x[first + place] + 1
    numeric.assert_same(held, expected)


def test_where_a_span_ends() -> None:
    """Where the mask does, along each dimension that it limits."""
    found: list[tuple[int, ...]] = []

    def look(node: Node) -> list[Node]:
        for test in node.tests if isinstance(node, Versions) else ():
            found.extend(span.ends for span in (test.store, *(each.span for each in test.loads)))
        return [node]

    for limits, expected in (("%m0", (0,)), ("%m1", (1,)), ("%m2", (0, 1))):
        found.clear()
        plans.changed(plan_of(EDGE.replace("MASK", limits)), look)
        assert found == [expected] * 2


def test_a_store_without_loads_is_tested_against_nothing() -> None:
    load = next(line for line in EDGE.splitlines() if "tt.load" in line)
    text = EDGE.replace(load, "    %v = arith.constant dense<1.0> : tensor<64x64xf32>").replace("MASK", "%m2")
    assert "lie apart" not in plan_text(plan_of(text))


@triton.jit
def rounds(p, q, count, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    for _ in range(count):
        before = tl.load(q + i)
        tl.store(p + i, tl.load(p + i) * 2)
        tl.store(p + i, tl.load(q + i) + before)
        p += SIZE
        q += SIZE


@pytest.mark.parametrize("size", [16, 1024, 4096])
@pytest.mark.parametrize("shift", [0, 8, 512])
def test_writes_of_earlier_rounds_and_statements(run, size, shift):
    """What is loaded before a store and what behind it, from memory that rounds before have stored to."""
    x = numeric.random(3 * size + shift, "i32", low=-99, high=99)
    held = numeric.tensor(x, "i32")
    run(rounds, 1, held, held[shift:] if shift else held, 3, size)
    for k in range(3):
        here, there = (slice(start + k * size, start + (k + 1) * size) for start in (0, shift))
        before = x[there].copy()
        x[here] *= 2
        x[here] = x[there] + before
    numeric.assert_same(held, x)
