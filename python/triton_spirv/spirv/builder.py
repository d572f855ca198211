"""Arithmetic on a Module: typed helpers that fold constants and splat scalars, so that rules read as
formulas.

Every helper takes `Value`s (or Python numbers where another operand gives the type) and returns a `Value`.
Where a scalar meets a vector it is splatted. Index arithmetic folds: adding 0, multiplying by 1 or by
constants emits nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .module import Label, Module, Value
from .types import Bool, Float, Int, Type, Vector

Number = int | float | bool
Operand = Value | int | float | bool

I32 = Int(32)
I64 = Int(64)
FLOAT_ARITHMETIC = frozenset({"OpFAdd", "OpFSub", "OpFMul", "OpFDiv"})


def scalar_type(type: Type) -> Type:
    """The component type of a vector, or the scalar type itself."""
    return type.element if isinstance(type, Vector) else type


def width_of(type: Type) -> int:
    """Components of a vector type; 1 for a scalar."""
    return type.count if isinstance(type, Vector) else 1


def with_width(type: Type, width: int) -> Type:
    """`type` (a scalar type) as a vector of `width` components; width 1 is the scalar itself."""
    return Vector(type, width) if width > 1 else type


def to_signed(value: int, bits: int) -> int:
    """The two's complement reading of the low `bits` bits of `value`."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def is_constant(operand: Operand, number: int) -> bool:
    """Is this the integer `number`, as a Python number or a scalar or splatted constant?"""
    value = operand.constant if isinstance(operand, Value) else operand
    if isinstance(value, tuple):
        return all(v == number and not isinstance(v, float) for v in value)
    return value is not None and not isinstance(value, (float, bool)) and value == number


def _covers(value: Operand, other: Operand) -> bool:
    """Is `value` a Value whose width would stay as it is when combined with `other`?"""
    return isinstance(value, Value) and (
        not isinstance(other, Value) or width_of(other.type) <= width_of(value.type)
    )


