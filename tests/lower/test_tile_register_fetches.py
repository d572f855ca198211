"""lower/products/tile_fetches.py and destination.py with tile registers: the panel behind the one that is
multiplied, and what the last round stores to, as the machine of tests/machine sees it."""

from __future__ import annotations

import numeric
import numpy as np
import pytest
import triton.language as tl
from lower.test_kept_panels import product
from lower.test_last_round import multiplied
from triton_spirv.lower.products import tile_product

SPIRV_MODES = ("machine-vector-amx",)

LINE, WORD = 64, 4

WRITTEN = ("p1 to write", 3)


@pytest.mark.parametrize("dtype, out, how", [("i8", "i32", "plain"), ("bf16", "f32", "plain"),
                                             ("bf16", "bf16", "narrowed"), ("i8", "f32", "narrowed")])
@pytest.mark.parametrize("k", (64, 1024))
def test_the_result(run, fetched, dtype: str, out: str, how: str, k: int) -> None:
    """Each line once, by the last of two rounds; of tiles that are stored while the next one is multiplied,
    too."""
    m, n = 64, 128
    c, expected, _, _, kernel = multiplied(run, dtype, (m, n, k), (m, n, k // 2), how, out)
    rounded = numeric.array(numeric.tensor(expected.astype(numeric.DTYPES[out].values), out))
    numeric.assert_same(c, rounded, signed_zeros=False)
    lines = n * c.element_size() // LINE
    assert "fetch result of store" in kernel.asm["plan"]
    first = min(fetched[WRITTEN])
    assert fetched[WRITTEN] == {first + LINE * line: 1 for line in range(m * lines)}


def test_edges_of_the_result(run, fetched) -> None:
    """What a block covers of it, though a mask leaves some of that out: a hint, at whatever address."""
    c, expected, *_ = multiplied(run, "i8", (50, 70, 128), (64, 128, 64))
    numeric.assert_same(c, expected.astype(np.int32), signed_zeros=False)
    assert sum(fetched[WRITTEN].values()) == 64 * 128 * WORD // LINE


@pytest.mark.parametrize("dtype", ("i8", "bf16"))
@pytest.mark.parametrize("depth, cache", ((128, 0), (64, 1 << 15)))
def test_the_panel_behind(run, fetched, monkeypatch: pytest.MonkeyPatch, dtype: str, depth: int, cache: int
                          ) -> None:
    """All lines of the panels, once for each program, where those of all rounds are more than half of the
    cache; it is made small."""
    monkeypatch.setattr(tile_product, "SECOND_CACHE", cache)
    m, n, k, programs = 256, 64, 256, 2
    a, b = numeric.whole((m, k), dtype, 0), numeric.whole((k, n), dtype, 1)
    out = numeric.poisoned((m, n), "f32" if dtype == "bf16" else "i32")
    kernel = run(product, (programs, 1), numeric.tensor(a, dtype), numeric.tensor(b, dtype), out, m, n, k,
                 m // programs, n, depth, False, tl.float32 if dtype == "bf16" else tl.int32)
    kind = numeric.DTYPES["f32" if dtype == "bf16" else "i32"].values
    numeric.assert_same(out, a.astype(kind) @ b.astype(kind), signed_zeros=False)
    assert "kept for the next program" in kernel.asm["plan"]
    panels, all_rounds = fetched["p0", 2], n * k * (2 if dtype == "bf16" else 1)
    is_far = all_rounds > cache // 2
    assert is_far == (dtype == "bf16" or cache == 0)
    assert sum(panels.values()) == (programs * all_rounds // LINE if is_far else 0)


def test_few_tiles_leave_it(run, fetched, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block of 16 rows has two tiles of sums a panel: it takes longer to fetch the next one so soon."""
    monkeypatch.setattr(tile_product, "SECOND_CACHE", 0)
    a, b = numeric.whole((32, 512), "i8", 0), numeric.whole((512, 64), "i8", 1)
    out = numeric.poisoned((32, 64), "i32")
    run(product, (2, 1), numeric.tensor(a, "i8"), numeric.tensor(b, "i8"), out, 32, 64, 512, 16, 64, 256,
        False, tl.int32)
    numeric.assert_same(out, a.astype(np.int32) @ b.astype(np.int32), signed_zeros=False)
    assert not fetched["p0", 2]
