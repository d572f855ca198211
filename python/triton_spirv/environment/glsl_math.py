"""Functions by their OpenCL names, from GLSL.std.450 where it has them as precise, else from arithmetic."""

from __future__ import annotations

from ..spirv.builder import Builder, scalar_type
from ..spirv.module import Value
from ..target import Target

GLSL = "GLSL.std.450"

#: Exact, or correctly rounded where Vulkan asks for it: the environment's precision and operation appendix.
DIRECT = {
    "fabs": "FAbs", "floor": "Floor", "ceil": "Ceil", "trunc": "Trunc", "rint": "RoundEven",
    "fmin": "NMin", "fmax": "NMax", "fma": "Fma",
    "s_max": "SMax", "s_min": "SMin", "u_max": "UMax", "u_min": "UMin", "s_abs": "SAbs",
    "sqrt": "Sqrt", "rsqrt": "InverseSqrt", "exp": "Exp", "exp2": "Exp2", "log": "Log", "log2": "Log2",
    "sin": "Sin", "cos": "Cos", "tan": "Tan", "pow": "Pow",
}


class GlslMath:
    """Functions for one module."""

    def __init__(self, b: Builder, target: Target) -> None:
        self.b, self.target = b, target

    def call(self, name: str, *operands: Value) -> Value:
        if name not in DIRECT:
            raise NotImplementedError(f"no function {name} for {scalar_type(operands[0].type)} in Vulkan")
        return self.b.module.ext(GLSL, DIRECT[name], *operands, type=operands[0].type)
