"""Encodings against Triton's own LinearLayout, for layouts and shapes drawn at random."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from triton_spirv.errors import LoweringError
from triton_spirv.ir.types import Encoding
from triton_spirv.layout import Layout, log2
from triton_spirv.lower.values.encoding import layout_of_encoding, shared_layout_of_encoding

from .oracle import Oracle

gluon = pytest.importorskip("triton.experimental.gluon.language._layouts")


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    """to_linear_layout of a Gluon layout and a shape."""
    made = Oracle()
    yield made
    made.close()


def encoding(layout: Any) -> Encoding:
    """The attribute that Triton prints for a Gluon layout."""
    def ttg(name: str, **items: Any) -> Encoding:
        return Encoding("ttg", name, tuple((key, _frozen(value)) for key, value in items.items()))

    if isinstance(layout, gluon.BlockedLayout):
        return ttg("blocked", sizePerThread=layout.size_per_thread, threadsPerWarp=layout.threads_per_warp,
                   warpsPerCTA=layout.warps_per_cta, order=layout.order)
    if isinstance(layout, gluon.SliceLayout):
        return ttg("slice", dim=layout.dim, parent=encoding(layout.parent))
    if isinstance(layout, gluon.DotOperandLayout):
        return ttg("dot_op", opIdx=layout.operand_index, parent=encoding(layout.parent))
    if isinstance(layout, gluon.SwizzledSharedLayout):
        return ttg("swizzled_shared", vec=layout.vec, perPhase=layout.per_phase, maxPhase=layout.max_phase,
                   order=layout.order)
    if isinstance(layout, gluon.SharedLinearLayout):
        return ttg("shared_linear", offset=layout.offset_bases, alignment=layout.alignment)
    assert isinstance(layout, gluon.DistributedLinearLayout), layout
    return ttg("linear", register=layout.reg_bases, lane=layout.lane_bases, warp=layout.warp_bases, block=[])


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def row_major(basis: list[int], shape: tuple[int, ...]) -> int:
    return sum(i * prod(shape[d + 1:]) for d, i in enumerate(basis))


def power(limit: int) -> st.SearchStrategy[int]:
    return st.integers(0, limit).map(lambda e: 1 << e)


@st.composite
def split(draw: st.DrawFn, total: int, rank: int) -> list[int]:
    """`rank` powers of two whose product is 2 ** total."""
    cuts = sorted(draw(st.integers(0, total)) for _ in range(rank - 1))
    exponents = [b - a for a, b in zip([0, *cuts], [*cuts, total], strict=True)]
    return [1 << e for e in exponents]


@st.composite
def blocked(draw: st.DrawFn, rank: int) -> Any:
    lanes, warps = draw(st.sampled_from([3, 4, 5])), draw(st.integers(0, 3))
    return gluon.BlockedLayout([draw(power(2)) for _ in range(rank)], draw(split(lanes, rank)),
                               draw(split(warps, rank)), draw(st.permutations(range(rank))))


@st.composite
def distributed(draw: st.DrawFn) -> tuple[Any, tuple[int, ...]]:
    """A blocked layout, a slice of one (of a slice), or an operand of a dot on one, and a shape for it."""
    rank = draw(st.integers(1, 3))
    slices = draw(st.integers(0, 2))
    layout = draw(blocked(rank + slices))
    if not slices and rank > 1 and draw(st.booleans()):
        layout = gluon.DotOperandLayout(draw(st.integers(0, 1)), layout, 0)
    for left in reversed(range(slices)):
        layout = gluon.SliceLayout(draw(st.integers(0, rank + left)), layout)
    return layout, tuple(draw(power(6)) for _ in range(rank))


def counts(layout: Any) -> tuple[int, int]:
    """Warps and lanes of a distributed layout."""
    while not isinstance(layout, gluon.BlockedLayout):
        layout = layout.parent
    return prod(layout.warps_per_cta), prod(layout.threads_per_warp)


def expected(linear: Any, shape: tuple[int, ...]) -> Layout:
    """Triton's answer, less the registers that hold an element twice (it keeps those of dot operands)."""
    def bases(of: list[list[int]]) -> tuple[int, ...]:
        return tuple(row_major(basis, shape) for basis in of)

    registers = tuple(basis for basis in bases(linear.reg_bases) if basis)
    return Layout(shape, register=registers, lane=bases(linear.lane_bases), warp=bases(linear.warp_bases))


