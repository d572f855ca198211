"""torch.compile through this package on torch's own database of operators, compared with eager mode.

    python tools/inductor_operators.py                              # every operator, float32
    python tools/inductor_operators.py --from 100 --to 140 --dtype int64 --samples 5
    python tools/inductor_operators.py --only softmax,cumsum --blocks 7

With `--blocks SEED` each kernel gets block sizes drawn at random. Operators run in a child;
after a crash or a hang the next child goes on. The database needs the package expecttest. Outcomes:

passed    the values of eager mode, and at least one Triton kernel was launched
fallback  the values of eager mode, but Inductor calls torch's own kernels
eager     torch refuses the sample in eager mode, or the operator does not take the type
wrong     other values; compare with Inductor's C++ backend (--cpp) before you blame a kernel
failed    compiling or launching raised an error
crashed, timeout   the child process died or gave no answer in time
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import triton_spirv

#: (relative, absolute): Inductor sums in another order and rounds at other places than eager mode
TOLERANCES = {"float32": (1e-4, 1e-4), "float16": (1e-2, 1e-2), "bfloat16": (5e-2, 5e-2)}

#: the block sizes that are drawn at random, and the most elements of a tile
BLOCKS, LARGEST_TILE = (1, 8, 64, 128, 256, 512, 1024, 2048, 4096), 32768

launched = 0


def set_up_inductor() -> None:
    """Numbers that can be compared, nothing from a cache, and a count of the launches."""
    import torch
    from torch._inductor import config
    from torch._inductor.runtime import triton_heuristics

    torch.set_num_threads(1)
    config.compile_threads = 1
    config.fallback_random = True
    config.emulate_precision_casts = True
    config.force_disable_caches = True
    run = triton_heuristics.CachingAutotuner.run

    def counted(self: Any, *args: Any, **keywords: Any) -> Any:
        global launched
        launched += 1
        return run(self, *args, **keywords)

    triton_heuristics.CachingAutotuner.run = counted


def _axis(block: str) -> str:
    """XBLOCK -> x, R0_BLOCK -> r0_: the axis among Inductor's size hints."""
    return block.removesuffix("BLOCK").lower()


