"""spirv/passes/definite_assignment.py: which reads of private arrays are refused, which walks are
followed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from triton_spirv.errors import InternalError
from triton_spirv.spirv.builder import I32, Builder
from triton_spirv.spirv.control import For, IfElse, if_
from triton_spirv.spirv.module import Module, Value
from triton_spirv.spirv.passes.definite_assignment import require_definite
from triton_spirv.spirv.passes.graph import Graph
from triton_spirv.spirv.types import Array, Bool, Pointer, Vector, Void

PART = Vector(I32, 4)


class Kernel:
    """A kernel with an array of 64 numbers in vectors of 4, of which parts are written and read."""

    def __init__(self) -> None:
        self.m = Module()
        self.b = Builder(self.m)
        parameters = [I32, Bool(), Pointer("CrossWorkgroup", I32)]
        self.function = self.m.function("kernel", Void(), parameters)
        self.number, self.condition, self.out = self.function.parameters
        self.m.begin(self.m.label())
        self.array = self.m.variable(Array(PART, 16))
        self.value = self.m.constant(PART, (1, 2, 3, 4))

    def place(self, part: Value | int) -> Value:
        index = self.m.constant(I32, part) if isinstance(part, int) else part
        return self.m.emit("OpInBoundsAccessChain", self.array, index, type=Pointer("Function", PART))

    def write(self, part: Value | int) -> None:
        self.m.emit("OpStore", self.place(part), self.value)

    def read(self, part: Value | int) -> None:
        self.m.emit("OpLoad", self.place(part), type=PART)

    def read_element(self, element: Value) -> None:
        """One of the 64, at a number that is known when running."""
        numbers = self.m.emit("OpBitcast", self.array, type=Pointer("Function", I32))
        place = self.m.emit("OpInBoundsPtrAccessChain", numbers, element, type=Pointer("Function", I32))
        self.m.emit("OpLoad", place, type=I32)

    def loop(self, end: Value | int, start: int = 0, step: int = 1) -> AbstractContextManager[For]:
        upper = self.m.constant(I32, end) if isinstance(end, int) else end
        return For(self.m, self.m.constant(I32, start), upper, self.m.constant(I32, step))

    def check(self) -> None:
        self.m.emit("OpReturn")
        require_definite(Graph(self.m, self.function), self.m)


def walk_all(k: Kernel) -> None:
    """In 4 turns of 4 parts."""
    with k.loop(4) as loop:
        for part in range(4):
            k.write(k.b.ior(k.b.shl(loop.index, 2), part))


def straight(k: Kernel) -> None:
    k.write(3)
    k.read(3)


def walk_then_read(k: Kernel) -> None:
    walk_all(k)
    k.read(15)
    k.read_element(k.number)


def read_in_another_order(k: Kernel) -> None:
    walk_all(k)
    with k.loop(16) as loop:
        k.read(k.b.ixor(loop.index, 15))
    with k.loop(4) as outer, k.loop(4) as inner:
        k.read(k.b.iadd(k.b.shl(inner.index, 2), outer.index))


def backwards(k: Kernel) -> None:
    with k.loop(16) as loop:
        k.write(k.b.isub(15, loop.index))
    k.read(0)


def both_arms(k: Kernel) -> None:
    with k.loop(16) as loop:
        branch = IfElse(k.m, k.condition)
        with branch.then():
            k.write(loop.index)
        with branch.otherwise():
            k.write(loop.index)
        k.read(loop.index)
    k.read(7)


def this_turn(k: Kernel) -> None:
    """Written and read in each round of a loop of any number of rounds."""
    with k.loop(k.number) as loop:
        k.write(loop.index)
        k.read(loop.index)
        k.write(2)
        k.read(2)


def nested(k: Kernel) -> None:
    with k.loop(4) as outer:
        high = k.b.shl(outer.index, 2)
        with k.loop(4) as inner:
            k.write(k.b.ior(high, inner.index))
        with k.loop(4) as inner:
            k.read(k.b.ixor(k.b.ior(high, inner.index), 3))
        k.read(k.b.ior(high, 1))
    k.read_element(k.number)


def way_that_was_taken(k: Kernel, first: int = 3, asked: int = 3) -> Value:
    """One of three ways has not written, and says so."""
    selector = k.m.variable(I32)
    outer, inner = IfElse(k.m, k.condition), None
    with outer.then():
        k.write(0)
        k.m.emit("OpStore", selector, k.m.constant(I32, first))
    with outer.otherwise():
        inner = IfElse(k.m, k.condition)
        with inner.then():
            k.write(0)
            k.m.emit("OpStore", selector, k.m.constant(I32, 3))
        with inner.otherwise():
            k.m.emit("OpStore", selector, k.m.constant(I32, 5))
    with if_(k.m, k.b.compare("OpIEqual", k.m.emit("OpLoad", selector, type=I32), asked)):
        k.read(0)
    return selector


@pytest.mark.parametrize("make", (
    straight, walk_then_read, read_in_another_order, backwards, both_arms, this_turn, nested,
    way_that_was_taken))
def test_written(make: Callable[[Kernel], None]) -> None:
    kernel = Kernel()
    make(kernel)
    kernel.check()


def nothing(k: Kernel) -> None:
    k.read(0)


def another_part(k: Kernel) -> None:
    k.write(3)
    k.read(4)


def one_arm(k: Kernel) -> None:
    with if_(k.m, k.condition):
        k.write(0)
    k.read(0)


def one_arm_of_a_walk(k: Kernel) -> None:
    with k.loop(16) as loop, if_(k.m, k.condition):
        k.write(loop.index)
    with k.loop(16) as loop:
        k.read(loop.index)


def a_part_of_each_turn(k: Kernel) -> None:
    with k.loop(4) as loop:
        for part in range(3):
            k.write(k.b.ior(k.b.shl(loop.index, 2), part))
    k.read(15)


def half_of_the_turns(k: Kernel) -> None:
    with k.loop(8) as loop:
        k.write(loop.index)
    k.read(8)


def no_turn_perhaps(k: Kernel) -> None:
    with k.loop(k.number):
        k.write(0)
    k.read(0)


def each_second(k: Kernel) -> None:
    with k.loop(16, step=2) as loop:
        k.write(loop.index)
    k.read(1)


def not_from_zero(k: Kernel) -> None:
    with k.loop(16, start=8) as loop:
        k.write(loop.index)
    k.read(1)


def the_turn_before(k: Kernel) -> None:
    with k.loop(16) as loop:
        k.read(k.b.ixor(loop.index, 1))
        k.write(loop.index)


def anywhere(k: Kernel) -> None:
    walk_all(k)
    array, k.array = k.array, k.m.variable(Array(PART, 16))
    k.write(k.number)
    k.write(3)
    k.write(0)
    with if_(k.m, k.condition):
        k.write(1)
    k.read_element(k.number)
    k.array = array


def way_that_did_not_write(k: Kernel) -> None:
    way_that_was_taken(k, asked=5)


def way_of_two_numbers(k: Kernel) -> None:
    """Whoever puts 5 there has not always written."""
    way_that_was_taken(k, first=5, asked=5)


def any_number(k: Kernel) -> None:
    k.m.emit("OpStore", way_that_was_taken(k), k.number)


def way_of_another_round(k: Kernel) -> None:
    selector = k.m.variable(I32)
    k.m.emit("OpStore", selector, k.m.constant(I32, 5))
    with k.loop(k.number):
        with if_(k.m, k.b.compare("OpIEqual", k.m.emit("OpLoad", selector, type=I32), 3)):
            k.read(1)
        k.m.emit("OpStore", selector, k.m.constant(I32, 3))


@pytest.mark.parametrize("make", (
    way_that_did_not_write, way_of_two_numbers, any_number, way_of_another_round,
    nothing, another_part, one_arm, one_arm_of_a_walk, a_part_of_each_turn, half_of_the_turns,
    no_turn_perhaps, each_second, not_from_zero, the_turn_before, anywhere))
def test_refused(make: Callable[[Kernel], None]) -> None:
    kernel = Kernel()
    make(kernel)
    with pytest.raises(InternalError, match="is read where not all ways to there have written it"):
        kernel.check()
