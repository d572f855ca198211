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
    Access, Fused, StoredEarly, Fetch, ArrayUse, Renamed, Zeroed, FoundPanel, Product, Exchange,
    Overflow, Interchange
                    leaves

Those of accesses stand in accesses.py.
"""

from __future__ import annotations

from ...dataclass import dataclass
from ...ir.model import Operation
from ...layout import Layout, SharedLayout
from .accesses import Access, Fetch, Fused, Overlap, StoredEarly
from .shuffles import Shuffles

PRODUCT_WAYS = ("arrays", "lanes", "matrix unit", "matrices", "tile registers")

#: An operand is read column by column, and written row by row.
IN_SQUARES = ", transposed in squares"

#: Of a right operand: a panel is packed when it is multiplied, into the array of the one before.
IN_TURN = "panels in turn"

#: The question of a store whose tiles a product may have stored already.
STORED = "has the product stored its tiles?"

#: Of a left operand: tile by tile, as tile registers load it.
IN_TILES = "in tiles"

#: Where an operand of a product lies while it is multiplied; "": that is not decided yet.
STAGINGS = ("", "in memory", "where it is", "by rows", f"by rows{IN_SQUARES}", "by columns", IN_TILES,
            f"{IN_TILES}{IN_SQUARES}", "panels", f"panels{IN_SQUARES}", IN_TURN, "registers",
            "shared memory", "matrices")


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
class Zeroed:
    """The array stands for zeros from here on. They are written if the loop around `product` has no round;
    else the product begins its sums with zero in the first round, and reads the array in others only."""

    array: int
    content: int
    product: Operation


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
class FoundPanel:
    """The array holds the right operand of a product as an earlier program of the launch has packed it, from
    the same addresses."""

    operation: Operation
    array: int
    content: int


@dataclass(frozen=True)
class Product:
    """A matrix product.

    way: "arrays" (one work-item, operands in packed arrays), "lanes" (each its own elements), "matrix unit",
    "matrices" (cooperative matrices), "tile registers" (of a processor). tile: rows and columns of the result
    that are summed at a time, and the depth of one step. staging: where the operands lie meanwhile; each is
    decided before its operand is put there, and may hang on where the other one lies. form: of operands in
    groups, "" for single elements. turn: steps along K in one turn of the innermost loop; 0: there is no
    loop. begins: the sums, in the first round of the loop around. edges: tiles that the mask of the store
    leaves out are not multiplied; ends: nor are terms behind the end of both operands. narrow: rows of tiles
    of one vector, for panels of which half is left out, and fewer: columns of tiles, for those of which a
    quarter is; 0 for none. parts: those of a tile's loop over K, between which lines are fetched. keeps: the
    right operand may be one that an earlier program has packed, and is kept for later ones. joins: rounds of
    the loop around that are multiplied together, 0 for none.
    """

    operation: Operation
    way: str
    tile: tuple[int, int, int]
    staging: tuple[str, str] = ("", "")
    form: str = ""
    turn: int = 0
    begins: bool = False
    edges: bool = False
    ends: bool = False
    narrow: int = 0
    fewer: int = 0
    parts: int = 1
    keeps: bool = False
    joins: int = 0

    def __post_init__(self) -> None:
        if self.way not in PRODUCT_WAYS or any(each not in STAGINGS for each in self.staging):
            raise ValueError(f"no way {self.way!r} {self.staging!r}")


@dataclass(frozen=True)
class Exchange:
    """Elements of `shape` change lanes. way: "registers", "shuffles" (how many of them: count), "blocks",
    "shared memory" (in `count` rounds of `bytes`).

    shuffles  inside sub-groups: which register goes to which lane
    memory    through shared memory: where elements wait
    apart     index bits of which a round has one value each
    """

    way: str
    shape: tuple[int, ...]
    element: str
    count: int = 0
    bytes: int = 0
    shuffles: Shuffles | None = None
    memory: SharedLayout | None = None
    apart: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if (self.shuffles is None) == (self.memory is None):
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
class Interchange:
    """A loop of the kernel runs inside the walk that follows, which stands for it: each row of the tensors
    that it carries goes through all rounds before the next one. carried: their places among what it carries.
    layout: of the walk, of whose step bits the first `inner` are walked in each round; 0: registers hold the
    row."""

    operation: Operation
    carried: tuple[int, ...]
    layout: Layout
    inner: int


@dataclass(frozen=True)
class Arm:
    """One of several ways."""

    name: str
    body: tuple[Node, ...]


@dataclass(frozen=True)
class Versions:
    """Of these arms one runs; each does the same, unless `may_skip`: then those without an access are right
    to have none. tests: the question, of each store, where the first arm is right only if all answers are
    yes."""

    question: str
    arms: tuple[Arm, ...]
    may_skip: bool = False
    tests: tuple[Overlap, ...] = ()


@dataclass(frozen=True)
class Region:
    """A loop, a branch or a call of the kernel, with its bodies; `loops`: they run any number of times."""

    operation: Operation
    arms: tuple[Arm, ...]
    loops: bool = False


Node = (Access | Fused | StoredEarly | Fetch | ArrayUse | Renamed | Zeroed | Arrives | Meets | FoundPanel
        | Product | Exchange | Overflow | Interchange | Turns | Walk | Versions | Region)


@dataclass(frozen=True)
class Plan:
    """What was decided for one kernel. contents: what each tensor in an array is called."""

    kernel: Operation
    target: str
    body: tuple[Node, ...]
    contents: tuple[str, ...] = ()
