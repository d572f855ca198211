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

A cell has room for two programs that read it, and so on. Where no program orders another these are enough: of
two programs one is not the one that writes. Elsewhere those that a third one displaces go to a *list* of the
cell's group, one for each such plane: nodes with a stamp, a bit for each cell of the group that it is of, and
the next node. A write is held against all of them, and they leave the list: who is ordered behind the write
is behind them, too. When a list has become twice as long, it keeps the last stamp of each program and cell.

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

#: the words. CELLS: address of the planes, of PLANE_BYTES each. FLOOR: the least stamp of this launch.
#: SHIFT: bits below a stamp's program, SITE_BITS of them for the site. BASE: the first program. CLOCKS:
#: address of the programs' rows, of ROW numbers of 32 bits each (0: they all share one, of zeros). MUTEX: 1
#: while a program looks at all this. KEYS: address of the table's keys, of 64 bits each, KEY_MASK + 1 of
#: them, COUNT in use; KNOWN: address of their rows. TRACKS: is anything acquired and released? NEWS: address
#: of a number of 32 bits for each program: has it accessed anything since it last released? LISTS: address
#: of the lists, LIST_WORDS numbers of 32 bits each, those of a group beside each other. NODES: address of
#: their nodes, NODE_WORDS such numbers each, of MOST_NODES; number 0 is none. USED: nodes that were ever
#: taken; FREE: the first of those that are free again. SEEN: address of a number of 32 bits for each
#: program, zeros. (The last seven of kernels with atomic operations.)
(CELLS, PLANE_BYTES, FLOOR, SHIFT, SITE_BITS, BASE, CLOCKS, ROW, MUTEX, FAILURE, KEYS, KEY_MASK, KNOWN,
 TRACKS, COUNT, NEWS, LISTS, NODES, MOST_NODES, USED, FREE, SEEN) = range(22)

#: then, for each argument, where its memory begins and ends (nowhere: it is not watched), the cell that
#: address 0 would have, and how many bits of an address are within a cell
REGIONS, REGION_WORDS = 22, 4

#: cells of a group, as a power of 2; planes that have lists; kind of access -> the lists that it must be
#: ordered behind
GROUP_BITS, LISTED = 4, (READS, ATOMICS, ATOMIC_READS)
BEHIND_LISTS = {kind: tuple(i for i, plane in enumerate(LISTED) if plane in planes)
                for kind, planes in CHECKED.items()}

#: of a list: its first node, how many there are, how many there may be before it is looked through; of a node
FIRST, LENGTH, LIMIT, LIST_WORDS = range(4)
NODE_STAMP, NODE_CELLS, NEXT, NODE_WORDS = range(4)
#: a list that was looked through may become twice as long, and so many nodes longer
SPARE_NODES = 8

#: what FAILURE says: a clock ran over; more addresses were released than there is room for; more nodes needed
CLOCK_RAN_OVER, TABLE_FULL, LISTS_FULL = 1, 2, 3

#: of a program's row, numbers that are compared at once
CHUNK = 16


def region_word(argument: int) -> int:
    """The first word of an argument's memory."""
    return REGIONS + argument * REGION_WORDS
