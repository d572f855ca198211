"""What the compiler decides, one frozen record for each decision.

A plan is a tree in the order of the code. Its leaves say how memory is accessed, which arrays are written and
read, how a product is computed, how elements travel between lanes. Its inner nodes are the loops and branches
around them: those of the kernel (`Region`), walks of a tensor in steps (`Walk`, `Turns`), and forms of the
same code of which a test chooses one when the kernel runs (`Versions`).

    plan            Region*, Walk*, ...
    Region          a loop, branch or call of the kernel: its bodies
    Walk            one operation, or several values, walked: the arrays that it fills, its loops
    Turns           a loop over steps
    Versions        arms, of which one runs
    Access, Fused, Fetch, ArrayUse, Renamed, Product, Exchange, Overflow     leaves
"""

from __future__ import annotations

from dataclasses import dataclass

from ...facts.motion import Slope
from ...ir.model import Operation, Value
from ...layout import Layout, SharedLayout
from ...spirv.types import Int
from ...target import Requirement
from .moves import Moves

#: How the elements of an access are moved.
#:   plain        there is no mask
#:   proven       there is a mask, which a test around this code has shown true
#:   predicated   by messages that a mask governs
#:   regions      a branch for each group of registers that share a mask
#:   masked       by masked vector accesses, or a branch for each element
#:   one by one   a loop over the elements with a branch
#:   nothing      masked elements give a value and touch no memory
#:   block        by 2D block messages, whose surface ends where the mask does
#:   scalar       one element, of a scalar pointer
WAYS = ("plain", "proven", "predicated", "regions", "masked", "one by one", "nothing", "block", "scalar")


PRODUCT_WAYS = ("arrays", "lanes", "matrix unit", "matrices", "tile registers")

#: An operand is read column by column, and written row by row.
IN_SQUARES = ", transposed in squares"

#: Where an operand of a product lies while it is multiplied; "": that is not decided yet.
STAGINGS = ("", "in memory", "where it is", "by rows", f"by rows{IN_SQUARES}", "by columns", "panels",
            f"panels{IN_SQUARES}", "registers", "shared memory", "matrices")


#: What shows that a turn of a store's walk loads nothing that an earlier turn has stored.
#:   same pointers     it goes through the pointers that are stored to; each turn reads the elements that it
#:                     stores, and no other turn's have their addresses
#:   disjoint          a test has shown that the memory of the two lies apart
#:   disjoint or same  or that they are the same memory, of which each turn reads the elements that it stores
PROOFS = ("same pointers", "disjoint", "disjoint or same")


@dataclass(frozen=True)
class Vectors:
    """How the elements of an access lie in memory, under a layout: `run` components are neighbours there, at
    addresses that are multiples of `alignment` bytes; one access moves the registers of one of `joined`."""

    layout: Layout
    run: int = 1
    alignment: int = 0
    joined: tuple[tuple[int, ...], ...] = ((0,),)


@dataclass(frozen=True)
class Groups:
    """Registers that share a mask: under `layout` the mask has one scalar for each group, and `of` says for
    each register which."""

    layout: Layout
    of: tuple[int, ...]


#: Where the surface of a 2D block message begins.
#:   near      just before its block
#:   moving    the same, and a loop of the kernel moves it with the block
#:   resting   where the block of a loop's first round is: the loop moves the block over it
#:   whole     where the matrix does
SURFACES = ("near", "moving", "resting", "whole")


@dataclass(frozen=True)
class Message:
    """How a 2D block is moved: `kind` "plain", "transform" (two or four rows in one word) or "transpose" (of
    words of 32 bits); the contiguous dimension; rows, columns and blocks side by side, in elements of
    `bytes`; what one register of the fragment holds of a block, `step` rows or columns apart; its words.
    """

    kind: str
    across: int
    bytes: int
    height: int
    width: int
    count: int
    step: int
    word: Int
    words: int

    @property
    def down(self) -> int:
        return 1 - self.across

    @property
    def block(self) -> tuple[int, int, int]:
        return self.width, self.height, self.count


