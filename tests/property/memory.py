"""Steps that load and store: in place or shifted, through views that overlap, through pointers of all
kinds, blocks of descriptors, atomics."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numeric
import numpy as np

from property import meaning
from property.builder import DTYPES, Builder, level_of
from property.meaning import is_float, rounded
from property.positions import Positions
from property.program import SMALL, Buffer, offset, parameter
from property.steps import ROUNDED, TL, ZERO, Access, Atomic, Kind, Step, Value, line

Combine = Callable[..., Any]


class Memory(Positions, Builder):
    def access(self, dtype: str, shape: tuple[int, ...], injective: bool) -> tuple[Buffer, str, str | None]:
        old = [b for b in self.program.buffers if b.dtype == dtype and b.level <= ZERO and not b.root.whole]
        if self.tile:  # another program may be writing, or has not yet
            old = []
        if not shape:
            buffer = self.choice(old) if old and self.chance(2) else self.buffer(dtype, 1)
            place = self.integer(0, max(0, buffer.size - 1))
            buffer.grow(place + 1)
            index = self.emit(Kind("i32", ()), str(place), (), lambda: Value(np.array(place, np.int32)))
            return buffer, index, None
        index, size = self.place(shape, injective)
        if old and self.chance(3):  # what other steps read or write: in place, or shifted
            buffer = self.choice(old[::-1])
            if self.chance(3):
                buffer = self.alias(buffer)
            buffer.grow(size)
        else:
            buffer = self.buffer(dtype, size)
        return buffer, index, self.mask(shape, index)

    def pointer(self, buffer: Buffer, index: str) -> str | None:
        """Another way to write buffer + index, its lines before."""
        how = self.integer(0, 10)
        if how < 6:
            return None
        name, kind = self.name("q"), self.kinds[index]
        if how == 10:  # the offset of the program in the index
            if not (buffer.spread and self.program.count > 1):
                return None
            return f"{parameter(buffer.name)} + ({offset(buffer.name)} + {index})"
        if how == 6:
            self.steps.append(line(f"{name} = {buffer.name} + {index}"))
        elif how == 7:  # in two steps, the second a uniform one
            by = self.number(self.integer(1, 5))
            self.steps.append(line(f"{name} = {buffer.name} + ({index} - {by})"))
            self.steps.append(line(f"{name} += {by}"))
        elif how == 8:  # as numbers
            number = f"({buffer.name} + {index}).to(tl.int64)"
            self.steps.append(line(f"{name} = {number}.to(tl.pointer_type({TL[buffer.dtype]}))"))
        elif kind.shape:  # one of two pointers, the other for no element
            self.steps.append(
                line(f"{name} = tl.where({index} >= 0, {buffer.name} + {index}, {buffer.name} - 1)")
            )
        else:
            return None
        return name

    def load(self, dtype: str, shape: tuple[int, ...]) -> str:
        if dtype == "i1" or self.integer(0, 11) < 11 or not self.blocks(dtype, shape):
            buffer, index, mask = self.access(dtype, shape, False)
            other = None
            if mask:
                other = self.other(dtype, shape)
            pointer = self.pointer(buffer, index) if dtype != "i1" else None
            target = self.name()
            self.steps.append(Access(buffer.name, index, mask, other, target=target, pointer=pointer))
            level = max(buffer.level, ZERO) if self.depth else buffer.level
            level = max(level, self.kinds[other].level) if other else level
            self.kinds[target] = Kind(dtype, shape, level_of(dtype, level))
            return target
        buffer, index, mask, block = self.block(dtype, shape)
        target, other = self.name(), self.known(np.zeros((), numeric.DTYPES[dtype].values))
        self.steps.append(Access(buffer.name, index, mask, other, target=target, text=block[0]))
        self.kinds[target] = Kind(dtype, shape)
        return target

    def other(self, dtype: str, shape: tuple[int, ...]) -> str:
        """What masked-off elements are: a constant, or a value that others may use too."""
        if self.chance(3):
            return self.constant(dtype, () if self.chance(2) else shape)
        found = self.any(lambda k: (k.dtype, k.shape) == (dtype, shape) and k.level < ROUNDED)
        return found or self.constant(dtype, shape)

    def store(self, value: str) -> None:
        kind = self.kinds[value]
        if self.blocks(kind.dtype, kind.shape) and kind.level < ROUNDED and self.chance(12):
            buffer, index, mask, block = self.block(kind.dtype, kind.shape)
            text = block[1].format(value)
            self.steps.append(Access(buffer.name, index, mask, value=value, text=text))
            buffer.level = max(buffer.level, kind.level)
            return
        if kind.level == ROUNDED:
            index, size = self.index(kind.shape, True) if kind.shape else (self.constant("i32", ()), 6)
            buffer, mask = self.buffer(kind.dtype, size), self.mask(kind.shape, index)
        else:
            buffer, index, mask = self.access(kind.dtype, kind.shape, True)
        buffer.level = max(buffer.level, kind.level)
        pointer = self.pointer(buffer, index) if kind.dtype != "i1" else None
        self.steps.append(Access(buffer.name, index, mask, value=value, pointer=pointer))

    def store_any(self) -> None:
        self.store(self.any() or self.tensor())

    def load_any(self) -> None:
        kind = self.kinds[self.tensor()]
        self.load(self.choice((kind.dtype, "f32", "i32", self.choice(DTYPES))), kind.shape)

    def handed(self) -> None:
        """A store, and a load of that memory in another order, perhaps through another argument: elements go
        from lane to lane. Then perhaps a store over what was loaded."""
        value = self.any(lambda k: bool(k.shape) and k.level <= ZERO and k.dtype != "i1")
        if self.tile or value is None:
            return self.store_any()
        kind = self.kinds[value]
        index, size = self.place(kind.shape, True)
        buffer = self.buffer(kind.dtype, size)
        buffer.level = kind.level
        self.steps.append(Access(buffer.name, index, self.mask(kind.shape, index), value=value))
        other, most = index, size
        how = self.integer(0, 3)
        if how < 2:
            other = self.emit(Kind("i32", kind.shape), f"{size - 1} - {{0}}", [index],
                              meaning.arithmetic(lambda v: size - 1 - v, "i32"))
        elif how == 2:
            other, most = self.place(kind.shape, False)
        seen, target = self.alias(buffer) if self.chance(3) else buffer, self.name()
        seen.grow(most)
        self.steps.append(Access(seen.name, other, None, target=target))
        self.kinds[target] = Kind(kind.dtype, kind.shape,
                                  level_of(kind.dtype, max(kind.level, ZERO) if self.depth else kind.level))
        if self.chance(2):
            again = self.want(kind.dtype, kind.shape)
            buffer.level = max(buffer.level, self.kinds[again].level)
            self.steps.append(Access(buffer.name, index, None, value=again))

    # ---- blocks of a tensor in memory

    def blocks(self, dtype: str, shape: tuple[int, ...]) -> bool:
        """May this be a block of a descriptor? Its rows are of 16 bytes at least."""
        size = numeric.DTYPES[dtype].bits // 8
        return not self.tile and bool(shape) and 1 <= len(shape) <= 3 and shape[-1] * size >= 16

    def block(self, dtype: str, shape: tuple[int, ...]) -> tuple[Buffer, str, str, tuple[str, str]]:
        """(buffer, index, mask, texts of the load and of the store): a block that may hang over each edge of
        a tensor of any size, by a descriptor."""
        size = [max(1, n + self.integer(-2, 3)) for n in shape]
        lanes = 16 // (numeric.DTYPES[dtype].bits // 8)
        pitch = -(-size[-1] // lanes) * lanes
        strides = [1]
        for n in [pitch, *size[:-1][::-1]][: len(shape) - 1]:
            strides.insert(0, strides[0] * n)
        starts = [self.integer(-2, 3) if n > 1 else 0 for n in shape]
        buffer = self.buffer(dtype, strides[0] * size[0] if len(shape) > 1 else pitch)
        buffer.shift = 0
        if self.program.count > 1:
            buffer.size = -(-buffer.size // lanes) * lanes
        grid = np.indices(shape)
        inside = np.logical_and.reduce(
            [(g + s >= 0) & (g + s < n) for g, s, n in zip(grid, starts, size, strict=True)]
        )
        place = np.zeros(shape, int)
        for g, s, t in zip(grid, starts, strides, strict=True):
            place += (g + s) * t
        index, mask = self.known(np.where(inside, place, 0).astype(np.int32)), self.known(inside)
        shown = f"[{', '.join(self.number(n) for n in size)}], [{', '.join(map(str, strides))}]"
        at = f"[{', '.join(self.number(s) for s in starts)}]"
        made = f"tl.make_tensor_descriptor({buffer.name}, {shown}, {list(shape)})"
        return buffer, index, mask, (f"{made}.load({at})", f"{made}.store({at}, {{}})")

    # ---- atomics

    def atomic(self) -> None:
        """Several elements may meet in one place: any order gives the same."""
        dtype = self.choice(("i32", "i64", "u32", "u64", "f32", "f64", "f16", "bf16"))
        shape = self.kinds[self.tensor()].shape
        if not is_float(dtype):
            known: tuple[tuple[str, Combine], ...] = (
                ("add", np.add), ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor),
                ("max", np.maximum), ("min", np.minimum),
            )
        else:
            known = (("add", np.add),)
            if dtype in ("f32", "f64"):
                known += (("max", np.fmax), ("min", np.fmin))
            elif int(np.prod(shape)) > (32 if dtype == "f16" else 4):
                return self.atomic_old()  # sums, in a loop and of several programs, would round
        name, combine = self.choice(known)
        index, size = self.gathered(shape)
        if is_float(dtype) and name == "add":
            value = self.small(dtype, shape, 1)
        else:
            value = self.without_nan(self.want(dtype, shape))
        # what a program reads of a buffer that all share would depend on the order of programs: new ones
        buffer = self.buffer(dtype, size)
        buffer.whole, buffer.fill, buffer.seed = True, SMALL, max(1, buffer.seed)
        mask = self.mask(shape, index)
        text = f"tl.atomic_{name}({buffer.name} + {index}, {value}{f', mask={mask}' if mask else ''})"
        self.steps.append(Atomic(buffer.name, index, mask, (value,), text, _in(dtype, combine)))
        if is_float(dtype):
            buffer.level = ZERO

    def atomic_old(self) -> None:
        """Each element in a place of its own, and the old values."""
        dtype = self.choice(("i32", "i64", "u32", "u64", "f32", "f64"))
        shape = self.kinds[self.tensor()].shape
        known: tuple[tuple[str, Combine], ...] = (("add", np.add), ("xchg", lambda old, new: new))
        if not is_float(dtype):
            known += (
                ("cas", lambda old, expected, new: new if old == expected else old), ("xor", np.bitwise_xor),
                ("max", np.maximum), ("min", np.minimum),
            )
        name, combine = self.choice(known)
        values = [self.want(dtype, shape) for _ in range(2 if name == "cas" else 1)]
        buffer, index, mask = self.access(dtype, shape, True)
        old, target = self.name(), self.name()
        if name == "cas":
            mask = None
        after = f", mask={mask}" if mask else ""
        text = f"tl.atomic_{name}({buffer.name} + {index}, {', '.join(values)}{after})"
        self.steps.append(Atomic(buffer.name, index, mask, tuple(values), text, _in(dtype, combine), old))
        level = max(buffer.level, ZERO, *(self.kinds[v].level for v in values))
        buffer.level = max(buffer.level, level_of(dtype, level))
        kind = Kind(dtype, shape, level_of(dtype, level))
        zero = f"tl.where({mask}, {old}, 0).to({TL[dtype]})"
        if mask:
            self.steps.append(Step((target,), zero, (old,), lambda v: v))
        self.kinds[target if mask else old] = kind


def _in(dtype: str, combine: Combine) -> Combine:
    return lambda *operands: rounded(combine(*operands), dtype) if is_float(dtype) else combine(*operands)
