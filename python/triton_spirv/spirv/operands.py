"""Operands: from what a rule writes to the words of an instruction, checked against the grammar.

A `Form` is an instruction made ready for `Module.emit`. Most instructions take ids only: for those the
builder reads the ids off the operands itself. The others are encoded here, operand by operand, each by the
function for its kind.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import cache
from operator import index
from typing import TYPE_CHECKING, Any

from . import checks, grammar
from .literals import literal_words, string_words
from .types import Int, Type
from .values import Label, Value

if TYPE_CHECKING:
    from .module import Module

Encoder = Callable[["Module", Any], Sequence[int]]
Plan = Sequence[tuple[Encoder, grammar.Operand]]

UNLIMITED = 1 << 16    # more operands than an instruction can have words

BODY_GROUPS = frozenset([
    "Memory", "Image", "Conversion", "Composite", "Arithmetic", "Bit", "Relational_and_Logical", "Derivative",
    "Control-Flow", "Atomic", "Primitive", "Barrier", "Group", "Device-Side_Enqueue", "Pipe", "Non-Uniform",
    "Tensor", "Reserved"])
ALSO_IN_BODY = frozenset(["OpFunctionCall", "OpExtInst", "OpUndef", "OpNop"])
NOT_BY_EMIT = {
    "OpVariable": "Module.variable puts it into the entry block", "OpLabel": "Module.begin starts a block",
    "OpPhi": "Module.phi puts it at the head of the block"}
TERMINATORS = frozenset([
    "OpBranch", "OpBranchConditional", "OpSwitch", "OpReturn", "OpReturnValue", "OpKill", "OpUnreachable",
    "OpTerminateInvocation"])


class Form:
    """An instruction ready to be emitted.

    `head` is its first word, the word count without operands and the opcode. From `fewest` to `most`
    operands, all of them ids, need no encoding; for an instruction with other operands nothing is in that
    range.
    """

    __slots__ = (
        "check", "fewest", "has_result", "head", "instruction", "is_terminator", "most", "name", "plan")

    def __init__(self, instruction: grammar.Instruction) -> None:
        operands = instruction.operands
        only_ids = all(operand.kind == "IdRef" for operand in operands)
        self.name = instruction.name
        self.instruction = instruction
        self.head = (1 + instruction.has_type + instruction.has_result) << 16 | instruction.opcode
        self.has_result = instruction.has_result
        self.is_terminator = instruction.name in TERMINATORS
        self.fewest = sum(not operand.quantifier for operand in operands) if only_ids else UNLIMITED
        self.most = UNLIMITED if any(operand.quantifier == "*" for operand in operands) else len(operands)
        self.plan = plan(operands)
        self.check = checks.CHECKS.get(instruction.name)

    def refusal(self) -> str | None:
        """Why `Module.emit` does not take this instruction; None if it does."""
        if self.name in NOT_BY_EMIT:
            return NOT_BY_EMIT[self.name]
        if self.instruction.group in BODY_GROUPS or self.name in ALSO_IN_BODY:
            return None
        return "it does not stand in a block, and Module has a method for what does not"

    def encode(self, module: Module, operands: Sequence[object]) -> list[int]:
        """The words of the operands; TypeError names the instruction and the operand at fault."""
        if self.name == "OpSwitch":
            operands = _switch_operands(operands)
        return encode(module, self.name, self.plan, operands)


@cache
def form(name: str) -> Form:
    """The form of an instruction; LookupError for a name that the grammar does not have."""
    return Form(grammar.instruction(name))


def opcode(name: str) -> int:
    """The number of an instruction."""
    return grammar.instruction(name).opcode


def plan(operands: Sequence[grammar.Operand]) -> Plan:
    """The grammar's operands, each with its encoder."""
    return [(encoder(operand.kind), operand) for operand in operands]


def encode(module: Module, what: str, plan: Plan, operands: Sequence[object]) -> list[int]:
    """The words of operands, None for an absent one; TypeError names `what` and the operand at fault."""
    words: list[int] = []
    at, given = 0, len(operands)
    for encode_one, operand in plan:
        try:
            if operand.quantifier == "*":
                for one in operands[at:]:
                    words += encode_one(module, one)
                at = given
            elif at < given:
                if operands[at] is not None or not operand.quantifier:
                    words += encode_one(module, operands[at])
                at += 1
            elif not operand.quantifier:
                raise TypeError("is missing")
        except (TypeError, ValueError, LookupError, struct.error) as error:
            raise TypeError(f"{what}: operand {operand}: {error}") from None
    if at < given:
        surplus = ", ".join(map(_describe, operands[at:]))
        raise TypeError(f"{what} takes {len(plan)} operands, {given} are given; not wanted: {surplus}")
    return words


@cache
def encoder(kind: str) -> Encoder:
    """The function that encodes operands of a kind."""
    if kind in _ENCODERS:
        return _ENCODERS[kind]
    entry = grammar.kind(kind)
    if entry.category == "BitEnum":
        return _remembering(kind, _mask_words)
    if entry.category == "ValueEnum":
        return _remembering(kind, _enumerant_words)
    if entry.category == "Composite":
        parts = [encoder(base) for base in entry.bases]
        return lambda module, given: _composite_words(module, parts, given)
    return _refuse


