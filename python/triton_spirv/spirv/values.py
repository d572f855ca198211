"""What instructions refer to: values, labels, functions. Each is an id of a module and what it stands for."""

from __future__ import annotations

from typing import Any

from .types import FunctionType, Type

Words = list[int]

#: How a selection, a loop or a function is to be taken: the grammar's name, it with parameters, or several.
Control = str | tuple[object, ...] | list[object]


class Value:
    """The result of an instruction: its id, its type, the instruction's name, and the value of a constant.

    `constant` is a bool, an int (the signed reading of its bits), a float, or a tuple of those for a
    composite. It is None for all that is not a constant.
    """

    __slots__ = ("constant", "id", "op", "type")

    def __init__(self, id: int, type: Type, op: str, constant: Any = None) -> None:
        self.id = id
        self.type = type
        self.op = op
        self.constant = constant

    def __repr__(self) -> str:
        constant = "" if self.constant is None else f" {self.constant!r}"
        return f"<%{self.id} = {self.op} {self.type}{constant}>"


class Label:
    """The id of a block: what branches and phis name."""

    __slots__ = ("id",)

    type = None    # a check that takes a label for a value finds a type that fits nothing

    def __init__(self, id: int) -> None:
        self.id = id

    def __repr__(self) -> str:
        return f"<label %{self.id}>"


class Function(Value):
    """A function: parameters and instructions; apart from them, until the words are made, its Function
    variables, and the instructions behind those at the head of the first block.

    begun: ids of private arrays that are written before somebody reads them, in a loop's first round, or
    where no tile goes straight to memory."""

    __slots__ = ("begun", "instructions", "name", "opening", "parameters", "variables", "variables_at")

    type: FunctionType

    def __init__(self, id: int, type: FunctionType, name: str) -> None:
        super().__init__(id, type, "OpFunction")
        self.name = name
        self.parameters: list[Value] = []
        self.instructions: list[Words] = []
        self.variables: list[Words] = []
        self.opening: list[Words] = []
        self.begun: set[int] = set()
        self.variables_at: int | None = None    # their place in `instructions`; None before there is a block

    @property
    def value(self) -> Value:
        """The function as the operand of OpFunctionCall."""
        return self

    def body(self) -> list[Words]:
        """All instructions in order. Function variables come first in the first block: specification 2.4."""
        at = self.variables_at
        return self.instructions[:at] + self.variables + self.opening + self.instructions[at:]
