"""How an autotuner's configurations are timed: in turns, by triton_spirv.racing.

Triton's autotuner asks a benchmarker about one configuration after the other, which compares them at
different times. Asked about the first, the benchmarker here lets all of them race; asked about the others,
it has their times already. Which autotuner asks, and with which arguments, stands in the closure that it
hands over; a function that is no such closure is timed by itself. Bound launches (bound.py) are timed:
Triton's part of a launch is the same for all, and takes longer than a small kernel. Threads that tune
for the same arguments wait for the first of them.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

from triton.runtime.autotuner import Autotuner
from triton.runtime.driver import driver
from triton_spirv.dataclass import dataclass
from triton_spirv.racing import race
from triton_spirv.runtime import capture, profile

from . import overflow
from .targets import current_target

#: what Triton's autotuner asks for
QUANTILES = (0.5, 0.2, 0.8)

_threads = threading.local()
_tuning = threading.RLock()
# a child of a fork has none of the other threads, one of which may be tuning
os.register_at_fork(after_in_child=lambda: globals().update(_tuning=threading.RLock()))


def benchmark(run: Callable[[], Any], quantiles: Sequence[float] | None = None, **options: Any) -> Any:
    """Triton's `driver.get_benchmarker()`: quantiles of the milliseconds that `run` takes, as
    `triton.testing.do_bench` returns them."""
    gathered = getattr(_threads, "gathered", None)
    if gathered is not None:  # for a race
        run()
        gathered.append(run)
        return []
    asked = None if options or tuple(quantiles or ()) != QUANTILES else Question.of(run)
    if asked is None:
        from triton.testing import do_bench

        return do_bench(run, quantiles=quantiles, **options)
    tuning = getattr(_threads, "tuning", None)
    if tuning is None or not tuning.answers(asked):
        tuning = _threads.tuning = _tuned(asked)
    return tuning.found[id(asked.config)]


def tune_by_racing() -> None:
    """From now on threads may tune; once is enough."""
    if not isinstance(Autotuner.__dict__.get("nargs"), _OfThread):
        Autotuner.nargs = _OfThread()


@dataclass(frozen=True)
class Question:
    """An autotuner asks how long a configuration takes for these arguments."""

    autotuner: Any
    config: Any
    arguments: Sequence[Any]
    keywords: dict[str, Any]
    nargs: dict[str, Any]

    @classmethod
    def of(cls, run: Callable[[], Any]) -> Question | None:
        """What stands in the closure that Autotuner._bench makes; None for another function."""
        if not inspect.isfunction(run):
            return None
        known = inspect.getclosurevars(run).nonlocals
        if not isinstance(known.get("self"), Autotuner) or not {"config", "args", "current"} <= known.keys():
            return None
        autotuner, config = known["self"], known["config"]
        chosen = config.all_kwargs()
        keywords = {name: value for name, value in known["current"].items() if name not in chosen}
        return cls(autotuner, config, known["args"], keywords, autotuner.nargs)

    @property
    def key(self) -> tuple[Any, ...]:
        """What the autotuner tells launches apart by."""
        given = {**self.nargs, **self.keywords}
        return tuple((name, str(getattr(value, "dtype", value if name in self.autotuner.keys else "")))
                     for name, value in given.items())


class _OfThread:
    """An attribute that each thread has for itself. The autotuner keeps the arguments of a launch in itself,
    and launches of several threads would mix theirs."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        known = getattr(_threads, "nargs", {})
        return known[id(instance)] if id(instance) in known else instance.__dict__.get("nargs")

    def __set__(self, instance: Any, value: Any) -> None:
        known = _threads.__dict__.setdefault("nargs", {})
        if value is None:
            known.pop(id(instance), None)
            instance.__dict__.pop("nargs", None)  # of a launch that began before this was here
        else:
            known[id(instance)] = value


@dataclass(frozen=True)
class _Tuning:
    """A race that is over: the identity of each configuration -> quantiles of its milliseconds."""

    asked: Question
    configs: list[Any]  # keeps their identities theirs
    found: dict[int, list[float]]
    end: float

    def answers(self, asked: Question) -> bool:
        """Is the question one of the same tuning?"""
        return asked.nargs is self.asked.nargs and self.has(asked)

    def has(self, asked: Question) -> bool:
        """Has the configuration run?"""
        return asked.autotuner is self.asked.autotuner and id(asked.config) in self.found


