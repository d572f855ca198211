"""Through which of its pointer arguments may a kernel write?

Roots go forward: from the kernel's arguments along address arithmetic, views, selections, loops, branches and
calls to the operations that access memory. A pointer from anywhere else, made of an integer or loaded, may be
any of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..dataclass import dataclass
from ..ir.dialects import OPERATIONS, with_trait
from ..ir.model import Block, Operation, PointerType, TensorDescType, TensorType, Type, Value
from ..ir.module import Module
from .module_facts import fact

_POINTERS = (PointerType, TensorDescType)


@dataclass(frozen=True)
class PointerFlow:
    """`values`: all that are pointers. `targets`: which of them each one is passed on to. `from_anywhere`:
    those made of memory or of numbers."""

    values: set[Value]
    targets: dict[Value, list[Value]]
    from_anywhere: list[Value]


@fact
def pointer_flow(module: Module) -> PointerFlow:
    """How pointers, and tensors of them, travel through a module."""
    values: set[Value] = set()
    targets: dict[Value, list[Value]] = {}
    from_anywhere: list[Value] = []
    reads = with_trait("reads")
    for op in module.walk():
        if op.regions or op.successors or op.has("calls"):
            blocks = [block for region in op.regions for block in region.blocks]
            arguments = [value for block in blocks for value in block.arguments]
            values.update([value for value in (*op.results, *arguments) if is_pointer(value.type)])
            for source, target in flow(op, module):
                if is_pointer(source.type) and is_pointer(target.type):
                    targets.setdefault(source, []).append(target)
            continue
        for result in op.results:  # nearly all operations; what `flow` says of them
            type = result.type
            element = type.element if type.__class__ is TensorType else type
            if element.__class__ not in _POINTERS:
                continue
            values.add(result)
            if op.name in reads or op.name == "tt.int_to_ptr":
                from_anywhere.append(result)
                continue
            for source in op.operands:
                if is_pointer(source.type):
                    targets.setdefault(source, []).append(result)
    return PointerFlow(values, targets, from_anywhere)


@fact
def written_arguments(module: Module) -> tuple[bool, ...]:
    """Per argument of the kernel: may it be written through? False for what is no pointer."""
    arguments = module.entry.regions[0].entry.arguments
    written = written_roots(module)
    return tuple([is_pointer(argument.type) and bool(written >> i & 1)
                  for i, argument in enumerate(arguments)])


@fact
def written_roots(module: Module) -> int:
    """The arguments that the kernel may write through, as bits."""
    roots = pointer_roots(module)
    pure = with_trait("pure")
    written = 0
    for op in module.walk():
        if op.name in pure and op.attributes.get("pure") is not False:
            continue
        for value in _written(op):
            written |= roots.get(value, 0)
    return written


@fact
def pointer_roots(module: Module) -> dict[Value, int]:
    """Per pointer, or tensor of pointers, the arguments of the kernel that it may be made from, as bits."""
    arguments = module.entry.regions[0].entry.arguments
    roots: dict[Value, int] = {argument: 1 << i for i, argument in enumerate(arguments)}
    every = (1 << len(arguments)) - 1
    known_flow = pointer_flow(module)
    targets = known_flow.targets
    roots.update([(value, every) for value in known_flow.from_anywhere])
    pending = list(roots)
    while pending:
        value = pending.pop()
        for target in targets.get(value, ()):
            known = roots.get(target, 0)
            if roots[value] & ~known:
                roots[target] = known | roots[value]
                pending.append(target)
    return roots


def is_pointer(type: Type) -> bool:
    """A pointer, a tensor of pointers, or a descriptor."""
    element = type.element if isinstance(type, TensorType) else type
    return isinstance(element, _POINTERS)


def _written(op: Operation) -> Iterable[Value]:
    """The pointers that an operation may write through; of an operation unknown here, all that it takes."""
    written = OPERATIONS[op.name].written if op.name in OPERATIONS else None
    if written is not None:
        return [getattr(op, written)]
    if op.is_pure or op.has("reads") or op.has("watches") or op.name == "tt.print":
        return []
    if op.regions or op.successors or op.has("calls") or _ends(op):
        return []
    if any(is_pointer(result.type) for result in op.results):
        return []
    return [operand for operand in op.operands if is_pointer(operand.type)]


def _is_from_anywhere(op: Operation) -> bool:
    """Are pointers among its results made of memory or of numbers?"""
    return op.name in with_trait("reads") or op.name == "tt.int_to_ptr"


def _ends(op: Operation) -> bool:
    return op.parent is not None and op.parent.terminator is op


def flow(op: Operation, module: Module) -> Iterator[tuple[Value, Value]]:
    """(from, to): values that an operation passes on."""
    if op.has("calls"):
        callee = module.functions[op.attributes["callee"]].regions[0]
        yield from zip(op.operands, callee.entry.arguments, strict=False)
        for block in callee.blocks:
            if block.terminator.name == "tt.return":
                yield from zip(block.terminator.operands, op.results, strict=False)
    elif op.has("counts"):
        body = op.regions[0].entry
        for sources in (op.init, body.terminator.operands):
            yield from zip(sources, body.arguments[1:], strict=False)
            yield from zip(sources, op.results, strict=False)
    elif op.name == "scf.while":
        before, after = (region.entry for region in op.regions)
        forwarded = before.terminator.operands[1:]
        yield from zip(op.init, before.arguments, strict=False)
        yield from zip(after.terminator.operands, before.arguments, strict=False)
        yield from zip(forwarded, after.arguments, strict=False)
        yield from zip(forwarded, op.results, strict=False)
    elif op.successors:
        yield from _all(op.operands, [a for block in op.successors for a in block.arguments])
    elif op.regions and not op.has("function"):
        blocks = [block for region in op.regions for block in region.blocks]
        yield from _all(op.operands, [a for block in blocks for a in block.arguments])
        for block in blocks:
            yield from _last(block, op.results)
    elif not _is_from_anywhere(op):
        yield from _all(op.operands, op.results)


def _last(block: Block, results: list[Value]) -> Iterator[tuple[Value, Value]]:
    """What a block yields, one for one where there are as many results."""
    operands = block.operations[-1].operands if block.operations else []
    if len(operands) == len(results):
        yield from zip(operands, results, strict=True)
    else:
        yield from _all(operands, results)


def _all(sources: Iterable[Value], targets: Iterable[Value]) -> Iterator[tuple[Value, Value]]:
    targets = list(targets)
    for source in sources:
        for target in targets:
            yield source, target
