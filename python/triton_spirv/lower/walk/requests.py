"""What a walk asks for: the deferred values below its inputs, under which layouts, and whether in every turn.

`Walks.plan` (walks.py) decides by this what is computed before a walk, and what a walk keeps as a
by-product.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field

from ...dataclass import dataclass
from ...layout import Layout
from ...spirv.module import Value as Register
from ...traversal import Asking, Known, answer
from ..layouts import Layouts
from ..registry import RULES, SOURCE_LAYOUTS, parts_of_load
from ..values import fragment as fragments
from ..values.tensor import Affine, Bound, Deferred, Fragment, Pointers, Tensor
from .above import Above

#: A deferred value whose evaluation costs at most this many instructions is computed again rather than kept.
CHEAP = 6

Request = tuple[Tensor, Layout]

#: What is asked for, and under which layouts.
Requested = list[tuple[Deferred | Fragment, set[Layout]]]


@dataclass
class Asked:
    """The deferred values below the inputs of a walk: `always` those that every turn asks for, with the
    layout; `elsewhere` those that a path of its own asks for, or that are asked for in another form too.
    """

    always: dict[Deferred, Layout] = field(default_factory=dict)
    elsewhere: set[Deferred] = field(default_factory=set)


class Requests:
    """What is asked of the tensors below the inputs of a walk."""

    def __init__(self, layouts: Layouts, above: Above) -> None:
        self._layouts, self._above = layouts, above

    def of(self, inputs: Iterable[Request]) -> Requested:
        """Every deferred or small tensor below the inputs with the layouts asked of it, consumers before
        producers. Nothing is asked of what lies below a value that is computed before the walk.
        """
        found: dict[Deferred | Fragment, set[Layout]] = {}
        order: list[Deferred | Fragment] = []
        known: Known = {}

        def visit(tensor: Tensor, layout: Layout) -> Asking[None]:
            if isinstance(tensor, Deferred) and tensor.evaluated is not None:
                yield tensor.evaluated, layout
            elif isinstance(tensor, (Deferred, Fragment)):
                found.setdefault(tensor, set()).add(layout)
                if isinstance(tensor, Fragment) or not self.is_astray(tensor, layout):
                    yield from below(tensor, layout)
                order.append(tensor)
            else:
                yield from below(tensor, layout)

        for tensor, layout in inputs:
            answer(visit, tensor, layout, known=known)
        return [(tensor, found[tensor]) for tensor in reversed(order)]

    def is_astray(self, node: Tensor, layout: Layout) -> bool:
        """Would a walk come to this value otherwise than window by window? Then it is computed before."""
        worth_keeping = isinstance(node, Deferred) and is_worth_keeping(node)
        return worth_keeping and layout.steps > 1 and not self._layouts.holds_windows(layout)

    def asked(self, inputs: Iterable[Request], optional: Sequence[Tensor] = ()) -> Asked:
        """What every turn of a walk over the inputs asks for, and what not every turn does, or not as it is.

        A turn does not come to a mask that is proven for it, nor to what masked elements give where there are
        none, and an access whose elements are neighbours asks for the offset of each register's first. None
        of the `optional` inputs need be asked for.
        """
        result = Asked()
        known: Known = {}

        def visit(tensor: Tensor | None, layout: Layout, always: bool) -> Asking[None]:
            if isinstance(tensor, Pointers) and tensor.terms:
                whole = always and self._above.asks_for_all(tensor, layout)
                for term in tensor.terms:
                    yield term, layout, whole
            elif isinstance(tensor, Affine):
                yield tensor.exact, layout, always
            elif isinstance(tensor, Deferred) and tensor.evaluated is None:
                if not always or result.always.setdefault(tensor, layout) != layout:
                    result.elsewhere.add(tensor)
                skipped = self._skipped(tensor, layout)
                for operand, asked in below(tensor, layout):
                    yield operand, asked, always and all(operand is not x for x in skipped)

        for tensor, layout in inputs:
            answer(visit, tensor, layout, all(tensor is not x for x in optional), known=known)
        return result

    def _skipped(self, node: Deferred, layout: Layout) -> list[Bound | None]:
        """The operands that not every evaluation under a layout asks for."""
        if not node.operation.has("loads"):
            return []
        _, mask, other = parts_of_load(node)
        return [other, mask] if self._above.is_provable(mask, layout) else [other]


def below(tensor: Tensor | None, layout: Layout) -> list[Request]:
    """What evaluating a tensor under a layout asks for; nothing, of one that is in registers or an array."""
    if isinstance(tensor, Pointers):
        return [(part, layout) for part in (tensor.affine, *tensor.terms) if part is not None]
    if isinstance(tensor, Affine):
        return [] if tensor.exact is None else [(tensor.exact, layout)]
    if not isinstance(tensor, Deferred):
        return []
    source = SOURCE_LAYOUTS.get(tensor.operation.name)
    asked = fragments.without_broadcast(source(tensor.operation, layout)) if source else layout
    return [(x, asked) for x in tensor.operands if x is not None and not isinstance(x, Register)]


def walk(tensor: Tensor, layout: Layout, seen: set[Request]) -> Iterable[tuple[Deferred, Layout]]:
    """Every deferred value below a tensor with the layout asked of it; what lies below a computed one is not
    visited.
    """
    left = [(tensor, layout)]
    while left:
        tensor, layout = left.pop()
        if isinstance(tensor, Deferred):
            if (tensor, layout) in seen:
                continue
            seen.add((tensor, layout))
            yield tensor, layout
            if tensor.evaluated is not None:
                continue
        left += reversed(below(tensor, layout))


def is_worth_keeping(node: Deferred) -> bool:
    """Is it cheaper to keep a value than to compute it again?"""
    return node.evaluated is None and not is_view(node) and (node.reads_memory or node.weight > CHEAP)


def is_view(node: Deferred) -> bool:
    """A view of one tensor, or its bits as another type: the operand is worth keeping, not the view."""
    entry = RULES[node.operation.name]
    return (entry.kind == "pulled" and entry.weight == 0) or entry.name == "tt.bitcast"
