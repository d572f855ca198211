"""May a turn of a store's walk load, or make a store before it, after an earlier turn has stored?

A load that waits for the walk of a store is read turn by turn, between stores that stand behind it in the
kernel. The plan says for each such load why that is right (`FusedLoad`); here each proof is made again, from
the operations of the kernel (addresses.py), from the layouts under which the accesses are made in the end,
and from what the test compares that chooses the walk.

    same pointers      the load and the store have one operand `ptr`
    disjoint           the walk stands behind a test that compares the memory of both, by spans that say what
                       the kernel's addresses are
    disjoint or same   the same, and the addresses grow alike along each dimension

For "same pointers", and memory that may be the same, the two accesses take the same elements in each turn,
and elements of different turns have different addresses.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ...facts.bounds import conjunction
from ...ir.model import Operation, PointerType, TensorType, Value
from ...layout import Elimination, Layout
from .accesses import Access, Compared, Fused, FusedLoad, Overlap, Span
from .addresses import Addresses, Stride, viewed
from .records import Versions
from .text import called


class FusedWalks:
    """Those of one region of the kernel."""

    def __init__(self, addresses: Addresses) -> None:
        self.addresses = addresses
        self._tests: dict[int, Overlap] = {}  # by the id of a record that stands behind the test
        self._doubts: dict[tuple[object, ...], str | None] = {}

    def tests(self, node: Versions) -> None:
        """What the first arm does it does behind the test."""
        for test in node.tests:
            for each in node.arms[0].body:
                if isinstance(each, Fused) and each.operation is test.store.operation:
                    self._tests[id(each)] = test

    def doubt(self, fused: Fused | None, load: Access, store: Access) -> str | None:
        """Why a turn may store what the next one loads; None: it does not."""
        key = id(fused), load.operation, load.layout, store.operation, store.layout
        if key not in self._doubts:  # both may be made in several ways, of which a mask chooses
            self._doubts[key] = self._doubt(fused, load, store)
        return self._doubts[key]

    def _doubt(self, fused: Fused | None, load: Access, store: Access) -> str | None:
        claim = None if fused is None else next(
            (each for each in fused.loads if each.operation is load.operation), None)
        if fused is None or claim is None:
            return "no proof is given that it does not"
        if claim.proof == "same pointers":
            if load.operation.ptr is not store.operation.ptr:
                return "their pointers are not the same"
            return self._same_elements(load, store, ())
        return self._tested(self._tests.get(id(fused)), claim, load, store)

    def _tested(self, test: Overlap | None, claim: FusedLoad, load: Access, store: Access) -> str | None:
        """The same of a proof by a test."""
        compared: Compared | None = None
        if test is not None and test.store.operation is store.operation:
            compared = next((each for each in test.loads if each.span.operation is load.operation), None)
        if test is None or compared is None:
            return "no test compares their memory"
        if test.decided:
            return "the test of their memory compares nothing when the kernel runs"
        for span in (compared.span, test.store):
            wrong = self.wrong_span(span)
            if wrong is not None:
                return wrong
        if not compared.same:
            return None
        if claim.proof != "disjoint or same":
            return "the test passes where their memory is the same"
        if _pointee(load.operation.ptr) != _pointee(store.operation.ptr):
            return "their elements are of different types"
        mine, its = map(self.addresses.strides, (load.operation.ptr, store.operation.ptr))
        shape = load.operation.ptr.type.shape
        if mine is None or its is None or shape != store.operation.ptr.type.shape or any(
                size > 1 and x != y for size, x, y in zip(shape, mine, its, strict=True)):
            return "their addresses do not grow alike"
        return self._same_elements(load, store, test.larger)

    def wrong_span(self, span: Span) -> str | None:
        """Is a span computed from other addresses than the access has? Parts whose ends are computed are not
        looked into."""
        for dim in span.ends:
            if not self._is_limited(span.operation, dim):
                return (f"the test takes {called(span.operation)} to end where its mask does along dimension "
                        f"{dim}, of which the mask says nothing")
        if span.intervals:
            return None
        strides = self.addresses.strides(span.operation.ptr)
        if strides is None:
            return f"the test takes the addresses of {called(span.operation)} to be a formula of the index"
        for size, said, stride in zip(span.operation.ptr.type.shape, span.strides, strides, strict=True):
            if size > 1 and said is not None and isinstance(stride, int) and said != stride:
                return (f"the test takes the addresses of {called(span.operation)} to grow by {said}, not by "
                        f"{stride}")
        return None

    def _is_limited(self, op: Operation, dim: int) -> bool:
        """Does the mask of an access compare its index along a dimension with an upper limit?"""
        for part in conjunction(op.mask):
            if part.predicate not in ("slt", "sle"):
                continue
            strides, limit = map(self.addresses.strides, part.operands)
            for view in reversed(part.views):
                strides, limit = viewed(view, strides), viewed(view, limit)
            if strides is not None and limit is not None and not any(limit) and list(strides) == [
                    int(each == dim) for each in range(len(strides))]:
                return True
        return False

    def _same_elements(self, load: Access, store: Access, larger: Sequence[int]) -> str | None:
        """Why a turn may load what another one has stored, where element by element both have the same
        addresses."""
        if load.layout is None or store.layout is None:
            return "one of them is no tensor"
        if not _in_each_turn(load.layout, store.layout):
            return "the two come to their elements in different orders"
        strides = self.addresses.strides(store.operation.ptr)
        if strides is None or not _are_turns_apart(strides, store.layout, larger):
            return "elements of different turns may have one address"
        return None


def _pointee(value: Value) -> object:
    element = value.type.element if isinstance(value.type, TensorType) else value.type
    return element.pointee if isinstance(element, PointerType) else element


def _in_each_turn(load: Layout, store: Layout) -> bool:
    """Are the elements of each turn under one layout among those of the same turn under the other?"""
    own = {0, *store.component, *store.register}
    return (load.shape == store.shape and load.origin == store.origin and load.step == store.step
            and own.issuperset((*load.component, *load.register)))


def _are_turns_apart(strides: Sequence[Stride], layout: Layout, larger: Sequence[int]) -> bool:
    """Have elements of different turns different addresses? Of the dimensions in `larger` a test has shown
    that an index moves an address by more than all that move it less can reach."""
    resting, known = 0, []
    for dim, (size, slope) in enumerate(zip(layout.shape, strides, strict=True)):
        if size == 1 or dim in larger:
            continue
        if not isinstance(slope, int):
            return False
        if slope:
            known.append((abs(slope), size))
        else:
            resting |= layout.axis_mask(dim)
    reached = 0
    for slope, size in sorted(known):
        if slope <= reached:
            return False
        reached += slope * (size - 1)
    return _are_turns_independent(layout, resting)


@lru_cache(maxsize=1024)
def _are_turns_independent(layout: Layout, ignored: int) -> bool:
    """Do elements of different turns differ in other index bits than the ignored ones?"""
    space = Elimination(basis & ~ignored for basis in (*layout.component, *layout.register))
    return all(space.add(basis & ~ignored) for basis in layout.step)
