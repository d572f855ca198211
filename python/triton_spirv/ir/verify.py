"""The verifier at the end of reading: is every operation what its line in dialects.py says?

What the table says (checks.py, results, enumerations) becomes a few closures, made once for each operation;
what no line can say is a function in verify_rules.py, verify_views.py or verify_regions.py. All give "" or
what is wrong; the parser adds line, column and a caret. Types and layouts are checked where they are read,
once for each spelling (verify_types.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from . import verify_views  # noqa: F401  # registers what it has
from .checks import CHECKS
from .dialects import OPERATIONS, OperationSpec
from .dominance import undominated
from .enumerations import ENUMS
from .model import Operation, Value
from .types import (
    FloatType,
    IndexType,
    IntegerType,
    MemDescType,
    PointerType,
    TensorDescType,
    TensorType,
    Type,
    element_type,
    like,
)
from .verify_regions import REGIONS
from .verify_rules import SHAPES

VERIFIERS = {**SHAPES, **REGIONS}
assert len(VERIFIERS) == len(SHAPES) + len(REGIONS), "two verifiers for one operation"

Check = Callable[[Operation], str]
"""What is wrong with an operation; "" for nothing."""

_KINDS: dict[str, tuple[type, ...]] = {
    "int": (IntegerType, IndexType),
    "fixed": (IntegerType,),
    "float": (FloatType,),
    "number": (IntegerType, IndexType, FloatType),
    "ptr": (PointerType,),
    "bool": (IntegerType,),
    "i64": (IntegerType,),
    "memdesc": (MemDescType,),
}
_IN_WORDS = {"int": "integers", "fixed": "integers of fixed width", "float": "floats", "number": "numbers",
             "ptr": "pointers", "bool": "i1", "i64": "i64", "memdesc": "a view of shared memory"}
_I1 = IntegerType(1)
_EXACT = {"bool": _I1, "i64": IntegerType(64)}


def verify(operations: Iterable[tuple[Operation, int]], fail: Callable[[str, int], object],
           has_branches: bool) -> None:
    """Check operations; `fail(what is wrong, token)` for the first that is wrong. `has_branches`: some region
    has several blocks, so that textual order does not say what is computed before what."""
    for op, place in operations:
        for check in _CHECKS[op.name]:
            wrong = check(op)
            if wrong:
                fail(f"{op.name}: {wrong}", place)
    if has_branches:
        operations = list(operations)
        for op, place in operations:
            if op.name == "tt.func":
                found = undominated(op)
                if found is not None:
                    user, value = found
                    at = next((i for one, i in operations if one is user), place)
                    fail(f"{user.name}: %{value.name} is not computed on every way to here", at)


class _Checks(dict[str, tuple[Check, ...]]):
    """Operation name -> its checks, made when first asked."""

    def __missing__(self, name: str) -> tuple[Check, ...]:
        spec = OPERATIONS[name]
        checks = [_clause(spec, words) for words in CHECKS.get(name, "").split()]
        if name not in VERIFIERS:
            checks.append(_plain(spec))
        else:
            checks.append(VERIFIERS[name])
        mandatory = {word[1:] for word in spec.format.split() if word[:1] == "@"}
        optional = spec.format.partition("(?")[2]
        checks += [_keyword(attribute, frozenset(ENUMS[enum].values()),
                            attribute in mandatory and f"@{attribute}" not in optional)
                   for attribute, enum in spec.enums]
        made = self[name] = tuple(checks)
        return made


_CHECKS = _Checks()


def _plain(spec: OperationSpec) -> Check:
    """No regions, no successors, and as many results as the format has."""
    words = spec.format.split()
    count: int | None = 1 if spec.result_rule or "R" in words or "F" in words else 0
    if "R*" in words:
        count = None
    elif spec.result_rule.startswith(("both", "extended")):
        count = 2

    def check(op: Operation) -> str:
        if op.regions or op.successors:
            return "it has no regions and no successors"
        if count is not None and len(op.results) != count:
            return f"it has {count} results, not {len(op.results)}"
        return ""

    return check


def _keyword(name: str, known: frozenset[str], needed: bool) -> Check:
    """An enumeration's attribute is one of its words."""

    def check(op: Operation) -> str:
        value = op.attributes.get(name)
        if value is None and not needed:
            return ""
        if isinstance(value, str) and (value in known or "|" in value):
            return ""
        return f"{name} is one of {', '.join(sorted(known))}, not {value}"

    return check


