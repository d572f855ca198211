"""How types lie in memory."""

from __future__ import annotations

from ..spirv.builder import scalar_type, width_of
from ..spirv.types import Array, Float, Int, Type

#: What a kernel parameter is in memory, by its type as Artifact spells it.
PARAMETER_TYPES: dict[str, Type] = {
    "ptr": Int(64), "i1": Int(8), "i8": Int(8), "i16": Int(16), "i32": Int(32), "i64": Int(64),
    "f16": Float(16), "bf16": Int(16), "f32": Float(32), "f64": Float(64),
}


def type_bytes(type: Type) -> int:
    """Size of a scalar, a vector, or an array of such in memory."""
    if isinstance(type, Array):
        return type.count * type_bytes(type.element)
    element = scalar_type(type)
    assert isinstance(element, (Int, Float)), type
    return element.width // 8 * width_of(type)
