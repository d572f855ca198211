"""From tensors to registers: `fragment(tensor, layout)` yields registers of any tensor under any layout.

Deferred operations are evaluated, private arrays read, registers that exist already rearranged; each once per
scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...environment.base import Environment
from ...errors import InternalError, LoweringError
from ...layout import Elimination, Layout
from ...spirv.builder import Builder
from ...spirv.module import Value as Register
from ...traversal import Asking, question
from ..budget import Budget
from ..known_masks import KnownMasks
from ..registry import RULES, applied, named
from ..values import fragment as fragments
from ..values.tensor import (
    DEEP,
    Affine,
    Bound,
    Deferred,
    Fragment,
    Pointers,
    Shared,
    Stored,
    Tensor,
    Uniform,
    Window,
)
from ..values.types import is_pointer, storage_bytes
from .above import Above
from .arrays import Arrays
from .indices import Indices
from .open_walks import OpenWalks
from .requests import Requests
from .scopes import Scopes


class Evaluation:
    """Each tensor is evaluated once in a scope; what of it the walks around keep is written."""

    def __init__(self, b: Builder, env: Environment, budget: Budget, masks: KnownMasks, scopes: Scopes,
                 indices: Indices, arrays: Arrays, open_walks: OpenWalks, requests: Requests,
                 above: Above) -> None:
        self._b, self._env, self._budget = b, env, budget
        self._masks, self._scopes, self._open_walks = masks, scopes, open_walks
        self._indices, self._arrays = indices, arrays
        self._requests, self._above = requests, above
        self._from_below = False  # what is evaluated has all that it waits for

    def fragment(self, tensor: Tensor, layout: Layout) -> Fragment:
        """Registers of `tensor` under `layout`; emits what is needed, once per scope."""
        if isinstance(tensor, Window):
            return self._window(tensor, layout)
        known = self._scopes.evaluated(tensor, layout)
        if known is not None:
            return known
        made = self._fragment(tensor, layout)
        if made.layout != layout:
            raise LoweringError(f"a fragment under {made.layout} where {layout} was asked for")
        self._scopes.add(tensor, made)
        return made

    def _fragment(self, tensor: Tensor, layout: Layout) -> Fragment:
        if isinstance(tensor, Uniform):
            scalar = self._env.address(tensor.scalar) if is_pointer(tensor.scalar) else tensor.scalar
            return Fragment(layout, tensor.element, (self._b.splat(scalar, layout.width),) * layout.registers)
        if isinstance(tensor, Deferred) and tensor.evaluated is not None:
            if tensor.ahead:
                self._above.fetch_kept(tensor, layout)
            return self.fragment(tensor.evaluated, layout)
        bare = fragments.without_broadcast(layout)
        if bare != layout:
            return fragments.broadcast(self._b, self.fragment(tensor, bare), layout)
        if isinstance(tensor, Deferred):
            once = self._above.without_repeats(tensor, layout)
            if once != layout:
                run = self.fragment(tensor, fragments.without_broadcast(once))
                made = replace(fragments.broadcast(self._b, run, once), layout=layout)
                self._keep(tensor, made)
                return made
            return self._evaluate(tensor, layout)
        if isinstance(tensor, Affine):
            return (
                self.fragment(tensor.exact, layout)
                if tensor.exact is not None
                else self._indices.affine(tensor, layout)
            )
        if isinstance(tensor, Pointers):
            return self._above.addresses(tensor, layout)
        if isinstance(tensor, Shared):
            return self._above.from_shared(tensor, layout)
        if isinstance(tensor, Fragment):
            if not _stays_in_threads(tensor.layout, layout):
                return self._other_threads(tensor, layout)
            if any(layout.step):
                return self.fragment(self._arrays.spill(tensor), layout)
            if layout.width < tensor.layout.width and self._has_halves(tensor):
                tensor = fragments.hidden(self._b, tensor)
            return fragments.rearrange(self._b, tensor, layout)
        assert isinstance(tensor, Stored), tensor
        return self._arrays.read(tensor, layout)

    def _has_halves(self, tensor: Fragment) -> bool:
        """Are its registers two of the processor's, of which drivers mix up the components? (The quirk
        `halves_of_addresses`.)"""
        wide = tensor.layout.width == 16 and storage_bytes(tensor.element) == 8
        return wide and not self._env.target.lanes

    def _window(self, tensor: Window, layout: Layout) -> Fragment:
        """The registers of this turn; there are no others."""
        if tensor.fragment is None or layout != tensor.layout or tuple(self._indices.pieces) != tensor.turn:
            raise InternalError(f"a loop inside a walk carries a window under {tensor.layout}, and another "
                                f"one is asked for, under {layout}")
        return tensor.fragment

    def _other_threads(self, tensor: Fragment, layout: Layout) -> Fragment:
        """The registers of a fragment under a layout of other lanes or warps. Lanes exchange them once: where
        fewer are asked for later, lanes may have parted."""
        for known in self._scopes.exchanged(tensor):
            if _stays_in_threads(known.layout, layout):
                return self.fragment(known, layout)
        exchanged = self._above.converted(tensor, layout.without_steps())
        self._scopes.exchange(tensor, exchanged)
        return self.fragment(exchanged, layout)

    def _evaluate(self, node: Deferred, layout: Layout) -> Fragment:
        self._budget.check(node.operation)
        if node.depth > DEEP + 1 and not self._from_below:
            self._evaluate_below(node, layout)
        op = node.operation
        entry = RULES[op.name]
        location = self._b.module.location
        self._b.module.location = op.location
        wider = self._wider(node, layout)
        if wider is not None:
            made = self.fragment(self.fragment(node, wider), layout)
        elif self._takes_first(node, layout):
            chosen = self.registers(node.operands[1], layout)  # type: ignore[arg-type]  # it has one
            made = Fragment(layout, node.element, tuple(self._b.splat(x, layout.width) for x in chosen))
        elif entry.kind == "elementwise":
            rows = [self.registers(x, layout) for x in node.operands if x is not None]
            registers = applied(self._above.context, op, rows)
            made = Fragment(layout, node.element, tuple(self._b.splat(x, layout.width) for x in registers))
        else:
            every = entry.function(self._above.context, op, layout, *named(op, node.operands))
            made = every[node.index] if isinstance(every, tuple) else every
            if isinstance(every, tuple):
                for sibling, fragment in zip(node.siblings, every, strict=True):
                    self._keep(sibling, fragment)
                self._b.module.location = location
                return made
        self._keep(node, made)
        self._b.module.location = location
        return made

    def _takes_first(self, node: Deferred, layout: Layout) -> bool:
        """Is it a selection whose mask is known to hold? Loads are made on every way, whatever is taken."""
        op = node.operation
        return (op.has("picks") and op.has("elementwise") and self._masks.holds(node.operands[0], layout)
                and not getattr(node.operands[2], "reads_memory", False))

    def _evaluate_below(self, node: Deferred, layout: Layout) -> None:
        """What a value waits for, first to last: a chain of formulas may be longer than Python's stack."""
        self._from_below = True
        for tensor, layouts in reversed(self._requests.of([(node, layout)])):
            for asked in layouts if tensor is not node else ():
                self.fragment(tensor, asked)
        self._from_below = False

    def _wider(self, node: Deferred, layout: Layout) -> Layout | None:
        """Of a tensor that is made of larger elements which other lanes hold, their layout: it is made there,
        so that the smaller elements are exchanged.
        """
        larger: list[Tensor] = [x for x in node.operands if x is not None and not isinstance(x, Register)]
        if RULES[node.operation.name].kind != "elementwise" or len(larger) != 1:
            return None
        if storage_bytes(node.element) >= storage_bytes(larger[0].element):
            return None
        there = _layout_below(larger[0])
        if there is None or any(there.step):
            return None
        return None if _stays_in_threads(there, layout) else there

    def _keep(self, node: Deferred, made: Fragment) -> None:
        """Remember a fragment just evaluated; write it to its array where it is a by-product of the current
        loop.
        """
        if not self._scopes.add(node, made):
            return
        self._open_walks.evaluated(node, made)

    def registers(self, operand: Bound, layout: Layout) -> Sequence[Register]:
        """Registers of an operand under a layout; scalars and uniform tensors stay scalar registers."""
        if isinstance(operand, Uniform):
            return (operand.scalar,) * layout.registers
        if isinstance(operand, Register):
            return (operand,) * layout.registers
        return self.fragment(operand, layout).registers


@question
def _layout_below(tensor: object) -> Asking[Layout | None]:
    """The layout of the registers that a tensor is computed from, element by element."""
    if isinstance(tensor, Fragment):
        return tensor.layout
    if not isinstance(tensor, Deferred):
        return None
    if tensor.evaluated is not None:
        return (yield (tensor.evaluated,))
    if RULES[tensor.operation.name].kind != "elementwise":
        return None
    for operand in tensor.operands:
        layout = yield (operand,)
        if layout is not None:
            return layout
    return None


def _stays_in_threads(have: Layout, want: Layout) -> bool:
    """Does every lane hold under `have` what it needs under `want`? (No lanes: all of them hold the same.)"""
    def own(bases: tuple[int, ...]) -> tuple[int, ...]:
        return bases if any(bases) else ()
    if own(have.lane) != own(want.lane) or own(have.warp) != own(want.warp):
        return False
    if not have.moving or have.origin or want.origin:
        return True
    mine = {*have.component, *have.register}
    if mine.issuperset((*want.component, *want.register)):
        return True
    space = Elimination(mine)
    return all(space.solve(basis) is not None for basis in (*want.component, *want.register))
