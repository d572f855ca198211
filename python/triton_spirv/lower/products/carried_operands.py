"""Operands of products that a loop carries from round to round in shared memory.

    for k: ...product of x...; x = y        where y was loaded in this round (passes/fetch_ahead.py)

There are two copies of x. Products read one; at the end of a round the other is written with what the next
round multiplies, and becomes the one that is read. So one barrier a round is enough, and nothing of x waits
in registers. Where shared memory is short there is one copy of the largest operands, for one barrier more;
what has no room at all stays in registers.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ...dataclass import dataclass
from ...ir.model import Operation, TensorType
from ...layout import Layout, SharedLayout
from ...spirv.builder import I32
from ...spirv.module import Value as Register
from ...spirv.types import Type as SpirvType
from ..context import Context
from ..lanes.shared import ALIGNMENT, feeds_products
from ..lanes.shared_tensors import resident_layout
from ..values.allocation import Turn
from ..values.tensor import Shared, Tensor
from ..values.types import storage_bytes
from .cooperative import is_resident_for_matrices, memory_for_matrices

#: Bytes of shared memory that are left to what a loop does with the results of its products.
SPARED = 8192


@dataclass
class StagedCarrier:
    """The offset of the copy that is read in this round, in elements; the other one is `size` further or
    before. Nothing where there is one copy only, which has no `turn`."""

    ctx: Context
    source: Layout
    array: Shared
    size: int
    turn: Turn | None
    current: Register | None = None

    @property
    def types(self) -> list[SpirvType]:
        return [I32] if self.turn is not None else []

    def registers(self, bound: Tensor) -> list[Register]:
        """Write the tensor to the copy that is not being read."""
        b = self.ctx.b
        if self.turn is None:
            fragment = self.ctx.evaluation.fragment(bound, self.source)
            self.ctx.shared.writes(self.array)
            self.ctx.shared_tensors.store(self.array, fragment)
            return []
        there = b.constant(I32, 0) if self.current is None else b.isub(self.size, self.current)
        turn = replace(self.turn, ahead=self.current is not None)
        fragment = self.ctx.evaluation.fragment(bound, self.source)
        array = replace(self.array, start=there, bytes=turn)
        self.ctx.shared.writes(array)
        self.ctx.shared_tensors.store(array, fragment)
        return [there]

    def bound(self, registers: Sequence[Register]) -> Shared:
        if self.turn is None:
            return self.array
        self.current = registers[0]
        return replace(self.array, start=registers[0], bytes=self.turn)

    def release(self) -> None:
        """The loop is behind: its memory is free."""
        self.ctx.shared.give_back(self.array.bytes)


def staged_carriers(ctx: Context, loop: Operation) -> dict[int, StagedCarrier]:
    """The values of a loop that are carried in shared memory, by number."""
    if not ctx.target.double_buffers:
        return {}
    plans = {i: plan for i in range(len(loop.results)) if (plan := _plan(ctx, loop, i)) is not None}

    def bytes_of(index: int) -> int:
        _, memory, each = plans[index]
        return _rounded(memory.size * each)

    def fits(copies: dict[int, int], limit: int) -> bool:
        room = limit - ctx.shared.arena.in_use - _needed_inside(ctx, loop, copies)
        return sum(count * bytes_of(index) for index, count in copies.items()) <= room

    limit = ctx.shared.limit if fits(dict.fromkeys(plans, 1), ctx.shared.limit) else ctx.target.shared_bytes
    copies = dict.fromkeys(plans, 2)
    while copies and not fits(copies, limit):
        largest = max(copies, key=lambda index: (copies[index], bytes_of(index)))
        copies[largest] -= 1
        if not copies[largest]:
            del copies[largest]
    made = {}
    for index, count in copies.items():
        source, memory, each = plans[index]
        size = _rounded(memory.size * each) // each
        type = loop.results[index].type
        assert isinstance(type, TensorType)
        taken = ctx.shared.take(type.element, count * size)
        array = replace(taken, shape=memory.shape, layout=memory)
        turn = None
        if count == 2:
            turn = Turn(taken.bytes.start, taken.bytes.end, len(ctx.shared.headers))
            ctx.shared.headers.append(0)
        made[index] = StagedCarrier(ctx, source, array, size, turn)
    return made


def _rounded(bytes: int) -> int:
    return -(-bytes // ALIGNMENT) * ALIGNMENT


Plan = tuple[Layout, SharedLayout, int]  # layout of the loaded value, where it lies, bytes of an element


def _plan(ctx: Context, loop: Operation, index: int) -> Plan | None:
    """How value `index` of the loop is carried, if all the loop does with it is to multiply it."""
    body = loop.regions[0].entry
    argument = body.arguments[index + 1]
    type = argument.type
    if not isinstance(type, TensorType) or not argument.uses or loop.results[index].uses:
        return None
    users = [user for user, _ in argument.uses]
    if any(not user.has("converts") or user.parent is not body
           or not feeds_products(user.results[0]) for user in users):
        return None
    source, each = ctx.layouts.of(type), storage_bytes(type.element)
    on_matrices = {is_resident_for_matrices(ctx, user.results[0]) for user in users}
    if len(on_matrices) > 1:
        return None
    memory = memory_for_matrices(source, each) if on_matrices == {True} else \
        resident_layout(type.shape, type.element)
    return source, memory, each


def _needed_inside(ctx: Context, loop: Operation, carried_there: Collection[int]) -> int:
    """Bytes that the rest of the loop needs: operands that rest in shared memory for a round."""
    body = loop.regions[0].entry
    carried = {body.arguments[index + 1] for index in carried_there}
    ends = body.operations[-1]
    needed = 0
    for op in body.operations:
        if op.has("product") and any(user is not ends for user, _ in op.result.uses):
            needed = max(needed, SPARED)
    for op in body.operations:
        is_free = op in ctx.prepared.conversions or not op.has("converts") or op.src in carried
        if not is_free and feeds_products(op.results[0]):
            type = op.src.type
            assert isinstance(type, TensorType)
            source, each = ctx.layouts.of(type), storage_bytes(type.element)
            needed += _rounded(memory_for_matrices(source, each).size * each) \
                if len(type.shape) == 2 else _rounded(source.numel * each)
    return needed
