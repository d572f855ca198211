"""environment/opencl/division.py, target/known.py: what CPU drivers other than Intel's are not shown."""

from __future__ import annotations

import re

import pytest
import triton_spirv
from triton_spirv.target import CPU, find_target

OTHER = find_target("opencl-cpu:double:atomics")

KERNEL = """
module {{
  tt.func public @k(%x: !tt.ptr<{type}>) {{
    %i = tt.make_range {{end = 64 : i32, start = 0 : i32}} : tensor<64xi32>
    %p = tt.splat %x : !tt.ptr<{type}> -> tensor<64x!tt.ptr<{type}>>
    %q = tt.addptr %p, %i : tensor<64x!tt.ptr<{type}>>, tensor<64xi32>
    %v = tt.load %q : tensor<64x!tt.ptr<{type}>>
    %c = arith.constant dense<{constant}> : tensor<64x{type}>
    %w = {operation} : tensor<64x{type}>
    tt.store %q, %w : tensor<64x!tt.ptr<{type}>>
    tt.return
  }}
}}
"""


def listing(operation: str, type: str = "i32", constant: str = "7", target: str = "other") -> str:
    text = KERNEL.format(operation=operation, type=type, constant=constant)
    return triton_spirv.compile(text, OTHER if target == "other" else CPU).listing


def divisors(operation: str, **options: str) -> list[str]:
    """What the instructions divide by."""
    return re.findall(r"= Op[SU](?:Div|Rem|Mod) <\d+ x i32> \S+ (\S+)", listing(operation, **options))


@pytest.mark.parametrize("operation", ["arith.divsi", "arith.divui", "arith.remsi", "arith.remui",
                                       "arith.floordivsi", "arith.ceildivsi", "arith.ceildivui"])
def test_divisors_are_harmless(operation: str) -> None:
    """Where they are not known: PoCL's division ends the process for 0. Intel's driver has none that does."""
    by_values, by_number = divisors(f"{operation} %c, %v"), divisors(f"{operation} %v, %c")
    assert by_values and all(divisor.startswith("%select") for divisor in by_values)
    assert by_number and not any("select" in divisor for divisor in by_number)
    assert not any("select" in divisor for divisor in divisors(f"{operation} %c, %v", target="intel"))


def test_a_divisor_that_is_known_to_be_harmful() -> None:
    for constant, operation in (("0", "arith.divui"), ("-1", "arith.divsi")):
        found = divisors(f"{operation} %v, %c", constant=constant)
        assert found and all(divisor.startswith("%select") for divisor in found)


@pytest.mark.parametrize(("type", "operation"), [("f64", "math.exp %v"), ("i64", "arith.maxui %v, %v"),
                                                 ("f32", "math.exp %v"), ("f64", "arith.remf %v, %v")])
def test_calls_have_no_vectors_of_more_than_64_bytes(type: str, operation: str) -> None:
    """PoCL leaves out all that follows such a call."""
    made = listing(operation, type, "1.0" if type[0] == "f" else "1")
    widths = [int(width) for width in re.findall(rf"OpExtInst <(\d+) x {type}>", made)]
    assert widths and max(widths) * int(type[1:]) <= 512
