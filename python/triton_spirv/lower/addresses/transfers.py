"""`Transfers`: how accesses to global memory move the elements of a tensor, decided once for each access and
layout.

An access is asked about before a walk opens, by the test around it, and by each version of the walk. Nothing
here depends on where the code stands: it follows from pointers, mask and layout, which are parts of the
question, and from facts about the IR, which does not change while it is lowered.

Accesses are found contiguous from the affine part of their pointers, and from what is known of the other
offsets (facts/axis.py): neighbouring components whose offsets differ by one element move as one vector.
Other offsets (a gather) move one element per component.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...environment.base import Environment
from ...facts.axis import axis_facts
from ...facts.pieces import pieces_of
from ...ir.model import Operation, Type, Value
from ...layout import Layout, log2
from ...spirv.types import Type as SpirvType
from ...target import Target
from ...traversal import Known
from ..plan.accesses import Groups, Transfer, Vectors
from ..values import fragment as fragments
from ..values.tensor import Deferred, Pointers, Tensor, Uniform
from ..values.types import pointee_of, storage_bytes, storage_type
from .element_motion import growth, pointer_growth

#: Bytes that no address need be a multiple of more than.
WIDEST = 16

#: Elements from one component to the next of what is loaded in vectors and picked from them, or stored in
#: parts of vectors: a vector for each of them. Backwards, neighbours too.
STRIDES = (-1, 2, -2, 3, -3, 4, -4)

#: What tells the offsets of pointers from others: their parts, by identity.
Offsets = tuple[Tensor | None, ...]


class Transfers:
    """What is asked again is not decided again."""

    def __init__(self, env: Environment, target: Target) -> None:
        self._env, self._target = env, target
        self._vectors_help = target.optimises("vectors")
        self._transfers: dict[tuple[Operation, Offsets, Tensor | None, Layout], Transfer] = {}
        self._layouts: dict[tuple[Offsets, Layout, int], Layout] = {}
        self._runs: dict[tuple[Offsets, Layout], int] = {}
        self._vectors: dict[tuple[Value, Offsets, Layout], Vectors] = {}
        #: what facts/pieces.py has found
        self.pieces: Known = {}
        self._groups: dict[tuple[Tensor | None, Layout], Groups | None] = {}

    def of(self, op: Operation, ptr: Tensor, mask: Tensor | None, layout: Layout) -> Transfer:
        """Of a load or store of a tensor."""
        question = op, _offsets(ptr), mask, layout
        found = self._transfers.get(question)
        if found is None:
            found = self._transfers[question] = self._decided(op, ptr, mask, layout)
        return found

    def _decided(self, op: Operation, ptr: Tensor, mask: Tensor | None, layout: Layout) -> Transfer:
        pointee = pointee_of(op.ptr.type)
        vectors = self.vectors(ptr, self.by_memory(ptr, layout, pointee), op.ptr)
        stride = _stride(ptr, vectors)
        if stride and self._vectors_help and not self._target.lanes and self._in_vectors(op, stride):
            vectors = replace(vectors, stride=stride, pieces="")
        branches = self._in_branches(mask, layout, vectors.layout)
        return Transfer(vectors, self._way(layout, branches), branches,
                        self._governed(op, mask, layout, vectors, storage_type(pointee)), is_true(mask))

    def _in_vectors(self, op: Operation, stride: int) -> bool:
        """Is it well to load or store components that lie `stride` elements apart as vectors? What is stored
        has masks, but for what lies backwards: no element between two others may be touched."""
        if op.has("loads"):
            return not op.attributes.get("isVolatile")
        return not op.has("atomic") and (stride == -1 or self._target.mask_registers)

    def _in_branches(self, mask: Tensor | None, layout: Layout, wide: Layout) -> Groups | None:
        """The registers of a lane that are under one mask, for one branch each. None where components have
        masks of their own, or the target moves masked vectors, or the masks are too many."""
        if self._target.masked_access or layout.steps > 1:
            return None
        found = self.groups(mask, wide)
        return None if found is None or found.layout.registers > self._target.branches else found

    def _way(self, layout: Layout, branches: Groups | None) -> str:
        """Many elements are better visited by a loop than by a branch each."""
        if branches is not None:
            return "regions"
        many = layout.registers * layout.width > self._target.branches
        return "one by one" if not self._target.masked_access and many else "masked"

    def _governed(self, op: Operation, mask: Tensor | None, layout: Layout, vectors: Vectors,
                  kind: SpirvType) -> Groups | None:
        """The registers that share a mask which governs their messages, so that there is no branch; None
        where there are no such messages."""
        if layout.steps > 1 or op.attributes.get("isVolatile") or not self._env.predicates(kind, 1, WIDEST):
            return None
        found = self.groups(mask, vectors.layout)
        return found if self._env.predicates(kind, vectors.run, vectors.alignment) else None

    def groups(self, mask: Tensor | None, layout: Layout) -> Groups | None:
        """The registers of a layout that share a mask. None where the components of a register may differ in
        it."""
        if not self._target.optimises("masks"):
            return None
        question = mask, layout
        if question not in self._groups:
            self._groups[question] = _groups(mask, layout)
        return self._groups[question]

    def by_memory(self, ptr: Tensor, layout: Layout, pointee: Type) -> Layout:
        """The layout with registers whose elements are neighbours in memory as components: one access moves
        them."""
        if not isinstance(ptr, Pointers) or (ptr.affine is None and not ptr.terms) or not self._vectors_help:
            return layout
        question = _offsets(ptr), layout, storage_bytes(pointee)
        found = self._layouts.get(question)
        if found is None:
            found = self._layouts[question] = self._by_memory(ptr, layout, storage_bytes(pointee))
        return found

    def _by_memory(self, ptr: Pointers, layout: Layout, size: int) -> Layout:
        if layout.component and not layout.lane and not layout.warp and self.run(ptr, layout) == 1:
            return fragments.turned(layout, _distance(ptr, layout))
        most = min(self._target.lane_bytes // size, self._target.components)
        return fragments.grouped(layout, _distance(ptr, layout), most)

    def run(self, ptr: Tensor, layout: Layout) -> int:
        """Neighbouring components whose addresses are neighbours: a power of two."""
        if not isinstance(ptr, (Pointers, Deferred)) or not self._vectors_help:
            return 1
        question = _offsets(ptr), layout
        found = self._runs.get(question)
        if found is None:
            found = self._runs[question] = run_length(ptr, layout)
        return found

    def vectors(self, ptr: Tensor, layout: Layout, value: Value) -> Vectors:
        """How an access under a layout moves elements; `ptr` is what the IR's `value` is bound to."""
        question = value, _offsets(ptr), layout
        found = self._vectors.get(question)
        if found is None:
            run, size = self.run(ptr, layout), storage_bytes(pointee_of(value.type))
            found = self._vectors[question] = Vectors(layout, run, alignment(value, layout, run, size), tuple(
                self._joined(ptr, layout, run, size, value)), self._pieces(ptr, layout, run, value))
        return found

    def _pieces(self, ptr: Tensor, layout: Layout, run: int, value: Value) -> str:
        """What a test may find of a register whose components are not known to be neighbours in memory.
        Of a lane's few elements it is not worth a test."""
        whole = layout.width == self._target.components and all(layout.component)
        if run > 1 or not whole or self._target.lanes or not isinstance(ptr, Pointers) \
                or not self._target.optimises("pieces"):
            return ""
        return pieces_of(value, self.pieces)

    def _joined(self, ptr: Tensor, layout: Layout, run: int, size: int, value: Value
                ) -> list[tuple[int, ...]]:
        """Registers that one access moves, where vectors are shorter than what an access may move."""
        most = self._target.lane_bytes // size
        is_cut = layout.width == self._target.components and run == layout.width and self._vectors_help
        while is_cut and isinstance(ptr, Pointers) and most > layout.width:
            longer = fragments.lengthened(layout, _distance(ptr, layout), most)
            if alignment(value, longer, longer.width, size) >= longer.width * size:
                return fragments.runs(layout, longer)
            most //= 2
        return fragments.runs(layout, layout)

    def asks_for_all(self, pointers: Pointers, layout: Layout) -> bool:
        """Does an access under this layout ask for the offsets of all elements?"""
        wide = self.by_memory(pointers, layout, pointee_of(pointers.element))
        run = self.run(pointers, wide)
        return starts(wide, run) == wide and not by_firsts(pointers, wide, run)


