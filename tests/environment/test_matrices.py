"""lower/products/cooperative.py: products on matrices of a sub-group, by the emulated ones of
emulated.py; and the instructions themselves before spirv-val."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
import triton
import triton.language as tl
import triton_spirv
from environment.emulated import TARGET, Emulated
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton_spirv import compiler
from triton_spirv.target import VULKAN
from triton_spirv.tools import spirv_tools

pytestmark = pytest.mark.vulkan

TYPES = {"fp16": torch.float16, "bf16": torch.bfloat16, "i8": torch.int8}
#: of a result: small where each lane computes all matrices, and compiling that is what takes the time
M, N = 8, 16


@triton.jit
def product(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
    out = tl.int32 if KIND == "i8" else tl.float32
    total = tl.zeros((M, N), out)
    for start in range(0, K, BK):
        inside = k + start < K
        a = tl.load(a_ptr + m[:, None] * K + start + k[None, :], inside[None, :], 0)
        if KIND == "transposed":
            b = tl.load(b_ptr + n[:, None] * K + start + k[None, :], inside[None, :], 0).trans()
        else:
            b = tl.load(b_ptr + (start + k)[:, None] * N + n[None, :], inside[:, None], 0)
        if KIND == "rescaled":
            total = tl.dot(a, b, total * 0.5)
        elif KIND == "by rows":
            total = tl.dot(a, b, total * (0.5 + 0.125 * m.to(tl.float32))[:, None])
        else:
            total = tl.dot(a, b, total, out_dtype=out)
    if KIND == "added":  # to a sum that is in registers again
        first = tl.load(a_ptr + m[:, None] * K + k[None, :])
        total = tl.dot(first, tl.load(b_ptr + k[:, None] * N + n[None, :]), total)
    tl.store(c_ptr + m[:, None] * N + n[None, :], total)


def ttgir(type: str, kind: str, warps: int, scale: int = 1) -> str:
    """The kernel for eight lanes, by Triton's own passes."""
    result = "i32" if type == "i8" else "fp32"
    names = {"M": M * scale, "N": N * scale, "BK": 8, "KIND": kind}
    source = ASTSource(
        product, signature={"a_ptr": f"*{type}", "b_ptr": f"*{type}", "c_ptr": f"*{result}", "K": "i32",
                            **dict.fromkeys(names, "constexpr")}, constexprs=names)
    target = GPUTarget("spirv", "lavapipe", 8)
    return str(triton.compile(source, target=target, options={"num_warps": warps}).asm["ttgir"])


@pytest.fixture(autouse=True)
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_BACKEND", "1")
    monkeypatch.setitem(compiler.ENVIRONMENTS, "emulated-matrices", Emulated)


def operands(type: str, depth: int) -> tuple[torch.Tensor, torch.Tensor]:
    random = np.random.default_rng(0)
    made = [random.integers(-128, 128, shape) if type == "i8" else random.standard_normal(shape)
            for shape in ((M, depth), (depth, N))]
    a, b = (torch.from_numpy(values).to(TYPES[type]) for values in made)
    return a, b


@pytest.mark.parametrize("type, kind, warps", [
    ("fp16", "plain", 1), ("fp16", "plain", 4), ("bf16", "plain", 2), ("i8", "i8", 2),
    ("fp16", "transposed", 2), ("fp16", "rescaled", 2), ("fp16", "by rows", 2), ("fp16", "added", 2)])
def test_products(launch: Any, type: str, kind: str, warps: int) -> None:
    depth = 20
    a, b = operands(type, depth)
    artifact = triton_spirv.compile(ttgir(type, kind, warps), TARGET)
    given = b.T.contiguous() if kind == "transposed" else b
    out = torch.full((M, N), 7, dtype=torch.int32 if type == "i8" else torch.float32)
    launch(artifact, 1, a, given, out, depth)
    parts = [a[:, k:k + 8].double() @ b[k:k + 8].double() for k in range(0, depth, 8)]
    exact = torch.zeros(M, N, dtype=torch.float64)
    by_rows = (0.5 + 0.125 * torch.arange(M, dtype=torch.float64))[:, None]
    for part in parts:
        exact = exact * {"rescaled": 0.5, "by rows": by_rows}.get(kind, 1) + part
    if kind == "added":
        exact += parts[0]
    # f32 sums of 20 products of numbers around 1
    assert (out.double() - exact).abs().max() <= (0 if type == "i8" else 2e-5)


