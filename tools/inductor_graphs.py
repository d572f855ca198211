"""Random graphs of torch operations under torch.compile, compared with eager mode.

    python tools/inductor_graphs.py --count 800              # graphs 0 to 799, each with random block sizes
    python tools/inductor_graphs.py --from 1234 --count 1 --show
    python tools/inductor_graphs.py --maxima --count 300     # those of random_maxima.py

The graphs are those of random_graphs.py; a third of them are differentiated, a quarter have dynamic shapes.
They run in a child, as operators do; outcomes are those of inductor_operators.py. What rounds is compared by
way of float64: values other than eager mode's are wrong if they are also further off.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import inductor_operators as operators
import torch
import triton_spirv
from random_graphs import Graph
from random_maxima import Maximum

#: how far values may be off, of the largest: float32, and what holds halves
CLOSE, CLOSE_HALVES = 1e-4, 5e-2


def copied(tensor: torch.Tensor) -> torch.Tensor:
    """With its strides and its offset, in storage of its own."""
    storage, empty = tensor.untyped_storage().clone(), torch.empty(0, dtype=tensor.dtype)
    return empty.set_(storage, tensor.storage_offset(), tensor.shape, tensor.stride())


def results(program: Callable[..., Any], inputs: list[torch.Tensor],
            differentiated: bool) -> list[torch.Tensor]:
    """The outputs, and the gradients of the floating-point inputs where it is differentiated."""
    inputs = [copied(tensor) for tensor in inputs]
    floats = [tensor.requires_grad_() for tensor in inputs if differentiated and tensor.is_floating_point()]
    outputs = list(program(*inputs))
    losses = [out for out in outputs if out.requires_grad]
    if losses:
        total = sum((out.to(torch.float64) * torch.linspace(0.5, 1, out.numel()).view(out.shape)).sum()
                    for out in losses)
        outputs += [one for one in torch.autograd.grad(total, floats, allow_unused=True) if one is not None]
    return [out.detach() for out in outputs]


def off(found: torch.Tensor, expected: torch.Tensor) -> float:
    """The largest distance, of the largest value; infinite where one of them has a NaN alone."""
    found, expected = found.to(torch.float64), expected.to(torch.float64)
    same = (found == expected) | (found.isnan() & expected.isnan())
    distance = torch.where(same, 0, (found - expected).abs())
    largest = expected.nan_to_num(0, 1, 1).abs().max().clamp(1)
    return float(distance.nan_to_num(nan=float("inf")).max() / largest)


def difference(found: list[torch.Tensor], expected: list[torch.Tensor],
               exact: Callable[[], list[torch.Tensor]], close: float) -> str:
    """What is wrong with the results, "" for nothing; `exact` computes them in float64."""
    for place, (one, other) in enumerate(zip(found, expected, strict=True)):
        if one.dtype != other.dtype or one.shape != other.shape:
            return f"result {place}: {one.dtype} {tuple(one.shape)}, not {other.dtype} {tuple(other.shape)}"
        if off(one, other) > (close if one.is_floating_point() else 0):
            truth = exact()[place]
            if off(one, truth) > 10 * off(other, truth) + close:
                return f"result {place} is {off(one, other):.2g} off, {off(one, truth):.2g} from float64's"
    return ""


def in_float64(inputs: list[torch.Tensor]) -> list[torch.Tensor]:
    return [tensor.to(torch.float64) if tensor.is_floating_point() else tensor for tensor in inputs]


def check(graph: Graph | Maximum) -> tuple[str, str]:
    """-> (outcome, what there is to say)."""
    names: dict[str, Any] = {"torch": torch, "F": torch.nn.functional}
    exec(graph.source(), names)
    program, wide = names["program"], dict(names)
    exec(graph.source().replace("torch.float32", "torch.float64"), wide)
    try:
        expected = results(program, graph.inputs, graph.differentiated)
    except RuntimeError as error:
        return "eager", str(error)
    before = operators.launched
    torch._dynamo.reset()
    try:
        found = results(torch.compile(program, dynamic=graph.dynamic), graph.inputs, graph.differentiated)
    except Exception as error:
        return "failed", operators.short(error)
    if graph.halves:
        text = difference(found, expected, lambda: expected, CLOSE_HALVES)
    else:
        text = difference(found, expected, lambda: results(wide["program"], in_float64(graph.inputs),
                                                           graph.differentiated), CLOSE)
    return ("wrong" if text else "passed" if operators.launched > before else "fallback"), text


def child(arguments: argparse.Namespace) -> None:
    if not arguments.cpp:
        triton_spirv.inductor.enable()
    operators.set_up_inductor()
    generator = random.Random()
    if not arguments.cpp and not arguments.maxima:  # sums in other blocks have other last bits
        operators.draw_blocks(generator)
    drawn = Maximum if arguments.maxima else Graph
    for number in range(arguments.first, arguments.first + arguments.count):
        print(json.dumps({"place": number, "name": f"graph {number}"}), flush=True)
        graph = drawn(number)
        generator.seed(number)
        outcome, text = check(graph)
        if outcome in ("wrong", "failed"):
            shapes = [(tuple(one.shape), one.stride(), str(one.dtype)) for one in graph.inputs]
            text += (f"\ninputs {shapes}, dynamic={graph.dynamic}, differentiated={graph.differentiated}\n"
                     f"{graph.source()}")
        print(json.dumps({"place": number, "outcome": outcome, "text": text}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="torch.compile on random graphs")
    parser.add_argument("--from", dest="first", type=int, default=0, help="number of the first graph")
    parser.add_argument("--count", type=int, default=100, help="how many graphs")
    parser.add_argument("--cpp", action="store_true", help="Inductor's C++ backend instead, to compare with")
    parser.add_argument("--maxima", action="store_true", help="functions whose gradients hang on a maximum")
    parser.add_argument("--show", action="store_true", help="print the graphs, run nothing")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one graph")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments, start = parser.parse_args(), time.perf_counter()
    last = arguments.first + arguments.count
    if arguments.show:
        drawn = Maximum if arguments.maxima else Graph
        return print("\n".join(drawn(number).source() for number in range(arguments.first, last)))
    if arguments.child:
        return child(arguments)

    def command(number: int) -> list[str]:
        more = [f"--{name}" for name in ("cpp", "maxima") if vars(arguments)[name]]
        return [__file__, "--child", "--from", str(number), "--count", str(last - number), *more]

    found = operators.children(command, arguments.first, last, 1, arguments.timeout)
    counts = ", ".join(f"{outcome} {len(names)}" for outcome, names in sorted(found.items()))
    print(f"{counts or 'nothing run'}; {time.perf_counter() - start:.0f} s")
    sys.exit(bool(found.keys() & {"wrong", "failed", "crashed", "timeout"}))


if __name__ == "__main__":
    main()
