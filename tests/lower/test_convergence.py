"""spirv/passes/convergence.py: a barrier or an exchange where lanes may have parted is refused."""

from __future__ import annotations

from typing import Any

import numeric
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.errors import InternalError
from triton_spirv.lower.lanes import elements
from triton_spirv.lower.memory import store
from triton_spirv.target import find_target

SPIRV_MODES = ("simt",)


@triton.jit
def guarded(x, out, n, N: tl.constexpr):
    """A store for which one of several lanes acts, and a loop and a branch over what is loaded."""
    i = tl.arange(0, N)
    total = tl.load(x)
    for _ in range(tl.load(x + 1)):
        total += tl.sum(tl.load(x + i))
        if total > n:
            total -= tl.max(tl.load(x + i, mask=i < n, other=0))
    tl.store(out + i, total + i, mask=i < n)
    tl.store(out + tl.arange(0, 8), total + tl.arange(0, 8))


@pytest.fixture
def text(run: Any) -> str:
    made = run(guarded, 1, numeric.tensor(range(64), "i32"), numeric.poisoned(64, "i32"), 20, 64, num_warps=4)
    if made is None:
        pytest.skip("nothing is emitted")
    return str(made.asm["ttgir"])


def test_branches_of_the_program_are_taken_together(text: str) -> None:
    assert "OpControlBarrier" in triton_spirv.compile(text, find_target("cpu-simt")).listing


def meets(ctx: Any, how: str) -> None:
    if how == "barrier":
        ctx.shared.barrier()
    else:
        ctx.env.shuffle_xor(ctx.env.lane_id(), 1)


@pytest.mark.parametrize("how", ("barrier", "shuffle"))
def test_meeting_behind_an_owners_branch(text: str, monkeypatch: Any, how: str) -> None:
    rule = store._store_registers

    def planted(ctx: Any, *rest: Any) -> Any:
        meets(ctx, how)
        return rule(ctx, *rest)

    monkeypatch.setattr(store, "_store_registers", planted)
    with pytest.raises(InternalError, match="where lanes may have parted"):
        triton_spirv.compile(text, find_target("cpu-simt"))


def test_warps_may_part_over_a_shuffle_not_over_a_barrier(text: str, monkeypatch: Any) -> None:
    """A warp that goes its own way has all of its lanes."""
    rule = store._store_window
    found = []
    for how in ("shuffle", "barrier"):
        def planted(ctx: Any, *rest: Any, how: str = how) -> Any:
            elements.guarded(ctx, elements.owner(ctx, 0, -1), lambda: meets(ctx, how))
            return rule(ctx, *rest)

        monkeypatch.setattr(store, "_store_window", planted)
        try:
            triton_spirv.compile(text, find_target("cpu-simt"))
        except InternalError:
            found.append(how)
    assert found == ["barrier"]
