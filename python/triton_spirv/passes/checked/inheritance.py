"""The shadow of a result, of those of the operands (origins.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...ir.model import (
    Block,
    IntegerType,
    Operation,
    Region,
    TensorType,
    Type,
    Value,
    element_type,
    like,
    shape_of,
)
from ..copies import copied
from .sites import Before

I32 = IntegerType(32)

#: operations on i1 -> the value of either operand that decides the result
DECIDED_BY = {"arith.andi": False, "arith.ori": True}


class Inheritance:
    """A result is as doubtful as the operands that it depends on, element by element."""

    def __init__(self, shadows: Mapping[Value, Value]) -> None:
        self._shadows = shadows

    def shadow(self, value: Value, make: Before) -> Value:
        """The shadow of a value; zeros of one that is sound."""
        known = self._shadows.get(value)
        return make.number(0, like(value.type, I32)) if known is None else known

    def _greatest(self, make: Before, shadows: Iterable[Value]) -> Value | None:
        found: Value | None = None
        for shadow in shadows:
            found = shadow if found is None else make.make("arith.maxui", [found, shadow], found.type)
        return found

    def _known(self, values: Iterable[Value]) -> list[Value]:
        return [self._shadows[value] for value in values if value in self._shadows]

    def of_results(self, op: Operation, make: Before) -> list[Value | None]:
        """Per result the shadow that it has from the operands."""
        nothing: list[Value | None] = [None] * len(op.results)
        known = self._known(op.operands)
        if not known:
            return nothing
        result = op.results[0] if op.results else None
        if op.has("selects"):
            return [self._selected(op, make)]
        if op.name in DECIDED_BY and element_type(op.lhs.type) == IntegerType(1):
            return [self._decided(op, make)]
        if op.has("elementwise") or op.has("maps"):
            return [self._greatest(make, known)] * len(op.results)
        if op.has("view") or op.has("arranges"):
            shadows = [self.shadow(value, make) for value in op.operands]
            return list(_retyped(op, shadows, make))
        if op.name == "tt.gather":
            assert result is not None
            picked = make.make("tt.gather", [self.shadow(op.src, make), op.indices], like(result.type, I32),
                               **op.attributes)
            return [self._greatest(make, [picked, *self._known([op.indices])])]
        if op.has("folds"):
            together = self._greatest(make, known)
            assert together is not None and result is not None
            return [_folded(op, together, like(result.type, I32), make)] * len(op.results)
        if op.has("product"):
            return [self._product(op, make)]
        if op.name == "tt.histogram":
            return [self._counted(op, make)]
        return nothing

    def _selected(self, op: Operation, make: Before) -> Value:
        condition, yes, no = op.operands
        shadow = make.make("arith.select", [condition, self.shadow(yes, make), self.shadow(no, make)],
                           like(op.result.type, I32))
        decided = self._known([condition])
        if decided:
            over = make.spread(decided[0], shadow.type) if decided[0].type != shadow.type else decided[0]
            shadow = make.make("arith.maxui", [shadow, over], shadow.type)
        return shadow

    def _decided(self, op: Operation, make: Before) -> Value:
        """x & y of i1 is sound where a sound one of them is false; x | y, where it is true."""
        kept = []
        for value, other in (op.operands, op.operands[::-1]):
            shadow = self._shadows.get(value)
            if shadow is not None:
                zero = make.number(0, shadow.type)
                matters = make.negated(other) if DECIDED_BY[op.name] else other
                doubted = self._known([other])
                if doubted:
                    matters = make.either(matters, make.compare("ne", doubted[0], zero))
                kept.append(make.make("arith.select", [matters, shadow, zero], shadow.type))
        found = self._greatest(make, kept)
        assert found is not None
        return found

    def _counted(self, op: Operation, make: Before) -> Value:
        """Each number of a histogram is as doubtful as what is counted: it may have been another's."""
        shadow, counted = self.shadow(op.src, make), op.mask
        if counted is not None:
            shadow = make.make("arith.select", [counted, shadow, make.number(0, shadow.type)], shadow.type)
            doubted = self._known([counted])
            shadow = make.make("arith.maxui", [shadow, *doubted], shadow.type) if doubted else shadow
        return make.spread(_folded(None, shadow, I32, make), like(op.result.type, I32))

    def _product(self, op: Operation, make: Before) -> Value | None:
        """An element is as doubtful as its row of a, its column of b, their scales, and its element of c."""
        whole, type = shape_of(op.result.type), like(op.result.type, I32)
        rank, shadows = len(whole), self._known([op.c])
        # the axis of the sum, and the one along which its result is repeated
        terms = [(op.a, rank - 1, rank - 1), (op.b, rank - 2, rank - 2)]
        if op.name == "tt.dot_scaled":
            terms += [(op.a_scale, rank - 1, rank - 1), (op.b_scale, rank - 1, rank - 2)]
        for value, axis, repeated in terms:
            if value in self._shadows:
                shape = shape_of(value.type)
                kept = (*shape[:axis], *shape[axis + 1:])
                folded = _folded(None, self._shadows[value], TensorType(kept, I32, None), make, axis)
                kept = (*whole[:repeated], *whole[repeated + 1:])
                folded = _unpacked(folded, kept, make)
                wide = TensorType((*kept[:repeated], 1, *kept[repeated:]), I32, None)
                wide_value = make.make("tt.expand_dims", [folded], wide, axis=repeated)
                shadows.append(make.make("tt.broadcast", [wide_value], type))
        return self._greatest(make, shadows)


def _retyped(op: Operation, shadows: Sequence[Value], make: Before) -> list[Value]:
    """The operation on shadows."""
    moved = copied(op, shadows)
    for result in moved.results:
        result.type = like(result.type, I32)
    make.insert(moved)
    return moved.results


def _unpacked(shadow: Value, shape: tuple[int, ...], make: Before) -> Value:
    """Of two numbers in a byte, neighbours along the last axis, the shadow of each."""
    packed = shape_of(shadow.type)
    if packed == shape:
        return shadow
    apart = make.make("tt.expand_dims", [shadow], TensorType((*packed, 1), I32, None), axis=len(packed))
    pairs = make.make("tt.broadcast", [apart], TensorType((*packed, 2), I32, None))
    return make.make("tt.reshape", [pairs], TensorType(shape, I32, None))


def _folded(op: Operation | None, shadow: Value, type: Type, make: Before, axis: int = 0) -> Value:
    """The greatest shadow along the axis of a reduction or scan."""
    name, attributes = ("tt.reduce", {"axis": axis}) if op is None else (op.name, dict(op.attributes))
    region = Region()
    block = Block(region)
    region.blocks.append(block)
    x, y = block.append_argument(I32, "x"), block.append_argument(I32, "y")
    folded = Operation(name, [shadow], attributes, [type], ["shadow"], make.location, (1,), [region])
    greater = Operation("arith.maxui", [x, y], {}, [I32], ["greater"], make.location)
    block.append(greater)
    block.append(Operation(f"{name}.return", [greater.result], {}, [], [], make.location, (1,)))
    make.insert(folded)
    return folded.result
