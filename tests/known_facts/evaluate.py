"""A small interpreter of index programs, in numpy; every value that is made is shown to an observer.

Integers are int64 arrays that hold a signed number of their type, addresses int64 bytes. Signed overflow
raises Overflow: the analysis takes index arithmetic not to overflow.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from triton_spirv.facts.axis_shapes import unit
from triton_spirv.ir import Block, IntegerType, Operation, PointerType, Value, element_type, shape_of


class Overflow(Exception):
    pass


def width_of(type) -> int:
    element = element_type(type)
    return element.width if isinstance(element, IntegerType) else 64


def signed(array, type):
    """The low bits as a signed number of the type; i1 is 0 or 1."""
    width = width_of(type)
    if width == 64:
        return array
    if width == 1:
        return array & 1
    low = array & ((1 << width) - 1)
    return np.where(low >> (width - 1) & 1, low - (1 << width), low)


def unsigned(array, type):
    width = width_of(type)
    return array if width == 64 else array & ((1 << width) - 1)


def exact(array, type):
    """The array, which must fit the type."""
    if isinstance(element_type(type), PointerType) or width_of(type) == 64:
        if np.abs(array).max(initial=0) > 1 << 60:
            raise Overflow
        return array
    if (signed(array, type) != array).any():
        raise Overflow
    return array


def towards_zero(a, b):
    return np.sign(a) * np.sign(b) * (np.abs(a) // np.abs(b))


COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


class Evaluator:
    def __init__(self, observe: Callable[[Value, np.ndarray], None]) -> None:
        self.values: dict[Value, np.ndarray] = {}
        self.observe = observe

    def set(self, value: Value, array) -> None:
        array = np.broadcast_to(np.asarray(array, np.int64), shape_of(value.type))
        self.values[value] = array
        self.observe(value, array)

    def function(self, op: Operation, arguments: list[int]) -> None:
        block = op.regions[0].entry
        for value, argument in zip(block.arguments, arguments, strict=True):
            self.set(value, argument)
        while True:
            end = self.block(block)
            if end.name == "cf.br":
                block, values = end.successors[0], end.dest_operands
            elif end.name == "cf.cond_br":
                taken = bool(self.values[end.condition])
                block = end.successors[0 if taken else 1]
                values = end.true_dest_operands if taken else end.false_dest_operands
            else:
                return
            arrays = [self.values[v] for v in values]
            for value, array in zip(block.arguments, arrays, strict=True):
                self.set(value, array)

    def block(self, block: Block) -> Operation:
        for op in block.operations[:-1]:
            if op.regions:
                self.structured(op)
            elif op.results:
                self.set(op.results[0], self.simple(op))
        return block.terminator

    def enter(self, block: Block, arrays) -> list[np.ndarray]:
        for value, array in zip(block.arguments, arrays, strict=True):
            self.set(value, array)
        return [self.values[v] for v in self.block(block).operands]

    def structured(self, op: Operation) -> None:
        if op.name == "scf.for":
            lower, upper, step = (int(self.values[v]) for v in (op.lower, op.upper, op.step))
            carried = [self.values[v] for v in op.init]
            for index in range(lower, upper, step):
                carried = self.enter(op.regions[0].entry, [np.int64(index), *carried])
        elif op.name == "scf.while":
            carried = [self.values[v] for v in op.init]
            while True:
                goes_on, *carried = self.enter(op.regions[0].entry, carried)
                if not goes_on:
                    break
                carried = self.enter(op.regions[1].entry, carried)
        else:
            assert op.name == "scf.if"
            carried = self.enter(op.regions[0 if self.values[op.condition] else 1].entry, [])
        for result, array in zip(op.results, carried, strict=True):
            self.set(result, array)

    def simple(self, op: Operation):
        operands = [self.values[v] for v in op.operands]
        type = op.results[0].type
        source = op.operands[0].type if op.operands else type
        shape = shape_of(type)
        name = op.name.split(".", 1)[1]
        if name == "constant":
            value = op.attributes["value"]
            value = getattr(value, "values", value)
            return np.reshape(value, shape) if isinstance(value, tuple) else value
        if name == "make_range":
            return np.arange(op.attributes["start"], op.attributes["end"])
        if name in ("addi", "subi", "muli"):
            function = {"addi": np.add, "subi": np.subtract, "muli": np.multiply}[name]
            return exact(function(*operands), type)
        if name == "addptr":
            return operands[0] + operands[1] * unit(type)
        if name in ("divsi", "divui", "remsi", "remui"):
            a, b = operands if name[-2] == "s" else [unsigned(x, type) for x in operands]
            quotient = towards_zero(a, b)
            return signed(quotient if name[:3] == "div" else a - quotient * b, type)
        if name in ("andi", "ori", "xori"):
            return {"andi": np.bitwise_and, "ori": np.bitwise_or, "xori": np.bitwise_xor}[name](*operands)
        if name == "shli":
            return exact(operands[0] << operands[1], type)
        if name == "shrsi":
            return operands[0] >> operands[1]
        if name == "shrui":
            return signed(unsigned(operands[0], type) >> operands[1], type)
        if name in ("maxsi", "minsi"):
            return (np.maximum if name == "maxsi" else np.minimum)(*operands)
        if name in ("maxui", "minui"):
            a, b = (unsigned(x, type) for x in operands)
            return signed((np.maximum if name == "maxui" else np.minimum)(a, b), type)
        if name == "cmpi":
            predicate = op.attributes["predicate"]
            if predicate[0] == "u":
                operands = [unsigned(x, source) for x in operands]
            return COMPARE[predicate[-2:]](*operands)
        if name == "select":
            return np.where(operands[0] != 0, operands[1], operands[2])
        if name in ("extsi", "trunci", "index_cast"):
            return signed(operands[0], type)
        if name == "extui":
            return unsigned(operands[0], source)
        if name == "bitcast":
            return operands[0]
        if name == "expand_dims":
            return np.expand_dims(operands[0], op.attributes["axis"])
        if name in ("reshape", "unsplat"):
            return operands[0].reshape(shape)
        if name == "trans":
            return operands[0].transpose(op.attributes["order"])
        if name in ("splat", "broadcast"):
            return operands[0]
        raise NotImplementedError(op.name)
