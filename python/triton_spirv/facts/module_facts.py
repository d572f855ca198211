"""Facts of a whole module, each computed once for what the module is: several ask for the same ones."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from ..ir.module import Module

T = TypeVar("T")


def fact(analysis: Callable[[Module], T]) -> Callable[[Module], T]:
    """The analysis, computed anew only where the module has changed since. Nobody may change the answer."""

    @functools.wraps(analysis)
    def answer(module: Module) -> T:
        generation, known = module.generation, module.facts
        if module.facts_generation != generation:
            known.clear()
            module.facts_generation = generation
        found: Any = known.get(analysis, known)  # an analysis may answer None
        if found is known:
            found = known[analysis] = analysis(module)
        return found

    return answer
