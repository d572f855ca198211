"""First-touch figures, each beside what one would use instead, in the same run.

    python benchmarks/first_touch.py [--quick] [--only compile,launch,kernels] [--json FILE] [--plot FILE]

compile   cold compile times of add, softmax, layer norm, matmul, attention, with their parts, against
          Triton's own CUDA pipeline
launch    what a launch costs beyond Triton's own path to it, one program, four arguments; the same, and the
          bound launch of triton_spirv.bind, for an add of 1,024 elements beside torch's
kernels   vector add, softmax, products, layer norm against torch

Times are medians of calls taken in turns; in parentheses the middle 80 % of them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["TRITON_SPIRV_BACKEND"] = "1"  # before triton is imported
_cache = tempfile.TemporaryDirectory(prefix="triton-spirv-benchmark-")
os.environ["TRITON_CACHE_DIR"] = _cache.name  # nothing compiled earlier takes part
os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")  # what Triton 3.9 does, and warns of, when it is unset

sys.path.insert(0, str(Path(__file__).parent))

from measure import Sample, interleaved, per_call, table  # noqa: E402
from report import by_sections  # noqa: E402

CALLS = 20  # timed at once: long enough for the clock, too short to be interrupted often


def compile_section(quick: bool) -> dict[str, Any]:
    """Cold compile times in milliseconds."""
    import compile_time

    repeated = compile_time.measure(2 if quick else 7)
    columns = [*compile_time.COLUMNS, "total"]
    rows = [[name, *(f"{sides['ours'][column].median:.1f}" for column in columns)]
            for name, sides in repeated.items()]
    print(table("Cold compile, ours, milliseconds", ["kernel", *columns], rows))
    stages = list(dict.fromkeys(stage for sides in repeated.values() for stage in sides["cuda"]))
    rows = [[name, *(f"{sides['cuda'][stage].median:.1f}" for stage in stages)]
            for name, sides in repeated.items()]
    print(table("Cold compile, Triton's CUDA pipeline for sm_90, milliseconds", ["kernel", *stages], rows))
    first = compile_time.first_in_process(1 if quick else 3)
    rows = []
    for name in repeated:
        shown = [("", repeated[name]), *([(", first of a process", first[name])] if name in first else [])]
        for title, sides in shown:
            row: list[object] = [name + title]
            for column in ("total", "processor"):
                ours, cuda = sides["ours"][column], sides["cuda"][column]
                row += [ours, cuda, f"{cuda.median / ours.median:.1f}"]
            rows.append(row)
    head = ["kernel", "ours", "CUDA", "CUDA / ours", "ours, of processors", "CUDA", "CUDA / ours"]
    print(table("Cold compile in all, milliseconds by the clock and of processors", head, rows))
    return {"repeated": repeated, "first of a process": first}


def launch_section(quick: bool) -> dict[str, Sample]:
    """Microseconds of a warm launch: one program, three tensors and a number."""
    import torch
    from kernels import add_kernel

    x, y, out = (torch.zeros(128) for _ in range(3))

    def launch() -> None:
        add_kernel[(1,)](x, y, out, 128, 128)

    by_triton = getattr(type(add_kernel).run, "__wrapped__", type(add_kernel).run)  # what first launches are

    def first() -> None:
        by_triton(add_kernel, x, y, out, 128, 128, grid=(1,), warmup=False)

    launch()
    (kernel,) = next(iter(add_kernel.device_caches.values()))[0].values()
    run, nothing = kernel.run, lambda *_: None

    def without_launcher() -> None:
        kernel._run = nothing
        for _ in range(CALLS):
            first()
        kernel._run = run

    # what Triton hands to a launcher: the grid, its own six arguments, the kernel's
    arguments = (1, 1, 1, 0, kernel.function, kernel.packed_metadata, None, None, None, x, y, out, 128, 128)
    actions: dict[str, Callable[[], object]] = {
        "kernel[grid](...)": per_call(launch, CALLS), "its first launches": per_call(first, CALLS),
        "Triton's JIT path alone": without_launcher,
        "our launcher alone": per_call(lambda: run(*arguments), CALLS),
        "torch.add of as much": per_call(lambda: torch.add(x, y, out=out), CALLS),
    }
    taken = interleaved(actions, seconds=0.5 if quick else 6.0)
    samples = {name: sample.scaled(1e3 / CALLS) for name, sample in taken.items()}
    rows: list[list[object]] = [[name, sample, f"{sample.least:.2f}"] for name, sample in samples.items()]
    whole, path = samples["its first launches"], samples["Triton's JIT path alone"]
    beyond = whole.median - path.median, whole.least - path.least
    rows.append(["beyond Triton's JIT path", *beyond])
    print(table("Launch, warm, 1 program, 4 arguments, microseconds", ["", "per call", "least"], rows))
    return samples | small_add(quick)


def small_add(quick: bool) -> dict[str, Sample]:
    """Microseconds of an add of 1,024 elements, ours and torch's."""
    import torch
    import triton_spirv
    from kernels import add_kernel

    x, y = torch.rand(1024), torch.rand(1024)
    out, expected = torch.zeros(1024), x + y
    bound = triton_spirv.bind(add_kernel, (1,), x, y, out, 1024, BLOCK=1024)
    bound(x, y, out, 1024)
    if not torch.equal(out, expected):
        raise SystemExit("the bound launch is wrong")
    with triton_spirv.graph() as graph:
        for _ in range(CALLS):
            bound(x, y, out, 1024)
    actions: dict[str, Callable[[], object]] = {
        "torch.add(x, y, out=out)": per_call(lambda: torch.add(x, y, out=out), CALLS),
        "x + y": per_call(lambda: x + y, CALLS),
        "bound(x, y, out, 1024)": per_call(lambda: bound(x, y, out, 1024), CALLS),
        "one of a graph": graph.replay,
        "kernel[grid](x, y, out, 1024, ...)": per_call(
            lambda: add_kernel[(1,)](x, y, out, 1024, BLOCK=1024), CALLS)}
    taken = interleaved(actions, seconds=0.5 if quick else 6.0)
    samples = {name: sample.scaled(1e3 / CALLS) for name, sample in taken.items()}
    torch_s = samples["torch.add(x, y, out=out)"]
    rows = [[name, sample, f"{torch_s.median / sample.median:.2f}"] for name, sample in samples.items()]
    print(table("Add of 1,024 elements, warm, microseconds", ["", "per call", "torch.add / this"], rows))
    return samples


