"""What an IR tensor value is while its function is lowered.

A tensor is kept in the cheapest form that says everything about it, and becomes registers only where a rule
asks for them under a layout (`Evaluation.fragment`):

    Uniform     one scalar for all elements (tt.splat, constants)
    Affine      base + the dot product of strides and the element's index (make_range and index arithmetic)
    Pointers    one base pointer plus an affine part plus arbitrary integer offsets (addptr)
    Deferred    an operation not evaluated yet; its rule is run under the layout that a consumer asks for
    Fragment    registers under a layout
    Stored      a private array in row-major order, for tensors too large for registers
    Shared      an array in shared memory, for tensors that many lanes read
    Window      registers of one turn of a walk, in a loop inside it

The first four emit no code of their own: that is how contiguous accesses are found, why index arithmetic
costs nothing, and how neighbouring operations on a large tensor come to share one loop.
"""

from __future__ import annotations

from dataclasses import field

from ...dataclass import dataclass
from ...ir.model import Operation, Type, Value
from ...layout import Layout, SharedLayout
from ...spirv.module import Value as Register
from ...traversal import Asking, every, question
from .allocation import Range


@dataclass(frozen=True, eq=False)
class Fragment:
    """Registers of a tensor under `layout`: 1 << len(layout.register) values of layout.width components
    each.
    """

    layout: Layout
    element: Type
    registers: tuple[Register, ...]

    def __post_init__(self) -> None:
        if len(self.registers) != self.layout.registers:
            raise ValueError(f"{len(self.registers)} registers for {self.layout}")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.layout.shape


@dataclass(frozen=True, eq=False)
class Uniform:
    """One scalar in every element."""

    shape: tuple[int, ...]
    element: Type
    scalar: Register


@dataclass(frozen=True, eq=False)
class Affine:
    """Element at (i0, i1, ...) is base + sum of strides[d] * i[d], in integers of the element's width,
    wrapping: the motion from element to element of a whole tensor, `strides` its slopes.

    `exact` is the operation that computes the same from its operands where wrapping in a narrower type was
    ignored (an extension): addresses use the affine form, as Triton's own AxisInfo does; data uses `exact`.
    """

    shape: tuple[int, ...]
    element: Type
    base: Register
    strides: tuple[Register | int, ...]
    exact: Deferred | None = None


@dataclass(frozen=True, eq=False)
class Pointers:
    """Pointers base + (affine + sum of terms) elements; `terms` are integer tensors of any kind, sign-
    extended.

    element is the pointer type (its pointee gives the size of an element); base is a scalar pointer.
    """

    shape: tuple[int, ...]
    element: Type
    base: Register
    affine: Affine | None = None
    terms: tuple[Tensor, ...] = ()


@dataclass(eq=False)
class Deferred:
    """Result `index` of `operation`, to be evaluated under the layout asked for; operands are bound as they
    were at definition. `depth` counts the operations in a row that are not evaluated yet, by what evaluating
    them takes of Python's stack. `ahead`: loads below it, with their pointers: what they read next is fetched
    by the first walk that reads its array, `fetched`. `scope`: the one that the operation stands in.
    `pointers`: those that have it among the terms of their offset.
    """

    shape: tuple[int, ...]
    element: Type
    operation: Operation
    operands: tuple[Bound | None, ...]
    index: int = 0
    weight: int = 1
    reads_memory: bool = False
    evaluated: Stored | Fragment | None = None
    siblings: list[Deferred] = field(default_factory=list)
    depth: int = 1
    ahead: list[tuple[Operation, object]] = field(default_factory=list)
    fetched: object = None
    scope: object = None
    pointers: list[Value] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Stored:
    """A private array of `vectors` (row-major, as wide as the target's vectors) that holds the whole
    tensor.
    """

    shape: tuple[int, ...]
    element: Type
    array: Register
    width: int


@dataclass(frozen=True, eq=False)
class Shared:
    """An array in memory that the lanes of the program share; it holds the whole tensor where `layout` says.

    bytes is the range that it occupies; start, if any, is added to every offset (elements, i32).
    """

    shape: tuple[int, ...]
    element: Type
    array: Register
    layout: SharedLayout
    bytes: Range
    start: Register | None = None


@dataclass(eq=False)
class Window:
    """What a loop inside a walk carries: the registers of one turn. `turn`: its place in the walks around.

    Nothing has the other elements as they are then, so that only this turn may ask for it, and only under
    this layout.
    """

    layout: Layout
    element: Type
    fragment: Fragment | None = None
    turn: tuple[tuple[Register, int], ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        return self.layout.shape


Tensor = Fragment | Uniform | Affine | Pointers | Deferred | Stored | Shared | Window

#: What a value of the IR is bound to: the register of a scalar, or a tensor.
Bound = Tensor | Register

#: So many operations in a row wait for their consumer at most; then their value is computed. Evaluation is
#: recursive, a few of Python's calls an operation, and a loop over all that a program computes would spill.
DEEP = 100


def depth_of(tensor: object) -> int:
    """Operations in a row that are to be evaluated for a tensor, or a scalar."""
    if isinstance(tensor, Deferred):
        return 0 if tensor.evaluated is not None else tensor.depth
    if isinstance(tensor, Affine):
        return depth_of(tensor.exact)
    if isinstance(tensor, Pointers):
        return max(map(depth_of, (tensor.affine, *tensor.terms)))
    return 0


@question
def is_anywhere(tensor: object) -> Asking[bool]:
    """Can every lane make any element of it by itself, for the price of a few instructions?"""
    if isinstance(tensor, Deferred):
        computed = tensor.evaluated is None and not tensor.reads_memory
        return computed and (yield from every(tensor.operands))
    if isinstance(tensor, Pointers):
        return (yield from every(tensor.terms))
    if isinstance(tensor, Affine):
        return (yield (tensor.exact,))
    return isinstance(tensor, (Uniform, Register)) or tensor is None
