"""Stores that follow each other share a walk: which do, what proves it, and what they store where memory
overlaps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
from lower.plans import kernel, plan_of
from lower.test_fused_walks import mistake, proofs
from property.planting import Bug, planted
from triton_spirv.compiler import compile
from triton_spirv.errors import InternalError
from triton_spirv.lower.plan.records import Node, Walk
from triton_spirv.lower.plan.verify import defects
from triton_spirv.spirv.checks import BOOL

#: addresses of the second store stand between the two
TWO = kernel("""
    %one = arith.constant dense<1.0> : TENSOR
    %v = tt.load %px : PTRS
    %w = arith.addf %v, %one : TENSOR
    tt.store %py, %w : PTRS
    %q0 = tt.splat %z : !tt.ptr<f32> -> PTRS
    %q = tt.addptr %q0, %i : PTRS, INDICES
    tt.store %q, %v : PTRS
""")

#: what is loaded is overwritten by one of them, by the same pointers
IN_PLACE = kernel("""
    %v = tt.load %px, %m : PTRS
    %w = tt.load %py, %m : PTRS
    %s = arith.addf %v, %w : TENSOR
    tt.store %px, %s, %m : PTRS
    tt.store %pz, %w, %m : PTRS
    tt.store %py, %v, %m : PTRS
""")


def separate(between: str = "", mask: str = "", pointers: str = "%pz") -> str:
    """Two stores, and what keeps them from sharing a walk."""
    return kernel(f"""
    %one = arith.constant 1.0 : f32
    %true = arith.constant true
    %v = tt.load %px : PTRS
    %iz = arith.muli %i, %ns : INDICES
    %far = arith.remsi %iz, %ns : INDICES
    %pfar = tt.addptr %pz0, %far : PTRS, INDICES
    tt.store %py, %v : PTRS
    {between}
    tt.store {pointers}, %v{mask} : PTRS
""")


SEPARATE = {
    "a load": separate("%w = tt.load %z : !tt.ptr<f32>\n    tt.store %x, %w : !tt.ptr<f32>"),
    "an atomic": separate("%old = tt.atomic_rmw fadd, acq_rel, gpu, %x, %one, %true : "
                          "(!tt.ptr<f32>, f32, i1) -> f32"),
    "a mask": separate(mask=", %m"),
    "addresses that are no formula": separate(pointers="%pfar"),
    "the same pointers": separate(pointers="%py"),
}


def stores_in_walks(text: str) -> list[int]:
    """How many stores each walk makes."""
    found: list[int] = []

    def look(nodes: tuple[Node, ...]) -> int:
        total = 0
        for node in nodes:
            inside = max(map(look, [arm.body for arm in getattr(node, "arms", ())]), default=0)
            inside += look(getattr(node, "body", ()))
            if isinstance(node, Walk) and inside:
                found.append(inside)
                inside = 0
            total += inside + (getattr(getattr(node, "operation", None), "name", "") == "tt.store"
                               and type(node).__name__ == "Access")
        return total

    look(plan_of(text).body)
    return found


def test_they_share_a_walk() -> None:
    for text, together in (TWO, 2), (IN_PLACE, 3):
        assert defects(plan_of(text)) == []
        assert sorted(set(stores_in_walks(text))) == [1, together]  # overlapping memory, and memory apart
    assert sorted(proofs(plan_of(TWO))) == 3 * ["disjoint or same"]
    assert sorted(proofs(plan_of(IN_PLACE))) == 7 * ["disjoint or same"] + 2 * ["same pointers"]


@pytest.mark.parametrize("why", SEPARATE)
def test_they_do_not(why: str) -> None:
    text = SEPARATE[why]
    assert defects(plan_of(text)) == []
    assert set(stores_in_walks(text)) == {1}


def _without_stores(right: Any) -> Any:
    """The test compares no stores."""
    def apart(ctx: Any, op: Any, ptr: Any, mask: Any, loads: Any, earlier: Any = ()) -> Any:
        return right(ctx, op, ptr, mask, loads)
    return apart


def _decided(right: Any) -> Any:
    """No test is made."""
    def run(ctx: Any, safe: Any, *others: Any) -> None:
        right(ctx, ctx.b.constant(BOOL, True), *others)
    return run


@pytest.mark.parametrize(("wrong", "says"), [
    (mistake("memory.together", "apart", _without_stores), "no proof is given"),
    (mistake("memory.together", "in_versions", _decided), "compares nothing when the kernel runs"),
], ids=lambda value: value.name if isinstance(value, Bug) else None)
def test_wrong_decisions(wrong: Bug, says: str) -> None:
    with planted(wrong):
        found = defects(plan_of(TWO))
        with pytest.raises(InternalError, match='optimise="none"'):
            compile(TWO, "cpu")
    assert any(says in each for each in found), found


def test_stores_in_another_order_are_found() -> None:
    """A store that stands behind another one is not made before it."""
    def swapped(right: Callable[..., Any]) -> Callable[..., Any]:
        return lambda ctx, stores: right(ctx, stores[::-1])

    with planted(mistake("memory.store", "_walk", swapped)):
        assert any("is made behind store" in each for each in defects(plan_of(TWO)))



# --- what the kernels compute -------------------------------------------------------------------------------


@triton.jit
def three(x, y, a, b, c, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v, w = tl.load(x + i, i < n, 0), tl.load(y + i, i < n, 0)
    tl.store(a + i, v + w, i < n)
    tl.store(b + i, v - 2 * w, i < n)
    tl.store(c + 2 * i, 3 * v, i < n)


@triton.jit
def whole(x, y, a, b, c, n, N: tl.constexpr):
    i = tl.arange(0, N)
    v, w = tl.load(x + i), tl.load(y + i)
    tl.store(a + i, v + w)
    tl.store(b + i, v - 2 * w)
    tl.store(c + 2 * i, 3 * v)


PLACES = (0, 1, 16, 64, 1000, 2048, 5000, 11000)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("function", [three, whole])
def test_where_memory_overlaps(run, function, seed):
    """All is loaded, then stored in the kernel's order, wherever the five blocks begin in one memory."""
    generator = np.random.default_rng(seed)
    N, n = 2048, 2048 if function is whole else int(generator.integers(1, 2049))
    places = [int(generator.choice(PLACES)) for _ in range(5)]
    memory = numeric.random(16000, "i32", seed=seed, low=-99, high=99)
    held = numeric.tensor(memory, "i32")
    run(function, 1, *(held[place:] for place in places), n, N)
    x, y, a, b, c = places
    v, w, i = memory[x:x + n].copy(), memory[y:y + n].copy(), np.arange(n)
    memory[a + i] = v + w
    memory[b + i] = v - 2 * w
    memory[c + 2 * i] = 3 * v
    numeric.assert_same(held, memory)
