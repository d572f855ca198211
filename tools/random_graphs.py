"""Random functions of tensors, in torch's operations, for tools/inductor_graphs.py.

Graph number n is the same in every run of one version of torch and of this file: a function of some tensors
(broadcast, transposed, sliced, of several types), 6 to 24 lines long. It is written while it runs, so that
shapes and types are known. Comparisons, roundings and indices are made of exact values only, so that a last
bit decides nothing; what rounds may be compared with a tolerance.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import torch

#: lengths of axes, and the most elements of a value
LENGTHS, LARGEST = (1, 2, 3, 5, 7, 8, 16, 17, 31, 32, 33, 64, 65, 100, 128, 257, 300), 60_000
FLOATS = {torch.float32: "torch.float32", torch.float16: "torch.float16", torch.bfloat16: "torch.bfloat16"}

@dataclass(frozen=True)
class Value:
    """A line's result. exact: it is not rounded, so that eager mode has the same bits."""

    name: str
    tensor: torch.Tensor
    exact: bool

    @property
    def is_float(self) -> bool:
        return self.tensor.dtype.is_floating_point

    @property
    def rank(self) -> int:
        return self.tensor.dim()


class Graph:
    """A function of tensors, written line by line and run as it is written."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(number)
        self.lines: list[str] = []
        self.values: list[Value] = []
        self.inputs: list[torch.Tensor] = []
        self.halves = self.random.random() < 0.2
        self.differentiated = not self.halves and self.random.random() < 0.4
        self.dynamic = self.random.random() < 0.25
        torch.manual_seed(number)
        self._draw_inputs()
        end = self.random.randrange(6, 25)
        while len(self.lines) < end:
            self.random.choice(RULES)(self)
        self.outputs = self._unused()

    # ---- writing

    def add(self, text: str, exact: bool) -> Value | None:
        """Append `name = text` if eager mode takes it and the result is of a sensible size."""
        names = {value.name: value.tensor for value in self.values}
        try:
            tensor = eval(text, {"torch": torch, "F": torch.nn.functional}, names)
        except (RuntimeError, IndexError, TypeError, NotImplementedError):
            return None
        if not isinstance(tensor, torch.Tensor) or not 0 < tensor.numel() <= LARGEST:
            return None
        if tensor.dtype.is_floating_point and not (tensor.isfinite().all() and tensor.abs().max() < 1e4):
            return None
        value = Value(f"v{len(self.values)}", tensor, exact)
        self.values.append(value)
        self.lines.append(f"{value.name} = {text}")
        return value

    def any(self, wanted: Callable[[Value], bool]) -> Value | None:
        """One of the values that are wanted, later ones more often."""
        found = [value for value in self.values if wanted(value)]
        return self.random.choice(found[-4:] if self.random.random() < 0.7 else found) if found else None

    def partner(self, value: Value, wanted: Callable[[Value], bool]) -> Value | None:
        """A value that broadcasts with this one."""
        def fits(other: Value) -> bool:
            try:
                return torch.broadcast_shapes(value.tensor.shape, other.tensor.shape).numel() <= LARGEST
            except RuntimeError:
                return False
        return self.any(lambda other: wanted(other) and fits(other))

    def axis(self, value: Value) -> int:
        return self.random.randrange(-value.rank, 0)

    # ---- inputs and outputs

    def _draw_inputs(self) -> None:
        while True:
            shape = [self.random.choice(LENGTHS) for _ in range(self.random.randrange(1, 5))]
            if 4 <= torch.Size(shape).numel() <= LARGEST // 4:
                break
        types = list(FLOATS) if self.halves else [torch.float32]
        for place in range(self.random.randrange(2, 5)):
            own = list(shape) if place == 0 else [1 if self.random.random() < 0.25 else n for n in shape]
            if place and self.random.random() < 0.25:
                own = own[self.random.randrange(len(own)):]
            kind = self.random.random()
            if place and kind < 0.2:
                tensor = torch.randint(-50, 50, own)
            elif place and kind < 0.3:
                tensor = torch.rand(own) < 0.5
            else:
                tensor = torch.randn(own, dtype=torch.float32).to(self.random.choice(types))
            self._place(tensor)

    def _place(self, tensor: torch.Tensor) -> None:
        """An input in memory as torch's users have it: dense, transposed, or a part of something larger."""
        way = self.random.random()
        if tensor.dim() >= 2 and way < 0.2:
            tensor = tensor.transpose(-1, -2).contiguous().transpose(-1, -2)
        elif way < 0.35:
            length = tensor.shape[-1]
            longer = torch.cat([tensor, tensor, tensor], -1)
            tensor = longer[..., 1:1 + 2 * length:2] if way < 0.28 else longer[..., 1:1 + length]
        self.inputs.append(tensor)
        self.values.append(Value(f"v{len(self.values)}", tensor, True))

    def _unused(self) -> list[str]:
        """The results that no line reads, and one that some do."""
        text = "\n".join(line.partition("=")[2] for line in self.lines) + "\n"
        made = [value.name for value in self.values[len(self.inputs):]]
        names = [name for name in made if not any(f"{name}{end}" in text for end in " ,.)[]\n")]
        return names + [name for name in made[:1] if name not in names]

    def source(self) -> str:
        names = ", ".join(f"v{place}" for place in range(len(self.inputs)))
        body = "".join(f"    {line}\n" for line in (*self.lines, f"return {', '.join(self.outputs)},"))
        return f"def program({names}):\n{body}"


