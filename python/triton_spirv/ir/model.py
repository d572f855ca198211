"""The IR in memory: Value, Operation, Block, Region. (Modules: module.py.)

Operations know their operands by the dialect's names (`op.ptr`, `op.mask`; see dialects.py). Values and
operations compare by identity. Types and attributes are re-exported from types.py.

Whoever changes a function does it by the methods here: they keep the lists of uses, and count the function's
generation up, so that what was known of an earlier one is not taken for the new one's (facts/axis.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .dialects import OPERATIONS, OperationSpec
from .location import UNKNOWN_LOCATION, Location
from .types import (
    DenseAttr,
    Encoding,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemDescType,
    NoneType,
    OpaqueAttr,
    OpaqueType,
    PointerType,
    SymbolRef,
    TensorDescType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    VectorType,
    bits_of,
    element_type,
    like,
    shape_of,
)

__all__ = [
    "Block",
    "DenseAttr",
    "Encoding",
    "FloatType",
    "FunctionType",
    "IndexType",
    "IntegerType",
    "MemDescType",
    "NoneType",
    "OpaqueAttr",
    "OpaqueType",
    "Operation",
    "PointerType",
    "Region",
    "SymbolRef",
    "TensorDescType",
    "TensorType",
    "TokenType",
    "TupleType",
    "Type",
    "Value",
    "VectorType",
    "bits_of",
    "element_type",
    "like",
    "shape_of",
]


class Value:
    """A result of an operation (`owner` is the Operation) or an argument of a block (`owner`: the Block)."""

    __slots__ = ("index", "name", "owner", "type", "uses")

    def __init__(self, type: Type, name: str, owner: Operation | Block, index: int) -> None:
        self.type = type
        self.name = name
        self.owner = owner
        self.index = index
        self.uses: list[tuple[Operation, int]] = []

    @property
    def defining_op(self) -> Operation | None:
        return self.owner if isinstance(self.owner, Operation) else None

    @property
    def block(self) -> Block | None:
        """The block that it is made in, or is an argument of."""
        return self.owner if isinstance(self.owner, Block) else self.owner.parent

    def retype(self, type: Type) -> None:
        """Give it another type; its makers and users must agree."""
        self.type = type
        _changed(self.block)

    def replace_by(self, other: Value) -> None:
        """Let everybody who uses this value use the other one."""
        for user, index in list(self.uses):
            user.set_operand(index, other)

    def __repr__(self) -> str:
        return f"<{self.name}: {self.type}>"


class Operation:
    """name, operands, attributes, results, regions, successors, location, parent (the block that holds it).

    `op.<operand name>` gives the Value, None for an absent optional operand, a tuple for a variadic one.
    `segments` counts the values of each named operand; None when each is exactly one.
    """

    __slots__ = (
        "attributes",
        "facts",
        "generation",
        "location",
        "name",
        "operands",
        "parent",
        "regions",
        "results",
        "segments",
        "successors",
    )

    def __init__(
        self,
        name: str,
        operands: list[Value],
        attributes: dict[str, Any],
        result_types: list[Type],
        result_names: list[str],
        location: Location = UNKNOWN_LOCATION,
        segments: tuple[int, ...] | None = None,
        regions: list[Region] | None = None,
        successors: list[Block] | None = None,
    ) -> None:
        self.name = name
        self.operands = operands
        self.attributes = attributes
        self.results = [
            Value(t, n, self, i) for i, (t, n) in enumerate(zip(result_types, result_names, strict=True))
        ]
        self.regions: list[Region] = regions if regions is not None else []
        for region in self.regions:
            region.parent = self
        self.successors: list[Block] = successors if successors is not None else []
        self.location = location
        spec = OPERATIONS.get(name) if segments is None else None
        self.segments = segments if spec is None or spec.fixed else _segments(spec, len(operands))
        self.parent: Block | None = None
        #: of a function: how often it has been changed
        self.generation = 0
        #: of a function: what the last analysis knows of it, which lives no longer than it does
        self.facts: object = None
        for index, operand in enumerate(operands):
            operand.uses.append((self, index))

    @property
    def result(self) -> Value:
        """The only result."""
        (result,) = self.results
        return result

    @property
    def parent_op(self) -> Operation | None:
        """The operation whose region holds this one."""
        return self.parent.parent.parent if self.parent is not None else None

    def has(self, trait: str) -> bool:
        """Does the table of dialects say this of the operation?"""
        spec = OPERATIONS.get(self.name)
        return spec is not None and trait in spec.traits

    @property
    def is_pure(self) -> bool:
        """Do the results follow from operands and attributes, and is that all that happens?"""
        return self.has("pure") and self.attributes.get("pure") is not False

    def operand_names(self) -> list[str]:
        """The dialect's names of the operands, in order; optional and variadic ones included."""
        spec = OPERATIONS.get(self.name)
        return [operand.name for operand in spec.operands] if spec else []

    def named_operands(self) -> dict[str, Any]:
        """operand name -> Value, None or tuple of Values."""
        return {name: getattr(self, name) for name in self.operand_names()}

    def __getattr__(self, name: str) -> Any:
        spec = OPERATIONS.get(self.name)
        position = spec.positions.get(name) if spec else None
        if spec is None or position is None:
            raise AttributeError(
                f"{self.name} has no operand {name!r}; it has {', '.join(self.operand_names()) or 'none'}"
            )
        if self.segments is None:
            return self.operands[position]
        start = sum(self.segments[:position])
        count = self.segments[position]
        quantity = spec.operands[position].quantity
        if quantity == "*":
            return tuple(self.operands[start : start + count])
        return self.operands[start] if count else None

    # changes

    def set_operand(self, index: int, value: Value) -> None:
        """Let it use another value."""
        self.operands[index].uses.remove((self, index))
        self.operands[index] = value
        value.uses.append((self, index))
        _changed(self.parent)

    def append_operand(self, value: Value) -> None:
        """One more value behind the others, for the last of the named operands, which takes any number."""
        value.uses.append((self, len(self.operands)))
        self.operands.append(value)
        if self.segments is not None:
            self.segments = (*self.segments[:-1], self.segments[-1] + 1)
        _changed(self.parent)

    def append_result(self, type: Type, name: str) -> Value:
        """One more result behind the others."""
        self.results.append(Value(type, name, self, len(self.results)))
        _changed(self.parent)
        return self.results[-1]

    def become(self, name: str, operands: Sequence[Value], attributes: dict[str, Any]) -> None:
        """Compute the same results in another way."""
        self._drop_uses()
        self.name, self.attributes, self.segments, self.operands = name, attributes, None, list(operands)
        for index, operand in enumerate(self.operands):
            operand.uses.append((self, index))
        _changed(self.parent)

    def set_attribute(self, name: str, value: Any) -> None:
        """Say something of it."""
        self.attributes[name] = value
        _changed(self.parent)

    def erase(self) -> None:
        """Take it out of its block for good; nobody may use its results."""
        assert not any(value.uses for value in self.results), f"{self.name} is used"
        self._drop_uses()
        assert self.parent is not None
        self.parent.operations.remove(self)
        _changed(self.parent)
        self.parent = None

    def _drop_uses(self) -> None:
        for value in dict.fromkeys(self.operands):
            value.uses = [(user, index) for user, index in value.uses if user is not self]

    def move_before(self, other: Operation) -> None:
        """Stand right before another operation of the same block."""
        assert self.parent is not None and other.parent is self.parent
        self.parent.operations.remove(self)
        self.parent.insert_before(other, self)

    def walk(self) -> list[Operation]:
        """This operation and all inside it, in textual order, as they are now."""
        found: list[Operation] = []
        self.collect(found)
        return found

    def collect(self, found: list[Operation]) -> None:
        found.append(self)
        for region in self.regions:
            for block in region.blocks:
                for op in block.operations:
                    if op.regions:
                        op.collect(found)
                    else:
                        found.append(op)

    def __repr__(self) -> str:
        types = ", ".join(str(v.type) for v in self.operands)
        results = ", ".join(str(v.type) for v in self.results)
        return f"<{self.name} ({types}) -> ({results}) at {self.location}>"


