"""Products with their innermost loop forced into other shapes, beside torch, by processor time of one core.

    python benchmarks/tiles.py [--tiles 8x2,12x2] [--turns 2,4] [--left ,staged] [--result ,array]
                               [--blocks 128x128x64] [--sizes 512,4096x128x512] [--type f32]
                               [--seconds 0.3] [--instructions avx2] [--profile FILE]

A tile is rows x vectors of the result that are summed in registers; a turn is how many steps along K one
round of the innermost loop takes. "chosen" is what the compiler decides by itself. Each figure is in GFLOP/s:
the best of calls taken in turns with torch's and with the other variants', and the median in brackets. A size
is N, MxNxK or BxMxNxK.

--profile writes where the program counter was, and the machine code around it.
"""

from __future__ import annotations

import argparse
import collections
import ctypes
import itertools
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TRITON_SPIRV_BACKEND"] = "1"  # before triton is imported
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")
_cache = tempfile.TemporaryDirectory(prefix="triton-spirv-tiles-")
os.environ["TRITON_CACHE_DIR"] = _cache.name
sys.path.insert(0, str(Path(__file__).parent))

TYPES = {"f32": "float32", "f16": "float16", "bf16": "bfloat16", "i8": "int8"}


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Products with forced shapes of their innermost loop.")
    parser.add_argument("--tiles", default="chosen", help="chosen, or rows x vectors, separated by commas")
    parser.add_argument("--turns", default="", help="steps along K in one round of the innermost loop")
    parser.add_argument("--left", default="", help="staged: never read where it lies; commas for several")
    parser.add_argument("--result", default="",
                        help="array: tiles neither begin with zero nor go straight to memory")
    parser.add_argument("--blocks", default="128x128x64", help="BM x BN x BK of the kernel")
    parser.add_argument("--sizes", default="512,1024", help="N, MxNxK or BxMxNxK")
    parser.add_argument("--type", choices=TYPES, default="f32")
    parser.add_argument("--seconds", type=float, default=0.3, help="for each figure")
    parser.add_argument("--instructions", choices=["avx2"])
    parser.add_argument("--profile", help="a file for samples of the program counter")
    options = parser.parse_args()
    if options.instructions:
        from cpu import INSTRUCTIONS
        os.environ.update(INSTRUCTIONS[options.instructions])
    return options


def numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split("x")))


