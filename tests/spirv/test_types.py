"""Types: one object each, spelled as listings spell them, refused when SPIR-V has none such."""

from __future__ import annotations

import copy
import pickle

import pytest
from triton_spirv.spirv import (
    Array,
    CooperativeMatrix,
    Float,
    FunctionType,
    Int,
    Opaque,
    Pointer,
    RuntimeArray,
    Struct,
    Type,
    Vector,
    Void,
)

F32, I32 = Float(32), Int(32)
PARAMETERS = Struct(
    (I32, F32), offsets=(0, 4), name="Parameters", block=True, member_names=("count", "scale"))

SPELLINGS = {
    Vector(F32, 16): "<16 x f32>",
    Array(Float(16), 4): "[4 x f16]",
    Array(F32, 4, stride=4): "[4 x f32 stride 4]",
    RuntimeArray(I32, 4): "[? x i32 stride 4]",
    Pointer("Function", Vector(I32, 2)): "ptr<Function, <2 x i32>>",
    Struct((I32, Float(64))): "{i32, f64}",
    PARAMETERS: "Parameters",
    FunctionType(Void(), (I32, F32)): "void (i32, f32)",
    Float(16, "BFloat16KHR"): "bf16",
    Opaque("OpTypeEvent"): "event",
    CooperativeMatrix(F32, "Subgroup", 8, 16, "MatrixAKHR"): "matrix<8x16 x f32, MatrixAKHR>",
}


@pytest.mark.parametrize("type", SPELLINGS, ids=str)
def test_a_type_is_one_object_and_spelled_so(type: Type) -> None:
    assert str(type) == SPELLINGS[type]
    assert pickle.loads(pickle.dumps(type)) is type
    assert copy.deepcopy(type) is type


def test_all_ways_of_saying_a_type_give_the_same_object() -> None:
    assert Float(32) is Float(width=32) is Float(32, None) is Float(32, encoding=None)
    assert Vector(Float(32), 4) is Vector(element=Float(32), count=4)
    assert Array(I32, 4) is not Array(I32, 4, stride=4)
    assert Float(32) != Int(32)


def test_definition_of_a_struct() -> None:
    assert PARAMETERS.definition() == "block {0: i32 count, 4: f32 scale}"


@pytest.mark.parametrize("wrong", [
    lambda: Int(1), lambda: Int(128), lambda: Float(8), lambda: Vector(F32, 5), lambda: Vector(F32, 1),
    lambda: Vector(Vector(F32, 4), 4), lambda: Array(F32, 0), lambda: Struct((F32,), offsets=(0, 4))])
def test_what_spirv_has_not_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError):
        wrong()    # type: ignore[operator]