class Block:
    """A basic block: arguments, then operations, the last a terminator."""

    __slots__ = ("arguments", "label", "operations", "parent")

    def __init__(self, parent: Region, label: str = "^bb0") -> None:
        self.arguments: list[Value] = []
        self.operations: list[Operation] = []
        self.parent = parent
        self.label = label

    @property
    def terminator(self) -> Operation:
        return self.operations[-1]

    def append(self, op: Operation) -> None:
        """Put an operation at the end."""
        op.parent = self
        self.operations.append(op)
        _changed(self)

    def insert_before(self, other: Operation, op: Operation) -> None:
        """Put an operation right before one of the block."""
        op.parent = self
        self.operations.insert(self.operations.index(other), op)
        _changed(self)

    def insert_behind(self, other: Operation, op: Operation) -> None:
        """Put an operation right behind one of the block."""
        op.parent = self
        self.operations.insert(self.operations.index(other) + 1, op)
        _changed(self)

    def adopt(self, operations: Sequence[Operation]) -> None:
        """Operations of other blocks stand here from now on, behind those that are here."""
        for op in list(operations):
            if op.parent is not None:
                op.parent.operations.remove(op)
                _changed(op.parent)
            self.append(op)

    def append_argument(self, type: Type, name: str) -> Value:
        """One more argument behind the others."""
        self.arguments.append(Value(type, name, self, len(self.arguments)))
        _changed(self)
        return self.arguments[-1]

    def __repr__(self) -> str:
        return f"<block {self.label}, {len(self.operations)} operations>"


class Region:
    """Blocks, the first is the entry."""

    __slots__ = ("blocks", "parent")

    def __init__(self, parent: Operation | None = None) -> None:
        self.blocks: list[Block] = []
        self.parent = parent

    @property
    def entry(self) -> Block:
        return self.blocks[0]

    def reached(self) -> list[Block]:
        """The blocks that control can come to from the entry, in their order."""
        found, waiting = {self.entry}, [self.entry]
        while waiting:
            new = {successor for op in waiting.pop().operations[-1:] for successor in op.successors} - found
            found |= new
            waiting += new
        return [block for block in self.blocks if block in found]


def _segments(spec: OperationSpec, count: int) -> tuple[int, ...] | None:
    """How many values each named operand has where one of them takes any number; else they must be said."""
    some = [operand.quantity != "" for operand in spec.operands]
    if sum(some) != 1:
        return None
    return tuple(count - len(some) + 1 if any_number else 1 for any_number in some)


def function_of(block: Block | None) -> Operation | None:
    """The tt.func around a block; None of what stands in none."""
    while block is not None and (holder := block.parent.parent) is not None:
        if holder.name == "tt.func":
            return holder
        block = holder.parent
    return None


def _changed(block: Block | None) -> None:
    """What is in the block is not what it was."""
    function = function_of(block)
    if function is not None:
        function.generation += 1
