"""Signatures as Triton's own compiler has them: what they mean, and what is said about those that mean
nothing.
"""

from __future__ import annotations

import pytest
from triton_spirv.aot.signature import Signature, read
from triton_spirv.errors import UsageError

PARAMETERS = ("x", "out", "n", "BLOCK")


def test_every_form() -> None:
    signature = read("*fp16:16, *fp32,i32:16 , 128", PARAMETERS, {})
    assert signature == Signature({"x": "*fp16", "out": "*fp32", "n": "i32"}, ("x", "n"), {"BLOCK": 128})
    assert str(signature) == "x: *fp16:16, out: *fp32, n: i32:16, BLOCK=128"


def test_one_is_a_constant() -> None:
    signature = read("*fp16,*fp32,i32:1,128", PARAMETERS, {})
    assert signature.constants == {"n": 1, "BLOCK": 128} and "n" not in signature.types


@pytest.mark.parametrize(("text", "value"), [("1.5", 1.5), ("-3", -3), ("True", True), ("False", False)])
def test_constants(text: str, value: object) -> None:
    constant = read(f"*fp16,*fp32,i32,{text}", PARAMETERS, {}).constants["BLOCK"]
    assert constant == value and type(constant) is type(value)


def test_constants_beside_it() -> None:
    expected = read("*fp16,*fp32,i32,128", PARAMETERS, {})
    assert read("*fp16,*fp32,i32", PARAMETERS, {"BLOCK": 128}) == expected
    assert read({"x": "*fp16", "out": "*fp32", "n": "i32"}, PARAMETERS, {"BLOCK": 128}) == expected
    assert read({"x": "*fp16", "out": "*fp32", "n": "i32", "BLOCK": 128}, PARAMETERS, {}) == expected
    assert read("*fp16,*fp32,i32,64", PARAMETERS, {"BLOCK": 128}) == expected  # a configuration decides


def test_types() -> None:
    for kind in ("i1", "u64", "bf16", "*kfp32", "**i8", "*fp8e4nv", "tensordesc<fp16[128, 64]>"):
        assert read(f"{kind}", ("x",), {}).types == {"x": kind}


@pytest.mark.parametrize(("text", "constexprs", "complaint"), [
    ("*fp16,*fp32,i32", {}, "has 3 items, add has 4 parameters to name: x, out, n, BLOCK"),
    ("", {}, "has 0 items"),
    ("*fp16", {}, "has 1 item,"),
    ("*fp99,*fp32,i32,1", {}, "x: '\\*fp99' is neither a type nor a number"),
    ("*,*fp32,i32,1", {}, "x: '\\*' is neither"),
    ("*fp16:8,*fp32,i32,1", {}, "x: unknown hint '8' in '\\*fp16:8'; there are :16 and :1"),
    ("*fp16:1,*fp32,i32,1", {}, "x: :1 is for integers"),
    ("*fp16,*fp32,i32,i32", {}, "BLOCK of add is a tl.constexpr: give a value, not the type i32"),
    ("*fp16,*fp32,i32,1", {"SIZE": 1}, "add has no parameter 'SIZE'; it has x, out, n, BLOCK"),
    ({"x": "*fp16", "y": "i32"}, {}, "add has no parameter 'y'"),
    ({"x": "*fp16", "n": "i32"}, {"BLOCK": 1}, "the signature of add lacks out"),
])
def test_what_does_not_fit(text: object, constexprs: dict[str, int], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint) as caught:
        read(text, PARAMETERS, constexprs, ["BLOCK"], "add")  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
