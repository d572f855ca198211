"""f16 on a target that has no arithmetic for it (no Float16): registers hold its bits, as they do of bf16."""

from __future__ import annotations

import functools
from dataclasses import fields, replace

from ..ir.model import DenseAttr, FloatType, Type
from ..ir.module import Module


def hold_float16_as_bits(module: Module) -> None:
    """Every value of the module that is made of f16 gets the type that says so (`FloatType.as_bits`)."""
    for op in module.walk():
        for name, attribute in op.attributes.items():
            held = _held_attribute(attribute)
            if held is not attribute:
                op.set_attribute(name, held)
        arguments = [value for region in op.regions for block in region.blocks for value in block.arguments]
        for value in (*op.results, *arguments):
            held = _held(value.type)
            if held is not value.type:
                value.retype(held)


def _held_attribute(attribute: object) -> object:
    """Types and constants of it; everything else as it is."""
    if isinstance(attribute, Type):
        return _held(attribute)
    if isinstance(attribute, DenseAttr):
        held = _held(attribute.type)
        if held is not attribute.type:
            return replace(attribute, type=held)  # type: ignore[arg-type]  # a tensor, as it was
    return attribute


@functools.cache
def _held(type: Type) -> Type:
    """The same type, f16 in it as its bits; the very type where there is none."""
    if isinstance(type, FloatType):
        return replace(type, as_bits=True) if type.name == "f16" else type
    changes = {}
    for field in fields(type):  # type: ignore[arg-type]
        part = getattr(type, field.name)
        if isinstance(part, Type):
            made: object = _held(part)
        elif isinstance(part, tuple) and any(isinstance(x, Type) for x in part):
            made = tuple(_held(x) if isinstance(x, Type) else x for x in part)
        else:
            continue
        if made != part:
            changes[field.name] = made
    return replace(type, **changes) if changes else type  # type: ignore[type-var]
