"""Adding steps to a random program: draws, and variables of a wanted type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numeric
import numpy as np

from property import meaning
from property.meaning import cast, is_float, view
from property.program import Buffer, Program
from property.steps import BITS, PAYLOAD, ROUNDED, TL, ZERO, Kind, Step, Value

T = TypeVar("T")
#: plain ones first: a draw shrinks towards the front
NUMBERS = ("f32", "i32", "i64", "i8", "u8", "i16", "u16", "u32", "u64", "f16", "bf16", "f64")
DTYPES = (*NUMBERS, "i1", *numeric.FP8)


def computes(kind: Kind) -> bool:
    """Arithmetic has a meaning: a number of 16 bits or more, or an integer, and no rounding left open."""
    return kind.dtype in NUMBERS and kind.level < ROUNDED


def whole(kind: Kind) -> bool:
    """An integer."""
    return kind.dtype in numeric.INTEGERS


def level_of(dtype: str, level: int) -> int:
    return level if is_float(dtype) else BITS


class Kinds(dict[str, Kind]):
    """The variables that later steps may use; the program keeps those of all its regions."""

    def __init__(self, program: Program, known: Mapping[str, Kind] | None = None) -> None:
        super().__init__(known or {})
        self.program = program
        program.kinds.update(self)

    def __setitem__(self, name: str, kind: Kind) -> None:
        super().__setitem__(name, kind)
        self.program.kinds[name] = kind

    def update(self, *more: Any) -> None:
        for name, kind in dict(*more).items():
            self[name] = kind


class Builder:
    """Adds steps to a program; `kinds` are the variables that later steps may use."""

    def __init__(self, draw: Callable[[int, int], int], largest: int) -> None:
        self.draw, self.largest = draw, largest
        self.width = largest  # elements of most tensors of one dimension
        self.without: tuple[str, ...] = ()  # dtypes and roundings that no step may have
        self.program = Program()
        self.steps: list[Any] = self.program.steps
        self.kinds = Kinds(self.program)
        self.counter = 0
        self.depth = 0
        self.focus: str | None = None  # the variable that steps are to use if they can
        self.reuse = 3  # of six wanted variables so many are old ones, if there are any
        self.places: dict[str, np.ndarray] = {}  # variables whose values are known: indices
        self.masks: list[str] = []  # variables that mask an access
        self.wraps = True  # do masks compare numbers that wrap?
        self.turning: list[tuple[str, range]] = []  # the counters of the loops around

    # ---- drawing

    def integer(self, low: int, high: int) -> int:
        return low if low == high else self.draw(low, high)

    def choice(self, items: Sequence[T]) -> T:
        if self.without and any(item in self.without for item in items):
            items = [item for item in items if item not in self.without]
        return items[self.integer(0, len(items) - 1)]

    def chance(self, one_in: int) -> bool:
        return self.integer(0, one_in - 1) == one_in - 1

    def permutation(self, items: Sequence[int]) -> list[int]:
        left = list(items)
        return [left.pop(self.integer(0, len(left) - 1)) for _ in items]

    def name(self, prefix: str = "v") -> str:
        self.counter += 1
        return f"{prefix}{self.counter}"

    # ---- the first dimension of a tiled program is spread over programs, of any size each

    @property
    def tile(self) -> int:
        return self.program.tile

    def axes(self, shape: tuple[int, ...]) -> list[int]:
        """The dimensions that one program has whole."""
        return list(range(1 if self.tile else 0, len(shape)))

    def dims(self, shape: Sequence[int]) -> str:
        """A shape as source text."""
        parts = [str(n) for n in shape]
        if self.tile and parts:
            parts[0] = "BLOCK"
        return f"[{', '.join(parts)}]"

    def range(self, axis: int, shape: tuple[int, ...]) -> str:
        """The index along one dimension, with that of the others 1."""
        slices = "".join(", :" if e == axis else ", None" for e in range(len(shape)))[2:]
        whole = "rows" if self.tile and axis == 0 else f"tl.arange(0, {shape[axis]})"
        return whole + (f"[{slices}]" if len(shape) > 1 else "")

    # ---- steps

    def emit(self, kind: Kind, text: str, args: Sequence[str], compute: Callable[..., Value]) -> str:
        """`text` names its operands {0}, {1}, ..."""
        return self.several([kind], text, args, compute)[0]

    def several(
        self, kinds: Sequence[Kind], text: str, args: Sequence[str], compute: Callable[..., Any]
    ) -> list[str]:
        """`compute` gives a Value for each of several results."""
        targets = [self.name() for _ in kinds]
        self.steps.append(Step(tuple(targets), text.format(*args), tuple(args), compute))
        self.kinds.update(zip(targets, kinds, strict=True))
        return targets

    def silent(self, compute: Callable[..., Value], *args: str) -> str:
        """A value for the evaluation alone."""
        target = self.name("e")
        self.steps.append(Step((target,), "", args, compute))
        return target

    def known(self, data: np.ndarray) -> str:
        """A value of the evaluation that is the same in every run."""
        return self.silent(lambda: Value(data))

    def scalar(self, value: int) -> str:
        """A run-time scalar argument."""
        name = self.name("n")
        self.program.scalars[name] = value
        return name

    def number(self, value: int) -> str:
        """A literal, or an argument of that value."""
        return self.scalar(value) if self.chance(3) else str(value)

    def numbered(self, text: str) -> str:
        """The text with each <number> a literal or an argument."""
        return re.sub(r"<(-?\d+)>", lambda found: self.number(int(found[1])), text)

    def buffer(self, dtype: str, size: int) -> Buffer:
        """A new argument."""
        made = Buffer(self.name("p"), dtype, size, self.integer(0, 3), self.integer(0, 50))
        made.tiled = bool(self.tile)
        self.program.buffers.append(made)
        return made

    def alias(self, buffer: Buffer) -> Buffer:
        """A new argument that views elements of an old one."""
        root, offset = buffer.root, self.choice((0, 1, 0, 3, 4, 16, 100))
        made = Buffer(self.name("p"), root.dtype, 0, root.shift, 0, of=root, offset=offset)
        self.program.buffers.append(made)
        return made

    def sizes(self, left: int, rank: int) -> list[int]:
        """Logarithms of the sizes of `rank` dimensions."""
        found = []
        for _ in range(rank):
            found.append(self.integer(0, left))
            left -= found[-1]
        return found

    def shape(self) -> tuple[int, ...]:
        """Of a third of the tensors, in one dimension, the size is that of the program's blocks."""
        top = self.largest.bit_length() - 1
        if self.tile:
            top -= self.tile.bit_length() - 1
            return (self.tile, *(1 << b for b in self.sizes(top, self.integer(0, 2))))
        rank = self.choice((1, 1, 1, 1, 2, 3))
        if rank == 1 and not self.chance(4):
            return (self.width,)
        return tuple(1 << b for b in self.sizes(top, rank))

    # ---- variables

    def any(self, accepts: Callable[[Kind], bool] = lambda kind: True) -> str | None:
        """A variable, later ones more likely."""
        if self.focus in self.kinds and accepts(self.kinds[self.focus]) and not self.chance(4):
            return self.focus
        found = [name for name, kind in self.kinds.items() if accepts(kind)][::-1]
        return self.choice(found[: self.integer(1, len(found))]) if found else None

    def tensor(self, accepts: Callable[[Kind], bool] = lambda kind: True) -> str:
        found = self.any(lambda kind: bool(kind.shape) and accepts(kind))
        if found:
            return found
        first = (self.tile,) if self.tile else (16,)
        shape = next((s for s in (first, (*first, 2)) if any(accepts(Kind(d, s)) for d in DTYPES)), first)
        drawn = self.shape()
        kinds = [d for d in DTYPES if accepts(Kind(d, shape))]
        return self.load(self.choice(kinds), drawn if accepts(Kind(kinds[0], drawn)) else shape)

    def load(self, dtype: str, shape: tuple[int, ...]) -> str:
        raise NotImplementedError

    def want(self, dtype: str, shape: tuple[int, ...], level: int = ZERO) -> str:
        """A variable of this type: an old one, one made from another's, a constant, or a new load."""
        how = self.integer(0, 5)
        if how < self.reuse:
            found = self.any(lambda k: k.dtype == dtype and k.shape == shape and k.level <= level)
            if found:
                return found
        if how == 3:
            return self.constant(dtype, shape)
        if how == 2 and shape and self.axes(shape):
            axis = self.choice(self.axes(shape))
            small = shape[:axis] + (1,) + shape[axis + 1 :]
            return self.broadcast(self.load(dtype, small), shape)
        if how == 5 and shape:
            spread = self.any(lambda k: k.dtype == dtype and k.shape == () and k.level <= level)
            return self.broadcast(spread or self.load(dtype, ()), shape)
        return self.load(dtype, shape)

    def constant(self, dtype: str, shape: tuple[int, ...], number: int | None = None) -> str:
        number = self.integer(0, 5) if number is None else number
        value = np.full(shape, cast(np.array(number), "i32", dtype))
        literal = str(bool(number)) if dtype == "i1" else str(number)
        text = f"tl.full({self.dims(shape)}, {literal}, {TL[dtype]})"
        if dtype in numeric.FP8:  # tl.full knows no 8-bit floats
            text = f"tl.full({self.dims(shape)}, {literal}, tl.float32).to({TL[dtype]})"
        return self.emit(Kind(dtype, shape), text, (), lambda: Value(value))

    def broadcast(self, x: str, shape: tuple[int, ...]) -> str:
        kind = Kind(self.kinds[x].dtype, shape, self.kinds[x].level)
        text = f"tl.broadcast_to({{0}}, {self.dims(shape)})"
        return self.emit(kind, text, [x], view(lambda a: np.broadcast_to(a, shape)))

    def cast_to(self, x: str, dtype: str) -> str:
        """Values that the dtype has no room for become 0 first; what does not round once takes two steps."""
        kind = self.kinds[x]
        source, target = numeric.DTYPES[kind.dtype], numeric.DTYPES[dtype]
        if target.kind == "float" and target.bits == 8 and source.kind != "float":
            x = self.cast_to(self.cast_to(x, "i8"), "f32")
            kind = self.kinds[x]
            source = numeric.DTYPES[kind.dtype]
        elif target.kind == "float" and target.bits == 16 and source.kind != "float" and source.bits > 16:
            dtype, target = "f32", numeric.DTYPES["f32"]
        if source.kind == "float" and source.bits == 8 and dtype != "f32" and dtype != kind.dtype:
            x = self.cast_to(x, "f32")
            kind = self.kinds[x]
            source = numeric.DTYPES[kind.dtype]
        if source.kind == "float" and target.kind in ("int", "uint"):  # beyond the range: no meaning
            x = self.limited(x, 0 if target.kind == "uint" else -100, 100)
        level = BITS
        if target.kind == "float" and source.kind == "float":
            level = max(self.kinds[x].level, ZERO if target.bits == 8 else PAYLOAD)
        if source.kind == "float" and dtype == kind.dtype:
            level = kind.level
        return self.emit(
            Kind(dtype, kind.shape, level),
            f"{{0}}.to({TL[dtype]})",
            [x],
            lambda v: Value(np.asarray(cast(v.data, kind.dtype, dtype))),
        )

    def limited(self, x: str, low: int, high: int) -> str:
        """A number, with 0 for NaN and for what is below or above."""
        kind = self.kinds[x]
        return self.emit(
            Kind(kind.dtype, kind.shape, level_of(kind.dtype, max(kind.level, ZERO))),
            f"tl.where(({{0}} >= {low}) & ({{0}} <= {high}), {{0}}, 0).to({TL[kind.dtype]})",
            [x],
            lambda v: Value(np.where((v.data >= low) & (v.data <= high), v.data, v.data.dtype.type(0))),
        )

    def without_nan(self, x: str) -> str:
        """The float with 0 for NaN."""
        kind = self.kinds[x]
        if not is_float(kind.dtype):
            return x
        return self.emit(
            Kind(kind.dtype, kind.shape, max(kind.level, ZERO)),
            f"tl.where({{0}} == {{0}}, {{0}}, 0).to({TL[kind.dtype]})",
            [x],
            lambda v: Value(np.where(v.data == v.data, v.data, v.data.dtype.type(0))),
        )

    def remainder(self, x: str, size: int) -> str:
        """An integer, of i32 or i64, modulo a power of two."""
        if self.kinds[x].dtype not in ("i32", "i64"):
            x = self.cast_to(x, "i32")
        kind = self.kinds[x]
        return self.emit(
            Kind(kind.dtype, kind.shape),
            f"{{0}} & {size - 1}",
            [x],
            meaning.arithmetic(lambda a: a & (size - 1), kind.dtype),
        )

    def small(self, dtype: str, shape: tuple[int, ...], most: int = 3) -> str:
        """Whole numbers from 0 to `most`: sums and products of them are exact."""
        x = self.remainder(self.want("i32", shape), most + 1)
        return self.cast_to(x, dtype)