def force(tile: str, turn: str, left: str, result: str) -> None:
    """From here on, kernels are compiled so."""
    from triton_spirv.lower.control import control_flow
    from triton_spirv.lower.products import decide, dot, tile_product

    for module, name, never in (
            *((module, "in_memory", left == "staged") for module in (dot, tile_product)),
            *((module, "straight_to_memory", result == "array") for module in (dot, tile_product)),
            (control_flow, "zeroed_carrier", result == "array")):
        own = vars(module).setdefault(f"_{name}", getattr(module, name))
        setattr(module, name, (lambda *_, **__: None) if never else own)
    original = vars(decide).setdefault("_micro_tile", decide.micro_tile)
    decide.UNROLLED = int(turn) if turn else vars(decide).setdefault("_unrolled", decide.UNROLLED)  # type: ignore
    if tile == "chosen":
        decide.micro_tile = original
        return
    height, across = numbers(tile)

    def micro_tile(target: Any, rows: int, vectors: int, bits: int, added: bool = True) -> tuple[int, int]:
        high, wide = min(height, rows), min(across, vectors)
        return -(-rows // -(-rows // high)), wide
    decide.micro_tile = micro_tile  # type: ignore[assignment]


def variant(forced: tuple[str, str, str, str], block: tuple[int, ...], shape: tuple[int, ...],
            tensors: Any) -> Callable[[], object]:
    """Ours, compiled with forced choices."""
    import triton
    from workloads import products

    batch, m, n, k = shape
    a, b, c = tensors
    kernel = triton.jit(products.matmul_kernel.fn.fn)
    os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp(dir=_cache.name)
    force(*forced)
    grid = (triton.cdiv(m, block[0]), triton.cdiv(n, block[1]), batch)

    def ours() -> object:
        kernel[grid](a, b, c, m, n, k, batch, m * k, k * n, m * n, *block)
        return c
    ours()
    return ours


def operands(shape: tuple[int, ...], type: str) -> tuple[Any, Any, Any, Any]:
    """a [batch, M, K], b [batch, K, N], where their product goes, and torch's function for it."""
    import torch

    kind, whole = getattr(torch, TYPES[type]), type == "i8"
    batch, m, n, k = shape

    def matrix(*sizes: int) -> torch.Tensor:
        return torch.randint(-64, 64, sizes, dtype=kind) if whole else torch.randn(sizes).to(kind)
    a, b = matrix(batch, m, k), matrix(batch, k, n)
    c = torch.empty(batch, m, n, dtype=torch.int32 if whole else kind)

    def theirs() -> torch.Tensor:
        return torch._int_mm(a[0], b[0])[None] if whole else a @ b
    return a, b, c, theirs


def compare(size: str, options: argparse.Namespace) -> None:
    """One size: a line for each variant."""
    shape = numbers(size)
    shape = (1, *shape * 3) if len(shape) == 1 else (1, *shape) if len(shape) == 3 else shape
    a, b, c, theirs = operands(shape, options.type)
    expected = theirs().double()
    actions: dict[str, Callable[[], object]] = {"torch": theirs}
    choices = options.tiles, options.turns, options.left, options.result
    for forced in itertools.product(*(x.split(",") for x in choices)):
        for block in options.blocks.split(","):
            ours = variant(forced, numbers(block), shape, (a, b, c))
            error = (c.double() - expected).abs().max() / expected.abs().max()
            if not error < 2e-2:
                raise SystemExit(f"{forced} {block}: wrong by {error}")
            tile, turn, left, result = forced
            actions[f"{tile:>7} turn {turn or '-'} {left:6} {result:5} {block}"] = ours
    batch, m, n, k = shape
    rates = measured(actions, 2.0 * batch * m * n * k, options.seconds)
    print(f"\n{options.type} {size}")
    for name, (rate, middle) in rates.items():
        ratio = rate / rates["torch"][0]
        print(f"  {name:42} {rate:7.1f} ({middle:.1f})  {ratio:.2f} of torch", flush=True)
    for name, action in actions.items() if options.profile else ():
        profile(f"{options.type} {size} {name}", action, options.profile)


def main() -> None:
    options = parsed()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    import torch

    torch.set_num_threads(1)
    from report import introduced

    introduced()
    for size in options.sizes.split(","):
        compare(size, options)


def measured(actions: dict[str, Callable[[], object]], work: float,
             seconds: float) -> dict[str, tuple[float, float]]:
    """GFLOP/s by processor time: of the best call, and of the median."""
    times: dict[str, list[int]] = {name: [] for name in actions}
    end = time.perf_counter() + seconds * len(actions)
    while time.perf_counter() < end or len(times["torch"]) < 3:
        for name, action in actions.items():
            action()
            for _ in range(3):
                start = time.process_time_ns()
                action()
                times[name].append(time.process_time_ns() - start)
    return {name: (work / min(taken), work / sorted(taken)[len(taken) // 2]) for name, taken in times.items()}


def profile(name: str, action: Callable[[], object], path: str) -> None:
    """Half a second of samples, and the code around them."""
    from triton_spirv.runtime.sampling import Sampler

    sampler = Sampler()
    found: list[int] = []
    try:
        end = time.perf_counter() + 0.4
        while time.perf_counter() < end:
            sampler.start()
            action()
            found += sampler.stop()
    except OSError as error:
        print(f"no samples: {error!r}")
        return
    counts = collections.Counter(found)
    with open(path, "a", encoding="ascii") as file:
        file.write(f"# {name}: {len(found)} samples\n")
        pages = collections.Counter(dict.fromkeys((), 0))
        for address, count in counts.items():
            pages[address >> 12] += count
        for page, count in sorted(pages.items()):
            if count * 100 < len(found):
                continue
            code = ctypes.string_at(page << 12, 4096).hex()
            file.write(f"page {page << 12:x} {count} {code}\n")
        for address, count in sorted(counts.items()):
            file.write(f"at {address:x} {count}\n")


if __name__ == "__main__":
    main()
