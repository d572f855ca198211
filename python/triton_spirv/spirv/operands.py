"""Operands: from what a rule writes to the words of an instruction, checked against the grammar.

A `Form` is an instruction made ready for `Module.emit`. Nearly all instructions take ids only: for those the builder reads the ids off the
operands itself and never comes here. The others are encoded operand by operand, each by the function for its kind.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from operator import index
from typing import TYPE_CHECKING, Any

from . import grammar
from .literals import literal_words, string_words
from .types import Int, Type

if TYPE_CHECKING:
    from .module import Module

Encoder = Callable[["Module", Any], Sequence[int]]
UNLIMITED = 1 << 16
BODY_GROUPS = frozenset([
    "Memory", "Image", "Conversion", "Composite", "Arithmetic", "Bit", "Relational_and_Logical", "Derivative", "Control-Flow", "Atomic",
    "Primitive", "Barrier", "Group", "Device-Side_Enqueue", "Pipe", "Non-Uniform", "Reserved", "Tensor", "Graph"])
BODY_EXTRAS = frozenset(["OpFunctionCall", "OpExtInst", "OpUndef", "OpNop", "OpSizeOf"])
NOT_IN_BODY = frozenset(["OpVariable", "OpLabel"])
TERMINATORS = frozenset([
    "OpBranch", "OpBranchConditional", "OpSwitch", "OpReturn", "OpReturnValue", "OpKill", "OpUnreachable", "OpTerminateInvocation"])


class Form:
    """An instruction ready to be emitted.

    `head` is the first word of the instruction without further operands: number of words and opcode. An operand list of `fewest` to `most`
    ids needs no encoding; `fewest` is out of reach for an instruction with other operands than ids.
    """

    __slots__ = ("name", "instruction", "head", "has_result", "is_terminator", "in_body", "fewest", "most", "plan")

    def __init__(self, instruction: grammar.Instruction) -> None:
        self.name = instruction.name
        self.instruction = instruction
        self.head = (1 + instruction.has_type + instruction.has_result) << 16 | instruction.opcode
        self.has_result = instruction.has_result
        self.is_terminator = instruction.name in TERMINATORS
        self.in_body = (instruction.group in BODY_GROUPS or self.name in BODY_EXTRAS) and self.name not in NOT_IN_BODY
        operands = instruction.operands
        if all(operand.kind == "IdRef" for operand in operands):
            self.fewest = sum(not operand.quantifier for operand in operands)
            self.most = UNLIMITED if any(operand.quantifier == "*" for operand in operands) else len(operands)
        else:
            self.fewest, self.most = UNLIMITED, 0
        self.plan = [(operand, encoder(operand.kind)) for operand in operands]

    def encode(self, module: Module, operands: Sequence[Any]) -> list[int]:
        """The words of the operands; TypeError names the instruction and the operand at fault."""
        try:
            if self.name == "OpSwitch":
                operands = _switch_operands(operands)
            return encode(module, self.plan, operands)
        except (TypeError, ValueError, LookupError) as error:
            raise TypeError(f"{self.name}: {error.args[0] if error.args else error}") from None


@cache
def form(name: str) -> Form:
    """The form of an instruction; LookupError for a name that the grammar does not have."""
    return Form(grammar.instruction(name))


def encode(module: Module, plan: Sequence[tuple[grammar.Operand, Encoder]], operands: Sequence[Any]) -> list[int]:
    """The words of `operands` by a plan of the grammar's operands and their encoders; None stands for an absent optional operand."""
    words: list[int] = []
    rest = list(operands)
    for operand, encode_one in plan:
        if operand.quantifier == "*":
            for given in rest:
                words += _encode_operand(module, operand, encode_one, given)
            rest = []
        elif rest and not (rest[0] is None and operand.quantifier):
            words += _encode_operand(module, operand, encode_one, rest.pop(0))
        elif rest:
            rest.pop(0)
        elif not operand.quantifier:
            raise TypeError(f"operand {operand} is missing")
    if rest:
        raise TypeError(f"takes {len(plan)} operand(s), {len(operands)} given; not wanted: {', '.join(map(_describe, rest))}")
    return words


def _encode_operand(module: Module, operand: grammar.Operand, encode_one: Encoder, given: Any) -> Sequence[int]:
    try:
        return encode_one(module, given)
    except (TypeError, ValueError, LookupError, struct.error) as error:
        raise TypeError(f"operand {operand}: {error.args[0]}") from None


@cache
def encoder(kind: str) -> Encoder:
    """The function that encodes operands of a kind."""
    if kind in _ENCODERS:
        return _ENCODERS[kind]
    entry = grammar.kind(kind)
    if entry.category == "BitEnum":
        return lambda module, given: _remembered(module, kind, given, _bit_words)
    if entry.category == "ValueEnum":
        return lambda module, given: _remembered(module, kind, given, _enumerant_words)
    if entry.category == "Composite":
        parts = [encoder(base) for base in entry.bases]
        return lambda module, given: _pair_words(module, parts, given)
    return _refuse


