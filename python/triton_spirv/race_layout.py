"""What a kernel that looks for races and its launcher share: shadow memory, the programs' clocks, and an
array of 64-bit words that says where they are.

*Shadow memory* has cells for the memory of each argument that programs may race in: a cell for so many bytes
as the narrowest access has, and in each plane a word for it: who was there last, as a *stamp*

    | number of the program | its clock | the site of the access |

so that one word says which of both was earlier, and where in the source it was. The numbers of a launch's
programs begin at BASE, which grows from launch to launch: what earlier launches left is below FLOOR, and
nothing.

A program's *clock* counts how often it has released something (an atomic operation with that order). Each
address that is released has a row of what is known there of all programs' clocks, found by its key in a
table. A program that acquires from one address alone *follows* that row: it knows what was there at that
time, which the row's versions say: each release there makes one, and notes it with the clock that it puts
there. From when a program acquires from a second address, or a number that it follows is about to be
replaced, it has a row of its own. An access is ordered before another program's if its clock is less than
that program knows it to be.

A cell has room for two programs that read it. Where no program orders another these are enough: of two
programs one is not the one that writes.

Kernels with atomic operations have one plane instead, of *states*: the number of a record of all that
matters of what was done to a cell, the last write and lists of who has read it since, changed it by an
atomic operation, or read it by one. Cells of which the same was done, one after the other, share a state, so
what an access finds and what it makes of it is looked up once: a state says what the last access has made of
it. States never change otherwise; the nodes of lists never do, and lists share their ends. A list leaves out
whom its next one is ordered behind: who is ordered behind that one is behind both. When a list has become
twice as long, it keeps the last node of each program.

Clocks are short. When half of one is used up, it goes on only where the program has accessed something since
it last released: one that waits by an atomic operation that releases may go round as long as it likes. What
it does there is then stamped as the last release of that address was, so a race of such a round alone with a
program that has waited for an earlier round is not seen.
"""

from __future__ import annotations

#: planes of cells, of kernels without atomic operations: the last write; two programs that read
WRITES, READS, PLANES = 0, 1, 3

#: lists of a state: who has read a cell since it was written, or by an atomic operation changed or read it
READERS, CHANGERS, LOOKERS = LISTS = range(3)

#: kind of access -> the lists that it must be ordered behind, beside the last write; its own
BEHIND = {"write": LISTS, "read": (CHANGERS,), "atomic": (READERS,), "atomic read": ()}
NOTED = {"read": READERS, "atomic": CHANGERS, "atomic read": LOOKERS}

#: the words. CELLS: address of the planes, of PLANE_BYTES each. FLOOR: the least stamp of this launch.
#: SHIFT: bits below a stamp's program, SITE_BITS of them for the site. BASE: the first program. MUTEX: 1
#: while a program looks at all this. Those behind FAILURE are of kernels with atomic operations. PROGRAMS:
#: address of PROGRAM_WORDS numbers of 32 bits for each program. ROWS: address of the programs' rows, of ROW
#: numbers of 32 bits each; NOTHING: address of a row of zeros. KEYS: address of the table's keys, of 64 bits
#: each, KEY_MASK + 1 of them, COUNT in use; KNOWN: address of their rows. TRACKS: is anything acquired and
#: released? STATES: address of the states, STATE_WORDS numbers of 32 bits each, of MOST_STATES, LAST_STATE
#: the last one in use; those up to OLD_STATES are of earlier launches, and mean nothing. NODES, MOST_NODES,
#: LAST_NODE: the same of the lists' nodes; number 0 is none. SEEN: address of a number of 32 bits for each
#: program, zeros. READ_ROWS, MOST_READ_ROWS, LAST_READ_ROW: the same of rows of readers, of ROW stamps each;
#: stamps of earlier launches are nothing.
(CELLS, PLANE_BYTES, FLOOR, SHIFT, SITE_BITS, BASE, MUTEX, FAILURE, PROGRAMS, ROWS, ROW, NOTHING, KEYS,
 KEY_MASK, COUNT, KNOWN, TRACKS, STATES, MOST_STATES, LAST_STATE, OLD_STATES, NODES, MOST_NODES, LAST_NODE,
 SEEN, READ_ROWS, MOST_READ_ROWS, LAST_READ_ROW) = range(28)

#: of a program: its clock; what it knows; has it accessed anything since it last released? Of one that
#: follows a row: which (in HEADs, from KNOWN), as of which version, the next program that follows it (its
#: number + 1)
CLOCK, KNOWS, NEWS, FOLLOWED, AS_OF, NEXT_FOLLOWER, PROGRAM_WORDS = 0, 1, 2, 3, 4, 5, 8

#: what a program knows: nothing, what a row of its own says (which means nothing before), what it follows
NOTHING_KNOWN, OWN_ROW, FOLLOWS = range(3)

#: of an address: bytes in front of its row, whose numbers are these: its last version, the first program that
#: follows it (its number + 1); the clocks of its row, then the version of each
HEAD, VERSION, FOLLOWER = 64, 0, 1

#: then, for each argument, where its memory begins and ends (nowhere: it is not watched), the cell that
#: address 0 would have, and how many bits of an address are within a cell
REGIONS, REGION_WORDS = 28, 4

#: of a state: the last write, the first nodes of the lists, a stamp, the state that its access has made of
#: this one, and whether it was a race; the number of its row of readers, + 1, or SHARED, of a state that more
#: than one cell may have. Number 0 is that of a cell that nobody has accessed.
WRITTEN, FIRSTS, MEMO_STAMP, MEMO, RACED, READ_ROW, STATE_WORDS = 0, 1, 4, 5, 6, 7, 8
SHARED = 0xFFFFFFFF
#: of a node: how many may come in front of it before the list is looked through; the list's length from here
NODE_STAMP, NEXT, ROOM, LENGTH, NODE_WORDS = 0, 1, 2, 3, 4
#: a list that is longer becomes a row of readers
LONG_LIST = 12
#: a list that was looked through may become twice as long, and so many nodes longer
SPARE_NODES = 8

#: what FAILURE says: a clock ran over; more addresses were released than there is room for; more nodes needed
CLOCK_RAN_OVER, TABLE_FULL, STATES_FULL = 1, 2, 3

#: of a program's row, numbers that are compared at once
CHUNK = 16


def region_word(argument: int) -> int:
    """The first word of an argument's memory."""
    return REGIONS + argument * REGION_WORDS
