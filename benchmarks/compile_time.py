"""Cold compile times, with what they are made of, against Triton's own CUDA pipeline, which needs no GPU.

Both pipelines start from the same Python function and the same signature, without any cache, in turns, in
one process that has compiled something before. Triton's compilation listener gives the stages; the emitter's
parts are timed where `triton_spirv.compiler` calls them.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import triton
from measure import Sample, processor_time
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

CUDA = GPUTarget("cuda", 90, 32)

ADD = {**dict.fromkeys(("x_ptr", "y_ptr", "out_ptr"), "*fp32"), "n": "i32"}
SOFTMAX = {**dict.fromkeys(("x_ptr", "out_ptr"), "*fp32"),
           **dict.fromkeys(("stride", "rows", "columns"), "i32")}
LAYER_NORM = {**dict.fromkeys(("x_ptr", "weight_ptr", "bias_ptr", "out_ptr"), "*fp32"),
              **dict.fromkeys(("stride", "columns"), "i32"), "eps": "fp32"}
MATMUL = {**dict.fromkeys(("a_ptr", "b_ptr", "c_ptr"), "*fp16"),
          **dict.fromkeys(("M", "N", "K", "a_row", "b_row", "c_row"), "i32")}
ATTENTION = {**dict.fromkeys(("q_ptr", "k_ptr", "v_ptr", "out_ptr"), "*fp16"),
             "count": "i32", "scale": "fp32"}

#: name -> (module and name of the kernel, types of its parameters, constants)
SOURCES: dict[str, tuple[str, dict[str, str], dict[str, int]]] = {
    "add": ("kernels.add_kernel", ADD, {"BLOCK": 1024}),
    "softmax": ("kernels.softmax_kernel", SOFTMAX, {"BLOCK": 1024}),
    "layer norm": ("kernels.layer_norm_kernel", LAYER_NORM, {"BLOCK": 1024}),
    "matmul 64x64x32": ("kernels.matmul_kernel", MATMUL, {"BM": 64, "BN": 64, "BK": 32}),
    "matmul 128x128x64": ("kernels.matmul_kernel", MATMUL, {"BM": 128, "BN": 128, "BK": 64}),
    "attention": ("workloads.attention.attention_kernel", ATTENTION,
                  {"CAUSAL": 0, "WIDTH": 64, "BM": 64, "BN": 64}),
    "causal attention": ("workloads.attention.attention_kernel", ATTENTION,
                         {"CAUSAL": 1, "WIDTH": 64, "BM": 64, "BN": 64}),
}
#: those that are compiled first of a process, too
FIRST = ("add", "softmax", "matmul 64x64x32", "attention")
#: functions that `triton_spirv.compiler` calls -> the part of our Python that they are
PARTS = {"parse": "parse", "require_rules": "analysis", "written_arguments": "analysis",
         "run_function": "lower"}
#: methods and functions of other places that are a part by themselves
ALONE = ("listing", "words")
COLUMNS = ("front end", "passes", *dict.fromkeys(PARTS.values()), *ALONE, "keys, files", "driver")


def source(name: str) -> ASTSource:
    """What Triton compiles: every pointer and number divisible by 16, as aligned tensors give."""
    place, types, constants = SOURCES[name]
    signature = {**types, **dict.fromkeys(constants, "constexpr")}
    attributes = {(index,): [["tt.divisibility", 16]] for index, type in enumerate(types.values())
                  if not type.startswith("fp")}
    return ASTSource(kernel_of(place), signature, constants, attributes)


def kernel_of(place: str) -> Any:
    """The kernel of "module.name"."""
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(module), name)


def target() -> GPUTarget:
    """Ours."""
    return triton.runtime.driver.active.get_current_target()


def compiled(name: str, target: GPUTarget) -> tuple[Any, float, dict[str, float]]:
    """One compilation from nothing -> the kernel, milliseconds in all and of each of Triton's stages."""
    times: dict[str, float] = {}

    def listen(*, times: Any, record: dict[str, float] = times, **_: Any) -> None:
        record["front end"] = times.ir_initialization / 1e3
        record["store"] = times.store_results / 1e3
        record.update({stage: duration / 1e3 for stage, duration in times.lowering_stages})

    before = knobs.compilation.listener, knobs.compilation.always_compile
    knobs.compilation.listener, knobs.compilation.always_compile = listen, True
    try:
        start = time.perf_counter()
        kernel = triton.compile(source(name), target=target)
        total = (time.perf_counter() - start) * 1e3
    finally:
        knobs.compilation.listener, knobs.compilation.always_compile = before
    return kernel, total, times


