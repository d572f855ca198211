"""edges(op): where values cross the edges of regions and blocks, and what they become there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..dataclass import dataclass
from ..ir.model import Operation, Value


@dataclass(frozen=True)
class Edge:
    """`user` hands on its operands from number `first` on; on the other side they are `taken`."""

    what: str
    user: Operation
    first: int
    taken: Sequence[Value]

    @property
    def given(self) -> Sequence[Value]:
        return self.user.operands[self.first:self.first + len(self.taken)]


def edges(op: Operation) -> Iterator[Edge]:
    """Those of the regions of an operation, and of a branch to other blocks."""
    if op.has("counts"):
        body = op.regions[0].entry
        yield Edge("before the first round", op, 3, body.arguments[1:])
        yield Edge("from round to round", body.terminator, 0, body.arguments[1:])
        yield Edge("behind the last round", body.terminator, 0, op.results)
        yield Edge("bounds", op, 0, [body.arguments[0]] * 3)
    elif op.name == "scf.while":
        before, after = (region.entry for region in op.regions)
        yield Edge("before the first round", op, 0, before.arguments)
        yield Edge("into the body", before.terminator, 1, after.arguments)
        yield Edge("from round to round", after.terminator, 0, before.arguments)
        yield Edge("behind the last round", before.terminator, 1, op.results)
    elif op.regions:
        for block in [block for region in op.regions for block in region.blocks if block.operations]:
            if block.terminator.name == "scf.yield":
                yield Edge("out of a branch", block.terminator, 0, op.results)
    elif op.name == "cf.br":
        yield Edge("to the next block", op, 0, op.successors[0].arguments)
    elif op.name == "cf.cond_br":
        true, false = op.successors
        yield Edge("to the first block", op, 1, true.arguments)
        yield Edge("to the second block", op, 1 + len(true.arguments), false.arguments)
