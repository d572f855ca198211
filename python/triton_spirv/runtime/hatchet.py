"""The file that Triton's `proton-viewer` reads: launches as a tree of calls, with counts and times.

Proton itself cannot time launches here: its library knows the profilers of CUDA and ROCm only. The format is
the literal of Hatchet's GraphFrame, as Proton writes it: the tree, then what is known of the devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .processor import cores, processor
from .profile import Timing

#: what a kernel ran on
PLACE = {"device_id": "0", "device_type": "CPU"}

#: names of a launch's numbers, which the viewer makes rates of
FACTS = "flops8", "flops16", "flops32", "flops64", "flops", "bytes"


def tree(timings: Iterable[Timing]) -> list[dict[str, object]]:
    """ROOT, the lines that launch, and below each its kernels by configuration. An autotuner's launches are
    left out. Times in nanoseconds."""
    sites: dict[str, dict[str, dict[str, float]]] = {}
    for timing in timings:
        if timing.tuning:
            continue
        name = f"{timing.name} [{timing.configuration}]" if timing.configuration else timing.name
        kernels = sites.setdefault(timing.site or "?", {})
        metrics = kernels.setdefault(name, {"count": 0, "time (ns)": 0})
        metrics["count"] += 1
        metrics["time (ns)"] += timing.nanoseconds
        for fact in FACTS:
            if fact in timing.facts:
                metrics[fact] = metrics.get(fact, 0.0) + timing.facts[fact]
    calls = [_frame(site, {}, [_frame(name, {**metrics, **PLACE}, []) for name, metrics in kernels.items()])
             for site, kernels in sites.items()]
    device = {"arch": processor().architecture, "num_sms": cores(), "clock_rate": 0, "memory_clock_rate": 0,
              "bus_width": 0}
    return [_frame("ROOT", {"count": 0, "time (ns)": 0}, calls), {"CPU": {"0": device}}]


def _frame(name: str, metrics: Mapping[str, object], children: list[dict[str, object]]) -> dict[str, object]:
    return {"frame": {"name": name, "type": "function"}, "metrics": metrics, "children": children}
