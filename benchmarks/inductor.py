"""torch.compile through this package beside Inductor's C++ backend: time of a call, and of the first one.

    python benchmarks/inductor.py                        # every model, wall-clock time
    python benchmarks/inductor.py --threads 1 --processor --only softmax,layer_norm
    python benchmarks/inductor.py --json FILE --markdown
    python benchmarks/inductor.py --dynamic --threads 1 --processor   # rows whose length only the call knows

ratio   the C++ backend's time over ours: above 1 we are faster
first   the same of the first call, which compiles: processor time, C++ compilers included, with empty caches

Both run in one process for each model, ten calls in turns, as in cpu.py: a model that is called again finds
its memory in the caches as far as it fits. With `--turn 1` the other backend's call lies between any two.
`--processor` takes the time that the process had cores for instead of the clock's, for machines that others
use too; it says most with `--threads 1`.
Results are compared before they are timed. With `--dynamic` the models are those of inductor_rows.py, and
the C library keeps the memory that it has: an array of 4 MB is taken from the system at each call or is not,
by what happens to lie behind it, for either backend.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from typing import Any

from measure import interleaved, machine, processor_time

#: calls in a row
TURN = 10

BACKENDS = {"ours": "triton-spirv", "C++": "inductor"}


def models(dynamic: bool) -> dict[str, Any]:
    """Name -> what makes a program and its arguments."""
    if dynamic:
        from inductor_rows import MODELS
    else:
        from inductor_models import MODELS
    return MODELS


def measure(name: str, seconds: float, processor: bool, turn: int, dynamic: bool) -> dict[str, Any]:
    """Run in a child: times of one model with each backend, in milliseconds."""
    import torch
    from torch._inductor import config

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    config.compile_threads, config.force_disable_caches = 1, True
    _warm_up()
    actions, results, first = {}, {}, {}
    for ours, backend in BACKENDS.items():
        torch.manual_seed(0)
        program, arguments = models(dynamic)[name]()
        compiled = torch.compile(program, backend=backend, dynamic=dynamic)
        start = processor_time()
        results[ours] = compiled(*arguments)
        first[ours] = processor_time() - start
        actions[ours] = lambda compiled=compiled, arguments=arguments: compiled(*arguments)
    results = {ours: torch.utils._pytree.tree_map(lambda value: value.detach().float(), value)
               for ours, value in results.items() if value is not None}
    if results:
        torch.testing.assert_close(results["ours"], results["C++"], rtol=2e-2, atol=1e-2)
    times = interleaved(actions, seconds, processor=processor, turn=turn)
    return {"model": name, "times": {ours: vars(sample) for ours, sample in times.items()}, "first": first}


def _warm_up() -> None:
    """What the first compilation of a process costs, whatever it compiles, belongs to neither."""
    import torch

    for backend in BACKENDS.values():
        torch.compile(lambda x: x + 1, backend=backend)(torch.ones(100))
        torch._dynamo.reset()


def geometric_mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def line(result: dict[str, Any]) -> list[str]:
    """The cells of a model's row."""
    ours, cpp = (result["times"][name] for name in BACKENDS)
    first = result["first"]
    spread = [f"{t['median']:.3g} ({t['low']:.3g} to {t['high']:.3g})" for t in (ours, cpp)]
    return [result["model"], *spread, f"{cpp['median'] / ours['median']:.2f}",
            f"{first['ours'] / 1e3:.1f}", f"{first['C++'] / 1e3:.1f}",
            f"{first['C++'] / first['ours']:.2f}"]


HEAD = ["model", "ours, ms", "C++, ms", "ratio", "first call, s", "C++, s", "ratio"]


def summary(results: list[dict[str, Any]]) -> str:
    """The geometric means, and the models below 0.8."""
    ratios = {result["model"]: result["times"]["C++"]["median"] / result["times"]["ours"]["median"]
              for result in results}
    first = [result["first"]["C++"] / result["first"]["ours"] for result in results]
    slow = ", ".join(f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio < 0.8)
    mean = geometric_mean(list(ratios.values()))
    return (f"{len(results)} models; geometric mean of the ratios {mean:.2f}, of the first calls' "
            f"{geometric_mean(first):.2f}; below 0.8: {slow or 'none'}")


def child(name: str, options: argparse.Namespace) -> dict[str, Any] | None:
    """Measure a model in a process of its own; None, with its last words printed, if it fails."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"TORCHINDUCTOR_CACHE_DIR": folder}
        environment["OMP_NUM_THREADS"] = str(options.threads)
        environment.pop("TRITON_CACHE_DIR", None)
        if options.dynamic:
            environment |= {"MALLOC_TRIM_THRESHOLD_": str(1 << 31), "MALLOC_MMAP_THRESHOLD_": str(1 << 30)}
        command = [sys.executable, "-W", "ignore", __file__, "--child", name]
        command += ["--seconds", str(options.seconds), "--turn", str(options.turn),
                    *(["--processor"] if options.processor else []),
                    *(["--dynamic"] if options.dynamic else [])]
        allowed = sorted(os.sched_getaffinity(0))[:options.threads]
        try:
            done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=900,
                                  preexec_fn=lambda: os.sched_setaffinity(0, allowed))
        except subprocess.TimeoutExpired:
            print(f"{name}: no result in 900 s", flush=True)
            return None
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"ended by {done.returncode}"])[-1]
        print(f"{name}: {last}", flush=True)
        return None
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="torch.compile beside Inductor's C++ backend")
    parser.add_argument("--only", help="names of models, with commas, _ for a space")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)), help="cores to use")
    parser.add_argument("--seconds", type=float, default=3.0, help="of timing for each model")
    parser.add_argument("--turn", type=int, default=TURN, help="calls in a row of each backend")
    parser.add_argument("--processor", action="store_true", help="processor time instead of the clock's")
    parser.add_argument("--dynamic", action="store_true", help="shapes that only the call knows")
    parser.add_argument("--json", help="a file for the results")
    parser.add_argument("--markdown", action="store_true", help="print a table for a page")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measure(options.child, options.seconds, options.processor, options.turn,
                                 options.dynamic)))
        return
    known = models(options.dynamic)
    wanted = options.only.replace("_", " ").split(",") if options.only else list(known)
    unknown = set(wanted) - set(known)
    if unknown:
        parser.error(f"no such model: {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    clock = "processor" if options.processor else "wall"
    facts = machine() | {"threads": str(options.threads), "clock": clock, "turn": str(options.turn)}
    print(*(f"{name}: {value}" for name, value in facts.items()), sep="\n", flush=True)
    results = []
    for name in wanted:
        result = child(name, options)
        if result is not None:
            results.append(result)
            print(" | ".join(line(result)), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"machine": facts, "results": results}, file, indent=1)
    if options.markdown:
        rows = [HEAD, ["---", *["---:"] * (len(HEAD) - 1)], *map(line, results)]
        print(*(f"| {' | '.join(row)} |" for row in rows), sep="\n")
    if results:
        print(summary(results))


if __name__ == "__main__":
    main()
