"""lower/addresses/ownership.py: which addresses are proven to be one lane's each, from their slopes."""

from __future__ import annotations

import pytest
from triton_spirv.ir.model import IntegerType, PointerType
from triton_spirv.layout import Layout
from triton_spirv.lower.addresses.ownership import owned
from triton_spirv.lower.values.tensor import Affine, Pointers, Uniform
from triton_spirv.spirv.module import Value
from triton_spirv.spirv.types import Int

BASE, OFFSET, STRIDE = (Value(number, Int(64), "OpLoad") for number in (1, 2, 3))
ZERO = Value(4, Int(64), "OpConstant", 0)
POINTER = PointerType(IntegerType(32))


def pointers(shape, strides, base=BASE, offset=ZERO, terms=()):
    affine = Affine(shape, IntegerType(64), offset, strides)
    return Pointers(shape, POINTER, base, affine, terms)


def lanes(shape, register=(), lane=(), warp=()):
    return Layout(shape, register=register, lane=lane, warp=warp)


LINE = lanes((16,), register=(1,), lane=(2, 4), warp=(8,))


@pytest.mark.parametrize("stride", (1, 2, 3, 5, -1, -7))
def test_elements_apart(stride):
    assert owned(pointers((16,), (stride,)), LINE) is not None


def test_stride_of_a_constant():
    two = Value(5, Int(64), "OpConstant", 2)
    assert owned(pointers((16,), (two,)), LINE) is not None


@pytest.mark.parametrize("strides, apart", [((8, 1), True), ((9, 1), True), ((7, 1), False), ((1, 4), True),
                                            ((1, 3), False), ((STRIDE, 1), False), ((1, STRIDE), False),
                                            ((0, 1), False), ((-8, 1), True), ((4, -4), False)], ids=str)
def test_two_dimensions(strides, apart):
    """Rows of 8 columns, 4 of them; bits of either may be lanes'."""
    layout = lanes((4, 8), register=(1,), lane=(2, 4), warp=(8, 16))
    assert (owned(pointers((4, 8), strides), layout) is not None) == apart


def test_unknown_forms():
    term = Uniform((16,), IntegerType(64), STRIDE)
    assert owned(pointers((16,), (1,), terms=(term,)), LINE) is None
    assert owned(Uniform((16,), POINTER, BASE), LINE) is None
    assert owned(BASE, None) is None
    assert owned(pointers((16,), (1,)), None) is None


def test_elements_that_several_lanes_hold():
    assert owned(pointers((8,), (1,)), lanes((8,), lane=(1, 2), warp=(4, 0))) is None
    assert owned(pointers((8,), (1,)), lanes((8,), register=(1,), lane=(1, 2), warp=(4,))) is None


def test_shared_by_registers_of_one_lane():
    """Both rows have the same addresses: fine where a lane holds both."""
    assert owned(pointers((2, 8), (0, 1)), lanes((2, 8), register=(8,), lane=(1, 2), warp=(4,))) is not None
    assert owned(pointers((2, 8), (0, 1)), lanes((2, 8), register=(4,), lane=(1, 2), warp=(8,))) is None
    mixed = lanes((2, 8), register=(8 | 4,), lane=(1, 2), warp=(4,))
    assert owned(pointers((2, 8), (0, 1)), mixed) is None


def test_what_makes_two_accesses_the_same():
    made = owned(pointers((16,), (1,), offset=OFFSET), LINE)
    again = owned(pointers((16,), (1,), offset=OFFSET), lanes((16,), register=(1,), lane=(2, 4), warp=(8,)))
    assert made == again and made is not None and made.values == {BASE.id, OFFSET.id}
    for other in (pointers((16,), (2,), offset=OFFSET), pointers((16,), (1,)),
                  pointers((16,), (1,), base=STRIDE, offset=OFFSET)):
        found = owned(other, LINE)
        assert found is not None and found.address != made.address
    others = lanes((16,), register=(2,), lane=(1, 4), warp=(8,))
    elsewhere = owned(pointers((16,), (1,), offset=OFFSET), others)
    assert elsewhere is not None and elsewhere.lanes != made.lanes
