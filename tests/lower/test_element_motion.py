"""lower/addresses/element_motion.py: what tensors grow by from element to element, without a device."""

from __future__ import annotations

from typing import Any

import pytest
from triton_spirv.facts.slopes import Multiple, Product, Slope, Sum
from triton_spirv.ir import TensorType, Value, parse
from triton_spirv.ir.model import Operation
from triton_spirv.layout import Layout
from triton_spirv.lower.addresses.element_motion import (
    contiguous_axis,
    growth,
    pitch_of,
    pointer_growth,
    slope_along,
)
from triton_spirv.lower.values.tensor import Affine, Deferred, Pointers, Stored, Uniform
from triton_spirv.spirv.module import Value as Register
from triton_spirv.spirv.types import Int

N = Register(1, Int(32), "OpLoad")

TEXT = """
tt.func public @k(%n: i32, %p: tensor<16x!tt.ptr<i32>>, %q: tensor<16x!tt.ptr<i8>>) {
  %t = tt.load %p : tensor<16x!tt.ptr<i32>>
  %b = tt.load %q : tensor<16x!tt.ptr<i8>>
  %r = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %s = tt.splat %n : i32 -> tensor<16xi32>
  %times = arith.muli %t, %s : tensor<16xi32>
  %far = arith.muli %r, %s : tensor<16xi32>
  %near = arith.addi %far, %r : tensor<16xi32>
  %less = arith.subi %far, %r : tensor<16xi32>
  %back = arith.subi %s, %far : tensor<16xi32>
  %same = arith.xori %s, %s : tensor<16xi32>
  %rest = arith.remsi %same, %s : tensor<16xi32>
  %gather = arith.addi %t, %r : tensor<16xi32>
  %four = arith.constant dense<4> : tensor<16xi32>
  %group = arith.divsi %r, %four : tensor<16xi32>
  %inner = arith.remsi %r, %four : tensor<16xi32>
  %eight = arith.muli %inner, %four : tensor<16xi32>
  %w = arith.extsi %eight : tensor<16xi32> to tensor<16xi64>
  %column = tt.expand_dims %inner {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %matrix = tt.broadcast %column : tensor<16x1xi32> -> tensor<16x8xi32>
  %turned = tt.trans %matrix {order = array<i32: 1, 0>} : tensor<16x8xi32> -> tensor<8x16xi32>
  %narrow = arith.trunci %eight : tensor<16xi32> to tensor<16xi8>
  %byte = arith.trunci %r : tensor<16xi32> to tensor<16xi8>
  %small = arith.constant dense<4> : tensor<16xi8>
  %wraps = arith.muli %byte, %small : tensor<16xi8>
  %twice = arith.addi %b, %narrow : tensor<16xi8>
  tt.return
}
"""


@pytest.fixture(scope="module")
def tensors() -> dict[str, Any]:
    """The values as lowering binds them, but that nothing is folded."""
    bound: dict[Value, Any] = {}

    def made(op: Operation) -> Any:
        type = op.results[0].type
        assert isinstance(type, TensorType)
        if op.name == "tt.make_range":
            return Affine(type.shape, type.element, Register(2, Int(32), "OpConstant", 0), (1,))
        if op.name == "tt.splat":
            return Uniform(type.shape, type.element, N)
        if op.name == "arith.constant":
            return Uniform(type.shape, type.element, Register(3, Int(32), "OpConstant", 4))
        return Deferred(type.shape, type.element, op, tuple(bound.get(x) for x in op.operands))

    for op in parse(TEXT).walk():
        if op.results:
            bound[op.results[0]] = made(op)
    return {value.name: tensor for value, tensor in bound.items()}


