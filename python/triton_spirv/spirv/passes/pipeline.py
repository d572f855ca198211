"""Passes over a function between its last instruction and the words of its module: named, in order, looked
behind.

Which of them run for a target lower/program/finishing.py says, and the environment. Behind each one may be
verified what holds of every function (verify.py, definite_assignment.py), and the module printed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable

from ...dataclass import dataclass
from ..asm import listing
from ..module import Module
from ..values import Function
from .definite_assignment import require_definite
from .graph import Graph
from .verify import verify

#: All there are, in the order in which they run. The first and the fourth check, and change nothing.
NAMES = ("definite-assignment", "needed-barriers", "register-pressure", "convergence", "parted-conversions",
         "hidden-products", "parted-differences", "self-comparisons", "contraction", "separated-phis")


@dataclass(frozen=True)
class Pass:
    """`run` reads a function or rewrites it. Does it apply to the target at hand?"""

    name: str
    run: Callable[[Graph], None]
    applies: bool = True


def run_passes(module: Module, function: Function, passes: Iterable[Pass], verified: bool = False,
               printed: Collection[str] = ()) -> None:
    """Run those that apply over a function that is still open. `verified`: check before the first and behind
    each; InternalError says behind which. `printed`: the names of those behind which the module is printed,
    to stderr."""
    graph = Graph(module, function)
    if verified:
        check(module, graph, "lowering")
    for each in passes:
        if not each.applies:
            continue
        before = graph.generation
        each.run(graph)
        if verified and graph.generation != before:
            check(module, Graph(module, function), f"pass {each.name}")
        if each.name in printed:
            print(f"; after {each.name}\n{listing(module.unfinished())}", file=sys.stderr)


def check(module: Module, graph: Graph, stage: str) -> None:
    """InternalError where a function is none, or reads what it has not written."""
    verify(graph, stage, module.declared())
    require_definite(graph, module)
