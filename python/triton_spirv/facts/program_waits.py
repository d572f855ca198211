"""May a program of the kernel wait for another one? And what do other programs write meanwhile?

Programs run in an order of the device's own, and as many at a time as there are workers. A kernel whose
programs wait for each other must not be run by one worker alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.model import Module, Operation, Value
from .pointers import written_roots


def waits(module: Module) -> bool:
    """Does it poll memory, or loop around an atomic operation or a volatile load: a lock, a barrier, a flag?

    A counted loop around atomics waits for nobody: it ends whatever others do.
    """
    return any(op.has("waits") or (op.name == "scf.while" and _looks_at_memory(op, module, set()))
               for op in module.walk())


def exposed_roots(module: Module, roots: dict[Value, int]) -> int:
    """The arguments of the kernel (bits) whose memory other programs may write while one runs, and tell it
    so: those that the kernel itself writes through. All, where it waits for memory, looks at volatile memory
    or orders its accesses for the whole system: then others than its own programs may be meant.
    """
    def looks_around(op: Operation) -> bool:
        return bool(op.attributes.get("isVolatile")) or op.attributes.get("scope") == "sys"

    return -1 if waits(module) or any(map(looks_around, module.walk())) else written_roots(module, roots)


def _looks_at_memory(loop: Operation, module: Module, seen: set[str]) -> bool:
    """Anything in it, or in what it calls, that may see what another program has written meanwhile?"""
    for op in _inside(loop):
        if op.has("atomic") or op.attributes.get("isVolatile"):
            return True
        if op.name == "tt.call":
            name = str(op.attributes["callee"])
            if name not in seen and _looks_at_memory(module.functions[name], module, seen | {name}):
                return True
    return False


def _inside(op: Operation) -> Iterator[Operation]:
    return (inner for inner in op.walk() if inner is not op)
