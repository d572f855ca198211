"""How element types of Triton are held in SPIR-V registers and in memory.

bf16 and fp8 have no arithmetic in core SPIR-V, f16 on some devices: registers hold their bits, and the rules
convert to f32 and back. i1 is Bool in registers and a byte in memory. A pointer inside a tensor is its 64-bit
address.
"""

from __future__ import annotations

from ...environment.base import Environment
from ...errors import LoweringError
from ...ir.model import FloatType, IndexType, IntegerType, PointerType, TensorType, Type, bits_of
from ...spirv import types as spirv
from ...spirv.module import Value as Register

#: Floats that a register holds, as they are or as their bits; of f8E8M0FNU only block scales are.
REGISTER_FLOATS = frozenset({"f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ",
                         "f8E4M3B11FNUZ", "f8E8M0FNU"})


def element_of(type: Type) -> Type:
    """The element type of a tensor type; any other type is its own element."""
    return type.element if isinstance(type, TensorType) else type


def pointee_of(type: Type) -> Type:
    """What a pointer, or each of a tensor of pointers, points to."""
    pointer = element_of(type)
    assert isinstance(pointer, PointerType)
    return pointer.pointee


def shape_of(type: Type) -> tuple[int, ...]:
    """The shape of a tensor type; () for a scalar."""
    return type.shape if isinstance(type, TensorType) else ()


def register_type(type: Type) -> spirv.Type:
    """The SPIR-V scalar type of an element in a register (pointers: their address)."""
    if isinstance(type, IntegerType) and (type.width == 1 or type.width in spirv.INT_WIDTHS):
        return spirv.Bool() if type.width == 1 else spirv.Int(type.width)
    if isinstance(type, FloatType) and type.name in REGISTER_FLOATS:
        computes = type.name in ("f16", "f32", "f64") and not type.as_bits
        return spirv.Float(type.width) if computes else spirv.Int(type.width)
    if isinstance(type, (PointerType, IndexType)):
        return spirv.Int(64)
    raise LoweringError(f"no register type for {type}")


def storage_type(type: Type) -> spirv.Type:
    """The SPIR-V scalar type of an element in memory."""
    return spirv.Int(8) if isinstance(type, IntegerType) and type.width == 1 else register_type(type)


def storage_bytes(type: Type) -> int:
    """Bytes of one element in memory."""
    return max(8, bits_of(type)) // 8


def is_pointer(register: Register) -> bool:
    """Is this a scalar pointer of the environment, rather than an address?"""
    return isinstance(register.type, spirv.Pointer)


def as_scalar(env: Environment, register: Register, type: Type) -> Register:
    """A component of a tensor as the scalar value of an IR type: addresses become pointers."""
    return env.pointer(register, storage_type(type.pointee)) if isinstance(type, PointerType) else register
