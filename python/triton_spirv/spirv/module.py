"""`Module`: builds a SPIR-V module, instruction by instruction, in the words of the specification.

    m = Module()
    kernel = m.function("scale", Void(), [Pointer("CrossWorkgroup", Float(32)), Float(32)])
    pointer, factor = kernel.parameters
    m.begin(m.label())
    x = m.emit("OpLoad", pointer, ("Aligned", 4), type=Float(32))
    m.emit("OpStore", pointer, m.emit("OpFMul", x, factor, type=Float(32)), ("Aligned", 4))
    m.emit("OpReturn")
    m.end_function()
    m.entry_point("Kernel", kernel, "scale")
    words = m.words()

Ids, types, constants, imports, capabilities, extensions and the order of the sections are its business.
Operands are checked as they are given: their kinds against the grammar, their types against `checks`.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Protocol, overload

from . import grammar
from .checks import scalar
from .decode import MAGIC
from .interface import Interface
from .operands import Form, Plan, encode, form, opcode, plan
from .types import Float, Pointer, Type
from .values import Control, Function, Label, Value, Words

__all__ = ["Function", "Label", "Module", "SourceLocation", "Value"]


class SourceLocation(Protocol):
    """A place in the user's source."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


#: Results that do not stand in a block, or stand in the first one: every block may use them.
_ANYWHERE = frozenset(["OpConstant", "OpConstantTrue", "OpConstantFalse", "OpConstantComposite",
                       "OpConstantNull", "OpUndef", "OpVariable", "OpFunction", "OpString",
                       "OpExtInstImport"])


class LoopWatch(Protocol):
    """Who adds instructions to every loop: where a round's condition is known, and behind the loop."""

    def goes_on(self, condition: Value) -> Value: ...

    def left(self, watched: Value) -> None: ...