def _tuned(asked: Question) -> _Tuning:
    """The race of all configurations, or that of a thread which has run the same one meanwhile."""
    begin = time.perf_counter()
    with _tuning:  # two tunings at once would measure each other
        latest: _Tuning | None = getattr(asked.autotuner, "latest_race", None)
        if latest is not None and latest.end > begin and latest.has(asked) and latest.asked.key == asked.key:
            return replace(latest, asked=asked)
        configs = list(asked.autotuner.prune_configs(asked.keywords))
        if not any(asked.config is config for config in configs):
            configs = [asked.config]
        name = asked.autotuner.base_fn.__name__
        with profile.PROFILE.tunes(name) if profile.wanted() else nullcontext(), capture.suspended():
            found = _raced(asked, configs)
        tuning = asked.autotuner.latest_race = _Tuning(asked, configs, found, time.perf_counter())
    return tuning


def _raced(asked: Question, configs: Sequence[Any]) -> dict[int, list[float]]:
    """Those that overflow from shared memory race only if none fits."""
    runs: list[tuple[Any, Callable[[], Any]]] = []
    overflowing: list[tuple[Any, Callable[[], Any]]] = []
    found: dict[int, list[float]] = {}
    with overflow.unsaid() as noticed:  # the one that wins says so when it is launched
        for config in configs:
            gathered: list[Callable[[], Any]] = []
            noticed.clear()
            _threads.gathered = gathered
            try:
                refused = asked.autotuner._bench(*asked.arguments, config=config, **asked.keywords)
            finally:
                _threads.gathered = None
            if gathered:
                (overflowing if noticed else runs).append((config, _bound(asked, config) or gathered[0]))
            else:
                found[id(config)] = refused  # infinite
        if runs:
            found.update((id(config), [math.inf] * 3) for config, _ in overflowing)
        runs = runs or overflowing
        driver.active.get_device_interface().synchronize()
        empty = _emptying([*asked.arguments, *asked.keywords.values()])
        samples = race([functools.partial(sample, run, empty) for _, run in runs], work=_work())
    found.update((id(config), _quantiles(times))
                 for (config, _), times in zip(runs, samples, strict=True))
    return found


def _work() -> Callable[[], float] | None:
    """The clock of what kernels take of the processors; None where they run on another device."""
    return time.process_time if current_target().backend == "cpu" else None


def _bound(asked: Question, config: Any) -> Callable[[], Any] | None:
    """The launches of a configuration, without Triton's part of each, which takes longer than a small kernel.
    None where a function of the user's runs before or after each launch."""
    from .bound import bind

    tuner, keywords = asked.autotuner, {**asked.keywords, **config.all_kwargs()}
    hooks = (config.pre_hook, tuner.user_defined_pre_hook, tuner.user_defined_post_hook, tuner.reset_to_zero,
             tuner.restore_value)
    if any(hooks) or keywords.pop("warmup", False):
        return None
    bound = bind(tuner.fn, keywords.pop("grid"), asked.arguments, keywords)
    return functools.partial(bound, *asked.arguments)


def sample(run: Callable[[], Any], empty: Callable[[], None] | None, count: int) -> float:
    """Milliseconds of a run, by so many in a row; a single one finds caches without its data."""
    interface = driver.active.get_device_interface()
    begin, end = interface.Event(enable_timing=True), interface.Event(enable_timing=True)
    if empty is not None and count == 1:
        empty()
    begin.record()
    for _ in range(count):
        run()
    end.record()
    interface.synchronize()
    return begin.elapsed_time(end) / count


def _emptying(arguments: Sequence[Any]) -> Callable[[], None] | None:
    """What empties the caches between two runs; None where the arguments are so large that the kernel does
    so by itself."""
    from . import interface
    from .targets import chosen_vulkan

    cache = driver.active.get_empty_cache_for_benchmark() if chosen_vulkan() else interface.private_caches()
    touched = sum(getattr(argument, "nbytes", 0) for argument in arguments)
    return None if touched >= cache.nbytes else lambda: driver.active.clear_cache(cache)


def _quantiles(values: Sequence[float]) -> list[float]:
    """Those of `QUANTILES`, between the two nearest, as Triton has them."""
    if len(values) == 1:
        return [values[0]] * 3
    fifths = statistics.quantiles(values, n=5, method="inclusive")
    return [statistics.median(values), fifths[0], fifths[3]]
