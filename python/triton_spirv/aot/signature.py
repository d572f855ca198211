"""Signatures as Triton's own ahead-of-time compiler writes them, in the order of the parameters:

    *fp16:16, *fp32, i32:16, 128

A type, `:16` behind it where the value (or the address) is divisible by 16, `:1` where it is always 1, a
number for a constexpr. By name it is a dict: {"x": "*fp16:16", "out": "*fp32", "n": "i32:16"}, with
constexprs beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from ..dataclass import dataclass
from ..errors import UsageError

SCALARS = ("i1", "i8", "i16", "i32", "i64", "u1", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64")
FLOAT8 = ("fp8e4nv", "fp8e4b8", "fp8e4b15", "fp8e5", "fp8e5b16")

_DESCRIPTOR = re.compile(r"tensordesc<\w+\[[\d, ]+\]>$")


@dataclass(frozen=True)
class Signature:
    """What a kernel is compiled for. types: parameter -> Triton's name of its type, constants left out;
    divisible: parameters whose values are multiples of 16."""

    types: dict[str, str]
    divisible: tuple[str, ...] = ()
    constants: dict[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        known = {name: f"{kind}:16" if name in self.divisible else kind for name, kind in self.types.items()}
        return ", ".join([*(f"{name}: {kind}" for name, kind in known.items()),
                          *(f"{name}={value}" for name, value in self.constants.items())])


def read(text: str | Mapping[str, object], parameters: Sequence[str], constexprs: Mapping[str, object],
         must_be_constant: Sequence[str] = (), kernel: str = "the kernel") -> Signature:
    """The signature of a kernel with these parameters; UsageError says what does not fit.

    A text names all parameters, or all but those that `constexprs` gives.
    """
    unknown = [name for name in constexprs if name not in parameters]
    if unknown:
        raise UsageError(f"{kernel} has no parameter {unknown[0]!r}; it has {', '.join(parameters)}")
    given = dict(text) if isinstance(text, Mapping) else _by_position(text, parameters, constexprs, kernel)
    types: dict[str, str] = {}
    divisible, constants = [], dict(constexprs)
    for name, item in given.items():
        if name not in parameters:
            raise UsageError(f"{kernel} has no parameter {name!r}; it has {', '.join(parameters)}")
        if not isinstance(item, str):
            constants.setdefault(name, item)
            continue
        kind, hint = _item(item.strip(), name)
        if kind is None or hint == 1:
            constants.setdefault(name, hint)
        elif name not in constants:
            types[name] = kind
            divisible += [name] * (hint == 16)
    missing = [name for name in parameters if name not in types and name not in constants]
    if missing:
        raise UsageError(f"the signature of {kernel} lacks {', '.join(missing)}; "
                         f"its parameters are {', '.join(parameters)}")
    wrong = [name for name in must_be_constant if name in types]
    if wrong:
        raise UsageError(f"{wrong[0]} of {kernel} is a tl.constexpr: give a value, not the type "
                         f"{types[wrong[0]]}")
    return Signature({name: types[name] for name in parameters if name in types}, tuple(divisible),
                     {name: constants[name] for name in parameters if name in constants})


def _by_position(text: str, parameters: Sequence[str], constexprs: Mapping[str, object],
                 kernel: str) -> dict[str, str]:
    items = [item.strip() for item in _split(text)]
    others = [name for name in parameters if name not in constexprs]
    names = parameters if len(items) == len(parameters) else others
    if len(items) != len(names):
        counts = f"{len(items)} items" if len(items) != 1 else "1 item"
        raise UsageError(f"the signature has {counts}, {kernel} has {len(others)} parameters to name: "
                         f"{', '.join(others)}")
    return dict(zip(names, items, strict=True))


def _split(text: str) -> list[str]:
    """At commas outside of brackets."""
    return re.split(r",(?![^<\[]*[>\]])", text) if text.strip() else []


def _item(text: str, name: str) -> tuple[str | None, object]:
    """(type, hint or None), or (None, the constant)."""
    constant = number(text)
    if constant is not None:
        return None, constant
    kind, _, hint = text.partition(":")
    if not is_type(kind):
        raise UsageError(f"signature, {name}: {kind!r} is neither a type nor a number; types are "
                         f"{', '.join(SCALARS + FLOAT8)}, *TYPE for pointers, tensordesc<TYPE[ROWS, "
                         f"COLUMNS]>")
    if hint not in ("", "1", "16"):
        raise UsageError(f"signature, {name}: unknown hint {hint!r} in {text!r}; there are :16 and "
                         ":1")
    if hint == "1" and kind not in SCALARS[:10]:
        raise UsageError(f"signature, {name}: :1 is for integers that are always 1, not for {kind}")
    return kind, int(hint) if hint else None


def is_type(kind: str) -> bool:
    """Is it one of Triton's names of a type? `*k` in front: a pointer to what is only read."""
    if _DESCRIPTOR.match(kind):
        return True
    pointee = kind.lstrip("*")
    if pointee != kind:
        pointee = pointee.removeprefix("k")
    return pointee in SCALARS or (pointee in FLOAT8)


def number(text: str) -> object:
    """The number or truth value that a text spells; None where it spells none."""
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return None
