"""Cooperative matrices (SPV_KHR_cooperative_matrix) of a sub-group: a value is the matrix itself. Which lane
moves which element is the device's business; here lane 0 moves all, and so whoever meets it is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from triton_spirv.spirv.decode import Decoded
from triton_spirv.spirv.types import CooperativeMatrix, Float

from .arithmetic import from_bfloat16, to_bfloat16
from .memory_steps import NON_PRIVATE, loaded_origin, storage_of
from .program import Program
from .races import Shadow
from .steps import step
from .subgroups import together
from .values import dtype, from_bytes, scalar, size

Run = Callable[[Any], None]

SIGNED_RESULT = 0x8  # of the operands of OpCooperativeMatrixMulAddKHR


def _places(type: CooperativeMatrix, pointee: Any, by_columns: bool, stride: int) -> Any:
    """Bytes from the pointer to each element, [rows, columns]."""
    row, column = np.indices((type.rows, type.columns))
    if by_columns:
        row, column = column, row
    return row * stride * size(pointee) + column * size(type.element)


def _flags(p: Program, operands: tuple[int, ...]) -> int:
    return Shadow.PRIVATE if p.is_shader and not (operands and operands[0] & NON_PRIVATE) else 0


@step("OpCooperativeMatrixLoadKHR")
def matrix_load(p: Program, it: Decoded, number: int) -> Run:
    pointer, order, stride, *operands = it.words
    type, result, storage = p.types[it.result], it.result, storage_of(p, pointer)
    assert isinstance(type, CooperativeMatrix)
    by_columns = bool(int(p.constants[order][0, 0]))
    pointee, flags = p.types[pointer].pointee, _flags(p, tuple(operands))  # type: ignore[attr-defined]

    def run(w: Any) -> None:
        together(w, number, it.name)
        w.expect_defined(number, pointer, "is an address")
        places = _places(type, pointee, by_columns, int(w.v[stride][0, 0]))
        at = (w.column_of(pointer)[0] + places.ravel().astype(np.uint64))
        lanes = np.zeros(len(at), np.int64)
        data, origin = w.spaces[storage].read(w, lanes, at, size(type.element), number, flags)
        origin = loaded_origin(w, origin, type.element, number)
        w.v[result] = from_bytes(data, type.element).reshape(type.rows, type.columns)
        w.u.pop(result, None)
        if origin is not None:
            w.u[result] = origin.reshape(type.rows, type.columns)
            w.plain = False
    return run


@step("OpCooperativeMatrixStoreKHR")
def matrix_store(p: Program, it: Decoded, number: int) -> Run:
    pointer, matrix, order, stride, *operands = it.words
    type, storage = p.types[matrix], storage_of(p, pointer)
    assert isinstance(type, CooperativeMatrix)
    by_columns = bool(int(p.constants[order][0, 0]))
    pointee, flags = p.types[pointer].pointee, _flags(p, tuple(operands))  # type: ignore[attr-defined]

    def run(w: Any) -> None:
        together(w, number, it.name)
        w.expect_defined(number, pointer, "is an address")
        places = _places(type, pointee, by_columns, int(w.v[stride][0, 0]))
        at = (w.column_of(pointer)[0] + places.ravel().astype(np.uint64))
        data = np.ascontiguousarray(w.v[matrix]).reshape(-1, 1).view(np.uint8)
        space = w.spaces[storage]
        origin = w.u.get(matrix)
        if origin is not None:
            origin = np.repeat(origin.reshape(-1, 1), size(type.element), axis=1)
            if space.observes:
                w.run.report_undefined(w, number, int(origin.max()), "is stored")
        space.write(w, np.zeros(len(at), np.int64), at, data, number, flags, origin)
    return run


def _numbers(x: Any, type: CooperativeMatrix) -> Any:
    element = scalar(type)
    if isinstance(element, Float):
        return (from_bfloat16(x) if element.encoding else x).astype(np.float64)
    return x.view(f"i{x.itemsize}").astype(np.int64)


@step("OpCooperativeMatrixMulAddKHR")
def multiply_add(p: Program, it: Decoded, number: int) -> Run:
    a, b, c = it.words[:3]
    types = [p.types[id] for id in (a, b, c)]
    result, type = it.result, p.types[it.result]
    is_signed = bool(it.words[3:] and it.words[3] & SIGNED_RESULT)
    assert isinstance(type, CooperativeMatrix)

    def run(w: Any) -> None:
        together(w, number, it.name)
        x, y, z = (_numbers(w.v[id], t) for id, t in zip((a, b, c), types, strict=True))  # type: ignore[arg-type]
        made = x @ y + z
        element = scalar(type)
        if isinstance(element, Float) and element.encoding:
            w.v[result] = to_bfloat16(made.astype(np.float32))
        elif isinstance(element, Float):
            w.v[result] = made.astype(dtype(type))
        else:
            assert is_signed
            w.v[result] = made.astype(f"i{dtype(type).itemsize}").view(dtype(type))
        found = max([int(w.u[id].max()) for id in (a, b, c) if id in w.u], default=0)
        if found:
            w.u[result] = np.full(made.shape, found, np.uint16)
            w.plain = False
        else:
            w.u.pop(result, None)
    return run
