"""autotuning.py: how the configurations of an autotuned kernel are timed."""

from __future__ import annotations

import threading
from typing import Any

import everywhere
import numpy as np
import pytest
import triton
import triton.language as tl
from triton_spirv import asarray, zeros
from triton_spirv_backend import autotuning, interface


def repeated(**options: Any) -> Any:
    """A kernel that adds 1 to each element, in TURNS turns of a loop that must run one after the other."""
    configs = [triton.Config({"TURNS": turns}) for turns in (4000, 40, 400)]

    @triton.autotune(configs, key=["n"], **options)
    @triton.jit
    def add_one(x, n, TURNS: tl.constexpr, BLOCK: tl.constexpr):
        i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(x + i, mask=i < n)
        for _ in range(TURNS):
            value = tl.sqrt(value * value + 1.0)
        tl.store(x + i, tl.load(x + i, mask=i < n) + 1 + 0.0 * value, mask=i < n)

    return add_one


def turns(kernel: Any) -> int:
    return kernel.best_config.kwargs["TURNS"]


@pytest.mark.cpu_device("times, which are not simulated")
def test_the_fastest_is_found() -> None:
    kernel, x = repeated(), asarray(np.ones(2048, np.float32))
    for _ in range(5):
        kernel.cache.clear()
        kernel[(8,)](x, 2048, BLOCK=256)
        assert turns(kernel) == 40
    times = {config.kwargs["TURNS"]: values for config, values in kernel.configs_timings.items()}
    assert all(low <= median <= high for median, low, high in times.values())
    assert times[4000][0] > times[400][0] > times[40][0]


def test_the_first_tuning_of_a_process(script: Any) -> None:
    """The driver is made while the first configuration is asked for."""
    ran = script("""
import numpy, triton
from triton_spirv import asarray
import backend.test_autotuning as tests, triton_spirv_backend.autotuning as autotuning
raced, original = [], autotuning.race
autotuning.race = lambda samples, **more: raced.append(len(samples)) or original(samples, **more)
kernel = tests.repeated()
kernel[(8,)](asarray(numpy.ones(2048, numpy.float32)), 2048, BLOCK=256)
print(raced, tests.turns(kernel))
""", TRITON_SPIRV_BACKEND="1")
    assert ran.stdout == "[3] 40\n", ran.stdout + ran.stderr


def test_arguments_are_reset_and_restored() -> None:
    for option in ("reset_to_zero", "restore_value"):
        kernel, x = repeated(**{option: ["x"]}), asarray(np.full(256, 5, np.float32))
        begin = 0 if option == "reset_to_zero" else 5
        try:
            kernel[(1,)](x, 256, BLOCK=256)
        except AttributeError:
            pytest.importorskip("torch")  # our arrays cannot be cloned
            import torch

            x = torch.full((256,), 5.0)
            kernel[(1,)](x, 256, BLOCK=256)
        assert np.asarray(x).tolist() == [begin + 1] * 256


@pytest.mark.parametrize("hook", ("none", "of the tuner", "of the configurations"))
def test_launches_are_timed_without_tritons_part(hook: str, monkeypatch: pytest.MonkeyPatch,
                                                 request: pytest.FixtureRequest) -> None:
    """But where a function runs before each of them."""
    calls: list[object] = []
    kernel = repeated(**{"pre_hook": lambda given, reset_only=False: calls.append(given["n"])}
                      if hook == "of the tuner" else {})
    if hook == "of the configurations":
        for config in kernel.configs:
            config.pre_hook = lambda given: calls.append(given["n"])
    whole: list[object] = []
    run = triton.runtime.jit.JITFunction.run

    def counted(*arguments: Any, **keywords: Any) -> Any:
        if not keywords["warmup"]:
            whole.append(keywords["TURNS"])
        return run(*arguments, **keywords)

    monkeypatch.setattr(triton.runtime.jit.JITFunction, "run", counted)
    x = asarray(np.ones(2048, np.float32))
    kernel[lambda given: (triton.cdiv(given["n"], given["BLOCK"]),)](x, 2048, BLOCK=256)
    assert len(set(x.numpy().tolist())) == 1
    if everywhere.mode_of(request.config) is None:  # times of a simulated GPU say nothing
        assert turns(kernel) == 40
    if hook == "none":
        assert whole == [4000, 40, 400, turns(kernel)] and not calls
    else:
        assert len(whole) > 20 and len(calls) >= len(whole)