def _clause(spec: OperationSpec, words: str) -> Check:
    """One word of checks.py."""
    for sign, make in (("=", _same), ("~", _alike), (":", _kind)):
        name, found, rest = words.partition(sign)
        if found:
            return make(spec, name, rest)
    raise LookupError(f"{spec.name}: {words!r} is no check")


def _values(spec: OperationSpec, name: str) -> Callable[[Operation], Any]:
    """The Value of an operand or of the first result; None where it is absent."""
    if name == "result":
        return lambda op: op.results[0] if op.results else None
    position = spec.positions[name]
    if spec.fixed:
        return lambda op: op.operands[position]
    return lambda op: getattr(op, name)


def _place(spec: OperationSpec, name: str) -> int:
    """Where `_values` finds an operand of an operation that has a fixed number of them; -1 for all else."""
    return spec.positions[name] if name != "result" and spec.fixed else -1


def _kind(spec: OperationSpec, name: str, kind: str) -> Check:
    if name == "ends":
        return _ends(frozenset(kind.split(",")))
    value_of, said = _values(spec, name), _IN_WORDS[kind]
    place, classes, exact = _place(spec, name), _KINDS[kind], _EXACT.get(kind)

    def check(op: Operation) -> str:
        value = op.operands[place] if place >= 0 else value_of(op)
        if value is None:
            return ""
        type = value.type
        element = type.element if type.__class__ is TensorType else type
        if element.__class__ in classes and (exact is None or element == exact):
            return ""
        return f"{_shown(op, name, value)}, not {said}"

    return check


def _shown(op: Operation, name: str, value: Value) -> str:
    return f"{'its result' if name == 'result' else f'{name} (%{value.name})'} is {value.type}"


def _same(spec: OperationSpec, name: str, rule: str) -> Check:
    """The type that the rule gives: another's, or `pointee(x)`, `i1(x)`, `element(x)` of it."""
    function, bracket, other = rule.rstrip(")").partition("(")
    derived = _DERIVED[function] if bracket else None
    value_of, other_of = _values(spec, name), _values(spec, other if bracket else rule)
    place, other_place = _place(spec, name), _place(spec, other if bracket else rule)

    def check(op: Operation) -> str:
        value = op.operands[place] if place >= 0 else value_of(op)
        model = op.operands[other_place] if other_place >= 0 else other_of(op)
        if value is None or model is None:
            return ""
        wanted = model.type if derived is None else derived(model.type)
        if value.type is wanted or value.type == wanted:
            return ""
        return f"{_shown(op, name, value)}, not {wanted}"

    return check


def _pointee(type: Type) -> Type:
    if isinstance(type, TensorType):
        return like(type, type.element.pointee) if isinstance(type.element, PointerType) else type
    if isinstance(type, TensorDescType):
        return type.block
    return type.pointee if isinstance(type, PointerType) else type


_DERIVED: dict[str, Callable[[Type], Type]] = {
    "pointee": _pointee, "i1": lambda type: like(type, _I1), "element": element_type,
}


def _alike(spec: OperationSpec, name: str, other: str) -> Check:
    value_of, other_of = _values(spec, name), _values(spec, other)

    def check(op: Operation) -> str:
        value, model = value_of(op), other_of(op)
        if value is None or model is None:
            return ""
        a, b = value.type, model.type
        if a.__class__ is TensorType and b.__class__ is TensorType:
            if a.shape == b.shape and (a.encoding is b.encoding or a.encoding == b.encoding):
                return ""
        elif a.__class__ is not TensorType and b.__class__ is not TensorType:
            return ""
        return f"{_shown(op, name, value)}; its shape is not that of {b}"

    return check


def _ends(around: frozenset[str]) -> Check:
    """A terminator stands last in its block, inside one of these operations."""

    def check(op: Operation) -> str:
        block, parent = op.parent, op.parent_op
        if parent is None or block is None or parent.name not in around:
            return f"it ends regions of {', '.join(sorted(around))} only"
        return "" if block.operations[-1] is op else "it stands last in its block only"

    return check
