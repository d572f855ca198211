"""Which product and sum become one operation with one rounding, among those that the kernel allows: a product
that one sum uses and nothing else, in the same block, the left one of two.

Drivers get them in one of two ways: fused here, as the extended instruction Fma, or marked, for the driver to
contract. Some find the pairs themselves among all that may be contracted. Of a sum of two products they take
one or the other, as the code around it happens to be. So that the same sum is the same number everywhere,
they may take the left one only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from itertools import chain

from ..module import Module, Value
from ..operands import opcode
from ..types import Float, Type, Vector
from ..values import Words
from .graph import OPCODE, Graph, instruction

#: The integer whose bits flip the sign of a float type, which no driver knows.
Sign = Callable[[Type], Value]

ADD, SUBTRACT, MULTIPLY = opcode("OpFAdd"), opcode("OpFSub"), opcode("OpFMul")
CONTRACTED = frozenset((ADD, SUBTRACT, MULTIPLY))
GLSL, FMA = "GLSL.std.450", 50


def fuse(m: Module, graph: Graph, allowed: AbstractSet[int]) -> None:
    """Each sum and its product as GLSL's Fma; nothing is left to be contracted. `allowed`: ids of the sums
    and products that may be."""
    pairs = _pairs(graph, allowed)
    if not pairs:
        return
    glsl, gone = m.import_set(GLSL), {id(product) for _, product in pairs}
    products = {id(total): product for total, product in pairs}
    for block in graph.blocks:
        code: list[Words] = []
        for words in block.instructions:
            if id(words) in gone:
                continue
            product = products.get(id(words))
            code += [words] if product is None else _fused(m, words, product, glsl)
        block.instructions[:] = code
    graph.write()


def _fused(m: Module, total: Words, product: Words, glsl: int) -> list[Words]:
    """One operation for two, behind the change of a sign."""
    (first, type, result, left, right), (_, _, made, x, y) = total, product
    z, code = right if made == left else left, list[Words]()
    if first & OPCODE == SUBTRACT:
        code.append(instruction("OpFNegate", type, m.new_id(), z if made == left else x))
        x, z = (x, code[-1][2]) if made == left else (code[-1][2], z)
    return [*code, instruction("OpExtInst", type, result, glsl, FMA, x, y, z)]


def mark(m: Module, graph: Graph, allowed: AbstractSet[int], sign: Sign) -> list[Words]:
    """The sums and products that the driver is to contract. Differences become sums of a number whose sign is
    flipped in a way that the driver does not see: of what a driver (NVIDIA, 580) takes for a difference, it
    contracts nothing under float controls 2."""
    pairs = _pairs(graph, allowed)
    differences = [pair for pair in pairs if pair[0][0] & OPCODE == SUBTRACT]
    if differences:
        constants = m.constants()
        flipped: dict[int, int] = {}
        shared = Counter(words[at] for words, places in map(_subtracted, differences) for at in places)
        for pair in differences:
            words, places = _subtracted(pair)
            at = max(places, key=lambda at: (words[at] in constants, shared[words[at]]))
            flipped[id(words)] = at
            pair[0][0] = 5 << 16 | ADD
        _flip(m, graph, flipped, constants, sign)
    return [words for pair in pairs for words in pair]


def second_products(graph: Graph, allowed: AbstractSet[int]) -> list[int]:
    """The right ones of two products that only one sum or difference uses, by their ids."""
    sums = [words for words in _arithmetic(graph, allowed) if words[0] & OPCODE != MULTIPLY]
    products = {words[2] for words in _arithmetic(graph, allowed) if words[0] & OPCODE == MULTIPLY}
    doubtful = [words for words in sums if products >= set(words[3:]) and words[3] != words[4]]
    if not doubtful:
        return []
    places = Counter(filter(products.__contains__, chain.from_iterable(graph.every())))
    return [words[4] for words in doubtful if places[words[3]] == places[words[4]] == 2]


def _arithmetic(graph: Graph, allowed: AbstractSet[int]) -> list[Words]:
    """Sums, differences and products that may be contracted."""
    return [words for block in graph.blocks for words in block.instructions
            if words[0] & OPCODE in CONTRACTED and words[2] in allowed]


def _subtracted(pair: tuple[Words, Words]) -> tuple[Words, tuple[int, ...]]:
    """Where the number stands, or two of which one is enough, whose sign makes a difference a sum."""
    total, product = pair
    return (total, (4,)) if total[3] == product[2] else (product, (3, 4))


def _flip(m: Module, graph: Graph, flipped: Mapping[int, int], constants: Mapping[int, Value],
          sign: Sign) -> None:
    """Put the number of the other sign in these places of instructions; once for all of a block."""
    for block in graph.blocks:
        code: list[Words] = []
        made: dict[int, int] = {}
        for words in block.instructions:
            at = flipped.get(id(words), 0)
            if at:
                given = words[at]
                if given not in made:
                    made[given] = _negated(m, words[1], given, constants, sign, code)
                words[at] = made[given]
            code.append(words)
        block.instructions[:] = code
    graph.write()


def _negated(m: Module, type: int, given: int, constants: Mapping[int, Value], sign: Sign,
             code: list[Words]) -> int:
    """-x of a type by its id: a constant, or bits of which one is flipped."""
    if given in constants:
        value = constants[given].constant
        return m.constant(constants[given].type,
                          tuple(-x for x in value) if isinstance(value, tuple) else -value).id
    mask = sign(m.types[type])
    bits, turned, result = m.new_id(), m.new_id(), m.new_id()
    code += [instruction("OpBitcast", m.type_id(mask.type), bits, given),
             instruction("OpBitwiseXor", m.type_id(mask.type), turned, bits, mask.id),
             instruction("OpBitcast", type, result, turned)]
    return result


def _pairs(graph: Graph, allowed: AbstractSet[int]) -> list[tuple[Words, Words]]:
    """Sums and differences that take in a product, each with it."""
    products: dict[int, tuple[Words, int]] = {}
    sums: list[tuple[Words, int]] = []
    for block in graph.blocks:
        for words in block.instructions:
            operation = words[0] & OPCODE
            if operation in CONTRACTED and words[2] in allowed:
                if operation != MULTIPLY:
                    sums.append((words, block.number))
                elif isinstance(graph.types[words[1]], (Float, Vector)):
                    products[words[2]] = words, block.number
    if not products or not sums:
        return []
    # where it is made, and each use. A literal may have the number of a product: then that stays as it is
    places = Counter(filter(products.__contains__, chain.from_iterable(graph.every())))
    found = []
    for words, home in sums:
        for operand in words[3:]:
            product, made_in = products.get(operand, (words, -1))
            if made_in == home and places[operand] == 2:
                found.append((words, product))
                break
    return found
