"""Which product and sum become one operation with one rounding, among those that the kernel allows: a product
that one sum uses and nothing else, in the same block where a driver joins them, the left one of two.

Drivers get them in one of two ways: fused here, as an extended instruction, or marked, for the driver to
contract. Some find the pairs themselves among all that may be contracted. Of a sum of two products they take
one or the other, as the code around it happens to be. So that the same sum is the same number everywhere,
they may take the left one only.

On the CPU it is the kernel's own operations that count (lower/arithmetic/elementwise.py). A module may make
a product once for each of its users, or repeat the sum in the arms of a mask or a check: how a sum is rounded
must not depend on that. So a product that several operations use is rounded, and one that a single sum uses
is not, however often the module has the sum. Where that is not known, as for products that a reduction adds,
a product may be that of a sum in each of several arms. Of two sums on one way, neither takes it in.
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
from .graph import OPCODE, PHI, Block, Graph, id_places, instruction

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


def fuse_in_hardware(m: Module, graph: Graph, allowed: AbstractSet[int],
                     of_one_sum: AbstractSet[int] = frozenset()) -> set[int]:
    """Each sum and its product as OpenCL's fma, where processors have an instruction for it, also products of
    other blocks, those that come out of arms, and those that every arm adds; the ids that are decided, and no
    longer to be contracted. `of_one_sum`: products of which all sums are the same one, repeated."""
    fusable = {id for id, type in graph.types.items() if scalar_type(type) in HARDWARE}
    decided = {words[2] for words in _arithmetic(graph, allowed) if words[1] in fusable}
    joined = _products_behind_arms(m, graph, decided)
    _write_fused(m, graph, _pairs(graph, decided | joined, of_one_sum), OPENCL, OPENCL_FMA)
    return decided


class _Users:
    """The instructions that use some values, each with the number of its block, once for each operand."""

    def __init__(self, graph: Graph, values: AbstractSet[int], allowed: AbstractSet[int]) -> None:
        self._graph, self._allowed = graph, allowed
        self._found: dict[int, list[tuple[int, Words]]] = {value: [] for value in values}
        self._apart: dict[tuple[int, ...], bool] = {}
        for block in graph.blocks:
            for words in block.instructions:
                if not values.isdisjoint(words):
                    for at in id_places(words):
                        if words[at] in self._found:
                            self._found[words[at]].append((block.number, words))

    def count(self, value: int) -> int:
        return len(self._found[value])

    def only_phi(self, value: int) -> int:
        """The phi that alone takes it in, by its id; 0 where something else does."""
        found = self._found[value]
        return found[0][1][2] if len(found) == 1 and found[0][1][0] & OPCODE == PHI else 0

    def are_one_sum(self, value: int, repeated: bool = False) -> bool:
        """Do allowed sums alone use it, one on each way, where they are not known to be one that is repeated?
        The arms of a branch may each have the same one."""
        found = self._found[value]
        return bool(found) and all(words[0] & OPCODE in SUMS and words[2] in self._allowed
                                   for _, words in found) and (
            repeated or self._are_apart(tuple(at for at, _ in found)))

    def _are_apart(self, blocks: tuple[int, ...]) -> bool:
        """Does no way lead from one of these blocks to another, but for another round of a loop?"""
        if len(blocks) == 1:
            return True
        if blocks not in self._apart:
            behind = set[int]()
            for block in self._graph.blocks[blocks[0]:blocks[-1]]:
                if block.number in blocks or block.number in behind:
                    behind.update(after.number for after in block.after if after.number > block.number)
            self._apart[blocks] = len(set(blocks)) == len(blocks) and behind.isdisjoint(blocks)
        return self._apart[blocks]


def _products_behind_arms(m: Module, graph: Graph, allowed: AbstractSet[int]) -> set[int]:
    """Where one sum behind the arms of a branch uses the product that either has made: one product there, of
    what comes out of the arms. Their ids."""
    arithmetic = {words[2]: words for words in _arithmetic(graph, allowed)}
    products = {made for made, words in arithmetic.items() if words[0] & OPCODE == MULTIPLY}
    kinds = {arithmetic[made][1] for made in products}
    phis = {words[2]: (block, words) for block in graph.blocks
            if all(before.number < block.number for before in block.before)
            for words in block.phis() if words[1] in kinds}
    chosen = _of_products(phis, products)
    if not chosen:
        return set()
    users = _Users(graph, products | phis.keys(), allowed)
    known = -1
    while known != len(chosen):
        known = len(chosen)
        chosen = _of_products({
            made: phis[made] for made in chosen
            if (users.are_one_sum(made) or users.only_phi(made) in chosen)
            and all(users.count(part) == 1 for part in phis[made][1][3::2])}, products)
    gone = set[int]()
    for made, (block, words) in chosen.items():
        gone.update(words[3::2])
        arithmetic[made] = _join(m, block, words, arithmetic)
    if chosen:
        for block in graph.blocks:
            block.instructions[:] = [words for words in block.instructions
                                     if words[0] & OPCODE != MULTIPLY or words[2] not in gone]
        graph.write()
    return chosen.keys() - gone


def _of_products(phis: Mapping[int, tuple[Block, Words]],
                 products: AbstractSet[int]) -> dict[int, tuple[Block, Words]]:
    """Those phis, in the order of blocks, that take in nothing but products, or such phis of them."""
    found: dict[int, tuple[Block, Words]] = {}
    for made, (block, words) in phis.items():
        if all(part in products or part in found for part in words[3::2]):
            found[made] = block, words
    return found


def _join(m: Module, block: Block, phi: Words, products: Mapping[int, Words]) -> Words:
    """Behind the phis of a block, the product of what a phi of products takes in."""
    _, type, made, *incoming = phi
    ways = list(zip(incoming[::2], incoming[1::2], strict=True))
    factors = [m.new_id(), m.new_id()]
    product = instruction("OpFMul", type, made, *factors)
    block.instructions.insert(len(block.phis()), product)
    joined = [[word for x, label in ways for word in (products[x][place], label)] for place in (3, 4)]
    at = next(at for at, words in enumerate(block.instructions) if words is phi)
    block.instructions[at:at + 1] = [instruction("OpPhi", type, factor, *words)
                                     for factor, words in zip(factors, joined, strict=True)]
    return product


def _write_fused(m: Module, graph: Graph, pairs: list[tuple[Words, Words]], name: str, number: int) -> None:
    """Each pair as the operation of that number of an extended instruction set."""
    if not pairs:
        return
    known, products = m.import_set(name), {id(total): product for total, product in pairs}
    taken, uses = Counter(product[2] for _, product in pairs), _uses(graph, {words[2] for _, words in pairs})
    gone = {id(product) for _, product in pairs if taken[product[2]] == uses[product[2]]}
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


def _pairs(graph: Graph, allowed: AbstractSet[int],
           of_one_sum: AbstractSet[int] | None = None) -> list[tuple[Words, Words]]:
    """Sums and differences that take in a product of the same block, each with it; or, of which `of_one_sum`
    is known, a product made anywhere, that may be one of these or be added once on each way."""
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
    anywhere = of_one_sum is not None
    if of_one_sum is not None:
        users = _Users(graph, products.keys(), allowed)
        taken = {made for made in products if users.are_one_sum(made, made in of_one_sum)}
    else:
        uses = _uses(graph, products.keys())
        taken = {made for made in products if uses[made] == 1}
    found = []
    for words, home in sums:
        for operand in words[3:]:
            product, made_in = products.get(operand, (words, -1))
            if operand in taken and (anywhere or made_in == home):
                found.append((words, product))
                break
    return found
