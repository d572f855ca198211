"""One side of the comparison, in a process of its own: `worker.py SIDE CASE...`, SIDE of native, spirv,
torch.

Prints a line `RESULT {json}` for each case and goes on after one that fails. Native Triton and this package
are sides of the same Triton installation: the switch TRITON_SPIRV_BACKEND, read when Triton is imported,
decides; so each side has a process, and figures.py starts it with its switch.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import kernels
import torch
import triton

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("side", choices=("native", "spirv", "torch"))
parser.add_argument("cases", nargs="+")
parser.add_argument("--quick", action="store_true")
options = parser.parse_args()
OURS = options.side == "spirv"
SEED = torch.Generator().manual_seed(int(time.time()))


def device_tensor(values: torch.Tensor) -> Any:
    """The values on the device of this side."""
    if OURS:
        import triton_spirv

        return triton_spirv.asarray(values, device=os.environ["TRITON_SPIRV_DEVICE"])
    return values.cuda()


def host_tensor(array: Any, dtype: torch.dtype) -> torch.Tensor:
    """Back on the host."""
    return torch.from_numpy(array.numpy()).view(dtype) if OURS else array.cpu()


def synchronize() -> None:
    """Everything launched so far is done."""
    triton.runtime.driver.active.get_device_interface().synchronize()


@dataclass
class Case:
    """inputs, then for each configuration a launching function; work per call and its unit.

    `check` gives the relative error of an output; `work` is bytes or operations."""

    inputs: list[torch.Tensor]
    output: torch.Tensor
    run: Callable[..., Any]
    torch: Callable[..., Any] | None
    check: Callable[[torch.Tensor, list[torch.Tensor]], float]
    tolerance: float
    work: float
    unit: str
    configurations: list[dict[str, int]] = field(default_factory=lambda: [{}])


def random(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Normal values."""
    return torch.randn(*shape, generator=SEED).to(dtype)