def kernel_section(quick: bool) -> dict[str, dict[str, Any]]:
    """Milliseconds of kernels and of torch."""
    from kernels import cases

    result: dict[str, dict[str, Any]] = {}
    rows: list[list[object]] = []
    for case in cases(quick):
        error = case.error()
        if not error <= case.tolerance:
            raise SystemExit(f"{case.name}: wrong by {error}, {case.tolerance} allowed")
        actions = {"ours": case.ours, "torch": case.theirs}
        taken = interleaved(actions, seconds=0.1 if quick else 3.0, turn=5)
        ours, theirs = taken["ours"], taken["torch"]
        rate = case.work / ours.median / 1e6
        rows.append([case.name, ours, theirs, f"{theirs.median / ours.median:.2f}",
                     f"{theirs.least / ours.least:.2f}", f"{rate:.1f} {case.unit}"])
        result[case.name] = {"ours": ours, "torch": theirs, "error": error}
    head = ["kernel", "ours", "torch", "torch / ours", "least / least", "ours"]
    print(table("Kernels, milliseconds", head, rows))
    return result


SECTIONS = {"compile": compile_section, "launch": launch_section, "kernels": kernel_section}


def draw(path: str, results: dict[str, Any]) -> None:
    """The compile times in their parts, and the kernels' ratios to torch, as a picture."""
    import matplotlib

    matplotlib.use("Agg")
    from compile_time import COLUMNS
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.5))
    for position, (name, sides) in enumerate(results.get("compile", {}).get("repeated", {}).items()):
        reached = 0.0
        for number, column in enumerate(COLUMNS):
            width = sides["ours"][column].median
            left.barh(f"{name}, ours", width, left=reached, color=f"C{number}",
                      label=None if position else column)
            reached += width
        left.barh(f"{name}, CUDA", sides["cuda"]["total"].median, color="lightgrey")
    left.set_xlabel("milliseconds, cold compile")
    left.legend(fontsize=7)
    for name, pair in results.get("kernels", {}).items():
        right.barh(name, pair["torch"].median / pair["ours"].median, color="C0")
    right.axvline(1, color="black", linewidth=0.8)
    right.set_xscale("log")
    right.set_xlabel("time of torch / ours")
    for axes in (left, right):
        axes.invert_yaxis()
        axes.tick_params(labelsize=7)
    figure.tight_layout()
    figure.savefig(path)
    print(f"wrote {path}")


if __name__ == "__main__":
    by_sections("First-touch figures, beside what one would use instead.",
                "few rounds, small sizes: does it run?", SECTIONS, draw)
