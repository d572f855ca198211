"""How many registers of a tensor are written out: as many as its accesses allow.

Tensors of a few registers are held whole, and each operation is written out for each of them, which runs
fastest. But an access whose neighbours are no neighbours in memory moves each element by itself: sampling an
image at a block of 256 places is ten thousand instructions, over which a driver takes a second. Such a
kernel walks its tensors, like one of larger blocks. It runs as fast, since a turn of four registers has
accesses enough to wait for at once; with turns of two, eight gathers took twice as long. Arithmetic does not
count: long chains of it run half as fast in a walk.

Only kernels that compute element by element, since a sum depends on how its tensor is walked.
"""

from __future__ import annotations

from ...facts.axis import axis_facts
from ...facts.elementwise_kernels import is_by_elements
from ...ir.dialects import OPERATIONS
from ...ir.model import Operation, TensorType
from ...ir.module import Module
from ...target import Target

#: Elements that may be accessed one by one before tensors are walked. A driver takes about 0.6 ms for each.
MOST = 384


def bounded(module: Module, target: Target) -> Target:
    """The target with as many registers for a tensor as the kernel's accesses allow."""
    if target.lanes or not is_by_elements(module):
        return target
    accesses = [access for op in module.walk() if (access := _access(op, target.vector_width)) is not None]
    registers, window = target.max_registers, target.window
    least = written_out(accesses, registers, window)
    for fewer in (registers >> bit for bit in range(1, (registers // window).bit_length())):
        if least <= MOST:
            break
        elements = written_out(accesses, fewer, window)
        if elements < least:
            registers, least = fewer, elements
    return target if registers == target.max_registers else target.with_options(max_registers=registers)


def written_out(accesses: list[tuple[int, int]], max_registers: int, window: int) -> int:
    """Elements that code accesses one by one. A walk has two versions, for masks that hold throughout and for
    others. accesses: in a register so many, in so many registers."""
    return sum(each * (count if count <= max_registers else 2 * window) for each, count in accesses)


def _access(op: Operation, width: int) -> tuple[int, int] | None:
    """Of a load or store, elements of a register that are accessed one by one, and how many registers there
    are; None where vectors are moved."""
    if not op.has("accesses") or "ptr" not in OPERATIONS[op.name].positions:
        return None
    type, facts = op.ptr.type, axis_facts(op.ptr)
    if not isinstance(type, TensorType):
        return None
    together = max(facts.contiguity[-1], facts.constancy[-1]) if facts is not None and type.shape else 1
    return None if together >= width else (width // together, max(1, type.numel // width))
