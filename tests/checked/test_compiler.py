"""check=compiler: what a kernel computes is compared with what it computes without optimisations; optimise=
leaves single ones out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import prepared
import pytest
import triton
import triton.language as tl
import triton_spirv
from checked.launches import arrays
from triton_spirv import CheckError
from triton_spirv.errors import LaunchError, UsageError
from triton_spirv.lower.addresses import masks
from triton_spirv.runtime import comparing
from triton_spirv.target import CPU, OPTIMISATIONS, left_out
from triton_spirv.target.optimisations import REORDERING


@pytest.fixture(params=["cpu", pytest.param("vulkan", marks=pytest.mark.vulkan)])
def anywhere(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here and on a Vulkan device, to which the memory is copied."""
    if request.param == "vulkan":
        monkeypatch.setenv("TRITON_SPIRV_DEVICE", os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan"))


@triton.jit
def softmax(x, o, n, BLOCK: tl.constexpr):
    i, row = tl.arange(0, BLOCK), tl.program_id(0)
    v = tl.load(x + row * n + i, mask=i < n, other=float("-inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * n + i, e / tl.sum(e, 0), mask=i < n)


@triton.jit
def product(x, y, o, K, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    i, j, k = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :], tl.arange(0, BLOCK)
    a, b = x + i * K + k[None, :], y + k[:, None] * SIZE + j
    sums = tl.zeros((SIZE, SIZE), tl.float32)
    for start in range(0, K, BLOCK):
        left = tl.load(a, mask=k[None, :] + start < K, other=0)
        sums = tl.dot(left, tl.load(b, mask=k[:, None] + start < K, other=0), sums)
        a += BLOCK
        b += BLOCK * SIZE
    tl.store(o + i * SIZE + j, sums)


@triton.jit
def in_place(x, n, BLOCK: tl.constexpr):
    """Reads what it writes: both runs must find what was there before."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n)
    tl.store(x + i, v * 2 + tl.load(x + i, mask=i < n), mask=i < n)


@triton.jit
def added(x, total, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(x + i, mask=i < n, other=0), 0))


@triton.jit
def numbered(ticket, o):
    """Which program takes which number is not said."""
    tl.store(o + tl.atomic_add(ticket, 1), tl.program_id(0))


RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("n, block", [(1000, 1024), (3, 16), (3000, 4096)])
def test_equal_bit_for_bit(n: int, block: int) -> None:
    x, plain, checked = normal(4, n), np.zeros((4, n), np.float32), np.zeros((4, n), np.float32)
    softmax[(4,)](*arrays(x, plain), n, BLOCK=block)
    softmax[(4,)](*arrays(x, checked), n, BLOCK=block, check="compiler")
    np.testing.assert_array_equal(plain, checked)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("depth", [16, 100])
def test_products(depth: int) -> None:
    x, y, o = normal(32, depth), normal(depth, 32), np.zeros((32, 32), np.float32)
    product[(1,)](*arrays(x, y, o), depth, SIZE=32, BLOCK=16, check="compiler")
    np.testing.assert_allclose(o, x @ y, rtol=1e-5, atol=1e-5)


def test_products_whose_order_instructions_choose() -> None:
    import torch

    x, y = (torch.randn(32, 64).to(torch.bfloat16) for _ in range(2))
    o = torch.zeros(32, 32)
    product[(1,)](x, y.reshape(64, 32), o, 64, SIZE=32, BLOCK=32, check="compiler")
    torch.testing.assert_close(o, x.float() @ y.reshape(64, 32).float(), rtol=1e-4, atol=1e-4)


@pytest.mark.usefixtures("anywhere")
def test_memory_is_as_after_one_launch() -> None:
    x, total, ticket, o = normal(1000), np.zeros(1, np.float32), np.zeros(1, np.int32), np.zeros(50, np.int32)
    before = x.copy()
    with triton_spirv.checked("compiler"):
        in_place[(4,)](*arrays(x), 1000, BLOCK=256)
        np.testing.assert_allclose(x, 3 * before, rtol=1e-6)
        added[(8,)](*arrays(x, total), 1000, BLOCK=128)
        numbered[(50,)](*arrays(ticket, o))
    assert ticket[0] == 50 and sorted(o) == list(range(50))
    np.testing.assert_allclose(total[0], x.sum(), rtol=1e-4)


def test_another_order_of_programs_by_chance_is_no_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs come in another order in the first launches of the kernel, and in none of the reference's."""
    seen = iter([True, False, True])  # as it is, the reference twice, both without fused operations
    found = comparing.Difference("o", 0, 1, 2, 1)
    monkeypatch.setattr(comparing, "_difference", lambda *_: found if next(seen, False) else None)
    ticket, o = np.zeros(1, np.int32), np.zeros(50, np.int32)
    numbered[(50,)](*arrays(ticket, o), check="compiler")
    assert ticket[0] == 50 and sorted(o) == list(range(50)) and not list(seen)


@pytest.mark.vulkan
def test_arrays_of_a_device_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    choice = os.environ.get("TRITON_SPIRV_TEST_VULKAN", "vulkan")
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", choice)
    x = triton_spirv.asarray(normal(16), device=choice)
    with pytest.raises(LaunchError, match="compares host memory: argument x is in a device's memory"):
        in_place[(1,)](x, 16, BLOCK=16, check="compiler")


@pytest.fixture
def wrong_masks(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A defect of the compiler's: a mask is taken to hold for a window if it does for its first element. What
    it makes stays in a cache of its own."""
    original = masks._ordered

    def ordered(ctx: Any, predicate: str, operands: Any, layout: Any, opposite: bool = False) -> Any:
        heads = layout.map(layout.shape, lambda basis: 0)
        return original(ctx, predicate, operands, layout if opposite else heads, opposite)

    monkeypatch.setattr(masks, "_ordered", ordered)
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path_factory.mktemp("wrong")))


@triton.jit
def copied(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i), mask=i < n)


@pytest.mark.usefixtures("anywhere")
def test_a_defect_is_found_recorded_and_bisected(
    wrong_masks: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITON_SPIRV_RECORD", str(tmp_path))
    x, o = np.arange(1, 65, dtype=np.float32), np.zeros((4, 16), np.float32)

    def launch(**options: str) -> None:
        copied[(1,)](*arrays(x, o), 50, BLOCK=64, **options)

    with pytest.raises(CheckError) as raised:
        launch(check="compiler")
    finding, = raised.value.findings
    assert finding.check == "compiler" and finding.kernel == "copied" and finding.argument == "o"
    assert finding.index == (3, 2) and finding.count == 14
    assert "o[3, 2] is 51.0, and 0.0 without" in finding.message
    assert finding.source == "def copied(x, o, n, BLOCK: tl.constexpr):"
    recorded = next(place for place in tmp_path.iterdir() if str(place) in finding.message)
    assert json.loads((recorded / "launch.json").read_text())["entry"] == "copied"
    again = prepared.python(["-m", "triton_spirv", "replay", str(recorded)])
    assert again.returncode == 1, again.stdout + again.stderr
    monkeypatch.delenv("TRITON_SPIRV_RECORD")
    guilty = []
    for name in OPTIMISATIONS:
        o[:] = 0
        launch(optimise=f"-{name}")
        if not o[3, 2:].any():
            guilty.append(name)
    assert guilty == ["masks"]


def test_names() -> None:
    assert left_out("") == left_out("all") == frozenset()
    assert left_out("none") == OPTIMISATIONS.keys()
    assert left_out("-masks, -vectors") == {"masks", "vectors"}
    assert left_out("masks") == left_out("none,masks") == OPTIMISATIONS.keys() - {"masks"}
    assert set(REORDERING) < OPTIMISATIONS.keys()
    with pytest.raises(UsageError, match="there is no optimisation mask; there are layouts"):
        left_out("-mask")
    with pytest.raises(ValueError, match="is no optimisation"):
        CPU.optimises("speed")
    assert CPU.optimised("") is CPU
    assert not CPU.optimised("-streaming").stream_bytes


@pytest.mark.parametrize("name", OPTIMISATIONS)
def test_each_alone(name: str) -> None:
    """Each may be left out, and each may be the only one."""
    x, wanted = normal(2, 3000), np.zeros((2, 3000), np.float32)
    softmax[(2,)](*arrays(x, wanted), 3000, BLOCK=4096)
    for option in (f"-{name}", f"none,{name}"):
        o = np.zeros((2, 3000), np.float32)
        softmax[(2,)](*arrays(x, o), 3000, BLOCK=4096, optimise=option)
        np.testing.assert_array_equal(o, wanted)


def test_each_walk_does_one_thing() -> None:
    x, o = arrays(normal(1, 3000), np.zeros((1, 3000), np.float32))
    plan = softmax[(1,)](x, o, 3000, BLOCK=4096, optimise="none").asm["plan"]
    assert "versions" not in plan and "which held" not in plan and "fetch" not in plan
    assert plan.count("  load") == 1 and "one by one" in plan and "masked" not in plan
    assert all(walk.count("write array") + walk.count("store ") <= 2 for walk in plan.split("walk")[1:])


def test_the_page_has_each() -> None:
    page = (Path(__file__).parent.parent.parent / "docs" / "checking.md").read_text(encoding="utf-8")
    for name, each in OPTIMISATIONS.items():
        assert f"| `{name}` | {each.meaning} |" in page


# ---- sums in another order


@triton.jit
def half_product(x, y, o, K, ATOMIC: tl.constexpr, SIZE: tl.constexpr, BLOCK: tl.constexpr):
    """Each program has its part of K."""
    i, j = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    k = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    left = tl.load(x + i * K + k[None, :])
    sums = tl.dot(left, tl.load(y + k[:, None] * SIZE + j))
    if ATOMIC:
        tl.atomic_add(o + i * SIZE + j, sums)
    else:
        tl.store(o + i * SIZE + j, tl.exp(sums * 0.1))


def products_of(atomic: bool, seed: int, dtype: str = "bfloat16", programs: int = 8) -> Any:
    import torch

    torch.manual_seed(seed)
    x, y = (torch.randn(shape).to(getattr(torch, dtype)) for shape in ((16, 256), (256, 16)))
    o = torch.randn(16, 16)
    start = o.clone()
    half_product[(programs if atomic else 1,)](x, y, o, 256, ATOMIC=atomic, SIZE=16, BLOCK=32,
                                               check="compiler")
    wanted = x.double() @ y.double() + start if atomic else None
    return o, wanted


@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32"])
def test_sums_in_any_order(atomic: bool, dtype: str) -> None:
    import torch

    for seed in range(3):
        o, wanted = products_of(atomic, seed, dtype)
        if wanted is not None:
            torch.testing.assert_close(o.double(), wanted, rtol=1e-4, atol=1e-4)


def plant(monkeypatch: pytest.MonkeyPatch, folder: Path, change: Any) -> None:
    """A defect in what sums pairs of products. What it makes stays in a cache of its own."""
    from triton_spirv.environment.opencl.environment import OpenCL

    original = OpenCL.sum_products

    def planted(self: Any, form: str, x: Any, y: Any, z: Any) -> Any:
        return change(self.b, original(self, form, x, y, z), z)

    monkeypatch.setattr(OpenCL, "sum_products", planted)
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(folder))


@pytest.mark.parametrize("atomic", [False, True])
@pytest.mark.parametrize("defect", ["one part in 10,000", "a sum that is lost"])
def test_wrong_sums_of_pairs_are_found(
    atomic: bool, defect: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The reference has the same instructions then, so only sums of integers show it."""
    from triton_spirv.runtime.processor import processor
    from triton_spirv.target import known

    if "avx512_bf16" not in processor().flags:
        pytest.skip("this processor has no such instructions")
    monkeypatch.setattr(known, "SLOW_ON_INTEL", frozenset())
    change = {"one part in 10,000": lambda b, sums, before: b.binary("OpFMul", sums, 1.0001),
              "a sum that is lost": lambda b, sums, before: b.binary("OpFSub", sums, before)}[defect]
    plant(monkeypatch, tmp_path, change)
    monkeypatch.setenv("TRITON_SPIRV_OPTIMISE", "-matrix-units")  # tile registers would multiply them
    half_product.device_caches.clear()
    with pytest.raises(CheckError, match="optimisations change"):
        products_of(atomic, 0)
    half_product.device_caches.clear()


@triton.jit
def sums_of_columns(x, o, SIZE: tl.constexpr):
    """A square tile, whose memory is contiguous along its first axis."""
    i, r = tl.arange(0, SIZE), tl.arange(0, SIZE)
    tl.store(o + i, tl.sum(tl.load(x + i[:, None] + SIZE * r[None, :]), 1))


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_another_order_of_axes_adds_floats_in_another_order(dtype: str) -> None:
    x, o = (normal(64, 64) * 1000).astype(dtype), np.zeros(64, dtype)
    sums_of_columns[(1,)](*arrays(x, o), SIZE=64, check="compiler")
    np.testing.assert_allclose(o, x.sum(0, dtype=dtype), rtol=1e-3, atol=0.1)


@triton.jit
def places_of_columns(x, o, SIZE: tl.constexpr):
    i, r = tl.arange(0, SIZE), tl.arange(0, SIZE)
    v = tl.load(x + i[:, None] + SIZE * r[None, :])
    tl.store(o + i, tl.argmax(v, 1, tie_break_left=False))


def test_any_of_equal_elements_is_right() -> None:
    x, o = np.zeros((64, 64), np.int32), np.zeros(64, np.int32)
    x[7:40] = 1
    places_of_columns[(1,)](*arrays(x, o), SIZE=64, check="compiler")
    assert ((o >= 7) & (o < 40)).all()


def test_a_wrong_order_of_axes_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Sums along the other axis of the square."""
    from triton_spirv.passes.order_axes import _Rewriting

    original = _Rewriting._renumber

    def renumbered(self: Any, op: Any) -> None:
        original(self, op)
        op.set_attribute("axis", 1 - op.attributes["axis"])

    monkeypatch.setattr(_Rewriting, "_renumber", renumbered)
    monkeypatch.setenv("TRITON_ALWAYS_COMPILE", "1")
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    sums_of_columns.device_caches.clear()
    x, o = np.arange(64 * 64, dtype=np.int32), np.zeros(64, np.int32)
    with pytest.raises(CheckError, match="optimisations change"):
        sums_of_columns[(1,)](*arrays(x, o), SIZE=64, check="compiler")
    sums_of_columns.device_caches.clear()


@triton.jit
def total(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(o + i % 7, tl.load(x + i, mask=i < n, other=0), mask=i < n)


def test_bounds_of_sums_that_programs_make() -> None:
    """n additions, of magnitudes that are added up: counted for each element."""
    x, o = normal(1000), normal(7)
    start, seen = o.copy(), []
    original = comparing._bounds

    def noted(*given: Any) -> Any:
        seen.append(original(*given))
        return seen[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparing, "_bounds", noted)
        for _ in range(20):  # programs come in another order now and then
            o[:] = start
            total[(32,)](*arrays(x, o), 1000, BLOCK=32, check="compiler")
    for found in seen:
        bound, = found.values()
        counts = np.bincount(np.arange(1000) % 7, minlength=7)
        magnitudes = np.abs(start) + [np.abs(x[i::7]).sum() for i in range(7)]
        np.testing.assert_allclose(bound, 2 * counts * 2.0 ** -24 * magnitudes, rtol=1e-3)
    text = total[(1,)](*arrays(x, o), 0, BLOCK=32).asm["ttir"]
    from triton_spirv.facts.sums import sums_of

    assert sums_of(text) == (False, True, {1}, False)


def test_what_is_added_to_and_read_has_no_bound() -> None:
    from triton_spirv.facts.sums import sums_of

    x, ticket, o = normal(100), np.zeros(1, np.int32), np.zeros(1, np.int32)
    assert sums_of(added[(1,)](*arrays(x, normal(1)), 100, BLOCK=128).asm["ttir"])[2] == {1}
    assert not sums_of(numbered[(1,)](*arrays(ticket, o)).asm["ttir"])[2]


@pytest.mark.parametrize("kind", ("float32", "bfloat16"))
@pytest.mark.parametrize("optimise", ("all", "-masks"))
def test_sums_along_vectors_are_exact_in_any_order(kind: str, optimise: str) -> None:
    """The compared kernel makes no inner products then, and leaves out what its launch does."""
    import torch
    from lower.test_inner_products import linear

    n, k, dtype = 130, 200, getattr(torch, kind)
    x, w, out = torch.randn(1, k).to(dtype), torch.randn(n, k).to(dtype), torch.empty(1, n)
    linear[(3,)](x, w, out, 1, n, k, k, 16, 64, 32, False, 0.0, check="compiler", optimise=optimise)
    torch.testing.assert_close(out, x.float() @ w.float().T, rtol=1e-4, atol=1e-4)


@triton.jit
def chosen_by_products(x, o, HOW: tl.constexpr, SIZE: tl.constexpr):
    i, j = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    sums = tl.dot(tl.load(x + i * SIZE + j), tl.load(x + i * SIZE + j))
    if HOW == "index":
        tl.store(o + i * SIZE + j, tl.load(x + sums.to(tl.int32)))
    elif HOW == "mask":
        tl.store(o + i * SIZE + j, sums, mask=sums > 0)
    elif HOW == "branch":
        if tl.sum(sums) > 0:
            tl.store(o + i * SIZE + j, sums)
    elif HOW == "loop":
        while tl.sum(sums) > 1:
            sums *= 0.5
        tl.store(o + i * SIZE + j, sums)
    else:
        for _ in range(3):
            sums = tl.dot(tl.load(x + i * SIZE + j), sums.to(tl.bfloat16))
        tl.store(o + i * SIZE + j, tl.where(sums > 0, sums, 0))


@pytest.mark.parametrize("how, exact", [("index", False), ("mask", False), ("branch", False), ("loop", False),
                                        ("", True)])
def test_sums_that_decide_are_not_changed(how: str, exact: bool) -> None:
    """With integers for operands the kernel might read elsewhere, or not end."""
    import torch
    from triton_spirv.facts.sums import sums_of

    x, o = torch.zeros(16, 16, dtype=torch.bfloat16), torch.zeros(16, 16)
    text = chosen_by_products[(1,)](x, o, HOW=how, SIZE=16).asm["ttir"]
    assert sums_of(text) == (True, exact, frozenset(), how in ("branch", "loop"))
