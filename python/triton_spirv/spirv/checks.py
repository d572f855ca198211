"""Types of operands, checked as an instruction is emitted: the mistake is found in the rule that makes it.

A check gets the result type and the operands of an instruction; it returns what is wrong, or None. The table
has the instructions that lowering is made of; the others are left to spirv-val. `is` compares types: see
`types`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .types import Array, Bool, CooperativeMatrix, Float, FunctionType, Int, Pointer, Struct, Type, Vector
from .values import Function, Value

Check = Callable[[Type, Sequence[Any]], "str | None"]
BOOL = Bool()


def components(type: Type) -> int:
    """Components of a vector; 1 for anything else."""
    return type.count if isinstance(type, Vector) else 1


def scalar(type: Type) -> Type:
    """The component type of a vector; anything else is itself."""
    return type.element if isinstance(type, Vector) else type


def _same(type: Type, operands: Sequence[Value]) -> str | None:
    for operand in operands:
        if operand.type is not type:
            return f"the result is {type}, an operand is {operand.type}"
    return None


def _shift(type: Type, operands: Sequence[Value]) -> str | None:
    base, amount = operands
    if base.type is not type:
        return f"the result is {type}, the base is {base.type}"
    if components(amount.type) != components(type):
        return f"the result is {type}, the shift is {amount.type}"
    return None


def _comparison(type: Type, operands: Sequence[Value]) -> str | None:
    first = operands[0].type
    if operands[-1].type is not first:
        return f"the operands are {first} and {operands[-1].type}"
    if scalar(type) is not BOOL or components(type) != components(first):
        return f"the operands are {first}, the result is {type}"
    return None


def _select(type: Type, operands: Sequence[Value]) -> str | None:
    condition, *choices = operands
    if scalar(condition.type) is not BOOL or components(condition.type) not in (1, components(type)):
        return f"the result is {type}, the condition is {condition.type}"
    return _same(type, choices)


def _load(type: Type, operands: Sequence[Value]) -> str | None:
    return _access(operands[0].type, type)


def _store(type: Type, operands: Sequence[Value]) -> str | None:
    return _access(operands[0].type, operands[1].type)


def _predicated_load(type: Type, operands: Sequence[Value]) -> str | None:
    return _access(operands[0].type, type) or _same(type, operands[2:3]) or _branch(type, operands[1:])


def _predicated_store(type: Type, operands: Sequence[Value]) -> str | None:
    return _access(operands[0].type, operands[1].type) or _branch(type, operands[2:])


def _atomic(type: Type, operands: Sequence[Value]) -> str | None:
    """Pointer, scope, semantics; then, last, the value, for all but OpAtomicLoad."""
    return _access(operands[0].type, type) or _same(type, operands[3:][-1:])


def _access(pointer: Type, value: Type) -> str | None:
    if not isinstance(pointer, Pointer):
        return f"{pointer} is no pointer"
    return None if pointer.pointee is value else f"the pointer is {pointer}, the value is {value}"


def _conversion(source: type[Type], result: type[Type]) -> Check:
    def check(type: Type, operands: Sequence[Value]) -> str | None:
        given = operands[0].type
        if not isinstance(scalar(given), source) or not isinstance(scalar(type), result):
            return f"{given} to {type}; it is for {source.__name__} to {result.__name__}"
        return None if components(given) == components(type) else f"{given} to {type}"
    return check


def _bitcast(type: Type, operands: Sequence[Value]) -> str | None:
    given, wanted = _bits(operands[0].type), _bits(type)
    if given is None or wanted is None or given == wanted:
        return None
    return f"{operands[0].type} has {given} bits, {type} has {wanted}"


def _bits(type: Type) -> int | None:
    element = scalar(type)
    return element.width * components(type) if isinstance(element, (Int, Float)) else None


def _construct(type: Type, operands: Sequence[Value]) -> str | None:
    if isinstance(type, Vector):
        if any(scalar(operand.type) is not type.element for operand in operands) or \
                sum(components(operand.type) for operand in operands) != type.count:
            return f"{_types(operands)} do not make {type}"
        return None
    members: list[Type] = []
    if isinstance(type, Struct):
        members = list(type.members)
    elif isinstance(type, Array):
        members = [type.element] * type.count
    elif isinstance(type, CooperativeMatrix):    # one scalar for all
        members = [type.element]
    given = [operand.type for operand in operands]
    return None if given == members else f"{_types(operands)} do not make {type}"


def _extract(type: Type, operands: Sequence[Any]) -> str | None:
    found = operands[0].type
    for position in operands[1:]:
        if isinstance(found, Struct) and position < len(found.members):
            found = found.members[position]
        elif isinstance(found, (Vector, Array)) and position < found.count:
            found = found.element
        else:
            return f"{operands[0].type} has no element {operands[1:]}"
    return None if found is type else f"the element of {operands[0].type} is {found}, the result is {type}"


def _call(type: Type, operands: Sequence[Value]) -> str | None:
    callee, *arguments = operands
    if not isinstance(callee, Function) or not isinstance(callee.type, FunctionType):
        return f"{callee} is no function"
    given = tuple([argument.type for argument in arguments])
    if callee.type.result is not type or given != callee.type.parameters:
        return f"{callee.name} is {callee.type}; it is called as {type} ({_types(arguments)})"
    return None


def _branch(type: Type, operands: Sequence[Value]) -> str | None:
    return None if operands[0].type is BOOL else f"the condition is {operands[0].type}"


def _types(operands: Iterable[Value]) -> str:
    return ", ".join(str(operand.type) for operand in operands)


CHECKS: dict[str, Check] = {
    **dict.fromkeys([
        "OpSNegate", "OpFNegate", "OpIAdd", "OpFAdd", "OpISub", "OpFSub", "OpIMul", "OpFMul", "OpUDiv",
        "OpSDiv", "OpFDiv", "OpUMod", "OpSMod", "OpFMod", "OpSRem", "OpFRem", "OpNot", "OpBitwiseOr",
        "OpBitwiseXor", "OpBitwiseAnd", "OpBitReverse", "OpLogicalEqual", "OpLogicalNotEqual",
        "OpLogicalOr", "OpLogicalAnd", "OpLogicalNot", "OpCopyObject"], _same),
    **dict.fromkeys(["OpShiftLeftLogical", "OpShiftRightLogical", "OpShiftRightArithmetic"], _shift),
    **dict.fromkeys([
        "OpIEqual", "OpINotEqual", "OpUGreaterThan", "OpSGreaterThan", "OpUGreaterThanEqual",
        "OpSGreaterThanEqual", "OpULessThan", "OpSLessThan", "OpULessThanEqual", "OpSLessThanEqual",
        "OpFOrdEqual", "OpFUnordEqual", "OpFOrdNotEqual", "OpFUnordNotEqual", "OpFOrdLessThan",
        "OpFUnordLessThan", "OpFOrdGreaterThan", "OpFUnordGreaterThan", "OpFOrdLessThanEqual",
        "OpFUnordLessThanEqual", "OpFOrdGreaterThanEqual", "OpFUnordGreaterThanEqual", "OpOrdered",
        "OpUnordered", "OpIsNan", "OpIsInf", "OpIsFinite"], _comparison),
    "OpSelect": _select,
    "OpLoad": _load,
    "OpStore": _store,
    "OpPredicatedLoadINTEL": _predicated_load,
    "OpPredicatedStoreINTEL": _predicated_store,
    **dict.fromkeys([
        "OpAtomicLoad", "OpAtomicExchange", "OpAtomicIAdd", "OpAtomicISub", "OpAtomicSMin", "OpAtomicUMin",
        "OpAtomicSMax", "OpAtomicUMax", "OpAtomicAnd", "OpAtomicOr", "OpAtomicXor", "OpAtomicFAddEXT",
        "OpAtomicFMinEXT", "OpAtomicFMaxEXT", "OpAtomicCompareExchange"], _atomic),
    **dict.fromkeys(["OpConvertFToU", "OpConvertFToS"], _conversion(Float, Int)),
    **dict.fromkeys(["OpConvertUToF", "OpConvertSToF"], _conversion(Int, Float)),
    **dict.fromkeys(["OpUConvert", "OpSConvert"], _conversion(Int, Int)),
    "OpFConvert": _conversion(Float, Float),
    "OpBitcast": _bitcast,
    "OpCompositeConstruct": _construct,
    "OpCompositeExtract": _extract,
    "OpFunctionCall": _call,
    "OpBranchConditional": _branch,
}