def poison(shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    """An output that no kernel computes."""
    return torch.full(shape, float("nan"), dtype=dtype)


def error(actual: torch.Tensor, expected: torch.Tensor) -> float:
    """||actual - expected|| / ||expected||, in double; NaN is an infinite error."""
    actual, expected = actual.double(), expected.double()
    value = ((actual - expected).norm() / expected.norm()).item()
    return value if value == value else float("inf")


def sampled_rows(count: int) -> torch.Tensor:
    """Up to 64 rows to check, the last one among them."""
    return torch.cat([torch.randint(count, (63,), generator=SEED), torch.tensor([count - 1])])


# ---- the cases


def vector_add(quick: bool) -> Case:
    n = (1 << 22) + 3 if quick else 1 << 27
    block = 1024

    def run(x: Any, y: Any, out: Any, BLOCK: int, num_warps: int) -> Any:
        return kernels.add_kernel[(triton.cdiv(n, BLOCK),)](x, y, out, n, BLOCK=BLOCK, num_warps=num_warps)

    return Case([random(n), random(n)], poison((n,), torch.float32), run,
                lambda x, y, out: torch.add(x, y, out=out),
                lambda out, inputs: error(out, inputs[0] + inputs[1]), 1e-7, 3 * 4 * n, "GB/s",
                [{"BLOCK": block, "num_warps": 4}, {"BLOCK": 2 * block, "num_warps": 8},
                 {"BLOCK": 4 * block, "num_warps": 8}])


def softmax(quick: bool) -> Case:
    rows, columns = (512, 1000) if quick else (8192, 4096)
    block = triton.next_power_of_2(columns)

    def run(x: Any, out: Any, num_warps: int) -> Any:
        return kernels.softmax_kernel[(rows,)](x, out, columns, BLOCK=block, num_warps=num_warps)

    return Case([random(rows, columns)], poison((rows, columns), torch.float32), run,
                lambda x, out: torch.softmax(x, 1),
                lambda out, inputs: error(out, inputs[0].double().softmax(1)), 1e-5, 2 * 4 * rows * columns,
                "GB/s", [{"num_warps": warps} for warps in (4, 8, 16)])


def layer_norm(quick: bool) -> Case:
    rows, columns = (512, 1000) if quick else (8192, 4096)
    block = triton.next_power_of_2(columns)

    def run(x: Any, weight: Any, bias: Any, out: Any, num_warps: int) -> Any:
        return kernels.layer_norm_kernel[(rows,)](x, weight, bias, out, columns, 1e-5, BLOCK=block,
                                                  num_warps=num_warps)

    def normed(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, out: Any = None) -> torch.Tensor:
        return torch.nn.functional.layer_norm(x, (columns,), weight, bias, 1e-5)

    return Case([random(rows, columns) + 1, random(columns), random(columns)],
                poison((rows, columns), torch.float32), run, normed,
                lambda out, inputs: error(out, normed(*(t.double() for t in inputs))), 1e-5,
                2 * 4 * rows * columns, "GB/s", [{"num_warps": warps} for warps in (4, 8, 16)])


def matmul(size: int, dtype: torch.dtype, tolerance: float, configurations: list[dict[str, int]],
           of_bytes: bool = False) -> Case:
    def run(a: Any, b: Any, c: Any, BM: int, BN: int, BK: int, num_warps: int, num_stages: int) -> Any:
        grid = (triton.cdiv(size, BM) * triton.cdiv(size, BN),)
        return kernels.matmul_kernel[grid](a, b, c, size, size, size, BM=BM, BN=BN, BK=BK, GROUP=8,
                                           num_warps=num_warps, num_stages=num_stages)

    def check(out: torch.Tensor, inputs: list[torch.Tensor]) -> float:
        rows = sampled_rows(size)
        return error(out[rows], inputs[0][rows].double() @ inputs[1].double())

    if of_bytes:
        inputs = [torch.randint(-128, 128, (size, size), generator=SEED, dtype=torch.int8) for _ in range(2)]
        output, product, unit = torch.full((size, size), -1, dtype=dtype), torch._int_mm, "TOP/s"
    else:
        inputs = [(random(size, size) * size ** -0.25).to(dtype) for _ in range(2)]  # results near 1
        output, product, unit = poison((size, size), dtype), torch.matmul, "TFLOP/s"
    return Case(inputs, output, run, lambda a, b, c: product(a, b, out=c), check, tolerance, 2.0 * size ** 3,
                unit, configurations)


def tiles(*rows: tuple[int, int, int, int, int]) -> list[dict[str, int]]:
    """Configurations of a matmul: BM, BN, BK, warps, stages."""
    return [dict(zip(("BM", "BN", "BK", "num_warps", "num_stages"), row, strict=True)) for row in rows]


def matmul_f32(quick: bool) -> Case:
    rows = [(128, 128, 16, 8, 3), (128, 128, 32, 8, 3), (128, 64, 16, 4, 3), (64, 64, 16, 4, 3),
            (128, 128, 8, 8, 2)]
    return matmul(512 if quick else 4096, torch.float32, 1e-5, tiles(*(rows[2:4] if quick else rows)))


def matmul_f16(quick: bool) -> Case:
    rows = [(128, 256, 64, 8, 3), (128, 128, 64, 8, 3), (128, 128, 32, 4, 4), (64, 128, 32, 4, 4),
            (128, 128, 32, 8, 2), (128, 256, 32, 8, 3), (256, 128, 32, 8, 3), (128, 128, 16, 4, 3)]
    return matmul(512 if quick else 8192, torch.float16, 2e-3, tiles(*(rows[2:4] if quick else rows)))


def matmul_i8(quick: bool) -> Case:
    """Products of bytes, and sums of 32 bits: exact."""
    size = 512 if quick else 8192
    rows = [(128, 256, 128, 8, 3), (128, 256, 64, 8, 3), (128, 128, 64, 4, 3), (128, 128, 64, 8, 3),
            (128, 128, 128, 8, 3)]
    return matmul(size, torch.int32, 0.0, tiles(*(rows[2:4] if quick else rows)), of_bytes=True)


def attention(quick: bool) -> Case:
    heads, length, width = (8, 512, 64) if quick else (128, 4096, 64)
    shape, scale = (heads, length, width), width ** -0.5

    def run(q: Any, k: Any, v: Any, out: Any, BM: int, BN: int, num_warps: int, num_stages: int) -> Any:
        return kernels.attention_kernel[(length // BM, heads)](q, k, v, out, scale, length, D=width, BM=BM,
                                                               BN=BN, num_warps=num_warps,
                                                               num_stages=num_stages)

    def check(out: torch.Tensor, inputs: list[torch.Tensor]) -> float:
        picked = [0, heads - 1]
        q, k, v = (t[picked].double() for t in inputs)
        rows = sampled_rows(length)
        weights = (q[:, rows] @ k.transpose(1, 2) * scale).softmax(-1)
        return error(out[picked][:, rows], weights @ v)

    names = ("BM", "BN", "num_warps", "num_stages")
    rows = [(128, 64, 4, 3), (128, 64, 8, 3), (64, 64, 4, 3), (64, 32, 4, 2), (128, 128, 8, 2),
            (256, 64, 16, 3)]
    return Case([random(*shape, dtype=torch.float16) for _ in range(3)], poison(shape, torch.float16), run,
                lambda q, k, v, out: torch.nn.functional.scaled_dot_product_attention(q[None], k[None],
                                                                                     v[None]),
                check, 5e-3, 4.0 * heads * length ** 2 * width, "TFLOP/s",
                [dict(zip(names, row, strict=True)) for row in (rows[2:4] if quick else rows)])


CASES: dict[str, Callable[[bool], Case]] = {
    "vector add": vector_add, "softmax": softmax, "layer norm": layer_norm, "matmul f32": matmul_f32,
    "matmul f16": matmul_f16, "matmul i8": matmul_i8, "attention f16": attention,
}


# ---- measuring


#: Seconds of work before anything is timed: an idle H100 is at 345 MHz, and half a second later at 1980.
SETTLING = 0.7


def settled(call: Callable[[], Any]) -> Callable[[], Any]:
    """The call, when the device has come to its full clock by it."""
    start = time.perf_counter()
    while time.perf_counter() - start < (0.05 if options.quick else SETTLING):
        for _ in range(10):
            call()
        synchronize()
    return call


def measured(case: Case) -> dict[str, Any]:
    """Check every configuration that compiles, time it, and report the fastest."""
    inputs = [device_tensor(tensor) for tensor in case.inputs]
    best: dict[str, Any] = {}
    failures: list[str] = []
    short = 20 if options.quick else 40
    for configuration in case.configurations if options.side != "torch" else [{}]:
        out = device_tensor(case.output)
        try:
            start = time.perf_counter()
            if options.side == "torch":
                assert case.torch is not None
                produced = case.torch(*inputs, out)
                out = out if produced is None else produced.reshape(out.shape)
                call = lambda out=out: case.torch(*inputs, out)  # type: ignore[misc] # noqa: E731
            else:
                case.run(*inputs, out, **configuration)
                call = lambda out=out, c=configuration: case.run(*inputs, out, **c)  # noqa: E731
            synchronize()
            first = time.perf_counter() - start
            wrong = case.check(host_tensor(out, case.output.dtype), case.inputs)
            if not wrong <= case.tolerance:
                failures.append(f"{configuration}: wrong by {wrong:.2e}, allowed {case.tolerance:.0e}")
                continue
            median = triton.testing.do_bench(settled(call), warmup=5, rep=short, return_mode="median")
            print(f"  {options.side} {configuration}: {median:.4f} ms, error {wrong:.1e}, "
                  f"first call {first:.2f} s", flush=True)
            if not best or median < best["median"]:
                best = {"median": median, "configuration": configuration, "error": wrong, "call": call,
                        "first_s": first}
        except Exception as failure:
            failures.append(f"{configuration}: {type(failure).__name__}: {str(failure)[:600]}")
            print(f"  {options.side} {failures[-1]}", flush=True)
        del out
    if not best:
        return {"failures": failures}
    times = sorted(triton.testing.do_bench(settled(best.pop("call")), warmup=25, rep=100, return_mode="all"))
    tenth = len(times) // 10
    scale = 1e6 if case.unit == "GB/s" else 1e9
    return {**best, "median": statistics.median(times), "low": times[tenth], "high": times[-1 - tenth],
            "count": len(times), "value": case.work / statistics.median(times) / scale, "unit": case.unit,
            "failures": failures}


def launch_overhead(count: int = 5000) -> dict[str, Any]:
    """Microseconds of the host for one launch of an empty kernel: until it returns, until all are done, and
    for one launch that is waited for."""
    arrays = [device_tensor(torch.zeros(16)) for _ in range(3)]
    if options.side == "torch":
        call = lambda: torch.add(arrays[0], arrays[1], out=arrays[2])  # noqa: E731
    else:
        call = lambda: kernels.empty_kernel[(1,)](*arrays, 16)  # noqa: E731
    for _ in range(200):
        call()
    synchronize()
    rounds: list[tuple[float, float, float]] = []
    for _ in range(7):
        start = time.perf_counter()
        for _ in range(count):
            call()
        returned = time.perf_counter()
        synchronize()
        done = time.perf_counter()
        for _ in range(count // 10):
            call()
            synchronize()
        waited = time.perf_counter() - done
        rounds.append(((returned - start) / count * 1e6, (done - start) / count * 1e6,
                       waited / (count // 10) * 1e6))
    columns = list(zip(*rounds, strict=True))
    names = ("returns_us", "done_us", "waited_us")
    return {name: statistics.median(column) for name, column in zip(names, columns, strict=True)} | {
        "spread_us": [(min(column), max(column)) for column in columns]}


def pipelines() -> dict[str, Any]:
    """Milliseconds to make the pipelines of the kernels that the other cases compiled: as new, and from the
    cache on disk."""
    from triton_spirv.runtime.vulkan import program

    made: list[Any] = []
    original = program.Program.__init__

    def timed(self: Any, context: Any, artifact: Any, words: bytes) -> None:
        start = time.perf_counter()
        original(self, context, artifact, words)
        made.append((time.perf_counter() - start, context, artifact, words))

    program.Program.__init__ = timed  # type: ignore[method-assign]
    for name in CASES:
        case = CASES[name](True)
        arrays = [device_tensor(tensor) for tensor in (*case.inputs, case.output)]
        try:
            case.run(*arrays, **case.configurations[0])
        except Exception as failure:
            print(f"  {name}: {type(failure).__name__}: {str(failure)[:300]}", flush=True)
    synchronize()
    fresh = [entry[0] * 1e3 for entry in made]
    names = [entry[2].entry for entry in made]
    again = []
    for _, context, artifact, words in list(made):
        start = time.perf_counter()
        program.Program(context, artifact, words)
        again.append((time.perf_counter() - start) * 1e3)
    return {"fresh_ms": dict(zip(names, fresh, strict=True)),
            "cached_ms": dict(zip(names, again, strict=True))}


def main() -> None:
    sys.setswitchinterval(1e-3)
    for name in options.cases:
        print(f"{options.side}: {name}", flush=True)
        started = time.perf_counter()
        try:
            if name == "launch":
                result = launch_overhead(500 if options.quick else 5000)
            elif name == "pipelines":
                result = pipelines()
            else:
                result = measured(CASES[name](options.quick))
        except Exception as failure:
            traceback.print_exc()
            result = {"failures": [f"{type(failure).__name__}: {str(failure)[:600]}"]}
        result.update(side=options.side, case=name, seconds=time.perf_counter() - started)
        print("RESULT " + json.dumps(result), flush=True)
        gc.collect()


main()
