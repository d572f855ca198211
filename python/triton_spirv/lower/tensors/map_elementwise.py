"""tt.map_elementwise: a region of scalar operations, run on every element or on packs of neighbours.

A region without control flow runs on whole vectors: of every pack, the first elements stand in one register,
the second ones in another. A region that branches runs on one pack after the other, in a loop.
"""

from __future__ import annotations

from dataclasses import replace

from ...ir.model import Operation
from ...layout import Layout, log2, row_major
from ...spirv.module import Value as Register
from ..addresses.masks import guarded
from ..context import Context, StepLoop
from ..control.region import combine, is_elementwise
from ..registry import lowers
from ..values import fragment as fragments
from ..values.tensor import Fragment, Tensor
from ..values.types import element_of


@lowers("tt.map_elementwise")
def map_elementwise(ctx: Context, op: Operation, srcs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """k tensors [...] -> n tensors [...]; the region takes `pack` neighbours of each, and gives as many."""
    b = ctx.b
    pack = op.attributes["pack"]
    whole = ctx.layouts.of(op.results[0].type)
    if is_elementwise(op.regions[0]) or whole.lane or whole.warp:
        walk, packed = _vectors(whole, log2(pack))
    else:
        # the region opens blocks, in which nothing pending may be computed
        ctx.pending.settle(memory_only=False)
        walk = packed = _one_by_one(whole, log2(pack))
    inputs = [(src, walk) for src in srcs]
    elements = [element_of(value.type) for value in op.results]
    opened = ctx.walks.plan(op, inputs)
    stored = [ctx.arrays.allocate(whole.shape, element) for element in elements] if walk.step else []
    with StepLoop(ctx.walks, len(walk.step)):
        flat = guarded(ctx, inputs, [], lambda: [
            x for src in srcs for x in ctx.evaluation.fragment(src, walk).registers])
        rows = []
        for i, value in enumerate(op.srcs):
            registers = tuple(flat[i * walk.registers:(i + 1) * walk.registers])
            outer_first = Fragment(walk, element_of(value.type), registers)
            rows.append(fragments.rearrange(b, outer_first, packed).registers)
        made = [fragments.rearrange(b, Fragment(packed, element, tuple(registers)), walk)
                for element, registers in zip(elements, _run(ctx, op, rows, pack), strict=True)]
        for array, piece in zip(stored, made, strict=False):
            ctx.arrays.write(array, piece)
    ctx.walks.finish(opened)
    results = stored or made
    return tuple(results if whole.step else [ctx.evaluation.fragment(x, whole) for x in results])


def _vectors(whole: Layout, bits: int) -> tuple[Layout, Layout]:
    """The layout to walk in vectors, and the same with the lowest register bits counting through a pack."""
    if bits > len(whole.component) + len(whole.register):
        whole = whole.without_steps()
    if bits > len(whole.component) + len(whole.register):  # a pack would lie in several lanes
        lanes, warps = len(whole.lane), len(whole.warp)
        threads = [1 << i for i in range(bits, log2(whole.numel))] + [0] * (lanes + warps)
        packs = Layout(whole.shape, (), tuple(1 << i for i in range(bits)), (), tuple(threads[:lanes]),
                       tuple(threads[lanes:lanes + warps]))
        return packs, packs
    outer_first = whole.component + whole.register
    inner = outer_first[bits:]
    width = len(whole.component)
    return whole, replace(whole, component=inner[:width], register=outer_first[:bits] + inner[width:])


def _one_by_one(whole: Layout, bits: int) -> Layout:
    """One pack in a turn, in registers of one component."""
    return row_major(whole.shape, 1, 1 << bits, 1 << bits)


def _run(ctx: Context, op: Operation, rows: list[tuple[Register, ...]], pack: int) -> list[list[Register]]:
    """Per result the registers that the region makes of `rows`, `pack` registers of each at a time."""
    made: list[list[Register]] = [[] for _ in op.results]
    for start in range(0, len(rows[0]), pack):
        results = combine(ctx, op.regions[0], [x for row in rows for x in row[start:start + pack]])
        for i, registers in enumerate(made):
            registers += results[i * pack:(i + 1) * pack]
    return made
