"""From tensors to registers: `fragment(tensor, layout)` yields registers of any tensor under any layout.

Deferred operations are evaluated, private arrays read, registers that exist already rearranged; each once per
scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ...errors import LoweringError
from ...layout import Elimination, Layout
from ...spirv.module import Value as Register
from ...traversal import Asking, question
from ..registry import RULES
from ..state import State, named
from ..values import fragment as fragments
from ..values.tensor import DEEP, Affine, Bound, Deferred, Fragment, Pointers, Shared, Stored, Tensor, Uniform
from ..values.types import storage_bytes
from .scopes import OpenWalk


class Evaluation(State):
    """Evaluating tensors under layouts."""

    def fragment(self, tensor: Tensor, layout: Layout) -> Fragment:
        """Registers of `tensor` under `layout`; emits what is needed, once per scope."""
        known = self.scopes.evaluated(tensor, layout)
        if known is not None:
            return known
        made = self._fragment(tensor, layout)
        if made.layout != layout:
            raise LoweringError(f"a fragment under {made.layout} where {layout} was asked for")
        self.scopes.add(tensor, made)
        return made

    def _fragment(self, tensor: Tensor, layout: Layout) -> Fragment:
        if isinstance(tensor, Uniform):
            scalar = self.env.address(tensor.scalar) if self.is_pointer(tensor.scalar) else tensor.scalar
            return Fragment(layout, tensor.element, (self.b.splat(scalar, layout.width),) * layout.registers)
        if isinstance(tensor, Deferred) and tensor.stored is not None:
            if tensor.ahead:
                from ..memory.prefetch import fetch_kept
                fetch_kept(self, tensor, layout)  # type: ignore[arg-type]  # a Context
            return self.fragment(tensor.stored, layout)
        bare = fragments.without_broadcast(layout)
        if bare != layout:
            return fragments.broadcast(self.b, self.fragment(tensor, bare), layout)
        if isinstance(tensor, Deferred):
            from ..addresses.runs import without_repeats
            once = without_repeats(self, tensor, layout)  # type: ignore[arg-type]  # a Context
            if once != layout:
                run = self.fragment(tensor, fragments.without_broadcast(once))
                made = replace(fragments.broadcast(self.b, run, once), layout=layout)
                self._keep(tensor, made)
                return made
            return self._evaluate(tensor, layout)
        if isinstance(tensor, Affine):
            return (
                self.fragment(tensor.exact, layout)
                if tensor.exact is not None
                else self.indices.affine(tensor, layout)
            )
        if isinstance(tensor, Pointers):
            return self._addresses(tensor, layout)
        if isinstance(tensor, Shared):
            self.shared.reads(tensor)
            return self.shared.load(tensor, layout)
        if isinstance(tensor, Fragment):
            if not _stays_in_threads(tensor.layout, layout):
                return self._other_threads(tensor, layout)
            if any(layout.step):
                return self.fragment(self.spill(tensor), layout)
            return fragments.rearrange(self.b, tensor, layout)
        assert isinstance(tensor, Stored), tensor
        return self.arrays.read(tensor, layout)

    def _other_threads(self, tensor: Fragment, layout: Layout) -> Fragment:
        """The registers of a fragment under a layout of other lanes or warps. Lanes exchange them once: where
        fewer are asked for later, lanes may have parted."""
        from ..tensors.convert_layout import convert
        for known in self.scopes.moved(tensor):
            if _stays_in_threads(known.layout, layout):
                return self.fragment(known, layout)
        moved = convert(self, tensor, layout.without_steps())  # type: ignore[arg-type]  # a Context
        self.scopes.move(tensor, moved)
        return self.fragment(moved, layout)

    def _evaluate(self, node: Deferred, layout: Layout) -> Fragment:
        self.budget.check(node.operation)
        if node.depth > DEEP + 1 and not self.from_below:
            self._evaluate_below(node, layout)
        op = node.operation
        entry = RULES[op.name]
        location = self.b.module.location
        self.b.module.location = op.location
        wider = self._wider(node, layout)
        if wider is not None:
            made = self.fragment(self.fragment(node, wider), layout)
        elif self._takes_first(node, layout):
            chosen = self.registers(node.operands[1], layout)  # type: ignore[arg-type]  # it has one
            made = Fragment(layout, node.element, tuple(self.b.splat(x, layout.width) for x in chosen))
        elif entry.kind == "elementwise":
            rows = [self.registers(x, layout) for x in node.operands if x is not None]
            registers = [
                self.b.splat(entry.function(self, op, *column), layout.width)
                for column in zip(*rows, strict=True)
            ]
            made = Fragment(layout, node.element, tuple(registers))
        else:
            every = entry.function(self, op, layout, *named(op, node.operands))
            made = every[node.index] if isinstance(every, tuple) else every
            if isinstance(every, tuple):
                for sibling, fragment in zip(node.siblings, every, strict=True):
                    self._keep(sibling, fragment)
                self.b.module.location = location
                return made
        self._keep(node, made)
        self.b.module.location = location
        return made

    def _takes_first(self, node: Deferred, layout: Layout) -> bool:
        """Is it a selection whose mask is known to hold? Loads are made on every way, whatever is taken."""
        op = node.operation
        return (op.has("picks") and op.has("elementwise") and self.masks.holds(node.operands[0], layout)
                and not getattr(node.operands[2], "reads_memory", False))

    def _evaluate_below(self, node: Deferred, layout: Layout) -> None:
        """What a value waits for, first to last: a chain of formulas may be longer than Python's stack."""
        self.from_below = True
        for tensor, layouts in reversed(self.requests([(node, layout)])):  # type: ignore[attr-defined]
            for asked in layouts if tensor is not node else ():
                self.fragment(tensor, asked)
        self.from_below = False

    def _wider(self, node: Deferred, layout: Layout) -> Layout | None:
        """Of a tensor that is made of larger elements which other lanes hold, their layout: it is made there,
        so that the smaller elements are exchanged.
        """
        larger: list[Tensor] = [x for x in node.operands if x is not None and not isinstance(x, Register)]
        if RULES[node.operation.name].kind != "elementwise" or len(larger) != 1:
            return None
        held = _held(larger[0])
        if held is None or storage_bytes(node.element) >= storage_bytes(larger[0].element) or any(held.step):
            return None
        return None if _stays_in_threads(held, layout) else held

    def _keep(self, node: Deferred, made: Fragment) -> None:
        """Remember a fragment just evaluated; write it to its array where it is a by-product of the current
        loop.
        """
        if not self.scopes.add(node, made):
            return
        for walk in self.walks:
            kept = walk.by_products.get(node)
            if kept is not None and kept.layout == made.layout and self._in_every_turn(walk):
                self.write_by_product(walk, node, made)

    def _in_every_turn(self, walk: OpenWalk) -> bool:
        """Does every turn of a walk come to where code is being emitted, or to its like elsewhere?"""
        return all(scope.walks for scope in self.scopes.since(walk.scopes))

    def write_by_product(self, walk: OpenWalk, node: Deferred, made: Fragment) -> None:
        """Its elements of this turn, on the way that is being emitted."""
        self.arrays.write(walk.by_products[node].stored, made)
        self.scopes.innermost.written.add((walk, node))

    def is_written(self, walk: OpenWalk, node: Deferred) -> bool:
        """Do all ways to where code is being emitted lead through a write of this by-product?"""
        return any((walk, node) in scope.written for scope in self.scopes.since(walk.scopes - 1))

    def complete(self) -> None:
        """At the end of a turn of the innermost walk, on the way that is being emitted: write the by-products
        that nothing has asked for on it.
        """
        walk = self.walks[-1] if self.walks else None
        if walk is None or not self._in_every_turn(walk):
            return
        bits = sum(bits for _, bits in self.indices.pieces[:len(self.indices.pieces) - walk.pieces])
        for node, kept in walk.by_products.items():
            if len(kept.layout.step) != bits or self.is_written(walk, node):
                continue
            made = self.fragment(node, kept.layout)
            if not self.is_written(walk, node):  # known before the walk, or kept by another one inside it
                self.write_by_product(walk, node, made)

    def registers(self, operand: Bound, layout: Layout) -> Sequence[Register]:
        """Registers of an operand under a layout; scalars and uniform tensors stay scalar registers."""
        if isinstance(operand, Uniform):
            return (operand.scalar,) * layout.registers
        if isinstance(operand, Register):
            return (operand,) * layout.registers
        return self.fragment(operand, layout).registers

    def spill(self, tensor: Fragment) -> Stored:
        """A private array with the same elements, for accesses that only run time knows."""
        known = self.scopes.spilled(tensor)
        if known is not None:
            return known
        stored = self.arrays.allocate(tensor.shape, tensor.element)
        pieces, self.indices.pieces = self.indices.pieces, []
        self.arrays.write(stored, tensor)
        self.indices.pieces = pieces
        self.scopes.spill(tensor, stored)
        return stored

    def _addresses(self, tensor: Pointers, layout: Layout) -> Fragment:
        """64-bit addresses of a tensor of pointers."""
        from ..addresses.access import element_offsets
        b = self.b
        size = self.env.pointee_bytes(tensor.base)
        base = b.splat(self.env.address(tensor.base), layout.width)
        offsets = element_offsets(self, tensor, layout)  # type: ignore[arg-type]  # a Context
        return Fragment(layout, tensor.element, tuple(
            base if o is None else b.iadd(base, b.imul(b.splat(o, layout.width), size)) for o in offsets))


@question
def _held(tensor: object) -> Asking[Layout | None]:
    """The layout of the registers that a tensor is computed from, element by element."""
    if isinstance(tensor, Fragment):
        return tensor.layout
    if not isinstance(tensor, Deferred):
        return None
    if tensor.stored is not None:
        return (yield (tensor.stored,))
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
