"""Readers from the assembly formats of dialects.py: each item of a format becomes a step, a closure over what
it needs.

A step takes (parser, index, state) and gives the next index; steps append to the state's operands,
attributes, result types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .dialects import OperationSpec
from .inference import flat, keywords, result_types, segments_of
from .model import Operation, Value
from .tokens import is_number, shown, unescape
from .types import (
    Type,
)

if TYPE_CHECKING:
    from .parser import Parser

FLAG_WORDS = {"exact": "isExact", "nneg": "nonNeg", "disjoint": "isDisjoint"}
ROUNDING_WORDS = frozenset(["to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away"])


class State:
    """What has been read of one operation. `values[k]` is operand k: a Value, None, or a list for `x*`."""

    __slots__ = ("attributes", "number", "types", "values")

    def __init__(self, values: list[Any]) -> None:
        self.values = values
        self.attributes: dict[str, Any] = {}
        self.types: list[Type] = []
        self.number = len(values)


Step = Callable[["Parser", int, State], int]


def _literal(word: str) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        if p.tokens[i] != word:
            p.fail(f"expected {word!r}, found {shown(p.tokens[i])}", i)
        return i + 1

    return step


def _operand(position: int) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        token = p.tokens[i]
        state.values[position] = p.values.get(token) or p.value(i)
        return i + 1

    return step


def _operands(position: int) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        found: list[Value] = []
        tokens = p.tokens
        while tokens[i][0] == "%":
            found.append(p.values.get(tokens[i]) or p.value(i))
            i += 1
            if tokens[i] != "," or tokens[i + 1][0] != "%":
                break
            i += 1
        state.values[position] = found
        return i

    return step


def _type(position: int) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        token = p.tokens[i]
        value = state.values[position]
        type = p.types.get(token)
        if type is None:
            if token[0] == "<":
                return _short_type(p, i, value)
            type, after = p.reader.type(i)
        else:
            after = i + 1
        if value.type is not type:
            p.check(value, type, i)
        return after

    return step


def _short_type(p: Parser, i: int, value: Value) -> int:
    """<f32> for !tt.ptr<f32>, and so for descriptors of memory and of tensors."""
    token = p.tokens[i]
    for name in ("!tt.ptr", "!tt.tensordesc", "!ttg.memdesc"):
        try:
            type = p.reader.type_of(name + token)
        except (ValueError, KeyError):
            continue
        if value.type is None or value.type == type:
            value.type = type
            return i + 1
    p.fail(f"%{value.name} is {value.type}, not {token}", i)


def _types(position: int | None) -> Step:
    """T(x*), or T(*) for all operands."""

    def step(p: Parser, i: int, state: State) -> int:
        values = flat(state.values) if position is None else state.values[position]
        for k, value in enumerate(values):
            if k:
                i = p.expect(i, ",")
            type, after = p.reader.type(i)
            p.check(value, type, i)
            i = after
        return i

    return step


def _result(short: str) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        token = p.tokens[i]
        type = p.types.get(token)
        if type is None:
            if token[0] == "<" and short:
                state.types.append(p.reader.at(i, p.reader.type_of, short + token))
                return i + 1
            type, i = p.reader.type(i)
            state.types.append(type)
            return i
        state.types.append(type)
        return i + 1

    return step


def _result_list(p: Parser, i: int, state: State) -> int:
    while True:
        type, i = p.reader.type(i)
        state.types.append(type)
        if p.tokens[i] != ",":
            return i
        i += 1


def _functional(p: Parser, i: int, state: State) -> int:
    at = i
    types, i = p.reader.type_list(i)
    values = flat(state.values)
    if len(types) != len(values):
        p.fail(f"{len(values)} operands, but {len(types)} operand types", at)
    for value, type in zip(values, types, strict=True):
        p.check(value, type, at)
    i = p.expect(i, "->")
    results, i = p.reader.results(i)
    state.types += results
    return i


def _attribute(name: str) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        token = p.tokens[i]
        first = token[0]
        if first.isalpha() or first == "_":
            state.attributes[name] = token
        elif first == '"':
            state.attributes[name] = unescape(token)
        elif token.removeprefix("-").isdecimal() and is_number(token):
            state.attributes[name] = int(token)  # the format knows its type and does not print it
        else:
            p.fail(f"expected {name}, found {shown(token)}", i)
        return i + 1

    return step


def _quoted(name: str) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        token = p.tokens[i]
        if token[0] != '"':
            p.fail(f"expected the text of {name} in quotes, found {shown(token)}", i)
        state.attributes[name] = unescape(token)
        return i + 1

    return step


def _symbol(name: str) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        if p.tokens[i][0] != "@":
            p.fail(f"expected the @name of {name}, found {shown(p.tokens[i])}", i)
        value, i = p.reader.attribute(i)
        state.attributes[name] = value.name
        return i

    return step


def _unit(name: str) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        state.attributes[name] = True
        return i

    return step


def _dictionary(p: Parser, i: int, state: State) -> int:
    if p.tokens[i][0] == "{":
        values, i = p.reader.dictionary(i)
        state.attributes.update(values)
    return i


def _integers(name: str) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        numbers: list[int] = []
        while p.tokens[i] != "]":
            if numbers:
                i = p.expect(i, ",")
            number, i = p.reader.attribute(i)
            numbers.append(number)
        state.attributes[name] = tuple(numbers)
        return i

    return step


def _keywords(name: str) -> Step:
    def step(p: Parser, i: int, state: State) -> int:
        words = [p.tokens[i]]
        i += 1
        while p.tokens[i] == "|":
            words.append(p.tokens[i + 1])
            i += 2
        state.attributes[name] = "|".join(words)
        return i

    return step


def _flags(p: Parser, i: int, state: State) -> int:
    tokens = p.tokens
    while True:
        token = tokens[i]
        if token == ":" or token[0] == "{":
            return i
        if token in FLAG_WORDS:
            state.attributes[FLAG_WORDS[token]] = True
        elif token in ROUNDING_WORDS:
            state.attributes["roundingmode"] = token
        elif token.startswith("fastmath<"):
            state.attributes["fastmath"] = token[9:-1]
        elif token.startswith("overflow<"):
            state.attributes["overflowFlags"] = token[9:-1]
        else:
            return i
        i += 1


def _caching(p: Parser, i: int, state: State) -> int:
    while True:
        name = {"cacheModifier": "cache", "evictionPolicy": "evict"}.get(p.tokens[i])
        if name is None:
            return i
        i = p.expect(i + 1, "=")
        state.attributes[name] = p.tokens[i]
        i += 1


def _group(items: list[str], spec: OperationSpec) -> Step:
    """(? ... )?: read if its first item is there; after a `,` the word that follows has to fit too."""
    steps = [_step(item, spec) for item in items]
    first = items[0]
    follows = items[1] if first == "," else ""
    types_of = spec.positions[follows[2:-1]] if follows.startswith("T(") else None
    second = follows if follows[:1].isalpha() and types_of is None else None

    def step(p: Parser, i: int, state: State) -> int:
        token = p.tokens[i]
        if token[0] != "%" if first[0] == "$" else token != first:
            return i
        if second is not None and p.tokens[i + 1] != second:
            return i
        if types_of is not None and state.values[types_of] is None:
            return i
        for inner in steps:
            i = inner(p, i, state)
        return i

    return step


def items_of(format: str) -> list[str | list[str]]:
    """The items of a format; an optional part is a list of its own."""
    items: list[str | list[str]] = []
    group: list[str] | None = None
    for word in format.split():
        if word == "(?":
            group = []
        elif word == ")?":
            assert group
            items.append(group)
            group = None
        elif group is not None:
            group.append(word)
        else:
            items.append(word)
    return items


def _step(item: str | list[str], spec: OperationSpec) -> Step:
    if isinstance(item, list):
        return _group(item, spec)
    if item == "{}":
        return _dictionary
    if item == "F":
        return _functional
    if item == "R":
        return _result(
            {"tt.make_tensor_descriptor": "!tt.tensordesc", "tt.make_tensor_ptr": "!tt.ptr"}.get(
                spec.name, "!ttg.memdesc"
            )
        )
    if item == "R*":
        return _result_list
    if item == "T(*)":
        return _types(None)
    if item == "flags":
        return _flags
    if item == "caching":
        return _caching
    kind, name = (item[:2], item[2:-1]) if item.startswith("T(") else (item[0], item[1:])
    many = name.endswith("*")
    if kind == "T(":
        position = spec.positions[name.rstrip("*")]
        return _types(position) if many else _type(position)
    if kind == "$":
        position = spec.positions[name.rstrip("*")]
        return _operands(position) if many else _operand(position)
    if item.startswith("@@"):
        return _symbol(name[1:])
    makers = {"@": _attribute, '"': _quoted, "!": _unit, "#": _integers, "|": _keywords}
    if kind in makers and name:
        return makers[kind](name)
    return _literal(item)


OperationReader = Callable[["Parser", int, list[str]], "tuple[Operation, int]"]


def compile_format(spec: OperationSpec) -> OperationReader:
    """The reader of an operation: (parser, index after the name, result names) -> (operation, next index)."""
    steps = [_step(item, spec) for item in items_of(spec.format)]
    infer = result_types(spec)
    template: list[Any] = [[] if operand.quantity == "*" else None for operand in spec.operands]
    fixed, name = spec.fixed, spec.name
    always = {item[1:] for item in items_of(spec.format) if isinstance(item, str)}
    numbered = [
        item for item, _ in spec.enums if item not in always
    ]  # these may be in the dictionary, as numbers

    def read(p: Parser, i: int, names: list[str]) -> tuple[Operation, int]:
        start = i - 1
        state = State(template.copy())
        for step in steps:
            i = step(p, i, state)
        if infer is not None:
            try:
                state.types = infer(state.values, state.types)
            except (ValueError, AttributeError) as error:
                p.fail(f"{name}: {error}", start)
        values = state.values
        if numbered:
            keywords(spec, state.attributes)
        if fixed:
            return p.make(name, values, state.attributes, state.types, names, None, start), i
        return p.make(name, flat(values), state.attributes, state.types, names, segments_of(values), start), i

    return read
