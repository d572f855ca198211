"""Cases of passes over functions: blocks in assembly above, below the listing behind one pass, or its
refusal.

    python -m tests.spirv.passes.update [PART ...]    writes the lower halves anew; read `git diff` then

A file in cases/ begins with comments. `; pass: NAME` names the pass; other lines `; NAME: ...` say what it
must know besides: numeric ids, or for each barrier, in their order, what is accessed behind it. """

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from triton_spirv.errors import InternalError
from triton_spirv.lower.lanes.meeting import LaneMeetings
from triton_spirv.lower.values.allocation import Range
from triton_spirv.spirv import Int, Label, Module, listing
from triton_spirv.spirv.builder import width_of, with_width
from triton_spirv.spirv.passes.barriers import Place, drop_barriers, needed_barriers
from triton_spirv.spirv.passes.contraction import fuse, fuse_in_hardware, mark, second_products
from triton_spirv.spirv.passes.convergence import LANE, check_convergence
from triton_spirv.spirv.passes.definite_assignment import require_definite
from triton_spirv.spirv.passes.extended_products import hide_products
from triton_spirv.spirv.passes.graph import Graph, name_of
from triton_spirv.spirv.passes.joined_conversions import bits_of, part_conversions
from triton_spirv.spirv.passes.parted_differences import part_differences
from triton_spirv.spirv.passes.permuted_phis import separate_phis
from triton_spirv.spirv.passes.pipeline import check
from triton_spirv.spirv.passes.private_memory import keep_private
from triton_spirv.spirv.passes.register_pressure import lessen_pressure
from triton_spirv.spirv.passes.self_comparisons import compare_bits
from triton_spirv.spirv.types import Type

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
from loading import load
from texts import Cases


@dataclass
class Loaded:
    """A case at hand: its function, and what its comments say."""

    module: Module
    graph: Graph
    said: dict[str, str]
    ids: dict[int, int]

    def named(self, key: str) -> set[int]:
        """The ids that a comment names."""
        return {self.ids[int(number)] for number in re.findall(r"%(\d+)", self.said.get(key, ""))}

    def unknown(self, type: Type) -> int:
        """A 0 that no driver knows: here an undefined value."""
        return self.module.undef(type).id


def barriers(case: Loaded) -> None:
    """`; accesses: w 0 16, r 0 16`: kind, first byte, end."""
    found = [words for words in case.graph.every() if name_of(words) == "OpControlBarrier"]
    accesses = [text.split() for text in case.said["accesses"].split(",")]
    places = [Place(words, kind == "w", Range(int(first), int(end)))
              for words, (kind, first, end) in zip(found, accesses, strict=True)]
    drop_barriers(case.graph, places, needed_barriers(case.graph, places, LaneMeetings()), lambda words: None)


def conversions(case: Loaded) -> None:
    def unknown(narrow: Type) -> tuple[int, int]:
        whole = with_width(Int(bits_of(narrow)), width_of(narrow))
        return case.module.type_id(whole), case.unknown(whole)

    part_conversions(case.graph, case.module.new_id, unknown)


def marked(case: Loaded) -> None:
    """What the driver is to contract gets a name."""
    m, sign = case.module, case.module.constant(Int(32), 1 << 31)
    words = mark(m, case.graph, case.named("allowed"), lambda type: sign)
    for each in words:
        m.name(Label(each[2]), "contracted")


def seconds(case: Loaded) -> None:
    """What the driver is not to contract gets a name."""
    for each in second_products(case.graph, case.named("allowed")):
        case.module.name(Label(each), "kept")


PASSES: dict[str, Callable[[Loaded], object]] = {
    "definite-assignment": lambda case: require_definite(case.graph, case.module),
    "needed-barriers": barriers,
    "private-memory": lambda case: keep_private(case.graph),
    "register-pressure": lambda case: lessen_pressure(case.graph, 16, 128 * 4, case.module.new_id),
    "convergence": lambda case: check_convergence(
        case.graph, case.named("scalars"), dict.fromkeys(case.named("lanes"), LANE), case.module.integers()),
    "parted-conversions": conversions,
    "hidden-products": lambda case: hide_products(case.graph, case.module.new_id, case.unknown),
    "parted-differences": lambda case: part_differences(case.module, case.graph),
    "self-comparisons": lambda case: compare_bits(case.module, case.graph),
    "contraction": lambda case: fuse(case.module, case.graph, case.named("allowed")),
    "hardware-contraction": lambda case: fuse_in_hardware(case.module, case.graph, case.named("allowed")),
    "marked-contraction": marked,
    "second-products": seconds,
    "separated-phis": lambda case: separate_phis(case.module, case.graph),
}


def said(source: str) -> dict[str, str]:
    """What the comments of a case say, by the word before the colon."""
    return dict(re.findall(r"^; (\w+): (.*)$", source, re.MULTILINE))


def made(source: str) -> str:
    """What the pass makes of the source today, verified before and behind."""
    module, function, ids = load(source)
    name = said(source)["pass"]
    check_form(module, Graph(module, function))
    try:
        PASSES[name](Loaded(module, Graph(module, function), said(source), ids))
    except InternalError as error:
        return f"; refused: {error.args[0]}\n"
    check(module, Graph(module, function), name)
    text = listing(module.unfinished())
    return text[text.index("function void"):]


def check_form(module: Module, graph: Graph) -> None:
    from triton_spirv.spirv.passes.verify import verify

    verify(graph, "loading", module.declared())


cases = Cases(Path(__file__).parent / "cases", "*.spvasm", "; ---- becomes\n", made)

if __name__ == "__main__":
    cases.update(*sys.argv[1:])
