"""Functions that modules import: LLVM's intrinsics of the CPU's vector mode, builtins of Intel's GPUs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
from triton_spirv.spirv.decode import Decoded
from triton_spirv.spirv.types import Void

from . import arithmetic, tile_registers
from .arithmetic import from_bfloat16
from .findings import Unsupported
from .memory_steps import check_alignment, gather, scatter, storage_of
from .program import Program
from .steps import step
from .subgroups import _elements, mixed, multiply, together
from .values import dtype, scalar, signed, size

Run = Callable[[Any], None]


@step("OpFunctionCall")
def call(p: Program, it: Decoded, number: int) -> Run:
    name = p.imports.get(it.words[0], "")
    for pattern, maker in FUNCTIONS.items():
        found = re.fullmatch(pattern, name)
        if found:
            return maker(p, it, number, found)
    raise Unsupported(f"the machine does not know the function {name!r}")


def _nothing(p: Program, it: Decoded, number: int, found: Any) -> Run:
    return lambda w: None


def _neighbours(w: Any, pointer: int, count: int, bytes: int) -> Any:
    return w.whole(pointer) + (np.arange(count) * bytes).astype(np.uint64)


def _masked_load(p: Program, it: Decoded, number: int, found: Any) -> Run:
    pointer, claimed, mask, other = it.words[1:]
    result, type, storage = it.result, p.types[it.result], storage_of(p, pointer)
    claims = int(p.constants[claimed][0, 0])

    def run(w: Any) -> None:
        w.expect_defined(number, mask, "decides an access")
        here = w.whole(mask) & w.column
        if here.any():
            w.expect_defined(number, pointer, "is an address")
            check_alignment(w, w.spaces[storage], w.column_of(pointer)[here.any(axis=1)], claims, number)
        at = _neighbours(w, pointer, type.count, size(scalar(type)))  # type: ignore[attr-defined]
        w.put(result, *gather(w, w.spaces[storage], at, here, other, type, number))
    return run


def _masked_store(p: Program, it: Decoded, number: int, found: Any) -> Run:
    value, pointer, claimed, mask = it.words[1:]
    type, storage = p.types[value], storage_of(p, pointer)
    claims = int(p.constants[claimed][0, 0])

    def run(w: Any) -> None:
        w.expect_defined(number, mask, "decides an access")
        here = w.whole(mask) & w.column
        if here.any():
            w.expect_defined(number, pointer, "is an address")
            check_alignment(w, w.spaces[storage], w.column_of(pointer)[here.any(axis=1)], claims, number)
        at = _neighbours(w, pointer, type.count, size(scalar(type)))  # type: ignore[attr-defined]
        scatter(w, w.spaces[storage], at, here, value, type, number)
    return run


def _range(p: Program, it: Decoded, number: int, found: Any) -> Run:
    """VRANGEPS with the controls 4 and 5: the smaller or the larger float, the other where one is NaN."""
    x, y, control = it.words[1:4]
    result = it.result
    larger = int(p.constants[control][0, 0]) & 1

    def run(w: Any) -> None:
        a, b = w.v[x], w.v[y]
        function = np.fmax if larger else np.fmin
        made = function(a, b)
        zeros = (a == 0) & (b == 0)
        sign = (np.signbit(a) & np.signbit(b)) if larger else (np.signbit(a) | np.signbit(b))
        made = np.where(zeros, np.where(sign, a.dtype.type(-0.0), a.dtype.type(0.0)), made)
        w.put(result, made, w.origins(x, y))
    return run


def _fma(p: Program, it: Decoded, number: int, found: Any) -> Run:
    x, y, z = it.words[1:]
    result = it.result

    def run(w: Any) -> None:
        w.put(result, arithmetic.fma(w.v[x], w.v[y], w.v[z]), w.origins(x, y, z))
    return run


def _sum_products(p: Program, it: Decoded, number: int, found: Any) -> Run:
    total, x, y = it.words[1:]
    result, is_bytes = it.result, found[1] == "avx512.vpdpbusd"

    def run(w: Any) -> None:
        z = w.v[total]
        if is_bytes:  # four unsigned bytes times four signed ones
            a = _elements(w.v[x], 8).astype(np.int64).reshape(w.v[x].shape[0], z.shape[1], -1)
            b = _elements(w.v[y], 8).astype(np.uint8).view(np.int8).astype(np.int64).reshape(
                w.v[y].shape[0], z.shape[1], -1)
            made = (signed(z).astype(np.int64) + (a * b).sum(axis=2)).astype(np.int32).view(z.dtype)
        else:
            a, b = (from_bfloat16(_elements(w.v[id], 16).astype(np.uint16)).reshape(
                w.v[id].shape[0], z.shape[1], -1) for id in (x, y))
            made = z
            for k in reversed(range(a.shape[2])):
                made = (made.astype(np.float64) + a[:, :, k].astype(np.float64) * b[:, :, k]).astype(z.dtype)
        w.put(result, made, mixed(w, total, x, y, made))
    return run


def _sum_pairs(p: Program, it: Decoded, number: int, found: Any) -> Run:
    """VPMADDWD: sums of two products of signed 16-bit numbers; that of four times -0x8000 wraps."""
    x, y = it.words[1:]
    result, type = it.result, dtype(p.types[it.result])

    def run(w: Any) -> None:
        products = signed(w.v[x]).astype(np.int64) * signed(w.v[y])
        made = products.reshape(len(products), -1, 2).sum(axis=2).astype(np.int32).view(type)
        w.put(result, made, mixed(w, x, y, x, made))
    return run


def _narrow(p: Program, it: Decoded, number: int, found: Any) -> Run:
    """VCVTNEPS2BF16: what is denormal becomes zero."""
    result, x = it.result, it.words[1]

    def run(w: Any) -> None:
        value = w.v[x]
        zero = np.copysign(np.float32(0), value)
        cleared = np.where(np.abs(value) < np.finfo(np.float32).tiny, zero, value)
        w.put(result, arithmetic.to_bfloat16(cleared), w.origins(x))
    return run


def _class(p: Program, it: Decoded, number: int, found: Any) -> Run:
    """VFPCLASSPS of denormal numbers, bit 5 of the classes that are asked for."""
    result, x, classes = it.result, *it.words[1:]

    def run(w: Any) -> None:
        assert (w.v[classes] == 1 << 5).all(), "no other class is known here"
        size = np.abs(w.v[x])
        w.put(result, (size > 0) & (size < np.finfo(np.float32).tiny), w.origins(x))
    return run


def _matrix(p: Program, it: Decoded, number: int, found: Any) -> Run:
    c, a, b = it.words[1:]
    form = {"hf": "PackedFloat16INTEL", "bf": "PackedBFloat16INTEL", "s8": "PackedInt8INTEL"}[found[1]]
    result = it.result

    def run(w: Any) -> None:
        together(w, number, "a product of matrices")
        made = multiply(w.whole(a), w.whole(b), w.whole(c), form)
        w.put(result, made, mixed(w, a, b, c, made))
    return run


def _clock(p: Program, it: Decoded, number: int, found: Any) -> Run:
    result, type = it.result, p.types[it.result]
    assert not isinstance(type, Void)

    def run(w: Any) -> None:
        w.run.ticks += 1000
        w.put(result, np.full((1, 1), w.run.ticks, dtype(type)))
    return run


FUNCTIONS: dict[str, Callable[[Program, Decoded, int, Any], Run]] = {
    r"llvm\.sideeffect": _nothing,
    r"llvm\.prefetch\..*": _nothing,
    r"llvm\.fma\..*": _fma,
    r"llvm\.masked\.load\..*": _masked_load,
    r"llvm\.masked\.store\..*": _masked_store,
    r"llvm\.x86\.avx512\.mask\.range\.ps\..*": _range,
    r"llvm\.x86\.(avx512bf16\.dpbf16ps|avx512\.vpdpbusd)\.512": _sum_products,
    r"llvm\.x86\.avx2\.pmadd\.wd": _sum_pairs,
    r"llvm\.x86\.avx512bf16\.cvtneps2bf16\.512": _narrow,
    r"llvm\.x86\.avx512\.fpclass\.ps\.512": _class,
    rf"llvm\.x86\.({'|'.join(tile_registers.STEPS)})": tile_registers.step_of,
    r"__builtin_IB_sub_group(?:16)?_[fi]dpas_(?:f_f_)?(hf|bf|s8)_(?:hf|bf|s8)_8_8": _matrix,
    r"__builtin_IB_read_cycle_counter": _clock,
}
