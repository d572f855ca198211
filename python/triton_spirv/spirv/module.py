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
    spv = m.words()

Ids, declarations of types, constants and imports, capabilities, extensions and the order of the sections are its business;
operands are checked against the grammar as they are given.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, Protocol

from . import grammar
from .declarations import Declarations
from .decode import MAGIC
from .operands import Form, encode, encoder, form
from .types import Float, Pointer, Type, Vector
from .values import Function, Label, Value, Words

_LABEL, _LINE, _NO_LINE = (form(name).instruction.opcode for name in ("OpLabel", "OpLine", "OpNoLine"))


class SourceLocation(Protocol):
    """A place in the user's source, as ir.Location has it."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def column(self) -> int: ...


class Module(Declarations):
    """A SPIR-V module under construction.

    `location`: the place of the user's source that the following instructions come from, or None; written as OpLine where it changes.
    `block`: the label of the current block; `terminated`: whether it has its terminator (or there is no block yet).
    """

    def __init__(self, version: grammar.Version = (1, 2), addressing: str = "Physical64", memory_model: str = "OpenCL",
                 capabilities: Iterable[str] | None = None) -> None:
        super().__init__(version, addressing, memory_model, capabilities)
        self.location: SourceLocation | None = None
        self.block: Label | None = None
        self.functions: list[Function] = []
        self._function: Function | None = None
        self._code: list[Words] | None = None         # where instructions go; None outside of a block
        self._line: SourceLocation | None = None      # of the last OpLine in this block
        self._phis: dict[Value, Words] = {}
        self._phis_end = 0                            # index in _code behind the phis of this block
        self._forms: dict[str, Form] = {}             # instructions whose capabilities are settled

    # Functions and blocks

    def function(self, name: str, result_type: Type, parameter_types: Sequence[Type], control: Any = "None") -> Function:
        """Open a function; its `parameters` are Values. The first block is begun by the caller."""
        if self._function is not None:
            raise RuntimeError(f"function {self._function.name} is still open: Module.end_function comes first")
        function = self._new_function(name, result_type, parameter_types, control)
        self.functions.append(function)
        self._function = function
        return function

    def end_function(self) -> None:
        """Close the current function; every block must have its terminator."""
        function = self._function
        if function is None:
            raise RuntimeError("no function is open")
        if not self.terminated:
            raise RuntimeError(f"function {function.name}: its last block has no terminator")
        if function.variables_at is None:
            raise RuntimeError(f"function {function.name} has no block; Module.import_function declares one without body")
        function.instructions.append([1 << 16 | form("OpFunctionEnd").instruction.opcode])
        self._function = self.block = None

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
        code = function.instructions
        code.append([2 << 16 | _LABEL, label.id])
        if function.variables_at is None:
            function.variables_at = len(code)
        self._code, self._phis_end = code, len(code)
        self.block, self._line = label, None      # an OpLine ends with its block
        return label

    @property
    def terminated(self) -> bool:
        """Can no instruction be emitted, because the block has its terminator or there is none?"""
        return self._code is None

    @property
    def instruction_count(self) -> int:
        """How many instructions the functions hold so far: a measure of size."""
        return sum(len(function.instructions) + len(function.variables) for function in self.functions)

    # Instructions

    def emit(self, name: str, *operands: Any, type: Type | None = None) -> Any:
        """Append an instruction to the current block -> its Value, or None for one without result.

        Operands by kind: an id is a Value, a Label or a type; a literal is an int, float or str; an enumerant is its name, with
        parameters a tuple `("Aligned", 4)`; a mask is one of those or a list of them; scopes and semantics are a Value or names; a pair
        (OpPhi, OpSwitch) is a tuple.
        """
        shape = self._forms.get(name)
        if shape is None:
            shape = self._admit(name, type)
        if shape.fewest <= len(operands) <= shape.most:
            try:
                words = [operand.id for operand in operands]
            except AttributeError:    # a type, which stands for its id, or a mistake to report
                words = shape.encode(self, operands)
        else:
            words = shape.encode(self, operands)
        code = self._code
        if code is None:
            code = self._open_block(name)    # raises
        if self.location is not self._line:
            self._mark_line(code)
        head = shape.head + (len(words) << 16)
        if shape.has_result:
            type_id = self._type_ids.get(type) or self._result_type(name, type)
            id = self._bound
            self._bound = id + 1
            code.append([head, type_id, id, *words])
            return Value(id, type, name)    # type: ignore[arg-type]
        code.append([head, *words])
        if shape.is_terminator:
            self._code = None
        return None

    def ext(self, set: str, name: str, *operands: Any, type: Type) -> Value:
        """Append OpExtInst with an instruction of an extended set by its name: `m.ext("OpenCL.std", "exp", x, type=x.type)`."""
        entry = grammar.extended(set, name)
        plan = [(operand, encoder(operand.kind)) for operand in entry.operands]
        try:
            words = encode(self, plan, operands)
        except TypeError as error:
            raise TypeError(f"{set} {name}: {error}") from None
        return self._append("OpExtInst", type, [self.import_set(set), entry.number, *words])

    def phi(self, type: Type) -> Value:
        """An OpPhi at the head of the current block; `add_incoming` gives it its values, any time before the words are made."""
        code = self._open_block("OpPhi")
        value = Value(self.new_id(), type, "OpPhi")
        self._phis[value] = words = [form("OpPhi").head, self.type_id(type), value.id]
        code.insert(self._phis_end, words)
        self._phis_end += 1
        return value

    def add_incoming(self, phi: Value, value: Value, label: Label) -> None:
        """`phi` has `value` when control comes from the block `label`."""
        if value.type is not phi.type:
            raise TypeError(f"OpPhi: {value} comes into {phi}")
        words = self._phis[phi]
        words += value.id, label.id
        words[0] += 2 << 16

    def variable(self, type: Type, initializer: Value | None = None) -> Value:
        """An OpVariable of storage class Function that holds `type`, at the head of the entry block -> its pointer."""
        function = self._function
        if function is None or function.variables_at is None:
            raise RuntimeError("a Function variable needs a function with a block")
        value = Value(self.new_id(), Pointer("Function", type), "OpVariable")
        operands = ["Function"] if initializer is None else ["Function", initializer]
        function.variables.append(self._assemble("OpVariable", *operands, value=value))
        return value

    def _append(self, name: str, type: Type, words: Words) -> Value:
        """Append an instruction with a result whose operands are words already."""
        code = self._open_block(name)
        if self.location is not self._line:
            self._mark_line(code)
        value = Value(self.new_id(), type, name)
        code.append([form(name).head + (len(words) << 16), self.type_id(type), value.id, *words])
        return value

    def _open_block(self, name: str) -> list[Words]:
        if self._code is None:
            raise RuntimeError(f"{name} needs a block: the last one is terminated, or none is begun")
        return self._code

    def _admit(self, name: str, type: Type | None) -> Form:
        """The form of an instruction used for the first time here: may it stand in a block, and has the target its capabilities?"""
        shape = form(name)
        if not shape.in_body:
            raise TypeError(f"{name} does not stand in a block: Module has a method for it")
        by_width = any("Float32" in capability for capability in shape.instruction.capabilities)
        scalar = type.element if isinstance(type, Vector) else type
        self.requirements.satisfy(shape.instruction, name, scalar.width if by_width and isinstance(scalar, Float) else None)
        if not by_width:
            self._forms[name] = shape
        return shape

    def _result_type(self, name: str, type: Type | None) -> int:
        if type is None:
            raise TypeError(f"{name} has a result: type= is missing")
        return self.type_id(type)

    def _mark_line(self, code: list[Words]) -> None:
        location = self._line = self.location
        if location is None:
            code.append([1 << 16 | _NO_LINE])
        else:
            code.append([4 << 16 | _LINE, self.string(location.file).id, location.line, location.column])

    # Words

    def words(self) -> bytes:
        """The module's words, little-endian, with the sections in the order of the specification, 2.4."""
        if self._function is not None:
            raise RuntimeError(f"function {self._function.name} is still open: Module.end_function comes first")
        header = [MAGIC, self.version[0] << 16 | self.version[1] << 8, 0, self._bound, 0]
        bodies = (function.body() for function in self.functions)
        instructions = chain(self._preamble(), self._debug(), self._annotations.values(), self._globals, self._imports(),
                             chain.from_iterable(bodies))
        return array("I", chain(header, chain.from_iterable(instructions))).tobytes()
