"""Traits: what an operation is, for everybody who asks (`op.has("view")`, `op.is_pure`). The table of
dialects (dialects.py) says each operation's.

    elementwise  element i of each result is computed from element i of the operands, and from nothing else
    view         the elements of the result are those of the one operand, moved or repeated
    keeps_dims   a view in which dimension d stays dimension d
    reshapes     a view in another shape, in the same row-major order
    arranges     the elements of the results are those of the operands, put together or taken apart
    pure         results follow from operands and attributes (and the program's number); nothing else happens.
                 What is elementwise or a view is pure
    divides      needs a second operand other than zero
    remainder    of dividing integers
    sum          the sum of its two operands
    ring         a sum, difference or product of integers, of which what does not fit is dropped
    shifts       moves the bits of its first operand by the second
    idempotent   makes x of x and x, whatever x is
    extreme      the greater or the lesser one of two numbers
    precise      correctly rounded, whatever the options allow
    picks        elements of the result are elements of some operands; another one says which
    reinterprets the bits of its operand, read as another type
    truncates    an integer of a float, its fraction dropped
    folds        combines the elements along an axis by its region
    reduces      folds them to one
    maps         gives each element, or each pack of neighbours, to its region
    widens       the same number, read as signed, in a wider type
    resizes      the same number in another integer type, where it fits
    accesses     memory that pointers reach
    reads, writes, atomic
                 the same, in this way; `writes` names the operand: `writes=ptr`
    waits        the program does not go on before it has seen what another one writes
    watches      looks at what its operands are; nobody else sees what it does
    unordered    asks something of all elements of a tensor, in whatever order they lie
    multiplies   makes a product of numbers, which may become one instruction with an addition of it
    product      a product of matrices
    loops        runs its region as often as the program says
    carries      its results are what its regions end with
    function     a body that calls run with operands of theirs
    calls        runs the body of a function
    counts       a loop from `lower` to `upper`: the first value of its body is the count
    constant     its result is its attribute `value`
    enumerates   element i of its result is a start + i
    splats       a view that gives one scalar to every element
    repeats      a view that repeats elements along dimensions of size 1
    transposes   a view whose dimensions are those of its operand in another order
    converts     the same tensor under another encoding
    offsets      its first operand, pointers, so many elements further
    difference   of its two operands, integers
    times        the product of its two operands, integers
    zero_extends the same number, read as unsigned, in a wider type
    selects      its second operand where the first one holds, else its third one
    loads        what pointers `ptr` reach where `mask` holds, else `other`
    terminator   ends a block
    returns      a terminator that leaves a region of several blocks with what its operands are

Some have one bearer today. They are asked for all the same: code that follows a view, a loop that counts or a
constant is about what these are, and learns of the next one with its line of the table.
"""

from __future__ import annotations

#: What traits may be said, and which others each brings.
BRINGS: dict[str, str] = {
    "elementwise": "pure", "view": "pure", "product": "pure", "arranges": "pure", "folds": "pure",
    "reduces": "folds",
    "maps": "pure", "picks": "pure", "constant": "pure", "enumerates": "pure",
    "keeps_dims": "view", "reshapes": "view", "splats": "view", "transposes": "view",
    "repeats": "keeps_dims", "converts": "keeps_dims",
    "multiplies": "elementwise", "ring": "elementwise", "shifts": "elementwise", "idempotent": "elementwise",
    "precise": "elementwise", "reinterprets": "elementwise", "truncates": "elementwise",
    "extreme": "idempotent", "difference": "ring", "times": "ring",
    "offsets": "elementwise sum", "zero_extends": "elementwise resizes", "selects": "elementwise picks",
    "remainder": "divides", "reads": "accesses", "writes": "accesses", "atomic": "accesses", "loads": "reads",
    "counts": "loops carries", "returns": "terminator",
    **dict.fromkeys(("pure", "divides", "sum", "widens", "resizes", "accesses", "waits", "watches",
                     "unordered", "loops", "carries", "function", "calls", "terminator"), ""),
}


def _all_of(trait: str) -> frozenset[str]:
    return frozenset({trait}).union(*map(_all_of, BRINGS[trait].split()))


#: The same, with what those bring.
TRAITS = {trait: _all_of(trait) for trait in BRINGS}
