"""Targets of devices that are not here: found by name, described by what a driver reports, compiled for
without any device."""

from __future__ import annotations

import os

import pytest
import triton_spirv
from triton_spirv.aot import targets
from triton_spirv.errors import DeviceError, ResourceError, UsageError
from triton_spirv.target import (
    CPU,
    INTEL_GPUS,
    OCLOC_DEVICES,
    cpu_target,
    find_target,
    reported_cpu_target,
    reported_target,
)
from triton_spirv.tools import spirv_tools

ROW = """
#blocked = #ttg.blocked<{{sizePerThread = [1], threadsPerWarp = [{lanes}], warpsPerCTA = [4], order = [0]}}>
module attributes {{"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32,
                    "ttg.threads-per-warp" = {lanes} : i32}} {{
  tt.func public @row(%out: !tt.ptr<f32>, %n: i32) {{
    %x = tt.get_program_id x : i32
    %i = tt.make_range {{end = 128 : i32, start = 0 : i32}} : tensor<128xi32, #blocked>
    %x1 = tt.splat %x : i32 -> tensor<128xi32, #blocked>
    %sum = arith.addi %i, %x1 : tensor<128xi32, #blocked>
    %f = arith.sitofp %sum : tensor<128xi32, #blocked> to tensor<128xf32, #blocked>
    %n1 = tt.splat %n : i32 -> tensor<128xi32, #blocked>
    %inside = arith.cmpi slt, %i, %n1 : tensor<128xi32, #blocked>
    %ptr = tt.splat %out : !tt.ptr<f32> -> tensor<128x!tt.ptr<f32>, #blocked>
    %ptrs = tt.addptr %ptr, %i : tensor<128x!tt.ptr<f32>, #blocked>, tensor<128xi32, #blocked>
    tt.store %ptrs, %f, %inside : tensor<128x!tt.ptr<f32>, #blocked>
    tt.return
  }}
}}
"""


@pytest.mark.parametrize("target", INTEL_GPUS, ids=lambda target: target.name)
def test_every_gpu_is_compiled_for_without_it(target: triton_spirv.Target) -> None:
    made = triton_spirv.compile(ROW.format(lanes=target.sub_group_size), target.name)
    spirv_tools.validate(made.words)
    assert f"Physical{target.address_bits} OpenCL" in made.listing
    assert f"SubgroupSize {target.sub_group_size}" in made.listing
    assert "llvm." not in made.listing and "OpLogicalNot " not in made.listing
    assert target.name in OCLOC_DEVICES


def test_a_reported_device_is_found_by_its_name_again() -> None:
    extensions = frozenset({"cl_khr_fp64", "cl_intel_subgroup_matrix_multiply_accumulate",
                            "cl_intel_subgroup_2d_block_io", "cl_khr_fp16"})
    big = reported_target(extensions, (16, 32), 131072)
    assert find_target(big.name) == big
    assert (big.sub_group_size, big.shared_bytes, big.float64, big.block_2d) == (16, 131072, True, True)
    assert big.matrix is not None and (big.matrix.columns, big.matrix.depth(16)) == (16, 16)
    small = reported_target(frozenset({"cl_intel_subgroup_matrix_multiply_accumulate"}), (8, 16, 32), 65536)
    assert small.matrix is not None and small.matrix.columns == 8 and not small.float64 and not small.block_2d
    assert small.matrix_builtins and not big.matrix_builtins  # a driver may be one of before the instructions
    plain = reported_target(frozenset(), (), 32768)
    assert plain.matrix is None and plain.sub_group_size == 16 and plain.shared_bytes == 32768


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(DeviceError, match=r"unknown target 'xyz'; known targets: arl, bmg, cpu, .*pvc"):
        find_target("xyz")


