"""The optimisations that can be left out one by one, to find the one that makes a difference
(docs/checking.md).

Most are decisions of the emitter, which asks `Target.optimises(name)`; those with `changes` are fields of a
target. Without any of them each walk does one thing, and each access moves one element: the form that
`check=compiler` compares with, but for the layouts. Which numbers are added in which order stays as it is,
but for the layouts, the order of axes and the instructions that sum products.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from ..dataclass import dataclass
from ..errors import UsageError

#: what a launch takes its optimisations from where it has no option
VARIABLE = "TRITON_SPIRV_OPTIMISE"


@dataclass(frozen=True)
class Optimisation:
    """What is done for speed, in a sentence. `changes`: fields of a target as they are without it, where
    those say it."""

    meaning: str
    changes: Mapping[str, object] = field(default_factory=dict)


OPTIMISATIONS: dict[str, Optimisation] = {
    "layouts": Optimisation("Triton's passes take conversions between layouts of lanes away."),
    "axes": Optimisation("Blocks lie in the order in which most of their memory does."),
    "single-rounds": Optimisation("A loop that mostly runs once is compiled a second time, without the "
                                  "loop."),
    "joint-reductions": Optimisation("Reductions of what is read once, over the same elements, share a "
                                     "loop; vectors of several rows are reduced together."),
    "chains": Optimisation("Operations on large tensors share a loop, rather than have one each."),
    "interchange": Optimisation("Each row of a tensor that travels through a loop goes through all rounds "
                                "before the next row."),
    "by-products": Optimisation("A loop keeps what it computes on the way and somebody needs again."),
    "array-reuse": Optimisation("A value overwrites the array of another that is not needed any more; a "
                                "product is added where its accumulator lies."),
    "fusion": Optimisation("Loads and stores share a loop where their memory lies apart."),
    "masks": Optimisation("One comparison shows that a mask holds for a whole window or block; "
                          "elements under one mask share a branch."),
    "vectors": Optimisation("Neighbours in memory are accessed together, those of columns too."),
    "runs": Optimisation("What neighbours load from one address is loaded once, and computed with once."),
    "pieces": Optimisation("Where an index is divided, a test finds vectors that lie in one row."),
    "masked-access": Optimisation("Masked vectors are accessed by the driver's instructions for them.",
                                  {"masked_access": False}),
    "predicated": Optimisation("An access of a GPU's lane is governed by a predicate.",
                               {"predicated": False}),
    "streaming": Optimisation("Large stores go past the caches.", {"stream_bytes": 0}),
    "prefetch": Optimisation("What the next round or program will need is fetched ahead.",
                             {"fetches_ahead": False, "double_buffers": False}),
    "displacements": Optimisation("Tensors that a loop moves by a scalar are carried as that scalar."),
    "branchless": Optimisation("Short branches in combiners compute both sides and select."),
    "tiles": Optimisation("A product is summed in tiles of several rows and vectors; results of matrix units "
                          "lie as these give them.",
                          {"accumulators": (1, 1), "places_tiles": False, "places_rows": False,
                           "holds_operands": False}),
    "sums-of-products": Optimisation("Instructions that sum several products of small numbers.",
                                     {"products": frozenset()}),
    "inner-products": Optimisation("A vector times columns that lie in memory is summed in vectors along "
                                   "them."),
    "conversions": Optimisation("f32 becomes bf16 by the processor's instruction where a test finds no "
                                "denormal number."),
    "matrix-units": Optimisation("Products on matrix units and tile registers, and 2D block messages.",
                                 {"matrix": None, "matrices": (), "tile_registers": frozenset(),
                                  "block_2d": False, "shared_blocks": False}),
    "kept-panels": Optimisation("Programs of the same columns share what one of them has packed, for "
                                "tile registers and for rounds that are joined."),
    "joined-rounds": Optimisation("Rounds of a loop over K are multiplied together.",
                                  {"joined_steps": 0}),
    "barriers": Optimisation("Barriers that separate nothing are taken away."),
    "register-order": Optimisation("Instructions of a GPU's kernel are ordered for fewer live registers."),
}

#: what `check=compiler` compares with: none of ours. Triton's passes decide which lane adds which numbers
REFERENCE = "none,layouts"

#: the same for kernels that fold floats along an axis, if results differ: the order of axes decides which
#: numbers are added first
REFERENCE_OF_FOLDS = f"{REFERENCE},axes"

#: instructions that change in which order numbers are added, or how often a sum is rounded: the reference
#: gets them, too, if results differ
REORDERING = ("sums-of-products", "matrix-units")
#: what else changes that: the kernel is compared without it then
REORDERED = ("inner-products",)


def left_out(text: str) -> frozenset[str]:
    """What an option names: "" or "all": nothing is left out; "none": everything; "-masks,-vectors": these;
    "masks,vectors": everything else. UsageError for what is no optimisation."""
    words = text.replace(",", " ").split()
    names = {word.lstrip("-") for word in words} - {"all", "none"}
    if unknown := sorted(names - OPTIMISATIONS.keys()):
        raise UsageError(f"there is no optimisation {', '.join(unknown)}; there are "
                         f"{', '.join(OPTIMISATIONS)}, all and none")
    chosen = {word for word in words if not word.startswith("-")} - {"all", "none"}
    nothing = "none" in words or (chosen and "all" not in words)
    found = OPTIMISATIONS.keys() - chosen if nothing else set()
    return frozenset(found | {word[1:] for word in words if word.startswith("-")})
