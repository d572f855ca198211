"""Instructions are ordered so that fewer values are live at once, and compute the same.

`pytest tests/lower --spirv-modes crowded` runs the operation tests on a target where nearly all are.
"""

from __future__ import annotations

from collections import Counter

import crowded
import numeric
import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from ir.corpus import texts
from triton_spirv.spirv.module import Module
from triton_spirv.spirv.operands import opcode
from triton_spirv.spirv.passes import register_pressure
from triton_spirv.spirv.passes.graph import Graph, id_places
from triton_spirv.spirv.passes.liveness import peak, read
from triton_spirv.spirv.types import Float, Int, Pointer, Void
from triton_spirv.target import find_target
from triton_spirv.tools import spirv_tools

F32, I32 = Float(32), Int(32)


@triton.jit
def chained(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Each element by itself, each store behind a mask of its own, some elements compared across lanes."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1.0)
    y = x * x + 1
    for _ in tl.static_range(6):
        y = tl.where(y > x, y * 0.5 + x, y - x * 0.25)
    total = tl.sum(y)
    tl.store(out_ptr + i, y - x, mask=i < n)
    tl.store(out_ptr + BLOCK + i, y + total, mask=i < n - 1)


def expected(x: np.ndarray) -> np.ndarray:
    y = x * x + 1
    for _ in range(6):
        y = np.where(y > x, y * np.float32(0.5) + x, y - x * np.float32(0.25))
    return y


@pytest.fixture
def few_registers(monkeypatch):
    monkeypatch.delenv("TRITON_SPIRV_DEVICE", raising=False)  # the target is one of OpenCL
    monkeypatch.setenv("TRITON_SPIRV_TARGET", crowded.NAME)
    chained.device_caches.clear()
    yield
    chained.device_caches.clear()


@pytest.mark.parametrize("n", [512, 509, 0])
def test_numbers_of_a_crowded_kernel(few_registers, n):
    # quarters of small integers: every sum and product is exact
    x = np.random.default_rng(n).integers(-8, 8, 512).astype(np.float32)
    out = numeric.tensor(np.zeros(1024, np.float32), "f32")
    chained[(1,)](numeric.tensor(x, "f32"), out, n, 512, num_warps=2)
    inside = np.arange(512) < n
    filled = np.where(inside, x, np.float32(1))
    y = expected(filled)
    found = numeric.array(out)
    np.testing.assert_allclose(found[:512], np.where(inside, y - filled, 0), rtol=1e-6)
    last = np.where(np.arange(512) < n - 1, y + y.sum(dtype=np.float64), 0)
    np.testing.assert_allclose(found[512:], last, rtol=1e-5)


def peaks(monkeypatch, name: str, target) -> tuple[int, int, triton_spirv.Artifact]:
    """Bytes that are live at once in a kernel of the corpus before and after it is ordered."""
    found = []
    whole = register_pressure.lessen_pressure

    def watched(graph, lanes, register_bytes, new_id, large):
        blocks, sizes = read(graph, lanes, register_bytes // 128)
        found.append(max(peak(block.body, block.live, sizes) for block in blocks))
        found.append(whole(graph, lanes, register_bytes, new_id, large))
        return found[-1]

    monkeypatch.setattr("triton_spirv.lower.program.finishing.lessen_pressure", watched)
    made = triton_spirv.compile(texts(name)["ttgir"], target)
    return found[0], found[1], made


@pytest.mark.parametrize(("name", "target"), [("randoms", "tgl"), ("descriptor_rows", "pvc"),
                                              ("descriptor_rows", "tgl"), ("reductions", "dg2")])
def test_less_is_live(monkeypatch, name, target):
    before, after, made = peaks(monkeypatch, name, find_target(target))
    spirv_tools.validate(made.words)
    crowd = find_target(target).register_bytes * 5 // 8
    assert after < before if before > crowd else after == before


def test_room_is_left_as_it_is(monkeypatch):
    """A kernel that does not crowd the registers keeps the order of its rules."""
    made = triton_spirv.compile(texts("vector_add")["ttgir"], "pvc")
    monkeypatch.setattr("triton_spirv.lower.program.finishing.lessen_pressure", lambda *_: 0)
    assert triton_spirv.compile(texts("vector_add")["ttgir"], "pvc").words == made.words


def test_the_same_is_computed(monkeypatch):
    """No instruction is lost; only cheap ones are there more often."""
    def count(artifact):
        lines = artifact.listing.splitlines()
        return Counter(line.split("= ")[1].split()[0] for line in lines if "= Op" in line)

    ordered = count(triton_spirv.compile(texts("descriptor_rows")["ttgir"], "tgl"))
    monkeypatch.setattr("triton_spirv.lower.program.finishing.lessen_pressure", lambda *_: 0)
    plain = count(triton_spirv.compile(texts("descriptor_rows")["ttgir"], "tgl"))
    more = ordered - plain
    assert not plain - ordered
    assert more and set(more) <= {"OpIAdd", "OpPtrAccessChain", "OpSConvert", "OpBitwiseXor", "OpBitcast"}


def test_accesses_keep_their_order():
    """What is loaded before a store is loaded before it, however late it is used."""
    m = Module()
    kernel = m.function("kernel", Void(), [Pointer("CrossWorkgroup", F32)])
    m.begin(m.label())
    lane = m.emit("OpLoad", m.variable(I32), type=I32)
    pointer = m.emit("OpPtrAccessChain", kernel.parameters[0], lane, type=kernel.parameters[0].type)
    first = m.emit("OpLoad", pointer, ("Aligned", 4), type=F32)
    chain = [m.emit("OpFMul", first, first, type=F32) for _ in range(32)]
    m.emit("OpStore", pointer, chain[0], ("Aligned", 4))
    second = m.emit("OpLoad", pointer, ("Aligned", 4), type=F32)
    for value in chain[1:]:
        second = m.emit("OpFAdd", second, value, type=F32)
    m.emit("OpStore", pointer, second, ("Aligned", 4))
    m.emit("OpReturn")
    target = crowded.TARGET
    graph = Graph(m, kernel)
    most = register_pressure.lessen_pressure(graph, target.sub_group_size, target.register_bytes, m.new_id)
    accesses = [opcode(name) for name in ("OpLoad", "OpStore")]
    names = [words[0] & 0xFFFF for words in kernel.instructions if words[0] & 0xFFFF in accesses]
    assert names == [opcode(name) for name in ("OpLoad", "OpLoad", "OpStore", "OpLoad", "OpStore")]
    assert most < 8 * 64  # of 32 products one is live at a time
    made = {0}
    for words in kernel.instructions:
        if words[0] & 0xFFFF in (opcode("OpFMul"), opcode("OpFAdd")):
            assert all(words[at] in made or words[at] == first.id or words[at] == lane.id
                       for at in id_places(words))
        made.add(words[2] if len(words) > 2 else 0)


@pytest.mark.parametrize(("name", "operands", "places"), [
    ("OpLoad", (10, 2, 16), [3]), ("OpExtInst", (1, 203, 20, 21), [3, 5, 6]),
    ("OpCompositeExtract", (30, 3), [3]), ("OpGroupNonUniformFAdd", (5, 0, 40), [3, 5]),
    ("OpPhi", (50, 60, 51, 61), [3, 4, 5, 6]), ("OpStore", (70, 71, 2, 4), [1, 2])])
def test_words_that_are_ids(name, operands, places):
    result = [] if name == "OpStore" else [1, 2]
    words = [len(result) + len(operands) + 1 << 16 | opcode(name), *result, *operands]
    assert id_places(words) == places
