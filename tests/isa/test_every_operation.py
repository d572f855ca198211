"""Kernels that together have every operation of the front end compile for Intel GPUs: tools/sweep_ocloc.py
for one device of each compiler; the tool itself has all devices, and the tutorials."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("triton")
sys.path += [str(Path(__file__).parents[2] / folder) for folder in ("tools", "benchmarks")]

import isa_cases
import sweep_ocloc
from ir.corpus import KERNELS, stages, texts
from triton_spirv.target import find_target
from triton_spirv.tools import spirv_tools

NEW_OCLOC = os.environ.get("TRITON_SPIRV_NEW_OCLOC", "")
needs_ocloc = pytest.mark.skipif(shutil.which("ocloc") is None, reason="needs ocloc")
needs_new_ocloc = pytest.mark.skipif(not NEW_OCLOC, reason="needs TRITON_SPIRV_NEW_OCLOC")

#: Kernels that are refused: assembly of another kind of GPU; f64 where a device has none.
REFUSED = {"pvc": {"outside"}, "tgl": {"outside", "casts", "scalars"}}

#: Blocks smaller than the corpus's, which spill so much that ocloc takes half a minute: the same operations,
#: the same instructions, and in the plan the same kinds of loads, exchanges and products.
SMALLER = {"scaled_dots": {"B": 64}}


@pytest.mark.parametrize("device", [pytest.param("pvc", marks=needs_new_ocloc),
                                    pytest.param("tgl", marks=needs_ocloc)])
@pytest.mark.parametrize("name", [name for name, kernel in KERNELS.items() if kernel.by_pointers])
def test_compiles(name: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if device == "pvc":
        monkeypatch.setenv("TRITON_OCLOC_PATH", NEW_OCLOC)
    entry = KERNELS[name]
    small = replace(entry, constants={**entry.constants, **SMALLER.get(name, {})})
    what, why = sweep_ocloc.outcome(stages(small)["ttgir"], device)
    assert what in (["refused"] if name in REFUSED[device] else ["fine", "spilled"]), why


@needs_ocloc
@pytest.mark.parametrize("name", ["vector_add", "atomic_accesses"])
def test_compiles_for_addresses_of_32_bits(name: str) -> None:
    assert sweep_ocloc.outcome(texts(name)["ttgir"], "tgl-32") == ("fine", "")


def test_as_many_lanes_share_a_program_where_the_matrix_unit_halves_sub_groups() -> None:
    """num_warps counts sub-groups of the target's own size."""
    case = next(case for case in isa_cases.CASES if case.name == "matmul")
    plain = next(case for case in isa_cases.CASES if case.name == "add")
    for name, kernel, warps, lanes in (("dg2", case, 16, 8), ("pvc", case, 8, 16), ("dg2", plain, 4, 16)):
        text = isa_cases.layouts(kernel, find_target(name))
        assert f'"ttg.num-warps" = {warps} : i32' in text
        assert f'"ttg.threads-per-warp" = {lanes} : i32' in text


@pytest.mark.parametrize("name", ["matmul", "dots"])
def test_products_of_what_rests_in_shared_memory(name: str) -> None:
    """Operands that the stock passes leave there, in rows, without 2D block messages."""
    spirv_tools.validate(sweep_ocloc.triton_spirv.compile(texts(name)["ttgir"], "pvc-2022").words)
