"""What the machine computes is what the CPU device computes: every instruction of its tables, on special and
random numbers, in one kernel for each type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from handmade import artifact, bind
from triton_spirv import asarray
from triton_spirv.environment import OpenCL
from triton_spirv.environment.base import Parameter
from triton_spirv.spirv.builder import I64, Builder
from triton_spirv.spirv.module import Value
from triton_spirv.spirv.passes.pipeline import run_passes
from triton_spirv.spirv.types import Bool, Float, Int, Type
from triton_spirv.target import CPU

import machine
from machine.arithmetic import BINARY, UNARY
from machine.extended import INTEGERS, SAME, WIDE

COUNT = 96
INTS = tuple(Int(bits) for bits in (8, 16, 32, 64))
FLOATS = tuple(Float(bits) for bits in (16, 32, 64))
CODES = {8: "u1", 16: "u2", 32: "u4", 64: "u8"}
#: units in the last place by which functions may differ, which are not exact on either side
ULPS = {"tgamma": 32, "lgamma": 1 << 20, "pow": 16, "powr": 16, "exp10": 4, "sinpi": 4, "cospi": 4, "tan": 6,
        "erf": 20, "erfc": 64, "recip": 3, "divide": 3, "remainder": 0, "fdim": 0, "sqrt": 1}
ULP = 5
#: functions with operands of several types, and other names of what is there
LEFT_OUT = {"pown", "mix", "fclamp", "sign", "s_clamp", "u_clamp", "u_abs", "mad", "fmax_common",
            "fmin_common", "recip", "divide", "powr", "s_mul24", "u_mul24"}
DIVISIONS = ("OpUDiv", "OpUMod", "OpSDiv", "OpSRem", "OpSMod")
TO_BOOL = ("Equal", "LessThan", "GreaterThan", "Ordered", "Unordered", "IsNan", "IsInf", "IsFinite",
           "SignBitSet")

Formula = Callable[[Builder, Value, Value, Value], Value]


def instruction(name: str, operands: int, to: Type | None = None) -> Formula:
    def make(b: Builder, *values: Value) -> Value:
        x, y, *_ = values
        if name.startswith("OpShift"):
            y = b.emit("OpBitwiseAnd", y, b.constant(y.type, y.type.width - 1), type=y.type)  # type: ignore[attr-defined]
        if name in DIVISIONS:  # by zero, and what overflows, is undefined
            low = b.emit("OpBitwiseOr", y, b.constant(y.type, 1), type=y.type)
            ones = b.emit("OpIEqual", low, b.constant(y.type, -1), type=Bool())
            y = b.emit("OpSelect", ones, b.constant(y.type, 3), low, type=y.type)
        return b.emit(name, *[x, y][:operands], type=to or x.type)
    return make


def function(name: str, operands: int) -> Formula:
    return lambda b, *values: b.module.ext("OpenCL.std", name, *values[:operands], type=values[0].type)


def formulas(type: Type) -> dict[str, Formula]:
    """What is tried on operands of a type."""
    found: dict[str, Formula] = {}
    is_float = isinstance(type, Float)
    for name, operands in [*((n, 2) for n in BINARY), *((n, 1) for n in UNARY)]:
        of_floats = name.startswith(("OpF", "OpIs", "OpSign", "OpOrdered", "OpUnordered"))
        if name.startswith(("OpLogical", "OpPtr", "OpCopy")) or of_floats != is_float or name == "OpFMod":
            continue
        found[name] = instruction(name, operands, Bool() if name.endswith(TO_BOOL) else None)
    if is_float:
        two = ("atan2", "hypot", "pow", "fdim", "remainder", "fmax", "fmin", "fmod", "copysign", "nextafter")
        for name in {*WIDE, *SAME} - LEFT_OUT:
            found[name] = function(name, 3 if name == "fma" else 2 if name in two else 1)
        for to in (t for t in FLOATS if t is not type):
            found[f"to {to}"] = instruction("OpFConvert", 1, to)
        found["to i64"] = instruction("OpConvertFToS", 1, I64)
        found["to i32"] = instruction("OpConvertFToS", 1, Int(32))
    else:
        one = ("s_abs", "popcount", "clz", "ctz")
        for name in INTEGERS.keys() - LEFT_OUT:
            found[name] = function(name, 1 if name in one else 2)
        found["OpBitCount"] = instruction("OpBitCount", 1)
        for to in FLOATS:
            found[f"signed to {to}"] = instruction("OpConvertSToF", 1, to)
            found[f"unsigned to {to}"] = instruction("OpConvertUToF", 1, to)
        for to in (t for t in INTS if t is not type):
            found[f"signed to {to}"] = instruction("OpSConvert", 1, to)
            found[f"unsigned to {to}"] = instruction("OpUConvert", 1, to)
    return found


def inputs(type: Type, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    bits = type.width  # type: ignore[attr-defined]
    if isinstance(type, Int):
        special = [0, 1, 2, 3, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1, 7]
        made = rng.integers(0, 1 << bits, COUNT, np.uint64, endpoint=False) if bits < 64 else \
            rng.integers(0, 1 << 63, COUNT, np.uint64) * np.uint64(2) + np.uint64(1)
        made = made.astype(CODES[bits])
        made[:8] = np.array(special, np.uint64).astype(CODES[bits])
    else:
        made = (rng.standard_normal(COUNT) * 3).astype(f"f{bits // 8}")
        made[:8] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.5]
        made[8:16] = [0.5, -0.5, 1.5, -2.5, 3.0, 8.0, 1e-3, -7.25]
    return np.roll(made, 5 * seed)


def kernel(type: Type, names: list[str], made: dict[str, Formula]) -> Any:
    b = Builder(OpenCL.module(CPU))
    env = OpenCL(b, CPU)
    x, y, z, out = env.begin_kernel("numbers", [Parameter(name, "ptr", type) for name in "xyz"]
                                    + [Parameter("out", "ptr", I64)], 1)
    i = env.program_id(0)
    values = [env.load(env.offset(pointer, i), 1) for pointer in (x, y, z)]
    for k, name in enumerate(names):
        value = made[name](b, *values)
        if isinstance(value.type, Bool):
            value = b.select(value, b.constant(I64, 1), 0)
        bits = b.bitcast(value, Int(value.type.width))  # type: ignore[attr-defined]
        env.store(env.offset(out, b.iadd(i, k * COUNT)), b.resize(bits, 64, signed=False))
    b.emit("OpReturn")
    run_passes(b.module, b.module.functions[-1], env.passes(), verified=True)
    env.end_kernel()
    return artifact(b.module.words(), "numbers", [(name, "ptr") for name in ("x", "y", "z", "out")])


def as_floats(bits: np.ndarray, width: int) -> np.ndarray:
    return bits.astype(CODES[width]).view(f"f{width // 8}")


@pytest.mark.parametrize("type", [*INTS, *FLOATS], ids=str)
def test_like_the_device(type: Type) -> None:
    made = formulas(type)
    names = sorted(made)
    kernel_made = kernel(type, names, made)
    x, y, z = (inputs(type, seed) for seed in range(3))
    device, here = (np.zeros(len(names) * COUNT, np.int64) for _ in range(2))
    held = [asarray(array.view(f"i{array.itemsize}")) for array in (x, y, z)]
    bind(kernel_made).launch(COUNT, 1, 1, [*held, asarray(device)])
    findings = machine.run(kernel_made, COUNT, [x, y, z, here])
    assert not findings, findings
    wrong = {}
    for k, name in enumerate(names):
        a, b = (array[k * COUNT:(k + 1) * COUNT].view(np.uint64) for array in (device, here))
        difference = differs(type, name, a, b, x)
        if difference is not None:
            i = difference
            wrong[name] = f"{x[i]!r}, {y[i]!r}, {z[i]!r}: device {a[i]:#x}, here {b[i]:#x}"
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())


def differs(type: Type, name: str, a: np.ndarray, b: np.ndarray, x: np.ndarray) -> int | None:
    """The first place where the results differ by more than they may; None for nowhere."""
    bits = int(name[-2:]) if " to f" in f" {name}" else type.width  # type: ignore[attr-defined]
    of_floats = " to f" in f" {name}" or (isinstance(type, Float) and " to " not in f" {name}"
                                          and not name.endswith(TO_BOOL))
    bad = a != b
    if of_floats:
        p, q = as_floats(a, bits), as_floats(b, bits)
        both = np.isnan(p) & np.isnan(q)
        allowed = ULPS.get(name, ULP) if name in WIDE else 0
        with np.errstate(all="ignore"):
            ulp = np.spacing(np.abs(q)).astype(np.longdouble)
            near = np.abs(p.astype(np.longdouble) - q) <= allowed * ulp
        zeros = (p == 0) & (q == 0) if name in ("fmax", "fmin", *WIDE) else np.zeros(COUNT, bool)
        bad &= ~both & ~(near & np.isfinite(p)) & ~zeros
    if name in ("to i32", "to i64"):  # undefined out of range
        with np.errstate(all="ignore"):
            bad &= np.abs(x.astype(np.float64)) < float(1 << int(name[-2:]) - 1)
    return int(np.flatnonzero(bad)[0]) if bad.any() else None
