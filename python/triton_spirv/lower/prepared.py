"""`Prepared`: what was made before an operation, for it: before a loop, for products on matrix units in it;
in the last round of a loop, for the store behind it."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from ..dataclass import dataclass
from ..ir.model import Block, Operation
from ..spirv.module import Value as Register

if TYPE_CHECKING:
    from .intel.block_near import Loads
    from .intel.block_resting import Resting
    from .products.cooperative import LeftMatrices


@dataclass(eq=False)
class Prepared:
    """loads          by 2D blocks, with their places
    displaced      id of a base that a loop moves -> how far, in elements
    conversions    made in matrices of a sub-group before their loop
    product_bytes  of a matrix unit's results, by where they are made
    zeroed         products that begin the sums of their loop with zero
    stored_early   store -> a variable: 1 if all of it is made already
    """

    loads: dict[Operation, Resting | Loads] = field(default_factory=dict)
    displaced: dict[int, Register] = field(default_factory=dict)
    conversions: dict[Operation, LeftMatrices] = field(default_factory=dict)
    product_bytes: dict[Block | None, int] = field(default_factory=dict)
    zeroed: set[Operation] = field(default_factory=set)
    stored_early: dict[Operation, Register] = field(default_factory=dict)
