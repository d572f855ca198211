"""Values of other warps, through shared memory: what reductions, scans and atomics need beyond a sub-
group."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from ...ir.model import FloatType, IntegerType, Type
from ...layout import log2
from ...spirv.builder import I32, scalar_type, width_of
from ...spirv.module import Value as Register
from ...spirv.types import Bool, Float, Int
from ...spirv.types import Type as SpirvType
from ..context import Context
from ..values.types import storage_bytes
from .shared_tensors import from_shared

Row = list[Register]  # one register per tensor


def warp_values(ctx: Context, rows: Sequence[Row], warp_xor_mask: int) -> list[Row]:
    """The rows of the warp whose number differs in the bits of the mask, lane by lane."""
    return [others[0] for others in warp_group(ctx, rows, [ctx.b.ixor(ctx.env.warp_id(), warp_xor_mask)])]


def warps_along(ctx: Context, rows: Sequence[Row], bits: Sequence[int]) -> list[list[Row]]:
    """Per row the rows of all warps that differ from this one in some of the warp bits, itself included.

    They come in the order of those bits, the same in every warp, so that all warps combine them to the same
    result.
    """
    own = ctx.b.iand(ctx.env.warp_id(), ~sum(1 << bit for bit in bits))
    others = [sum((i >> k & 1) << bit for k, bit in enumerate(bits)) for i in range(1 << len(bits))]
    return warp_group(ctx, rows, [ctx.b.ior(own, other) for other in others])


def warp_group(ctx: Context, rows: Sequence[Row], warps: Sequence[Register]) -> list[list[Row]]:
    """Per row its registers in each of `warps` (numbers, i32), in the same lane."""
    found: list[list[Row]] = [[[] for _ in warps] for _ in rows]
    for column in range(len(rows[0]) if rows else 0):
        registers = [row[column] for row in rows]
        for r, others in enumerate(_exchanged(ctx, registers, warps)):
            for w, other in enumerate(others):
                found[r][w].append(other)
    return found


def _exchanged(ctx: Context, registers: Sequence[Register],
               warps: Sequence[Register]) -> list[list[Register]]:
    """Per register its value in each of `warps`; as many registers at a time as shared memory has room
    for."""
    b, env = ctx.b, ctx.env
    lanes, width = ctx.target.sub_group_size, width_of(registers[0].type)
    element = ir_type(scalar_type(registers[0].type))
    size = lanes * ctx.kernel.num_warps * width
    at_once = max(1, min(len(registers), ctx.shared.spare // (size * storage_bytes(element))))

    def place(warp: Register) -> Register:
        return b.imul(b.iadd(b.imul(warp, lanes), env.lane_id()), width)

    mine, theirs = place(env.warp_id()), [place(warp) for warp in warps]
    found = []
    for start in range(0, len(registers), at_once):
        part = registers[start:start + at_once]
        with ctx.shared.scratch(element, size * len(part)) as array:
            ctx.shared.writes(array)
            for i, register in enumerate(part):
                env.shared_store(array.array, b.iadd(mine, i * size), register)
            ctx.shared.reads(array)
            for i in range(len(part)):
                loaded = [env.shared_load(array.array, b.iadd(other, i * size), width) for other in theirs]
                found.append([from_shared(ctx.b, element, value) for value in loaded])
    return found


def from_owner(ctx: Context, value: Register, lane_bits: int, warp_bits: int) -> Register:
    """The value of the lane whose number has 0 in those bits, in every lane that differs in them only."""
    b, env = ctx.b, ctx.env
    if lane_bits & (ctx.target.sub_group_size - 1):
        value = env.shuffle(value, b.iand(env.lane_id(), ~lane_bits))
    if warp_bits & (ctx.kernel.num_warps - 1):
        value = _exchanged(ctx, [value], [b.iand(env.warp_id(), ~warp_bits)])[0][0]
    return value


def anywhere(ctx: Context, value: Register) -> Register:
    """Is a Bool true in any lane of the program? The same answer in all of them; all of them are here."""
    b, env = ctx.b, ctx.env
    if ctx.layouts.lanes == 1:
        return value
    found = b.select(value, b.constant(I32, 1), 0)
    for bit in range(log2(ctx.target.sub_group_size)):
        found = b.ior(found, env.shuffle_xor(found, 1 << bit))
    if ctx.kernel.num_warps > 1:
        rows, = warps_along(ctx, [[found]], range(log2(ctx.kernel.num_warps)))
        found = reduce(b.ior, [row[0] for row in rows])
    ctx.convergence.scalars.add(found.id)
    return b.compare("OpINotEqual", found, 0)


def ir_type(type: SpirvType) -> Type:
    """An IR element that is held in registers as this SPIR-V scalar."""
    if isinstance(type, Bool):
        return IntegerType(1)
    if isinstance(type, Float):
        return FloatType(f"f{type.width}")
    assert isinstance(type, Int)
    return IntegerType(type.width)