class Module(Interface):
    """A SPIR-V module under construction.

    `location` is the place in the user's source that the next instructions come from, or None; it is written
    as OpLine where it changes. `block` is the label of the last block begun.
    """

    def __init__(self, version: grammar.Version = (1, 2), addressing: str = "Physical64",
                 memory_model: str = "OpenCL", capabilities: Iterable[str] | None = None) -> None:
        super().__init__(version, addressing, memory_model, capabilities)
        self.location: SourceLocation | None = None
        self.watch: LoopWatch | None = None          # is told of each loop's rounds and of its end
        self.block: Label | None = None
        self.functions: list[Function] = []
        self._function: Function | None = None
        self._code: list[Words] | None = None        # of the open block; None when there is none
        self._line: SourceLocation | None = None     # of the last OpLine in this block
        self._phis: dict[Value, Words] = {}
        self._phis_end = 0                           # index in _code behind the phis of this block
        self._forms: dict[str, Form] = {}            # instructions whose capabilities are settled
        self._extended: dict[tuple[str, str], tuple[list[int], Plan]] = {}
        self._left: list[int] = []                   # first id, end, first id, end, ... of the arms left
        self._left_end = 0                           # no id from here on is of an arm that was left
        self._opening: set[int] = set()              # ids that were made `at_entry`

    # Functions and blocks

    def function(self, name: str, result_type: Type, parameter_types: Sequence[Type],
                 control: Control = "None") -> Function:
        """Open a function, with a Value for each parameter; its first block is for the caller to begin."""
        self._check_closed()
        self._function = self._new_function(name, result_type, parameter_types, control)
        self.functions.append(self._function)
        return self._function

    def end_function(self) -> None:
        """Close the current function; its blocks must have their terminators."""
        function = self._function
        if function is None:
            raise RuntimeError("no function is open")
        if function.variables_at is None:
            raise RuntimeError(f"function {function.name} has no block; Module.import_function declares such")
        if not self.terminated:
            raise RuntimeError(f"function {function.name}: {self.block} has no terminator")
        function.instructions.append([1 << 16 | opcode("OpFunctionEnd")])
        self._function = self.block = None
        self._left, self._left_end = [], 0

    def _check_closed(self) -> None:
        if self._function is not None:
            raise RuntimeError(f"function {self._function.name} is open: Module.end_function comes first")

    def label(self) -> Label:
        """A label for a block to come; branches may name it before `begin`."""
        return Label(self.new_id())

    def begin(self, label: Label) -> Label:
        """Start the block of a label in the current function."""
        function = self._function
        if function is None:
            raise RuntimeError("a block needs a function: Module.function comes first")
        if self._code is not None:
            raise RuntimeError(f"{self.block} has no terminator yet")
        code = self._code = function.instructions
        code.append([2 << 16 | opcode("OpLabel"), label.id])
        self._phis_end = len(code)
        if function.variables_at is None:
            function.variables_at = len(code)
        self.block = label
        self._line = None    # an OpLine holds until its block ends
        return label

    @property
    def mark(self) -> int:
        """Where values begin that are made from here on, for `leave`."""
        return self._bound

    def leave(self, mark: int) -> None:
        """What was made since the mark stands on one way of several: the blocks to come may not use it."""
        left = self._left
        while left and left[-2] >= mark:
            del left[-2:]
        left += mark, self._bound
        self._left_end = self._bound

    def rejoin(self, mark: int) -> None:
        """Take `leave(mark)` back: the blocks to come are reached from that way alone."""
        at = bisect_left(self._left, mark)
        at += at % 2    # an arm before this one may end here
        assert self._left[at] == mark
        del self._left[at:at + 2]

    def _check_reach(self, name: str, operands: Sequence[object]) -> None:
        """An operand must be made on every way to its use: specification, 2.16.1. Drivers do not check that,
        and Intel's CPU compiler ends the process over it."""
        for operand in operands:
            if (isinstance(operand, Value) and operand.id < self._left_end and operand.op not in _ANYWHERE
                    and operand.id not in self._opening and bisect_right(self._left, operand.id) % 2):
                raise ValueError(f"{name}: its operand %{operand.id} = {operand.op} is made on one way only, "
                                 f"in a block that control may not have come through")

    @contextmanager
    def at_entry(self) -> Iterator[None]:
        """What is emitted within it stands at the head of the function's first block, behind the variables:
        every block may use it. It may use what was emitted so itself, and what does not stand in a block."""
        function, before = self._function, (self._code, self._line, self.location)
        if function is None:
            raise RuntimeError("a place at the entry needs a function: Module.function comes first")
        self._code, self._line, self.location = function.opening, None, None
        first = self._bound
        try:
            yield
        finally:
            self._code, self._line, self.location = before
            self._opening.update(range(first, self._bound))

    @property
    def terminated(self) -> bool:
        """Is no block open: none begun, or the last one closed by its terminator?"""
        return self._code is None

    @property
    def instruction_count(self) -> int:
        """How many instructions the functions hold so far: a measure of size."""
        return sum(len(function.body()) for function in self.functions)

    def has(self, opcodes: frozenset[int]) -> bool:
        """Is one of these among the instructions of the functions so far?"""
        return not opcodes.isdisjoint(
            {words[0] & 0xFFFF for function in self.functions for words in function.body()})

    def converted_from(self, value: Value) -> int:
        """The id of what a conversion, in the function at hand, has made a value of."""
        conversion = opcode(value.op)
        return next(words[3] for words in self.functions[-1].instructions
                    if words[0] & 0xFFFF == conversion and words[2] == value.id)

    # Instructions

    @overload
    def emit(self, name: str, *operands: object, type: Type) -> Value: ...
    @overload
    def emit(self, name: str, *operands: object) -> None: ...

    def emit(self, name: str, *operands: object, type: Type | None = None) -> Value | None:
        """Append an instruction to the open block -> its Value; None for one without result.

        An id is given as a Value, a Label or a Type; a literal as an int, float or str; an enumerant by its
        name, or with parameters as a tuple, `("Aligned", 4)`; a mask as one of those or a list; scopes and
        memory semantics as Values or by name; a case of OpSwitch as a tuple, `(7, label)`.
        """
        shape = self._forms.get(name)
        if shape is None:
            shape = self._admit(name, type)
        if shape.fewest <= len(operands) <= shape.most:
            try:
                words = [operand.id for operand in operands]  # type: ignore[attr-defined]  # see below
            except AttributeError:    # a type, which stands for its id, or a mistake to report
                words = shape.encode(self, operands)
        else:
            words = shape.encode(self, operands)
        type_id = 0
        if shape.has_result:
            type_id = self._type_ids.get(type) or self._result_type(name, type)
        elif type is not None:
            raise TypeError(f"{name} has no result, type={type} is given")
        if shape.check is not None:
            wrong = shape.check(type, operands)    # type: ignore[arg-type]
            if wrong is not None:
                raise TypeError(f"{name}: {wrong}")
        if self._left_end and words and min(words) < self._left_end:
            self._check_reach(name, operands)
        code = self._code
        if code is None:
            code = self._open_block(name)
        if self.location is not self._line:
            self._mark_line(code)
        if type_id:
            id = self._bound
            self._bound = id + 1
            code.append([shape.head + (len(words) << 16), type_id, id, *words])
            return Value(id, type, name)    # type: ignore[arg-type]
        code.append([shape.head + (len(words) << 16), *words])
        if shape.is_terminator:
            self._code = None
        return None

    def ext(self, set: str, name: str, *operands: object, type: Type) -> Value:
        """Append an extended instruction by its name: `m.ext("OpenCL.std", "exp", x, type=x.type)`."""
        known = self._extended.get((set, name))
        if known is None:
            entry = grammar.extended(set, name)
            known = self._extended[set, name] = [self.import_set(set), entry.number], plan(entry.operands)
        head, operand_plan = known
        words = encode(self, name, operand_plan, operands)
        if self._left_end and words and min(words) < self._left_end:
            self._check_reach(name, operands)
        code = self._open_block(name)
        if self.location is not self._line:
            self._mark_line(code)
        value = Value(self.new_id(), type, "OpExtInst")
        first = (5 + len(words)) << 16 | opcode("OpExtInst")
        code.append([first, self.type_id(type), value.id, *head, *words])
        return value

    def phi(self, type: Type) -> Value:
        """An OpPhi at the head of the open block; `add_incoming` gives it values, any time before `words`."""
        code = self._open_block("OpPhi")
        value = Value(self.new_id(), type, "OpPhi")
        words = self._phis[value] = [3 << 16 | opcode("OpPhi"), self.type_id(type), value.id]
        code.insert(self._phis_end, words)
        self._phis_end += 1
        return value

    def add_incoming(self, phi: Value, value: Value, label: Label) -> None:
        """`phi` is `value` when control comes from the block `label`."""
        if value.type is not phi.type:
            raise TypeError(f"OpPhi: it is {phi.type}, the incoming value is {value.type}")
        words = self._phis[phi]
        words += value.id, label.id
        words[0] += 2 << 16

    def variable(self, type: Type, initializer: Value | None = None) -> Value:
        """A Function variable that holds `type` -> its pointer; it is put at the head of the entry block."""
        function = self._function
        if function is None:
            raise RuntimeError("a Function variable needs a function: Module.function comes first")
        pointer = Pointer("Function", type)
        variable = Value(self.new_id(), pointer, "OpVariable")
        function.variables.append(
            self._assemble("OpVariable", "Function", initializer, result=variable.id, type=pointer))
        return variable

    def _open_block(self, name: str) -> list[Words]:
        if self._code is None:
            raise RuntimeError(f"{name} needs an open block: Module.begin comes first")
        return self._code

    def _admit(self, name: str, type: Type | None) -> Form:
        """The form of an instruction at its first use: may it stand here, has the target its capabilities?"""
        shape = form(name)
        refusal = shape.refusal()
        if refusal is not None:
            raise TypeError(f"{name} is not for Module.emit: {refusal}")
        # Only atomics on floats name the width in their capabilities; those are settled again for each type.
        by_width = any("Float32" in capability for capability in shape.instruction.capabilities)
        element = None if type is None else scalar(type)
        width = element.width if by_width and isinstance(element, Float) else None
        self.requirements.satisfy(shape.instruction, name, width)
        if not by_width:
            self._forms[name] = shape
        return shape

    def _result_type(self, name: str, type: Type | None) -> int:
        if type is None:
            raise TypeError(f"{name} has a result: type= is missing")
        return self.type_id(type)

    def _mark_line(self, code: list[Words]) -> None:
        location, last = self.location, self._line
        self._line = location
        if location is None:
            code.append([1 << 16 | opcode("OpNoLine")])
            return
        place = self.string(location.file).id, location.line, location.column
        if last is None or place != (self.string(last.file).id, last.line, last.column):
            code.append([4 << 16 | opcode("OpLine"), *place])

    def declared(self) -> set[int]:
        """What stands in no block, functions included."""
        return super().declared() | {function.id for function in self.functions}

    # Words

    def words(self) -> bytes:
        """The module in this machine's byte order, its sections in the order of the specification, 2.4."""
        self._check_closed()
        return self._words()

    def unfinished(self) -> bytes:
        """The same of a module whose last function is still open, to be read."""
        return self._words([[1 << 16 | opcode("OpFunctionEnd")]] if self._function is not None else ())

    def _words(self, end: Sequence[Words] = ()) -> bytes:
        major, minor = self.version
        header = [MAGIC, major << 16 | minor << 8, 0, self._bound, 0]    # no registered generator; schema 0
        bodies = (function.body() for function in self.functions)
        instructions = chain(self._sections(), chain.from_iterable(bodies), end)
        return array("I", chain(header, chain.from_iterable(instructions))).tobytes()