# ---- rules: each appends a line, or nothing where no value suits

UNARY = ("{0}.abs()", "-{0}", "F.relu({0})", "torch.clamp({0}, -1.5, 2.0)", "torch.maximum({0}, -{0} * 0.5)")
ROUNDING = ("torch.tanh({0})", "torch.sigmoid({0})", "F.gelu({0})", "F.silu({0})", "torch.exp(-{0}.abs())",
            "torch.log1p({0}.abs())", "torch.rsqrt({0}.abs() + 1)", "torch.sin({0})", "torch.cos({0})",
            "torch.erf({0})", "({0} * {0} + 1).sqrt()", "1 / (1 + {0} * {0})", "F.softplus({0})",
            "F.leaky_relu({0}, 0.1) * 0.7", "torch.atan({0})", "torch.expm1(-{0}.abs())",
            "F.hardswish({0})")
BINARY = ("torch.maximum({0}, {1})", "torch.minimum({0}, {1})", "{0} + {1}", "{0} - {1}", "{0} * {1}",
          "{0} / ({1}.abs() + 1)", "torch.atan2({0}, {1}.abs() + 1)", "torch.hypot({0}, {1})",
          "torch.lerp({0}, {1}, 0.25)", "torch.addcmul({0}, {0}, {1}, value=0.5)")
INTEGERS = ("{0} + {1}", "{0} * 3 - {1}", "{0} ^ {1}", "{0} & {1}", "{0} | {1}", "{0} // ({1}.abs() + 1)",
            "{0} % ({1}.abs() + 1)", "torch.div({0}, {1}.abs() + 1, rounding_mode='trunc')",
            "torch.maximum({0}, {1})", "torch.bitwise_right_shift({0}, 2)", "torch.fmod({0}, {1}.abs() + 2)")
COMPARISONS = ("{0} < {1}", "{0} >= {1}", "{0} == {1}", "{0} != {1}", "{0} > {1}")
SUMS = ("{0}.sum({1}, keepdim={2})", "{0}.mean({1}, keepdim={2})", "{0}.var({1}, keepdim={2})",
        "{0}.logsumexp({1}, keepdim={2})", "torch.linalg.vector_norm({0}, dim={1}, keepdim={2})",
        "{0}.std({1}, keepdim={2}, correction=0)")
ROWS = ("F.softmax({0}, {1})", "F.log_softmax({0}, {1})", "torch.cumsum({0}, {1})",
        "F.normalize({0}, dim={1})", "torch.logcumsumexp({0}, {1})", "{0} - {0}.mean({1}, keepdim=True)",
        "{0}.sum({1}, keepdim=True) + {0}")
EXACT_REDUCTIONS = ("{0}.amax({1}, keepdim={2})", "{0}.amin({1}, keepdim={2})",
                    "{0}.max({1}, keepdim={2}).values", "{0}.argmax({1}, keepdim={2})")