def _id_words(module: Module, given: object) -> Sequence[int]:
    if isinstance(given, (Value, Label)):
        return (given.id,)
    if isinstance(given, Type):
        return (module.type_id(given),)
    hint = "; Module.constant makes one of a number" if isinstance(given, (int, float)) else ""
    raise TypeError(f"wants a Value, a Label or a type, not {_describe(given)}{hint}")


def _scope_words(module: Module, given: object) -> Sequence[int]:
    """The id of a constant; made here of the scope's name."""
    if isinstance(given, str):
        given = module.constant(Int(32), _enumerant_words(module, "Scope", given)[0])
    return _id_words(module, given)


def _semantics_words(module: Module, given: object) -> Sequence[int]:
    """The id of a constant; made here of the name of the semantics or a list of names."""
    if isinstance(given, (str, list)):
        given = module.constant(Int(32), _mask_words(module, "MemorySemantics", given)[0])
    return _id_words(module, given)


def _integer_words(module: Module, given: object) -> Sequence[int]:
    number = index(given)  # type: ignore[arg-type]  # refuses what is no integer
    if not -(1 << 31) <= number < 1 << 32:
        raise ValueError(f"{number} does not fit into a literal of 32 bits")
    return (number & 0xFFFFFFFF,)


def _float_words(module: Module, given: object) -> Sequence[int]:
    words: tuple[int, ...] = struct.unpack("<I", struct.pack("<f", given))
    return words


def _string_words(module: Module, given: object) -> Sequence[int]:
    if not isinstance(given, str):
        raise TypeError(f"wants a str, not {_describe(given)}")
    return string_words(given)


def _composite_words(module: Module, parts: Sequence[Encoder], given: object) -> Sequence[int]:
    if not isinstance(given, (tuple, list)) or len(given) != len(parts):
        raise TypeError(f"wants a tuple of {len(parts)}, not {_describe(given)}")
    return [word for encode_one, part in zip(parts, given, strict=True) for word in encode_one(module, part)]


def _refuse(module: Module, given: object) -> Sequence[int]:
    raise TypeError("is of a kind that only the builder itself writes")


def _remembering(kind: str, words_of: Callable[[Module, str, object], Sequence[int]]) -> Encoder:
    """A module uses few enumerants over and over, and settles the capabilities of each at its first use."""

    def encode_enumerant(module: Module, given: object) -> Sequence[int]:
        try:
            return module.enumerant_words[kind, given]
        except KeyError:
            words = module.enumerant_words[kind, given] = words_of(module, kind, given)
            return words
        except TypeError:    # a list is no key
            return words_of(module, kind, given)

    return encode_enumerant


def _enumerant_words(module: Module, kind: str, given: object) -> Sequence[int]:
    """`"Name"` or `("Name", parameter, ...)`."""
    name, *parameters = given if isinstance(given, tuple) and given else (given,)
    if not isinstance(name, str):
        raise TypeError(f"wants the name of a {kind}, or it with parameters, not {_describe(given)}")
    entry = grammar.enumerant(kind, name)
    module.requirements.satisfy(entry, f"{kind} {name}")
    return [entry.value, *encode(module, name, plan(entry.parameters), parameters)]


def _mask_words(module: Module, kind: str, given: object) -> Sequence[int]:
    """One enumerant or a list of them; the parameters follow the mask in the order of the bits."""
    each = [_enumerant_words(module, kind, one) for one in (given if isinstance(given, list) else [given])]
    mask, parameters = 0, []
    for bit, *words in sorted(each, key=lambda words: words[0]):
        mask |= bit
        parameters += words
    return [mask, *parameters]


class _CaseLiteral:
    """A literal of OpSwitch, which is as wide as the selector."""

    def __init__(self, width: int, number: int) -> None:
        self.width, self.number = width, number

    def words(self) -> list[int]:
        return literal_words(self.width, index(self.number) & ((1 << self.width) - 1))


def _switch_operands(operands: Sequence[object]) -> Sequence[object]:
    selector = getattr(operands[0], "type", None) if operands else None
    if not isinstance(selector, Int):
        return operands
    cases = [(_CaseLiteral(selector.width, case[0]), *case[1:]) if isinstance(case, tuple) and case else case
             for case in operands[2:]]
    return [*operands[:2], *cases]


def _case_words(module: Module, given: object) -> Sequence[int]:
    return given.words() if isinstance(given, _CaseLiteral) else _integer_words(module, given)


def _case_pair_words(module: Module, given: object) -> Sequence[int]:
    return _composite_words(module, (_case_words, _id_words), given)


def _describe(given: object) -> str:
    return f"{given!r} ({type(given).__name__})"


_ENCODERS: dict[str, Encoder] = {
    "IdRef": _id_words,
    "IdScope": _scope_words,
    "IdMemorySemantics": _semantics_words,
    "LiteralInteger": _integer_words,
    "LiteralExtInstInteger": _integer_words,
    "LiteralFloat": _float_words,
    "LiteralString": _string_words,
    "PairLiteralIntegerIdRef": _case_pair_words,
}
