"""What a kernel in checked mode and its launcher share: one array of 64-bit words.

    2 i, 2 i + 1     where the memory behind argument i begins, and where it ends
    2 n              the address of memory that nobody uses, for accesses that cannot be left out
    2 n + 1          the address of what race_layout.py describes, where races are looked for; of "lanes", of
                     the table that lower/lanes/global_races.py describes
    2 n + 2          is anything in memory that the kernel reads that nobody has written?
    2 n + 3 + 3 i    where such memory of argument i begins and ends, and how far behind it its marks are: a
                     byte for each, not 0 where nobody has written
    5 n + 3          written while the kernel runs. 1: programs shall report what they wait for; 2: their
                     loops shall end
    5 n + 4          the address of a table of the arrays that the user has named: their number, then where
                     each begins and ends
    5 n + 5 + 9 i    of argument i: the address of its first element, then for each dimension of its view,
                     with the largest stride first, the stride in bytes and the size
    then per site    how often it reported, in the lower half of a word, and SLOTS records of RECORD words:
                     the program's three numbers, the element's number in row-major order, the value. Of
                     "lanes": the lane's number instead, and who was there before

passes/checked/ says which words a kernel reads and writes, lower/program/checks.py does it, and
runtime/checking.py fills the array and reads it.
"""

from __future__ import annotations

from typing import Any

from .dataclass import dataclass

#: records that a site keeps of one launch, and 64-bit words of each
SLOTS, RECORD = 8, 5
SITE_WORDS = 1 + SLOTS * RECORD
#: the check of what lanes do in shared memory; who was there before: from this bit on the place, the how
#: manieth site of this check, and below a lane's number, or one of these
LANES, PLACE_BIT = "lanes", 16
MANY_LANES, ADDING_LANES = 0xFFFF, 0xFFFE
#: 64-bit words of an entry in the table of global memory; how many entries there are, at most
ENTRY_WORDS, MOST_ENTRIES = 7, 1 << 20
#: dimensions of a view, neighbours together, and the words of one
VIEW_DIMENSIONS, VIEW_WORDS = 4, 9
#: bytes of the memory that nobody uses; from NEVER_WRITTEN on it stays 0
SPARE_BYTES, NEVER_WRITTEN = 64, 32


@dataclass(frozen=True)
class Site:
    """A place that may report: which check, what it watches ("load", "store", ...), the user's place, bytes
    of an element, the arguments that the pointers may come from, and whether they may come from elsewhere.
    `shape`: of the tensor that is watched. Of races: `kind` is one of race_layout.BEHIND; does the access
    order others, and does the program see what an atomic operation gives (`answers`)?"""

    check: str
    what: str
    file: str
    line: int
    column: int
    bytes: int = 0
    arguments: tuple[int, ...] = ()
    elsewhere: bool = False
    shape: tuple[int, ...] = ()
    kind: str = ""
    orders: bool = False
    answers: bool = False

    @staticmethod
    def from_json(plain: dict[str, Any]) -> Site:
        """The inverse of dataclasses.asdict, after JSON."""
        held: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value
                                for name, value in plain.items()}
        return Site(**held)


def spare_word(arguments: int) -> int:
    """The word with the address of memory that nobody uses."""
    return 2 * arguments


def race_word(arguments: int) -> int:
    """The word with the address of what races are found by."""
    return 2 * arguments + 1


def unwritten_word(arguments: int) -> int:
    """The word that says whether there is memory that nobody has written; those of the arguments follow."""
    return 2 * arguments + 2


def stop_word(arguments: int) -> int:
    """The word that ends loops."""
    return 5 * arguments + 3


def named_word(arguments: int) -> int:
    """The word with the address of the table of named arrays."""
    return 5 * arguments + 4


def view_word(arguments: int, argument: int) -> int:
    """The first of the words of an argument's view."""
    return 5 * arguments + 5 + argument * VIEW_WORDS


def site_word(arguments: int, site: int) -> int:
    """The word in which a site counts; its records follow."""
    return view_word(arguments, arguments) + site * SITE_WORDS