@contextmanager
def timed_parts() -> Iterator[dict[str, float]]:
    """Within it the emitter's parts add up their milliseconds."""
    import triton_spirv.compiler as compiler
    from triton_spirv.spirv import Module, asm

    spent = dict.fromkeys([*PARTS.values(), *ALONE], 0.0)

    def timed(function: Callable[..., Any], part: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                spent[part] += (time.perf_counter() - start) * 1e3
        return call

    plain = [*((compiler, name, getattr(compiler, name)) for name in PARTS), (Module, "words", Module.words),
             (asm, "listing", asm.listing)]
    for place, name, function in plain:
        setattr(place, name, timed(function, PARTS.get(name, name)))
    try:
        yield spent
    finally:
        for place, name, function in plain:
            setattr(place, name, function)


def driver_build(kernel: Any) -> tuple[float, float]:
    """Milliseconds of the OpenCL driver for these words, neither from memory nor from disk: by the clock, and
    of processors."""
    from triton_spirv.runtime import binary_cache, devices, program

    context = devices.open_device(devices.choose(devices.selection()))
    words = kernel.asm["spv"]
    binary_cache.remove(binary_cache.key(words, context.device, ""))
    start, before = time.perf_counter(), time.process_time()
    built = program.build(context, words, kernel.metadata.name)
    spent = (time.perf_counter() - start) * 1e3, (time.process_time() - before) * 1e3
    del built
    return spent


def ours(name: str) -> dict[str, float]:
    """One compilation for our device, by columns; `total` includes the driver."""
    begin = processor_time()
    with timed_parts() as parts:
        kernel, total, stages = compiled(name, target())
    build, of_processors = driver_build(kernel)
    row = {"front end": stages["front end"], "passes": stages["ttir"] + stages["ttgir"], **parts,
           "driver": build, "driver processor": of_processors, "total": total + build,
           "processor": processor_time() - begin}
    row["keys, files"] = row["total"] - sum(row[column] for column in COLUMNS if column in row)
    return row


def theirs(name: str) -> dict[str, float]:
    """One compilation by the CUDA pipeline, by its stages."""
    begin = processor_time()
    _, total, stages = compiled(name, CUDA)
    return {**stages, "total": total, "processor": processor_time() - begin}


def measure(rounds: int) -> dict[str, dict[str, dict[str, Sample]]]:
    """kernel -> "ours"/"cuda" -> column -> times, compiled in turns."""
    return {name: timed_side_by_side(name, rounds) for name in SOURCES}


def timed_side_by_side(name: str, rounds: int) -> dict[str, dict[str, Sample]]:
    """"ours"/"cuda" -> column -> times of one kernel, compiled in turns, once before."""
    ours(name), theirs(name)
    rows = [(ours(name), theirs(name)) for _ in range(rounds)]
    return {side: {column: Sample.of([row[index][column] for row in rows]) for column in rows[0][index]}
            for index, side in enumerate(("ours", "cuda"))}


def first_in_process(rounds: int) -> dict[str, dict[str, dict[str, Sample]]]:
    """The first compilation of a fresh process, the emitter's import and the driver's start included, which
    go on at the same time, as in a first launch.

    Triton and the kernels are imported before.
    """
    result: dict[str, dict[str, dict[str, Sample]]] = {}
    for name in FIRST:
        times: dict[str, list[list[float]]] = {"ours": [], "cuda": []}
        for _ in range(rounds + 1):  # the first writes bytecode
            for side, values in times.items():
                values.append(_child(side, name))
        result[name] = {
            side: {column: Sample.of([value[index] for value in values[1:]])
                   for index, column in enumerate(("total", "processor"))}
            for side, values in times.items()}
    return result


def _child(side: str, name: str) -> list[float]:
    """Milliseconds by the clock, and of processors, of one compilation in a process of its own."""
    settings = {**os.environ, "PYTHONPYCACHEPREFIX": os.path.join(os.environ["TRITON_CACHE_DIR"], "bytecode")}
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, __file__, side, name]
    done = subprocess.run(command, capture_output=True, text=True, env=settings)
    if done.returncode:
        raise SystemExit(done.stderr)
    return [float(number) for number in done.stdout.split()]


if __name__ == "__main__":  # what _child runs
    sys.path.insert(0, str(Path(__file__).parent))
    side, chosen_name = sys.argv[1:]
    kernel_of(SOURCES[chosen_name][0])
    start, before = time.perf_counter(), processor_time()
    chosen = target() if side == "ours" else CUDA
    if side == "ours":  # as a launch does
        from triton_spirv.runtime import called_programs, devices
        called_programs.prepare(devices.selection())
    made, _, _ = compiled(chosen_name, chosen)
    if side == "ours":
        driver_build(made)
    print((time.perf_counter() - start) * 1e3, processor_time() - before)
