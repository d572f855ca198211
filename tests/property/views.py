"""Steps that rearrange tensors."""

from __future__ import annotations

import numpy as np

from property.builder import Builder, whole
from property.meaning import view
from property.steps import ROUNDED, Kind, Value


class Views(Builder):
    def reshape(self) -> None:
        x = self.tensor()
        kind, left = self.kinds[x], self.kinds[x].numel.bit_length() - 1
        bits = self.sizes(left, self.integer(0, 2))
        shape = tuple(1 << b for b in [*bits, left - sum(bits)])
        how = self.choice(("tl.reshape({0}, %s)", "{0}.reshape(%s)"))
        if len(shape) == 1 and self.chance(2):
            how = "tl.ravel({0})%.0s"
        self.emit(
            Kind(kind.dtype, shape, kind.level), how % list(shape), [x], view(lambda a: a.reshape(shape))
        )

    def permute(self) -> None:
        x = self.tensor(lambda k: len(k.shape) > 1)
        kind = self.kinds[x]
        axes = self.axes(kind.shape)
        order = tuple([0][: len(kind.shape) - len(axes)] + self.permutation(axes[::-1]))
        text = f"tl.permute({{0}}, {order})"
        if order == (1, 0) and self.chance(2):
            text = "tl.trans({0})" if self.chance(2) else "{0}.T"
        shape = tuple(kind.shape[d] for d in order)
        self.emit(Kind(kind.dtype, shape, kind.level), text, [x], view(lambda a: a.transpose(order)))

    def expand(self) -> None:
        first = 1 if self.tile else 0
        x = self.any(lambda k: 0 < len(k.shape) < 3)
        if x is None:
            return None if self.tile else self.reshape()
        kind = self.kinds[x]
        axis = self.integer(first, len(kind.shape))
        shape = kind.shape[:axis] + (1,) + kind.shape[axis:]
        slices = ", ".join("None" if d == axis else ":" for d in range(len(shape)))
        text = self.choice((f"tl.expand_dims({{0}}, {axis})", f"{{0}}[{slices}]"))
        y = self.emit(
            Kind(kind.dtype, shape, kind.level), text, [x], view(lambda a: np.expand_dims(a, axis))
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
        how = 0 if self.tile and len(kind.shape) == 1 else self.integer(0, 2)
        if how == 0:
            text, shape = "tl.join({0}, {1})", (*kind.shape, 2)
            function = view(lambda a, b: np.stack([a, b], -1))
        elif how == 1:
            text, shape = "tl.interleave({0}, {1})", (*kind.shape[:-1], kind.shape[-1] * 2)
            function = view(lambda a, b: np.stack([a, b], -1).reshape(shape))
        else:
            axis = self.choice(self.axes(kind.shape))
            shape = tuple(2 * n if d == axis else n for d, n in enumerate(kind.shape))
            text = f"tl.cat({{0}}, {{1}}, dim={axis})"
            function = view(lambda a, b: np.concatenate([a, b], axis))
        self.emit(Kind(kind.dtype, shape, level), text, [x, y], function)

    def split(self) -> None:
        x = self.any(lambda k: len(k.shape) > 1 and k.shape[-1] == 2)
        if x is None:
            if self.tile:
                return
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
        part = Kind(kind.dtype, kind.shape[:-1], kind.level)
        halves = [view(lambda v: v[..., 0]), view(lambda v: v[..., 1])]
        self.several([part, part], "tl.split({0})", [x], lambda v: tuple(half(v) for half in halves))

    def flip(self) -> None:
        x = self.any(lambda k: any(k.shape[d] > 1 for d in self.axes(k.shape)))
        if x is None:
            return
        axis = self.choice([d for d in self.axes(self.kinds[x].shape) if self.kinds[x].shape[d] > 1])
        self.emit(self.kinds[x], f"tl.flip({{0}}, {axis})", [x], view(lambda a: np.flip(a, axis)))

    def gather(self) -> None:
        x = self.tensor(lambda k: k.dtype != "i1")
        kind = self.kinds[x]
        if not self.axes(kind.shape):
            return
        axis = self.choice(self.axes(kind.shape))
        indices = kind.shape
        if not self.tile and self.chance(3):
            indices = tuple(
                (1 << self.integer(0, 5)) if d == axis else n for d, n in enumerate(kind.shape)
            )
        index = self.remainder(self.cast_to(self.want("i32", indices), "i32"), kind.shape[axis])
        self.emit(
            Kind(kind.dtype, indices, kind.level),
            f"tl.gather({{0}}, {{1}}, {axis})",
            [x, index],
            lambda v, i: view(lambda a: np.take_along_axis(a, i.data, axis))(v),
        )

    def histogram(self) -> None:
        x = self.any(lambda k: whole(k) and len(k.shape) == 1) or self.load("i32", self.shape()[:1])
        bins = 1 << self.integer(0, 6)
        x = self.remainder(self.cast_to(x, "i32"), bins)
        shape = self.kinds[x].shape
        mask = self.want("i1", shape) if self.chance(2) else None
        args = [x, mask] if mask else [x]

        def count(values: Value, held: Value | None = None) -> Value:
            chosen = values.data[held.data] if held else values.data
            return Value(np.bincount(chosen, minlength=bins).astype(np.int32))

        self.emit(
            Kind("i32", (bins,)), f"tl.histogram({{0}}, {bins}{', mask={1}' if mask else ''})", args, count
        )