EXACT_ROWS = ("torch.flip({0}, [{1}])", "torch.roll({0}, 3, {1})", "torch.sort({0}, {1}, stable=True).values",
              "torch.cummax({0}, {1}).values", "torch.cat([{0}, {0}.flip([{1}])], {1})",
              "torch.repeat_interleave({0}, 2, {1})", "torch.stack([{0}, {0} * 2], {1})",
              "{0}.unsqueeze({1})", "torch.chunk({0}, 2, {1})[-1]",
              "torch.narrow({0}, {1}, 0, ({0}.shape[{1}] + 1) // 2)")
MOVES = ("{0}.transpose(0, -1)", "{0}.reshape(-1)", "{0}.flatten(0, -2)", "{0}.unflatten(-1, (-1, 2))",
         "{0}[..., ::2]", "{0}[..., 1:]", "{0}[:, None]", "F.pad({0}, (1, 2))",
         "F.pad({0}, (2, -1), value=0.5)", "{0}.contiguous()",
         "torch.tril({0})", "torch.triu({0}, 1)", "{0}.mT.contiguous()",
         "F.pad({0}, (1, 1), mode='reflect')", "{0}.movedim(-1, 0).clone()", "{0}.expand(2, *{0}.shape)")
IMAGES = ("F.max_pool2d({0}, 2)", "F.max_pool2d({0}, 3, 2, 1)", "F.interpolate({0}, scale_factor=2)",
          "F.pixel_shuffle({0}.repeat(1, 4, 1, 1), 2)")
ROUNDING_IMAGES = ("F.avg_pool2d({0}, 2)", "F.avg_pool2d({0}, 3, 1, 1)", "F.adaptive_avg_pool2d({0}, 2)",
                   "F.interpolate({0}, scale_factor=1.5, mode='bilinear')")


def _number(value: Value) -> bool:
    return value.tensor.dtype != torch.bool


def _integer(value: Value) -> bool:
    return value.tensor.dtype == torch.int64


def _exact(value: Value) -> bool:
    return value.exact and _number(value)


def unary(graph: Graph) -> None:
    if value := graph.any(lambda v: v.is_float):
        exact = graph.random.random() < 0.2
        graph.add(graph.random.choice(UNARY if exact else ROUNDING).format(value.name),
                  exact and value.exact and not graph.halves)


def binary(graph: Graph) -> None:
    if (left := graph.any(lambda v: v.is_float)) and (right := graph.partner(left, _number)):
        place = graph.random.randrange(len(BINARY))
        graph.add(BINARY[place].format(left.name, right.name), place < 2 and left.exact and right.exact)


def integers(graph: Graph) -> None:
    if (left := graph.any(_integer)) and (right := graph.partner(left, _integer)):
        graph.add(graph.random.choice(INTEGERS).format(left.name, right.name), True)


def selection(graph: Graph) -> None:
    """where and masked_fill, by a mask that was there or a comparison of exact values."""
    mask = graph.any(lambda v: v.tensor.dtype == torch.bool)
    if mask is None or graph.random.random() < 0.6:
        if (left := graph.any(_exact)) and (right := graph.partner(left, _exact)):
            mask = graph.add(graph.random.choice(COMPARISONS).format(left.name, right.name), True)
    if mask and (one := graph.partner(mask, _number)):
        if graph.random.random() < 0.3:
            graph.add(f"{one.name}.masked_fill({mask.name}, 2)", one.exact)
        elif other := graph.partner(one, lambda v: v.tensor.dtype == one.tensor.dtype):
            graph.add(f"torch.where({mask.name}, {one.name}, {other.name})", one.exact and other.exact)


def _dims(graph: Graph, value: Value) -> str:
    dims = graph.random.sample(range(value.rank), graph.random.randrange(1, value.rank + 1))
    return str(tuple(sorted(dims)))


def sums(graph: Graph) -> None:
    if value := graph.any(lambda v: v.is_float and v.rank > 0):
        graph.add(graph.random.choice(SUMS).format(value.name, _dims(graph, value),
                                                   graph.random.random() < 0.6), False)


def exact_reductions(graph: Graph) -> None:
    if value := graph.any(lambda v: _exact(v) and v.rank > 0):
        graph.add(graph.random.choice(EXACT_REDUCTIONS).format(value.name, graph.axis(value),
                                                              graph.random.random() < 0.6), True)


def rows(graph: Graph) -> None:
    if value := graph.any(lambda v: v.is_float and v.rank > 0):
        graph.add(graph.random.choice(ROWS).format(value.name, graph.axis(value)), False)


