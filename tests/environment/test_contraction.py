"""environment/contraction.py: what modules tell a driver about floating-point arithmetic."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
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


@pytest.mark.parametrize("contracts", ("fma", "mode"))
@pytest.mark.parametrize("product_first", (True, False))
def test_differences(contracts: str, product_first: bool) -> None:
    """A difference takes in its product, too: what is subtracted is negated before."""
    def body(b: Any, env: Any, values: list[Any]) -> None:
        x = env.load(values[0], 1)
        product = env.contract(b.binary("OpFMul", x, 3.0))
        operands = (product, x) if product_first else (x, product)
        env.store(values[0], env.contract(b.binary("OpFSub", *operands)))
    text = lines(body, CONTROLS.with_options(contracts=contracts))
    assert named(text, "OpFNegate") and not named(text, "OpFSub")
    assert len(named(text, "Fma")) == (contracts == "fma")
    assert len(named(text, "OpFAdd")) == (contracts == "mode")


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
