"""lower/context.py: a context is made of parts, each of a class of its own."""

from __future__ import annotations

import inspect

from triton_spirv.compiler import ENVIRONMENTS
from triton_spirv.lower.context import Context
from triton_spirv.lower.kernel import Kernel
from triton_spirv.spirv.builder import Builder
from triton_spirv.target import find_target

#: given to the context, not made by it
GIVEN = ("b", "env", "target", "kernel")

#: as many as the part has that needs most of the others
MOST_PARTS = 12


def parts() -> dict[str, object]:
    target = find_target("cpu")
    environment = ENVIRONMENTS[target.environment]
    b = Builder(environment.module(target))
    return vars(Context(b, environment(b, target), target, Kernel({})))


def test_nothing_is_inherited() -> None:
    classes = {Context, *(type(part) for name, part in parts().items() if name not in GIVEN)}
    assert not {each.__name__ for each in classes if each.__bases__ != (object,)}


def test_a_context_has_parts_and_no_methods() -> None:
    assert [name for name, _ in inspect.getmembers(Context, inspect.isroutine)
            if not hasattr(object, name)] == []


def test_a_part_is_given_what_it_needs() -> None:
    """What a rule is given goes whole to the part alone that hands it on."""
    for name, part in parts().items():
        taken = inspect.signature(type(part)).parameters if name not in GIVEN else {}
        assert len(taken) <= MOST_PARTS, name
        assert "ctx" not in taken or name == "operations", name
