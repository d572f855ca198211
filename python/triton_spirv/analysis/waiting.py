"""May a program of the kernel wait for another one?

Programs run in an order of the device's own, and as many at a time as there are workers. A kernel whose
programs wait for each other must not be run by one worker alone.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.model import Module, Operation


def waits(module: Module) -> bool:
    """Does it poll memory, or loop around an atomic operation or a volatile load: a lock, a barrier, a flag?

    A counted loop around atomics waits for nobody: it ends whatever others do.
    """
    return any(op.name == "tt.atomic_poll" or (op.name == "scf.while" and _looks_at_memory(op, module, set()))
               for op in module.walk())


def _looks_at_memory(loop: Operation, module: Module, seen: set[str]) -> bool:
    """Anything in it, or in what it calls, that may see what another program has written meanwhile?"""
    for op in _inside(loop):
        if op.name.startswith("tt.atomic") or (op.name == "tt.load" and op.attributes.get("isVolatile")):
            return True
        if op.name == "tt.call":
            name = str(op.attributes["callee"])
            if name not in seen and _looks_at_memory(module.functions[name], module, seen | {name}):
                return True
    return False


def _inside(op: Operation) -> Iterator[Operation]:
    return (inner for inner in op.walk() if inner is not op)
