"""Steps of instructions that stay within lanes: arithmetic, conversions, vectors, pointers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from triton_spirv.spirv import grammar
from triton_spirv.spirv.decode import Decoded
from triton_spirv.spirv.types import Array, CooperativeMatrix, Pointer, RuntimeArray, Struct, Vector

from . import arithmetic
from .findings import Unsupported
from .program import Program
from .values import dtype, offsets, scalar, signed, size, width

Run = Callable[[Any], None]
STEPS: dict[str, Any] = {}


def step(*names: str) -> Callable[[Any], Any]:
    """The function makes the steps of these instructions."""
    def add(maker: Any) -> Any:
        STEPS.update(dict.fromkeys(names, maker))
        return maker
    return add


@step(*arithmetic.BINARY)
def binary(p: Program, it: Decoded, number: int) -> Run:
    result, (x, y), function, name = it.result, it.words, arithmetic.BINARY[it.name], it.name
    checks = name.startswith(("OpShift", "OpSDiv", "OpUDiv", "OpSRem", "OpSMod", "OpUMod"))
    if isinstance(p.types[result], CooperativeMatrix):
        return lambda w: w.v.__setitem__(result, function(w.v[x], w.v[y]))
    if checks:
        return _checked(p, it, number)

    def run(w: Any) -> None:
        v = w.v
        if w.plain:
            v[result] = function(v[x], v[y])
            return
        origin = w.origins(x, y)
        if origin is not None:
            a, b = w.u.get(x), w.u.get(y)
            settled = arithmetic.decided(name, v[x], v[y], True if a is None else a == 0,
                                         True if b is None else b == 0)
            if settled is not None:
                origin = np.where(settled, np.uint16(0), origin)
        w.put(result, function(v[x], v[y]), origin)
    return run


def _checked(p: Program, it: Decoded, number: int) -> Run:
    """Shifts and divisions, which some operands make undefined."""
    result, (x, y), function, name = it.result, it.words, arithmetic.BINARY[it.name], it.name
    constant = p.constants.get(y)
    is_safe = constant is not None and not (
        np.any(arithmetic.undefined_bits(name, np.zeros_like(constant), constant))
        or np.any(constant == ~constant.dtype.type(0)))

    def run(w: Any) -> None:
        a, b = w.v[x], w.v[y]
        origin = None if w.plain else w.origins(x, y)
        if not is_safe:
            bad = arithmetic.undefined_bits(name, a, b)
            if bad.any():
                why = w.run.origin("undefined", number, name)
                marked = np.where(bad, np.uint16(why), np.uint16(0))
                origin = marked if origin is None else np.maximum(origin, marked)
        made = function(a, b)
        if w.plain and origin is None:
            w.v[result] = made
        else:
            w.put(result, made, origin)
    return run


def _unary_step(result: int, x: int, function: Any) -> Run:
    def run(w: Any) -> None:
        if w.plain:
            w.v[result] = function(w.v[x])
        else:
            w.put(result, function(w.v[x]), w.u.get(x))
    return run


@step(*arithmetic.UNARY)
def unary(p: Program, it: Decoded, number: int) -> Run:
    return _unary_step(it.result, it.words[0], arithmetic.UNARY[it.name])


@step("OpBitCount")
def bit_count(p: Program, it: Decoded, number: int) -> Run:
    to = dtype(p.types[it.result])
    return _unary_step(it.result, it.words[0], lambda x: arithmetic.bit_count(x).astype(to))


@step("OpBitReverse")
def bit_reverse(p: Program, it: Decoded, number: int) -> Run:
    return _unary_step(it.result, it.words[0], arithmetic.bit_reverse)


@step("OpSConvert", "OpUConvert", "OpConvertUToF", "OpConvertSToF", "OpConvertFToS", "OpConvertFToU",
      "OpFConvert", "OpConvertPtrToU", "OpConvertUToPtr")
def conversion(p: Program, it: Decoded, number: int) -> Run:
    rounding = p.decoration(it.result, "FPRoundingMode")
    mode = grammar.enumerant_names("FPRoundingMode")[rounding[0]] if rounding else "RTE"
    function = arithmetic.convert(it.name, p.types[it.words[0]], p.types[it.result], mode)
    return _unary_step(it.result, it.words[0], function)


@step("OpConvertFToBF16INTEL")
def to_bfloat16(p: Program, it: Decoded, number: int) -> Run:
    return _unary_step(it.result, it.words[0], arithmetic.to_bfloat16)


@step("OpConvertBF16ToFINTEL")
def from_bfloat16(p: Program, it: Decoded, number: int) -> Run:
    return _unary_step(it.result, it.words[0], arithmetic.from_bfloat16)


@step("OpBitcast")
def bitcast(p: Program, it: Decoded, number: int) -> Run:
    x, result, type, source = it.words[0], it.result, p.types[it.result], p.types[it.words[0]]
    if isinstance(scalar(type), Pointer) and isinstance(scalar(source), Pointer):
        return _unary_step(result, x, lambda v: v)
    to, before, after = dtype(type), width(source), width(type)

    def run(w: Any) -> None:
        value = w.v[x]
        made = (value if before == after else np.ascontiguousarray(value)).view(to)
        if w.plain:
            w.v[result] = made
            return
        origin = w.u.get(x)
        if origin is not None and before != after:
            if after > before:
                origin = np.repeat(origin, after // before, axis=1)
            else:
                origin = origin.reshape(origin.shape[0], after, -1).max(axis=2)
        w.put(result, made, origin)
    return run


@step("OpSelect")
def select(p: Program, it: Decoded, number: int) -> Run:
    result, (c, x, y) = it.result, it.words

    def run(w: Any) -> None:
        v, u = w.v, w.u
        made = np.where(v[c], v[x], v[y])
        if w.plain:
            v[result] = made
            return
        origin = None
        if x in u or y in u:
            zero = np.zeros((1, 1), np.uint16)
            origin = np.where(v[c], u.get(x, zero), u.get(y, zero))
        if c in u:
            origin = u[c] if origin is None else np.maximum(origin, u[c])
        if origin is not None and origin.shape[1] != made.shape[1]:
            origin = np.broadcast_to(origin, (origin.shape[0], made.shape[1]))
        w.put(result, made, origin)
    return run


@step("OpSMulExtended", "OpUMulExtended")
def wide_product(p: Program, it: Decoded, number: int) -> Run:
    result, (x, y), as_signed = it.result, it.words, it.name == "OpSMulExtended"

    def run(w: Any) -> None:
        w.v[result] = list(arithmetic.wide_product(w.v[x], w.v[y], as_signed))
        origin = w.origins(x, y)
        if origin is not None:
            w.u[result] = origin
    return run


# ---- vectors

def _rearranged(result: int, ids: tuple[int, ...], pick: Any, counts: list[int]) -> Run:
    """A result whose components are components of operands: `pick` acts on values and on origins alike."""
    def run(w: Any) -> None:
        made = pick([w.v[id] for id in ids])
        if w.plain:
            w.v[result] = made
            return
        origin = None
        if any(id in w.u for id in ids):
            rows = max(w.u[id].shape[0] for id in ids if id in w.u)
            origin = pick([w.u.get(id, np.zeros((rows, count), np.uint16))
                           for id, count in zip(ids, counts, strict=True)])
        w.put(result, made, origin)
    return run


def _side_by_side(parts: list[Any]) -> Any:
    rows = max(part.shape[0] for part in parts)
    return np.concatenate([part if part.shape[0] == rows
                           else np.broadcast_to(part, (rows, part.shape[1])) for part in parts], axis=1)


@step("OpCompositeConstruct")
def construct(p: Program, it: Decoded, number: int) -> Run:
    type, result, ids = p.types[it.result], it.result, it.words
    if isinstance(type, CooperativeMatrix):
        shape = (type.rows, type.columns)
        return lambda w: w.v.__setitem__(result, np.full(shape, w.v[ids[0]][0, 0]))
    if not isinstance(type, Vector):
        return lambda w: w.v.__setitem__(result, [w.v[id] for id in ids])
    return _rearranged(result, ids, _side_by_side, [width(p.types[id]) for id in ids])


@step("OpCompositeExtract")
def extract(p: Program, it: Decoded, number: int) -> Run:
    (x, *path), result = it.words, it.result
    type = p.types[x]
    if isinstance(type, Vector):
        c = path[0]
        return _rearranged(result, (x,), lambda parts: parts[0][:, c:c + 1], [type.count])
    if isinstance(type, Struct) and len(path) == 1:
        return lambda w: w.put(result, w.v[x][path[0]], w.u.get(x))
    raise Unsupported(f"OpCompositeExtract from {type}")


@step("OpCompositeInsert")
def insert(p: Program, it: Decoded, number: int) -> Run:
    part, x, *path = it.words
    type = p.types[x]
    if not isinstance(type, Vector):
        raise Unsupported(f"OpCompositeInsert into {type}")
    c = path[0]

    def pick(parts: list[Any]) -> Any:
        return _side_by_side([parts[1][:, :c], parts[0], parts[1][:, c + 1:]])
    return _rearranged(it.result, (part, x), pick, [1, type.count])


@step("OpVectorShuffle")
def shuffle(p: Program, it: Decoded, number: int) -> Run:
    x, y, *components = it.words
    counts = [width(p.types[x]), width(p.types[y])]
    which = np.array([0 if c == 0xFFFFFFFF else c for c in components])
    if (which < counts[0]).all():
        return _rearranged(it.result, (x,), lambda parts: parts[0][:, which], counts[:1])
    return _rearranged(it.result, (x, y), lambda parts: _side_by_side(parts)[:, which], counts)


@step("OpVectorExtractDynamic")
def extract_dynamic(p: Program, it: Decoded, number: int) -> Run:
    (x, index), result, count = it.words, it.result, width(p.types[it.words[0]])

    def run(w: Any) -> None:
        w.expect_defined(number, index, "is a component's number")
        places = np.minimum(w.whole(index).astype(np.int64), count - 1)
        origin = w.u.get(x)
        if origin is not None:
            origin = np.take_along_axis(np.broadcast_to(origin, (w.lanes, count)), places, 1)
        w.put(result, np.take_along_axis(w.whole(x), places, 1), origin)
    return run


@step("OpAny", "OpAll")
def any_all(p: Program, it: Decoded, number: int) -> Run:
    x, result, function = it.words[0], it.result, np.any if it.name == "OpAny" else np.all

    def run(w: Any) -> None:
        origin = w.u.get(x)
        w.put(result, function(w.v[x], axis=1, keepdims=True),
              None if origin is None else origin.max(axis=1, keepdims=True))
    return run


# ---- pointers

@step("OpAccessChain", "OpInBoundsAccessChain", "OpPtrAccessChain", "OpInBoundsPtrAccessChain")
def chain(p: Program, it: Decoded, number: int) -> Run:
    base, *indices = it.words
    pointer = p.types[base]
    if pointer.storage_class == "Input":  # type: ignore[attr-defined]
        p.components[it.result] = base, int(p.constants[indices[0]][0, 0])
        return lambda _: None
    moved: list[tuple[int, int]] = []
    fixed = 0
    type: Any = pointer.pointee  # type: ignore[attr-defined]
    if "Ptr" in it.name:
        stride = pointer.stride or size(type)  # type: ignore[attr-defined]
        moved.append((indices.pop(0), stride))
    for id in indices:
        if isinstance(type, Struct):
            member = int(p.constants[id][0, 0])
            fixed += offsets(type)[member]
            type = type.members[member]
        elif isinstance(type, (Array, RuntimeArray)):
            moved.append((id, type.stride or size(type.element)))
            type = type.element
        else:
            moved.append((id, size(type.element)))
            type = type.element
    for id, stride in list(moved):
        if id in p.constants:
            fixed += int(signed(p.constants[id])[0, 0]) * stride
            moved.remove((id, stride))
    result, constant = it.result, np.int64(fixed)

    def run(w: Any) -> None:
        at = w.v[base].view(np.int64)
        if fixed:
            at = at + constant
        for id, stride in moved:
            at = at + signed(w.v[id]).astype(np.int64) * np.int64(stride)
        if w.plain:
            w.v[result] = at.view(np.uint64)
        else:
            w.put(result, at.view(np.uint64), w.origins(base, *(id for id, _ in moved)))
    return run
