"""How values cross the edges of control flow: loop iterations, branches, blocks.

A *carrier* turns a bound value into registers that phis can merge, and back. Scalars carry themselves; a
tensor that moves by a uniform step carries one displacement; a small tensor carries its registers; a large
one carries nothing, since it lives in an array that every iteration overwrites.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeGuard

from ...dataclass import dataclass
from ...ir.model import PointerType, TensorType, Type, Value
from ...layout import Layout
from ...spirv.builder import I32, I64, with_width
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Int
from ...spirv.types import Type as SpirvType
from ...traversal import Asking, answer, some
from ..addresses.masks import guarded
from ..context import Context, StepLoop
from ..plan.recorder import Recorder
from ..registry import SOURCE_LAYOUTS
from ..values.tensor import Affine, Bound, Deferred, Fragment, Pointers, Stored, Tensor, Uniform
from ..values.types import as_scalar, is_pointer, register_type, storage_type


class Carrier(Protocol):
    """`registers(bound)` are what phis merge; `bound(registers)` is the value on the other side; `types` are
    those of the phis.
    """

    @property
    def types(self) -> list[SpirvType]: ...

    def registers(self, bound: Bound) -> list[Register]: ...

    def bound(self, registers: Sequence[Register]) -> Bound: ...


@dataclass
class ScalarCarrier:
    """A scalar, pointers included (by their addresses, where the environment has no such pointers)."""

    ctx: Context
    type: Type

    @property
    def types(self) -> list[SpirvType]:
        if isinstance(self.type, PointerType):
            return [self.ctx.env.pointer_type(storage_type(self.type.pointee))]
        return [register_type(self.type)]

    def _by_address(self) -> bool:
        return isinstance(self.type, PointerType) and isinstance(self.types[0], Int)

    def registers(self, bound: Bound) -> list[Register]:
        assert isinstance(bound, Register)
        return [self.ctx.env.address(bound) if self._by_address() else bound]

    def bound(self, registers: Sequence[Register]) -> Bound:
        return as_scalar(self.ctx.env, registers[0], self.type) if self._by_address() else registers[0]


@dataclass
class FragmentCarrier:
    """A tensor that fits into registers, under its natural layout."""

    ctx: Context
    type: TensorType

    @property
    def types(self) -> list[SpirvType]:
        layout = self.ctx.layouts.of(self.type)
        return [with_width(register_type(self.type.element), layout.width)] * layout.registers

    def registers(self, bound: Bound) -> list[Register]:
        assert not isinstance(bound, Register)
        return list(self.ctx.evaluation.fragment(bound, self.ctx.layouts.of(self.type)).registers)

    def bound(self, registers: Sequence[Register]) -> Bound:
        return Fragment(self.ctx.layouts.of(self.type), self.type.element, tuple(registers))


@dataclass
class WordsCarrier:
    """What another carrier carries in scalars, as words: a truth value in each, or two numbers of 16 bits."""

    ctx: Context
    inner: Carrier

    def _in_pairs(self) -> bool:
        types = self.inner.types
        return len(types) % 2 == 0 and getattr(types[0], "width", 0) == 16

    @property
    def types(self) -> list[SpirvType]:
        return [I32] * (len(self.inner.types) // (2 if self._in_pairs() else 1))

    def registers(self, bound: Bound) -> list[Register]:
        b, given = self.ctx.b, self.inner.registers(bound)
        if self._in_pairs():
            return [b.emit("OpBitcast", b.construct(given[i:i + 2]), type=I32)
                    for i in range(0, len(given), 2)]
        return [b.select(x, b.constant(I32, 1), 0) for x in given]

    def bound(self, registers: Sequence[Register]) -> Bound:
        b = self.ctx.b
        if not self._in_pairs():
            return self.inner.bound([b.compare("OpINotEqual", x, 0) for x in registers])
        pair = with_width(self.inner.types[0], 2)
        vectors = [b.emit("OpBitcast", x, type=pair) for x in registers]
        return self.inner.bound([b.extract(x, c) for x in vectors for c in range(2)])

    @staticmethod
    def takes(inner: Carrier) -> bool:
        """Are there words to be made of what it carries?"""
        types = inner.types
        pairs = getattr(types[0], "width", 0) == 16 and len(types) % 2 == 0
        return pairs or isinstance(types[0], Bool)


@dataclass
class StoredCarrier:
    """A large tensor: its array is written before the edge, and holds the value after it."""

    array: Stored
    recorder: Recorder

    @property
    def types(self) -> list[SpirvType]:
        return []

    def registers(self, bound: Bound) -> list[Register]:
        return []

    def bound(self, registers: Sequence[Register]) -> Bound:
        bound = replace(self.array)  # a new object: fragments of the old contents must not be found for it
        self.recorder.renames(self.array, bound)
        return bound


@dataclass
class MovingCarrier:
    """A tensor that every iteration moves by a uniform amount: one displacement, in elements."""

    ctx: Context
    initial: Affine | Pointers | Uniform

    @property
    def types(self) -> list[SpirvType]:
        return [I64 if isinstance(self.initial, Pointers) else _scalar(self.initial).type]

    def start(self) -> Register:
        """No displacement."""
        return self.ctx.b.constant(self.types[0], 0)

    def registers(self, bound: Bound) -> list[Register]:
        assert isinstance(bound, Register)
        return [bound]

    def bound(self, registers: Sequence[Register]) -> Bound:
        b, moved = self.ctx.b, registers[0]
        if isinstance(self.initial, Pointers):
            base = self.ctx.env.offset(self.initial.base, moved)
            self.ctx.prepared.displaced[base.id] = moved
            return replace(self.initial, base=base)
        if isinstance(self.initial, Affine):
            return replace(self.initial, base=b.iadd(self.initial.base, moved))
        return replace(self.initial, scalar=b.iadd(self.initial.scalar, moved))


def _scalar(initial: Affine | Uniform) -> Register:
    return initial.base if isinstance(initial, Affine) else initial.scalar


def can_move(initial: Bound, ctx: Context) -> TypeGuard[Affine | Pointers | Uniform]:
    """Can this form be displaced by a scalar? (Not an affine form that holds for addresses only.)"""
    if isinstance(initial, Affine):
        return initial.exact is None
    return isinstance(initial, (Pointers, Uniform)) and not (
        isinstance(initial, Uniform) and is_pointer(initial.scalar)
    )


def moved_on(ctx: Context, displacement: Register, chain: Sequence[Value]) -> Register:
    """The displacement after one more iteration, which adds the values of a chain."""
    b = ctx.b
    for value in chain:
        bound = ctx.bindings.value(value)
        scalar = bound.scalar if isinstance(bound, Uniform) else bound
        assert isinstance(scalar, Register)
        displacement = b.iadd(displacement, b.resize(scalar, displacement.type.width))  # type: ignore[attr-defined]
    return displacement


def carrier_of(ctx: Context, type: Type) -> Carrier:
    """The carrier for a value of an IR type; large tensors get a new array."""
    if isinstance(type, TensorType) and ctx.layouts.of(type).steps > 1:
        return StoredCarrier(ctx.arrays.allocate(type.shape, type.element), ctx.recorder)
    made: Carrier = FragmentCarrier(ctx, type) if isinstance(type, TensorType) else ScalarCarrier(ctx, type)
    return WordsCarrier(ctx, made) if ctx.target.has("carries_words") and WordsCarrier.takes(made) else made


def write_stored(ctx: Context, pairs: Sequence[tuple[Stored, Tensor]]) -> None:
    """Copy large tensors into their carriers' arrays, as if all at once.

    Tensors that are walked in as many steps share a loop that reads everything of a step before it writes: a
    value may be computed from the arrays that it replaces, element by element. A value that reads such an
    array in any other order is computed into an array of its own first.
    """
    there = [(array, bound) for array, bound in pairs
             if isinstance(bound, Stored) and bound.array is array.array]
    pairs = [(array, bound) for array, bound in pairs
             if not (isinstance(bound, Stored) and bound.array is array.array)]
    arrays = {id(array.array): array for array, _ in pairs}
    for place, (array, bound) in enumerate(pairs):
        computed = isinstance(bound, (Pointers, Affine)) or (
            isinstance(bound, Deferred) and bound.evaluated is None)
        if computed and _reads_elsewhere(bound, arrays, array.shape):
            pairs[place] = array, ctx.walks.stored(bound)
    groups: dict[tuple[int, int], list[tuple[Stored, Tensor]]] = {}
    for array, bound in pairs:
        walked = ctx.layouts.default(array.shape)
        groups.setdefault((walked.numel, walked.steps), []).append((array, bound))
    for group in groups.values():
        layouts = [ctx.layouts.default(array.shape) for array, _ in group]
        inputs = [(bound, layout) for (_, bound), layout in zip(group, layouts, strict=True)]
        walk = ctx.walks.plan(None, inputs)
        walk.keep_nothing()
        with StepLoop(ctx.walks, len(layouts[0].step)):
            def write(group: Sequence[tuple[Stored, Tensor]] = group,
                      inputs: Sequence[tuple[Tensor, Layout]] = inputs) -> list[Register]:
                made = [ctx.evaluation.fragment(bound, layout) for bound, layout in inputs]
                for (array, _), fragment in zip(group, made, strict=True):
                    ctx.arrays.write(array, fragment)
                return []
            guarded(ctx, inputs, [], write)
        ctx.walks.finish(walk)
    for array, bound in there:
        ctx.recorder.renames(bound, array)


def _reads_elsewhere(tensor: Tensor, arrays: Mapping[int, Stored], shape: tuple[int, ...]) -> bool:
    """Does a deferred value read one of the arrays other than element by element in its own order?"""

    def reads(tensor: object, in_order: bool) -> Asking[bool]:
        """Does it read one, in order up to here, in any other order than that?"""
        if isinstance(tensor, Stored):
            return id(tensor.array) in arrays and not (in_order and tensor.shape == shape)
        if isinstance(tensor, Deferred):
            if tensor.evaluated is not None:
                return (yield (tensor.evaluated, in_order))
            stays = in_order and tensor.operation.name not in SOURCE_LAYOUTS
            return (yield from some(tensor.operands, stays))
        if isinstance(tensor, Pointers):
            return (yield from some((tensor.affine, *tensor.terms), False))
        if isinstance(tensor, Affine):
            return (yield (tensor.exact, False))
        return False

    return answer(reads, tensor, True)
