"""Which product and sum become one operation with one rounding, among those that the kernel allows: a product
that one sum uses and nothing else, in the same block where a driver joins them, the left one of two.

Drivers get them in one of two ways: fused here, as an extended instruction, or marked, for the driver to
contract. Some find the pairs themselves among all that may be contracted. Of a sum of two products they take
one or the other, as the code around it happens to be. So that the same sum is the same number everywhere,
they may take the left one only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet

from ..builder import scalar_type
from ..module import Module, Value
from ..operands import opcode
from ..types import Float, Type, Vector
from ..values import Words
from .graph import OPCODE, Block, Graph, id_places, instruction

#: The integer whose bits flip the sign of a float type, which no driver knows.
Sign = Callable[[Type], Value]

ADD, SUBTRACT, MULTIPLY = opcode("OpFAdd"), opcode("OpFSub"), opcode("OpFMul")
SUMS = frozenset((ADD, SUBTRACT))
CONTRACTED = SUMS | {MULTIPLY}
GLSL, FMA = "GLSL.std.450", 50
OPENCL, OPENCL_FMA = "OpenCL.std", 26
#: types of which processors compute it with one instruction
HARDWARE = (Float(32), Float(64))


def fuse(m: Module, graph: Graph, allowed: AbstractSet[int]) -> None:
    """Each sum and its product as GLSL's Fma; nothing is left to be contracted. `allowed`: ids of the sums
    and products that may be."""
    _write_fused(m, graph, _pairs(graph, allowed), GLSL, FMA)


def fuse_in_hardware(m: Module, graph: Graph, allowed: AbstractSet[int]) -> set[int]:
    """Each sum and its product as OpenCL's fma, where processors have an instruction for it, also products of
    other blocks and those that come out of arms; the ids that are decided, and no longer to be contracted."""
    fusable = {id for id, type in graph.types.items() if scalar_type(type) in HARDWARE}
    decided = {words[2] for words in _arithmetic(graph, allowed) if words[1] in fusable}
    joined = _products_behind_arms(m, graph, decided)
    _write_fused(m, graph, _pairs(graph, decided | joined, anywhere=True), OPENCL, OPENCL_FMA)
    return decided


def _products_behind_arms(m: Module, graph: Graph, allowed: AbstractSet[int]) -> set[int]:
    """Where one sum behind the arms of a branch uses the product that either has made: one product there, of
    what comes out of the arms. Their ids."""
    arithmetic = {words[2]: words for words in _arithmetic(graph, allowed)}
    products = {made for made, words in arithmetic.items() if words[0] & OPCODE == MULTIPLY}
    phis = [(block, words) for block in graph.blocks for words in block.phis()
            if products.issuperset(words[3::2])
            and all(before.number < block.number for before in block.before)]
    uses = _uses(graph, {made for _, words in phis for made in words[2:]}) if phis else Counter()
    joined, gone = set[int](), set[int]()
    for block, words in phis:
        made, parts = words[2], words[3::2]
        is_summed = any(made in total[3:] for total in block.instructions
                        if total[0] & OPCODE in SUMS and total[2] in allowed)
        if is_summed and all(uses[value] == 1 for value in (made, *parts)):
            _join(m, block, words, arithmetic)
            joined.add(made)
            gone.update(parts)
    if joined:
        for block in graph.blocks:
            block.instructions[:] = [words for words in block.instructions
                                     if words[0] & OPCODE != MULTIPLY or words[2] not in gone]
        graph.write()
    return joined


def _join(m: Module, block: Block, phi: Words, products: Mapping[int, Words]) -> None:
    """Behind the phis of a block, the product of what a phi of products takes in."""
    _, type, made, *incoming = phi
    ways = list(zip(incoming[::2], incoming[1::2], strict=True))
    factors = [m.new_id(), m.new_id()]
    block.instructions.insert(len(block.phis()), instruction("OpFMul", type, made, *factors))
    joined = [[word for x, label in ways for word in (products[x][place], label)] for place in (3, 4)]
    at = next(at for at, words in enumerate(block.instructions) if words is phi)
    block.instructions[at:at + 1] = [instruction("OpPhi", type, factor, *words)
                                     for factor, words in zip(factors, joined, strict=True)]


def _write_fused(m: Module, graph: Graph, pairs: list[tuple[Words, Words]], name: str, number: int) -> None:
    """Each pair as the operation of that number of an extended instruction set."""
    if not pairs:
        return
    known, gone = m.import_set(name), {id(product) for _, product in pairs}
    products = {id(total): product for total, product in pairs}
    for block in graph.blocks:
        code: list[Words] = []
        for words in block.instructions:
            if id(words) in gone:
                continue
            product = products.get(id(words))
            code += [words] if product is None else _fused(m, words, product, known, number)
        block.instructions[:] = code
    graph.write()


def _fused(m: Module, total: Words, product: Words, known: int, number: int) -> list[Words]:
    """One operation for two, behind the change of a sign."""
    (first, type, result, left, right), (_, _, made, x, y) = total, product
    z, code = right if made == left else left, list[Words]()
    if first & OPCODE == SUBTRACT:
        code.append(instruction("OpFNegate", type, m.new_id(), z if made == left else x))
        x, z = (x, code[-1][2]) if made == left else (code[-1][2], z)
    return [*code, instruction("OpExtInst", type, result, known, number, x, y, z)]


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
    uses = _uses(graph, products)
    return [words[4] for words in doubtful if uses[words[3]] == uses[words[4]] == 1]


def _uses(graph: Graph, values: AbstractSet[int]) -> Counter[int]:
    """How often each value is an operand."""
    found: Counter[int] = Counter()
    for words in graph.every():
        if not values.isdisjoint(words):  # of few instructions it is asked which of their words are ids
            found.update(words[at] for at in id_places(words) if words[at] in values)
    return found


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


def _pairs(graph: Graph, allowed: AbstractSet[int], anywhere: bool = False) -> list[tuple[Words, Words]]:
    """Sums and differences that take in a product of the same block, or made `anywhere`, each with it."""
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
    uses = _uses(graph, products.keys())
    found = []
    for words, home in sums:
        for operand in words[3:]:
            product, made_in = products.get(operand, (words, -1))
            if product is not words and (anywhere or made_in == home) and uses[operand] == 1:
                found.append((words, product))
                break
    return found
