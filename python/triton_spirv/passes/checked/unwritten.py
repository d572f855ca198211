"""uninit: what nobody has written in memory that arguments bring, such as that of torch.empty.

                                               given = ts.given ptr, mask
    x = load ptr, mask           becomes       x = load ptr, mask              shadow of x: given ? 0 : site
    store ptr, y, mask           becomes       store ptr, y, mask
                                               ts.give ptr, mask

The launcher keeps marks of bytes that nobody has written (runtime/unwritten.py). A kernel clears those that
it writes, and follows what it loads of others to where it matters, as origins.py follows everything doubtful.
Where no argument of a launch has any, reports look at nothing.
"""

from __future__ import annotations

from ...check_layout import unwritten_word
from ...facts.pointers import is_pointer, pointer_roots
from ...ir.model import Operation, Value, like
from ...ir.module import Module
from .bounds import ACCESSES
from .origins import I32, Shadows, Source
from .sites import I1, I64, Before, Sites


class NotWritten(Source):
    """Elements that a load reads, and that nobody has written."""

    check = "uninit"

    def __init__(self, module: Module, sites: Sites) -> None:
        super().__init__(sites)
        self.roots = pointer_roots(module)
        self.pointers = [i for i, value in enumerate(module.entry.regions[0].entry.arguments)
                         if is_pointer(value.type)]

    def arguments(self, op: Operation) -> tuple[int, ...]:
        """The arguments whose memory an operation may access."""
        return tuple(i for i in self.pointers if self.roots.get(op.ptr, 0) >> i & 1)

    def attributes(self, op: Operation) -> dict[str, int]:
        """What the operations of this check know of an access."""
        return {"roots": sum(1 << i for i in self.arguments(op)), "count": self.sites.arguments}

    def makes(self, op: Operation) -> bool:
        return op.has("loads") and bool(self.arguments(op))

    def given(self, op: Operation, make: Before) -> Value:
        """i1, for each element: is it written, or masked out?"""
        mask = op.mask if "mask" in op.operand_names() else None
        operands = [op.ptr] if mask is None else [op.ptr, mask]
        made: Value = make.make("ts.given", operands, like(op.ptr.type, I1), (1, len(operands) - 1),
                                **self.attributes(op))
        return made

    def shadow(self, op: Operation, result: Value, make: Before, inherited: Value | None) -> Value:
        type = like(result.type, I32)
        given = self.given(op, make)
        shadow: Value = make.make("arith.select", [given, make.number(0, type),
                                                   make.number(self.site(op), type)], type)
        return shadow

    def site(self, op: Operation) -> int:
        self.sites.add(op, self.check, "load", arguments=self.arguments(op))
        return len(self.sites.known)

    def fine(self, op: Operation, make: Before) -> Value:
        there = self.sites.word(op, unwritten_word(self.sites.arguments))
        return make.compare("eq", there, make.number(0, I64))

    def changes(self, op: Operation) -> None:
        """Atomic operations change what is there: report where nobody has written it."""
        make = Before(op)
        word = self.sites.add(op, self.check, "old value", arguments=self.arguments(op))
        bad = make.negated(self.given(op, make))
        nothing = make.number(0, like(bad.type, I64))
        make.make("ts.report", [self.fine(op, make), bad, nothing], None, word=word)

    def gives(self, op: Operation) -> None:
        """What an operation writes is written."""
        block = op.parent
        assert block is not None
        make = Before(block.operations[block.operations.index(op) + 1], op.location)
        mask = op.mask if "mask" in op.operand_names() else None
        operands = [op.ptr] if mask is None else [op.ptr, mask]
        make.make("ts.give", operands, None, (1, len(operands) - 1), **self.attributes(op))


def check_unwritten(module: Module, sites: Sites) -> None:
    """Follow what loads read of memory that nobody has written, in place."""
    source = NotWritten(module, sites)
    accesses = [op for op in module.walk() if op.name in ACCESSES and source.arguments(op)]
    Shadows(module, sites, source).add()
    for op in accesses:
        if op.has("atomic") and op.has("reads"):
            source.changes(op)
    writes = [op for op in accesses if op.has("writes")]
    for op in writes:
        source.gives(op)
    if writes:  # it reports nothing, but a launcher gives marks to kernels with places of this check
        sites.add(writes[0], source.check, "written")
