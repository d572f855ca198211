"""spirv/passes/contraction.py, vulkan/float_controls.py: what a driver is told about floating-point
arithmetic."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from environment.shaders import module, pointer
from triton_spirv.spirv import Float, Int
from triton_spirv.spirv.control import if_
from triton_spirv.target import LAVAPIPE, Target
from triton_spirv.tools import spirv_tools

VERSIONS = {(1, 5): "vulkan1.2", (1, 6): "vulkan1.3"}
CONTROLS = LAVAPIPE.with_options(capabilities=(LAVAPIPE.capabilities or frozenset()) | {"FloatControls2"})
TARGETS = {f"{contracts or 'none'}{'-controls' if target is CONTROLS else ''}":
           target.with_options(contracts=contracts)
           for target in (LAVAPIPE, CONTROLS) for contracts in ("fma", "mode", "")
           if target is CONTROLS or contracts != "mode"}

Body = Callable[[Any, Any, list[Any]], None]


def lines(body: Body, target: Target, bits: int = 32) -> list[str]:
    """The module's assembly, when spirv-val has nothing to say of it for any version of Vulkan."""
    texts = []
    for version, environment in VERSIONS.items():
        made = module([pointer("x", bits)], body, target.with_options(spirv_version=version))
        spirv_tools.validate(made.words, environment)
        texts.append(spirv_tools.disassemble(made.words))
    return texts[0].splitlines()


def named(text: list[str], word: str) -> list[str]:
    """The ids that lines with this word begin with."""
    return [line.split("=")[0].strip() for line in text if re.search(rf"\b{word}\b", line) and "=" in line]


def decorated(text: list[str], decoration: str) -> list[str]:
    return [line.split()[1] for line in text if "OpDecorate" in line and line.endswith(decoration)]


def allowed_and_not(b: Any, env: Any, values: list[Any]) -> None:
    """x * x + x that may be contracted, then one that may not."""
    x = env.load(values[0], 1)
    total = env.contract(b.binary("OpFAdd", env.contract(b.binary("OpFMul", x, x)), x))
    env.store(values[0], b.binary("OpFAdd", b.binary("OpFMul", total, x), x))


@pytest.mark.parametrize("name", TARGETS)
def test_everything_says_what_it_may_become(name: str) -> None:
    target = TARGETS[name]
    text = lines(allowed_and_not, target)
    products, sums, fused = (named(text, word) for word in ("OpFMul", "OpFAdd", "Fma"))
    assert (len(products), len(sums), len(fused)) == ((1, 1, 1) if target.contracts == "fma" else (2, 2, 0))
    defaults = [line for line in text if "FPFastMathDefault" in line]
    if "controls" not in name:
        assert sorted(decorated(text, "NoContraction")) == sorted([*products, *sums, *fused])
        assert not defaults and sum("SignedZeroInfNanPreserve 32" in line for line in text) == 1
        return
    assert len(defaults) == 1 and defaults[0].endswith("%float %uint_0")
    assert not any("NoContraction" in line or "SignedZeroInfNanPreserve" in line for line in text)
    assert any("RoundingModeRTE 32" in line for line in text)
    assert decorated(text, "FPFastMathMode AllowContract") == \
        ([sums[0], products[0]] if target.contracts == "mode" else [])


def test_signs_and_infinities_that_a_device_does_not_keep() -> None:
    """Vulkan refuses to be asked for them by the flags, too (VUID-RuntimeSpirv-...Float32-09561, 09562)."""
    text = lines(allowed_and_not, TARGETS["mode-controls"].with_options(float_controls=frozenset()))
    assert any(line.endswith("FPFastMathDefault %float %uint_7") for line in text)
    assert len(decorated(text, "FPFastMathMode NotNaN|NotInf|NSZ|AllowContract")) == 2


def test_every_type_has_its_default() -> None:
    def body(b: Any, env: Any, values: list[Any]) -> None:
        x = env.load(values[0], 1)
        for bits in (16, 64):
            y = b.convert("OpFConvert", x, Float(bits))
            x = b.convert("OpFConvert", b.binary("OpFMul", y, y), x.type)
        env.store(values[0], x)
    text = lines(body, CONTROLS)
    for type in ("half", "float", "double"):
        assert sum(f"FPFastMathDefault %{type} %uint_0" in line for line in text) == 1


def differences(b: Any, env: Any, x: Any, y: Any, z: Any) -> list[Any]:
    def times(p: Any, q: Any) -> Any:
        return env.contract(b.binary("OpFMul", p, q))

    def less(p: Any, q: Any) -> Any:
        return env.contract(b.binary("OpFSub", p, q))
    return [less(times(x, y), z), less(z, times(x, y)), less(times(x, y), 1.5), less(1.5, times(x, y)),
            less(z, times(x, 0.75)), less(times(x, 0.75), z), less(times(y, z), 0.0), less(-0.0, times(y, z))]