class Builder:
    """Typed, folding arithmetic on `module`."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.converts_bf16 = False  # SPV_INTEL_bfloat16_conversion may be used
        self.float16 = True  # f16 may be used
        self.extends_by_halves = False  # i32 becomes i64 without OpSConvert
        self.hide: Callable[[Value], Value] | None = None  # a float that the driver does not know to be zero
        self.hide_extension: Callable[[Value], Value] | None = None  # an integer extended from fewer bits
        self.emit = module.emit
        self._block: Label | None = None  # the block that what follows was made in
        self._made: dict[tuple[object, ...], Value] = {}  # by instruction, type and ids of the operands

    def once(self, opcode: str, *operands: Value, type: Type) -> Value:
        """An instruction that is computed from its operands alone and that nothing decorates, emitted once in
        a block: drivers take time for every instruction, those included that they find to be the same."""
        if self.module.block is not self._block:
            self._block, self._made = self.module.block, {}
        name = opcode, type, *[operand.id for operand in operands]
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = self.emit(opcode, *operands, type=type)
        return made

    # --- constants, vectors ---------------------------------------------------------------------------------

    def constant(self, type: Type, value: Number | Sequence[Number]) -> Value:
        return self.module.constant(type, value)

    def match(self, *operands: Operand) -> list[Value]:
        """The operands with the width of the widest; numbers take the type of the first value."""
        first, *others = operands
        if isinstance(first, Value) and len(others) == 1:    # nearly always
            second = others[0]
            if not isinstance(second, Value):
                return [first, self.module.constant(first.type, second)]
            if first.type is second.type:
                return [first, second]
        model = None
        width = 1
        for x in operands:
            if isinstance(x, Value):
                model = model or x
                width = max(width, width_of(x.type))
        assert model is not None
        type = with_width(scalar_type(model.type), width)
        return [
            self.splat(x, width) if isinstance(x, Value) else self.module.constant(type, x) for x in operands
        ]

    def splat(self, value: Value, width: int) -> Value:
        """A scalar in every component; a vector of that width already is returned as it is."""
        have = width_of(value.type)
        if have == width:
            return value
        if have != 1:
            raise TypeError(f"cannot splat {value.type} to {width} components")
        if value.constant is not None:
            return self.module.constant(Vector(value.type, width), value.constant)
        return self.once("OpCompositeConstruct", *[value] * width, type=Vector(value.type, width))

    def extract(self, value: Value, component: int) -> Value:
        """One component of a vector (of a scalar: itself)."""
        if not isinstance(value.type, Vector):
            return value
        if isinstance(value.constant, tuple):
            return self.module.constant(value.type.element, value.constant[component])
        return self.emit("OpCompositeExtract", value, component, type=value.type.element)

    def construct(self, values: Sequence[Value]) -> Value:
        """A vector of scalars; one scalar is itself."""
        if len(values) == 1:
            return values[0]
        return self.emit("OpCompositeConstruct", *values, type=Vector(values[0].type, len(values)))

    def join(self, values: Sequence[Value]) -> Value:
        """Scalars and vectors, one behind the other, as one vector."""
        count = sum(width_of(value.type) for value in values)
        return self.emit("OpCompositeConstruct", *values, type=Vector(scalar_type(values[0].type), count))

    def shuffle(self, x: Value, y: Value, components: Sequence[int]) -> Value:
        """OpVectorShuffle; both operands are vectors, `components` counts through x, then y."""
        if len(components) == 1:
            c, n = components[0], width_of(x.type)
            return self.extract(x, c) if c < n else self.extract(y, c - n)
        return self.emit(
            "OpVectorShuffle", x, y, *components, type=Vector(scalar_type(x.type), len(components))
        )

    def select(self, condition: Value, x: Operand, y: Operand) -> Value:
        """OpSelect per component; a scalar condition chooses whole values."""
        if isinstance(condition.constant, bool):
            chosen = x if condition.constant else y
            if isinstance(chosen, Value):
                return chosen
        x, y = self.match(x, y)
        width = max(width_of(x.type), width_of(condition.type))
        x, y, condition = self.splat(x, width), self.splat(y, width), self.splat(condition, width)
        return self.emit("OpSelect", condition, x, y, type=x.type)

    # --- integers -------------------------------------------------------------------------------------------

    def _fold(self, opcode: str, x: Operand, y: Operand, fold: Callable[[int, int], int]) -> Value:
        x, y = self.match(x, y)
        if isinstance(x.constant, int) and isinstance(y.constant, int) and isinstance(x.type, Int):
            return self.module.constant(x.type, fold(x.constant, y.constant))
        return self.once(opcode, x, y, type=x.type)

    def iadd(self, x: Operand, y: Operand) -> Value:
        for zero, other in ((x, y), (y, x)):
            if is_constant(zero, 0) and _covers(other, zero):
                return other  # type: ignore[return-value]
        return self._fold("OpIAdd", x, y, lambda a, b: a + b)

    def isub(self, x: Operand, y: Operand) -> Value:
        if is_constant(y, 0) and _covers(x, y):
            return x  # type: ignore[return-value]
        return self._fold("OpISub", x, y, lambda a, b: a - b)

    def imul(self, x: Operand, y: Operand) -> Value:
        for one, other in ((x, y), (y, x)):
            if is_constant(one, 1) and _covers(other, one):
                return other  # type: ignore[return-value]
            if is_constant(one, 0) and _covers(other, one):
                return self.module.constant(other.type, 0)  # type: ignore[union-attr]
        return self._fold("OpIMul", x, y, lambda a, b: a * b)

    def ior(self, x: Operand, y: Operand) -> Value:
        for zero, other in ((x, y), (y, x)):
            if is_constant(zero, 0) and _covers(other, zero):
                return other  # type: ignore[return-value]
        return self._fold("OpBitwiseOr", x, y, lambda a, b: a | b)

    def iand(self, x: Operand, y: Operand) -> Value:
        return self._fold("OpBitwiseAnd", x, y, lambda a, b: a & b)

    def ixor(self, x: Operand, y: Operand) -> Value:
        return self._fold("OpBitwiseXor", x, y, lambda a, b: a ^ b)

    def shl(self, x: Operand, y: Operand) -> Value:
        if is_constant(y, 0) and _covers(x, y):
            return x  # type: ignore[return-value]
        return self._fold("OpShiftLeftLogical", x, y, lambda a, b: a << b)

    def lshr(self, x: Operand, y: Operand) -> Value:
        if is_constant(y, 0) and _covers(x, y):
            return x  # type: ignore[return-value]
        x, y = self.match(x, y)
        return self.once("OpShiftRightLogical", x, y, type=x.type)

    def ashr(self, x: Operand, y: Operand) -> Value:
        if is_constant(y, 0) and _covers(x, y):
            return x  # type: ignore[return-value]
        x, y = self.match(x, y)
        return self.once("OpShiftRightArithmetic", x, y, type=x.type)

    def resize(self, value: Value, bits: int, signed: bool = True) -> Value:
        """Sign- or zero-extend, or truncate, integer components to `bits`."""
        source = scalar_type(value.type)
        assert isinstance(source, Int)
        if source.width == bits:
            return value
        type = with_width(Int(bits), width_of(value.type))
        if isinstance(value.constant, int) and isinstance(value.type, Int):
            mask = (1 << source.width) - 1
            return self.module.constant(
                type, to_signed(value.constant, source.width) if signed else value.constant & mask
            )
        if signed and self.extends_by_halves and (source.width, bits) == (32, 64):
            return self._extend_by_halves(value)
        made = self.once("OpSConvert" if signed else "OpUConvert", value, type=type)
        if self.hide_extension is not None and source.width < min(bits, 32):
            return self.hide_extension(made)
        return made

    def _extend_by_halves(self, value: Value) -> Value:
        """i32 as i64: the word and its sign, 32 times, as the halves of one number."""
        words = [self.extract(value, index) for index in range(width_of(value.type))]
        return self.construct([self.emit("OpBitcast", self.construct([word, self.ashr(word, 31)]), type=I64)
                               for word in words])

    # --- anything -------------------------------------------------------------------------------------------

    def unary(self, opcode: str, x: Value) -> Value:
        """An instruction whose result has the type of its operand."""
        return self.emit(opcode, x, type=x.type)

    def binary(self, opcode: str, x: Operand, y: Operand) -> Value:
        """An instruction whose result has the type of its operands."""
        x, y = self.match(x, y)
        if self.hide is not None and opcode in FLOAT_ARITHMETIC:
            either = opcode == "OpFDiv" or (x.constant is not None and y.constant is not None)
            same = opcode == "OpFSub" and x.id == y.id  # 0, if x is a number
            x, y = self.hidden(x, either), self.hidden(y, either or same)
        return self.emit(opcode, x, y, type=x.type)

    def hidden(self, value: Value, any: bool = False) -> Value:
        """A float operand, by `hide` if it is zero: a constant, or (`any`) what might be found to be one."""
        if self.hide is None or not (any or value.constant is not None):
            return value
        parts = [self.extract(value, component) for component in range(width_of(value.type))]
        return self.construct([self.hide(part) if any or part.constant == 0 else part for part in parts])

    def compare(self, opcode: str, x: Operand, y: Operand) -> Value:
        """An instruction whose result is Bool, with the width of its operands."""
        x, y = self.match(x, y)
        return self.once(opcode, x, y, type=with_width(Bool(), width_of(x.type)))

    def unordered(self, x: Value, y: Value) -> Value:
        """True where x or y is NaN (OpUnordered is for kernels only)."""
        nan = self.compare("OpFUnordNotEqual", x, x)
        return nan if x is y else self.logical_or(nan, self.compare("OpFUnordNotEqual", y, y))

    def ordered(self, x: Value, y: Value) -> Value:
        """True where neither x nor y is NaN."""
        number = self.compare("OpFOrdEqual", x, x)
        return number if x is y else self.logical_and(number, self.compare("OpFOrdEqual", y, y))

    def convert(self, opcode: str, x: Value, element: Type) -> Value:
        """A conversion to components of type `element`; a constant that becomes wider stays one."""
        source = scalar_type(x.type)
        if x.constant is not None and opcode == "OpFConvert" and isinstance(source, Float) \
                and isinstance(element, Float) and source.width < element.width and not source.encoding:
            return self.module.constant(with_width(element, width_of(x.type)), x.constant)
        if opcode in ("OpConvertSToF", "OpConvertUToF"):    # of an integer whose range a driver may know
            return self.hidden(self.emit(opcode, x, type=with_width(element, width_of(x.type))), True)
        return self.emit(opcode, x, type=with_width(element, width_of(x.type)))

    def bitcast(self, x: Value, element: Type) -> Value:
        """Reinterpret components as `element` of the same size; a constant +0 stays one."""
        type = with_width(element, width_of(x.type))
        if is_constant(x, 0) and isinstance(element, Float) and not element.encoding:
            return self.module.constant(type, 0.0)
        return x if x.type == type else self.once("OpBitcast", x, type=type)

    def logical_not(self, x: Value) -> Value:
        """Compared with true instead of OpLogicalNot, which older Intel GPU compilers do not survive."""
        return self.emit("OpLogicalNotEqual", x, self.module.constant(x.type, True), type=x.type)

    def logical_and(self, x: Value, y: Value) -> Value:
        for true, other in ((x, y), (y, x)):
            if true.constant is True or (isinstance(true.constant, tuple) and all(true.constant)):
                return self.splat(other, max(width_of(x.type), width_of(y.type)))
        return self.binary("OpLogicalAnd", x, y)

    def logical_or(self, x: Value, y: Value) -> Value:
        return self.binary("OpLogicalOr", x, y)

    def all(self, x: Value) -> Value:
        """True where every component is."""
        return self.once("OpAll", x, type=Bool()) if isinstance(x.type, Vector) else x

    def any(self, x: Value) -> Value:
        """True where some component is."""
        return self.once("OpAny", x, type=Bool()) if isinstance(x.type, Vector) else x

    def ext(self, name: str, *operands: Operand, instruction_set: str = "OpenCL.std") -> Value:
        """An extended instruction whose operands and result have one type."""
        values = self.match(*operands)
        return self.module.ext(instruction_set, name, *values, type=values[0].type)


def is_float(value: Value) -> bool:
    """Does the value have floating point components?"""
    return isinstance(scalar_type(value.type), Float)
