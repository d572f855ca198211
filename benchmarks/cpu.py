"""Kernels on the CPU device beside what one would run instead, in the same run.

    python benchmarks/cpu.py [--quick] [--only rows,products,softmax] [--cores N] [--processor-time]
                             [--instructions avx2] [--peers torch,compile,numpy,interpreter]
                             [--json FILE] [--plot FILE]

--only            families (elementwise, rows, movement, products, attention), or parts of workloads' names
--peers           torch (eager), compile (torch.compile with Inductor's C++ backend, which needs a C++
                  compiler; what its compilation takes stands in a column of its own), numpy where it has such
                  a function, interpreter (Triton's, one call of at most --interpreter-seconds)
--cores           bind the process to N cores: how it scales
--instructions    as on an older processor: the driver, torch and its libraries are told to use no newer ones
--processor-time  time of the processor instead of the clock's, with one core: for a machine that is not idle

Each figure is the median of calls taken in turns; a ratio above 1 says that ours is faster. "of the limit" is
the rate reached over the best that this machine did in the same run: a copy where memory decides,
multiply-adds in registers where arithmetic does.
"""

from __future__ import annotations

import argparse
import math
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
os.environ["TORCHINDUCTOR_CACHE_DIR"] = _cache.name

sys.path.insert(0, str(Path(__file__).parent))

from peers import PEERS, Interpreter, compiled  # noqa: E402
from report import introduced, output_arguments, write  # noqa: E402

#: What tells each side to use no newer instructions than these.
INSTRUCTIONS = {"avx2": {"CL_CONFIG_CPU_TARGET_ARCH": "core-avx2", "ATEN_CPU_CAPABILITY": "avx2",
                         "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_ENABLE_INSTRUCTIONS": "AVX2"}}
FAMILIES = ("elementwise", "rows", "movement", "products", "attention")


def parsed() -> argparse.Namespace:
    """The command line; unknown peers end it."""
    parser = argparse.ArgumentParser(description="Kernels on the CPU device beside what one would run.")
    parser.add_argument("--quick", action="store_true", help="few rounds, small sizes: does it run?")
    parser.add_argument("--only", default="", help="families or parts of names, separated by commas")
    parser.add_argument("--peers", default="torch,numpy", help=f"of {', '.join(PEERS)}")
    parser.add_argument("--cores", type=int, help="bind to so many cores")
    parser.add_argument("--instructions", choices=INSTRUCTIONS, help="use no newer ones, nor let torch do so")
    parser.add_argument("--processor-time", action="store_true", help="of one core, instead of the clock's")
    parser.add_argument("--seconds", type=float, default=3.0, help="for each workload")
    parser.add_argument("--interpreter-seconds", type=float, default=20.0, help="for one call there")
    output_arguments(parser)
    options = parser.parse_args()
    options.peers = [peer for peer in options.peers.split(",") if peer]
    if unknown := set(options.peers) - set(PEERS):
        parser.error(f"--peers: {', '.join(sorted(unknown))}; there are {', '.join(PEERS)}")
    options.only = [part for part in options.only.split(",") if part]
    if options.processor_time:
        options.cores = 1
    os.environ.update(INSTRUCTIONS.get(options.instructions, {}))
    return options


def bind(cores: int) -> None:
    """Use so many cores only; before anything has started threads."""
    usable = sorted(os.sched_getaffinity(0))
    if not 1 <= cores <= len(usable):
        raise SystemExit(f"--cores {cores}: there are {len(usable)}")
    os.sched_setaffinity(0, usable[:cores])


def selected(only: list[str], quick: bool) -> dict[str, list[Any]]:
    """Workloads by family; SystemExit where a name fits none."""
    from workloads import FAMILIES as builders

    families = {name for name in only if name in builders}
    parts = [name for name in only if name not in builders]
    result = {}
    for name, build in builders.items():
        if families and name not in families and not parts:
            continue
        chosen = [each for each in build(quick)
                  if not only or name in families or any(part in each.name for part in parts)]
        if chosen:
            result[name] = chosen
    if not result:
        raise SystemExit(f"--only {','.join(only)}: no such workload; families: {', '.join(builders)}")
    return result


