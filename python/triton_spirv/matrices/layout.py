"""Layouts of a matrix unit's operands, as encodings beside those of TTGIR.

One instruction multiplies `rows` x depth of A with depth x `columns` of B. A lane holds, as the components of
one vector,

    the result   a column: row i in component i
    B            a column: K in components, neighbours along K in one 32-bit word
    A            a piece of every row: lanes lie along K. A row of A has 256 bits, so a lane has 256 / columns
                 bits of it: one f16 (16 lanes), two (8 lanes), or half a tf32 (then two rows share a
                 register)

Worked example: f16, 16 lanes, C is 32x64 for each of 4 x 2 warps (128 x 128).

    C   component (1,0) (2,0) (4,0)          lane (0,1) .. (0,8)   register (0,16) (0,32) (8,0) (16,0)
        warp (0,64) (32,0) (64,0)
    A   component (1,0) (2,0) (4,0)          lane (0,1) .. (0,8)   register (0,16) (8,0) (16,0)
        warp (0,0) (32,0) (64,0)
    B   component (1,0) (2,0) (4,0) (8,0)    lane (0,1) .. (0,8)   register (16,0) (0,16) (0,32)
        warp (0,64) (0,0) (0,0)

Vectors have 16 components at most; 32 bytes of B take two registers. Source: the OpenCL extension
cl_intel_subgroup_matrix_multiply_accumulate and SPV_INTEL_subgroup_matrix_multiply_accumulate.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..dataclass import dataclass
from ..ir.model import Encoding
from ..layout import log2
from ..target import Matrix

#: SPIR-V's longest vector, in components as a power of two.
LONGEST = 4

#: operand elements -> (their form for the unit, the element of the sums)
FORMS = {"f16": ("f16", "f32"), "bf16": ("bf16", "f32"), "i8": ("i8", "i32"), "f32": ("tf32", "f32")}

Coordinates = tuple[int, int]


@dataclass(frozen=True)
class Tiling:
    """How the warps share a product of `m` x `n`: `warps_m` x `warps_n` tiles; warps beyond those repeat one.

    bits: of an element of A and B; k: the depth of the whole product.
    """

    unit: Matrix
    bits: int
    m: int
    n: int
    k: int
    warps: int
    warps_m: int
    warps_n: int

    @property
    def rows(self) -> int:
        """Of one warp."""
        return self.m // self.warps_m

    @property
    def columns(self) -> int:
        """Of one warp."""
        return self.n // self.warps_n

    @property
    def depth(self) -> int:
        """Elements along K of one instruction."""
        return self.unit.depth(self.bits)

    @property
    def a_word(self) -> int:
        """Bits of a row of A that one lane holds in one component of the instruction's operand."""
        return max(256 // self.unit.columns, self.bits)

    def _warps(self, down: int, right: int) -> list[Coordinates]:
        across = [(0, right << i) for i in range(log2(self.warps_n))]
        along = [(down << i, 0) for i in range(log2(self.warps_m))]
        rest = log2(self.warps) - len(across) - len(along)
        return across + along + [(0, 0)] * rest

    def result(self) -> Encoding:
        """The accumulators and the result, m x n."""
        unit = self.unit
        return _encoding(
            "c", powers(1, unit.rows, 0),
            [*powers(unit.columns, self.columns, 1), *powers(unit.rows, self.rows, 0)],
            powers(1, unit.columns, 1), self._warps(self.rows, self.columns))

    def left(self) -> Encoding:
        """A, m x k."""
        unit = self.unit
        inside = powers(1, max(1, self.a_word // self.bits), 1)
        along = powers(max(1, self.a_word // self.bits), self.depth, 1)
        rows = list(powers(1, unit.rows, 0))
        over = log2(unit.columns) - len(along)  # lanes left: they lie along the rows
        lanes, rows = along + rows[:over], rows[over:]
        return _encoding("a", inside + rows, [*powers(self.depth, self.k, 1),
                                                 *powers(unit.rows, self.rows, 0)],
                         lanes, self._warps(self.rows, 0))

    def right(self) -> Encoding:
        """B, k x n."""
        unit = self.unit
        return _encoding("b", powers(1, self.depth, 0),
                         [*powers(self.depth, self.k, 0), *powers(unit.columns, self.columns, 1)],
                         powers(1, unit.columns, 1), self._warps(0, self.columns))


def powers(start: int, end: int, dim: int) -> list[Coordinates]:
    """start, 2 * start, ... below end, along a dimension of two."""
    def each() -> Iterator[Coordinates]:
        step = start
        while step < end:
            yield (step, 0) if dim == 0 else (0, step)
            step *= 2
    return list(each())


def _encoding(operand: str, component: list[Coordinates], register: list[Coordinates],
              lane: list[Coordinates], warp: list[Coordinates]) -> Encoding:
    """What does not fit into one vector takes the lowest registers."""
    return Encoding("ts", "matrix", (
        ("operand", operand), ("component", tuple(component[:LONGEST])),
        ("register", (*component[LONGEST:], *register)), ("lane", tuple(lane)), ("warp", tuple(warp))))


def transposed(encoding: Encoding) -> Encoding:
    """The encoding of the tensor that `tt.trans` makes one of this encoding of."""
    def swapped(bases: tuple[Coordinates, ...]) -> tuple[Coordinates, ...]:
        return tuple((column, row) for row, column in bases)

    names = ("component", "register", "lane", "warp")
    return Encoding("ts", "matrix", (("operand", encoding["operand"] + "t"),
                                     *((name, swapped(encoding[name])) for name in names)))


def is_matrix(encoding: object) -> bool:
    """Is it one of these encodings?"""
    return isinstance(encoding, Encoding) and encoding.name == "matrix"