def test_products_that_crowd_the_registers_ask_for_twice_as_many() -> None:
    pvc = find_target("pvc")
    assert pvc.register_bytes == 8192
    assert [pvc.grf_mode(bytes, 8) for bytes in (0, 6144, 6145)] == ["default", "default", "256"]
    assert pvc.grf_mode(8192, 64) == "default"  # so many warps do not fit with large registers
    assert find_target("tgl").grf_mode(1 << 20, 4) == "default"


def test_a_requirement_compares_arguments() -> None:
    from triton_spirv.target import Requirement

    assert Requirement(0, 2, 128).holds([64]) and not Requirement(0, 2, 128).holds([-63])
    assert Requirement(1, 2, 0, 0, 4).holds([5, 10]) and not Requirement(1, 2, 0, 0, 4).holds([5, 9])
    assert Requirement(0, 0, 0).holds([128]) and not Requirement(0, 0, 0).holds([16])


SCAN = """
module {
  tt.func public @running(%x: !tt.ptr<f32>) {
    %i = tt.make_range {end = 4096 : i32, start = 0 : i32} : tensor<4096xi32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<4096x!tt.ptr<f32>>
    %q = tt.addptr %p, %i : tensor<4096x!tt.ptr<f32>>, tensor<4096xi32>
    %v = tt.load %q : tensor<4096x!tt.ptr<f32>>
    %s = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<4096xf32>) -> tensor<4096xf32>
    tt.store %q, %s : tensor<4096x!tt.ptr<f32>>
    tt.return
  }
}
"""


def test_more_private_memory_than_there_is_is_refused() -> None:
    """The sums of 4096 f32 wait in an array of 16 kB, and a little more, of a work-item."""
    with pytest.raises(ResourceError, match=r"private memory, required 16[0-9]{3}, the target has 16383"):
        triton_spirv.compile(SCAN, CPU.with_options(private_bytes=16383))
    assert triton_spirv.compile(SCAN, CPU.with_options(private_bytes=17 * 1024)).words


def test_targets_of_other_drivers() -> None:
    """A CPU device has what it reports and nothing of Intel's driver; a GPU without reductions says so."""
    pocl = reported_cpu_target(frozenset({"cl_khr_fp64", "cl_khr_int64_base_atomics"}))
    assert pocl.name == "opencl-cpu:double:atomics" and find_target(pocl.name) == pocl
    assert not (pocl.float16 or pocl.masked_access or pocl.chooses or pocl.products) and pocl.float64
    assert reported_cpu_target(frozenset({"cl_khr_fp16"})).float16
    with pytest.raises(DeviceError, match="cannot have wings; it can have half, double, atomics"):
        find_target("opencl-cpu:wings")
    mesa = reported_cpu_target(frozenset({"cl_khr_fp64"}), "rusticl")
    assert mesa.name == "opencl-cpu:double:uncontracted" and find_target(mesa.name) == mesa
    assert mesa.capabilities == reported_cpu_target(frozenset({"cl_khr_fp64"})).capabilities - {
        "FPFastMathModeINTEL"}
    assert b"SPV_INTEL" in triton_spirv.compile(SCAN, find_target("opencl-cpu:double")).words
    assert b"SPV_INTEL" not in triton_spirv.compile(SCAN, mesa).words
    poor = reported_target(frozenset(), (8,), 1024)
    assert poor.name.endswith(":exchanges") and not poor.reduces
    both = frozenset({"cl_khr_subgroup_non_uniform_arithmetic", "cl_khr_subgroup_clustered_reduce"})
    assert reported_target(both, (8,), 1024).reduces


def test_tile_registers_are_a_fact_of_the_processor() -> None:
    """Both features are asked for; a processor that is named has them, and its name is one of a target."""
    features = frozenset({"amx_tile", "amx_int8"})
    assert cpu_target("x86_64-v4", features).tile_registers == {"i8"}
    assert not cpu_target("x86_64-v4", features - {"amx_tile"}).tile_registers
    assert not cpu_target("x86_64-v4").tile_registers and not CPU.tile_registers
    named = find_target("cpu:sapphirerapids")
    assert named.tile_registers == {"i8", "bf16"} and named.products == {"i8"}
    assert named.accumulators == (4, 4)
    assert targets.named(named.name) == named and named.name in targets.names()
    assert find_target("cpu:x86_64-v4") == cpu_target("x86_64-v4").with_options(name="cpu:x86_64-v4")


