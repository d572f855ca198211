"""OpenCL: kernels with by-value structs or arguments, the OpenCL.std math library.

The parts: opencl/programs.py (which program this is), opencl/memory.py (pointers and memory), opencl/lanes.py
(sub-groups, shared memory, barriers, atomics), opencl/matrices.py (the matrix unit, 2D blocks),
opencl/tile_registers.py (a processor's matrices). Here: the entry point, parameters, arithmetic, printing.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...spirv import grammar
from ...spirv.builder import I32, I64, Builder, Operand, scalar_type, width_of, with_width
from ...spirv.module import Function, Module, Value
from ...spirv.operands import opcode
from ...spirv.passes.contraction import HARDWARE, fuse_in_hardware, second_products
from ...spirv.passes.graph import Graph
from ...spirv.passes.permuted_phis import separate_phis
from ...spirv.passes.pipeline import Pass
from ...spirv.types import Array, Bool, Float, Int, Pointer, Struct, Type, Vector, Void
from ...target import Target
from ..base import Parameter
from ..memory_types import PARAMETER_TYPES, type_bytes
from .division import DIVISIONS, harmless_divisor
from .error_function import error_function
from .exponentials import power_of_two
from .lanes import SCOPES
from .memory import GLOBAL, PRIVATE
from .programs import OpenCLPrograms

LOG2_E = 1.4426950408889634

#: Functions of f32 that OpenCL has in a fast form too, of whatever accuracy the device likes.
NATIVE = frozenset(("cos", "divide", "exp2", "log", "log2", "rsqrt", "sin"))

#: Functions that are made with more than their instruction, under whatever name a kernel calls them.
CORRECTED = frozenset(("cos", "erf", "exp2", "fmod"))

#: Functions of two floats that choose one -> what VRANGEPS does: 1 for the larger, 4 for the sign of that.
CHOICES = {"fmax": 5, "fmin": 4}

#: what says that a product and a sum may become one operation
CONTRACT = "FPFastMathMode", "AllowContractFastINTEL"

CURRENT_DIRECTION = 4  # of rounding, which does not matter

ATOMICS = frozenset(opcode(name) for name in grammar.instruction_names() if name.startswith("OpAtomic"))


class OpenCL(OpenCLPrograms):
    watches_shared = True
    """SPIR-V for OpenCL devices, physical addressing: 64-bit, or 32-bit where the target has no more."""

    def __init__(self, b: Builder, target: Target) -> None:
        super().__init__(b, target)
        self._kernel: Function | None = None
        self._name = ""
        self._local_size = 1
        self._contractible: set[int] = set()
        self._of_one_sum: set[int] = set()
        self._lane = self._warp = b.constant(I32, 0)
        self._shared: Value | None = None
        self._shared_bytes = 0

    @classmethod
    def module(cls, target: Target) -> Module:
        addressing = f"Physical{target.address_bits}"
        return Module(target.spirv_version, addressing, capabilities=target.capabilities)

    # --- entry ----------------------------------------------------------------------------------------------

    def begin_kernel(self, name: str, parameters: Sequence[Parameter], local_size: int) -> list[Value]:
        b, m = self.b, self.b.module
        self._name, self._local_size = name, local_size
        m.require("Kernel")
        m.require("Addresses")
        m.require("Linkage")
        types = [PARAMETER_TYPES[p.type] for p in parameters]
        packed = self.target.passing == "struct" and bool(parameters)
        self.passing = "struct" if packed else "arguments"
        if packed:
            struct = Pointer(PRIVATE, Struct(tuple(types)))
            if self._may_export():
                kernel = self._begin_program(name, struct)
            else:
                kernel = m.function(name, Void(), (struct,))
                m.decorate(kernel.parameters[0], "FuncParamAttr", "ByVal")
            m.name(kernel.parameters[0], "arguments")
        else:
            kernel = m.function(
                name,
                Void(),
                tuple(
                    Pointer(GLOBAL, p.pointee) if p.pointee is not None else type
                    for p, type in zip(parameters, types, strict=True)
                ),
            )
        self._kernel = kernel
        m.begin(m.label())
        values = []
        for i, (parameter, type) in enumerate(zip(parameters, types, strict=True)):
            if packed:
                place = b.emit(
                    "OpInBoundsAccessChain",
                    kernel.parameters[0],
                    b.constant(I32, i),
                    type=Pointer(PRIVATE, type),
                )
                value = b.emit("OpLoad", place, [("Aligned", type_bytes(type))], type=type)
                if parameter.pointee is not None:
                    value = self.pointer(value, parameter.pointee)
            else:
                value = kernel.parameters[i]
            if parameter.type == "i1":
                value = b.compare("OpINotEqual", value, 0)
            m.name(value, parameter.name)
            values.append(value)
        if self.target.lanes:  # here, so that every block may use them
            self._lane = self._builtin("SubgroupLocalInvocationId", I32)
            alone = local_size <= self.target.sub_group_size
            self._warp = b.constant(I32, 0) if alone else self._builtin("SubgroupId", I32)
        return values

    def passes(self) -> tuple[Pass, ...]:
        return (Pass("contraction", self._contract, bool(self._contractible)),
                Pass("separated-phis", self._leave_unoptimised, self.target.optimised_size is not None),)

    def _contract(self, graph: Graph) -> None:
        """Which product a sum takes in is not the driver's choice."""
        m, left = self.b.module, self._contractible
        if self.target.has("parts_contractions"):
            decided = fuse_in_hardware(m, graph, left, self._of_one_sum)
            m.undecorate(decided, *CONTRACT)
            left = left - decided
        m.undecorate(second_products(graph, left), *CONTRACT)

    def _leave_unoptimised(self, graph: Graph) -> None:
        """Ask the driver to take a large kernel as it is, without what it has wrong then."""
        m, most = self.b.module, self.target.optimised_size
        if most is not None and m.instruction_count >= most:  # OpFunctionEnd is to come
            separate_phis(m, graph)
            m.leave_unoptimised(graph.function)

    def end_kernel(self) -> None:
        m, kernel = self.b.module, self._kernel
        assert kernel is not None
        m.end_function()
        if self.exports:
            kernel = self._call_program(self._name, kernel)
        if self._shared is not None:
            m.define_variable(self._shared, Array(Int(8), self._shared_bytes))
        m.entry_point("Kernel", kernel, self._name, interface=list(self._builtins.values()))
        m.execution_mode(kernel, "LocalSize", self._local_size, 1, 1)
        m.execution_mode(kernel, "ContractionOff")  # else Intel's GPU compiler contracts what says nothing
        if size := self._sub_group_size():
            m.require("SubgroupDispatch")
            m.execution_mode(kernel, "SubgroupSize", size)

    def _sub_group_size(self) -> int:
        """What the kernel asks for; 0 for nothing."""
        if self.target.lanes:
            return self.target.sub_group_size
        vectorised = self.exports or self.b.module.has(ATOMICS)
        return 1 if self.target.has("vectorises_single_items") and vectorised else 0

    def lane_id(self) -> Value:
        return self._lane

    def warp_id(self) -> Value:
        return self._warp

    # --- arithmetic -----------------------------------------------------------------------------------------

    def math(self, name: str, *operands: Value) -> Value:
        chosen = self._chosen(name, *operands) if name in CHOICES and self.target.chooses else None
        if chosen is not None:
            return chosen
        single = scalar_type(operands[0].type) == Float(32)
        if name == "erf" and self.target.has("inexact_erf") and single:
            return error_function(self, *operands)
        if name == "exp2" and self.target.has("tabulates_exp2") and single:
            return power_of_two(self, *operands)
        if name == "cos" and self.target.has("joins_sine_and_cosine"):
            operands = (self.b.unary("OpFNegate", operands[0]),)
        made = self.b.ext(name, *operands)
        return self._below(made, *operands) if name == "fmod" else made

    def _chosen(self, name: str, x: Value, y: Value) -> Value | None:
        """The larger or smaller float of each pair, the other where one is NaN, by VRANGEPS; None where these
        are no vectors that it takes."""
        b = self.b
        x, y = b.match(x, y)
        width = width_of(x.type)
        if scalar_type(x.type) != Float(32) or width not in (4, 8, 16):
            return None
        given = [x, y, b.constant(I32, CHOICES[name]), x, b.constant(Int(max(width, 8)), -1)]
        if width == 16:
            given.append(b.constant(I32, CURRENT_DIRECTION))
        callee = b.module.import_function(f"llvm.x86.avx512.mask.range.ps.{32 * width}", x.type,
                                          tuple(each.type for each in given))
        return b.emit("OpFunctionCall", callee, *given, type=x.type)

    def extreme(self, x: Value, y: Value, comparison: str) -> Value:
        """By VMAXPS: LLVM makes one comparison of several that choose between the same two values, and then
        has no use for it."""
        b, width = self.b, width_of(x.type)
        if not self.target.chooses or scalar_type(x.type) != Float(32) or width not in (8, 16):
            return super().extreme(x, y, comparison)
        given = [x, y, *([b.constant(I32, CURRENT_DIRECTION)] if width == 16 else [])]
        which = "max" if comparison == "OpFOrdGreaterThan" else "min"
        name = f"llvm.x86.{'avx512' if width == 16 else 'avx'}.{which}.ps.{32 * width}"
        callee = b.module.import_function(name, x.type, tuple(each.type for each in given))
        return b.emit("OpFunctionCall", callee, *given, type=x.type)

    def _below(self, remainder: Value, x: Value, y: Value) -> Value:
        """A remainder as large as its divisor y is none: Intel's CPU runtime gives x for fmod(x, x) of some x
        that are denormal or have the least exponent of the normal ones."""
        b = self.b
        whole = b.compare("OpFOrdEqual", b.ext("fabs", remainder), b.ext("fabs", y))
        return b.select(whole, b.ext("copysign", 0.0, x), remainder)

    def integer(self, opcode: str, x: Operand, y: Operand) -> Value:
        if self.target.has("traps_on_division") and opcode in DIVISIONS:
            x, y = self.b.match(x, y)
            y = harmless_divisor(self.b, x, y, DIVISIONS[opcode])
        return super().integer(opcode, x, y)

    def approximate(self, name: str, *operands: Value) -> Value | None:
        if name == "exp":  # with an error that grows with the argument: 4000 ulp of native_exp, 100 this way
            name, operands = "exp2", (self.b.binary("OpFMul", operands[0], LOG2_E),)
        return self.b.ext(f"native_{name}", *operands) if name in NATIVE else None

    def reverse_bits(self, x: Value) -> Value:
        known = self.target.capabilities
        if known is None or "BitInstructions" in known:
            return super().reverse_bits(x)
        b, bits = self.b, scalar_type(x.type).width  # type: ignore[attr-defined]
        for step in (1 << i for i in range(bits.bit_length() - 1)):  # neighbours change places, then pairs...
            low = ((1 << bits) - 1) // ((1 << step) + 1)
            x = b.ior(b.shl(b.iand(x, low), step), b.iand(b.lshr(x, step), low))
        return x

    def function(self, name: str, operands: Sequence[Value], type: Type) -> Value:
        if name in CORRECTED:
            return self.math(name, *operands)
        return self.b.module.ext("OpenCL.std", name, *operands, type=type)

    def contract(self, value: Value, users: str = "") -> Value:
        m, known = self.b.module, self.target.capabilities
        if self.target.has("parts_contractions"):
            if users == "several":  # how often it is made again, for some of them, depends on the code around
                return value
            if users == "sum":
                self._of_one_sum.add(value.id)
        if known is not None and "FPFastMathModeINTEL" not in known:
            return value
        m.require("FPFastMathModeINTEL", extension="SPV_INTEL_fp_fast_math_mode")
        m.decorate(value, *CONTRACT)
        self._contractible.add(value.id)
        return value

    def multiply_add(self, x: Value, y: Value, z: Value) -> Value:
        """One operation, where processors have it for the type. By LLVM's own name: products of matrices have
        thousands of these, and this compiler takes longer over functions of OpenCL's."""
        type, element = z.type, scalar_type(z.type)
        if isinstance(element, Int):
            return super().multiply_add(x, y, z)
        if not (self.target.has("parts_contractions") and element in HARDWARE):
            return self.contract(self.b.binary("OpFAdd", self.contract(self.b.binary("OpFMul", x, y)), z))
        form = f"v{type.count}f{element.width}" if isinstance(type, Vector) else f"f{element.width}"
        callee = self.b.module.import_function(f"llvm.fma.{form}", type, (type, type, type))
        return self.b.emit("OpFunctionCall", callee, x, y, z, type=type)

    def narrow(self, value: Value, element: Float, rounding: str = "RTE") -> Value:
        made = self.b.convert("OpFConvert", value, element)
        if rounding != "RTE":
            self.b.module.decorate(made, "FPRoundingMode", rounding)
        return made

    def narrows_normal(self, type: Type) -> bool:
        return self.target.narrows_bf16 and type == with_width(Float(32), 16)

    def normal_to_bf16(self, value: Value) -> Value:
        """By VCVTNEPS2BF16, which takes denormal numbers as zero."""
        type = with_width(Int(16), 16)
        callee = self.b.module.import_function("llvm.x86.avx512bf16.cvtneps2bf16.512", type, (value.type,))
        return self.b.emit("OpFunctionCall", callee, value, type=type)

    def denormal(self, value: Value) -> Value:
        """By VFPCLASSPS, which processors with VCVTNEPS2BF16 have."""
        type = with_width(Bool(), 16)
        callee = self.b.module.import_function("llvm.x86.avx512.fpclass.ps.512", type, (value.type, I32))
        return self.b.emit("OpFunctionCall", callee, value, self.b.constant(I32, 1 << 5), type=type)

    def sum_products(self, form: str, x: Value, y: Value, z: Value) -> Value:
        if form == "i16":
            return self.b.iadd(z, self._sums_of_pairs(x, y))
        instruction = {"bf16": "avx512bf16.dpbf16ps", "i8": "avx512.vpdpbusd"}[form]
        name = f"llvm.x86.{instruction}.512"
        callee = self.b.module.import_function(name, z.type, (z.type, x.type, y.type))
        return self.b.emit("OpFunctionCall", callee, z, x, y, type=z.type)

    def _sums_of_pairs(self, x: Value, y: Value) -> Value:
        """Of 16-bit numbers, eight sums at a time, as AVX2 has it."""
        b, half = self.b, with_width(I32, 8)
        words = with_width(Int(16), 16)
        callee = b.module.import_function("llvm.x86.avx2.pmadd.wd", half, (words, words))
        made = []
        for start in (0, 8):
            halves = [b.shuffle(side, side, list(range(start, start + 8))) for side in (x, y)]
            pairs = [b.emit("OpBitcast", each, type=words) for each in halves]
            made.append(b.emit("OpFunctionCall", callee, *pairs, type=half))
        return b.shuffle(made[0], made[1], list(range(16)))

    # --- printing, clocks -----------------------------------------------------------------------------------

    def printf(self, format: str, *values: Value) -> None:
        b, m = self.b, self.b.module
        text = m.text(format)
        first = b.emit(
            "OpInBoundsAccessChain", text, b.constant(I32, 0), type=Pointer("UniformConstant", Int(8))
        )
        m.ext("OpenCL.std", "printf", first, *values, type=I32)

    def ticks(self) -> Value:
        b = self.b
        if self.target.clock_builtin:
            callee = b.module.import_function("__builtin_IB_read_cycle_counter", I64, ())
            counted = b.emit("OpFunctionCall", callee, type=I64)
            # ocloc 22.43 crashes on its sums and comparisons, where a device has no integers of 64 bits
            return b.emit("OpBitcast", b.emit("OpBitcast", counted, type=Vector(I32, 2)), type=I64)
        b.module.require("ShaderClockKHR", extension="SPV_KHR_shader_clock")
        return b.emit("OpReadClockKHR", b.constant(I32, SCOPES["gpu"]), type=I64)
