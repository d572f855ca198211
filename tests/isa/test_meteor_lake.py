"""Machine code of the devices whose lanes multiply: masks are predicates of messages, attention spills
nothing. Devices with a matrix unit beside them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

pytest.importorskip("triton")
sys.path += [str(Path(__file__).parents[2] / folder) for folder in ("tools", "benchmarks")]

import isa_cases
import sweep_ocloc
import triton
import triton.language as tl
import triton_spirv
from ir.corpus import texts
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton_spirv.isa import statistics
from triton_spirv.target import find_target, ocloc_device
from triton_spirv_backend.targets import emitter_target

NEW_OCLOC = os.environ.get("TRITON_SPIRV_NEW_OCLOC", "")
pytestmark = pytest.mark.skipif(not NEW_OCLOC, reason="needs TRITON_SPIRV_NEW_OCLOC")


@pytest.fixture(autouse=True)
def recent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_OCLOC_PATH", NEW_OCLOC)


@triton.jit
def copied(x, out, n, other, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n, other=other), mask=i < n + 16)


@pytest.mark.parametrize("device", ["mtl", "arl", "dg2"])
@pytest.mark.parametrize("kind", ["i8", "fp16", "fp32", "i64"])
def test_every_masked_message_has_its_predicate(device: str, kind: str) -> None:
    """A compiler that does not know the instruction drops the access, or the mask."""
    names = {"x": f"*{kind}", "out": f"*{kind}", "n": "i32", "other": "i32", "BLOCK": "constexpr"}
    source = ASTSource(copied, names, constexprs={"BLOCK": 1024},
                       attrs={(i,): [["tt.divisibility", 16]] for i in range(3)})
    target = GPUTarget("spirv", device, find_target(device).sub_group_size)
    text = str(triton.compile(source, target=target, options={"num_warps": 2}).asm["ttgir"])
    made = triton_spirv.compile(text, emitter_target(target))
    listing = statistics(made.words, ocloc_device(device), made.entry, num_warps=2).listing
    assert listing is not None
    messages = [one for one in listing.instructions if one.name.startswith(("load.ugm", "store.ugm"))]
    bytes = {"i8": 1, "fp16": 2, "fp32": 4, "i64": 8}[kind]
    assert len(messages) >= 2 * 1024 * bytes // (2 * 16 * 16)  # no access is missing: 16 lanes of 16 bytes
    assert all("f" in one.predicate for one in messages)


@pytest.mark.parametrize("name", ["attention", "matmul"])
@pytest.mark.parametrize("device", ["mtl", "arl"])
def test_nothing_is_spilled(name: str, device: str) -> None:
    case = next(case for case in isa_cases.CASES if case.name == name)
    assert sweep_ocloc.outcome(isa_cases.layouts(case, find_target(device)), device) == ("fine", "")


def test_addresses_of_atomics_wait_in_no_array() -> None:
    """32 elements of a lane: in arrays their addresses, masks and values took 6.6 kB of a thread."""
    made = triton_spirv.compile(texts("descriptors")["ttgir"], find_target("arl"))
    assert "ptr<Function" not in made.listing
    assert sweep_ocloc.outcome(texts("descriptors")["ttgir"], "arl") == ("fine", "")
