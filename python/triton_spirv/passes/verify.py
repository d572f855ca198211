"""verify(module): is it IR? Lists of uses, places, dominance, numbers of operands, types across regions.
read_back(module): does it print and read as the same?

Passes are programs that can be wrong, and what they break is found far away from them, or not at all. Behind
each pass this says what is broken, and where: pipeline.py tells when.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import InternalError, TritonSpirvError
from ..facts.edges import edges
from ..ir import parse
from ..ir.dialects import OPERATIONS
from ..ir.dominance import undominated
from ..ir.model import Block, Operation, Region, Value
from ..ir.module import Module
from ..ir.printer import print_module


def verify(module: Module, stage: str) -> None:
    """InternalError names the stage, the operation and its place, and what does not hold."""
    for function in module.functions.values():
        _Verifier(stage).function(function)


def read_back(module: Module, stage: str, layouts: bool = True) -> None:
    """What is printed is read back, and prints as the same; else InternalError. `layouts`: those of an
    operation's operands agree, so that the reader may verify what each operation asks for."""
    text = print_module(module)
    try:
        again = print_module(parse(text, verified=layouts))
    except TritonSpirvError as error:
        raise InternalError(f"after {stage}: the printed IR cannot be read: {error}") from error
    if again != text:
        pairs = zip(text.splitlines(), again.splitlines(), strict=False)
        line, other = next(((a, b) for a, b in pairs if a != b), ("", "more lines"))
        raise InternalError(f"after {stage}: {line.strip()!r} is read back as {other.strip()!r}")


class _Verifier:
    def __init__(self, stage: str) -> None:
        self.stage = stage
        # lists of thousands, as sets: blocks, and uses of values
        self.members: dict[Block, set[Operation]] = {}
        self.users: dict[Value, set[tuple[Operation, int]]] = {}

    def fail(self, op: Operation, what: str) -> None:
        raise InternalError(f"after {self.stage}: {op.location}: {op.name}: {what}")

    def function(self, function: Operation) -> None:
        for region in function.regions:
            self.region(region)
        found = undominated(function)
        if found is not None:
            op, value = found
            self.fail(op, f"{value.name} is not computed on every way to here")

    def region(self, region: Region) -> None:
        for block in region.blocks:
            if block.parent is not region:
                raise InternalError(f"after {self.stage}: {block!r} belongs elsewhere")
            if block.operations:  # none: the other branch of an scf.if that has none
                self.block(block)

    def block(self, block: Block) -> None:
        for index, argument in enumerate(block.arguments):
            if argument.owner is not block or argument.index != index:
                self.fail(block.terminator, f"argument {argument.name} of its block belongs elsewhere")
        self.uses(block.terminator, block.arguments)
        for op in block.operations:
            self.operation(op, block)

    def operation(self, op: Operation, block: Block) -> None:
        if op.parent is not block:
            self.fail(op, "its parent is another block")
        if op.name not in OPERATIONS:
            self.fail(op, "no line in the table of dialects")
        if op.has("terminator") != (op is block.operations[-1]) and not op.has("function"):
            self.fail(op, "a block ends with one terminator, and has no other")
        for index, value in enumerate(op.operands):
            if (op, index) not in self.uses_of(value):
                self.fail(op, f"operand {index}, {value.name}, does not know of this use")
        for index, result in enumerate(op.results):
            if result.owner is not op or result.index != index:
                self.fail(op, f"result {index} belongs elsewhere")
        self.uses(op, op.results)
        self.arity(op)
        for region in op.regions:
            if region.parent is not op:
                self.fail(op, "its region belongs elsewhere")
            self.region(region)
        self.types(op)

    def uses(self, op: Operation, values: Sequence[Value]) -> None:
        for value in values:
            for user, index in value.uses:
                if index >= len(user.operands) or user.operands[index] is not value:
                    self.fail(op, f"{value.name} is said to be operand {index} of {user.name}, and is not")
                if user.parent is None or not self.stands_in(user, user.parent):
                    self.fail(op, f"{value.name} is used by {user.name}, which stands in no block")

    def uses_of(self, value: Value) -> set[tuple[Operation, int]]:
        if value not in self.users:
            self.users[value] = set(value.uses)
        return self.users[value]

    def stands_in(self, op: Operation, block: Block) -> bool:
        if block not in self.members:
            self.members[block] = set(block.operations)
        return op in self.members[block]

    def arity(self, op: Operation) -> None:
        spec = OPERATIONS[op.name]
        if op.segments is None:
            if len(op.operands) != len(spec.operands) or not spec.fixed:
                self.fail(op, f"{len(op.operands)} operands, and nothing says which is which")
            return
        if len(op.segments) != len(spec.operands) or sum(op.segments) != len(op.operands):
            self.fail(op, f"{len(op.operands)} operands, said to be {op.segments}")
        for operand, count in zip(spec.operands, op.segments, strict=True):
            if (count > 1 and operand.quantity != "*") or (count == 0 and not operand.quantity):
                self.fail(op, f"{count} values of {operand.name}")

    def types(self, op: Operation) -> None:
        """Values that cross the edges of regions and blocks keep their types."""
        for edge in edges(op):
            crossing = len(edge.user.operands) - edge.first
            if crossing < len(edge.taken) or (crossing > len(edge.taken) and edge.user.has("terminator")
                                              and not edge.user.successors):
                self.fail(op, f"{edge.what}: {crossing} values for {len(edge.taken)}")
            for x, y in zip(edge.given, edge.taken, strict=True):
                if x.type != y.type:
                    self.fail(op, f"{edge.what}: {x.name} of type {x.type} becomes {y.name} of type {y.type}")
