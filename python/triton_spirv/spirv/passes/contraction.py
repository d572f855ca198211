"""What a Vulkan driver may make of floating-point arithmetic: nothing but what stands there.

Left alone, a driver may rearrange: where a module says nothing, Vulkan allows contraction, reassociation and
transformation together (Vulkan specification, "Floating-Point Environment"). So everything is forbidden, by
SPV_KHR_float_controls2 where the device has it (FPFastMathDefault: no flags), elsewhere by NoContraction on
each operation.

Which product and sum become one operation with one rounding is decided here, among those that the kernel
allows: a product that one sum uses and nothing else, in the same block, the left one of two.
`Target.contracts` says how the driver gets them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Set
from itertools import chain

from ..builder import I32, scalar_type
from ..module import Function, Module, Value
from ..operands import opcode
from ..types import Float, Type, Vector
from ...target import Target
from ...environment.glsl.number import GLSL

Words = list[int]
#: The integer whose bits flip the sign of a float type, which no driver knows.
Sign = Callable[[Type], Value]

ADD, SUBTRACT, MULTIPLY = opcode("OpFAdd"), opcode("OpFSub"), opcode("OpFMul")
NEGATE, EXTENDED, LABEL = opcode("OpFNegate"), opcode("OpExtInst"), opcode("OpLabel")
BITCAST, XOR = opcode("OpBitcast"), opcode("OpBitwiseXor")
CONTRACTED = frozenset((LABEL, ADD, SUBTRACT, MULTIPLY))
FMA = 50  # of GLSL.std.450
#: Arithmetic, and comparisons: those of a sum and a constant are rearranged as well.
ROUNDED = frozenset(opcode(name) for name in (
    "OpFNegate", "OpFAdd", "OpFSub", "OpFMul", "OpFDiv", "OpFRem", "OpFMod",
    *(f"OpF{order}{relation}" for order in ("Ord", "Unord") for relation in (
        "Equal", "NotEqual", "LessThan", "GreaterThan", "LessThanEqual", "GreaterThanEqual"))))
CONTROLS = "FloatControls2"
#: SignedZeroInfNanPreserve may not stand beside FPFastMathDefault: what it says is said by the absence of
#: these flags, which a device without it must be given.
RELAXED, RELAXED_FLAGS = ("NotNaN", "NotInf", "NSZ"), 7
WIDTHS = frozenset((16, 32, 64))


def control_floats(m: Module, kernel: Function, target: Target, allowed: Set[int], sign: Sign) -> None:
    """Forbid rearrangement in an entry point that ends here. `allowed`: the ids of the sums and products that
    may be contracted."""
    pairs = _pairs(kernel, m.types, allowed) if target.contracts and allowed else []
    joined = _mark(m, kernel, pairs, sign) if target.contracts == "mode" else _fuse(m, kernel, pairs)
    if target.capabilities is None or CONTROLS in target.capabilities:
        _forbid_by_default(m, kernel, target, joined)
        return
    m.decorate_each((words[2] for words in (*kernel.opening, *kernel.instructions)
                     if words[0] & 0xFFFF in ROUNDED or (words[0] & 0xFFFF == EXTENDED and words[4] == FMA)),
                    "NoContraction")
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


def _fuse(m: Module, kernel: Function, pairs: list[tuple[Words, Words]]) -> list[Words]:
    """Each sum and its product as GLSL's Fma; nothing is left to be contracted."""
    if not pairs:
        return []
    glsl, gone = m.import_set(GLSL), {id(product) for _, product in pairs}
    products = {id(total): product for total, product in pairs}
    code: list[Words] = []
    for words in kernel.instructions:
        if id(words) in gone:
            continue
        product = products.get(id(words))
        if product is not None:
            (first, type, result, left, right), (_, _, made, x, y) = words, product
            z = right if made == left else left
            if first & 0xFFFF == SUBTRACT:
                code.append([4 << 16 | NEGATE, type, m.new_id(), z if made == left else x])
                x, z = (x, code[-1][2]) if made == left else (code[-1][2], z)
            words = [8 << 16 | EXTENDED, type, result, glsl, FMA, x, y, z]
        code.append(words)
    kernel.instructions[:] = code
    return []