def draw_blocks(generator: random.Random) -> None:
    """Every kernel of Inductor gets one configuration with block sizes drawn at random."""
    from torch._inductor.runtime import triton_heuristics
    build = triton_heuristics.cached_autotune

    def with_other_blocks(size_hints: Any, configs: list[Any], *args: Any, **keywords: Any) -> Any:
        chosen = configs[0]
        names = [name for name in chosen.kwargs if name.endswith("BLOCK")]
        if "RSPLIT_SIZE" not in chosen.kwargs:
            # a persistent reduction holds its whole row, whose length is no argument of the configuration
            rows = [hint for axis, hint in (size_hints or {}).items()
                    if axis.startswith("r") and axis not in map(_axis, names)]
            left = max(1, LARGEST_TILE // max([1, *rows]))
            # where an axis has one element, Inductor writes no mask: its block is 1
            wide = [name for name in names if (size_hints or {}).get(_axis(name), 1) > 1]
            for name in generator.sample(wide, len(wide)):
                largest = triton_heuristics.TRITON_MAX_BLOCK[name.removesuffix("BLOCK")]
                size = generator.choice([size for size in BLOCKS if size <= min(left, largest)])
                chosen.kwargs[name], left = size, left // size
            chosen.num_warps = generator.choice((1, 2, 4, 8))
        return build(size_hints, [chosen], *args, **keywords)

    triton_heuristics.cached_autotune = with_other_blocks


def operators(only: str | None = None) -> list[Any]:
    from torch.testing._internal.common_methods_invocations import op_db
    names = only.split(",") if only else []  # without "empty": such values are anything
    return [op for op in op_db if (op.name in names if names else "empty" not in op.name)]


def _clone(value: Any) -> Any:
    import torch
    from torch.utils._pytree import tree_map_only

    return tree_map_only(torch.Tensor, lambda t: t.detach().clone(memory_format=torch.preserve_format), value)


def short(error: BaseException) -> str:
    return f"{type(error).__name__}: " + " / ".join(str(error).strip().splitlines()[:12])[:1200]


def check(op: Any, dtype: str, samples: int) -> tuple[str, str]:
    """Run one operator's samples, all in one graph, compiled and eager -> (outcome, what there is to say)."""
    import torch

    if getattr(torch, dtype) not in op.supported_dtypes("cpu"):
        return "eager", "no such type"
    torch.manual_seed(0)
    try:
        inputs = sorted(op.sample_inputs("cpu", getattr(torch, dtype)), reverse=True,
                        key=lambda s: s.input.numel() if isinstance(s.input, torch.Tensor) else 0)
        chosen = inputs[:1] + random.Random(op.name).sample(inputs[1:], min(samples, len(inputs)) - 1)
        arguments = [(s.input, s.args, s.kwargs) for s in chosen]

        def program(arguments: Any) -> list[Any]:
            return [op(first, *more, **keywords) for first, more, keywords in arguments]

        torch.manual_seed(1)
        expected = program(_clone(arguments))
    except Exception as error:
        return "eager", short(error)
    before = launched
    torch._dynamo.reset()
    try:
        torch.manual_seed(1)
        found = torch.compile(program, dynamic=False)(_clone(arguments))
    except Exception as error:
        return "failed", short(error)
    relative, absolute = TOLERANCES.get(dtype, (1e-6, 1e-6))
    try:
        torch.testing.assert_close(found, expected, rtol=relative, atol=absolute, equal_nan=True)
    except Exception as error:
        return "wrong", short(error)
    return ("passed" if launched > before else "fallback"), ""


def child(arguments: argparse.Namespace) -> None:
    """Check operators `--from` to `--to`; a line of JSON before and after each."""
    if not arguments.cpp:
        triton_spirv.inductor.enable()
    set_up_inductor()
    generator = random.Random()
    if arguments.blocks is not None:
        draw_blocks(generator)
    ops = operators(arguments.only)
    for place in range(arguments.first, min(arguments.end, len(ops)), arguments.step):
        name = ".".join(filter(None, (ops[place].name, ops[place].variant_test_name)))
        print(json.dumps({"place": place, "name": name}), flush=True)
        generator.seed(f"{arguments.blocks} {name}")
        outcome, text = check(ops[place], arguments.dtype, arguments.samples)
        print(json.dumps({"place": place, "outcome": outcome, "text": text}), flush=True)


def children(command: Callable[[int], list[str]], place: int, end: int, step: int,
             timeout: float) -> dict[str, list[str]]:
    """Start children, each from where the one before it ended -> the names by outcome. `command` gives the
    arguments of Python for a child that begins at a place."""
    outcomes: dict[str, list[str]] = collections.defaultdict(list)
    while place < end:
        process = subprocess.Popen([sys.executable, "-W", "ignore", *command(place)], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, start_new_session=True)
        name, lost = "", ""
        assert process.stdout is not None
        while place < end:
            ready, _, _ = select.select([process.stdout], [], [], timeout)
            line = process.stdout.readline() if ready else ""
            if not line:
                lost = "crashed" if ready else "timeout"
                break
            if not line.startswith('{"place"'):
                continue  # a program's own print
            said = json.loads(line)
            if "name" in said:
                name = said["name"]
                continue
            outcomes[said["outcome"]].append(name)
            if said["outcome"] in ("wrong", "failed"):
                print(f"{said['outcome']:8} {said['place']} {name}: {said['text']}", flush=True)
            place = said["place"] + step
        if lost:
            outcomes[lost].append(name)
            print(f"{lost:8} {place} {name}", flush=True)
            place += step
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return outcomes


def parent(arguments: argparse.Namespace) -> dict[str, list[str]]:
    """Every operator, in children with this process' own arguments but another first operator."""
    end = min(arguments.end, len(operators(arguments.only)))
    return children(lambda place: [__file__, *sys.argv[1:], "--child", "--from", str(place)],
                    arguments.first, end, arguments.step, arguments.timeout)


def main() -> None:
    parser = argparse.ArgumentParser(description="torch.compile on torch's database of operators")
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first operator's place")
    parser.add_argument("--to", dest="end", type=int, default=1 << 30, help="where to stop")
    parser.add_argument("--step", type=int, default=1, help="every how manyth operator")
    parser.add_argument("--only", help="names of operators, with commas; places count among these")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--samples", type=int, default=3, help="inputs of each operator")
    parser.add_argument("--blocks", type=int, help="draw block sizes at random, with this seed")
    parser.add_argument("--cpp", action="store_true", help="Inductor's C++ backend instead, to compare with")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one operator")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    arguments, start = parser.parse_args(), time.perf_counter()
    if arguments.child:
        return child(arguments)
    counts = ", ".join(f"{outcome} {len(names)}" for outcome, names in sorted(parent(arguments).items()))
    print(f"{counts or 'nothing run'}; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
