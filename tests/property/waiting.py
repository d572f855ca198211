"""Steps by which lanes and programs meet: atomics and what they leave behind, polls, locks, tickets."""

from __future__ import annotations

import numpy as np

from property.builder import whole
from property.control import DEEPEST
from property.meaning import arithmetic, is_float
from property.program import SMALL, ZEROS, Buffer
from property.sharing import Sharing
from property.steps import Access, Atomic, If, Kind, Loop, Value, line


class Waiting(Sharing):
    def met(self) -> None:
        """Elements that meet in places of the program's own, and a load of these places behind it."""
        shape = self.kinds[self.tensor()].shape
        dtype = self.choice(("i32", "f32", "i64", "u32"))
        index, size = self.gathered(shape)
        buffer = self.buffer(dtype, size)
        buffer.fill, buffer.seed = SMALL, max(1, buffer.seed)
        pointer = self.name("q")
        self.steps.append(line(f"{pointer} = {buffer.name} + {index}"))
        mask, old = self.mask(shape, index), None
        if self.chance(2) and not is_float(dtype):  # all add the same: who was first does not show in a sum
            value, old = self.constant(dtype, shape, self.integer(1, 5)), self.name()
        else:
            value = self.small(dtype, shape, 1)
        text = f"tl.atomic_add({pointer}, {value}{f', mask={mask}' if mask else ''})"
        self.steps.append(Atomic(buffer.name, index, mask, (value,), text, np.add, old))
        if old:
            kept = f"tl.where({mask}, {old}, 0).to({old}.dtype)" if mask else old
            self.emit(Kind(dtype, ()), f"tl.reduce(tl.ravel({kept}), 0, add)", [old],
                      lambda v: Value(np.add.reduce(v.data, axis=None, dtype=v.data.dtype)))
        target, other = self.name(), None
        again = mask if self.chance(2) else None
        if again:
            other = self.constant(dtype, ())
        same = pointer if not self.chance(3) else f"{buffer.name} + {index}"
        self.steps.append(Access(buffer.name, index, again, other, target=target, pointer=same))
        self.kinds[target] = Kind(dtype, shape)

    # ---- programs that meet

    def common(self, dtype: str, size: int, fill: str) -> Buffer:
        """A new argument that all programs see whole."""
        made = self.buffer(dtype, size)
        made.whole, made.fill, made.seed = True, fill, max(1, made.seed)
        return made

    def mine(self, x: str, size: int, ahead: int) -> str:
        """The index moved to the part of this program, or of the one so many ahead."""
        if self.program.count == 1:
            return self.emit(Kind("i32", self.kinds[x].shape), f"{{0}} + {ahead * size}", [x],
                             arithmetic(lambda v: v + ahead * size, "i32"))
        return self.emit(Kind("i32", self.kinds[x].shape), f"{{0}} + (pid + {ahead}) * {size}", [x, "pid"],
                         arithmetic(lambda v, p: v + (p + ahead) * size, "i32"))

    def relay(self) -> None:
        """Each program waits for the flag of the one before, and works on what that one has left."""
        value = self.any(lambda k: whole(k) and bool(k.shape) and k.dtype in ("i32", "i64", "u32", "i16"))
        if self.depth or value is None or len(self.program.grid) > 1:  # programs of those start in no order
            return
        dtype, shape = self.kinds[value].dtype, self.kinds[value].shape
        many = self.program.count > 1
        store, size = self.index(shape, True)
        load = store if self.chance(2) else self.reversed(store, size)
        data = self.common(dtype, size * (self.program.count + 1), SMALL)
        flags = self.common("i32", self.program.count, ZEROS)
        if many:
            wait = f"tl.atomic_poll({flags.name} + tl.maximum(pid - 1, 0), (pid > 0).to(tl.int32))"
            if self.chance(2):
                wait = f"if pid > 0:\n    tl.atomic_poll({flags.name} + pid - 1, 1)"
            self.steps.append(line(wait))
            source = self.mine(load, size, 0)
        else:
            self.steps.append(Access(data.name, store, None, value=value))
            self.steps.append(line(f"tl.atomic_xchg({flags.name}, 1)"))
            self.raised(flags, np.array(0))
            self.steps.append(line(f"tl.atomic_poll({flags.name}, 1)"))
            source = load
        came = self.name()
        self.steps.append(Access(data.name, source, None, target=came))
        self.kinds[came] = Kind(dtype, shape)
        if not many:
            return
        left = self.emit(Kind(dtype, shape), "{0} * 3 + {1}", [came, value],
                         arithmetic(lambda a, b: a * 3 + b, dtype))
        self.steps.append(Access(data.name, self.mine(store, size, 1), None, value=left))
        self.steps.append(line(f"tl.atomic_xchg({flags.name} + pid, 1)"))
        self.raised(flags, None)

    def raised(self, flags: Buffer, place: np.ndarray | None) -> None:
        """The evaluation's part of setting a flag: of this program, or the one of `place`."""
        where = "pid" if place is None else self.known(place.astype(np.int32))
        one = self.known(np.ones((), np.int32))
        self.steps.append(Atomic(flags.name, where, None, (one,), "", lambda old, new: new))

    def reversed(self, x: str, size: int) -> str:
        return self.emit(Kind("i32", self.kinds[x].shape), f"{size - 1} - {{0}}", [x],
                         arithmetic(lambda v: size - 1 - v, "i32"))

    def lock(self) -> None:
        """Programs add to common places, one after another."""
        value = self.any(lambda k: k.dtype in ("i32", "i64", "u32") and bool(k.shape))
        if self.depth or value is None:
            return
        dtype, shape = self.kinds[value].dtype, self.kinds[value].shape
        index, size = self.place(shape, True)
        data, held = self.common(dtype, size, SMALL), self.common("i32", 1, ZEROS)
        self.steps.append(line(f"while tl.atomic_cas({held.name}, 0, 1) == 1:\n    pass"))
        old, name = self.name(), self.name()
        self.steps.append(Access(data.name, index, None, target=old))
        self.kinds[old] = Kind(dtype, shape)
        name = self.emit(Kind(dtype, shape), "{0} + {1}", [old, value], arithmetic(np.add, dtype))
        self.steps.append(Access(data.name, index, None, value=name))
        del self.kinds[old], self.kinds[name]  # they depend on the order of programs
        self.steps.append(line(f"tl.atomic_xchg({held.name}, 0)"))

    def last(self) -> None:
        """Programs leave a part each; the one that takes the last ticket adds them."""
        value = self.any(lambda k: k.dtype in ("i32", "i64", "u32", "i16") and bool(k.shape))
        if self.depth >= DEEPEST or self.depth or value is None:
            return
        dtype, shape = self.kinds[value].dtype, self.kinds[value].shape
        count = self.program.count
        index, size = self.index(shape, True)
        parts, tickets = self.common(dtype, size * count, SMALL), self.common("i32", 1, ZEROS)
        result = self.common(dtype, size, SMALL)
        self.steps.append(Access(parts.name, self.mine(index, size, 0), None, value=value))
        one = self.known(np.ones((), np.int32))
        zero = self.known(np.zeros((), np.int32))
        ticket = self.name()
        text = f"tl.atomic_add({tickets.name}, 1)"
        self.steps.append(Atomic(tickets.name, zero, None, (one,), text, np.add, ticket))
        held = self.emit(Kind("i1", ()), f"{{0}} == {count - 1}", [ticket],
                         arithmetic(lambda t: t == count - 1, "i1"))
        then, end = self.inside()
        turns = range(count)
        start, variable, turn = self.constant(dtype, shape, 0), self.name("c"), self.name("i")
        with self.region(turn, turns) as body:
            self.kinds[variable] = Kind(dtype, shape)
            there = self.emit(Kind("i32", shape), f"{{0}} + {{1}} * {size}", [index, turn],
                              arithmetic(lambda v, t: v + t * size, "i32"))
            part = self.name()
            self.steps.append(Access(parts.name, there, None, target=part))
            total = self.emit(Kind(dtype, shape), "{0} + {1}", [variable, part], arithmetic(np.add, dtype))
        self.steps.append(Loop(turn, f"range({self.number(count)})", turns, [(variable, start, total)], body))
        self.steps.append(Access(result.name, index, None, value=variable))
        end()
        del self.kinds[held]
        self.steps.append(If(held, [], then, []))
