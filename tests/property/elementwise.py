"""Steps that compute element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numeric
import numpy as np

from property import meaning
from property.builder import DTYPES, NUMBERS, Builder, computes, level_of, whole
from property.meaning import approximate, arithmetic, is_float
from property.steps import BITS, PAYLOAD, ROUNDED, TL, ZERO, Kind, Value

Named = tuple[str, Callable[..., Any]]  # how Triton spells a function, and numpy's


#: sorts of dtypes, by how their names begin: instructions differ between them
SORTS = (("u",), ("i",), ("f", "bf"))


class Elementwise(Builder):
    def operand(self, accepts: Callable[[Kind], bool]) -> str:
        """A tensor; of half of them the sort is drawn first, so that rare ones meet all operations."""
        sorts = [sort for sort in SORTS
                 if any(d.startswith(sort) and accepts(Kind(d, (16,))) for d in NUMBERS)]
        if len(sorts) < 2 or not self.chance(2):
            return self.tensor(accepts)
        sort = self.choice(sorts)
        return self.tensor(lambda k: accepts(k) and k.dtype.startswith(sort) and k.dtype in NUMBERS)

    def binary(self) -> None:
        accepts = (lambda k: k.level < ROUNDED) if self.chance(2) else computes
        x = (self.any(accepts) if self.chance(4) else None) or self.operand(accepts)
        kind = self.kinds[x]
        y = self.want(kind.dtype, kind.shape)
        level = max(kind.level, self.kinds[y].level, ZERO if kind.dtype in numeric.FP8 else PAYLOAD)
        if kind.dtype == "i1":
            known: tuple[Named, ...] = (("&", np.logical_and), ("|", np.logical_or), ("^", np.logical_xor))
        else:
            known = (("+", np.add), ("*", np.multiply), ("-", np.subtract))
            if not is_float(kind.dtype):
                known += (("&", np.bitwise_and), ("|", np.bitwise_or), ("^", np.bitwise_xor))
        symbol, function = self.choice(known)
        self.emit(
            Kind(kind.dtype, kind.shape, level_of(kind.dtype, level)),
            f"{{0}} {symbol} {{1}}",
            [x, y],
            arithmetic(function, kind.dtype),
        )

    def divide(self) -> None:
        """By a number, or by data; 0 and -1 have no meaning there."""
        x = self.operand(whole)
        kind = self.kinds[x]
        bits = numeric.DTYPES[kind.dtype].bits
        if self.chance(2):
            y = self.constant(kind.dtype, kind.shape, self.integer(1, 7))
        else:
            divisor = self.want(kind.dtype, kind.shape)
            y = self.emit(
                Kind(kind.dtype, kind.shape),
                f"tl.where(({{0}} == 0) | ({{0}} == -1), 3, {{0}}).to({TL[kind.dtype]})"
                if kind.dtype[0] == "i"
                else f"tl.where({{0}} == 0, 3, {{0}}).to({TL[kind.dtype]})",
                [divisor],
                lambda v: Value(np.where((v.data == 0) | (v.data + 1 == 0) & (v.data < 0), 3, v.data)),
            )

        def quotient(a: Any, b: Any) -> Any:
            a, b = a.astype(object), b.astype(object)
            return (abs(a) // abs(b)) * np.where((a < 0) == (b < 0), 1, -1)

        known: tuple[Named, ...] = (
            (f"{{0}} << ({{1}} & {bits - 1})", lambda a, b: a << (b & (bits - 1))),
            (f"{{0}} >> ({{1}} & {bits - 1})", lambda a, b: a >> (b & (bits - 1))),
            ("{0} // {1}", quotient),
            ("{0} % {1}", lambda a, b: a - quotient(a, b) * b),
        )
        if bits >= 32:
            mask, is_signed = (1 << bits) - 1, kind.dtype[0] == "i"

            def unsigned(a: np.ndarray) -> np.ndarray:
                return a.astype(object) & mask

            def signed(a: np.ndarray) -> np.ndarray:
                return (a & mask) - ((a & mask) >> (bits - 1) << bits) * is_signed

            known += (("tl.umulhi({0}, {1})", lambda a, b: signed((unsigned(a) * unsigned(b)) >> bits)),)
        text, function = self.choice(known)
        kept = arithmetic(function, kind.dtype)
        self.emit(Kind(kind.dtype, kind.shape), f"({text}).to({TL[kind.dtype]})", [x, y], kept)

    def extreme(self) -> None:
        x = self.operand(computes)
        kind = self.kinds[x]
        y = self.want(kind.dtype, kind.shape)
        known: tuple[Named, ...] = (("tl.maximum({0}, {1})", np.fmax), ("tl.minimum({0}, {1})", np.fmin))
        if is_float(kind.dtype):
            known += (
                ("tl.maximum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)", np.maximum),
                ("tl.minimum({0}, {1}, propagate_nan=tl.PropagateNan.ALL)", np.minimum),
            )
        text, function = self.choice(known)
        self.emit(
            Kind(kind.dtype, kind.shape, level_of(kind.dtype, ZERO)),
            f"{text}.to({TL[kind.dtype]})",
            [x, y],
            arithmetic(function, kind.dtype),
        )

    def unary(self) -> None:
        x = self.tensor(computes)
        kind = self.kinds[x]
        known: tuple[Named, ...] = (
            ("tl.abs({0})", np.abs),
            ("0 - {0}", lambda a: a.dtype.type(0) - a),
            ("-{0}", np.negative),
        )
        if not is_float(kind.dtype):
            known += (("~{0}", np.invert),)
            if kind.dtype[0] == "u":
                known = (*known[:2], known[3])
        text, function = self.choice(known)
        level = max(kind.level, ZERO if text == "-{0}" else PAYLOAD)  # Triton subtracts from 0
        self.emit(
            Kind(kind.dtype, kind.shape, level_of(kind.dtype, level)), text, [x],
            arithmetic(function, kind.dtype),
        )

    def to_whole(self) -> None:
        """The whole number below or above."""
        x = self.tensor(lambda k: k.dtype in ("f32", "f64") and computes(k))
        kind = self.kinds[x]
        known: tuple[Named, ...] = (("tl.floor({0})", np.floor), ("tl.ceil({0})", np.ceil))
        text, function = self.choice(known)
        level = level_of(kind.dtype, max(kind.level, PAYLOAD))
        self.emit(Kind(kind.dtype, kind.shape, level), text, [x], arithmetic(function, kind.dtype))

    def compare(self) -> None:
        x = self.operand(computes)
        kind = self.kinds[x]
        y = self.want(kind.dtype, kind.shape)
        known: tuple[Named, ...] = (
            ("<", np.less),
            ("==", np.equal),
            (">=", np.greater_equal),
            ("!=", np.not_equal),
            (">", np.greater),
            ("<=", np.less_equal),
        )
        symbol, function = self.choice(known)
        self.emit(Kind("i1", kind.shape), f"{{0}} {symbol} {{1}}", [x, y], arithmetic(function, "i1"))

    def where(self) -> None:
        x = self.any() or self.tensor()
        kind = self.kinds[x]
        y = self.want(kind.dtype, kind.shape)
        condition = self.want("i1", kind.shape)
        level = max(kind.level, self.kinds[y].level)
        self.emit(
            Kind(kind.dtype, kind.shape, level), "tl.where({0}, {1}, {2})", [condition, x, y], meaning.select
        )

    def cast(self) -> None:
        x = self.any(lambda k: k.level < ROUNDED) or self.tensor()
        self.cast_to(x, self.choice(DTYPES))

    def downcast(self) -> None:
        """To nearest, or toward zero. Of casts between any two types few lose bits of a float."""
        x = self.tensor(lambda k: k.dtype == "f32" and k.level < ROUNDED)
        if self.chance(2):
            self.cast_to(x, self.choice(("f16", "bf16", *numeric.FP8)))
            return
        if "rtz" in self.without:
            return
        dtype, kind = self.choice(("f16", "bf16")), self.kinds[x]
        self.emit(
            Kind(dtype, kind.shape, max(kind.level, PAYLOAD)),
            f"{{0}}.to({TL[dtype]}, fp_downcast_rounding='rtz')",
            [x],
            lambda v: Value(meaning.toward_zero(np.ascontiguousarray(v.data), dtype)),
        )

    def bits(self) -> None:
        """The bits of a float as an integer, or of an integer as one of the other sign."""
        x = self.tensor(lambda k: k.level == BITS and k.dtype not in ("i1", "bf16", *numeric.FP8))
        kind = self.kinds[x]
        bits = numeric.DTYPES[kind.dtype].bits
        dtype = f"{'u' if kind.dtype[0] == 'i' else 'i'}{bits}"
        if kind.dtype in ("i16", "i32", "i64") and self.chance(2):
            dtype = f"f{bits}"
        values = numeric.DTYPES[dtype].values
        self.emit(
            Kind(dtype, kind.shape, level_of(dtype, PAYLOAD)),
            f"{{0}}.to({TL[dtype]}, bitcast=True)",
            [x],
            lambda v: Value(np.ascontiguousarray(v.data).view(values).reshape(v.data.shape)),
        )

    def rounding(self) -> None:
        """Functions whose last bits are open."""
        x = self.tensor(lambda k: k.dtype in ("f32", "f64") and k.level <= PAYLOAD)
        kind = self.kinds[x]
        known: tuple[Named, ...] = (
            ("tl.sqrt({0})", np.sqrt),
            ("{0} / 3", lambda a: a / 3),
            ("tl.exp({0})", np.exp),
            ("tl.log({0})", np.log),
            ("tl.exp2({0})", np.exp2),
            ("tl.log2({0})", np.log2),
            ("tl.rsqrt({0})", lambda a: 1 / np.sqrt(a)),
        )
        text, function = self.choice(known)
        self.emit(
            Kind(kind.dtype, kind.shape, ROUNDED), text, [x], approximate(function, kind.dtype, 8)
        )

    def correct(self) -> None:
        """Functions that round once."""
        x = self.tensor(lambda k: k.dtype == "f32" and k.level <= PAYLOAD)
        kind = self.kinds[x]
        y = self.want("f32", kind.shape, PAYLOAD)
        known: tuple[Named, ...] = (
            ("tl.sqrt_rn({0})", lambda a, b: np.sqrt(a)), ("tl.div_rn({0}, {1})", np.divide),
        )
        text, function = self.choice(known)
        self.emit(Kind("f32", kind.shape, PAYLOAD), text, [x, y], arithmetic(function, "f32"))

    def modulo(self) -> None:
        """The remainder of floats, exact, with the sign of the dividend."""
        x = self.tensor(lambda k: is_float(k.dtype) and computes(k))
        kind = self.kinds[x]
        y = self.want(kind.dtype, kind.shape)
        self.emit(
            Kind(kind.dtype, kind.shape, max(kind.level, self.kinds[y].level, PAYLOAD)),
            f"({{0}} % {{1}}).to({TL[kind.dtype]})",
            [x, y],
            arithmetic(np.fmod, kind.dtype),
        )

    def clamp(self) -> None:
        x = self.without_nan(self.tensor(lambda k: is_float(k.dtype) and computes(k)))
        kind, low = self.kinds[x], self.integer(-3, 1)
        high = low + self.integer(0, 4)
        self.emit(
            Kind(kind.dtype, kind.shape, ZERO),
            f"tl.clamp({{0}}, {low}.0, {high}.0).to({TL[kind.dtype]})",
            [x],
            arithmetic(lambda a: np.minimum(np.maximum(a, low), high), kind.dtype),
        )
