"""A module of the IR: its functions, of which one is the kernel."""

from __future__ import annotations

from typing import Any

from ..errors import ParseError
from .model import Block, Operation


class Module:
    """A builtin.module. `functions`: name -> tt.func operation."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.functions: dict[str, Operation] = {
            op.attributes["sym_name"]: op for op in self.body.operations if op.name == "tt.func"
        }
        #: what analyses of the whole module have found, and of which generation: facts/module_facts.py
        self.facts: dict[object, object] = {}
        self.facts_generation: tuple[int, int] | None = None

    @property
    def generation(self) -> tuple[int, int]:
        """Another one whenever something in the module has changed."""
        operations = self.body.operations
        return len(operations), sum([op.generation for op in operations])

    @property
    def attributes(self) -> dict[str, Any]:
        return self.operation.attributes

    @property
    def body(self) -> Block:
        return self.operation.regions[0].blocks[0]

    def walk(self) -> list[Operation]:
        """Every operation inside the module, in textual order, as they are now."""
        found: list[Operation] = []
        for op in self.body.operations:
            op.collect(found)
        return found

    @property
    def entry(self) -> Operation:
        """The kernel: the public function, of which Triton makes exactly one; ParseError where there is none,
        or where there are several."""
        public = self.public
        if len(public) != 1 or not public[0].regions:
            names = ", ".join(f.attributes["sym_name"] for f in public) or "none"
            raise ParseError(f"a module has one public function with a body, its kernel; here: {names}")
        return public[0]

    @property
    def public(self) -> list[Operation]:
        """The functions that may be called from outside."""
        functions = self.functions.values()
        return [f for f in functions if f.attributes.get("sym_visibility", "public") == "public"]
