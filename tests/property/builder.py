"""Adding steps to a random program: draws, variables of a wanted type, accesses to memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numeric
import numpy as np

from property.meaning import arithmetic, cast, is_float, view
from property.program import (
    BITS,
    PAYLOAD,
    ROUNDED,
    TL,
    ZERO,
    Access,
    Buffer,
    Kind,
    Program,
    Step,
    Value,
)

T = TypeVar("T")
DTYPES = ("f32", "i32", "i64", "i8", "u8", "i16", "u16", "u32", "u64", "f16", "bf16", "f64", "i1")


class Builder:
    """Adds steps to a program; `kinds` are the variables that later steps may use."""

    def __init__(self, draw: Callable[[int, int], int], largest: int) -> None:
        self.draw, self.largest = draw, largest
        self.program = Program()
        self.steps = self.program.steps
        self.kinds: dict[str, Kind] = {}
        self.counter = 0
        self.depth = 0

    # ---- drawing

    def integer(self, low: int, high: int) -> int:
        return low if low == high else self.draw(low, high)

    def choice(self, items: Sequence[T]) -> T:
        return items[self.integer(0, len(items) - 1)]

    def chance(self, one_in: int) -> bool:
        return self.integer(0, one_in - 1) == one_in - 1

    def permutation(self, items: Sequence[int]) -> list[int]:
        left = list(items)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in items]

    def name(self, prefix: str = "v") -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    # ---- steps

    def emit(self, kind: Kind, text: str, args: Sequence[str], compute: Callable[..., Value]) -> str:
        """`text` names its operands {0}, {1}, ..."""
        target = self.name()
        self.steps.append(Step(target, text.format(*args), tuple(args), compute))
        self.kinds[target] = kind
        return target

    def scalar(self, value: int) -> str:
        """A run-time scalar argument."""
        name = self.name("n")
        self.program.scalars[name] = value
        return name

    def buffer(self, dtype: str, size: int) -> Buffer:
        made = Buffer(self.name("p"), dtype, size, self.integer(0, 3), self.integer(0, 50))
        self.program.buffers.append(made)
        return made

    def shape(self) -> tuple[int, ...]:
        rank = self.integer(1, 3)
        top = self.largest.bit_length() - 1
        bits, left = [], top
        for _ in range(rank):
            bits.append(self.integer(0, left))
            left -= bits[-1]
        return tuple(1 << b for b in bits)

    # ---- variables

    def any(self, accepts: Callable[[Kind], bool] = lambda kind: True) -> str | None:
        """A variable, later ones more likely."""
        found = [name for name, kind in self.kinds.items() if accepts(kind)][::-1]
        return self.choice(found[: self.integer(1, len(found))]) if found else None

    def tensor(self, accepts: Callable[[Kind], bool] = lambda kind: True) -> str:
        found = self.any(lambda kind: bool(kind.shape) and accepts(kind))
        if found:
            return found
        shape = next((s for s in ((16,), (16, 2)) if any(accepts(Kind(d, s)) for d in DTYPES)), (16,))
        drawn = self.shape()
        kinds = [d for d in DTYPES if accepts(Kind(d, shape))]
        return self.load(self.choice(kinds), drawn if accepts(Kind(kinds[0], drawn)) else shape)

    def want(self, dtype: str, shape: tuple[int, ...], level: int = ZERO) -> str:
        """A variable of this type: an old one, one made from another's, a constant, or a new load."""
        how = self.integer(0, 4)
        if how < 3:
            found = self.any(lambda k: k.dtype == dtype and k.shape == shape and k.level <= level)
            if found:
                return found
        if how == 3:
            return self.constant(dtype, shape)
        if how == 2 and shape:
            axis = self.integer(0, len(shape) - 1)
            small = shape[:axis] + (1,) + shape[axis + 1 :]
            return self.broadcast(self.load(dtype, small), shape)
        return self.load(dtype, shape)

    def constant(self, dtype: str, shape: tuple[int, ...]) -> str:
        number = self.integer(0, 5)
        value = np.full(shape, cast(np.array(number), "i32", dtype))
        literal = str(bool(number)) if dtype == "i1" else str(number)
        text = f"tl.full({list(shape)}, {literal}, {TL[dtype]})"
        return self.emit(Kind(dtype, shape), text.replace("{", "{{"), (), lambda: Value(value))

    def broadcast(self, x: str, shape: tuple[int, ...]) -> str:
        kind = Kind(self.kinds[x].dtype, shape, self.kinds[x].level)
        return self.emit(
            kind, f"tl.broadcast_to({{0}}, {list(shape)})", [x], view(lambda a: np.broadcast_to(a, shape))
        )

    def cast_to(self, x: str, dtype: str) -> str:
        kind = self.kinds[x]
        source, target = numeric.DTYPES[kind.dtype], numeric.DTYPES[dtype]
        if (
            target.kind == "float"
            and target.bits == 16
            and source.kind in ("int", "uint")
            and source.bits > 16
        ):
            dtype = "f32"
        if source.kind == "float" and target.kind in ("int", "uint"):  # beyond the range: no meaning
            low, high = (0 if target.kind == "uint" else -100), 100
            x = self.emit(
                Kind(kind.dtype, kind.shape, max(kind.level, ZERO)),
                f"tl.where(({{0}} >= {low}) & ({{0}} <= {high}), {{0}}, 0).to({TL[kind.dtype]})",
                [x],
                lambda v: Value(np.where((v.data >= low) & (v.data <= high), v.data, v.data.dtype.type(0))),
            )
        level = (
            max(self.kinds[x].level, PAYLOAD) if target.kind == "float" and source.kind == "float" else BITS
        )
        if source.kind == "float" and dtype == kind.dtype:
            level = kind.level
        return self.emit(
            Kind(dtype, kind.shape, level),
            f"{{0}}.to({TL[dtype]})",
            [x],
            lambda v: Value(np.asarray(cast(v.data, kind.dtype, dtype))),
        )

    # ---- memory

    def index(self, shape: tuple[int, ...], injective: bool) -> tuple[str, int]:
        """(variable, size of the buffer): which elements an access touches."""
        count = int(np.prod(shape))
        how = self.integer(0, 7)
        if how == 7 and count > 1 and not injective:
            return self.gathered(shape)
        order = list(range(len(shape)))[::-1]
        if how >= 4 and len(order) > 1:
            order = self.permutation(order)
        stride, strides = self.choice((1, 1, 1, 2, 3)), [0] * len(shape)
        for d in order:
            strides[d] = stride
            stride *= shape[d]
            if how >= 5:
                stride += self.integer(0, 3)
        if how == 6 and not injective:
            strides[self.integer(0, len(shape) - 1)] = 0
        elif how == 6:
            axis = self.integer(0, len(shape) - 1)
            strides[axis] = -strides[axis]
        start = self.choice((0, 0, 0, 1, 4, 5)) - sum(
            s * (n - 1) for s, n in zip(strides, shape, strict=True) if s < 0
        )
        reach = sum(s * (n - 1) for s, n in zip(strides, shape, strict=True) if s > 0)
        size = start + reach + 1
        terms = []
        for d, (s, n) in enumerate(zip(strides, shape, strict=True)):
            if s:
                slices = "".join(", :" if e == d else ", None" for e in range(len(shape)))[2:]
                part = f"tl.arange(0, {n})" + (f"[{slices}]" if len(shape) > 1 else "")
                runtime = s > 1 and self.chance(3)
                terms.append(f"{part} * {self.scalar(s) if runtime else s}" if s != 1 else part)
        if start:
            terms.append(str(self.scalar(start) if self.chance(3) else start))
        text = " + ".join(terms) or "0"
        full = sum(1 for s, n in zip(strides, shape, strict=True) if s)
        if full < len(shape):
            text = (
                f"tl.broadcast_to({text}, {list(shape)})"
                if full
                else f"tl.full({list(shape)}, {start}, tl.int32)"
            )
        grid = np.indices(shape)
        value = start + sum((g * s for g, s in zip(grid, strides, strict=True)), np.zeros(shape, np.int64))
        value = value.astype(np.int32)
        made = self.emit(Kind("i32", shape), text, (), lambda: Value(value))
        if injective and how == 7 and count > 1:  # a permutation: odd factors modulo a power of two
            factor = self.choice((3, 5, 7, 1))
            return self.emit(
                Kind("i32", shape),
                f"({{0}} * {factor} + 1) % {_power(size)}",
                [made],
                lambda x: Value((x.data * factor + 1) % _power(size)),
            ), _power(size)
        return made, size

    def gathered(self, shape: tuple[int, ...]) -> tuple[str, int]:
        size = self.choice((16, 64, 256, 2))
        found = self.any(lambda k: k.shape == shape and not is_float(k.dtype) and k.dtype != "i1")
        source = found or self.load("i32", shape)
        if self.kinds[source].dtype not in ("i32", "i64"):
            source = self.cast_to(source, "i32")
        dtype = self.kinds[source].dtype
        made = self.emit(
            Kind(dtype, shape), f"{{0}} & {size - 1}", [source], arithmetic(lambda x: x & (size - 1), dtype)
        )
        return made, size

    def mask(self, shape: tuple[int, ...], index: str) -> str | None:
        how = self.integer(0, 5)
        if how < 3 or not shape:
            return None
        if how == 3:
            return self.want("i1", shape)
        if how == 4:
            bound = self.integer(0, int(np.prod(shape)) + 4)
            return self.emit(
                Kind("i1", shape),
                f"{{0}} < {self.scalar(bound)}",
                [index],
                arithmetic(lambda x: x < bound, "i1"),
            )
        axis, n = self.integer(0, len(shape) - 1), 0
        n = self.integer(0, shape[axis])
        slices = "".join(", :" if e == axis else ", None" for e in range(len(shape)))[2:]
        part = f"tl.arange(0, {shape[axis]})" + (f"[{slices}]" if len(shape) > 1 else "")
        value = np.broadcast_to(np.indices(shape)[axis] < n, shape)
        return self.emit(
            Kind("i1", shape),
            f"tl.broadcast_to({part} < {self.scalar(n)}, {list(shape)})",
            (),
            lambda: Value(value),
        )

    def access(self, dtype: str, shape: tuple[int, ...], injective: bool) -> tuple[Buffer, str, str | None]:
        if not shape:
            old = [b for b in self.program.buffers if b.dtype == dtype]
            buffer = self.choice(old) if old and self.chance(2) else self.buffer(dtype, 1)
            place = self.integer(0, buffer.size - 1)
            return (
                buffer,
                self.emit(Kind("i32", ()), str(place), (), lambda: Value(np.array(place, np.int32))),
                None,
            )
        index, size = self.index(shape, injective)
        old = [b for b in self.program.buffers if b.dtype == dtype and b.level <= ZERO]
        if old and self.chance(3):  # what other steps read or write: in place, or shifted
            buffer = self.choice(old[::-1])
            buffer.size = max(buffer.size, size)
        else:
            buffer = self.buffer(dtype, size)
        return buffer, index, self.mask(shape, index)

    def load(self, dtype: str, shape: tuple[int, ...]) -> str:
        buffer, index, mask = self.access(dtype, shape, False)
        other = None
        if mask:
            other = self.constant(dtype, ()) if self.chance(2) else self.constant(dtype, shape)
        target = self.name()
        self.steps.append(Access(buffer.name, index, mask, other, target=target))
        self.kinds[target] = Kind(dtype, shape, ZERO if self.depth else buffer.level)
        return target

    def store(self, value: str) -> None:
        kind = self.kinds[value]
        if kind.level == ROUNDED:
            index, size = self.index(kind.shape, True) if kind.shape else (self.constant("i32", ()), 6)
            buffer, mask = self.buffer(kind.dtype, size), self.mask(kind.shape, index)
        else:
            buffer, index, mask = self.access(kind.dtype, kind.shape, True)
        buffer.level = max(buffer.level, kind.level)
        self.steps.append(Access(buffer.name, index, mask, value=value))

    def store_any(self) -> None:
        self.store(self.any() or self.tensor())


def _power(size: int) -> int:
    return 1 << (size - 1).bit_length()
