"""Steps of instructions that lanes of a sub-group execute together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from triton_spirv.spirv import grammar
from triton_spirv.spirv.decode import Decoded
from triton_spirv.spirv.types import Vector

from .arithmetic import from_bfloat16
from .findings import Unsupported
from .memory_steps import semantics, storage_of
from .program import SUBGROUP, Program
from .steps import step
from .values import dtype, from_bytes, signed, size, width

Run = Callable[[Any], None]


def together(w: Any, number: int, name: str) -> None:
    """All lanes of the sub-group have to execute this."""
    if not w.full:
        w.report("partial-sub-group", number, f"{name} is executed by {len(w.active)} of {w.lanes} lanes")


def _expect_sub_group(p: Program, it: Decoded) -> None:
    if semantics(p, it.words[0]) != SUBGROUP:
        raise Unsupported(f"{it.name} of scope {semantics(p, it.words[0])}")


@step("OpGroupNonUniformShuffle", "OpGroupNonUniformShuffleXor", "OpSubgroupShuffleINTEL",
      "OpSubgroupShuffleXorINTEL")
def shuffle(p: Program, it: Decoded, number: int) -> Run:
    intel = it.name.endswith("INTEL")
    if not intel:
        _expect_sub_group(p, it)
    value, operand = it.words if intel else it.words[1:3]
    result, is_xor = it.result, "Xor" in it.name

    def run(w: Any) -> None:
        w.expect_defined(number, operand, "is a lane's number")
        source = w.column_of(operand).astype(np.int64)
        if is_xor:
            source = w.everyone ^ source
        known = (source >= 0) & (source < w.lanes)
        source = np.where(known, source, 0)
        bad = w.mask & ~(known & w.mask[source])
        if bad.any():
            lane = int(np.flatnonzero(bad)[0])
            w.report("inactive-lane", number,
                     f"lane {lane} reads lane {int(source[lane])}, which is not here")
        origin = w.u.get(value)
        if origin is not None:
            origin = np.broadcast_to(origin, (w.lanes, origin.shape[1]))[source]
        w.put(result, w.whole(value)[source], origin)
    return run


@step("OpGroupNonUniformElect")
def elect(p: Program, it: Decoded, number: int) -> Run:
    result = it.result
    return lambda w: w.put(result, (w.everyone == w.active[0])[:, None])


@step("OpGroupNonUniformBroadcast", "OpGroupNonUniformBroadcastFirst")
def broadcast(p: Program, it: Decoded, number: int) -> Run:
    _expect_sub_group(p, it)
    value, result = it.words[1], it.result
    lane = it.words[2] if it.name == "OpGroupNonUniformBroadcast" else None

    def run(w: Any) -> None:
        source = int(w.active[0]) if lane is None else int(w.column_of(lane)[w.active[0]])
        if not w.mask[source]:
            w.report("inactive-lane", number, f"lanes read lane {source}, which is not here")
        origin = w.u.get(value)
        w.put(result, w.whole(value)[source:source + 1],
              None if origin is None else np.broadcast_to(origin, (w.lanes, origin.shape[1]))[source][None])
    return run


COMBINED = {"IAdd": np.add, "FAdd": np.add, "IMul": np.multiply, "FMul": np.multiply, "UMin": np.minimum,
            "UMax": np.maximum, "FMin": np.fmin, "FMax": np.fmax, "BitwiseAnd": np.bitwise_and,
            "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor, "LogicalAnd": np.logical_and,
            "LogicalOr": np.logical_or, "LogicalXor": np.logical_xor,
            "SMin": lambda x, y: np.minimum(signed(x), signed(y)).view(x.dtype),
            "SMax": lambda x, y: np.maximum(signed(x), signed(y)).view(x.dtype)}


@step(*(f"OpGroupNonUniform{name}" for name in COMBINED))
def reduction(p: Program, it: Decoded, number: int) -> Run:
    _expect_sub_group(p, it)
    _, kind, value, *cluster = it.words
    operation = grammar.enumerant_names("GroupOperation")[kind]
    combine, result = COMBINED[it.name.removeprefix("OpGroupNonUniform")], it.result
    if operation not in ("Reduce", "ClusteredReduce", "InclusiveScan"):
        raise Unsupported(f"{it.name} {operation}")
    part = int(p.constants[cluster[0]][0, 0]) if cluster else 0

    def run(w: Any) -> None:
        together(w, number, it.name)
        x = w.whole(value)
        origin = w.u.get(value)
        if operation == "InclusiveScan":
            rows = [x[0]]
            for lane in range(1, w.lanes):
                rows.append(combine(rows[-1], x[lane]))
            w.put(result, np.array(rows), origin)
            return
        lanes = part or w.lanes
        made = x.reshape(-1, lanes, x.shape[1])
        while made.shape[1] > 1:
            made = combine(made[:, 0::2], made[:, 1::2])
        if origin is not None:
            origin = np.broadcast_to(origin, x.shape).reshape(-1, lanes, x.shape[1]).max(axis=1)
            origin = np.repeat(origin, lanes, axis=0)
        w.put(result, np.repeat(made[:, 0], lanes, axis=0), origin)
    return run


@step("OpGroupNonUniformBallot")
def ballot(p: Program, it: Decoded, number: int) -> Run:
    value, result = it.words[1], it.result

    def run(w: Any) -> None:
        set_ = w.column_of(value) & w.mask
        words = [sum(1 << i for i in range(32) if 32 * k + i < w.lanes and set_[32 * k + i])
                 for k in range(4)]
        w.put(result, np.array([words], np.uint32))
    return run


# ---- the matrix unit of Intel's GPUs

def _tf32(x: Any) -> Any:
    return (x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)


#: how an operand's bits become numbers: bits of an element, the function, of the sums
FORMS: dict[str, tuple[int, Any, Any]] = {
    "PackedFloat16INTEL": (16, lambda x: x.astype(np.uint16).view(np.float16).astype(np.float32), np.float32),
    "PackedBFloat16INTEL": (16, lambda x: from_bfloat16(x.astype(np.uint16)), np.float32),
    "PackedInt8INTEL": (8, lambda x: x.astype(np.uint8).view(np.int8).astype(np.int32), np.int32),
}


def _elements(x: Any, bits: int) -> Any:
    """[lanes, components] words -> [lanes, components, elements of a word]."""
    words = np.ascontiguousarray(x).view(f"u{x.itemsize}")
    count = 8 * x.itemsize // bits
    shifts = (np.arange(count) * bits).astype(words.dtype)
    return words[:, :, None] >> shifts & words.dtype.type((1 << bits) - 1)


def multiply(a: Any, b: Any, c: Any, form: str) -> Any:
    """One product by the layouts of cl_intel_subgroup_matrix_multiply_accumulate.

    a  [lanes, rows] words: lane l holds elements l * n ... of each row (n in a word)
    b  [lanes, 8] words of 32 bits: lane l holds column l
    c  [lanes, rows]
    """
    rows = c.shape[1]
    if form == "TF32INTEL":
        flat = np.ascontiguousarray(a).view(np.float32)  # [lanes, rows / 2]: two rows of eight in a component
        left = _tf32(flat).T.reshape(-1, 2, a.shape[0] // 2).reshape(-1, 8)[:rows]
        right = _tf32(np.ascontiguousarray(b).view(np.float32)).T
        sums = np.float32
    else:
        bits, convert, sums = FORMS[form]
        left = convert(_elements(a, bits)).transpose(1, 0, 2).reshape(rows, -1)
        right = convert(_elements(b, bits)).reshape(b.shape[0], -1).T
    held = np.ascontiguousarray(c).view(sums)
    made = held.T.astype(np.float64 if sums is np.float32 else np.int64) \
        + left.astype(np.float64 if sums is np.float32 else np.int64) @ right.astype(
            np.float64 if sums is np.float32 else np.int64)
    return np.ascontiguousarray(made.T.astype(sums)).view(c.dtype)


@step("OpSubgroupMatrixMultiplyAccumulateINTEL")
def matrix_multiply(p: Program, it: Decoded, number: int) -> Run:
    _, a, b, c, *mask = it.words
    names = [grammar.enumerant_by_value("MatrixMultiplyAccumulateOperands", bit).name
             for bit in grammar.enumerant_names("MatrixMultiplyAccumulateOperands") if mask and bit & mask[0]]
    form = next(name.removeprefix("MatrixA") for name in names
                if name.startswith("MatrixA") and "Signed" not in name)
    result = it.result

    def run(w: Any) -> None:
        together(w, number, it.name)
        made = multiply(w.whole(a), w.whole(b), w.whole(c), form)
        w.put(result, made, mixed(w, a, b, c, made))
    return run


def mixed(w: Any, a: int, b: int, c: int, made: Any) -> Any:
    """Origins of a product: all of it, where anything of an operand is undefined."""
    found = [int(w.u[id].max()) for id in (a, b, c) if id in w.u]
    return np.full(made.shape, max(found), np.uint16) if found and max(found) else None


# ---- blocks of words: shared memory by one message

@step("OpSubgroupBlockReadINTEL")
def block_read(p: Program, it: Decoded, number: int) -> Run:
    pointer, result, type = it.words[0], it.result, p.types[it.result]
    storage = storage_of(p, pointer)
    element = type.element if isinstance(type, Vector) else type

    def run(w: Any) -> None:
        from .memory_steps import loaded_origin

        together(w, number, it.name)
        addresses = w.column_of(pointer)
        if (addresses[w.active] != addresses[w.active[0]]).any():
            w.report("bad-message", number, "lanes give different addresses")
        if int(addresses[w.active[0]]) % 16:
            w.report("misaligned", number, f"{w.spaces[storage].describe(int(addresses[w.active[0]]))} is no "
                     "multiple of 16 bytes")
        columns, origins = [], []
        for row in range(width(type)):
            at = addresses + ((row * w.lanes + w.everyone) * size(element)).astype(np.uint64)
            data, origin = w.spaces[storage].read(w, w.everyone, at, size(element), number, 0)
            columns.append(from_bytes(data, element))
            origin = loaded_origin(w, origin, element, number)
            origins.append(np.zeros((w.lanes, 1), np.uint16) if origin is None else origin)
        origin = np.concatenate(origins, axis=1)
        w.put(result, np.concatenate(columns, axis=1).astype(dtype(type)), origin if origin.any() else None)
    return run
