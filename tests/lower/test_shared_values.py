"""lower/walk/walks.py, requests.py: values that several walks need, in whatever form and on whatever
path."""

from __future__ import annotations

from typing import Any

import numeric
import numpy as np
import pytest
import torch
import triton
import triton.language as tl
from triton_spirv import compile, compiler
from triton_spirv.errors import InternalError
from triton_spirv.lower.values.tensor import Deferred
from triton_spirv.lower.walk.open_walks import OpenWalks
from triton_spirv.lower.walk.requests import Asked, Requests
from triton_spirv.lower.walk.scopes import Scopes
from triton_spirv.lower.walk.walks import Walks

FILL = -7
SIZES = (16, 512, 1024, 8192)


def filled(count: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
    return torch.full((count,), FILL, dtype=dtype)


# ---- offsets that accesses ask for by the first of each register only


@triton.jit
def split_offsets(x_ptr, out0_ptr, out1_ptr, D: tl.constexpr, S: tl.constexpr, USE: tl.constexpr,
                  BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    j = i % D + i // D * S
    if USE == "stores":
        tl.store(out0_ptr + j, i)
        tl.store(out1_ptr + j, i)
    elif USE == "loads":
        tl.store(out0_ptr + i, tl.load(x_ptr + j))
        tl.store(out1_ptr + i, tl.load(x_ptr + j + D))
    elif USE == "data":
        tl.store(out0_ptr + j, i)
        tl.store(out1_ptr + j, j)
        tl.store(out1_ptr + j + D, j ^ 1)
    elif USE == "sum":
        total = tl.sum(tl.load(x_ptr + j))
        tl.store(out0_ptr + j, tl.load(x_ptr + j + D) - total)
        tl.store(out1_ptr + j, i)
    else:
        x = tl.load(x_ptr + j)
        y = tl.load(x_ptr + j + D)
        tl.store(out0_ptr + j, x * 3 - y, mask=j < S * 2)
        tl.store(out0_ptr + j + D, y * 3 + x)
        tl.store(out1_ptr + i, x ^ y)


@pytest.mark.parametrize("use", ("stores", "loads", "data", "sum", "halves"))
@pytest.mark.parametrize("size", SIZES)
def test_split_offsets(run, size, use):
    """Rotary embeddings, splits and chunks: runs of D neighbours, S apart."""
    for d, s in ((16, 32), (64, 128), (4, 9), (256, 1000)):
        if d > size:
            continue
        i = np.arange(size)
        j = i % d + i // d * s
        x = torch.arange(3, 3 + j.max() + d + 1, dtype=torch.int32)
        out0, out1 = filled(j.max() + d + 1), filled(j.max() + d + 1)
        run(split_offsets, 1, x, out0, out1, d, s, use, size)
        values, wanted0, wanted1 = x.numpy(), filled(len(out0)).numpy(), filled(len(out1)).numpy()
        if use == "stores":
            wanted0[j] = wanted1[j] = i
        elif use == "loads":
            wanted0[i], wanted1[i] = values[j], values[j + d]
        elif use == "data":
            wanted0[j], wanted1[j] = i, j
            wanted1[j + d] = j ^ 1
        elif use == "sum":
            wanted0[j], wanted1[j] = values[j + d] - values[j].sum(), i
        else:
            wanted0[j] = np.where(j < s * 2, values[j] * 3 - values[j + d], FILL)
            wanted0[j + d], wanted1[i] = values[j + d] * 3 + values[j], values[j] ^ values[j + d]
        np.testing.assert_array_equal(out0.numpy(), wanted0, f"{d} {s}")
        np.testing.assert_array_equal(out1.numpy(), wanted1, f"{d} {s}")


# ---- what masked elements give, needed elsewhere too


@triton.jit
def defaults(a_ptr, b_ptr, out0_ptr, out1_ptr, n, USE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    y = tl.load(a_ptr + i)
    y = y // 3 + y % 7
    if USE == "sum":
        s = tl.sum(tl.load(b_ptr + i, mask=i < n, other=y))
        tl.store(out0_ptr + i, y - s)
        tl.store(out1_ptr + i, y)
    elif USE == "same":
        z = tl.load(b_ptr + i, mask=i < n, other=y)
        s = tl.sum(z + y)
        tl.store(out0_ptr + i, z - s)
        tl.store(out1_ptr + i, y)
    elif USE == "twice":
        tl.store(out0_ptr + i, tl.load(b_ptr + i, mask=i < n, other=y))
        tl.store(out1_ptr + i, tl.load(b_ptr + i, mask=i >= n, other=y))
    else:
        z = tl.load(b_ptr + i, mask=(i < n) & (y > 5), other=y * 3 // 7 % 11)
        s = tl.max(z)
        tl.store(out0_ptr + i, z + y * 3 // 7 % 11, mask=y > s // 2)
        tl.store(out1_ptr + i, y * 3 // 7 % 11 - s)


@pytest.mark.parametrize("use", ("sum", "same", "twice", "mask"))
@pytest.mark.parametrize("size, dtype", (
    (16, "i32"), (512, "i16"), (1024, "i32"), (2048, "i64"), (8192, "i32")))
def test_defaults(run, size, dtype, use):
    i = np.arange(size)
    for n in (0, size * 2 // 3, size):
        x, z = np.random.default_rng(n).integers(0, 100, (2, size))
        kind = numeric.DTYPES[dtype].torch
        out0, out1 = filled(size, torch.int64), filled(size, torch.int64)
        run(defaults, 1, torch.from_numpy(x).to(kind), torch.from_numpy(z).to(kind), out0, out1, n, use, size)
        y = x // 3 + x % 7
        third = y * 3 // 7 % 11
        if use == "sum":
            wanted0, wanted1 = y - np.where(i < n, z, y).sum(), y
        elif use == "same":
            z = np.where(i < n, z, y)
            wanted0, wanted1 = z - (z + y).sum(), y
        elif use == "twice":
            wanted0, wanted1 = np.where(i < n, z, y), np.where(i >= n, z, y)
        else:
            z = np.where((i < n) & (y > 5), z, third)
            wanted0, wanted1 = np.where(y > z.max() // 2, z + third, FILL), third - z.max()
        np.testing.assert_array_equal(out0.numpy(), wanted0, str(n))
        np.testing.assert_array_equal(out1.numpy(), wanted1, str(n))


# ---- masks of many comparisons


@triton.jit
def many_conjuncts(x_ptr, out0_ptr, out1_ptr, out2_ptr, n, m, USE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = (i < n) & (i + 3 < m) & (i >= 2) & (i * 2 < 2 * n) & (i + 7 < m) & (i > 1 - m)
    if USE == "stores":
        tl.store(out0_ptr + i, i, mask=mask)
        tl.store(out1_ptr + i, i + 1, mask=mask)
        tl.store(out2_ptr + i, mask)
    elif USE == "loads":
        x = tl.load(x_ptr + i, mask=mask, other=1)
        s = tl.sum(x)
        tl.store(out0_ptr + i, x - s)
        tl.store(out1_ptr + i, tl.load(x_ptr + i, mask=mask, other=3))
        tl.store(out2_ptr + i, tl.where(mask, s, x))
    else:
        mask = mask & (tl.load(x_ptr + i) % 3 == 0)
        x = tl.load(x_ptr + i, mask=mask, other=2)
        tl.store(out0_ptr + i, x - tl.max(x), mask=mask)
        tl.store(out1_ptr + i, x + i, mask=mask)
        tl.store(out2_ptr + i, mask)


@pytest.mark.parametrize("use", ("stores", "loads", "data"))
@pytest.mark.parametrize("size", SIZES)
def test_many_conjuncts(run, size, use):
    for n, m in ((2 * size, 4 * size), (size * 3 // 2, 4 * size), (2 * size, size // 3), (0, 0)):
        x = torch.arange(5, 5 + 2 * size, dtype=torch.int32)
        outs = [filled(2 * size) for _ in range(3)]
        run(many_conjuncts, 2, x, *outs, n, m, use, size)
        i, v = np.arange(2 * size), x.numpy()
        mask = (i < n) & (i + 7 < m) & (i >= 2) & (i > 1 - m)
        if use == "stores":
            wanted = [np.where(mask, i, FILL), np.where(mask, i + 1, FILL), mask]
        elif use == "loads":
            loaded = np.where(mask, v, 1)
            s = np.repeat(loaded.reshape(2, -1).sum(1), size)
            wanted = [loaded - s, np.where(mask, v, 3), np.where(mask, s, loaded)]
        else:
            mask = mask & (v % 3 == 0)
            loaded = np.where(mask, v, 2)
            top = np.repeat(loaded.reshape(2, -1).max(1), size)
            wanted = [np.where(mask, loaded - top, FILL), np.where(mask, loaded + i, FILL), mask]
        for actual, expected in zip(outs, wanted, strict=True):
            np.testing.assert_array_equal(actual.numpy(), expected, f"{n} {m}")


# ---- values that a branch or a loop needs in an array, and what follows needs too


@triton.jit
def kept_in_an_arm(out0_ptr, out1_ptr, s, USE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    y = i ^ 5
    places = (i * 7) & (BLOCK - 1)
    if USE == "branch":
        if s > 0:
            tl.store(out0_ptr + i, tl.gather(y, places, 0))
    elif USE == "otherwise":
        if s > 0:
            tl.store(out0_ptr + i, tl.gather(y, places, 0))
        else:
            tl.store(out0_ptr + i, tl.gather(y, (places + 1) & (BLOCK - 1), 0) + tl.sum(y))
    elif USE == "for":
        for k in range(s):
            tl.store(out0_ptr + i, tl.gather(y, (places + k) & (BLOCK - 1), 0))
    elif USE == "while":
        k = 0
        while k < s:
            tl.store(out0_ptr + i, tl.gather(y, (places + k) & (BLOCK - 1), 0))
            k += 1
    elif USE == "nested":
        for k in range(s):
            if k % 2 == 0:
                tl.store(out0_ptr + i, tl.gather(y, places, 0))
            tl.store(out1_ptr + i, y)
    elif USE == "sort":
        if s > 0:
            tl.store(out0_ptr + i, tl.sort(y))
    elif USE == "scan":
        if s > 0:
            tl.store(out0_ptr + i, tl.cumsum(y, 0) + y)
    else:
        if s > 0:
            tl.store(out0_ptr + i, tl.reshape(tl.trans(tl.reshape(y, (BLOCK // 4, 4))), (BLOCK,)))
    tl.store(out1_ptr + i, y)


@pytest.mark.takes_turns(2)
@pytest.mark.parametrize("use", ("branch", "otherwise", "for", "while", "nested", "sort", "scan", "trans"))
@pytest.mark.parametrize("size", SIZES)
def test_kept_in_an_arm(run, size, use):
    for s in (0, 1, 3):
        out0, out1 = filled(size), filled(size)
        run(kept_in_an_arm, 1, out0, out1, s, use, size)
        i = np.arange(size)
        y = i ^ 5
        first = y[(i * 7) & (size - 1)]
        if use == "otherwise" and not s:
            wanted = y[(i * 7 + 1) & (size - 1)] + y.sum()
        elif not s:
            wanted = filled(size).numpy()
        elif use in ("for", "while"):
            wanted = y[(i * 7 + s - 1) & (size - 1)]
        else:
            others = {"sort": i, "scan": np.cumsum(y) + y, "trans": y.reshape(-1, 4).T.ravel()}
            wanted = others.get(use, first)
        np.testing.assert_array_equal(out0.numpy(), wanted, str(s))
        np.testing.assert_array_equal(out1.numpy(), y, str(s))


# ---- none of these goes unnoticed


def promise_what_may_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(self: Requests, inputs: Any, optional: Any = ()) -> Asked:
        found = [(node, layout) for node, layouts in self.of(inputs) for layout in layouts]
        return Asked({node: layout for node, layout in found if isinstance(node, Deferred)})

    monkeypatch.setattr(Requests, "asked", asked)
    monkeypatch.setattr(Walks, "complete", lambda self: None)


def forget_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scopes, "close", lambda self: self._open.pop())


NOTICED = (
    (promise_what_may_be_asked_for, split_offsets, "stores", 3, (64, 128)),
    (promise_what_may_be_asked_for, defaults, "sum", 4, (700,)),
    (promise_what_may_be_asked_for, many_conjuncts, "loads", 4, (700, 900)),
    (forget_nothing, kept_in_an_arm, "branch", 2, (2,)),
    (forget_nothing, kept_in_an_arm, "for", 2, (2,)),
)


@pytest.mark.skipif(numeric.INTERPRETED, reason="nothing is compiled")
@pytest.mark.parametrize("defect, kernel, use, pointers, numbers", NOTICED)
def test_noticed(run, monkeypatch, defect, kernel, use, pointers, numbers):
    """With a mend taken back, compilation ends with an internal error: the walk that closes notices that a
    value was not written, or else the plan's verifier that it is read, and behind that the analysis of the
    emitted function."""
    buffers = [filled(4096) for _ in range(pointers)]
    text = run(kernel, 1, *buffers, *numbers, use, 1024).asm["ttir"]
    compile(text, "cpu")
    defect(monkeypatch)
    if defect is promise_what_may_be_asked_for:
        with pytest.raises(InternalError, match="does not, on one of its ways"):
            compile(text, "cpu")
        monkeypatch.setattr(OpenWalks, "is_written", lambda self, plan, node: True)
    monkeypatch.delenv("TRITON_SPIRV_DEBUG")  # users are told as well
    with pytest.raises(InternalError, match=f"the plan of {kernel.fn.__name__} is wrong"):
        compile(text, "cpu")
    monkeypatch.setattr(compiler, "verify_plan", lambda plan: None)
    with pytest.raises(InternalError, match="is read where not all ways"):
        compile(text, "cpu")
