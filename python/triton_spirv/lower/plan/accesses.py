"""Records of how memory is accessed: accesses and their messages, loads in the walk of a store, what is
fetched ahead."""

from __future__ import annotations

from ...dataclass import dataclass
from ...facts.slopes import Slope
from ...ir.model import Operation, Value
from ...layout import Layout
from ...spirv.types import Int
from ...target import Requirement

#: How an access transfers its elements.
#:   plain        there is no mask
#:   proven       there is a mask, which a test around this code has shown true
#:   predicated   by messages that a mask governs
#:   regions      a branch for each group of registers that share a mask
#:   masked       by masked vector accesses, or a branch for each element
#:   one by one   a loop over the elements with a branch
#:   nothing      masked elements give a value and touch no memory
#:   tiles        by a processor's tile registers, which load rows of a matrix
#:   block        by 2D block messages, whose surface ends where the mask does
#:   scalar       one element, of a scalar pointer
WAYS = ("plain", "proven", "predicated", "regions", "masked", "one by one", "nothing", "tiles", "block",
        "scalar")


#: What shows that a turn of a store's walk loads nothing that an earlier turn has stored.
#:   same pointers     it goes through the pointers that are stored to; each turn reads the elements that it
#:                     stores, and no other turn's have their addresses
#:   disjoint          a test has shown that the memory of the two lies apart
#:   disjoint or same  or that they are the same memory, of which each turn reads the elements that it stores
PROOFS = ("same pointers", "disjoint", "disjoint or same")


@dataclass(frozen=True)
class Vectors:
    """How the elements of an access lie in memory, under a layout: `run` components are neighbours there, at
    addresses that are multiples of `alignment` bytes; one access moves the registers of one of `joined`.
    pieces: a test may find when the kernel runs that the components of a register are "neighbours", or "one"
    element (facts/pieces.py). stride: of an access whose components lie so many elements apart, few enough
    for vectors of all that lies between the first and the last; 0 where they do not."""

    layout: Layout
    run: int = 1
    alignment: int = 0
    joined: tuple[tuple[int, ...], ...] = ((0,),)
    pieces: str = ""
    stride: int = 0


@dataclass(frozen=True)
class Groups:
    """Registers that share a mask: under `layout` the mask has one scalar for each group, and `of` says for
    each register which."""

    layout: Layout
    of: tuple[int, ...]


@dataclass(frozen=True)
class Transfer:
    """How an access moves the elements of a tensor under a layout, wherever its code stands.

    vectors    how they lie in memory, under the layout that puts neighbours there side by side
    way        how elements are moved whose mask is not known to hold, where nothing tests all of it
    branches   registers that share a mask, few enough for a branch each
    governed   registers that share a mask which governs the messages that move them
    unmasked   the mask is absent, or true everywhere
    """

    vectors: Vectors
    way: str
    branches: Groups | None
    governed: Groups | None
    unmasked: bool

    @property
    def one_mask(self) -> bool:
        """Is there one branch for everything?"""
        return self.branches is not None and self.branches.layout.registers == 1

    @property
    def needs_no_test(self) -> bool:
        """Does the mask govern messages, or one branch, so that nobody need ask whether it is true
        everywhere?"""
        return self.governed is not None or self.one_mask


#: Where the surface of a 2D block message begins.
#:   near      just before its block
#:   moving    the same, and a loop of the kernel moves it with the block
#:   resting   where the block of a loop's first round is: the loop moves the block over it
#:   whole     where the matrix does
SURFACES = ("near", "moving", "resting", "whole")


@dataclass(frozen=True)
class Message:
    """How a 2D block is transferred: `kind` "plain", "transform" (two or four rows in one word) or
    "transpose" (of words of 32 bits); the contiguous dimension; rows, columns and blocks side by side, in
    elements of `bytes`; what one register of the fragment holds of a block, `step` rows or columns apart; its
    words.
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
    vectors    how they are transferred
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
    one has stored. Nothing else that writes may stand between the two. Or a store that shares the walk of one
    behind it, and the proof that no turn overwrites what an earlier one has stored."""

    operation: Operation
    proof: str

    def __post_init__(self) -> None:
        if self.proof not in PROOFS:
            raise ValueError(f"no proof {self.proof!r}")


@dataclass(frozen=True)
class Fused:
    """The loads that the walk of a store makes, turn by turn between its stores, and earlier stores that it
    makes; none: all of that is done before it."""

    operation: Operation
    loads: tuple[FusedLoad, ...] = ()


@dataclass(frozen=True)
class Span:
    """The bytes that an access reaches, as a test compares them. strides: of its addresses along each
    dimension, in elements; None: known when the kernel runs. intervals: parts of its addresses that are no
    such formula, of which the ends are computed. ends: dimensions along which they end where the mask of the
    access does, `index + start < limit`."""

    operation: Operation
    strides: tuple[int | None, ...]
    intervals: int = 0
    ends: tuple[int, ...] = ()


@dataclass(frozen=True)
class Compared:
    """A load, or an earlier store, in a test for overlap. same: the test also passes where it begins at the
    address where the store does."""

    span: Span
    same: bool


@dataclass(frozen=True)
class Overlap:
    """A test: does the memory that a store writes lie apart from what each of the loads reads, or each of the
    earlier stores writes?

    larger    dimensions of the store that it tests, too: an index moves the address by more than all that
              move it less can reach
    decided   it is a constant, so that nothing is compared when the kernel runs
    """

    store: Span
    loads: tuple[Compared, ...]
    larger: tuple[int, ...] = ()
    decided: bool = False


ROUND_AFTER_NEXT = "round after next"

#: Where what is fetched ahead will be needed: in the next round of a loop of the kernel or the one behind it,
#: by the next program, or by the walk at hand, some pages or turns further on; or by the store of a product's
#: result, behind its loop.
AHEAD = ("next round", ROUND_AFTER_NEXT, "next program", "page ahead", "turns ahead", "result")


@dataclass(frozen=True)
class Distance:
    """Elements that pointers move by: a slope, times what the mover moves by. That is 1 from "round" to round
    of a loop of the kernel; from "program" to program it is 1, and 0 in the last one. looked_up: of these
    values the slope is what the next program will load, less what this one has loaded."""

    slope: Slope[Value]
    mover: str
    looked_up: frozenset[Value] = frozenset()

    def __post_init__(self) -> None:
        if self.mover not in ("round", "program"):
            raise ValueError(f"no mover {self.mover!r}")


@dataclass(frozen=True)
class Fetch:
    """Memory that a load or a store will touch later is fetched.

    layout, vectors  of the elements that are at hand now
    distance         how far away those are that are fetched, the round after next twice as far; None: pages
                     or turns ahead, or what a store behind the loop will touch
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
        at_rest = self.way in ("page ahead", "turns ahead", "result")
        if self.way not in AHEAD or (self.distance is None) != at_rest:
            raise ValueError(f"nothing is fetched {self.way!r} by {self.distance}")


@dataclass(frozen=True)
class StoredEarly:
    """In the last round of its loop, or without a loop, the tiles of a product are stored where `operation`,
    behind it, puts them, if a test says that its memory lies apart from what is still read meanwhile (None:
    that is nothing). The walk of the store does nothing then. late: a tile is stored while the next one is
    multiplied."""

    operation: Operation
    product: Operation
    test: Overlap | None
    late: bool = False