@settings(deadline=None, max_examples=400)
@given(drawn=distributed())
def test_distributed(oracle: Any, drawn: tuple[Any, tuple[int, ...]]) -> None:
    layout, shape = drawn
    made = layout_of_encoding(encoding(layout), shape, *counts(layout))
    assert made == expected(oracle(layout, shape), shape)


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_linear(oracle: Any, data: st.DataObject) -> None:
    """Unit bases dealt out to registers, lanes and warps, some of them 0; tensors of any size."""
    rank = data.draw(st.integers(1, 3))
    own = [data.draw(power(4)) for _ in range(rank)]
    units = data.draw(st.permutations([[1 << i if d == dim else 0 for d in range(rank)]
                                       for dim in range(rank) for i in range(log2(own[dim]))]))
    lanes = units[:4] + [[0] * rank] * max(0, 4 - len(units))
    warps = units[4:6] + [[0] * rank] * max(0, 2 - len(units[4:6]))
    layout = gluon.DistributedLinearLayout(units[6:], lanes, warps, [], own)
    shape = tuple(data.draw(power(6)) for _ in range(rank))
    assert layout_of_encoding(encoding(layout), shape, 4, 16) == expected(oracle(layout, shape), shape)


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_generic_linear(data: st.DataObject) -> None:
    """Bases that mix dimensions and index bits; Triton's Python interface makes no such layouts."""
    shape = tuple(1 << data.draw(st.integers(1, 5)) for _ in range(data.draw(st.integers(1, 3))))
    bases = data.draw(mixed(shape)) + [[0] * len(shape)] * 6
    parts = {"register": [b for b in bases[6:] if any(b)], "lane": bases[:4], "warp": bases[4:6]}
    items = tuple((name, _frozen(part)) for name, part in parts.items())
    made = layout_of_encoding(Encoding("ttg", "generic_linear", items), shape, 4, 16)
    for name, part in parts.items():
        assert [made.unravel(basis) for basis in getattr(made, name)] == [tuple(basis) for basis in part]
    assert made.holds_once


@settings(deadline=None, max_examples=200)
@given(data=st.data())
def test_swizzled(oracle: Any, data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, 3))
    shape = (2, *(data.draw(power(6)) for _ in range(rank - 1)))
    layout = gluon.SwizzledSharedLayout(data.draw(power(4)), data.draw(power(3)), data.draw(power(3)),
                                        data.draw(st.permutations(range(rank))))
    made = shared_layout_of_encoding(encoding(layout), shape)
    bases = [row_major(basis, shape) for basis in oracle(layout, shape).offset_bases]
    assert [made.offset(index) for index in bases] == [1 << i for i in range(len(bases))]
    assert made.size == prod(shape)


@st.composite
def mixed(draw: st.DrawFn, shape: tuple[int, ...]) -> list[list[int]]:
    """The unit coordinates of a shape in any order, each with some of the others added by xor."""
    units = [[1 << i if d == dim else 0 for d in range(len(shape))]
             for dim in range(len(shape)) for i in range(log2(shape[dim]))]
    units = draw(st.permutations(units))
    for i in range(1, len(units)):
        for other in draw(st.lists(st.sampled_from(units[:i]), max_size=2, unique_by=tuple)):
            units[i] = [x ^ y for x, y in zip(units[i], other, strict=True)]
    return draw(st.permutations(units))


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_shared_linear(oracle: Any, data: st.DataObject) -> None:
    """Any way to put every element in one place."""
    shape = tuple(1 << data.draw(st.integers(1, 5)) for _ in range(data.draw(st.integers(1, 3))))
    layout = gluon.SharedLinearLayout(data.draw(mixed(shape)))
    made = shared_layout_of_encoding(encoding(layout), shape)
    bases = [row_major(basis, shape) for basis in oracle(layout, shape).offset_bases]
    assert [made.offset(index) for index in bases] == [1 << i for i in range(len(bases))]
    assert sorted(map(made.offset, range(prod(shape)))) == list(range(prod(shape)))


