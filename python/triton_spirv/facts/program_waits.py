"""May a program of the kernel wait for another one? And what do other programs write meanwhile?

Programs run in an order of the device's own, and as many at a time as there are workers. A kernel whose
programs wait for each other must not be run by one worker alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.dialects import with_trait
from ..ir.model import Operation
from ..ir.module import Module
from .module_facts import fact
from .pointers import written_roots


@fact
def waits(module: Module) -> bool:
    """Does it poll memory, or loop around an atomic operation or a volatile load: a lock, a barrier, a flag?

    A counted loop around atomics waits for nobody: it ends whatever others do.
    """
    polls = with_trait("waits")
    for op in module.walk():
        if op.name in polls or (op.name == "scf.while" and _looks_at_memory(op, module, set())):
            return True
    return False


@fact
def exposed_roots(module: Module) -> int:
    """The arguments of the kernel (bits) whose memory other programs may write while one runs, and tell it
    so: those that the kernel itself writes through. All, where it waits for memory, looks at volatile memory
    or orders its accesses for the whole system: then others than its own programs may be meant.
    """
    if waits(module):
        return -1
    for op in module.walk():
        attributes = op.attributes
        if attributes and (attributes.get("isVolatile") or attributes.get("scope") == "sys"):
            return -1
    return written_roots(module)


def _looks_at_memory(loop: Operation, module: Module, seen: set[str]) -> bool:
    """Anything in it, or in what it calls, that may see what another program has written meanwhile?"""
    for op in _inside(loop):
        if op.has("atomic") or op.attributes.get("isVolatile"):
            return True
        if op.has("calls"):
            name = str(op.attributes["callee"])
            if name not in seen and _looks_at_memory(module.functions[name], module, seen | {name}):
                return True
    return False


def _inside(op: Operation) -> Iterator[Operation]:
    return (inner for inner in op.walk() if inner is not op)