@pytest.mark.parametrize("contracts", ("fma", "mode"))
def test_differences_take_in_their_products(contracts: str) -> None:
    """What is subtracted gets the other sign before; for a driver that has to contract it, by its bits."""
    def body(b: Any, env: Any, values: list[Any]) -> None:
        x = env.load(values[0], 1)
        env.store(values[0], b.construct(differences(b, env, x, x, x)[:4]))  # all eight are made
    text = lines(body, CONTROLS.with_options(contracts=contracts))
    assert not named(text, "OpFSub")
    if contracts == "fma":
        assert len(named(text, "Fma")) == 8
        return
    assert len(decorated(text, "AllowContract")) == 16 and not named(text, "OpFNegate")
    # x once for all; one bit that the driver does not know
    assert len(named(text, "OpBitwiseXor")) == 1 and len(named(text, "OpBitwiseOr")) == 1


@pytest.mark.parametrize("width", (1, 4))
@pytest.mark.parametrize("bits", (16, 32, 64))
@pytest.mark.parametrize("contracts", ("fma", "mode"))
def test_differences_are_what_they_were(launch: Any, contracts: str, bits: int, width: int) -> None:
    """On a device that contracts nothing. Powers of two and zeros: rounded once or twice is the same."""
    dtype = {16: np.float16, 32: np.float32, 64: np.float64}[bits]
    random = np.random.default_rng(bits)
    x, y, z = (random.choice([0.0, -0.0, 1.0, -2.0, 4.0, -0.5, np.inf, np.nan], 64 * width).astype(dtype)
               for _ in range(3))
    lanes = LAVAPIPE.sub_group_size

    def body(b: Any, env: Any, values: list[Any]) -> None:
        i = b.imul(b.iadd(b.imul(env.program_id(0), lanes), env.lane_id()), width)
        given = [env.load(env.offset(value, i), width) for value in values[:3]]
        for value, out in zip(differences(b, env, *given), values[3:], strict=True):
            env.store(env.offset(out, i), value)
    parameters = [pointer(f"p{n}", bits) for n in range(11)]
    outs = [torch.from_numpy(np.full_like(x, 7)) for _ in range(8)]
    made = module(parameters, body, LAVAPIPE.with_options(contracts=contracts))
    launch(made, 64 // lanes, *map(torch.from_numpy, (x, y, z)), *outs)
    with np.errstate(all="ignore"):
        expected = [x * y - z, z - x * y, x * y - dtype(1.5), dtype(1.5) - x * y, z - x * dtype(0.75),
                    x * dtype(0.75) - z, y * z - dtype(0), dtype(-0.0) - y * z]
    for out, right in zip(outs, expected, strict=True):
        np.testing.assert_array_equal(out.numpy(), right)
        real = ~np.isnan(right)
        np.testing.assert_array_equal(np.signbit(out.numpy()[real]), np.signbit(right[real]))


WAYS = ("used twice", "of another block", "not allowed", "a sum that is not", "taken")


@pytest.mark.parametrize("way", WAYS)
def test_products_that_stay_products(way: str) -> None:
    def body(b: Any, env: Any, values: list[Any]) -> None:
        x = env.load(values[0], 1)
        product = b.binary("OpFMul", x, x)
        if way != "not allowed":
            env.contract(product)

        def total(y: Any) -> Any:
            return env.contract(b.binary("OpFAdd", product, y))
        if way == "used twice":
            env.store(values[0], b.binary("OpFDiv", total(x), product))
        elif way == "of another block":
            with if_(b.module, b.compare("OpFOrdLessThan", x, 1.0)):
                env.store(values[0], total(x))
        elif way == "a sum that is not":
            env.store(values[0], b.binary("OpFAdd", product, x))
        elif way == "taken":  # of two the left one
            other = env.contract(b.binary("OpFMul", x, 5.0))
            env.store(values[0], total(other))
        else:
            env.store(values[0], total(x))
    fused = lines(body, LAVAPIPE)
    assert (len(named(fused, "OpFMul")), len(named(fused, "Fma"))) == (1, way == "taken")
    marked = lines(body, CONTROLS.with_options(contracts="mode"))
    assert len(decorated(marked, "AllowContract")) == 2 * (way == "taken")


def test_comparisons_keep_their_sums() -> None:
    """x + c < d may not become x < d - c."""
    def body(b: Any, env: Any, values: list[Any]) -> None:
        x = env.load(values[0], 1)
        smaller = b.compare("OpFOrdLessThan", b.binary("OpFAdd", x, 1e8), 1e8)
        env.store(values[0], b.bitcast(b.select(smaller, b.constant(Int(32), 1), 0), x.type))
    text = lines(body, LAVAPIPE)
    assert named(text, "OpFOrdLessThan")[0] in decorated(text, "NoContraction")
