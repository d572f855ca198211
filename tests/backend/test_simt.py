"""TRITON_SPIRV_TARGET: SIMT mode on the CPU device, from TTGIR, with the warps that a launch asks for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import triton
import triton.language as tl
import triton_spirv
from triton_spirv.errors import DeviceError
from triton_spirv.target import TARGETS
from triton_spirv.tools import spirv_tools
from triton_spirv_backend import targets


@triton.jit
def row_sum(x, out, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    tl.store(out + row, tl.sum(tl.load(x + row * n + i, mask=i < n, other=0.0)))


def launched(warps: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """The compiled kernel, what it wrote, and what it should have."""
    values = np.arange(3 * 200, dtype=np.float32).reshape(3, 200)
    out = triton_spirv.zeros(3, "float32")
    row_sum.device_caches.clear()
    made = row_sum[(3,)](triton_spirv.asarray(values), out, 200, BLOCK=256, num_warps=warps)
    return made, out.numpy(), values.sum(axis=1)


@pytest.mark.cpu_device("targets of it")
@pytest.mark.parametrize("name, lanes", [("simt", 16), ("simt8", 8), ("cpu-simt32", 32)])
@pytest.mark.parametrize("warps", [1, 4, 8])
def test_lanes_and_warps(monkeypatch: pytest.MonkeyPatch, name: str, lanes: int, warps: int) -> None:
    monkeypatch.setenv("TRITON_SPIRV_TARGET", name)
    made, actual, expected = launched(warps)
    np.testing.assert_array_equal(actual, expected)
    assert made.metadata.artifact["local_size"][0] == lanes * warps
    assert made.metadata.artifact["sub_group_size"] == lanes
    assert f'"ttg.threads-per-warp" = {lanes}' in made.asm["ttgir"]
    assert f'"ttg.num-warps" = {warps}' in made.asm["ttgir"]
    assert ("OpControlBarrier" in made.asm["spvasm"]) == (warps > 1)
    assert (made.metadata.artifact["shared_bytes"] > 0) == (warps > 1)
    spirv_tools.validate(made.asm["spv"], "spv1.3")


@triton.jit
def turned(x, out, n):
    i = tl.arange(0, 256)
    a, b = tl.load(x + i), tl.load(x + 256 + i)
    for _ in range(n):
        a, b = b + tl.reshape(tl.trans(tl.reshape(a, [16, 16])), [256]), a
    tl.store(out + i, a)


@pytest.mark.cpu_device("targets of it")
@pytest.mark.parametrize("name", ["simt8", "cpu"])
def test_without_triton_s_passes_on_layouts(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """optimise="-layouts": the way out where these passes never end; conversions stay where they are."""
    monkeypatch.setenv("TRITON_SPIRV_TARGET", name)
    x = np.random.default_rng(0).integers(-99, 99, 512).astype(np.int32)
    a, b = x[:256], x[256:]
    for _ in range(3):
        a, b = b + a.reshape(16, 16).T.reshape(-1), a
    conversions = {}
    for optimise in ("all", "-layouts"):
        out = triton_spirv.zeros(256, "int32")
        made = turned[(1,)](triton_spirv.asarray(x), out, 3, optimise=optimise)
        np.testing.assert_array_equal(out.numpy(), a)
        conversions[optimise] = made.asm["ttgir"].count("ttg.convert_layout")
        spirv_tools.validate(made.asm["spv"], "spv1.3")
    assert (conversions["-layouts"] > conversions["all"]) == (name == "simt8")


@pytest.mark.parametrize("optimise", ["all", "-layouts"])
def test_loops_that_exchange_values_on_a_simulated_gpu(gpu: str, monkeypatch: pytest.MonkeyPatch,
                                                       optimise: str) -> None:
    """More than 200 instructions: the driver behind the simulator, without its optimiser, mixes up phis."""
    monkeypatch.setenv("TRITON_SPIRV_DEVICE", gpu)
    x, out = np.arange(512, dtype=np.int32), triton_spirv.zeros(256, "int32")
    a, b = x[:256], x[256:]
    for _ in range(3):
        a, b = b + a.reshape(16, 16).T.reshape(-1), a
    made = turned[(1,)](triton_spirv.asarray(x), out, 3, optimise=optimise, num_warps=1)
    np.testing.assert_array_equal(out.numpy(), a)
    assert made.asm["spvasm"].count("\n") > 200


@triton.jit
def sorted_row(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.sort(tl.load(x + i)))


@pytest.mark.cpu_device("targets of it")
@pytest.mark.parametrize("target, block, unoptimised",
                         [("simt8", 2, False), ("simt8", 256, True), ("cpu-xe8", 64, True)])
def test_large_kernels_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch, target: str, block: int,
                                            unoptimised: bool) -> None:
    """Intel's CPU compiler would take longest on them; both ways compute the same. Not so for reductions of
    parts of a sub-group, which cpu-xe8 could have instructions for: it does without."""
    monkeypatch.setenv("TRITON_SPIRV_TARGET", target)
    made, actual, expected = sorted_values(block)
    np.testing.assert_array_equal(actual, expected)
    assert ("OptNone" in made.asm["spvasm"]) == unoptimised
    assert "ClusteredReduce" not in made.asm["spvasm"]
    spirv_tools.validate(made.asm["spv"], "spv1.3")


@pytest.mark.cpu_device("targets of it")
def test_reductions_of_parts_of_a_sub_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Instructions of GPUs, which the CPU device has too where it optimises."""
    made = TARGETS["cpu-xe8"].with_options(name="optimised", optimised_size=None)
    monkeypatch.setitem(TARGETS, "optimised", made)
    monkeypatch.setenv("TRITON_SPIRV_TARGET", "optimised")
    kernel, actual, expected = sorted_values(64)
    np.testing.assert_array_equal(actual, expected)
    assert "ClusteredReduce" in kernel.asm["spvasm"] and "OptNone" not in kernel.asm["spvasm"]


def sorted_values(block: int) -> tuple[Any, np.ndarray, np.ndarray]:
    """The compiled kernel, what it wrote, and what it should have."""
    values = np.random.default_rng(block).standard_normal(block).astype(np.float32)
    out = triton_spirv.zeros(block, "float32")
    sorted_row.device_caches.clear()
    made = sorted_row[(1,)](triton_spirv.asarray(values), out, BLOCK=block, num_warps=2)
    return made, out.numpy(), np.sort(values)


@pytest.mark.cpu_device("targets of it")
def test_what_kernels_ask_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    from triton_spirv_backend.launcher import SPIRVUtils

    monkeypatch.setenv("TRITON_SPIRV_TARGET", "simt8")
    assert SPIRVUtils().get_device_properties(0)["warpSize"] == 8
    monkeypatch.setenv("TRITON_SPIRV_TARGET", "cpu")
    assert targets.current_target().backend == "cpu"


def test_an_unknown_target_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_SPIRV_TARGET", "simt64")
    with pytest.raises(DeviceError, match=r"unknown target 'cpu-simt64' .*; known targets: .*cpu-simt"):
        targets.current_target()