def _offsets(pointers: Tensor) -> Offsets:
    return (pointers.affine, *pointers.terms) if isinstance(pointers, Pointers) else (pointers,)


def is_true(mask: Tensor | None) -> bool:
    """Is a mask absent, or true wherever the code stands?"""
    return mask is None or (isinstance(mask, Uniform) and mask.scalar.constant is True)


def run_length(pointers: Pointers | Deferred, layout: Layout) -> int:
    """Neighbouring components whose addresses are neighbours: a power of two. Of addresses that came from
    memory it follows from what was added to them."""
    bits = 0
    for i, basis in enumerate(layout.component):
        grown = pointer_growth(pointers, basis, layout) if isinstance(pointers, Pointers) else \
            growth(pointers, basis, layout)
        if grown != 1 << i:
            break
        bits = i + 1
    return 1 << bits


def _stride(pointers: Tensor, vectors: Vectors) -> int:
    """Elements from each component to the next, where they are few; 0 where that is not known."""
    layout = vectors.layout
    if vectors.run > 1 or layout.width < max(STRIDES) or not isinstance(pointers, Pointers):
        return 0
    stride = pointer_growth(pointers, layout.component[0], layout)
    if stride not in STRIDES or any(pointer_growth(pointers, basis, layout) != stride << i
                                    for i, basis in enumerate(layout.component)):
        return 0
    return stride


