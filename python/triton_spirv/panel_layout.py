"""Memory in which programs keep packed panels for those behind them, as kernels and launchers see it.

    byte 0      i32: how many shelves there are; 0: nothing is kept, and nothing but this word is there
    byte 4      i32: rounds of a loop that a shelf has room for
    byte 8      i64: number of the launch, another one for each launch that has this memory
    byte 16     i64: bytes of a shelf
    byte 24     i64: where the first shelf is
    byte 32     3 i32: programs along x, y and z, where the launch has all of them along x, in the order of
                their numbers; else 0
    OWNERS      i64 a shelf: the thread, and which product, it is for; 0: none yet
    LOCKS       a line a shelf: i32, 1 while a program has it
    LABELS      labels_bytes(rounds) a shelf: what is known of the programs that had it (POLICY_BYTES: the
                launch, is keeping in doubt, the last panel), then what each round's panel is (LABEL_BYTES:
                the launch, its address, its strides along rows and columns, has it been found, where the left
                operand of a round that waits lies, and the bytes between its rows; from LEAST on what its
                product knows of its magnitudes)

Before a launch owners and locks are 0, and the number is a new one; nothing else has to be.
"""

from __future__ import annotations

import struct

HEADER = struct.Struct("<iiqqq")

GRID, GRID_AT = struct.Struct("<iii"), 32

#: products of a loop that keep panels, at most
PRODUCTS = 2

OWNERS, MOST_SHELVES = 64, 256
LOCKS, LOCK_BYTES = 4096, 64
LABELS = LOCKS + MOST_SHELVES * LOCK_BYTES

POLICY_BYTES, LABEL_BYTES, LEAST = 64, 128, 64

#: i64 words of a policy, and of a label
POLICY_LAUNCH, DOUBT, LAST = range(3)
LAUNCH, ADDRESS, DOWN, ACROSS, FOUND, LEFT, LEFT_DOWN = range(7)


def labels_bytes(rounds: int) -> int:
    """Of one shelf."""
    return POLICY_BYTES + rounds * LABEL_BYTES


def shelves_at(shelves: int, rounds: int) -> int:
    """Where the first shelf may be."""
    return LABELS + shelves * labels_bytes(rounds)
