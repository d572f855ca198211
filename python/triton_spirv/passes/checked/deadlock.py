"""deadlock: loops that may never end, or not soon, are ended by the launcher, and say what they wait for.

    while: v = load p, volatile       becomes      while: ts.report stopped, p; v = load p, volatile
    for: ...                          becomes      for: ts.report stopped; ...

When a launch has taken too long, the launcher writes a word. `ts.stopped` reads it: then each program that
comes by reports where it is, once, and the address that it looks at. A moment later all loops end, those that
wait inside of one operation, too (lower/stop_word.py).
"""

from __future__ import annotations

from ...check_layout import stop_word
from ...facts.pointers import is_pointer
from ...facts.rounds import may_be_long
from ...ir.model import IntegerType, Operation, Value, like
from ...ir.module import Module
from .sites import I1, I64, Before, Sites


def check_deadlock(module: Module, sites: Sites) -> None:
    """Watch every loop that goes on as long as the program says, or long, and every operation that waits, in
    place."""
    for op in list(module.walk()):
        if op.has("waits"):
            _watch_poll(op, sites)
        elif op.name == "scf.while":
            _watch_loop(op, sites)
        elif op.has("counts") and may_be_long(op):
            _watch_rounds(op, sites)


def _watch_loop(loop: Operation, sites: Sites) -> None:
    reads = [op for op in loop.walk() if op.has("reads") and is_pointer(op.operands[0].type)]
    looks = [op for op in reads if op.has("atomic") or op.attributes.get("isVolatile")] or reads
    for op in looks:
        if not op.has("waits"):
            make = Before(op)
            address = make.make("tt.ptr_to_int", [op.operands[0]], like(op.operands[0].type, I64))
            stopped = make.spread(_stopped(make, sites), address.type)
            _report(make, op, "atomic" if op.has("atomic") else "load", stopped, address, sites)
    if not looks:
        _watch_rounds(loop, sites)


def _watch_rounds(loop: Operation, sites: Sites) -> None:
    make = Before(loop.regions[0].entry.operations[0], loop.location)
    _report(make, loop, "loop", _stopped(make, sites), make.number(0, I64), sites)


def _watch_poll(op: Operation, sites: Sites) -> None:
    """Behind it: what it has not seen."""
    assert op.parent is not None
    make = Before(op.parent.operations[op.parent.operations.index(op) + 1], op.location)
    address = make.make("tt.ptr_to_int", [op.ptr], like(op.ptr.type, I64))
    stopped = make.spread(_stopped(make, sites), address.type)
    _report(make, op, "atomic poll", make.both(stopped, make.negated(op.result)), address, sites)


def _stopped(make: Before, sites: Sites) -> Value:
    return make.make("ts.stopped", [], I1, word=stop_word(sites.arguments))


def _report(make: Before, op: Operation, what: str, bad: Value, address: Value, sites: Sites) -> None:
    word = sites.add(op, "deadlock", what)
    make.make("ts.report", [make.number(0, IntegerType(1)), bad, address], None, word=word, once=1)
