"""Mistakes in tables and rules: operands, signs, rounding, masks, layouts, axes, lanes."""

from __future__ import annotations

from typing import Any

from triton_spirv.lower.values.numbers import f32_to_bf16

from property.planting import Bug, Set, entry, everywhere, like, nothing, on, rule, swapped, within


def _late_loads(put: Set) -> None:
    """Loads that wait are not executed before a store."""
    from triton_spirv.lower.walk.pending import Pending

    right = Pending.settle

    def settle(self: Any, memory_only: bool, op: Any = None) -> None:
        if not memory_only:
            right(self, memory_only, op)

    put(Pending, "settle", settle)


def _one_too_far(put: Set) -> None:
    from triton_spirv.lower.addresses.masks import ORDERED

    put(ORDERED, "slt", ("OpSLessThanEqual", True))


BETWEEN = r"^\w+ %s \w+$"  # two variables
LARGE = (r"\b(512|1024|2048|4096|8192)\b",)  # only tensors that are walked in steps can show it

BUGS: tuple[Bug, ...] = (
    # operands, signs, comparisons
    Bug("a subtraction of floats swaps its operands", rule("arith.subf", swapped), (on(" - ", "f", "bf"),)),
    Bug("a subtraction of integers swaps its operands", rule("arith.subi", swapped), (" - ",)),
    Bug("unsigned < is signed", entry("COMPARE_INTEGERS", "ult", "OpSLessThan"),
        (on(BETWEEN % "<", "u"),)),
    Bug("unsigned // is signed", entry("INTEGER", "arith.divui", "OpSDiv"), (on("//", "u"),)),
    Bug(
        "the remainder has the sign of the divisor",
        entry("INTEGER", "arith.remsi", "OpSMod"),
        (on(" % ", "i"),),
    ),
    Bug(
        "a signed right shift fills with zeros",
        entry("INTEGER", "arith.shrsi", "OpShiftRightLogical"),
        (on(">>", "i"),),
    ),
    Bug(
        "the unsigned maximum is signed",
        entry("INTEGER_FUNCTION", "arith.maxui", "s_max"),
        (on("maximum|largest", "u"),),
    ),
    Bug(
        "the high half of a product is signed",
        entry("INTEGER_FUNCTION", "tt.mulhiui", "s_mul_hi"),
        ("umulhi",),
    ),
    Bug("< holds for NaN", entry("COMPARE_FLOATS", "olt", "OpFUnordLessThan"),
        (on(BETWEEN % "<", "f", "bf"),)),
    Bug("!= does not hold for NaN", entry("COMPARE_FLOATS", "une", "OpFOrdNotEqual"),
        (on(BETWEEN % "!=", "f", "bf"),)),
    Bug(
        "the remainder of floats rounds its quotient",
        entry("FLOAT_FUNCTION", "arith.remf", "remainder"),
        (on(" % ", "f", "bf"),),
    ),
    Bug("signed integers widen with zeros", like("arith.extsi", "arith.extui"), (r"\.to\(tl\.u?int",)),
    # rounding
    Bug(
        "f32 becomes bf16 by cutting bits off",
        everywhere(within("arithmetic.cast", "f32_to_bf16",
                          lambda right: lambda b, value, rounding: right(b, value, "rtz")),
                   within("arithmetic.narrowing", "_narrowed",
                          lambda _: lambda ctx, row: [f32_to_bf16(ctx.b, x, "rtz") for x in row])),
        ("bfloat16",),
    ),
    Bug(
        "rounding toward zero is forgotten",
        within("arithmetic.cast", "to_float",
               lambda right: lambda ctx, value, *types: right(ctx, value, *types[:2])),
        ("rtz",),
    ),
    Bug(
        "8-bit floats are cut off",
        within("arithmetic.cast", "float_to_float8",
               lambda right: lambda b, x, to, how: right(b, x, to, "rtz")),
        ("float8",),
    ),
    # memory
    Bug(
        "masked-off elements are 0, not `other`",
        within("memory.load", "_others",
               lambda right: lambda ctx, other, *rest: right(ctx, None, *rest)),
        ("other=",),
    ),
    Bug("a window counts as inside one element too far", _one_too_far),
    Bug("loads wait beyond a store to the same place", _late_loads, needs=LARGE),
    Bug(
        "every load of a loop counts as in place",
        within("memory.hazard", "in_place", lambda right: lambda op, *tensors: True),
        ("tl.store", *LARGE),
    ),
    Bug(
        "a gather takes the neighbour",
        within(
            "tensors.gather", "_places",
            lambda right: lambda ctx, *rest: [ctx.b.ixor(x, 1) for x in right(ctx, *rest)],
        ),
        ("tl.gather",),
    ),
    Bug(
        "a histogram forgets its mask",
        rule("tt.histogram", lambda right: lambda ctx, op, src, mask: right(ctx, op, src, None)),
        ("histogram",),
    ),
    # layouts
    Bug(
        "join has its operands the wrong way round",
        rule("tt.join", lambda right: lambda ctx, op, layout, lhs, rhs: right(ctx, op, layout, rhs, lhs)),
        ("join|interleave|cat",),
    ),
    Bug(
        "both halves of a split are the first",
        within("tensors.view", "_split_source",
               lambda right: lambda op, layout, index=0: right(op, layout, 0)),
        ("split",),
    ),
    Bug(
        "a broadcast drops one bit too few",
        within("tensors.view", "log2", lambda right: lambda n: max(right(n) - (n == 8), 0)),
        ("broadcast_to",),
    ),
    # along an axis
    Bug(
        "a scan forgets what other registers carry",
        within("tensors.scan", "Blocks._put_behind", nothing),
        ("scan|cumsum",),
    ),
    Bug(
        "the identity of & is 0",
        within("tensors.reduce", "identity", lambda right: lambda name, type: (
            0 if name == "arith.andi" else right(name, type)
        )),
        ("bit_and", *LARGE),
    ),
    # control flow
    Bug(
        "a loop forgets how far its pointers have moved",
        within("control.carry", "MovingCarrier.bound", lambda right: lambda self, registers: self.initial),
        ("for ",),
    ),
    # lanes and warps
    Bug("no barriers", within("lanes.shared", "needed_barriers", lambda right: lambda *rest: {}), (),
        "simt8"),
    Bug(
        "a scan forgets other lanes",
        within("tensors.scan", "Blocks._join_lanes", nothing),
        ("scan|cumsum",), "simt8",
    ),
    Bug(
        "a scan forgets other warps",
        within("tensors.scan", "Blocks._join_warps", nothing),
        ("scan|cumsum",), "simt8",
    ),
    Bug(
        "a reduction forgets other warps",
        within("tensors.reduce", "_reduce_warps", lambda right: lambda ctx, region, layout, rows, mask: rows),
        ("reduce|argm|tl.max|tl.sum|tl.min",),
        "simt8",
    ),
    Bug(
        "a conversion of layouts picks registers without asking the lane",
        within("tensors.convert_layout", "_added",
               lambda right: lambda ctx, registers, *rest: list(registers)),
        (),
        "simt8",
    ),
)
