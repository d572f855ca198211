"""fp8e4b15: the 8-bit float that Triton leaves to backends. 1 sign, 4 exponent, 3 mantissa bits, bias 15, no
infinities or NaN.

Its bias is that of fp16, so shifting the bits by 7 converts, denormals included. From fp16 the magnitude is
clamped to 1.75 and rounded to nearest, ties away from zero, as Triton's CUDA backend does it.
"""

from __future__ import annotations

from typing import Any

from triton.language import core

LARGEST = 0x3F00  # 1.75 in fp16; NaN is above it too


@core.builtin
def convert_float8e4b15(value: Any, result_type: Any, fp_downcast_rounding: Any = None,
                        _semantic: Any = None) -> Any:
    """Between fp8e4b15 and fp16 or fp32; tensors of any shape, or scalars."""
    if value.type.scalar.is_fp8e4b15():
        half = _to_half(value, _semantic)
        return half if result_type.scalar.is_fp16() else half.to(result_type.scalar, _semantic=_semantic)
    if not value.type.scalar.is_fp16():
        value = value.to(core.float16, fp_downcast_rounding="rtz", _semantic=_semantic)
    return _from_half(value, _semantic)


def _to_half(value: Any, semantic: Any) -> Any:
    bits = value.to(core.uint8, bitcast=True, _semantic=semantic).to(core.uint16, _semantic=semantic)
    sign = bits.__and__(0x80, _semantic=semantic).__lshift__(8, _semantic=semantic)
    magnitude = bits.__and__(0x7F, _semantic=semantic).__lshift__(7, _semantic=semantic)
    return sign.__or__(magnitude, _semantic=semantic).to(core.float16, bitcast=True, _semantic=semantic)


def _from_half(value: Any, semantic: Any) -> Any:
    bits = value.to(core.uint16, bitcast=True, _semantic=semantic)
    sign = bits.__and__(0x8000, _semantic=semantic).__rshift__(8, _semantic=semantic)
    largest = semantic.full([], LARGEST, core.uint16) if not value.type.is_block() else semantic.full(
        list(value.type.shape), LARGEST, core.uint16)
    magnitude = semantic.minimum(bits.__and__(0x7FFF, _semantic=semantic), largest, core.PropagateNan.NONE)
    rounded = magnitude.__add__(0x40, _semantic=semantic).__rshift__(7, _semantic=semantic)
    byte = sign.__or__(rounded, _semantic=semantic).to(core.uint8, _semantic=semantic)
    return byte.to(core.float8e4b15, bitcast=True, _semantic=semantic)
