"""What a module holds outside of its functions: types, constants, globals, imports, names, decorations, entry points.

Types, constants, strings, imports and decorations are interned: asking twice gives the same id. Each list here is a section of the
specification's logical layout (2.4), and `Module.words` puts them in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from . import grammar
from .literals import literal_words, scalar_bits, scalar_value, string_words
from .operands import Form, form
from .requirements import Requirements
from .types import (Array, Bool, CooperativeMatrix, Float, FunctionType, Int, Opaque, Pointer, RuntimeArray, Struct, Type, Vector,
                    Void)
from .values import Function, Label, Value, Words

# The capability of a scalar type, and those that allow the type for loads and stores only: enough if the caller asked for one.
# The grammar does not hold this; specification 3.2.30.
_SCALAR_CAPABILITIES: dict[Type, tuple[str, ...]] = {
    Int(8): ("Int8", "StorageBuffer8BitAccess", "UniformAndStorageBuffer8BitAccess", "StoragePushConstant8"),
    Int(16): ("Int16", "StorageBuffer16BitAccess", "UniformAndStorageBuffer16BitAccess", "StoragePushConstant16"),
    Int(64): ("Int64",),
    Float(16): ("Float16", "Float16Buffer", "StorageBuffer16BitAccess", "UniformAndStorageBuffer16BitAccess", "StoragePushConstant16"),
    Float(64): ("Float64",),
}

Target = Value | Label | Type


class Declarations:
    """The part of a module outside of its functions."""

    def __init__(self, version: grammar.Version, addressing: str, memory_model: str, capabilities: Iterable[str] | None) -> None:
        self.version = version
        self.requirements = Requirements(version, "Shader" if memory_model == "OpenCL" else "Kernel", capabilities)
        self.enumerant_words: dict[tuple[str, Any], Sequence[int]] = {}    # see operands._remembered
        self._bound = 1
        self._declaring: dict[str, Form] = {}
        self._type_ids: dict[Any, int] = {}
        self._constants: dict[tuple[Type, Any], Value] = {}
        self._numbers: dict[tuple[Type, type, Any], Value] = {}            # the way to a constant without its bits
        self._strings: dict[str, Value] = {}
        self._string_lines: list[Words] = []
        self._sets: dict[str, tuple[int, Words]] = {}
        self._names: dict[tuple[int, ...], str] = {}                       # (id,) or (id of a struct type, member)
        self._annotations: dict[tuple[int, ...], Words] = {}
        self._globals: list[Words] = []
        self._builtins: dict[tuple[str, Type], Value] = {}
        self._texts: dict[str, Value] = {}
        self._entry_points: list[Words] = []
        self._execution_modes: dict[tuple[int, ...], Words] = {}
        self._imported: dict[str, Function] = {}
        self._interface: list[Value] = []                                  # global variables that an entry point may have to name
        if memory_model != "OpenCL":
            self.requirements.require("Shader")
        self._memory_model = self._assemble("OpMemoryModel", addressing, memory_model)

    # Capabilities

    def require(self, capability: str, extension: str | None = None) -> None:
        """Declare a capability, and an extension that is to come with it; MissingCapability when the target lacks it."""
        self.requirements.require(capability, extension)

    # Ids and instructions

    def new_id(self) -> int:
        """An id that nothing has yet."""
        id = self._bound
        self._bound = id + 1
        return id

    def _assemble(self, name: str, *operands: Any, value: Value | None = None) -> Words:
        """The words of an instruction outside of blocks; `value` gives its result and result type."""
        shape = self._declaring.get(name)
        if shape is None:
            shape = self._declaring[name] = form(name)
            self.requirements.satisfy(shape.instruction, name)
        words = shape.encode(self, operands)    # type: ignore[arg-type]
        head = shape.head + (len(words) << 16)
        if value is None:
            return [head, *words]
        if shape.instruction.has_type:
            return [head, self.type_id(value.type), value.id, *words]
        return [head, value.id, *words]

    # Types

    def type_id(self, type: Type) -> int:
        """The id of a type, declared with all that it consists of."""
        known = self._type_ids.get(type)
        if known is None:
            if not isinstance(type, Type):
                raise TypeError(f"{type!r} is not a SPIR-V type")
            known = self._declare_type(type)
        return known

    def _declare_type(self, type: Type) -> int:
        alternatives = _SCALAR_CAPABILITIES.get(type, ())
        if alternatives and not any(map(self.requirements.has, alternatives)):
            self.requirements.require(alternatives[0], needed_by=f"the type {type}")
        if isinstance(type, Vector) and type.count > 4:
            self.requirements.require("Vector16", needed_by=f"the type {type}")
        name, *operands = self._type_instruction(type)
        # Reserved after the operands, so that ids grow with the declarations; the value is only a carrier of the id.
        words = self._assemble(name, *operands, value=(carrier := Value(0, type, name)))
        words[1] = self._type_ids[type] = carrier.id = self.new_id()
        self._globals.append(words)
        self._lay_out(type)
        return carrier.id

    def _type_instruction(self, type: Type) -> tuple[Any, ...]:
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
                return "OpTypeArray", element, self.constant(Int(32), count)
            case RuntimeArray(element):
                return "OpTypeRuntimeArray", element
            case Struct(members):
                return "OpTypeStruct", *members
            case Pointer(storage_class, pointee):
                return "OpTypePointer", storage_class, pointee
            case FunctionType(result, parameters):
                return "OpTypeFunction", result, *parameters
            case CooperativeMatrix(element, scope, rows, columns, use):
                use_number = self.constant(Int(32), grammar.enumerant("CooperativeMatrixUse", use).value)
                return ("OpTypeCooperativeMatrixKHR", element, scope, self.constant(Int(32), rows), self.constant(Int(32), columns),
                        use_number)
            case Opaque(instruction):
                return (instruction,)
        raise TypeError(f"{type!r} has no instruction")

    def _lay_out(self, type: Type) -> None:
        """The decorations and names that are part of a type."""
        if isinstance(type, (Array, RuntimeArray, Pointer)) and type.stride is not None:
            self.decorate(type, "ArrayStride", type.stride)
        if not isinstance(type, Struct):
            return
        if type.block:
            self.decorate(type, "Block")
        for member, offset in enumerate(type.offsets or ()):
            self.member_decorate(type, member, "Offset", offset)
        for member, name in enumerate(type.member_names or ()):
            self.member_name(type, member, name)
        if type.name:
            self.name(type, type.name)

    # Constants

    def constant(self, type: Type, value: Any) -> Value:
        """A constant: ints wrap to the width, floats round to nearest even; composites from a tuple, or one value for all elements."""
        key = (type, value.__class__, value)
        try:
            known = self._numbers.get(key)
        except TypeError:    # a list is no key
            known = None
        if known is not None:
            return known
        if isinstance(type, (Bool, Int, Float)):
            constant = self.constant_bits(type, scalar_bits(type, value))
            if value != 0:    # 0.0 and -0.0 are one key; NaN is found only as the same object, which is right
                self._numbers[key] = constant
            return constant
        return self._composite(type, [self.constant(element, one) if not isinstance(one, Value) else one
                                      for element, one in _elements(type, value)])

    def constant_bits(self, type: Type, bits: Any) -> Value:
        """A constant from the bits of a scalar; composites as for `constant`."""
        if not isinstance(type, (Bool, Int, Float)):
            return self._composite(type, [self.constant_bits(element, one) for element, one in _elements(type, bits)])
        known = self._constants.get((type, bits))
        if known is not None:
            return known
        if isinstance(type, Bool):
            name, literals = "OpConstantTrue" if bits else "OpConstantFalse", []
        else:
            if not 0 <= bits < 1 << type.width:
                raise ValueError(f"{bits:#x} is not the bits of an {type}")
            name, literals = "OpConstant", literal_words(type.width, bits)
        type_id = self.type_id(type)
        constant = self._constants[type, bits] = Value(self.new_id(), type, name, scalar_value(type, bits))
        self._globals.append([(3 + len(literals)) << 16 | form(name).instruction.opcode, type_id, constant.id, *literals])
        return constant

    def _composite(self, type: Type, elements: Sequence[Value]) -> Value:
        key = type, tuple(element.id for element in elements)
        known = self._constants.get(key)
        if known is not None:
            return known
        values = tuple(element.constant for element in elements)
        self.type_id(type)
        constant = Value(self.new_id(), type, "OpConstantComposite", None if None in values else values)
        self._globals.append(self._assemble("OpConstantComposite", *elements, value=constant))
        self._constants[key] = constant
        return constant

    def undef(self, type: Type) -> Value:
        """OpUndef: any value of the type."""
        return self._placeholder("OpUndef", type)

    def null(self, type: Type) -> Value:
        """OpConstantNull: all bits zero, for any type that has a size."""
        return self._placeholder("OpConstantNull", type)

    def _placeholder(self, name: str, type: Type) -> Value:
        known = self._constants.get((type, name))
        if known is None:
            self.type_id(type)
            known = self._constants[type, name] = Value(self.new_id(), type, name)
            self._globals.append(self._assemble(name, value=known))
        return known

    # Global variables

    def global_variable(self, type: Type, storage_class: str, initializer: Value | None = None, name: str | None = None) -> Value:
        """A variable outside of functions that holds `type` -> its pointer."""
        pointer = Pointer(storage_class, type)
        self.type_id(pointer)
        variable = Value(self.new_id(), pointer, "OpVariable")
        operands = [storage_class] if initializer is None else [storage_class, initializer]
        self._globals.append(self._assemble("OpVariable", *operands, value=variable))
        self._interface.append(variable)
        if name:
            self.name(variable, name)
        return variable

    def builtin(self, name: str, type: Type) -> Value:
        """The Input variable of a BuiltIn such as GlobalInvocationId -> its pointer; one per module."""
        known = self._builtins.get((name, type))
        if known is None:
            known = self._builtins[name, type] = self.global_variable(type, "Input", name=name)
            self.decorate(known, "BuiltIn", name)
        return known

    def text(self, text: str) -> Value:
        """A zero-terminated UTF-8 string in constant memory -> pointer to its array of i8; one per text."""
        known = self._texts.get(text)
        if known is None:
            data = text.encode() + b"\0"
            initializer = self.constant(Array(Int(8), len(data)), tuple(data))
            known = self._texts[text] = self.global_variable(initializer.type, "UniformConstant", initializer)
            self.decorate(known, "Constant")
        return known

    # Strings, imports

    def string(self, text: str) -> Value:
        """OpString: text for tools, such as the file of OpLine or a format of NonSemantic.DebugPrintf; one per text."""
        known = self._strings.get(text)
        if known is None:
            known = self._strings[text] = Value(self.new_id(), Void(), "OpString")
            self._string_lines.append(self._assemble("OpString", text, value=known))
        return known

    def import_set(self, set: str) -> int:
        """The id of an extended instruction set."""
        if set not in self._sets:
            if set.startswith("NonSemantic.") and self.version < (1, 6):
                self.requirements.extensions["SPV_KHR_non_semantic_info"] = None
            carrier = Value(self.new_id(), Void(), "OpExtInstImport")
            self._sets[set] = carrier.id, self._assemble("OpExtInstImport", set, value=carrier)
        return self._sets[set][0]

    def import_function(self, linkage_name: str, result_type: Type, parameter_types: Sequence[Type]) -> Function:
        """A function that another module has, to be called by OpFunctionCall; one per name."""
        known = self._imported.get(linkage_name)
        if known is None:
            known = self._imported[linkage_name] = self._new_function(linkage_name, result_type, parameter_types, "None")
            known.instructions.append([1 << 16 | form("OpFunctionEnd").instruction.opcode])
            self.decorate(known, "LinkageAttributes", linkage_name, "Import")
        elif known.type is not FunctionType(result_type, tuple(parameter_types)):
            raise TypeError(f"{linkage_name} is imported as {known.type} already")
        return known

    def export(self, function: Function, linkage_name: str | None = None) -> None:
        """Let other modules import a function, by its own name unless another is given."""
        self.decorate(function, "LinkageAttributes", linkage_name or function.name, "Export")

    def _new_function(self, name: str, result_type: Type, parameter_types: Sequence[Type], control: Any) -> Function:
        type = FunctionType(result_type, tuple(parameter_types))
        self.type_id(type)
        function = Function(self.new_id(), type, name)
        self.name(function, name)
        head = self._assemble("OpFunction", control, type, value=function)
        head[1] = self.type_id(result_type)    # the function is a Value of its function type; the instruction names the result's
        function.instructions.append(head)
        for parameter_type in parameter_types:
            parameter = Value(self.new_id(), parameter_type, "OpFunctionParameter")
            function.parameters.append(parameter)
            function.instructions.append(self._assemble("OpFunctionParameter", value=parameter))
        return function

    # Names and decorations

    def name(self, target: Target, name: str) -> None:
        """The name of a value, label or type in listings and debuggers; the last one given counts."""
        self._names[(self._id(target),)] = name

    def member_name(self, type: Struct, member: int, name: str) -> None:
        """The name of a member of a struct type."""
        self._names[self.type_id(type), member] = name

    def decorate(self, target: Target, decoration: str, *parameters: Any) -> None:
        """OpDecorate, or OpDecorateId where the parameters are ids; once, however often it is asked for."""
        name = "OpDecorateId" if _takes_ids("Decoration", decoration) else "OpDecorate"
        self._annotate(self._assemble(name, target, (decoration, *parameters)))

    def member_decorate(self, type: Struct, member: int, decoration: str, *parameters: Any) -> None:
        """OpMemberDecorate for a member of a struct type."""
        self._annotate(self._assemble("OpMemberDecorate", type, member, (decoration, *parameters)))

    def _annotate(self, words: Words) -> None:
        self._annotations[tuple(words)] = words

    def _id(self, target: Target) -> int:
        return self.type_id(target) if isinstance(target, Type) else target.id

    # Entry points

    def entry_point(self, model: str, function: Function, name: str, interface: Sequence[Value] | None = None) -> None:
        """OpEntryPoint. The interface is, unless given, what the version asks for: Input and Output variables, from 1.4 on all globals."""
        if interface is None:
            interface = [variable for variable in self._interface
                         if self.version >= (1, 4) or _storage_class(variable) in ("Input", "Output")]
        self._entry_points.append(self._assemble("OpEntryPoint", model, function, name, *interface))

    def execution_mode(self, function: Function, mode: str, *parameters: Any) -> None:
        """OpExecutionMode, or OpExecutionModeId where the parameters are ids."""
        name = "OpExecutionModeId" if _takes_ids("ExecutionMode", mode) else "OpExecutionMode"
        words = self._assemble(name, function, (mode, *parameters))
        self._execution_modes[tuple(words)] = words

    # Sections

    def _preamble(self) -> Iterator[Words]:
        for capability in self.requirements.capabilities:
            yield [2 << 16 | form("OpCapability").instruction.opcode, grammar.enumerant("Capability", capability).value]
        for extension in self.requirements.extensions:
            yield _text_instruction("OpExtension", (), extension)
        for _, words in self._sets.values():
            yield words
        yield self._memory_model
        yield from self._entry_points
        yield from self._execution_modes.values()

    def _debug(self) -> Iterator[Words]:
        yield from self._string_lines
        for target, name in self._names.items():
            yield _text_instruction("OpName" if len(target) == 1 else "OpMemberName", target, name)

    def _imports(self) -> Iterator[Words]:
        for function in self._imported.values():
            yield from function.instructions


def _text_instruction(name: str, ids: tuple[int, ...], text: str) -> Words:
    words = string_words(text)
    return [(1 + len(ids) + len(words)) << 16 | form(name).instruction.opcode, *ids, *words]


def _elements(type: Type, value: Any) -> list[tuple[Type, Any]]:
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
        raise TypeError(f"a constant of type {type} has {len(types)} elements, not {len(value)}")
    return list(zip(types, value))


def _takes_ids(kind: str, name: str) -> bool:
    return any(grammar.kind(parameter.kind).category == "Id" for parameter in grammar.enumerant(kind, name).parameters)


def _storage_class(variable: Value) -> str:
    assert isinstance(variable.type, Pointer)
    return variable.type.storage_class