def _mark(m: Module, kernel: Function, pairs: list[tuple[Words, Words]], sign: Sign) -> list[Words]:
    """Each sum and its product, for the driver to contract. Differences become sums of a number whose sign is
    flipped in a way that the driver does not see: of what a driver (NVIDIA, 580) takes for a difference, it
    contracts nothing under float controls 2."""
    differences = [pair for pair in pairs if pair[0][0] & 0xFFFF == SUBTRACT]
    if differences:
        constants = m.constants()
        flipped: dict[int, int] = {}
        shared = Counter(words[at] for words, places in map(_subtracted, differences) for at in places)
        for pair in differences:
            words, places = _subtracted(pair)
            at = max(places, key=lambda at: (words[at] in constants, shared[words[at]]))
            flipped[id(words)] = at
            pair[0][0] = 5 << 16 | ADD
        _flip(m, kernel, flipped, constants, sign)
    return [words for pair in pairs for words in pair]


def _subtracted(pair: tuple[Words, Words]) -> tuple[Words, tuple[int, ...]]:
    """Where the number stands, or two of which one is enough, whose sign makes a difference a sum."""
    total, product = pair
    return (total, (4,)) if total[3] == product[2] else (product, (3, 4))


def _flip(m: Module, kernel: Function, flipped: Mapping[int, int],
          constants: Mapping[int, Value], sign: Sign) -> None:
    """Put the number of the other sign in these places of instructions; once for all of a block."""
    code: list[Words] = []
    made: dict[int, int] = {}
    for words in kernel.instructions:
        if words[0] & 0xFFFF == LABEL:
            made = {}
        at = flipped.get(id(words), 0)
        if at:
            given = words[at]
            if given not in made:
                made[given] = _negated(m, words[1], given, constants, sign, code)
            words[at] = made[given]
        code.append(words)
    kernel.instructions[:] = code


def _negated(m: Module, type: int, given: int, constants: Mapping[int, Value], sign: Sign,
             code: list[Words]) -> int:
    """-x of a type by its id: a constant, or bits of which one is flipped."""
    if given in constants:
        value = constants[given].constant
        return m.constant(constants[given].type,
                          tuple(-x for x in value) if isinstance(value, tuple) else -value).id
    mask = sign(m.types[type])
    bits, turned, result = m.new_id(), m.new_id(), m.new_id()
    code += [[4 << 16 | BITCAST, m.type_id(mask.type), bits, given],
             [5 << 16 | XOR, m.type_id(mask.type), turned, bits, mask.id],
             [4 << 16 | BITCAST, type, result, turned]]
    return result


def _pairs(kernel: Function, types: Mapping[int, Type], allowed: Set[int]) -> list[tuple[Words, Words]]:
    """Sums and differences that take in a product, each with it."""
    products: dict[int, tuple[Words, int]] = {}
    sums: list[tuple[Words, int]] = []
    block = 0
    for words in [words for words in kernel.instructions if words[0] & 0xFFFF in CONTRACTED]:
        operation = words[0] & 0xFFFF
        if operation == LABEL:
            block = words[1]
        elif words[2] in allowed:
            if operation != MULTIPLY:
                sums.append((words, block))
            elif isinstance(types[words[1]], (Float, Vector)):
                products[words[2]] = words, block
    if not products or not sums:
        return []
    # where it is made, and each use. A literal may have the number of a product: then that stays as it is
    places = Counter(filter(products.__contains__, chain.from_iterable(kernel.instructions)))
    found = []
    for words, block in sums:
        for operand in words[3:]:
            product, home = products.get(operand, (words, -1))
            if home == block and places[operand] == 2:
                found.append((words, product))
                break
    return found
