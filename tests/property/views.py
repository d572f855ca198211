"""Steps that rearrange tensors, and those along an axis."""

from __future__ import annotations

import numpy as np

from property import meaning
from property.builder import Builder
from property.meaning import arithmetic, is_float, view
from property.program import (
    BITS,
    ROUNDED,
    ZERO,
    Kind,
    Step,
    Value,
)


class Views(Builder):
    def reshape(self) -> None:
        x = self.tensor()
        kind, left = self.kinds[x], self.kinds[x].numel.bit_length() - 1
        bits = []
        for _ in range(self.integer(0, 2)):
            bits.append(self.integer(0, left))
            left -= bits[-1]
        shape = tuple(1 << b for b in [*bits, left])
        self.emit(
            Kind(kind.dtype, shape, kind.level),
            f"tl.reshape({{0}}, {list(shape)})",
            [x],
            view(lambda a: a.reshape(shape)),
        )

    def permute(self) -> None:
        x = self.tensor(lambda k: len(k.shape) > 1)
        kind = self.kinds[x]
        order = tuple(self.permutation(range(len(kind.shape))[::-1]))
        self.emit(
            Kind(kind.dtype, tuple(kind.shape[d] for d in order), kind.level),
            f"tl.permute({{0}}, {order})".replace(",)", ")"),
            [x],
            view(lambda a: a.transpose(order)),
        )

    def expand(self) -> None:
        x = self.any(lambda k: 0 < len(k.shape) < 3)
        if x is None:
            return self.reshape()
        kind = self.kinds[x]
        axis = self.integer(0, len(kind.shape))
        shape = kind.shape[:axis] + (1,) + kind.shape[axis:]
        y = self.emit(
            Kind(kind.dtype, shape, kind.level),
            f"tl.expand_dims({{0}}, {axis})",
            [x],
            view(lambda a: np.expand_dims(a, axis)),
        )
        room = (self.largest // kind.numel).bit_length() - 1
        self.broadcast(y, (*shape[:axis], 1 << self.integer(0, max(0, room)), *shape[axis + 1 :]))

    def join(self) -> None:
        x = self.any(lambda k: len(k.shape) in (1, 2) and k.numel * 2 <= self.largest)
        if x is None:
            return self.split()
        kind = self.kinds[x]
        y = self.want(kind.dtype, kind.shape, ROUNDED)
        level = max(kind.level, self.kinds[y].level)
        self.emit(
            Kind(kind.dtype, (*kind.shape, 2), level),
            "tl.join({0}, {1})",
            [x, y],
            view(lambda a, b: np.stack([a, b], -1)),
        )

    def split(self) -> None:
        x = self.any(lambda k: len(k.shape) > 1 and k.shape[-1] == 2)
        if x is None:
            x = self.tensor(lambda k: k.numel > 2)
            kind = self.kinds[x]
            shape = (kind.numel // 2, 2)
            x = self.emit(
                Kind(kind.dtype, shape, kind.level),
                f"tl.reshape({{0}}, {list(shape)})",
                [x],
                view(lambda a: a.reshape(shape)),
            )
        kind = self.kinds[x]
        a, b = self.name(), self.name()
        self.steps.append(Step(a, "0", (x,), view(lambda v: v[..., 0])))
        self.steps.append(Step(b, "0", (x,), view(lambda v: v[..., 1])))
        self.steps.append(Step("", f"{a}, {b} = tl.split({x})", (), lambda: Value(np.array(0))))
        for name in (a, b):
            self.kinds[name] = Kind(kind.dtype, kind.shape[:-1], kind.level)

    def flip(self) -> None:
        x = self.tensor(lambda k: max(k.shape) > 1)
        axis = self.choice([d for d, n in enumerate(self.kinds[x].shape) if n > 1])
        self.emit(self.kinds[x], f"tl.flip({{0}}, {axis})", [x], view(lambda a: np.flip(a, axis)))

    def gather(self) -> None:
        x = self.tensor(lambda k: k.dtype != "i1")
        kind = self.kinds[x]
        axis = self.integer(0, len(kind.shape) - 1)
        index = self.cast_to(self.want("i32", kind.shape), "i32")
        last = kind.shape[axis] - 1
        index = self.emit(
            Kind("i32", kind.shape), f"{{0}} & {last}", [index], arithmetic(lambda a: a & last, "i32")
        )
        self.emit(
            kind,
            f"tl.gather({{0}}, {{1}}, {axis})",
            [x, index],
            lambda v, i: view(lambda a: np.take_along_axis(a, i.data, axis))(v),
        )

    # ---- along an axis

    def combiner(self, dtype: str) -> str:
        if is_float(dtype):
            return self.choice(("largest", "smallest") + (("add",) if dtype in ("f32", "f64") else ()))
        return self.choice(("add", "bit_xor", "bit_and", "bit_or", "largest", "smallest", "mul"))

    def reduce(self) -> None:
        x = self.tensor(lambda k: k.dtype != "i1" and k.level < ROUNDED)
        kind = self.kinds[x]
        axis = self.integer(0, len(kind.shape) - 1)
        name, keep = self.combiner(kind.dtype), self.chance(3)
        shape = kind.shape[:axis] + ((1,) if keep else ()) + kind.shape[axis + 1 :]
        compute = meaning.folded(name, kind.dtype, axis, False)
        shaped = view(lambda a: a.reshape(shape))
        self.emit(
            Kind(kind.dtype, shape, _level(name, kind.dtype)),
            f"tl.reduce({{0}}, {axis}, {name}{', keep_dims=True' if keep else ''})",
            [x],
            lambda v: shaped(compute(v)),
        )

    def arg_reduce(self) -> None:
        x = self.tensor(lambda k: not is_float(k.dtype) and k.dtype != "i1")
        kind = self.kinds[x]
        axis = self.integer(0, len(kind.shape) - 1)
        name, function = self.choice((("argmax", np.argmax), ("argmin", np.argmin)))
        self.emit(
            Kind("i32", kind.shape[:axis] + kind.shape[axis + 1 :]),
            f"tl.{name}({{0}}, {axis})",
            [x],
            lambda v: Value(np.asarray(function(v.data, axis)).astype(np.int32)),
        )

    def scan(self) -> None:
        x = self.tensor(lambda k: k.dtype != "i1" and k.level < ROUNDED)
        kind = self.kinds[x]
        axis, reverse = self.integer(0, len(kind.shape) - 1), self.chance(3)
        name = "last_nonzero" if not is_float(kind.dtype) and self.chance(4) else self.combiner(kind.dtype)
        self.emit(
            Kind(kind.dtype, kind.shape, _level(name, kind.dtype)),
            f"tl.associative_scan({{0}}, {axis}, {name}{', reverse=True' if reverse else ''})",
            [x],
            meaning.folded(name, kind.dtype, axis, True, reverse),
        )

    def recurrence(self) -> None:
        x = self.tensor(lambda k: not is_float(k.dtype) and k.dtype != "i1")
        kind = self.kinds[x]
        y, axis = self.want(kind.dtype, kind.shape), self.integer(0, len(kind.shape) - 1)
        a, b = self.name(), self.name()
        self.steps.append(Step(a, "0", (x, y), meaning.recurrence(axis, True)))
        self.steps.append(Step(b, "0", (x, y), meaning.recurrence(axis, False)))
        self.steps.append(
            Step(
                "",
                f"{a}, {b} = tl.associative_scan(({x}, {y}), {axis}, recur)",
                (),
                lambda: Value(np.array(0)),
            )
        )
        self.kinds[a] = self.kinds[b] = Kind(kind.dtype, kind.shape)


def _level(name: str, dtype: str) -> int:
    return BITS if not is_float(dtype) else ROUNDED if name == "add" else ZERO