def test_configurations_that_do_not_compile_lose() -> None:
    @triton.autotune([triton.Config({"BLOCK": block}) for block in (16, 32, 64)], key=["n"])
    @triton.jit
    def fill(out, n, BLOCK: tl.constexpr):
        tl.static_assert(BLOCK == 32, "only 32")
        tl.store(out + tl.arange(0, BLOCK), n)

    out = zeros(64, "int32")
    fill[(1,)](out, 7)
    assert fill.best_config.kwargs["BLOCK"] == 32 and out.numpy().tolist() == [7] * 32 + [0] * 32
    assert sorted(values[0] for values in fill.configs_timings.values())[1:] == [float("inf")] * 2


def test_an_error_of_the_kernel_is_the_users() -> None:
    @triton.autotune([triton.Config({"BLOCK": block}) for block in (16, 32)], key=[])
    @triton.jit
    def wrong(out, BLOCK: tl.constexpr):
        tl.store(out + tl.arange(0, BLOCK + 1), 1)

    with pytest.raises(triton.CompilationError):
        wrong[(1,)](zeros(64))
    out = zeros(2048)
    kernel = repeated()
    kernel[(8,)](out, 2048, BLOCK=256)  # later tunings are not disturbed
    assert turns(kernel) == 40


@pytest.mark.cpu_device("times, which are not simulated")
def test_pruned_configurations_do_not_run() -> None:
    kernel = repeated(prune_configs_by={"early_config_prune": lambda configs, *_, **__: configs[::2]})
    kernel[(1,)](zeros(256), 256, BLOCK=256)
    assert turns(kernel) == 400 and len(kernel.configs_timings) == 2


def test_a_benchmarker_of_the_users_is_used() -> None:
    asked: list[int] = []

    def bench(run: Any, quantiles: Any) -> list[float]:
        run()
        asked.append(1)
        return [1.0 / len(asked)] * 3

    kernel = repeated(do_bench=bench)
    kernel[(1,)](zeros(256), 256, BLOCK=256)
    assert len(asked) == 3 and turns(kernel) == 400


def test_threads_tune_once() -> None:
    rounds: list[int] = []

    def pruned(configs: Any, *_: Any, **__: Any) -> Any:
        rounds.append(1)
        return configs

    kernel = repeated(prune_configs_by={"early_config_prune": pruned})
    raced: list[int] = []
    original = autotuning.race
    failures: list[Exception] = []
    barrier = threading.Barrier(8)

    def counted(samples: Any, **more: Any) -> Any:
        raced.append(len(samples))
        return original(samples, **more)

    def work() -> None:
        x = zeros(512)
        barrier.wait()
        try:
            for _ in range(20):
                kernel[(2,)](x, 512, BLOCK=256)
        except Exception as error:
            failures.append(error)

    autotuning.race = counted
    try:
        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        autotuning.race = original
    assert not failures and raced == [3] and turns(kernel) == 40


def test_threads_with_arguments_of_their_own() -> None:
    """The autotuner keeps a launch's arguments in itself; another thread's launch does not change them."""
    kernel, seen = repeated(), {}
    barrier = threading.Barrier(2)

    def work(n: int) -> None:
        kernel.nargs = {"n": n}
        barrier.wait()
        seen[n] = kernel.nargs
        barrier.wait()
        kernel.nargs = None
        assert kernel.nargs is None

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {1: {"n": 1}, 2: {"n": 2}}


def test_an_ordinary_function_is_timed_by_do_bench() -> None:
    runs: list[int] = []
    median, low, high = autotuning.benchmark(lambda: runs.append(1), quantiles=(0.5, 0.2, 0.8))
    assert 0 < low <= median <= high and len(runs) >= 8


@pytest.mark.parametrize("size", [1 << 20, 512 << 20])
def test_what_empties_the_caches_is_bounded(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last level was as large as a server's, emptying it once took all the time of do_bench."""
    monkeypatch.setattr(interface, "_caches", lambda levels: size)
    assert interface.memory_beyond_caches().nbytes == min(2 * size, 32 << 20)


@pytest.mark.parametrize("nbytes", [1 << 10, 1 << 30])
def test_caches_are_emptied_for_arguments_that_fit(nbytes: int) -> None:
    class Argument:
        pass

    argument = Argument()
    argument.nbytes = nbytes
    assert (autotuning._emptying([argument, 3, None]) is None) == (nbytes == 1 << 30)
