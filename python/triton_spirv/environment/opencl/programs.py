"""OpenCL: which of a launch's programs a work-group runs, and programs as functions of their own."""

from __future__ import annotations

from collections.abc import Sequence

from ...spirv.builder import I32, Builder
from ...spirv.control import IfElse
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
        self._read: set[tuple[str, int]] = set()  # of PLACES, by what they count and axis
        #: of this program, where the work-group's place does not say so; and of the grid
        self._drawn: Sequence[Value] | None = None
        self._grid: Sequence[Value] | None = None

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
        m = self.b.module
        kernel = m.function(name, Void(), (program.parameters[0].type,))
        m.decorate(kernel.parameters[0], "FuncParamAttr", "ByVal")
        m.begin(m.label())
        m.emit("OpFunctionCall", program, kernel.parameters[0], *self._group_places(), type=Void())
        m.emit("OpReturn")
        m.end_function()
        return kernel

    def _group_places(self) -> list[Value]:
        """What the work-group gives its program as PLACES; 0 for what the program does not read.

        A launch's offset says where it begins along an axis, and in its upper 32 bits how many programs there
        are, 0 for as many as work-groups. A group is one work-item, whose number would be the sum, but where
        that is asked for, Intel's CPU compiler may try to make vectors of several programs, and end. Each
        component that is loaded is a call for it, and takes it half a millisecond; a vector is three.
        """
        b = self.b
        places = [b.constant(I32, 0)] * len(PLACES)
        for axis in range(3):
            reads_place, reads_count = ("program", axis) in self._read, ("programs", axis) in self._read
            if not reads_place and not reads_count:
                continue
            first = self._component("GlobalOffset", axis)
            if reads_place:
                places[axis] = b.resize(b.iadd(self._component("WorkgroupId", axis), first), 32)
            if reads_count:
                of_all, groups = b.lshr(first, 32), self._component("NumWorkgroups", axis)
                places[3 + axis] = b.resize(b.select(b.compare("OpINotEqual", of_all, 0), of_all, groups), 32)
        return places

    def _component(self, name: str, axis: int) -> Value:
        """One of the three numbers of a builtin, and not the others."""
        b, type = self.b, self._size_type
        variable = self._builtin_variable(name, Vector(type, 3))
        place = b.emit("OpInBoundsAccessChain", variable, b.constant(I32, axis), type=Pointer("Input", type))
        return b.emit("OpLoad", place, type=type)

    def _builtin(self, name: str, type: Type) -> Value:
        """Load an input variable decorated with a BuiltIn (in the current block)."""
        return self.b.emit("OpLoad", self._builtin_variable(name, type), type=type)

    def _builtin_variable(self, name: str, type: Type) -> Value:
        m = self.b.module
        if name not in self._builtins:
            variable = m.global_variable(type, "Input", name=name)
            m.decorate(variable, "BuiltIn", name)
            m.decorate(variable, "Constant")
            self._builtins[name] = variable
        return self._builtins[name]

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
        return self._parameter("program", axis) or self._coordinate("WorkgroupId", axis)

    def draw_program(self, counter: Value) -> None:
        number = self.atomic("add", counter, self.b.constant(I32, 1), "gpu", "relaxed")
        self._drawn = self._program_at(number, self.num_programs(0), self.num_programs(1))

    def _program_at(self, number: Value, across: Value, down: Value) -> Sequence[Value]:
        """The program of a number, in the order of their ids."""
        b = self.b
        rows = b.binary("OpUDiv", number, across)
        return (b.binary("OpUMod", number, across), b.binary("OpUMod", rows, down),
                b.binary("OpUDiv", rows, down))

    def place_along_x(self, is_said: Value, grid: Value) -> None:
        b = self.b
        own = [self.program_id(axis) for axis in range(3)]
        programs = [self.num_programs(axis) for axis in range(3)]
        said = IfElse(b.module, is_said)
        with said.then():
            said.yield_([self.load(self.pointer(b.iadd(grid, 4 * axis), I32), 1) for axis in range(3)])
        with said.otherwise():
            said.yield_([b.constant(I32, 0)] * 3)
        along_x = IfElse(b.module, b.compare("OpINotEqual", said.results[0], 0))
        with along_x.then():
            along_x.yield_([*self._program_at(own[0], *said.results[:2]), *said.results])
        with along_x.otherwise():
            along_x.yield_([*own, *programs])
        self._drawn, self._grid = along_x.results[:3], along_x.results[3:]

    def num_programs(self, axis: int) -> Value:
        if self._grid:
            return self._grid[axis]
        return self._parameter("programs", axis) or self._coordinate("NumWorkgroups", axis)

    def _parameter(self, counted: str, axis: int) -> Value | None:
        """The parameter of a program's function that says so; None where programs are no functions."""
        self._read.add((counted, axis))
        return self._coordinates.get((counted, axis))
