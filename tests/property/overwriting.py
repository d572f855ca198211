"""Steps that overwrite what they read, and steps that look up where they read: several accesses through one
tensor of pointers, masks and `other` that are loaded from the very memory, rows whose numbers lie in a table.
"""

from __future__ import annotations

import numpy as np

from property import meaning
from property.builder import level_of
from property.control import DEEPEST, Control
from property.program import Buffer
from property.steps import ZERO, Access, Kind, Loop, Value, line


class Overwriting(Control):
    def overwrite(self) -> None:
        """x[at] = f(x[at], x[elsewhere]), all through one tensor of pointers but for what lies elsewhere."""
        value = self.any(lambda k: bool(k.shape) and k.level <= ZERO and k.dtype != "i1")
        if self.tile or value is None:
            return self.store_any()
        dtype, shape = self.kinds[value].dtype, self.kinds[value].shape
        index, size = self.place(shape, True)
        buffer = self.buffer(dtype, size)
        self.overwritten(buffer, index, size, shape)

    def overwritten(self, buffer: Buffer, index: str, size: int, shape: tuple[int, ...]) -> None:
        """The accesses: a load under a mask, and a store of what is made of it."""
        dtype, pointer = buffer.dtype, self.name("q")
        self.steps.append(line(f"{pointer} = {buffer.name} + {index}"))
        other, mask = None, self.mask(shape, index)
        if self.chance(2):
            other = self.elsewhere(buffer, size, shape)
        if self.chance(3):
            mask = self.positive(self.elsewhere(buffer, size, shape))
        target = self.name()
        if mask and other is None:
            other = self.constant(dtype, shape)
        self.steps.append(Access(buffer.name, index, mask, other, target=target, pointer=pointer))
        self.kinds[target] = Kind(dtype, shape, level_of(dtype, ZERO))
        outer, self.focus = self.focus, target
        self.body(self.integer(0, 2))
        self.focus = outer
        value = self.want(dtype, shape)
        if mask is None or self.chance(3):
            mask = self.mask(shape, index)
        buffer.level = max(buffer.level, self.kinds[value].level)
        self.steps.append(Access(buffer.name, index, mask, value=value, pointer=pointer))

    def elsewhere(self, buffer: Buffer, size: int, shape: tuple[int, ...]) -> str:
        """Other elements of a buffer, or these in another order, perhaps through another argument."""
        index, most = self.place(shape, False)
        if self.chance(2):
            index, most = self.flipped(index, most), most
        seen, target = self.alias(buffer) if self.chance(3) else buffer, self.name()
        seen.grow(max(most, size))
        self.steps.append(Access(seen.name, index, None, target=target))
        self.kinds[target] = Kind(buffer.dtype, shape, level_of(buffer.dtype, ZERO))
        return target

    def flipped(self, index: str, size: int) -> str:
        """From the other end."""
        return self.emit(Kind("i32", self.kinds[index].shape), f"{size - 1} - {{0}}", [index],
                         meaning.arithmetic(lambda v: size - 1 - v, "i32"))

    def positive(self, x: str) -> str:
        """A mask of data."""
        return self.emit(Kind("i1", self.kinds[x].shape), "{0} > 0", [x],
                         meaning.arithmetic(lambda a: a > 0, "i1"))

    def overwrite_rounds(self) -> None:
        """Pointers that a loop carries, and what it loads and stores through them in each round."""
        value = self.any(lambda k: bool(k.shape) and k.level <= ZERO and k.dtype != "i1")
        if self.tile or value is None or self.depth >= DEEPEST:
            return self.store_any()
        dtype, shape = self.kinds[value].dtype, self.kinds[value].shape
        index, size = self.place(shape, True)
        trips, step = self.integer(0, 3), self.choice((1, 16, 0, max(1, size // 2), size))
        buffer = self.buffer(dtype, size + trips * step)
        buffer.level = level_of(dtype, ZERO)
        mask = self.mask(shape, index)
        pointer, turn, target = self.name("q"), self.name("i"), self.name()
        self.steps.append(line(f"{pointer} = {buffer.name} + {index}"))
        with self.region(turn, range(trips)) as body:
            moved = self.silent(lambda i, x: Value(x.data.astype(np.int64) + i.data * step), turn, index)
            other = self.constant(dtype, shape) if mask else None
            self.steps.append(Access(buffer.name, moved, mask, other, target=target, pointer=pointer))
            self.kinds[target] = Kind(dtype, shape, level_of(dtype, ZERO))
            kept = self.want(dtype, shape)
            if mask is None or self.chance(2):
                mask = self.mask(shape, index)
            self.steps.append(Access(buffer.name, moved, mask, value=kept, pointer=pointer))
            self.steps.append(line(f"{pointer} += {self.number(step)}"))
        self.steps.append(Loop(turn, f"range({self.scalar(trips)})", range(trips), [], body))

    def look_up(self) -> None:
        """x[rows[i // R] * S + i % R]: the rows are data, and sometimes asserted to be rows."""
        shape = self.kinds[self.tensor()].shape
        if self.tile or not shape:
            return self.load_any()
        element = self.element(shape)
        run = self.choice((16, 64, 1, 4, 256, 7, 100, 1024))
        rows, pitch = self.choice((4, 2, 8, 16)), self.choice((run, run, run + 5, 16))
        count = int(self.places[element].max()) // run + 1
        which = self.placed(f"{{0}} // {self.number(run)}", [element], self.places[element] // run)
        table, row = self.buffer("i32", count), self.name()
        self.steps.append(Access(table.name, which, None, target=row))
        self.kinds[row] = Kind("i32", shape)
        row = self.remainder(row, rows)
        if self.chance(2):
            self.steps.append(line(f"tl.device_assert(({row} >= 0) & ({row} < {rows}))"))
        index = self.emit(Kind("i32", shape), f"{{0}} * {self.number(pitch)} + {{1}} % {self.number(run)}",
                          [row, element], meaning.arithmetic(lambda r, i: r * pitch + i % run, "i32"))
        size, dtype = rows * pitch + run, self.choice(("f32", "i32", "f16", "i64", "i8"))
        buffer, target = self.buffer(dtype, size), self.name()
        mask = self.mask(shape, index)
        other = self.other(dtype, shape) if mask else None
        self.steps.append(Access(buffer.name, index, mask, other, target=target))
        level = self.kinds[other].level if other else 0
        self.kinds[target] = Kind(dtype, shape, level_of(dtype, max(level, ZERO) if self.depth else level))
        if self.chance(2):  # and over some of it
            at, most = self.place(shape, True)
            buffer.grow(most)
            value = self.want(dtype, shape)
            buffer.level = max(buffer.level, self.kinds[value].level)
            self.steps.append(Access(buffer.name, at, self.mask(shape, at), value=value))
