"""Runs of neighbours in which a value cannot differ: it is computed once for a run, and repeated.

Where an index is divided (`x[i // 64]`, the mean of a channel), neighbours load from one address. Gathering
it component by component costs as much as sixteen loads. So such a load, and what is computed from such loads
element by element, is evaluated under a layout without the bits that tell the elements of a run apart.

That loads have runs follows from their addresses and masks (facts/axis.py), where index arithmetic is taken
not to wrap. Indices that are data themselves wrap, and are computed element by element as ever.
"""

from __future__ import annotations

from dataclasses import replace
from math import gcd

from ...dataclass import dataclass
from ...facts.axis import axis_facts
from ...layout import Layout
from ...spirv.module import Value as Register
from ...spirv.types import Float
from ...traversal import Asking, Known, answer
from ..context import Context
from ..registry import parts_of_load
from ..values import fragment as fragments
from ..values.tensor import Deferred, Tensor, Uniform
from ..values.types import register_type
from .masks import is_proven


@dataclass(frozen=True)
class Runs:
    """Along each dimension so many neighbours, aligned groups of a power of two, hold one value, if all of
    the `masks` are true. None for `lengths`: all elements hold the same."""

    lengths: tuple[int, ...] | None
    masks: tuple[Tensor, ...] = ()

    def __and__(self, other: Runs) -> Runs:
        lengths = other.lengths if self.lengths is None else self.lengths
        if lengths is not None and other.lengths is not None:
            lengths = tuple(map(gcd, lengths, other.lengths))
        return Runs(lengths, (*self.masks, *other.masks))


def without_repeats(ctx: Context, known: Known, node: Deferred, layout: Layout) -> Layout:
    """The layout with a basis of 0 for each component and register bit in which the elements of a run differ;
    the same layout where there are no runs. `known` keeps the runs that were found."""
    if not node.reads_memory or layout.lane or layout.warp or not ctx.target.optimises("runs"):
        return layout
    runs: Runs | None = answer(_runs, node, known=known)
    if runs is None or runs.lengths is None or not all(is_proven(ctx, mask, layout) for mask in runs.masks):
        return layout
    lengths = runs.lengths

    def kept(bases: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(0 if all(i < n for i, n in zip(layout.unravel(basis), lengths, strict=True)) else basis
                     for basis in bases)

    repeating = replace(layout, component=kept(layout.component), register=kept(layout.register))
    once = fragments.without_broadcast(repeating)
    ctx.masks.hold_for_fewer(layout, once)
    return repeating


def _runs(node: object) -> Asking[Runs | None]:
    """None where no two elements are known to be equal."""
    if isinstance(node, (Uniform, Register)) or node is None:
        return Runs(None)
    if not isinstance(node, Deferred):
        return None
    op = node.operation
    if op.has("loads"):
        return _of_load(node)
    if not op.has("elementwise") or _is_half(node):
        return None
    together: Runs | None = Runs(None)
    for operand in node.operands:
        found = yield (operand,)
        together = None if found is None or together is None or _is_half(operand) else together & found
    return together if together is None or together.lengths is None or max(together.lengths) > 1 else None


def _of_load(node: Deferred) -> Runs | None:
    op = node.operation
    mask = parts_of_load(node)[1]
    whole, places = axis_facts(op.results[0]), axis_facts(op.ptr)
    if op.attributes.get("isVolatile") or whole is None or places is None:
        return None
    if mask is not None and any(x > y for x, y in zip(places.constancy, whole.constancy, strict=True)):
        return Runs(places.constancy, (mask,))
    return Runs(whole.constancy) if max(whole.constancy) > 1 else None


def _is_half(tensor: object) -> bool:
    """Is it f16 that is computed with? One at a time is slower than sixteen."""
    element = getattr(tensor, "element", None)
    return element is not None and register_type(element) == Float(16)