@triton.jit
def chained(q_ptr, k_ptr, v_ptr, out_ptr, length, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr):
    """As attention is made: a product, rows reduced, a product with what comes of it."""
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    highest, total = tl.full([M], -1e6, tl.float32), tl.zeros([M, D], tl.float32)
    for start in range(0, length, N):
        k = tl.load(k_ptr + (start + n)[None, :] * D + d[:, None])
        scores = tl.dot(q, k)
        new = tl.maximum(highest, tl.max(scores, 1))
        v = tl.load(v_ptr + (start + n)[:, None] * D + d[None, :])
        fade = tl.where(new > highest, 0.5, 1.0)
        total = tl.dot((scores - new[:, None]).to(tl.float16), v, total * fade[:, None])
        highest = new
    tl.store(out_ptr + m[:, None] * D + d[None, :], total)


def chained_ttgir(warps: int, scale: int) -> str:
    names = {"M": 8 * scale, "N": 8 * scale, "D": 8 * scale}
    pointers = dict.fromkeys(("q_ptr", "k_ptr", "v_ptr"), "*fp16")
    source = ASTSource(
        chained, signature={**pointers, "out_ptr": "*fp32", "length": "i32",
                            **dict.fromkeys(names, "constexpr")}, constexprs=names)
    target = GPUTarget("spirv", "lavapipe", 8)
    return str(triton.compile(source, target=target, options={"num_warps": warps}).asm["ttgir"])


@pytest.mark.parametrize("warps", [1, 2])
def test_chained_products(launch: Any, warps: int) -> None:
    random = np.random.default_rng(1)
    q, k, v = (torch.from_numpy(random.integers(-2, 3, (rows, 8))).to(torch.float16) for rows in (8, 24, 24))
    out = torch.full((8, 8), 7.0)
    launch(triton_spirv.compile(chained_ttgir(warps, 1), TARGET), 1, q, k, v, out, 24)
    highest, total = torch.full((8,), -1e6, dtype=torch.float64), torch.zeros(8, 8, dtype=torch.float64)
    for start in range(0, 24, 8):
        scores = q.double() @ k[start:start + 8].double().T
        new = torch.maximum(highest, scores.amax(1))
        fade = torch.where(new > highest, 0.5, 1.0)
        total = total * fade[:, None] + (scores - new[:, None]) @ v[start:start + 8].double()
        highest = new
    assert (out.double() == total).all(), "whole numbers, and halves of them: exact"


def test_chained_products_wait_for_their_own_warp() -> None:
    """The left operand of the second product is written and read by the same warp."""
    artifact = triton_spirv.compile(chained_ttgir(2, 4), real_target())
    body = artifact.listing[artifact.listing.index("\n%body"):artifact.listing.index("\n%after")]
    assert body.count("OpControlBarrier Subgroup") >= 2
    assert body.count("OpControlBarrier Workgroup") <= 3
    again = triton_spirv.compile(chained_ttgir(2, 4), real_target(holds_operands=False)).listing
    again = again[again.index("\n%body"):again.index("\n%after")]
    kind = "OpCooperativeMatrixLoadKHR matrix<16x8 x f16, MatrixAKHR>"
    loads = [text.count(kind) for text in (body, again)]
    assert loads[1] == 2 * loads[0], "what a loop does not change is loaded before it"
    spirv_tools.validate(artifact.words, "vulkan1.3")


def test_sums_stay_in_matrices() -> None:
    """Nothing goes through shared memory in the loop but the operands, and factors of rows."""
    scaled = triton_spirv.compile(ttgir("fp16", "by rows", 2, scale=2), real_target()).listing
    body = scaled[scaled.index("\n%body"):scaled.index("\n%after")]
    assert "OpFMul matrix<16x16 x f32" in body and "OpCooperativeMatrixStoreKHR" not in body
    plain = triton_spirv.compile(ttgir("fp16", "plain", 2, scale=2), real_target()).listing
    body = plain[plain.index("\n%body"):plain.index("\n%after")]
    assert "OpCooperativeMatrixMulAddKHR" in body and "OpCooperativeMatrixStoreKHR" not in body
    assert "matrix<16x16 x f32" in plain


