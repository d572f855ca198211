"""Vulkan: compute shaders for any device of version 1.2 or later. Arguments travel in push constants, math
comes from GLSL.std.450 and from arithmetic, prints go through a buffer.

The parts: memory.py and shared_memory.py (pointers and memory), lanes.py (sub-groups, barriers, atomics),
glsl/functions.py (functions). Here: the entry point, parameters, float controls, printing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from ...spirv.builder import I32, I64, Builder, Operand, scalar_type, width_of, with_width
from ...spirv.control import if_
from ...spirv.module import Function, Module, Value
from ...spirv.passes.contraction import fuse, mark
from ...spirv.passes.extended_products import hide_products
from ...spirv.passes.graph import Graph
from ...spirv.passes.joined_conversions import bits_of, part_conversions
from ...spirv.passes.parted_differences import part_differences
from ...spirv.passes.pipeline import Pass
from ...spirv.passes.self_comparisons import compare_bits
from ...spirv.types import Bool, Float, Int, Pointer, Struct, Type, Vector, Void
from ...spirv.values import Words
from ...target import Target
from ..base import Parameter
from ..glsl.functions import GlslMath
from ..glsl.integers import quotient, remainder, reversed_bits
from ..memory_types import PARAMETER_TYPES, type_bytes
from .float_controls import control_floats
from .matrices import VulkanMatrices

DIVISIONS = ("OpSDiv", "OpUDiv", "OpSRem", "OpUMod")

#: Words at the head of the print buffer: how many words were asked for so far, how many there are.
PRINT_HEADER = 2


class Vulkan(VulkanMatrices):
    """SPIR-V for Vulkan: logical addressing, global memory by 64-bit addresses."""

    prints_to_buffer = True

    @classmethod
    def module(cls, target: Target) -> Module:
        return Module(version=target.spirv_version, addressing="PhysicalStorageBuffer64",
                      memory_model="Vulkan", capabilities=target.capabilities)

    def __init__(self, b: Builder, target: Target) -> None:
        super().__init__(b, target)
        self._kernel: Function | None = None
        self._name = ""
        self._local_size = 1
        self._lane = self._warp = b.constant(I32, 0)
        self._addresses = {}
        self._shared = {}
        self._shared_bytes = 0
        self._fusable: set[int] = set()
        self._clears: dict[Type, Value] = {}
        self._signs: dict[Type, Value] = {}
        self._math = GlslMath(b, target, self._fusable)
        if target.has("folds_zeros"):
            b.hide = self._hidden
        if target.has("knows_extensions"):
            b.hide_extension = self._hidden_extension

    # --- entry ----------------------------------------------------------------------------------------------

    def begin_kernel(self, name: str, parameters: Sequence[Parameter], local_size: int) -> list[Value]:
        b, m = self.b, self.b.module
        self._name, self._local_size = name, local_size
        m.require("PhysicalStorageBufferAddresses")
        self._kernel = m.function(name, Void(), ())
        m.begin(m.label())
        values = self._arguments(parameters)
        if self.target.lanes:  # here, so that every block may use them
            self._lane = b.emit("OpLoad", self._builtin("SubgroupLocalInvocationId", I32), type=I32)
            alone = local_size <= self.target.sub_group_size
            self._warp = b.constant(I32, 0) if alone else \
                b.emit("OpLoad", self._builtin("SubgroupId", I32), type=I32)
        return values

    def _arguments(self, parameters: Sequence[Parameter]) -> list[Value]:
        """Read the struct of parameters (natural alignment, as C lays it out) from the push constants, or
        from where the one push constant points.

        Parameters of less than 32 bits are cut out of their word: push constants of 8 and 16 bits are
        optional features.
        """
        b, m = self.b, self.b.module
        places, size = [], 0
        for parameter in parameters:
            width = type_bytes(PARAMETER_TYPES[parameter.type])
            size += -size % width
            places.append((size, width))
            size += width
        self.passing = "push" if size + -size % 8 <= self.target.push_bytes or not parameters else "buffer"
        members: dict[int, Type] = {}
        for parameter, (start, width) in zip(parameters, places, strict=True):
            members[start & -4] = I32 if width < 4 else PARAMETER_TYPES[parameter.type]
        pushed = members if self.passing == "push" else {0: I64}
        block: Value | None = None
        if pushed:
            struct = Struct(tuple(pushed.values()), offsets=tuple(pushed), name="Arguments", block=True)
            block = m.global_variable(struct, "PushConstant", name="arguments")

        def push(start: int) -> Value:
            assert block is not None
            type = pushed[start]
            index = b.constant(I32, list(pushed).index(start))
            place = b.emit("OpAccessChain", block, index, type=Pointer("PushConstant", type))
            return b.emit("OpLoad", place, type=type)

        def read(start: int) -> Value:
            if self.passing == "push":
                return push(start)
            return self.load(self.pointer(b.iadd(base, start), members[start]), 1)

        base = push(0) if self.passing == "buffer" else b.constant(I64, 0)
        words: dict[int, Value] = {}
        values = []
        for parameter, (start, _) in zip(parameters, places, strict=True):
            at = start & -4
            if at not in words:
                words[at] = read(at)
            value = self._parameter(parameter, words[at], 8 * (start - at))
            m.name(value, parameter.name)
            values.append(value)
        return values

    def _parameter(self, parameter: Parameter, held: Value, shift: int) -> Value:
        b, type = self.b, PARAMETER_TYPES[parameter.type]
        if parameter.pointee is not None:
            return self.pointer(held, parameter.pointee)
        if type_bytes(type) >= 4:
            return held
        bits = 8 * type_bytes(type)
        part = b.lshr(held, shift)
        if parameter.type == "i1":
            return b.compare("OpINotEqual", b.iand(part, 0xFF), 0)
        value = b.resize(part, bits)
        return b.bitcast(value, type) if isinstance(type, Float) and self.target.float16 else value

    def end_kernel(self) -> None:
        m, kernel = self.b.module, self._kernel
        assert kernel is not None
        m.end_function()
        self._define_shared()
        m.entry_point("GLCompute", kernel, self._name)
        m.execution_mode(kernel, "LocalSize", self._local_size, 1, 1)
        if self.target.reconvergence:
            m.execution_mode(kernel, self.target.reconvergence)

    def _builtin(self, name: str, type: Type) -> Value:
        return self.b.module.builtin(name, type)

    def _coordinate(self, builtin: str, axis: int) -> Value:
        b = self.b
        return b.extract(b.emit("OpLoad", self._builtin(builtin, Vector(I32, 3)), type=Vector(I32, 3)), axis)

    def program_id(self, axis: int) -> Value:
        return self._coordinate("WorkgroupId", axis)

    def num_programs(self, axis: int) -> Value:
        self.counts_programs = True
        return self._coordinate("NumWorkgroups", axis)

    def lane_id(self) -> Value:
        return self._lane

    def warp_id(self) -> Value:
        return self._warp

    def _clear(self, type: Type) -> Value:
        """An integer, or a vector of them, that is 0, which no driver knows: the upper bit of the program's
        number. (The lane's number is a constant where a device runs lanes as one vector.)"""
        if type not in self._clears:
            b, bits = self.b, scalar_type(type).width  # type: ignore[attr-defined]
            with b.module.at_entry():
                upper = b.resize(b.lshr(self.program_id(0), 31), bits, signed=False)
                self._clears[type] = b.splat(upper, width_of(type))
        return self._clears[type]

    def _sign(self, type: Type) -> Value:
        """The upper bit of each float of this type, as integers that no driver knows."""
        b, bits = self.b, scalar_type(type).width  # type: ignore[attr-defined]
        whole = with_width(Int(bits), width_of(type))
        if whole not in self._signs:
            clear = self._clear(whole)
            with b.module.at_entry():
                self._signs[whole] = b.ior(clear, -1 << (bits - 1))
        return self._signs[whole]

    def _hidden(self, value: Value) -> Value:
        """A scalar float that is no constant: its bits, or an unknown 0."""
        b = self.b
        assert isinstance(value.type, Float)
        whole = Int(value.type.width)
        clear = self._clear(whole)
        if value.constant == 0:
            negative = math.copysign(1.0, value.constant) < 0
            return b.bitcast(b.ior(clear, 1 << whole.width - 1) if negative else clear, value.type)
        return b.bitcast(b.ior(clear, b.bitcast(value, whole)), value.type)

    def _hidden_extension(self, value: Value) -> Value:
        """An integer whose upper bit the driver does not know."""
        b, bits = self.b, scalar_type(value.type).width  # type: ignore[attr-defined]
        return b.ior(value, b.shl(self._clear(value.type), bits - 1))

    # --- passes ---------------------------------------------------------------------------------------------

    def passes(self) -> tuple[Pass, ...]:
        m = self.b.module
        return (Pass("parted-conversions", self._part_conversions, self.target.has("joins_conversions")),
                Pass("hidden-products", self._hide_products, self.target.has("knows_extensions")),
                Pass("parted-differences", partial(part_differences, m), self.target.has("saturates")),
                Pass("self-comparisons", partial(compare_bits, m), self.target.has("equals_itself")),
                Pass("contraction", self._contract))

    def _part_conversions(self, graph: Graph) -> None:
        m = self.b.module

        def unknown(narrow: Type) -> tuple[int, int]:
            whole = with_width(Int(bits_of(narrow)), width_of(narrow))
            clear = self._clear(whole)
            return m.type_id(whole), clear.id

        part_conversions(graph, m.new_id, unknown)

    def _hide_products(self, graph: Graph) -> None:
        m, uppers = self.b.module, dict[Type, int]()

        def upper(type: Type) -> int:
            if type not in uppers:
                clear = self._clear(type)
                with m.at_entry():  # emitted here: the same may have been computed in a block that is over
                    shifted = m.emit("OpShiftLeftLogical", clear, m.constant(type, 63), type=type)
                uppers[type] = shifted.id
            return uppers[type]

        hide_products(graph, m.new_id, upper)

    def _contract(self, graph: Graph) -> None:
        """Say what the driver may make of floating-point arithmetic."""
        m, way, contracted = self.b.module, self.target.contracts, list[Words]()
        if way == "mode" and self._fusable:
            contracted = mark(m, graph, self._fusable, self._sign)
        elif way and self._fusable:
            fuse(m, graph, self._fusable)
        control_floats(m, graph, self.target, contracted)

    # --- arithmetic -----------------------------------------------------------------------------------------

    def math(self, name: str, *operands: Value) -> Value:
        values = self.b.match(*operands)
        return self._math.call(name, values, values[0].type)

    def function(self, name: str, operands: Sequence[Value], type: Type) -> Value:
        return self._math.call(name, operands, type)

    def integer(self, opcode: str, x: Operand, y: Operand) -> Value:
        n, d = self.b.match(x, y)
        if self.target.has("joins_quotients") and opcode in DIVISIONS and scalar_type(n.type) == I64:
            q = quotient(self.b, n, d, signed=opcode.startswith("OpS"))
            return q if opcode.endswith("Div") else self.b.isub(n, self.b.imul(q, d))
        if opcode == "OpSRem":  # Vulkan defines it for positive operands only
            return remainder(self.b, n, d)
        return super().integer(opcode, x, y)

    def reverse_bits(self, x: Value) -> Value:
        return reversed_bits(self.b, x)

    def divide(self, x: Operand, y: Operand, precise: bool = True) -> Value:
        n, d = self.b.match(x, y)
        return self._math.divide(n, d, precise)

    def narrow(self, value: Value, element: Float, rounding: str = "RTE") -> Value:
        return self._math.narrow(value, element, rounding)

    def contract(self, value: Value, users: str = "") -> Value:
        self._fusable.add(value.id)
        return value

    # --- printing -------------------------------------------------------------------------------------------

    def printf(self, format: str, *values: Value) -> None:
        """A record in the print buffer: the number of the format counted from 1, then 64 bits of each value.

        The runtime formats it. A record that has no room is left out; the head counts it.
        """
        b = self.b
        buffer = self.print_buffer
        assert buffer is not None
        types = tuple(str(value.type) for value in values)
        if (format, types) not in self.formats:
            self.formats.append((format, types))
        number = self.formats.index((format, types)) + 1
        size = 1 + 2 * len(values)
        start = self.atomic("add", buffer, b.constant(I32, size), "gpu", "relaxed")
        room = self.load(self.offset(buffer, b.constant(I32, 1)), 1)
        with if_(b.module, b.compare("OpULessThanEqual", b.iadd(start, size), room)):
            place = self.offset(buffer, b.iadd(start, PRINT_HEADER))
            self.store(place, b.constant(I32, number))
            for i, value in enumerate(values):
                words = self._print_words(value)
                for half in range(2):
                    self.store(self.offset(place, b.constant(I32, 1 + 2 * i + half)), b.extract(words, half))

    def _print_words(self, value: Value) -> Value:
        b = self.b
        if isinstance(value.type, Bool):
            value = b.select(value, b.constant(I32, 1), 0)
        assert isinstance(value.type, (Int, Float))
        if value.type.width == 32:
            value = b.resize(b.bitcast(value, I32), 64, signed=not isinstance(value.type, Float))
        return b.emit("OpBitcast", value, type=with_width(I32, 2))