@dataclass(frozen=True, kw_only=True)
class Blocks:
    """The 2D block messages that do an access.

    starts     the first elements of the blocks, one register each
    edges      dimensions along which the surface ends where the mask does
    requires   what the launcher must see to, so that the surface is one that messages take
    moves      on a surface that rests: the dimension that a round moves the block along, and by how many
               elements
    ahead      after so many rounds of the loop what is fetched meanwhile is loaded; 0: nothing is fetched
    """

    surface: str
    message: Message
    starts: Layout
    edges: tuple[int, ...] = ()
    moves: tuple[int, int] | None = None
    requires: tuple[Requirement, ...] = ()
    ahead: int = 0

    def __post_init__(self) -> None:
        if self.surface not in SURFACES:
            raise ValueError(f"no surface {self.surface!r}")


@dataclass(frozen=True)
class Access:
    """One load, store or atomic operation, once.

    layout     under which its elements are asked for; None: a scalar
    vectors    how they are moved
    blocks     the messages, where the way goes by blocks
    groups     registers that share a mask, where the way goes by them
    cold       the way where a test that the access makes itself fails; "": it makes none
    streams    is there a form that bypasses the caches, for streams that are large?
    """

    operation: Operation
    way: str
    layout: Layout | None = None
    vectors: Vectors | None = None
    groups: Groups | None = None
    cold: str = ""
    streams: bool = False
    blocks: Blocks | None = None

    def __post_init__(self) -> None:
        if self.way not in WAYS or self.cold not in ("", *WAYS) or (self.way == "block") != bool(self.blocks):
            raise ValueError(f"no way {self.way!r} {self.cold!r}")


@dataclass(frozen=True)
class FusedLoad:
    """A load that waits for the walk of a store behind it, and the proof that no turn reads what an earlier
    one has stored. Nothing else that writes may stand between the two."""

    operation: Operation
    proof: str

    def __post_init__(self) -> None:
        if self.proof not in PROOFS:
            raise ValueError(f"no proof {self.proof!r}")


@dataclass(frozen=True)
class Fused:
    """The loads that the walk of a store makes, turn by turn between its stores; none: all loads are done
    before it."""

    operation: Operation
    loads: tuple[FusedLoad, ...] = ()


@dataclass(frozen=True)
class Span:
    """The bytes that an access reaches, as a test compares them. strides: of its addresses along each
    dimension, in elements; None: known when the kernel runs. intervals: parts of its addresses that are no
    such formula, of which the ends are computed."""

    operation: Operation
    strides: tuple[int | None, ...]
    intervals: int = 0


@dataclass(frozen=True)
class Compared:
    """A load in a test for overlap. same: the test also passes where it begins at the address where the store
    does."""

    span: Span
    same: bool


@dataclass(frozen=True)
class Overlap:
    """A test: does the memory that a store writes lie apart from what each of the loads reads?

    larger    dimensions of the store that it tests, too: an index moves the address by more than all that
              move it less can reach
    decided   it is a constant, so that nothing is compared when the kernel runs
    """

    stored: Span
    loads: tuple[Compared, ...]
    larger: tuple[int, ...] = ()
    decided: bool = False


#: Where what is fetched ahead will be needed: in the next round of a loop of the kernel, by the next program,
#: or by the walk at hand, some pages further on.
AHEAD = ("next round", "next program", "page ahead")


@dataclass(frozen=True)
class Distance:
    """Elements that pointers move by: a slope, times what the mover moves by. That is 1 from "round" to round
    of a loop of the kernel; from "program" to program it is 1, and 0 in the last one. looked_up: of these
    values the slope is what the next program will load, less what this one has loaded."""

    slope: Slope
    mover: str
    looked_up: frozenset[Value] = frozenset()

    def __post_init__(self) -> None:
        if self.mover not in ("round", "program"):
            raise ValueError(f"no mover {self.mover!r}")


@dataclass(frozen=True)
class Fetch:
    """Memory that a load or a store will touch later is fetched.

    layout, vectors  of the elements that are at hand now
    distance         how far away those are that are fetched; None: pages ahead
    last             the same in the last round of the loop; None: nothing new is fetched then
    near             into the cache nearest to the processor
    """

    operation: Operation
    way: str
    layout: Layout
    vectors: Vectors
    distance: Distance | None = None
    last: Distance | None = None
    near: bool = False

    def __post_init__(self) -> None:
        if self.way not in AHEAD or (self.distance is None) != (self.way == "page ahead"):
            raise ValueError(f"nothing is fetched {self.way!r} by {self.distance}")