def _id_words(module: Module, given: Any) -> Sequence[int]:
    if isinstance(given, Type):
        return (module.type_id(given),)
    try:
        return (given.id,)
    except AttributeError:
        hint = ": Module.constant makes one of a number" if isinstance(given, (bool, int, float)) else ""
        raise TypeError(f"wants a Value, a Label or a type, not {_describe(given)}{hint}") from None


def _scope_words(module: Module, given: Any) -> Sequence[int]:
    return _number_id(module, "Scope", given, _enumerant_words)


def _semantics_words(module: Module, given: Any) -> Sequence[int]:
    return _number_id(module, "MemorySemantics", given, _bit_words)


def _number_id(module: Module, kind: str, given: Any, words_of: Callable[[Module, str, Any], Sequence[int]]) -> Sequence[int]:
    """Scopes and memory semantics are ids of constants: their names are as good as a Value."""
    if hasattr(given, "id"):
        return (given.id,)
    return (module.constant(Int(32), _remembered(module, kind, given, words_of)[0]).id,)


def _integer_words(module: Module, given: Any) -> Sequence[int]:
    number = index(given)
    if not -(1 << 31) <= number < 1 << 32:
        raise ValueError(f"{number} does not fit a literal of 32 bits")
    return (number & 0xFFFFFFFF,)


def _float_words(module: Module, given: Any) -> Sequence[int]:
    words: tuple[int, ...] = struct.unpack("<I", struct.pack("<f", given))
    return words


def _string_words(module: Module, given: Any) -> Sequence[int]:
    if not isinstance(given, str):
        raise TypeError(f"wants a str, not {_describe(given)}")
    return string_words(given)


def _refuse(module: Module, given: Any) -> Sequence[int]:
    raise TypeError("is of a kind that only the builder itself writes")


def _pair_words(module: Module, parts: Sequence[Encoder], given: Any) -> Sequence[int]:
    if not isinstance(given, (tuple, list)) or len(given) != len(parts):
        raise TypeError(f"wants a pair, not {_describe(given)}")
    return [word for encode_one, part in zip(parts, given) for word in encode_one(module, part)]


def _remembered(module: Module, kind: str, given: Any,
                words_of: Callable[[Module, str, Any], Sequence[int]]) -> Sequence[int]:
    """A module uses few enumerants over and over; their capabilities are settled at the first use."""
    try:
        return module.enumerant_words[kind, given]
    except KeyError:
        words = module.enumerant_words[kind, given] = words_of(module, kind, given)
        return words
    except TypeError:    # a list cannot be a key
        return words_of(module, kind, given)


def _enumerant_words(module: Module, kind: str, given: Any) -> Sequence[int]:
    """`"Name"` or `("Name", parameter, ...)`."""
    name, *parameters = given if isinstance(given, tuple) else (given,)
    if not isinstance(name, str):
        raise TypeError(f"wants the name of a {kind}, or a tuple of a name and its parameters, not {_describe(given)}")
    entry = grammar.enumerant(kind, name)
    module.requirements.satisfy(entry, f"{kind} {name}")
    plan = [(parameter, encoder(parameter.kind)) for parameter in entry.parameters]
    return [entry.value, *encode(module, plan, parameters)]


def _bit_words(module: Module, kind: str, given: Any) -> Sequence[int]:
    """One enumerant or a list of them; their parameters follow the mask in the order of the bits."""
    each = [_enumerant_words(module, kind, one) for one in (given if isinstance(given, list) else [given])]
    mask, parameters = 0, []
    for bit, *words in sorted(each, key=lambda words: words[0]):
        mask |= bit
        parameters += words
    return [mask, *parameters]


def _switch_operands(operands: Sequence[Any]) -> Sequence[Any]:
    """A literal of OpSwitch is as wide as the selector: a target behind two words of literal is three words instead of two."""
    selector = operands[0].type if operands and hasattr(operands[0], "type") else None
    if not isinstance(selector, Int):
        return operands
    return [*operands[:2], *((_SwitchLiteral(selector.width, index(literal)), label) for literal, label in operands[2:])]


class _SwitchLiteral:
    def __init__(self, width: int, number: int) -> None:
        self.words = literal_words(width, number & ((1 << width) - 1))


def _switch_literal_words(module: Module, given: Any) -> Sequence[int]:
    return given.words if isinstance(given, _SwitchLiteral) else _integer_words(module, given)


def _describe(given: Any) -> str:
    return f"{given!r} ({type(given).__name__})"


_ENCODERS: dict[str, Encoder] = {
    "IdRef": _id_words,
    "IdScope": _scope_words,
    "IdMemorySemantics": _semantics_words,
    "LiteralInteger": _integer_words,
    "LiteralExtInstInteger": _integer_words,
    "LiteralFloat": _float_words,
    "LiteralString": _string_words,
    "PairLiteralIntegerIdRef": lambda module, given: _pair_words(module, (_switch_literal_words, _id_words), given),
}
