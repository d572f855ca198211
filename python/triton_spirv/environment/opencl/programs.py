"""OpenCL: which of a launch's programs a work-group runs, and programs as functions of their own."""

from __future__ import annotations

from ...spirv.builder import I32, Builder
from ...spirv.module import Function, Value
from ...spirv.types import Int, Pointer, Type, Vector, Void
from ...target import Target
from .tile_registers import OpenCLTileRegisters

#: what the name of a program's function ends with, and those of its parameters behind the arguments
PROGRAM = "__program"
PLACES = "program_x", "program_y", "program_z", "programs_x", "programs_y", "programs_z"

#: what such a function needs
CAPABILITY = "IndirectReferencesINTEL"


class OpenCLPrograms(OpenCLTileRegisters):
    def __init__(self, b: Builder, target: Target) -> None:
        super().__init__(b, target)
        self._builtins: dict[str, Value] = {}
        self._coordinates: dict[tuple[str, int], Value] = {}
        self._drawn: tuple[Value, Value, Value] | None = None

    @property
    def _size_type(self) -> Int:
        """C's size_t, in which OpenCL counts work-groups."""
        return Int(self.target.address_bits)

    def _may_export(self) -> bool:
        """May the target's programs be functions?"""
        known = self.target.capabilities
        return self.target.in_parts and (known is None or CAPABILITY in known)

    def _begin_program(self, name: str, arguments: Pointer) -> Function:
        """A function of its own, which whoever has its address can call (cl_intel_function_pointers): of a
        pointer to the arguments, the program's place along x, y and z, and how many programs there are."""
        m = self.b.module
        function = m.function(f"{name}{PROGRAM}", Void(), (arguments, *[I32] * 6), "DontInline")
        m.require(CAPABILITY, "SPV_INTEL_function_pointers")
        m.decorate(function, "ReferencedIndirectlyINTEL")
        m.export(function)
        self.exports = function.name
        for at, (value, place) in enumerate(zip(function.parameters[1:], PLACES, strict=True)):
            m.name(value, place)
            self._coordinates["program" if at < 3 else "programs", at % 3] = value
        return function

    def _call_program(self, name: str, program: Function) -> Function:
        """The kernel: as a work-group, the program that the launch's counters name."""
        b, m = self.b, self.b.module
        kernel = m.function(name, Void(), (program.parameters[0].type,))
        m.decorate(kernel.parameters[0], "FuncParamAttr", "ByVal")
        m.begin(m.label())
        groups, count, first = (self._builtin(name, Vector(self._size_type, 3))
                                for name in ("WorkgroupId", "NumWorkgroups", "GlobalOffset"))
        of_all = b.lshr(first, 32)
        place = b.resize(b.iadd(groups, first), 32)
        programs = b.resize(b.select(b.compare("OpINotEqual", of_all, 0), of_all, count), 32)
        b.emit("OpFunctionCall", program, kernel.parameters[0],
               *(b.extract(vector, axis) for vector in (place, programs) for axis in range(3)), type=Void())
        b.emit("OpReturn")
        m.end_function()
        return kernel

    def _builtin(self, name: str, type: Type) -> Value:
        """Load an input variable decorated with a BuiltIn (in the current block)."""
        m = self.b.module
        if name not in self._builtins:
            variable = m.global_variable(type, "Input", name=name)
            m.decorate(variable, "BuiltIn", name)
            m.decorate(variable, "Constant")
            self._builtins[name] = variable
        return self.b.emit("OpLoad", self._builtins[name], type=type)

    def _coordinate(self, builtin: str, axis: int) -> Value:
        """One of three, in 32 bits; made once, at the entry."""
        b, name = self.b, (builtin, axis)
        if name not in self._coordinates:
            all_three = self._three(builtin)
            with b.module.at_entry():
                self._coordinates[name] = b.resize(b.extract(all_three, axis), 32)
        return self._coordinates[name]

    def _three(self, builtin: str) -> Value:
        """A builtin along x, y and z. Each load is three calls for Intel's CPU compiler, and takes it 0.15
        ms."""
        if (builtin, -1) not in self._coordinates:
            with self.b.module.at_entry():
                self._coordinates[builtin, -1] = self._builtin(builtin, Vector(self._size_type, 3))
        return self._coordinates[builtin, -1]

    def program_id(self, axis: int) -> Value:
        if self._drawn:
            return self._drawn[axis]
        return self._coordinates.get(("program", axis)) or self._coordinate("WorkgroupId", axis)

    def draw_program(self, counter: Value) -> None:
        b, across, down = self.b, self.num_programs(0), self.num_programs(1)
        number = self.atomic("add", counter, b.constant(I32, 1), "gpu", "relaxed")
        rows = b.binary("OpUDiv", number, across)
        self._drawn = (b.binary("OpUMod", number, across), b.binary("OpUMod", rows, down),
                       b.binary("OpUDiv", rows, down))

    def num_programs(self, axis: int) -> Value:
        return self._coordinates.get(("programs", axis)) or self._coordinate("NumWorkgroups", axis)
