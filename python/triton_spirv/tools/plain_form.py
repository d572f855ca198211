"""A module in the words that an older spirv-val knows: instructions of SPV_INTEL_predicated_io as accesses
without predicates. Types, pointers and dominance are checked as before; the module is for nothing else.
"""

from __future__ import annotations

import struct

CAPABILITY, EXTENSION, TYPE_BOOL, LOAD, STORE, LOGICAL_AND = 17, 10, 20, 61, 62, 167
PREDICATED_CAPABILITY, PREDICATED_LOAD, PREDICATED_STORE = 6257, 6258, 6259
NAME = b"SPV_INTEL_predicated_io\0"
HEADER = 5
BOUND = 3

#: what a spirv-val says that does not know the capability
UNKNOWN = f"Invalid capability operand: {PREDICATED_CAPABILITY}"


def without_predicates(module: bytes) -> bytes:
    """The module with a load and a store instead of each predicated access. What the predicate and the other
    value are is checked by an instruction of their types.
    """
    words = list(struct.unpack(f"<{len(module) // 4}I", module))
    made, at, bool_type, bound = words[:HEADER], HEADER, 0, words[BOUND]

    def emit(opcode: int, *operands: int) -> None:
        made.extend((len(operands) + 1 << 16 | opcode, *operands))

    while at < len(words):
        count, opcode = words[at] >> 16, words[at] & 0xFFFF
        operands = words[at + 1:at + count]
        if opcode == TYPE_BOOL:
            bool_type = operands[0]
        if opcode == PREDICATED_LOAD:
            type, result, pointer, predicate, other = operands[:5]
            emit(LOAD, type, result, pointer)
            emit(STORE, pointer, other)
        elif opcode == PREDICATED_STORE:
            pointer, value, predicate = operands[:3]
            emit(STORE, pointer, value)
        elif not _declares(opcode, operands):
            made.extend(words[at:at + count])
        if opcode in (PREDICATED_LOAD, PREDICATED_STORE):
            emit(LOGICAL_AND, bool_type, bound, predicate, predicate)
            bound += 1
        at += count
    made[BOUND] = bound
    return struct.pack(f"<{len(made)}I", *made)


def _declares(opcode: int, operands: list[int]) -> bool:
    """Is it the extension, or its capability?"""
    if opcode == CAPABILITY:
        return operands[0] == PREDICATED_CAPABILITY
    return opcode == EXTENSION and struct.pack(f"<{len(operands)}I", *operands).startswith(NAME)