#: (value, dimension, length of groups) -> its slope
SLOPES: dict[tuple[str, int, int], Slope[Register] | None] = {
    ("r", 0, 16): 1,
    ("s", 0, 16): 0,
    ("far", 0, 16): Product(1, N),
    ("near", 0, 16): Sum((Product(1, N), 1)),
    ("less", 0, 16): Sum((Product(1, N), -1)),
    ("back", 0, 16): Product(Product(1, N), -1),
    ("same", 0, 16): 0,
    ("rest", 0, 16): 0,
    ("t", 0, 2): None,
    ("times", 0, 2): None,
    ("gather", 0, 2): None,
    ("group", 0, 4): 0,
    ("group", 0, 8): None,
    ("inner", 0, 4): 1,
    ("inner", 0, 8): None,
    ("eight", 0, 4): 4,
    ("w", 0, 4): 4,
    ("matrix", 0, 4): 1,
    ("matrix", 0, 8): None,
    ("matrix", 1, 8): 0,
    ("turned", 0, 8): 0,
    ("turned", 1, 4): 1,
    ("turned", 1, 8): None,
    ("twice", 0, 2): None,
    ("byte", 0, 16): 1,
    ("wraps", 0, 16): None,
}


@pytest.mark.parametrize("asked", SLOPES, ids=str)
def test_slopes(tensors: dict[str, Any], asked: tuple[str, int, int]) -> None:
    name, dim, length = asked
    assert slope_along(tensors[name], dim, length) == SLOPES[asked]


def test_growth(tensors: dict[str, Any]) -> None:
    line, matrix = Layout((16,)), Layout((16, 8))
    assert [growth(tensors["eight"], bit, line) for bit in (1, 2, 4)] == [4, 8, None]
    grown = [growth(tensors["matrix"], bit, matrix) for bit in (1, 4, 8, 16, 32, 8 + 1)]
    assert grown == [0, 0, 1, 2, None, 1]
    assert growth(tensors["far"], 1, line) is None  # no number
    pointers = Pointers((16,), tensors["r"].element, N, tensors["r"], (tensors["eight"],))
    assert [pointer_growth(pointers, bit, line) for bit in (1, 2, 4)] == [5, 10, None]


def test_pitches(tensors: dict[str, Any]) -> None:
    """Slopes of pointers as multiples of one scalar."""
    def pitch(*terms: str) -> Multiple[Register] | None:
        return pitch_of(Pointers((16,), tensors["r"].element, N, None, tuple(map(tensors.get, terms))), 0, 16)

    assert pitch("far", "far") == pitch("far", "s", "far") == Multiple(2, N)
    assert pitch("back", "far") == pitch("s") == Multiple(0)
    assert pitch("far", "back", "r", "r") == Multiple(2)
    assert pitch("near") is None and pitch("far", "t") is None
    assert pitch("less", "r") is None  # n - 1 + 1, part by part


def test_the_order_in_memory(tensors: dict[str, Any]) -> None:
    """Of what is loaded by rows, by columns, by a table, with a stride; of what is made of it."""
    kind, one = tensors["r"].element, Register(4, Int(64), "OpConstant", 1)

    def loaded(*strides: Register | int, terms: tuple[Any, ...] = ()) -> Deferred:
        pointers = Pointers((16, 8), kind, N, Affine((16, 8), kind, one, strides), terms)
        return Deferred((16, 8), kind, tensors["t"].operation, (pointers, None, None))

    assert contiguous_axis(loaded(N, 1)) == 1 and contiguous_axis(loaded(1, N)) == 0
    assert contiguous_axis(loaded(N, 2)) is None and contiguous_axis(loaded(8, N)) is None
    assert contiguous_axis(loaded(0, N, terms=(tensors["matrix"],))) == 0
    stored = Stored((16, 8), kind, N, 8)
    assert contiguous_axis(loaded(N, 1, terms=(stored,))) is None
    turned = Deferred((8, 16), kind, tensors["turned"].operation, (loaded(N, 1),))
    assert contiguous_axis(turned) == 0
    summed = Deferred((16, 8), kind, tensors["near"].operation, (tensors["s"], loaded(1, N)))
    assert contiguous_axis(summed) == 0 and contiguous_axis(tensors["s"]) is None
    assert contiguous_axis(stored) == 1
    turned.evaluated = Stored((8, 16), kind, N, 8)
    assert contiguous_axis(turned) == 1
