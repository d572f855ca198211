"""Places that may report, and how the operations of checks are made (check_layout.py: what the words are)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...check_layout import Site, site_word, spare_word
from ...ir.location import Location
from ...ir.model import (
    Block,
    DenseAttr,
    IntegerType,
    Operation,
    TensorType,
    Type,
    Value,
    element_type,
    function_of,
    like,
)
from ...ir.module import Module

I1, I64 = IntegerType(1), IntegerType(64)


class Sites:
    """The places of one kernel; numbers and words are given in the order in which they are asked for."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.arguments = len(module.entry.regions[0].entry.arguments)
        self.known: list[Site] = []
        self._words: dict[tuple[Operation, int], Value] = {}

    @property
    def spare(self) -> int:
        """The word with the address of memory that nobody uses."""
        return spare_word(self.arguments)

    def add(self, op: Operation, check: str, what: str, **more: Any) -> int:
        """A new site, which names the user's own line; the word that it counts in."""
        place = op.location.in_user_code
        self.known.append(Site(check, what, place.file, place.line, place.column, **more))
        return site_word(self.arguments, len(self.known) - 1)

    def word(self, op: Operation, number: int) -> Value:
        """A word of the array, i64, read once at the beginning of the function around an operation."""
        function = function_of(op.parent)
        assert function is not None
        key = function, number
        if key not in self._words:
            entry = function.regions[0].entry
            read = Operation("ts.check_word", [], {"word": number}, [I64], [f"word{number}"], op.location)
            entry.insert_before(entry.operations[0], read)
            self._words[key] = read.result
        return self._words[key]


class Before:
    """Makes operations right before one, at a place in the user's source: its own, or another."""

    def __init__(self, op: Operation, location: Location | None = None) -> None:
        self.op, self.location = op, location or op.location
        assert op.parent is not None
        self.block: Block = op.parent

    def make(self, name: str, operands: Sequence[Value], type: Type | None, segments: Any = None,
             **attributes: object) -> Any:
        """The result of a new operation; None without a type."""
        types = [] if type is None else [type]
        made = Operation(name, list(operands), attributes, types, ["checked"] * len(types), self.location,
                         segments)
        self.insert(made)
        return made.results[0] if types else None

    def insert(self, op: Operation) -> None:
        """Put an operation there."""
        self.block.insert_before(self.op, op)

    def number(self, value: float, type: Type) -> Value:
        """A constant of a type, of each element of a tensor."""
        held: Any = bool(value) if element_type(type) == I1 else value
        held = DenseAttr(type, True, held) if isinstance(type, TensorType) else held
        return self.make("arith.constant", [], type, value=held)

    def spread(self, scalar: Value, over: Type) -> Value:
        """The scalar, for each element of a tensor type; itself for a scalar type."""
        if not isinstance(over, TensorType):
            return scalar
        return self.make("tt.splat", [scalar], like(over, scalar.type))

    def compare(self, predicate: str, x: Value, y: Value) -> Value:
        return self.make("arith.cmpi", [x, y], like(x.type, I1), predicate=predicate)

    def both(self, x: Value | None, y: Value) -> Value:
        """x and y, of i1; y where there is no x."""
        return y if x is None else self.make("arith.andi", [x, y], y.type)

    def either(self, x: Value | None, y: Value) -> Value:
        return y if x is None else self.make("arith.ori", [x, y], y.type)

    def negated(self, x: Value) -> Value:
        return self.make("arith.xori", [x, self.number(1, x.type)], x.type)
