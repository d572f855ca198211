"""How cost grows: run time over the size of the problem, compile time over the size of the block.

    python benchmarks/sweep.py [--quick] [--only run,compile] [--json FILE] [--plot FILE]

run      milliseconds over sizes, beside torch in the same run, and what an element or an operation costs
compile  milliseconds of processors over block sizes: the emitter, the driver, all of it, beside Triton's CUDA
         pipeline. Large tensors are walked by loops, so that a large block should cost what a small one does;
         "of the least" says how far that is so
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TRITON_SPIRV_BACKEND"] = "1"  # before triton is imported
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # what Triton 3.9 does, and warns of, when it is unset
_cache = tempfile.TemporaryDirectory(prefix="triton-spirv-benchmark-")
os.environ["TRITON_CACHE_DIR"] = _cache.name  # nothing compiled earlier takes part

sys.path.insert(0, str(Path(__file__).parent))

from measure import interleaved, table  # noqa: E402
from report import by_sections  # noqa: E402

ELEMENTS = 1 << 22  # of matrices whose rows grow


def run_cases(quick: bool) -> dict[str, list[tuple[int, Any]]]:
    """name -> (size, workload), by size."""
    import torch
    from workloads import attention, elementwise, movement, products, rows

    if quick:
        return {"add": [(n, elementwise.add(n)) for n in (1 << 8, 1 << 12)],
                "matmul": [(n, products.matmul(n, n, n)) for n in (32, 64)]}
    return {
        "add": [(n, elementwise.add(n)) for n in (1 << k for k in range(10, 26, 3))],
        "softmax, columns": [(n, rows.softmax(ELEMENTS // n, n)) for n in (64, 256, 1024, 4096, 16384)],
        "layer norm, columns": [(n, rows.layer_norm(ELEMENTS // n, n)) for n in (64, 256, 1024, 4096, 16384)],
        "sort, columns": [(n, movement.sort(ELEMENTS // 4 // n, n)) for n in (16, 64, 256, 1024)],
        "matmul": [(n, products.matmul(n, n, n)) for n in (64, 128, 256, 512, 1024, 2048)],
        "attention": [(n, attention.attention(n, False, torch.float32)) for n in (128, 512, 1024, 2048)],
    }


def run_section(quick: bool) -> dict[str, Any]:
    """Run time over the size of the problem."""
    result: dict[str, Any] = {}
    for name, cases in run_cases(quick).items():
        body: list[list[object]] = []
        result[name] = {}
        for size, workload in cases:
            error = workload.error()
            if not error <= workload.tolerance:
                raise SystemExit(f"{workload.name}: wrong by {error}, {workload.tolerance} allowed")
            taken = interleaved({"ours": workload.ours, "torch": workload.torch}, 0.05 if quick else 1.5,
                                turn=10)
            ours, theirs = taken["ours"], taken["torch"]
            work, unit = (workload.operations, "GFLOP/s") if workload.operations else (workload.bytes, "GB/s")
            body.append([size, ours, theirs, f"{theirs.median / ours.median:.2f}",
                         *(f"{work / side.median / 1e6:.1f}" for side in (ours, theirs)), unit])
            result[name][size] = taken
        head = ["size", "ours, ms", "torch, ms", "torch / ours", "rate, ours", "torch", ""]
        print(table(f"Run time, {name}", head, body), flush=True)
    return result


def block_cases(quick: bool) -> dict[str, list[tuple[str, tuple[str, dict[str, str], dict[str, int]]]]]:
    """name -> (block, an entry of compile_time.SOURCES), by size of block."""
    from compile_time import ADD, ATTENTION, LAYER_NORM, MATMUL, SOFTMAX

    def rows(kernel: str, types: dict[str, str], sizes: tuple[int, ...]) -> list[Any]:
        return [(str(n), (f"kernels.{kernel}", types, {"BLOCK": n})) for n in sizes]

    sizes = (64, 256, 1024, 4096, 16384)
    tile = {**dict.fromkeys(("x_ptr", "out_ptr"), "*fp32"), **dict.fromkeys(("rows", "columns"), "i32")}
    tiles = ((16, 16), (32, 64), (64, 64), (128, 128), (128, 256))
    products = ((16, 16, 16), (32, 32, 32), (64, 64, 32), (128, 128, 64), (128, 256, 64))
    blocks = ((16, 16), (32, 32), (64, 64), (128, 64), (128, 128))
    cases: dict[str, list[Any]] = {
        "add": rows("add_kernel", ADD, sizes),
        "softmax": rows("softmax_kernel", SOFTMAX, sizes),
        "layer norm": rows("layer_norm_kernel", LAYER_NORM, sizes),
        "exp of a tile": [(f"{m}x{n}", ("kernels.tile_kernel", tile, {"BM": m, "BN": n})) for m, n in tiles],
        "matmul": [(f"{m}x{n}x{k}", ("kernels.matmul_kernel", MATMUL, {"BM": m, "BN": n, "BK": k}))
                   for m, n, k in products],
        "attention": [(f"{m}x{n}", ("workloads.attention.attention_kernel", ATTENTION,
                                    {"CAUSAL": 0, "WIDTH": 64, "BM": m, "BN": n})) for m, n in blocks],
    }
    return {"add": cases["add"][:2]} if quick else cases


def compile_section(quick: bool) -> dict[str, Any]:
    """Compile time over the size of the block."""
    import compile_time

    result: dict[str, Any] = {}
    for name, cases in block_cases(quick).items():
        result[name] = {}
        for block, source in cases:
            entry = f"{name} {block}"
            compile_time.SOURCES[entry] = source
            sides = compile_time.timed_side_by_side(entry, 1 if quick else 3)
            kernel, _, _ = compile_time.compiled(entry, compile_time.target())
            result[name][block] = {**sides, "words": len(kernel.asm["spv"]) // 4}
        least = min(sides["ours"]["processor"].least for sides in result[name].values())
        body: list[list[object]] = []
        for block, sides in result[name].items():
            ours, cuda = sides["ours"], sides["cuda"]
            total, driver = ours["processor"].least, ours["driver processor"].least
            body.append([block, sides["words"], *(f"{x:.1f}" for x in (total - driver, driver, total)),
                         f"{total / least:.2f}", f"{cuda['processor'].least:.1f}",
                         f"{cuda['processor'].least / total:.2f}"])
        head = ["block", "words", "Triton and emitter", "driver", "in all", "of the least", "CUDA",
                "CUDA / ours"]
        print(table(f"Cold compile, {name}, milliseconds of processors, least", head, body), flush=True)
    return result


SECTIONS: dict[str, Callable[[bool], dict[str, Any]]] = {"run": run_section, "compile": compile_section}


def draw(path: str, results: dict[str, Any]) -> None:
    """A panel for each sweep: ours and what it is compared with over the size, on logarithmic scales."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = [(section, name, found) for section, group in results.items() for name, found in group.items()]
    columns = min(3, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(rows, columns, figsize=(4 * columns, 3 * rows), squeeze=False)
    for place, (section, name, found) in zip(axes.flat, panels, strict=False):
        positions = range(len(found))
        if section == "run":
            for side in ("ours", "torch"):
                place.plot(positions, [taken[side].median for taken in found.values()], "o-", label=side)
            place.set_ylabel("ms")
        else:
            for side in ("ours", "cuda"):
                place.plot(positions, [sides[side]["processor"].least for sides in found.values()], "o-",
                           label=side)
            place.set_ylabel("ms of processors, cold compile")
        place.set_xticks(positions, [str(size) for size in found], fontsize=6, rotation=30)
        place.set_yscale("log")
        place.set_title(f"{section}: {name}", fontsize=9)
        place.legend(fontsize=7)
    for place in axes.flat[len(panels):]:
        place.axis("off")
    figure.tight_layout()
    figure.savefig(path)
    print(f"wrote {path}")


if __name__ == "__main__":
    by_sections("How run time and compile time grow with sizes.", "two small sizes: does it run?",
                SECTIONS, draw)
