"""Functions by their OpenCL names: from GLSL.std.450 where it has them exactly, else from arithmetic (glsl/).

Formulas are for scalars of 32 and 64 bits: vectors go component by component, f16 through f32.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ...errors import LoweringError
from ...spirv.builder import Builder, scalar_type, width_of
from ...spirv.module import Value
from ...spirv.types import Float, Int, Type
from ...target import Target
from . import exponentials, hyperbolic, integers, remainders, roots, rounding, special, trigonometry
from .number import GLSL, Number, Tools

#: Exact in GLSL.std.450, in every width; and but for f64.
DIRECT = {"fabs": "FAbs", "floor": "Floor", "ceil": "Ceil", "fmin": "NMin", "fmax": "NMax"}
DIRECT_BELOW_64 = {"trunc": "Trunc", "rint": "RoundEven"}

FLOATS: dict[str, Callable[..., Number]] = {
    **{name: partial(exponentials.exponential, name) for name in ("exp", "exp2", "exp10")},
    **{name: partial(exponentials.logarithm, name) for name in ("log", "log2", "log10")},
    "expm1": exponentials.expm1, "log1p": exponentials.log1p, "pow": exponentials.power,
    "sin": trigonometry.sine, "cos": trigonometry.cosine, "tan": trigonometry.tangent,
    "sinpi": trigonometry.sine_pi, "cospi": trigonometry.cosine_pi,
    "asin": trigonometry.arcsine, "acos": trigonometry.arccosine, "atan": trigonometry.arctangent,
    "atan2": trigonometry.arctangent2,
    "sinh": hyperbolic.hyperbolic_sine, "cosh": hyperbolic.hyperbolic_cosine,
    "tanh": hyperbolic.hyperbolic_tangent, "asinh": hyperbolic.inverse_sine,
    "acosh": hyperbolic.inverse_cosine, "atanh": hyperbolic.inverse_tangent,
    "sqrt": roots.square_root, "rsqrt": roots.reciprocal_root, "cbrt": roots.cube_root,
    "hypot": roots.hypotenuse, "trunc": rounding.truncated, "rint": rounding.nearest_even,
    "erf": special.error_function, "erfc": special.complementary_error_function,
    "tgamma": special.gamma, "lgamma": special.log_gamma,
    "fmod": remainders.fmod, "remainder": remainders.remainder, "round": remainders.round_away,
    "ldexp": remainders.load_exponent, "ilogb": remainders.integer_exponent,
    "logb": remainders.float_exponent, "fdim": remainders.positive_difference,
    "pown": lambda x, n: exponentials.power(x, n.resize(x.format.bits).to_float()),
}


class GlslMath:
    """Functions for one module. `fusable` collects the sums that formulas let be contracted."""

    def __init__(self, b: Builder, target: Target, fusable: set[int]) -> None:
        self.b, self.target = b, target
        self.tools = Tools(b, target, fusable)

    def call(self, name: str, operands: Sequence[Value], type: Type) -> Value:
        """The function on operands of equal width; `type` is the result's."""
        b = self.b
        if all(x.constant is not None for x in operands):
            operands = [b.hidden(x, True) if isinstance(scalar_type(x.type), Float) else x for x in operands]
        direct = DIRECT if scalar_type(type) is Float(64) else DIRECT | DIRECT_BELOW_64
        if name in direct:
            return b.module.ext(GLSL, direct[name], *operands, type=type)
        width = width_of(type)
        if width > 1:
            columns = [[b.extract(x, c) for x in operands] for c in range(width)]
            return b.construct([self.call(name, column, scalar_type(type)) for column in columns])
        if name in integers.FUNCTIONS:
            return integers.FUNCTIONS[name](b, *operands)
        if name == "copysign":
            return self._with_sign(*operands)
        if name == "nextafter":
            return self._next_after(*operands)
        if name == "fma":
            return rounding.multiply_add(self.tools, *operands)
        if name not in FLOATS:
            raise LoweringError(f"the function {name} has no formula for Vulkan; "
                                "environment/glsl/functions.py lists those that there are")
        made = FLOATS[name](*[Number(self.tools, self._widened(x)) for x in operands]).value
        return self.narrow(made, type) if isinstance(type, Float) and made.type is not type else made

    def _widened(self, x: Value) -> Value:
        return self.b.convert("OpFConvert", x, Float(32)) if x.type is Float(16) else x

    def narrow(self, value: Value, element: Float, mode: str = "RTE") -> Value:
        """A float as a narrower one; by the instruction where the device rounds as asked."""
        b = self.b
        if mode == "RTE" and ("RoundingModeRTE", element.width) in self.target.float_controls:
            return b.convert("OpFConvert", value, element)
        columns = [b.extract(value, c) for c in range(width_of(value.type))]
        return b.construct([rounding.narrowed(b, x, element, mode) for x in columns])

    def divide(self, x: Value, y: Value, precise: bool = True) -> Value:
        """x / y: correctly rounded, or of f32 within 2.5 ulp."""
        element = scalar_type(x.type)
        made = []
        for c in range(width_of(x.type)):
            n, d = (Number(self.tools, self._widened(self.b.extract(value, c))) for value in (x, y))
            divided = roots.divide if precise or element == Float(64) else roots.divide_nearly
            quotient = n / d if element is Float(16) else divided(n, d)
            made.append(self.narrow(quotient.value, element) if element is Float(16)
                        else quotient.value)
        return self.b.construct(made)

    def _with_sign(self, x: Value, y: Value) -> Value:
        b, kind = self.b, x.type
        assert isinstance(kind, Float)
        sign = -1 << (kind.width - 1)
        size, other = (b.bitcast(value, Int(kind.width)) for value in (x, y))
        return b.bitcast(b.ior(b.iand(size, ~sign), b.iand(other, sign)), kind)

    def _next_after(self, x: Value, y: Value) -> Value:
        if x.type is not Float(16):
            return remainders.next_after(Number(self.tools, x), Number(self.tools, y)).value
        raise LoweringError("nextafter on f16 has no formula for Vulkan; convert to float32")