def layer_norm(graph: Graph) -> None:
    if value := graph.any(lambda v: v.is_float and v.rank > 0 and v.tensor.shape[-1] > 2):
        graph.add(f"F.layer_norm({value.name}, {value.name}.shape[-1:])", False)


def exact_rows(graph: Graph) -> None:
    if value := graph.any(lambda v: v.exact and v.rank > 0):
        graph.add(graph.random.choice(EXACT_ROWS).format(value.name, graph.axis(value)), True)


def moves(graph: Graph) -> None:
    if value := graph.any(lambda v: v.rank > 0):
        graph.add(graph.random.choice(MOVES).format(value.name), value.exact)


def images(graph: Graph) -> None:
    value = graph.any(lambda v: v.tensor.dtype == torch.float32 and v.rank >= 3)
    if value:
        name = value.name if value.rank == 4 else f"{value.name}.reshape(1, -1, *{value.name}.shape[-2:])"
        exact = graph.random.random() < 0.5
        text = graph.random.choice(IMAGES if exact else ROUNDING_IMAGES)
        graph.add(text.format(name), exact and value.exact)


def gathers(graph: Graph) -> None:
    """Rows by an index that is computed, in bounds by its remainder."""
    if (value := graph.any(lambda v: v.rank > 0)) and (index := graph.any(_integer)):
        at = graph.axis(value)
        inside = f"({index.name} % {value.name}.shape[{at}])"
        way = graph.random.randrange(4)
        if way == 0:
            graph.add(f"torch.index_select({value.name}, {at}, {inside}.reshape(-1))", value.exact)
        elif way == 1:
            graph.add(f"F.embedding({index.name} % {value.name}.shape[0], "
                      f"{value.name}.reshape({value.name}.shape[0], -1))", value.exact)
        elif way == 2:
            graph.add(f"torch.take_along_dim({value.name}, {inside}, {at})", value.exact)
        else:
            graph.add(f"{value.name}[{index.name} % {value.name}.shape[0]]", value.exact)


def scatters(graph: Graph) -> None:
    if (value := graph.any(lambda v: v.tensor.dtype == torch.float32 and v.rank > 0)) and \
            (index := graph.any(_integer)):
        rows = f"({index.name}.reshape(-1) % 9)"
        graph.add(f"{value.name}.new_zeros(9).index_add(0, {rows}[:{value.name}.numel()], "
                  f"{value.name}.reshape(-1)[:{rows}.numel()])", False)


def in_place(graph: Graph) -> None:
    """A copy that is changed: operators with an underscore, parts that are assigned."""
    if value := graph.any(lambda v: v.is_float and v.rank > 0):
        ways = ("{0}.clone().mul_(0.5)", "{0}.clone().clamp_(-1, 1)",
                "{0}.index_fill(-1, torch.tensor([0]), 3.0)",
                "torch.slice_scatter({0}, {0}[..., :1] * 2, -1, 0, 1)",
                "torch.select_scatter({0}, {0}.select(0, 0) + 1, 0, {0}.shape[0] - 1)",
                "{0}.clone().copy_({0}.flip([-1]))")
        graph.add(graph.random.choice(ways).format(value.name), False)


def products(graph: Graph) -> None:
    ways = "({0} @ {0}.mT) / {0}.shape[-1]", "F.gelu(F.linear({0}, {0}.reshape(-1, {0}.shape[-1])[:7]))"
    if value := graph.any(lambda v: v.tensor.dtype == torch.float32 and v.rank >= 2):
        graph.add(graph.random.choice(ways).format(value.name), False)


def casts(graph: Graph) -> None:
    if value := graph.any(lambda v: v.exact and not graph.halves):
        if value.is_float:
            graph.add(f"{value.name}.floor().to(torch.int64)", True)
        else:
            graph.add(f"{value.name}.to(torch.float32)", True)


def halves(graph: Graph) -> None:
    if graph.halves and (value := graph.any(lambda v: v.is_float)):
        graph.add(f"{value.name}.to({graph.random.choice(list(FLOATS.values()))})", False)


#: as often as they stand here
RULES = (unary, unary, unary, binary, binary, binary, integers, integers, selection, selection, sums, sums,
         rows, layer_norm, exact_reductions,
         exact_rows, exact_rows, moves, moves, moves, images, gathers, gathers,
         scatters, in_place, products, casts, halves, halves)
