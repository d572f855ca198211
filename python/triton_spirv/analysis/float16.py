"""f16 on a target that has no arithmetic for it (no Float16): registers hold its bits, as they do of bf16."""

from __future__ import annotations

import functools
from dataclasses import fields, replace

from ..ir.model import Block, FloatType, Module, Region, Type


def hold_float16_as_bits(module: Module) -> None:
    """Every value of the module that is made of f16 gets the type that says so (`FloatType.as_bits`)."""
    for op in module.walk():
        for value in op.results:
            value.type = _held(value.type)
        for region in op.regions:
            _arguments(region)


def _arguments(region: Region) -> None:
    blocks: list[Block] = region.blocks
    for block in blocks:
        for value in block.arguments:
            value.type = _held(value.type)


@functools.cache
def _held(type: Type) -> Type:
    """The same type, f16 in it as its bits."""
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
