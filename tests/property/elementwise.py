"""Steps that compute element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numeric
import numpy as np

from property import meaning
from property.builder import DTYPES, Builder
from property.meaning import approximate, arithmetic, is_float
from property.program import (
    BITS,
    PAYLOAD,
    ROUNDED,
    TL,
    ZERO,
    Kind,
    Value,
)

Named = tuple[str, Callable[..., Any]]  # how Triton spells a function, and numpy's


class Elementwise(Builder):
    def binary(self) -> None:
        x = (
            self.tensor(lambda k: k.level < ROUNDED)
            if self.chance(4)
            else self.any(lambda k: k.level < ROUNDED)
        )
        x = x or self.tensor()
        kind = self.kinds[x]
        y = self.want(kind.dtype, kind.shape)
        level = max(kind.level, self.kinds[y].level, PAYLOAD)
        if kind.dtype == "i1":
            known: tuple[Named, ...] = (("&", np.logical_and), ("|", np.logical_or), ("^", np.logical_xor))
        else:
            known = (("+", np.add), ("*", np.multiply), ("-", np.subtract))
            if not is_float(kind.dtype):
                known += (("&", np.bitwise_and), ("|", np.bitwise_or), ("^", np.bitwise_xor))
        symbol, function = self.choice(known)
        self.emit(
            Kind(kind.dtype, kind.shape, level if is_float(kind.dtype) else BITS),
            f"{{0}} {symbol} {{1}}",
            [x, y],
            arithmetic(function, kind.dtype),
        )

    def divide(self) -> None:
        x = self.tensor(lambda k: not is_float(k.dtype) and k.dtype != "i1")
        kind, by = self.kinds[x], self.integer(1, 7)
        y = f"tl.full({list(kind.shape)}, {by}, {TL[kind.dtype]})"
        bits = numeric.DTYPES[kind.dtype].bits
        quotient = lambda a: np.sign(a) * (np.where(a < 0, -a.astype(object), a) // by)  # noqa: E731
        known: tuple[Named, ...] = (
            ("<<", lambda a: a << np.asarray(by % bits, a.dtype)),
            (">>", lambda a: a >> np.asarray(by % bits, a.dtype)),
            ("//", quotient),
            ("%", lambda a: a - quotient(a) * by),
        )
        symbol, function = self.choice(known)
        self.emit(Kind(kind.dtype, kind.shape), f"{{0}} {symbol} {y}", [x], arithmetic(function, kind.dtype))

    def extreme(self) -> None:
        x = self.tensor(lambda k: k.dtype != "i1" and k.level < ROUNDED)
        kind = self.kinds[x]
        y = self.want(kind.dtype, kind.shape)
        known: tuple[Named, ...] = (("maximum", np.fmax), ("minimum", np.fmin))
        name, function = self.choice(known)
        self.emit(
            Kind(kind.dtype, kind.shape, ZERO if is_float(kind.dtype) else BITS),
            f"tl.{name}({{0}}, {{1}}).to({TL[kind.dtype]})",
            [x, y],
            arithmetic(function, kind.dtype),
        )

    def unary(self) -> None:
        x = self.tensor(lambda k: k.dtype != "i1" and k.level < ROUNDED)
        kind = self.kinds[x]
        known: tuple[Named, ...] = (("tl.abs({0})", np.abs), ("0 - {0}", lambda a: a.dtype.type(0) - a))
        text, function = self.choice(known)
        self.emit(
            Kind(kind.dtype, kind.shape, max(kind.level, PAYLOAD) if is_float(kind.dtype) else BITS),
            text,
            [x],
            arithmetic(function, kind.dtype),
        )

    def compare(self) -> None:
        x = self.tensor(lambda k: k.dtype != "i1" and k.level < ROUNDED)
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

    def bits(self) -> None:
        """The bits of a float as an integer, or of an integer as one of the other sign."""
        x = self.tensor(lambda k: k.level == BITS and k.dtype not in ("i1", "bf16"))
        kind = self.kinds[x]
        bits = numeric.DTYPES[kind.dtype].bits
        dtype = f"{'u' if kind.dtype[0] == 'i' else 'i'}{bits}"
        self.emit(
            Kind(dtype, kind.shape),
            f"{{0}}.to({TL[dtype]}, bitcast=True)",
            [x],
            lambda v: Value(
                np.ascontiguousarray(v.data).view(numeric.DTYPES[dtype].values).reshape(v.data.shape)
            ),
        )

    def rounding(self) -> None:
        x = self.tensor(lambda k: k.dtype in ("f32", "f64") and k.level <= PAYLOAD)
        kind = self.kinds[x]
        known: tuple[Named, ...] = (
            ("tl.sqrt({0})", np.sqrt),
            ("{0} / 3", lambda a: a / 3),
            ("tl.exp({0})", np.exp),
            ("tl.log({0})", np.log),
            ("tl.exp2({0})", np.exp2),
        )
        text, function = self.choice(known)
        self.emit(Kind(kind.dtype, kind.shape, ROUNDED), text, [x], approximate(function, kind.dtype, 8))
