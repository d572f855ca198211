"""Random functions whose gradients hang on a maximum, for tools/inductor_graphs.py.

    y = (x.exp() * (b).softmax(2)).sigmoid()
    return y - y.amax(2, keepdim=True)

The gradient of a maximum goes to the elements that are equal to it, so a backward kernel that computes y
again has to find the same bits as the forward kernel: else none is equal, and the gradient is NaN.
"""

from __future__ import annotations

import random

import torch

#: of one value: pointwise, and over a row
FUNCTIONS = (
    "{}.exp()", "{}.sin()", "{}.cos()", "{}.sigmoid()", "{}.tanh()", "({} * 0.7)", "({} + 0.3)",
    "{}.abs().sqrt()", "({}.abs() + 1).log()", "(1 / ({}.abs() + 1))", "({} ** 2)", "({} ** 3)",
    "torch.erf({})", "F.gelu({})", "F.silu({})", "({}.abs() + 1).rsqrt()", "torch.expm1({}.clamp(max=3))",
    "torch.log1p({}.abs())", "torch.atan({})", "F.softplus({})", "({} / 3.3)", "{}.softmax(2)",
    "({0} - {0}.mean(2, keepdim=True))", "F.layer_norm({}, x.shape[2:])")
#: rows, and numbers in each
SIZES = ((3, 7), (2, 65), (40, 50)), (8, 8, 17, 64, 300)
#: of two
PAIRS = ("({} + {})", "({} * {})", "({} - {})", "({} / ({}.abs() + 1))", "torch.maximum({}, {})",
         "torch.where(x > 0, {}, {})", "({} * 0.5 + {})")
#: what becomes of y and its maximum
ENDS = ("y - m", "y * m", "(y - m).exp()", "y / (m.abs() + 1)")


class Maximum:
    """Function number n is the same in every run of one version of torch and of this file."""

    halves, dynamic, differentiated = False, False, True

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        torch.manual_seed(number)
        shape = (*self.random.choice(SIZES[0]), self.random.choice(SIZES[1]))
        self.inputs = [torch.randn(shape) for _ in range(3)]
        self.lines = [f"y = {self.value(self.random.randint(2, 4))}",
                      f"m = y.{self.random.choice(('amax', 'amin'))}(2, keepdim=True)"]
        self.result = self.random.choice(ENDS)

    def value(self, depth: int) -> str:
        """An expression so deep."""
        if not depth:
            return self.random.choice(("x", "b", "c"))
        if self.random.random() < 0.55:
            return self.random.choice(FUNCTIONS).format(self.value(depth - 1))
        return self.random.choice(PAIRS).format(self.value(depth - 1), self.value(depth - 1))

    def source(self) -> str:
        """Of `program`."""
        return "\n    ".join(["def program(x, b, c):", *self.lines, f"return ({self.result},)"]) + "\n"