def test_one_barrier_a_round() -> None:
    """What is loaded for the next round goes to the copy that nobody reads."""
    source = ttgir("fp16", "plain", 2, scale=2)
    for copies, barriers in ((True, 1), (False, 2)):
        listing = triton_spirv.compile(source, real_target(double_buffers=copies)).listing
        body = listing[listing.index("\n%body"):listing.index("\n%after")]
        assert body.count("OpControlBarrier") == barriers


def test_one_buffer_where_memory_is_short() -> None:
    source = ttgir("fp16", "plain", 1, scale=2)
    listing = triton_spirv.compile(source, real_target(shared_bytes=1800)).listing
    body = listing[listing.index("\n%body"):listing.index("\n%after")]
    assert body.count("OpControlBarrier") == 2


def test_two_work_groups_share_a_unit() -> None:
    """Where both fit, operands have one copy, and tensors on their way out go in parts; where they do not,
    all memory is taken."""
    source = ttgir("fp16", "plain", 2, scale=8)
    whole = triton_spirv.compile(source, real_target(paired=(1, 6000))).shared_bytes  # too many warps
    assert whole == triton_spirv.compile(source, real_target()).shared_bytes > 6000
    half = triton_spirv.compile(source, real_target(paired=(2, 6000)))
    assert half.shared_bytes <= 6000
    body = half.listing[half.listing.index("\n%body"):half.listing.index("\n%after")]
    assert body.count("OpControlBarrier") == 2
    assert triton_spirv.compile(source, real_target(paired=(2, 1200))).shared_bytes == whole


@pytest.mark.parametrize("columns, right", [(16, "<4 x i32>"), (8, "<2 x i32>")])
def test_matrices_begin_where_memory_is_seen_as_such_words(columns: int, right: str) -> None:
    """Bytes of 8 columns are 8 bytes: memory is not seen in words of 16 there."""
    form = (16, columns, 8, "i8", "i8", "i32", "i32")
    target = real_target().with_options(matrices=(form,))
    listing = triton_spirv.compile(ttgir("i8", "i8", 2, scale=2), target).listing
    places = dict(re.findall(r"(%chain\w*) = OpAccessChain ptr<Workgroup, (.*?)> ", listing))
    loads = re.findall(r"OpCooperativeMatrixLoadKHR matrix<.*?, Matrix(.)KHR> (%\w+)", listing)
    assert {places[place] for which, place in loads if which == "B"} == {right}


def test_memory_goes_to_what_needs_it() -> None:
    """Nothing that fits without a second copy is refused because of one."""
    source, plain = chained_ttgir(2, 4), real_target(double_buffers=False)
    least = next(size for size in range(1024, 49152, 256) if _fits(source, plain, size))
    assert _fits(source, real_target(), least)


def _fits(source: str, target: Any, size: int) -> bool:
    made = triton_spirv.compile(source, target.with_options(shared_bytes=size))
    return made.shared_bytes <= size and not made.overflow_bytes


def real_target(**more: Any) -> Any:
    explicit = "WorkgroupMemoryExplicitLayout"
    return VULKAN.with_options(
        name="with-matrices", sub_group_size=8,
        matrices=tuple((16, 16, 8, x, x, y, y) for x, y in (("f16", "f32"), ("bf16", "f32"), ("i8", "i32"))),
        capabilities=VULKAN.capabilities | {  # type: ignore[operator]
            "CooperativeMatrixKHR", "BFloat16TypeKHR", "BFloat16CooperativeMatrixKHR", f"{explicit}KHR",
            f"{explicit}8BitAccessKHR", f"{explicit}16BitAccessKHR"}, **more)


@pytest.mark.parametrize("type, kind", [("fp16", "plain"), ("bf16", "plain"), ("i8", "i8"),
                                        ("fp16", "transposed"), ("fp16", "rescaled"), ("fp16", "by rows")])
def test_the_instructions_are_valid(type: str, kind: str) -> None:
    artifact = triton_spirv.compile(ttgir(type, kind, 2, scale=2), real_target())
    assert "OpCooperativeMatrixLoadKHR" in artifact.listing
    spirv_tools.validate(artifact.words, "vulkan1.3")


@pytest.mark.parametrize("keeps", [False, True])
def test_loops_of_products_are_kept_where_the_driver_would_repeat_them(keeps: bool) -> None:
    artifact = triton_spirv.compile(ttgir("fp16", "plain", 2, scale=2), real_target(keeps_loops=keeps))
    assert ("DontUnroll" in artifact.listing) == keeps
