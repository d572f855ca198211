"""Steps along an axis: reductions, scans, sorts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numeric
import numpy as np

from property import meaning
from property.builder import Builder, computes, whole
from property.meaning import is_float, view
from property.steps import BITS, ROUNDED, TL, ZERO, Kind, Value

#: Triton's own functions of an axis, for those combiners that they fold with
SHORT = {"add": "sum", "bit_xor": "xor_sum", "largest": "max", "smallest": "min"}


class Axes(Builder):
    def axis(self, accepts: Callable[[Kind], bool]) -> tuple[str, Kind, int] | None:
        """A tensor with an axis to go along."""
        x = self.any(lambda k: accepts(k) and bool(self.axes(k.shape)))
        if x is None and not self.tile:
            x = self.tensor(accepts)
        if x is None:
            return None
        return x, self.kinds[x], self.choice(self.axes(self.kinds[x].shape))

    def combiner(self, dtype: str) -> str:
        if is_float(dtype):
            return self.choice(("largest", "smallest") + (("add",) if dtype in ("f32", "f64") else ()))
        return self.choice(("add", "bit_xor", "bit_and", "bit_or", "largest", "smallest", "mul"))

    def reduce(self) -> None:
        found = self.axis(computes)
        if not found:
            return
        x, kind, axis = found
        name, keep = self.combiner(kind.dtype), self.chance(3)
        shape = kind.shape[:axis] + ((1,) if keep else ()) + kind.shape[axis + 1 :]
        compute = meaning.folded(name, kind.dtype, axis, False)
        shaped = view(lambda a: a.reshape(shape))
        text = f"tl.reduce({{0}}, {axis}, {name}"
        wide = numeric.DTYPES[kind.dtype].bits >= 32  # sums and extremes of narrower ones are widened
        if name in SHORT and wide and kind.dtype[0] != "u" and self.chance(2):
            text = f"tl.{SHORT[name]}({{0}}, {axis}"
        self.emit(
            Kind(kind.dtype, shape, _level(name, kind.dtype)),
            f"{text}{', keep_dims=True' if keep else ''})",
            [x],
            lambda v: shaped(compute(v)),
        )

    def reduce_all(self) -> None:
        """To a scalar, which conditions and bounds may then depend on."""
        if self.tile:
            return
        x = self.tensor(whole)
        kind = self.kinds[x]
        name = self.combiner(kind.dtype)
        compute = meaning.folded(name, kind.dtype, 0, False)
        self.emit(
            Kind(kind.dtype, ()),
            f"tl.reduce(tl.ravel({{0}}), 0, {name})",
            [x],
            lambda v: compute(Value(v.data.reshape(-1))),
        )

    def operands(self) -> tuple[list[str], list[str], int] | None:
        """(tensors of one shape, a combiner for each, axis)."""
        found = self.axis(computes)
        if not found:
            return None
        x, kind, axis = found
        names = [x]
        for _ in range(self.integer(1, 2)):
            other = self.any(lambda k: computes(k) and k.shape == kind.shape)
            names.append(other or self.want(self.choice(("i32", "f32", "i64", "i8", "f16")), kind.shape))
        return names, [self.combiner(self.kinds[n].dtype) for n in names], axis

    def several_at_once(self) -> None:
        """A reduction or scan of a tuple, with a combiner of its own."""
        found = self.operands()
        if not found:
            return
        names, combiners, axis = found
        count = len(names)
        function = self.name("fold")
        parameters = ", ".join([f"a{i}" for i in range(count)] + [f"b{i}" for i in range(count)])
        body = ", ".join(f"{c}(a{i}, b{i})" for i, c in enumerate(combiners))
        self.program.functions.append(f"@triton.jit\ndef {function}({parameters}):\n    return {body}\n\n\n")
        scan, reverse = self.chance(2), self.chance(3)
        kinds = []
        for name, combine in zip(names, combiners, strict=True):
            kind = self.kinds[name]
            shape = kind.shape if scan else kind.shape[:axis] + kind.shape[axis + 1 :]
            kinds.append(Kind(kind.dtype, shape, _level(combine, kind.dtype)))
        computes_each = [
            meaning.folded(c, k.dtype, axis, scan, scan and reverse)
            for c, k in zip(combiners, kinds, strict=True)
        ]
        listed = ", ".join(f"{{{i}}}" for i in range(count))
        text = f"tl.{'associative_scan' if scan else 'reduce'}(({listed}), {axis}, {function}"
        self.several(
            kinds,
            f"{text}{', reverse=True' if scan and reverse else ''})",
            names,
            lambda *values: tuple(f(v) for f, v in zip(computes_each, values, strict=True)),
        )

    def arg_reduce(self) -> None:
        found = self.axis(whole)
        if not found:
            return
        x, kind, axis = found
        name, function = self.choice((("argmax", np.argmax), ("argmin", np.argmin)))
        shape = kind.shape[:axis] + kind.shape[axis + 1 :]

        def index(v: Value) -> Value:
            return Value(np.asarray(function(v.data, axis)).astype(np.int32))

        if numeric.DTYPES[kind.dtype].bits < 32 or self.chance(2):
            self.emit(Kind("i32", shape), f"tl.{name}({{0}}, {axis})", [x], index)
            return
        extreme = np.max if name == "argmax" else np.min
        self.several(
            [Kind(kind.dtype, shape), Kind("i32", shape)],
            f"tl.{name[3:]}({{0}}, {axis}, return_indices=True)",
            [x],
            lambda v: (Value(np.asarray(extreme(v.data, axis))), index(v)),
        )

    def scan(self) -> None:
        found = self.axis(computes)
        if not found:
            return
        x, kind, axis = found
        reverse = self.chance(3)
        name = "last_nonzero" if not is_float(kind.dtype) and self.chance(4) else self.combiner(kind.dtype)
        text = f"tl.associative_scan({{0}}, {axis}, {name}"
        wide = numeric.DTYPES[kind.dtype].bits >= 32 and kind.dtype[0] != "u"
        if name == "add" and wide and self.chance(2):
            text = f"tl.cumsum({{0}}, {axis}"
        self.emit(
            Kind(kind.dtype, kind.shape, _level(name, kind.dtype)),
            f"{text}{', reverse=True' if reverse else ''})",
            [x],
            meaning.folded(name, kind.dtype, axis, True, reverse),
        )

    def recurrence(self) -> None:
        """The scan of pairs that stand for x -> a * x + b: associative, not commutative."""
        found = self.axis(whole)
        if not found:
            return
        x, kind, axis = found
        y = self.want(kind.dtype, kind.shape)
        parts = [meaning.recurrence(axis, first) for first in (True, False)]
        same = Kind(kind.dtype, kind.shape)
        self.several(
            [same, same],
            f"tl.associative_scan(({{0}}, {{1}}), {axis}, recur)",
            [x, y],
            lambda a, b: tuple(part(a, b) for part in parts),
        )

    def sort(self) -> None:
        """Along the last dimension; NaN has no order. Where one element is sorted or kept, Triton takes the
        maximum, whose integers have 32 bits."""
        x = self.any(lambda k: computes(k) and bool(self.axes(k.shape)) and k.shape[-1] <= 512)
        if x is None:
            return
        x = self.without_nan(x)
        kind = self.kinds[x]
        descending, last = self.chance(2), kind.shape[-1]
        text, kept = f"tl.sort({{0}}, descending={descending}).to({{0}}.dtype)", last
        if self.chance(3) and last > 1:
            kept = 1 << self.integer(0, last.bit_length() - 1)
            text, descending = f"tl.topk({{0}}, {kept}).to({{0}}.dtype)", True
        order = slice(None, None, -1 if descending else 1)

        def ordered(v: Value) -> Value:
            return Value(np.ascontiguousarray(np.sort(v.data, -1)[..., order][..., :kept]))

        level = ZERO if is_float(kind.dtype) else BITS
        self.emit(Kind(kind.dtype, (*kind.shape[:-1], kept), level), text, [x], ordered)


def _level(name: str, dtype: str) -> int:
    return BITS if not is_float(dtype) else ROUNDED if name == "add" else ZERO


class Products(Builder):
    def dot(self) -> None:
        """a @ b, perhaps added to c, perhaps of batches; of small whole numbers, or of anything."""
        if self.tile:
            return
        dtype = self.choice(("f32", "f16", "bf16", "i8", "f64", "f16", "fp8e5", "fp8e4nv"))
        top = min(self.largest.bit_length() - 1, 11)
        m, n = self.sizes(top, 2)
        k = self.integer(0, max(0, min(7, 13 - m - n)))
        batch: tuple[int, ...] = (1 << self.integer(0, 2),) if self.chance(4) else ()
        left, right, both = (*batch, 1 << m, 1 << k), (*batch, 1 << k, 1 << n), (*batch, 1 << m, 1 << n)
        total = {"i8": "i32", "f64": "f64"}.get(dtype, "f32")
        exact = dtype == "i8" or not self.chance(3)
        if exact and is_float(dtype):
            a, b, c = (self.small(d, s) for d, s in ((dtype, left), (dtype, right), (total, both)))
        elif dtype in numeric.FP8:
            a, b = (self.small(dtype, s) for s in (left, right))
            c, exact = self.want(total, both), False
        else:
            a, b, c = self.want(dtype, left), self.want(dtype, right), self.want(total, both)
        how = ", input_precision='ieee'" if dtype == "f32" else ""
        if total == "f64" or self.chance(2):
            how += f", out_dtype={TL[total]}"
        added = self.chance(2)
        if not added:
            c = self.known(np.zeros(both, numeric.DTYPES[total].values))
        elif self.chance(2) and total == "f32":
            text = f"{{2}} + tl.dot({{0}}, {{1}}{how})"
            self.product(total, both, exact, text, [a, b, c], dtype)
            return
        text = f"tl.dot({{0}}, {{1}}{', {2}' if added else ''}{how})"
        self.product(total, both, exact, text, [a, b, c], dtype)

    def product(
        self, total: str, shape: tuple[int, ...], exact: bool, text: str, args: list[str], dtype: str
    ) -> Any:
        level = BITS if total == "i32" else ZERO if exact else ROUNDED
        return self.emit(Kind(total, shape, level), text, args, meaning.product(dtype, exact))

    def dot_scaled(self) -> None:
        """Operands of 8 bits or 4, whose groups of 32 along K share a power of two."""
        if self.tile:
            return
        m, n, k = 1 << self.integer(0, 5), 1 << self.integer(0, 5), 32 << self.integer(0, 1)
        forms = [self.choice(("e4m3", "e5m2", "e2m1")) for _ in range(2)]
        args, named = [], []
        for form, (rows, columns) in zip(forms, ((m, k), (k, n)), strict=True):
            shape, dtype = (rows, columns), {"e4m3": "fp8e4nv", "e5m2": "fp8e5", "e2m1": "u8"}[form]
            if form == "e2m1":
                shape = (rows, columns // 2) if not args else (rows // 2, columns)
            x = self.want(dtype, shape) if form == "e2m1" else self.small(dtype, shape)
            scale = self.remainder(self.want("i32", (m if not args else n, k // 32)), 4)
            scale = self.cast_to(self.emit(
                Kind("i32", self.kinds[scale].shape), "{0} + 125", [scale],
                meaning.arithmetic(lambda a: a + 125, "i32")), "u8")
            args += [x, scale]
            named += [f"{{{len(args) - 2}}}, {{{len(args) - 1}}}, '{form}'"]
        multiply = meaning.product("f32", False)

        def compute(a: Value, a_scale: Value, b: Value, b_scale: Value) -> Value:
            left = meaning.scaled(a.data, a_scale.data, forms[0])
            right = meaning.scaled(np.swapaxes(b.data, 0, 1), b_scale.data, forms[1])
            return multiply(Value(left), Value(right.T), Value(np.zeros((m, n))))

        self.emit(Kind("f32", (m, n), ROUNDED), f"tl.dot_scaled({', '.join(named)})", args, compute)