def test_pairs_of_bf16_are_amds() -> None:
    """Intel's processors multiply f32 twice as fast, whether they have tile registers or not."""
    features = frozenset({"avx512_bf16", "avx512_vnni"})
    assert cpu_target("x86_64-v4", features | {"AuthenticAMD"}).products == {"bf16", "i8"}
    assert cpu_target("x86_64-v4", features | {"GenuineIntel"}).products == {"i8"}
    assert cpu_target("x86_64-v4", features | {"amx_tile"}).products == {"i8"}


def test_avx2_sums_pairs_of_bytes() -> None:
    """By its name or by the processor's features; what has AVX-512 multiplies and adds as fast without."""
    named = find_target("cpu:x86_64-v3")
    assert named.products == {"i16"} and named.accumulators == (6, 1)
    assert cpu_target("x86_64-v3", frozenset({"avx2"})).products == {"i16"}
    assert not cpu_target("x86_64-v4", frozenset({"avx2"})).products


@pytest.mark.parametrize(("name", "family", "device"), [
    ("acm-g11", "dg2", "acm-g11"), ("mtl-u", "mtl", "mtl-u"), ("arl-h", "arl", "arl-h"),
    ("adl-s", "tgl", "adl-s"), ("bmg-g31", "bmg", "bmg-g31"), ("ptl-u", "ptl", "ptl-u"),
    ("nvl-s", "ptl", "nvl-s"), ("nvl-p-b0", "nvl-p", "nvl-p-b0"), ("cri-a0", "cri", "cri-a0"),
    ("xe-hpg", "dg2", "acm-g10"), ("xe2-lpg", "lnl", "lnl-m"), ("xe3p-lpg", "nvl-p", "nvl-p"),
])
def test_names_that_ocloc_knows(name: str, family: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device gets the target of its family under a name of its own, a family's name ours."""
    newer = os.environ.get("TRITON_SPIRV_NEW_OCLOC")
    if not newer:
        pytest.skip("needs TRITON_SPIRV_NEW_OCLOC: tools/get_ocloc.sh brings one")
    monkeypatch.setenv("TRITON_OCLOC_PATH", newer)
    found, like = targets.named(name), targets.named(family)
    assert targets.native_device(found) == device and found == like.with_options(name=found.name)
    assert find_target(found.name).name == found.name


@pytest.mark.parametrize("name", ["xe", "xe3p", "abacus"])
def test_names_of_no_family_of_ours(name: str) -> None:
    """Of several of ours, of none, of nothing."""
    with pytest.raises(UsageError, match=r"there are .*names of devices that 'ocloc compile --help' lists"):
        targets.named(name)


def test_products_and_sums_are_one_operation_where_processors_have_it() -> None:
    """Elsewhere it would be a function, 50 times as slow."""
    from triton_spirv.target.known import cpu_target

    fuses = {name: cpu_target(name).has("parts_contractions") for name in (
        "x86_64", "x86_64-v2", "x86_64-v3", "x86_64-v4", "sapphirerapids")}
    assert fuses == {"x86_64": False, "x86_64-v2": False, "x86_64-v3": True, "x86_64-v4": True,
                     "sapphirerapids": True}
    assert cpu_target("x86_64-v2", frozenset({"fma"})).has("parts_contractions")


def test_a_target_with_other_quirks_stays_frozen() -> None:
    """A cache key is made of its sets, which only frozen ones are known to be."""
    for has in (True, False):
        changed = find_target("cpu").with_options(parts_contractions=has)
        assert isinstance(changed.quirks, frozenset) and changed.has("parts_contractions") == has
        hash(changed)
