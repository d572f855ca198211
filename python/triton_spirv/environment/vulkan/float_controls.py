"""What a Vulkan driver may make of floating-point arithmetic: nothing but what stands there.

Left alone, a driver may rearrange: where a module says nothing, Vulkan allows contraction, reassociation and
transformation together (Vulkan specification, "Floating-Point Environment"). So everything is forbidden, by
SPV_KHR_float_controls2 where the device has it (FPFastMathDefault: no flags), elsewhere by NoContraction on
each operation. Which product and sum become one operation is decided by spirv/passes/contraction.py.
"""

from __future__ import annotations

from ...spirv.builder import I32, scalar_type
from ...spirv.module import Function, Module
from ...spirv.operands import opcode
from ...spirv.passes.contraction import FMA
from ...spirv.passes.graph import OPCODE, Graph, numbers
from ...spirv.types import Float
from ...spirv.values import Words
from ...target import Target

EXTENDED = opcode("OpExtInst")
#: Arithmetic, and comparisons: those of a sum and a constant are rearranged as well.
ROUNDED = numbers(
    "OpFNegate", "OpFAdd", "OpFSub", "OpFMul", "OpFDiv", "OpFRem", "OpFMod",
    *(f"OpF{order}{relation}" for order in ("Ord", "Unord") for relation in (
        "Equal", "NotEqual", "LessThan", "GreaterThan", "LessThanEqual", "GreaterThanEqual")))
CONTROLS = "FloatControls2"
#: SignedZeroInfNanPreserve may not stand beside FPFastMathDefault: what it says is said by the absence of
#: these flags, which a device without it must be given.
RELAXED, RELAXED_FLAGS = ("NotNaN", "NotInf", "NSZ"), 7
WIDTHS = frozenset((16, 32, 64))


def control_floats(m: Module, graph: Graph, target: Target, contracted: list[Words]) -> None:
    """Forbid rearrangement in an entry point, but for sums and products that the driver is to contract."""
    kernel = graph.function
    if target.capabilities is None or CONTROLS in target.capabilities:
        _forbid_by_default(m, kernel, target, contracted)
        return
    m.decorate_each((words[2] for words in graph.every() if words[0] & OPCODE in ROUNDED
                     or (words[0] & OPCODE == EXTENDED and words[4] == FMA)), "NoContraction")
    for mode, bits in sorted(target.float_controls):
        m.execution_mode(kernel, mode, bits)


def _forbid_by_default(m: Module, kernel: Function, target: Target, contracted: list[Words]) -> None:
    """FPFastMathDefault for every float type, and AllowContract on what may be contracted."""
    m.require(CONTROLS, extension="SPV_KHR_float_controls2")
    kept = {bits for mode, bits in target.float_controls if mode == "SignedZeroInfNanPreserve"}
    used = {type.width: type for type in m.types.values() if isinstance(type, Float) and not type.encoding}
    for bits in sorted(used.keys() & WIDTHS):
        flags = m.constant(I32, 0 if bits in kept else RELAXED_FLAGS)
        m.execution_mode(kernel, "FPFastMathDefault", used[bits], flags)
    for mode, bits in sorted(target.float_controls):
        if mode != "SignedZeroInfNanPreserve":
            m.execution_mode(kernel, mode, bits)
    elements = {id: scalar_type(m.types[id]) for id in {words[1] for words in contracted}}
    free = {id for id, type in elements.items() if isinstance(type, Float) and type.width not in kept}
    for relaxed, strict in (((), True), (RELAXED, False)):
        m.decorate_each((words[2] for words in contracted if (words[1] not in free) is strict),
                        "FPFastMathMode", [*relaxed, "AllowContract"])
