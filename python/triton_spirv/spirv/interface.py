"""What connects a module with the outside: global variables, strings, imports, exports, entry points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from . import grammar
from .declarations import Declarations, takes_ids
from .literals import string_words
from .operands import opcode
from .types import Array, FunctionType, Int, Pointer, Type, Void
from .values import Control, Function, Value, Words

NON_SEMANTIC = "SPV_KHR_non_semantic_info"


class Interface(Declarations):
    """Adds to the declarations what other modules, the driver and tools see."""

    def __init__(self, version: grammar.Version, addressing: str, memory_model: str,
                 capabilities: Iterable[str] | None) -> None:
        super().__init__(version, addressing, memory_model, capabilities)
        self._variables: list[Value] = []
        self._builtins: dict[tuple[str, Type], Value] = {}
        self._texts: dict[str, Value] = {}
        self._strings: dict[str, Value] = {}
        self._string_section: list[Words] = []
        self._sets: dict[str, int] = {}
        self._set_section: list[Words] = []
        self._imported: dict[str, Function] = {}
        self._entry_points: list[Words] = []
        self._variables_to_come: list[Value] = []
        self._execution_modes: dict[tuple[int, ...], Words] = {}

    # Variables

    def global_variable(self, type: Type, storage_class: str, initializer: Value | None = None,
                        name: str | None = None) -> Value:
        """A variable outside of functions that holds `type` -> its pointer."""
        variable = self._declare_value("OpVariable", Pointer(storage_class, type), storage_class, initializer)
        self._variables.append(variable)
        if name:
            self.name(variable, name)
        return variable

    def forward_variable(self, type: Type, storage_class: str) -> Value:
        """The pointer of a variable that `define_variable` declares later, when its size is known; `type`
        stands for what it will hold until then."""
        variable = Value(self.new_id(), Pointer(storage_class, type), "OpVariable")
        self._variables_to_come.append(variable)
        return variable

    def define_variable(self, variable: Value, type: Type) -> None:
        """Declare a variable that `forward_variable` gave out: it holds `type`."""
        assert isinstance(variable.type, Pointer)
        storage = variable.type.storage_class
        self._globals.append(
            self._assemble("OpVariable", storage, None, result=variable.id, type=Pointer(storage, type)))
        self._variables.append(variable)

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
            array = self.constant(Array(Int(8), len(data)), tuple(data))
            known = self._texts[text] = self.global_variable(array.type, "UniformConstant", array)
            self.decorate(known, "Constant")
        return known

    # Strings and imports

    def string(self, text: str) -> Value:
        """OpString: text for tools, as the file of an OpLine or the format of a DebugPrintf; one per text."""
        known = self._strings.get(text)
        if known is None:
            known = self._strings[text] = Value(self.new_id(), Void(), "OpString")
            self._string_section.append(self._assemble("OpString", text, result=known.id))
        return known

    def string_text(self, id: int) -> str:
        """The text of an OpString."""
        return next(text for text, value in self._strings.items() if value.id == id)

    def import_set(self, name: str) -> int:
        """The id of an extended instruction set."""
        known = self._sets.get(name)
        if known is None:
            if name.startswith("NonSemantic.") and self.version < (1, 6):
                self.requirements.extensions[NON_SEMANTIC] = None
            known = self._sets[name] = self.new_id()
            self._set_section.append(self._assemble("OpExtInstImport", name, result=known))
        return known

    def import_function(self, linkage_name: str, result_type: Type,
                        parameter_types: Sequence[Type]) -> Function:
        """A function that another module exports, for OpFunctionCall; one per name."""
        known = self._imported.get(linkage_name)
        if known is None:
            known = self._new_function(linkage_name, result_type, parameter_types)
            self._imported[linkage_name] = known
            known.instructions.append([1 << 16 | opcode("OpFunctionEnd")])
            self.decorate(known, "LinkageAttributes", linkage_name, "Import")
        elif known.type is not FunctionType(result_type, tuple(parameter_types)):
            raise TypeError(f"{linkage_name} is imported already, as {known.type}")
        return known

    def export(self, function: Function, linkage_name: str | None = None) -> None:
        """Let other modules import a function, by its own name unless another is given."""
        self.decorate(function, "LinkageAttributes", linkage_name or function.name, "Export")

    def _new_function(self, name: str, result_type: Type, parameter_types: Sequence[Type],
                      control: Control = "None") -> Function:
        """OpFunction with its OpFunctionParameters."""
        type = FunctionType(result_type, tuple(parameter_types))
        self.type_id(type)
        function = Function(self.new_id(), type, name)
        self.name(function, name)
        function.instructions.append(
            self._assemble("OpFunction", control, type, result=function.id, type=result_type))
        for parameter_type in parameter_types:
            parameter = Value(self.new_id(), parameter_type, "OpFunctionParameter")
            function.parameters.append(parameter)
            function.instructions.append(
                self._assemble("OpFunctionParameter", result=parameter.id, type=parameter_type))
        return function

    def leave_unoptimised(self, function: Function) -> None:
        """Ask the compiler to take a function as it is: OptNone, of SPV_INTEL_optnone, as its control."""
        self.require("OptNoneEXT", extension="SPV_INTEL_optnone")
        type = function.type
        function.instructions[0] = self._assemble("OpFunction", "OptNoneEXT", type, result=function.id,
                                                  type=type.result)

    # Entry points

    def entry_point(self, model: str, function: Function, name: str,
                    interface: Sequence[Value] | None = None) -> None:
        """OpEntryPoint. Unless given, the interface is every variable that the version wants there.

        Up to SPIR-V 1.3 those are the Input and Output variables, later all global ones.
        """
        if interface is None:
            interface = [variable for variable in self._variables
                         if self.version >= (1, 4) or _storage_class(variable) in ("Input", "Output")]
        self._entry_points.append(self._assemble("OpEntryPoint", model, function, name, *interface))

    def execution_mode(self, function: Function, mode: str, *parameters: object) -> None:
        """OpExecutionMode, or OpExecutionModeId where the parameters are ids."""
        name = "OpExecutionModeId" if takes_ids("ExecutionMode", mode) else "OpExecutionMode"
        words = self._assemble(name, function, (mode, *parameters))
        self._execution_modes[tuple(words)] = words

    def declared(self) -> set[int]:
        """The ids of what stands in no block: types, constants, global variables, strings, sets, imports."""
        ids = {words[2 if grammar.instruction_by_opcode(words[0] & 0xFFFF).has_type else 1]
               for words in (*self._globals, *self._string_section, *self._set_section)}
        return ids | {value.id for value in (*self._variables_to_come, *self._imported.values())}

    # Sections of the logical layout (specification 2.4) up to the functions with a body

    def _sections(self) -> Iterator[Words]:
        for capability in self.requirements.capabilities:
            yield self._assemble("OpCapability", capability)
        for extension in self.requirements.extensions:
            yield self._assemble("OpExtension", extension)
        yield from self._set_section
        yield self._memory_model
        yield from self._entry_points
        yield from self._execution_modes.values()
        yield from self._string_section
        for target, name in self._names.items():
            words = [*target, *string_words(name)]
            yield [(1 + len(words)) << 16 | opcode("OpName" if len(target) == 1 else "OpMemberName"), *words]
        yield from self._annotations.values()
        yield from self._globals
        for function in self._imported.values():
            yield from function.instructions


def _storage_class(variable: Value) -> str:
    assert isinstance(variable.type, Pointer)
    return variable.type.storage_class