def actions_of(workload: Any, peers: list[str]) -> tuple[dict[str, Callable[[], object]], float | str | None]:
    """What is timed, ours first; the seconds that torch.compile took, or why it could not."""
    actions: dict[str, Callable[[], object]] = {"ours": workload.ours}
    took: float | str | None = None
    if "torch" in peers:
        actions["torch"] = workload.torch
    if "compile" in peers:
        made = compiled(workload)
        took = made
        if not isinstance(made, str):
            actions["compile"], took = made
    if "numpy" in peers and workload.numpy:
        actions["numpy"] = workload.numpy
    return actions, took


TURN = 10  # calls in a row of each side


def report(family: str, workloads: list[Any], options: argparse.Namespace,
           limits: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """One table; the samples by workload."""
    from measure import Sample, interleaved, table

    rows: list[list[object]] = []
    result = {}
    interpreter = Interpreter(family, options.quick, options.interpreter_seconds)
    for workload in workloads:
        error = workload.error()
        if not error <= workload.tolerance:
            raise SystemExit(f"{workload.name}: wrong by {error}, {workload.tolerance} allowed")
        seconds = 0.1 if options.quick else options.seconds
        actions, took = actions_of(workload, options.peers)
        taken = interleaved(actions, seconds, processor=options.processor_time, turn=TURN)
        if "interpreter" in options.peers:
            spent = interpreter.milliseconds(workload.name)
            if isinstance(spent, float):
                taken["interpreter"] = Sample.of([spent])
            else:
                print(f"{workload.name} in the interpreter: {spent}")
        ours = taken["ours"]
        unit = "GFLOP/s" if workload.operations else "GB/s"
        rate = (workload.operations or workload.bytes) / ours.median / 1e6
        ratios = [f"{taken[peer].median / ours.median:.2f}" if peer in taken else ""
                  for peer in options.peers]
        seconds_of_compiling = [] if took is None else [f"{took:.1f}" if isinstance(took, float) else took]
        rows.append([workload.name, ours, *ratios, f"{rate:.1f} {unit}", f"{rate / limits[unit].median:.2f}",
                     *seconds_of_compiling])
        result[workload.name] = {**taken, "error": error, "compile took": took}
    interpreter.close()
    for peer in options.peers:
        ratios = [taken[peer].median / taken["ours"].median for taken in result.values() if peer in taken]
        if len(ratios) > 1:
            mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
            rows.append([f"geometric mean, {peer} / ours", "", *(
                f"{mean:.2f}" if each == peer else "" for each in options.peers), "", ""])
    head = [family, "ours, ms", *(f"{peer} / ours" for peer in options.peers), "rate", "of the limit"]
    if "compile" in options.peers:
        head.append("compiled in, s")
        rows = [[*row, *[""] * (len(head) - len(row))] for row in rows]
    print(table(f"{family.capitalize()}", head, rows), flush=True)
    return result


def draw(path: str, results: dict[str, dict[str, Any]], peers: list[str]) -> None:
    """Ratios of times, peer over ours, a bar for each workload and peer."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    entries = [(name, taken) for family in results.values() for name, taken in family.items()]
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.28 * len(entries)))
    thickness = 0.8 / len(peers)
    for number, peer in enumerate(peers):
        found = [(place, taken) for place, (_, taken) in enumerate(entries) if peer in taken]
        axes.barh([place + number * thickness for place, _ in found],
                  [taken[peer].median / taken["ours"].median for _, taken in found], thickness, label=peer)
    axes.set_yticks([place + 0.4 - thickness / 2 for place in range(len(entries))],
                    [name for name, _ in entries], fontsize=7)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlabel("time of peer / ours")
    axes.invert_yaxis()
    axes.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)
    print(f"wrote {path}")


def main() -> None:
    options = parsed()
    if options.cores:
        bind(options.cores)
    import limits as limit_module
    import torch

    torch.manual_seed(0)
    if options.cores:
        torch.set_num_threads(options.cores)
    facts = introduced()
    limits = limit_module.measure(options.quick)
    print("\n".join(f"{unit:12} {sample}" for unit, sample in limits.items()), end="\n\n")
    results = {family: report(family, chosen, options, limits)
               for family, chosen in selected(options.only, options.quick).items()}
    write(options.json, {"machine": facts, "limits": limits, **results})
    if options.plot:
        draw(options.plot, results, options.peers)


if __name__ == "__main__":
    main()
