"""Masked accesses as messages with a predicate, where the target has them: no branch, and nothing is touched
where the mask is false. The instructions are functions that are linked in here (tests/emulation)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from ir.corpus import texts
from triton_spirv.target import find_target
from triton_spirv.tools import spirv_tools

SPIRV_MODES = ["xe", "xe8"]


@triton.jit
def copied(x_ptr, out_ptr, n, other, BLOCK: tl.constexpr, VOLATILE: tl.constexpr = False):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n, other=other, volatile=VOLATILE), mask=i < n + 16)


@triton.jit
def picked(x_ptr, index_ptr, out_ptr, rows, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """A gather and a scatter under a mask for each row."""
    r = tl.arange(0, ROWS)[:, None]
    i = r * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    index = tl.load(index_ptr + i, mask=r < rows, other=0)
    tl.store(out_ptr + index, tl.load(x_ptr + index, mask=r < rows), mask=r < rows)


def branches(made: Any) -> int:
    return made.asm["spvasm"].count("OpBranchConditional")


@pytest.mark.parametrize("dtype", ["i8", "u16", "f16", "bf16", "i32", "f32", "i64", "f64"])
@pytest.mark.parametrize("n", [0, 16, 48, 128])
def test_a_mask_is_a_predicate(run: Callable[..., Any], dtype: str, n: int) -> None:
    x, out = np.arange(128) % 100 + 1, numeric.poisoned(128, dtype)
    expected = numeric.array(numeric.poisoned(128, dtype)).copy()
    expected[:n + 16], expected[:n] = 7, x[:n]
    made = run(copied, 1, numeric.tensor(x, dtype), out, n, 7, BLOCK=128, num_warps=1)
    numeric.assert_same(out, expected)
    if n:  # then it is known to be a multiple of 16, and one comparison is that of neighbours
        assert branches(made) == 0
        assert "ts_where_load" in made.asm["spvasm"] and "ts_where_store" in made.asm["spvasm"]


@pytest.mark.parametrize("dtype", ["i8", "f16", "f32"])
@pytest.mark.parametrize("n", [1, 37, 112])
def test_neighbours_with_masks_of_their_own(run: Callable[..., Any], dtype: str, n: int) -> None:
    """Whole vectors where all are inside, else one message for each element."""
    x, out = np.arange(128) % 100 + 1, numeric.poisoned(128, dtype)
    expected = numeric.array(numeric.poisoned(128, dtype)).copy()
    expected[:n + 16], expected[:n] = 7, x[:n]
    run(copied, 1, numeric.tensor(x, dtype), out, n, 7, BLOCK=128, num_warps=2)
    numeric.assert_same(out, expected)


def test_badly_aligned_vectors_of_narrow_elements_take_a_branch(run: Callable[..., Any]) -> None:
    """Messages move words of 4 bytes; these begin at any multiple of 2."""
    x, out = numeric.tensor(np.arange(136), "f16"), numeric.poisoned(128, "f16")
    made = run(copied, 1, x[1:129], out[:], 64, 7, BLOCK=128, num_warps=1)
    assert "ts_where_load_16_1" not in made.asm["spvasm"] and branches(made) > 0
    np.testing.assert_array_equal(numeric.array(out)[:80], [*range(1, 65), *[7] * 16])


def test_volatile_loads_take_a_branch(run: Callable[..., Any]) -> None:
    x, out = np.arange(128), numeric.poisoned(128, "i32")
    made = run(copied, 1, numeric.tensor(x, "i32"), out, 64, 7, BLOCK=128, VOLATILE=True, num_warps=1)
    np.testing.assert_array_equal(numeric.array(out)[:80], [*range(64), *[7] * 16])
    assert "ts_where_load" not in made.asm["spvasm"] and branches(made) > 0


@pytest.mark.parametrize("rows", [0, 3, 16])
def test_gathers_and_scatters(run: Callable[..., Any], rows: int) -> None:
    index = np.random.default_rng(1).permutation(16 * 32).reshape(16, 32)
    x, out = np.arange(16 * 32) * 3, numeric.poisoned(16 * 32, "i32")
    expected = numeric.array(numeric.poisoned(16 * 32, "i32")).copy()
    expected[index[:rows]] = x[index[:rows]]
    made = run(picked, 1, numeric.tensor(x, "i32"), numeric.tensor(index, "i32"), out, rows, ROWS=16,
               COLUMNS=32, num_warps=2)
    numeric.assert_same(out, expected)
    assert branches(made) == 0


@pytest.mark.parametrize("name", ["pvc", "dg2", "bmg", "tgl", "pvc-2022", "dg2-2022"])
def test_the_instructions_are_for_targets_that_have_them(name: str) -> None:
    target = find_target(name).with_options(sub_group_size=16)
    made = triton_spirv.compile(texts("vector_add")["ttgir"], target)
    has = name in ("pvc", "dg2", "bmg")
    assert ("PredicatedIOINTEL" in made.listing) == ("OpPredicatedStoreINTEL" in made.listing) == has
    for line in made.listing.splitlines():  # with them ocloc drops the access
        assert "Predicated" not in line or "Aligned" not in line
    spirv_tools.validate(made.words)