def _distance(pointers: Pointers, layout: Layout) -> Callable[[int], int | None]:
    """How far apart in memory elements are that differ in a bit of the layout; None where that is unknown."""
    return lambda basis: pointer_growth(pointers, basis, layout)


def _groups(mask: Tensor | None, layout: Layout) -> Groups | None:
    if any(growth(mask, basis, layout) != 0 for basis in layout.component):
        return None
    bits = [i for i, basis in enumerate(layout.register) if growth(mask, basis, layout) != 0]
    shared = replace(layout, component=(), register=tuple(layout.register[i] for i in bits))
    return Groups(shared, tuple([sum((r >> i & 1) << k for k, i in enumerate(bits))
                                 for r in range(layout.registers)]))


def alignment(pointers: Value, layout: Layout, run: int, size: int) -> int:
    """Bytes that the address of each run of neighbouring components is a multiple of."""
    info = axis_facts(pointers)
    if run == 1 or info is None:
        return size
    places = [layout.unravel(basis) for basis in layout.component[:log2(run)]]
    along = max(range(len(layout.shape)), key=lambda d: places[0][d])
    for i, place in enumerate(places):
        if any(index != (d == along) << i for d, index in enumerate(place)):
            return size
    others = (layout.origin, *layout.component[log2(run):], *layout.register, *layout.step, *layout.lane,
              *layout.warp)
    if any(layout.unravel(basis)[along] % run for basis in others):
        return size
    return max(size, min(info.divisor(along, run, size), run * size))


def by_firsts(pointers: Pointers, layout: Layout, run: int) -> bool:
    """Is the address of component 0 of each register all that an access asks for?"""
    return run == layout.width and (run > 1 or (pointers.affine is not None and not pointers.terms))


def starts(layout: Layout, run: int) -> Layout:
    """That of the first element of each run, whose addresses are all that an access to runs asks for. To
    compute those of all elements takes longer, and the quirk `halves_of_addresses` has those of the first run
    for the second."""
    return layout if run == 1 or layout.lane else replace(layout, component=layout.component[log2(run):])