@settings(deadline=None, max_examples=100)
@given(data=st.data())
def test_padded(data: st.DataObject) -> None:
    """Elements in the order of `offset`, a gap behind every interval (Triton has no linear layout of it)."""
    shape = tuple(1 << data.draw(st.integers(2, 5)) for _ in range(2))
    pairs = data.draw(st.lists(st.tuples(power(6).map(lambda n: 2 * n), power(3)), min_size=1, max_size=2,
                               unique_by=lambda pair: pair[0]))
    offsets = data.draw(mixed(shape))
    intervals = ", ".join(f"{interval}:+{pad}" for interval, pad in pairs)
    text = f"[{intervals}] {{offset = {offsets}, block = []}}"
    made = shared_layout_of_encoding(Encoding("ttg", "padded_shared", tail=text), shape)
    seen = {}
    for place in range(prod(shape)):
        index = 0
        for i, basis in enumerate(offsets):
            index ^= row_major(basis, shape) if place >> i & 1 else 0
        seen[index] = place + sum(place // interval * pad for interval, pad in pairs)
    assert [made.offset(index) for index in range(prod(shape))] == [seen[i] for i in range(prod(shape))]


def test_shared_linear_and_padded() -> None:
    bases = ((0, 1), (0, 2), (0, 4), (1, 2), (2, 4))
    items = (("offset", bases), ("alignment", 16))
    linear = shared_layout_of_encoding(Encoding("ttg", "shared_linear", items), (4, 8))
    assert [linear.offset(index) for index in (1, 2, 4, 8 ^ 2, 16 ^ 4)] == [1, 2, 4, 8, 16]
    text = "[8:+1, 16:+4] {offset = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], block = []}"
    padded = shared_layout_of_encoding(Encoding("ttg", "padded_shared", tail=text), (4, 8))
    assert [padded.offset(index) for index in (0, 7, 8, 16, 31)] == [0, 7, 9, 22, 38]
    assert padded.size == 39


def test_attributes_as_parsed() -> None:
    """The parser's encodings are those that the functions read."""
    from triton_spirv.ir import parse

    module = parse("""
#b = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [2, 8], warpsPerCTA = [2, 1], order = [1, 0]}>
#padded = #ttg.padded_shared<[32:+4] {order = [1, 0], shape = [4, 32]}>
module {
  tt.func public @f(%a: tensor<4x32xf32, #b>, %b: !ttg.memdesc<4x32xf32, #padded, #ttg.shared_memory>) {
    tt.return
  }
}""")
    tensor, buffer = (value.type for value in module.entry.regions[0].entry.arguments)
    expected = Layout((4, 32), register=(1, 16), lane=(2, 4, 8, 32), warp=(64,))
    assert layout_of_encoding(tensor.encoding, (4, 32), 2, 16) == expected
    assert shared_layout_of_encoding(buffer.encoding, (4, 32)).offset(33) == 37


FOREIGN = [("nvidia_mma", "NVIDIA's tensor cores"), ("amd_mfma", "AMD's matrix cores"),
           ("amd_wmma", "AMD's matrix cores")]


@pytest.mark.parametrize("name, reason", FOREIGN)
def test_foreign_layouts_are_refused(name: str, reason: str) -> None:
    foreign = Encoding("ttg", name)
    for layout in (foreign, Encoding("ttg", "slice", (("dim", 0), ("parent", foreign))),
                   Encoding("ttg", "dot_op", (("opIdx", 0), ("parent", foreign)))):
        with pytest.raises(LoweringError, match=reason):
            layout_of_encoding(layout, (16, 16)[:1 if layout.name == "slice" else 2], 4, 16)


def test_foreign_shared_layouts_are_refused() -> None:
    for name, reason in (("nvmma_shared", "NVIDIA"), ("amd_rotating_shared", "AMD"),
                         ("mystery", "no shared memory layout")):
        with pytest.raises(LoweringError, match=reason):
            shared_layout_of_encoding(Encoding("ttg", name), (16, 16))


def test_counts_and_clusters_are_checked() -> None:
    plain = encoding(gluon.BlockedLayout([1], [32], [4], [0]))
    with pytest.raises(LoweringError, match="32 lanes, the program has 16"):
        layout_of_encoding(plain, (64,), 4, 16)
    with pytest.raises(LoweringError, match="4 warps, the program has 8"):
        layout_of_encoding(plain, (64,), 8, 32)
    clustered = Encoding("ttg", "blocked", (*plain.items, ("CGALayout", ((1,),))))
    with pytest.raises(LoweringError, match="num_ctas=1"):
        layout_of_encoding(clustered, (64,), 4, 32)


def test_the_oracle_says_nothing_when_it_ends() -> None:
    """Triton's binding complains where it is used in a process that ends in the ordinary way."""
    script = ("from layout.oracle import Oracle\n"
              "import triton.experimental.gluon.language._layouts as gluon\n"
              "if __name__ == '__main__':\n"
              "    oracle = Oracle()\n"
              "    print(oracle(gluon.BlockedLayout([1], [32], [4], [0]), (128,)).lane_bases)\n"
              "    oracle.close()\n")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment,
                          check=True, timeout=120)
    assert done.stderr == "" and done.stdout == "[[1], [2], [4], [8], [16]]\n"
