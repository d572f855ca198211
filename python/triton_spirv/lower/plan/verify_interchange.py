"""May the loops that run inside walks do so?

Asked of the kernel's operations and the plan's records alone:

    the loop         has its rounds apart for each element of what it carries (facts/rounds_apart.py); and
                     what it carries besides is scalars, and what each round moves by scalars
    the walk         takes whole rows, so that a turn needs nothing of another one
    other loops      of the kernel run in no turn of a walk
"""

from __future__ import annotations

from collections.abc import Iterator

from ...facts.motion import added_each_round
from ...facts.rounds_apart import has_rounds_apart
from ...ir.model import Operation, TensorType
from .records import Interchange, Node, Plan, Region, Turns, Versions, Walk
from .text import called_loop


def wrong_interchanges(plan: Plan) -> list[str]:
    """What does not hold."""
    return list(dict.fromkeys(_of(plan.body, frozenset(), False)))


def _of(nodes: tuple[Node, ...], known: frozenset[Operation], turns: bool) -> Iterator[str]:
    """What does not hold of a body. known: loops that may run in each turn. turns: it is one of a walk."""
    for node in nodes:
        if isinstance(node, Interchange):
            known |= {node.operation}
            wrong = _wrong(node)
            if wrong is not None:
                yield f"{called_loop(node.operation)} runs inside a walk, and {wrong}"
        elif isinstance(node, Turns):
            yield from _of(node.body, known, True)
        elif isinstance(node, Walk):
            yield from _of(node.body, known, turns)
        elif isinstance(node, (Versions, Region)):
            if isinstance(node, Region) and turns and node.operation not in known:
                yield f"{called_loop(node.operation)} runs in each turn of a walk"
            for arm in node.arms:
                yield from _of(arm.body, known, turns and isinstance(node, Versions))


def _wrong(node: Interchange) -> str | None:
    loop, layout = node.operation, node.layout
    if not has_rounds_apart(loop, node.carried):
        return "its rounds need more of what they carry than the elements at hand, or have effects"
    others = [i for i, value in enumerate(loop.results)
              if i not in node.carried and isinstance(value.type, TensorType)]
    if any(added_each_round(loop, i) is None for i in others):
        return "it carries other tensors"
    if any(loop.results[i].type.shape != layout.shape for i in node.carried):  # type: ignore[attr-defined]
        return "the walk is one of other tensors"
    row = layout.shape[-1]
    inside, outside = layout.step[:node.inner], layout.step[node.inner:]
    if any(basis >= row for basis in inside) or any(basis < row for basis in outside):
        return "a turn holds a part of a row"
    return None