@dataclass(frozen=True)
class ArrayUse:
    """A private array is read, or written, under a layout (None: in any order). content: which of the tensors
    that the array holds in turn."""

    array: int
    content: int
    writes: bool
    layout: Layout | None = None


@dataclass(frozen=True)
class Renamed:
    """What the array holds is from here on another tensor: the value of the next round of a loop, or a sum
    that is added to in place."""

    array: int
    before: int
    after: int


@dataclass(frozen=True)
class Arrives:
    """A way through the blocks of a function goes on at `place`, where it meets others; `arrays` hold what it
    takes there."""

    place: int
    arrays: tuple[int, ...]


@dataclass(frozen=True)
class Meets:
    """The place: only ways that have arrived go on here, whatever ways lead to the code around."""

    place: int


@dataclass(frozen=True)
class Kept:
    """A value that a walk writes to an array besides, under the layout in which it comes to the value. over:
    the value whose array it takes over, None: a new array."""

    operation: Operation
    index: int
    array: int
    content: int
    layout: Layout
    over: int | None = None


@dataclass(frozen=True)
class Product:
    """A matrix product.

    way: "arrays" (one work-item, operands in packed arrays), "lanes" (each its own elements), "matrix unit",
    "matrices" (cooperative matrices), "tile registers" (of a processor). tile: rows and columns of the result
    that are summed at a time, and the depth of one step. staging: where the operands lie meanwhile; each is
    decided before its operand is put there, and may hang on where the other one lies. form: of operands in
    groups, "" for single elements. turn: steps along K in one turn of the innermost loop; 0: there is no
    loop.
    """

    operation: Operation
    way: str
    tile: tuple[int, int, int]
    staging: tuple[str, str] = ("", "")
    form: str = ""
    turn: int = 0

    def __post_init__(self) -> None:
        if self.way not in PRODUCT_WAYS or any(each not in STAGINGS for each in self.staging):
            raise ValueError(f"no way {self.way!r} {self.staging!r}")


@dataclass(frozen=True)
class Exchange:
    """Elements of `shape` change lanes. way: "registers", "shuffles" (how many of them: count), "blocks",
    "shared memory" (in `count` rounds of `bytes`).

    moves     inside sub-groups: which register goes to which lane
    memory    through shared memory: where elements wait
    apart     index bits of which a round has one value each
    """

    way: str
    shape: tuple[int, ...]
    element: str
    count: int = 0
    bytes: int = 0
    moves: Moves | None = None
    memory: SharedLayout | None = None
    apart: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if (self.moves is None) == (self.memory is None):
            raise ValueError("elements change places inside sub-groups, or wait in shared memory")


@dataclass(frozen=True)
class Overflow:
    """Shared memory has no room for an array of `size` elements: it lies in global memory, at `place` (bytes)
    of the program's own part of a buffer."""

    size: int
    element: str
    place: int


@dataclass(frozen=True)
class Turns:
    """A loop over steps, from the first or the last on; `count` 1 is straight code."""

    count: int
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Walk:
    """Tensors are walked for an operation (None: to compute values ahead of time). keeps: values that it
    also writes to arrays."""

    operation: Operation | None
    keeps: tuple[Kept, ...]
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Arm:
    """One of several ways."""

    name: str
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Versions:
    """Of these arms one runs; each does the same, unless `may_skip`: then those without an access are right
    to have none. test: the question, where the first arm is right only if the answer is yes."""

    question: str
    arms: tuple[Arm, ...]
    may_skip: bool = False
    test: Overlap | None = None


@dataclass(frozen=True)
class Region:
    """A loop, a branch or a call of the kernel, with its bodies; `loops`: they run any number of times."""

    operation: Operation
    arms: tuple[Arm, ...]
    loops: bool = False


Node = (Access | Fused | Fetch | ArrayUse | Renamed | Arrives | Meets | Product | Exchange | Overflow | Turns
        | Walk | Versions | Region)


@dataclass(frozen=True)
class Plan:
    """What was decided for one kernel. contents: what each tensor in an array is called."""

    kernel: Operation
    target: str
    body: tuple[Node, ...]
    contents: tuple[str, ...] = ()
