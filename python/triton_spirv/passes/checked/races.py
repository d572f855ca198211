"""race: no two programs touch the same memory, one of them writing, without an atomic operation that orders
them.

    ts.touch ptr, mask                         ts.lock
    x = load ptr, mask                         old = atomic_rmw ptr, val, mask
                                               ts.order ptr, mask
                                               ts.unlock

Accesses are held against those before them in shadow memory (race_layout.py), whichever order the programs
run in. A store to places that need not be different is looked at again when it is done (`ts.twice`): does
each place hold the value that was stored there? Of sums of ranges, the strides may say when the kernel runs
that places are different.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...check_layout import race_word
from ...facts.motion import Element, motion
from ...facts.pointers import is_pointer, pointer_roots
from ...facts.slopes import number
from ...ir.model import (
    IntegerType,
    Operation,
    PointerType,
    Value,
    bits_of,
    element_type,
    like,
    shape_of,
)
from ...ir.module import Module
from .bounds import ACCESSES
from .sites import I1, Before, Sites

#: what is watched: operation -> its name for users
WATCHED = {**ACCESSES, "tt.atomic_poll": "atomic poll"}


def check_races(module: Module, sites: Sites) -> None:
    """Watch every access of the module, in place."""
    _Races(module, sites).add()


class _Races:
    def __init__(self, module: Module, sites: Sites) -> None:
        self.module, self.sites, self.count = module, sites, 0
        self.roots = pointer_roots(module)
        self.accesses = [op for op in module.walk() if op.name in WATCHED]
        self.scattered = {op for op in self.accesses if op.name == "tt.store" and not _are_apart(op.ptr)}
        self.shares = any(_kind(op).startswith("atomic") for op in self.accesses)

    def add(self) -> None:
        pointers = [i for i, value in enumerate(self.module.entry.regions[0].entry.arguments)
                    if is_pointer(value.type)]
        for op in self.accesses:
            arguments = tuple(i for i in pointers if self.roots.get(op.ptr, 0) >> i & 1)
            if arguments:
                self._watch(op, arguments)

    def _watch(self, op: Operation, arguments: tuple[int, ...]) -> None:
        kind, atomic = _kind(op), op.has("atomic")
        ordered = kind.startswith("atomic")
        sem = op.attributes.get("sem", "acquire") if ordered else "relaxed"
        if op.has("waits") and sem == "acq_rel":  # it writes nothing that others could see
            sem = "acquire"
        answers = (atomic or ordered) and any(result.uses for result in op.results)
        more = {"bytes": _bytes(op), "arguments": arguments, "kind": kind}
        word = self.sites.add(op, "race", WATCHED[op.name], orders=sem != "relaxed", answers=answers, **more)
        attributes = {"state": race_word(self.sites.arguments), "word": word, "site": self.count,
                      "kind": kind, "shares": self.shares, "roots": sum(1 << i for i in arguments),
                      "count": self.sites.arguments}
        self.count += 1
        mask = op.mask if "mask" in op.operand_names() else None
        if not ordered:
            _insert(Before(op), "ts.touch", (op.ptr, mask), attributes)
        else:
            self._order(op, mask, sem, attributes)
        if op in self.scattered:
            word = self.sites.add(op, "race", "store", **{**more, "kind": "twice"})
            self.count += 1
            _insert(_behind(op), "ts.twice", (op.ptr, op.value, mask), {**attributes, "word": word})

    def _order(self, op: Operation, mask: Value | None, sem: str, attributes: dict[str, object]) -> None:
        """An atomic operation, and what it orders, at once; behind one that waits, or a volatile load,
        others may have come in between, who are taken to be ordered, too."""
        state = {"state": attributes["state"]}
        behind = _behind(op)
        at_once = op.has("writes") or op.name == "tt.atomic_load"
        _insert(Before(op) if at_once else behind, "ts.lock", (), state)
        releasing = sem in ("release", "acq_rel")
        releases = _exchanged(op, behind) if op.name == "tt.atomic_cas" and releasing else None
        _insert(behind, "ts.order", (op.ptr, mask, releases),
                {**attributes, "sem": sem, "replaces": op.name == "tt.atomic_store"})
        _insert(behind, "ts.unlock", (), state)


def _bytes(op: Operation) -> int:
    """Bytes of an element that an access moves."""
    pointer = element_type(op.ptr.type)
    assert isinstance(pointer, PointerType)
    return max(1, bits_of(pointer.pointee) // 8)


def _kind(op: Operation) -> str:
    """A key of race_layout.BEHIND. Atomic operations among the threads of one program are plain accesses to
    the others; what is volatile is read as by an atomic operation that acquires, as everywhere here."""
    writes = op.has("writes")
    if op.has("atomic") and op.attributes["scope"] != "cta":
        return "atomic" if writes else "atomic read"
    if op.attributes.get("isVolatile"):
        return "atomic read"
    return "write" if writes else "read"


def _behind(op: Operation) -> Before:
    block = op.parent
    assert block is not None
    return Before(block.operations[block.operations.index(op) + 1], op.location)


def _insert(make: Before, name: str, operands: Sequence[Value | None], attributes: dict[str, object]) -> None:
    given = [value for value in operands if value is not None]
    segments = tuple(int(value is not None) for value in operands) if operands else None
    make.make(name, given, None, segments, **attributes)


def _exchanged(op: Operation, make: Before) -> Value:
    """Where a compare-and-exchange has exchanged something: there it may release; elsewhere it has only
    read."""
    element = element_type(op.cmp.type)
    values = op.result, op.cmp
    if not isinstance(element, IntegerType):
        bits = like(op.cmp.type, IntegerType(8 * _bytes(op)))
        name = "tt.ptr_to_int" if is_pointer(op.cmp.type) else "arith.bitcast"
        values = make.make(name, [op.result], bits), make.make(name, [op.cmp], bits)
    return make.make("arith.cmpi", list(values), like(op.cmp.type, I1), predicate="eq")


def _are_apart(pointers: Value) -> bool:
    """Does each element have a place of its own, by a number other than 0 that is the slope along the only
    axis?"""
    wide = [axis for axis, extent in enumerate(shape_of(pointers.type)) if extent > 1]
    return not wide or (len(wide) == 1 and bool(number(motion(pointers, Element(wide[0])).slope)))
