"""What a kernel that looks for races and its launcher share: shadow memory, the programs' clocks, and an
array of 64-bit words that says where they are.

*Shadow memory* has cells for the memory of each argument that programs may race in: a cell for so many bytes
as the narrowest access has, and in each plane a word for it: who was there last, as a *stamp*

    | number of the program | its clock | the site of the access |

so that one word says which of both was earlier, and where in the source it was. The numbers of a launch's
programs begin at BASE, which grows from launch to launch: what earlier launches left is below FLOOR, and
nothing.

A program's *clock* counts how often it has released something (an atomic operation with that order). It keeps
a row of what it knows of the others' clocks: what it has acquired. An access is ordered before another
program's if its clock is less than that program knows it to be. Each address that is released has such a row,
too, found by its key in a table.

Clocks are short. When half of one is used up, it goes on only where the program has accessed something since
it last released: one that waits by an atomic operation that releases may go round as long as it likes. What
it does there is then stamped as the last release of that address was, so a race of such a round alone with a
program that has waited for an earlier round is not seen.
"""

from __future__ import annotations

#: planes of cells: the last write; two programs that read; two that changed it by an atomic operation; two
#: that read it by one. Kernels without atomic operations have the first three.
WRITES, READS, ATOMICS, ATOMIC_READS = 0, 1, 3, 5
PLANES, PLAIN_PLANES = 7, 3

#: kind of access -> the planes that it must be ordered behind; where it is noted itself
CHECKED = {"write": tuple(range(PLANES)), "read": (WRITES, ATOMICS, ATOMICS + 1),
           "atomic": (WRITES, READS, READS + 1), "atomic read": (WRITES,)}
NOTED = {"write": WRITES, "read": READS, "atomic": ATOMICS, "atomic read": ATOMIC_READS}

#: the words. CELLS: address of the planes, of PLANE_BYTES each. FLOOR: the least stamp of this launch. SHIFT:
#: bits below a stamp's program, SITE_BITS of them for the site. BASE: the first program. CLOCKS: address of
#: the programs' rows, of ROW numbers of 32 bits each (0: they all share one, of zeros). MUTEX: 1 while a
#: program looks at all this. KEYS: address of the table's keys, of 64 bits each, KEY_MASK + 1 of them, COUNT
#: in use; KNOWN: address of their rows. TRACKS: is anything acquired and released? NEWS: address of a number
#: of 32 bits for each program: has it accessed anything since it last released? (Of kernels with atomic
#: operations.)
(CELLS, PLANE_BYTES, FLOOR, SHIFT, SITE_BITS, BASE, CLOCKS, ROW, MUTEX, FAILURE, KEYS, KEY_MASK, KNOWN,
 TRACKS, COUNT, NEWS) = range(16)

#: then, for each argument, where its memory begins and ends (nowhere: it is not watched), the cell that
#: address 0 would have, and how many bits of an address are within a cell
REGIONS, REGION_WORDS = 16, 4

#: what FAILURE says: a clock ran over; more addresses were released than there is room for
CLOCK_RAN_OVER, TABLE_FULL = 1, 2

#: of a program's row, numbers that are compared at once
CHUNK = 16


def region_word(argument: int) -> int:
    """The first word of an argument's memory."""
    return REGIONS + argument * REGION_WORDS
