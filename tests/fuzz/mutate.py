"""Mutations of IR text: lines and tokens deleted, doubled, swapped, replaced; numbers, types, shapes, layouts
and attributes changed, in one place or wherever they stand; lines of another kernel spliced in.

`mutated(number, seeds)` is the same text for the same number and seeds.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|[%#!@^]?[A-Za-z_][\w.$-]*|[%#^]\d[\w#:]*'
                   r"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|->|.", re.DOTALL)
NUMBER = re.compile(r"(?<![\w%#^.])-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
DIMENSION = re.compile(r"(?<=[<x])(\d+)(?=x)")
VALUE = re.compile(r"%[\w$.-]+(?:#\d+)?")
ALIAS = re.compile(r"#[A-Za-z_]\w*\b(?!\.)")
ELEMENT = re.compile(r"(?<=[x<( ])(?:i1|i8|i16|i32|i64|f16|bf16|f32|f64|index|f8E5M2|f8E4M3FN)(?=[>,) \n])")
OPERATION = re.compile(r"\b(?:arith|math|tt|scf|cf|ttg|ub)\.[a-z_0-9]+\b")
ATTRIBUTE = re.compile(r"\b(\w+) = ([^,}{\n]+)")

EXTREMES = ("0", "-1", "1", "2", "3", "7", "31", "32", "33", "64", "255", "65535", "2147483647", "2147483648",
            "-2147483649", "4294967296", "9223372036854775808", "18446744073709551616",
            "1000000000000000000000000000000", "1.5", "0.0", "1e400", "0x7FF0000000000000", "true")
DIMENSIONS = ("0", "1", "2", "3", "5", "16", "64", "100", "1024", "4096", "1048576", "1099511627776",
              "1000000000000000000000000000000")
ELEMENTS = ("i1", "i4", "i8", "i16", "i24", "i32", "i64", "i128", "i0", "i99999999999", "f16", "bf16", "f32",
            "f64", "f80", "f128", "tf32", "index", "f8E5M2", "f8E4M3FN", "f8E8M0FNU", "f4E2M1FN", "none",
            "si32", "ui8", "!tt.ptr<f32>", "!tt.ptr<!tt.ptr<i8>>", "!ttg.async.token", "tuple<>",
            "tuple<f32, i32>", "vector<4xf32>", "tensor<4xf32>", "!llvm.ptr", "!tt.tensordesc<8x8xf32>",
            "(i32) -> f32")
WORDS = ("x", "y", "z", "w", "true", "false", "none", "acq_rel", "gpu", "relaxed", "fadd", "xor", "umax",
         "exch", '"text"', '""', "[]", "[0]", "[1, 0]", "[0, 0]", "[0, 1, 2]", "{}", "-1 : i32", "99 : i32",
         "2.5 : f32", "dense<0> : tensor<4xi32>", "dense<> : tensor<0xi32>", "#ttg.shared_memory",
         "array<i32: 1, 2>", "array<>", "unit", "@nobody", "e4m3", "ieee", "eq", "ugt", "oeq", "#nothing",
         "f32")

STRAY = ("<", ">", "{", "}", "(", ")", "[", "]", ":", ",", "%", "#", '"', "x", "\0", "é", "^bb0", "loc(",
         "dense<", "-")

Mutation = Callable[[random.Random, list[str], Sequence[str]], None]
"""(generator, lines, other texts): changes the lines in place."""


def mutated(number: int, seeds: Sequence[str], seed: int = 0) -> tuple[int, str]:
    """(index of the seed text, the text after one to four mutations)."""
    generator = random.Random(f"{seed}/{number}")
    index = generator.randrange(len(seeds))
    lines = seeds[index].split("\n")
    for _ in range(generator.choice((1, 1, 1, 2, 2, 3, 4))):
        mutation = generator.choices(list(MUTATIONS), list(MUTATIONS.values()))[0]
        if lines:
            mutation(generator, lines, seeds)
    return index, "\n".join(lines)


def _somewhere(generator: random.Random, lines: list[str]) -> int:
    return generator.randrange(len(lines))


def delete_line(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    del lines[_somewhere(generator, lines)]


def double_line(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    at = _somewhere(generator, lines)
    lines.insert(at, lines[at])


def swap_lines(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    a, b = _somewhere(generator, lines), _somewhere(generator, lines)
    lines[a], lines[b] = lines[b], lines[a]


def splice(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    """Some lines of another text, their operands renamed to values that there are here."""
    other = generator.choice(others).split("\n")
    start = generator.randrange(len(other))
    taken = other[start:start + generator.choice((1, 1, 1, 2, 5))]
    at = _somewhere(generator, lines)
    known = VALUE.findall("\n".join(lines[:at])) or ["%none"]
    for offset, line in enumerate(taken):
        head, equals, tail = line.partition(" = ")
        fresh = equals and head.strip().startswith("%")
        renamed = VALUE.sub(lambda match: generator.choice(known), tail if fresh else line)
        lines.insert(at + offset, f"    %spliced{at + offset} = {renamed}" if fresh else renamed)


def _replace_one(generator: random.Random, lines: list[str], pattern: re.Pattern[str],
                 choices: Sequence[str]) -> None:
    """One match of a pattern on some line, by one of the choices."""
    holding = [i for i, line in enumerate(lines) if pattern.search(line)]
    if holding and choices:
        at = generator.choice(holding)
        match = generator.choice(list(pattern.finditer(lines[at])))
        lines[at] = lines[at][:match.start()] + generator.choice(choices) + lines[at][match.end():]


def _replace_all(generator: random.Random, lines: list[str], pattern: re.Pattern[str],
                 choices: Sequence[str]) -> None:
    """Whatever a match says, everywhere in the text, by one of the choices: types that still agree."""
    found = pattern.findall("\n".join(lines))
    if found and choices:
        old, new = generator.choice(found), generator.choice(choices)
        lines[:] = [pattern.sub(lambda match: new if match[0] == old else match[0], line) for line in lines]


def change_token(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    at = _somewhere(generator, lines)
    tokens = TOKEN.findall(lines[at])
    if not tokens:
        return
    place = generator.randrange(len(tokens))
    kind = generator.randrange(5)
    if kind == 0:
        del tokens[place]
    elif kind == 1:
        tokens.insert(place, tokens[place])
    elif kind == 2:
        other = generator.randrange(len(tokens))
        tokens[place], tokens[other] = tokens[other], tokens[place]
    elif kind == 3:
        words = TOKEN.findall(generator.choice(generator.choice(others).split("\n")) or " ")
        tokens[place] = generator.choice(words or [" "])
    else:
        tokens[place] = generator.choice(STRAY)
    lines[at] = "".join(tokens)


def change_number(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    _replace_one(generator, lines, NUMBER, EXTREMES)


def change_dimension(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    _replace_one(generator, lines, DIMENSION, DIMENSIONS)


def change_every_dimension(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    _replace_all(generator, lines, DIMENSION, DIMENSIONS)


def change_element(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    _replace_one(generator, lines, ELEMENT, ELEMENTS)


def change_every_element(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    _replace_all(generator, lines, ELEMENT, ELEMENTS)


def change_operand(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    _replace_one(generator, lines, VALUE, VALUE.findall("\n".join(lines)))


def change_layout(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    _replace_one(generator, lines, ALIAS, ALIAS.findall("\n".join(lines)))


def change_every_layout(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    _replace_all(generator, lines, ALIAS, ALIAS.findall("\n".join(lines)))


def change_operation(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    _replace_one(generator, lines, OPERATION, OPERATION.findall(generator.choice(others)))


def change_attribute(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    """The value of some attribute, by a number, a word, or what stands there in another text."""
    holding = [i for i, line in enumerate(lines) if ATTRIBUTE.search(line) and "tt.func" not in line]
    if not holding:
        return
    at = generator.choice(holding)
    match = generator.choice(list(ATTRIBUTE.finditer(lines[at])))
    value = generator.choice((generator.choice(WORDS), generator.choice(EXTREMES),
                              f"{generator.choice(EXTREMES)} : {generator.choice(ELEMENTS)}"))
    lines[at] = lines[at][:match.start(2)] + value + lines[at][match.end(2):]


def change_alias(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    """A number of a layout's definition, or the whole of it by another text's."""
    holding = [i for i, line in enumerate(lines) if line.startswith("#") and "ttg." in line]
    if not holding:
        return
    at = generator.choice(holding)
    if generator.random() < 0.3:
        other = generator.choice(others).split("\n")
        foreign = [line for line in other if line[:1] == "#" and "ttg." in line]
        if foreign:
            lines[at] = lines[at].partition(" = ")[0] + " = " + generator.choice(foreign).partition(" = ")[2]
        return
    numbers = list(re.finditer(r"\d+", lines[at].partition(" = ")[2]))
    if numbers:
        start = lines[at].index(" = ") + 3
        match = generator.choice(numbers)
        lines[at] = (lines[at][:start + match.start()] + generator.choice(EXTREMES[:16])
                     + lines[at][start + match.end():])


BRACKETS = (("[", "]"), ("tuple<", ">"), ("!tt.ptr<", ">"), ("{a = ", "}"), ("(", ")"), ("loc(", ")"),
            ("#ttg.slice<{dim = 0, parent = ", "}>"))


def nest(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    """A type or an attribute inside very many others of its kind."""
    depth = generator.choice((10, 100, 1000, 5000))
    left, right = generator.choice(BRACKETS)
    pattern = NUMBER if left in "[{a = " else ELEMENT
    holding = [i for i, line in enumerate(lines) if pattern.search(line)]
    if holding:
        at = generator.choice(holding)
        match = generator.choice(list(pattern.finditer(lines[at])))
        inside = left * depth + match[0] + right * depth
        lines[at] = lines[at][:match.start()] + inside + lines[at][match.end():]


def truncate(generator: random.Random, lines: list[str], others: Sequence[str]) -> None:
    del lines[_somewhere(generator, lines):]


#: mutation -> how often it is drawn
MUTATIONS: dict[Mutation, int] = {
    delete_line: 6, double_line: 4, swap_lines: 6, splice: 12, change_token: 10, change_number: 10,
    change_dimension: 3, change_every_dimension: 10, change_element: 3, change_every_element: 10,
    change_operand: 12, change_layout: 3, change_every_layout: 4, change_operation: 10, change_attribute: 10,
    change_alias: 8, nest: 1, truncate: 1,
}
