"""Types, constants, names and decorations of a module: asking for one twice gives the same id."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from . import grammar
from .literals import literal_words, scalar_bits, scalar_value
from .operands import Form, form, opcode
from .requirements import Requirements
from .types import (
    Array,
    Bool,
    CooperativeMatrix,
    Float,
    FunctionType,
    Int,
    Opaque,
    Pointer,
    RuntimeArray,
    Struct,
    Type,
    Vector,
    Void,
)
from .values import Label, Value, Words

Target = Value | Label | Type

# The capability that a scalar type needs; behind it those that allow the type for loads, stores and changes
# of width only, which will do if the caller has asked for one and the target is not known to have more. The
# grammar does not hold this: specification 3.2.30.
_STORAGE_16_BIT = ("StorageBuffer16BitAccess", "UniformAndStorageBuffer16BitAccess", "StoragePushConstant16")
_SCALAR_CAPABILITIES: dict[Type, tuple[str, ...]] = {
    Int(8): ("Int8", "StorageBuffer8BitAccess", "UniformAndStorageBuffer8BitAccess", "StoragePushConstant8"),
    Int(16): ("Int16", *_STORAGE_16_BIT),
    Int(64): ("Int64",),
    Float(16): ("Float16", "Float16Buffer", *_STORAGE_16_BIT),
    Float(64): ("Float64",),
}


class Declarations:
    """The declaring part of a module: ids, types, constants, names, decorations."""

    def __init__(self, version: grammar.Version, addressing: str, memory_model: str,
                 capabilities: Iterable[str] | None) -> None:
        self.version = version
        is_opencl = memory_model == "OpenCL"
        self.requirements = Requirements(version, "Shader" if is_opencl else "Kernel", capabilities)
        self.enumerant_words: dict[tuple[str, object], Sequence[int]] = {}    # see operands.py
        self._bound = 1
        self._declaring: dict[str, Form] = {}                # instructions whose capabilities are settled
        self._type_ids: dict[Any, int] = {}
        self._constants: dict[tuple[Type, object], Value] = {}  # by bits, or by the ids of the elements
        self._numbers: dict[tuple[object, ...], Value] = {}    # by Python value: the fast way to them
        self._globals: list[Words] = []
        self._names: dict[tuple[int, ...], str] = {}         # of (id,) or of (id of a struct type, member)
        self._annotations: dict[tuple[int, ...], Words] = {}
        if not is_opencl:
            self.requirements.require("Shader")
        self._memory_model = self._assemble("OpMemoryModel", addressing, memory_model)

    def require(self, capability: str, extension: str | None = None) -> None:
        """Declare a capability and an extension to go with it; MissingCapability if the target lacks it."""
        self.requirements.require(capability, extension)

    @property
    def types(self) -> dict[int, Type]:
        """The types of the module by their ids."""
        return {id: type for type, id in self._type_ids.items()}

    def new_id(self) -> int:
        """An id that nothing has yet."""
        id = self._bound
        self._bound = id + 1
        return id

    def _assemble(self, name: str, *operands: object, result: int | None = None,
                  type: Type | None = None) -> Words:
        """The words of an instruction outside of blocks."""
        shape = self._declaring.get(name)
        if shape is None:
            shape = form(name)
            self.requirements.satisfy(shape.instruction, name)
            self._declaring[name] = shape
        words = shape.encode(self, operands)    # type: ignore[arg-type]
        if result is not None:
            words.insert(0, result)
        if type is not None:
            words.insert(0, self.type_id(type))
        return [(1 + len(words)) << 16 | shape.instruction.opcode, *words]

    # Types

    def type_id(self, type: Type) -> int:
        """The id of a type, declared with all that it consists of."""
        known = self._type_ids.get(type)
        if known is not None:
            return known
        if not isinstance(type, Type):
            raise TypeError(f"{type!r} is not a SPIR-V type")
        alternatives = _SCALAR_CAPABILITIES.get(type, ())
        if alternatives and (self.requirements.offers(alternatives[0])
                             or not any(map(self.requirements.has, alternatives))):
            self.requirements.require(alternatives[0], needed_by=f"the type {type}")
        if isinstance(type, Vector) and type.count > 4:
            self.requirements.require("Vector16", needed_by=f"the type {type}")
        if isinstance(type, Vector) and isinstance(type.element, Pointer):
            self.requirements.require("MaskedGatherScatterINTEL", needed_by=f"the type {type}")
        name, *operands = self._type_instruction(type)
        for operand in operands:
            if isinstance(operand, Type):
                self.type_id(operand)    # what a type is made of has the smaller ids
        id = self._type_ids[type] = self.new_id()
        self._globals.append(self._assemble(name, *operands, result=id))
        self._lay_out(type)
        return id

    def _type_instruction(self, type: Type) -> tuple[Any, ...]:
        """The instruction that declares a type, and its operands."""
        match type:
            case Void():
                return ("OpTypeVoid",)
            case Bool():
                return ("OpTypeBool",)
            case Int(width):
                return "OpTypeInt", width, 0
            case Float(width, encoding):
                return "OpTypeFloat", width, encoding
            case Vector(element, count):
                return "OpTypeVector", element, count
            case Array(element, count):
                return "OpTypeArray", element, self._unsigned(count)
            case RuntimeArray(element):
                return "OpTypeRuntimeArray", element
            case Struct(members):
                return "OpTypeStruct", *members
            case Pointer(storage_class, pointee):
                return "OpTypePointer", storage_class, pointee
            case FunctionType(result, parameters):
                return "OpTypeFunction", result, *parameters
            case CooperativeMatrix(element, scope, rows, columns, use):
                numbers = [grammar.enumerant("Scope", scope).value, rows, columns,
                           grammar.enumerant("CooperativeMatrixUse", use).value]
                return "OpTypeCooperativeMatrixKHR", element, *map(self._unsigned, numbers)
            case Opaque(instruction):
                return (instruction,)
        raise TypeError(f"{type!r} has no instruction")

    def _unsigned(self, number: int) -> Value:
        return self.constant(Int(32), number)

    def _lay_out(self, type: Type) -> None:
        """The decorations and names that are part of a type."""
        if isinstance(type, (Array, RuntimeArray, Pointer)) and type.stride is not None:
            self.decorate(type, "ArrayStride", type.stride)
        if not isinstance(type, Struct):
            return
        if type.name:
            self.name(type, type.name)
        if type.block:
            self.decorate(type, "Block")
        for member, offset in enumerate(type.offsets or ()):
            self.member_decorate(type, member, "Offset", offset)
        for member, name in enumerate(type.member_names or ()):
            self.member_name(type, member, name)

    # Constants

    def constant(self, type: Type, value: Any) -> Value:
        """A constant of a bool, int or float: ints wrap to the width, floats round to nearest even.

        A composite is made of a tuple of values (or constant Values), or of one value for all elements.
        """
        key: tuple[object, ...] = (type, value.__class__, value)
        if value.__class__ is float and value == 0.0:
            key = (type, str(value))    # 0.0 and -0.0 are equal, but two constants
        elif value.__class__ not in _NUMBERS:
            return self._constant(type, value)
        known = self._numbers.get(key)
        if known is None:
            known = self._numbers[key] = self._constant(type, value)
        return known

    def _constant(self, type: Type, value: Any) -> Value:
        if isinstance(type, (Bool, Int, Float)):
            return self.constant_bits(type, scalar_bits(type, value))
        elements = [one if isinstance(one, Value) else self.constant(element, one)
                    for element, one in _elements(type, value)]
        return self._composite(type, elements)

    def integers(self) -> dict[int, int]:
        """The scalar integer constants there are, by id."""
        return {one.id: one.constant for (type, _), one in self._constants.items()
                if isinstance(type, Int) and isinstance(one.constant, int)}

    def constant_bits(self, type: Type, bits: Any) -> Value:
        """A constant of the bits of a scalar; composites as for `constant`."""
        if not isinstance(type, (Bool, Int, Float)):
            elements = [self.constant_bits(element, one) for element, one in _elements(type, bits)]
            return self._composite(type, elements)
        known = self._constants.get((type, bits))
        if known is not None:
            return known
        width = 1 if isinstance(type, Bool) else type.width
        if not 0 <= bits < 1 << width:
            raise ValueError(f"{bits:#x} is more than the {width} bits of {type}")
        name, literals = "OpConstant", literal_words(width, bits)
        if isinstance(type, Bool):
            name, literals = "OpConstantTrue" if bits else "OpConstantFalse", []
        type_id = self.type_id(type)
        constant = self._constants[type, bits] = Value(self.new_id(), type, name, scalar_value(type, bits))
        self._globals.append([(3 + len(literals)) << 16 | opcode(name), type_id, constant.id, *literals])
        return constant

    def _composite(self, type: Type, elements: Sequence[Value]) -> Value:
        ids = tuple([element.id for element in elements])
        known = self._constants.get((type, ids))
        if known is None:
            values = tuple([element.constant for element in elements])
            known = self._constants[type, ids] = self._declare_value("OpConstantComposite", type, *elements)
            known.constant = None if None in values else values
        return known

    def undef(self, type: Type) -> Value:
        """OpUndef: any value of the type."""
        return self._placeholder("OpUndef", type)

    def null(self, type: Type) -> Value:
        """OpConstantNull: zero, false, the null pointer, or a composite of those."""
        return self._placeholder("OpConstantNull", type)

    def _placeholder(self, name: str, type: Type) -> Value:
        known = self._constants.get((type, name))
        if known is None:
            known = self._constants[type, name] = self._declare_value(name, type)
        return known

    def _declare_value(self, name: str, type: Type, *operands: object) -> Value:
        """Append an instruction with a result to the section of types, constants and global variables."""
        self.type_id(type)
        value = Value(self.new_id(), type, name)
        self._globals.append(self._assemble(name, *operands, result=value.id, type=type))
        return value

    # Names and decorations

    def name(self, target: Target, name: str) -> None:
        """Name a value, a label or a type, for listings and debuggers; the last name given counts."""
        self._names[(self.type_id(target) if isinstance(target, Type) else target.id,)] = name

    def member_name(self, type: Struct, member: int, name: str) -> None:
        """Name a member of a struct type."""
        self._names[self.type_id(type), member] = name

    def constants(self) -> dict[int, Value]:
        """The numbers declared so far, by their ids: what they are stands in `constant`."""
        return {value.id: value for value in self._constants.values() if value.constant is not None}

    def decorate(self, target: Target, decoration: str, *parameters: object) -> None:
        """OpDecorate, or OpDecorateId where the parameters are ids; once, however often it is asked for."""
        name = "OpDecorateId" if takes_ids("Decoration", decoration) else "OpDecorate"
        words = self._assemble(name, target, (decoration, *parameters))
        self._annotations[tuple(words)] = words

    def undecorate(self, targets: Iterable[int], decoration: str, *parameters: object) -> None:
        """Take a decoration without ids back from results by their ids."""
        head, _, *rest = self._assemble("OpDecorate", Label(0), (decoration, *parameters))
        for target in targets:
            self._annotations.pop((head, target, *rest), None)

    def decorate_each(self, targets: Iterable[int], decoration: str, *parameters: object) -> None:
        """`decorate` for results by their ids; the decoration takes no ids itself."""
        head, _, *rest = self._assemble("OpDecorate", Label(0), (decoration, *parameters))
        for target in targets:
            words = [head, target, *rest]
            self._annotations[tuple(words)] = words

    def member_decorate(self, type: Struct, member: int, decoration: str, *parameters: object) -> None:
        """OpMemberDecorate, for a member of a struct type."""
        words = self._assemble("OpMemberDecorate", type, member, (decoration, *parameters))
        self._annotations[tuple(words)] = words


_NUMBERS = frozenset([bool, int, float])


def takes_ids(kind: str, name: str) -> bool:
    """Does an enumerant take ids, so that it stands in an instruction of its own, as OpDecorateId?"""
    parameters = grammar.enumerant(kind, name).parameters
    return any(grammar.kind(parameter.kind).category == "Id" for parameter in parameters)


def _elements(type: Type, value: object) -> list[tuple[Type, Any]]:
    """The element types of a composite with the value for each."""
    if isinstance(type, Struct):
        types: list[Type] = list(type.members)
    elif isinstance(type, (Vector, Array)):
        types = [type.element] * type.count
    else:
        raise TypeError(f"there are no constants of type {type}")
    if not isinstance(value, (tuple, list)):
        return [(element, value) for element in types]
    if len(value) != len(types):
        raise TypeError(f"a constant of type {type} has {len(types)} elements, {len(value)} are given")
    return list(zip(types, value, strict=True))
